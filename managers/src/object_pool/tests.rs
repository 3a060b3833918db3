//! The limits up to which an object pool can count.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, OnceLock};

use cupola_core::tag;

use super::word::Word;
use super::{ObjectPool, Reusable, table};
use crate::error::{Error, Result};

/// Counts its own end.
struct Thing(Arc<AtomicUsize>);

impl Reusable for Thing {
    fn is_reusable(&self) -> bool {
        true
    }

    fn destroy(self) -> Result<()> {
        Ok(())
    }
}

impl Drop for Thing {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

type Things = ObjectPool<Thing, tag::Event>;

fn ended() -> Arc<AtomicUsize> {
    Arc::default()
}

fn make(ended: &Arc<AtomicUsize>) -> impl FnOnce() -> Result<Thing> {
    let ended = Arc::clone(ended);
    move || Ok(Thing(ended))
}

/// Leaves the node of this index one name.
fn use_up(things: &Things, index: u32) {
    let node = things.node(index).unwrap();
    node.word.store(Word::LAST_BUT_ONE.0, Ordering::Relaxed);
}

// Without it the names of a node could start again, and an old handle lead to a new life.
#[test]
fn an_object_moves_when_its_names_are_used_up() {
    let (things, ended) = (Things::new(1), ended());
    let first = things.acquire(0, false, make(&ended)).unwrap().handle();
    use_up(&things, 0);
    let last = things.acquire(0, false, make(&ended)).unwrap();
    assert_eq!((last.handle().index(), last.handle() == first), (0, false));
    let name = last.handle();
    drop(last);
    for _ in 0..100 {
        let moved = things.acquire(0, false, make(&ended)).unwrap();
        assert_eq!(moved.handle().index(), 1);
        assert!(matches!(things.lease(name), Err(Error::StaleHandle { .. })));
    }
    let stats = things.stats();
    assert_eq!((stats.created, stats.idle, stats.live), (1, 1, 0));
    assert_eq!(ended.load(Ordering::Relaxed), 0, "the object itself stayed");
    drop(things);
    assert_eq!(ended.load(Ordering::Relaxed), 1);
}

// Without it a full table could be run over, or stay full for good.
#[test]
fn a_full_pool_says_so_and_recovers() {
    let (things, ended) = (Things::new(usize::MAX), ended());
    let acquire = || things.acquire(0, false, make(&ended));
    let mut leases: Vec<_> = (0..table::ROOM).map(|_| acquire().unwrap()).collect();
    for _ in 0..3 {
        assert!(matches!(acquire(), Err(Error::Full { kind: "Event" })));
    }
    let freed = leases.pop().unwrap().handle();
    let again = acquire().unwrap();
    assert_eq!(again.handle().index(), freed.index());
    assert!(matches!(acquire(), Err(Error::Full { .. })));
    assert_eq!(things.stats().created, table::ROOM as u64);
    assert_eq!(ended.load(Ordering::Relaxed), 0);
    drop((leases, again));
    assert_eq!(things.stats().idle, table::ROOM);
    drop(things);
    assert_eq!(ended.load(Ordering::Relaxed), table::ROOM);
}

// Without it an object for which there is no node left could leak, and its place with it.
#[test]
fn an_object_without_a_node_is_destroyed() {
    let (things, ended) = (Things::new(usize::MAX), ended());
    let acquire = || things.acquire(0, false, make(&ended));
    drop(acquire().unwrap());
    use_up(&things, 0);
    drop(acquire().unwrap());
    // Node 0 is exhausted out with the first of these, so there are nodes for one less.
    let leases: Vec<_> = (1..table::ROOM).map(|_| acquire().unwrap()).collect();
    for refused in 1..=3 {
        assert!(matches!(acquire(), Err(Error::Full { .. })));
        assert_eq!(ended.load(Ordering::Relaxed), refused);
    }
    assert_eq!(things.stats().live, table::ROOM - 1);
    drop(leases);
    assert!(acquire().is_ok());
    drop(things);
    assert_eq!(ended.load(Ordering::Relaxed), 3 + table::ROOM - 1);
}

// Without it many threads could find two of them with one object, or lose one.
#[test]
fn thousands_of_threads_have_one_each() {
    const THREADS: usize = 2000;
    let (things, ended) = (Things::new(THREADS), ended());
    let all_have_one = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            let work = || {
                drop(things.acquire(0, false, make(&ended)).unwrap());
                let lease = things.acquire(0, false, make(&ended)).unwrap();
                all_have_one.wait();
                assert!(things.lease(lease.handle()).unwrap().is(&lease));
            };
            let thread = std::thread::Builder::new().stack_size(64 << 10);
            thread.spawn_scoped(scope, work).unwrap();
        }
    });
    let stats = things.stats();
    assert_eq!((stats.live, stats.idle, stats.peak), (0, THREADS, THREADS));
    assert_eq!(stats.created, THREADS as u64);
    drop(things);
    assert_eq!(ended.load(Ordering::Relaxed), THREADS);
}

