//! Streams: queues of operations, each executed in order by a thread of its own.
//!
//! The thread starts when an operation is queued that a caller does not execute itself,
//! and ends when the stream has been idle for a while. A stream that executes nothing lends
//! its turn to a caller that waits for it anyway (synchronisation, synchronous copies) or
//! whose operation takes no time (event records), so such calls cost no switch of threads.
//! Whichever thread has the turn, operations run one at a time and in order.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cupola_sys::driver::CUresult;

use crate::device::api::Attributes;
use crate::device::calls::args::Reply;
use crate::device::contexts::green::Part;
use crate::device::contexts::health::{Fault, Health};
use crate::device::graphs::CaptureSlot;
use crate::device::machine::Device;
use crate::device::operations::branch::{Again, Branch};
use crate::device::operations::op::Op;
use crate::device::schedule::Time;
use crate::device::strict::{Origin, Trace};
use crate::device::sync::{lock, wait, wait_timeout};

/// How long a thread waits for more work before it ends; the next operation starts
/// another.
const IDLE: Duration = Duration::from_millis(100);

/// How a stream stands to the legacy default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) enum Kind {
    /// It is the legacy default stream.
    Legacy,
    /// They wait for each other.
    Blocking,
    NonBlocking,
    /// Of a green context: what is queued in it comes after all work of that context.
    Marker,
}

/// All operations of a stream up to one.
#[derive(Debug)]
pub(in crate::device) struct Until {
    stream: Arc<Stream>,
    number: u64,
}

impl Until {
    /// Waits, and leaves the work to others.
    pub(in crate::device) fn wait(&self) {
        self.wait_or(Stream::wait_for);
    }

    /// Waits for a call of the program, which executes what it waits for if no other
    /// thread does. The caller must hold no lock.
    pub(in crate::device) fn help(&self) {
        self.wait_or(|stream, number| {
            stream.help(number);
            stream.wait_for(number);
        });
    }

    fn wait_or(&self, wait: impl FnOnce(&Stream, u64)) {
        match &self.stream.device.schedule {
            Some(schedule) => {
                schedule.drive(|| self.is_over());
                schedule.observe(self.stream.ready_at());
            }
            None => wait(&self.stream, self.number),
        }
    }

    pub(in crate::device) fn is_over(&self) -> bool {
        lock(&self.stream.queue).finished >= self.number
    }

    /// When the stream was ready for more, in virtual time. Once this is over, that is
    /// when its last operation ended: what was submitted later comes after who asks.
    pub(in crate::device) fn ready_at(&self) -> Time {
        self.stream.ready_at()
    }
}

/// An operation in its place.
#[derive(Debug)]
pub(in crate::device) struct Job {
    pub(in crate::device) number: u64,
    /// Operations of other streams that come first.
    pub(in crate::device) after: Vec<Until>,
    pub(in crate::device) op: Op,
    pub(in crate::device) trace: Trace,
    /// When it was submitted, in virtual time.
    pub(in crate::device) at: Time,
}

#[derive(Debug, Default)]
struct Queue {
    jobs: VecDeque<Job>,
    submitted: u64,
    finished: u64,
    /// When the last finished operation ended, in virtual time.
    ready_at: Time,
    /// A thread executes an operation.
    busy: bool,
    /// The thread ends when the queue is empty.
    closing: bool,
    thread: Option<JoinHandle<()>>,
    /// The thread waits for a notice, and none is on its way. Notices that no thread waits for
    /// are not given: each is a system call.
    asleep: bool,
    /// Callers that wait for an operation to finish.
    waiting: usize,
}

impl Queue {
    /// The next operation for a caller that waits until `last` has finished; the caller has
    /// the turn then. The program's functions are left to the thread: they may count on not
    /// being called from within the program's own calls.
    fn lend(&mut self, last: u64) -> Option<Job> {
        let next = self.jobs.front().filter(|_| !self.busy)?;
        // What a branch has put in has the number of what has ended.
        let is_over = self.finished >= last;
        if is_over || next.number > last || next.op.calls_the_program(false) {
            return None;
        }
        self.busy = true;
        self.jobs.pop_front()
    }
}

