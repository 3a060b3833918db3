//! Threads that begin together, and a word without protection.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::ptr::{from_ref, null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a thread is started with.
struct Start<'a> {
    number: usize,
    ready: &'a AtomicUsize,
    threads: usize,
    work: &'a (dyn Fn(usize) + Sync),
}

/// Runs `work` with each number below `threads`, in as many threads, all begun before any
/// of them works.
pub(crate) fn together(threads: usize, work: &(dyn Fn(usize) + Sync)) {
    extern "C" fn begin(start: *mut c_void) -> *mut c_void {
        // SAFETY: the pointer that `together` passes: to a `Start` that lives until this
        // thread has been joined, and that no code changes.
        let start = unsafe { &*start.cast::<Start<'_>>() };
        // Relaxed: starting together must not order what the threads do.
        start.ready.fetch_add(1, Ordering::Relaxed);
        while start.ready.load(Ordering::Relaxed) < start.threads {
            wait();
        }
        // A panic cannot leave this function: it ends the program, as a failure.
        (start.work)(start.number);
        null_mut()
    }

    let ready = AtomicUsize::new(0);
    let starts: Vec<_> = (0..threads)
        .map(|number| Start {
            number,
            ready: &ready,
            threads,
            work,
        })
        .collect();
    let started: Vec<_> = starts
        .iter()
        .map(|start| {
            let start = from_ref(start).cast_mut().cast::<c_void>();
            let mut thread = 0;
            // SAFETY: `begin` only reads `start`, which lives until the join below.
            let code = unsafe { libc::pthread_create(&raw mut thread, null(), begin, start) };
            assert_eq!(code, 0, "a thread cannot be started");
            thread
        })
        .collect();
    for thread in started {
        // SAFETY: started above and joined once.
        assert_eq!(unsafe { libc::pthread_join(thread, null_mut()) }, 0);
    }
}

/// Lets another thread go first.
pub(crate) fn wait() {
    // SAFETY: a plain system call.
    unsafe { libc::sched_yield() };
}

/// A word that is read and written with no protection of its own: a caller that touches
/// it claims that no other does.
#[derive(Default)]
pub(crate) struct Plain(UnsafeCell<u64>);

// SAFETY: the tests touch it only where the part under test promises exclusion; where it
// breaks the promise the sanitizer says so.
unsafe impl Sync for Plain {}

impl Plain {
    /// Reads the word.
    pub(crate) fn read(&self) -> u64 {
        // SAFETY: reading needs that no thread writes: the part under test is to see to that, and
        // the sanitizer reports it if not.
        unsafe { *self.0.get() }
    }

    /// Writes the word.
    pub(crate) fn write(&self, value: u64) {
        // SAFETY: writing needs that no other thread touches the word: the part under test is to
        // see to that, and the sanitizer reports it if not.
        unsafe { *self.0.get() = value }
    }
}
