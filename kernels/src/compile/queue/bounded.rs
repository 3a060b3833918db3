//! `Bounded`: pieces of work on threads of their own, at most some at a time.
//!
//! One lock for the list and one for each piece; a thread that has the second never takes the first.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll, Waker};

use crate::sync::thread::{self, JoinHandle};
use crate::sync::{Arc, Condvar, Mutex, lock, wait};

/// A piece of work.
pub(super) trait Work: fmt::Debug + Send + Sync + 'static {
    /// What comes of it.
    type Output: fmt::Debug + Send + 'static;

    /// Does it, to its end or until it is cancelled.
    fn run(&self) -> Self::Output;

    /// Has it end soon, from any thread, whether it was begun or not.
    fn cancel(&self);

    /// What comes of work that panicked.
    fn panicked() -> Self::Output;

    /// What comes of work that the end of the queue comes before.
    fn abandoned() -> Self::Output;
}

/// Threads that do what is submitted, first come, first served. They are started when there is work for
/// them. Dropping it cancels what is under way, abandons what waits, and waits until the threads have ended.
#[derive(Debug)]
pub(super) struct Bounded<W: Work> {
    shared: Arc<Shared<W>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    width: NonZeroUsize,
}

#[derive(Debug)]
struct Shared<W: Work> {
    list: Mutex<List<W>>,
    /// Told of a new job, and of the end.
    changed: Condvar,
}

#[derive(Debug)]
struct List<W: Work> {
    jobs: VecDeque<Arc<Job<W>>>,
    /// Threads that wait for a job.
    idle: usize,
    /// Those that run, so that the end can cancel them.
    running: Vec<Arc<Job<W>>>,
    ended: bool,
}

#[derive(Debug)]
struct Job<W: Work> {
    work: W,
    outcome: Mutex<Outcome<W::Output>>,
    /// Told when the job is done.
    done: Condvar,
}

#[derive(Debug)]
enum Outcome<O> {
    Pending,
    /// Pending, and a task is to be woken.
    Awaited(Waker),
    /// Done.
    Ready(O),
    /// Given to the handle.
    Taken,
}

/// Work that was submitted. Dropping it cancels the work.
#[derive(Debug)]
pub(super) struct Handle<W: Work>(Arc<Job<W>>);

impl<W: Work> Bounded<W> {
    /// So many at a time.
    pub(super) fn new(width: NonZeroUsize) -> Self {
        Self {
            shared: Arc::new(Shared {
                list: Mutex::new(List {
                    jobs: VecDeque::new(),
                    idle: 0,
                    running: Vec::new(),
                    ended: false,
                }),
                changed: Condvar::new(),
            }),
            threads: Mutex::new(Vec::new()),
            width,
        }
    }

    pub(super) fn width(&self) -> NonZeroUsize {
        self.width
    }

    /// Does the work when its turn comes.
    ///
    /// # Errors
    /// There is no thread and none can be started.
    pub(super) fn submit(&self, work: W) -> io::Result<Handle<W>> {
        let job = Arc::new(Job {
            work,
            outcome: Mutex::new(Outcome::Pending),
            done: Condvar::new(),
        });
        let mut threads = lock(&self.threads);
        let mut list = lock(&self.shared.list);
        let may_start = threads.len() < self.width.get() || mutant!("queue_passes_its_bound");
        if list.idle <= list.jobs.len() && may_start {
            let shared = Arc::clone(&self.shared);
            let started = thread::Builder::new()
                .name("cupola-compile".to_owned())
                .spawn(move || shared.work());
            match started {
                Ok(thread) => threads.push(thread),
                Err(error) if threads.is_empty() => return Err(error),
                // The threads that there are will do it.
                Err(_) => {}
            }
        }
        list.jobs.push_back(Arc::clone(&job));
        drop(list);
        if !mutant!("queue_tells_no_thread") {
            self.shared.changed.notify_one();
        }
        Ok(Handle(job))
    }
}

