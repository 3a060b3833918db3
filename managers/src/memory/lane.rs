//! `Lane`: what one thread keeps of one stream's memory, ready to hand out again.
//!
//! A hit takes a piece out of a magazine, or puts one in: no driver call, no lock, no atomic
//! read-modify-write, no line that another thread writes. The lane's thread owns it by a
//! [`Bias`]; others may seize it, to give what it keeps back to everybody.

use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use super::bias::{Bias, Seizure};
use super::classes::{CLASSES, MOST_PIECES, SLOTS, Slot, capacity};
use super::header::Header;
use super::line::Line;
use super::local::List;
use super::pool::Pool;
use super::stamp::Stamp;
use crate::sync::UnsafeCell;

/// Pieces of one size.
#[derive(Clone, Copy)]
struct Magazine {
    /// The size of its pieces; of a magazine for exact sizes, of those that it has now.
    bytes: u64,
    len: u32,
    pieces: [*const Header; MOST_PIECES],
}

impl Magazine {
    const EMPTY: Self = Self {
        bytes: 0,
        len: 0,
        pieces: [ptr::null(); MOST_PIECES],
    };

    #[inline]
    fn pop(&mut self, bytes: u64) -> Option<NonNull<Header>> {
        if self.bytes != bytes || self.len == 0 {
            return None;
        }
        self.len -= 1;
        NonNull::new(self.pieces[self.len as usize].cast_mut())
    }

    /// False when it is full, or has pieces of another size.
    #[inline]
    fn push(&mut self, bytes: u64, piece: NonNull<Header>) -> bool {
        if self.bytes != bytes {
            if self.len != 0 {
                return false;
            }
            self.bytes = bytes;
        }
        if self.len >= capacity(bytes) {
            return false;
        }
        self.pieces[self.len as usize] = piece.as_ptr();
        self.len += 1;
        true
    }

    /// Takes up to `count` pieces out, chained.
    fn chain(&mut self, count: u32) -> Option<NonNull<Header>> {
        let count = count.min(self.len);
        let mut first: *const Header = ptr::null();
        for _ in 0..count {
            self.len -= 1;
            let piece = self.pieces[self.len as usize];
            // SAFETY: a magazine owns its pieces, and their headers stay where they are.
            unsafe { (*piece).next.set(first) };
            first = piece;
        }
        let first = NonNull::new(first.cast_mut())?;
        // SAFETY: as above.
        unsafe { first.as_ref() }.batch.set(count);
        Some(first)
    }

    /// Puts a batch in, which it has room for.
    fn fill(&mut self, bytes: u64, batch: NonNull<Header>) {
        self.bytes = bytes;
        let mut next: *const Header = batch.as_ptr();
        while !next.is_null() && (self.len as usize) < MOST_PIECES {
            self.pieces[self.len as usize] = next;
            self.len += 1;
            // SAFETY: whoever has the first piece of a batch has all of it.
            next = unsafe { (*next).next.get() };
        }
    }
}

/// Most bytes of exact sizes that a lane keeps.
const MOST_EXACT: u64 = 16 << 20;

/// What the lane's owner, or who has seized it, may touch.
pub(crate) struct Content {
    magazines: [Magazine; SLOTS],
    /// Bytes of exact sizes.
    exact: u64,
    /// Most bytes of exact sizes.
    most_exact: u64,
    /// Which magazines for exact sizes may have pieces.
    filled: u64,
}

impl Content {
    /// A piece of this size.
    #[inline]
    pub(crate) fn pop(&mut self, slot: Slot, bytes: u64) -> Option<NonNull<Header>> {
        let piece = self.magazines.get_mut(slot.number())?.pop(bytes)?;
        if !slot.is_small() {
            self.exact -= bytes;
        }
        Some(piece)
    }

    /// False when there is no room for it.
    #[inline]
    pub(crate) fn push(&mut self, slot: Slot, bytes: u64, piece: NonNull<Header>) -> bool {
        let Some(magazine) = self.magazines.get_mut(slot.number()) else {
            return false;
        };
        if slot.is_small() {
            return magazine.push(bytes, piece);
        }
        if self.exact + bytes > self.most_exact || !magazine.push(bytes, piece) {
            return false;
        }
        self.exact += bytes;
        self.filled |= slot.bit();
        true
    }

