//! Machines that take their order from a seed.

use std::collections::HashSet;
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicU32, Ordering};

use cupola_sim::{Act, Machine, Trace};
use cupola_sys::driver::*;

use crate::support::{Code, Gate, TestBench, code, without_hanging};

const NON_BLOCKING: CUstream_flags = CUstream_flags::CU_STREAM_NON_BLOCKING;
const NOT_READY: Code = CUresult::CUDA_ERROR_NOT_READY;
const SEEDS: u64 = 50;

const KERNELS: &str = r#"
.version 7.0
.target sm_60
.address_size 64
// Adds 1 to a number in three instructions, as `n += 1` would.
.visible .entry add_one(.param .u64 at) {
    .reg .u64 %a; .reg .u32 %v;
    ld.param.u64 %a, [at];
    ld.global.u32 %v, [%a];
    add.u32 %v, %v, 1;
    st.global.u32 [%a], %v;
    ret;
}
.visible .entry add_one_at_once(.param .u64 at) {
    .reg .u64 %a;
    ld.param.u64 %a, [at];
    red.global.add.u32 [%a], 1;
    ret;
}
// Two phases with a barrier between them: the second warp's number must be there.
.visible .entry exchange(.param .u64 at) {
    .reg .u64 %a, %o; .reg .u32 %t, %w; .reg .pred %p;
    .shared .align 4 .u32 slot;
    ld.param.u64 %a, [at];
    mov.u32 %t, %tid.x;
    setp.ne.u32 %p, %t, 32;
    @%p bra skip;
    st.shared.u32 [slot], 77;
skip:
    bar.sync 0;
    setp.ne.u32 %p, %t, 0;
    @%p bra end;
    ld.shared.u32 %w, [slot];
    mov.u32 %t, %ctaid.x;
    mul.wide.u32 %o, %t, 4;
    add.u64 %a, %a, %o;
    st.global.u32 [%a], %w;
end:
    ret;
}
// Waits until the number is 1 and makes it 2.
.visible .entry answer(.param .u64 at) {
    .reg .u64 %a; .reg .u32 %v; .reg .pred %p;
    ld.param.u64 %a, [at];
again:
    ld.volatile.global.u32 %v, [%a];
    setp.ne.u32 %p, %v, 1;
    @%p bra again;
    st.volatile.global.u32 [%a], 2;
    ret;
}
// Makes the number 1 and waits until it is 2.
.visible .entry ask(.param .u64 at) {
    .reg .u64 %a; .reg .u32 %v; .reg .pred %p;
    ld.param.u64 %a, [at];
    st.volatile.global.u32 [%a], 1;
again:
    ld.volatile.global.u32 %v, [%a];
    setp.ne.u32 %p, %v, 2;
    @%p bra again;
    ret;
}
.visible .entry stop() { trap; ret; }
"#;

fn seeded(seed: u64) -> TestBench {
    TestBench::with(Machine::builder().seed(seed))
}

fn trace(bench: &TestBench) -> Trace {
    bench.machine.trace().expect("the machine has an order")
}

/// Launches a kernel whose one parameter, if it has one, is an address.
fn launch(
    bench: &TestBench,
    module: CUmodule,
    name: &CStr,
    (blocks, threads): (u32, u32),
    stream: CUstream,
    address: CUdeviceptr,
) {
    let function = bench.function(module, name);
    let launched = bench.launch(function, blocks, threads, stream, &[address]);
    assert_eq!(launched, CUresult::CUDA_SUCCESS);
}

fn number(bench: &TestBench, at: CUdeviceptr) -> u32 {
    u32::from_le_bytes(bench.download(at, 4).try_into().unwrap())
}

