//! The managers' own doings: lives of streams and events, contexts of every kind, functions by
//! handle, shutting down and configuring again.

use std::ptr;
use std::sync::Arc;

use cupola_managers::event::EventConfig;
use cupola_managers::module::{LinkConfig, LinkPiece, PieceKind};
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::pool::PoolConfig;
use cupola_managers::stream::StreamConfig;
use cupola_managers::{
    Context, Device, Error, ExecutionConfig, GreenConfig, RuntimeContext, ShutdownReport,
    StreamPurpose,
};
use cupola_sys::driver::{CUcontext, Driver, DriverError};
use cupola_testing::Stage;
use cupola_testing::sweep::Outcome;

pub(crate) fn lifecycle(stage: &Stage) -> Outcome {
    let execution = stage.execution();
    let device = stage.device()?;
    let context = stage.context()?;
    recycle(&context)?;
    functions(&context)?;
    link(&context)?;
    runtime(&context)?;
    checked(&context)?;

    let own = device.contexts().create(Default::default())?;
    stage.keep(&own);
    use_once(&own)?;
    device.contexts().release(own.handle())?;
    drop(own);
    green(stage, &device)?;
    borrowed(stage, &device)?;

    // Everything goes while a stream, an event and memory are leased, and comes again.
    let stream = context.streams().acquire(StreamConfig::default())?;
    let event = context.events().acquire(EventConfig::default())?;
    let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    let mut bytes = pool.allocate::<u8>(64, &stream)?;
    ops::zero(&mut bytes, &stream)?;
    ops::record(&event, &stream)?;
    told(execution.shutdown())?;
    ops::synchronize_event(&event)?;
    drop((bytes, event, stream, pool, context, device));
    execution.configure(ExecutionConfig::default())?;
    use_once(&stage.context()?)?;
    told(execution.shutdown())?;
    Ok(())
}

/// What the driver refused to destroy.
fn told(report: ShutdownReport) -> Result<(), Error> {
    report.errors.into_iter().next().map_or(Ok(()), Err)
}

fn use_once(context: &Context) -> Result<(), Error> {
    let stream = context.streams().acquire(StreamConfig::default())?;
    let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    let mut words = pool.allocate::<u32>(64, &stream)?;
    ops::fill(&mut words, 7, &stream)?;
    let mut back = [0; 64];
    ops::read(&words, &mut back, &stream)?;
    assert_eq!(back, [7; 64], "success, but not of the work");
    Ok(())
}

/// Streams and events from life to life.
fn recycle(context: &Context) -> Result<(), Error> {
    let (streams, events) = (context.streams(), context.events());
    let low = StreamConfig::priority(streams.priorities()?.0);
    for _ in 0..2 {
        let (one, other) = (
            streams.acquire(StreamConfig::default())?,
            streams.acquire(low)?,
        );
        let event = events.acquire(EventConfig::timing())?;
        ops::record(&event, &one)?;
        ops::wait(&other, &event)?;
        ops::synchronize(&other)?;
    }
    let kept = streams.create_held(StreamConfig::default())?;
    let handle = kept.handle();
    drop(kept);
    ops::order(
        &streams.lease(handle)?,
        &streams.shared(StreamPurpose::ConfigUpload)?,
    )?;
    streams.release(handle)?;
    ops::synchronize(&streams.legacy_default()?)?;
    streams.trim(1)?;
    events.trim(0)?;
    let leased = streams.acquire(StreamConfig::default())?;
    told(streams.shutdown())?;
    told(events.shutdown())?;
    ops::synchronize(&leased)?;
    drop(leased);
    streams.configure(Default::default())?;
    events.configure(Default::default())?;
    ops::synchronize(&streams.acquire(StreamConfig::default())?)
}

