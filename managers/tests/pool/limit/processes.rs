//! Limits that are part of an account of several processes; the other processes are played.

use std::sync::{Arc, Mutex};

use cupola_managers::pool::{DeviceLimit, PoolConfig, SharedBudget};
use cupola_managers::{Error, OverBudget};

use crate::*;

/// An account, and what others have of it.
#[derive(Debug, Default)]
struct Others(Mutex<Bytes>);

#[derive(Debug, Default)]
struct Bytes {
    limit: u64,
    ours: u64,
    theirs: u64,
    /// Of `theirs`: of processes that have ended.
    ended: u64,
    /// Of `theirs`: what another process takes back, just before this one tries to.
    taken: u64,
}

impl Others {
    fn new(limit: u64, theirs: u64) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Bytes {
            limit,
            theirs,
            ..Bytes::default()
        })))
    }

    fn ours(&self) -> u64 {
        self.0.lock().unwrap().ours
    }

    /// So many bytes are theirs from now on, some of processes that have ended.
    fn have(&self, theirs: u64, ended: u64) {
        let mut bytes = self.0.lock().unwrap();
        (bytes.theirs, bytes.ended) = (theirs, ended);
    }
}

impl SharedBudget for Others {
    fn charge(&self, requested: u64) -> Result<(), OverBudget> {
        let mut bytes = self.0.lock().unwrap();
        let (used, limit) = (bytes.ours + bytes.theirs, bytes.limit);
        if used + requested > limit {
            return Err(OverBudget {
                requested,
                used,
                limit,
            });
        }
        bytes.ours += requested;
        Ok(())
    }

    fn release(&self, bytes: u64) {
        self.0.lock().unwrap().ours -= bytes;
    }

    fn used(&self) -> u64 {
        let bytes = self.0.lock().unwrap();
        bytes.ours + bytes.theirs
    }

    fn limit(&self) -> u64 {
        self.0.lock().unwrap().limit
    }

    fn reclaim(&self) -> u64 {
        let mut bytes = self.0.lock().unwrap();
        let ended = std::mem::take(&mut bytes.ended);
        let taken = std::mem::take(&mut bytes.taken);
        bytes.theirs -= ended + taken;
        ended
    }
}

// Without it a pool could take what other processes have, be refused what they have given back, or leave a
// charge behind that no process ends.
#[test]
fn a_pool_has_exactly_what_others_leave() {
    on_both(|bench| {
        let others = Others::new(16 * PAGE, 10 * PAGE);
        let limit = DeviceLimit::within(12 * PAGE, Arc::clone(&others) as Arc<dyn SharedBudget>);
        let config = PoolConfig::limit(u64::MAX).within(&limit);
        let pool = bench.context.memory_pool(config).unwrap();
        let stream = bench.stream();
        let Err(Error::OverLimit(account)) = pool.allocate_raw(8 * PAGE, 256, &stream) else {
            panic!("6 pages are left");
        };
        assert_eq!(account.shared, Some((0, 12 * PAGE)));
        assert_eq!(account.processes, Some((10 * PAGE, 16 * PAGE)));
        assert!(
            account.to_string().contains("all processes' limit"),
            "{account}"
        );
        assert_eq!((limit.used(), others.ours()), (0, 0));
        others.have(4 * PAGE, 0);
        let block = pool.allocate_raw(8 * PAGE, 256, &stream).unwrap();
        assert_eq!(others.ours(), limit.used());
        assert!(limit.used() >= 8 * PAGE);
        // The limit of this process is the tighter one.
        others.have(0, 0);
        let refused = pool.allocate_raw(8 * PAGE, 256, &stream);
        assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
        free(block, &stream);
        drop((pool, stream));
        assert_eq!((limit.used(), others.ours()), (0, 0));
        bench.finish();
    });
}

// Without it the memory of a process that was killed would be lost to the pools of others.
#[test]
fn bytes_of_processes_that_have_ended_are_granted() {
    on_both(|bench| {
        let others = Others::new(16 * PAGE, 16 * PAGE);
        let limit = DeviceLimit::within(16 * PAGE, Arc::clone(&others) as Arc<dyn SharedBudget>);
        let config = PoolConfig::limit(u64::MAX).within(&limit);
        let pool = bench.context.memory_pool(config).unwrap();
        let stream = bench.stream();
        let refused = pool.allocate_raw(PAGE, 256, &stream);
        assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
        others.have(16 * PAGE, 16 * PAGE);
        let block = pool.allocate_raw(2 * PAGE, 256, &stream).unwrap();
        free(block, &stream);
        drop((pool, stream));
        assert_eq!((limit.used(), others.ours()), (0, 0));
        bench.finish();
    });
}

// Without it the same would be so of memory that is made by hand.
#[test]
fn bytes_of_processes_that_have_ended_are_granted_to_virtual_memory() {
    let bench = bench_on(Backing::Pages);
    let others = Others::new(16 * PAGE, 16 * PAGE);
    let limit = DeviceLimit::within(16 * PAGE, Arc::clone(&others) as Arc<dyn SharedBudget>);
    let memory = bench.context.virtual_memory(&limit).unwrap();
    let Err(Error::OverLimit(account)) = memory.create(PAGE) else {
        panic!("none is left");
    };
    assert_eq!(account.processes, Some((16 * PAGE, 16 * PAGE)));
    others.have(16 * PAGE, PAGE);
    let piece = memory.create(PAGE).unwrap();
    assert_eq!((limit.used(), others.ours()), (PAGE, PAGE));
    drop((piece, memory));
    assert_eq!((limit.used(), others.ours()), (0, 0));
    bench.finish();
}

// Without it the second of two processes that take back what a third one had could be refused what fits.
#[test]
fn what_another_process_has_just_taken_back_is_granted() {
    let bench = bench_on(Backing::Pages);
    let others = Others::new(16 * PAGE, 16 * PAGE);
    let limit = DeviceLimit::within(16 * PAGE, Arc::clone(&others) as Arc<dyn SharedBudget>);
    let take = |bytes| others.0.lock().unwrap().taken = bytes;
    let memory = bench.context.virtual_memory(&limit).unwrap();
    take(PAGE);
    let piece = memory.create(PAGE).unwrap();
    let pool = bench
        .context
        .memory_pool(PoolConfig::limit(u64::MAX).within(&limit))
        .unwrap();
    let stream = bench.stream();
    take(8 * PAGE);
    let block = pool.allocate_raw(2 * PAGE, 256, &stream).unwrap();
    free(block, &stream);
    drop((pool, stream, piece, memory));
    assert_eq!((limit.used(), others.ours()), (0, 0));
    bench.finish();
}