    /// Takes pieces out, to make room for one of this size: all of another size, else half of
    /// what may be kept. The first of the chain and the size of each.
    pub(crate) fn spill(&mut self, slot: Slot, bytes: u64) -> Option<(NonNull<Header>, u64)> {
        let magazine = self.magazines.get_mut(slot.number())?;
        let (size, count) = if magazine.bytes == bytes {
            (bytes, (capacity(bytes) / 2).max(1))
        } else {
            (magazine.bytes, magazine.len)
        };
        let count = count.min(magazine.len);
        let batch = magazine.chain(count)?;
        if !slot.is_small() {
            self.exact -= size * u64::from(count);
        }
        Some((batch, size))
    }

    /// Puts a batch of this size in, of which there are none here. False when there is no room.
    pub(crate) fn fill(&mut self, slot: Slot, bytes: u64, batch: NonNull<Header>) -> bool {
        // SAFETY: the batch is the caller's.
        let more = u64::from(unsafe { batch.as_ref() }.batch.get()) * bytes;
        let Some(magazine) = self.magazines.get_mut(slot.number()) else {
            return false;
        };
        if magazine.len != 0 || (!slot.is_small() && self.exact + more > self.most_exact) {
            return false;
        }
        magazine.fill(bytes, batch);
        if !slot.is_small() {
            self.filled |= slot.bit();
            self.exact += more;
        }
        true
    }

    /// Whether it may keep pieces of exact sizes from now on.
    #[inline]
    pub(crate) fn keep_exact(&mut self, keep: bool) {
        self.most_exact = if keep { MOST_EXACT } else { 0 };
    }

    /// Whether it has pieces of exact sizes.
    #[inline]
    pub(crate) fn has_exact(&self) -> bool {
        self.exact != 0
    }

    /// Takes everything of exact sizes out, magazine by magazine.
    #[inline]
    pub(crate) fn drain_exact(&mut self) -> impl Iterator<Item = NonNull<Header>> + '_ {
        self.exact = 0;
        let mut filled = std::mem::take(&mut self.filled);
        std::iter::from_fn(move || {
            while filled != 0 {
                let at = filled.trailing_zeros() as usize;
                filled &= filled - 1;
                let batch = self.magazines[CLASSES + at].chain(u32::MAX);
                if batch.is_some() {
                    return batch;
                }
            }
            None
        })
    }

    /// Takes everything out, magazine by magazine.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = NonNull<Header>> + '_ {
        (self.exact, self.filled) = (0, 0);
        self.magazines
            .iter_mut()
            .filter_map(|magazine| magazine.chain(u32::MAX))
    }

    /// Bytes that it keeps.
    pub(crate) fn kept(&self) -> u64 {
        let bytes = |magazine: &Magazine| magazine.bytes * u64::from(magazine.len);
        self.magazines.iter().map(bytes).sum()
    }
}

/// What went through a lane. Written by its owner alone, with plain stores; read by anybody.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    pub(crate) allocations: AtomicU64,
    pub(crate) frees: AtomicU64,
    /// Bytes that were asked for, of pieces that were handed out, and that came back.
    pub(crate) bytes_out: AtomicU64,
    pub(crate) bytes_in: AtomicU64,
    /// The same of buffers alone.
    pub(crate) buffers_out: AtomicU64,
    pub(crate) buffers_in: AtomicU64,
    pub(crate) buffer_bytes_out: AtomicU64,
    pub(crate) buffer_bytes_in: AtomicU64,
    /// What the magazines did not have, or had no room for.
    pub(crate) misses: AtomicU64,
    pub(crate) spills: AtomicU64,
}

impl Flow {
    /// A block was handed out. `put` adds.
    #[inline(always)]
    pub(crate) fn note_out(&self, bytes: u64, buffer: bool, put: fn(&AtomicU64, u64)) {
        put(&self.allocations, 1);
        put(&self.bytes_out, bytes);
        if buffer {
            put(&self.buffers_out, 1);
            put(&self.buffer_bytes_out, bytes);
        }
    }

    /// A block came back.
    #[inline(always)]
    pub(crate) fn note_in(&self, (bytes, buffer): (u64, bool), put: fn(&AtomicU64, u64)) {
        put(&self.frees, 1);
        put(&self.bytes_in, bytes);
        if buffer {
            put(&self.buffers_in, 1);
            put(&self.buffer_bytes_in, bytes);
        }
    }

    /// Buffers that are alive, and their bytes.
    pub(crate) fn buffers(&self) -> (u64, u64) {
        let alive = |out: &AtomicU64, back: &AtomicU64| {
            let back = back.load(Ordering::Relaxed);
            out.load(Ordering::Relaxed).saturating_sub(back)
        };
        (
            alive(&self.buffers_out, &self.buffers_in),
            alive(&self.buffer_bytes_out, &self.buffer_bytes_in),
        )
    }

