//! The launches that a stream remembers.

use core::panic::Location;
use std::thread;

use super::rings::RING;
use super::*;

fn named(launches: &Launches, site: &Site) -> Vec<String> {
    let suspects = launches.suspects(site);
    suspects.into_iter().map(|suspect| suspect.kernel).collect()
}

fn launch(launches: &Launches, ring: &Rings, kernel: &CStr, stream: u64) -> Launch {
    let launch = ring.begin(launches.name(kernel), Location::caller(), stream);
    ring.put(launch.unwrap());
    launch.unwrap()
}

/// A thread that has ended has the first ring: all that come now share the other.
fn owned(launches: &Launches, ring: &Rings) {
    thread::scope(|scope| {
        scope.spawn(|| launch(launches, ring, c"owner", 1));
    });
    ring.complete(ring.mark());
}

// Without it a kernel that is known to be complete could be accused, or one that may still
// run be let off.
#[test]
fn suspects_are_what_may_still_run_newest_first() {
    let launches = Launches::default();
    let ring = launches.ring();
    let here = Site::here();
    for kernel in [c"a", c"b"] {
        launch(&launches, &ring, kernel, 1);
    }
    assert_eq!(named(&launches, &here), ["b", "a"]);
    let mark = ring.mark();
    launch(&launches, &ring, c"c", 1);
    ring.complete(mark);
    assert_eq!(
        named(&launches, &here),
        ["c"],
        "launched after the wait began"
    );
    let refused = ring.begin(launches.name(c"d"), Location::caller(), 1);
    ring.refused(refused.unwrap());
    assert_eq!(named(&launches, &here), ["c"]);
    for (ring, mark) in launches.mark() {
        ring.complete(mark);
    }
    assert!(named(&launches, &here).is_empty());
    assert_eq!(launches.blame(&here, true), None);
}

// Without it a wait could let off a launch that the driver did not have yet.
#[test]
fn a_wait_does_not_cover_a_launch_that_is_on_its_way() {
    let launches = Launches::default();
    let ring = launches.ring();
    owned(&launches, &ring);
    launch(&launches, &ring, c"a", 1);
    let begun = ring.begin(launches.name(c"b"), Location::caller(), 1);
    launch(&launches, &ring, c"c", 1);
    ring.complete(ring.mark());
    assert_eq!(named(&launches, &Site::here()), ["c", "b"]);
    ring.put(begun.unwrap());
    ring.complete(ring.mark());
    assert!(named(&launches, &Site::here()).is_empty());
}

// Without it an owner's launch that the driver has refused could be suspected, or hide those before it.
#[test]
fn the_owners_ring_remembers_all_but_the_oldest() {
    let launches = Launches::default();
    let ring = launches.ring();
    let here = Site::here();
    for number in 0..RING - 1 {
        assert!(ring.knows_all());
        launch(&launches, &ring, c"a", number << 25 | 1 << 24);
    }
    assert_eq!(ring.open().len() as u64, RING - 1);
    let refused = ring.begin(launches.name(c"b"), Location::caller(), 1);
    assert_eq!(named(&launches, &here)[0], "b", "it may run");
    ring.refused(refused.unwrap());
    assert_eq!(ring.open().len() as u64, RING - 2);
    assert!(!ring.knows_all(), "the first is forgotten");
    launch(&launches, &ring, c"c", 1);
    assert_eq!(named(&launches, &here)[0], "c");
    ring.complete(ring.mark());
    assert!(ring.open().is_empty() && ring.knows_all());
}

// Without it a thread that is not the owner could write to its ring.
#[test]
fn a_gate_is_open_to_the_owner_alone() {
    let launches = Launches::default();
    let ring = launches.ring();
    ring.open_gate(|| false);
    launch(&launches, &ring, c"a", 1);
    assert!(!ring.is_open());
    ring.open_gate(|| true);
    assert!(ring.is_open());
    thread::scope(|scope| scope.spawn(|| assert!(!ring.is_open())).join().unwrap());
    launches.close_gates();
    assert!(!ring.is_open());
}

