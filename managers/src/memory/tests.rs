//! The pool on a device whose work can be held up.

use std::sync::mpsc;
use std::time::Duration;

use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;
use cupola_sys::driver::id;

use super::*;
use crate::stream::Stream;
use crate::{ExecutionManager, Live, ops};

const PAGE: u64 = 2 << 20;

struct Bench {
    table: FaultTable,
    execution: ExecutionManager,
    context: Context,
}

impl Bench {
    fn new() -> Self {
        let table = FaultTable::new(Machine::builder().worker_threads(2).build().driver());
        let execution = ExecutionManager::new(table.driver()).unwrap();
        let context = execution.devices().get(0).unwrap().primary().unwrap();
        table.reset();
        Self {
            table,
            execution,
            context,
        }
    }

    /// A pool that does not wait on the host.
    fn pool(&self, pages: u64, source: Source) -> MemoryPool {
        let config = PoolConfig {
            wait: Duration::ZERO,
            source,
            ..PoolConfig::limit(pages * PAGE)
        };
        self.context.memory_pool(config).unwrap()
    }

    fn stream(&self) -> Stream {
        self.context.streams().create(Default::default()).unwrap()
    }

    /// Everything that the test has is gone: so is everything of the driver's.
    fn check_empty(self) {
        let watch = self.execution.watch();
        drop((self.context, self.execution));
        assert_eq!(watch.live(), Live::default());
    }
}

/// Puts work on the stream that lasts until something is sent, or the sender dropped.
fn block(stream: &Stream) -> mpsc::Sender<()> {
    let (release, released) = mpsc::channel();
    ops::host_function(stream, move || {
        let _ = released.recv();
    })
    .unwrap();
    release
}

fn free(block: RawBlock, stream: &Stream) {
    // SAFETY: what uses the block is on the stream.
    unsafe { block.free(stream) }.unwrap();
}

// Without it a page could be unmapped under work that still uses it, because another block of
// the page was given back late and with an older stamp.
#[test]
fn a_page_waits_for_the_last_work_on_it() {
    let bench = Bench::new();
    let (stream, other) = (bench.stream(), bench.stream());
    let pool = bench.pool(2, Source::Best);
    // A slab that is free as a whole, and complete: its slots come back when the thread ends.
    std::thread::scope(|scope| {
        scope.spawn(|| free(pool.allocate_raw(1024, 1, &stream).unwrap(), &stream));
    });
    ops::synchronize(&stream).unwrap();
    // The rest of its page is used until the work ends.
    let rest = pool.allocate_raw(PAGE - (64 << 10), 1, &stream).unwrap();
    assert_eq!((rest.address() % PAGE, pool.mapped()), (64 << 10, PAGE));
    let release = block(&stream);
    free(rest, &stream);
    let refused = pool.allocate_raw(2 * PAGE, 1, &other);
    assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
    assert_eq!(bench.table.count(id::cuMemUnmap), 0);
    release.send(()).unwrap();
    ops::synchronize(&stream).unwrap();
    free(pool.allocate_raw(2 * PAGE, 1, &other).unwrap(), &other);
    assert_eq!(pool.mapped(), 2 * PAGE);
    drop((pool, stream, other));
    bench.check_empty();
}
