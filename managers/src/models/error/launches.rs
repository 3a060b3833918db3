//! The launches that streams remember, while several threads launch on one. Under loom a ring has
//! two entries.

use core::panic::Location;
use std::sync::Arc;

use cupola_core::tag;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

use crate::error::{Blame, Launch, LaunchSite, Launches, Rings, Site};
use crate::handle::ManagedHandle;
use crate::models::model;

/// A launch whose kernel, place and life of the stream go together, and its name.
#[derive(Clone, Copy)]
struct Known {
    name: &'static str,
    kernel: u32,
    location: &'static Location<'static>,
    stream: Option<ManagedHandle<tag::Stream>>,
}

impl Known {
    #[track_caller]
    fn new(launches: &Launches, number: u32, name: &'static std::ffi::CStr) -> Self {
        Self {
            name: name.to_str().unwrap(),
            kernel: launches.name(name),
            location: Location::caller(),
            stream: ManagedHandle::from_bits(u64::from(2 * number + 1) << 24 | 3),
        }
    }

    fn begin(&self, ring: &Rings) -> Option<Launch> {
        let stream = self.stream.unwrap().to_bits();
        ring.begin(self.kernel, self.location, stream)
    }

    /// Whether it is remembered.
    fn launch(&self, ring: &Rings) -> bool {
        let launch = self.begin(ring);
        launch.inspect(|&launch| ring.put(launch)).is_some()
    }

    fn is(&self, suspect: &LaunchSite) -> bool {
        let same = (suspect.site.stream, suspect.site.location) == (self.stream, self.location);
        let named = suspect.kernel == self.name;
        assert_eq!(named, same, "torn: {suspect:?}");
        named
    }
}

/// Three launches, each with a line of its own.
fn three(launches: &Launches) -> [Known; 3] {
    [
        Known::new(launches, 1, c"a"),
        Known::new(launches, 2, c"b"),
        Known::new(launches, 3, c"c"),
    ]
}

/// A thread that has ended has the first ring: all that come now share the other.
fn owned(ring: &Arc<Rings>, known: Known) {
    let owner = Arc::clone(ring);
    thread::spawn(move || assert!(known.launch(&owner)))
        .join()
        .unwrap();
    ring.complete(ring.mark());
}

fn suspects(launches: &Launches) -> Vec<LaunchSite> {
    match launches.blame(&Site::here(), false).as_deref() {
        None => Vec::new(),
        Some(Blame::OneOf(list)) => list.clone(),
        Some(other) => panic!("{other:?}"),
    }
}

// Without it a stream could be forgotten with a launch that may still run, and an error of that be put down to
// none, or for certain to another.
#[test]
fn a_stream_that_is_gone_takes_no_launch_along() {
    model(&[], |_| {
        let launches = Arc::new(Launches::default());
        // As many as the list has room for: the next one is where gone streams are forgotten.
        let rings: Vec<_> = (0..4).map(|_| launches.ring()).collect();
        let known = Known::new(&launches, 1, c"a");
        let ring = Arc::clone(&rings[0]);
        let gone = thread::spawn(move || {
            assert!(known.launch(&ring));
            ring.close();
        });
        let _next = launches.ring();
        gone.join().unwrap();
        assert!(suspects(&launches).iter().any(|suspect| known.is(suspect)));
    });
}

// Without it an error could be put down to a kernel with the line of another, or to a launch
// that never was.
#[test]
fn a_suspect_is_one_launch_that_was() {
    model(&["one", "two"], |seen| {
        let launches = Arc::new(Launches::default());
        let ring = launches.ring();
        let known = three(&launches);
        owned(&ring, known[0]);
        known[0].launch(&ring);
        known[1].launch(&ring);
        let other = thread::spawn({
            let ring = Arc::clone(&ring);
            move || assert!(known[2].launch(&ring))
        });
        let named = suspects(&launches);
        for suspect in &named {
            let of = known.iter().filter(|one| one.is(suspect)).count();
            assert_eq!(of, 1, "invented: {suspect:?}");
        }
        seen.note(["none", "one", "two"][named.len()]);
        other.join().unwrap();
        let named = suspects(&launches);
        assert!(
            named
                .iter()
                .all(|suspect| known.iter().any(|one| one.is(suspect)))
        );
    });
}

// Without it an error could be put down to a kernel of the owner with the line of another, or with another life of the
// stream.
#[test]
fn a_suspect_is_one_launch_of_the_owner() {
    model(&["none", "first", "second", "third"], |seen| {
        let launches = Arc::new(Launches::default());
        let ring = launches.ring();
        let known = three(&launches);
        let owner = thread::spawn({
            let ring = Arc::clone(&ring);
            move || known.iter().for_each(|one| assert!(one.launch(&ring)))
        });
        // One launch is remembered, while the place of the next is written.
        let named = suspects(&launches);
        assert!(named.len() <= 1, "{named:?}");
        let of = named
            .iter()
            .map(|suspect| known.iter().position(|one| one.is(suspect)));
        seen.note(match of.last() {
            None => "none",
            Some(Some(0)) => "first",
            Some(Some(1)) => "second",
            Some(Some(_)) => "third",
            Some(None) => panic!("invented: {named:?}"),
        });
        owner.join().unwrap();
        assert!(known[2].is(&suspects(&launches)[0]));
    });
}

