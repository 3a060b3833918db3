use std::time::Duration;

use cupola_sim::{DeviceConfig, Machine, Order};

use crate::test_bench::TestBench;
use crate::{CopyConfig, Event, EventConfig, Stream, ops};

/// The bus takes a millisecond for a chunk.
const CHUNK: usize = 1 << 20;
const RATE: u64 = 1000 << 20;
const CHUNKS: usize = 32;

#[derive(Clone, Copy)]
enum Direction {
    Upload,
    Download,
}

/// Memory of a copy, and a stream for it.
struct Ends {
    host: crate::PinnedBuffer<u8>,
    device: crate::Buffer<u8>,
    stream: Stream,
    marks: [Event; 2],
}

impl Ends {
    fn new(bench: &TestBench, pool: &crate::MemoryPool, bytes: usize) -> Self {
        let stream = bench.stream();
        let device = pool.zeros(bytes, &stream).unwrap();
        ops::synchronize(&stream).unwrap();
        let mark = || {
            bench
                .context
                .events()
                .create(EventConfig::timing())
                .unwrap()
        };
        Self {
            host: bench.context.buffers().pinned(bytes).unwrap(),
            device,
            stream,
            marks: [mark(), mark()],
        }
    }

    /// Puts a copy between two marks.
    fn put(&mut self, direction: Direction, bulk: Option<&TestBench>) {
        let Self {
            host,
            device,
            stream,
            marks,
        } = self;
        ops::record(&marks[0], stream).unwrap();
        match (direction, bulk.map(|bench| bench.context.copies())) {
            (Direction::Upload, None) => ops::copy_to_device(&*host, device, stream),
            (Direction::Download, None) => ops::copy_to_host(&*device, host, stream),
            (Direction::Upload, Some(copies)) => copies.copy_to_device(&*host, device, stream),
            (Direction::Download, Some(copies)) => copies.copy_to_host(&*device, host, stream),
        }
        .unwrap();
        ops::record(&marks[1], stream).unwrap();
    }

    /// Waits for it, and says how many milliseconds it took by the device's clock.
    fn milliseconds(&self) -> f64 {
        let [start, end] = &self.marks;
        ops::synchronize_event(end).unwrap();
        f64::from(ops::elapsed(start, end).unwrap())
    }
}

/// Milliseconds of a bulk copy, and of the small ones beside it that took longest, on a machine whose
/// copies take their time, in virtual time.
fn beside(direction: Direction, in_chunks: bool) -> (f64, f64) {
    let device = DeviceConfig::new()
        .upload_bandwidth(RATE)
        .download_bandwidth(RATE);
    let bench = TestBench::on(Machine::builder().order(Order::Timed).device(device));
    let cut = CopyConfig::default().chunk(CHUNK).threshold(CHUNK);
    bench.context.copies().configure(cut).unwrap();
    let pool = bench.pool(128 << 20);
    let mut bulk = Ends::new(&bench, &pool, CHUNKS * CHUNK);
    let mut small = Ends::new(&bench, &pool, 4096);
    bulk.put(direction, in_chunks.then_some(&bench));
    let mut longest: f64 = 0.0;
    for _ in 0..8 {
        small.put(direction, None);
        longest = longest.max(small.milliseconds());
    }
    (bulk.milliseconds(), longest)
}

// Without it a small copy could wait for more of a bulk one than a chunk, or the bulk copy could be slower
// for it. The order of the engine is the machine's: a plain copy is not passed.
#[test]
fn a_small_copy_waits_for_a_chunk_at_most() {
    let all = CHUNKS as f64;
    for direction in [Direction::Upload, Direction::Download] {
        let (took, longest) = beside(direction, true);
        assert!(longest <= 1.1, "{longest} ms");
        assert!((all..all * 1.05).contains(&took), "{took} ms");
        let (_, longest) = beside(direction, false);
        assert!(longest >= all, "{longest} ms beside a plain copy");
    }
}

// Without it the default could be a chunk that a small copy waits for too long.
#[test]
fn a_chunk_is_short() {
    let config = CopyConfig::default();
    let slow = Duration::from_secs_f64(config.chunk as f64 / 20e9);
    assert!(slow < Duration::from_millis(1), "on PCIe 4: {slow:?}");
    assert!(config.threshold > config.chunk);
}
