//! The streams that a block's memory was used on, by which the next use may need no preparation.

use cupola_core::tag;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use crate::error::Result;
use crate::models::model;
use crate::object_pool::{ObjectPool, Reusable};
use crate::pool::heap::stream_uses::StreamUses;

/// The number of the only stream.
const STREAM: u64 = 7;

/// What a stream of the object pool is to its leases: it may have its next life when the last one has ended.
struct Object {
    leases: AtomicU64,
    /// The life in which it was made to wait for the block's allocation.
    waits_in: AtomicU64,
}

impl Object {
    /// In its first life, with one lease.
    fn new() -> Arc<Self> {
        Arc::new(Self {
            leases: AtomicU64::new(1),
            waits_in: AtomicU64::new(0),
        })
    }
}

/// A lease of the stream.
struct Lease(Arc<Object>);

impl Lease {
    fn again(&self) -> Self {
        self.0.leases.fetch_add(1, Ordering::Relaxed);
        Self(self.0.clone())
    }

    fn is_last(&self) -> bool {
        self.0.leases.load(Ordering::Acquire) == 1
    }

    /// The first lease of the next life, if this one is over.
    fn of_next_life(object: &Arc<Object>) -> Option<Self> {
        let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
        let begun = object.leases.compare_exchange(0, 1, acquire, relaxed);
        begun.is_ok().then(|| Self(object.clone()))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.0.leases.fetch_sub(1, Ordering::Release);
    }
}

/// A use on the stream in this life.
fn use_on(uses: &StreamUses<Lease>, stream: &Lease, life: u64) {
    if !uses.is_prepared(STREAM) {
        prepare(uses, stream, life);
    }
}

/// What the first use does. It does not look before: loom remembers the last access to a word alone, and
/// would not try readers of a word that a thread reads before it writes.
fn prepare(uses: &StreamUses<Lease>, stream: &Lease, life: u64) {
    let mut locked = uses.lock();
    if locked.is_empty() {
        // The driver orders calls for one stream, and nothing else.
        stream.0.waits_in.store(life, Ordering::Relaxed);
        locked.push(stream.again());
    }
    locked.note_prepared(STREAM);
}

// Without it a thread that finds the stream prepared could put work there before the wait that another
// thread puts.
#[test]
fn a_prepared_stream_waits_for_the_allocation() {
    model(&["prepared", "not yet"], |seen| {
        let uses = Arc::new(StreamUses::default());
        let stream = Lease(Object::new());
        let other = thread::spawn({
            let (uses, stream) = (uses.clone(), stream.again());
            move || prepare(&uses, &stream, 1)
        });
        if uses.is_prepared(STREAM) {
            assert_eq!(stream.0.waits_in.load(Ordering::Relaxed), 1);
            seen.note("prepared");
        } else {
            seen.note("not yet");
        }
        other.join().unwrap();
    });
}

// Without it work of a stream's next life, which waits for nothing, could use memory before it is
// allocated, and a free would not wait for it.
#[test]
fn a_stream_is_prepared_in_the_life_that_the_block_has_a_lease_of() {
    model(&["given up", "in use"], |seen| {
        let uses = Arc::new(StreamUses::default());
        let stream = Lease(Object::new());
        let object = stream.0.clone();
        use_on(&uses, &stream, 1);
        drop(stream);
        // A use on another stream, which gives up those that no other lease is of.
        let other = thread::spawn({
            let uses = uses.clone();
            move || uses.lock().retain(|stream| !stream.is_last())
        });
        match Lease::of_next_life(&object) {
            Some(stream) => {
                use_on(&uses, &stream, 2);
                assert_eq!(object.waits_in.load(Ordering::Relaxed), 2);
                seen.note("given up");
            }
            None => seen.note("in use"),
        }
        other.join().unwrap();
        // The leases end before the object, which they refer to.
        uses.lock().retain(|_| false);
    });
}

/// A stream of the object pool itself.
struct Named;

impl Reusable for Named {
    fn is_reusable(&self) -> bool {
        true
    }

    fn destroy(self) -> Result<()> {
        Ok(())
    }
}

// Without it a thread that leases a stream by its name, while the block gives up the last lease, could
// put work there that a free does not wait for.
#[test]
fn a_stream_that_is_leased_by_its_name_is_there_or_not_prepared() {
    model(&["in use", "given up", "a life later"], |seen| {
        let objects = Arc::new(ObjectPool::<Named, tag::Stream>::new(1));
        let uses = Arc::new(StreamUses::default());
        let stream = objects.acquire(0, false, || Ok(Named)).unwrap();
        let name = stream.handle();
        let mut locked = uses.lock();
        locked.push(stream);
        locked.note_prepared(STREAM);
        drop(locked);
        let other = thread::spawn({
            let uses = uses.clone();
            move || uses.lock().retain(|stream| !stream.is_last_by_name())
        });
        let lease = objects.lease(name);
        let is_prepared = uses.is_prepared(STREAM);
        other.join().unwrap();
        seen.note(match (&lease, is_prepared) {
            (Ok(_), true) => {
                assert_eq!(uses.lock().len(), 1, "a free does not wait for it");
                "in use"
            }
            (Ok(_), false) => "given up",
            (Err(_), _) => "a life later",
        });
        uses.lock().retain(|_| false);
    });
}