// Without it a manager could be full for a thread that looked at the stacks one after the other,
// while one object went to a stack behind and another left one ahead.
#[test]
fn what_a_look_has_missed_is_found() {
    let (things, ended) = (Things::new(1), ended());
    drop(things.acquire(0, false, make(&ended)).unwrap());
    // The state after a look that has found nothing.
    let found = things.create(0, false, make(&ended)).unwrap();
    assert_eq!((found.lives(), things.stats().created), (2, 1));
    assert!(matches!(
        things.create(0, false, make(&ended)),
        Err(Error::Full { kind: "Event" })
    ));
}

// Without it a trim could destroy the objects used last, or leave more than it was to keep.
#[test]
fn a_trim_keeps_what_was_used_last() {
    for keep in [0, 1, 2, 3, 9, 10, 11, usize::MAX] {
        let (things, ended) = (Things::new(20), ended());
        let leases: Vec<_> = (0..10)
            .map(|_| things.acquire(0, false, make(&ended)).unwrap())
            .collect();
        let places: Vec<_> = leases.iter().map(|lease| lease.handle().index()).collect();
        for lease in leases {
            drop(lease);
        }
        things.trim(keep).unwrap();
        let kept = keep.min(10);
        assert_eq!(
            (things.stats().idle, ended.load(Ordering::Relaxed)),
            (kept, 10 - kept)
        );
        let again: Vec<_> = (0..kept)
            .map(|_| things.acquire(0, false, make(&ended)).unwrap())
            .collect();
        let again = again.iter().map(|lease| lease.handle().index());
        assert!(again.eq(places.into_iter().rev().take(kept)), "{keep}");
        assert_eq!(things.stats().created, 10);
    }
}

/// Wants another when it is destroyed.
struct Greedy;

static GREEDY: OnceLock<ObjectPool<Greedy, tag::Event>> = OnceLock::new();

impl Reusable for Greedy {
    fn is_reusable(&self) -> bool {
        true
    }

    fn destroy(self) -> Result<()> {
        let others = GREEDY.get().unwrap();
        // An object that waits: none is made.
        others
            .acquire(0, false, || Err(Error::ShutDown { kind: "Event" }))
            .map(drop)
    }
}

// Without it no caller could have an object that a trim keeps, as long as the trim destroys others.
#[test]
fn what_a_trim_keeps_can_be_had_while_it_destroys() {
    let things = GREEDY.get_or_init(|| ObjectPool::new(5));
    let leases: Vec<_> = (0..5)
        .map(|_| things.acquire(0, false, || Ok(Greedy)).unwrap())
        .collect();
    drop(leases);
    things.trim(2).unwrap();
    assert_eq!((things.stats().idle, things.stats().created), (2, 5));
}
