//! Streams: their order, overlap and waiting.

use std::ffi::c_void;
use std::sync::Mutex;
use std::time::Duration;

use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::driver::*;

use crate::support::{Code, Gate, TestBench, code, without_hanging};

const NOT_READY: Code = CUresult::CUDA_ERROR_NOT_READY;
const HANDLE: Code = CUresult::CUDA_ERROR_INVALID_HANDLE;
const BLOCKING: CUstream_flags = CUstream_flags::CU_STREAM_DEFAULT;
const NON_BLOCKING: CUstream_flags = CUstream_flags::CU_STREAM_NON_BLOCKING;

/// Without it, threads that wait for a stream at the same time could execute an operation
/// twice or out of order, return before their own, or leave the stream without a thread
/// that goes on.
#[test]
fn threads_that_wait_for_one_stream_share_its_work() {
    without_hanging(|| {
        let bench = TestBench::new();
        let handle = bench.stream(NON_BLOCKING).addr();
        let (a, b) = (bench.alloc(4), bench.alloc(4));
        std::thread::scope(|scope| {
            for thread in 0..4u32 {
                let bench = &bench;
                scope.spawn(move || {
                    bench.attach();
                    let stream: CUstream = std::ptr::without_provenance_mut(handle);
                    let (driver, mine) = (&bench.driver, bench.alloc(4));
                    for round in 0..300u32 {
                        let value = thread << 16 | round;
                        // SAFETY: the memory outlives the work.
                        unsafe {
                            driver.cuMemsetD32Async(mine, value, 1, stream).unwrap();
                            driver.cuMemcpyDtoDAsync_v2(b, mine, 4, stream).unwrap();
                            driver.cuMemcpyDtoDAsync_v2(a, b, 4, stream).unwrap();
                        }
                        bench.wait(stream);
                        assert_eq!(bench.download(mine, 4), value.to_le_bytes());
                    }
                    bench.free(mine);
                });
            }
        });
        assert_eq!(bench.download(a, 4), bench.download(b, 4));
        bench.free(a);
        bench.free(b);
        bench.destroy(&[std::ptr::without_provenance_mut(handle)]);
        bench.finish();
    });
}

/// Without it, operations of one stream could run out of order, or the call could wait.
#[test]
fn a_stream_is_a_queue_that_nobody_waits_for() {
    unsafe extern "C" fn note(data: *mut c_void) {
        // SAFETY: the vector outlives the stream's work.
        let notes = unsafe { &*data.cast::<Mutex<Vec<usize>>>() };
        let mut notes = notes.lock().unwrap();
        let next = notes.len();
        notes.push(next);
    }
    let bench = TestBench::new();
    let stream = bench.stream(NON_BLOCKING);
    let gate = Gate::new();
    gate.block(&bench, stream);
    let (a, notes) = (bench.alloc(4), Mutex::new(Vec::<usize>::new()));
    for value in 0..50u32 {
        let data = (&raw const notes).cast_mut().cast();
        // SAFETY: the memory and the vector outlive the work.
        unsafe {
            bench.driver.cuMemsetD32Async(a, value, 1, stream).unwrap();
            bench
                .driver
                .cuLaunchHostFunc(stream, Some(note), data)
                .unwrap();
        }
    }
    assert_eq!(bench.query(stream), NOT_READY);
    assert!(notes.lock().unwrap().is_empty());
    gate.open();
    bench.wait(stream);
    assert_eq!(bench.query(stream), CUresult::CUDA_SUCCESS);
    assert_eq!(*notes.lock().unwrap(), (0..50).collect::<Vec<_>>());
    assert_eq!(bench.download(a, 4), 49u32.to_le_bytes());
    bench.free(a);
    bench.destroy(&[stream]);
    bench.finish();
}

