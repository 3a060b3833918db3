//! Memory and events shared between processes. Every code that is expected here was seen
//! on an H200.
//!
//! The other process is this test binary, told to run one ignored test alone.

use std::process::{Command, Output};

use cupola_sys::CallError;
use cupola_sys::driver::*;

use crate::raw::Raw;

/// A driver gives allocations of this size pages of their own.
const SIZE: usize = 4 << 20;
const LAZY: u32 = CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS.0;

const OK: CUresult = CUresult::CUDA_SUCCESS;
const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const ALREADY_MAPPED: CUresult = CUresult::CUDA_ERROR_ALREADY_MAPPED;
const BAD_CONTEXT: CUresult = CUresult::CUDA_ERROR_INVALID_CONTEXT;

/// Says which handles the other process is to use, in hexadecimal.
const LIVE: &str = "CUPOLA_TEST_IPC_LIVE";
const FREED: &str = "CUPOLA_TEST_IPC_FREED";
/// What an exporter prints before its handle.
const HANDLE: &str = "handle=";

fn code(called: Result<(), DriverError>) -> CUresult {
    match called {
        Ok(()) => OK,
        Err(CallError::Failed { code, .. }) => code,
        Err(missing @ CallError::Missing { .. }) => panic!("{missing}"),
    }
}

fn to_hex(handle: &CUipcMemHandle) -> String {
    let bytes = handle.reserved.iter();
    bytes.map(|byte| format!("{:02x}", *byte as u8)).collect()
}

fn from_hex(text: &str) -> CUipcMemHandle {
    let mut handle = CUipcMemHandle::default();
    assert_eq!(text.len(), 2 * handle.reserved.len(), "{text}");
    for (index, byte) in handle.reserved.iter_mut().enumerate() {
        let digits = &text[2 * index..2 * index + 2];
        *byte = u8::from_str_radix(digits, 16).expect("hexadecimal") as _;
    }
    handle
}

/// Runs one ignored test of this binary in a process of its own.
fn run_alone(test: &str, variables: &[(&str, String)]) -> Output {
    let own = std::env::current_exe().expect("this binary");
    let mut command = Command::new(own);
    command.args(["--ignored", "--exact", "--nocapture", test]);
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    // They end with what they hold, on purpose: that is no leak of these tests.
    command.env_remove("CUPOLA_SIM_REPORT");
    command.output().expect("another process")
}

fn assert_passed(output: &Output) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert!(out.contains("1 passed"), "{out}\n{err}");
}

// Addresses and handles are the driver's own and live, and places outlive the calls.
#[allow(clippy::undocumented_unsafe_blocks, reason = "said once, above")]
impl Raw {
    fn export(&self, address: CUdeviceptr) -> (CUresult, CUipcMemHandle) {
        let mut handle = CUipcMemHandle::default();
        let called = unsafe { self.driver.cuIpcGetMemHandle(&raw mut handle, address) };
        (code(called), handle)
    }

    fn open_shared(&self, handle: CUipcMemHandle, flags: u32) -> (CUresult, CUdeviceptr) {
        let mut address = 0;
        let called = unsafe {
            self.driver
                .cuIpcOpenMemHandle_v2(&raw mut address, handle, flags)
        };
        (code(called), address)
    }

    /// The first form of the function.
    fn open_once(&self, handle: CUipcMemHandle) -> CUresult {
        let mut address = 0;
        code(unsafe {
            self.driver
                .cuIpcOpenMemHandle(&raw mut address, handle, LAZY)
        })
    }

    fn close_shared(&self, address: CUdeviceptr) -> CUresult {
        code(unsafe { self.driver.cuIpcCloseMemHandle(address) })
    }

    fn capable(&self, address: CUdeviceptr) -> bool {
        let mut capable = false;
        let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE;
        let place = (&raw mut capable).cast();
        let asked = unsafe { self.driver.cuPointerGetAttribute(place, attribute, address) };
        asked.expect("an attribute");
        capable
    }
}

fn pattern(index: usize) -> u8 {
    (index % 251) as u8
}

