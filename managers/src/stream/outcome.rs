//! `Outcome`: what a future is told, by the thread that learns of it.

use std::mem;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use crate::error::Result;
use crate::sync;

/// Shared by a future and by what tells it.
#[derive(Clone)]
pub(super) struct Outcome(Arc<Mutex<State>>);

enum State {
    Pending(Waker),
    Told(Result<()>),
}

impl Outcome {
    /// Not told yet: then the task of this context is woken.
    pub(super) fn new(context: &Context<'_>) -> Self {
        let waker = context.waker().clone();
        Self(Arc::new(Mutex::new(State::Pending(waker))))
    }

    /// Tells the future, and wakes its task.
    pub(super) fn tell(&self, result: Result<()>) {
        let before = mem::replace(&mut *sync::lock(&self.0), State::Told(result));
        if let State::Pending(waker) = before {
            waker.wake();
        }
    }

    /// What was told; else the task of this context is woken from now on.
    pub(super) fn poll(&self, context: &Context<'_>) -> Poll<Result<()>> {
        // Cloned and dropped without the lock: a waker is code of the program's.
        let mut waker = context.waker().clone();
        let mut state = sync::lock(&self.0);
        match &mut *state {
            State::Told(result) => Poll::Ready(result.clone()),
            State::Pending(last) => {
                mem::swap(last, &mut waker);
                drop(state);
                Poll::Pending
            }
        }
    }
}