/// Without it, pinned copies could be made at the call, and pageable ones after it, when
/// the program has changed its memory.
#[test]
fn pinned_memory_is_read_late_and_pageable_memory_at_once() {
    let bench = TestBench::new();
    let (stream, gate) = (bench.stream(NON_BLOCKING), Gate::new());
    let (a, b, pinned) = (bench.alloc(1), bench.alloc(1), bench.pinned(1));
    let mut pageable = [1u8];
    pinned[0] = 1;
    gate.block(&bench, stream);
    let (late, early) = (pinned.as_mut_ptr(), pageable.as_mut_ptr());
    // SAFETY: the host memory is live; no thread reads it while it is written.
    unsafe {
        bench
            .driver
            .cuMemcpyHtoDAsync_v2(a, late.cast(), 1, stream)
            .unwrap();
        bench
            .driver
            .cuMemcpyHtoDAsync_v2(b, early.cast(), 1, stream)
            .unwrap();
        late.write_volatile(2);
        early.write_volatile(2);
    }
    gate.open();
    bench.wait(stream);
    assert_eq!(
        (bench.download(a, 1), bench.download(b, 1)),
        (vec![2], vec![1])
    );
    // A pageable download has the bytes when it returns.
    // SAFETY: the host memory is live.
    unsafe {
        bench
            .driver
            .cuMemcpyDtoHAsync_v2(early.cast(), a, 1, stream)
    }
    .unwrap();
    assert_eq!(pageable, [2]);
    bench.free(a);
    bench.free(b);
    bench.unpin(pinned);
    bench.destroy(&[stream]);
    bench.finish();
}

/// Without it, the legacy stream's implicit order could be missing, or bind streams that
/// are exempt.
#[test]
fn the_legacy_stream_stands_between_blocking_streams() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let (blocking, other, free) = (
        bench.stream(BLOCKING),
        bench.stream(BLOCKING),
        bench.stream(NON_BLOCKING),
    );
    let a = bench.alloc(1);
    let event = bench.event();
    for legacy in [std::ptr::null_mut(), STREAM_LEGACY] {
        // Work in the legacy stream waits for blocking streams.
        let gate = Gate::new();
        gate.block(&bench, blocking);
        // SAFETY: the memory and the handles are live.
        unsafe {
            d.cuMemsetD8Async(a, 1, 1, legacy).unwrap();
            d.cuEventRecord(event, legacy).unwrap();
            assert_eq!(code(d.cuEventQuery(event)), NOT_READY);
            // Other blocking streams wait for that work; non-blocking ones do not.
            d.cuMemsetD8Async(a, 2, 1, other).unwrap();
            d.cuMemsetD8Async(a, 3, 1, free).unwrap();
            d.cuStreamSynchronize(free).unwrap();
        }
        assert_eq!(bench.query(other), NOT_READY);
        assert_eq!(bench.query(legacy), NOT_READY);
        gate.open();
        bench.wait(other);
        assert_eq!(bench.download(a, 1), [2]);
    }
    // A non-blocking stream does not hold the legacy stream up.
    let gate = Gate::new();
    gate.block(&bench, free);
    bench.wait(std::ptr::null_mut());
    gate.open();
    // SAFETY: a live handle.
    unsafe { d.cuEventDestroy_v2(event) }.unwrap();
    bench.destroy(&[blocking, other, free]);
    bench.free(a);
    bench.finish();
}

/// Without it, the per-thread forms could use the legacy stream, or one stream for all
/// threads.
#[test]
fn each_thread_has_its_own_default_stream() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let gate = Gate::new();
    gate.block(&bench, STREAM_PER_THREAD);
    let (mut mine, mut legacy) = (0, 0);
    // SAFETY: the places outlive the calls.
    unsafe {
        assert_eq!(code(d.cuStreamQuery_ptsz(std::ptr::null_mut())), NOT_READY);
        assert_eq!(code(d.cuStreamQuery(STREAM_PER_THREAD)), NOT_READY);
        d.cuStreamGetId_ptsz(std::ptr::null_mut(), &raw mut mine)
            .unwrap();
        d.cuStreamGetId(std::ptr::null_mut(), &raw mut legacy)
            .unwrap();
    }
    assert_ne!(mine, legacy);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            bench.attach();
            let mut theirs = 0;
            // SAFETY: the place outlives the calls.
            unsafe {
                d.cuStreamGetId_ptsz(std::ptr::null_mut(), &raw mut theirs)
                    .unwrap();
                assert_ne!(theirs, mine);
                assert!(d.cuStreamQuery_ptsz(std::ptr::null_mut()).is_ok());
                assert!(d.cuStreamSynchronize_ptsz(std::ptr::null_mut()).is_ok());
            }
        });
    });
    gate.open();
    bench.wait(STREAM_PER_THREAD);
    bench.finish();
}

