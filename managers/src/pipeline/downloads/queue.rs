//! `JobQueue`: jobs that one thread does for another, in order, and what came of each.
//!
//! Every job has a place of its own, of which there are so many: with a job in each the queue is full.
//! What came of a job stays in its place until it is taken, and the place has no other job before.

use std::collections::VecDeque;
use std::sync::PoisonError;
use std::task::{Poll, Waker};

use crate::sync::{Condvar, Mutex, MutexGuard};

pub(crate) struct JobQueue<J, R> {
    state: Mutex<State<J, R>>,
    /// For the thread that does the jobs: there is one, or there will be none any more.
    pushed: Condvar,
    /// For the others: a job is done, or none will be any more.
    done: Condvar,
}

struct State<J, R> {
    /// Jobs that are not begun, the oldest first, with their places.
    jobs: VecDeque<(usize, J)>,
    places: Box<[Place<R>]>,
    /// The thread is at a job.
    is_busy: bool,
    /// No more jobs come.
    is_closed: bool,
    /// The thread has ended, or does not look for jobs any more.
    is_left: bool,
    /// What is woken when the job of a place is done.
    waker: Option<(usize, Waker)>,
}

enum Place<R> {
    Empty,
    Pending,
    Done(R),
}

impl<J, R> State<J, R> {
    /// What came of the job in a place, once it is done. `None` when there is no job, or it will not be done.
    fn take(&mut self, place: usize) -> Poll<Option<R>> {
        match std::mem::replace(&mut self.places[place], Place::Empty) {
            Place::Done(outcome) => Poll::Ready(Some(outcome)),
            Place::Pending if !self.is_left => {
                self.places[place] = Place::Pending;
                Poll::Pending
            }
            Place::Pending | Place::Empty => Poll::Ready(None),
        }
    }

    /// Whether the thread has nothing to do, or does nothing any more.
    fn is_idle(&self) -> bool {
        self.is_left || (self.jobs.is_empty() && !self.is_busy)
    }
}

impl<J, R> JobQueue<J, R> {
    /// With so many places. Pushing a job takes no memory.
    pub(crate) fn new(places: usize) -> Self {
        let empty = (0..places).map(|_| Place::Empty);
        Self {
            state: Mutex::new(State {
                jobs: VecDeque::with_capacity(places),
                places: empty.collect(),
                is_busy: false,
                is_closed: false,
                is_left: false,
                waker: None,
            }),
            pushed: Condvar::new(),
            done: Condvar::new(),
        }
    }

    /// Adds a job, to a place that has none.
    pub(crate) fn push(&self, place: usize, job: J) {
        let mut state = self.lock();
        debug_assert!(matches!(state.places[place], Place::Empty));
        state.places[place] = Place::Pending;
        state.jobs.push_back((place, job));
        drop(state);
        if !mutant!("job_queue_is_silent_about_a_job") {
            self.pushed.notify_one();
        }
    }

    /// What came of the job in a place, if it is done; else `waker` is woken when it is, if there is one.
    /// `None` when there is no job in the place, or no thread any more that would do it.
    pub(crate) fn poll(&self, place: usize, waker: Option<&Waker>) -> Poll<Option<R>> {
        // Cloned and dropped without the lock: a waker is code of the program's.
        let mut next = waker.map(|waker| (place, waker.clone()));
        let mut state = self.lock();
        let taken = state.take(place);
        if taken.is_pending() && next.is_some() {
            std::mem::swap(&mut state.waker, &mut next);
        }
        drop(state);
        taken
    }

    /// The same; waits until the job is done.
    pub(crate) fn wait(&self, place: usize) -> Option<R> {
        let mut state = self.lock();
        loop {
            match state.take(place) {
                Poll::Ready(outcome) => return outcome,
                Poll::Pending => state = self.wait_for_done(state),
            }
        }
    }

    /// Waits until all jobs are done.
    pub(crate) fn wait_until_idle(&self) {
        let mut state = self.lock();
        while !state.is_idle() {
            state = self.wait_for_done(state);
        }
    }

    /// Drops the jobs that are not begun, waits for the one that is, and empties all places.
    pub(crate) fn clear(&self) {
        let mut state = self.lock();
        let jobs = state.jobs.len();
        for _ in 0..jobs {
            let job = state.jobs.pop_front();
            drop(state);
            drop(job);
            state = self.lock();
        }
        while !state.is_idle() && !mutant!("job_queue_forgets_a_job_that_is_begun") {
            state = self.wait_for_done(state);
        }
        state.places.fill_with(|| Place::Empty);
        let waker = state.waker.take();
        drop(state);
        drop(waker);
    }

    /// No more jobs come: the thread ends when it has done those that there are.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.pushed.notify_one();
    }

    /// The next job, for the thread that does them; waits for one. `None` when no more come.
    pub(crate) fn next(&self) -> Option<(usize, J)> {
        let mut state = self.lock();
        loop {
            if let Some(next) = state.jobs.pop_front() {
                state.is_busy = true;
                return Some(next);
            }
            if state.is_closed {
                return None;
            }
            let waited = self.pushed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Notes what came of the job in a place, which the thread was at.
    pub(crate) fn finish(&self, place: usize, outcome: R) {
        let mut state = self.lock();
        state.is_busy = false;
        state.places[place] = Place::Done(outcome);
        let waker = state.waker.take_if(|(of, _)| *of == place);
        drop(state);
        if !mutant!("job_queue_is_silent_about_an_outcome") {
            self.done.notify_all();
        }
        if let Some((_, waker)) = waker {
            waker.wake();
        }
    }

    /// Notes that the thread does no more jobs, also those that there are.
    pub(crate) fn leave(&self) {
        let mut state = self.lock();
        state.is_left = true;
        let waker = state.waker.take();
        drop(state);
        self.done.notify_all();
        if let Some((_, waker)) = waker {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<J, R>> {
        // No section leaves the state half changed, so a panic in another thread is no reason.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_for_done<'s>(&self, state: MutexGuard<'s, State<J, R>>) -> MutexGuard<'s, State<J, R>> {
        let waited = self.done.wait(state);
        waited.unwrap_or_else(PoisonError::into_inner)
    }
}