/// Blocks race on a number in two streams, while a third copies; what came of it.
fn busy_program(seed: u64) -> (u64, u32, u64) {
    let bench = seeded(seed);
    let module = bench.load(KERNELS);
    let d = &bench.driver;
    let (a, b) = (bench.alloc(4), bench.alloc(4));
    bench.upload(a, &[0; 4]);
    let streams: Vec<_> = (0..3).map(|_| bench.stream(NON_BLOCKING)).collect();
    launch(&bench, module, c"add_one", (6, 40), streams[0], a);
    launch(&bench, module, c"add_one", (6, 40), streams[1], a);
    let event = bench.event();
    // SAFETY: live handles and memory.
    unsafe {
        d.cuEventRecord(event, streams[0]).unwrap();
        d.cuStreamWaitEvent(streams[2], event, 0).unwrap();
        d.cuMemcpyDtoDAsync_v2(b, a, 4, streams[2]).unwrap();
        while code(d.cuEventQuery(event)) == NOT_READY {}
    }
    bench.synchronize();
    let trace = trace(&bench);
    assert_eq!(trace.departures(), [""; 0]);
    (trace.digest(), number(&bench, b), trace.count())
}

/// Without it, a seed would not be enough to see a failure again, or all seeds would show
/// the same.
#[test]
fn a_seed_replays_and_another_one_differs() {
    let mut digests = HashSet::new();
    let mut numbers = HashSet::new();
    for seed in 0..SEEDS {
        let first = busy_program(seed);
        assert_eq!(first, busy_program(seed), "seed {seed}");
        digests.insert(first.0);
        numbers.insert(first.1);
    }
    assert_eq!(digests.len() as u64, SEEDS);
    assert!(numbers.len() > 3, "{numbers:?}");
}

/// What a stream reads that does not wait for the one which writes.
fn unordered_streams(seed: u64, fixed: bool) -> (u8, u64) {
    let bench = seeded(seed);
    let d = &bench.driver;
    let (a, b) = (bench.alloc(1), bench.alloc(1));
    let (writer, reader) = (bench.stream(NON_BLOCKING), bench.stream(NON_BLOCKING));
    let event = bench.event();
    // SAFETY: live handles and memory.
    unsafe {
        d.cuMemsetD8_v2(a, 0, 1).unwrap();
        d.cuCtxSynchronize().unwrap();
        d.cuMemsetD8Async(a, 1, 1, writer).unwrap();
        d.cuEventRecord(event, writer).unwrap();
        if fixed {
            d.cuStreamWaitEvent(reader, event, 0).unwrap();
        }
        d.cuMemcpyDtoDAsync_v2(b, a, 1, reader).unwrap();
        d.cuCtxSynchronize().unwrap();
    }
    let digest = trace(&bench).digest();
    (bench.download(b, 1)[0], digest)
}

/// Without it, a missing wait between two streams would pass every test.
#[test]
fn a_race_between_streams_is_found_and_replayed() {
    let found = (0..SEEDS).find(|seed| unordered_streams(*seed, false).0 == 0);
    let found = found.expect("no seed finds the race");
    let again = unordered_streams(found, false);
    assert_eq!(again, unordered_streams(found, false));
    assert_eq!(again.0, 0);
    // It is a race: most orders are harmless. The mended program has none.
    assert!((0..SEEDS).any(|seed| unordered_streams(seed, false).0 == 1));
    assert!((0..SEEDS).all(|seed| unordered_streams(seed, true).0 == 1));
}

fn count(seed: u64, kernel: &CStr) -> (u32, u64) {
    let bench = seeded(seed);
    let module = bench.load(KERNELS);
    let a = bench.alloc(4);
    bench.upload(a, &[0; 4]);
    launch(&bench, module, kernel, (3, 1), std::ptr::null_mut(), a);
    (number(&bench, a), trace(&bench).digest())
}

/// Without it, blocks could not be interrupted between any two instructions, and updates
/// that get lost on a GPU would never get lost here.
#[test]
fn a_race_between_blocks_is_found_and_replayed() {
    let found = (0..SEEDS).find(|seed| count(*seed, c"add_one").0 < 3);
    let found = found.expect("no seed finds the race");
    assert_eq!(count(found, c"add_one"), count(found, c"add_one"));
    assert!((0..SEEDS).any(|seed| count(seed, c"add_one").0 == 3));
    assert!((0..SEEDS).all(|seed| count(seed, c"add_one_at_once").0 == 3));
}

