//! Tests of states that only code inside the crate reaches: the last generation, and leases
//! at their limit.

use std::cell::Cell;
use std::sync::Arc;
use std::vec::Vec;

use super::word::{MAX_GENERATION, MAX_LEASES};
use super::{FixedSlots, HandleError, InCell, InsertError, Layout, Payload, Release, Slots};
use crate::handle::{Tag, tag};

fn set_generation<L: Layout, G: Tag>(store: &Slots<L, G>, index: usize, generation: u64) {
    store
        .place(index)
        .unwrap()
        .slot
        .state
        .set_generation(generation);
}

/// Without it a generation could wrap, and a handle from the slot's first life would name
/// a value of its later ones.
#[test]
fn a_used_up_slot_is_never_used_again() {
    let store = FixedSlots::<u32, 2>::new();
    set_generation(&store, 0, MAX_GENERATION - 3);

    let before_last = store.insert(1).unwrap();
    assert_eq!(before_last.generation(), MAX_GENERATION - 2);
    assert_eq!(store.release(before_last), Ok(Release::Now(1)));

    let last = store.insert(2).unwrap();
    assert_eq!((last.index(), last.generation()), (0, MAX_GENERATION));
    assert_eq!(*store.get(last).unwrap(), 2);
    assert_eq!(store.release(last), Ok(Release::Now(2)));

    for handle in [before_last, last] {
        assert_eq!(store.get(handle).unwrap_err(), HandleError::Stale);
        assert_eq!(store.release(handle), Err(HandleError::Stale));
    }
    assert_eq!(store.insert(3).unwrap().index(), 1);
    assert_eq!(store.insert(4), Err(InsertError::Full(4)));
    assert_eq!((store.live(), store.held().slots), (1, 1));
}

/// Without it a slot could be used again when its last life ends with its last lease, by each
/// of the ways it can, or with a vacancy that is not filled.
#[test]
fn a_slot_is_used_up_by_every_end_of_its_last_life() {
    let store = FixedSlots::<u32, 3>::new();
    (0..3).for_each(|index| set_generation(&store, index, MAX_GENERATION - 1));

    let released = store.insert(1).unwrap();
    let lease = store.get(released).unwrap();
    assert_eq!(store.release(released), Ok(Release::Deferred));
    assert_eq!(lease.release(), Some(1));

    let reaped = store.insert(2).unwrap();
    let lease = store.get(reaped).unwrap();
    assert_eq!(store.release(reaped), Ok(Release::Deferred));
    drop(lease);
    assert_eq!(store.reap(), Some((reaped, 2)));

    drop(store.vacancy().unwrap());
    assert_eq!(store.insert(3), Err(InsertError::Full(3)));
    assert!(store.held().is_empty());

    let store = FixedSlots::<u32, 4>::new();
    (0..4).for_each(|index| set_generation(&store, index, MAX_GENERATION - 1));
    let reserved = store.reserve().unwrap();
    assert_eq!(store.release(reserved), Ok(Release::Empty));
    for value in 1..=2 {
        let made = store.insert(value).unwrap();
        assert_eq!(store.release(made), Ok(Release::Now(value)));
    }
    let left = store.insert(3).unwrap();
    assert_eq!(store.insert(4), Err(InsertError::Full(4)));
    let mut drained = Vec::new();
    assert!(
        store
            .drain(|handle, value| drained.push((handle, value)))
            .is_empty()
    );
    assert_eq!(drained, [(left, 3)]);
    assert_eq!(store.insert(4), Err(InsertError::Full(4)));
}

/// Without it the lease count could spill into the closed bit.
#[test]
fn leases_saturate() {
    let store = FixedSlots::<u32, 1>::new();
    let handle = store.insert(1).unwrap();
    let mut leases: Vec<_> = (0..MAX_LEASES)
        .map(|_| store.get(handle).unwrap())
        .collect();
    assert_eq!(store.get(handle).unwrap_err(), HandleError::Saturated);
    assert!(!store.is_closed());
    assert_eq!(store.held().leases, MAX_LEASES);
    leases.pop();
    assert!(store.get(handle).is_ok());
}

/// Without it values left in a store could leak, or be dropped twice.
#[test]
fn dropping_a_store_drops_its_values_once() {
    let value = Arc::new(());
    let store = FixedSlots::<Arc<()>, 130>::new();
    let handles: Vec<_> = (0..130)
        .map(|_| store.insert(Arc::clone(&value)).unwrap())
        .collect();
    drop(store.release(handles[7]).unwrap());
    let lease = store.get(handles[129]).unwrap();
    assert_eq!(store.release(handles[129]), Ok(Release::Deferred));
    drop(lease);
    assert_eq!(Arc::strong_count(&value), 130);
    drop(store);
    assert_eq!(Arc::strong_count(&value), 1);
}

/// Without it a store could be sent to another thread with values that must not go there.
#[test]
fn stores_cross_threads_only_with_values_that_may() {
    use static_assertions::{assert_impl_all, assert_not_impl_any};
    assert_impl_all!(FixedSlots<u32, 2>: Send, Sync);
    assert_impl_all!(FixedSlots<Cell<u32>, 2>: Send);
    assert_not_impl_any!(FixedSlots<Cell<u32>, 2>: Sync);
    assert_not_impl_any!(FixedSlots<*const u32, 2>: Send, Sync);
    assert_not_impl_any!(super::Lease<'static, Cell<u32>, tag::Slot>: Send, Sync);
    assert_not_impl_any!(super::Vacancy<'static, InCell<*const u32>, tag::Slot>: Send);
    assert_impl_all!(super::Lease<'static, u32, tag::Slot>: Send, Sync);

    struct Nothing;
    // SAFETY: it lends nothing.
    unsafe impl<C: Payload> super::ChunkSource<C> for Nothing {
        fn lend(&self) -> Option<core::ptr::NonNull<super::Chunk<C>>> {
            None
        }
        unsafe fn take_back(&self, _: core::ptr::NonNull<super::Chunk<C>>) {}
    }
    assert_impl_all!(super::SlotPool<u32, Nothing>: Send, Sync);
    assert_not_impl_any!(super::SlotPool<Cell<u32>, Nothing>: Sync);
    assert_not_impl_any!(super::SlotPool<*const u32, Nothing>: Send, Sync);
    let pool = super::SlotPool::<u32, Nothing>::new(Nothing);
    assert_eq!(pool.insert(1), Err(InsertError::Full(1)));
}
