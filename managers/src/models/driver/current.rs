//! The current context of a thread, while contexts come and go on others.

use std::sync::Arc;

use cupola_sys::driver::CUstream_flags;
use loom::sync::Mutex;
use loom::thread;

use crate::driver::{ContextCore, Ledger};
use crate::models::model;
use crate::models::test_driver::{self, device};

/// An operation in a context, which must be made in that one.
fn work_in(core: &ContextCore) {
    let number = test_driver::number_of(core);
    let driver = core.enter().unwrap();
    assert_eq!(test_driver::current(), Some(number), "in another context");
    // SAFETY: the call takes no pointers.
    core.check(unsafe { driver.cuCtxSynchronize() }).unwrap();
}

/// Where threads find a context that another one replaces.
type Place = loom::sync::Arc<Mutex<Option<Arc<ContextCore>>>>;

fn place(core: Arc<ContextCore>) -> Place {
    Place::new(Mutex::new(Some(core)))
}

fn look(place: &Place) -> Option<Arc<ContextCore>> {
    place.lock().unwrap().clone()
}

// Without it an operation could run in a dead context, because a new one has its address.
#[test]
fn a_context_at_the_address_of_another_is_not_taken_for_it() {
    model(
        &["the first", "one at its address", "one elsewhere", "none"],
        |seen| {
            let (driver, ledger) = (test_driver::driver(), Arc::new(Ledger::new()));
            let first = test_driver::context(&driver, &ledger);
            let address = first.raw();
            work_in(&first);
            let place = place(first);
            let other = thread::spawn({
                let (place, ledger) = (place.clone(), ledger.clone());
                move || {
                    drop(place.lock().unwrap().take());
                    let next = test_driver::context(&driver, &ledger);
                    *place.lock().unwrap() = Some(next);
                }
            });
            match look(&place) {
                None => seen.note("none"),
                Some(core) => {
                    work_in(&core);
                    seen.note(match test_driver::number_of(&core) {
                        1 => "the first",
                        _ if core.raw() == address => "one at its address",
                        _ => "one elsewhere",
                    });
                }
            }
            other.join().unwrap();
            let last = place.lock().unwrap().take().unwrap();
            work_in(&last);
            if last.raw() != address {
                seen.note("one elsewhere");
            }
            drop(last);
            device().check_empty();
            assert_eq!(ledger.live(), Default::default());
        },
    );
}

// Without it a thread could take another's current context for its own.
#[test]
fn each_thread_has_its_own() {
    model(&["done"], |seen| {
        let (driver, ledger) = (test_driver::driver(), Arc::new(Ledger::new()));
        let one = test_driver::context(&driver, &ledger);
        let two = test_driver::context(&driver, &ledger);
        let other = thread::spawn({
            let (one, two) = (one.clone(), two.clone());
            move || {
                work_in(&one);
                work_in(&two);
            }
        });
        work_in(&two);
        work_in(&one);
        work_in(&one);
        other.join().unwrap();
        work_in(&one);
        drop((one, two));
        seen.note("done");
        device().check_empty();
    });
}

// Without it a guard could make a context current that is not there, or be wrong about which
// one it restored.
#[test]
fn a_guard_restores_what_was_there() {
    model(&["restored", "gone meanwhile"], |seen| {
        let (driver, ledger) = (test_driver::driver(), Arc::new(Ledger::new()));
        let inner = test_driver::context(&driver, &ledger);
        let outer = test_driver::context(&driver, &ledger);
        let number = test_driver::number_of(&outer);
        work_in(&outer);
        let place = place(outer);
        let other = thread::spawn({
            let (place, ledger) = (place.clone(), ledger.clone());
            move || {
                drop(place.lock().unwrap().take());
                let next = test_driver::context(&driver, &ledger);
                *place.lock().unwrap() = Some(next);
            }
        });
        let guard = inner.guard().unwrap();
        work_in(&inner);
        let was_inner = test_driver::current() == Some(test_driver::number_of(&inner));
        assert!(was_inner);
        drop(guard);
        seen.note(if test_driver::current() == Some(number) {
            "restored"
        } else {
            "gone meanwhile"
        });
        work_in(&inner);
        other.join().unwrap();
        work_in(&look(&place).unwrap());
        work_in(&inner);
        drop((place.lock().unwrap().take(), inner));
        device().check_empty();
        assert_eq!(ledger.live(), Default::default());
    });
}