/// A device whose memory other processes can have; `None`, with a line that says so, where
/// it is not so.
fn open() -> Option<(Raw, CUdeviceptr)> {
    let raw = Raw::open();
    let bytes: Vec<_> = (0..SIZE).map(pattern).collect();
    let address = raw.upload(&bytes);
    if raw.capable(address) {
        return Some((raw, address));
    }
    eprintln!("skipped: the device's memory is not for other processes");
    raw.free(address);
    None
}

/// Without it, two processes could have two memories where they believe in one, or memory
/// that is gone could be opened.
#[test]
fn two_processes_have_one_memory() {
    let Some((raw, address)) = open() else { return };
    let (exported, handle) = raw.export(address + 4096);
    assert_eq!(exported, OK);
    let gone = raw.upload(&vec![1; SIZE]);
    let (exported, freed) = raw.export(gone);
    assert_eq!(exported, OK);
    raw.free(gone);
    let again = raw.export(address);
    assert_eq!(again, (OK, handle), "one allocation has one name");
    let handles = [(LIVE, to_hex(&handle)), (FREED, to_hex(&freed))];
    assert_passed(&run_alone("ipc::in_the_other_process", &handles));
    let bytes = raw.download(address, SIZE);
    assert!(bytes[..1000].iter().all(|byte| *byte == 0xab));
    assert!((1000..SIZE - 1000).all(|index| bytes[index] == pattern(index)));
    assert_eq!(bytes[SIZE - 1000..], bytes[..1000]);
    raw.free(address);
}

/// The other side of `two_processes_have_one_memory`, which starts it.
#[test]
#[ignore = "another test runs it in a process of its own"]
#[allow(clippy::undocumented_unsafe_blocks, reason = "as above, in `impl Raw`")]
fn in_the_other_process() {
    let (Ok(live), Ok(freed)) = (std::env::var(LIVE), std::env::var(FREED)) else {
        panic!("`two_processes_have_one_memory` starts this");
    };
    let (live, freed) = (from_hex(&live), from_hex(&freed));
    let raw = Raw::open();
    let (opened, address) = raw.open_shared(live, LAZY);
    assert_eq!(opened, OK);
    let bytes = raw.download(address, SIZE);
    assert!((0..SIZE).all(|index| bytes[index] == pattern(index)));
    let (mut base, mut len) = (0, 0);
    let (d, end) = (&raw.driver, address + (SIZE - 1000) as u64);
    unsafe {
        d.cuMemGetAddressRange_v2(&raw mut base, &raw mut len, address + 5)
            .expect("range");
        assert_eq!((base, len), (address, SIZE));
        d.cuMemsetD8_v2(address, 0xab, 1000).expect("memset");
        d.cuMemcpyDtoD_v2(end, address, 1000).expect("copy");
        d.cuCtxSynchronize().expect("synchronize");
    }

    // What is open has no name of its own, and only its closes take it away.
    assert!(!raw.capable(address));
    assert_eq!(raw.export(address).0, INVALID);
    assert_eq!(raw.open_shared(live, LAZY), (OK, address));
    assert_eq!(raw.open_once(live), ALREADY_MAPPED);
    assert_eq!(raw.close_shared(address), OK);
    assert_eq!(raw.download(address, 1), [0xab]);
    assert_eq!(code(unsafe { d.cuMemFree_v2(address) }), INVALID);
    assert_eq!(raw.close_shared(address + 512), INVALID);
    assert_eq!(raw.close_shared(address), OK);
    assert_eq!(raw.close_shared(address), INVALID);
    assert_eq!(raw.close_shared(0), INVALID);

    assert_eq!(raw.open_shared(live, 0).0, INVALID);
    assert_eq!(raw.open_shared(live, 2).0, INVALID);
    let null = unsafe { d.cuIpcOpenMemHandle_v2(std::ptr::null_mut(), live, LAZY) };
    assert_eq!(code(null), INVALID);
    let (zeros, ones) = (
        CUipcMemHandle::default(),
        CUipcMemHandle { reserved: [-1; 64] },
    );
    assert_eq!(raw.open_shared(zeros, LAZY).0, INVALID);
    assert_eq!(raw.open_shared(ones, LAZY).0, INVALID);
    // An H200 says now the one, now the other.
    let gone = [INVALID, CUresult::CUDA_ERROR_NOT_PERMITTED];
    let refused = raw.open_shared(freed, LAZY).0;
    assert!(gone.contains(&refused), "{refused:?}");
    unsafe { d.cuCtxSetCurrent(std::ptr::null_mut()) }.expect("no context");
    assert_eq!(raw.open_shared(live, LAZY).0, BAD_CONTEXT);
    assert_eq!(raw.close_shared(address), BAD_CONTEXT);
    unsafe { d.cuCtxSetCurrent(raw.context) }.expect("the context");
    assert_eq!(raw.open_once(live), OK);
    // The context takes it along.
}