/// What a `CUstream` names.
#[derive(Debug)]
pub(in crate::device) struct Stream {
    pub(in crate::device) handle: u64,
    /// Unique in the machine, in order of creation.
    pub(in crate::device) id: u64,
    pub(in crate::device) kind: Kind,
    pub(in crate::device) flags: u32,
    priority: AtomicI32,
    pub(in crate::device) attributes: Mutex<Attributes>,
    pub(in crate::device) health: Arc<Health>,
    pub(in crate::device) made: Origin,
    pub(in crate::device) device: Arc<Device>,
    /// Of the green context that it was made in.
    pub(in crate::device) part: Option<Arc<Part>>,
    /// How many changes of its part's gate it has waited for.
    pub(in crate::device) gate_seen: Mutex<u64>,
    /// The capture that its work goes into.
    pub(in crate::device) capture: CaptureSlot,
    queue: Mutex<Queue>,
    work: Condvar,
    done: Condvar,
}

/// Whether a caller executes an operation itself if the stream is idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) enum Mode {
    /// Only if it takes no time.
    Async,
    /// Yes: it would wait anyway.
    Sync,
}

/// The stream's turn, taken by a caller.
pub(in crate::device) struct Turn {
    stream: Arc<Stream>,
    job: Option<Job>,
}

/// An operation that was accepted.
pub(in crate::device) enum Submitted {
    /// The stream's thread executes it.
    Queued(Until),
    /// The caller must execute it, holding no lock.
    Lent(Turn),
}

impl Stream {
    pub(in crate::device) fn new(
        (handle, id): (u64, u64),
        health: Arc<Health>,
        device: Arc<Device>,
        part: Option<Arc<Part>>,
        (kind, flags, priority): (Kind, u32, i32),
    ) -> Arc<Self> {
        Arc::new(Self {
            handle,
            id,
            kind,
            flags,
            priority: AtomicI32::new(priority),
            attributes: Mutex::default(),
            health,
            made: device.strict.origin(),
            device,
            part,
            gate_seen: Mutex::default(),
            capture: CaptureSlot::default(),
            queue: Mutex::default(),
            work: Condvar::new(),
            done: Condvar::new(),
        })
    }

    /// Appends an operation that comes after the others in `after` too.
    ///
    /// # Errors
    /// The stream is destroyed, or the host gives no thread. The operation is dropped.
    pub(in crate::device) fn submit(
        self: &Arc<Self>,
        op: Op,
        trace: Trace,
        after: Vec<Until>,
        mode: Mode,
    ) -> Reply<Submitted> {
        let mut queue = lock(&self.queue);
        if queue.closing {
            return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
        }
        let number = queue.submitted + 1;
        if let Op::Record(record) = &op {
            record.set_place(Arc::downgrade(self), number);
        }
        if let Some(schedule) = &self.device.schedule {
            let at = schedule.now();
            let job = Job {
                number,
                after,
                op,
                trace,
                at,
            };
            queue.submitted = number;
            queue.jobs.push_back(job);
            drop(queue);
            schedule.enlist(self);
            return Ok(Submitted::Queued(Until {
                stream: Arc::clone(self),
                number,
            }));
        }
        let idle = !queue.busy && queue.jobs.is_empty();
        let lend = mode == Mode::Sync || op.is_instant() && after.is_empty();
        let job = Job {
            number,
            after,
            op,
            trace,
            at: Time::default(),
        };
        if idle && lend {
            queue.submitted = number;
            queue.busy = true;
            return Ok(Submitted::Lent(Turn {
                stream: Arc::clone(self),
                job: Some(job),
            }));
        }
        if queue.thread.is_none() {
            let stream = Arc::clone(self);
            let thread = std::thread::Builder::new().name("cupola-stream".into());
            let thread = thread.spawn(move || stream.serve());
            queue.thread = Some(thread.map_err(|_| CUresult::CUDA_ERROR_OPERATING_SYSTEM)?);
        }
        queue.submitted = number;
        queue.jobs.push_back(job);
        self.wake(&mut queue);
        Ok(Submitted::Queued(Until {
            stream: Arc::clone(self),
            number,
        }))
    }

