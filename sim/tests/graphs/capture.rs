//! What is captured, and what the graph computes: the same as the calls without a capture.

use std::time::Duration;

use cupola_sim::{DeviceConfig, Machine, MachineBuilder, Order};
use cupola_sys::driver::*;

use crate::raw::{FOLD, begin, bytes_of, destroy, destroy_exec, end, instantiate, launch};
use crate::support::{TestBench, code};

const OK: CUresult = CUresult::CUDA_SUCCESS;
const NON_BLOCKING: CUstream_flags = CUstream_flags::CU_STREAM_NON_BLOCKING;
const GLOBAL: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;

/// What one test does to three streams, one event for each, and 16 cells.
struct Work<'b> {
    bench: &'b TestBench,
    function: CUfunction,
    streams: [CUstream; 3],
    events: [CUevent; 3],
}

impl Work<'_> {
    fn kernel(&self, stream: usize, cells: CUdeviceptr, mask: u64, i: u64) {
        let values = [cells, mask, i, i + 40];
        let launched = self
            .bench
            .launch(self.function, 1, 1, self.streams[stream], &values);
        assert_eq!(launched, OK);
    }

    /// `stream` goes on when `other` has come here.
    fn follow(&self, stream: usize, other: usize) {
        let d = &self.bench.driver;
        // SAFETY: live handles.
        unsafe {
            d.cuEventRecord(self.events[other], self.streams[other])
                .unwrap();
            d.cuStreamWaitEvent(self.streams[stream], self.events[other], 0)
                .unwrap();
        }
    }
}

/// Random work of three streams, captured and not, replayed and repeated.
fn holds(builder: MachineBuilder, program: &[(u8, u8, u8)]) -> bool {
    let bench = TestBench::with(builder);
    let module = bench.load(FOLD);
    let work = Work {
        bench: &bench,
        function: bench.function(module, c"fold"),
        streams: [(); 3].map(|()| bench.stream(NON_BLOCKING)),
        events: [(); 3].map(|()| bench.event()),
    };
    let (cells, eager) = (bench.alloc(64), bench.alloc(64));
    bench.upload(cells, &[1; 64]);
    bench.upload(eager, &[1; 64]);
    // Each stream writes cells of its own. One that reads another's comes after it, and the other
    // goes on after that.
    let body = |cells| {
        work.follow(1, 0);
        work.follow(2, 0);
        for (stream, other, i) in program {
            let (stream, other) = (usize::from(stream % 3), usize::from(other % 4));
            let own = |stream: usize| 0b11111u64 << (5 * stream);
            let cell = 5 * stream as u64 + u64::from(i % 5);
            if other < 3 && other != stream {
                work.follow(stream, other);
                work.kernel(stream, cells, own(stream) | own(other), cell);
                work.follow(other, stream);
            } else {
                work.kernel(stream, cells, own(stream), cell);
            }
        }
        work.follow(0, 1);
        work.follow(0, 2);
        work.kernel(0, cells, 0x7fff, 15);
    };
    assert_eq!(begin(&bench, work.streams[0], GLOBAL), OK);
    body(cells);
    let graph = end(&bench, work.streams[0]).unwrap();
    let exec = instantiate(&bench, graph);
    for _ in 0..3 {
        assert_eq!(launch(&bench, exec, work.streams[0]), OK);
        body(eager);
    }
    bench.wait(work.streams[0]);
    let same = bench.download(cells, 64) == bench.download(eager, 64);
    destroy_exec(&bench, exec);
    destroy(&bench, graph);
    for event in work.events {
        // SAFETY: a live handle.
        unsafe { bench.driver.cuEventDestroy_v2(event) }.unwrap();
    }
    bench.destroy(&work.streams);
    bench.free(cells);
    bench.free(eager);
    bench.unload(module);
    bench.finish();
    same
}

/// Without it, a captured fork, join or launch could be lost or get another place.
#[test]
fn a_captured_program_computes_what_it_computes_without() {
    #[allow(clippy::needless_pass_by_value, reason = "quickcheck gives values")]
    fn holds_everywhere(seed: u64, program: Vec<(u8, u8, u8)>) -> bool {
        let jitter = Duration::from_micros(200);
        let config = DeviceConfig::new().jitter(jitter, seed);
        holds(Machine::builder().device(config), &program)
            && holds(Machine::builder().order(Order::Seeded(seed)), &program)
    }
    crate::support::without_hanging(|| {
        quickcheck::QuickCheck::new()
            .tests(20)
            .quickcheck(holds_everywhere as fn(_, _) -> bool);
    });
}

