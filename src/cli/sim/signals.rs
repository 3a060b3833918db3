//! What becomes of a program under the software device when this one is told to end.
//!
//! A terminal tells both, and the program decides what it does about that. What a process sends is
//! meant for this one alone, and is passed on. Either way the program ends first: then this one
//! says what was found, takes its folder away, and ends as the program has.

use std::io;
use std::mem;
use std::process::{Command, ExitStatus};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use libc::{c_int, c_void, siginfo_t};

/// Those that ask for an end.
const SIGNALS: [c_int; 4] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP];

/// The program, from its start until it may be waited for; 0 otherwise.
static PROGRAM: AtomicI32 = AtomicI32::new(0);

/// What was to be passed on last; 0 when nothing was.
static ASKED: AtomicI32 = AtomicI32::new(0);

/// Runs `command` to its end, however it is asked to end.
pub(super) fn status(command: &mut Command) -> io::Result<ExitStatus> {
    SIGNALS.into_iter().for_each(handle);
    let mut program = command.spawn()?;
    // A process number is positive and fits.
    PROGRAM.store(program.id().cast_signed(), Ordering::SeqCst);
    // Asked while the program was being started.
    pass_on(ASKED.load(Ordering::SeqCst));
    wait_for_end(program.id());
    PROGRAM.store(0, Ordering::SeqCst);
    program.wait()
}

/// Handles a signal, unless this process was started to ignore it: then the program is too. A
/// handler does not outlive `exec`, so the program has what it would have alone.
fn handle(signal: c_int) {
    // SAFETY: integers, a set of bits and an optional function: zeros are a value of it.
    let (mut old, mut new): (libc::sigaction, libc::sigaction) = unsafe { mem::zeroed() };
    // SAFETY: nothing is set, and `old` outlives the call.
    let asked = unsafe { libc::sigaction(signal, ptr::null(), &raw mut old) };
    if asked != 0 || old.sa_sigaction == libc::SIG_IGN {
        return;
    }
    let handler: extern "C" fn(c_int, *const siginfo_t, *mut c_void) = handler;
    new.sa_sigaction = handler as usize;
    new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
    // SAFETY: the handler has the arguments that `SA_SIGINFO` promises, calls what a handler may
    // call, and never panics. `new` outlives the call.
    unsafe { libc::sigaction(signal, &raw const new, ptr::null_mut()) };
}

extern "C" fn handler(signal: c_int, info: *const siginfo_t, _: *mut c_void) {
    // SAFETY: the kernel's, until the handler returns.
    if !is_of_a_terminal(signal, unsafe { &*info }) {
        ASKED.store(signal, Ordering::SeqCst);
        pass_on(signal);
    }
}

/// Whether the terminal has sent it, and to the program as well.
#[cfg(target_os = "linux")]
fn is_of_a_terminal(_: c_int, info: &siginfo_t) -> bool {
    info.si_code == libc::SI_KERNEL
}

/// As far as the signal tells: no terminal sends this one.
#[cfg(not(target_os = "linux"))]
fn is_of_a_terminal(signal: c_int, _: &siginfo_t) -> bool {
    signal != libc::SIGTERM
}

/// Sends the program a signal, if there is one of each.
fn pass_on(signal: c_int) {
    let program = PROGRAM.load(Ordering::SeqCst);
    if program > 0 && signal > 0 {
        // SAFETY: no pointers. The number is still the program's, which is not waited for before
        // it is taken out of `PROGRAM`.
        unsafe { libc::kill(program, signal) };
    }
}

/// Waits until the program has ended, and leaves it to be waited for.
fn wait_for_end(program: u32) {
    // SAFETY: integers and bytes: zeros are a value of it.
    let mut info: siginfo_t = unsafe { mem::zeroed() };
    let options = libc::WEXITED | libc::WNOWAIT;
    loop {
        // SAFETY: `info` outlives the call.
        let waited = unsafe { libc::waitid(libc::P_PID, program, &raw mut info, options) };
        let again = io::Error::last_os_error().kind() == io::ErrorKind::Interrupted;
        if waited == 0 || !again {
            return;
        }
    }
}
