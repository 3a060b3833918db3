//! `BlockHeader`: the pool's data of one piece of memory, out of band.
//!
//! The host cannot write to device memory, so the links and sizes that other allocators keep in
//! front of a block are here. A header belongs to the owner of the piece: its user, a magazine, a
//! batch in a transfer cache, or the central heap. Only the owner touches it, but for the fields
//! that are atomic.

use std::cell::{Cell, UnsafeCell};
use std::collections::HashSet;
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU16;

use cupola_core::tlsf::Block;
use cupola_sys::driver::CUdeviceptr;

use crate::buffer::entry::BufferEntry;
use crate::pool::cache::size_class::Slot;
use crate::pool::heap::block_name::Name;
use crate::pool::heap::cold_fields::ColdFields;
use crate::pool::streams::free_stamp::Stamp;
use crate::stream::Stream;
use crate::sync::lazy_arc::LazyArc;
use crate::sync::lazy_box::LazyBox;
use crate::sync::{AtomicPtr, AtomicU64, Ordering};

/// The pool of a piece, as its header keeps it: the heap never looks into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PoolRef(*const ());

impl PoolRef {
    /// Of the pool at this address.
    pub(crate) const fn new(pool: *const ()) -> Self {
        Self(pool)
    }

    /// The pool's address.
    #[inline]
    pub(crate) const fn as_ptr(self) -> *const () {
        self.0
    }
}

/// Where a piece goes back to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Home {
    /// It has no bytes.
    Nowhere,
    /// A block of the heap.
    Heap(Block),
    /// A slot of a slab.
    Slab { slab: u32, slot: u8 },
}

/// The bit of `live` that says that the piece is a buffer's. Sizes are far below.
const BUFFER: u64 = 1 << 63;
/// The bits of `live` that say why no user gets a piece that is not in use.
const HELD: u64 = 1 << 62;
const ABANDONED: u64 = 1 << 61;
const WAITING: u64 = 1 << 60;
/// The bit of `live` that says that nothing which runs used the memory before.
const FRESH: u64 = 1 << 59;
/// The other bits of `live`.
const SIZE: u64 = FRESH - 1;

/// Why no user gets a piece that is not in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Withheld {
    /// A graph may use it.
    Held,
    /// Its user could not free it.
    Abandoned,
    /// Other streams than its own may still use it.
    Waiting,
}

/// The data that the owner of a piece keeps in it: a batch its next piece, a buffer its lease.
union Link {
    /// The next piece of a batch.
    next: *const BlockHeader,
    lease: ManuallyDrop<Stream>,
}

// Two cache lines: the first has the fields that a hit or a launch touches.
#[repr(C, align(128))]
pub(crate) struct BlockHeader {
    address: Cell<CUdeviceptr>,
    /// Size of the piece.
    bytes: Cell<u64>,
    link: UnsafeCell<Link>,
    /// How many pieces the batch has that begins with this one.
    batch: Cell<u32>,
    slot: Cell<Slot>,
    /// The number of the arena that the block is in; 0 for none. Atomic, because a thread that has
    /// the piece in its cache compares it with the number of its own arena, while another thread
    /// dissolves the arena that the piece is in.
    arena: AtomicU16,
    /// The bytes that its user asked for, one more, and whether it is a buffer's. While no user has
    /// it: why none may have it, else 0. In its first life, whether nothing that runs used the
    /// memory before.
    live: AtomicU64,
    /// Of a buffer: the handle of its stream; of another piece the stream's serial.
    stream: AtomicU64,
    /// Of a buffer: the fields that only few need.
    rest: LazyBox<ColdFields>,
    pool: Cell<PoolRef>,
    /// The name that its user gave it; null for none.
    name: AtomicPtr<&'static str>,
    /// Of a buffer with a name in the table of buffers: its entry, one of whose counts this is.
    entry: LazyArc<BufferEntry>,
    /// When it was freed, of a slot that another stream than its slab's has freed.
    freed: Cell<Stamp>,
    home: Cell<Home>,
}

// More fields would take a third cache line of each piece.
#[cfg(not(loom))]
const _: () = assert!(size_of::<BlockHeader>() == 128);

impl BlockHeader {
    pub(crate) fn new(pool: PoolRef) -> Self {
        Self {
            address: Cell::new(0),
            bytes: Cell::new(0),
            link: UnsafeCell::new(Link { next: ptr::null() }),
            batch: Cell::new(0),
            slot: Cell::new(Slot::NONE),
            arena: AtomicU16::new(0),
            live: AtomicU64::new(0),
            stream: AtomicU64::new(0),
            entry: LazyArc::new(),
            pool: Cell::new(pool),
            name: AtomicPtr::new(ptr::null_mut()),
            rest: LazyBox::new(),
            freed: Cell::new(Stamp::READY),
            home: Cell::new(Home::Nowhere),
        }
    }

