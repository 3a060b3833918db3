//! Lane groups: which one runs next, and which ones become one.

use super::warp::Warp;

/// What a group is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Run,
    /// Waits at block barrier `number`; the pc is after it.
    Bar(u8),
    /// Waits at a warp-wide instruction for its other lanes.
    Gather,
    /// Waits at `bar.warp.sync`.
    WarpBar,
}

/// Lanes at the same place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Group {
    pub(crate) frame: u32,
    pub(crate) mask: u32,
    pub(crate) pc: u32,
    pub(crate) state: State,
    /// Gave way and waits until no other group can run.
    pub(crate) yielded: bool,
}

impl Warp {
    /// Merges groups that met and chooses the next one to run.
    pub(super) fn pick(&mut self) -> Option<usize> {
        if let [only] = &self.groups[..] {
            return (only.state == State::Run).then_some(0);
        }
        if let [a, b] = &self.groups[..] {
            // The two sides of a branch.
            let ready = |g: &Group| g.state == State::Run && !g.yielded;
            if ready(a) && ready(b) && a.frame == b.frame && a.pc != b.pc {
                return Some(usize::from(b.pc < a.pc));
            }
        }
        self.merge();
        let mut best: Option<(usize, bool, u32, u32)> = None;
        for (i, g) in self.groups.iter().enumerate() {
            if g.state != State::Run {
                continue;
            }
            let depth = self.frames[g.frame as usize].depth;
            let better = best.is_none_or(|(_, yielded, d, pc)| {
                (g.yielded, u32::MAX - depth, g.pc) < (yielded, u32::MAX - d, pc)
            });
            if better {
                best = Some((i, g.yielded, depth, g.pc));
            }
        }
        let (at, yielded, ..) = best?;
        if yielded {
            // Everyone gave way: begin a new round.
            self.groups.iter_mut().for_each(|g| g.yielded = false);
        }
        Some(at)
    }

    /// Joins groups at one pc of one frame. A group that waits for lanes joins
    /// those that arrive, and looks again.
    fn merge(&mut self) {
        let joins = |a: State, b: State| {
            a == b || !matches!((a, b), (State::Bar(_), _) | (_, State::Bar(_)))
        };
        let mut i = 0;
        while i < self.groups.len() {
            let mut k = i + 1;
            while k < self.groups.len() {
                let (a, b) = (&self.groups[i], &self.groups[k]);
                if a.pc == b.pc && a.frame == b.frame && joins(a.state, b.state) {
                    let (a, b) = (*a, *b);
                    let g = &mut self.groups[i];
                    g.mask |= b.mask;
                    // One that gave way still does, or lanes that part and meet
                    // in a loop would never let others run.
                    g.yielded |= b.yielded;
                    if !matches!(a.state, State::Bar(_)) {
                        g.state = State::Run;
                    }
                    self.groups.swap_remove(k);
                } else {
                    k += 1;
                }
            }
            i += 1;
        }
    }

    /// Joins the group at `at`, which has come to `pc`, with the only other one, if that
    /// waits there: what [`Warp::pick`] would do, without looking around.
    pub(super) fn join(&mut self, at: usize, pc: u32) -> bool {
        let [a, b] = &mut self.groups[..] else {
            return false;
        };
        let (group, other) = if at == 0 { (a, b) } else { (b, a) };
        let waits =
            group.frame == other.frame && other.pc == pc && !matches!(other.state, State::Bar(_));
        if waits {
            let (mask, yielded) = (group.mask | other.mask, group.yielded | other.yielded);
            // Both are of the same frame, so it does not matter which one stays.
            let first = &mut self.groups[0];
            (first.mask, first.yielded) = (mask, yielded);
            (first.pc, first.state) = (pc, State::Run);
            self.groups.truncate(1);
        }
        waits
    }

    /// The lowest pc above `pc` where a group of the same frame waits to be met.
    pub(super) fn meeting(&self, at: usize, pc: u32) -> u32 {
        if self.groups.len() == 1 {
            return u32::MAX;
        }
        let frame = self.groups[at].frame;
        let mut limit = u32::MAX;
        for (i, g) in self.groups.iter().enumerate() {
            let waits = g.frame == frame && g.pc > pc && !matches!(g.state, State::Bar(_));
            if i != at && waits {
                limit = limit.min(g.pc);
            }
        }
        limit
    }
}
