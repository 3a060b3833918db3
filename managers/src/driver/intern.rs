//! The intern table: one [`SharedContext`] for each driver context of the process.
//!
//! Execution managers of one driver meet in a context: the primary one of a device, which each of
//! them retains, or one that the user hands from one to the other. Each has a
//! [`ContextCore`](super::ContextCore) of its own for it, and is a *member* of the context's entry.
//! The entry is there as long as it has a member, and every member keeps the driver's context
//! alive. A member joins when it has the context already, and leaves before it gives the context
//! up. So a thread that looks never finds the entry of a context that is ending, and needs no weak
//! reference to be upgraded; and a context that the driver makes at the address of one that ended
//! finds no entry.
//!
//! Two contexts are one if the driver is the same, the address, and, where the driver tells it
//! (`cuCtxGetId`, CUDA 12.0), the number that it gives no other context. The number tells apart the
//! contexts before and after a reset of a primary one by other code.

use std::sync::{Arc, PoisonError};

use cupola_sys::driver::{CUcontext, Driver, DriverError, id};

use super::fork::Origin;
use super::ledger::Ledger;
use super::ownership::Ownership;
use super::shared::SharedContext;
use crate::error::PoisonPolicy;
use crate::lists;
use crate::sync::{Mutex, MutexGuard};

/// An execution manager in a context: what a loss that another one meets is to do here.
pub(crate) struct Member {
    pub(super) ledger: Arc<Ledger>,
    /// The device's, which is the same for all members.
    pub(super) ordinal: u32,
    /// `None`: the execution manager's policy holds.
    policy: Mutex<Option<PoisonPolicy>>,
}

impl Member {
    pub(super) fn new(ledger: Arc<Ledger>, ordinal: u32) -> Arc<Self> {
        Arc::new(Self {
            ledger,
            ordinal,
            policy: Mutex::new(None),
        })
    }

    /// The action when the context is lost.
    pub(super) fn policy(&self) -> PoisonPolicy {
        let own = self.policy.lock().unwrap_or_else(PoisonError::into_inner);
        let own = own.clone();
        own.unwrap_or_else(|| self.ledger.poison_policy())
    }

    pub(super) fn set_policy(&self, policy: PoisonPolicy) {
        let mut own = self.policy.lock().unwrap_or_else(PoisonError::into_inner);
        let before = own.replace(policy);
        // The policy from before is dropped after the lock: it may be a user's closure.
        drop(own);
        drop(before);
    }
}

/// A driver's context, and its members.
struct Entry {
    driver: Driver,
    id: Option<u64>,
    shared: Arc<SharedContext>,
    members: Vec<Arc<Member>>,
    /// Addresses of the green contexts that are parts of it.
    greens: Vec<usize>,
    /// The context itself, if its maker has left it to the members that are there.
    inherited: Option<Ownership>,
}

impl Entry {
    fn is(&self, driver: &Driver, raw: CUcontext, id: Option<u64>) -> bool {
        let is_other = id.is_some() && self.id.is_some() && id != self.id;
        self.shared.raw() == raw
            && (!is_other || mutant!("intern_by_address"))
            && self.driver.is_same(driver)
    }
}

/// The contexts of a process. A fork of it has a table of its own, as another thread may have held
/// the lock at the fork, and the contexts are the parent's.
struct Table {
    entries: Mutex<Vec<Entry>>,
    #[cfg_attr(loom, expect(dead_code, reason = "no model forks"))]
    origin: Origin,
}

impl Table {
    fn new() -> Self {
        Self {
            entries: Mutex::new(Vec::new()),
            origin: Origin::here(),
        }
    }
}

/// This process's table.
#[cfg(not(loom))]
fn table() -> &'static Table {
    use std::ptr;
    use std::sync::atomic::{AtomicPtr, Ordering};

    static TABLE: AtomicPtr<Table> = AtomicPtr::new(ptr::null_mut());
    loop {
        let known = TABLE.load(Ordering::Acquire);
        // SAFETY: null, or a table that was put here below and is never freed.
        if let Some(table) = unsafe { known.as_ref() }
            && !table.origin.is_elsewhere()
        {
            return table;
        }
        let new = Box::into_raw(Box::new(Table::new()));
        // Release: a thread that finds the table sees all of it.
        let put = TABLE.compare_exchange(known, new, Ordering::Release, Ordering::Relaxed);
        if put.is_err() {
            // SAFETY: made just now, and known to no other thread.
            drop(unsafe { Box::from_raw(new) });
        }
    }
}