impl<W: Work> Drop for Bounded<W> {
    fn drop(&mut self) {
        let mut list = lock(&self.shared.list);
        list.ended = true;
        let waiting = std::mem::take(&mut list.jobs);
        for running in &list.running {
            if !mutant!("queue_end_cancels_nothing") {
                running.work.cancel();
            }
        }
        drop(list);
        self.shared.changed.notify_all();
        for job in waiting {
            if !mutant!("queue_end_forgets_what_waits") {
                job.finish(W::abandoned());
            }
        }
        let threads = std::mem::take(&mut *lock(&self.threads));
        for thread in threads {
            // A waker may drop the queue on one of its own threads.
            if thread.thread().id() != thread::current().id() {
                // A panic there was contained: the job has its error.
                let _ = thread.join();
            }
        }
    }
}

impl<W: Work> Shared<W> {
    /// What a thread does: a job after another, until the end.
    fn work(&self) {
        while let Some(job) = self.next() {
            // A panic must not leave a caller waiting for ever.
            let ended = catch_unwind(AssertUnwindSafe(|| job.work.run()));
            lock(&self.list)
                .running
                .retain(|running| !Arc::ptr_eq(running, &job));
            job.finish(ended.unwrap_or_else(|_| W::panicked()));
        }
    }

    fn next(&self) -> Option<Arc<Job<W>>> {
        let mut list = lock(&self.list);
        loop {
            if list.ended {
                return None;
            }
            if let Some(job) = list.jobs.pop_front() {
                list.running.push(Arc::clone(&job));
                return Some(job);
            }
            list.idle += 1;
            list = wait(&self.changed, list);
            list.idle -= 1;
        }
    }
}

impl<W: Work> Job<W> {
    fn finish(&self, output: W::Output) {
        let mut outcome = lock(&self.outcome);
        let before = std::mem::replace(&mut *outcome, Outcome::Ready(output));
        drop(outcome);
        if !mutant!("queue_job_ends_unsaid") {
            self.done.notify_all();
        }
        if let Outcome::Awaited(waker) = before
            && !mutant!("queue_job_wakes_no_task")
        {
            waker.wake();
        }
    }
}

impl<W: Work> Handle<W> {
    /// Cancels the work: it ends soon, unless it has.
    pub(super) fn cancel(&self) {
        self.0.work.cancel();
    }

    /// Waits on this thread for what comes of it.
    pub(super) fn wait(self) -> W::Output {
        let mut outcome = lock(&self.0.outcome);
        loop {
            if let Some(output) = outcome.take() {
                return output;
            }
            outcome = wait(&self.0.done, outcome);
        }
    }

    /// Whether it is done.
    pub(super) fn is_done(&self) -> bool {
        matches!(*lock(&self.0.outcome), Outcome::Ready(_) | Outcome::Taken)
    }

    /// What came of it, or the task is woken then. Pending for ever once it was given.
    pub(super) fn poll(&self, context: &Context<'_>) -> Poll<W::Output> {
        let mut outcome = lock(&self.0.outcome);
        if let Some(output) = outcome.take() {
            return Poll::Ready(output);
        }
        match &*outcome {
            Outcome::Taken => {}
            Outcome::Awaited(waker) if waker.will_wake(context.waker()) => {}
            _ => *outcome = Outcome::Awaited(context.waker().clone()),
        }
        Poll::Pending
    }
}

impl<W: Work> Drop for Handle<W> {
    fn drop(&mut self) {
        self.0.work.cancel();
    }
}

impl<O> Outcome<O> {
    fn take(&mut self) -> Option<O> {
        if !matches!(self, Self::Ready(_)) {
            return None;
        }
        match std::mem::replace(self, Self::Taken) {
            Self::Ready(output) => Some(output),
            _ => None,
        }
    }
}

#[cfg(all(test, loom))]
mod models;
