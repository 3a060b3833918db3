//! Which slot comes next: policies and caches.

use std::collections::{BTreeSet, HashMap};

use cupola_core::{
    FixedSlots, FixedWords, Handle, Hot, InCell, InsertError, Late, Layout, Policy, Release,
    SlotPool, Slots, With, tag,
};
use quickcheck::{Gen, QuickCheck};

use super::boxes::Boxes;

/// Without it a stray use of a released handle's slot would meet its next value at once,
/// which is what a store with this policy is for: what is released rests until no other slot
/// is free.
#[test]
fn a_late_store_uses_every_other_free_slot_first() {
    fn property(steps: Vec<(bool, u8)>) {
        const N: usize = 100;
        let store = FixedSlots::<u32, N, tag::Slot, With<Late>>::new();
        let mut handles = Vec::new();
        let mut free: BTreeSet<usize> = (0..N).collect();
        let mut rest = BTreeSet::new();
        for (insert, which) in steps {
            if insert || handles.is_empty() {
                match store.insert(0) {
                    Ok(handle) => {
                        if free.is_empty() {
                            // Those of its group are woken together.
                            let group = handle.index() / 64;
                            (free, rest) = rest.iter().partition(|&index| index / 64 == group);
                        }
                        assert!(free.remove(&handle.index()), "{handle:?} should rest");
                        handles.push(handle);
                    }
                    Err(_) => assert!(free.is_empty() && rest.is_empty()),
                }
            } else {
                let handle = handles.swap_remove(usize::from(which) % handles.len());
                match which % 3 {
                    0 => assert!(store.release(handle).unwrap().now().is_some()),
                    by => {
                        let lease = store.get(handle).unwrap();
                        assert_eq!(store.release(handle), Ok(Release::Deferred));
                        if by == 1 {
                            assert!(lease.release().is_some());
                        } else {
                            drop(lease);
                            assert_eq!(store.reap(), Some((handle, 0)));
                        }
                    }
                }
                rest.insert(handle.index());
            }
        }
    }
    QuickCheck::new()
        .rng(Gen::new(2000))
        .quickcheck(property as fn(Vec<(bool, u8)>));

    // With nothing else to use, a slot goes round the whole store.
    let store = FixedSlots::<u32, 70, tag::Slot, With<Late>>::new();
    let seen: Vec<_> = (0..70)
        .map(|n| {
            let handle = store.insert(n).unwrap();
            assert_eq!(store.release(handle), Ok(Release::Now(n)));
            handle.index()
        })
        .collect();
    assert_eq!(seen, (0..70).collect::<Vec<_>>());
    let pool = SlotPool::<u32, Boxes, tag::Slot, 4, With<Late>>::new(Boxes::new(4));
    let first = pool.insert(1).unwrap();
    assert_eq!(pool.release(first), Ok(Release::Now(1)));
    assert_eq!(pool.insert(2).unwrap().index(), 1);
}

/// Without it a store whose policy is Hot could spread over more lines than it needs.
#[test]
fn a_hot_store_uses_the_lowest_free_slot() {
    let store = FixedSlots::<u32, 100, tag::Slot, With<Hot>>::new();
    let handles: Vec<_> = (0..100).map(|n| store.insert(n).unwrap()).collect();
    for index in [40, 7, 13] {
        assert!(store.release(handles[index]).is_ok());
    }
    let next: Vec<_> = (0..3).map(|n| store.insert(n).unwrap().index()).collect();
    assert_eq!(next, [7, 13, 40]);
}

