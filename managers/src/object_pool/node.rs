//! `Node`: where a driver object lives, from life to life, at an address that never changes.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use cupola_core::{Handle, Tag};

use super::idle::IdleObjects;
use super::word::Word;
use crate::handle::{ManagedHandle, ManagerNumber};
use crate::sync::{Arc, AtomicBool, AtomicU32, AtomicU64, Ordering, UnsafeCell};

/// Its name and the start of the object are in one cache line.
#[repr(C, align(64))]
pub(super) struct Node<T> {
    /// See [`Word`].
    pub(super) word: AtomicU64,
    /// Reservation in the object pool's table.
    pub(super) index: u32,
    /// Whose table that is.
    pub(super) manager: ManagerNumber,
    /// The object and its class; there unless the node is vacant, exhausted, or being filled.
    pub(super) content: UnsafeCell<MaybeUninit<Content<T>>>,
    /// How many of the leases may be in stock: no user's. See [`LeaseStock`](super::LeaseStock).
    pub(super) stocked: AtomicU32,
    /// Whether the life has ended, or has not begun: the name is good for nothing.
    pub(super) asleep: AtomicBool,
    /// The node below on the stack that this one lies on: its index plus one.
    pub(super) below: AtomicU32,
    /// Keeps the stacks alive that the last lease puts this node on.
    pub(super) idle: Arc<IdleObjects>,
    /// Tells loom which thread frees the node.
    #[cfg(loom)]
    pub(super) memory: UnsafeCell<()>,
}

#[repr(C)]
pub(super) struct Content<T> {
    pub(super) value: T,
    pub(super) class: usize,
}

impl<T> Node<T> {
    pub(super) fn boxed(index: u32, idle: &Arc<IdleObjects>) -> NonNull<Self> {
        let node = Box::new(Self {
            word: AtomicU64::new(idle.first_word().0),
            index,
            manager: idle.manager,
            content: UnsafeCell::new(MaybeUninit::uninit()),
            stocked: AtomicU32::new(0),
            asleep: AtomicBool::new(true),
            below: AtomicU32::new(0),
            idle: Arc::clone(idle),
            #[cfg(loom)]
            memory: UnsafeCell::new(()),
        });
        NonNull::from(Box::leak(node))
    }

    /// The name of a life.
    #[inline]
    pub(super) fn name<G: Tag>(&self, generation: u64) -> ManagedHandle<G> {
        ManagedHandle::new(self.manager, Handle::from_parts(self.index, generation))
    }

    /// The state now.
    #[inline]
    pub(super) fn word(&self) -> Word {
        Word(self.word.load(Ordering::Relaxed))
    }

    /// The state now, and whether its name leads to the object: then a thread that uses the name
    /// finds the life as it began.
    pub(super) fn look(&self) -> (Word, bool) {
        // Acquire: with the word of a life comes the sleep before it, so that an old answer
        // to whether it sleeps is not taken for this life's.
        let word = Word(self.word.load(Ordering::Acquire));
        (word, !self.asleep.load(Ordering::Acquire))
    }

    /// Leases of lives: a node that waits has one that no caller holds, which is not counted here.
    pub(super) fn leases(&self) -> u64 {
        let (word, awake) = self.look();
        word.leases().saturating_sub(u64::from(!awake))
    }

    /// Changes the state, and returns the new one. It orders nothing: the marks of a shutdown stand
    /// for themselves, and a node that gets its first lease is still the caller's.
    pub(super) fn update(&self, change: impl Fn(Word) -> Word) -> Word {
        let mut word = self.word();
        loop {
            let new = change(word);
            match self.word.compare_exchange_weak(
                word.0,
                new.0,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return new,
                Err(now) => word = Word(now),
            }
        }
    }

    /// The object.
    ///
    /// # Safety
    /// The node is full and stays so while the reference lives.
    #[inline]
    pub(super) unsafe fn content(&self) -> &Content<T> {
        self.content.with(|content| {
            // SAFETY: needs an object in its place: the node is full, and stays so.
            unsafe { (*content).assume_init_ref() }
        })
    }

    /// Puts an object into the node.
    ///
    /// # Safety
    /// The node is empty and the caller's alone.
    pub(super) unsafe fn fill(&self, content: Content<T>) {
        self.content.with_mut(|place| {
            // SAFETY: needs the place for itself: the node is the caller's alone.
            unsafe { (*place).write(content) };
        });
    }

    /// Takes the object out.
    ///
    /// # Safety
    /// The node is full and the caller's alone.
    pub(super) unsafe fn empty(&self) -> Content<T> {
        self.content.with_mut(|place| {
            // SAFETY: needs an object that is read once: the node is full, the caller's alone, and
            // empty after this.
            unsafe { (*place).assume_init_read() }
        })
    }

    /// Frees a node that is empty and in no use any more.
    ///
    /// # Safety
    /// It comes from [`boxed`](Self::boxed), and no thread refers to it after this.
    pub(super) unsafe fn free(node: *mut Self) {
        // Loom is told that every access must have happened before this.
        #[cfg(loom)]
        {
            // SAFETY: it is alive until the box goes, below.
            unsafe { &*node }.memory.with_mut(|_| ());
        }
        // SAFETY: needs the pointer of a box, once: it comes from `boxed`, and no thread refers to
        // it.
        drop(unsafe { Box::from_raw(node) });
    }

    /// Tells loom that the node is looked at.
    #[inline]
    #[cfg_attr(not(loom), allow(clippy::unused_self))]
    pub(super) fn touch(&self) {
        #[cfg(loom)]
        self.memory.with(|_| ());
    }
}
