//! Values made on demand.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Condvar, Mutex, PoisonError};
use std::{hint, thread};

use cupola_core::{
    EnsureError, FixedSlots, HandleError, InsertError, Park, Release, StorePolicy, tag,
};

static LOCK: Mutex<()> = Mutex::new(());
static CHANGED: Condvar = Condvar::new();

/// Threads sleep until something changes.
#[derive(Debug)]
enum Sleep {}

impl Park for Sleep {
    fn wait(_: usize, ready: &mut dyn FnMut() -> bool) {
        let mut guard = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        while !ready() {
            guard = CHANGED.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn wake(_: usize) {
        drop(LOCK.lock().unwrap_or_else(PoisonError::into_inner));
        CHANGED.notify_all();
    }
}

type Store<T, const N: usize = 4> = FixedSlots<T, N, tag::Device, StorePolicy<String, Sleep>>;

/// Without it threads that ask at once could make a value twice, or sleep for ever.
#[test]
fn however_many_ask_one_makes_the_value() {
    for _ in 0..200 {
        let store = Store::<usize>::new();
        let handle = store.reserve().unwrap();
        let (made, start) = (AtomicUsize::new(0), Barrier::new(8));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    let lease = store.ensure_alive(handle, || {
                        thread::yield_now();
                        Ok(made.fetch_add(1, Ordering::Relaxed) + 41)
                    });
                    assert_eq!(*lease.unwrap(), 41);
                });
            }
        });
        assert_eq!(made.load(Ordering::Relaxed), 1);
        assert_eq!(store.release(handle), Ok(Release::Now(41)));
        let late = store.ensure_alive(handle, || Ok(1));
        assert_eq!(late.unwrap_err(), HandleError::Stale.into());
    }
}

/// Without it an attempt that fails could leave its slot unusable, keep its error for ever,
/// or leave a waiter untold.
#[test]
fn failures_are_told_and_the_next_attempt_works() {
    for _ in 0..200 {
        let store = Store::<Box<u32>>::new();
        let handle = store.reserve().unwrap();
        let (tries, told, start) = (AtomicUsize::new(0), AtomicUsize::new(0), Barrier::new(6));
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    start.wait();
                    let outcome = store.ensure_alive(handle, || {
                        thread::yield_now();
                        match tries.fetch_add(1, Ordering::Relaxed) {
                            0 => Err(String::from("no device")),
                            _ => Ok(Box::new(7)),
                        }
                    });
                    match outcome {
                        Ok(lease) => assert_eq!(**lease, 7),
                        Err(EnsureError::Init(error)) => {
                            assert_eq!(error, "no device");
                            told.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(other) => panic!("{other:?}"),
                    }
                });
            }
        });
        assert!(told.into_inner() >= 1);
        assert_eq!(**store.ensure_alive(handle, || Ok(Box::new(7))).unwrap(), 7);
    }
}

/// Without it a panic while a value is made would leave the waiters asleep, and the slot
/// unusable.
#[test]
fn a_panic_lets_the_next_one_try() {
    let store = Store::<u32>::new();
    let handle = store.reserve().unwrap();
    let begun = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                let _ = store.ensure_alive(handle, || {
                    begun.wait();
                    // Time for the other to wait; it need not.
                    thread::sleep(std::time::Duration::from_millis(5));
                    panic!("as a test");
                });
            }));
            assert!(outcome.is_err());
        });
        begun.wait();
        assert_eq!(*store.ensure_alive(handle, || Ok(7)).unwrap(), 7);
    });
    assert_eq!(store.live(), 1);
}

/// Without it a reserved slot could not be given back, or would be taken for one with a
/// value.
#[test]
fn a_reserved_slot_has_a_handle_and_no_value() {
    let store = Store::<u32, 1>::new();
    let handle = store.reserve().unwrap();
    assert_eq!(store.get(handle).unwrap_err(), HandleError::NotReady);
    assert_eq!((store.live(), store.held().slots), (0, 1));
    assert_eq!(store.reserve(), Err(InsertError::Full(())));
    assert_eq!(store.release(handle), Ok(Release::Empty));
    assert_eq!(store.release(handle), Err(HandleError::Stale));
    let again = store.reserve().unwrap();
    assert!(store.held().slots == 1 && again != handle);
    let inside = store.ensure_alive(again, || {
        assert_eq!(store.release(again), Err(HandleError::NotReady));
        store.close();
        Ok(5)
    });
    match inside {
        Err(EnsureError::Withheld { value, refusal }) => {
            assert_eq!((value, refusal), (5, HandleError::Closed));
        }
        other => panic!("{other:?}"),
    }
    assert!(store.drain(|_, _| panic!("there is no value")).is_empty());
    assert_eq!(store.reserve(), Err(InsertError::Closed(())));
}

