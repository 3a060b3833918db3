//! The object pool on bare POSIX threads, for the thread sanitizer to watch
//! (`cargo xtask sanitize`) and quick enough to run without.
//!
//! As in `core/tests/pthreads`, which says why: the standard library is not instrumented, so
//! nothing that orders threads may come from there. The object pool's sources are compiled into
//! this program with an `Arc` and a lock of its own in the place of std's; all else is as in
//! the crate. Objects hold a plain word that is written where a life begins and where an
//! object ends, and read by every lease: the sanitizer reports whatever is not in order.

#[cfg(all(unix, not(loom)))]
#[macro_use]
#[path = "../../src/mutant.rs"]
mod mutant;

#[cfg(all(unix, not(loom)))]
mod error;
#[cfg(all(unix, not(loom)))]
#[path = "../../src/handle.rs"]
#[allow(dead_code, unreachable_pub, unused_imports)]
mod handle;
#[cfg(all(unix, not(loom)))]
#[path = "../../src/object_pool/mod.rs"]
#[allow(dead_code, unused_imports)]
mod object_pool;
#[cfg(all(unix, not(loom)))]
#[allow(dead_code)]
mod shutdown_report;
#[cfg(all(unix, not(loom)))]
#[path = "../../src/stats.rs"]
#[allow(dead_code, unreachable_pub)]
mod stats;
#[cfg(all(unix, not(loom)))]
mod sync;
#[cfg(all(unix, not(loom)))]
#[path = "../../../core/tests/pthreads/pieces/together.rs"]
#[allow(dead_code)]
mod together;
#[cfg(all(unix, not(loom)))]
mod work;

fn main() {
    #[cfg(all(unix, not(loom)))]
    work::run();
}
