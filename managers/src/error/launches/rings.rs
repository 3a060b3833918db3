//! `Rings`: the newest launches of one stream.
//!
//! Most streams are launched on by one thread. The first that does has a ring of its own, in which it
//! writes by plain stores: a locked instruction would be a quarter of what a launch costs beside the driver's
//! call. It begins no launch before the driver has taken or refused the one before. All other threads share a second ring, whose entries they write one after the other. One that finds
//! another held up in between goes on, and its launch is not remembered: none waits for long, and no
//! entry is ever written by two.

use core::panic::Location;
use core::ptr;

use crate::sync::spin_lock::SpinLock;
use crate::sync::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence, thread_number,
};

/// Launches that a ring remembers. Under loom two, so that entries are soon used again.
pub(super) const RING: u64 = if cfg!(loom) { 2 } else { 16 };

/// How often a thread looks whether another one is done with its entry. Under loom not for long.
const LOOKS: u32 = if cfg!(loom) { 2 } else { 100 };

/// The newest launches of one stream. What a launch of the owner reads is in one cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Rings {
    /// The number of the thread that has the first ring, plus one; 0 for none yet. Never changed again.
    owner: AtomicUsize,
    owners: Ring,
    others: Ring,
    /// Had by the thread that writes to the other ring.
    turn: SpinLock<()>,
    closed: AtomicBool,
}

/// A launch that is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Launch {
    /// Of the owner, by number.
    Owners(u64),
    /// Of another thread, by number.
    Others(u64),
}

/// The launches that a wait covers: those below a number, by ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    owners: u64,
    others: u64,
}

#[cfg(loom)]
impl Mark {
    /// Whether a wait with this mark lets the launch off.
    pub(crate) fn covers(self, launch: Launch) -> bool {
        match launch {
            Launch::Owners(number) => number < self.owners,
            Launch::Others(number) => number < self.others,
        }
    }
}

impl Rings {
    pub(super) fn new() -> Self {
        Self {
            owner: AtomicUsize::new(0),
            owners: Ring::new(),
            others: Ring::new(),
            turn: SpinLock::new(()),
            closed: AtomicBool::new(false),
        }
    }

    /// Records a launch that is about to be put on the stream, if it can be remembered. The owner
    /// needs no locked instruction for it, another thread one; streams share no word of it.
    #[inline]
    pub(crate) fn begin(
        &self,
        kernel: u32,
        location: &'static Location<'static>,
        stream: u64,
    ) -> Option<Launch> {
        if let Some(launch) = self.begin_as_owner(kernel, location, stream) {
            return Some(Launch::Owners(launch));
        }
        self.begin_as_other(Record {
            location,
            kernel,
            stream,
        })
    }

    /// As [`begin`](Self::begin), if this thread has the first ring.
    #[inline(always)]
    pub(crate) fn begin_as_owner(
        &self,
        kernel: u32,
        location: &'static Location<'static>,
        stream: u64,
    ) -> Option<u64> {
        let is_owner = self.owner.load(Ordering::Relaxed) == thread_number::this() + 1;
        is_owner.then(|| {
            self.owners.begin(Record {
                location,
                kernel,
                stream,
            })
        })
    }

    #[cold]
    fn begin_as_other(&self, record: Record) -> Option<Launch> {
        let this = thread_number::this() + 1;
        // Relaxed: nothing was written by an owner before.
        let owner = &self.owner;
        let claimed = owner.compare_exchange(0, this, Ordering::Relaxed, Ordering::Relaxed);
        if claimed.is_ok() || mutant!("launches_each_thread_is_the_owner") {
            return Some(Launch::Owners(self.owners.begin(record)));
        }
        let Some(_turn) = self.turn.try_lock(LOOKS) else {
            self.others.lose_one();
            return None;
        };
        Some(Launch::Others(self.others.begin_among_others(record)))
    }

    /// The driver has taken the newest launch of the owner, which this thread is.
    #[inline(always)]
    pub(crate) fn put_as_owner(&self, launch: u64) {
        self.owners.entry(launch).put(launch);
    }

    /// The driver has taken it.
    #[inline]
    pub(crate) fn put(&self, launch: Launch) {
        match launch {
            // The owner has begun no other since.
            Launch::Owners(number) => self.put_as_owner(number),
            Launch::Others(number) => self.others.entry(number).put_if_there(number),
        }
    }