    /// Adds what went through another, whose owner writes no more.
    pub(crate) fn absorb(&self, other: &Self) {
        let pairs = [
            (&self.allocations, &other.allocations),
            (&self.frees, &other.frees),
            (&self.bytes_out, &other.bytes_out),
            (&self.bytes_in, &other.bytes_in),
            (&self.buffers_out, &other.buffers_out),
            (&self.buffers_in, &other.buffers_in),
            (&self.buffer_bytes_out, &other.buffer_bytes_out),
            (&self.buffer_bytes_in, &other.buffer_bytes_in),
            (&self.misses, &other.misses),
            (&self.spills, &other.spills),
        ];
        for (to, from) in pairs {
            to.fetch_add(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
}

/// Adds without a read-modify-write: the caller is the only writer.
#[inline]
pub(crate) fn add(counter: &AtomicU64, more: u64) {
    counter.store(
        counter.load(Ordering::Relaxed).wrapping_add(more),
        Ordering::Relaxed,
    );
}

/// Flag of the bias: its pool is closed, or its thread has ended.
const CLOSED: u32 = 1;

/// Flag of the bias: what goes through the lane is recorded, off the hit path.
pub(crate) const RECORDED: u32 = 2;

/// Flag of the bias: requests of the stream go elsewhere, off the hit path.
pub(crate) const ROUTED: u32 = 4;

/// A lane that only its holder touches.
pub(crate) struct SeizedLane<'a> {
    lane: &'a Lane,
    _seizure: Seizure<'a>,
}

impl SeizedLane<'_> {
    /// The number of its driver's stream.
    pub(crate) fn serial(&self) -> u64 {
        self.lane.line.serial()
    }

    /// What it keeps.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = *const Header> {
        // SAFETY: the seizure keeps the owner and other seizers out, and nothing is changed.
        let content = self.lane.content.with(|content| unsafe { &*content });
        let full = |magazine: &'_ Magazine| magazine.len as usize;
        content
            .magazines
            .iter()
            .flat_map(move |magazine| magazine.pieces.iter().take(full(magazine)).copied())
    }
}

// Lines of its own: other threads' lanes must not slow it down.
#[repr(align(128))]
pub(crate) struct Lane {
    pub(crate) bias: Bias,
    pub(crate) line: Arc<Line>,
    pub(crate) flow: Flow,
    owner: Weak<Pool>,
    /// Where its thread looks for it.
    list: Weak<List>,
    content: UnsafeCell<Content>,
}

// SAFETY: the content is touched under the bias only, and headers by whoever owns the piece.
unsafe impl Send for Lane {}
// SAFETY: as above.
unsafe impl Sync for Lane {}

impl Lane {
    pub(crate) fn new(owner: Weak<Pool>, line: &Arc<Line>) -> Self {
        Self {
            bias: Bias::new(),
            owner,
            list: Weak::new(),
            line: Arc::clone(line),
            flow: Flow::default(),
            content: UnsafeCell::new(Content {
                magazines: [Magazine::EMPTY; SLOTS],
                exact: 0,
                most_exact: MOST_EXACT,
                filled: 0,
            }),
        }
    }

    /// As a lane that its thread finds in this list.
    pub(super) fn of_thread(mut self, list: &Arc<List>) -> Self {
        self.list = Arc::downgrade(list);
        self
    }

    /// Takes it out of its thread's list, where that would keep its bytes.
    pub(super) fn leave_thread(self: &Arc<Self>) {
        if let Some(list) = self.list.upgrade() {
            list.forget(self);
        }
    }

    /// What tells it from the pool's other lanes: not 0.
    #[inline]
    pub(crate) fn name(&self) -> u64 {
        ptr::from_ref(self).addr() as u64
    }

    /// Runs `work` as the owner, unless somebody has seized the lane or it is closed.
    ///
    /// # Safety
    /// The calling thread is the lane's own, and not within another call of this.
    #[inline(always)]
    pub(crate) unsafe fn own<R>(&self, work: impl FnOnce(&mut Content) -> R) -> Option<R> {
        // SAFETY: the caller's promise.
        if !unsafe { self.bias.enter() } {
            return None;
        }
        // SAFETY: the owner is inside, so nobody else touches the content.
        let result = self
            .content
            .with_mut(|content| work(unsafe { &mut *content }));
        // SAFETY: entered above.
        unsafe { self.bias.leave() };
        Some(result)
    }

