//! `y = a * x + y` and a sum, on whatever device there is.
//!
//! Run with `cargo run --release --example saxpy`.

use cupola::kernels::{Kernels, ops::ReduceScratch};
use cupola::{Cupola, PoolConfig, Select, StreamConfig};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cupola = Cupola::open(Select::AutoOrSoftware)?;
    if let Some(why) = cupola.why_not_gpu() {
        eprintln!("on the software device: {why}");
    }
    let device = cupola.device(0)?;
    let context = device.primary()?;
    let stream = context.streams().create(StreamConfig::default())?;
    let pool = context.memory_pool(PoolConfig::limit(64 << 20))?;
    let kernels = Kernels::load(&context, device.info()?)?;

    let n = 100_000;
    let x = pool.upload(&vec![1.5_f32; n], &stream)?;
    let mut y = pool.upload(&vec![0.25_f32; n], &stream)?;
    let mut scratch = ReduceScratch::new(&pool, &stream)?;
    let mut total = pool.allocate::<f32>(1, &stream)?;

    kernels.saxpy(2.0, &x, &mut y, &stream)?;
    kernels.reduce_sum(&y, &mut scratch, &mut total, &stream)?;

    let sum = total.to_vec(&stream)?;
    println!("sum of {n} elements on {}: {}", device.info()?.name, sum[0]);
    // Each element is 3.25, and every partial sum is exact in f32.
    assert_eq!(sum[0], 3.25 * n as f32);
    Ok(())
}
