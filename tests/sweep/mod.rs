//! One whole life of this crate's objects, what may come of it, and a watchdog.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cupola_kernels::Kernels;
use cupola_managers::event::EventConfig;
use cupola_managers::memory::PoolConfig;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::pipeline::{Pipeline, PipelineConfig};
use cupola_managers::{
    Buffer, Context, DeviceInfo, Error, ExecutionManager, Live, MemoryPool, Stream,
};
use cupola_sim::Usage;
use cupola_sys::SymbolId;
use cupola_sys::driver::{CUresult, Driver, id};

/// What came of a life.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The error that ended it.
    pub(crate) error: Option<Error>,
    /// What the context says it was lost to, at the end.
    pub(crate) poison: Option<Error>,
    /// What another operation in the context returned after a context was lost.
    pub(crate) after: Option<Error>,
    /// What the managers still count when all is dropped.
    pub(crate) live: Live,
}

impl Outcome {
    pub(crate) fn is_clean(&self) -> bool {
        self.error.is_none() && self.poison.is_none() && self.live.is_empty()
    }

    /// What is wrong with it, after a fault of this code.
    pub(crate) fn problem(&self, code: CUresult) -> Option<&'static str> {
        let mut counted = self.live;
        counted.abandoned = 0;
        if !counted.is_empty() {
            return Some("the managers still count something");
        }
        let status = self.error.as_ref().and_then(Error::status);
        if status.is_some_and(|status| status != code) {
            return Some("another code than the one injected");
        }
        if self
            .error
            .as_ref()
            .is_some_and(|error| status.is_none() && !matches!(error, Error::Invalid { .. }))
        {
            return Some("an error without its call");
        }
        match (&self.poison, &self.after) {
            (Some(Error::Poisoned { first, .. }), Some(Error::Poisoned { first: after, .. })) => {
                (first != after || first.status() != Some(code)).then_some("not the first cause")
            }
            (Some(_), _) => Some("a lost context still works"),
            (None, Some(_)) => Some("an error without a cause"),
            (None, None) => None,
        }
    }

    /// For the table.
    pub(crate) fn word(&self, destroyer: bool) -> &'static str {
        match (&self.error, &self.poison) {
            (Some(_), Some(_)) => "lost",
            (Some(_), None) => "error",
            (None, Some(_)) => "lost-quietly",
            (None, None) if destroyer => "kept",
            (None, None) => "absorbed",
        }
    }
}

/// What a failed call of a destroying function may leave: the thing it did not destroy.
pub(crate) fn may_remain(function: SymbolId) -> Option<fn(&Usage) -> bool> {
    // A pool lives as long as a block of it; a context takes all with it.
    match function {
        id::cuStreamDestroy_v2 => Some(|u| Usage { streams: 0, ..*u }.is_empty() && u.streams <= 1),
        id::cuEventDestroy_v2 => Some(|u| Usage { events: 0, ..*u }.is_empty() && u.events <= 1),
        id::cuModuleUnload => Some(|u| Usage { modules: 0, ..*u }.is_empty() && u.modules <= 1),
        id::cuMemPoolDestroy => Some(|u| Usage { pools: 0, ..*u }.is_empty() && u.pools <= 1),
        id::cuMemFreeAsync | id::cuMemFree_v2 => Some(|u| {
            Usage {
                device_allocations: 0,
                device_bytes: 0,
                pools: 0,
                ..*u
            }
            .is_empty()
                && u.device_allocations <= 1
                && u.pools <= 1
        }),
        id::cuMemFreeHost => Some(|u| {
            Usage {
                host_allocations: 0,
                host_bytes: 0,
                ..*u
            }
            .is_empty()
                && u.host_allocations <= 1
        }),
        id::cuCtxDestroy_v2 | id::cuDevicePrimaryCtxRelease_v2 => {
            Some(|u| Usage { contexts: 0, ..*u }.is_empty() && u.contexts <= 1)
        }
        _ => None,
    }
}

