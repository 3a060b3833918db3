//! Both stores against a `HashMap` of values and leases.

mod replay;

use cupola_core::{
    FixedSlots, Handle, HandleError, InsertError, Release, SlotPool, StorePolicy, tag,
};
use quickcheck::{Arbitrary, Gen, QuickCheck};
use replay::{Step, replay};

use super::boxes::Boxes;

impl Arbitrary for Step {
    fn arbitrary(g: &mut Gen) -> Self {
        Self::new(u8::arbitrary(g), u8::arbitrary(g), u16::arbitrary(g))
    }
}

/// A store whose values can fail to be made.
type Fixed<const N: usize> = FixedSlots<u32, N, tag::Slot, StorePolicy<u8>>;

/// Without these a store could lose a value, hand one out twice, accept a stale handle, or
/// refuse while it has room. Sizes: one slot, less than a group, exactly one, and a last
/// group of one slot.
#[test]
fn fixed_slots_behave_like_a_map() {
    fn property<const N: usize>(steps: Vec<Step>) {
        replay(&Fixed::<N>::new(), N, steps);
    }
    let size = || QuickCheck::new().rng(Gen::new(600)).tests(100);
    size().quickcheck(property::<1> as fn(Vec<Step>));
    size().quickcheck(property::<7> as fn(Vec<Step>));
    size().quickcheck(property::<64> as fn(Vec<Step>));
    size().quickcheck(property::<65> as fn(Vec<Step>));
}

/// Without it a store that grows could do any of that, or lose a chunk's slots.
#[test]
fn a_slot_pool_behaves_like_a_map() {
    fn property(steps: Vec<Step>) {
        let pool = SlotPool::<u32, Boxes, tag::Slot, 2, StorePolicy<u8>>::new(Boxes::new(2));
        replay(&pool, 128, steps);
    }
    QuickCheck::new()
        .rng(Gen::new(1200))
        .tests(200)
        .quickcheck(property as fn(Vec<Step>));
}

/// Without it a store could spread over more cache lines than it needs.
#[test]
fn the_lowest_free_slot_is_used_first() {
    let store = FixedSlots::<u32, 100>::new();
    let handles: Vec<_> = (0..100).map(|n| store.insert(n).unwrap()).collect();
    for index in [70, 40, 7, 13] {
        assert!(store.release(handles[index]).is_ok());
    }
    let next: Vec<_> = (0..4).map(|n| store.insert(n).unwrap().index()).collect();
    assert_eq!(next, [7, 13, 40, 70]);
}

/// Without it a slot whose life ended with its last lease could be lost, or used while
/// another slot is free.
#[test]
fn slots_that_rest_are_used_when_no_other_is_free() {
    let store = FixedSlots::<u32, 70>::new();
    let handles: Vec<_> = (0..70).map(|n| store.insert(n).unwrap()).collect();
    for index in [3, 5] {
        let lease = store.get(handles[index]).unwrap();
        assert_eq!(store.release(handles[index]), Ok(Release::Deferred));
        assert_eq!(lease.release(), Some(index as u32));
    }
    assert_eq!(store.release(handles[66]), Ok(Release::Now(66)));
    let next: Vec<_> = (0..3).map(|n| store.insert(n).unwrap().index()).collect();
    assert_eq!(next, [66, 3, 5]);
    assert_eq!(store.insert(0), Err(InsertError::Full(0)));
}

/// Without it a pool could report more room than its source has, or fail to use what it
/// has.
#[test]
fn a_source_that_runs_dry_fills_the_pool() {
    let pool = SlotPool::<u32, Boxes>::new(Boxes::new(3));
    let handles: Vec<_> = (0..192).map(|value| pool.insert(value).unwrap()).collect();
    assert_eq!(pool.insert(192), Err(InsertError::Full(192)));
    assert_eq!(pool.release(handles[100]), Ok(Release::Now(100)));
    assert_eq!(pool.insert(193).unwrap().index(), 100);
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
