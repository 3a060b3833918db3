//! Weights that outlive their worker: an item makes the worker's device unusable, and the next worker goes on with the
//! same weights, without an upload.
//!
//! Run with `cargo run --release --example keeper` (Linux).

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("device memory is shared by file descriptors on Linux only");
}

#[cfg(target_os = "linux")]
mod linux {
    use cupola::kernels::Embedded;
    use cupola::managers::Function;
    use cupola::managers::ops::{self, LaunchConfig};
    use cupola::{Cupola, MemoryPool, PoolConfig, Select, Stream};
    use cupola_keeper::{Guest, Keeper, KeeperConfig, KeeperError, Kept, Rights};
    use cupola_worker::{self as worker, Failure, Item, Supervisor, WorkerConfig};

    /// The name of the variable that tells a worker where its keeper listens.
    const PLACE: &str = "CUPOLA_EXAMPLE_KEEPER";
    /// Numbers in the weights.
    const COUNT: usize = 4 << 20;

    struct Model {
        weights: Kept,
        kernel: Function,
        pool: MemoryPool,
        stream: Stream,
        _cupola: Cupola,
    }

    impl Model {
        fn open() -> Result<Self, Failure> {
            let cupola = Cupola::open(Select::AutoOrSoftware)?; // a GPU if there is one
            let context = cupola.device(0)?.primary()?;
            let stream = context.streams().create(Default::default())?;
            let place = std::env::var(PLACE).map_err(|error| Failure::of(&error))?;
            let failed = |error: KeeperError| Failure::of(&error);
            let guest = Guest::connect_to(place, &context).map_err(failed)?;
            let weights = match guest.open("weights", Rights::Read) {
                Err(KeeperError::NotFound { .. }) => upload(&guest, &stream).map_err(failed)?,
                opened => opened.map_err(failed)?,
            };
            // What the worker has of its own is under the same limit.
            let config = PoolConfig::limit(u64::MAX).within(&guest.limit().map_err(failed)?);
            let file =
                Embedded::with_entry("cupola_scale").ok_or(Failure::new("no such kernel"))?;
            let module = context.modules().load_ptx(file.ptx())?;
            Ok(Self {
                weights,
                kernel: module.function("cupola_scale")?,
                pool: context.memory_pool(config)?,
                stream,
                _cupola: cupola,
            })
        }

        /// The item's number times the first weight.
        fn serve(&mut self, item: Item<'_>) -> Result<Vec<u8>, Failure> {
            let bytes = item.bytes.try_into().unwrap_or_default();
            let factor = f32::from_le_bytes(bytes);
            let output = self.pool.allocate::<f32>(1, &self.stream)?;
            // The mistake of this example: a negative number writes to the weights, which may only be read.
            let place = if factor < 0.0 {
                self.weights.address()
            } else {
                output.as_raw()
            };
            let arguments = (1_u64, factor, self.weights.address(), place);
            // SAFETY: the kernel takes these arguments, and is waited for while the weights are open. The mistake is
            // what this example is about.
            unsafe {
                ops::launch(
                    &self.kernel,
                    LaunchConfig::linear(1, 32),
                    arguments,
                    &self.stream,
                )?;
            }
            let mut result = [0.0_f32];
            ops::read(&output, &mut result, &self.stream)?; // waits: an error comes up here
            Ok(result[0].to_le_bytes().to_vec())
        }
    }

    /// The first worker has them from a file, as a rule.
    fn upload(guest: &Guest, stream: &Stream) -> Result<Kept, KeeperError> {
        println!("uploaded once");
        let mut filling = guest.create("weights", 4 * COUNT as u64, Rights::Read)?;
        // SAFETY: it is waited for before the object is sealed.
        ops::fill(unsafe { filling.slice_mut::<f32>(0..COUNT)? }, 2.0, stream)?;
        ops::synchronize(stream)?;
        filling.seal(*b"twos")
    }

    pub(super) fn main() -> Result<(), Box<dyn std::error::Error>> {
        // In a worker's process this never returns; in this one it does nothing.
        worker::serve("model", || {
            std::thread::spawn(worker::end_with_supervisor);
            let mut model = Model::open()?;
            Ok::<_, Failure>(move |item: Item<'_>| model.serve(item))
        });

        // The supervisor has a context for its keeper, and does no work there.
        let cupola = Cupola::open(Select::AutoOrSoftware)?;
        let context = cupola.device(0)?.primary()?;
        let keeper = Keeper::new(&context, KeeperConfig::limit(256 << 20))?;
        let name = format!("cupola-keeper-{}", std::process::id());
        let place = std::env::temp_dir().join(name);
        keeper.listen(&place)?;
        let mut config = WorkerConfig::new("model");
        config.attempts = 1; // workers that one item may cost
        config.command().env(PLACE, &place);
        let mut supervisor = Supervisor::start(config)?;
        for factor in [1.0_f32, 2.0, -3.0, 4.0, 5.0] {
            supervisor.submit(factor.to_le_bytes().to_vec())?;
        }
        let mut sum = 0.0;
        while let Some(outcome) = supervisor.receive()? {
            match outcome.result {
                Ok(bytes) => sum += f32::from_le_bytes(bytes.try_into().unwrap_or_default()),
                Err(error) => println!("item {}: {error}", outcome.sequence),
            }
        }
        let workers = supervisor.shutdown()?.statistics.started;
        println!(
            "{workers} workers; the sum is {sum}, and the weights have {} bytes",
            keeper.used()
        );
        assert_eq!((workers, sum), (2, 2.0 * (1.0 + 2.0 + 4.0 + 5.0)));
        assert_eq!(keeper.used(), 4 * COUNT as u64);
        Ok(())
    }
}
