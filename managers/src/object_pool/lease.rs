//! `Leased`: a share in one life of a node, and the end of the last one.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;

use cupola_core::Tag;

use super::Reusable;
use super::node::{Content, Node};
use super::stack::{Door, Stack};
use super::stock;
use super::word::{MOST_LEASES, Word};
use crate::error::Result;
use crate::handle::ManagedHandle;
use crate::sync::Ordering;

/// A lease of an object. Clones share its life.
pub(crate) struct Leased<T: Reusable, G: Tag> {
    node: NonNull<Node<T>>,
    tag: PhantomData<fn() -> G>,
}

// SAFETY: a lease is a counted share of a `T` that is Send and Sync.
unsafe impl<T: Reusable, G: Tag> Send for Leased<T, G> {}
// SAFETY: a shared lease gives a `&T`, or another lease, and `T` is Send and Sync.
unsafe impl<T: Reusable, G: Tag> Sync for Leased<T, G> {}

impl<T: Reusable, G: Tag> Leased<T, G> {
    /// # Safety
    /// The node's word counts this lease.
    #[inline]
    pub(super) unsafe fn from_node(node: NonNull<Node<T>>) -> Self {
        Self {
            node,
            tag: PhantomData,
        }
    }

    /// Another lease of the same life.
    ///
    /// # Safety
    /// The node's word counts it.
    #[inline]
    pub(super) unsafe fn again(&self) -> Self {
        // SAFETY: the word counts it: the condition here.
        unsafe { Self::from_node(self.node) }
    }

    #[inline]
    pub(super) fn node(&self) -> &Node<T> {
        // SAFETY: a node with a lease is alive.
        let node = unsafe { self.node.as_ref() };
        node.touch();
        node
    }

    /// The name of this life; it is stale if it was released.
    #[inline]
    pub(crate) fn handle(&self) -> ManagedHandle<G> {
        let node = self.node();
        node.name(node.word().life())
    }

    /// How many lives the object's place has had, this one included.
    pub(crate) fn lives(&self) -> u64 {
        let node = self.node();
        node.word().lives() - node.idle.first_word().lives()
    }

    /// Whether it is the only one. The uses by leases that have ended come before.
    pub(crate) fn is_last(&self) -> bool {
        let word = self.node().look().0;
        if word.has_stock() {
            return self.is_alone();
        }
        word.leases() == 1
    }

    /// As [`is_last`](Self::is_last); and if it is, a thread that takes another lease of this life, by its
    /// name, finds what this thread has done before.
    pub(crate) fn is_last_by_name(&self) -> bool {
        // Release: such a thread changes the word with Acquire, after this, or before this and is counted. What
        // this gives is used: LLVM compiles a sum with nothing that is not to no instruction.
        let word = Word(self.node().word.fetch_add(0, Ordering::Release));
        (word.leases() == 1 || word.has_stock()) && self.is_last()
    }

    /// Whether both leases are of one life.
    #[inline]
    pub(crate) fn is(&self, other: &Self) -> bool {
        // A node with a lease is in one life.
        self.node == other.node
    }
}

impl<T: Reusable, G: Tag> Deref for Leased<T, G> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: a node with a lease is full and stays so.
        unsafe { &self.node().content().value }
    }
}

impl<T: Reusable, G: Tag> Clone for Leased<T, G> {
    #[inline]
    fn clone(&self) -> Self {
        // Relaxed: this lease keeps the node as it is meanwhile.
        let before = Word(self.node().word.fetch_add(1, Ordering::Relaxed));
        if before.leases() >= MOST_LEASES {
            // A million leases were leaked; as with `Arc`, going on would be unsound.
            std::process::abort();
        }
        Self {
            node: self.node,
            tag: PhantomData,
        }
    }
}

