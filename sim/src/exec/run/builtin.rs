//! Functions that the device provides: `vprintf`, `__assertfail`, `malloc`, `free` and
//! `cudaGraphSetConditional`.

use super::groups::State;
use super::warp::{Next, Warp};
use crate::exec::ctx::Ctx;
use crate::exec::fault::{FaultKind, LaneFault};
use crate::exec::inst::{Call, Callee, Inst};
use crate::exec::lanes::bits;
use crate::exec::memory::BadFree;
use crate::exec::printf;

/// What went wrong, and the address that it went wrong with.
type Failure = (FaultKind, Option<u64>);

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
        for lane in bits(group.mask) {
            let args = std::array::from_fn(|n| {
                call.args.get(n).map_or(0, |m| {
                    self.local_value(base + u64::from(m.caller), m.size, lane)
                })
            });
            match provided(cx, call.callee, lane, args) {
                Ok(result) => {
                    if let Some(m) = call.rets.first() {
                        for k in 0..u64::from(m.size) {
                            let byte = result.checked_shr(8 * k as u32).unwrap_or(0) as u8;
                            self.set_local_byte(base + u64::from(m.caller) + k, lane, byte);
                        }
                    }
                }
                Err((kind, address)) => {
                    let fault = LaneFault {
                        kind,
                        lane: lane as u32,
                        address,
                        access: None,
                    };
                    return Next::Fault(fault, inst.line);
                }
            }
        }
        let g = &mut self.groups[at];
        g.pc += 1;
        g.state = State::Run;
        Next::Reschedule
    }
}

/// The result of a provided function for a lane; 0 if it has none.
fn provided(cx: &mut Ctx<'_>, callee: Callee, lane: usize, args: [u64; 4]) -> Result<u64, Failure> {
    match callee {
        Callee::Malloc => Ok(cx.env.mem.allocate(args[0]).unwrap_or(0)),
        Callee::Free if args[0] == 0 => Ok(0),
        Callee::Free => {
            let freed = cx.env.mem.release(args[0]);
            // Accesses from now on must miss what is gone.
            cx.forget_ranges();
            freed.map(|()| 0).map_err(|bad| {
                let kind = match bad {
                    BadFree::Freed => FaultKind::DoubleFree,
                    BadFree::NotAllocated => FaultKind::InvalidFree,
                };
                (kind, Some(args[0]))
            })
        }
        Callee::SetConditional => match cx.env.host.set_conditional(args[0], args[1] as u32) {
            true => Ok(0),
            false => Err((FaultKind::IllegalAddress, Some(args[0]))),
        },
        Callee::AssertFail => {
            let text = assertion(cx, lane, args).map_err(|(kind, at)| (kind, Some(at)))?;
            Err((FaultKind::Assert(text), None))
        }
        // The others are no provided functions: `call` enters them itself.
        Callee::Printf | Callee::Direct(_) | Callee::Indirect(_) => {
            let format = cx.read_text(lane, args[0]);
            let format = format.map_err(|kind| (kind, Some(args[0])))?;
            let text = printf::format(cx, lane, &format, args[1]);
            let text = text.map_err(|(kind, at)| (kind, Some(at)))?;
            cx.env.host.print(&text.bytes);
            Ok(text.conversions.into())
        }
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