/// Two caches and the store itself, against a map.
fn with_caches<L, P>(store: &Slots<L, tag::Slot, P>, steps: Vec<(u8, u16)>)
where
    L: Layout<Cell = InCell<u32, P::Error>>,
    P: Policy,
{
    let room = store.capacity();
    let mut caches = [store.cache(0), store.cache(1)];
    let mut live: HashMap<Handle<tag::Slot>, u32> = HashMap::new();
    let mut order: Vec<Handle<tag::Slot>> = Vec::new();
    for (number, (what, which)) in (0..).zip(steps) {
        let through = usize::from(what / 16) % 3;
        match what % 16 {
            0..=8 => {
                let inserted = match through {
                    2 => store.insert(number),
                    cache => caches[cache].insert(number),
                };
                match inserted {
                    Ok(handle) => {
                        assert!(live.insert(handle, number).is_none());
                        assert_eq!(*store.get(handle).unwrap(), number);
                        order.push(handle);
                    }
                    Err(InsertError::Full(back)) => {
                        assert_eq!(back, number);
                        // Full: all that is left is in the other caches.
                        let others = (0..2).filter(|&cache| cache != through);
                        let kept: usize = others.map(|cache| caches[cache].len()).sum();
                        assert_eq!(live.len() + kept, room);
                    }
                    Err(refusal) => panic!("{refusal:?}"),
                }
            }
            9..=14 if !order.is_empty() => {
                let handle = order.swap_remove(usize::from(which) % order.len());
                let released = match through {
                    2 => store.release(handle),
                    cache => caches[cache].release(handle),
                };
                assert_eq!(released.unwrap().now(), live.remove(&handle));
                assert!(caches[0].release(handle).is_err());
            }
            _ if through < 2 => {
                caches[through].flush();
                assert!(caches[through].is_empty());
            }
            _ => {}
        }
        assert_eq!(store.live(), live.len());
    }
    drop(caches);
    for number in live.len()..room {
        assert!(store.insert(number as u32).is_ok());
    }
    assert!(store.insert(0).is_err());
}

/// Without it a cache could lose slots, hand one out twice, or keep slots that it says it
/// has given back.
#[test]
fn caches_behave_like_the_store() {
    type Steps = Vec<(u8, u16)>;
    type Fixed<P> = FixedSlots<u32, 130, tag::Slot, P>;
    type Pool<P> = SlotPool<u32, Boxes, tag::Slot, 2, P>;
    let check = |property: fn(Steps)| QuickCheck::new().rng(Gen::new(400)).quickcheck(property);
    check(|steps| with_caches(&Fixed::<With<Hot>>::new(), steps));
    check(|steps| with_caches(&Fixed::<With<Late>>::new(), steps));
    check(|steps| with_caches(&Pool::<With<Hot>>::new(Boxes::new(2)), steps));
    check(|steps| with_caches(&Pool::<With<Late>>::new(Boxes::new(2)), steps));
}

/// Without it a cache would reuse one slot again and again, and use its generations up, or
/// a full store would hide what its own cache has.
#[test]
fn a_cache_uses_its_slots_in_turn_and_all_of_them() {
    let store = FixedWords::<u64, 64>::new();
    let mut cache = store.cache(3);
    let mut uses = [0; 64];
    for number in 0..64 * 5 {
        let handle = cache.insert(number).unwrap();
        uses[handle.index()] += 1;
        assert_eq!(store.peek(handle), Ok(number));
        assert_eq!(cache.release(handle), Ok(Release::Now(number)));
    }
    // Eight in turn: no slot twice in a row, and no more lines than that.
    assert_eq!(uses[..8], [40; 8]);
    assert!(uses[8..].iter().all(|&uses| uses == 0));
    // The same where most of the first eight are held for long.
    let held: Vec<_> = (0..7).map(|n| cache.insert(n).unwrap()).collect();
    let mut last = held[6];
    for number in 0..64 {
        let handle = cache.insert(number).unwrap();
        assert_ne!(handle.index(), last.index());
        assert_eq!(cache.release(handle), Ok(Release::Now(number)));
        last = handle;
    }
    for handle in held {
        assert!(cache.release(handle).is_ok());
    }
    assert_eq!(cache.len(), 64);
    assert_eq!(store.insert(1), Err(InsertError::Full(1)));
    let all: Vec<_> = (0..64).map(|n| cache.insert(n).unwrap()).collect();
    assert_eq!(cache.insert(64), Err(InsertError::Full(64)));
    assert!(cache.is_empty());
    // A cache takes what others insert back as well, and handles of no slot are refused.
    let mut other = store.cache(0);
    assert_eq!(other.release(all[5]), Ok(Release::Now(5)));
    assert!(other.release(all[5]).is_err());
    let elsewhere = Handle::from_bits((1 << 24) | 64).unwrap();
    assert!(other.release(elsewhere).is_err());
    assert_eq!(store.insert(1), Err(InsertError::Full(1)));
    other.flush();
    assert_eq!(store.insert(1).unwrap().index(), all[5].index());
}
