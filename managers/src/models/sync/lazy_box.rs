//! A value that the first thread which needs it makes.

use std::sync::Arc as StdArc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loom::cell::UnsafeCell;
use loom::thread;

use crate::models::model;
use crate::sync::lazy_arc::LazyArc;
use crate::sync::lazy_box::LazyBox;

/// Counts how many of them are gone.
struct Thing {
    maker: UnsafeCell<u32>,
    gone: StdArc<AtomicUsize>,
}

// SAFETY: loom fails the model when one is read before it was made.
unsafe impl Send for Thing {}
// SAFETY: loom fails the model when one is read before it was made.
unsafe impl Sync for Thing {}

impl Thing {
    fn new(maker: u32, gone: &StdArc<AtomicUsize>) -> Self {
        let thing = Self {
            maker: UnsafeCell::new(0),
            gone: StdArc::clone(gone),
        };
        // SAFETY: no other thread has it yet.
        thing.maker.with_mut(|at| unsafe { *at = maker });
        thing
    }

    fn maker(&self) -> u32 {
        // SAFETY: loom checks that it was written before.
        self.maker.with(|at| unsafe { *at })
    }
}

impl Drop for Thing {
    fn drop(&mut self) {
        // SAFETY: loom checks that no thread reads it any more.
        self.maker.with_mut(|at| unsafe { *at = 0 });
        self.gone.fetch_add(1, Ordering::Relaxed);
    }
}

// Without it two uses of a buffer on other streams at once could be written into two lists, of
// which one is lost; or a list be read before it is there.
#[test]
fn all_share_what_the_first_has_made() {
    let outcomes = ["found it", "found nothing", "the first", "the second"];
    model(&outcomes, |seen| {
        let gone = StdArc::new(AtomicUsize::new(0));
        let shared = StdArc::new(LazyBox::new());
        let threads = [1, 2].map(|maker| {
            let (shared, gone) = (StdArc::clone(&shared), StdArc::clone(&gone));
            thread::spawn(move || shared.get_or_put(Thing::new(maker, &gone)).maker())
        });
        match shared.get() {
            Some(thing) => {
                assert_ne!(thing.maker(), 0);
                seen.note("found it");
            }
            None => seen.note("found nothing"),
        }
        let [first, second] = threads.map(|thread| thread.join().unwrap());
        assert_eq!(first, second, "two things");
        seen.note(if first == 1 {
            "the first"
        } else {
            "the second"
        });
        assert_eq!(gone.load(Ordering::Relaxed), 1, "the other's own");
        // SAFETY: the others are done.
        let taken = unsafe { shared.take() };
        assert_eq!(taken.map(|thing| thing.maker()), Some(first));
        assert!(shared.get().is_none());
        assert_eq!(gone.load(Ordering::Relaxed), 2);
    });
}

// Without it two names could be given to one buffer, or one be read before it is there.
#[test]
fn all_share_what_was_put_in_first() {
    let outcomes = ["found it", "found nothing", "the first", "the second"];
    model(&outcomes, |seen| {
        let gone = StdArc::new(AtomicUsize::new(0));
        let shared = StdArc::new(LazyArc::new());
        let threads = [1, 2].map(|maker| {
            let (shared, gone) = (StdArc::clone(&shared), StdArc::clone(&gone));
            thread::spawn(move || {
                drop(shared.put(StdArc::new(Thing::new(maker, &gone))));
                // SAFETY: it is taken out when this thread is done.
                unsafe { shared.get() }.map_or(0, Thing::maker)
            })
        });
        // SAFETY: it is taken out at the end.
        match unsafe { shared.get() } {
            Some(thing) => {
                assert_ne!(thing.maker(), 0);
                seen.note("found it");
            }
            None => seen.note("found nothing"),
        }
        let [first, second] = threads.map(|thread| thread.join().unwrap());
        assert_eq!(first, second, "two things");
        seen.note(if first == 1 {
            "the first"
        } else {
            "the second"
        });
        assert_eq!(gone.load(Ordering::Relaxed), 1, "the other's own");
        drop(shared);
        assert_eq!(gone.load(Ordering::Relaxed), 2);
    });
}

// Without it the owner of a buffer could end a name that another thread has not written yet.
#[test]
fn what_is_taken_out_is_whole() {
    model(&["taken out", "left"], |seen| {
        let gone = StdArc::new(AtomicUsize::new(0));
        let shared = StdArc::new(LazyArc::new());
        let other = thread::spawn({
            let (shared, gone) = (StdArc::clone(&shared), StdArc::clone(&gone));
            move || drop(shared.put(StdArc::new(Thing::new(1, &gone))))
        });
        seen.note(match shared.take() {
            Some(thing) => {
                assert_eq!(thing.maker(), 1);
                "taken out"
            }
            None => "left",
        });
        other.join().unwrap();
        drop(shared);
        assert_eq!(gone.load(Ordering::Relaxed), 1);
    });
}
