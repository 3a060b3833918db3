//! Slots on a software device in strict mode: an access of memory that is not mapped, a race of streams and
//! a leak are findings.

mod ahead;
mod bound;
mod changed;
mod contents;
#[cfg(target_os = "linux")]
mod processes;
mod progressive;
mod queue;
mod random;
mod refusals;
mod sweep;
mod threads;

use std::sync::mpsc::{Sender, channel};

use cupola_managers::{Context, Stream, ops};
use cupola_residency::{Lease, Loader, LoaderError, Residency, ResidencyConfig, Slot, SlotConfig};
use cupola_testing::{Machine, TestBench};

const MIB: u64 = 1 << 20;

/// Bytes that depend on the model and on their place.
struct Model {
    seed: u64,
    bytes: u64,
}

impl Model {
    fn fill(&self, offset: u64, into: &mut [u8]) {
        for (at, byte) in into.iter_mut().enumerate() {
            let at = offset + at as u64;
            *byte = (at.wrapping_mul(31) ^ (at >> 12) ^ self.seed.wrapping_mul(97)) as u8;
        }
    }
}

impl Loader for Model {
    fn bytes(&self) -> Result<u64, LoaderError> {
        Ok(self.bytes)
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), LoaderError> {
        self.fill(offset, into);
        Ok(())
    }
}

/// A machine, a context and a stream.
struct Bench {
    base: TestBench,
    context: Context,
    stream: Stream,
}

impl Bench {
    fn new() -> Self {
        // Every byte is looked at by copies alone, which are followed anyway.
        Self::on(
            TestBench::builder()
                .machine(Machine::builder().worker_threads(1))
                .open()
                .unwrap(),
        )
    }

    fn on(base: TestBench) -> Self {
        let context = base.context().unwrap();
        let stream = context.streams().create(Default::default()).unwrap();
        Self {
            base,
            context,
            stream,
        }
    }

    /// Slots under a limit, in pieces of 4 MiB and chunks of 8.
    fn residency(&self, limit: u64) -> Residency {
        Residency::new(&self.context, config(limit)).unwrap()
    }

    fn finish(self) {
        drop((self.stream, self.context));
        self.base.finish().unwrap();
    }
}

fn config(limit: u64) -> ResidencyConfig {
    ResidencyConfig {
        piece: 4 * MIB,
        chunk: 8 * MIB,
        ..ResidencyConfig::limit(limit)
    }
}

fn register(residency: &Residency, seed: u64, bytes: u64) -> Slot {
    let config = SlotConfig::new(format!("model {seed}"));
    residency.register(config, Model { seed, bytes }).unwrap()
}

/// Demands that all of the slot is there.
fn check(lease: &Lease, seed: u64, stream: &Stream) {
    let bytes = lease.slot().bytes();
    // SAFETY: the copy is on a stream of the lease.
    let found = unsafe { lease.slice::<u8>(0..bytes as usize) }.unwrap();
    let found = found.to_vec(stream).unwrap();
    let mut wanted = vec![0; bytes as usize];
    Model { seed, bytes }.fill(0, &mut wanted);
    let differs = found.iter().zip(&wanted).position(|(a, b)| a != b);
    assert_eq!(differs, None, "model {seed}");
}

/// Holds a stream's work up until it is dropped.
fn hold(stream: &Stream) -> impl Drop + use<> {
    struct Held(Sender<()>);
    impl Drop for Held {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }
    let (end, ended) = channel();
    let wait = move || {
        let _ = ended.recv();
    };
    ops::host_function(stream, wait).unwrap();
    Held(end)
}
