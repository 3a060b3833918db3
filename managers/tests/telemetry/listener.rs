//! A library that listens to NVTX: the test compiles it, and a process of the test's loads it. It writes
//! what it hears to the file that `NVTX_HEARD` names. Built with `--cfg foreign` it is no listener, with
//! `--cfg refusing` it does not want to, and with `--cfg deaf` it listens to nothing.
#![allow(unexpected_cfgs)]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs::OpenOptions;
use std::io::Write;

#[repr(C)]
struct Callbacks {
    bytes: usize,
    module_table: extern "C" fn(c_int, *mut *const *mut *const c_void, *mut c_uint) -> c_int,
}

#[repr(C)]
struct Attributes {
    version: u16,
    bytes: u16,
    category: u32,
    colour_type: i32,
    colour: u32,
    payload_type: i32,
    reserved: i32,
    payload: u64,
    message_type: i32,
    message: *const c_char,
}

fn heard(text: &str) {
    let path = std::env::var_os("NVTX_HEARD").unwrap();
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .unwrap();
    writeln!(file, "{text}").unwrap();
}

/// # Safety
/// It is a string that ends with 0.
unsafe fn text(text: *const c_char) -> String {
    // SAFETY: this function's condition.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned()
}

unsafe extern "C" fn create_domain(name: *const c_char) -> *mut c_void {
    // SAFETY: the caller of NVTX gives such a string.
    let name = unsafe { text(name) };
    heard(&format!("domain {name}"));
    0x7000 as *mut c_void
}

unsafe extern "C" fn push(domain: *mut c_void, at: *const Attributes) -> c_int {
    // SAFETY: the caller of NVTX gives attributes that outlive the call.
    let at = unsafe { &*at };
    assert_eq!((domain as usize, at.version, at.bytes), (0x7000, 3, 48));
    assert_eq!((at.payload_type, at.message_type), (1, 1));
    // SAFETY: its type, which was looked at, says that it is such a string.
    let message = unsafe { text(at.message) };
    heard(&format!("push {message} {}", at.payload));
    0
}

unsafe extern "C" fn pop(domain: *mut c_void) -> c_int {
    assert_eq!(domain as usize, 0x7000);
    heard("pop");
    0
}

unsafe extern "C" fn name_stream(stream: *mut c_void, name: *const c_char) {
    assert!(!stream.is_null());
    // SAFETY: the caller of NVTX gives such a string.
    let name = unsafe { text(name) };
    heard(&format!("stream {name}"));
}

#[cfg(not(foreign))]
#[unsafe(no_mangle)]
pub extern "C" fn InitializeInjectionNvtx2(get: extern "C" fn(u32) -> *const c_void) -> c_int {
    if cfg!(refusing) {
        return 0;
    }
    // SAFETY: the table of this number is of this type, and stays for the process.
    let callbacks = unsafe { &*get(1).cast::<Callbacks>() };
    assert_eq!(callbacks.bytes, 16);
    let fill = |module: c_int, identifier: usize, function: *const c_void| {
        let (mut table, mut entries) = (std::ptr::null(), 0);
        assert_eq!(
            (callbacks.module_table)(module, &mut table, &mut entries),
            1
        );
        assert!(identifier < entries as usize);
        // SAFETY: the table has so many entries, each the place of a function.
        unsafe { **table.add(identifier) = function };
    };
    if !cfg!(deaf) {
        fill(5, 12, create_domain as *const c_void);
        fill(5, 4, push as *const c_void);
        fill(5, 5, pop as *const c_void);
        fill(2, 5, name_stream as *const c_void);
    }
    1
}
