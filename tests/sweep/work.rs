//! Work on a device, from opening it to the last download: one of everything that puts work on
//! streams.

use cupola_kernels::Kernels;
use cupola_kernels::ops::ReduceScratch;
use cupola_managers::event::EventConfig;
use cupola_managers::managed::{ManagedConfig, ManagedContext};
use cupola_managers::ops::{self, In, InOut, Kernel, LaunchConfig};
use cupola_managers::pipeline::{CopyThreads, Pipeline, PipelineConfig, Step};
use cupola_managers::pool::PoolConfig;
use cupola_managers::stream::{StreamPool, StreamPoolConfig};
use cupola_managers::{
    Buffer, Context, CopyConfig, Device, DeviceInfo, Error, GreenConfig, MemoryPool, Stream,
};
use cupola_testing::Stage;
use cupola_testing::sweep::Outcome;

/// Opens a device, makes one of everything, uses it, and drops it all.
pub(crate) fn work(stage: &Stage) -> Outcome {
    let device = stage.device()?;
    let info = device.info()?.clone();
    let own = device.contexts().create(Default::default())?;
    own.streams().create(Default::default())?;
    device.contexts().release(own.handle())?;
    drop(own);
    part(&device)?;
    Ok(orders(&stage.context()?, &info)?)
}

/// Parts the device, and works in both parts.
fn part(device: &Device) -> Result<(), Error> {
    let contexts = device.contexts();
    let parts = match contexts.green_split(2, GreenConfig::at_least(1)) {
        Err(Error::Unsupported { .. }) => return Ok(()),
        parts => parts?,
    };
    for part in &parts {
        contexts.release(part.handle())?;
    }
    let streams = [
        parts[0].streams().create(Default::default())?,
        parts[1].streams().create(Default::default())?,
    ];
    ops::order(&streams[0], &streams[1])?;
    ops::synchronize(&streams[1])
}

fn orders(context: &Context, info: &DeviceInfo) -> Result<(), Error> {
    drop(context.enter()?);
    context.memory_info()?;
    context.streams().priorities()?;
    let stream = context.streams().create(Default::default())?;
    let other = context.streams().create(Default::default())?;
    let (start, end) = (
        context.events().create(EventConfig::timing())?,
        context.events().create(EventConfig::timing())?,
    );
    let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    let mut pinned = context.buffers().pinned::<u32>(64)?;
    let mut x = pool.allocate::<u32>(64, &stream)?;
    let mut y = pool.allocate::<u32>(64, &stream)?;

    ops::record(&start, &stream)?;
    let filled = ops::fill(&mut x, 3, &stream);
    tainted(filled, || x.taint())?;
    let zeroed = ops::zero(&mut y, &stream);
    tainted(zeroed, || y.taint())?;
    launch(context, &stream, &x, &mut y)?;
    launch_each(context, info, &pool, &stream)?;
    ops::host_function(&stream, || {})?;
    ops::record(&end, &stream)?;
    ops::wait(&other, &end)?;
    let copied = ops::copy_to_host(&y, &mut pinned, &other);
    tainted(copied, || pinned.taint())?;
    pinned.as_slice()?;
    let copied = ops::copy_to_device(&pinned, &mut y, &stream);
    tainted(copied, || y.taint())?;
    let copied = ops::copy(&y, &mut x, &stream);
    tainted(copied, || x.taint())?;
    ops::query(&stream)?;
    ops::query_event(&end)?;
    ops::synchronize_event(&end)?;
    ops::elapsed(&start, &end)?;
    let mut back = [0; 64];
    ops::read(&x, &mut back, &stream)?;
    let cut = CopyConfig::default().chunk(96).threshold(64);
    context.copies().configure(cut)?;
    let copied = context.copies().copy_to_device(&pinned, &mut y, &other);
    tainted(copied, || y.taint())?;
    let written = ops::write(&mut y, &back, &other);
    tainted(written, || y.taint())?;
    pool.usage()?;
    y.free()?;
    context.events().release(start.handle())?;
    drop(start);

    let config = PipelineConfig::new(64, 64).depth(2).split(1, 2).measured();
    items(context, &pool, config)?;
    steps(context, &pool)?;
    pool.trim().map(drop)
}