/// Without it, a kind of work could run at the capture, or not at the launch.
#[test]
fn every_kind_of_work_becomes_a_node() {
    unsafe extern "C" fn count(data: *mut std::ffi::c_void) {
        // SAFETY: the test's counter, which outlives the launches.
        unsafe { *data.cast::<u32>() += 1 };
    }
    let bench = TestBench::new();
    let d = &bench.driver;
    let stream = bench.stream(NON_BLOCKING);
    let memory = bench.alloc(64);
    bench.upload(memory, &[0; 64]);
    let pinned = bench.pinned(16);
    let (mut pageable, mut back, mut calls) = (vec![1u8; 4], [0u8; 8], 0u32);
    let source = pageable.as_mut_ptr();
    pinned[..4].copy_from_slice(&[5, 6, 7, 8]);
    assert_eq!(begin(&bench, stream, GLOBAL), OK);
    let (event, rows) = (
        bench.event(),
        CUDA_MEMCPY2D {
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcDevice: memory,
            srcPitch: 4,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstDevice: memory + 32,
            dstPitch: 8,
            WidthInBytes: 2,
            Height: 2,
            ..Default::default()
        },
    );
    // SAFETY: the memory outlives the launches.
    unsafe {
        d.cuMemcpyHtoDAsync_v2(memory, source.cast(), 4, stream)
            .unwrap();
        d.cuMemcpyHtoDAsync_v2(memory + 4, pinned.as_ptr().cast(), 4, stream)
            .unwrap();
        d.cuMemcpy2DAsync_v2(&raw const rows, stream).unwrap();
        d.cuMemsetD16Async(memory + 6, 0x0909, 1, stream).unwrap();
        d.cuStreamWriteValue32_v2(stream, memory + 16, 77, 0)
            .unwrap();
        d.cuLaunchHostFunc(stream, Some(count), (&raw mut calls).cast())
            .unwrap();
        d.cuEventRecordWithFlags(event, stream, 1).unwrap();
        d.cuMemcpyDtoHAsync_v2(back.as_mut_ptr().cast(), memory, 8, stream)
            .unwrap();
    }
    let graph = end(&bench, stream).unwrap();
    bench.synchronize();
    assert_eq!((calls, back), (0, [0; 8]));
    assert_eq!(bench.download(memory, 64), [0; 64], "nothing has run yet");
    assert_eq!(crate::raw::types(&bench, graph), [1, 1, 1, 2, 12, 3, 7, 1]);
    let nodes = crate::raw::nodes(&bench, graph);
    let (mut copy, mut fill) = Default::default();
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuGraphMemcpyNodeGetParams(nodes[2], &raw mut copy)
            .unwrap();
        d.cuGraphMemsetNodeGetParams(nodes[3], &raw mut fill)
            .unwrap();
    }
    assert_eq!((copy.srcPitch, copy.dstPitch, copy.Height), (4, 8, 2));
    assert_eq!((copy.srcDevice, copy.dstDevice), (memory, memory + 32));
    assert_eq!(
        (fill.dst, fill.value, fill.elementSize, fill.width),
        (memory + 6, 0x0909, 2, 1)
    );
    let exec = instantiate(&bench, graph);
    for round in 1..3 {
        // SAFETY: the vector has 4 bytes, and no launch is under way.
        unsafe { source.write_bytes(round, 4) };
        assert_eq!(launch(&bench, exec, stream), OK);
        bench.wait(stream);
        let round_u = u32::from(round);
        assert_eq!(
            (calls, back),
            (round_u, [round, round, round, round, 5, 6, 9, 9])
        );
        assert_eq!(bench.download(memory + 16, 4), bytes_of(&[77]));
        let rows = bench.download(memory + 32, 10);
        assert_eq!((&rows[..2], &rows[8..]), (&[round; 2][..], &[5, 6][..]));
        // SAFETY: a live handle.
        assert_eq!(code(unsafe { d.cuEventQuery(event) }), OK);
    }
    destroy_exec(&bench, exec);
    destroy(&bench, graph);
    // SAFETY: a live handle.
    unsafe { d.cuEventDestroy_v2(event) }.unwrap();
    bench.unpin(pinned);
    bench.free(memory);
    bench.destroy(&[stream]);
    bench.finish();
}