impl<T: Reusable, G: Tag> Drop for Leased<T, G> {
    #[inline]
    fn drop(&mut self) {
        let node = self.node();
        // Release and Acquire: all uses of the object, in all threads, come before its end.
        let acquired = || Word(node.word.load(Ordering::Acquire));
        let mut word = acquired();
        while word.leases() > 1 {
            if word.has_stock() {
                if self.end_beside_stock() {
                    return;
                }
                word = acquired();
                continue;
            }
            match node.word.compare_exchange_weak(
                word.0,
                word.without_lease().0,
                Ordering::Release,
                Ordering::Acquire,
            ) {
                Ok(_) => return,
                Err(now) => word = Word(now),
            }
        }
        // SAFETY: this is the last lease, and it is counted. An object whose destruction failed is
        // counted as abandoned.
        let _ = unsafe { end_of_life(self.node) };
    }
}

/// Ends the life of an object whose last lease ends: the result of its destruction, or `None` when
/// it was not destroyed here. The lease goes with the node.
///
/// # Safety
/// The caller has the last lease of the node, which is full; it has none after this.
#[inline]
#[track_caller]
pub(super) unsafe fn end_of_life<T: Reusable>(node: NonNull<Node<T>>) -> Option<Result<()>> {
    // SAFETY: the node is alive while it has the caller's lease.
    let lent = unsafe { node.as_ref() };
    if lent.word().has_stock() {
        // SAFETY: the node is full, and has the caller's lease.
        unsafe { stock::end_stocks(lent) };
    }
    // SAFETY: the node is full, and stays so while it has the caller's lease.
    if unsafe { lent.content() }.value.is_reusable() {
        // SAFETY: needs the last lease of a full node, which the caller gives up here.
        unsafe { put_by(node) }
    } else {
        // SAFETY: needs a lease of a full node, which the caller gives up here.
        unsafe { give_up(node) }
    }
}

/// Lets the object wait for its next life: then `None`. Destroys it if it has none. Its name
/// is good for nothing from now on.
///
/// No exchange says so: a thread that found the name good before may get a lease after. Then the
/// life goes on, on the stack, and the thread that takes the node there sees it.
///
/// # Safety
/// The caller has the last lease of the node, which is full; it has none after this.
#[inline]
#[track_caller]
pub(super) unsafe fn put_by<T: Reusable>(node: NonNull<Node<T>>) -> Option<Result<()>> {
    let raw = node;
    // SAFETY: the node is alive while it has the caller's lease: until the push has succeeded.
    // After that nothing of it is looked at.
    let node = unsafe { raw.as_ref() };
    // SAFETY: the node is full, and stays so while it has the caller's lease.
    let class = unsafe { node.content() }.class;
    if !mutant!("object_pool_last_lease_keeps_the_name") {
        node.asleep.store(true, Ordering::Relaxed);
    }
    match node.idle.idle_here().get(class) {
        // SAFETY: needs a node that is the caller's to push: its last lease is.
        Some(stack) if unsafe { push(raw, stack) } == Door::Open => None,
        // SAFETY: needs a lease of a full node: the push was refused, so it is still the caller's.
        _ => unsafe { give_up(raw) },
    }
}

/// Gives the caller's lease up, and makes the node the caller's alone if it was the last:
/// then it has neither name nor lease. False when there is another lease: the life goes on.
///
/// # Safety
/// The caller has a lease of the node: its own, or that of a node taken off an idle stack. It
/// has none after this.
pub(super) unsafe fn claim<T>(node: NonNull<Node<T>>) -> bool {
    // SAFETY: the node is alive while it has the caller's lease: until the exchange has succeeded.
    let node = unsafe { node.as_ref() };
    let mut word = node.word();
    loop {
        let new = word.without_lease();
        if new.leases() > 0 {
            // The name leads to it again. Release: a thread that finds that out by this store knows
            // of the life's beginning by it alone.
            node.asleep.store(false, Ordering::Release);
        }
        match node
            .word
            .compare_exchange_weak(word.0, new.0, Ordering::AcqRel, Ordering::Relaxed)
        {
            Ok(_) => return new.leases() == 0,
            Err(now) => word = Word(now),
        }
    }
}

