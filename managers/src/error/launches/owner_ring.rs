//! `OwnerRing`: the newest launches of the thread that launched on a stream first.

use core::panic::Location;
use core::ptr;

use cupola_core::{Handle, tag};

use super::rings::{RING, Record};
use crate::sync::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence, thread_number};

/// Low bits of a stream's handle, which say whose name it is and are the same in all lives that it has in one place
/// ([`moved`](crate::object_pool::Reusable::moved)); and of an entry's word, where they are the number of the kernel.
pub(super) const KERNEL_BITS: u32 = Handle::<tag::Stream>::INDEX_BITS;

/// No thread has this number, and one that never asked for its own does not either.
const CLOSED: usize = usize::MAX;

/// The newest launches of one thread, its owner, which writes them by plain stores: a locked instruction
/// would be a quarter of what a launch costs beside the driver's call. Other threads read.
///
/// The owner begins no launch before the driver has taken or refused the one before. So two counters tell of
/// all launches what is known of them, and an entry is no more than what a launch is. All that a launch reads is
/// in one line, and what it writes in that and a quarter of another.
#[derive(Debug)]
#[repr(C)]
pub(super) struct OwnerRing {
    /// The number of the owner, plus one, while its launches have nothing to ask before: then this is all that a
    /// launch looks at. Else [`CLOSED`].
    gate: AtomicUsize,
    /// The number of the owner, plus one; 0 for none yet. Never changed again.
    owner: AtomicUsize,
    /// The number of the next launch, for the owner. Not `begun`: loom remembers the last access to a word alone,
    /// and would not try readers of a word that a thread reads before it writes.
    next: AtomicU64,
    /// Launches begun so far. The place of the next one may be being written.
    begun: AtomicU64,
    /// Launches that the driver has taken or refused so far.
    put: AtomicU64,
    /// The launches before this one are complete.
    done: AtomicU64,
    /// The low bits of the stream's handle, in all of its lives.
    index: AtomicU32,
    entries: Entries,
}

#[derive(Debug)]
#[repr(align(64))]
struct Entries([Entry; RING as usize]);

/// A launch. Not a whole line, and never in two.
#[derive(Debug)]
#[repr(C, align(16))]
struct Entry {
    /// Null if the driver has refused the launch.
    location: AtomicPtr<Location<'static>>,
    /// The life of the stream above the kernel.
    life_and_kernel: AtomicU64,
}

impl OwnerRing {
    pub(super) fn new() -> Self {
        Self {
            gate: AtomicUsize::new(CLOSED),
            owner: AtomicUsize::new(0),
            next: AtomicU64::new(0),
            begun: AtomicU64::new(0),
            put: AtomicU64::new(0),
            done: AtomicU64::new(0),
            index: AtomicU32::new(0),
            entries: Entries(core::array::from_fn(|_| Entry {
                location: AtomicPtr::new(ptr::null_mut()),
                life_and_kernel: AtomicU64::new(0),
            })),
        }
    }

    #[inline]
    fn entry(&self, launch: u64) -> &Entry {
        &self.entries.0[(launch % RING) as usize]
    }

    /// Whether this thread is the owner, and its launches have nothing to ask before.
    #[inline(always)]
    pub(super) fn is_open(&self) -> bool {
        self.gate.load(Ordering::Relaxed) == thread_number::known()
    }

    /// Has the owner, which this thread is, ask nothing before its launches as long as that is `allowed`. A thread
    /// that takes the permission away [closes](Self::close) the gate after.
    pub(super) fn open(&self, allowed: impl Fn() -> bool) {
        if self.is_open() || !allowed() {
            return;
        }
        debug_assert!(self.is_mine());
        let this = thread_number::this() + 1;
        self.gate.store(this, Ordering::Relaxed);
        // Either this sees that it is allowed no more, or the thread that closes the gate does so after.
        fence(Ordering::SeqCst);
        if !allowed() && !mutant!("launches_gate_is_not_asked_again") {
            self.gate.store(CLOSED, Ordering::Relaxed);
        }
    }

    /// Has the owner ask again. What it asks for has changed before.
    pub(super) fn close(&self) {
        fence(Ordering::SeqCst);
        self.gate.store(CLOSED, Ordering::Relaxed);
    }

    /// Whether this thread is the owner.
    pub(super) fn is_mine(&self) -> bool {
        self.owner.load(Ordering::Relaxed) == thread_number::this() + 1
    }

