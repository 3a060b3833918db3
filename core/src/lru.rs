//! `Lru`: a list of least recent use, with second chances.
//!
//! Its users are residency, which evicts the model that was used longest ago, and the kernel
//! cache, which keeps to a limit in bytes; both are to come.
//!
//! A doubly linked list through nodes that the caller lends, by index and not by pointer:
//! nothing is pinned and nothing here is unsafe. The list has one owner. Other threads mark
//! an entry as used by a [`Touch`], one relaxed store, and the owner finds out when it looks
//! for an entry to evict: the second chance of the clock algorithm (F. J. Corbató, 1968), on a
//! list that is otherwise exact.

use core::fmt;

use crate::sync::{AtomicBool, Ordering, const_fn};

/// No node, as an index. In `prev` it also says that a node is not listed.
const NONE: u32 = u32::MAX;
/// The place of `prev` in the least recent node.
const FIRST: u32 = u32::MAX - 1;

/// The link of one entry in an [`Lru`].
#[derive(Clone, Copy, Debug)]
pub struct LruNode {
    /// The node used before this one; `FIRST` if there is none, `NONE` if not listed.
    prev: u32,
    /// The node used after this one, or `NONE`.
    next: u32,
}

impl LruNode {
    /// A node that is not listed.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            prev: NONE,
            next: NONE,
        }
    }
}

impl Default for LruNode {
    fn default() -> Self {
        Self::new()
    }
}

/// Indices in the order of their last use, over nodes that the caller lends: an array, a
/// `&mut [LruNode]`, a boxed slice. All operations but eviction take the same time however
/// long the list is.
///
/// ```
/// use cupola_core::{Lru, Touch};
///
/// let mut lru = Lru::<[_; 3]>::in_place();
/// let touches = [const { Touch::new() }; 3];
/// (0..3).for_each(|index| lru.insert(index).unwrap());
/// lru.touch(0).unwrap(); // the owner used 0
/// touches[1].touch(); // some thread used 1
/// let pinned = |index| index == 0;
/// assert_eq!(lru.evict(|index| touches[index].take(), |index| !pinned(index)), Some(2));
/// assert!(lru.iter().eq([0, 1]));
/// assert_eq!(lru.pop_lru(), Some(0));
/// ```
///
/// Storage whose `as_ref` and `as_mut` do not always give the same nodes gets wrong
/// answers, but no panic and no endless loop.
#[doc(alias("least recently used", "clock algorithm", "second chance"))]
pub struct Lru<S> {
    nodes: S,
    /// Least recent, or `NONE`.
    first: u32,
    /// Most recent, or `NONE`.
    last: u32,
    len: u32,
}

/// The reason why an index is refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LruError {
    /// There is no such node.
    OutOfRange,
    /// It is listed already.
    Listed,
    /// It is not listed.
    NotListed,
}

impl<const N: usize> Lru<[LruNode; N]> {
    /// An empty list with `N` nodes in place, as a constant.
    #[must_use]
    pub const fn in_place() -> Self {
        Self::over([LruNode::new(); N])
    }
}

impl<S> Lru<S> {
    const fn over(nodes: S) -> Self {
        Self {
            nodes,
            first: NONE,
            last: NONE,
            len: 0,
        }
    }
}

impl<S: AsRef<[LruNode]> + AsMut<[LruNode]>> Lru<S> {
    /// An empty list over `nodes`, which may have been used before. Nodes beyond the first
    /// 2^32 - 2 are not used.
    pub fn new(mut nodes: S) -> Self {
        nodes.as_mut().fill(LruNode::new());
        Self::over(nodes)
    }

    /// Lists `index` as the most recent.
    ///
    /// # Errors
    /// [`LruError::OutOfRange`], or [`LruError::Listed`] if it is listed already; nothing
    /// changes then.
    pub fn insert(&mut self, index: usize) -> Result<(), LruError> {
        let (at, node) = self.node(index)?;
        if node.prev != NONE {
            return Err(LruError::Listed);
        }
        self.append(at);
        Ok(())
    }

    /// Makes `index` the most recent.
    ///
    /// # Errors
    /// [`LruError::OutOfRange`] or [`LruError::NotListed`].
    #[inline]
    pub fn touch(&mut self, index: usize) -> Result<(), LruError> {
        let (at, node) = self.listed(index)?;
        // The most recent stays where it is.
        if self.last != at {
            self.unlink(at, node);
            self.append(at);
        }
        Ok(())
    }

    /// Takes `index` off the list.
    ///
    /// # Errors
    /// [`LruError::OutOfRange`] or [`LruError::NotListed`].
    pub fn remove(&mut self, index: usize) -> Result<(), LruError> {
        let (at, node) = self.listed(index)?;
        self.unlink(at, node);
        Ok(())
    }

    /// Takes the least recent off the list, whatever its [`Touch`] says.
    pub fn pop_lru(&mut self) -> Option<usize> {
        self.evict_if(|_| true)
    }

    /// Takes the least recent of those that `may` go off the list; the others keep their
    /// places. Asks about each once at most.
    ///
    /// An entry that is passed over is looked at again in every search. If many are pinned for
    /// long, take them off the list instead and insert them when they are unpinned.
    pub fn evict_if(&mut self, may: impl FnMut(usize) -> bool) -> Option<usize> {
        self.evict(|_| false, may)
    }