    /// Runs `work` with the lane taken from its owner. Not within `own`.
    pub(crate) fn seize<R>(&self, work: impl FnOnce(&mut Content) -> R) -> R {
        let _seizure = self.bias.seize();
        // SAFETY: the seizure keeps the owner and other seizers out.
        self.content
            .with_mut(|content| work(unsafe { &mut *content }))
    }

    /// Runs `work` as the owner, whatever keeps it from entering.
    ///
    /// # Safety
    /// As `own`.
    pub(crate) unsafe fn with<R>(&self, work: impl FnOnce(&mut Content) -> R) -> R {
        // SAFETY: the caller's promise.
        if unsafe { self.bias.enter() } {
            // SAFETY: the owner is inside, so nobody else touches the content.
            let result = self
                .content
                .with_mut(|content| work(unsafe { &mut *content }));
            // SAFETY: entered above.
            unsafe { self.bias.leave() };
            return result;
        }
        // SAFETY: the caller's promise.
        let _held = unsafe { self.bias.hold() };
        // SAFETY: the owner holds the lock, so nobody else touches the content.
        self.content
            .with_mut(|content| work(unsafe { &mut *content }))
    }

    /// As `with`, and nothing where the lane is closed.
    ///
    /// # Safety
    /// As `own`; the lane outlives the call, even if it is closed and its pool ends meanwhile.
    pub(crate) unsafe fn with_open<R>(&self, work: impl FnOnce(&mut Content) -> R) -> Option<R> {
        // SAFETY: the caller's promise.
        let _held = unsafe { self.bias.hold() };
        if self.bias.flags() & CLOSED != 0 {
            return None;
        }
        // SAFETY: the owner holds the lock, so nobody else touches the content.
        let result = self
            .content
            .with_mut(|content| work(unsafe { &mut *content }));
        Some(result)
    }

    /// The lane, with its owner and everybody else kept out.
    pub(crate) fn seized(&self) -> SeizedLane<'_> {
        let _seizure = self.bias.seize();
        SeizedLane {
            lane: self,
            _seizure,
        }
    }

    /// Takes everything out: `give` gets it batch by batch, with what it is stamped by.
    pub(crate) fn drain(&self, mut give: impl FnMut(NonNull<Header>, Stamp)) {
        let early = mutant!("lane_stamps_before_the_seizure").then(|| self.line.stamp());
        self.seize(|content| {
            // Not before: until the lane was seized its owner may have put something in, and
            // the batch of an earlier stamp be complete without the work on that.
            let stamp = early.unwrap_or_else(|| self.line.stamp());
            content.drain().for_each(|batch| give(batch, stamp));
        });
    }

    /// As `drain`, and nothing is kept here from now on.
    pub(crate) fn close(&self, mut give: impl FnMut(NonNull<Header>, Stamp)) {
        let seizure = self.bias.seize();
        seizure.set_flags(CLOSED);
        let stamp = self.line.stamp();
        self.content.with_mut(|content| {
            // SAFETY: the seizure keeps the owner and other seizers out.
            let content = unsafe { &mut *content };
            content.drain().for_each(|batch| give(batch, stamp));
        });
    }

    /// The thread ends.
    pub(crate) fn retire(self: Arc<Self>) {
        if let Some(pool) = self.owner.upgrade() {
            pool.retire_lane(&self);
        }
    }

    /// A hit of an allocation.
    ///
    /// # Safety
    /// As `own`.
    #[inline(always)]
    pub(crate) unsafe fn pop(
        &self,
        slot: Slot,
        bytes: u64,
        (requested, buffer): (u64, bool),
    ) -> Option<NonNull<Header>> {
        // SAFETY: the caller's promise.
        unsafe {
            self.own(|content| {
                let piece = content.pop(slot, bytes)?;
                self.flow.note_out(requested, buffer, add);
                Some(piece)
            })
        }?
    }

    /// A hit of a free; false when it is none.
    ///
    /// # Safety
    /// As `own`; the piece is the caller's to give, and its use ends in stream order on the
    /// lane's stream.
    #[inline(always)]
    pub(crate) unsafe fn push(&self, piece: NonNull<Header>) -> bool {
        // SAFETY: the piece is the caller's.
        let header = unsafe { piece.as_ref() };
        let (slot, bytes) = (header.slot.get(), header.bytes());
        // SAFETY: the caller's promise.
        let pushed = unsafe {
            self.own(|content| {
                // Who names buffers has seized the lane: so this is looked at in here.
                let pushed = !header.is_named() && content.push(slot, bytes, piece);
                if pushed {
                    self.flow.note_in(header.end_life(), add);
                }
                pushed
            })
        };
        pushed == Some(true)
    }
}
