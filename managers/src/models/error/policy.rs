//! The action when a context is lost: once, and under no lock of the operation that failed.

use core::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cupola_sys::driver::{CUresult, DriverError, id};
use loom::sync::Mutex;
use loom::thread;

use crate::driver::{ContextCore, Ledger};
use crate::error::{Error, LossWatch, PoisonPolicy, Rings};
use crate::models::model;
use crate::models::test_driver::{self, device};
use crate::sync::deferred::DeferCallbacks;

fn fail(core: &ContextCore, code: CUresult) -> Error {
    let symbol = id::cuStreamSynchronize;
    core.failed(DriverError::Failed { symbol, code })
}

// Without it a supervisor could be told twice of one loss, of another error than operations
// return, or not at all.
#[test]
fn one_of_the_failing_threads_carries_the_policy_out() {
    model(&["mine", "the other's"], |seen| {
        let (driver, ledger) = (test_driver::driver(), Arc::new(Ledger::new()));
        let core = test_driver::context(&driver, &ledger);
        let told = Arc::new(std::sync::Mutex::new(Vec::new()));
        ledger.set_poison_policy(PoisonPolicy::call({
            let told = Arc::clone(&told);
            move |error| told.lock().unwrap().push(error.clone())
        }));
        let other = thread::spawn({
            let core = Arc::clone(&core);
            move || fail(&core, CUresult::CUDA_ERROR_LAUNCH_FAILED)
        });
        let mine = fail(&core, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        let others = other.join().unwrap();
        let told = std::mem::take(&mut *told.lock().unwrap());
        assert_eq!(told, [core.poison().unwrap()]);
        let is_mine = matches!(mine, Error::Driver(_));
        assert_ne!(is_mine, matches!(others, Error::Driver(_)));
        seen.note(if is_mine { "mine" } else { "the other's" });
        ledger.set_poison_policy(PoisonPolicy::Keep);
        drop(core);
        device().check_empty();
    });
}

// Without it a thread that has been told of a loss could launch all the same: by a gate that it opened before, and
// that the thread which lost the context has not closed yet.
#[test]
fn a_thread_that_is_told_of_a_loss_asks_before_it_launches() {
    // The first to fail, told by its own call, told by a question, and not told.
    model(&["first", "a call", "a question", "nothing"], |seen| {
        let (driver, ledger) = (test_driver::driver(), Arc::new(Ledger::new()));
        let core = test_driver::context(&driver, &ledger);
        let rings = [core.launches().ring(), core.launches().ring()];
        let open = |core: &ContextCore, ring: &Rings| {
            let launch = ring.begin(0, Location::caller(), 1).unwrap();
            ring.put(launch);
            ring.open_gate(|| core.is_healthy());
        };
        let [mine, asking] = rings;
        open(&core, &mine);
        assert!(mine.is_open());
        let other = thread::spawn({
            let core = Arc::clone(&core);
            move || fail(&core, CUresult::CUDA_ERROR_LAUNCH_FAILED)
        });
        let asker = thread::spawn({
            let core = Arc::clone(&core);
            move || {
                open(&core, &asking);
                let is_told = core.healthy().is_err();
                assert!(!(is_told && asking.is_open()));
                is_told
            }
        });
        let failed = fail(&core, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        assert!(!mine.is_open());
        seen.note(match failed {
            Error::Driver(_) => "first",
            Error::Poisoned { .. } => "a call",
            other => panic!("{other}"),
        });
        other.join().unwrap();
        seen.note(match asker.join().unwrap() {
            true => "a question",
            false => "nothing",
        });
        drop((core, mine));
        device().check_empty();
    });
}

// Without it a policy that takes a lock of the failed operation would wait for ever.
#[test]
fn a_policy_runs_when_the_locks_are_given_back() {
    model(&["told"], |seen| {
        let (driver, ledger) = (test_driver::driver(), Arc::new(Ledger::new()));
        let core = test_driver::context(&driver, &ledger);
        let locked = loom::sync::Arc::new(Mutex::new(()));
        let told = Arc::new(AtomicUsize::new(0));
        core.set_poison_policy(PoisonPolicy::call({
            let (locked, told) = (locked.clone(), Arc::clone(&told));
            move |_| {
                drop(locked.lock().unwrap());
                told.fetch_add(1, Ordering::Relaxed);
            }
        }));
        let other = thread::spawn({
            let (core, locked) = (Arc::clone(&core), locked.clone());
            move || {
                let _defer = DeferCallbacks::new();
                let _locked = locked.lock().unwrap();
                fail(&core, CUresult::CUDA_ERROR_LAUNCH_FAILED)
            }
        });
        {
            let _defer = DeferCallbacks::new();
            let _locked = locked.lock().unwrap();
            fail(&core, CUresult::CUDA_ERROR_LAUNCH_FAILED);
        }
        other.join().unwrap();
        assert_eq!(told.load(Ordering::Relaxed), 1);
        seen.note("told");
        core.set_poison_policy(PoisonPolicy::Keep);
        drop(core);
        device().check_empty();
    });
}

// Without it a subscriber that comes while the context is lost could never be told, or a function
// that a stream was to call be kept for ever.
#[test]
fn a_subscriber_during_a_loss_is_told_once() {
    model(&["before", "after"], |seen| {
        let (driver, ledger) = (test_driver::driver(), Arc::new(Ledger::new()));
        let core = test_driver::context(&driver, &ledger);
        let told = Arc::new(AtomicUsize::new(0));
        let other = thread::spawn({
            let core = Arc::clone(&core);
            move || fail(&core, CUresult::CUDA_ERROR_LAUNCH_FAILED)
        });
        // Not in the first thread: loom runs that as long as it can.
        let subscriber = thread::spawn({
            let (core, told) = (Arc::clone(&core), Arc::clone(&told));
            move || {
                let is_lost = core.poison().is_some();
                let watch = LossWatch::new(move |_| {
                    told.fetch_add(1, Ordering::Relaxed);
                });
                core.watch(watch.watcher());
                (is_lost, watch)
            }
        });
        other.join().unwrap();
        let (is_lost, watch) = subscriber.join().unwrap();
        assert_eq!(told.load(Ordering::Relaxed), 1);
        seen.note(if is_lost { "after" } else { "before" });
        drop((core, watch));
        device().check_empty();
    });
}