/// Without it, the memory of a process that has ended could be waited for, or another
/// process's taken for it.
#[test]
fn memory_of_a_process_that_has_ended_cannot_be_opened() {
    let Some((raw, address)) = open() else { return };
    raw.free(address);
    let output = run_alone("ipc::exports_and_ends", &[]);
    assert_passed(&output);
    let out = String::from_utf8_lossy(&output.stdout);
    let (_, handle) = out.split_once(HANDLE).expect("a handle");
    let handle = from_hex(&handle[..128]);
    let ended = CUresult::CUDA_ERROR_INVALID_HANDLE;
    assert_eq!(raw.open_shared(handle, LAZY).0, ended);
}

/// The other side of `memory_of_a_process_that_has_ended_cannot_be_opened`.
#[test]
#[ignore = "another test runs it in a process of its own"]
fn exports_and_ends() {
    let (raw, address) = open().expect("memory for other processes");
    let (exported, handle) = raw.export(address);
    assert_eq!(exported, OK);
    println!("{HANDLE}{}", to_hex(&handle));
    // The memory is not freed: the process takes it along.
}

/// Without it, memory that no other process can have would get a name that promises it.
#[test]
#[allow(clippy::undocumented_unsafe_blocks, reason = "as above, in `impl Raw`")]
fn other_memory_has_no_name() {
    let Some((raw, address)) = open() else { return };
    let d = &raw.driver;
    let (exported, handle) = raw.export(address);
    assert_eq!(exported, OK);
    // Not in the process that has it.
    assert_eq!(raw.open_shared(handle, LAZY).0, BAD_CONTEXT);
    let null = code(unsafe { d.cuIpcGetMemHandle(std::ptr::null_mut(), address) });
    assert_eq!(null, INVALID);
    assert_eq!(raw.close_shared(address), INVALID);
    let (mut pooled, mut managed, mut pinned) = (0, 0, std::ptr::null_mut());
    unsafe {
        d.cuMemAllocAsync(&raw mut pooled, SIZE, std::ptr::null_mut())
            .expect("pooled");
        d.cuMemAllocManaged(&raw mut managed, SIZE, 1)
            .expect("managed");
        d.cuMemAllocHost_v2(&raw mut pinned, SIZE).expect("pinned");
    }
    for at in [pooled, managed, pinned.addr() as u64] {
        assert!(!raw.capable(at), "0x{at:x}");
        assert_eq!(raw.export(at).0, INVALID, "0x{at:x}");
    }
    for at in [0, 4096] {
        assert_eq!(raw.export(at).0, INVALID, "0x{at:x}");
    }
    unsafe {
        d.cuMemFreeAsync(pooled, std::ptr::null_mut())
            .expect("free");
        d.cuMemFree_v2(managed).expect("free");
        d.cuMemFreeHost(pinned).expect("free");
    }
    raw.free(address);
    assert_eq!(raw.export(address).0, INVALID);
}

/// Without it, an event that is not for other processes could be given to them.
#[test]
#[allow(clippy::undocumented_unsafe_blocks, reason = "as above, in `impl Raw`")]
fn an_event_of_one_process_has_no_name() {
    let raw = Raw::open();
    let d = &raw.driver;
    let (mut event, mut opened) = (std::ptr::null_mut(), std::ptr::null_mut());
    let mut handle = CUipcEventHandle::default();
    unsafe {
        d.cuEventCreate(&raw mut event, 2).expect("event");
        let refused = code(d.cuIpcGetEventHandle(&raw mut handle, event));
        assert_eq!(refused, CUresult::CUDA_ERROR_INVALID_HANDLE);
        let refused = code(d.cuIpcOpenEventHandle(&raw mut opened, handle));
        assert_eq!(refused, CUresult::CUDA_ERROR_MAP_FAILED);
        d.cuEventDestroy_v2(event).expect("event");
    }
}
