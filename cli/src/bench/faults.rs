//! Faults at random moments while callers wait in every way that there is: each caller is to be told
//! the first cause, soon, and nothing is to be left.
//!
//! On the software device, because a GPU is lost to one of them with its process. Each trial has a
//! machine of its own.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context as Task, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use cupola_managers::buffer::{Buffer, PinnedBuffer};
use cupola_managers::module::Function;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::pipeline::{Pipeline, PipelineConfig};
use cupola_managers::{
    Blame, Cause, Context, Error, Event, ExecutionManager, LiveWatch, PoolConfig, Stream,
};
use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;
use cupola_sys::driver::{CUresult, id};

use crate::trace::SplitMix;

/// A caller that is told nothing for so long hangs.
const HANG: Duration = Duration::from_secs(30);
/// The kernel that writes where there is no memory.
const KERNEL: &str = "cupola_scale";

/// The faults of a storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// A kernel writes where there is no memory: the device loses the context.
    Kernel,
    /// A question to the driver returns that the context is lost.
    Question,
    /// From a moment on the driver says that the context is destroyed.
    Destroyed,
    /// The driver refuses an operation, and the context survives.
    Refused,
}

/// What came of some faults.
#[derive(Debug, Default)]
pub struct Storm {
    /// Milliseconds from the fault, or from the beginning of the wait if that was later, to the error.
    pub latencies: Vec<f64>,
    /// Callers that were told, of all kinds.
    pub told: u64,
    /// What should not have been: a caller that hangs, an Ok for work that was not done, an error that
    /// does not name the cause, something that is left.
    pub problems: Vec<String>,
}

impl Storm {
    /// The latency that this part of all is not above.
    #[must_use]
    pub fn quantile(&self, part: f64) -> f64 {
        let mut sorted = self.latencies.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        sorted
            .get((last as f64 * part) as usize)
            .copied()
            .unwrap_or(f64::NAN)
    }
}

impl fmt::Display for Storm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} told; from a fault to its caller p50 {:.3} ms, p99 {:.3} ms, at most {:.3} ms",
            self.told,
            self.quantile(0.5),
            self.quantile(0.99),
            self.quantile(1.0)
        )?;
        for problem in self.problems.iter().take(20) {
            write!(f, "\n  {problem}")?;
        }
        Ok(())
    }
}

/// Injects `faults` faults one after the other; the same ones for one `seed`.
///
/// # Errors
/// An error of setting a trial up, before its fault.
pub fn storm(faults: u32, seed: u64) -> Result<Storm, Error> {
    let (mut storm, mut random) = (Storm::default(), SplitMix(seed));
    for number in 0..faults {
        let fault = match random.below(10) {
            0..5 => Fault::Kernel,
            5..7 => Fault::Question,
            7 => Fault::Destroyed,
            _ => Fault::Refused,
        };
        // Some callers come before it, and some after.
        let delay = Duration::from_micros(random.below(600));
        let before = storm.problems.len();
        let hangs = trial(fault, delay, &mut storm)?;
        for problem in &mut storm.problems[before..] {
            *problem = format!("fault {number} ({fault:?} after {delay:?}): {problem}");
        }
        if hangs {
            // Its threads have the machine.
            break;
        }
    }
    Ok(storm)
}

/// What a caller was told, and when its wait began and ended.
struct Told {
    who: &'static str,
    result: Result<(), Error>,
    begin: Instant,
    end: Instant,
    /// Whether the wait is a call of the driver's, which an injected code does not end.
    blocks: bool,
}

/// Threads that wait, and what they were told.
struct Callers {
    tell: Sender<Told>,
    told: Receiver<Told>,
    count: usize,
}

impl Callers {
    fn new() -> Self {
        let (tell, told) = channel();
        Self {
            tell,
            told,
            count: 0,
        }
    }

    fn add(
        &mut self,
        who: &'static str,
        blocks: bool,
        wait: impl FnOnce() -> Result<(), Error> + Send + 'static,
    ) {
        let tell = self.tell.clone();
        self.count += 1;
        thread::spawn(move || {
            let begin = Instant::now();
            let result = wait();
            let end = Instant::now();
            let _ = tell.send(Told {
                who,
                result,
                begin,
                end,
                blocks,
            });
        });
    }

    /// The next caller that is told; `None` when one hangs.
    fn next(&self) -> Option<Told> {
        self.told.recv_timeout(HANG).ok()
    }
}

/// What a trial works with.
struct Bench {
    machine: Machine,
    table: FaultTable,
    watch: LiveWatch,
    execution: ExecutionManager,
    context: Context,
    stream: Stream,
    event: Event,
    input: Buffer<f32>,
    output: Buffer<f32>,
    pinned: PinnedBuffer<f32>,
    pipeline: Pipeline<f32, f32>,
    kernel: Function,
}