// Without it a loop of one kernel could push all others out of the list, the list be without
// end, or one launch be named for certain beside another.
#[test]
fn each_launch_is_named_once_and_at_most_eight() {
    let launches = Launches::default();
    let (ring, other) = (launches.ring(), launches.ring());
    let here = Site::here();
    launch(&launches, &ring, c"rare", 1);
    for _ in 0..10 {
        launch(&launches, &ring, c"often", 1);
    }
    assert_eq!(named(&launches, &here), ["often", "rare"]);
    let certain = |waited| launches.blame(&here, waited);
    assert!(matches!(certain(true).as_deref(), Some(Blame::OneOf(list)) if list.len() == 2));
    for (ring, mark) in launches.mark() {
        ring.complete(mark);
    }
    let first_life = 1 << 24 | 2;
    launch(&launches, &other, c"one", first_life);
    assert!(matches!(certain(false).as_deref(), Some(Blame::OneOf(_))));
    assert!(
        matches!(certain(true).as_deref(), Some(Blame::OneOf(_))),
        "of another call"
    );
    let itself = launches.suspects(&here)[0].site;
    let surely = || launches.blame(&itself, true);
    assert!(matches!(surely().as_deref(), Some(Blame::Launch(one)) if one.kernel == "one"));
    launches.note_unknown();
    assert!(matches!(surely().as_deref(), Some(Blame::OneOf(_))));
    for number in 0..100u64 {
        let kernel = std::ffi::CString::new(format!("k{number}")).unwrap();
        launch(&launches, &ring, &kernel, 1);
    }
    let names = named(&launches, &here);
    assert_eq!((names.len(), &*names[0]), (MOST, "k99"));
    let on_other = Site {
        stream: ManagedHandle::from_bits(3 << 24 | 2),
        ..here
    };
    launch(
        &launches,
        &other,
        c"mine",
        on_other.stream.unwrap().to_bits(),
    );
    assert_eq!(
        named(&launches, &on_other)[0],
        "mine",
        "the failed call's stream first"
    );
}

// Without it a launch could be named for certain although others are forgotten that may still run.
#[test]
fn what_is_forgotten_is_not_let_off() {
    let sure = |launches: &Launches, ring: &Rings| {
        ring.complete(ring.mark());
        launch(launches, ring, c"last", 1);
        let itself = launches.suspects(&Site::here())[0].site;
        let blame = launches.blame(&itself, true);
        matches!(blame.as_deref(), Some(Blame::Launch(_)))
    };
    // More launches than the ring has places for, on a stream that no thread waited for.
    let launches = Launches::default();
    let (ring, other) = (launches.ring(), launches.ring());
    owned(&launches, &other);
    for _ in 0..=RING {
        launch(&launches, &other, c"other", 2);
    }
    assert!(!other.knows_all() && !sure(&launches, &ring));
    other.complete(other.mark());
    assert!(sure(&launches, &ring), "all is waited for");
    // A launch that was on its way for a whole round.
    let held_up = other.begin(launches.name(c"held up"), Location::caller(), 2);
    for _ in 0..RING {
        launch(&launches, &other, c"other", 2);
    }
    other.put(held_up.unwrap());
    other.complete(other.mark());
    assert!(!sure(&launches, &ring));
    // Streams that are gone.
    let launches = Launches::default();
    let ring = launches.ring();
    assert!(sure(&launches, &ring));
    for _ in 0..10 * GONE {
        let gone = launches.ring();
        launch(&launches, &gone, c"gone", 3);
        gone.close();
    }
    for (ring, mark) in launches.mark() {
        ring.complete(mark);
    }
    assert!(!sure(&launches, &ring));
}

// Without it streams that come and go could fill memory.
#[test]
fn streams_that_are_gone_are_forgotten() {
    let launches = Launches::default();
    for _ in 0..10_000 {
        let ring = launches.ring();
        launch(&launches, &ring, c"a", 1);
        ring.close();
    }
    assert!(lock(&launches.streams).len() <= 4 * GONE);
}

// Without it a record that is read while it is written could mix two launches.
#[test]
fn a_record_is_of_one_launch_under_threads() {
    let launches = Launches::default();
    let ring = launches.ring();
    let stop = AtomicBool::new(false);
    let life = |kernel| u64::from(kernel) << 24 | 7;
    thread::scope(|scope| {
        for base in [1u32, 1000] {
            let (ring, stop) = (&ring, &stop);
            scope.spawn(move || {
                // One of the two has the owner's ring.
                for kernel in base..base + 900 {
                    for _ in 0..200 {
                        let launch = ring.begin(kernel, Location::caller(), life(kernel));
                        launch.inspect(|&launch| ring.put(launch));
                    }
                }
                stop.store(true, Ordering::Relaxed);
            });
        }
        while !stop.load(Ordering::Relaxed) {
            for record in ring.open() {
                assert_eq!(record.stream, life(record.kernel));
            }
        }
    });
}