/// Without it, warps cut off in the middle could pass a barrier too early or not at all.
#[test]
fn barriers_hold_under_any_slices() {
    for seed in 0..SEEDS {
        let bench = seeded(seed);
        let module = bench.load(KERNELS);
        let a = bench.alloc(40);
        launch(
            &bench,
            module,
            c"exchange",
            (10, 64),
            std::ptr::null_mut(),
            a,
        );
        let all = bench.download(a, 40);
        assert!(
            all.chunks(4).all(|n| n == 77u32.to_le_bytes()),
            "seed {seed}"
        );
    }
}

/// Without it, work would be done at its call, and a program that forgets to wait would
/// never be found out.
#[test]
fn work_is_done_late_for_some_seeds() {
    let early = |seed| {
        let bench = seeded(seed);
        let d = &bench.driver;
        let (a, pinned) = (bench.alloc(1), bench.pinned(1));
        let to = pinned.as_mut_ptr();
        let stream = bench.stream(NON_BLOCKING);
        // SAFETY: live memory; nothing runs outside of driver calls.
        unsafe {
            d.cuMemsetD8Async(a, 9, 1, stream).unwrap();
            d.cuMemcpyDtoHAsync_v2(to.cast(), a, 1, stream).unwrap();
            let mut free = 0;
            d.cuMemGetInfo_v2(&raw mut free, &raw mut free).unwrap();
            let early = to.read_volatile();
            bench.wait(stream);
            assert_eq!(to.read_volatile(), 9);
            early == 9
        }
    };
    let seen: HashSet<_> = (0..SEEDS).map(early).collect();
    assert_eq!(seen.len(), 2, "{seen:?}");
}

/// Without it, programs that poll would hang, or kernels that talk to each other.
#[test]
fn whoever_polls_or_waits_gets_on() {
    without_hanging(|| {
        for seed in 0..SEEDS {
            let bench = seeded(seed);
            let module = bench.load(KERNELS);
            let d = &bench.driver;
            let a = bench.alloc(4);
            bench.upload(a, &[0; 4]);
            let (one, two) = (bench.stream(NON_BLOCKING), bench.stream(NON_BLOCKING));
            launch(&bench, module, c"answer", (1, 1), one, a);
            launch(&bench, module, c"ask", (1, 1), two, a);
            // SAFETY: a live handle.
            unsafe {
                match seed % 3 {
                    0 => while code(d.cuStreamQuery(two)) == NOT_READY {},
                    1 => d.cuStreamSynchronize(two).unwrap(),
                    _ => {
                        let event = bench.event();
                        d.cuEventRecord(event, two).unwrap();
                        while code(d.cuEventQuery(event)) == NOT_READY {}
                        d.cuEventDestroy_v2(event).unwrap();
                    }
                }
            }
            assert_eq!(number(&bench, a), 2);
        }
    });
}

/// Without it, a function that waits for the thread whose call made it run would hang the
/// program, which no GPU does; or its end would be taken for part of the order.
#[test]
fn a_host_function_may_wait_for_its_caller() {
    without_hanging(|| {
        let bench = seeded(1);
        let (stream, gate) = (bench.stream(NON_BLOCKING), Gate::new());
        let other = bench.stream(NON_BLOCKING);
        let a = bench.alloc(2);
        gate.block(&bench, stream);
        let d = &bench.driver;
        // SAFETY: live memory and handles.
        unsafe {
            d.cuMemsetD8Async(a, 5, 1, stream).unwrap();
            while trace(&bench).departures().is_empty() {
                assert_eq!(code(d.cuStreamQuery(stream)), NOT_READY);
            }
            // The rest of the machine goes on.
            d.cuMemsetD8Async(a + 1, 6, 1, other).unwrap();
            d.cuStreamSynchronize(other).unwrap();
            assert_eq!(code(d.cuStreamQuery(stream)), NOT_READY);
            gate.open();
            d.cuStreamSynchronize(stream).unwrap();
        }
        assert_eq!(bench.download(a, 2), [5, 6]);
        bench.free(a);
        // SAFETY: live handles.
        unsafe {
            d.cuStreamDestroy_v2(stream).unwrap();
            d.cuStreamDestroy_v2(other).unwrap();
        }
        bench.finish();
    });
}

