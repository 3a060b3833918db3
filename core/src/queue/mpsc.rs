//! An unbounded queue whose nodes are the caller's and whose consumer takes all at once.
//!
//! One word: the newest node, each node linking to the one before it. The consumer never takes a
//! single node, it exchanges the whole list for nothing. So a push may take a node for another at
//! the same address (ABA): either way what it links to is the newest node, for links are
//! addresses, and there is no tag. A push is a compare-exchange loop and not the wait-free `swap`
//! followed by a store of the link: with the latter the consumer can find a list whose links are
//! not all there yet, and has to wait for a producer that may be suspended.

use core::fmt;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};

use super::node::{Link, Linked};
use crate::sync::{AtomicPtr, Ordering, UnsafeCell, const_fn};

/// A queue that any number of threads push to and one consumer empties. It needs no memory
/// of its own: what is pushed is a pointer `P` that owns a node, for example a
/// `&mut `[`Node`](super::Node).
///
/// Nothing goes wrong when several threads empty it; each node goes to one of them.
///
/// # Sleeping until there is something
/// [`push`](Self::push) says whether the queue was empty. A consumer that sleeps only
/// after an empty [`pop_all`](Self::pop_all) and is woken by each push that found the queue
/// empty misses nothing, provided that a wake-up which comes before the sleep ends it at
/// once, as with `std::thread::park`.
///
/// ```
/// use cupola_core::queue::{Mpsc, Node};
/// use std::thread;
///
/// let mut freed = [Node::new(1), Node::new(2), Node::new(3)];
/// let queue = Mpsc::new();
/// thread::scope(|scope| {
///     let consumer = thread::current();
///     let (queue, freed) = (&queue, &mut freed);
///     scope.spawn(move || {
///         for node in freed {
///             if queue.push(node) {
///                 consumer.unpark();
///             }
///         }
///     });
///     let mut got = Vec::new();
///     while got.len() < 3 {
///         let batch = queue.pop_all();
///         if batch.is_empty() {
///             thread::park();
///         }
///         got.extend(batch.oldest_first().map(|node| **node));
///     }
///     assert_eq!(got, [1, 2, 3]);
/// });
/// ```
///
/// Pointers go in through a shared reference, so a queue of longer borrows is not one of
/// shorter ones:
///
/// ```compile_fail
/// use cupola_core::queue::{Mpsc, Node};
///
/// fn shorter<'q, 's>(queue: &'q Mpsc<&'static mut Node<u8>>) -> &'q Mpsc<&'s mut Node<u8>> {
///     queue
/// }
/// ```
pub struct Mpsc<P: Linked> {
    newest: AtomicPtr<Link>,
    /// Owned, and behind a cell: what can be put in must be exactly what can come out.
    owned: PhantomData<UnsafeCell<P>>,
}

// SAFETY: through `&self` pointers only move in and out, so it is enough that they may
// change threads.
unsafe impl<P: Linked + Send> Sync for Mpsc<P> {}
// SAFETY: the queue owns its pointers and nothing else.
unsafe impl<P: Linked + Send> Send for Mpsc<P> {}

impl<P: Linked> Mpsc<P> {
    const_fn! {
        /// An empty queue.
        #[must_use]
        pub fn new() -> Self {
            Self { newest: AtomicPtr::new(ptr::null_mut()), owned: PhantomData }
        }
    }

    /// Adds a node. True when the queue was empty: if the consumer sleeps, it is for this
    /// caller to wake it.
    ///
    /// Everything before this in the calling thread comes before everything after the
    /// [`pop_all`](Self::pop_all) that returns the node.
    pub fn push(&self, node: P) -> bool {
        let link = Link::enlist(node);
        // SAFETY: the pointer was ours and is now the queue's, so the chain of one is too.
        unsafe { self.add(link, link) }
    }

    /// Adds all nodes of a chain at once: no other node comes between them. True as with
    /// [`push`](Self::push); false when the chain is empty.
    pub fn push_chain(&self, chain: Chain<P>) -> bool {
        match chain.into_ends() {
            // SAFETY: the chain owned its nodes, and they are linked from end to end.
            Some((newest, oldest)) => unsafe { self.add(newest, oldest) },
            None => false,
        }
    }

    /// Adds a chain.
    ///
    /// # Safety
    /// The links come from `enlist`, lead from `newest` to `oldest`, and belong to the
    /// caller, who passes them on.
    unsafe fn add(&self, newest: NonNull<Link>, oldest: NonNull<Link>) -> bool {
        let release = if mutant!("mpsc_relaxed_push") {
            Ordering::Relaxed
        } else {
            // Whoever takes the list sees the links and what came before the push.
            Ordering::Release
        };
        let mut before = self.newest.load(Ordering::Relaxed);
        let at_first = before;
        loop {
            // The node of `before` may be gone already; then the exchange finds another at
            // its address, to which the link leads as well, or fails.
            // SAFETY: the node is still ours.
            unsafe { Link::set_next(oldest, before) };
            match self.newest.compare_exchange_weak(
                before,
                newest.as_ptr(),
                release,
                Ordering::Relaxed,
            ) {
                Ok(_) if mutant!("mpsc_stale_wake") => return at_first.is_null(),
                Ok(_) => return before.is_null(),
                Err(now) => before = now,
            }
        }
    }

