//! Virtual time: what the model says, to the nanosecond.

use std::ffi::{CStr, c_void};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cupola_sim::{Act, DeviceConfig, Machine, Order};
use cupola_sys::driver::*;

use crate::support::{Code, TestBench, code, without_hanging};

const NON_BLOCKING: CUstream_flags = CUstream_flags::CU_STREAM_NON_BLOCKING;
const NOT_READY: Code = CUresult::CUDA_ERROR_NOT_READY;
const MILLI: Duration = Duration::from_millis(1);

const KERNELS: &str = r#"
.version 7.0
.target sm_60
.address_size 64
.visible .entry nothing() { ret; }
// Counts to a thousand, and writes when it began and ended.
.visible .entry thousand(.param .u64 at) {
    .reg .u64 %a, %from, %to; .reg .u32 %i; .reg .pred %p;
    ld.param.u64 %a, [at];
    mov.u64 %from, %globaltimer;
    mov.u32 %i, 0;
again:
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, 1000;
    @%p bra again;
    mov.u64 %to, %globaltimer;
    st.global.u64 [%a], %from;
    st.global.u64 [%a+8], %to;
    ret;
}
// The block `waiter` waits for a number that the other block writes.
.visible .entry for_the_other(.param .u64 at, .param .u32 waiter) {
    .reg .u64 %a; .reg .u32 %b, %w, %v; .reg .pred %p;
    ld.param.u64 %a, [at];
    ld.param.u32 %w, [waiter];
    mov.u32 %b, %ctaid.x;
    setp.ne.u32 %p, %b, %w;
    @%p bra write;
again:
    ld.volatile.global.u32 %v, [%a];
    setp.eq.u32 %p, %v, 0;
    @%p bra again;
    ret;
write:
    mov.u32 %v, 0;
long:
    add.u32 %v, %v, 1;
    setp.lt.u32 %p, %v, 2000;
    @%p bra long;
    st.volatile.global.u32 [%a], 1;
    ret;
}
// Counts how often a clock shows less than before.
.visible .entry backwards(.param .u64 at) {
    .reg .u64 %a, %before, %now; .reg .u32 %i; .reg .pred %p;
    ld.param.u64 %a, [at];
    mov.u32 %i, 0;
    mov.u64 %before, %globaltimer;
again:
    mov.u64 %now, %globaltimer;
    setp.lt.u64 %p, %now, %before;
    @%p red.global.add.u32 [%a], 1;
    mov.u64 %before, %now;
    mov.u64 %now, %globaltimer;
    setp.lt.u64 %p, %now, %before;
    @%p red.global.add.u32 [%a], 1;
    mov.u64 %now, %globaltimer;
    mov.u64 %now, %globaltimer;
    mov.u64 %now, %globaltimer;
    mov.u64 %before, %globaltimer;
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, 2000;
    @%p bra again;
    ret;
}
// Waits for 5000 ticks of the clock.
.visible .entry pause() {
    .reg .u64 %from, %now; .reg .pred %p;
    mov.u64 %from, %clock64;
again:
    mov.u64 %now, %clock64;
    sub.u64 %now, %now, %from;
    setp.lt.u64 %p, %now, 5000;
    @%p bra again;
    ret;
}
"#;

fn timed(config: DeviceConfig) -> TestBench {
    TestBench::with(Machine::builder().device(config).order(Order::Timed))
}

fn now(bench: &TestBench) -> Duration {
    bench
        .machine
        .trace()
        .expect("the machine has an order")
        .now()
}

fn function(bench: &TestBench, name: &CStr) -> CUfunction {
    bench.function(bench.load(KERNELS), name)
}

fn launch(bench: &TestBench, function: CUfunction, blocks: u32, stream: CUstream, at: CUdeviceptr) {
    let launched = bench.launch(function, blocks, 1, stream, &[at]);
    assert_eq!(launched, CUresult::CUDA_SUCCESS);
}

