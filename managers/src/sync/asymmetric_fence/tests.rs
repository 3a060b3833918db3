use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use super::*;

std::thread_local! {
    /// How often this thread has been the heavy side.
    pub(crate) static PAID: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// A variable in a cache line of its own.
#[repr(align(128))]
struct Apart(AtomicU32);

/// Two threads each raise a variable and read the other's, without waiting for each other:
/// the light side `steps` times. True when some write of each was missed by the other side's
/// read that came after.
fn both_miss(barrier: AsymmetricFence, steps: u32) -> bool {
    let [light, heavy] = [0, 0].map(|zero| Apart(AtomicU32::new(zero)));
    let over = AtomicBool::new(false);
    // What each read behind its write number 1, 2 ...
    let (by_light, by_heavy) = thread::scope(|scope| {
        let by_heavy = scope.spawn(|| {
            let mut seen = Vec::new();
            for write in 1.. {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                heavy.0.store(write, Ordering::Relaxed);
                barrier.heavy();
                seen.push(light.0.load(Ordering::Relaxed));
            }
            seen
        });
        let mut seen = vec![0; steps as usize];
        for (write, seen) in (1..).zip(&mut seen) {
            light.0.store(write, Ordering::Relaxed);
            barrier.light();
            *seen = heavy.0.load(Ordering::Relaxed);
        }
        over.store(true, Ordering::Relaxed);
        (seen, by_heavy.join().unwrap())
    });
    // The heavy side's write `write` came with a read of the light side's write `seen`: the
    // write after that one was missed, so its read must not miss `write`.
    (1..).zip(&by_heavy).any(|(write, &seen)| {
        by_light
            .get(seen as usize)
            .is_some_and(|&missed| missed < write)
    })
}

// Without it the fast side could be left without the barrier that the kernel makes for it:
// with a fence on the heavy side alone one of these runs fails on x86-64, as a rule.
#[test]
fn one_of_two_sees_the_other() {
    let (runs, steps) = if cfg!(miri) {
        (1, 100)
    } else {
        (10, 2_000_000)
    };
    for barrier in [AsymmetricFence::of_process(), AsymmetricFence::of_fences()] {
        for _ in 0..runs {
            assert!(!both_miss(barrier, steps), "{barrier:?}");
        }
    }
}

// Without it another call of the kernel could be asked for a barrier.
#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn the_numbers_are_those_of_the_c_library() {
    assert_eq!(kernel::MEMBARRIER, libc::SYS_membarrier);
    assert_eq!(
        kernel::PRIVATE_EXPEDITED,
        libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED
    );
    assert_eq!(
        kernel::REGISTER_PRIVATE_EXPEDITED,
        libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED
    );
}

// Without it the child of a fork could end in its first barrier, or have none.
#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn a_child_has_the_registration_of_its_parent() {
    let barrier = AsymmetricFence::of_process();
    // SAFETY: the child makes one system call and leaves.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let done = kernel::try_barrier();
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(done != barrier.by_kernel)) };
    }
    let mut status = -1;
    // SAFETY: `status` outlives the call.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!((waited, status), (child, 0));
}