    /// Makes this thread the owner, if there is none. `stream` is the handle of the stream in any of its lives.
    pub(super) fn claim(&self, stream: u64) -> bool {
        // Relaxed, here and below: nothing was written by an owner before. A failing exchange would take the line
        // from the owner.
        let is_taken = self.owner.load(Ordering::Relaxed) != 0;
        let this = thread_number::this() + 1;
        let owner = &self.owner;
        let claim = || owner.compare_exchange(0, this, Ordering::Relaxed, Ordering::Relaxed);
        if (is_taken || claim().is_err()) && !mutant!("launches_each_thread_is_the_owner") {
            return false;
        }
        let index = stream & ((1 << KERNEL_BITS) - 1);
        self.index.store(index as u32, Ordering::Relaxed);
        true
    }

    /// Records a launch that is about to be put on the stream, and gives it a number. This thread is the owner,
    /// and the driver has had the launch before.
    #[inline(always)]
    pub(super) fn begin(&self, record: Record) -> u64 {
        debug_assert!(self.is_mine() || mutant!("launches_each_thread_is_the_owner"));
        let launch = self.next.load(Ordering::Relaxed);
        self.next.store(launch + 1, Ordering::Relaxed);
        // Release: a thread that sees one of the fields sees how many launches were begun before.
        fence(Ordering::Release);
        let entry = self.entry(launch);
        let location = ptr::from_ref(record.location).cast_mut();
        entry.location.store(location, Ordering::Relaxed);
        let life = record.stream >> KERNEL_BITS << KERNEL_BITS;
        let word = life | u64::from(record.kernel);
        entry.life_and_kernel.store(word, Ordering::Relaxed);
        // Release: a thread that sees the count sees the launch, and the stream.
        self.begun.store(launch + 1, Ordering::Release);
        launch
    }

    /// The driver has taken the newest launch.
    #[inline(always)]
    pub(super) fn put(&self, launch: u64) {
        // Release: a wait that covers it begins after the driver has it.
        self.put.store(launch + 1, Ordering::Release);
    }

    /// The driver has refused the newest launch.
    pub(super) fn refused(&self, launch: u64) {
        let entry = self.entry(launch);
        entry.location.store(ptr::null_mut(), Ordering::Relaxed);
        self.put(launch);
    }

    /// The launches that a wait which begins now covers: those below this number, which the driver has by
    /// now.
    pub(super) fn mark(&self) -> u64 {
        if mutant!("launches_mark_covers_all_of_the_owner") {
            return self.begun.load(Ordering::Relaxed);
        }
        self.put.load(Ordering::Acquire)
    }

    /// A wait that began with this mark has succeeded.
    pub(super) fn complete(&self, mark: u64) {
        if self.done.load(Ordering::Relaxed) < mark {
            self.done.fetch_max(mark, Ordering::Relaxed);
        }
    }

    /// The oldest launch that is surely remembered, of so many begun.
    fn oldest(begun: u64) -> u64 {
        (begun + 1).saturating_sub(RING)
    }

    /// Whether every launch that may still run is remembered.
    pub(super) fn knows_all(&self) -> bool {
        let begun = self.begun.load(Ordering::Relaxed);
        self.done.load(Ordering::Relaxed) >= Self::oldest(begun)
    }

    /// Adds the launches that may still run, newest first.
    pub(super) fn add_open(&self, open: &mut Vec<Record>) {
        let begun = self.begun.load(Ordering::Acquire);
        let done = self.done.load(Ordering::Relaxed);
        let launches = (done.max(Self::oldest(begun))..begun).rev();
        open.extend(launches.filter_map(|launch| self.read(launch)));
    }

    /// The launch, which was begun, unless it is refused, or newer ones have its place.
    fn read(&self, launch: u64) -> Option<Record> {
        let entry = self.entry(launch);
        let location = entry.location.load(Ordering::Relaxed);
        let word = entry.life_and_kernel.load(Ordering::Relaxed);
        // Acquire: what was begun before a newer launch that was read.
        fence(Ordering::Acquire);
        let begun = self.begun.load(Ordering::Relaxed);
        if launch < Self::oldest(begun) && !mutant!("launches_reader_of_the_owners_looks_once") {
            return None;
        }
        // SAFETY: null, or the address of a `&'static Location` that `begin` stored.
        let location = unsafe { location.as_ref() }?;
        let index = u64::from(self.index.load(Ordering::Relaxed));
        Some(Record {
            location,
            kernel: (word & ((1 << KERNEL_BITS) - 1)) as u32,
            stream: word >> KERNEL_BITS << KERNEL_BITS | index,
        })
    }
}
