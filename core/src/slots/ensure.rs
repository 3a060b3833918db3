//! `ensure_alive`: makes the value of a reserved slot once, however many threads ask
//! (once-initialisation whose errors are told and whose value is leased).
//!
//! One thread turns the slot from reserved to initialising and makes the value. Threads that
//! come meanwhile count themselves in and wait. When the value is there, their count is the
//! number of leases: each of them already holds one, so that no release can come between
//! the value and the threads that waited for it. When the attempt failed, each takes a copy
//! of the error, and the last one makes the slot reserved again. A waiting thread may leave
//! early, by a panic of its `Park`; when all have, the maker is the last one.

use core::convert::Infallible;
use core::mem::ManuallyDrop;

use super::claim::Begun;
use super::error::{EnsureError, HandleError, InsertError};
use super::group::Place;
use super::lease::Lease;
use super::payload::InCell;
use super::payload::sealed::Keep as _;
use super::policy::{Park, Policy};
use super::slot::Slot;
use super::state::State;
use super::word::Phase;
use super::{Layout, Slots};
use crate::handle::{Handle, Tag};
use crate::sync::Ordering;

/// The part of a thread that asks for a value.
enum Role {
    /// Nothing: it has a lease.
    Leased,
    /// Make the value.
    Maker,
    /// Wait for the maker, counted in.
    Waiter,
    /// Wait until the threads that waited for a failed attempt have been told.
    Latecomer,
}

impl<L, G, P, T> Slots<L, G, P>
where
    L: Layout<Cell = InCell<T, P::Error>>,
    G: Tag,
    P: Policy,
{
    /// Reserves a slot for a value that [`ensure_alive`](Self::ensure_alive) makes when it is
    /// first needed. Until then the handle is refused with `NotReady`, and
    /// [`release`](Self::release) gives the slot back.
    ///
    /// # Errors
    /// [`InsertError`] when no slot is free or the store is closed.
    pub fn reserve(&self) -> Result<Handle<G>, InsertError<()>> {
        self.begin(Phase::Reserved).map(|Begun(_, handle)| handle)
    }

    /// Leases the value that `handle` names, and makes it with `init` first if the slot is
    /// only [reserved](Self::reserve). However many threads ask at once, one of them runs
    /// its `init`, once; the others wait, as the policy's [`Park`] has them wait, and get
    /// leases on its value.
    ///
    /// When `init` fails, it and every thread that waited for this attempt get the error;
    /// the slot is reserved as before, and the next call tries again. When `init` panics,
    /// one of those that waited tries its own.
    ///
    /// Neither `init` nor the cloning of its error may ask for the same handle: they would
    /// wait for themselves.
    ///
    /// # Errors
    /// [`EnsureError`]: the handle was refused as by [`get`](Self::get), `init` failed, or
    /// the store was closed while it ran.
    #[doc(alias("get_or_init", "lazy"))]
    pub fn ensure_alive(
        &self,
        handle: Handle<G>,
        init: impl FnOnce() -> Result<T, P::Error>,
    ) -> Result<Lease<'_, T, G>, EnsureError<T, P::Error>> {
        let place = self.place(handle.index()).ok_or(HandleError::Stale)?;
        let slot = place.slot;
        loop {
            match slot.state.ask(handle.generation())? {
                // SAFETY: `Lease::new` needs a slot pinned for this lease, whose life `handle`
                // names: `ask` has just pinned it for the handle's generation.
                Role::Leased => return Ok(unsafe { Lease::new(place.into(), handle) }),
                Role::Maker => {
                    let attempt = Attempt::<T, P> { slot };
                    let waiting = attempt.run(init)?;
                    // SAFETY: `Lease::new` needs a slot pinned for this lease, whose life
                    // `handle` names: the attempt published the value with a lease for its
                    // maker, in the life that `ask` has checked.
                    let lease = unsafe { Lease::new(place.into(), handle) };
                    if waiting && !mutant!("slots_sleepers_stay_asleep") {
                        P::Park::wake(key(&slot.state));
                    }
                    return Ok(lease);
                }
                Role::Waiter => {
                    let counted = Waiting::<T, G, P> { place, handle };
                    let phase = wait::<T, P>(place, Phase::Initialising);
                    let _ = ManuallyDrop::new(counted);
                    if phase != Phase::Failed {
                        // SAFETY: `Lease::new` needs a slot pinned for this lease, whose life
                        // `handle` names: this thread counted in for that life, and the maker
                        // has turned its count into a lease.
                        return Ok(unsafe { Lease::new(place.into(), handle) });
                    }
                    if let Some(error) = told::<T, P>(slot) {
                        return Err(EnsureError::Init(error));
                    }
                }
                Role::Latecomer => {
                    wait::<T, P>(place, Phase::Failed);
                }
            }
        }
    }
}

