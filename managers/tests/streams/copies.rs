//! Bulk copies by turns, beside small ones.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Task, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use cupola_managers::graph::Graph;
use cupola_managers::pipeline::{Pipeline, PipelineConfig};
use cupola_managers::{
    Buffer, BulkCopy, CaptureConfig, CopyConfig, CopyMode, Error, Event, EventConfig,
    ExecutionManager, MemoryPool, PinnedBuffer, Stream, ops,
};
use cupola_sim::{DeviceConfig, Machine, Order};
use cupola_sys::driver::{CUresult, id};

use super::test_bench::TestBench;

/// The bus takes a millisecond for a chunk.
const CHUNK: usize = 1 << 20;
const RATE: u64 = 1000 << 20;
const BULK: usize = 32 * CHUNK;
const SMALL: usize = 4 << 10;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Direction {
    Upload,
    Download,
}

/// Memory of a copy of so many bytes, and a stream for it.
struct Ends {
    host: PinnedBuffer<u8>,
    device: Buffer<u8>,
    stream: Stream,
}

impl Ends {
    fn new(bench: &TestBench, pool: &MemoryPool, bytes: usize) -> Self {
        let stream = bench.stream();
        let mut host = bench.context.buffers().pinned(bytes).unwrap();
        for (place, byte) in host.as_mut_slice().unwrap().iter_mut().zip(0u32..) {
            *place = (byte % 251) as u8;
        }
        let device = pool.zeros(bytes, &stream).unwrap();
        ops::synchronize(&stream).unwrap();
        Self {
            host,
            device,
            stream,
        }
    }

    fn bulk<'m>(&'m mut self, bench: &'m TestBench, direction: Direction) -> BulkCopy<'m, u8> {
        let Self {
            host,
            device,
            stream,
        } = self;
        let copies = bench.context.copies();
        match direction {
            Direction::Upload => copies.copy_to_device(&*host, device, stream),
            Direction::Download => copies.copy_to_host(&*device, host, stream),
        }
        .unwrap()
    }

    fn plain(&mut self, direction: Direction) {
        let Self {
            host,
            device,
            stream,
        } = self;
        match direction {
            Direction::Upload => ops::copy_to_device(&*host, device, stream),
            Direction::Download => ops::copy_to_host(&*device, host, stream),
        }
        .unwrap();
    }
}

/// Milliseconds of a small copy, by the device's clock.
struct Small {
    ends: Ends,
    start: Event,
    end: Event,
}

impl Small {
    fn new(bench: &TestBench, pool: &MemoryPool) -> Self {
        let event = || bench.context.events().create(EventConfig::timing());
        Self {
            ends: Ends::new(bench, pool, SMALL),
            start: event().unwrap(),
            end: event().unwrap(),
        }
    }

    fn milliseconds(&mut self, direction: Direction) -> f64 {
        ops::record(&self.start, &self.ends.stream).unwrap();
        self.ends.plain(direction);
        ops::record(&self.end, &self.ends.stream).unwrap();
        ops::synchronize_event(&self.end).unwrap();
        f64::from(ops::elapsed(&self.start, &self.end).unwrap())
    }
}

/// A machine whose copies take their time, in virtual time.
fn timed() -> TestBench {
    let device = DeviceConfig::new()
        .upload_bandwidth(RATE)
        .download_bandwidth(RATE);
    TestBench::on(Machine::builder().order(Order::Timed).device(device))
}

/// The program's time.
fn now(bench: &TestBench) -> Duration {
    bench.machine.trace().unwrap().now()
}

fn config() -> CopyConfig {
    CopyConfig::default().chunk(CHUNK).threshold(CHUNK)
}

/// What the future gives in the end, to a task that sleeps meanwhile and could move to another thread.
fn sleeping<F: Future + Unpin + Send>(mut future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match Pin::new(&mut future).poll(&mut Task::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park_timeout(Duration::from_secs(20)),
        }
    }
}

// Without it a small copy could wait for more of a bulk one than the window, or the bulk copy could be
// slower for it.
#[test]
fn a_small_copy_waits_for_the_window_at_most() {
    for direction in [Direction::Upload, Direction::Download] {
        for window in [1, 2, 3] {
            let bench = timed();
            bench
                .context
                .copies()
                .configure(config().window(window))
                .unwrap();
            let pool = bench.pool(128 << 20);
            let mut small = Small::new(&bench, &pool);
            let mut ends = Ends::new(&bench, &pool, BULK);
            let (before, mut waits) = (now(&bench), Vec::new());
            let mut bulk = ends.bulk(&bench, direction);
            while !bulk.advance().unwrap() {
                waits.push(small.milliseconds(direction));
            }
            drop(bulk);
            let took = (now(&bench) - before).as_secs_f64() * 1e3;
            let longest = waits.iter().copied().fold(0.0, f64::max);
            assert!(longest <= window as f64 + 0.01, "{longest} ms");
            // A question of the program's takes as long as what comes next.
            assert!(waits.len() >= BULK / CHUNK / 8, "{}", waits.len());
            let alone = (BULK / CHUNK) as f64;
            assert!((alone..alone * 1.05).contains(&took), "{took} ms");
        }
    }
}