    /// The driver has refused it.
    #[cold]
    pub(crate) fn refused(&self, launch: Launch) {
        match launch {
            Launch::Owners(number) => self.owners.entry(number).refused(number),
            Launch::Others(number) => self.others.entry(number).refused(number),
        }
    }

    /// The launches that a wait which begins now covers: those that the driver has by now.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            owners: self.owners.mark(),
            others: self.others.mark(),
        }
    }

    /// A wait that began with this mark has succeeded.
    pub(crate) fn complete(&self, mark: Mark) {
        self.owners.complete(mark.owners);
        self.others.complete(mark.others);
    }

    /// The stream is gone; work that was put on it may still run.
    pub(crate) fn close(&self) {
        // Release: a thread that sees this sees the launches too.
        self.closed.store(true, Ordering::Release);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Whether every launch that may still run is remembered.
    pub(crate) fn knows_all(&self) -> bool {
        self.owners.knows_all() && self.others.knows_all()
    }

    /// The launches that may still run: those of the owner, newest first, then those of other threads.
    pub(super) fn open(&self) -> Vec<Record> {
        let mut open = Vec::new();
        self.owners.add_open(&mut open);
        self.others.add_open(&mut open);
        open
    }
}

/// The newest launches. One thread at a time [begins](Self::begin) them; any may read.
#[derive(Debug)]
#[repr(C)]
struct Ring {
    /// The number of the next launch, for the thread that begins it. Not `begun`: loom remembers the last
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

impl Ring {
    fn new() -> Self {
        Self {
            next: AtomicU64::new(0),
            begun: AtomicU64::new(0),
            done: AtomicU64::new(0),
            lost_one: AtomicBool::new(false),
            entries: core::array::from_fn(|_| Entry::new()),
        }
    }

    #[inline]
    fn entry(&self, launch: u64) -> &Entry {
        &self.entries[(launch % RING) as usize]
    }

    /// Records a launch that is about to be put on the stream, and gives it a number. No other thread
    /// does that to this ring meanwhile, and what the one before did comes before.
    #[inline]
    fn begin(&self, record: Record) -> u64 {
        let launch = self.next.load(Ordering::Relaxed);
        self.next.store(launch + 1, Ordering::Relaxed);
        self.entry(launch).begin(launch, record);
        self.begun.store(launch + 1, Ordering::Relaxed);
        launch
    }

    /// As [`begin`](Self::begin), where the launch before may be on its way in another thread.
    fn begin_among_others(&self, record: Record) -> u64 {
        let next = self.next.load(Ordering::Relaxed);
        if self.entry(next).is_on_its_way() {
            self.lose_one();
        }
        self.begin(record)
    }

    /// A launch is not remembered.
    #[cold]
    fn lose_one(&self) {
        self.lost_one.store(true, Ordering::Relaxed);
    }

    /// The launches that a wait which begins now covers: those below this number, which the driver
    /// has by now.
    fn mark(&self) -> u64 {
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
    fn complete(&self, mark: u64) {
        if self.done.load(Ordering::Relaxed) < mark {
            self.done.fetch_max(mark, Ordering::Relaxed);
        }
    }

    /// Whether every launch that may still run is remembered.
    fn knows_all(&self) -> bool {
        let next = self.begun.load(Ordering::Relaxed);
        let forgotten = next.saturating_sub(RING);
        !self.lost_one.load(Ordering::Relaxed) && self.done.load(Ordering::Relaxed) >= forgotten
    }

    /// Adds the launches that may still run, newest first.
    fn add_open(&self, open: &mut Vec<Record>) {
        let next = self.begun.load(Ordering::Relaxed);
        let launches = (self.oldest(next)..next).rev();
        open.extend(launches.filter_map(|launch| self.entry(launch).read(launch)));
    }
}

/// A launch that was read whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) location: &'static Location<'static>,
    pub(super) kernel: u32,
    pub(super) stream: u64,
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

    /// Writes a launch that is about to be put on the stream, as the only thread that writes now. It reads
    /// nothing, and so waits for no memory.
    #[inline]
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

    /// The driver has taken the launch, which is still the newest one here.
    #[inline]
    fn put(&self, launch: u64) {
        self.put.store(launch + 1, Ordering::Release);
    }

    /// The driver has taken the launch.
    fn put_if_there(&self, launch: u64) {
        // Should a newer launch take the entry just now, it may stay suspect for too long.
        if self.turn.load(Ordering::Relaxed) == word(launch, BEGUN) {
            self.put(launch);
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