fn elapsed(bench: &TestBench, start: CUevent, end: CUevent) -> f32 {
    let mut time = 0f32;
    // SAFETY: live handles, and the place outlives the call.
    unsafe { bench.driver.cuEventElapsedTime(&raw mut time, start, end) }.unwrap();
    time
}

/// Uploads, runs a kernel of a millisecond on, and downloads `chunks` pieces, each in a
/// stream of its own and a millisecond each way; how long that takes.
fn pipeline(engines: u32, chunks: u32) -> (Duration, f32) {
    let config = DeviceConfig::new()
        .copy_engines(engines)
        .upload_bandwidth(1_000_000)
        .download_bandwidth(1_000_000)
        .launch_delay(MILLI);
    let bench = timed(config);
    let d = &bench.driver;
    let kernel = function(&bench, c"nothing");
    let (start, end) = (bench.event(), bench.event());
    let host = bench.pinned(1000).as_mut_ptr();
    let before = now(&bench);
    let mut last = std::ptr::null_mut();
    for chunk in 0..chunks {
        let stream = bench.stream(NON_BLOCKING);
        let a = bench.alloc(1000);
        // SAFETY: live handles and memory.
        unsafe {
            if chunk == 0 {
                d.cuEventRecord(start, stream).unwrap();
            }
            d.cuMemcpyHtoDAsync_v2(a, host.cast(), 1000, stream)
                .unwrap();
            launch(&bench, kernel, 1, stream, 0);
            d.cuMemcpyDtoHAsync_v2(host.cast(), a, 1000, stream)
                .unwrap();
        }
        last = stream;
    }
    // SAFETY: live handles.
    unsafe { d.cuEventRecord(end, last) }.unwrap();
    bench.synchronize();
    (now(&bench) - before, elapsed(&bench, start, end))
}

/// Without it, overlap that a program was written for could not be shown, or shown where
/// there is none.
#[test]
fn copies_and_kernels_overlap_as_the_engines_allow() {
    for chunks in [2, 3, 8] {
        // Each direction has an engine: a pipeline of three stages.
        assert_eq!(
            pipeline(2, chunks),
            (MILLI * (chunks + 2), (chunks + 2) as f32)
        );
        // One engine does all copies, and the kernels fall in between.
        assert_eq!(
            pipeline(1, chunks),
            (MILLI * 2 * chunks, 2.0 * chunks as f32)
        );
    }
    assert_eq!(pipeline(2, 1).0, MILLI * 3);
    assert_eq!(pipeline(1, 1).0, MILLI * 3);
}

/// Without it, kernels would take as long as the host takes, and no test could say how
/// long.
#[test]
fn kernels_take_their_instructions() {
    let time = |clock: u32, blocks: u32| {
        let config = DeviceConfig::new().clock_khz(clock).multiprocessors(4);
        let bench = timed(config);
        let kernel = function(&bench, c"thousand");
        let (stream, a) = (bench.stream(NON_BLOCKING), bench.alloc(16));
        let before = now(&bench);
        launch(&bench, kernel, blocks, stream, a);
        bench.synchronize();
        let trace = bench.machine.trace().unwrap();
        let instructions: u64 = trace
            .steps()
            .map(|step| match step.act {
                Act::Slice { instructions, .. } => instructions,
                _ => 0,
            })
            .sum();
        let times = bench.download(a, 16);
        let word = |at: usize| u64::from_le_bytes(times[at..at + 8].try_into().unwrap());
        (
            now(&bench) - before,
            instructions / u64::from(blocks),
            word(8) - word(0),
        )
    };
    let (one, instructions, inside) = time(1_000_000, 1);
    assert!((3000..3100).contains(&instructions), "{instructions}");
    // An instruction takes a cycle, and a cycle a nanosecond.
    assert_eq!(one, Duration::from_nanos(instructions));
    assert!((1..=instructions).contains(&inside), "{inside}");
    // Four multiprocessors do four blocks in the time of one, and five in that of two.
    assert_eq!(time(1_000_000, 4).0, one);
    assert_eq!(time(1_000_000, 5).0, 2 * one);
    assert_eq!(time(2_000_000, 1).0, one / 2);
    assert_eq!(time(1_000_000, 5), time(1_000_000, 5));
}