/// Items through a pipeline whose downloads a thread puts.
pub(crate) fn by_thread(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    let config = PipelineConfig::new(64, 64).copy_threads(CopyThreads::Always);
    items(&context, &pool, config.depth(2).split(2, 1).measured())?;
    Ok(items(&context, &pool, config)?)
}

/// Four items through a pipeline.
fn items(context: &Context, pool: &MemoryPool, config: PipelineConfig) -> Result<(), Error> {
    let mut pipeline = Pipeline::<u32, u32>::new(context, pool, config)?;
    let (mut filled, mut seen) = (0, 0);
    pipeline.run::<Error>(
        |input| {
            input.fill(filled);
            filled += 1;
            Ok((filled <= 4).then_some(64))
        },
        |step| ops::copy(step.input, step.output, step.stream).map(|()| 64),
        |item| {
            assert_eq!(item.output, [seen; 64]);
            seen += 1;
            Ok(())
        },
    )?;
    assert_eq!(seen, 4, "success, but not of every item");
    Ok(())
}

/// Steps of a managed context, of which some are waited for later, and a lease of a pool of streams.
fn steps(context: &Context, pool: &MemoryPool) -> Result<(), Error> {
    let config = ManagedConfig::new(8, 8).asynchronous();
    let kernel =
        |step: Step<'_, u32, u32>| ops::copy(step.input, step.output, step.stream).map(|()| 8);
    let mut managed = ManagedContext::new(context, pool, config, kernel)?;
    let first = managed.step(&[1; 8])?;
    managed.triple_buffered_step(&[2; 8])?;
    let streams = StreamPool::new(context, StreamPoolConfig::new(1))?;
    for _ in 0..2 {
        ops::host_function(&*streams.lease()?, || {})?;
    }
    assert_eq!(first.wait()?[..], [1; 8]);
    let mut rest = 0;
    managed.drain(|telemetry| {
        assert_eq!(telemetry[..], [2; 8]);
        rest += 1;
        Ok(())
    })?;
    assert_eq!(rest, 1, "success, but not of every step");
    Ok(())
}

/// After an error of the driver that the context survives the memory that was to be written says so,
/// whichever call of the operation it was.
fn tainted(
    written: Result<(), Error>,
    taint: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    if let Err(error) = &written
        && error.cause().is_some()
        && !error.is_sticky()
    {
        let Err(Error::Tainted { first }) = taint() else {
            panic!("the memory could be read in spite of {error}");
        };
        assert_eq!(Some(&*first), error.cause());
    }
    written
}

/// `y[i] = 2 * x[i] + y[i]`, with the words taken as floats.
pub(crate) fn launch(
    context: &Context,
    stream: &Stream,
    x: &Buffer<u32>,
    y: &mut Buffer<u32>,
) -> Result<(), Error> {
    let file = cupola_kernels::Embedded::with_entry("cupola_saxpy").expect("an embedded kernel");
    let module = context.modules().load_ptx(file.ptx())?;
    let saxpy = module.function("cupola_saxpy")?;
    let arguments = (64u64, 2.0f32, x, &mut *y);
    // SAFETY: 64 words each, which are floats to the kernel.
    let launched = unsafe { ops::launch(&saxpy, LaunchConfig::linear(1, 64), arguments, stream) };
    tainted(launched, || y.taint())?;
    // SAFETY: saxpy(unsigned long, float, const float *, float *), whose floats are words here.
    let typed = unsafe { Kernel::<(u64, f32, In<u32>, InOut<u32>)>::new(saxpy) }?;
    // How much shared memory the kernel may have is asked.
    let config = LaunchConfig {
        shared_bytes: 64,
        ..LaunchConfig::linear(1, 64)
    };
    // SAFETY: it touches no element of none.
    let launched = unsafe { typed.launch(config, (0, 2.0, x, &mut *y), stream) };
    tainted(launched, || y.taint())?;
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
    let mut scratch = ReduceScratch::new(pool, stream)?;
    kernels.reduce_sum(&floats, &mut scratch, scaled.slice_mut(..1)?, stream)?;
    let mut sum = pool.allocate::<u64>(1, stream)?;
    kernels.reduce_sum(&long, &mut scratch, &mut sum, stream)?;
    // Another stream waits for the last use of the scratch memory.
    let other = context.streams().create(Default::default())?;
    kernels.reduce_sum(&long, &mut scratch, &mut sum, &other)
}
