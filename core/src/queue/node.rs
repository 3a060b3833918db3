//! What an [`Mpsc`](super::Mpsc) needs to know of the caller's nodes.

use core::fmt;
use core::ops::{Deref, DerefMut};
use core::ptr::{self, NonNull};

use crate::sync::{UnsafeCell, const_fn};

/// The part of a node that a queue uses: where the next node's link is. Whoever owns the
/// node owns this.
///
/// An address, or 0: by the time that a push succeeds, the node that it has found newest
/// can have been taken and freed, and another lie at the same address. A pointer to the first
/// must not be used for the second; the address of the one is that of the other.
pub struct Link(UnsafeCell<usize>);

// SAFETY: outside this module a `&Link` gives access to nothing.
unsafe impl Sync for Link {}

impl Link {
    const_fn! {
        /// A link that leads nowhere.
        #[must_use]
        pub fn new() -> Self {
            Self(UnsafeCell::new(0))
        }
    }

    /// The link of a node that will be in a list, where others lead to it by its address.
    pub(super) fn enlist<P: Linked>(node: P) -> NonNull<Self> {
        let link = node.into_link();
        link.as_ptr().expose_provenance();
        link
    }

    /// Where `link` leads: a pointer as good as the one that `enlist` returned for the node
    /// which is there now.
    ///
    /// # Safety
    /// The caller owns the node, from `into_link` on.
    #[inline]
    pub(super) unsafe fn next(link: NonNull<Self>) -> *mut Self {
        // SAFETY: `Linked` promises that the link is there until its owner gives it back.
        let link = unsafe { link.as_ref() };
        let address = link.0.with(|next| {
            // SAFETY: the caller owns the node, so nobody writes the cell meanwhile.
            unsafe { *next }
        });
        ptr::with_exposed_provenance_mut(address)
    }

    /// Changes where `link` leads: null, or to the address of a link from `enlist`.
    ///
    /// # Safety
    /// The caller owns the node, from `into_link` on.
    #[inline]
    pub(super) unsafe fn set_next(link: NonNull<Self>, to: *mut Self) {
        // SAFETY: `Linked` promises that the link is there until its owner gives it back.
        let link = unsafe { link.as_ref() };
        link.0.with_mut(|next| {
            // SAFETY: the caller owns the node, so nobody else uses the cell meanwhile.
            unsafe { *next = to.addr() };
        });
    }
}

impl Default for Link {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Link")
    }
}

/// A pointer that owns a node with a [`Link`] in it.
///
/// Implemented for `&mut` [`Node`], which serves borrowed and static memory. Implement it
/// for a type of your own to queue boxes, or slots of a pool:
///
/// ```
/// use cupola_core::queue::{Link, Linked, Mpsc};
/// use std::mem::offset_of;
/// use std::ptr::{NonNull, addr_of_mut};
///
/// struct Buffer { bytes: [u8; 64], link: Link }
/// struct Owned(Box<Buffer>);
///
/// // SAFETY: a box owns what it points to, and `into_raw` gives all of that away; the two
/// // offsets are the same.
/// unsafe impl Linked for Owned {
///     fn into_link(self) -> NonNull<Link> {
///         let buffer = Box::into_raw(self.0);
///         // SAFETY: the buffer is there, and the address of its field is not null.
///         unsafe { NonNull::new_unchecked(addr_of_mut!((*buffer).link)) }
///     }
///     unsafe fn from_link(link: NonNull<Link>) -> Self {
///         // SAFETY: the link is the field of a buffer from `into_raw`.
///         let buffer = unsafe { link.byte_sub(offset_of!(Buffer, link)).cast() };
///         // SAFETY: it is the same buffer, and comes back once.
///         Self(unsafe { Box::from_raw(buffer.as_ptr()) })
///     }
/// }
///
/// let freed: Mpsc<Owned> = Mpsc::new();
/// freed.push(Owned(Box::new(Buffer { bytes: [7; 64], link: Link::new() })));
/// assert!(freed.pop_all().all(|buffer| buffer.0.bytes == [7; 64]));
/// ```
///
/// # Safety
/// From `into_link` until `from_link` gets the same link, the link is valid for reads and
/// writes from any thread that may own `Self`, it stays where it is, and nobody else
/// touches it: `into_link` does not return it again before. Neither function unwinds.
///
/// Passing `Self` to a function must not promise that the node lasts until the function
/// returns. While a `push` is still returning, another thread can have popped the node and
/// be done with it. Boxes and raw pointers promise nothing of the kind; a bare `&mut` does.
/// So a type that is or holds a reference must have its memory outlive the reference's
/// lifetime, which the borrow checker sees to, and whoever pops such a node must not free
/// it (by `Box::from_raw` of a leaked box, for one): to free nodes, queue what owns them.
pub unsafe trait Linked: Sized {
    /// Gives the node away as its link.
    fn into_link(self) -> NonNull<Link>;

    /// The node of a link.
    ///
    /// # Safety
    /// `link` came from `into_link` of this type, and for the first time since.
    unsafe fn from_link(link: NonNull<Link>) -> Self;
}

/// A value with a [`Link`]: a node that can be queued by `&mut` without any unsafe code.
/// While it is queued the borrow lasts, so it cannot be queued twice.
#[derive(Default)]
#[repr(C)]
pub struct Node<T> {
    /// First, so that its address is the node's.
    link: Link,
    value: T,
}

impl<T> Node<T> {
    const_fn! {
        /// A node that holds `value`.
        pub fn new(value: T) -> Self {
            Self { link: Link::new(), value }
        }
    }

    /// The value without the link.
    pub fn into_inner(self) -> T {
        self.value
    }
}

// SAFETY: the exclusive borrow lasts from `into_link` to `from_link`, both inside its
// lifetime; the link is the first field of a `repr(C)` type and the pointer is derived
// from the borrow of the whole node.
unsafe impl<T> Linked for &mut Node<T> {
    fn into_link(self) -> NonNull<Link> {
        NonNull::from(self).cast()
    }

    unsafe fn from_link(link: NonNull<Link>) -> Self {
        // SAFETY: the pointer of `into_link`, whose borrow has been the queue's until now.
        unsafe { link.cast::<Node<T>>().as_mut() }
    }
}

impl<T> Deref for Node<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Node<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Node<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Node").field(&self.value).finish()
    }
}
