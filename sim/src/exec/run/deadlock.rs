//! Who waits for what, when no thread of a block can go on.

use super::barrier::Barriers;
use super::block::BlockStop;
use super::groups::State;
use super::warp::Warp;
use crate::exec::ctx::Ctx;
use crate::exec::fault::{FaultKind, LaneFault};
use crate::exec::lanes::bits;
use std::fmt::Write;

/// Places that a report names. More would hide the first ones.
const PLACES: usize = 8;

/// Threads that wait at one place for one thing.
struct Place {
    state: State,
    line: u32,
    /// Numbers in the block, without gaps: first and last.
    ranges: Vec<(u32, u32)>,
}

/// The fault of a block whose threads all wait: by the first one, with all of them in the
/// text.
#[cold]
pub(super) fn stop(cx: &Ctx<'_>, warps: &[Warp], bars: &Barriers) -> BlockStop {
    let mut places: Vec<Place> = Vec::new();
    let mut first: Option<(u32, u32, u32, [u32; 3])> = None;
    for (number, warp) in warps.iter().enumerate() {
        for g in &warp.groups {
            let func = warp.frames.get(g.frame as usize).map_or(0, |f| f.func);
            let code = cx.env.funcs.get(func as usize).map(|f| &f.code[..]);
            // A barrier's group is already past it.
            let at = (g.pc as usize).saturating_sub(matches!(g.state, State::Bar(_)).into());
            let line = code.and_then(|c| c.get(at)).map_or(0, |i| i.line);
            let lane = g.mask.trailing_zeros() & 31;
            let at = |lane: u32| warp.ids.tid.map(|t| t[lane as usize & 31]);
            // Warps come in order, so the first one has the lowest thread.
            let lower = match first {
                None => true,
                Some((before, .., thread)) => lane < before && thread == at(before),
            };
            if lower {
                first = Some((lane, line, func, at(lane)));
            }
            let same = |place: &Place| place.state == g.state && place.line == line;
            let at = places.iter().position(same).unwrap_or(places.len());
            if at == places.len() {
                places.push(Place {
                    state: g.state,
                    line,
                    ranges: Vec::new(),
                });
            }
            let ranges = &mut places[at].ranges;
            for lane in bits(g.mask) {
                let thread = 32 * number as u32 + lane as u32;
                match ranges.last_mut() {
                    Some((_, last)) if *last + 1 == thread => *last = thread,
                    _ => ranges.push((thread, thread)),
                }
            }
        }
    }
    places.sort_by_key(|place| place.ranges.first().copied());
    let (lane, line, func, thread) = first.unwrap_or((0, 0, 0, [0; 3]));
    let fault = LaneFault {
        kind: FaultKind::Deadlock(text(&places, bars)),
        lane,
        address: None,
        access: None,
    };
    BlockStop::Fault(fault, line, func, thread)
}

fn text(places: &[Place], bars: &Barriers) -> String {
    let mut text = String::new();
    for (i, place) in places.iter().take(PLACES).enumerate() {
        let separator = if i == 0 { "" } else { "; " };
        // Writing to a string cannot fail.
        let _ = write!(text, "{separator}threads ");
        for (i, (first, last)) in place.ranges.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            let _ = write!(text, "{comma}{first}");
            if first != last {
                let _ = write!(text, "-{last}");
            }
        }
        let line = place.line;
        let _ = match place.state {
            State::Bar(number) => {
                let (came, expected) = bars.count(number.into());
                match expected {
                    Some(expected) => write!(
                        text,
                        " at barrier {number} (PTX line {line}), where {came} of {expected} came"
                    ),
                    None => write!(
                        text,
                        " at barrier {number} (PTX line {line}), where {came} came"
                    ),
                }
            }
            State::WarpBar => write!(text, " at a barrier of their warp (PTX line {line})"),
            State::Gather => write!(text, " for other lanes of their warp (PTX line {line})"),
            State::Run => write!(text, " (PTX line {line})"),
        };
    }
    if places.len() > PLACES {
        let _ = write!(text, "; and {} more places", places.len() - PLACES);
    }
    text
}