impl State {
    /// Finds out what to do about the life `generation`, and counts the caller in.
    #[inline]
    fn ask(&self, generation: u64) -> Result<Role, HandleError> {
        // Acquire: sees the value, or all that earlier attempts did to the cell.
        let mut role = Role::Latecomer;
        let asked = self.update(Ordering::Acquire, |word| {
            if word.generation() != generation {
                return Err(Some(HandleError::Stale));
            }
            let phase = word.phase();
            if word.is_closed() && word.is_occupied() && phase != Phase::Retiring {
                return Err(Some(HandleError::Closed));
            }
            match phase {
                Phase::Alive | Phase::Initialising => {
                    role = match phase {
                        Phase::Alive => Role::Leased,
                        _ => Role::Waiter,
                    };
                    word.leases_left().map_err(Some)?;
                    Ok(word.leased())
                }
                Phase::Reserved => {
                    role = Role::Maker;
                    if mutant!("slots_two_makers") {
                        return Ok(word);
                    }
                    Ok(word.with_phase(Phase::Initialising))
                }
                Phase::Failed => Err(None),
                Phase::Filling => Err(Some(HandleError::NotReady)),
                Phase::Vacant | Phase::Retiring => Err(Some(HandleError::Stale)),
            }
        });
        match asked {
            Ok(_) => Ok(role),
            Err(None) => Ok(Role::Latecomer),
            Err(Some(refusal)) => Err(refusal),
        }
    }
}

/// Waits until the slot has left `phase`; returns the phase that it is in then.
fn wait<T, P: Policy>(place: Place<'_, InCell<T, P::Error>>, phase: Phase) -> Phase {
    // Acquire in `word`: the thread that ended the phase did so with Release, so its writes
    // to the cell are seen.
    let state = &place.slot.state;
    let mut now = state.word().phase();
    // However early `Park` returns, no thread passes before the phase is over.
    while now == phase {
        P::Park::wait(key(state), &mut || state.word().phase() != phase);
        now = state.word().phase();
    }
    now
}

/// A thread that has counted itself in and waits; counts it out if waiting panics.
struct Waiting<'p, T, G, P: Policy> {
    place: Place<'p, InCell<T, P::Error>>,
    handle: Handle<G>,
}

impl<T, G, P: Policy> Drop for Waiting<'_, T, G, P> {
    fn drop(&mut self) {
        let slot = self.place.slot;
        let left = slot
            .state
            // Relaxed: it has not looked at the cell.
            .update(Ordering::Relaxed, |word| match word.phase() {
                Phase::Initialising => Ok(word.unleased()),
                phase => Err(phase),
            });
        match left {
            Ok(_) => {}
            Err(Phase::Failed) => drop(Counted::<T, P> { slot }),
            // SAFETY: `Lease::new` needs a slot pinned for this lease, whose life `handle`
            // names: this thread counted in for that life, and the maker has turned its count
            // into a lease.
            Err(_) => drop(unsafe { Lease::<T, G>::new(self.place.into(), self.handle) }),
        }
    }
}

/// The key that threads wait under for this slot.
#[inline]
fn key(state: &State) -> usize {
    core::ptr::from_ref(state).addr()
}

/// Copies the error of the failed attempt that the caller was counted in for, and counts the
/// caller out. `None` when the maker gave up without an error.
fn told<T, P: Policy>(slot: &Slot<InCell<T, P::Error>>) -> Option<P::Error> {
    // Counted out even if the copy panics.
    let counted = Counted::<T, P> { slot };
    let error = slot.cell.failure.with(|failure| {
        // SAFETY: `assume_init_ref` needs a failure that stays while it is borrowed: the slot
        // is `Failed`, so the failure is there, and it stays until this thread, which is
        // counted in, has counted out.
        unsafe { (*failure).assume_init_ref().clone() }
    });
    drop(counted);
    error
}

/// A thread that has yet to be told of a failed attempt.
struct Counted<'s, T, P: Policy> {
    slot: &'s Slot<InCell<T, P::Error>>,
}