#[cfg(loom)]
loom::lazy_static! {
    static ref TABLE: Table = Table::new();
}

/// The table of this run of a model.
#[cfg(loom)]
fn table() -> &'static Table {
    &TABLE
}

fn entries() -> MutexGuard<'static, Vec<Entry>> {
    let entries = table().entries.lock();
    entries.unwrap_or_else(PoisonError::into_inner)
}

/// The number of a context that the driver gives no other one (`cuCtxGetId`), if it has such.
///
/// # Errors
/// What the driver returned.
///
/// # Safety
/// `raw` is a live context of the driver.
pub(super) unsafe fn id_of(driver: &Driver, raw: CUcontext) -> Result<Option<u64>, DriverError> {
    let mut id = 0;
    // SAFETY: `id` outlives the call, and the context is alive.
    match unsafe { driver.cuCtxGetId(raw, &raw mut id) } {
        Ok(()) => Ok(Some(id)),
        Err(DriverError::Missing { .. }) => Ok(None),
        Err(call) => Err(call),
    }
}

/// The shared state of a context, which the member keeps alive until it [leaves](leave).
/// `is_new`: the context was made just now, and no other member can have it.
pub(super) fn join(
    driver: &Driver,
    raw: CUcontext,
    id: Option<u64>,
    is_new: bool,
    member: &Arc<Member>,
) -> Arc<SharedContext> {
    resolve(driver);
    let mut entries = entries();
    // The newest first: an older one at the address is that of a context which other code has ended.
    let mut known = entries.iter_mut().rev();
    if !is_new && let Some(entry) = known.find(|entry| entry.is(driver, raw, id)) {
        entry.members.push(Arc::clone(member));
        return Arc::clone(&entry.shared);
    }
    let shared = Arc::new(SharedContext::new(raw));
    entries.push(Entry {
        driver: driver.clone(),
        id,
        shared: Arc::clone(&shared),
        members: vec![Arc::clone(member)],
        greens: Vec::new(),
        inherited: None,
    });
    shared
}

/// The member is about to give the context up, which it owns like this. If it made the context and
/// others have it too, its ownership is left to them, and to `Ownership::Left` here. Returns what
/// was left to the last of them in this way.
pub(super) fn leave(
    shared: &Arc<SharedContext>,
    member: &Arc<Member>,
    ownership: &mut Ownership,
) -> Option<Ownership> {
    let mut entries = entries();
    let own = |entry: &Entry| Arc::ptr_eq(&entry.shared, shared);
    let place = entries.iter().position(own)?;
    let entry = &mut entries[place];
    lists::retain(&mut entry.members, |other| !Arc::ptr_eq(other, member));
    if !entry.members.is_empty() {
        if ownership.ends_the_context() && !mutant!("intern_maker_ends_the_context") {
            entry.inherited = Some(std::mem::replace(ownership, Ownership::Left));
        }
        return None;
    }
    let last = entries.remove(place);
    // It has a driver, which may be the last of its kind but for the member's.
    drop(entries);
    last.inherited
}

/// Notes a green context, which is a part of the context with this state and has no entry.
pub(super) fn add_green(parent: &Arc<SharedContext>, raw: CUcontext) {
    let mut entries = entries();
    let mut entry = entries.iter_mut();
    if let Some(entry) = entry.find(|entry| Arc::ptr_eq(&entry.shared, parent)) {
        entry.greens.push(raw.addr());
    }
}

/// The green context is about to end.
pub(super) fn remove_green(parent: &Arc<SharedContext>, raw: CUcontext) {
    let mut entries = entries();
    let mut entry = entries.iter_mut();
    if let Some(entry) = entry.find(|entry| Arc::ptr_eq(&entry.shared, parent)) {
        lists::retain(&mut entry.greens, |&green| green != raw.addr());
    }
}

/// Whether an execution manager of the driver has made a green context of this address.
pub(crate) fn is_green(driver: &Driver, raw: CUcontext) -> bool {
    resolve(driver);
    let entries = entries();
    let mut entries = entries.iter();
    entries.any(|entry| entry.greens.contains(&raw.addr()) && entry.driver.is_same(driver))
}

