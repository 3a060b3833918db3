//! Steps against a store, each checked against a `HashMap` of values and leases. The fuzz
//! target `stores` includes this file too.

use std::collections::HashMap;

use cupola_core::{
    Handle, HandleError, Held, InCell, InsertError, Layout, Lease, Release, Slots, tag,
};

/// One step; the numbers pick among what is there at the time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Insert { hint: u8 },
    Vacancy { fill: bool },
    Get(u16),
    EndLease { which: u16, by_release: bool },
    Release(u16),
    Reap,
    Close,
    Drain,
}

impl Step {
    /// A step made of arbitrary numbers. Closing and draining are rare: a store would
    /// never fill, and would never do anything after closing.
    pub(crate) fn new(kind: u8, hint: u8, which: u16) -> Self {
        let flag = hint.is_multiple_of(2);
        match kind % 64 {
            0..24 => Self::Insert { hint },
            24..28 => Self::Vacancy { fill: flag },
            28..40 => Self::Get(which),
            40..48 => Self::EndLease {
                which,
                by_release: flag,
            },
            48..60 => Self::Release(which),
            62 if which.is_multiple_of(8) => Self::Drain,
            63 if which.is_multiple_of(16) => Self::Close,
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
    room: usize,
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

/// Takes the steps on an empty store with room for `room` values, and on its oracle; panics
/// where they differ.
pub(crate) fn replay<L: Layout<Cell = InCell<u32>>>(
    store: &Slots<L, tag::Slot>,
    room: usize,
    steps: Vec<Step>,
) {
    let mut oracle = Oracle {
        room,
        ..Oracle::default()
    };
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

fn take<'s, L: Layout<Cell = InCell<u32>>>(
    store: &'s Slots<L, tag::Slot>,
    oracle: &mut Oracle,
    leases: &mut Vec<Lease<'s, u32, tag::Slot>>,
    number: u32,
    step: Step,
) {
    let full = oracle.values.len() == oracle.room;
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