/// Without it, kernels in different streams would wait for each other although the device
/// has room for both.
#[test]
fn small_kernels_share_the_device() {
    let time = |blocks: u32| {
        let bench = timed(DeviceConfig::new().multiprocessors(4));
        let kernel = function(&bench, c"thousand");
        let a = bench.alloc(16);
        let before = now(&bench);
        for _ in 0..2 {
            launch(&bench, kernel, blocks, bench.stream(NON_BLOCKING), a);
        }
        bench.synchronize();
        now(&bench) - before
    };
    assert_eq!(time(2), time(1));
    assert_eq!(time(4), 2 * time(1));
}

/// Without it, delays would be slept: the test would take hours.
#[test]
fn delays_cost_no_time() {
    let hour = Duration::from_secs(3600);
    let config = DeviceConfig::new().launch_delay(hour).operation_delay(hour);
    let bench = timed(config);
    let kernel = function(&bench, c"nothing");
    let (start, end) = (bench.event(), bench.event());
    let stream = bench.stream(NON_BLOCKING);
    let before = now(&bench);
    // SAFETY: live handles.
    unsafe {
        bench.driver.cuEventRecord(start, stream).unwrap();
        launch(&bench, kernel, 1, stream, 0);
        bench.driver.cuEventRecord(end, stream).unwrap();
        bench.driver.cuEventSynchronize(end).unwrap();
    }
    assert_eq!(now(&bench) - before, 2 * hour);
    assert_eq!(elapsed(&bench, start, end), 7_200_000.0);
    assert_eq!(elapsed(&bench, end, start), -7_200_000.0);
}

/// Without it, who polls would wait for ever for a time that only waiting advances; and a
/// kernel that waits for its clock would never end.
#[test]
fn time_goes_on_for_who_polls_and_for_kernels() {
    without_hanging(|| {
        let bench = timed(DeviceConfig::new().upload_bandwidth(1_000_000));
        let d = &bench.driver;
        let (stream, event) = (bench.stream(NON_BLOCKING), bench.event());
        let (a, host) = (bench.alloc(1000), bench.pinned(1000).as_ptr());
        let before = now(&bench);
        // SAFETY: live handles and memory.
        unsafe {
            d.cuMemcpyHtoDAsync_v2(a, host.cast(), 1000, stream)
                .unwrap();
            d.cuEventRecord(event, stream).unwrap();
            assert_eq!(code(d.cuEventQuery(event)), NOT_READY);
            d.cuEventQuery(event).unwrap();
        }
        assert_eq!(now(&bench) - before, MILLI);
        let (mut time, later) = (0f32, bench.event());
        // SAFETY: live handles and memory, and the place outlives the calls.
        unsafe {
            d.cuMemcpyHtoDAsync_v2(a, host.cast(), 1000, stream)
                .unwrap();
            d.cuEventRecord(later, stream).unwrap();
            while code(d.cuEventElapsedTime(&raw mut time, event, later)) == NOT_READY {}
        }
        assert_eq!(time, 1.0);
        let before = now(&bench);
        launch(&bench, function(&bench, c"pause"), 1, stream, 0);
        bench.synchronize();
        let pause = now(&bench) - before;
        let expected = Duration::from_nanos(5000)..Duration::from_nanos(40_000);
        assert!(expected.contains(&pause), "{pause:?}");
    });
}