/// The other execution managers in a context, each once.
pub(super) fn others(shared: &Arc<SharedContext>, ledger: &Arc<Ledger>) -> Vec<Arc<Member>> {
    let entries = entries();
    let mut others: Vec<Arc<Member>> = Vec::new();
    let own = entries
        .iter()
        .find(|entry| Arc::ptr_eq(&entry.shared, shared));
    for member in own.map_or(&[][..], |entry| &entry.members) {
        let is_known = |known: &Arc<Ledger>| Arc::ptr_eq(known, &member.ledger);
        if !is_known(ledger) && !others.iter().any(|other| is_known(&other.ledger)) {
            others.push(Arc::clone(member));
        }
    }
    others
}

/// The execution managers that have a context at this address.
pub(super) fn ledgers_at(driver: &Driver, raw: CUcontext) -> Vec<Arc<Ledger>> {
    resolve(driver);
    let entries = entries();
    let mut there = Vec::new();
    for entry in entries.iter().filter(|entry| entry.is(driver, raw, None)) {
        for member in &entry.members {
            there.push(Arc::clone(&member.ledger));
        }
    }
    there
}

/// Has the driver look the function up that drivers are told apart by: where the functions come
/// from is code of others, which must not run under the lock.
fn resolve(driver: &Driver) {
    let _ = driver.has(id::cuCtxGetCurrent);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::ptr;

    use cupola_sim::Machine;

    use super::*;

    fn member() -> Arc<Member> {
        Member::new(Arc::new(Ledger::new()), 0)
    }

    // Without it a context that other code has reset would be taken for the one that the driver
    // made at its address, or a context of one driver for one of another.
    #[test]
    fn the_driver_tells_contexts_at_one_address_apart() {
        let machine = Machine::builder().build();
        let (one, two) = (machine.driver(), Machine::builder().build().driver());
        // Only looked at.
        let raw = ptr::without_provenance_mut(0x1000);
        let joined: Vec<_> = [
            (&one, Some(1)),
            (&two, Some(1)),
            (&one, Some(2)),
            (&one, Some(1)),
            (&one, Some(2)),
            (&one, None),
        ]
        .into_iter()
        .map(|(driver, id)| {
            let member = member();
            (join(driver, raw, id, false, &member), member)
        })
        .collect();
        let is_same = |a: usize, b: usize| Arc::ptr_eq(&joined[a].0, &joined[b].0);
        assert!(!is_same(0, 1) && !is_same(0, 2) && !is_same(1, 2));
        assert!(is_same(0, 3) && is_same(2, 4));
        assert!(is_same(5, 2), "the newest");
        let new = member();
        let made = join(&one, raw, None, true, &new);
        assert!(joined.iter().all(|(other, _)| !Arc::ptr_eq(other, &made)));
        for (shared, member) in joined.iter().chain([&(made, new)]) {
            leave(shared, member, &mut Ownership::Left);
        }
        let entries = entries();
        assert!(!entries.iter().any(|entry| entry.is(&one, raw, None)));
    }

    // Without it a context of other code would be refused that came at the address of a green one,
    // or of another driver's.
    #[test]
    fn a_green_context_is_known_until_it_ends() {
        let (one, two) = (Machine::builder().build(), Machine::builder().build());
        let (one, two) = (one.driver(), two.driver());
        // Only looked at.
        let [raw, green] = [0x1000, 0x2000].map(ptr::without_provenance_mut);
        let member = member();
        let shared = join(&one, raw, None, true, &member);
        add_green(&shared, green);
        assert!(is_green(&one, green) && !is_green(&one, raw) && !is_green(&two, green));
        remove_green(&shared, green);
        assert!(!is_green(&one, green));
        leave(&shared, &member, &mut Ownership::Left);
    }

    // Without it a child of a fork would wait for a lock that a thread of its parent held, when it
    // opens a software device.
    #[cfg(unix)]
    #[test]
    fn a_fork_has_a_table_of_its_own() {
        use core::ffi::c_int;

        unsafe extern "C" {
            fn fork() -> c_int;
            fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
            fn _exit(status: c_int) -> !;
        }

        let held = entries();
        // SAFETY: the child takes no lock that another thread may hold, and leaves.
        let child = unsafe { fork() };
        if child == 0 {
            let there = entries().len();
            // SAFETY: ends the child at once.
            unsafe { _exit(c_int::from(there != 0)) };
        }
        drop(held);
        let mut status = -1;
        // SAFETY: `status` outlives the call.
        let waited = unsafe { waitpid(child, &raw mut status, 0) };
        assert_eq!((waited, status), (child, 0));
    }
}
