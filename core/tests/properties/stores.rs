//! Both stores against a `HashMap` of values and leases.

use std::collections::HashMap;

use cupola_core::{
    FixedSlots, Handle, HandleError, Held, InsertError, Layout, Lease, Release, SlotPool, Slots,
    tag,
};
use quickcheck::{Arbitrary, Gen, QuickCheck};

use super::Boxes;

/// One step; the numbers pick among what is there at the time.
#[derive(Clone, Copy, Debug)]
enum Step {
    Insert { hint: u8 },
    Vacancy { fill: bool },
    Get(u16),
    EndLease { which: u16, by_release: bool },
    Release(u16),
    Reap,
    Close,
    Drain,
}

impl Arbitrary for Step {
    fn arbitrary(g: &mut Gen) -> Self {
        let which = u16::arbitrary(g);
        match u8::arbitrary(g) % 64 {
            0..24 => Self::Insert {
                hint: u8::arbitrary(g),
            },
            24..28 => Self::Vacancy {
                fill: bool::arbitrary(g),
            },
            28..40 => Self::Get(which),
            40..48 => Self::EndLease {
                which,
                by_release: bool::arbitrary(g),
            },
            48..60 => Self::Release(which),
            60..62 => Self::Reap,
            // Rarely, or the store would never fill, and never do anything after closing.
            62 if which % 8 == 0 => Self::Drain,
            63 if which % 16 == 0 => Self::Close,
            _ => Self::Reap,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Alive,
    /// Released, leases still out.
    Leased,
    /// Released, its last lease dropped.
    Reapable,
}

/// What the store should hold.
#[derive(Default)]
struct Oracle {
    values: HashMap<Handle<tag::Slot>, (u32, State, u64)>,
    issued: Vec<Handle<tag::Slot>>,
    closed: bool,
}

impl Oracle {
    fn insert(&mut self, handle: Handle<tag::Slot>, value: u32) {
        assert!(
            !self.issued.contains(&handle),
            "{handle:?} was issued twice"
        );
        self.issued.push(handle);
        self.values.insert(handle, (value, State::Alive, 0));
    }

    fn issued(&self, which: u16) -> Option<Handle<tag::Slot>> {
        self.issued
            .get(usize::from(which) % self.issued.len().max(1))
            .copied()
    }

    fn state(&self, handle: Handle<tag::Slot>) -> Option<State> {
        self.values.get(&handle).map(|(_, state, _)| *state)
    }

    fn held(&self) -> Held {
        let leases = self.values.values().map(|(_, _, leases)| leases).sum();
        Held {
            slots: self.values.len(),
            leases,
        }
    }

    fn reaped(&mut self, handle: Handle<tag::Slot>, value: u32) {
        assert_eq!(
            self.values.remove(&handle),
            Some((value, State::Reapable, 0))
        );
    }
}

fn replay<L: Layout<Value = u32>>(store: &Slots<L, tag::Slot>, steps: Vec<Step>) {
    let mut oracle = Oracle::default();
    let mut leases: Vec<Lease<'_, u32, tag::Slot>> = Vec::new();
    for (number, step) in (0..).zip(steps) {
        take(store, &mut oracle, &mut leases, number, step);
        assert_eq!(store.held(), oracle.held());
        assert_eq!(store.is_closed(), oracle.closed);
        for lease in &leases {
            assert_eq!(**lease, oracle.values[&lease.handle()].0);
        }
    }
    let mut live: Vec<_> = store.iter().collect();
    let alive = |handle: &Handle<_>| oracle.state(*handle) == Some(State::Alive);
    let mut expected: Vec<_> = oracle.issued.iter().copied().filter(alive).collect();
    live.sort_unstable();
    expected.sort_unstable();
    assert_eq!(live, expected);
}

fn take<'s, L: Layout<Value = u32>>(
    store: &'s Slots<L, tag::Slot>,
    oracle: &mut Oracle,
    leases: &mut Vec<Lease<'s, u32, tag::Slot>>,
    number: u32,
    step: Step,
) {
    let full = oracle.values.len() == store.capacity();
    match step {
        Step::Insert { hint } => match store.insert_near(hint.into(), number) {
            Ok(handle) => oracle.insert(handle, number),
            Err(InsertError::Closed(back)) => assert!(oracle.closed && back == number),
            Err(refusal) => {
                assert!(full && !oracle.closed && refusal.into_value() == number);
            }
        },
        Step::Vacancy { fill } => match store.vacancy() {
            Ok(vacancy) => {
                let handle = vacancy.handle();
                assert_eq!(store.get(handle).unwrap_err(), HandleError::NotReady);
                assert_eq!(store.release(handle), Err(HandleError::NotReady));
                assert_eq!(store.held().slots, oracle.values.len() + 1);
                if fill {
                    assert_eq!(vacancy.fill(number), Ok(handle));
                    oracle.insert(handle, number);
                } else {
                    drop(vacancy);
                    oracle.issued.push(handle); // stale from now on
                }
            }
            Err(_) => assert!(full || oracle.closed),
        },
        Step::Get(which) => {
            let Some(handle) = oracle.issued(which) else {
                return;
            };
            match (store.get(handle), oracle.state(handle)) {
                (Ok(lease), Some(State::Alive)) => {
                    assert!(!oracle.closed);
                    oracle.values.get_mut(&handle).unwrap().2 += 1;
                    leases.push(lease);
                }
                (Err(HandleError::Closed), Some(State::Alive)) => assert!(oracle.closed),
                (Err(HandleError::Stale), state) => assert!(state != Some(State::Alive)),
                (outcome, _) => panic!("get gave {outcome:?}"),
            }
        }
        Step::EndLease { which, by_release } => {
            if leases.is_empty() {
                return;
            }
            let lease = leases.swap_remove(usize::from(which) % leases.len());
            let handle = lease.handle();
            let (value, state, count) = oracle.values.get_mut(&handle).unwrap();
            *count -= 1;
            let last = *state == State::Leased && *count == 0;
            let value = *value;
            if by_release {
                assert_eq!(lease.release(), last.then_some(value));
                if last {
                    oracle.values.remove(&handle);
                }
            } else if last {
                *state = State::Reapable;
            }
        }
        Step::Release(which) => {
            let Some(handle) = oracle.issued(which) else {
                return;
            };
            let entry = oracle.values.get_mut(&handle);
            match entry {
                Some((value, State::Alive, 0)) => {
                    assert_eq!(store.release(handle), Ok(Release::Now(*value)));
                    oracle.values.remove(&handle);
                }
                Some((_, state @ State::Alive, _)) => {
                    assert_eq!(store.release(handle), Ok(Release::Deferred));
                    *state = State::Leased;
                }
                _ => assert_eq!(store.release(handle), Err(HandleError::Stale)),
            }
        }
        Step::Reap => match store.reap() {
            Some((handle, value)) => oracle.reaped(handle, value),
            None => assert!(
                oracle
                    .values
                    .values()
                    .all(|value| value.1 != State::Reapable)
            ),
        },
        Step::Close => {
            store.close();
            oracle.closed = true;
        }
        Step::Drain => {
            let held = store.drain(|handle, value| {
                let (expected, state, leases) = oracle.values.remove(&handle).unwrap();
                assert_eq!((expected, leases), (value, 0));
                assert!(state != State::Leased);
            });
            for (_, state, leases) in oracle.values.values_mut() {
                assert!(*leases > 0);
                *state = State::Leased;
            }
            assert_eq!(held, oracle.held());
        }
    }
}

/// Without these a store could lose a value, hand one out twice, accept a stale handle, or
/// refuse while it has room. Sizes: one slot, less than a group, exactly one, and a last
/// group of one slot.
#[test]
fn fixed_slots_behave_like_a_map() {
    fn property<const N: usize>(steps: Vec<Step>) {
        replay(&FixedSlots::<u32, N>::new(), steps);
    }
    let size = || QuickCheck::new().rng(Gen::new(600)).tests(100);
    size().quickcheck(property::<1> as fn(Vec<Step>));
    size().quickcheck(property::<7> as fn(Vec<Step>));
    size().quickcheck(property::<64> as fn(Vec<Step>));
    size().quickcheck(property::<65> as fn(Vec<Step>));
}

/// As above, with growth.
#[test]
fn a_slot_pool_behaves_like_a_map() {
    fn property(steps: Vec<Step>) {
        replay(
            &SlotPool::<u32, Boxes, tag::Slot, 2>::new(Boxes::new(2)),
            steps,
        );
    }
    QuickCheck::new()
        .rng(Gen::new(1200))
        .tests(100)
        .quickcheck(property as fn(Vec<Step>));
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
