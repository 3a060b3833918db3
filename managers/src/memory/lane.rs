//! `Lane`: what one thread keeps of one stream's memory, ready to hand out again.
//!
//! A hit takes a piece out of a magazine, or puts one in: no driver call, no lock, no atomic
//! read-modify-write, no line that another thread writes. The lane's thread owns it by a
//! [`BiasedLock`]; others may seize it, to give what it keeps back to everybody.

use std::ptr::{self, NonNull};
use std::sync::{Arc, Weak};

use super::classes::Slot;
use super::flow::{Flow, add};
use super::header::Header;
use super::line::Line;
use super::local::List;
use super::magazine::Content;
use super::stamp::Stamp;
use crate::sync::UnsafeCell;
use crate::sync::biased_lock::{BiasedLock, Revocation};

/// Flag of the lock: its pool is closed, or its thread has ended.
const CLOSED: u32 = 1;

/// Flag of the lock: what goes through the lane is recorded, off the hit path.
pub(crate) const RECORDED: u32 = 2;

/// Flag of the lock: requests of the stream go elsewhere, off the hit path.
pub(crate) const ROUTED: u32 = 4;

/// Flag of the lock: the pool has more than its limit, and threads keep nothing.
pub(crate) const EXCESS: u32 = 8;

/// The pool of a lane, as a thread that ends sees it.
pub(crate) trait LaneOwner: Send + Sync {
    /// Whether its locks may be taken: not in the child of a fork.
    fn is_here(&self) -> bool;

    /// Takes a batch back that was used until `stamp`.
    fn put_all(&self, batch: NonNull<Header>, stamp: Stamp);

    /// Takes a closed lane off the books.
    fn remove(&self, lane: &Arc<Lane>);
}

/// A lane that only its holder touches.
pub(crate) struct SeizedLane<'a> {
    lane: &'a Lane,
    revocation: Revocation<'a>,
}

impl SeizedLane<'_> {
    /// The number of its driver's stream.
    pub(crate) fn serial(&self) -> u64 {
        self.lane.line.serial()
    }

    /// Bytes that it keeps.
    pub(super) fn kept(&self) -> u64 {
        // SAFETY: the revocation keeps the owner and other seizers out, and nothing is changed.
        let content = self.lane.content.with(|content| unsafe { &*content });
        content.kept()
    }

    /// What it keeps.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = *const Header> {
        // SAFETY: the revocation keeps the owner and other seizers out, and nothing is changed.
        let content = self.lane.content.with(|content| unsafe { &*content });
        content.pieces()
    }

    /// Takes everything out: `give` gets it batch by batch, with what it is stamped by.
    pub(crate) fn drain(&mut self, give: impl FnMut(NonNull<Header>, Stamp)) {
        // Not before: until the lane was seized its owner may have put something in, and the
        // batch of an earlier stamp be complete without the work on that.
        self.drain_at(self.lane.line.stamp(), give);
    }

    fn drain_at(&mut self, stamp: Stamp, mut give: impl FnMut(NonNull<Header>, Stamp)) {
        self.lane.content.with_mut(|content| {
            // SAFETY: the revocation keeps the owner and other seizers out.
            let content = unsafe { &mut *content };
            content.drain().for_each(|batch| give(batch, stamp));
        });
    }

    /// As `drain`, and nothing is kept here from now on.
    pub(super) fn close(&mut self, give: impl FnMut(NonNull<Header>, Stamp)) {
        self.revocation.set_flags(CLOSED);
        self.drain(give);
    }

    /// Sets flags, which stay when the revocation ends.
    pub(super) fn set_flags(&self, bits: u32) {
        self.revocation.set_flags(bits);
    }
}

// Lines of its own: other threads' lanes must not slow it down.
#[repr(align(128))]
pub(crate) struct Lane {
    pub(crate) lock: BiasedLock,
    pub(crate) line: Arc<Line>,
    pub(crate) flow: Flow,
    owner: Weak<dyn LaneOwner>,
    /// Where its thread looks for it, and its pool's number there.
    list: (Weak<List>, u64),
    content: UnsafeCell<Content>,
}

// SAFETY: the content is touched under the lock only, and headers by whoever owns the piece.
unsafe impl Send for Lane {}
// SAFETY: as above.
unsafe impl Sync for Lane {}

impl AsRef<BiasedLock> for Lane {
    fn as_ref(&self) -> &BiasedLock {
        &self.lock
    }
}

impl Lane {
    pub(crate) fn new(owner: Weak<dyn LaneOwner>, line: &Arc<Line>) -> Self {
        Self {
            lock: BiasedLock::new(),
            owner,
            list: (Weak::new(), 0),
            line: Arc::clone(line),
            flow: Flow::default(),
            content: UnsafeCell::new(Content::new()),
        }
    }

    /// As a lane that its thread finds in this list, by the number of the pool.
    pub(super) fn of_thread(mut self, list: &Arc<List>, pool: u64) -> Self {
        self.list = (Arc::downgrade(list), pool);
        self
    }

