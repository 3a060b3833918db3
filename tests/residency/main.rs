//! Models that share a device's memory, for long: on the software device a few hundred evictions, and with
//! `CUPOLA_TEST_DEVICE=gpu` as many as a service makes in days.

#[path = "../common/mod.rs"]
mod common;

mod load;
mod replay;
mod serve;

use cupola_residency::{Loader, LoaderError, Residency, ResidencyConfig, Slot, SlotConfig};

use common::{Bench, on_gpu};

const MIB: u64 = 1 << 20;

/// Bytes by model and place, made by the word.
struct Model {
    seed: u64,
    bytes: u64,
}

impl Model {
    fn fill(&self, offset: u64, into: &mut [u8]) {
        for (word, part) in (offset / 8..).zip(into.chunks_mut(8)) {
            let bytes = (word ^ self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            part.copy_from_slice(&bytes.to_le_bytes()[..part.len()]);
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

/// On a GPU more of it.
fn times(sim: u64, gpu: u64) -> u64 {
    if on_gpu() { gpu } else { sim }
}

/// Slots in pieces of 2 MiB: small ones, so that many evictions take little time.
fn residency(bench: &Bench, limit: u64) -> Residency {
    let config = ResidencyConfig {
        piece: 2 * MIB,
        chunk: 16 * MIB,
        ..ResidencyConfig::limit(limit)
    };
    Residency::new(&bench.context, config).unwrap()
}

fn register(residency: &Residency, seed: u64, bytes: u64) -> Slot {
    let config = SlotConfig::new(format!("model {seed}"));
    residency.register(config, Model { seed, bytes }).unwrap()
}