/// Destroys the object, unless its life goes on: then `None`.
///
/// # Safety
/// The caller has a lease of the node, which is full; it has none after this.
#[cold]
#[track_caller]
pub(super) unsafe fn give_up<T: Reusable>(node: NonNull<Node<T>>) -> Option<Result<()>> {
    // SAFETY: needs a lease of the caller's, which it gives up here.
    if !unsafe { claim(node) } {
        return None;
    }
    // SAFETY: claimed, so it is the caller's alone.
    Some(unsafe { retire(node) })
}

/// Destroys the object, and lets its node wait for another; frees the node if the manager is
/// gone.
///
/// # Safety
/// The node is full and the caller's alone; it is no longer after this.
#[cold]
#[track_caller]
pub(super) unsafe fn retire<T: Reusable>(raw: NonNull<Node<T>>) -> Result<()> {
    // SAFETY: alive while it is the caller's alone: until `vacate` has pushed it.
    let node = unsafe { raw.as_ref() };
    // SAFETY: needs a full node that is the caller's alone, which this function asks for too.
    let content = unsafe { node.empty() };
    let destroyed = content.value.destroy();
    node.idle.existing.fetch_sub(1, Ordering::Relaxed);
    // SAFETY: it is empty now, and still the caller's alone.
    unsafe { vacate(raw) };
    destroyed
}

/// Lets an empty node wait for another object; frees it if the manager is gone.
///
/// # Safety
/// The node is empty and the caller's alone; it is no longer after this.
pub(super) unsafe fn vacate<T>(raw: NonNull<Node<T>>) {
    // SAFETY: alive while it is the caller's alone: until the push has succeeded.
    let node = unsafe { raw.as_ref() };
    // Set whether or not its last life left the mark: the next one has no name before it has begun.
    node.asleep.store(true, Ordering::Relaxed);
    let stack = if node.word().is_worn() {
        &node.idle.exhausted
    } else {
        &node.idle.vacant
    };
    // SAFETY: needs a node that is the caller's to push: it is the caller's alone.
    if unsafe { push(raw, stack) } == Door::Gone
        && !mutant!("object_pool_node_without_a_pool_stays")
    {
        // SAFETY: it is empty, the push was refused, and the manager's table is gone.
        unsafe { Node::free(raw.as_ptr()) };
    }
}

/// Takes the object out of a node that has no name left, and puts the node away.
///
/// # Safety
/// The node is full and the caller's alone; it is no longer after this. The manager is there.
#[cold]
pub(super) unsafe fn wear_out<T: Reusable>(raw: NonNull<Node<T>>) -> Content<T> {
    // SAFETY: alive while it is the caller's alone: until the push has succeeded.
    let node = unsafe { raw.as_ref() };
    // SAFETY: needs a full node that is the caller's alone, which this function asks for too.
    let content = unsafe { node.empty() };
    // SAFETY: needs a node that is the caller's to push: it is the caller's alone.
    let _ = unsafe { push(raw, &node.idle.exhausted) };
    content
}

/// Pushes a node onto a stack of its idle.
///
/// # Safety
/// The node is the caller's, and no longer when this returns `Open`.
#[inline]
unsafe fn push<T>(raw: NonNull<Node<T>>, stack: &Stack) -> Door {
    // SAFETY: alive while it is the caller's: until the push has succeeded.
    let index = unsafe { raw.as_ref() }.index;
    stack.push(index, |below| {
        // By pointer, because the node may be freed before the push returns.
        // SAFETY: asked only before the push succeeds.
        unsafe { raw.as_ref() }
            .below
            .store(below, Ordering::Relaxed);
    })
}

impl<T: Reusable, G: Tag> fmt::Debug for Leased<T, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.handle(), f)
    }
}
