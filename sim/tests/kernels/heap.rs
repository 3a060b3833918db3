//! What kernels do with the device heap, right and wrong. That it works at all is in the
//! root package's `tests/surface/heap.rs`.

use std::ffi::CStr;
use std::ptr::null_mut;

use cupola_sim::{DeviceConfig, FindingKind, Machine, MachineBuilder};
use cupola_sys::driver::*;

use crate::support::{Code, TestBench, code};

const KERNELS: &str = "
.version 7.0
.target sm_60
.address_size 64
.extern .func (.param .b64 result) malloc (.param .b64 size);
.extern .func free (.param .b64 address);
.visible .entry take(.param .u64 table, .param .u64 bytes) {
    .reg .b32 %t, %b, %n; .reg .b64 %p, %o, %s, %a;
    ld.param.u64 %p, [table];
    ld.param.u64 %s, [bytes];
    mov.u32 %t, %tid.x;
    mov.u32 %b, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mad.lo.u32 %t, %b, %n, %t;
    { .param .b64 size; .param .b64 result;
      st.param.b64 [size], %s;
      call.uni (result), malloc, (size);
      ld.param.b64 %a, [result]; }
    mul.wide.u32 %o, %t, 8;
    add.u64 %p, %p, %o;
    st.global.u64 [%p], %a;
    ret;
}
.visible .entry give(.param .u64 address) {
    .reg .b64 %a;
    ld.param.u64 %a, [address];
    { .param .b64 address;
      st.param.b64 [address], %a;
      call.uni free, (address); }
    ret;
}
.visible .entry store(.param .u64 address) {
    .reg .b64 %a;
    ld.param.u64 %a, [address];
    st.global.u32 [%a], 7;
    ret;
}
";

/// The result of a launch and of waiting for it.
fn launch(
    bench: &TestBench,
    module: CUmodule,
    name: &CStr,
    (blocks, threads): (u32, u32),
    args: [u64; 2],
) -> (Code, Code) {
    let function = bench.function(module, name);
    let launched = bench.launch(function, blocks, threads, null_mut(), &args);
    // SAFETY: no pointers.
    (launched, code(unsafe { bench.driver.cuCtxSynchronize() }))
}

fn take(bench: &TestBench, module: CUmodule, shape: (u32, u32), bytes: u64) -> Vec<u64> {
    let size = (shape.0 * shape.1 * 8) as usize;
    let table = bench.alloc(size);
    let codes = launch(bench, module, c"take", shape, [table, bytes]);
    assert_eq!(codes, (CUresult::CUDA_SUCCESS, CUresult::CUDA_SUCCESS));
    let words = bench.download(table, size);
    bench.free(table);
    let words = words.chunks_exact(8);
    words
        .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
        .collect()
}

fn free_memory(bench: &TestBench) -> usize {
    let (mut free, mut total) = (0, 0);
    // SAFETY: the places outlive the call.
    unsafe { bench.driver.cuMemGetInfo_v2(&raw mut free, &raw mut total) }.unwrap();
    free
}

const ILLEGAL: Code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
/// As an H200 ends a double free.
const FAILED: Code = CUresult::CUDA_ERROR_LAUNCH_FAILED;

/// The one finding after `act`, which must fault with this code.
fn fault(
    expected: Code,
    act: impl Fn(&TestBench, CUmodule, u64) -> (Code, Code),
) -> cupola_sim::Finding {
    let bench = TestBench::new();
    let module = bench.load(KERNELS);
    let at = take(&bench, module, (1, 1), 24)[0];
    assert_eq!(act(&bench, module, at), (CUresult::CUDA_SUCCESS, expected));
    let findings = bench.machine.take_findings();
    assert_eq!(findings.len(), 1, "{findings:?}");
    let message = &bench.machine.messages()[0];
    assert!(message.contains("PTX line"), "{message}");
    findings.into_iter().next().unwrap()
}

/// Without it, a second free could give the same memory to two threads.
#[test]
fn a_double_free_is_a_fault() {
    let finding = fault(FAILED, |bench, module, at| {
        let first = launch(bench, module, c"give", (1, 1), [at, 0]);
        assert_eq!(first.1, CUresult::CUDA_SUCCESS);
        launch(bench, module, c"give", (1, 1), [at, 0])
    });
    assert_eq!(finding.kind, FindingKind::DoubleFree, "{finding}");
    let site = finding.kernel.as_ref().unwrap();
    assert_eq!((&*site.kernel, site.line), ("give", 29), "{finding}");
}

/// Without it, a free of an address inside an allocation could corrupt the heap.
#[test]
fn a_free_of_what_malloc_did_not_give_is_a_fault() {
    let finding = fault(FAILED, |bench, module, at| {
        launch(bench, module, c"give", (1, 1), [at + 16, 0])
    });
    assert_eq!(finding.kind, FindingKind::InvalidFree, "{finding}");
}

/// Without it, a kernel could write behind what it allocated, as it may on a GPU.
#[test]
fn a_write_behind_an_allocation_is_a_fault() {
    let finding = fault(ILLEGAL, |bench, module, at| {
        launch(bench, module, c"store", (1, 1), [at + 24, 0])
    });
    assert_eq!(finding.kind, FindingKind::OutOfBounds, "{finding}");
    assert!(
        finding.what.contains("0 bytes past the end of 24 bytes"),
        "{finding}"
    );
}

