//! Random operations from several threads, against a model: a million in all, on the
//! software device.
//!
//! Each case has a seed of its own, from which everything follows but the interleaving. A failure
//! or a hang names it; `CUPOLA_SEED=N` runs that case alone, `CUPOLA_OPERATIONS=N` changes how
//! many operations there are in all.
//!
//! What a thread knows to be so it demands: what its buffers hold, that handles which it did
//! not end are good, that those it ended are refused for ever, figures of the managers at
//! the end. Where another thread may have interfered (it may shut a manager down at any
//! time) it demands that the answer is one of those that the documentation allows.

mod shared;
mod worker;

use cupola_random::Random;
use std::sync::atomic::{AtomicU64, Ordering};

use cupola_managers::ExecutionManager;
use cupola_sim::Machine;
use quickcheck::{QuickCheck, TestResult};

use shared::Shared;
use worker::{Tally, Worker};

const THREADS: u64 = 3;
/// Operations of one case, of all threads.
const CASE: u64 = 4_000;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Ends the process when a case takes so long that it must hang, and names it.
struct Watchdog(Option<(std::sync::mpsc::Sender<()>, std::thread::JoinHandle<()>)>);

impl Watchdog {
    fn start(seed: u64) -> Self {
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            use std::sync::mpsc::RecvTimeoutError::Timeout;
            if wait.recv_timeout(std::time::Duration::from_secs(120)) == Err(Timeout) {
                eprintln!("hangs with CUPOLA_SEED={seed}");
                std::process::abort();
            }
        });
        Self(Some((done, thread)))
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some((done, thread)) = self.0.take() {
            drop(done);
            let _ = thread.join();
        }
    }
}

/// One case. What the operations came to.
fn case(seed: u64) -> Tally {
    let _watchdog = Watchdog::start(seed);
    let machine = Machine::builder().worker_threads(1).build();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let watch = execution.watch();
    let shared = Shared::new(&execution, seed);
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        let shared = &shared;
        let threads: Vec<_> = (0..THREADS)
            .map(|n| {
                scope.spawn(move || {
                    let mut worker = Worker::new(shared, Random::new(seed ^ (n + 1) << 56));
                    for _ in 0..CASE / THREADS {
                        worker.step();
                    }
                    worker.finish()
                })
            })
            .collect();
        for thread in threads {
            match thread.join() {
                Ok(of_thread) => tally += of_thread,
                // Its message names what went wrong; quickcheck adds the seed.
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    shared.finish();
    drop(execution);
    let live = watch.live();
    assert!(live.is_empty(), "left over: {live:?}");
    assert_eq!(machine.leaks(), None);
    let findings: Vec<_> = machine.findings().iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "strict mode found: {findings:#?}");
    tally
}

// Without it a sequence of calls that no other test makes could leak, mix up lives, lose
// writes, or hang.
#[test]
fn a_million_operations_agree_with_the_model() {
    static DONE: AtomicU64 = AtomicU64::new(0);
    static TALLY: std::sync::Mutex<Tally> = std::sync::Mutex::new(Tally::ZERO);
    if let Some(seed) = number("CUPOLA_SEED") {
        println!("seed {seed}: {:?}", case(seed));
        return;
    }
    let operations = number("CUPOLA_OPERATIONS").unwrap_or(1_000_000);
    fn property(seed: u64) -> TestResult {
        let tally = std::panic::catch_unwind(|| case(seed)).unwrap_or_else(|panic| {
            eprintln!("failed with CUPOLA_SEED={seed}");
            std::panic::resume_unwind(panic)
        });
        DONE.fetch_add(CASE / THREADS * THREADS, Ordering::Relaxed);
        *TALLY.lock().unwrap() += tally;
        TestResult::passed()
    }
    let cases = operations.div_ceil(CASE / THREADS * THREADS);
    let base = number("CUPOLA_BASE_SEED").unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(1, |now| now.as_nanos() as u64)
    });
    println!("CUPOLA_BASE_SEED={base}");
    QuickCheck::new()
        .rng(quickcheck::Gen::from_size_and_seed(100, base))
        .tests(cases)
        .max_tests(cases)
        .quickcheck(property as fn(u64) -> TestResult);
    let tally = *TALLY.lock().unwrap();
    println!(
        "{} operations in {cases} cases: {tally:?}",
        DONE.load(Ordering::Relaxed)
    );
    assert!(DONE.load(Ordering::Relaxed) >= operations);
    // A test of refusals only would prove little, and so would one without.
    let done = tally.done as f64 / (tally.done + tally.refused) as f64;
    assert!((0.5..0.9999).contains(&done), "{tally:?}");
}
