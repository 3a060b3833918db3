//! [`CompileQueue`]: compiles on threads of their own, at most some at a time.
//!
//! One lock for the list and one for each job; a thread that has the second never takes the first.

use std::collections::VecDeque;
use std::future::Future;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;

use super::{Cancellation, CompileError, CompileRequest, Compiled, Compiler};

/// Compiles at most so many requests at a time, first come, first served.
///
/// Each compile has a thread of its own that takes no part in anything else: an instance of NVRTC
/// holds hundreds of megabytes, so there are few. They are started when there is work for them.
///
/// Dropping the queue cancels what is under way and what waits, and waits until the threads have
/// ended.
#[derive(Debug)]
pub struct CompileQueue {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    width: NonZeroUsize,
}

#[derive(Debug)]
struct Shared {
    compiler: Compiler,
    list: Mutex<List>,
    /// Told of a new job, and of the end.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct List {
    jobs: VecDeque<Arc<Job>>,
    /// Threads that wait for a job.
    idle: usize,
    /// Those that compile, so that the end can cancel them.
    running: Vec<Arc<Job>>,
    ended: bool,
}

#[derive(Debug)]
struct Job {
    request: CompileRequest,
    cancellation: Cancellation,
    outcome: Mutex<Outcome>,
    /// Told when the job is done.
    done: Condvar,
}

#[derive(Debug, Default)]
enum Outcome {
    #[default]
    Pending,
    /// Pending, and a task is to be woken.
    Awaited(Waker),
    /// Done.
    Ready(Result<Compiled, CompileError>),
    /// Given to the handle.
    Taken,
}

/// A compile of a [`CompileQueue`]: a future of its result, which can be [waited](Self::wait) for
/// too. Dropping it cancels the compile.
#[derive(Debug)]
#[must_use = "dropping it cancels the compile"]
pub struct CompileJob(Arc<Job>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CompileQueue {
    /// As many compiles at a time as there are cores, but no more than this: an instance of the
    /// compiler holds hundreds of megabytes.
    pub const MOST_BY_DEFAULT: usize = 8;

    /// A queue with as many threads as there are cores, at most
    /// [`MOST_BY_DEFAULT`](Self::MOST_BY_DEFAULT).
    #[must_use]
    pub fn new(compiler: Compiler) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let width = cores.min(Self::MOST_BY_DEFAULT);
        Self::with_width(
            compiler,
            NonZeroUsize::new(width).unwrap_or(NonZeroUsize::MIN),
        )
    }

    /// A queue that compiles so many requests at a time.
    #[must_use]
    pub fn with_width(compiler: Compiler, width: NonZeroUsize) -> Self {
        Self {
            shared: Arc::new(Shared {
                compiler,
                list: Mutex::default(),
                changed: Condvar::new(),
            }),
            threads: Mutex::default(),
            width,
        }
    }

    /// The most compiles at a time.
    #[must_use]
    pub fn width(&self) -> NonZeroUsize {
        self.width
    }

    /// Compiles the request when its turn comes.
    ///
    /// # Errors
    /// [`CompileError::Thread`] when there is no thread and none can be started.
    pub fn submit(&self, request: CompileRequest) -> Result<CompileJob, CompileError> {
        let job = Arc::new(Job {
            request,
            cancellation: Cancellation::new(),
            outcome: Mutex::default(),
            done: Condvar::new(),
        });
        let mut threads = lock(&self.threads);
        let mut list = lock(&self.shared.list);
        if list.idle <= list.jobs.len() && threads.len() < self.width.get() {
            let shared = Arc::clone(&self.shared);
            let started = std::thread::Builder::new()
                .name("cupola-compile".to_owned())
                .spawn(move || shared.work());
            match started {
                Ok(thread) => threads.push(thread),
                Err(error) if threads.is_empty() => {
                    return Err(CompileError::Thread(error.to_string()));
                }
                // The threads that there are will do it.
                Err(_) => {}
            }
        }
        list.jobs.push_back(Arc::clone(&job));
        drop(list);
        self.shared.changed.notify_one();
        Ok(CompileJob(job))
    }
}

impl Drop for CompileQueue {
    fn drop(&mut self) {
        let mut list = lock(&self.shared.list);
        list.ended = true;
        let waiting = std::mem::take(&mut list.jobs);
        for running in &list.running {
            running.cancellation.cancel();
        }
        drop(list);
        self.shared.changed.notify_all();
        for job in waiting {
            job.finish(Err(CompileError::QueueGone));
        }
        for thread in std::mem::take(&mut *lock(&self.threads)) {
            // A waker may drop the queue on one of its own threads.
            if thread.thread().id() != std::thread::current().id() {
                // A panic there was contained: the job has its error.
                let _ = thread.join();
            }
        }
    }
}

impl Shared {
    /// What a thread does: a job after another, until the end.
    fn work(&self) {
        while let Some(job) = self.next() {
            let compile = || self.compiler.compile_until(&job.request, &job.cancellation);
            // A panic must not leave a caller waiting for ever.
            let ended = catch_unwind(AssertUnwindSafe(compile));
            lock(&self.list)
                .running
                .retain(|running| !Arc::ptr_eq(running, &job));
            job.finish(ended.unwrap_or(Err(CompileError::Panicked)));
        }
    }

    fn next(&self) -> Option<Arc<Job>> {
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
            list = self
                .changed
                .wait(list)
                .unwrap_or_else(PoisonError::into_inner);
            list.idle -= 1;
        }
    }
}

impl Job {
    fn finish(&self, result: Result<Compiled, CompileError>) {
        let mut outcome = lock(&self.outcome);
        let before = std::mem::replace(&mut *outcome, Outcome::Ready(result));
        drop(outcome);
        self.done.notify_all();
        if let Outcome::Awaited(waker) = before {
            waker.wake();
        }
    }
}

impl CompileJob {
    /// Stops the compile; its result is then [`CompileError::Cancelled`], unless it was done.
    pub fn cancel(&self) {
        self.0.cancellation.cancel();
    }

    /// Waits on this thread for the result.
    ///
    /// # Errors
    /// Those of [`Compiler::compile_until`]; [`CompileError::QueueGone`].
    pub fn wait(self) -> Result<Compiled, CompileError> {
        let mut outcome = lock(&self.0.outcome);
        loop {
            if let Some(result) = outcome.take() {
                return result;
            }
            outcome = self
                .0
                .done
                .wait(outcome)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether the result is there.
    #[must_use]
    pub fn is_done(&self) -> bool {
        matches!(*lock(&self.0.outcome), Outcome::Ready(_) | Outcome::Taken)
    }
}

impl Outcome {
    fn take(&mut self) -> Option<Result<Compiled, CompileError>> {
        if !matches!(self, Self::Ready(_)) {
            return None;
        }
        match std::mem::replace(self, Self::Taken) {
            Self::Ready(result) => Some(result),
            _ => None,
        }
    }
}

impl Future for CompileJob {
    type Output = Result<Compiled, CompileError>;

    /// Pending for ever once it has given its result, as futures may be.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut outcome = lock(&self.0.outcome);
        if let Some(result) = outcome.take() {
            return Poll::Ready(result);
        }
        match &*outcome {
            Outcome::Taken => {}
            Outcome::Awaited(waker) if waker.will_wake(context.waker()) => {}
            _ => *outcome = Outcome::Awaited(context.waker().clone()),
        }
        Poll::Pending
    }
}

impl Drop for CompileJob {
    fn drop(&mut self) {
        self.0.cancellation.cancel();
    }
}