    /// Begins a piece.
    pub(crate) fn begin(&self, address: CUdeviceptr, bytes: u64, slot: Slot, home: Home) {
        self.address.set(address);
        self.bytes.set(bytes);
        self.slot.set(slot);
        self.home.set(home);
        self.freed.set(Stamp::READY);
        self.live.store(0, Ordering::Relaxed);
    }

    /// After `begin`: whether nothing that runs used the memory of the new piece.
    pub(crate) fn set_fresh(&self, is_fresh: bool) {
        let fresh = if is_fresh { FRESH } else { 0 };
        self.live.store(fresh, Ordering::Relaxed);
    }

    /// Whether its user is the first since nothing that runs used the memory.
    pub(crate) fn is_fresh(&self) -> bool {
        self.live.load(Ordering::Relaxed) & FRESH != 0
    }

    #[inline]
    pub(crate) fn address(&self) -> CUdeviceptr {
        self.address.get()
    }

    /// Size of the piece: the requested bytes, rounded up.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.get()
    }

    /// The size class of the piece, or the place of its exact size.
    #[inline]
    pub(crate) fn slot(&self) -> Slot {
        self.slot.get()
    }

    /// How many pieces the batch has that begins with this one.
    #[inline]
    pub(crate) fn batch(&self) -> u32 {
        self.batch.get()
    }

    /// This piece begins a batch of so many.
    #[inline]
    pub(crate) fn begin_batch(&self, pieces: u32) {
        self.batch.set(pieces);
    }

    /// Where the piece goes back to.
    #[inline]
    pub(crate) fn home(&self) -> Home {
        self.home.get()
    }

    /// The number of the arena that the block is in; 0 for none.
    #[inline]
    pub(crate) fn arena(&self) -> u16 {
        self.arena.load(Ordering::Relaxed)
    }

    /// The block is in this arena from now on; 0 for none.
    #[inline]
    pub(crate) fn set_arena(&self, arena: u16) {
        self.arena.store(arena, Ordering::Relaxed);
    }

    /// The block is in no arena from now on: with the cache held whose arena it was in, and within
    /// the central lock where it becomes one of the central heap.
    pub(crate) fn move_home(&self, home: Home) {
        self.home.set(home);
        self.set_arena(0);
    }

    /// When it was freed, of a slot that another stream than its slab's has freed.
    pub(crate) fn freed(&self) -> Stamp {
        self.freed.get()
    }

    /// Another stream than its slab's has freed the slot.
    pub(crate) fn note_freed(&self, stamp: Stamp) {
        self.freed.set(stamp);
    }

    /// The next piece of a magazine's batch.
    ///
    /// # Safety
    /// The caller has the piece, which is in one.
    pub(crate) unsafe fn next(&self) -> *const Self {
        // SAFETY: the caller has the piece, so no other thread touches the link.
        unsafe { (*self.link.get()).next }
    }

    /// # Safety
    /// The caller has the piece, in which there is no lease.
    pub(crate) unsafe fn set_next(&self, next: *const Self) {
        // SAFETY: the caller has the piece, so no other thread touches the link.
        unsafe { self.link.get().write(Link { next }) };
    }

    /// Keeps a buffer's lease of its stream.
    ///
    /// # Safety
    /// The caller has the piece, in which there is no lease.
    #[inline]
    pub(crate) unsafe fn put_lease(&self, stream: Stream) {
        let lease = ManuallyDrop::new(stream);
        // SAFETY: the caller has the piece, so no other thread touches the link.
        unsafe { self.link.get().write(Link { lease }) };
    }

    /// The lease that is kept here.
    ///
    /// # Safety
    /// There is one, and it stays as long as the reference.
    #[inline]
    pub(crate) unsafe fn lease(&self) -> &Stream {
        // SAFETY: the union has a lease, which stays as long as the reference: the conditions here.
        unsafe { &(*self.link.get()).lease }
    }

    /// Takes the lease out.
    ///
    /// # Safety
    /// The caller has the piece, in which there is a lease; no reference to the lease is left.
    #[inline]
    pub(crate) unsafe fn take_lease(&self) -> Stream {
        // SAFETY: the union has a lease without references, and the caller has the piece: the
        // conditions here. The link has no lease after this, so it is taken once.
        unsafe { ManuallyDrop::take(&mut (*self.link.get()).lease) }
    }

    /// The fields that only few buffers need.
    #[inline]
    pub(crate) fn rest(&self) -> &LazyBox<ColdFields> {
        &self.rest
    }

    /// A user that asked for so many bytes has it now; `stream` is the handle of a buffer's stream,
    /// of another piece the stream's serial.
    #[inline]
    pub(crate) fn go_live(&self, requested: u64, name: Name, (stream, buffer): (u64, bool)) {
        let buffer = if buffer { BUFFER } else { 0 };
        self.stream.store(stream, Ordering::Relaxed);
        let name = name.map_or(ptr::null_mut(), |name| ptr::from_ref(name).cast_mut());
        // Release: a thread that sees the name, perhaps under an older `live`, may read it.
        self.name.store(name, Ordering::Release);
        let fresh = self.live.load(Ordering::Relaxed) & FRESH;
        // Release: a thread that sees it alive sees the other fields.
        self.live
            .store((requested + 1) | buffer | fresh, Ordering::Release);
    }

    /// The name that its user gave it.
    pub(crate) fn name(&self) -> Option<&'static str> {
        // SAFETY: null, or a name that lives for ever and was written before it was stored here:
        // Acquire, with the Release of `go_live`.
        unsafe { self.name.load(Ordering::Acquire).as_ref() }.copied()
    }

    /// Its user gives it back: the bytes that were asked for, and whether it was a buffer's.
    #[inline]
    pub(crate) fn end_life(&self) -> (u64, bool) {
        let live = self.live.load(Ordering::Relaxed);
        self.live.store(0, Ordering::Relaxed);
        ((live & SIZE).saturating_sub(1), live & BUFFER != 0)
    }

    /// After the end of its life, within the central lock: whether it is withheld from all users.
    pub(crate) fn withhold(&self, why: Option<Withheld>) {
        let why = match why {
            Some(Withheld::Held) => HELD,
            Some(Withheld::Abandoned) => ABANDONED,
            Some(Withheld::Waiting) => WAITING,
            None => 0,
        };
        self.live.store(why, Ordering::Relaxed);
    }

    /// Why no user gets it, if none may.
    pub(crate) fn withheld(&self) -> Option<Withheld> {
        match self.live.load(Ordering::Relaxed) {
            HELD => Some(Withheld::Held),
            ABANDONED => Some(Withheld::Abandoned),
            WAITING => Some(Withheld::Waiting),
            _ => None,
        }
    }

    /// The bytes that its user asked for; `None` while it has no user.
    #[inline]
    pub(crate) fn requested(&self) -> Option<u64> {
        (self.live.load(Ordering::Acquire) & SIZE).checked_sub(1)
    }

    /// Whether it is alive, and a buffer's.
    pub(crate) fn is_buffer(&self) -> bool {
        self.live.load(Ordering::Acquire) & BUFFER != 0
    }

    /// The handle of the stream of a buffer, the serial of another piece's.
    pub(crate) fn stream(&self) -> u64 {
        self.stream.load(Ordering::Relaxed)
    }

    /// Whether it has a name in the table of buffers.
    #[inline]
    pub(crate) fn is_named(&self) -> bool {
        !self.entry.is_empty()
    }

    /// The entry that names it.
    pub(crate) fn entry(&self) -> &LazyArc<BufferEntry> {
        &self.entry
    }

    /// The pool that it is of, which is there as long as the piece is in use.
    #[inline]
    pub(crate) fn pool(&self) -> PoolRef {
        self.pool.get()
    }
}

