//! Both stores against a `HashMap` of values and leases.

mod replay;

use cupola_core::{
    FixedSlots, Handle, HandleError, Hot, InsertError, Late, Release, Reuse, SlotPool, With, tag,
};
use quickcheck::{Arbitrary, Gen, QuickCheck};
use replay::{Step, replay};

use super::boxes::Boxes;

impl Arbitrary for Step {
    fn arbitrary(g: &mut Gen) -> Self {
        Self::new(u8::arbitrary(g), u8::arbitrary(g), u16::arbitrary(g))
    }
}

/// A store whose values can fail to be made; `R` says which slot is used next.
type Fixed<const N: usize, R> = FixedSlots<u32, N, tag::Slot, With<R, u8>>;

/// Without these a store could lose a value, hand one out twice, accept a stale handle, or
/// refuse while it has room. Sizes: one slot, less than a group, exactly one, and a last
/// group of one slot.
#[test]
fn fixed_slots_behave_like_a_map() {
    fn hot<const N: usize>(steps: Vec<Step>) {
        replay(&Fixed::<N, Hot>::new(), N, steps);
    }
    fn late<const N: usize>(steps: Vec<Step>) {
        replay(&Fixed::<N, Late>::new(), N, steps);
    }
    let size = || QuickCheck::new().rng(Gen::new(600)).tests(100);
    size().quickcheck(hot::<1> as fn(Vec<Step>));
    size().quickcheck(hot::<7> as fn(Vec<Step>));
    size().quickcheck(hot::<64> as fn(Vec<Step>));
    size().quickcheck(hot::<65> as fn(Vec<Step>));
    size().quickcheck(late::<7> as fn(Vec<Step>));
    size().quickcheck(late::<65> as fn(Vec<Step>));
}

/// As above, with growth.
#[test]
fn a_slot_pool_behaves_like_a_map() {
    fn property<R: Reuse>(steps: Vec<Step>) {
        let pool = SlotPool::<u32, Boxes, tag::Slot, 2, With<R, u8>>::new(Boxes::new(2));
        replay(&pool, 128, steps);
    }
    let size = || QuickCheck::new().rng(Gen::new(1200)).tests(100);
    size().quickcheck(property::<Hot> as fn(Vec<Step>));
    size().quickcheck(property::<Late> as fn(Vec<Step>));
}

/// Without it a pool could report more room than its source has, or fail to use what it
/// has.
#[test]
fn a_source_that_runs_dry_fills_the_pool() {
    let pool = SlotPool::<u32, Boxes>::new(Boxes::new(3));
    let handles: Vec<_> = (0..192).map(|value| pool.insert(value).unwrap()).collect();
    assert_eq!(pool.insert(192), Err(InsertError::Full(192)));
    assert_eq!(pool.release(handles[100]), Ok(Release::Now(100)));
    assert_eq!(pool.insert_near(1000, 193).unwrap().index(), 100);
    assert_eq!(pool.live(), 192);
}

/// Without it a handle could read past the end of a store that is smaller than its index.
#[test]
fn a_handle_from_elsewhere_is_stale() {
    let small = FixedSlots::<u32, 3>::new();
    small.insert(1).unwrap();
    for bits in [(1 << 24) | 1, (1 << 24) | 3, (1 << 24) | 64, u64::MAX] {
        let handle = Handle::from_bits(bits).unwrap();
        assert_eq!(small.get(handle).unwrap_err(), HandleError::Stale);
        assert_eq!(small.release(handle), Err(HandleError::Stale));
    }
}
