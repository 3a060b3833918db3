//! What a pool asks of its callers: alignments, names, and the stream of a free.

use std::sync::mpsc;
use std::time::Duration;

use super::*;
use crate::Error;
use crate::pool::heap::block_name;
use crate::test_bench::{TestBench, free};

const PAGE: u64 = 2 << 20;

// Without it a wrong alignment would be an error or none, by the content of the thread's cache.
#[test]
fn alignments_are_checked_on_every_way() {
    let bench = TestBench::with_workers(2);
    let stream = bench.stream();
    let pool = bench.impatient(2 * PAGE);
    for _ in 0..2 {
        for align in [0, 3, 2 * PAGE] {
            let refused = pool.allocate_raw(1024, align, &stream);
            assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
        }
        // The second time a magazine has pieces.
        free(pool.allocate_raw(1024, 1, &stream).unwrap(), &stream);
    }
    drop((pool, stream));
    bench.finish();
}

// Without it a child could wait for ever for a lock that a thread of its parent's had at the fork.
#[cfg(unix)]
#[test]
fn a_child_takes_no_lock_for_a_name_or_a_callback() {
    let bench = TestBench::with_workers(2);
    let (pool, stream) = (bench.impatient(PAGE), bench.stream());
    let held = (
        crate::sync::lock(block_name::all()),
        pool.pool().observer.lock_callback(),
    );
    // SAFETY: the child runs this thread's code alone, and leaves without running anything else.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: takes no pointers; a child that hangs is ended.
        unsafe { libc::alarm(5) };
        let refused = [
            pool.allocate_named::<u8>("of a fork", 1, &stream).map(drop),
            pool.allocate_raw_named("of a fork", 1, 1, &stream)
                .map(drop),
        ];
        pool.on_refusal(|_| false);
        let refused = refused.iter().all(|got| *got == Err(Error::Forked));
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(!refused)) };
    }
    let mut status = -1;
    // SAFETY: `status` outlives the call.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    drop(held);
    assert_eq!(waited, child);
    assert_eq!(status, 0, "14: it hung, 256: it was not refused");
    drop((pool, stream));
    bench.finish();
}

// Without it an allocation under a name that was made before would take the lock that all pools of
// the process share.
#[test]
fn a_name_that_was_made_is_used_without_a_lock() {
    let bench = TestBench::with_workers(2);
    let (pool, stream) = (bench.impatient(PAGE), bench.stream());
    let name = pool.name(&format!("{} {}", "made", "late")).unwrap();
    assert_eq!(pool.name("made late"), Ok(name));
    let (over, is_over) = mpsc::channel();
    let held = crate::sync::lock(block_name::all());
    std::thread::scope(|scope| {
        let (pool, stream) = (&pool, &stream);
        scope.spawn(move || {
            let raw = pool.allocate_raw_named(name, 100, 1, stream).unwrap();
            let buffer = pool.allocate_named::<u32>(name, 25, stream).unwrap();
            let named = pool.named();
            free(raw, stream);
            drop(buffer);
            over.send(named).unwrap();
        });
        let named = is_over.recv_timeout(Duration::from_secs(20));
        drop(held);
        let usage = NamedUsage {
            blocks: 2,
            bytes: 200,
        };
        assert_eq!(named, Ok(vec![("made late", usage)]));
    });
    drop((pool, stream));
    bench.finish();
}

// Without it a block whose free was refused before anything happened would be out for ever, and
// with it the whole pool and its charge.
#[test]
fn a_free_that_is_refused_gives_the_block_back() {
    let (bench, elsewhere) = (TestBench::with_workers(2), TestBench::with_workers(2));
    let (pool, stream) = (bench.impatient(PAGE), bench.stream());
    let theirs = elsewhere.stream();
    let free_there = |block: RawBlock| -> crate::Result<()> {
        // SAFETY: nothing uses the block.
        unsafe { block.free(&theirs) }?;
        Ok(())
    };
    for bytes in [1024, PAGE] {
        let block = pool.allocate_raw(bytes, 1, &stream).unwrap();
        let address = block.address();
        // SAFETY: nothing uses the block.
        let refused = unsafe { block.free(&theirs) }.unwrap_err();
        assert!(matches!(refused.error(), Error::WrongContext { .. }));
        assert_eq!(refused.to_string(), refused.error().to_string());
        let block = refused.into_inner();
        assert_eq!(block.address(), address);
        assert_eq!(pool.usage().unwrap().blocks, 1);
        free(block, &stream);
        assert_eq!(pool.usage().unwrap().blocks, 0);
    }
    let nothing = pool.allocate_raw(0, 1, &stream).unwrap();
    assert!(matches!(
        free_there(nothing),
        Err(Error::WrongContext { .. })
    ));
    assert_eq!(pool.usage().unwrap().blocks, 1, "leaked, as with a drop");
    drop((stream, theirs));
    let _kept = std::mem::ManuallyDrop::new((pool, bench));
    elsewhere.finish();
}
