//! What is refused, and by which error; and that it changes nothing.

use std::time::Duration;

use cupola_keeper::{KeeperConfig, KeeperError, ObjectState, Rights, SleepMode};

use super::{Bench, PAGE};

const NOW: Duration = Duration::ZERO;
/// How long a notice of the keeper is waited for: its thread may have to send it.
const LONG: Duration = Duration::from_secs(20);

/// The refusal is this one, and says so.
macro_rules! refused {
    ($call:expr, $wanted:pat) => {{
        let error = $call.map(drop).unwrap_err();
        assert!(matches!(error, $wanted), "{error:?}");
        assert!(!error.to_string().is_empty());
    }};
}

// Without it an order that makes no sense could be taken, or its refusal name the wrong thing to do.
#[test]
fn every_illegal_order_is_a_typed_error() {
    let config = KeeperConfig::limit(8 * PAGE).objects(3).guests(2);
    let bench = Bench::new(config);
    let (first, second) = (bench.guest(), bench.guest());
    let keeper = &bench.keeper;

    let (ours, _theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    refused!(
        keeper.serve(ours),
        KeeperError::Full {
            what: "guests",
            most: 2
        }
    );

    // Names and sizes.
    let long = "x".repeat(256);
    refused!(
        first.create("", PAGE, Rights::Read),
        KeeperError::Invalid { field: "name", .. }
    );
    refused!(
        first.create(&long, PAGE, Rights::Read),
        KeeperError::Invalid { field: "name", .. }
    );
    refused!(
        first.create("none", 0, Rights::Read),
        KeeperError::Invalid { field: "bytes", .. }
    );
    refused!(
        first.create("all", u64::MAX, Rights::Read),
        KeeperError::Invalid { field: "bytes", .. }
    );
    refused!(
        first.create("much", 9 * PAGE, Rights::Read),
        KeeperError::OverLimit {
            used: 0,
            limit: 16_777_216,
            ..
        }
    );
    assert!(keeper.objects().is_empty());

    // What is not sealed.
    let mut filling = first.create("a", PAGE, Rights::Read).unwrap();
    for guest in [&first, &second] {
        refused!(
            guest.create("a", PAGE, Rights::Read),
            KeeperError::Exists { .. }
        );
        refused!(guest.open("a", Rights::Read), KeeperError::Filling { .. });
        refused!(guest.remove("a"), KeeperError::Filling { .. });
        refused!(guest.refill("a"), KeeperError::Filling { .. });
    }
    refused!(
        keeper.sleep("a", SleepMode::HostCopy, NOW),
        KeeperError::Filling { .. }
    );
    refused!(keeper.wake("a"), KeeperError::Filling { .. });
    refused!(
        // SAFETY: no work is given it.
        unsafe { filling.slice_mut::<u8>(0..PAGE as usize + 1) },
        KeeperError::Invalid { .. }
    );
    // One that is given up is no more.
    drop(filling);
    refused!(first.open("a", Rights::Read), KeeperError::NotFound { .. });
    let filling = first.create("a", PAGE, Rights::Read).unwrap();
    refused!(
        filling.seal(vec![0; 4097]),
        KeeperError::Invalid {
            field: "description",
            ..
        }
    );

    // What is sealed.
    let mut kept = bench.seal(&first, "a", PAGE, 1);
    refused!(
        second.create("a", PAGE, Rights::Read),
        KeeperError::Exists { .. }
    );
    refused!(
        second.open("a", Rights::ReadWrite),
        KeeperError::ReadOnly { .. }
    );
    refused!(second.refill("a"), KeeperError::NotDiscarded { .. });
    // SAFETY: no work is given them.
    unsafe {
        refused!(kept.slice_mut::<u8>(0..1), KeeperError::ReadOnly { .. });
        refused!(
            kept.slice::<u64>(0..PAGE as usize),
            KeeperError::Invalid { .. }
        );
        refused!(
            kept.slice::<u64>(usize::MAX - 1..usize::MAX),
            KeeperError::Invalid { .. }
        );
    }

    // A name that no object has.
    refused!(second.open("b", Rights::Read), KeeperError::NotFound { .. });
    refused!(second.remove("b"), KeeperError::NotFound { .. });
    refused!(second.refill("b"), KeeperError::NotFound { .. });
    refused!(keeper.remove("b"), KeeperError::NotFound { .. });
    refused!(
        keeper.sleep("b", SleepMode::Discard, NOW),
        KeeperError::NotFound { .. }
    );
    refused!(keeper.wake("b"), KeeperError::NotFound { .. });

    // Sleep.
    let Err(KeeperError::InUse { guests, .. }) = keeper.sleep("a", SleepMode::Discard, NOW) else {
        panic!("it is mapped");
    };
    assert_eq!(guests, [std::process::id()]);
    assert_eq!(keeper.objects()[0].state, ObjectState::Awake);
    bench.assert_filled(&kept, 1);
    assert_eq!(first.attend_for(LONG).unwrap(), 1);
    // Told without an answer, and done before this is answered.
    assert_eq!(first.list().unwrap().len(), 1);
    keeper.sleep("a", SleepMode::HostCopy, NOW).unwrap();
    refused!(
        keeper.sleep("a", SleepMode::HostCopy, NOW),
        KeeperError::Asleep { .. }
    );
    refused!(first.refill("a"), KeeperError::NotDiscarded { .. });
    refused!(
        // SAFETY: no work is given it.
        unsafe { kept.slice::<u8>(0..1) },
        KeeperError::Asleep { .. }
    );
    keeper.wake("a").unwrap();
    keeper.wake("a").unwrap();
    keeper.sleep("a", SleepMode::Discard, NOW).unwrap();
    refused!(keeper.wake("a"), KeeperError::Discarded { .. });
    refused!(kept.wake(), KeeperError::Discarded { .. });
    refused!(
        second.open("a", Rights::Read),
        KeeperError::Discarded { .. }
    );
    refused!(
        keeper.sleep("a", SleepMode::Discard, NOW),
        KeeperError::Discarded { .. }
    );
    let refilled = second.refill("a").unwrap();
    refused!(kept.wake(), KeeperError::Filling { .. });
    drop(refilled);
    // Told without an answer, and done before this is answered.
    assert_eq!(second.list().unwrap().len(), 1);
    refused!(kept.wake(), KeeperError::Discarded { .. });

    // Removed while it is open here.
    second.remove("a").unwrap();
    refused!(
        kept.wake(),
        KeeperError::NotFound { .. } | KeeperError::NotHeld { .. }
    );

    // As many as there may be.
    let others = ["x", "y", "z"].map(|name| bench.seal(&first, name, PAGE, 2));
    refused!(
        first.create("more", PAGE, Rights::Read),
        KeeperError::Full {
            what: "objects",
            most: 3
        }
    );
    drop((others, kept));
    assert_eq!(first.list().unwrap().len(), 3);
    assert_eq!(keeper.used(), 3 * PAGE);

    // A guest whose keeper has ended has what it has mapped.
    let last = first.open("x", Rights::Read).unwrap();
    let Bench {
        keeper,
        stream,
        context,
        machine,
    } = bench;
    drop(keeper);
    refused!(first.open("y", Rights::Read), KeeperError::Disconnected);
    refused!(first.attend(), KeeperError::Disconnected);
    // SAFETY: it is waited for.
    let front = unsafe { last.slice::<u8>(0..2).unwrap() };
    assert_eq!(front.to_vec(&stream).unwrap(), [2, 2]);
    drop((last, first, second, stream, context));
    assert_eq!(machine.leaks(), None);
}

// Without it a guest could write through addresses that it was given to read, after the seal or before.
#[test]
fn only_those_write_that_may() {
    let bench = Bench::new(KeeperConfig::limit(4 * PAGE).piece(PAGE));
    let (first, second) = (bench.guest(), bench.guest());
    let creator = bench.seal_for(&first, "cache", 2 * PAGE, 1, Rights::ReadWrite);
    assert_eq!(creator.rights(), Rights::Read);
    let mut writer = second.open("cache", Rights::ReadWrite).unwrap();
    let all = 2 * PAGE as usize;
    // SAFETY: it is waited for, and nothing else runs.
    let slice = unsafe { writer.slice_mut::<u8>(0..all).unwrap() };
    cupola_managers::ops::fill(slice, 9, &bench.stream).unwrap();
    cupola_managers::ops::synchronize(&bench.stream).unwrap();
    bench.assert_filled(&creator, 9);
    assert_eq!(second.list().unwrap()[0].guests, 2);
    drop((creator, writer, first, second));
    bench.finish();
}

// Without it a removed object could be lost to those that have it, or its bytes be given to others at once.
#[test]
fn a_removed_object_counts_until_the_last_has_let_it_go() {
    let bench = Bench::new(KeeperConfig::limit(2 * PAGE));
    let (first, second) = (bench.guest(), bench.guest());
    let kept = bench.seal(&first, "a", 2 * PAGE, 3);
    let other = second.open("a", Rights::Read).unwrap();
    bench.keeper.remove("a").unwrap();
    assert!(bench.keeper.objects().is_empty());
    refused!(second.open("a", Rights::Read), KeeperError::NotFound { .. });
    refused!(
        second.create("a", PAGE, Rights::Read),
        KeeperError::OverLimit { .. }
    );
    drop(kept);
    assert!(first.list().unwrap().is_empty());
    assert_eq!(bench.keeper.used(), 2 * PAGE);
    bench.assert_filled(&other, 3);
    drop(other);
    // What a guest has said before is done before what it asks.
    drop(bench.seal(&second, "a", 2 * PAGE, 4));
    drop((first, second));
    bench.finish();
}

// Without it two objects of several pieces could each have a part of what is left, and both be refused though either fits.
#[test]
fn one_of_two_that_come_at_once_fits() {
    let bench = Bench::new(KeeperConfig::limit(8 * PAGE).piece(PAGE));
    let guests = [bench.guest(), bench.guest()];
    let asleep = bench.seal(&guests[0], "c", 5 * PAGE, 1);
    drop(asleep);
    assert_eq!(guests[0].list().unwrap().len(), 1);
    bench.keeper.sleep("c", SleepMode::HostCopy, NOW).unwrap();
    for round in 0..200 {
        let begin = std::sync::Barrier::new(3);
        let (first, second, woken) = std::thread::scope(|threads| {
            let [first, second] = [(&guests[0], "a"), (&guests[1], "b")].map(|(guest, name)| {
                let begin = &begin;
                threads.spawn(move || {
                    begin.wait();
                    guest.create(name, 5 * PAGE, Rights::Read)
                })
            });
            begin.wait();
            let woken = bench.keeper.wake("c");
            (first.join().unwrap(), second.join().unwrap(), woken)
        });
        let fit = [first.is_ok(), second.is_ok(), woken.is_ok()];
        assert_eq!(fit.iter().filter(|&&fits| fits).count(), 1, "round {round}");
        drop((first, second));
        if woken.is_ok() {
            bench.keeper.sleep("c", SleepMode::HostCopy, NOW).unwrap();
        }
        // Told without an answer, and done before this is answered.
        let listed = [0, 1, 0].map(|guest: usize| guests[guest].list().unwrap().len());
        assert_eq!(listed[2], 1, "round {round}");
    }
    drop(guests);
    bench.finish();
}