impl<T, P: Policy> Drop for Counted<'_, T, P> {
    fn drop(&mut self) {
        let state = &self.slot.state;
        // Release: this thread's look at the failure comes before its end.
        let left = state.update(Ordering::Release, |word| match word.leases() {
            // No thread counts in any more, so this one ends the failure.
            1 => Err(()),
            _ => Ok(word.unleased()),
        });
        if left.is_ok() {
            return;
        }
        // Acquire: the looks of the threads that have counted out come before the failure's
        // end.
        state.word();
        let failure = self.slot.cell.failure.with_mut(|failure| {
            // SAFETY: `assume_init_read` needs a failure and exclusive access: the slot is
            // `Failed`, so the failure is there, and this thread is the last one counted in,
            // so no other looks at it.
            unsafe { (*failure).assume_init_read() }
        });
        // Release: the next attempt comes after this. Only `closed` can have changed.
        let _ = state.update(Ordering::Release, |word| {
            Ok::<_, Infallible>(word.unleased().with_phase(Phase::Reserved))
        });
        P::Park::wake(key(state));
        drop(failure);
    }
}

/// The right to make a slot's value: the slot is `Initialising` and its cell the maker's.
/// Dropped without an outcome, as by a panic, it gives up.
struct Attempt<'s, T, P: Policy> {
    slot: &'s Slot<InCell<T, P::Error>>,
}

impl<T, P: Policy> Attempt<'_, T, P> {
    /// Makes the value and keeps a lease on it. Returns whether threads wait for it.
    fn run(
        self,
        init: impl FnOnce() -> Result<T, P::Error>,
    ) -> Result<bool, EnsureError<T, P::Error>> {
        match init() {
            Ok(value) => self.succeed(value),
            Err(error) => {
                // Before anything else: when the copy panics, the attempt gives up.
                let copy = error.clone();
                ManuallyDrop::new(self).end(Some(copy));
                Err(EnsureError::Init(error))
            }
        }
    }

    fn succeed(self, value: T) -> Result<bool, EnsureError<T, P::Error>> {
        // SAFETY: `Keep::write` needs the owner of a cell without a value: an attempt owns the
        // cell of its slot, which was reserved, so without a value.
        unsafe { self.slot.cell.write(value) };
        // Release: a lease that sees `Alive` sees the value.
        let published = self.slot.state.update(Ordering::Release, |word| {
            if word.is_closed() {
                return Err(HandleError::Closed);
            }
            word.leases_left()?;
            Ok(word.leased().with_phase(Phase::Alive))
        });
        match published {
            Ok(before) => {
                let _ = ManuallyDrop::new(self);
                Ok(before.leases() > 0)
            }
            Err(refusal) => {
                // SAFETY: `Keep::take` needs the owner of a cell that holds a value: nothing was
                // published, so the attempt still owns the cell, which holds the value just
                // written. Giving up follows, when `self` is dropped.
                let value = unsafe { self.slot.cell.take() };
                Err(EnsureError::Withheld { value, refusal })
            }
        }
    }

    /// Ends the attempt without a value: the slot is reserved again, at once when no thread
    /// waits, else by the last waiting thread.
    fn end(&self, error: Option<P::Error>) {
        // Release: the next attempt comes after this one.
        let alone = self.slot.state.update(Ordering::Release, |word| {
            if word.leases() == 0 {
                Ok(word.with_phase(Phase::Reserved))
            } else {
                Err(())
            }
        });
        if alone.is_ok() {
            return;
        }
        self.slot.cell.failure.with_mut(|failure| {
            // SAFETY: writing needs exclusive access, and a cell without a failure, which would
            // leak: the slot is `Initialising`, so the attempt owns the cell, and a failure is
            // there in phase `Failed` only.
            unsafe { (*failure).write(error) };
        });
        // Release: the waiting threads see the failure. Each takes its own count down, and some
        // may have done so meanwhile, by a panic in `Park::wait`. Were the count zero, no thread
        // would ever leave `Failed`: then the maker counts itself in, and is the last.
        let before = self.slot.state.update(Ordering::Release, |word| {
            let deserted = word.leases() == 0 && !mutant!("slots_failure_without_a_count");
            let word = if deserted { word.leased() } else { word };
            Ok::<_, Infallible>(word.with_phase(Phase::Failed))
        });
        let Ok(before) = before;
        if before.leases() == 0 && !mutant!("slots_failure_without_a_count") {
            drop(Counted::<T, P> { slot: self.slot });
        } else {
            P::Park::wake(key(&self.slot.state));
        }
    }
}

impl<T, P: Policy> Drop for Attempt<'_, T, P> {
    fn drop(&mut self) {
        self.end(None);
    }
}