// Without it a launch could begin without a question on a context that is lost, or is checked since.
#[test]
fn a_gate_that_is_closed_stays_closed() {
    model(&["opened", "refused"], |seen| {
        let launches = Arc::new(Launches::default());
        let ring = launches.ring();
        let known = Known::new(&launches, 1, c"a");
        assert!(known.launch(&ring) && !ring.is_open());
        let allowed = loom::sync::Arc::new(AtomicBool::new(true));
        let other = thread::spawn({
            let allowed = allowed.clone();
            move || {
                allowed.store(false, Ordering::Relaxed);
                launches.close_gates();
            }
        });
        ring.open_gate(|| allowed.load(Ordering::Relaxed));
        seen.note(if ring.is_open() { "opened" } else { "refused" });
        other.join().unwrap();
        assert!(!ring.is_open());
    });
}

// Without it two threads could take the owner's ring together, and a launch be forgotten without a sign.
#[test]
fn one_thread_has_the_first_ring() {
    model(&["main", "other"], |seen| {
        let launches = Arc::new(Launches::default());
        let ring = launches.ring();
        let known = [
            Known::new(&launches, 1, c"a"),
            Known::new(&launches, 2, c"b"),
        ];
        let other = thread::spawn({
            let ring = Arc::clone(&ring);
            move || known[0].begin(&ring)
        });
        let mine = known[1].begin(&ring);
        other.join().unwrap();
        assert_eq!(suspects(&launches).len(), 2);
        seen.note(match mine.unwrap() {
            Launch::Owners(_) => "main",
            Launch::Others(_) => "other",
        });
    });
}

// Without it two threads that share a ring could write one entry together, or one wait for the
// other for ever, or a launch be forgotten without a sign.
#[test]
fn an_entry_is_written_by_one() {
    model(&["all", "not all"], |seen| {
        let launches = Arc::new(Launches::default());
        let ring = launches.ring();
        let known = [
            Known::new(&launches, 1, c"a"),
            Known::new(&launches, 2, c"b"),
            Known::new(&launches, 3, c"c"),
            Known::new(&launches, 4, c"d"),
        ];
        owned(&ring, known[0]);
        let other = thread::spawn({
            let ring = Arc::clone(&ring);
            move || known[0].launch(&ring)
        });
        let mine = [1, 2, 3].map(|one| known[one].launch(&ring));
        let others = other.join().unwrap();
        let named = suspects(&launches);
        for suspect in &named {
            let of = known.iter().filter(|one| one.is(suspect)).count();
            assert_eq!(of, 1, "invented: {suspect:?}");
        }
        let remembered = mine.into_iter().chain([others]).filter(|it| *it).count();
        assert_eq!(named.len(), remembered.min(2));
        ring.complete(ring.mark());
        seen.note(if remembered == 4 { "all" } else { "not all" });
        assert!(remembered == 4 || !ring.knows_all());
    });
}

// Without it a kernel that still runs could be let off by a wait that began before the driver
// had it.
#[test]
fn a_wait_lets_off_only_what_it_waited_for_of_the_owner() {
    waits(|_, _| ());
}

// Without it that could happen to a kernel of another thread than the owner.
#[test]
fn a_wait_lets_off_only_what_it_waited_for() {
    waits(owned);
}

/// Waits for a launch of another thread, which is the owner unless `prepare` makes another one that.
fn waits(prepare: fn(&Arc<Rings>, Known)) {
    model(&["waited for", "suspect"], move |seen| {
        let launches = Arc::new(Launches::default());
        let ring = launches.ring();
        let known = Known::new(&launches, 1, c"a");
        prepare(&ring, known);
        // Whether the device has been given the launch.
        let is_given = loom::sync::Arc::new(AtomicBool::new(false));
        let other = thread::spawn({
            let (ring, is_given) = (Arc::clone(&ring), is_given.clone());
            move || {
                let launch = known.begin(&ring);
                is_given.store(true, Ordering::SeqCst);
                ring.put(launch.unwrap());
            }
        });
        let mark = ring.mark();
        let is_waited_for = is_given.load(Ordering::SeqCst);
        ring.complete(mark);
        other.join().unwrap();
        let named = suspects(&launches);
        if !is_waited_for {
            assert!(named.len() == 1 && known.is(&named[0]), "let off");
        }
        seen.note(if named.is_empty() {
            "waited for"
        } else {
            "suspect"
        });
        // Known to be with the driver now, so a wait covers it.
        ring.complete(ring.mark());
        assert!(suspects(&launches).is_empty());
    });
}

// Without it an error could be put down to one launch for certain while another one runs, which was
// overwritten before the driver had it.
#[test]
fn a_launch_that_is_forgotten_on_its_way_is_known_to_be() {
    model(&["forgotten", "remembered"], |seen| {
        let launches = Arc::new(Launches::default());
        let ring = launches.ring();
        let known = three(&launches);
        owned(&ring, known[0]);
        let on_its_way = known[0].begin(&ring).unwrap();
        let other = thread::spawn({
            let ring = Arc::clone(&ring);
            move || {
                assert!(known[1].launch(&ring) && known[2].launch(&ring));
            }
        });
        let mark = ring.mark();
        ring.complete(mark);
        if mark.covers(on_its_way) {
            assert!(!ring.knows_all(), "let off");
            seen.note("forgotten");
        } else {
            seen.note("remembered");
        }
        other.join().unwrap();
    });
}
