//! `Origin`: the process that an object was made in, cheap to compare with this one.
//!
//! Asking for the process id costs a system call, too much for every operation. So a counter
//! is raised in the child of each fork, by a handler that is registered once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many forks lie between the first process that counted and this one.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// A process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    process: u32,
    /// `None` when forks are not counted: then the process id tells.
    forks: Option<u32>,
}

impl Origin {
    /// This process.
    pub(crate) fn here() -> Self {
        static COUNTED: OnceLock<bool> = OnceLock::new();
        let counted = *COUNTED.get_or_init(count_forks);
        Self {
            process: std::process::id(),
            forks: counted.then(|| FORKS.load(Ordering::Relaxed)),
        }
    }

    /// Whether a thread has another [number](crate::sync::thread_number) in a child than it had before the
    /// fork.
    pub(crate) fn renumbers_threads(&self) -> bool {
        self.forks.is_some()
    }

    /// Whether this process is another one: a fork.
    #[inline]
    pub(crate) fn is_elsewhere(&self) -> bool {
        match self.forks {
            // Relaxed: only a child changes it, before any of its code runs.
            Some(forks) => FORKS.load(Ordering::Relaxed) != forks,
            None => std::process::id() != self.process,
        }
    }
}

/// The process that initialised a driver library last, by its id; 0 if none has.
static INITIALISED_IN: AtomicU32 = AtomicU32::new(0);

/// Notes that this process has initialised a driver library.
pub(crate) fn note_driver_library() {
    INITIALISED_IN.store(std::process::id(), Ordering::Relaxed);
}

/// Whether a driver library was initialised in a process that this one was forked from, and
/// not in this one: it does not work here. Drivers in Rust are not meant.
pub(crate) fn driver_was_left_to_the_parent() -> bool {
    let process = INITIALISED_IN.load(Ordering::Relaxed);
    process != 0 && process != std::process::id()
}

/// Has every fork counted; false when that cannot be had.
#[cfg(unix)]
fn count_forks() -> bool {
    use core::ffi::c_int;

    type Handler = Option<extern "C" fn()>;

    unsafe extern "C" {
        // POSIX, in the C library that `std` links.
        fn pthread_atfork(prepare: Handler, parent: Handler, child: Handler) -> c_int;
    }

    extern "C" fn in_child() {
        FORKS.fetch_add(1, Ordering::Relaxed);
        crate::sync::thread_number::forget();
    }

    // SAFETY: the handler is a function of this library, which takes it off when it is
    // unloaded, and does nothing that a child may not do.
    unsafe { pthread_atfork(None, None, Some(in_child)) == 0 }
}

/// There are no forks.
#[cfg(not(unix))]
fn count_forks() -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use core::ffi::c_int;

    unsafe extern "C" {
        fn fork() -> c_int;
        fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
        fn _exit(status: c_int) -> !;
    }

    // Without it a child could be told that it has a GPU, and hang in its first call.
    #[test]
    fn a_child_knows_that_its_parent_has_the_driver() {
        note_driver_library();
        assert!(!driver_was_left_to_the_parent());
        // SAFETY: the child looks at one counter and leaves.
        let child = unsafe { fork() };
        if child == 0 {
            let known = driver_was_left_to_the_parent();
            // SAFETY: ends the child at once.
            unsafe { _exit(c_int::from(!known)) };
        }
        let mut status = -1;
        // SAFETY: `status` outlives the call.
        let waited = unsafe { waitpid(child, &raw mut status, 0) };
        assert_eq!((waited, status), (child, 0));
    }
}