    /// The streams that it takes its order from are those with the same: 0, or the handle of
    /// a green context.
    pub(in crate::device) fn group(&self) -> u64 {
        self.part.as_ref().map_or(0, |part| part.handle)
    }

    /// Lower is higher.
    pub(in crate::device) fn priority(&self) -> i32 {
        self.priority.load(Ordering::Relaxed)
    }

    pub(in crate::device) fn set_priority(&self, priority: i32) {
        self.priority.store(priority, Ordering::Relaxed);
    }

    /// Everything submitted so far; `None` if it is finished.
    pub(in crate::device) fn pending(self: &Arc<Self>) -> Option<Until> {
        let queue = lock(&self.queue);
        let number = queue.submitted;
        (queue.finished < number).then(|| Until {
            stream: Arc::clone(self),
            number,
        })
    }

    pub(in crate::device) fn is_idle(&self) -> bool {
        let queue = lock(&self.queue);
        queue.finished == queue.submitted
    }

    fn wait_for(&self, number: u64) {
        let mut queue = lock(&self.queue);
        while queue.finished < number {
            queue.waiting += 1;
            queue = wait(&self.done, queue);
            queue.waiting -= 1;
        }
    }

    /// Executes operations up to that one, as long as no other thread has the turn.
    pub(in crate::device) fn help(&self, number: u64) {
        let mut queue = lock(&self.queue);
        let mut helped = false;
        while let Some(job) = queue.lend(number) {
            drop(queue);
            let ended = self.execute(job);
            queue = self.finish(ended);
            helped = true;
        }
        if helped {
            self.give_back(queue);
        }
    }

    /// Has the thread go on after a caller's turn.
    fn give_back(&self, mut queue: MutexGuard<'_, Queue>) {
        if !queue.jobs.is_empty() || queue.closing {
            self.wake(&mut queue);
        }
    }

    fn wake(&self, queue: &mut Queue) {
        if std::mem::take(&mut queue.asleep) {
            self.work.notify_one();
        }
    }

    /// Ends the thread once the queue is empty.
    pub(in crate::device) fn close(&self) {
        let mut queue = lock(&self.queue);
        queue.closing = true;
        self.wake(&mut queue);
    }

    /// Waits for the thread of a closed stream. On that thread itself, lets it go.
    pub(in crate::device) fn join(&self) {
        let thread = lock(&self.queue).thread.take();
        if let Some(thread) = thread
            && thread.thread().id() != std::thread::current().id()
        {
            // The thread catches panics of operations, so it has nothing to report.
            let _ = thread.join();
        }
    }

    /// The thread's work.
    fn serve(&self) {
        let mut queue = lock(&self.queue);
        loop {
            queue = self.next_turn(queue);
            let Some(job) = queue.jobs.pop_front() else {
                if !queue.closing {
                    // Under the lock: the next operation finds no thread and starts one.
                    queue.thread = None;
                }
                return;
            };
            queue.busy = true;
            drop(queue);
            let ended = self.execute(job);
            queue = self.finish(ended);
        }
    }

