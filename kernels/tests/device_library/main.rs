//! The device library against oracles on the CPU: on the software device, or with
//! `CUPOLA_TEST_DEVICE=gpu` on a GPU.
//!
//! Integers, conversions and single operations of floats are compared bit for bit, sums too, because
//! their order is fixed; the payload of a NaN is free.

#![allow(
    clippy::cast_lossless,
    reason = "macros cast from whatever type they are given"
)]

mod arithmetic;
mod convert;
#[cfg(feature = "compiler")]
mod header;
mod memory;
mod preload;
mod reduce;
mod reduce_at_once;
mod reduce_early;
mod reduce_scratch;
#[path = "../support/target.rs"]
mod target;
mod values;

use cupola_kernels::Kernels;
use cupola_managers::buffer::{Buffer, DeviceCopy, DeviceSlice, DeviceSliceMut};
use cupola_managers::pool::{MemoryPool, PoolConfig};
use cupola_managers::stream::{Stream, StreamConfig};
use cupola_managers::{Context, ExecutionManager};
use cupola_random::Random;
use cupola_sim::{DeviceConfig, Machine, MachineBuilder};
use cupola_sys::driver::Driver;
use values::Value;

/// A device, and what launches need.
struct Bench {
    kernels: Kernels,
    stream: Stream,
    pool: MemoryPool,
    context: Context,
    execution: ExecutionManager,
}

impl Bench {
    fn new() -> Self {
        Self::over(target::driver())
    }

    /// The GPU; or software devices of the oldest architecture and of those for which some kernels have PTX of their own.
    fn of_each_ptx() -> Vec<Self> {
        match target::is_gpu() {
            true => vec![Self::new()],
            false => [(6, 0), (7, 0), (9, 0)]
                .map(|capability| Self::over(software(capability).build().driver()))
                .into(),
        }
    }

    fn over(driver: Driver) -> Self {
        let execution = ExecutionManager::new(driver).unwrap();
        let device = execution.devices().get(0).unwrap();
        let context = device.primary().unwrap();
        Self {
            kernels: Kernels::load(&context, device.info().unwrap()).unwrap(),
            stream: context.streams().create(StreamConfig::default()).unwrap(),
            pool: context.memory_pool(PoolConfig::limit(2 << 30)).unwrap(),
            context,
            execution,
        }
    }

    fn compute_capability(&self) -> (u32, u32) {
        let device = self.execution.devices().get(0).unwrap();
        device.info().unwrap().compute_capability
    }

    /// Whether the device has programmatic dependent launches, which reductions then are.
    fn starts_early(&self) -> bool {
        self.compute_capability() >= (9, 0)
    }

    /// A view that begins `lead` elements behind an aligned address.
    fn upload<T: DeviceCopy>(&self, values: &[T], lead: usize) -> Memory<T> {
        let Some(&first) = values.first() else {
            return self.zeroed(0, lead);
        };
        let all = [&vec![first; lead], values, &[first; EDGE]].concat();
        let buffer = self.pool.upload(&all, &self.stream).unwrap();
        Memory {
            buffer,
            lead,
            before: all,
        }
    }

    fn zeroed<T: DeviceCopy>(&self, n: usize, lead: usize) -> Memory<T> {
        let buffer = self.pool.zeros(lead + n + EDGE, &self.stream).unwrap();
        let before = buffer.to_vec(&self.stream).unwrap();
        Memory {
            buffer,
            lead,
            before,
        }
    }
}

/// A machine with a software device of this compute capability.
fn software((major, minor): (u32, u32)) -> MachineBuilder {
    Machine::builder().device(DeviceConfig::new().compute_capability(major, minor))
}

/// Elements behind a view, which no kernel may touch.
const EDGE: usize = 5;

/// A view in the middle of a buffer.
struct Memory<T: DeviceCopy> {
    buffer: Buffer<T>,
    lead: usize,
    before: Vec<T>,
}

impl<T: DeviceCopy> Memory<T> {
    fn len(&self) -> usize {
        self.before.len() - self.lead - EDGE
    }

    fn view(&self) -> DeviceSlice<'_, T> {
        self.buffer
            .slice(self.lead..self.lead + self.len())
            .unwrap()
    }

    fn view_mut(&mut self) -> DeviceSliceMut<'_, T> {
        let end = self.lead + self.len();
        self.buffer.slice_mut(self.lead..end).unwrap()
    }
}

impl<T: Value> Memory<T> {
    /// What the view has now; what is around it is as it was.
    fn read(&self, bench: &Bench) -> Vec<T> {
        let now = self.buffer.to_vec(&bench.stream).unwrap();
        let end = self.lead + self.len();
        for around in [0..self.lead, end..now.len()] {
            let same = (now[around.clone()].iter()).zip(&self.before[around.clone()]);
            assert!(
                same.into_iter().all(|(a, b)| a.same(*b)),
                "written at {around:?}"
            );
        }
        now[self.lead..end].to_vec()
    }

    fn expect(&self, bench: &Bench, expected: &[T], what: &str) {
        let found = self.read(bench);
        assert_eq!(found.len(), expected.len(), "{what}");
        for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
            let same = found.same(*expected);
            assert!(
                same,
                "{what}: {found:?} where {expected:?} is right, at {index}"
            );
        }
    }
}

/// A length, and how far each of up to four arrays begins behind an aligned address.
#[derive(Clone, Copy, Debug)]
struct Shape {
    n: usize,
    leads: [usize; 4],
}

/// Lengths and alignments at which every path of a kernel is taken, and random ones.
fn shapes(random: &mut Random) -> Vec<Shape> {
    let mut shapes = vec![
        Shape {
            n: 0,
            leads: [0; 4],
        },
        Shape {
            n: 1,
            leads: [1; 4],
        },
        // Tiles from the first element on.
        Shape {
            n: 8192,
            leads: [0; 4],
        },
        // Elements before the tiles and behind them.
        Shape {
            n: 9001,
            leads: [3; 4],
        },
        // Aligned differently.
        Shape {
            n: 4500,
            leads: [0, 1, 2, 3],
        },
    ];
    let mut leads = || std::array::from_fn(|_| random.index(9));
    let (first, second) = (leads(), leads());
    shapes.push(Shape {
        n: random.index(300),
        leads: first,
    });
    shapes.push(Shape {
        n: random.index(20_000),
        leads: [second[0]; 4],
    });
    if target::is_gpu() {
        shapes.push(Shape {
            n: (1 << 20) + random.index(1 << 20),
            leads: first,
        });
        shapes.push(Shape {
            n: (1 << 20) + random.index(1 << 20),
            leads: [second[1]; 4],
        });
    }
    shapes
}
