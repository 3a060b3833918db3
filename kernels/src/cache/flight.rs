//! `Flights`: one thread does a piece of work, others that want the same wait for what comes of it.

use std::collections::HashMap;
use std::hash::Hash;

use crate::sync::{Arc, Condvar, Mutex, lock, wait};

/// Work under way, by key.
#[derive(Debug)]
pub(super) struct Flights<K, V> {
    open: Mutex<HashMap<K, Arc<Flight<V>>>>,
}

#[derive(Debug)]
struct Flight<V> {
    state: Mutex<State<V>>,
    ended: Condvar,
}

#[derive(Debug)]
enum State<V> {
    UnderWay,
    Landed(V),
    /// Its leader panicked or gave up.
    Lost,
}

/// What a thread is to do.
pub(super) enum Role<'f, K: Hash + Eq, V> {
    /// The work.
    Lead(Leader<'f, K, V>),
    /// Nothing: another thread has done it.
    Take(V),
    /// To ask again: the thread that was at it gave up.
    Retry,
}

impl<K: Copy + Hash + Eq, V: Clone> Flights<K, V> {
    pub(super) fn new() -> Self {
        Self {
            open: Mutex::new(HashMap::new()),
        }
    }

    /// Leads, or waits for the thread that leads.
    pub(super) fn join(&self, key: K) -> Role<'_, K, V> {
        let flight = {
            let mut open = lock(&self.open);
            if let Some(flight) = open.get(&key) {
                Arc::clone(flight)
            } else {
                let flight = Arc::new(Flight {
                    state: Mutex::new(State::UnderWay),
                    ended: Condvar::new(),
                });
                open.insert(key, Arc::clone(&flight));
                return Role::Lead(Leader {
                    flights: self,
                    key,
                    flight,
                });
            }
        };
        let mut state = lock(&flight.state);
        loop {
            match &*state {
                State::UnderWay => state = wait(&flight.ended, state),
                State::Landed(value) => return Role::Take(value.clone()),
                State::Lost => return Role::Retry,
            }
        }
    }
}

/// The thread that does the work. If it is dropped before it lands, waiting threads ask again.
pub(super) struct Leader<'f, K: Hash + Eq, V> {
    flights: &'f Flights<K, V>,
    key: K,
    flight: Arc<Flight<V>>,
}

impl<K: Hash + Eq, V> Leader<'_, K, V> {
    /// Hands `value` to all that wait.
    pub(super) fn land(self, value: V) {
        *lock(&self.flight.state) = State::Landed(value);
    }
}

impl<K: Hash + Eq, V> Drop for Leader<'_, K, V> {
    fn drop(&mut self) {
        // Before the others wake: one that asks again must find no flight, or one that is under way.
        lock(&self.flights.open).remove(&self.key);
        let mut state = lock(&self.flight.state);
        if matches!(*state, State::UnderWay) {
            *state = State::Lost;
        }
        drop(state);
        if !mutant!("flight_ends_unsaid") {
            self.flight.ended.notify_all();
        }
    }
}

#[cfg(all(test, loom))]
mod models;
