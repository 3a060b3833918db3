//! A stream as the scheduler sees it, and how its operations are carried out.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, MutexGuard};

use crate::device::contexts::health::Fault;
use crate::device::operations::branch::Branch;
use crate::device::operations::op::Op;
use crate::device::schedule::clock::{End, Parts, Time};
use crate::device::schedule::host::Called;
use crate::device::schedule::kernel::Kernel;
use crate::device::schedule::{Act, Candidate, Schedule, State};
use crate::device::streams::stream::{Job, Stream, Until};
use crate::device::sync::lock;

const SLOW: &str = "a function of the program did not return soon, and the machine went on";

/// A stream with work.
#[derive(Debug)]
pub(super) struct StreamQueue {
    stream: Arc<Stream>,
    phase: Phase,
    /// The operation waits for a value in memory, which was there by then.
    met: Option<Time>,
}

/// What is with the operation that a stream is at.
#[derive(Debug)]
enum Phase {
    /// There is none.
    Empty,
    /// It has not begun.
    Waiting(Job),
    /// It has, and takes place then.
    Begun(Job, End),
    Kernel(u64, Box<Kernel>),
    /// All blocks of the kernel have ended; it ends at that time.
    Ending(u64, Time),
    /// A function of the program that has not returned soon.
    Called(u64, Arc<Called>, Time),
    /// It is being carried out.
    Away,
}

impl StreamQueue {
    pub(super) fn new(stream: &Arc<Stream>) -> Self {
        Self {
            stream: Arc::clone(stream),
            phase: Phase::Empty,
            met: None,
        }
    }

    pub(super) fn priority(&self) -> i32 {
        let own = match &self.phase {
            Phase::Waiting(Job {
                op: Op::Launch(launch),
                ..
            }) => launch.priority,
            Phase::Kernel(_, kernel) => kernel.priority(),
            _ => None,
        };
        own.unwrap_or_else(|| self.stream.priority())
    }

    /// Since when the next step could happen, and when it does; `None` if something else
    /// comes first. What is in memory was `written` by then.
    pub(super) fn ready(&mut self, parts: &mut [Parts], written: Time) -> Option<(Time, Time)> {
        if let Phase::Empty = self.phase {
            self.phase = Phase::Waiting(self.stream.next_job()?);
            self.met = None;
        }
        if let Phase::Waiting(job) = &self.phase
            && let Op::Value(step) = &job.op
        {
            // It is looked at after each step, so the first look that finds the value is at
            // the time of the step which wrote it.
            let stream = &self.stream;
            self.met = step
                .is_due(&stream.device, &stream.health)
                .then(|| self.met.unwrap_or(written));
        }
        match &self.phase {
            Phase::Waiting(job) => self.begins(job, parts),
            Phase::Begun(_, End::OnBus(copy)) => {
                let parts = parts.get(self.stream.device.ordinal);
                let at = parts.and_then(|parts| parts.bus_end(*copy))?;
                Some((at, at))
            }
            Phase::Begun(_, End::At(at)) | Phase::Ending(_, at) => Some((*at, *at)),
            Phase::Kernel(_, kernel) => Some((kernel.at, kernel.at)),
            Phase::Called(_, called, at) => called.has_returned().then_some((*at, *at)),
            Phase::Empty | Phase::Away => None,
        }
    }

    fn begins(&self, job: &Job, parts: &mut [Parts]) -> Option<(Time, Time)> {
        let stream = &self.stream;
        if !job.after.iter().all(Until::is_over) {
            return None;
        }
        let mut ready = job.at.max(stream.ready_at());
        for until in &job.after {
            ready = ready.max(until.ready_at());
        }
        if stream.health.halted().is_some() {
            return Some((ready, ready));
        }
        if let Op::Wait(record) = &job.op {
            ready = ready.max(record.settled_at()?);
        }
        if let Op::Value(step) = &job.op {
            let met = self.met?;
            if !step.is_write() {
                ready = ready.max(met);
            }
        }
        if job.op.is_work() {
            let pace = &stream.device.engines.pace;
            ready = ready.plus(pace.before(stream.id, job.number));
        }
        let at = match (&job.op, parts.get_mut(stream.device.ordinal)) {
            (Op::Copy(copy), Some(parts)) => match copy.direction {
                Some(direction) => parts.engine_free(direction, ready),
                None => ready,
            },
            _ => ready,
        };
        Some((ready, at))
    }
}

