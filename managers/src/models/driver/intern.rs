//! Execution managers in one driver context, while they come and go: its state is one.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use cupola_sys::driver::{CUresult, Driver, DriverError, id};
use loom::thread;

use crate::driver::{ContextCore, Identity, Ledger};
use crate::error::{Error, LossWatch, PoisonPolicy};
use crate::models::model;
use crate::models::test_driver::{self, device};

fn fail(core: &ContextCore) -> Error {
    let symbol = id::cuStreamSynchronize;
    let code = CUresult::CUDA_ERROR_LAUNCH_FAILED;
    core.failed(DriverError::Failed { symbol, code })
}

/// An operation in a context, which must be made in that one.
fn work_in(core: &ContextCore) {
    let number = test_driver::number_of(core);
    core.enter().unwrap();
    assert_eq!(test_driver::current(), Some(number), "in another context");
}

/// The driver's contexts by the identities of the states that were found for them.
#[derive(Clone, Default)]
struct Known(Arc<Mutex<Vec<(Identity, u64)>>>);

impl Known {
    /// Opens the primary context, with an execution manager for this once.
    fn open(&self, driver: &Driver) -> Arc<ContextCore> {
        let core = test_driver::primary(driver, &Arc::new(Ledger::new()));
        let number = test_driver::number_of(&core);
        let mut known = self.0.lock().unwrap();
        let ended = known
            .iter()
            .any(|it| it.0 == core.identity() && it.1 != number);
        assert!(!ended, "the state of a context that has ended");
        known.push((core.identity(), number));
        drop(known);
        core
    }
}

// Without it a manager that opens a device while the last other one goes could get the state of the
// context that ends, lost when that is; or one beside the state that another manager has.
#[test]
fn a_context_has_one_state() {
    model(&["one context", "several contexts"], |seen| {
        let (driver, known) = (test_driver::driver(), Known::default());
        let other = thread::spawn({
            let (driver, known) = (driver.clone(), known.clone());
            move || drop(known.open(&driver))
        });
        let mine = known.open(&driver);
        let second = known.open(&driver);
        assert!(mine.shares_objects(&second), "two states of one context");
        drop(mine);
        let third = known.open(&driver);
        assert!(third.shares_objects(&second), "two states of one context");
        drop((second, third));
        other.join().unwrap();
        seen.note(match device().made {
            1 => "one context",
            _ => "several contexts",
        });
        device().check_empty();
    });
}

// Without it a manager would not be told that another one has met a loss, would be told twice, or
// would not know it when it comes in at that moment.
#[test]
fn a_loss_is_told_to_each_manager_once() {
    model(&["came before", "came late"], |seen| {
        let driver = test_driver::driver();
        let ledgers = [(); 3].map(|()| Arc::new(Ledger::new()));
        let told = [(); 3].map(|()| Arc::new(AtomicUsize::new(0)));
        for (ledger, told) in ledgers.iter().zip(&told) {
            let told = Arc::clone(told);
            ledger.set_poison_policy(PoisonPolicy::call(move |_| {
                told.fetch_add(1, Ordering::Relaxed);
            }));
        }
        let cores = [0, 1].map(|which: usize| test_driver::primary(&driver, &ledgers[which]));
        let other = thread::spawn({
            let core = Arc::clone(&cores[1]);
            move || drop(fail(&core))
        });
        let late = test_driver::primary(&driver, &ledgers[2]);
        let subscriber = Arc::new(AtomicUsize::new(0));
        let watch = LossWatch::new({
            let told = Arc::clone(&subscriber);
            move |_| {
                told.fetch_add(1, Ordering::Relaxed);
            }
        });
        late.watch(watch.watcher());
        fail(&cores[0]);
        other.join().unwrap();
        let told = told.map(|told| told.load(Ordering::Relaxed));
        assert_eq!((told[0], told[1]), (1, 1));
        assert_eq!(subscriber.load(Ordering::Relaxed), 1);
        assert!(ledgers.iter().all(|ledger| ledger.lost().is_some()));
        seen.note(["came late", "came before"][told[2]]);
        drop((cores, late, watch));
        for ledger in ledgers {
            ledger.set_poison_policy(PoisonPolicy::Keep);
        }
        device().check_empty();
    });
}

// Without it the manager that made a context would destroy it under another one, or both would.
#[test]
fn a_created_context_ends_with_the_last_manager() {
    model(&["done"], |seen| {
        let driver = test_driver::driver();
        let ledgers = [(); 2].map(|()| Arc::new(Ledger::new()));
        let made = test_driver::context(&driver, &ledgers[0]);
        let borrowed = test_driver::borrowed(&driver, &ledgers[1], &made);
        let other = thread::spawn(move || {
            work_in(&borrowed);
            drop(borrowed);
        });
        work_in(&made);
        drop(made);
        other.join().unwrap();
        device().check_empty();
        assert!(ledgers.iter().all(|ledger| ledger.live().is_empty()));
        seen.note("done");
    });
}
