//! `Handle<Tag>`: a generational index, the name of one life of one slot, in one non-zero
//! `u64`.
//!
//! A slot's generation is odd while the slot is occupied, so the generation inside a
//! handle is never zero and `Option<Handle<_>>` needs no extra word.

use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;
use core::num::NonZeroU64;

/// The kind of object that a handle names, as a type without values. Implement it on a type
/// of your own to get a new kind of handle.
pub trait Tag: 'static {
    /// The name that `Debug` prints.
    const NAME: &'static str;
}

/// The kinds of handle that cupola uses.
pub mod tag {
    use super::Tag;

    macro_rules! tags {
        ($($(#[$attr:meta])* $name:ident)*) => {$(
            $(#[$attr])*
            #[derive(Debug)]
            pub enum $name {}
            impl Tag for $name {
                const NAME: &'static str = stringify!($name);
            }
        )*};
    }

    tags! {
        /// A device.
        Device
        /// A context.
        Context
        /// A stream.
        Stream
        /// An event.
        Event
        /// A piece of device or pinned memory.
        Buffer
        /// A loaded module.
        Module
        /// A function of a module.
        Function
        /// A graph.
        Graph
        /// A slot of no particular kind; the default of the stores.
        Slot
    }
}

/// The name of one life of one slot: generation (40 bits, odd) above index (24 bits).
///
/// A handle is plain data: copying it keeps nothing alive, and using it after its slot
/// was released is an error and never reaches the slot's next value. The order is by
/// generation, then index.
///
/// ```
/// use cupola_core::{Handle, tag};
/// let handle = Handle::<tag::Stream>::from_bits((7 << 24) | 3).unwrap();
/// assert_eq!(format!("{handle:?}"), "Stream#3@7");
/// assert_eq!(Handle::from_bits(handle.to_bits()), Some(handle));
/// assert_eq!(Handle::from_parts(3, 7), handle);
/// ```
#[doc(alias("generational index", "key"))]
#[repr(transparent)]
pub struct Handle<G> {
    bits: NonZeroU64,
    tag: PhantomData<fn() -> G>,
}

static_assertions::assert_eq_size!(Option<Handle<tag::Slot>>, u64);
static_assertions::assert_impl_all!(Handle<tag::Slot>: Send, Sync, Copy);

impl<G> Handle<G> {
    /// Bits that hold the index.
    pub const INDEX_BITS: u32 = 24;
    /// Bits that hold the generation.
    pub const GENERATION_BITS: u32 = 40;
    /// Indices are below this number: no store has more slots.
    pub const MAX_SLOTS: usize = 1 << Self::INDEX_BITS;

    /// `index` is below `MAX_SLOTS`, `generation` odd and below 2^40: the stores keep both.
    pub(crate) fn new(index: usize, generation: u64) -> Self {
        debug_assert!(index < Self::MAX_SLOTS && generation >> Self::GENERATION_BITS == 0);
        debug_assert!(
            generation & 1 == 1,
            "an occupied slot has an odd generation"
        );
        // The lowest bit of the generation is set in any case.
        const LOWEST: NonZeroU64 = NonZeroU64::new(1 << 24).unwrap();
        Self {
            bits: LOWEST | (generation << Self::INDEX_BITS) | index as u64,
            tag: PhantomData,
        }
    }

    /// The handle of a life of a slot, for stores outside of this crate: the lower 24 bits of
    /// `index`, and the lower 40 bits of `generation` with the lowest one set.
    #[must_use]
    pub const fn from_parts(index: u32, generation: u64) -> Self {
        const LOWEST: NonZeroU64 = NonZeroU64::new(1 << 24).unwrap();
        let index = (index as u64) & (Self::MAX_SLOTS as u64 - 1);
        // Bits of the generation above 40 are shifted out.
        let bits = (generation << Self::INDEX_BITS) | index | LOWEST.get();
        Self {
            bits: match NonZeroU64::new(bits) {
                Some(bits) => bits,
                None => LOWEST,
            },
            tag: PhantomData,
        }
    }

    /// The handle as a number, for C and for logs. Stable: generation in the upper 40
    /// bits, index in the lower 24; never zero.
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        self.bits.get()
    }

    /// The handle that [`to_bits`](Self::to_bits) gave `bits` for. `None` when `bits`
    /// can be no handle: its generation is even (zero included).
    ///
    /// Any other number is accepted; the store that it is shown to decides whether it
    /// names something.
    #[must_use]
    #[cfg(not(mutants))]
    pub const fn from_bits(bits: u64) -> Option<Self> {
        Self::checked(bits, false)
    }

    /// Decodes a handle; a mutant can be asked for.
    #[cfg(mutants)]
    pub fn from_bits(bits: u64) -> Option<Self> {
        Self::checked(bits, mutant!("handle_of_a_vacant_slot"))
    }

    const fn checked(bits: u64, mistaken: bool) -> Option<Self> {
        let vacant = (bits >> Self::INDEX_BITS) & 1 == 0;
        if vacant && !mistaken {
            return None;
        }
        match NonZeroU64::new(bits) {
            Some(bits) => Some(Self {
                bits,
                tag: PhantomData,
            }),
            None => None,
        }
    }

    /// The slot's place in its store, below [`MAX_SLOTS`](Self::MAX_SLOTS).
    #[must_use]
    pub const fn index(self) -> usize {
        (self.bits.get() & (Self::MAX_SLOTS as u64 - 1)) as usize
    }

    /// Which life of the slot this names: odd, below 2^40.
    #[must_use]
    pub const fn generation(self) -> u64 {
        self.bits.get() >> Self::INDEX_BITS
    }
}

// Written out because derives would ask the tag for the same traits.
impl<G> Clone for Handle<G> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<G> Copy for Handle<G> {}
impl<G> PartialEq for Handle<G> {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits
    }
}
impl<G> Eq for Handle<G> {}
impl<G> PartialOrd for Handle<G> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<G> Ord for Handle<G> {
    fn cmp(&self, other: &Self) -> Ordering {
        if mutant!("handle_orders_by_index") {
            return self.index().cmp(&other.index());
        }
        self.bits.cmp(&other.bits)
    }
}
impl<G> Hash for Handle<G> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits.hash(state);
    }
}
impl<G: Tag> fmt::Debug for Handle<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}@{}", G::NAME, self.index(), self.generation())
    }
}
