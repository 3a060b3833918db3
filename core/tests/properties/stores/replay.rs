//! Steps against a store, each checked against a `HashMap` of values and leases. The fuzz
//! target `stores` includes this file too.

use std::collections::HashMap;

use cupola_core::{
    EnsureError, Handle, HandleError, Held, InCell, InsertError, Layout, Lease, Policy, Release,
    Slots, tag,
};

/// One step; the numbers pick among what is there at the time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Insert,
    Vacancy { fill: bool },
    Reserve,
    EnsureAlive { which: u16, fail: bool },
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
    pub(crate) fn new(kind: u8, how: u8, which: u16) -> Self {
        let flag = how.is_multiple_of(2);
        match kind % 64 {
            0..18 => Self::Insert,
            18..22 => Self::Vacancy { fill: flag },
            22..25 => Self::Reserve,
            25..30 => Self::EnsureAlive {
                which,
                fail: how.is_multiple_of(4),
            },
            30..40 => Self::Get(which),
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
    /// Has no value yet.
    Reserved,
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
    fn insert(&mut self, handle: Handle<tag::Slot>, value: u32, state: State) {
        assert!(
            !self.issued.contains(&handle),
            "{handle:?} was issued twice"
        );
        self.issued.push(handle);
        self.values.insert(handle, (value, state, 0));
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
pub(crate) fn replay<L, P>(store: &Slots<L, tag::Slot, P>, room: usize, steps: Vec<Step>)
where
    L: Layout<Cell = InCell<u32, u8>>,
    P: Policy<Error = u8>,
{
    let mut run = Run {
        store,
        oracle: Oracle {
            room,
            ..Oracle::default()
        },
        leases: Vec::new(),
    };
    for (number, step) in (0..).zip(steps) {
        run.take(number, step);
        run.compare();
    }
}

/// A store, what it should hold, and the leases that are out.
struct Run<'s, L, P> {
    store: &'s Slots<L, tag::Slot, P>,
    oracle: Oracle,
    leases: Vec<Lease<'s, u32, tag::Slot>>,
}

impl<'s, L, P> Run<'s, L, P>
where
    L: Layout<Cell = InCell<u32, u8>>,
    P: Policy<Error = u8>,
{
    fn compare(&self) {
        let Self { store, oracle, .. } = self;
        assert_eq!(store.held(), oracle.held());
        assert_eq!(store.is_closed(), oracle.closed);
        for lease in &self.leases {
            assert_eq!(**lease, oracle.values[&lease.handle()].0);
        }
        let mut alive = 0;
        for handle in store.iter() {
            assert_eq!(oracle.state(handle), Some(State::Alive));
            alive += 1;
        }
        let expected = oracle.values.values();
        assert_eq!(
            alive,
            expected.filter(|value| value.1 == State::Alive).count()
        );
        for held in store.still_held() {
            let (_, state, leases) = oracle.values[&held.handle];
            assert_eq!(held.leases, leases);
            let released = matches!(state, State::Leased | State::Reapable);
            assert_eq!(held.released, released);
        }
    }

    fn take(&mut self, number: u32, step: Step) {
        match step {
            Step::Insert => self.insert(number),
            Step::Vacancy { fill } => self.vacancy(fill, number),
            Step::Reserve => match self.store.reserve() {
                Ok(handle) => self.oracle.insert(handle, 0, State::Reserved),
                Err(refusal) => self.refused(&refusal),
            },
            Step::EnsureAlive { which, fail } => self.ensure_alive(which, fail, number),
            Step::Get(which) => {
                if let Some(handle) = self.oracle.issued(which) {
                    let outcome = self.store.get(handle);
                    self.leased(handle, outcome);
                }
            }
            Step::EndLease { which, by_release } => self.end_lease(which, by_release),
            Step::Release(which) => self.release(which),
            Step::Reap => match self.store.reap() {
                Some((handle, value)) => self.oracle.reaped(handle, value),
                None => {
                    let mut values = self.oracle.values.values();
                    assert!(values.all(|value| value.1 != State::Reapable));
                }
            },
            Step::Close => {
                self.store.close();
                self.oracle.closed = true;
            }
            Step::Drain => self.drain(),
        }
    }

    /// A slot may only be refused when there is none.
    fn refused<T>(&self, refusal: &InsertError<T>) {
        match refusal {
            InsertError::Closed(_) => assert!(self.oracle.closed),
            _ => {
                let full = self.oracle.values.len() == self.oracle.room;
                assert!(full && !self.oracle.closed);
            }
        }
    }

    fn insert(&mut self, number: u32) {
        match self.store.insert(number) {
            Ok(handle) => self.oracle.insert(handle, number, State::Alive),
            Err(refusal) => {
                self.refused(&refusal);
                assert_eq!(refusal.into_value(), number);
            }
        }
    }

    fn vacancy(&mut self, fill: bool, number: u32) {
        let Self { store, oracle, .. } = self;
        let vacancy = match store.vacancy() {
            Ok(vacancy) => vacancy,
            Err(refusal) => return self.refused(&refusal),
        };
        let handle = vacancy.handle();
        assert_eq!(store.get(handle).unwrap_err(), HandleError::NotReady);
        assert_eq!(store.release(handle), Err(HandleError::NotReady));
        assert_eq!(store.held().slots, oracle.values.len() + 1);
        if fill {
            assert_eq!(vacancy.fill(number), Ok(handle));
            oracle.insert(handle, number, State::Alive);
        } else {
            drop(vacancy);
            oracle.issued.push(handle); // stale from now on
        }
    }

    fn ensure_alive(&mut self, which: u16, fail: bool, number: u32) {
        let Some(handle) = self.oracle.issued(which) else {
            return;
        };
        let mut made = false;
        let outcome = self.store.ensure_alive(handle, || {
            made = true;
            if fail { Err(7) } else { Ok(number) }
        });
        let reserved = self.oracle.state(handle) == Some(State::Reserved);
        assert_eq!(made, reserved && !self.oracle.closed);
        match outcome {
            Ok(lease) => {
                if made {
                    let entry = self.oracle.values.get_mut(&handle).unwrap();
                    (entry.0, entry.1) = (number, State::Alive);
                }
                self.leased(handle, Ok(lease));
            }
            Err(EnsureError::Init(why)) => assert!(made && fail && why == 7),
            Err(EnsureError::Refused(HandleError::Closed)) => {
                let alive = self.oracle.state(handle) == Some(State::Alive);
                assert!(self.oracle.closed && (alive || reserved));
            }
            Err(EnsureError::Refused(refusal)) => {
                assert!(!reserved);
                self.leased(handle, Err(refusal));
            }
            Err(refusal) => panic!("ensure_alive gave {refusal:?}"),
        }
    }

    /// Whether a lease on `handle` was rightly granted or refused.
    fn leased(
        &mut self,
        handle: Handle<tag::Slot>,
        outcome: Result<Lease<'s, u32, tag::Slot>, HandleError>,
    ) {
        match (outcome, self.oracle.state(handle)) {
            (Ok(lease), Some(State::Alive)) => {
                assert!(!self.oracle.closed);
                self.oracle.values.get_mut(&handle).unwrap().2 += 1;
                self.leases.push(lease);
            }
            (Err(HandleError::Closed), Some(State::Alive)) => assert!(self.oracle.closed),
            (Err(HandleError::NotReady), Some(State::Reserved)) => {}
            (Err(HandleError::Stale), None | Some(State::Leased | State::Reapable)) => {}
            (outcome, state) => panic!("{state:?} gave {outcome:?}"),
        }
    }

    fn end_lease(&mut self, which: u16, by_release: bool) {
        if self.leases.is_empty() {
            return;
        }
        let at = usize::from(which) % self.leases.len();
        let lease = self.leases.swap_remove(at);
        let handle = lease.handle();
        let (value, state, count) = self.oracle.values.get_mut(&handle).unwrap();
        *count -= 1;
        let last = *state == State::Leased && *count == 0;
        let value = *value;
        if by_release {
            assert_eq!(lease.release(), last.then_some(value));
            if last {
                self.oracle.values.remove(&handle);
            }
        } else if last {
            *state = State::Reapable;
        }
    }

    fn release(&mut self, which: u16) {
        let Some(handle) = self.oracle.issued(which) else {
            return;
        };
        let outcome = self.store.release(handle);
        match self.oracle.values.get_mut(&handle) {
            Some((value, State::Alive, 0)) => {
                assert_eq!(outcome, Ok(Release::Now(*value)));
                self.oracle.values.remove(&handle);
            }
            Some((_, state @ State::Alive, _)) => {
                assert_eq!(outcome, Ok(Release::Deferred));
                *state = State::Leased;
            }
            Some((_, State::Reserved, _)) => {
                assert_eq!(outcome, Ok(Release::Empty));
                self.oracle.values.remove(&handle);
            }
            _ => assert_eq!(outcome, Err(HandleError::Stale)),
        }
    }

    fn drain(&mut self) {
        let values = &mut self.oracle.values;
        let held = self.store.drain(|handle, value| {
            let (expected, state, leases) = values.remove(&handle).unwrap();
            assert_eq!((expected, leases), (value, 0));
            assert!(matches!(state, State::Alive | State::Reapable));
        });
        // What is left is leased, or was reserved and never had a value.
        values.retain(|_, (_, state, _)| *state != State::Reserved);
        for (_, state, leases) in values.values_mut() {
            assert!(*leases > 0);
            *state = State::Leased;
        }
        assert_eq!(held, self.oracle.held());
    }
}
