//! Requests that do not wait, and requests that wait until a time of their own.

use cupola_managers::Error;
use cupola_managers::pool::{Backing, DeviceLimit, PoolConfig};

use crate::*;

const LONG: Duration = Duration::from_secs(600);

/// A pool all of whose memory was freed, and is in use by work of another stream until the sender
/// is dropped: as two pages that are not side by side.
struct Pending {
    pool: MemoryPool,
    streams: [Stream; 2],
    between: RawBlock,
    held: Sender<()>,
}

impl Pending {
    fn new(bench: &TestBench, wait: Duration) -> Self {
        let config = PoolConfig::limit(3 * PAGE).wait(wait);
        let pool = bench.context.memory_pool(config).unwrap();
        let streams = [bench.stream(), bench.stream()];
        let on = &streams[0];
        let [left, between, right] = [(); 3].map(|()| pool.allocate_raw(PAGE, PAGE, on).unwrap());
        let held = hold(on);
        free(left, on);
        free(right, on);
        Self {
            pool,
            streams,
            between,
            held,
        }
    }

    fn end(self) {
        drop(self.held);
        free(self.between, &self.streams[0]);
    }
}

// Without it a thread that must not wait would wait for as long as the pool's configuration says.
#[test]
fn a_request_that_may_not_wait_is_refused_at_once() {
    let bench = bench_on(Backing::Pages);
    let pending = Pending::new(&bench, LONG);
    let (pool, stream) = (&pending.pool, &pending.streams[1]);
    pool.on_refusal(|_| panic!("it is not asked"));
    let refused = pool.try_allocate_raw(2 * PAGE, 256, stream);
    assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
    let refused = pool.try_allocate::<u8>(2 * PAGE as usize, stream);
    assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
    assert_eq!(pool.usage().unwrap().host_waits, 0);
    // What is there it gets: behind the other stream's work.
    let block = pool.try_allocate_raw(PAGE, 256, stream).unwrap();
    free(block, stream);
    pool.on_refusal(|_| false);
    pending.end();
    bench.finish();
}

// Without it a request that may not wait would not get what is ready, what can be mapped, or what
// threads keep.
#[test]
fn a_request_that_may_not_wait_gets_what_is_there() {
    on_both(|bench| {
        let (pool, stream) = (bench.pool(16 * PAGE), bench.stream());
        let mut buffer = pool.try_allocate::<u8>(3 << 20, &stream).unwrap();
        ops::zero(buffer.slice_mut(..).unwrap(), &stream).unwrap();
        drop(buffer);
        std::thread::scope(|scope| {
            let (pool, stream) = (&pool, &stream);
            scope.spawn(move || {
                free(pool.try_allocate_raw(100, 256, stream).unwrap(), stream);
            });
        });
        ops::synchronize(&stream).unwrap();
        free(
            pool.try_allocate_raw(16 * PAGE, 256, &stream).unwrap(),
            &stream,
        );
        drop((pool, stream));
        bench.finish();
    });
}

// Without it a deadline would be kept only where the pool's own wait is shorter, or be cut short by
// that.
#[test]
fn a_deadline_takes_the_place_of_the_pools_wait() {
    let bench = bench_on(Backing::Pages);
    let pending = Pending::new(&bench, LONG);
    let (pool, stream) = (&pending.pool, &pending.streams[1]);
    let deadline = Instant::now() + Duration::from_millis(20);
    let refused = pool.allocate_raw_until(deadline, 2 * PAGE, 256, stream);
    assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
    assert!(Instant::now() >= deadline);
    assert_eq!(pool.usage().unwrap().host_waits, 1);
    pending.end();

    let Pending {
        pool,
        streams,
        between,
        held,
    } = Pending::new(&bench, Duration::ZERO);
    let stream = &streams[1];
    std::thread::scope(|scope| {
        let pool = &pool;
        let request = scope.spawn(move || {
            let deadline = Instant::now() + LONG;
            pool.allocate_until::<u8>(deadline, 2 * PAGE as usize, stream)
        });
        while pool.usage().unwrap().host_waits == 0 && !request.is_finished() {
            std::thread::yield_now();
        }
        drop(held);
        drop(request.join().unwrap().unwrap());
    });
    free(between, &streams[0]);
    drop((pool, streams));
    bench.finish();
}

// Without it a thread that must not wait would wait for pools that share the limit, and for what
// they do.
#[test]
fn a_request_that_may_not_wait_asks_no_other_pool() {
    let bench = bench_on(Backing::Pages);
    let limit = DeviceLimit::new(4 * PAGE);
    let pool = || {
        let config = PoolConfig::limit(4 * PAGE).within(&limit);
        bench.context.memory_pool(config).unwrap()
    };
    let (one, two, stream) = (pool(), pool(), bench.stream());
    free(two.allocate_raw(4 * PAGE, 256, &stream).unwrap(), &stream);
    ops::synchronize(&stream).unwrap();
    let refused = one.try_allocate_raw(PAGE, 256, &stream);
    assert!(matches!(refused, Err(Error::OverLimit(_))), "{refused:?}");
    assert_eq!(two.mapped(), 4 * PAGE);
    let deadline = Instant::now() + LONG;
    let block = one
        .allocate_raw_until(deadline, PAGE, 256, &stream)
        .unwrap();
    free(block, &stream);
    drop((one, two, stream));
    bench.finish();
}
