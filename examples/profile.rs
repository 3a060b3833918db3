//! How long a kernel takes, and how far that is from what the device can.
//!
//! Run with `cargo run --release --example profile`.

use cupola::kernels::Kernels;
use cupola::kernels::profile::{Cost, Profiler};
use cupola::{Cupola, PoolConfig, Select};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cupola = Cupola::open(Select::AutoOrSoftware)?;
    let device = cupola.device(0)?;
    let context = device.primary()?;
    let pool = context.memory_pool(PoolConfig::limit(1 << 30))?;
    let kernels = Kernels::load(&context, device.info()?)?;
    let profiler = Profiler::new(&context, device.info()?)?;

    let n = 1 << 20;
    let x = pool.upload(&vec![1.5_f32; n], profiler.stream())?;
    let mut y = pool.upload(&vec![0.25_f32; n], profiler.stream())?;
    // Reads x and y, writes y: four bytes each; multiplies and adds.
    let cost = Cost::new().bytes(12 * n as u64).flops(2 * n as u64);
    let profile = profiler.profile("saxpy", cost, |stream| {
        kernels.saxpy(2.0, &x, &mut y, stream)
    })?;
    println!("{profile}");
    Ok(())
}