    /// Takes it out of its thread's list, where that would keep its bytes.
    pub(super) fn leave_thread(&self) {
        let (list, pool) = &self.list;
        if let Some(list) = list.upgrade() {
            list.forget(*pool, self);
        }
    }

    /// What tells it from the pool's other lanes: not 0.
    #[inline]
    pub(crate) fn name(&self) -> u64 {
        ptr::from_ref(self).addr() as u64
    }

    /// Whether it may keep memory for later. Within `with`, where the flags stay as they are.
    pub(super) fn may_keep(&self) -> bool {
        self.lock.flags() & EXCESS == 0
    }

    /// Runs `work` as the owner, unless somebody has seized the lane or it is closed.
    ///
    /// # Safety
    /// The calling thread is the lane's own, and not within another call of this.
    #[inline(always)]
    pub(crate) unsafe fn own<R>(&self, work: impl FnOnce(&mut Content) -> R) -> Option<R> {
        // SAFETY: the caller's promise.
        if !unsafe { self.lock.enter_as_owner() } {
            return None;
        }
        // SAFETY: the owner is inside, so no other thread touches the content.
        let result = self
            .content
            .with_mut(|content| work(unsafe { &mut *content }));
        // SAFETY: entered above.
        unsafe { self.lock.leave_as_owner() };
        Some(result)
    }

    /// Runs `work` as the owner, whatever keeps it from entering.
    ///
    /// # Safety
    /// As `own`.
    pub(crate) unsafe fn with<R>(&self, work: impl FnOnce(&mut Content) -> R) -> R {
        // SAFETY: the caller's promise.
        if unsafe { self.lock.enter_as_owner() } {
            // SAFETY: the owner is inside, so no other thread touches the content.
            let result = self
                .content
                .with_mut(|content| work(unsafe { &mut *content }));
            // SAFETY: entered above.
            unsafe { self.lock.leave_as_owner() };
            return result;
        }
        // SAFETY: the caller's promise.
        let _held = unsafe { self.lock.lock_as_owner() };
        // SAFETY: the owner holds the lock, so no other thread touches the content.
        self.content
            .with_mut(|content| work(unsafe { &mut *content }))
    }

    /// As `with`, and nothing where the lane is closed.
    ///
    /// # Safety
    /// As `own`; the lane outlives the call, even if it is closed and its pool ends meanwhile.
    pub(crate) unsafe fn with_open<R>(&self, work: impl FnOnce(&mut Content) -> R) -> Option<R> {
        // SAFETY: the caller's promise.
        let _held = unsafe { self.lock.lock_as_owner() };
        if self.lock.flags() & CLOSED != 0 {
            return None;
        }
        // SAFETY: the owner holds the lock, so no other thread touches the content.
        let result = self
            .content
            .with_mut(|content| work(unsafe { &mut *content }));
        Some(result)
    }

    /// All of these, with their owners and all other threads kept out, for one barrier. Under the lock
    /// of the lanes, or of lanes of which no other thread seizes several.
    pub(super) fn revoke_all(lanes: &[Arc<Self>]) -> Vec<SeizedLane<'_>> {
        let revocations = BiasedLock::revoke_all(lanes.iter().map(|lane| &lane.lock));
        let lanes = lanes.iter().map(|lane| &**lane);
        lanes
            .zip(revocations)
            .map(|(lane, revocation)| SeizedLane { lane, revocation })
            .collect()
    }

    /// Takes everything out, as [`SeizedLane::drain`], of this lane alone.
    #[cfg(all(test, loom))]
    pub(crate) fn drain(&self, give: impl FnMut(NonNull<Header>, Stamp)) {
        let early = mutant!("lane_stamps_before_the_seizure").then(|| self.line.stamp());
        let mut lane = SeizedLane {
            lane: self,
            revocation: self.lock.revoke(),
        };
        match early {
            Some(stamp) => lane.drain_at(stamp, give),
            None => lane.drain(give),
        }
    }

    /// Takes everything out, and nothing is kept here from now on: its thread ends. Others that
    /// have the lane are waited for, and no barrier is needed where the owner is the caller.
    ///
    /// # Safety
    /// As `own`.
    unsafe fn close_own(&self, mut give: impl FnMut(NonNull<Header>, Stamp)) {
        // SAFETY: the caller's promise.
        let _held = unsafe { self.lock.lock_as_owner() };
        self.lock.set_own_flags(CLOSED);
        let stamp = self.line.stamp();
        self.content.with_mut(|content| {
            // SAFETY: the owner holds the lock, so no other thread touches the content.
            let content = unsafe { &mut *content };
            content.drain().for_each(|batch| give(batch, stamp));
        });
    }

    /// The thread ends: the lane is emptied, and leaves its pool's books.
    ///
    /// # Safety
    /// As `own`.
    pub(crate) unsafe fn retire(self: Arc<Self>) {
        if let Some(pool) = self.owner.upgrade()
            && pool.is_here()
        {
            // SAFETY: the calling thread is the lane's own and not inside it, by this function's
            // own condition.
            unsafe { self.close_own(|batch, stamp| pool.put_all(batch, stamp)) };
            pool.remove(&self);
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
