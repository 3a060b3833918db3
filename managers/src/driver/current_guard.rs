//! `CurrentGuard`: a context that is current on a thread for as long as a value lives.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::ptr;
use std::sync::{Arc, Weak};

use cupola_sys::driver::{CUcontext, Driver, DriverError};

use super::ContextCore;
use super::current::{Identity, count_switch, forget, get, remember, remembered};
use super::intern;
use crate::error::{Error, Result, Site};
use crate::lists;
use crate::sync::per_thread;

per_thread! {
    /// The guards whose contexts are on this thread's stacks, in the order in which they came.
    static GUARDS: RefCell<Vec<Place>> = RefCell::new(Vec::new());
}

/// A guard's place on the stack of its driver.
struct Place {
    /// Greater than the numbers below it.
    number: u64,
    driver: Driver,
    core: Weak<ContextCore>,
    /// Of a guard that was dropped: the context that it pushed, which is taken off when no other is
    /// above it.
    left: Option<Pushed>,
}

impl Place {
    /// Whether a guard is still to be dropped here. A guard that is past the life of its context
    /// was forgotten.
    fn has_guard(&self) -> bool {
        self.left.is_none() && self.core.strong_count() > 0
    }
}

impl ContextCore {
    /// Makes the context current, and with the guard's drop the context that was current before.
    #[track_caller]
    pub(crate) fn guard(self: &Arc<Self>) -> Result<CurrentGuard<'_>> {
        if self.ledger.is_forked() {
            return Err(Error::Forked);
        }
        let site = self.site();
        self.check_at(CurrentGuard::enter(self, site), site)
    }
}

/// Takes a context that is about to be destroyed off this thread, if it is current: other
/// code may have set another. Within a guard of the same driver, also one of another execution
/// manager, or above the place of a guard that was dropped before another above it, the context of
/// that guard takes its place, so that the driver's stack is as high as the guard expects.
///
/// # Errors
/// What the driver returned: the driver takes it off with its end then.
pub(super) fn take_off_thread(core: &ContextCore) -> Result<(), DriverError> {
    if get(core.driver())? != core.raw() {
        return Ok(());
    }
    forget();
    let outer = GUARDS.try_with(|guards| {
        let guards = guards.borrow();
        let own = guards.iter().rev();
        let mut own = own.filter(|place| place.driver.is_same(core.driver()));
        // No other is upgraded: it could be the last of its kind, and end under the borrow.
        own.find_map(|place| place.core.upgrade())
    });
    let outer = outer.ok().flatten();
    let raw = outer
        .as_ref()
        .map_or(ptr::null_mut(), |outer| outer.current_raw());
    // SAFETY: null, or a context that `outer` keeps alive.
    unsafe { core.driver().cuCtxSetCurrent(raw) }
}

/// Keeps a context current on this thread; the one before is current again when it is
/// dropped, unless it was destroyed meanwhile.
///
/// A context of an execution manager of the driver that was current before is kept alive by the
/// guard. Operations in other contexts that run on this thread meanwhile make those current:
/// the guard does not set its own again. Guards of a thread may be dropped in any order: when a
/// guard is dropped before another above it, the context from before it is current again once that
/// one is dropped too. A guard that is forgotten (`mem::forget`) keeps its place as long as its
/// context lives: contexts below it come off the stack no more until then, or until the thread
/// ends.
///
/// The driver's stack of contexts is as high after the guard as it was before. Other code that
/// changes the thread's context within the guard has to leave it as high as it was, as setting one
/// does: the guard takes off the top (`cuCtxPopCurrent_v2`). The driver does not tell how high the
/// stack is. So if other code took the guard's context off, a context of an execution manager that
/// was current before is put back; one of other code is not, and comes off too: the guard never
/// names it to the driver, as other code may have destroyed it.
#[derive(Debug)]
#[must_use = "the previous context is restored when the guard is dropped"]
pub struct CurrentGuard<'c> {
    core: &'c Arc<ContextCore>,
    /// That of its place; 0 on a thread that is past its thread-locals.
    number: u64,
    /// The context that was current, for comparing only.
    before: CUcontext,
    /// The context that this thread had set last.
    remembered: Identity,
    /// One of an execution manager's is not destroyed before it is current again.
    kept: Option<Arc<ContextCore>>,
    site: Site,
    /// A guard stays on its thread.
    thread: PhantomData<*const ()>,
}

/// The context that a guard has put on the driver's stack, and the one that was there before.
struct Pushed {
    core: Arc<ContextCore>,
    before: CUcontext,
    remembered: Identity,
    kept: Option<Arc<ContextCore>>,
    site: Site,
}

