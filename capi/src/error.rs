//! Errors: typed within the library, and a code and a text for its callers.
//!
//! C has no place for the text of an error, and a framework's free returns nothing at all. So the text is
//! kept: the last one of each thread, and the last few of all threads.

use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::{CString, c_char};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use cupola_core::ParseBytesError;
use cupola_managers::Error;
use cupola_sys::LoadError;
use cupola_sys::driver::DriverError;

use crate::pool_id::PoolId;

/// What a function returned.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CupolaStatus {
    /// It was done.
    CupolaOk = 0,
    /// There is too little memory within the limit, or on the device.
    CupolaOutOfMemory = 1,
    /// An argument cannot be.
    CupolaInvalid = 2,
    /// No live block begins at the address: it was freed before, or another allocator handed it out.
    CupolaUnknownPointer = 3,
    /// The driver cannot be loaded, or has returned an error.
    CupolaDriverError = 4,
    /// The process is the child of a fork, in which nothing of its parent's works.
    CupolaForked = 5,
    /// Something within the library has panicked, which is a mistake in it.
    CupolaPanicked = 6,
}

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("the CUDA driver cannot be loaded: {0}")]
    Load(#[from] LoadError),
    #[error("{0}")]
    Managers(#[from] Error),
    #[error("{0}")]
    Driver(#[from] DriverError),
    #[error("there is no device {device}: the driver shows {count}")]
    NoDevice { device: i32, count: u32 },
    #[error(
        "no live block begins at {0:#x}: it was freed before, or another allocator handed it out"
    )]
    UnknownPointer(u64),
    #[error("{name} is null")]
    Null { name: &'static str },
    #[error("CUPOLA_LIMIT is {text:?}: {problem}")]
    LimitVariable {
        text: String,
        problem: ParseBytesError,
    },
    #[error("CUPOLA_LIMIT is {text:?}: a percentage lies between 0 and 100")]
    LimitPercentage { text: String },
    #[error("the fraction {0} does not lie between 0 and 1")]
    Fraction(f64),
    #[error("device {0} has its pool already: set its limit with cupola_set_limit")]
    Configured(u32),
    #[error(
        "stream 2 (cudaStreamPerThread) is another stream on each thread: pass a stream's own handle, \
         or use cupola_allocate, whose blocks are for any stream"
    )]
    PerThreadStream,
    #[error(
        "stream {stream:#x} still has {blocks} blocks that were allocated or used on it: free them first"
    )]
    StreamInUse { stream: usize, blocks: usize },
    #[error("stream {0:#x} has no blocks here: nothing is to be released")]
    UnknownStream(usize),
    #[error("private pool {0} takes requests already")]
    PoolIsOpen(PoolId),
    #[error("private pool {0} takes no requests: begin comes before end")]
    PoolIsClosed(PoolId),
    #[error("there is no private pool {0}")]
    NoPool(PoolId),
    #[error("std::function of this platform's C++ library has a layout that is not known here")]
    #[cfg_attr(target_os = "linux", expect(dead_code, reason = "libstdc++ is known"))]
    UnknownFunction,
    #[error("a mistake in libcupola: {0}")]
    Panicked(String),
}

impl Failure {
    pub(crate) fn status(&self) -> CupolaStatus {
        use CupolaStatus as S;
        match self {
            Self::Managers(Error::Forked) => S::CupolaForked,
            Self::Managers(error) if is_lack_of_memory(error) => S::CupolaOutOfMemory,
            Self::Managers(Error::Invalid { .. }) => S::CupolaInvalid,
            Self::Load(_) | Self::Managers(_) | Self::Driver(_) => S::CupolaDriverError,
            Self::UnknownPointer(_) => S::CupolaUnknownPointer,
            Self::Panicked(_) => S::CupolaPanicked,
            _ => S::CupolaInvalid,
        }
    }
}

/// Whether memory that is given back could have helped.
pub(crate) fn is_lack_of_memory(error: &Error) -> bool {
    matches!(error, Error::OverLimit(_) | Error::OutOfMemory { .. })
}

/// So many errors of all threads are kept.
const KEPT: usize = 16;

static REPORT: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());
static COUNT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static LAST: RefCell<Option<CString>> = const { RefCell::new(None) };
}

/// Keeps the text of an error.
pub(crate) fn keep(failure: &Failure) -> CupolaStatus {
    let status = failure.status();
    let text = failure.to_string();
    let c_text = CString::new(text.replace('\0', " ")).ok();
    // A thread that ends has no place for it any more.
    let _ = LAST.try_with(|last| last.replace(c_text));
    COUNT.fetch_add(1, Ordering::Relaxed);
    // In a fork another thread may have left the lock taken.
    if status != CupolaStatus::CupolaForked
        && let Ok(mut report) = REPORT.lock()
    {
        if report.len() == KEPT {
            report.pop_front();
        }
        report.push_back(text);
    }
    status
}

/// Does the work of a C function: neither an error nor a panic leaves it.
pub(crate) fn catch<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, CupolaStatus> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(|failure| keep(&failure)),
        Err(payload) => Err(keep(&Failure::Panicked(text_of(payload)))),
    }
}

/// As [`catch`], for functions that return whether it was done.
pub(crate) fn status(work: impl FnOnce() -> Result<(), Failure>) -> CupolaStatus {
    catch(work).err().unwrap_or(CupolaStatus::CupolaOk)
}

/// The text of a panic. Its value is left: a drop of it could panic again.
fn text_of(payload: Box<dyn Any + Send>) -> String {
    let payload = ManuallyDrop::new(payload);
    match (
        payload.downcast_ref::<&str>(),
        payload.downcast_ref::<String>(),
    ) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "a panic without a text".to_owned(),
    }
}

/// Errors so far, of all threads.
pub(crate) fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// The last error of this thread.
pub(crate) fn last() -> *const c_char {
    let text = LAST.try_with(|last| {
        last.borrow()
            .as_ref()
            .map_or(ptr::null(), |text| text.as_ptr())
    });
    text.unwrap_or(ptr::null())
}

/// The last errors of all threads, a line each, oldest first.
pub(crate) fn report() -> String {
    let report = REPORT.try_lock();
    let mut lines = String::new();
    for text in report.iter().flat_map(|report| report.iter()) {
        lines.push_str(&text.replace('\n', " "));
        lines.push('\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    fn last_text() -> String {
        // SAFETY: the text is there until the next error of this thread.
        let text = unsafe { CStr::from_ptr(last()) };
        text.to_string_lossy().into_owned()
    }

    // Without it a mistake in the library could unwind into C, which is undefined, and its text be lost.
    #[test]
    fn a_panic_is_an_error_with_its_text() {
        for number in [None, Some(7)] {
            let ended = status(|| match number {
                None => panic!("of a text"),
                Some(number) => panic!("of number {number}"),
            });
            assert_eq!(ended, CupolaStatus::CupolaPanicked);
            let said = number.map_or("of a text".into(), |number| format!("of number {number}"));
            assert!(last_text().contains(&said), "{}", last_text());
            assert!(report().contains(&said), "{}", report());
        }
        let ended = status(|| std::panic::panic_any(7_u32));
        assert_eq!(ended, CupolaStatus::CupolaPanicked);
        assert!(last_text().contains("without a text"));
        assert_eq!(status(|| Ok(())), CupolaStatus::CupolaOk);
    }
}
