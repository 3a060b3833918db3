//! The check of a way's first use, which runs once for all threads.

use std::sync::Arc;

use cupola_sys::driver::{CUresult, DriverError, id};
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;

use crate::driver::{ContextCore, Ledger};
use crate::error::Error;
use crate::models::model;
use crate::models::test_driver;
use crate::peer::{PeerCorruption, PeerError, PeerPath, check_copies_by};

/// What the checks that run find, one after the other.
type Findings = Arc<Vec<Result<Option<PeerCorruption>, Error>>>;

/// Two threads that copy from one device to another for the first time: what each is told, and how many
/// checks ran.
fn first_uses(findings: &Findings) -> ([Result<(), Error>; 2], u32) {
    let (driver, ledger) = (test_driver::driver(), Arc::new(Ledger::new()));
    let [from, to] = [0, 1].map(|ordinal| test_driver::context_on(ordinal, &driver, &ledger));
    let (runs, running) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let first_use = {
        let (from, to, findings) = (Arc::clone(&from), Arc::clone(&to), Arc::clone(findings));
        let (runs, running) = (Arc::clone(&runs), Arc::clone(&running));
        move || {
            check_copies_by(&from, &to, |_: &ContextCore, _: &ContextCore| {
                let others = running.fetch_add(1, Ordering::Relaxed);
                assert_eq!(others, 0, "two checks of one way at once");
                let run = runs.fetch_add(1, Ordering::Relaxed) as usize;
                thread::yield_now();
                running.fetch_sub(1, Ordering::Relaxed);
                findings[run].clone()
            })
        }
    };
    let other = thread::spawn(first_use.clone());
    let mine = first_use();
    let theirs = other.join().unwrap();
    ([mine, theirs], runs.load(Ordering::Relaxed))
}

fn corruption() -> PeerCorruption {
    let (expected, found) = ([1, 2, 3], [1, 0, 3]);
    PeerCorruption::find(0, 1, PeerPath::Copy, &expected, &found).unwrap()
}

// Without it a way could be checked twice, at once or one after the other, or a thread use a way that
// another one's check has found broken.
#[test]
fn a_way_is_checked_once() {
    model(&["well"], |seen| {
        let well = Arc::new(vec![Ok(None)]);
        let (told, runs) = first_uses(&well);
        assert_eq!((told, runs), ([Ok(()), Ok(())], 1));
        seen.note("well");
    });
    model(&["broken"], |seen| {
        let broken = Arc::new(vec![Ok(Some(corruption()))]);
        let (told, runs) = first_uses(&broken);
        let refusal = Error::Peer(Box::new(PeerError::Corrupt(corruption())));
        assert_eq!((told, runs), ([Err(refusal.clone()), Err(refusal)], 1));
        seen.note("broken");
    });
}

// Without it a check that could not be made would pass for one that found nothing.
#[test]
fn a_check_that_fails_is_made_again_by_the_other_thread() {
    model(&["mine failed", "the other's failed"], |seen| {
        let (driver, ledger) = (test_driver::driver(), Arc::new(Ledger::new()));
        let core = test_driver::context(&driver, &ledger);
        let (symbol, code) = (id::cuMemAlloc_v2, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        let failed = core.failed(DriverError::Failed { symbol, code });
        let findings = Arc::new(vec![Err(failed.clone()), Ok(None)]);
        let (told, runs) = first_uses(&findings);
        assert_eq!(runs, 2);
        seen.note(match told {
            [Err(error), Ok(())] if error == failed => "mine failed",
            [Ok(()), Err(error)] if error == failed => "the other's failed",
            _ => "neither",
        });
    });
}
