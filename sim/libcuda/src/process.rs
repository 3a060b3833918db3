//! The process that the library is in: its end, its forks, and its output.

use std::ffi::c_int;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU8, Ordering};

use cupola_sys::driver::CUresult;

use crate::entry;

const RUNNING: u8 = 0;
const ENDED: u8 = 1;
const FORKED: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(RUNNING);

/// The code with which every call is refused, if it is: the process ends, or is the child
/// of a fork of a process with a machine, whose threads it does not have.
pub(crate) fn refuses() -> Option<CUresult> {
    match STATE.load(Ordering::Relaxed) {
        RUNNING => None,
        ENDED => Some(CUresult::CUDA_ERROR_DEINITIALIZED),
        _ => Some(CUresult::CUDA_ERROR_NOT_INITIALIZED),
    }
}

extern "C" fn end() {
    // In a forked child there is nothing to report: the machine is the parent's.
    let running = STATE.compare_exchange(RUNNING, ENDED, Ordering::AcqRel, Ordering::Relaxed);
    if running.is_ok()
        && let Some(global) = entry::made()
        && let Some(report) = &global.report
    {
        // A panic must not leave an exit handler.
        let write = AssertUnwindSafe(|| report.end(&global.machine));
        let _ = std::panic::catch_unwind(write);
    }
}

extern "C" fn forked() {
    STATE.store(FORKED, Ordering::Relaxed);
}

/// Learns of the end of the process and of its forks.
pub(crate) fn watch() -> Result<(), String> {
    // SAFETY: both handlers are functions of this library, which is never unloaded
    // (`build.rs`), touch only atomics and process-wide state, and do not unwind.
    let (at_exit, at_fork): (c_int, c_int) = unsafe {
        (
            libc::atexit(end),
            libc::pthread_atfork(None, None, Some(forked)),
        )
    };
    if at_exit == 0 && at_fork == 0 {
        Ok(())
    } else {
        Err("the C library takes no more exit or fork handlers".into())
    }
}

/// What kernels print, to standard output. Not through Rust's buffer, which nobody would
/// empty at the end of a C program.
pub(crate) fn write_output(text: &[u8]) {
    write(1, text);
}

/// A text to standard error.
pub(crate) fn write_error(text: &str) {
    write(2, text.as_bytes());
}

fn write(file: c_int, mut text: &[u8]) {
    while !text.is_empty() {
        // SAFETY: the bytes are readable.
        let written = unsafe { libc::write(file, text.as_ptr().cast(), text.len()) };
        match usize::try_from(written) {
            Ok(0) => return,
            Ok(written) => text = text.get(written..).unwrap_or_default(),
            Err(_) => {
                let error = std::io::Error::last_os_error();
                // A closed output is no reason for a program to fail.
                if error.kind() != std::io::ErrorKind::Interrupted {
                    return;
                }
            }
        }
    }
}