/// Headers at a time.
const CHUNK: usize = 64;

/// All headers of a pool. They stay where they are until the pool goes.
#[derive(Default)]
pub(crate) struct BlockHeaders {
    chunks: Vec<Box<[BlockHeader; CHUNK]>>,
    free: Vec<NonNull<BlockHeader>>,
}

// SAFETY: the pointers are into the chunks, which are here; headers are touched by their
// owners only, whichever thread that is.
unsafe impl Send for BlockHeaders {}

impl BlockHeaders {
    /// A header without an owner, for the caller.
    pub(crate) fn take(&mut self, pool: PoolRef) -> NonNull<BlockHeader> {
        if let Some(free) = self.free.pop() {
            return free;
        }
        let at = self.chunks.len();
        self.chunks
            .push(Box::new(std::array::from_fn(|_| BlockHeader::new(pool))));
        // Only now: pointers must not be older than the last move of their box.
        let [first, rest @ ..] = &*self.chunks[at];
        self.free.extend(rest.iter().map(NonNull::from));
        NonNull::from(first)
    }

    pub(crate) fn put(&mut self, header: NonNull<BlockHeader>) {
        self.free.push(header);
    }

    /// Every header that is in use.
    pub(crate) fn in_use(&self) -> impl Iterator<Item = &BlockHeader> {
        let mut free = HashSet::new();
        for header in &self.free {
            free.insert(header.addr().get() as u64);
        }
        self.all()
            .filter(move |header| !free.contains(&(ptr::from_ref(*header).addr() as u64)))
    }

    /// Some of the headers there are, in use or not: `None` after the last of these sections, which
    /// are short. They begin with section 0, and none of them ever goes.
    pub(crate) fn section(&self, number: usize) -> Option<&[BlockHeader]> {
        self.chunks.get(number).map(|chunk| &chunk[..])
    }

    /// Every header there is, in use or not.
    pub(crate) fn all(&self) -> impl Iterator<Item = &BlockHeader> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }
}
