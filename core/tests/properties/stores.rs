//! Both stores against a `HashMap` of values and leases.

mod replay;

use std::sync::Arc;
use std::thread;

use cupola_core::{
    ChunkArray, FixedSlots, Handle, HandleError, Hot, InCell, InsertError, Late, Release, Reuse,
    SlotPool, With, tag,
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

/// Without it a pool could get a chunk back with the values, the used-up bits or the closed
/// mark of the pool before it, or the array could lose the chunk.
#[test]
fn an_array_lends_its_chunks_again_as_new() {
    type Numbers = ChunkArray<InCell<Arc<u32>>, 2>;
    let chunks = Numbers::new();
    let number = Arc::new(7);
    for round in 0..3 {
        let pool = SlotPool::<Arc<u32>, &Numbers>::new(&chunks);
        let handles: Vec<_> = (0..128)
            .map(|_| pool.insert(Arc::clone(&number)).unwrap())
            .collect();
        assert_eq!(handles[0].generation(), 1);
        let refused = pool.insert(Arc::clone(&number));
        assert!(matches!(refused, Err(InsertError::Full(_))), "in {round}");
        // Another pool has nothing to borrow meanwhile.
        let other = SlotPool::<Arc<u32>, &Numbers>::new(&chunks);
        assert!(matches!(
            other.insert(Arc::clone(&number)),
            Err(InsertError::Full(_))
        ));
        drop(pool.release(handles[5]));
        drop(pool.vacancy().map(std::mem::ManuallyDrop::new));
        let lease = pool.get(handles[9]).unwrap();
        assert_eq!(pool.release(handles[9]), Ok(Release::Deferred));
        drop(lease);
        pool.close();
    }
    assert_eq!(Arc::strong_count(&number), 1);
}

/// Without it threads that grow pools at once could lose chunks, or share one.
#[test]
fn pools_of_many_threads_share_an_array() {
    type Numbers = ChunkArray<InCell<usize>, 3>;
    let chunks = Numbers::new();
    thread::scope(|scope| {
        for thread in 0..4 {
            let chunks = &chunks;
            scope.spawn(move || {
                for _ in 0..200 {
                    let pool = SlotPool::<usize, &Numbers>::new(chunks);
                    let handles: Vec<_> = (0..70).map_while(|_| pool.insert(thread).ok()).collect();
                    for handle in handles {
                        assert_eq!(*pool.get(handle).unwrap(), thread);
                    }
                }
            });
        }
    });
    let pool = SlotPool::<usize, &Numbers>::new(&chunks);
    let all: Result<Vec<_>, _> = (0..192).map(|value| pool.insert(value)).collect();
    assert!(all.is_ok());
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
