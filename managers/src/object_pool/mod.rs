//! `ObjectPool`: driver objects that are used again instead of destroyed and made anew.
//!
//! An object lives in a node, and the node goes from life to life. A life begins when the
//! object is acquired, under a name (a [`ManagedHandle`]) that no other life ever has, and ends with
//! its last lease. Then the object waits on a stack for its next life. A steady acquisition
//! and its end are three exchanges (off the stack, into the life, onto the stack), with no
//! allocation and no driver call.
//!
//! A node that waits keeps one lease, which no caller holds: the last lease of its life goes with
//! it onto the stack, and becomes the first of the next life in the exchange that names that life.
//! So the end of a life takes no exchange of its own: a plain mark (`asleep`) says that the name is
//! good for nothing any more. A thread that found the name good before may still get a lease after;
//! then the node on the stack has two, and the thread that takes it there sees that, leaves it to
//! the late lease, and takes another.
//!
//! A lease owns its share of the node alone, so it may outlive the manager. No count is
//! raised for that: each node keeps the stacks alive ([`IdleObjects`]), and the one exchange that
//! puts a node on a stack decides its fate. If the stack is shut the object is destroyed, and if
//! the manager is gone, its node with it.

mod acquire;
mod idle;
mod lease;
mod node;
mod reservation;
mod shard;
mod shutdown;
mod stack;
mod stock;
mod table;
#[cfg(feature = "test-utils")]
mod test_hooks;
#[cfg(all(test, not(loom)))]
mod tests;
mod word;

use std::ptr::NonNull;

use cupola_core::Tag;

use idle::IdleObjects;
pub(crate) use lease::Leased;
use node::Node;
pub(crate) use shard::CLASSES;
use stack::Stack;
pub(crate) use stock::{LeaseHolder, LeaseHolders, LeaseStock};
use table::Table;
use word::Word;

#[cfg(feature = "test-utils")]
pub(crate) const MOST_LIVES: u64 = word::MOST_LIVES;
#[cfg(feature = "test-utils")]
pub(crate) const ROOM: usize = table::ROOM;

use crate::error::{Error, Result};
use crate::handle::{ManagedHandle, ManagerNumber};
use crate::stats::RecycleStats;
use crate::sync::{Arc, AtomicU64, AtomicUsize, Mutex, Ordering};

/// A driver object that can have several lives. Dropping it destroys it.
pub(crate) trait Reusable: Send + Sync + 'static {
    /// Whether it may have another life. An object that may not is dropped.
    fn is_reusable(&self) -> bool;

    /// Forgets its last life: called before a caller can have a lease of the next.
    #[inline]
    fn renew(&self) {}

    /// It is about to live in another node, under other names than before.
    fn moved(&mut self) {}

    /// The threads that have leases of it in stock ([`LeaseStock`]); `None` when there can be none.
    #[inline]
    fn holders(&self) -> Option<&LeaseHolders> {
        None
    }

    /// Destroys it, as dropping does, and returns the error that a drop would keep silent.
    #[track_caller]
    fn destroy(self) -> Result<()>;
}

/// The outcome of ending a name.
enum Ended {
    /// Nothing: it was another one, or none.
    NotThisOne,
    /// It ended. The object is leased, or waits.
    Kept,
    /// It ended, and the object with it.
    Destroyed(Result<()>),
}

/// Driver objects of one kind, in use and waiting.
pub(crate) struct ObjectPool<T: Reusable, G: Tag> {
    table: Table<T>,
    idle: Arc<IdleObjects>,
    capacity: AtomicUsize,
    created: AtomicU64,
    peak: AtomicUsize,
    /// Held by a call that shuts or opens the pool: each takes many steps, which must not mix.
    door: Mutex<()>,
    tag: std::marker::PhantomData<fn() -> G>,
}

