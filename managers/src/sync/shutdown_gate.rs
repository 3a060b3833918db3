//! `ShutdownGate`: whether a manager hands objects out, as an epoch that is validated.
//!
//! A thread that makes or leases an object takes a token before ([`begin`](ShutdownGate::begin)),
//! publishes the object, and [validates](ShutdownGate::validate) the token before it hands the
//! object out. A shutdown closes the gate first and looks for published objects after. At least
//! one of the two sees the other, because a fence lies between the store and the load of each: so
//! no object is handed out that a shutdown has not seen.

use crate::sync::{AtomicU64, Ordering, fence};

/// Odd while the gate is closed; rises with every change.
#[derive(Debug)]
pub(crate) struct ShutdownGate(AtomicU64);

/// The epoch of the gate at [`begin`](ShutdownGate::begin).
#[derive(Clone, Copy, Debug)]
pub(crate) struct GateToken(u64);

impl ShutdownGate {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// A token for an object that is about to be made; `None` while the gate is closed.
    pub(crate) fn begin(&self) -> Option<GateToken> {
        // Acquire: pairs with the Release in `open`, so what was set up for the time after a shutdown
        // is seen.
        let now = self.0.load(Ordering::Acquire);
        (now & 1 == 0).then_some(GateToken(now))
    }

    /// Whether the gate has not been closed since `token`. Called after the object is published
    /// where a shutdown looks.
    pub(crate) fn validate(&self, token: GateToken) -> bool {
        // Pairs with the fence in `close`: either this load sees the closed gate, or the thread
        // that closed it sees the published object.
        fence(Ordering::SeqCst);
        self.0.load(Ordering::Relaxed) == token.0
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.begin().is_none()
    }

    /// Closes the gate: no token is given, and none of before is valid, from now on.
    pub(crate) fn close(&self) {
        self.0.fetch_or(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// Opens the gate again. Tokens of before the shutdown stay invalid.
    pub(crate) fn open(&self) {
        let step = if mutant!("shutdown_gate_opens_as_it_was") {
            u64::MAX
        } else {
            1
        };
        let even = |now: u64| (now & 1 == 1).then_some(now.wrapping_add(step));
        let _ = self
            .0
            .fetch_update(Ordering::Release, Ordering::Relaxed, even);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it something begun before a shutdown could be handed out after a later start.
    #[test]
    fn a_pass_ends_with_a_shutdown_even_if_the_gate_is_open_again() {
        let gate = ShutdownGate::new();
        let token = gate.begin().unwrap();
        gate.open();
        assert!(gate.validate(token));
        gate.close();
        gate.close();
        assert!(gate.is_closed() && !gate.validate(token));
        gate.open();
        assert!(!gate.is_closed() && !gate.validate(token));
        assert!(gate.validate(gate.begin().unwrap()));
    }
}