    /// Takes off the list the least recent of those that `may` go and were not `touched`
    /// since the last search; where all of them were, the least recent of those.
    ///
    /// `touched` says whether an index was used, and forgets it: [`Touch::take`]. One that
    /// was becomes the most recent instead, which is its second chance. One that may not
    /// go keeps its place and its touch. Each is asked about once, and once more when
    /// everything that may go had been touched: other threads that go on touching cannot
    /// keep this from ending, nor from finding something.
    pub fn evict(
        &mut self,
        mut touched: impl FnMut(usize) -> bool,
        mut may: impl FnMut(usize) -> bool,
    ) -> Option<usize> {
        let mut chances = 0;
        for chance in [true, false] {
            // A second round only for those that the first has spared.
            if !chance && chances == 0 && !mutant!("lru_asks_twice") {
                break;
            }
            let mut at = self.first;
            // As many as are listed now: those that are given a chance go to the end, and
            // their turn comes in the second round.
            for _ in 0..self.len {
                let (_, node) = self.node(at as usize).ok()?;
                if may(at as usize) {
                    let spared = chance && touched(at as usize);
                    self.unlink(at, node);
                    if !spared {
                        return Some(at as usize);
                    }
                    chances += 1;
                    self.append(at);
                }
                at = node.next;
                if at == NONE {
                    // The end, when the last one looked at has just moved there.
                    break;
                }
            }
        }
        None
    }

    /// The indices from the least to the most recent.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        let nodes = self.nodes.as_ref();
        let mut at = self.first;
        (0..self.len).map_while(move |_| {
            let index = at as usize;
            at = nodes.get(index)?.next;
            Some(index)
        })
    }

    /// Whether `index` is listed.
    #[must_use]
    pub fn contains(&self, index: usize) -> bool {
        self.listed(index).is_ok()
    }

    /// How many are listed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether none is listed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The node of `index`, and the index as a link.
    fn node(&self, index: usize) -> Result<(u32, LruNode), LruError> {
        let node = self.nodes.as_ref().get(index);
        let at = u32::try_from(index).ok().filter(|&at| at < FIRST);
        at.zip(node.copied()).ok_or(LruError::OutOfRange)
    }

    fn listed(&self, index: usize) -> Result<(u32, LruNode), LruError> {
        let found = self.node(index)?;
        if found.1.prev == NONE {
            return Err(LruError::NotListed);
        }
        Ok(found)
    }

    fn set(&mut self, at: u32, change: impl FnOnce(&mut LruNode)) {
        if let Some(node) = self.nodes.as_mut().get_mut(at as usize) {
            change(node);
        }
    }

    /// Lists `at`, which is not listed, as the most recent.
    fn append(&mut self, at: u32) {
        let last = self.last;
        let prev = if last == NONE { FIRST } else { last };
        self.set(at, |node| *node = LruNode { prev, next: NONE });
        if last == NONE {
            self.first = at;
        } else {
            self.set(last, |node| node.next = at);
        }
        self.last = at;
        self.len = self.len.saturating_add(1);
    }

    /// Takes `at` off the list, where its `node` says it is.
    fn unlink(&mut self, at: u32, node: LruNode) {
        let LruNode { prev, next } = node;
        if prev == FIRST {
            self.first = next;
        } else {
            self.set(prev, |before| before.next = next);
        }
        if next == NONE {
            self.last = if prev == FIRST { NONE } else { prev };
        } else if !mutant!("lru_one_way") {
            self.set(next, |after| after.prev = prev);
        }
        self.set(at, |node| *node = LruNode::new());
        self.len = self.len.saturating_sub(1);
    }
}

impl<S> fmt::Debug for Lru<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lru")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for LruError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutOfRange => "no such node",
            Self::Listed => "listed already",
            Self::NotListed => "not listed",
        })
    }
}

impl core::error::Error for LruError {}

/// A mark that an entry was used, set by any thread with a relaxed store. It is a hint: it
/// orders nothing. Keep it beside the entry that it speaks of.
#[doc(alias = "reference bit")]
#[derive(Debug)]
pub struct Touch(AtomicBool);

impl Touch {
    const_fn! {
        /// Not touched.
        #[must_use]
        pub fn new() -> Self {
            Self(AtomicBool::new(false))
        }
    }

    /// Marks the entry as used.
    #[inline]
    pub fn touch(&self) {
        // Looks first: between two searches there is one write, and after it the line can
        // stay in the caches of all processors that use the entry.
        if !self.0.load(Ordering::Relaxed) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it was touched since the last call. A touch that is not ordered before this
    /// call can be missed and count at the next one.
    #[inline]
    pub fn take(&self) -> bool {
        // A swap only when there is a mark to take; of two touches at one time one may fall to
        // the next call, and none that comes before this one is lost.
        self.0.load(Ordering::Relaxed)
            && if mutant!("lru_touch_stays") {
                true
            } else {
                self.0.swap(false, Ordering::Relaxed)
            }
    }
}

impl Default for Touch {
    fn default() -> Self {
        Self::new()
    }
}