/// Whether a failed call of this function may go unreported: cleanup, which has nobody to
/// tell, and waits that are made again.
pub(crate) fn may_absorb(function: SymbolId, code: CUresult) -> bool {
    // An answer rather than a failure.
    let query = [id::cuStreamQuery, id::cuEventQuery].contains(&function)
        && code == CUresult::CUDA_ERROR_NOT_READY;
    // Asked again after unused memory was given back.
    let allocation = [id::cuMemAllocFromPoolAsync, id::cuMemAlloc_v2].contains(&function)
        && code == CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    let cleanup = [
        // Set for cleanup, and set again when that fails.
        id::cuCtxSetCurrent,
        // Takes a created context off the thread; the next operation sets its own.
        id::cuCtxPopCurrent_v2,
        // Before a module is unloaded, and when pinned memory is dropped: tried three times.
        id::cuCtxSynchronize,
        id::cuEventSynchronize,
        id::cuStreamSynchronize,
        // Order a free behind other streams: tried twice, then waited for on the host.
        id::cuEventCreate,
        id::cuEventRecord,
        id::cuStreamWaitEvent,
    ];
    query || allocation || cleanup.contains(&function)
}

/// Opens a device, makes one of everything, uses it, and drops it all.
pub(crate) fn scenario(driver: Driver) -> Outcome {
    let mut outcome = Outcome::default();
    let execution = match ExecutionManager::new(driver) {
        Ok(execution) => execution,
        Err(error) => {
            outcome.error = Some(error);
            return outcome;
        }
    };
    let watch = execution.watch();
    let opened = open(&execution);
    match opened {
        Ok((context, info)) => {
            outcome.error = work(&context, &info).err();
            outcome.poison = context.poison();
            if outcome.poison.is_some() {
                outcome.after = context.streams().create(Default::default()).err();
            }
        }
        Err(error) => outcome.error = Some(error),
    }
    drop(execution);
    outcome.live = watch.live();
    outcome
}

fn open(execution: &ExecutionManager) -> Result<(Context, DeviceInfo), Error> {
    let device = execution.devices().get(0)?;
    let info = device.info()?.clone();
    let own = device.contexts().create(Default::default())?;
    own.streams().create(Default::default())?;
    device.contexts().release(own.handle())?;
    drop(own);
    Ok((device.primary()?, info))
}

fn work(context: &Context, info: &DeviceInfo) -> Result<(), Error> {
    drop(context.enter()?);
    context.memory_info()?;
    context.streams().priorities()?;
    let stream = context.streams().create(Default::default())?;
    let other = context.streams().create(Default::default())?;
    let (start, end) = (
        context.events().create(EventConfig::timing())?,
        context.events().create(EventConfig::timing())?,
    );
    let pool = context.memory_pool(PoolConfig::limit(1 << 20))?;
    let mut pinned = context.buffers().pinned::<u32>(64)?;
    let mut x = pool.allocate::<u32>(64, &stream)?;
    let mut y = pool.allocate::<u32>(64, &stream)?;

    ops::record(&start, &stream)?;
    ops::fill(&mut x, 3, &stream)?;
    ops::zero(&mut y, &stream)?;
    launch(context, &stream, &x, &mut y)?;
    launch_each(context, info, &pool, &stream)?;
    ops::host_function(&stream, || {})?;
    ops::record(&end, &stream)?;
    ops::wait(&other, &end)?;
    ops::copy_to_host(&y, &mut pinned, &other)?;
    pinned.as_slice()?;
    ops::copy_to_device(&pinned, &mut y, &stream)?;
    ops::copy(&y, &mut x, &stream)?;
    ops::query(&stream)?;
    ops::query_event(&end)?;
    ops::synchronize_event(&end)?;
    ops::elapsed(&start, &end)?;
    let mut back = [0; 64];
    ops::read(&x, &mut back, &stream)?;
    ops::write(&mut y, &back, &other)?;
    pool.usage()?;
    y.free().map_err(|(_, error)| error)?;
    context.events().release(start.handle())?;
    drop(start);

    let mut pipeline = Pipeline::<u32, u32, 2>::with_slots(
        context,
        &pool,
        PipelineConfig::new(64, 64).measured(),
    )?;
    let (mut filled, mut seen) = (0, 0);
    pipeline.run::<Error>(
        |input| {
            input.fill(filled);
            filled += 1;
            Ok((filled <= 4).then_some(64))
        },
        |step| ops::copy(step.input, step.output, step.stream),
        |_, output| {
            assert_eq!(output, [seen; 64]);
            seen += 1;
            Ok(())
        },
    )?;
    assert_eq!(seen, 4, "success, but not of every item");
    pool.trim()
}

