//! `SharedRing`: the newest launches of the threads that are not the owner of a stream's first ring.
//!
//! They write its entries one after the other, and hand them to the driver side by side. One that finds another held
//! up in between goes on, and its launch is not remembered: none waits for long, and no entry is ever
//! written by two.

use core::panic::Location;
use core::ptr;

use super::rings::{RING, Record};
use crate::sync::spin_lock::SpinLock;
use crate::sync::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};

/// How often a thread looks whether another one is done with its entry. Under loom not for long.
const LOOKS: u32 = if cfg!(loom) { 2 } else { 100 };

/// The newest launches of several threads. Any may read.
#[derive(Debug)]
pub(super) struct SharedRing {
    /// Had by the thread that writes an entry.
    turn: SpinLock<()>,
    /// The number of the next launch, for the thread that has the turn. Not `begun`: loom remembers the last
    /// access to a word alone, and would not try readers of a word that a thread reads before it writes.
    next: AtomicU64,
    /// Launches begun so far.
    begun: AtomicU64,
    /// The launches before this one are complete.
    done: AtomicU64,
    /// A launch is not remembered that the driver may not have had yet.
    lost_one: AtomicBool,
    entries: [Entry; RING as usize],
}

impl SharedRing {
    pub(super) fn new() -> Self {
        Self {
            turn: SpinLock::new(()),
            next: AtomicU64::new(0),
            begun: AtomicU64::new(0),
            done: AtomicU64::new(0),
            lost_one: AtomicBool::new(false),
            entries: core::array::from_fn(|_| Entry::new()),
        }
    }

    fn entry(&self, launch: u64) -> &Entry {
        &self.entries[(launch % RING) as usize]
    }

    /// Records a launch that is about to be put on the stream, and gives it a number, if it can be remembered.
    pub(super) fn begin(&self, record: Record) -> Option<u64> {
        let Some(_turn) = self.turn.try_lock(LOOKS) else {
            self.lose_one();
            return None;
        };
        let launch = self.next.load(Ordering::Relaxed);
        if self.entry(launch).is_on_its_way() {
            self.lose_one();
        }
        self.next.store(launch + 1, Ordering::Relaxed);
        self.entry(launch).begin(launch, record);
        self.begun.store(launch + 1, Ordering::Relaxed);
        Some(launch)
    }

    /// A launch is not remembered.
    #[cold]
    fn lose_one(&self) {
        self.lost_one.store(true, Ordering::Relaxed);
    }

    /// The driver has taken it.
    pub(super) fn put(&self, launch: u64) {
        self.entry(launch).put(launch);
    }

    /// The driver has refused it.
    pub(super) fn refused(&self, launch: u64) {
        self.entry(launch).refused(launch);
    }

    /// The launches that a wait which begins now covers: those below this number, which the driver
    /// has by now.
    pub(super) fn mark(&self) -> u64 {
        let next = self.begun.load(Ordering::Relaxed);
        if mutant!("launches_mark_covers_all") {
            return next;
        }
        let mut mark = next;
        for launch in self.oldest(next)..next {
            if let Some(oldest) = self.entry(launch).on_its_way(launch) {
                mark = mark.min(oldest);
            }
        }
        mark
    }

    fn oldest(&self, next: u64) -> u64 {
        let done = self.done.load(Ordering::Relaxed);
        done.max(next.saturating_sub(RING))
    }

    /// A wait that began with this mark has succeeded.
    pub(super) fn complete(&self, mark: u64) {
        if self.done.load(Ordering::Relaxed) < mark {
            self.done.fetch_max(mark, Ordering::Relaxed);
        }
    }

    /// Whether every launch that may still run is remembered.
    pub(super) fn knows_all(&self) -> bool {
        let next = self.begun.load(Ordering::Relaxed);
        let forgotten = next.saturating_sub(RING);
        !self.lost_one.load(Ordering::Relaxed) && self.done.load(Ordering::Relaxed) >= forgotten
    }

    /// Adds the launches that may still run, newest first.
    pub(super) fn add_open(&self, open: &mut Vec<Record>) {
        let next = self.begun.load(Ordering::Relaxed);
        let launches = (self.oldest(next)..next).rev();
        open.extend(launches.filter_map(|launch| self.entry(launch).read(launch)));
    }
}