/// Without it, a wait for an event would order operations and not their times.
#[test]
fn who_waits_for_an_event_starts_after_it() {
    let config = DeviceConfig::new()
        .memory_bandwidth(1_000_000)
        .launch_delay(MILLI);
    let bench = timed(config);
    let d = &bench.driver;
    let (one, two) = (bench.stream(NON_BLOCKING), bench.stream(NON_BLOCKING));
    let (start, middle, end) = (bench.event(), bench.event(), bench.event());
    let a = bench.alloc(3000);
    let kernel = function(&bench, c"nothing");
    // SAFETY: live handles and memory.
    unsafe {
        d.cuEventRecord(start, one).unwrap();
        d.cuMemsetD8Async(a, 1, 3000, one).unwrap();
        d.cuEventRecord(middle, one).unwrap();
        launch(&bench, kernel, 1, two, 0);
        d.cuStreamWaitEvent(two, middle, 0).unwrap();
        launch(&bench, kernel, 1, two, 0);
        d.cuEventRecord(end, two).unwrap();
        d.cuEventSynchronize(end).unwrap();
    }
    assert_eq!(elapsed(&bench, start, middle), 3.0);
    assert_eq!(elapsed(&bench, start, end), 4.0);
    // The legacy stream waits for blocking streams, and they for it.
    let blocking = bench.stream(CUstream_flags::CU_STREAM_DEFAULT);
    // SAFETY: live handles and memory.
    unsafe {
        d.cuEventRecord(start, blocking).unwrap();
        d.cuMemsetD8Async(a, 1, 1000, blocking).unwrap();
        d.cuMemsetD8Async(a, 1, 1000, std::ptr::null_mut()).unwrap();
        d.cuMemsetD8Async(a, 1, 1000, blocking).unwrap();
        d.cuEventRecord(end, blocking).unwrap();
        d.cuEventSynchronize(end).unwrap();
    }
    assert_eq!(elapsed(&bench, start, end), 3.0);
}

/// Without it, times under a seed would be chance: they follow the model, whatever the
/// order.
#[test]
fn seeded_orders_keep_the_model() {
    for seed in 0..20 {
        let config = DeviceConfig::new()
            .memory_bandwidth(1_000_000)
            .upload_bandwidth(1_000_000);
        let bench = TestBench::with(Machine::builder().device(config).seed(seed));
        let d = &bench.driver;
        let (start, end) = (bench.event(), bench.event());
        let a = bench.alloc(1000);
        let host = bench.pinned(1000).as_ptr();
        let streams: Vec<_> = (0..3).map(|_| bench.stream(NON_BLOCKING)).collect();
        let before = now(&bench);
        // SAFETY: live handles and memory.
        unsafe {
            d.cuEventRecord(start, streams[0]).unwrap();
            for stream in &streams {
                d.cuMemcpyHtoDAsync_v2(a, host.cast(), 1000, *stream)
                    .unwrap();
            }
            d.cuMemsetD8Async(a, 0, 1000, streams[0]).unwrap();
            d.cuEventRecord(end, streams[0]).unwrap();
        }
        bench.synchronize();
        // Three uploads share an engine, in any order; the memset follows its own.
        let total = now(&bench) - before;
        assert!([3 * MILLI, 4 * MILLI].contains(&total), "{total:?}");
        let time = elapsed(&bench, start, end);
        assert!([2.0, 3.0, 4.0].contains(&time), "{time}");
    }
}

/// Without it, two kernels that run at once could each be given the same block every time,
/// and one whose blocks wait for each other would never end.
#[test]
fn blocks_take_turns_in_each_kernel() {
    without_hanging(|| {
        for waiter in 0..2 {
            let bench = timed(DeviceConfig::new());
            let a = bench.alloc(16);
            bench.upload(a, &[0; 16]);
            let kernel = function(&bench, c"for_the_other");
            for index in 0..2 {
                let stream = bench.stream(NON_BLOCKING);
                launch_waiter(&bench, kernel, stream, a + 8 * index, waiter);
            }
            bench.synchronize();
        }
    });
}

fn launch_waiter(bench: &TestBench, function: CUfunction, stream: CUstream, at: u64, waiter: u32) {
    let (mut at, mut waiter) = (at, waiter);
    let mut arguments = [
        (&raw mut at).cast::<c_void>(),
        (&raw mut waiter).cast::<c_void>(),
    ];
    let (arguments, null) = (arguments.as_mut_ptr(), std::ptr::null_mut());
    // SAFETY: pointers to the two parameters' values.
    unsafe {
        bench
            .driver
            .cuLaunchKernel(function, 2, 1, 1, 1, 1, 1, 0, stream, arguments, null)
    }
    .unwrap();
}

