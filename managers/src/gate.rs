//! `Gate`: whether a manager hands things out, and a count of how often that changed.
//!
//! Whoever makes or leases something passes the gate before, and looks at it again after,
//! before the thing goes out. Whoever shuts the gate looks for things after. So of the two
//! at least one sees the other, and nothing is handed out that a shutdown has not seen.

use crate::sync::{AtomicU64, Ordering, fence};

/// Odd while it is shut; rises with every change.
#[derive(Debug)]
pub(crate) struct Gate(AtomicU64);

/// What the gate was when somebody passed it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass(u64);

impl Gate {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// `None` while it is shut.
    pub(crate) fn pass(&self) -> Option<Pass> {
        let now = self.0.load(Ordering::Acquire);
        (now & 1 == 0).then_some(Pass(now))
    }

    /// Whether it was not shut since: asked after the thing is where a shutdown looks.
    pub(crate) fn holds(&self, pass: Pass) -> bool {
        // With the fence in `shut`: either this sees that it is shut, or whoever shut it
        // sees what was done before this.
        if !mutant!("gate_without_fence") {
            fence(Ordering::SeqCst);
        }
        self.0.load(Ordering::Acquire) == pass.0
    }

    pub(crate) fn is_shut(&self) -> bool {
        self.pass().is_none()
    }

    /// Lets nobody through any more.
    pub(crate) fn shut(&self) {
        self.0.fetch_or(1, Ordering::AcqRel);
        fence(Ordering::SeqCst);
    }

    /// Lets people through again. Passes of before a shutdown stay worthless.
    pub(crate) fn open(&self) {
        let step = if mutant!("gate_opens_as_it_was") {
            u64::MAX
        } else {
            1
        };
        let even = |now: u64| (now & 1 == 1).then_some(now.wrapping_add(step));
        let _ = self
            .0
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, even);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it something begun before a shutdown could be handed out after a later start.
    #[test]
    fn a_pass_ends_with_a_shutdown_even_if_the_gate_is_open_again() {
        let gate = Gate::new();
        let pass = gate.pass().unwrap();
        gate.open();
        assert!(gate.holds(pass));
        gate.shut();
        gate.shut();
        assert!(gate.is_shut() && !gate.holds(pass));
        gate.open();
        assert!(!gate.is_shut() && !gate.holds(pass));
        assert!(gate.holds(gate.pass().unwrap()));
    }
}