/// Without it, functions of the program would have no place in the order, and their effects
/// would be a matter of luck.
#[test]
fn host_functions_have_their_place_in_the_order() {
    unsafe extern "C" fn bump(data: *mut c_void) {
        // SAFETY: the number outlives the work.
        let number = unsafe { &*data.cast::<AtomicU32>() };
        number.fetch_add(1, Ordering::Relaxed);
    }
    let run = |seed| {
        let bench = seeded(seed);
        let d = &bench.driver;
        let (a, shared) = (bench.alloc(4), bench.pinned(4));
        let shared = shared.as_mut_ptr().cast::<u32>();
        let (one, two) = (bench.stream(NON_BLOCKING), bench.stream(NON_BLOCKING));
        // SAFETY: live memory and handles.
        unsafe {
            for _ in 0..3 {
                d.cuLaunchHostFunc(one, Some(bump), shared.cast()).unwrap();
            }
            d.cuMemcpyHtoDAsync_v2(a, shared.cast(), 4, two).unwrap();
            d.cuCtxSynchronize().unwrap();
            assert_eq!(shared.read_volatile(), 3);
        }
        let trace = trace(&bench);
        let calls = trace.steps().filter(|step| step.act == Act::Call).count();
        assert_eq!(calls, 3);
        (number(&bench, a), trace.digest(), trace.departures().len())
    };
    let (mut seen, mut replayed) = (HashSet::new(), 0);
    for seed in 0..20 {
        let (first, again) = (run(seed), run(seed));
        // A departure says that the host was too slow, and nothing of the order.
        if first.2 == 0 && again.2 == 0 {
            assert_eq!(first, again, "seed {seed}");
            seen.insert(first.0);
            replayed += 1;
        }
    }
    assert!(seen.len() > 2 || replayed < 20, "{seen:?}");
}

/// Without it, a fault would be known only to who waits, or not stick.
#[test]
fn a_fault_shows_at_a_later_call_and_stays() {
    let run = |seed| {
        let bench = seeded(seed);
        let module = bench.load(KERNELS);
        let stream = bench.stream(NON_BLOCKING);
        // No kernel answers: the fault stops it, which is no fault of its own.
        let (other, a) = (bench.stream(NON_BLOCKING), bench.alloc(4));
        launch(&bench, module, c"ask", (1, 1), other, a);
        launch(&bench, module, c"stop", (1, 1), stream, 0);
        let mut calls = 0;
        let (mut free, fault) = (0, CUresult::CUDA_ERROR_LAUNCH_FAILED);
        loop {
            // SAFETY: the place outlives the call.
            let result = unsafe { bench.driver.cuMemGetInfo_v2(&raw mut free, &raw mut free) };
            match code(result) {
                CUresult::CUDA_SUCCESS => calls += 1,
                other => break assert_eq!(other, fault),
            }
        }
        // SAFETY: no pointers, and a handle.
        unsafe {
            assert_eq!(code(bench.driver.cuCtxSynchronize()), fault);
            assert_eq!(code(bench.driver.cuStreamQuery(stream)), fault);
        }
        let messages = bench.machine.messages();
        assert_eq!(messages.len(), 1, "{messages:?}");
        bench.finish();
        calls
    };
    let seen: HashSet<_> = (0..20).map(run).collect();
    assert!(seen.len() > 2, "{seen:?}");
    assert_eq!(run(3), run(3));
}

