//! A function on the GPU in a process of its own: one of its items makes the device
//! unusable, and the others are done all the same.
//!
//! Run with `cargo run --release --example worker`.

use cupola::kernels::Embedded;
use cupola::managers::ops::{self, LaunchConfig};
use cupola::managers::{Context, Function};
use cupola::{Buffer, Cupola, MemoryPool, PoolConfig, Select, Stream};
use cupola_worker::{self as worker, Failure, Item, Supervisor, WorkerConfig};

/// What the worker keeps open between items.
struct Scaler {
    kernel: Function,
    pool: MemoryPool,
    stream: Stream,
    _context: Context,
    _cupola: Cupola,
}

impl Scaler {
    fn open() -> Result<Self, Failure> {
        let cupola = Cupola::open(Select::AutoOrSoftware)?; // a GPU if there is one
        let context = cupola.device(0)?.primary()?;
        let file = Embedded::with_entry("cupola_scale").ok_or(Failure::new("no such kernel"))?;
        Ok(Self {
            kernel: context
                .modules()
                .load_ptx(file.ptx())?
                .function("cupola_scale")?,
            pool: context.memory_pool(PoolConfig::limit(64 << 20))?,
            stream: context.streams().create(Default::default())?,
            _context: context,
            _cupola: cupola,
        })
    }

    /// Twice each of the numbers that an item holds.
    fn scale(&mut self, item: Item<'_>) -> Result<Vec<u8>, Failure> {
        let numbers: Vec<f32> = (item.bytes.chunks_exact(4))
            .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap_or_default()))
            .collect();
        let mut input = self.pool.allocate::<f32>(numbers.len(), &self.stream)?;
        let output = self.pool.allocate::<f32>(numbers.len(), &self.stream)?;
        ops::write(&mut input, &numbers, &self.stream)?;
        // The mistake of this example: negative numbers end up at a wild address.
        let wild = numbers.iter().any(|number| *number < 0.0);
        let place = if wild {
            0xdead_0000_0000
        } else {
            output.as_raw()
        };
        self.launch(&input, place)?;
        let mut doubled = vec![0.0; numbers.len()];
        ops::read(&output, &mut doubled, &self.stream)?; // waits: an error comes up here
        Ok(doubled.into_iter().flat_map(f32::to_le_bytes).collect())
    }

    fn launch(&self, input: &Buffer<f32>, place: u64) -> Result<(), Failure> {
        let n = input.len() as u64;
        let arguments = (n, 2.0_f32, input.as_raw(), place);
        let shape = LaunchConfig::linear(n.div_ceil(256) as u32, 256);
        // SAFETY: the kernel takes these arguments; the buffers are allocated on its stream.
        // A wild address is what this example is about.
        unsafe { ops::launch(&self.kernel, shape, arguments, &self.stream)? };
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // In the worker's process this never returns; in this one it does nothing.
    worker::serve("scale", || {
        // Else an item that hangs would outlive a supervisor that is killed.
        std::thread::spawn(worker::end_with_supervisor);
        let mut scaler = Scaler::open()?;
        Ok::<_, Failure>(move |item: Item<'_>| scaler.scale(item))
    });

    let mut config = WorkerConfig::new("scale");
    config.attempts = 2; // workers that one item may cost
    let mut supervisor = Supervisor::start(config)?;
    for first in [1.0_f32, 2.0, -3.0, 4.0, 5.0] {
        let numbers = [first, 10.0 * first];
        supervisor.submit(numbers.iter().flat_map(|n| n.to_le_bytes()).collect())?;
    }
    let mut done = 0;
    while let Some(outcome) = supervisor.receive()? {
        match outcome.result {
            Ok(bytes) => {
                let numbers: Vec<f32> = (bytes.chunks_exact(4))
                    .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap_or_default()))
                    .collect();
                println!("item {}: {numbers:?}", outcome.sequence);
                done += 1;
            }
            Err(error) => println!("item {}: {error}", outcome.sequence),
        }
    }
    let report = supervisor.shutdown()?;
    let statistics = &report.statistics;
    println!(
        "{done} of 5 items done by {} workers; the longest time without one: {:?}",
        statistics.started, statistics.longest_outage
    );
    if let Some(cause) = &statistics.first_cause {
        println!("the first cause: {cause}");
    }
    assert_eq!((done, statistics.lost.sticky), (4, 2));
    Ok(())
}