/// Without it a `Park` that returns too early would hand out a lease on a value that is not
/// there.
#[test]
fn a_park_that_returns_early_is_called_again() {
    #[derive(Debug)]
    enum Restless {}
    impl Park for Restless {
        fn wait(_: usize, _: &mut dyn FnMut() -> bool) {}
        fn wake(_: usize) {}
    }
    let store = FixedSlots::<String, 1, tag::Slot, StorePolicy<u8, Restless>>::new();
    let handle = store.reserve().unwrap();
    let begun = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            let made = store.ensure_alive(handle, || {
                begun.wait();
                thread::sleep(std::time::Duration::from_millis(20));
                Ok(String::from("made"))
            });
            assert_eq!(*made.unwrap(), "made");
        });
        begun.wait();
        let waited = store.ensure_alive(handle, || Ok(String::from("made twice")));
        assert_eq!(*waited.unwrap(), "made");
    });
    assert_eq!(store.held().leases, 0);
}

/// Cannot wait: panics instead.
#[derive(Debug)]
enum Fragile {}

impl Park for Fragile {
    fn wait(_: usize, _: &mut dyn FnMut() -> bool) {
        // Without the hook, which would print a message each time.
        resume_unwind(Box::new("as a test"));
    }
    fn wake(_: usize) {}
}

/// Without it a panic while a thread waits would leave a lease behind that no thread has, and
/// the value could never be taken out.
#[test]
fn a_panic_while_waiting_leaves_no_lease_behind() {
    let store = FixedSlots::<u32, 1, tag::Slot, StorePolicy<u8, Fragile>>::new();
    for outcome in [Ok(7), Err(3)] {
        let handle = store.reserve().unwrap();
        let (begun, gone) = (Barrier::new(2), Barrier::new(2));
        thread::scope(|scope| {
            scope.spawn(|| {
                let made = store.ensure_alive(handle, || {
                    begun.wait();
                    gone.wait();
                    outcome
                });
                assert_eq!(made.is_ok(), outcome.is_ok());
            });
            begun.wait();
            let waited = catch_unwind(AssertUnwindSafe(|| {
                let _ = store.ensure_alive(handle, || Ok(1));
            }));
            assert!(waited.is_err());
            gone.wait();
        });
        assert_eq!(store.held().leases, 0);
        assert_eq!(store.release(handle).unwrap().now(), outcome.ok());
    }
}

/// Without it a thread that panics while it waits could take the slot along, when the attempt
/// that it waits for fails at the same time. Seldom is it the very instant; the model
/// `a_waiter_that_panics_leaves_a_usable_slot` tries them all, and this one
/// with real threads and a real unwinding.
#[test]
fn a_panic_while_an_attempt_fails_leaves_the_slot_usable() {
    let store = FixedSlots::<u32, 1, tag::Slot, StorePolicy<u8, Fragile>>::new();
    for round in 0..300 {
        let handle = store.reserve().unwrap();
        let counted = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                let made = store.ensure_alive(handle, || {
                    counted.store(1, Ordering::Release);
                    // Each round another moment: nothing keeps the two apart.
                    for _ in 0..round % 128 {
                        hint::spin_loop();
                    }
                    Err(3)
                });
                assert_eq!(made.unwrap_err(), EnsureError::Init(3));
            });
            while counted.load(Ordering::Acquire) == 0 {
                thread::yield_now();
            }
            // It panics, is told, or comes after the attempt and makes the value.
            let _ = catch_unwind(AssertUnwindSafe(|| {
                let _ = store.ensure_alive(handle, || Ok(1));
            }));
        });
        assert_eq!(store.held().leases, 0);
        let released = store.release(handle);
        assert!(
            matches!(released, Ok(Release::Empty | Release::Now(1))),
            "{released:?} after {round} rounds"
        );
    }
}
