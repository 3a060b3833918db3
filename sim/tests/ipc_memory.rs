//! Memory shared between processes, on the software device: what hardware leaves undefined,
//! and what only a machine can tell.
//!
//! The other process is this test binary, told to run one ignored test alone.
#![cfg(target_os = "linux")]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use cupola_sim::{Machine, MachineBuilder};
use cupola_sys::driver::*;
use support::{Code, TestBench, code, without_hanging};

const SIZE: usize = 1 << 20;
const OK: Code = CUresult::CUDA_SUCCESS;
const LAZY: u32 = CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.0;
const HANDLE: &str = "CUPOLA_TEST_IPC_HANDLE";

fn export(bench: &TestBench, address: CUdeviceptr) -> CUipcMemHandle {
    let mut handle = CUipcMemHandle::default();
    // SAFETY: the place outlives the call.
    unsafe { bench.driver.cuIpcGetMemHandle(&raw mut handle, address) }.unwrap();
    handle
}

fn open(bench: &TestBench, handle: CUipcMemHandle) -> (Code, CUdeviceptr) {
    let (d, mut address) = (&bench.driver, 0);
    // SAFETY: the place outlives the call.
    let called = unsafe { d.cuIpcOpenMemHandle_v2(&raw mut address, handle, LAZY) };
    (code(called), address)
}

fn close(bench: &TestBench, address: CUdeviceptr) {
    // SAFETY: no memory of the host.
    unsafe { bench.driver.cuIpcCloseMemHandle(address) }.unwrap();
}

/// Starts an ignored test of this binary in a process of its own.
fn start(test: &str, handle: CUipcMemHandle) -> Child {
    let bytes = handle.reserved.iter();
    let text: String = bytes.map(|byte| format!("{:02x}", *byte as u8)).collect();
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", test])
        .env(HANDLE, text)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The handle that this process was started with.
fn given() -> CUipcMemHandle {
    let text = std::env::var(HANDLE).expect("another test starts this");
    let mut handle = CUipcMemHandle::default();
    for (index, byte) in handle.reserved.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).unwrap() as _;
    }
    handle
}

fn passes(child: Child) {
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{out}");
    assert!(out.contains("1 passed"), "{out}");
}

/// Without it, memory that a process has open could go, or become other memory, when the
/// process that made it frees it.
#[test]
fn opened_memory_stays_when_it_is_freed() {
    let bench = TestBench::new();
    let address = bench.alloc(SIZE);
    bench.upload(address, &[5; SIZE]);
    let mut child = start("keeps_what_it_opened", export(&bench, address));
    let lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let mut lines = lines.map_while(Result::ok);
    assert!(
        lines.any(|line| line.contains("opened")),
        "the other failed"
    );
    bench.free(address);
    // What comes next must not get the same bytes.
    let next = bench.alloc(SIZE);
    bench.upload(next, &[6; SIZE]);
    child.stdin.take().unwrap().write_all(b"freed\n").unwrap();
    assert!(
        lines.any(|line| line.contains("1 passed")),
        "the other failed"
    );
    drop(lines);
    assert!(child.wait().unwrap().success());
    assert!(bench.download(next, SIZE).iter().all(|byte| *byte == 6));
    bench.free(next);
    bench.finish();
}

/// The other side of `opened_memory_stays_when_it_is_freed`.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn keeps_what_it_opened() {
    let bench = TestBench::new();
    let before = bench.machine.usage();
    let (opened, address) = open(&bench, given());
    assert_eq!(opened, OK);
    println!("\nopened");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    assert!(bench.download(address, SIZE).iter().all(|byte| *byte == 5));
    // It cannot be opened any more, but once more by who has it open.
    assert_eq!(open(&bench, given()), (OK, address));
    bench.upload(address, &[7; SIZE]);
    close(&bench, address);
    assert_eq!(bench.download(address, 1), [7]);

    let usage = bench.machine.usage();
    let counted = (usage.opened_allocations, usage.opened_bytes);
    assert_eq!(counted, (1, SIZE as u64));
    assert_eq!(usage.device_allocations, 0);
    let leaks = bench.machine.leaks().unwrap();
    assert!(leaks.contains("1 opened allocations"), "{leaks}");
    close(&bench, address);
    assert_eq!(bench.machine.usage(), before);
    assert_eq!(open(&bench, given()).0, CUresult::CUDA_ERROR_INVALID_VALUE);
    let messages = bench.machine.messages();
    assert!(messages.iter().any(|text| text.contains("is freed")));
    bench.finish();
}