/// `y[i] = 2 * x[i] + y[i]`, with the words taken as floats.
fn launch(
    context: &Context,
    stream: &Stream,
    x: &Buffer<u32>,
    y: &mut Buffer<u32>,
) -> Result<(), Error> {
    let file = cupola_kernels::Embedded::with_entry("cupola_saxpy").expect("an embedded kernel");
    let module = context.modules().load_ptx(file.ptx())?;
    let saxpy = module.function("cupola_saxpy")?;
    let arguments = (64u64, 2.0f32, x, y);
    // SAFETY: 64 words each, which are floats to the kernel.
    unsafe { ops::launch(&saxpy, LaunchConfig::linear(1, 64), arguments, stream) }?;
    context.modules().release(module.handle())
}

/// Loads the embedded kernels, and launches each once, as the command line does.
fn launch_each(
    context: &Context,
    info: &DeviceInfo,
    pool: &MemoryPool,
    stream: &Stream,
) -> Result<(), Error> {
    let kernels = Kernels::load(context, info)?;
    let mut bytes = pool.allocate::<u8>(256, stream)?;
    let mut words = pool.allocate::<u32>(1, stream)?;
    let mut long = pool.allocate::<u64>(256, stream)?;
    let mut floats = pool.allocate::<f32>(64, stream)?;
    let mut scaled = pool.allocate::<f32>(64, stream)?;
    ops::zero(&mut long, stream)?;
    ops::zero(&mut floats, stream)?;
    kernels.stamp(&mut bytes, 1, stream)?;
    kernels.check(&bytes, 1, long.slice_mut(..1)?, stream)?;
    kernels.histogram(&bytes, &mut long, stream)?;
    kernels.crc32(&bytes, &mut words, stream)?;
    kernels.scale(2.0, &floats, &mut scaled, stream)?;
    kernels.saxpy(2.0, &scaled, &mut floats, stream)?;
    let mut scratch = pool.allocate::<f32>(64, stream)?;
    kernels.reduce_sum(&floats, &mut scratch, scaled.slice_mut(..1)?, stream)?;
    let mut scratch = pool.allocate::<u64>(256, stream)?;
    let mut sum = pool.allocate::<u64>(1, stream)?;
    kernels.reduce_sum(&long, &mut scratch, &mut sum, stream)
}

/// Ends the process when a case takes a minute: a hang is a failure, not a wait.
pub(crate) struct Watchdog {
    state: Arc<Mutex<(String, Instant)>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    pub(crate) fn start() -> Self {
        let state = Arc::new(Mutex::new((String::from("the start"), Instant::now())));
        let stop = Arc::new(AtomicBool::new(false));
        let (seen, stopped) = (Arc::clone(&state), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                std::thread::park_timeout(Duration::from_millis(500));
                let (case, since) = seen.lock().expect("nobody panics here").clone();
                if since.elapsed() > Duration::from_secs(60) {
                    eprintln!("hangs: {case}");
                    std::process::abort();
                }
            }
        });
        Self {
            state,
            stop,
            thread: Some(thread),
        }
    }

    pub(crate) fn enter(&self, case: &str) {
        *self.state.lock().expect("nobody panics here") = (case.into(), Instant::now());
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}
