//! Copy engines: which copies overlap.

use std::time::Duration;

use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::driver::*;

use crate::support::{Code, TestBench, code, without_hanging};

const NOT_READY: Code = CUresult::CUDA_ERROR_NOT_READY;
const NON_BLOCKING: CUstream_flags = CUstream_flags::CU_STREAM_NON_BLOCKING;

/// A device whose uploads never end, with an upload that holds its engine and a download
/// that was queued after it; the download's stream and event.
fn stuck_upload(engines: u32) -> (TestBench, CUstream, CUevent) {
    // A megabyte at a byte a second.
    const LEN: usize = 1 << 20;
    let config = DeviceConfig::new().copy_engines(engines);
    let config = config.upload_bandwidth(1);
    let bench = TestBench::with(Machine::builder().device(config));
    let d = &bench.driver;
    let (a, b) = (bench.alloc(LEN), bench.alloc(LEN));
    let (from, to, seen) = (bench.pinned(LEN), bench.pinned(LEN), bench.pinned(1));
    let (up, down, look) = (
        bench.stream(NON_BLOCKING),
        bench.stream(NON_BLOCKING),
        bench.stream(NON_BLOCKING),
    );
    let event = bench.event();
    from[0] = 1;
    // SAFETY: live handles and memory, which goes with the machine.
    unsafe {
        d.cuMemcpyHtoDAsync_v2(a, from.as_ptr().cast(), LEN, up)
            .unwrap();
        // A copy between two device addresses needs no engine: it sees when the upload
        // has one.
        let seen = seen.as_mut_ptr();
        while seen.read_volatile() == 0 {
            d.cuMemcpyDtoDAsync_v2(seen.expose_provenance() as u64, a, 1, look)
                .unwrap();
            bench.wait(look);
        }
        d.cuMemcpyDtoHAsync_v2(to.as_mut_ptr().cast(), b, LEN, down)
            .unwrap();
        d.cuEventRecord(event, down).unwrap();
    }
    assert_eq!(bench.query(up), NOT_READY);
    (bench, down, event)
}

/// Without it, copies in both directions could wait for each other although there are two
/// engines.
#[test]
fn with_two_engines_copies_overlap() {
    without_hanging(|| {
        let (bench, down, event) = stuck_upload(2);
        bench.wait(down);
        // SAFETY: a live handle.
        unsafe { bench.driver.cuEventQuery(event) }.unwrap();
    });
}

/// Without it, copies in both directions could run at once although there is one engine.
/// A slow host can hide that, never feign it.
#[test]
fn with_one_engine_copies_take_turns() {
    without_hanging(|| {
        let (bench, down, event) = stuck_upload(1);
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(bench.query(down), NOT_READY);
        // SAFETY: a live handle.
        assert_eq!(code(unsafe { bench.driver.cuEventQuery(event) }), NOT_READY);
    });
}
