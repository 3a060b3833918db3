//! The three ways to build a managed context into a module: as an optional field of one that has a
//! path of its own, as its only path, and under a coordinator of several.

use cupola_kernels::{geometry, reference};
use cupola_managers::managed::{ManagedConfig, ManagedContext, Mode, Stepped};
use cupola_managers::module::Function;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::pipeline::Step;
use cupola_managers::stream::StreamPurpose;
use cupola_managers::{Buffer, Error, Stream};

use crate::common::{Bench, noise};

const LEN: usize = 5000;

/// Puts the CRC of the bytes of `input` into `output`.
fn put(
    kernel: &Function,
    stream: &Stream,
    input: cupola_managers::buffer::DeviceSlice<'_, u8>,
    mut output: cupola_managers::buffer::DeviceSliceMut<'_, u32>,
) -> Result<usize, Error> {
    let len = input.bytes();
    ops::zero(output.reborrow(), stream)?;
    let grid = geometry::crc32(len, 8);
    let grid = LaunchConfig::linear(grid.blocks, grid.threads);
    // SAFETY: the kernel reads the input's bytes and adds to one word of output.
    unsafe { ops::launch(kernel, grid, (input, len, output), stream) }?;
    Ok(1)
}

fn managed(bench: &Bench, mode: Mode) -> ManagedContext<u8, u32> {
    let kernel = bench.kernel("cupola_crc32");
    let config = ManagedConfig::new(LEN, 1).mode(mode);
    let step = move |step: Step<'_, u8, u32>| put(&kernel, step.stream, step.input, step.output);
    ManagedContext::new(&bench.context, &bench.pool, config, step).unwrap()
}

fn config(step: u64) -> Vec<u8> {
    noise(step + 1, (step as usize * 7919) % (LEN + 1))
}

const MODES: [Mode; 4] = [
    Mode::Synchronous,
    Mode::Asynchronous { depth: 1 },
    Mode::Asynchronous { depth: 3 },
    Mode::Asynchronous { depth: 4 },
];

/// A module as it was before, with a path of its own on one stream.
struct Module<'b> {
    bench: &'b Bench,
    kernel: Function,
    input: Buffer<u8>,
    output: Buffer<u32>,
    /// What it got since.
    managed: Option<ManagedContext<u8, u32>>,
}

impl<'b> Module<'b> {
    fn new(bench: &'b Bench, enable_streams: bool) -> Self {
        let mode = Mode::Asynchronous { depth: 3 };
        Self {
            bench,
            kernel: bench.kernel("cupola_crc32"),
            input: bench.pool.allocate(LEN, &bench.stream).unwrap(),
            output: bench.pool.allocate(1, &bench.stream).unwrap(),
            managed: enable_streams.then(|| managed(bench, mode)),
        }
    }

    fn check(&mut self, config: &[u8]) -> Result<u32, Error> {
        if let Some(managed) = &mut self.managed {
            return Ok(managed.step(config)?.wait()?[0]);
        }
        let stream = &self.bench.stream;
        ops::write(self.input.slice_mut(..config.len())?, config, stream)?;
        let input = self.input.slice(..config.len())?;
        put(&self.kernel, stream, input, self.output.view_mut())?;
        let mut crc = [0];
        ops::read(&self.output, &mut crc, stream)?;
        Ok(crc[0])
    }
}

// Without it a module that gets an optional managed context could give other results with it.
#[test]
fn a_retrofitted_module_gives_the_same_results() {
    let bench = Bench::open();
    let run = |enable_streams| -> Vec<u32> {
        let mut module = Module::new(&bench, enable_streams);
        let steps = 0..10;
        steps
            .map(|step| module.check(&config(step)).unwrap())
            .collect()
    };
    let expected: Vec<_> = (0..10)
        .map(|step| reference::crc32(&config(step)))
        .collect();
    assert_eq!(run(false), expected);
    assert_eq!(run(true), expected);
    bench.finish();
}

/// A module that has a managed context and no other path.
struct BuiltIn {
    managed: ManagedContext<u8, u32>,
    results: Vec<u32>,
}

impl BuiltIn {
    fn run(&mut self, steps: u64) -> Result<(), Error> {
        for step in 0..steps {
            if let Some(telemetry) = self.managed.triple_buffered_step(&config(step))? {
                self.results.push(telemetry[0]);
            }
        }
        let results = &mut self.results;
        self.managed.drain(|telemetry| {
            results.push(telemetry[0]);
            Ok(())
        })
    }
}

// Without it the mode of a module could change its results or their order.
#[test]
fn a_built_in_context_gives_one_sequence_in_every_mode() {
    let bench = Bench::open();
    let expected: Vec<_> = (0..30)
        .map(|step| reference::crc32(&config(step)))
        .collect();
    for mode in MODES {
        let mut module = BuiltIn {
            managed: managed(&bench, mode),
            results: Vec::new(),
        };
        let streams = module.managed.has_stream_management();
        assert_eq!(streams, mode != Mode::Synchronous);
        for purpose in StreamPurpose::ALL {
            let stream = module.managed.stream(purpose).unwrap();
            assert_eq!(stream.is_some(), streams, "{purpose:?}");
        }
        module.run(30).unwrap();
        assert_eq!(module.results, expected, "{mode:?}");
    }
    bench.finish();
}

/// Phases that work on what the one before has found.
struct Coordinator {
    phases: [ManagedContext<u8, u32>; 3],
}

impl Coordinator {
    /// All phases work on one configuration at once.
    fn abreast(&mut self, config: &[u8]) -> Result<Vec<u32>, Error> {
        let steps: Vec<Stepped<u32>> = self
            .phases
            .iter_mut()
            .map(|phase| phase.step(config))
            .collect::<Result<_, _>>()?;
        steps.into_iter().map(|step| Ok(step.wait()?[0])).collect()
    }

    /// Each phase works on the result of the one before it.
    fn in_turn(&mut self, config: &[u8]) -> Result<u32, Error> {
        let mut bytes = config.to_vec();
        for phase in &mut self.phases {
            let found = phase.step(&bytes)?.wait()?;
            bytes = found.iter().flat_map(|word| word.to_le_bytes()).collect();
        }
        Ok(u32::from_le_bytes(bytes.try_into().expect("one word")))
    }
}

// Without it contexts of one device could take each other's results.
#[test]
fn a_coordinator_runs_three_contexts_of_one_device() {
    let bench = Bench::open();
    for mode in MODES {
        let mut coordinator = Coordinator {
            phases: std::array::from_fn(|_| managed(&bench, mode)),
        };
        for step in 0..5 {
            let config = config(step);
            let crc = reference::crc32(&config);
            assert_eq!(coordinator.abreast(&config).unwrap(), [crc; 3]);
            let second = reference::crc32(&crc.to_le_bytes());
            let third = reference::crc32(&second.to_le_bytes());
            assert_eq!(coordinator.in_turn(&config).unwrap(), third);
        }
    }
    bench.finish();
}