impl Schedule {
    /// Carries a step out.
    pub(super) fn perform<'a>(
        self: &'a Arc<Self>,
        mut state: MutexGuard<'a, State>,
        next: Candidate,
    ) -> MutexGuard<'a, State> {
        let Some(queue) = state.queues.get_mut(&next.queue) else {
            return state;
        };
        let phase = std::mem::replace(&mut queue.phase, Phase::Away);
        let stream = Arc::clone(&queue.stream);
        match phase {
            Phase::Waiting(job) => self.begin(state, &stream, job, next.at),
            Phase::Begun(job, end) => {
                if let End::OnBus(copy) = end
                    && let Some(parts) = state.parts.get_mut(stream.device.ordinal)
                {
                    parts.leave_bus(copy, next.at);
                }
                self.carry_out(state, &stream, job, next.at)
            }
            Phase::Kernel(number, kernel) => self.slice(state, &stream, number, kernel),
            Phase::Ending(number, at) => {
                state.trace.add(stream.id, number, Act::End, at);
                self.end(state, &stream, number, at)
            }
            Phase::Called(number, _, at) => self.end(state, &stream, number, at),
            Phase::Empty | Phase::Away => state,
        }
    }

    fn begin<'a>(
        self: &'a Arc<Self>,
        mut state: MutexGuard<'a, State>,
        stream: &Arc<Stream>,
        job: Job,
        at: Time,
    ) -> MutexGuard<'a, State> {
        let device = &stream.device;
        let number = job.number;
        if stream.health.halted().is_none() {
            match job.op {
                Op::Launch(launch) => {
                    state.trace.add(stream.id, number, Act::Launch, at);
                    let kernel = Box::new(Kernel::new(launch, job.trace, at));
                    state.set(stream.id, Phase::Kernel(number, kernel));
                    return state;
                }
                Op::Branch(ref branch) => {
                    let branch = Arc::clone(branch);
                    return self.decide(state, stream, &job, &branch, at);
                }
                Op::Copy(_) | Op::Fill(_) => {
                    let end = job.op.bytes().and_then(|(direction, bytes)| {
                        let parts = state.parts.get_mut(device.ordinal)?;
                        Some(parts.copy(direction, bytes, at, &device.engines))
                    });
                    let is_later = |end: &End| match end {
                        End::At(end) => *end > at,
                        End::OnBus(_) => true,
                    };
                    if let Some(end) = end.filter(is_later) {
                        state.trace.add(stream.id, number, Act::Begin, at);
                        state.set(stream.id, Phase::Begun(job, end));
                        return state;
                    }
                }
                _ => {}
            }
        }
        self.carry_out(state, stream, job, at)
    }

    /// A branch puts its work into the stream.
    fn decide<'a>(
        self: &'a Arc<Self>,
        mut state: MutexGuard<'a, State>,
        stream: &Arc<Stream>,
        job: &Job,
        branch: &Arc<Branch>,
        at: Time,
    ) -> MutexGuard<'a, State> {
        state.trace.add(stream.id, job.number, Act::Do, at);
        let ended = stream.decide(branch, job, at);
        self.end(state, stream, ended, at)
    }

    /// Carries an operation out that is no kernel, or drops it.
    fn carry_out<'a>(
        self: &'a Arc<Self>,
        mut state: MutexGuard<'a, State>,
        stream: &Arc<Stream>,
        job: Job,
        at: Time,
    ) -> MutexGuard<'a, State> {
        let (number, op, here) = (job.number, job.op, job.trace);
        let halted = stream.health.halted();
        let calls = op.calls_the_program(halted.is_some());
        let act = match (halted, calls) {
            (_, true) => Act::Call,
            (Some(_), false) => Act::Drop,
            (None, false) => Act::Do,
        };
        state.trace.add(stream.id, number, act, at);
        drop(state);
        let there = Arc::clone(stream);
        let run = move || {
            let _here = here.enter();
            there.guard(|| match halted {
                Some(code) => {
                    op.abandon(&there.device, code);
                    Ok(())
                }
                None => {
                    there.device.strict.calls_back(&here);
                    op.run_at(&there.device, &there.health, at)
                }
            });
        };
        if !calls {
            run();
            return self.end(lock(&self.state), stream, number, at);
        }
        let called = Called::start(&Arc::downgrade(self), run);
        let returned = called.wait();
        let mut state = lock(&self.state);
        if returned {
            return self.end(state, stream, number, at);
        }
        state.trace.depart(SLOW);
        state.set(stream.id, Phase::Called(number, called, at));
        state
    }

    fn slice<'a>(
        self: &'a Arc<Self>,
        mut state: MutexGuard<'a, State>,
        stream: &Arc<Stream>,
        number: u64,
        mut kernel: Box<Kernel>,
    ) -> MutexGuard<'a, State> {
        let device = &stream.device;
        let turn = kernel.turn(&mut state.choice);
        drop(state);
        let run = AssertUnwindSafe(|| kernel.run(turn, device, &stream.health));
        let result = catch_unwind(run).unwrap_or_else(|_| Err(Fault::internal()));
        let mut state = lock(&self.state);
        let slice = match result {
            Ok(slice) => slice,
            Err(fault) => {
                let at = kernel.at;
                state.trace.add(stream.id, number, Act::End, at);
                drop(state);
                stream.fail(fault);
                // What the kernel kept alive goes without the lock.
                drop(kernel);
                return self.end(lock(&self.state), stream, number, at);
            }
        };
        let act = Act::Slice {
            block: slice.block,
            instructions: slice.instructions,
        };
        state.trace.add(stream.id, number, act, kernel.at);
        let parts = state.parts.get_mut(device.ordinal);
        let ended = parts.is_none_or(|parts| kernel.account(slice, device, parts));
        state.latest = state.latest.max(kernel.reached);
        if ended {
            state.set(stream.id, Phase::Ending(number, kernel.at));
            drop(state);
            drop(kernel);
            return lock(&self.state);
        }
        state.set(stream.id, Phase::Kernel(number, kernel));
        state
    }

    /// Ends an operation.
    fn end<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        stream: &Arc<Stream>,
        number: u64,
        at: Time,
    ) -> MutexGuard<'a, State> {
        stream.end_job(number, at);
        if stream.is_idle() {
            state.queues.remove(&stream.id);
        } else {
            state.set(stream.id, Phase::Empty);
        }
        let busy = state.queues.len();
        self.busy.store(busy, std::sync::atomic::Ordering::Release);
        self.changed.notify_all();
        state
    }
}

impl State {
    fn set(&mut self, queue: u64, phase: Phase) {
        if let Some(queue) = self.queues.get_mut(&queue) {
            queue.phase = phase;
        }
    }
}