/// Functions by name and by handle, and modules that are shut down under them.
fn functions(context: &Context) -> Result<(), Error> {
    let file = cupola_kernels::Embedded::with_entry("cupola_saxpy").expect("an embedded kernel");
    let modules = context.modules();
    let module = modules.load_ptx(file.ptx())?;
    let saxpy = modules.function(module.handle(), "cupola_saxpy")?;
    let again = module.functions().lease(saxpy.handle())?;
    module.functions().release(saxpy.handle())?;
    module.functions().get("cupola_saxpy")?;
    let stream = context.streams().acquire(StreamConfig::default())?;
    let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    let mut x = pool.allocate::<f32>(64, &stream)?;
    let mut y = pool.allocate::<f32>(64, &stream)?;
    ops::zero(&mut x, &stream)?;
    ops::zero(&mut y, &stream)?;
    told(modules.shutdown())?;
    let arguments = (64u64, 2.0f32, &x, &mut y);
    // SAFETY: 64 floats each.
    unsafe { ops::launch(&again, LaunchConfig::linear(1, 64), arguments, &stream) }?;
    drop((saxpy, again, module));
    modules.configure(Default::default())
}

/// Two pieces of device code linked, and the binary loaded.
fn link(context: &Context) -> Result<(), Error> {
    const LINE: &str = ".version 7.0\n.target sm_60\n.address_size 64\n";
    let [first, second] =
        ["first", "second"].map(|name| format!("{LINE}.visible .entry {name}() {{ ret; }}\n"));
    let piece = |name, text| LinkPiece {
        name,
        kind: PieceKind::Ptx,
        data: str::as_bytes(text),
    };
    let pieces = [piece("first", &first), piece("second", &second)];
    let linked = context.modules().link(&pieces, &LinkConfig::default())?;
    // SAFETY: a whole image, as the driver made it.
    let module = unsafe { context.modules().load_binary(&linked.image) }?;
    module.function("second")?;
    Ok(())
}

/// A runtime context, and a temporary buffer of it.
fn runtime(context: &Context) -> Result<(), Error> {
    let runtime = RuntimeContext::builder(context)
        .pool_limit(8 << 20)
        .build()?;
    let _entered = runtime.enter();
    let mut scratch = cupola_managers::runtime::scratch::<u32>(64)?;
    ops::zero(&mut scratch, runtime.stream())
}

/// Work with every operation waited for.
fn checked(context: &Context) -> Result<(), Error> {
    context.set_checked(true);
    use_once(context)?;
    context.set_checked(false);
    Ok(())
}

/// Parts of the device, where the driver has them.
fn green(stage: &Stage, device: &Device) -> Result<(), Error> {
    let contexts = device.contexts();
    let part = match contexts.green(GreenConfig::at_least(1)) {
        Err(Error::Unsupported { .. }) => return Ok(()),
        part => part?,
    };
    stage.keep(&part);
    use_once(&part)?;
    told(part.shutdown())?;
    contexts.release(part.handle())
}

/// A context of other code's, which destroys it when no manager needs it any more.
fn borrowed(stage: &Stage, device: &Device) -> Outcome {
    let foreign = Arc::new(Foreign::create(stage.execution().driver(), device)?);
    // SAFETY: it lives as long as the token.
    let context = unsafe { device.contexts().borrow(foreign.raw, foreign.clone()) }?;
    drop(foreign);
    stage.keep(&context);
    use_once(&context)?;
    Ok(device.contexts().release(context.handle())?)
}

struct Foreign {
    raw: CUcontext,
    driver: Driver,
}

// SAFETY: a CUcontext may be used from any thread.
unsafe impl Send for Foreign {}
// SAFETY: as above.
unsafe impl Sync for Foreign {}

impl Foreign {
    fn create(driver: &Driver, device: &Device) -> Result<Self, DriverError> {
        let (mut raw, mut popped): (CUcontext, CUcontext) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: `raw` outlives the call.
        unsafe { driver.cuCtxCreate_v2(&raw mut raw, 0, device.as_raw()) }?;
        let driver = driver.clone();
        let foreign = Self { raw, driver };
        // SAFETY: `popped` outlives the call.
        unsafe { foreign.driver.cuCtxPopCurrent_v2(&raw mut popped) }?;
        Ok(foreign)
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        // SAFETY: created here, and everything of cupola's in it is gone.
        let _ = unsafe { self.driver.cuCtxDestroy_v2(self.raw) };
    }
}