/// Without it, a kernel could write to an allocation of no bytes, which a GPU lets it do.
#[test]
fn a_write_to_no_bytes_is_a_fault() {
    let finding = fault(ILLEGAL, |bench, module, _| {
        let at = take(bench, module, (1, 1), 0)[0];
        assert_ne!(at, 0);
        launch(bench, module, c"store", (1, 1), [at, 0])
    });
    assert_eq!(finding.kind, FindingKind::OutOfBounds, "{finding}");
}

/// Without it, a kernel could use what another has freed.
#[test]
fn a_write_to_what_was_freed_is_a_fault() {
    let finding = fault(ILLEGAL, |bench, module, at| {
        launch(bench, module, c"give", (1, 1), [at, 0]);
        launch(bench, module, c"store", (1, 1), [at + 4, 0])
    });
    assert_eq!(finding.kind, FindingKind::UseAfterFree, "{finding}");
}

/// Without it, the heap could be made before a program has said how large it is to be, cost
/// no memory, or stay charged after its context.
#[test]
fn the_heap_is_charged_from_the_first_launch_to_the_end_of_the_context() {
    let bench = TestBench::new();
    let before = free_memory(&bench);
    let heap = CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE;
    // SAFETY: no pointers.
    unsafe { bench.driver.cuCtxSetLimit(heap, 4 << 20) }.unwrap();
    let module = bench.load(KERNELS);
    let got = take(&bench, module, (8, 64), 16 << 10);
    let full = got.iter().filter(|at| **at == 0).count();
    assert_eq!(full, 256, "of 512 threads, as many as fit have memory");
    assert_eq!(before - free_memory(&bench), 4 << 20);
    let mut context = null_mut();
    // SAFETY: the place outlives the call, and the context lives.
    unsafe {
        bench.driver.cuCtxDestroy_v2(bench.context).unwrap();
        bench.driver.cuCtxCreate_v2(&raw mut context, 0, 0).unwrap();
    }
    assert_eq!(free_memory(&bench), before);
    let module = bench.load(KERNELS);
    assert_ne!(take(&bench, module, (1, 1), 8), [0]);
    assert_eq!(before - free_memory(&bench), 8 << 20);
}

/// Without it, what a seeded order replays could depend on where memory happens to be.
#[test]
fn a_seed_replays_which_thread_gets_what() {
    let run = |seed| {
        let bench = TestBench::with(Machine::builder().seed(seed));
        let module = bench.load(KERNELS);
        take(&bench, module, (8, 64), 48)
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6), "the seed decides nothing");
}

const ENDLESS: &str = "
.version 7.0
.target sm_60
.address_size 64
.visible .entry spin(.param .u64 flag) {
    .reg .b64 %a; .reg .b32 %v; .reg .pred %p;
    ld.param.u64 %a, [flag];
again:
    ld.volatile.global.u32 %v, [%a];
    setp.eq.u32 %p, %v, 0;
    @%p bra again;
    ret;
}
.visible .entry meet() {
again:
    bar.sync 0;
    bra again;
}
";

fn ends(builder: MachineBuilder, name: &CStr, lines: std::ops::RangeInclusive<u32>) {
    let bench = TestBench::with(builder);
    let flag = bench.alloc(4);
    bench.upload(flag, &[0; 4]);
    let module = bench.load(ENDLESS);
    let codes = launch(&bench, module, name, (2, 64), [flag, 0]);
    let timeout = CUresult::CUDA_ERROR_LAUNCH_TIMEOUT;
    assert_eq!(codes, (CUresult::CUDA_SUCCESS, timeout));
    let mut free = 0;
    // SAFETY: the place outlives the call.
    let asked = unsafe { bench.driver.cuMemAlloc_v2(&raw mut free, 4) };
    assert_eq!(code(asked), timeout, "it is sticky");
    let findings = bench.machine.take_findings();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].kind, FindingKind::Timeout);
    let site = findings[0].kernel.as_ref().unwrap();
    assert_eq!(site.kernel, name.to_str().unwrap());
    assert!(lines.contains(&site.line), "{}", findings[0]);
    let message = &bench.machine.messages()[0];
    assert!(
        message.contains("still running after the limit of 2ms"),
        "{message}"
    );
}

/// Without it, a kernel that waits for what never comes would hang a test for ever, in every
/// order of a machine, and nothing would say where it waits.
#[test]
fn a_kernel_that_never_ends_is_ended() {
    crate::support::without_hanging(|| {
        let limit = std::time::Duration::from_millis(2);
        let machine = || {
            let device = DeviceConfig::new().kernel_time_limit(limit);
            Machine::builder().device(device)
        };
        let timed = || machine().order(cupola_sim::Order::Timed);
        for builder in [machine(), machine().seed(3), timed()] {
            ends(builder.clone(), c"spin", 9..=11);
            ends(builder, c"meet", 16..=17);
        }
    });
}

/// Without it, programs could not tell a device with a limit from one without.
#[test]
fn the_device_says_whether_it_has_a_limit() {
    let limited = DeviceConfig::new().kernel_time_limit(std::time::Duration::from_secs(1));
    for (config, expected) in [(limited, 1), (DeviceConfig::new(), 0)] {
        let bench = TestBench::with(Machine::builder().device(config));
        let mut value = -1;
        let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT;
        // SAFETY: the place outlives the call.
        unsafe {
            bench
                .driver
                .cuDeviceGetAttribute(&raw mut value, attribute, 0)
        }
        .unwrap();
        assert_eq!(value, expected);
    }
}
