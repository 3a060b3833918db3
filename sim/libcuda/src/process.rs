//! The process that the library is in: its end, its forks, and its output.

use std::ffi::c_int;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use cupola_sys::driver::CUresult;

use crate::entry;

const RUNNING: u8 = 0;
const ENDED: u8 = 1;
const FORKED: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(RUNNING);

/// Whether `cuInit` has succeeded: from then on a fork leaves threads behind.
static INITIALIZED: AtomicBool = AtomicBool::new(false);

/// Notes that `cuInit` has succeeded.
pub(crate) fn initialized() {
    INITIALIZED.store(true, Ordering::Relaxed);
}

/// The code with which every call is refused, if it is: the process ends, or is the child
/// of a fork of a process that had initialised the driver, whose threads it does not have.
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
    // A machine that is half made stays so in the child: the thread that makes it is the
    // parent's.
    if INITIALIZED.load(Ordering::Relaxed) || entry::made().is_none() {
        STATE.store(FORKED, Ordering::Relaxed);
    }
}

/// Learns of the end of the process and of its forks; called before the machine is made.
pub(crate) fn watch() -> Result<(), String> {
    // SAFETY: both handlers are functions of this library, which is never unloaded
    // (`build.rs`), and do not unwind. The one for forks reads and writes atomics alone; the
    // one for the end runs as ordinary code of the thread that ends the process.
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

/// What kernels print, to standard output. Not through Rust's buffer, which is not
/// emptied at the end of a C program.
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
                match error.kind() {
                    std::io::ErrorKind::Interrupted => {}
                    std::io::ErrorKind::WouldBlock => wait_until_writable(file),
                    // What cannot be written is lost: the program under test goes on. (In
                    // a program that does not ignore SIGPIPE, a pipe without a reader ends
                    // it, as it does with its own output.)
                    _ => return,
                }
            }
        }
    }
}

/// Waits for room in an output that the program made non-blocking.
fn wait_until_writable(file: c_int) {
    let mut poll = libc::pollfd {
        fd: file,
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: one structure that outlives the call. Its result does not matter: the next
    // write says what is wrong.
    unsafe { libc::poll(&raw mut poll, 1, -1) };
}