/// The place of a launch in a ring, which newer launches take after it.
#[derive(Debug)]
struct Entry {
    /// The launch and its state, see [`word`]. Written first and last, and read before and
    /// after.
    turn: AtomicU64,
    /// The launch, plus one, once the driver has taken it.
    put: AtomicU64,
    location: AtomicPtr<Location<'static>>,
    kernel: AtomicU32,
    stream: AtomicU64,
}

/// The launch is being written.
const WRITING: u64 = 1;
/// It is on its way to the driver, or there.
const BEGUN: u64 = 2;
/// The driver has refused it.
const REFUSED: u64 = 3;

fn word(launch: u64, state: u64) -> u64 {
    (launch + 1) << 2 | state
}

impl Entry {
    fn new() -> Self {
        Self {
            turn: AtomicU64::new(0),
            put: AtomicU64::new(0),
            location: AtomicPtr::new(ptr::null_mut()),
            kernel: AtomicU32::new(0),
            stream: AtomicU64::new(0),
        }
    }

    /// Whether the launch that is here is on its way: no wait will tell that it is complete, once it is
    /// forgotten. For the only thread that writes now.
    fn is_on_its_way(&self) -> bool {
        let turn = self.turn.load(Ordering::Relaxed);
        turn & 3 == BEGUN && self.put.load(Ordering::Relaxed) != turn >> 2
    }

    /// Writes a launch that is about to be put on the stream, as the only thread that writes now.
    fn begin(&self, launch: u64, record: Record) {
        // Release: a thread that sees the newer launch here sees that an older one was lost.
        self.turn.store(word(launch, WRITING), Ordering::Release);
        // Release: a thread that sees one of the fields sees that they are being written.
        fence(Ordering::Release);
        let location = ptr::from_ref(record.location).cast_mut();
        self.location.store(location, Ordering::Relaxed);
        self.kernel.store(record.kernel, Ordering::Relaxed);
        self.stream.store(record.stream, Ordering::Relaxed);
        self.turn.store(word(launch, BEGUN), Ordering::Release);
    }

    /// The driver has taken the launch.
    fn put(&self, launch: u64) {
        // Should a newer launch take the entry just now, it may stay suspect for too long.
        if self.turn.load(Ordering::Relaxed) == word(launch, BEGUN) {
            self.put.store(launch + 1, Ordering::Release);
        }
    }

    /// The driver has refused the launch.
    fn refused(&self, launch: u64) {
        let (begun, refused) = (word(launch, BEGUN), word(launch, REFUSED));
        // Relaxed: an exchange, which passes on what `begin` has released.
        let _ = self
            .turn
            .compare_exchange(begun, refused, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The oldest launch that the driver may not have yet, as far as this launch's entry tells: this
    /// one, or an older one whose place it has yet to take.
    fn on_its_way(&self, launch: u64) -> Option<u64> {
        // Acquire: once a newer launch is there, it is seen whether it has overwritten one that was
        // on its way.
        let turn = self.turn.load(Ordering::Acquire);
        let (there, state) = (turn >> 2, turn & 3);
        if there > launch + 1 {
            return None;
        }
        // Acquire: a wait that covers the launch begins after the driver has it.
        if there == 0 || state == REFUSED || self.put.load(Ordering::Acquire) == there {
            return (there <= launch).then_some(launch);
        }
        Some(there - 1)
    }

    /// The launch, unless it is another one, refused, or changed meanwhile.
    fn read(&self, launch: u64) -> Option<Record> {
        let before = self.turn.load(Ordering::Acquire);
        let location = self.location.load(Ordering::Relaxed);
        let kernel = self.kernel.load(Ordering::Relaxed);
        let stream = self.stream.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        let after = self.turn.load(Ordering::Relaxed);
        let changed = after != before && !mutant!("launches_reader_looks_once");
        if before != word(launch, BEGUN) || changed {
            return None;
        }
        // SAFETY: null, or the address of a `&'static Location` that `begin` stored.
        let location = unsafe { location.as_ref() }?;
        Some(Record {
            location,
            kernel,
            stream,
        })
    }
}