/// Without it, work could be lost with its stream.
#[test]
fn a_destroyed_stream_finishes_its_work() {
    let bench = TestBench::new();
    let (a, stream, gate) = (bench.alloc(1), bench.stream(NON_BLOCKING), Gate::new());
    gate.block(&bench, stream);
    // SAFETY: live memory and handle.
    unsafe { bench.driver.cuMemsetD8Async(a, 9, 1, stream) }.unwrap();
    bench.destroy(&[stream]);
    assert_eq!(bench.query(stream), HANDLE);
    gate.open();
    bench.synchronize();
    assert_eq!(bench.download(a, 1), [9]);
    bench.free(a);
    bench.finish();
}

/// Without it, handles that are none could crash the program, and questions about streams
/// could be answered wrong.
#[test]
fn streams_know_what_they_are() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let (mut stream, mut low) = (std::ptr::null_mut(), std::ptr::null_mut());
    let (mut priority, mut flags, mut device) = (1, 9, 9);
    let (mut context, mut capture) = (std::ptr::null_mut(), CUstreamCaptureStatus(9));
    // SAFETY: the places outlive the calls; handles are checked.
    unsafe {
        d.cuStreamCreateWithPriority(&raw mut stream, 1, -100)
            .unwrap();
        d.cuStreamCreateWithPriority(&raw mut low, 0, 100).unwrap();
        d.cuStreamGetPriority(stream, &raw mut priority).unwrap();
        assert_eq!(priority, -5);
        d.cuStreamGetPriority(low, &raw mut priority).unwrap();
        assert_eq!(priority, 0);
        d.cuStreamGetFlags(stream, &raw mut flags).unwrap();
        assert_eq!(flags, 1);
        d.cuStreamGetDevice(stream, &raw mut device).unwrap();
        assert_eq!(device, 0);
        d.cuStreamGetCtx(stream, &raw mut context).unwrap();
        assert_eq!(context, bench.context);
        d.cuStreamIsCapturing(stream, &raw mut capture).unwrap();
        assert_eq!(
            capture,
            CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE
        );
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
        // The legacy stream cannot be captured anywhere.
        let refused = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        let legacy = std::ptr::null_mut();
        assert_eq!(code(d.cuStreamBeginCapture_v2(legacy, mode)), refused);
        let bad = d.cuStreamCreate(&raw mut stream, 2);
        assert_eq!(code(bad), CUresult::CUDA_ERROR_INVALID_VALUE);
        // The default streams cannot be destroyed, and what is no handle is none.
        for none in [0usize, 1, 2, 3, 0xdead_beef, usize::MAX] {
            let handle = std::ptr::without_provenance_mut(none);
            assert_eq!(code(d.cuStreamDestroy_v2(handle)), HANDLE);
        }
        let event: CUevent = std::ptr::without_provenance_mut(0x1234);
        assert_eq!(code(d.cuEventRecord(event, stream)), HANDLE);
        // A stream is no event.
        assert_eq!(code(d.cuEventQuery(stream.cast())), HANDLE);
    }
    bench.destroy(&[stream, low]);
    bench.finish();
}

/// Without it, delays and jitter could change what programs compute, or hang them: random
/// networks of streams and events must end, with every value in its place.
#[test]
fn waits_hold_under_jitter() {
    fn holds(seed: u64, edges: Vec<(u8, u8)>) -> bool {
        let config = DeviceConfig::new().jitter(Duration::from_micros(300), seed);
        let bench = TestBench::with(Machine::builder().device(config));
        let d = &bench.driver;
        let streams: Vec<_> = (0..4)
            .map(|i| bench.stream(if i == 0 { BLOCKING } else { NON_BLOCKING }))
            .collect();
        let (a, event) = (bench.alloc(4), bench.event());
        let mut last = 0;
        // A chain of writes through the streams, each after the one before it.
        for (i, (to, _)) in edges.into_iter().enumerate() {
            let stream = streams[usize::from(to) % 4];
            last = i as u32 + 1;
            // SAFETY: live handles and memory.
            unsafe {
                d.cuStreamWaitEvent(stream, event, 0).unwrap();
                d.cuMemsetD32Async(a, last, 1, stream).unwrap();
                d.cuEventRecord(event, stream).unwrap();
            }
        }
        // SAFETY: a live handle.
        unsafe { d.cuEventSynchronize(event) }.unwrap();
        let same = bench.download(a, 4) == last.to_le_bytes();
        // SAFETY: a live handle.
        unsafe { d.cuEventDestroy_v2(event) }.unwrap();
        bench.destroy(&streams);
        bench.free(a);
        bench.finish();
        same
    }
    quickcheck::QuickCheck::new()
        .tests(20)
        .quickcheck(holds as fn(_, _) -> bool);
}