/// Without it, a wait for a value would order operations and not their times.
#[test]
fn who_waits_for_a_value_starts_after_its_write() {
    let bench = timed(DeviceConfig::new().memory_bandwidth(1_000_000));
    let d = &bench.driver;
    let (one, two) = (bench.stream(NON_BLOCKING), bench.stream(NON_BLOCKING));
    let (start, end) = (bench.event(), bench.event());
    let (a, b) = (bench.alloc(3000), bench.alloc(3000));
    bench.upload(b, &[0; 8]);
    // SAFETY: live handles and memory.
    unsafe {
        d.cuEventRecord(start, two).unwrap();
        d.cuStreamWaitValue32_v2(two, b, 1, 1).unwrap();
        d.cuMemsetD8Async(a, 1, 2000, two).unwrap();
        d.cuEventRecord(end, two).unwrap();
        d.cuMemsetD8Async(a, 1, 3000, one).unwrap();
        d.cuStreamWriteValue32_v2(one, b, 1, 0).unwrap();
        // What comes later in the other stream is nothing to the wait.
        d.cuMemsetD8Async(a, 1, 1000, one).unwrap();
    }
    bench.synchronize();
    assert_eq!(elapsed(&bench, start, end), 5.0);
    // A value that is there already costs nothing.
    // SAFETY: live handles and memory.
    unsafe {
        d.cuEventRecord(start, two).unwrap();
        d.cuStreamWaitValue32_v2(two, b, 1, 1).unwrap();
        d.cuEventRecord(end, two).unwrap();
    }
    bench.synchronize();
    assert_eq!(elapsed(&bench, start, end), 0.0);
}

/// Without it, a wait that cannot be would be reported at each look, under the scheduler's
/// lock: a sink that asks the machine for its trace would never come back.
#[test]
fn a_wait_for_a_value_that_is_gone_is_reported_once() {
    without_hanging(|| {
        let told = Arc::new(Mutex::new((None::<Machine>, Vec::new())));
        let sink = Arc::clone(&told);
        let builder = Machine::builder().order(Order::Timed);
        let bench = TestBench::with(builder.on_finding(move |finding| {
            let (machine, texts) = &mut *sink.lock().unwrap();
            texts.push(finding.to_string());
            drop(machine.as_ref().map(Machine::trace));
        }));
        told.lock().unwrap().0 = Some(bench.machine.clone());
        let d = &bench.driver;
        let (one, two) = (bench.stream(NON_BLOCKING), bench.stream(NON_BLOCKING));
        let mut gone = 0;
        // SAFETY: live handles; the memory is freed in the order of the first stream.
        unsafe {
            d.cuMemAllocAsync(&raw mut gone, 8, one).unwrap();
            d.cuStreamWaitValue32_v2(two, gone, 1, 1).unwrap();
            d.cuMemFreeAsync(gone, one).unwrap();
            // Whichever call lets the wait happen, this one tells.
            let code = code(d.cuCtxSynchronize());
            assert_eq!(code, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        }
        let (machine, texts) = std::mem::take(&mut *told.lock().unwrap());
        drop(machine);
        assert_eq!(texts.len(), 1, "{texts:?}");
    });
}

/// Without it, a kernel could see time run backwards between two of its slices.
#[test]
fn clocks_of_a_kernel_never_run_backwards() {
    let bench = timed(DeviceConfig::new());
    let a = bench.alloc(8);
    bench.upload(a, &[0; 8]);
    // Eight multiprocessors: time goes an eighth as fast as the kernel can read it.
    let kernel = function(&bench, c"backwards");
    launch(&bench, kernel, 8, bench.stream(NON_BLOCKING), a);
    bench.synchronize();
    assert_eq!(bench.download(a, 8), [0; 8]);
}