    /// Takes everything, newest first; [`Batch::oldest_first`] turns it round.
    #[must_use = "nodes that are not looked at are dropped"]
    pub fn pop_all(&self) -> Batch<P> {
        // Only looked at, an empty queue stays in the caches of all who look. What this
        // load misses is a push whose wake-up is still to come.
        let newest = if self.newest.load(Ordering::Relaxed).is_null() {
            ptr::null_mut()
        } else {
            let acquire = if mutant!("mpsc_relaxed_pop") {
                Ordering::Relaxed
            } else {
                // Pairs with the Release of every push since the list was last taken,
                // because each of them is a read-modify-write.
                Ordering::Acquire
            };
            self.newest.swap(ptr::null_mut(), acquire)
        };
        Batch {
            newest,
            owned: PhantomData,
        }
    }

    /// Whether there is nothing to take; a hint while other threads push.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.newest.load(Ordering::Relaxed).is_null()
    }
}

impl<P: Linked> Drop for Mpsc<P> {
    fn drop(&mut self) {
        drop(self.pop_all());
    }
}

impl<P: Linked> Default for Mpsc<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Linked> fmt::Debug for Mpsc<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mpsc")
            .field("is_empty", &self.is_empty())
            .finish()
    }
}

/// What [`Mpsc::pop_all`] took, or what a [`Chain`] holds: an iterator over nodes that are
/// the caller's again. Those that it has not returned are dropped with it.
pub struct Batch<P: Linked> {
    newest: *mut Link,
    owned: PhantomData<P>,
}

// SAFETY: it owns the pointers in its list and nothing else.
unsafe impl<P: Linked + Send> Send for Batch<P> {}
// SAFETY: `&Batch` tells only whether the list is empty.
unsafe impl<P: Linked> Sync for Batch<P> {}

impl<P: Linked> Batch<P> {
    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.newest.is_null()
    }

    /// The same nodes in the order in which they were pushed. Goes over all of them once.
    #[must_use = "nodes that are not looked at are dropped"]
    pub fn oldest_first(mut self) -> Self {
        let mut turned = ptr::null_mut();
        while let Some(link) = NonNull::new(self.newest) {
            // SAFETY: a link of our list.
            self.newest = unsafe { Link::next(link) };
            // SAFETY: as before.
            unsafe { Link::set_next(link, turned) };
            turned = link.as_ptr();
        }
        self.newest = turned;
        self
    }
}

impl<P: Linked> Iterator for Batch<P> {
    type Item = P;

    fn next(&mut self) -> Option<P> {
        let link = NonNull::new(self.newest)?;
        // SAFETY: a link of our list; the node is not given out yet.
        self.newest = unsafe { Link::next(link) };
        // SAFETY: it came from `into_link`, left the list just now, and is given out once.
        Some(unsafe { P::from_link(link) })
    }
}

impl<P: Linked> core::iter::FusedIterator for Batch<P> {}

impl<P: Linked> Drop for Batch<P> {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

impl<P: Linked> fmt::Debug for Batch<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("is_empty", &self.is_empty())
            .finish()
    }
}

/// Nodes that one thread gathers, to push them with one atomic operation.
///
/// ```
/// use cupola_core::queue::{Chain, Mpsc, Node};
///
/// let (mut one, mut two) = (Node::new(1), Node::new(2));
/// let queue = Mpsc::new();
/// let mut chain = Chain::new();
/// chain.push(&mut one);
/// chain.push(&mut two);
/// assert!(queue.push_chain(chain), "the queue was empty");
/// assert!(queue.pop_all().map(|node| **node).eq([2, 1]));
/// ```
pub struct Chain<P: Linked> {
    list: Batch<P>,
    /// The end of the list; means nothing while it is empty.
    oldest: *mut Link,
    len: usize,
}

// SAFETY: it owns the pointers in its list and nothing else.
unsafe impl<P: Linked + Send> Send for Chain<P> {}
// SAFETY: `&Chain` tells only how long the list is.
unsafe impl<P: Linked> Sync for Chain<P> {}

impl<P: Linked> Chain<P> {
    /// An empty chain.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            list: Batch {
                newest: ptr::null_mut(),
                owned: PhantomData,
            },
            oldest: ptr::null_mut(),
            len: 0,
        }
    }

    /// Adds a node, which becomes the newest.
    pub fn push(&mut self, node: P) {
        let link = Link::enlist(node);
        // SAFETY: the node has just become ours.
        unsafe { Link::set_next(link, self.list.newest) };
        if self.list.is_empty() {
            self.oldest = link.as_ptr();
        }
        self.list.newest = link.as_ptr();
        self.len += 1;
    }

    /// Nodes in the chain.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no node in the chain.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The newest and the oldest node, which are the caller's now.
    fn into_ends(mut self) -> Option<(NonNull<Link>, NonNull<Link>)> {
        let newest = core::mem::replace(&mut self.list.newest, ptr::null_mut());
        NonNull::new(newest).zip(NonNull::new(self.oldest))
    }
}

impl<P: Linked> IntoIterator for Chain<P> {
    type Item = P;
    type IntoIter = Batch<P>;

    /// The nodes, newest first.
    fn into_iter(self) -> Batch<P> {
        self.list
    }
}

impl<P: Linked> Default for Chain<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Linked> fmt::Debug for Chain<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").field("len", &self.len).finish()
    }
}
