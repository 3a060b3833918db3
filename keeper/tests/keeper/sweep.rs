//! Every call of the driver fails once, in the keeper and in a guest.

use std::error::Error;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use cupola_keeper::{Guest, Keeper, KeeperConfig, KeeperError, Rights, SleepMode};
use cupola_managers::ops;
use cupola_testing::sweep::Outcome;
use cupola_testing::{Machine, Stage, Sweep};

use super::PAGE;

/// How long a guest is waited for: all the while in vain where a fault keeps it from letting go, and else until its
/// thread has run.
const SHORT: Duration = Duration::from_millis(400);

fn life(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let stream = context.streams().acquire(Default::default())?;
    let config = KeeperConfig::limit(8 * PAGE).piece(PAGE);
    let keeper = Keeper::new(&context, config)?;
    let (ours, theirs) = UnixStream::pair()?;
    keeper.serve(ours)?;
    let guest = Guest::connect(theirs, &context)?;
    let told = |error| told(&keeper, error);
    let mut filling = guest
        .create("weights", 2 * PAGE, Rights::Read)
        .map_err(told)?;
    // SAFETY: it is waited for.
    ops::fill(unsafe { filling.slice_mut::<u8>(0..4096)? }, 7, &stream)?;
    if let Err(error) = ops::synchronize(&stream) {
        // A wait that failed was none, and the object ends now.
        ops::synchronize(&stream)?;
        return Err(error.into());
    }
    let kept = filling.seal(*b"seven")?;
    // A successor's.
    let again = guest.open("weights", Rights::Read)?;
    drop(again);
    // What is dropped is told without an answer: the keeper has done it when it answers this.
    assert_eq!(guest.list()?.len(), 1);
    let (attended, slept) = thread::scope(|threads| {
        let sleep = threads.spawn(|| keeper.sleep("weights", SleepMode::HostCopy, SHORT));
        let attended = guest.attend_for(SHORT);
        (attended, sleep.join().expect("the keeper does not panic"))
    });
    attended?;
    match slept {
        // An opening that was dropped may not be unmapped: its driver has refused that.
        Err(KeeperError::InUse { .. }) => return Ok(()),
        slept => slept?,
    }
    kept.wake().map_err(told)?;
    // SAFETY: it is waited for.
    let front = unsafe { kept.slice::<u8>(0..4)? };
    assert_eq!(front.to_vec(&stream)?, [7; 4]);
    keeper.remove("weights")?;
    drop(kept);
    assert_eq!(guest.list()?.len(), 0);
    Ok(())
}

/// What the keeper knows of an error that a guest has as a number.
fn told(keeper: &Keeper, error: KeeperError) -> Box<dyn Error> {
    match (error, keeper.last_error()) {
        (KeeperError::KeeperDriver { .. } | KeeperError::OutOfMemory { .. }, Some(error)) => {
            Box::new(error)
        }
        (error, _) => error.into(),
    }
}

// Without it a call that fails half-way through a creation, an opening, a sleep or a wake could leak memory, leave the
// limit charged, or leave a side waiting for the other.
#[test]
fn every_call_may_fail() {
    let machine = Machine::builder().worker_threads(1);
    // One of each kind: a refusal, a driver that has shut down, a lost context.
    let sweep = Sweep::new(machine, life).codes([2, 4, 719]);
    let table = sweep.title("a keeper and a guest").run();
    println!("{table}");
    let problems = table.problems();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