/// Without it, a context on another device could not reach memory that it opens, or would
/// reach it where the devices have no link.
#[test]
fn memory_is_opened_on_its_device() {
    let bench = TestBench::new();
    let address = bench.alloc(SIZE);
    bench.upload(address, &[5; SIZE]);
    passes(start("opens_from_another_device", export(&bench, address)));
    assert!(bench.download(address, SIZE).iter().all(|byte| *byte == 9));
    bench.free(address);
    bench.finish();
}

/// A machine of two devices, with a context on the second.
fn on_second(builder: MachineBuilder) -> TestBench {
    let machine = builder.devices(2).build();
    let driver = machine.driver();
    let mut context = std::ptr::null_mut();
    // SAFETY: the place outlives the calls.
    unsafe {
        driver.cuInit(0).unwrap();
        driver.cuCtxCreate_v2(&raw mut context, 0, 1).unwrap();
    }
    TestBench {
        machine,
        driver,
        context,
    }
}

/// The other side of `memory_is_opened_on_its_device`.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn opens_from_another_device() {
    let bench = on_second(Machine::builder());
    let (opened, address) = open(&bench, given());
    assert_eq!(opened, OK);
    assert_eq!(bench.download(address, 1), [5]);
    let (d, mut device) = (&bench.driver, -1_i32);
    let ordinal = CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
    // SAFETY: the place outlives the call and has the attribute's type.
    unsafe { d.cuPointerGetAttribute((&raw mut device).cast(), ordinal, address) }.unwrap();
    assert_eq!(device, 0);
    // Unlike a copy, this needs access.
    // SAFETY: the memory has so many bytes.
    unsafe { d.cuMemsetD8_v2(address, 9, SIZE) }.unwrap();
    bench.synchronize();
    close(&bench, address);
    bench.finish();

    let apart = on_second(Machine::builder().without_peer_access(1, 0));
    let refused = CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    assert_eq!(open(&apart, given()).0, refused);
    apart.finish();
}

/// Counts in `word` until the flag is set; then says how far it got.
const KERNEL: &str = "
.version 7.0
.target sm_60
.address_size 64
.visible .entry spin(.param .u64 word, .param .u64 flag) {
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [word];
    ld.param.u64 %rd2, [flag];
again:
    ld.volatile.global.u32 %r1, [%rd1];
    add.u32 %r1, %r1, 1;
    st.volatile.global.u32 [%rd1], %r1;
    st.volatile.global.u32 [%rd2+4], 1;
    ld.volatile.global.u32 %r2, [%rd2];
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra again;
    st.volatile.global.u32 [%rd2+8], %r1;
    ret;
}";

/// Without it, memory would move while a kernel writes to it, and lose what it writes.
#[test]
fn an_export_waits_for_who_uses_the_memory() {
    without_hanging(|| {
        let bench = TestBench::new();
        let (word, pinned) = (bench.alloc(SIZE), bench.pinned(12));
        bench.upload(word, &[0; SIZE]);
        let flag = pinned.as_mut_ptr();
        let module = bench.load(KERNEL);
        let function = bench.function(module, c"spin");
        let values = [word, flag.expose_provenance() as u64];
        let launched = bench.launch(function, 1, 1, std::ptr::null_mut(), &values);
        assert_eq!(launched, OK);
        let words = flag.cast::<std::sync::atomic::AtomicU32>();
        // SAFETY: twelve bytes that start at a page, and only accessed atomically from now on.
        let words = unsafe { std::slice::from_raw_parts(words, 3) };
        let order = std::sync::atomic::Ordering::SeqCst;
        while words[1].load(order) == 0 {
            std::thread::yield_now();
        }
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Time for an export that does not wait to do its harm.
                std::thread::sleep(std::time::Duration::from_millis(50));
                words[0].store(1, order);
            });
            export(&bench, word);
        });
        bench.synchronize();
        let counted = bench.download(word, 4);
        let counted = u32::from_le_bytes(counted.try_into().unwrap());
        assert_eq!(counted, words[2].load(order));
        bench.unload(module);
        bench.free(word);
        bench.unpin(pinned);
        bench.finish();
    });
}

/// Without it, memory of one machine could be opened in another of the same process, where
/// a driver refuses.
#[test]
fn machines_of_one_process_have_no_memory_of_each_other() {
    let (bench, other) = (TestBench::new(), TestBench::new());
    bench.attach();
    let address = bench.alloc(SIZE);
    let handle = export(&bench, address);
    other.attach();
    let refused = CUresult::CUDA_ERROR_INVALID_CONTEXT;
    assert_eq!(open(&other, handle).0, refused);
    other.finish();
    bench.free(address);
    bench.finish();
}