impl Bench {
    fn new() -> Result<Self, Error> {
        let machine = Machine::builder().worker_threads(2).build();
        let table = FaultTable::new(machine.driver());
        let execution = ExecutionManager::new(table.driver())?;
        // One of our own, whose end takes what work may still use.
        let context = execution
            .devices()
            .get(0)?
            .contexts()
            .create(Default::default())?;
        let stream = context.streams().create(Default::default())?;
        let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
        let file = cupola_kernels::Embedded::with_entry(KERNEL);
        let file = file.ok_or_else(|| wrong("no such kernel"))?;
        let module = context.modules().load_ptx(file.ptx())?;
        Ok(Self {
            watch: execution.watch(),
            event: context.events().create(Default::default())?,
            input: pool.upload(&[1.0; 32], &stream)?,
            output: pool.zeros(32, &stream)?,
            pinned: context.buffers().pinned(32)?,
            pipeline: Pipeline::new(&context, &pool, PipelineConfig::new(32, 32).depth(2))?,
            kernel: module.function(KERNEL)?,
            machine,
            table,
            execution,
            context,
            stream,
        })
    }
}

fn wrong(problem: &str) -> Error {
    Error::Invalid {
        field: "trial",
        problem: problem.into(),
    }
}

/// One fault. Whether a caller hangs.
fn trial(fault: Fault, delay: Duration, storm: &mut Storm) -> Result<bool, Error> {
    let Bench {
        machine,
        table,
        watch,
        execution,
        context,
        stream,
        event,
        mut input,
        mut output,
        pinned,
        mut pipeline,
        kernel,
    } = Bench::new()?;
    let mut callers = Callers::new();
    // Nothing behind it is done before the gate is open.
    let (gate, closed) = channel::<()>();
    let (begins, begun) = channel::<()>();
    ops::host_function(&stream, move || {
        let _ = begins.send(());
        let _open = closed.recv();
    })?;
    // A function that has not begun is dropped with a lost context, and would hold up nothing.
    let _ = begun.recv();
    let (from, to) = match fault {
        Fault::Kernel => (0xdead_0000_0000, 0xdead_0000_0000),
        _ => (input.as_raw(), output.as_raw()),
    };
    let grid = LaunchConfig::linear(1, 32);
    // SAFETY: the buffers have 32 elements; or the addresses are of no memory on purpose, which the
    // software device answers with an error.
    unsafe { ops::launch(&kernel, grid, (32u64, 2.0f32, from, to), &stream) }?;
    ops::record(&event, &stream)?;
    let (ran, runs) = channel::<()>();
    ops::host_function(&stream, move || {
        let _ = ran.send(());
    })?;
    let mut refused = None;
    if fault == Fault::Refused {
        let k = table.count(id::cuMemsetD32Async) + 1;
        table.fail(id::cuMemsetD32Async, k, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        refused = Some(ops::fill(&mut output, 3.0, &stream));
        let read = ops::copy(&output, &mut input, &stream);
        if !matches!(read, Err(Error::Tainted { .. })) {
            let problem = format!("memory was read that a fill has failed to write: {read:?}");
            storm.problems.push(problem);
        }
        output.clear_taint();
        input.clear_taint();
    }
    let download = ops::download(&output, pinned, &stream)?;
    let mut item = pipeline.try_input().ok_or_else(|| wrong("it is full"))?;
    item.fill(5.0);
    item.submit(32, |step| {
        ops::wait(step.stream, &event)?;
        ops::copy(step.input, step.output, step.stream)?;
        Ok::<_, Error>(32)
    })?;
    let ticket = stream.ticket()?;

    let (tell, is_told) = channel();
    let subscription = ticket.on_done(move |result| {
        let _ = tell.send(result);
    });
    let lost = context.clone();
    // A sender that is dropped says so too: the driver does not call the function any more.
    callers.add("a host function", true, move || match runs.recv() {
        Ok(()) => Ok(()),
        Err(_) => lost.poison().map_or(Ok(()), Err),
    });
    let (on, of) = (stream.clone(), event.clone());
    callers.add("an awaited event", false, move || {
        block_on((&of).into_future())
    });
    callers.add("an awaited stream", false, move || {
        block_on((&on).into_future())
    });
    callers.add("a download", false, move || block_on(download).map(drop));
    callers.add("a subscription", false, move || {
        is_told.recv().unwrap_or(Ok(()))
    });
    callers.add("a ticket", true, move || ticket.wait());
    let on = stream.clone();
    callers.add("synchronize", true, move || ops::synchronize(&on));
    let of = event.clone();
    callers.add("synchronize_event", true, move || {
        ops::synchronize_event(&of)
    });
    let on = stream.clone();
    callers.add("a spin", false, move || {
        while !ops::query(&on)? {
            thread::yield_now();
        }
        Ok(())
    });
    callers.add("an item of a pipeline", true, move || {
        let output = pipeline.output()?;
        let all = output.is_some_and(|item| item.output == [5.0; 32]);
        drop(pipeline);
        match all {
            true => Ok(()),
            false => Err(wrong("another item came, or none")),
        }
    });

    thread::sleep(delay);
    let code = CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED;
    let at = Instant::now();
    let mut gate = Some(gate);
    match fault {
        Fault::Kernel | Fault::Refused => gate = None,
        Fault::Question => {
            let lost = CUresult::CUDA_ERROR_LAUNCH_FAILED;
            for question in [id::cuEventQuery, id::cuStreamQuery] {
                table.fail_from(question, table.count(question) + 1, lost);
            }
        }
        Fault::Destroyed => {
            for question in [id::cuEventQuery, id::cuStreamQuery] {
                table.fail_from(question, table.count(question) + 1, code);
            }
        }
    }
    let polls = callers.count - 5;
    let (mut causes, mut hangs) = (Vec::<(&str, Cause)>::new(), false);
    for left in (0..callers.count).rev() {
        // Those that ask are told while the work is held up; the driver's waits end with it.
        if callers.count - left > polls {
            gate = None;
        }
        let Some(told) = callers.next() else {
            storm.problems.push(format!("{} callers hang", left + 1));
            hangs = true;
            break;
        };
        storm.told += 1;
        let is_failed = told.result.is_err();
        let should_fail = match fault {
            Fault::Kernel => true,
            Fault::Question | Fault::Destroyed => gate.is_some() && !told.blocks,
            Fault::Refused => false,
        };
        if should_fail && !is_failed {
            storm.problems.push(format!("{} was told Ok", told.who));
        }
        if fault == Fault::Refused && is_failed {
            storm
                .problems
                .push(format!("{}: {:?}", told.who, told.result));
        }
        if let Err(error) = told.result {
            let from = told.begin.max(at);
            let late = told.end.saturating_duration_since(from);
            if should_fail {
                storm.latencies.push(late.as_secs_f64() * 1e3);
            }
            match error.cause() {
                Some(cause) => causes.push((told.who, cause.clone())),
                None => storm
                    .problems
                    .push(format!("{}: no cause: {error}", told.who)),
            }
        }
    }
    check_causes(fault, &context, &causes, storm);
    if let Some(Ok(())) = refused {
        storm.problems.push("a refused fill was taken".into());
    }
    if hangs {
        return Ok(true);
    }
    table.reset();
    drop((
        subscription,
        event,
        input,
        output,
        kernel,
        stream,
        context,
        execution,
        gate,
    ));
    check_end(&machine, &watch, storm);
    Ok(false)
}

/// Every caller of a lost context is told its first cause, with the launch that may have done it.
fn check_causes(fault: Fault, context: &Context, causes: &[(&str, Cause)], storm: &mut Storm) {
    let first = match context.poison() {
        Some(Error::Poisoned { first, .. }) => Some(first),
        _ => None,
    };
    let is_lost = matches!(fault, Fault::Kernel | Fault::Question);
    if first.is_some() != is_lost {
        storm.problems.push(format!("lost: {}", first.is_some()));
    }
    for (who, cause) in causes {
        let is_right = match (&first, fault) {
            (Some(first), _) => cause == &**first,
            (None, Fault::Destroyed) => {
                cause.call.status() == Some(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED)
            }
            _ => false,
        };
        if !is_right {
            storm
                .problems
                .push(format!("{who} was told another cause: {cause}"));
        }
    }
    let names = |blame: &Blame| match blame {
        Blame::Launch(launch) => launch.kernel == KERNEL,
        Blame::OneOf(launches) => launches.iter().any(|launch| launch.kernel == KERNEL),
        _ => false,
    };
    if let Some(first) = first
        && !first.blame.as_deref().is_some_and(names)
    {
        storm
            .problems
            .push(format!("the launch is not suspected: {first}"));
    }
}

/// Memory, pinned memory and handles are back: of the machine, and by the managers' account.
fn check_end(machine: &Machine, watch: &LiveWatch, storm: &mut Storm) {
    let until = Instant::now() + HANG;
    let is_left = || {
        let mut live = watch.live();
        // What the driver refused to take back in a lost context went with that.
        (live.abandoned, live.abandoned_bytes) = (0, 0);
        !live.is_empty() || machine.leaks().is_some()
    };
    // A thread that was told may still have what it waited for.
    while is_left() && Instant::now() < until {
        thread::yield_now();
    }
    if is_left() {
        let live = watch.live();
        storm
            .problems
            .push(format!("left: {live:?}, {:?}", machine.leaks()));
    }
}

/// Runs a future on this thread, which sleeps meanwhile.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Task::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it a caller could hang, be told Ok for work that was not done, or not be told the cause,
    /// in one way of waiting of ten. `CUPOLA_FAULTS` says how many faults there are.
    #[test]
    fn every_caller_is_told_of_a_fault() {
        let faults = std::env::var("CUPOLA_FAULTS").ok();
        let faults = faults.map_or(150, |faults| faults.parse().unwrap());
        let storm = storm(faults, 1).unwrap();
        println!("{storm}");
        assert!(storm.problems.is_empty(), "{storm}");
        assert!(storm.told >= u64::from(faults) * 10 && !storm.latencies.is_empty());
    }
}