// Without it the driver's stack of a thread would grow with each guard that an operation in the
// context before ran under.
#[test]
fn a_guard_leaves_the_stack_as_high_as_it_was() {
    model(&["there", "gone"], |seen| {
        let (driver, ledger) = (test_driver::driver(), Arc::new(Ledger::new()));
        let one = test_driver::context(&driver, &ledger);
        let two = test_driver::context(&driver, &ledger);
        let theirs = test_driver::context(&driver, &ledger);
        let number = test_driver::number_of(&theirs);
        work_in(&one);
        let guard = two.guard().unwrap();
        // SAFETY: a live context.
        unsafe { driver.cuCtxSetCurrent(theirs.raw()) }.unwrap();
        let other = thread::spawn(move || drop(theirs));
        seen.note(if test_driver::current() == Some(number) {
            "there"
        } else {
            "gone"
        });
        work_in(&one);
        drop(guard);
        assert_eq!(test_driver::height(), 1, "one too many");
        // Other code takes the guard's own off, and with it the context from before would go.
        let guard = two.guard().unwrap();
        let mut popped = std::ptr::null_mut();
        // SAFETY: the place outlives the call.
        unsafe { driver.cuCtxPopCurrent_v2(&raw mut popped) }.unwrap();
        drop(guard);
        assert_eq!(test_driver::height(), 1, "one too few");
        assert_eq!(test_driver::current(), Some(test_driver::number_of(&one)));
        other.join().unwrap();
        drop((one, two));
        device().check_empty();
        assert_eq!(ledger.live(), Default::default());
    });
}

// Without it a guard that is there could lose its context to the end of an earlier guard, or the
// context that the earlier one kept could end while it is on the stack.
#[test]
fn guards_end_in_any_order() {
    model(&["done"], |seen| {
        let (driver, ledger) = (test_driver::driver(), Arc::new(Ledger::new()));
        let before = test_driver::context(&driver, &ledger);
        let outer = test_driver::context(&driver, &ledger);
        let inner = test_driver::context(&driver, &ledger);
        let number = test_driver::number_of(&before);
        work_in(&before);
        let (first, second) = (outer.guard().unwrap(), inner.guard().unwrap());
        let other = thread::spawn(move || drop(before));
        drop(first);
        let is_there = test_driver::current() == Some(test_driver::number_of(&inner));
        assert!(is_there, "the guard's context is not current");
        other.join().unwrap();
        assert!(test_driver::height() == 3);
        drop(second);
        // The context from before was kept until then, and has ended.
        assert_eq!((test_driver::height(), test_driver::current()), (0, None));
        assert_eq!(ledger.live().contexts, 2);
        seen.note("done");
        work_in(&outer);
        assert_ne!(test_driver::current(), Some(number));
        drop((outer, inner));
        device().check_empty();
        assert_eq!(ledger.live(), Default::default());
    });
}

// Without it an operation could run in a context that other code has made current, or lose its
// own because that one is gone.
#[test]
fn other_code_sets_contexts_too() {
    model(&["there", "gone"], |seen| {
        let (driver, ledger) = (test_driver::driver(), Arc::new(Ledger::new()));
        let one = test_driver::context(&driver, &ledger);
        let theirs = test_driver::context(&driver, &ledger);
        let number = test_driver::number_of(&theirs);
        work_in(&one);
        // SAFETY: a live context.
        unsafe { driver.cuCtxSetCurrent(theirs.raw()) }.unwrap();
        let other = thread::spawn(move || drop(theirs));
        seen.note(if test_driver::current() == Some(number) {
            "there"
        } else {
            "gone"
        });
        work_in(&one);
        assert_eq!(one.poison(), None);
        other.join().unwrap();
        drop(one);
        device().check_empty();
    });
}

/// A stream of a green context, as drivers before 12.5 make it.
fn stream_in(green: &ContextCore) {
    let driver = green.enter().unwrap();
    let flags = CUstream_flags::CU_STREAM_NON_BLOCKING;
    let stream = green.create_stream(flags, 0, green.site()).unwrap();
    // SAFETY: made just now, and known to no other thread.
    green
        .check(unsafe { driver.cuStreamDestroy_v2(stream) })
        .unwrap();
}

// Without it a green context could be current on two threads, which NVIDIA forbids.
#[test]
fn a_green_context_is_current_on_one_thread_at_a_time() {
    model(&["done"], |seen| {
        let (driver, ledger) = (test_driver::driver(), Arc::new(Ledger::new()));
        let primary = test_driver::context(&driver, &ledger);
        let green = test_driver::green(&driver, &ledger, &primary);
        let other = thread::spawn({
            let green = green.clone();
            move || stream_in(&green)
        });
        stream_in(&green);
        other.join().unwrap();
        seen.note("done");
        drop((green, primary));
        device().check_empty();
        assert_eq!(ledger.live(), Default::default());
    });
}