impl<'c> CurrentGuard<'c> {
    pub(crate) fn enter(core: &'c Arc<ContextCore>, site: Site) -> Result<Self, DriverError> {
        let driver = core.driver();
        let before = get(driver)?;
        let kept = core.ledger().context(before).or_else(|| {
            if before.is_null() {
                return None;
            }
            // One of another execution manager of the driver.
            let others = intern::ledgers_at(driver, before);
            others.iter().find_map(|ledger| ledger.context(before))
        });
        let remembered = remembered();
        forget();
        count_switch();
        // SAFETY: `core` keeps it alive.
        unsafe { driver.cuCtxPushCurrent_v2(core.current_raw()) }?;
        remember(core.current_identity());
        Ok(Self {
            core,
            number: note_guard(core),
            before,
            remembered,
            kept,
            site,
            thread: PhantomData,
        })
    }
}

/// A place for a guard whose context was pushed just now: its number.
fn note_guard(core: &Arc<ContextCore>) -> u64 {
    let noted = GUARDS.try_with(|guards| {
        let mut guards = guards.borrow_mut();
        // Places of forgotten guards; dropped without the borrow.
        let gone = |place: &Place| place.left.is_none() && !place.has_guard();
        let over = lists::take_out(&mut guards, gone);
        let number = guards.last().map_or(1, |last| last.number + 1);
        guards.push(Place {
            number,
            driver: core.driver().clone(),
            core: Arc::downgrade(core),
            left: None,
        });
        (number, over)
    });
    noted.map_or(0, |(number, _)| number)
}

/// The highest place on this driver's stack, if its guard was dropped: it is off the list then.
fn next_left(driver: &Driver) -> Option<Place> {
    let next = GUARDS.try_with(|guards| {
        let mut guards = guards.borrow_mut();
        let there = |place: &Place| {
            (place.left.is_some() || place.has_guard()) && place.driver.is_same(driver)
        };
        let at = guards.iter().rposition(there)?;
        guards[at].left.is_some().then(|| guards.remove(at))
    });
    next.ok().flatten()
}

impl Pushed {
    /// Takes the top off the driver's stack.
    fn restore(&self) -> Result<(), DriverError> {
        let driver = self.core.driver();
        forget();
        if mutant!("current_guard_names_what_was_there") {
            // SAFETY: `before` may be destroyed: that is the mistake which this makes.
            return unsafe { driver.cuCtxSetCurrent(self.before) };
        }
        let top = get(driver)?;
        let was_there = top == self.before;
        if top.is_null()
            || (was_there
                && top != self.core.current_raw()
                && mutant!("current_guard_looks_at_the_top"))
        {
            // Other code took all off.
            remember(self.remembered);
            return Ok(());
        }
        let mut popped: CUcontext = ptr::null_mut();
        // SAFETY: `popped` outlives the call.
        unsafe { driver.cuCtxPopCurrent_v2(&raw mut popped) }?;
        // The context from before may have been set in the place of the guard's own, and is below;
        // or other code took the guard's own off, and it came off just now.
        if was_there
            && let Some(kept) = &self.kept
            && get(driver)? != self.before
        {
            count_switch();
            // SAFETY: `kept` keeps it alive.
            unsafe { driver.cuCtxPushCurrent_v2(kept.raw()) }?;
        }
        // Good again if the driver agrees, which the next operation asks it.
        remember(self.remembered);
        Ok(())
    }

    /// Takes the top off as [`restore`](Self::restore) does, in a drop, which returns no error. The
    /// context that was kept ends after that if it has no other owner, no longer under another on
    /// the stack.
    fn take_off(self) {
        if !self.core.ledger().is_forked()
            && let Err(call) = self.restore()
        {
            self.core.note(call, self.site);
        }
    }
}

impl Drop for CurrentGuard<'_> {
    fn drop(&mut self) {
        let mut pushed = Some(Pushed {
            core: Arc::clone(self.core),
            before: self.before,
            remembered: self.remembered,
            kept: self.kept.take(),
            site: self.site,
        });
        // No borrow of the list is held where a context may end.
        let _ = GUARDS.try_with(|guards| {
            let mut guards = guards.borrow_mut();
            let own = |place: &Place| place.number == self.number;
            if let Some(at) = guards.iter().rposition(own) {
                if mutant!("current_guards_end_in_any_order") {
                    guards.remove(at);
                } else {
                    guards[at].left = pushed.take();
                }
            }
        });
        // A thread that is past its thread-locals has no list.
        if let Some(pushed) = pushed {
            pushed.take_off();
        }
        while let Some(mut next) = next_left(self.core.driver()) {
            if let Some(pushed) = next.left.take() {
                pushed.take_off();
            }
        }
    }
}
