//! The concurrent parts on bare POSIX threads, each for the thread sanitizer to watch
//! (`cargo xtask sanitize`) and quick enough to run without.
//!
//! The standard library is not instrumented: the sanitizer does not see that an `Arc`, a
//! lock, a channel or a join of std orders anything, and reports races that are none. So
//! threads are made by `pthread_create` here, what they share is borrowed from the thread
//! that joins them, and they talk through relaxed atomics, which order nothing. Nothing
//! may be suppressed: a suppression matches any frame of a report, and hides true races.
//!
//! With an argument `plant=NAME` the program makes the mistake of that name instead, which
//! the sanitizer must report.

#[cfg(all(unix, not(loom)))]
mod pieces;

fn main() {
    #[cfg(all(unix, not(loom)))]
    pieces::run();
}
