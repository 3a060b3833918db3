//! Functions that the device provides: `vprintf` and `__assertfail`.

use super::groups::State;
use super::warp::{Next, Warp};
use crate::exec::ctx::Ctx;
use crate::exec::fault::{FaultKind, LaneFault};
use crate::exec::inst::{Call, Callee, Inst};
use crate::exec::lanes::bits;
use crate::exec::printf;

impl Warp {
    /// Executes a call of a provided function for a group.
    pub(super) fn builtin(
        &mut self,
        cx: &mut Ctx<'_>,
        at: usize,
        call: &Call,
        inst: &Inst,
    ) -> Next {
        let group = self.groups[at];
        let base = self.frames[group.frame as usize].local_base;
        let arg = |warp: &Warp, n: usize, lane: usize| {
            call.args.get(n).map_or(0, |m| {
                warp.local_value(base + u64::from(m.caller), m.size, lane)
            })
        };
        for lane in bits(group.mask) {
            let fault = |kind: FaultKind, address: Option<u64>| {
                Next::Fault(
                    LaneFault {
                        kind,
                        lane: lane as u32,
                        address,
                        access: None,
                    },
                    inst.line,
                )
            };
            if matches!(call.callee, Callee::AssertFail) {
                return match assertion(cx, lane, std::array::from_fn(|n| arg(self, n, lane))) {
                    Ok(text) => fault(FaultKind::Assert(text), None),
                    Err((kind, at)) => fault(kind, Some(at)),
                };
            }
            let (format, args) = (arg(self, 0, lane), arg(self, 1, lane));
            let text = cx
                .read_text(lane, format)
                .map_err(|kind| (kind, format))
                .and_then(|f| printf::format(cx, lane, &f, args));
            match text {
                Ok(text) => {
                    cx.env.host.print(&text.bytes);
                    if let Some(m) = call.rets.first() {
                        for k in 0..u64::from(m.size) {
                            let byte =
                                text.conversions.checked_shr(8 * k as u32).unwrap_or(0) as u8;
                            self.set_local_byte(base + u64::from(m.caller) + k, lane, byte);
                        }
                    }
                }
                Err((kind, at)) => return fault(kind, Some(at)),
            }
        }
        let g = &mut self.groups[at];
        g.pc += 1;
        g.state = State::Run;
        Next::Reschedule
    }
}

/// The text of a failed assertion: message, file, line and function.
fn assertion(cx: &mut Ctx<'_>, lane: usize, args: [u64; 4]) -> Result<String, (FaultKind, u64)> {
    let [message, file, line, function] = args;
    let mut text = |at: u64| {
        let bytes = cx.read_text(lane, at).map_err(|kind| (kind, at))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let (message, file, function) = (text(message)?, text(file)?, text(function)?);
    Ok(format!("{message}, {file}:{}, {function}", line as u32))
}