impl<T: Reusable, G: Tag> ObjectPool<T, G> {
    /// `capacity` is the most objects that may exist at a time, waiting ones included.
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            table: Table::new(),
            idle: Arc::new(IdleObjects::new(ManagerNumber::next::<G>())),
            capacity: AtomicUsize::new(capacity.min(table::ROOM)),
            created: AtomicU64::new(0),
            peak: AtomicUsize::new(0),
            door: Mutex::new(()),
            tag: std::marker::PhantomData,
        }
    }

    /// Takes an object that waits: from this thread's shard, else from another.
    #[inline]
    fn pop_idle(&self, class: usize) -> Option<NonNull<Node<T>>> {
        let own = self.idle.idle_here().get(class)?;
        self.pop(own).or_else(|| self.pop_elsewhere(class))
    }

    #[cold]
    fn pop_elsewhere(&self, class: usize) -> Option<NonNull<Node<T>>> {
        let mut stacks = self
            .idle
            .shards
            .iter()
            .filter_map(|shard| shard.0.get(class));
        stacks.find_map(|stack| self.pop(stack))
    }

    #[inline]
    fn pop(&self, stack: &Stack) -> Option<NonNull<Node<T>>> {
        // The node that was looked at last is the one that is popped.
        let mut top = None;
        stack.pop(|index| {
            top = self.table.get(index as usize).and_then(NonNull::new);
            top.map_or(0, |node| {
                // SAFETY: nodes are freed only when the manager is gone, see `Drop`.
                let node = unsafe { node.as_ref() };
                node.touch();
                node.below.load(Ordering::Relaxed)
            })
        })?;
        top
    }

    #[inline]
    fn node(&self, index: u32) -> Option<&Node<T>> {
        // SAFETY: nodes are freed only when the manager is gone, see `Drop`.
        let node = unsafe { &*self.table.get(index as usize)? };
        node.touch();
        Some(node)
    }

    /// The node that a handle of this manager is of.
    fn named(&self, handle: ManagedHandle<G>) -> Option<&Node<T>> {
        let handle = handle.of(self.idle.manager)?;
        self.node(handle.index() as u32)
    }

    fn nodes(&self) -> impl Iterator<Item = &Node<T>> + '_ {
        self.table.iter().map(|node| {
            // SAFETY: nodes are freed only when the manager is gone, see `Drop`.
            let node = unsafe { &*node };
            node.touch();
            node
        })
    }

    /// Leases the object whose life `handle` names. A lease that is taken while the last other
    /// one ends may find the name good for the last time: the life goes on, its name may not.
    ///
    /// # Errors
    /// [`Error::StaleHandle`]; [`Error::Full`] when it has too many leases.
    pub(crate) fn lease(&self, handle: ManagedHandle<G>) -> Result<Leased<T, G>> {
        let stale = || Error::stale(G::NAME, handle.to_bits());
        let node = self.named(handle).ok_or_else(stale)?;
        Self::take_lease(node, |word| {
            let is_named = if mutant!("object_pool_lease_of_any_life") {
                word.is_named()
            } else {
                word.generation() == handle.generation()
            };
            is_named.then_some(()).ok_or_else(stale)
        })
    }

    /// One more lease of a node that is awake, as long as its word is as `check` wants it. The error
    /// of a node that sleeps is that of `check` for the word of no life.
    fn take_lease(node: &Node<T>, check: impl Fn(Word) -> Result<()>) -> Result<Leased<T, G>> {
        loop {
            // A node that is awake has a lease.
            let (word, awake) = node.look();
            check(if awake { word } else { Word::NEW })?;
            if word.leases() >= word::MOST_LEASES {
                return Err(Error::Full { kind: G::NAME });
            }
            // Acquire: see `Leased::is_last_by_name`. `look` has acquired the life that this word is of.
            let taken = node.word.compare_exchange_weak(
                word.0,
                word.with_lease().0,
                Ordering::Acquire,
                Ordering::Relaxed,
            );
            if taken.is_ok() {
                // SAFETY: the word counts this lease.
                return Ok(unsafe { Leased::from_node(NonNull::from(node)) });
            }
        }
    }

    /// Ends the name, and the manager's own lease if it has one. The life ends with the last
    /// lease.
    ///
    /// # Errors
    /// [`Error::StaleHandle`]; the error of the destruction, if the object was destroyed here
    /// because it was not reusable.
    #[track_caller]
    pub(crate) fn release(&self, handle: ManagedHandle<G>) -> Result<()> {
        let stale = || Error::stale(G::NAME, handle.to_bits());
        let node = self.named(handle).ok_or_else(stale)?;
        if !node.look().1 {
            return Err(stale());
        }
        match Self::end_name(node, |word| word.generation() == handle.generation()) {
            Ended::NotThisOne => Err(stale()),
            Ended::Kept => Ok(()),
            Ended::Destroyed(destroyed) => destroyed,
        }
    }

    /// Ends the name of a node, if its word is as `only_if` wants it.
    #[track_caller]
    fn end_name(node: &Node<T>, only_if: impl Fn(Word) -> bool) -> Ended {
        let mut word = node.word();
        loop {
            if !only_if(word) {
                return Ended::NotThisOne;
            }
            let without = if mutant!("object_pool_release_keeps_the_lease") {
                word.unnamed()
            } else {
                word.unnamed().let_go()
            };
            // The last lease goes with the node.
            let is_last = without.leases() == 0;
            let new = if is_last {
                without.with_lease()
            } else {
                without
            };
            // Acquire: all uses come before the end, if this is it. Every use was under a lease, which
            // has ended with Release.
            match node.word.compare_exchange_weak(
                word.0,
                new.0,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) if is_last => {
                    // SAFETY: the manager's own was the last lease, and it is still counted.
                    let destroyed = unsafe { lease::end_of_life(node.into()) };
                    return destroyed.map_or(Ended::Kept, Ended::Destroyed);
                }
                Ok(_) => {
                    // The manager was the last user beside stocks, perhaps: a lease that ends looks.
                    if new.has_stock() && !mutant!("lease_stock_outlives_the_name") {
                        drop(Self::pin(node));
                    }
                    return Ended::Kept;
                }
                Err(now) => word = Word(now),
            }
        }
    }

    /// A lease of a node that has leases in stock, whatever life it is in; `None` of one that waits
    /// or has none there.
    fn pin(node: &Node<T>) -> Option<Leased<T, G>> {
        let none = || Error::stale(G::NAME, 0);
        let check = |word: Word| word.has_stock().then_some(()).ok_or_else(none);
        Self::take_lease(node, check).ok()
    }

    /// Whether `handle` names a life now.
    pub(crate) fn is_alive(&self, handle: ManagedHandle<G>) -> bool {
        self.named(handle).is_some_and(|node| {
            let (word, awake) = node.look();
            awake && word.generation() == handle.generation()
        })
    }

    /// Names of the lives that have one now.
    pub(crate) fn handles(&self) -> impl Iterator<Item = ManagedHandle<G>> + '_ {
        self.nodes().filter_map(|node| {
            let (word, awake) = node.look();
            (awake && word.is_named()).then(|| node.name(word.generation()))
        })
    }

    /// Number of lives that have a lease now.
    pub(crate) fn live(&self) -> usize {
        let mut live = 0;
        for node in self.nodes() {
            live += usize::from(node.leases() > 0);
        }
        live
    }

    /// Figures so far; those of one instant only while no other thread uses the pool.
    pub(crate) fn stats(&self) -> RecycleStats {
        let before = self.idle.first_word().lives();
        let mut lives = 0;
        for node in self.nodes() {
            lives += node.word().lives() - before;
        }
        let created = self.created.load(Ordering::Relaxed);
        let existing = self.idle.existing.load(Ordering::Relaxed);
        let live = self.live();
        RecycleStats {
            created,
            reused: lives.saturating_sub(created),
            live,
            idle: existing.saturating_sub(live),
            peak: self.peak.load(Ordering::Relaxed),
            capacity: self.capacity.load(Ordering::Relaxed),
        }
    }

    /// Destroys objects that wait, but for `keep` of each class: the objects that this thread used
    /// last, then others.
    ///
    /// # Errors
    /// The first error of a destruction; the others are destroyed all the same.
    #[track_caller]
    pub(crate) fn trim(&self, keep: usize) -> Result<()> {
        let mut first = Ok(());
        // The objects to keep come off first. They are put back before the driver is called,
        // because no other thread finds them meanwhile; in batches, so that this is not done for
        // each one.
        let batch = keep.saturating_add(keep.max(1));
        for class in 0..CLASSES {
            loop {
                let waiting = std::iter::from_fn(|| self.pop_idle(class));
                let mut kept: Vec<_> = waiting.take(batch).collect();
                let is_all = kept.len() < batch;
                let surplus = kept.split_off(keep.min(kept.len()));
                for node in kept.into_iter().rev() {
                    // SAFETY: a node from an idle stack is full, and its lease is ours.
                    first = first.and(unsafe { lease::put_by(node) }.unwrap_or(Ok(())));
                }
                for node in surplus {
                    // SAFETY: a node from an idle stack is full, and its lease is ours.
                    first = first.and(unsafe { lease::give_up(node) }.unwrap_or(Ok(())));
                }
                if is_all {
                    break;
                }
            }
        }
        first
    }

    /// Changes the most objects that may exist at a time; objects that exist stay.
    pub(crate) fn set_capacity(&self, capacity: usize) {
        self.capacity
            .store(capacity.min(table::ROOM), Ordering::Relaxed);
    }
}