/// Without it, priorities would mean nothing.
#[test]
fn streams_of_high_priority_get_on_faster() {
    let ahead = |seed: u64| {
        let bench = seeded(seed);
        let module = bench.load(KERNELS);
        let d = &bench.driver;
        let a = bench.alloc(8);
        bench.upload(a, &[0; 8]);
        let (gate, opener) = (bench.stream(NON_BLOCKING), bench.stream(NON_BLOCKING));
        let (mut low, mut high) = (std::ptr::null_mut(), std::ptr::null_mut());
        let (mut id, opened) = (0, bench.event());
        launch(&bench, module, c"answer", (1, 1), gate, a);
        // SAFETY: the places and the memory outlive the calls.
        unsafe {
            d.cuStreamCreateWithPriority(&raw mut low, 1, 0).unwrap();
            d.cuStreamCreateWithPriority(&raw mut high, 1, -5).unwrap();
            d.cuStreamGetId(low, &raw mut id).unwrap();
            // Both have all their work when they start.
            d.cuEventRecord(opened, gate).unwrap();
            for stream in [low, high] {
                d.cuStreamWaitEvent(stream, opened, 0).unwrap();
                for _ in 0..40 {
                    d.cuMemsetD8Async(a + 4, 1, 1, stream).unwrap();
                }
            }
            d.cuMemsetD32Async(a, 1, 1, opener).unwrap();
            d.cuCtxSynchronize().unwrap();
        }
        trace(&bench).steps().last().map(|step| step.stream) == Some(id)
    };
    // At 32 to 1, that the low one ends first is all but impossible.
    assert!((0..20).all(ahead));
}

/// Without it, a machine could go while work of it is under way, or leave that work behind;
/// or say that a kernel had failed which was only stopped.
#[test]
fn a_machine_may_go_with_work_left() {
    unsafe extern "C" fn note(_: CUstream, code: CUresult, data: *mut c_void) {
        // SAFETY: the number outlives the machine.
        let told = unsafe { &*data.cast::<AtomicU32>() };
        told.store(code.0, Ordering::Relaxed);
    }
    without_hanging(|| {
        for seed in 0..20 {
            let told = AtomicU32::new(0);
            let bench = seeded(seed);
            let module = bench.load(KERNELS);
            let a = bench.alloc(4);
            bench.upload(a, &[0; 4]);
            let stream = bench.stream(NON_BLOCKING);
            // No kernel answers.
            launch(&bench, module, c"ask", (1, 1), stream, a);
            launch(&bench, module, c"add_one", (1, 1), stream, a);
            for _ in 0..seed {
                // SAFETY: a live handle.
                let result = unsafe { bench.driver.cuStreamQuery(stream) };
                assert_eq!(code(result), NOT_READY);
            }
            let data = std::ptr::from_ref(&told).cast_mut().cast();
            // SAFETY: the function takes this pointer.
            unsafe {
                bench
                    .driver
                    .cuStreamAddCallback(stream, Some(note), data, 0)
            }
            .unwrap();
            drop(bench);
            let destroyed = CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED;
            assert_eq!(told.load(Ordering::Relaxed), destroyed.0);
        }
    });
}

/// Without it, a program of several threads could hang, or work of one could be lost to the
/// others.
#[test]
fn several_threads_may_call() {
    without_hanging(|| {
        let bench = seeded(7);
        let module = bench.load(KERNELS);
        let a = bench.alloc(4);
        bench.upload(a, &[0; 4]);
        let module = module.addr();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    bench.attach();
                    let module = std::ptr::without_provenance_mut(module);
                    let stream = bench.stream(NON_BLOCKING);
                    for _ in 0..20 {
                        launch(&bench, module, c"add_one_at_once", (2, 1), stream, a);
                        bench.wait(stream);
                    }
                });
            }
        });
        assert_eq!(number(&bench, a), 160);
    });
}