// Without it the bound above could be the machine's, which is to do copies in the order in which they
// are ready.
#[test]
fn a_small_copy_waits_for_all_of_a_plain_one() {
    for direction in [Direction::Upload, Direction::Download] {
        let bench = timed();
        let pool = bench.pool(128 << 20);
        let mut small = Small::new(&bench, &pool);
        let mut ends = Ends::new(&bench, &pool, BULK);
        ends.plain(direction);
        let wait = small.milliseconds(direction);
        assert!(wait >= (BULK / CHUNK) as f64, "{wait} ms");
    }
}

// Without it chunks could leave elements out, or copy them to other places.
#[test]
fn the_chunks_are_the_whole() {
    for (len, chunk, window, threshold) in [
        (10_000, 4096, 1, 0),
        (10_000, 1, 2, 9999),
        (10_000, 9999, 2, 0),
        (10_000, 10_000, 3, 0),
        (10_000, 4096, 2, 40_000),
        (1, 1, 1, 0),
        (0, 8, 1, 0),
    ] {
        let bench = super::bench();
        let (context, stream) = (&bench.base.context, &bench.stream);
        let cut = CopyConfig::default().chunk(chunk.max(len / 50));
        let cut = cut.window(window).threshold(threshold);
        context.copies().configure(cut).unwrap();
        let mut host = context.buffers().pinned::<u32>(len).unwrap();
        for (place, value) in host.as_mut_slice().unwrap().iter_mut().zip(1..) {
            *place = value;
        }
        let mut back = context.buffers().pinned::<u32>(len).unwrap();
        let mut device = bench.pool.allocate::<u32>(len, stream).unwrap();
        let copies = context.copies();
        let mut up = copies.copy_to_device(&host, &mut device, stream).unwrap();
        up.wait().unwrap();
        assert_eq!(up.elements_put(), len);
        assert!(up.advance().unwrap(), "asked after its end");
        drop(up);
        let down = copies.copy_to_host(&device, &mut back, stream).unwrap();
        sleeping(down).unwrap();
        assert_eq!(back.as_slice().unwrap(), host.as_slice().unwrap());
        drop((device, host, back));
        bench.finish();
    }
}

// Without it copies that take turns could mix their chunks up, or wait for each other for ever.
#[test]
fn copies_of_several_threads_and_contexts_take_turns() {
    let bench = TestBench::with_workers(4);
    bench.context.copies().configure(config()).unwrap();
    let created = {
        let device = bench.execution.devices().get(0).unwrap();
        device.contexts().create(Default::default()).unwrap()
    };
    thread::scope(|scope| {
        for context in [&bench.context, &bench.context, &created] {
            let bench = &bench;
            scope.spawn(move || {
                let stream = context.streams().create(Default::default()).unwrap();
                let pool = context.memory_pool(super::PoolConfig::limit(64 << 20));
                let pool = pool.unwrap();
                let mut host = context.buffers().pinned::<u8>(8 * CHUNK).unwrap();
                let mut device = pool.zeros::<u8>(8 * CHUNK, &stream).unwrap();
                for round in 1..4 {
                    host.as_mut_slice().unwrap().fill(round);
                    let copies = bench.context.copies();
                    let up = copies.copy_to_device(&host, &mut device, &stream);
                    up.unwrap().wait().unwrap();
                    host.as_mut_slice().unwrap().fill(0);
                    let down = copies.copy_to_host(&device, &mut host, &stream);
                    sleeping(down.unwrap()).unwrap();
                    assert!(host.as_slice().unwrap().iter().all(|&byte| byte == round));
                }
            });
        }
    });
    drop(created);
    bench.finish();
}

// Without it a copy that is given up could take its turns with it, or keep its context.
#[test]
fn a_copy_may_be_dropped_at_any_time() {
    let device = DeviceConfig::new().upload_bandwidth(RATE);
    let bench = TestBench::on(Machine::builder().worker_threads(2).device(device));
    bench.context.copies().configure(config()).unwrap();
    let pool = bench.pool(64 << 20);
    for awaited in [false, true] {
        let mut ends = Ends::new(&bench, &pool, 8 * CHUNK);
        let mut copy = ends.bulk(&bench, Direction::Upload);
        assert!((1..=2 * CHUNK).contains(&copy.elements_put()));
        if awaited {
            let asked = Pin::new(&mut copy).poll(&mut Task::from_waker(Waker::noop()));
            assert!(asked.is_pending());
        }
        drop(copy);
        ends.bulk(&bench, Direction::Upload).wait().unwrap();
        let there = ends.device.to_vec(&ends.stream).unwrap();
        assert_eq!(there, ends.host.as_slice().unwrap());
        drop(ends.bulk(&bench, Direction::Upload));
    }
    drop(pool);
    // Nothing is left, the context among it.
    bench.finish();
}

