//! Device and host memory: bounds, limits, lifetimes, pools.

mod device_support;

use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::driver::*;
use device_support::{Bench, Code, code};

/// Without it, bytes could be lost or moved between host and device.
#[test]
fn bytes_survive_a_round_trip() {
    let bench = Bench::new();
    let bytes: Vec<u8> = (0..100_000u32).map(|i| (i * 7 % 251) as u8).collect();
    let (a, b) = (bench.alloc(bytes.len()), bench.alloc(bytes.len()));
    bench.upload(a, &bytes);
    // SAFETY: both allocations hold the bytes.
    unsafe { bench.driver.cuMemcpyDtoD_v2(b, a, bytes.len()) }.unwrap();
    assert_eq!(bench.download(b, bytes.len()), bytes);
    bench.free(a);
    bench.free(b);
    bench.finish();
}
