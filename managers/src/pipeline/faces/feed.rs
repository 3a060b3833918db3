//! `Feed`: which input slots threads may fill, and in what order they come back.
//!
//! Slots are numbered in the order in which threads take them. The pipeline works on them in that
//! order, however long each takes to be filled.

use std::sync::PoisonError;

use crate::sync::{Condvar, Mutex, MutexGuard};

/// The state of a slot, for the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A thread has filled so many elements.
    Filled(usize),
    /// A thread gave it back without an item.
    Skipped,
    /// A thread still has it, or may take it.
    Pending,
    /// No thread can take it any more.
    Over,
}

pub(crate) struct Feed {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// Slots that were offered so far, those of them that threads took, and the numbers at which
    /// they came back: number modulo the most that are out at once.
    offered: u64,
    taken: u64,
    returned: Box<[Option<Next>]>,
    /// Owners of the right to take slots.
    producers: usize,
    /// The pipeline takes no more items.
    ended: bool,
}

impl State {
    fn cell(&mut self, number: u64) -> &mut Option<Next> {
        let cells = self.returned.len() as u64;
        &mut self.returned[(number % cells) as usize]
    }

    fn next(&mut self, number: u64) -> Next {
        if let Some(next) = self.cell(number).take() {
            return next;
        }
        if self.producers == 0 && number >= self.taken {
            return Next::Over;
        }
        Next::Pending
    }
}

impl Feed {
    /// For at most `slots` slots at once, with one producer.
    pub(crate) fn new(slots: usize) -> Self {
        Self {
            state: Mutex::new(State {
                offered: 0,
                taken: 0,
                returned: vec![None; slots].into_boxed_slice(),
                producers: 1,
                ended: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Offers one more slot. The pipeline has worked on all that had its place before.
    pub(crate) fn offer(&self) {
        self.lock().offered += 1;
        self.changed.notify_all();
    }

    /// Takes the next slot, and returns its number. Waits until there is one; `None` when the
    /// pipeline takes no more.
    pub(crate) fn take(&self) -> Option<u64> {
        let mut state = self.lock();
        loop {
            if state.ended {
                return None;
            }
            if state.taken < state.offered {
                state.taken += 1;
                return Some(state.taken - 1);
            }
            state = self.wait(state);
        }
    }

    /// Gives a slot back: with so many elements, or without an item. Once for each that was taken.
    pub(crate) fn give_back(&self, number: u64, len: Option<usize>) {
        let mut state = self.lock();
        *state.cell(number) = Some(len.map_or(Next::Skipped, Next::Filled));
        drop(state);
        if !mutant!("feed_is_silent_about_a_filled_slot") {
            self.changed.notify_all();
        }
    }

    /// The state of slot `number`, the one after that which was asked for before.
    pub(crate) fn poll(&self, number: u64) -> Next {
        self.lock().next(number)
    }

    /// The same; waits as long as it is [`Pending`](Next::Pending).
    pub(crate) fn wait_for(&self, number: u64) -> Next {
        let mut state = self.lock();
        loop {
            match state.next(number) {
                Next::Pending => state = self.wait(state),
                next => return next,
            }
        }
    }

    /// One more owner of the right to take slots.
    pub(crate) fn add_producer(&self) {
        self.lock().producers += 1;
    }

    /// One less.
    pub(crate) fn remove_producer(&self) {
        self.lock().producers -= 1;
        self.changed.notify_all();
    }

    /// The pipeline takes no more items: threads that wait for a slot get none.
    pub(crate) fn end(&self) {
        self.lock().ended = true;
        if !mutant!("feed_is_silent_about_the_end") {
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No section leaves the state half changed, so a panic in another thread is no reason.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.changed
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }
}
