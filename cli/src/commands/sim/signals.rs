//! What becomes of a program under the software device when this one is told to end.
//!
//! A key of the terminal tells both, unless the program has left this one's group, and the program
//! decides what it does about that. A terminal that is gone tells the leader of its session alone.
//! What a process sends is meant for this one alone, as far as can be told: a process that tells the
//! whole group tells the program twice. What the program was not told is passed on. Either way the
//! program ends first: then this one says what was found, takes its folder away, and ends as the
//! program has.

use std::io;
use std::mem;
use std::process::{Command, ExitStatus};
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use libc::{c_int, c_void, siginfo_t};

/// Those that ask for an end.
const SIGNALS: [c_int; 4] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP];

/// The program, from its start until it may be waited for; 0 otherwise.
static PROGRAM: AtomicI32 = AtomicI32::new(0);

/// What was to be passed on last; 0 when nothing was.
static ASKED: AtomicI32 = AtomicI32::new(0);

/// A bit for each signal that has a handler of ours.
static HANDLED: AtomicU64 = AtomicU64::new(0);

/// Runs `command` to its end, however it is asked to end.
pub(super) fn status(command: &mut Command) -> io::Result<ExitStatus> {
    SIGNALS.into_iter().for_each(handle);
    let ended = command.spawn().and_then(|mut program| {
        // A process number is positive and fits.
        PROGRAM.store(program.id().cast_signed(), Ordering::SeqCst);
        // Asked while the program was being started.
        pass_on(ASKED.load(Ordering::SeqCst));
        wait_for_end(program.id());
        PROGRAM.store(0, Ordering::SeqCst);
        program.wait()
    });
    // From here on a signal ends this process, as any.
    SIGNALS.into_iter().for_each(unhandle);
    ended
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
    HANDLED.fetch_or(1 << signal, Ordering::SeqCst);
}

/// Gives the signal its usual meaning back, if it has lost it here.
fn unhandle(signal: c_int) {
    if HANDLED.load(Ordering::SeqCst) >> signal & 1 == 1 {
        // SAFETY: no handler of Rust's.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

extern "C" fn handler(signal: c_int, info: *const siginfo_t, _: *mut c_void) {
    // SAFETY: the kernel's, until the handler returns.
    if is_told(signal, unsafe { &*info }) {
        return;
    }
    ASKED.store(signal, Ordering::SeqCst);
    pass_on(signal);
}

/// Whether the program has the signal too: it was started when a key of the terminal sent it to
/// the group of both.
fn is_told(signal: c_int, info: &siginfo_t) -> bool {
    let program = PROGRAM.load(Ordering::SeqCst);
    // SAFETY: no pointers. The program is there, see `pass_on`.
    program > 0 && is_of_a_key(signal, info) && unsafe { libc::getpgid(program) == libc::getpgrp() }
}

/// Whether a key has sent it. For a terminal that is gone the kernel sends this one.
#[cfg(target_os = "linux")]
fn is_of_a_key(signal: c_int, info: &siginfo_t) -> bool {
    info.si_code == libc::SI_KERNEL && signal != libc::SIGHUP
}

/// As far as the signal tells: there are keys for these.
#[cfg(not(target_os = "linux"))]
fn is_of_a_key(signal: c_int, _: &siginfo_t) -> bool {
    matches!(signal, libc::SIGINT | libc::SIGQUIT)
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