// Without it a copy could go on past a chunk that failed, or could not be gone on with.
#[test]
fn a_chunk_that_fails_is_told_and_put_again() {
    let bench = TestBench::new();
    bench.context.copies().configure(config()).unwrap();
    let pool = bench.pool(64 << 20);
    let mut ends = Ends::new(&bench, &pool, 8 * CHUNK);
    let failed = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    let calls = [
        (id::cuMemcpyHtoDAsync_v2, 5, "cuMemcpyHtoDAsync"),
        (id::cuEventRecord, 10, "cuEventRecord"),
    ];
    for (round, (call, k, name)) in (1..).zip(calls) {
        bench.faults.reset();
        bench.faults.fail(call, k, failed);
        let Ends {
            host,
            device,
            stream,
        } = &mut ends;
        host.as_mut_slice().unwrap()[7 * CHUNK..].fill(round);
        let copies = bench.context.copies();
        let mut copy = copies.copy_to_device(&*host, &mut *device, stream).unwrap();
        let error = copy.wait().unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
        assert!(copy.elements_put() < 8 * CHUNK);
        copy.wait().unwrap();
        drop(copy);
        let there = device.to_vec(stream).unwrap();
        assert_eq!(there, host.as_slice().unwrap());
    }
    // One that loses the context is every copy's.
    bench.faults.reset();
    let lost = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    bench.faults.fail_from(id::cuMemcpyHtoDAsync_v2, 5, lost);
    let mut copy = ends.bulk(&bench, Direction::Upload);
    assert!(matches!(copy.wait(), Err(Error::Driver(_))));
    let again = copy.wait().unwrap_err();
    assert_eq!(Some(again), bench.context.poison());
}

// Without it a program would look in vain for the overlap that its device does not allow, or be told
// that there is none.
#[test]
fn copies_that_block_are_told_from_others() {
    for mode in [CopyMode::Asynchronous, CopyMode::Blocking] {
        // A copy that is timed takes longer than any call.
        let device = DeviceConfig::new().upload_bandwidth(RATE / 8);
        let bench = TestBench::on(Machine::builder().worker_threads(2).device(device));
        if mode == CopyMode::Blocking {
            let driver = bench.machine.driver();
            let watched = bench.faults.watch(move |call| {
                if call == id::cuEventRecord {
                    // In place of a copy that blocks: the call behind it does, before it is made.
                    // SAFETY: no condition; the context is the thread's.
                    unsafe { driver.cuCtxSynchronize() }.unwrap();
                }
            });
            assert!(watched);
        }
        assert_eq!(bench.context.copy_mode().unwrap(), mode);
        let copies = bench.faults.count(id::cuMemcpyHtoDAsync_v2);
        assert!(copies > 0);
        let pool = bench.pool(8 << 20);
        let config = PipelineConfig::new(1, 1);
        let pipeline = Pipeline::<u8, u8>::new(&bench.context, &pool, config).unwrap();
        assert_eq!(pipeline.copy_mode().unwrap(), mode);
        assert_eq!(bench.faults.count(id::cuMemcpyHtoDAsync_v2), copies, "once");
        drop((pipeline, pool));
        bench.finish();
    }
}

// Without it a copy could be begun that cannot be done, or a window be of no chunk.
#[test]
fn what_cannot_be_copied_is_refused() {
    let machine = Machine::builder().devices(2).worker_threads(1).build();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let context = |device| execution.devices().get(device).unwrap().primary().unwrap();
    let (here, there) = (context(0), context(1));
    let pool = here.memory_pool(super::PoolConfig::limit(8 << 20)).unwrap();
    let stream = here.streams().create(Default::default()).unwrap();
    let foreign = there.streams().create(Default::default()).unwrap();
    let host = here.buffers().pinned::<u8>(100).unwrap();
    let mut device = pool.zeros::<u8>(100, &stream).unwrap();
    let copies = here.copies();
    let refused = copies.copy_to_device(&host, &mut device, &foreign);
    assert_eq!(
        refused.unwrap_err(),
        Error::WrongContext { what: "the stream" }
    );
    let refused = copies.copy_to_device(host.slice(1..).unwrap(), &mut device, &stream);
    assert!(matches!(refused.unwrap_err(), Error::Invalid { .. }));
    let captured = Graph::capture(&here, CaptureConfig::default(), |capture| {
        let refused = copies.copy_to_device(&host, &mut device, capture.stream());
        assert!(matches!(refused, Err(Error::Capturing { .. })));
        Ok::<_, Error>(())
    });
    captured.unwrap();
    for (config, field) in [
        (CopyConfig::default().chunk(0), "copies.chunk"),
        (CopyConfig::default().window(0), "copies.window"),
    ] {
        match copies.configure(config) {
            Err(Error::Invalid { field: found, .. }) => assert_eq!(found, field),
            other => panic!("{other:?}"),
        }
        assert_eq!(copies.config(), CopyConfig::default());
    }
}
