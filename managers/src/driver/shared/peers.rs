//! `PeerTable`: the peers of a context: which of them it may access, and what the checks of the way
//! there have found.
//!
//! It is the driver's context's, of all execution managers that have that: the driver counts no
//! access, so those that share a context must.

use std::sync::PoisonError;

use cupola_sys::driver::CUdevice;

use crate::driver::current::Identity;
use crate::peer::PeerCorruption;
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering};

/// The ways between two devices that are checked by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PeerUse {
    /// Copies from this context's device, which name both contexts.
    Copies,
    /// Access of this context to the other device's memory.
    Access,
}

/// What a context may do with others, behind a lock that is held over the driver's calls: of
/// threads that ask for one pair at once, one enables or checks it.
#[derive(Default)]
#[repr(C)]
pub(crate) struct PeerTable {
    /// Devices to which copies were checked and found well: a bit for each of the first 64.
    well: AtomicU64,
    peers: Mutex<Peers>,
}

/// The bit of a device.
#[inline]
fn bit(device: CUdevice) -> u64 {
    let number = u32::try_from(device).ok();
    number.and_then(|it| 1_u64.checked_shl(it)).unwrap_or(0)
}

impl PeerTable {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Peers> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether copies to the device are known to be well.
    #[inline]
    pub(crate) fn copies_are_well(&self, peer: CUdevice) -> bool {
        // Relaxed: a fact alone, which comes with nothing.
        self.well.load(Ordering::Relaxed) & bit(peer) != 0
    }

    /// Notes that copies to the device are known to be well.
    pub(crate) fn note_copies_are_well(&self, peer: CUdevice) {
        self.well.fetch_or(bit(peer), Ordering::Relaxed);
    }

    /// Ends one grant. If its end is to disable the access, `wait` is called before: it waits for the
    /// work that may use the access, or says that this cannot be done. The lock is not held meanwhile,
    /// since the work may wait for other threads; where one of them had the access since the wait began,
    /// its work is waited for too. What is left to be done is done while the caller holds the lock.
    pub(crate) fn end(
        &self,
        peer: Identity,
        mut wait: impl FnMut() -> bool,
    ) -> (MutexGuard<'_, Peers>, GrantEnd) {
        let mut seen = None;
        let mut can_wait = true;
        loop {
            let mut peers = self.lock();
            let last = peers.is_last(peer);
            let is_over = last == seen || (mutant!("peer_access_waits_once") && seen.is_some());
            if last.is_none() || is_over || !can_wait {
                let end = peers.put_back(peer);
                return (peers, end);
            }
            seen = last;
            drop(peers);
            can_wait = wait();
        }
    }
}

/// The state of a [`PeerTable`].
#[derive(Default)]
pub(crate) struct Peers {
    grants: Vec<Grant>,
    /// At most two for each device.
    checks: Vec<Check>,
}

/// The access to one other context.
struct Grant {
    peer: Identity,
    /// How many hold it.
    count: usize,
    /// How often it was taken.
    taken: u64,
    origin: Enabler,
}

/// Who has enabled an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Enabler {
    /// This crate, which disables it too.
    Here,
    /// Other code, before this crate asked.
    Elsewhere,
}

struct Check {
    peer: CUdevice,
    of: PeerUse,
    outcome: Result<(), PeerCorruption>,
}

/// What the end of a grant leaves to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GrantEnd {
    /// Nothing: another one holds the access, or other code has enabled it.
    Nothing,
    /// The access was the last one's: it is to be disabled.
    Disable,
}

impl Peers {
    /// Counts one grant more of an access that there is. False if there is none.
    pub(crate) fn take(&mut self, peer: Identity) -> bool {
        match self.grant(peer) {
            Some(grant) => {
                if !mutant!("peer_access_not_counted") {
                    grant.count += 1;
                }
                grant.taken += 1;
                true
            }
            None => false,
        }
    }

    /// Notes the first grant of an access that was just enabled, or found enabled.
    pub(crate) fn add(&mut self, peer: Identity, origin: Enabler) {
        self.grants.push(Grant {
            peer,
            count: 1,
            taken: 1,
            origin,
        });
    }

    /// How often the access was taken, if exactly one holds it and its end is to disable it.
    pub(crate) fn is_last(&mut self, peer: Identity) -> Option<u64> {
        let grant = self.grant(peer)?;
        (grant.count == 1 && grant.origin == Enabler::Here).then_some(grant.taken)
    }

    /// Ends one grant.
    pub(crate) fn put_back(&mut self, peer: Identity) -> GrantEnd {
        let Some(at) = self.grants.iter().position(|grant| grant.peer == peer) else {
            return GrantEnd::Nothing;
        };
        let grant = &mut self.grants[at];
        grant.count -= 1;
        if grant.count > 0 {
            return GrantEnd::Nothing;
        }
        match self.grants.swap_remove(at).origin {
            Enabler::Here => GrantEnd::Disable,
            Enabler::Elsewhere => GrantEnd::Nothing,
        }
    }

    fn grant(&mut self, peer: Identity) -> Option<&mut Grant> {
        self.grants.iter_mut().find(|grant| grant.peer == peer)
    }

    /// What the check of a way has found, if it was made.
    pub(crate) fn checked(
        &self,
        peer: CUdevice,
        of: PeerUse,
    ) -> Option<Result<(), PeerCorruption>> {
        let mut checks = self.checks.iter();
        let known = checks.find(|check| check.peer == peer && check.of == of)?;
        Some(known.outcome)
    }

    /// Remembers what a check has found.
    pub(crate) fn note_check(
        &mut self,
        peer: CUdevice,
        of: PeerUse,
        outcome: Result<(), PeerCorruption>,
    ) {
        if !mutant!("peer_check_not_noted") {
            self.checks.push(Check { peer, of, outcome });
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::ptr;

    use super::*;

    // Without it a thread that has the access for a moment, while the last holder waits for the work,
    // could leave work behind that loses the access while it runs.
    #[test]
    fn work_that_came_during_the_wait_is_waited_for_too() {
        let (table, peer) = (PeerTable::default(), Identity::of(ptr::null_mut()));
        table.lock().add(peer, Enabler::Here);
        let mut waits = 0;
        let (peers, end) = table.end(peer, || {
            waits += 1;
            if waits == 1 {
                assert!(table.lock().take(peer));
                let end = table.end(peer, || panic!("another one has the access")).1;
                assert_eq!(end, GrantEnd::Nothing);
            }
            true
        });
        drop(peers);
        assert_eq!((waits, end), (2, GrantEnd::Disable));
        assert!(!table.lock().take(peer), "it is over");
    }

    // Without it an access that cannot be waited for would be waited for again and again, or one that
    // other code has enabled be disabled.
    #[test]
    fn an_end_does_not_wait_for_ever_or_for_nothing() {
        let (table, peer) = (PeerTable::default(), Identity::of(ptr::null_mut()));
        table.lock().add(peer, Enabler::Here);
        let mut waits = 0;
        let (peers, end) = table.end(peer, || {
            waits += 1;
            false
        });
        drop(peers);
        assert_eq!((waits, end), (1, GrantEnd::Disable));
        table.lock().add(peer, Enabler::Elsewhere);
        let end = table.end(peer, || panic!("nothing is disabled")).1;
        assert_eq!(end, GrantEnd::Nothing);
    }
}
