//! The latch: one error is the first, for all threads.

use cupola_sys::driver::{CUresult, DriverError, id};
use loom::sync::Arc;
use loom::thread;

use crate::error::{Cause, Latch, Site};
use crate::models::model;

fn cause(code: CUresult) -> Cause {
    let symbol = id::cuStreamSynchronize;
    Cause::new(DriverError::Failed { symbol, code }, Site::here())
}

// Without it two threads could be told different first causes, or none.
#[test]
fn all_threads_get_the_same_first_error() {
    model(&["mine", "the other's"], |seen| {
        let latch = Arc::new(Latch::default());
        let codes = [
            CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
            CUresult::CUDA_ERROR_LAUNCH_FAILED,
        ];
        let note = |latch: &Latch, code| {
            let was_first = latch.note(cause(code)).is_ok();
            // A thread that had an error finds the latch set.
            (was_first, latch.get().unwrap().call.status().unwrap())
        };
        let other = thread::spawn({
            let latch = latch.clone();
            move || note(&latch, codes[1])
        });
        let (mine, first) = note(&latch, codes[0]);
        let (others, second) = other.join().unwrap();
        assert_ne!(mine, others);
        assert_eq!(first, second);
        assert_eq!(first, codes[usize::from(others)]);
        seen.note(if mine { "mine" } else { "the other's" });
    });
}

// Without it an error that leaves the context good could keep others out of it.
#[test]
fn an_ordinary_error_sets_nothing() {
    model(&["before", "after"], |seen| {
        let latch = Arc::new(Latch::default());
        let other = thread::spawn({
            let latch = latch.clone();
            move || {
                let noted = latch.note(cause(CUresult::CUDA_ERROR_OUT_OF_MEMORY));
                noted.is_ok()
            }
        });
        let noted = latch.note(cause(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
        assert!(noted.is_ok());
        let is_before = other.join().unwrap();
        seen.note(if is_before { "before" } else { "after" });
        let first = latch.get().unwrap().call.status();
        assert_eq!(first, Some(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    });
}