    /// Waits until there is a job and no thread executes another, or until the end: the
    /// stream closes, or has been idle for long.
    fn next_turn<'a>(&self, mut queue: MutexGuard<'a, Queue>) -> MutexGuard<'a, Queue> {
        let mut late = false;
        while queue.busy || queue.jobs.is_empty() && !queue.closing && !late {
            queue.asleep = true;
            (queue, late) = wait_timeout(&self.work, queue, IDLE);
            queue.asleep = false;
        }
        queue
    }

    fn finish(&self, number: u64) -> MutexGuard<'_, Queue> {
        let mut queue = lock(&self.queue);
        queue.busy = false;
        queue.finished = number;
        if queue.waiting > 0 {
            self.done.notify_all();
        }
        queue
    }

    /// The next operation, for the machine's scheduler.
    pub(in crate::device) fn next_job(&self) -> Option<Job> {
        lock(&self.queue).jobs.pop_front()
    }

    /// The scheduler has finished an operation.
    pub(in crate::device) fn end_job(&self, number: u64, at: Time) {
        let mut queue = lock(&self.queue);
        queue.finished = number;
        queue.ready_at = queue.ready_at.max(at);
    }

    /// When the last finished operation ended, in virtual time.
    pub(in crate::device) fn ready_at(&self) -> Time {
        lock(&self.queue).ready_at
    }

    /// Executes an operation; whatever happens, the stream goes on. Gives the number of the last
    /// operation that has ended: one before, if a branch has put work into the stream.
    fn execute(&self, job: Job) -> u64 {
        let mut ended = job.number;
        self.guard(|| {
            if let Op::Branch(branch) = &job.op
                && self.health.halted().is_none()
            {
                job.after.iter().for_each(Until::wait);
                ended = self.decide(branch, &job, Time::default());
                return Ok(());
            }
            self.perform(job)
        });
        ended
    }

    /// Puts what a branch chooses at the front of the queue, in place of the branch, whose number
    /// the last of it has: the others have the number of what has ended. Gives the number of the
    /// last operation that has ended then.
    pub(in crate::device) fn decide(&self, branch: &Arc<Branch>, job: &Job, at: Time) -> u64 {
        let (tasks, again) = branch.next();
        let new = |number, op, trace| Job {
            number,
            after: Vec::new(),
            op,
            trace,
            at,
        };
        let mut queue = lock(&self.queue);
        let finished = queue.finished;
        let tasks = tasks.iter().cloned();
        let mut jobs: Vec<_> = tasks
            .map(|task| new(finished, task.op, task.trace))
            .collect();
        if again == Again::Yes {
            let branch = Op::Branch(Arc::clone(branch));
            jobs.push(new(job.number, branch, job.trace.clone()));
        }
        let Some(last) = jobs.last_mut() else {
            return job.number;
        };
        last.number = job.number;
        jobs.into_iter()
            .rev()
            .for_each(|job| queue.jobs.push_front(job));
        finished
    }

    /// Does something for the stream and keeps what goes wrong.
    pub(in crate::device) fn guard(&self, work: impl FnOnce() -> Result<(), Fault>) {
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(())) => {}
            Ok(Err(fault)) => self.fail(fault),
            Err(_) => self.fail(Fault::internal()),
        }
    }

    /// Work of the stream faulted, or was stopped because its context had halted.
    pub(in crate::device) fn fail(&self, fault: Fault) {
        if fault.is_stop() {
            return;
        }
        self.device.messages.add(fault.text.clone());
        self.health.poison(fault);
    }

    fn perform(&self, job: Job) -> Result<(), Fault> {
        let _here = job.trace.enter();
        job.after.iter().for_each(Until::wait);
        if job.op.is_work() {
            let delay = self.device.engines.pace.before(self.id, job.number);
            self.health.pass(Instant::now(), delay);
        }
        if let Some(code) = self.health.halted() {
            job.op.abandon(&self.device, code);
            return Ok(());
        }
        self.device.strict.calls_back(&job.trace);
        job.op.run(&self.device, &self.health)
    }
}

impl Turn {
    /// Executes the operation.
    pub(in crate::device) fn run(self) {
        drop(self);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Also on the way of a panic before `run`: the operation was accepted, and others may
        // wait for it. A panic of its own stays in `execute`.
        if let Some(job) = self.job.take() {
            let ended = self.stream.execute(job);
            self.stream.give_back(self.stream.finish(ended));
        }
    }
}

impl Submitted {
    /// Executes the operation if it was lent.
    pub(in crate::device) fn go(self) {
        if let Self::Lent(turn) = self {
            turn.run();
        }
    }

    /// Executes the operation or waits until it is done.
    pub(in crate::device) fn finish(self) {
        match self {
            Self::Queued(until) => until.help(),
            Self::Lent(turn) => turn.run(),
        }
    }
}
