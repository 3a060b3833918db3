//! Errors say where the caller is: file and line, device, stream, function, code, remedy.
//!
//! Each row makes the driver function behind an operation fail, on the software device.

#[path = "../src/test_bench.rs"]
mod test_bench;

use cupola_managers::context::Waiting;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::pipeline::{Pipeline, PipelineConfig};
use cupola_managers::pool::{DeviceLimit, Source};
use cupola_managers::runtime::RuntimeContext;
use cupola_managers::tensor::{Im2col, Im2colWide, TensorMap, Tiling, WideColumn};
use cupola_managers::{
    Context, Device, Error, ExecutionManager, MemoryPool, PoolConfig, Result, Stream,
};
use cupola_managers::{EventConfig, ExecutionConfig, ShutdownReport, StreamConfig};
use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;
use cupola_sys::driver::{CUresult, SYMBOLS, id};
use cupola_sys::{SymbolId, Version};

use test_bench::TestBench;

/// Not sticky, and special to no operation.
const CODE: CUresult = CUresult::CUDA_ERROR_OPERATING_SYSTEM;

const PTX: &str = ".version 6.0\n.target sm_60\n.address_size 64\n\
    .visible .entry store(.param .u64 to, .param .u32 value) {\n\
    .reg .b32 %r1;\n.reg .b64 %rd1;\n\
    ld.param.u64 %rd1, [to];\nld.param.u32 %r1, [value];\n\
    cvta.to.global.u64 %rd1, %rd1;\nst.global.u32 [%rd1], %r1;\nret;\n}\n";

struct Bench {
    table: FaultTable,
    execution: ExecutionManager,
    device: Device,
    context: Context,
    stream: Stream,
    other: Stream,
}

impl Bench {
    fn new(version: Version) -> Self {
        let base = TestBench::on(Machine::builder().driver_version(version));
        Self {
            stream: base.stream(),
            other: base.stream(),
            device: base.execution.devices().get(0).unwrap(),
            table: base.faults,
            execution: base.execution,
            context: base.context,
        }
    }

    fn arm(&self, function: SymbolId) {
        self.table
            .fail(function, self.table.count(function) + 1, CODE);
    }
}

/// Asserts all that an error has to say.
#[track_caller]
fn says<T>(
    line: u32,
    function: SymbolId,
    device: bool,
    stream: Option<&Stream>,
    result: Result<T>,
) {
    let name = SYMBOLS[usize::from(function.0)].as_str();
    let Err(error) = result else {
        panic!("line {line}: {name} failed, and the error was not returned");
    };
    let cause = error
        .cause()
        .unwrap_or_else(|| panic!("line {line}: {error}"));
    assert_eq!(cause.call.symbol().as_str(), name, "line {line}");
    assert_eq!(error.status(), Some(CODE), "line {line}");
    let place = error.location().unwrap();
    let told = (place.file(), place.line());
    assert_eq!(told, (file!(), line), "{name}: {error}");
    assert_eq!(cause.site.device, device.then_some(0), "line {line}");
    assert_eq!(cause.site.stream, stream.map(Stream::handle), "line {line}");
    let text = error.to_string();
    for part in [
        name,
        "CUDA_ERROR_OPERATING_SYSTEM",
        error.advice().unwrap(),
        &format!("{}:{line}:", file!()),
    ] {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
    assert_eq!(text.contains("device 0"), device, "{text}");
    if let Some(stream) = stream {
        assert!(text.contains(&format!("{:?}", stream.handle())), "{text}");
    }
}

/// One row: function, stream if one is involved, operation. `line!()` is the row's.
macro_rules! row {
    ($bench:ident, $function:ident, $operation:expr) => {{
        $bench.arm(id::$function);
        says(line!(), id::$function, true, None, $operation.map(drop));
    }};
    ($bench:ident, $function:ident on $stream:expr, $operation:expr) => {{
        $bench.arm(id::$function);
        says(
            line!(),
            id::$function,
            true,
            Some($stream),
            $operation.map(drop),
        );
    }};
}

// Without it an error could name a line of this crate, which tells its user nothing.
#[test]
#[rustfmt::skip]
fn every_operation_names_its_caller() {
    let b = Bench::new(Version::new(13, 0));
    let (context, s, t) = (&b.context, &b.stream, &b.other);
    let (streams, events) = (context.streams(), context.events());

    row!(b, cuStreamCreateWithPriority, streams.create(StreamConfig::default()));
    row!(b, cuStreamCreateWithPriority, streams.acquire(StreamConfig::default()));
    row!(b, cuStreamCreateWithPriority, streams.shared(cupola_managers::StreamPurpose::KernelExecution));
    row!(b, cuCtxGetStreamPriorityRange, streams.priorities());
    row!(b, cuEventCreate, events.create(EventConfig::timing()));
    row!(b, cuEventCreate, events.acquire(EventConfig::timing()));
    row!(b, cuMemGetInfo_v2, context.memory_info());
    row!(b, cuMemGetAllocationGranularity, RuntimeContext::builder(context).pool_limit(64).build());
    row!(b, cuStreamCreateWithPriority, RuntimeContext::builder(context).pool_limit(64).build());
    row!(b, cuCtxGetCurrent, context.memory_info());
    // SAFETY: no context is always allowed.
    unsafe { b.execution.driver().cuCtxSetCurrent(std::ptr::null_mut()) }.unwrap();
    row!(b, cuCtxSetCurrent, context.memory_info());
    row!(b, cuCtxSetCurrent, streams.create(StreamConfig::default()));
    row!(b, cuCtxSetCurrent, events.create(EventConfig::default()));
    row!(b, cuCtxGetCurrent, context.enter());
    row!(b, cuCtxPushCurrent_v2, context.enter());
    row!(b, cuCtxCreate_v2, b.device.contexts().create(Waiting::Auto));

    let (event, start) = (events.create(EventConfig::timing()).unwrap(), events.create(EventConfig::timing()).unwrap());
    row!(b, cuEventRecord on s, ops::record(&event, s));
    ops::record(&start, s).unwrap();
    ops::record(&event, s).unwrap();
    row!(b, cuStreamWaitEvent on t, ops::wait(t, &event));
    row!(b, cuEventCreate, ops::order(s, t));
    row!(b, cuEventRecord on s, ops::order(s, t));
    row!(b, cuStreamWaitEvent on t, ops::order(s, t));
    row!(b, cuStreamSynchronize on s, ops::synchronize(s));
    row!(b, cuStreamQuery on s, ops::query(s));
    row!(b, cuEventSynchronize, ops::synchronize_event(&event));
    row!(b, cuEventQuery, ops::query_event(&event));
    row!(b, cuEventElapsedTime, ops::elapsed(&start, &event));
    row!(b, cuLaunchHostFunc on s, ops::host_function(s, || ()));

    row!(b, cuMemGetAllocationGranularity, context.memory_pool(PoolConfig::limit(8 << 20)));
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    pages(&b, &pool);
    row!(b, cuMemHostAlloc, context.buffers().pinned::<u32>(8));

    // Others have had its memory before: a second stream has to wait for them.
    drop(pool.allocate::<u32>(8, s).unwrap());
    let mut buffer = pool.allocate::<u32>(8, s).unwrap();
    let second = pool.allocate::<u32>(8, s).unwrap();
    let mut pinned = context.buffers().pinned::<u32>(8).unwrap();
    row!(b, cuStreamWaitEvent on t, buffer.used_on(t));
    row!(b, cuMemsetD32Async on s, ops::fill(&mut buffer, 1, s));
    row!(b, cuMemsetD8Async on s, ops::zero(&mut buffer, s));
    row!(b, cuMemsetD8Async on s, ops::set_bytes(&mut buffer, 1, s));
    row!(b, cuMemcpyDtoDAsync_v2 on s, ops::copy(&second, &mut buffer, s));
    row!(b, cuMemcpyHtoDAsync_v2 on s, ops::copy_to_device(&pinned, &mut buffer, s));
    buffer.clear_taint();
    row!(b, cuMemcpyDtoHAsync_v2 on s, ops::copy_to_host(&buffer, &mut pinned, s));
    row!(b, cuEventRecord on s, ops::copy_to_host(&buffer, &mut pinned, s));
    ops::copy_to_host(&buffer, &mut pinned, s).unwrap();
    row!(b, cuEventSynchronize, pinned.as_slice());
    ops::copy_to_host(&buffer, &mut pinned, s).unwrap();
    row!(b, cuEventSynchronize, pinned.as_mut_slice());
    row!(b, cuStreamIsCapturing on s, ops::write(&mut buffer, &[0; 8], s));
    row!(b, cuMemcpyHtoDAsync_v2 on s, ops::write(&mut buffer, &[0; 8], s));
    row!(b, cuEventSynchronize on s, ops::write(&mut buffer, &[0; 8], s));
    buffer.clear_taint();
    row!(b, cuMemcpyDtoHAsync_v2 on s, ops::read(&buffer, &mut [0; 8], s));
    row!(b, cuEventSynchronize on s, ops::read(&buffer, &mut [0; 8], s));
    second.used_on(t).unwrap();
    let graph = pool.graph_memory(s).unwrap();
    row!(b, cuEventRecord on t, second.free().map_err(Error::from));
    drop(graph);

    let words = buffer.view();
    row!(b, cuTensorMapEncodeTiled, TensorMap::tiled(context, words, Tiling::new([8], [8])));
    row!(b, cuTensorMapEncodeIm2col, TensorMap::im2col(context, words, Im2col::new([4, 2, 1], 4, 1)));
    row!(b, cuTensorMapEncodeIm2colWide, TensorMap::im2col_wide(context, words, Im2colWide::new([4, 2, 1], 4, WideColumn::W128)));

    let modules = context.modules();
    row!(b, cuModuleLoadDataEx, modules.load_ptx(PTX));
    let module = modules.load_ptx_held(PTX).unwrap();
    row!(b, cuModuleGetFunction, module.function("store"));
    row!(b, cuFuncGetAttribute, module.function("store"));
    row!(b, cuFuncGetParamInfo, modules.function(module.handle(), "store"));
    let store = module.function("store").unwrap();
    let one = LaunchConfig::linear(1, 1);
    // SAFETY: the kernel writes one word of the buffer.
    row!(b, cuLaunchKernel on s, unsafe { ops::launch(&store, one, (&mut buffer, 7u32), s) });
    // SAFETY: as above.
    row!(b, cuStreamWaitEvent on t, unsafe { ops::launch(&store, one, (&mut buffer, 7u32), t) });
    let handle = module.handle();
    drop((store, module));
    row!(b, cuModuleUnload, modules.release(handle));

    let config = PipelineConfig::new(8, 8);
    row!(b, cuMemHostAlloc, Pipeline::<u32, u32>::new(context, &pool, config));
    row!(b, cuEventCreate, Pipeline::<u32, u32>::new(context, &pool, config.measured()));
    let mut pipeline = Pipeline::<u32, u32>::new(context, &pool, config).unwrap();
    let mut run = move |left: &mut u32| {
        *left = 1;
        pipeline.run::<Error>(|input| { *left += 1; Ok((*left == 2).then_some(input.len())) }, |step| ops::copy(step.input, step.output, step.stream).map(|()| 8), |_| Ok(())).map(drop)
    };
    b.arm(id::cuMemcpyHtoDAsync_v2);
    let error = run(&mut 0).unwrap_err();
    assert_eq!(error.error.location().map(std::panic::Location::file), Some(file!()), "{error}");
    let mut pipeline = Pipeline::<u32, u32>::new(context, &pool, config).unwrap();
    b.arm(id::cuMemcpyHtoDAsync_v2);
    let error = pipeline.try_input().unwrap().submit::<Error>(8, |_| Ok(0)).unwrap_err();
    assert_eq!(error.error.location().map(std::panic::Location::file), Some(file!()), "{error}");
    pipeline.try_input().unwrap().submit::<Error>(8, |_| Ok(0)).unwrap();
    row!(b, cuEventQuery, pipeline.try_output().map(drop).map_err(Error::from));
    row!(b, cuEventSynchronize, pipeline.output().map(drop).map_err(Error::from));
    drop(pipeline);

    let raw = streams.create_held(StreamConfig { priority: 0, blocking: true }).unwrap().handle();
    streams.release(raw).unwrap();
    row!(b, cuStreamDestroy_v2, streams.trim(0));
    drop((event, start));
    for handle in events.handles() { events.release(handle).unwrap(); }
    row!(b, cuEventDestroy_v2, events.trim(0));
}

// Without it the paths that only older drivers get could lose the caller.
#[test]
#[rustfmt::skip]
fn operations_on_older_drivers_name_their_caller() {
    let b = Bench::new(Version::new(11, 1));
    row!(b, cuDeviceGetUuid, b.device.info());
    row!(b, cuDeviceGetName, b.device.info());
}

// Without it an allocation, or what gives memory back, could name a line of the pool.
#[rustfmt::skip]
fn pages(b: &Bench, pool: &MemoryPool) {
    let (s, t) = (&b.stream, &b.other);
    row!(b, cuMemGetInfo_v2, pool.allocate::<u32>(8, s));
    // Fewer addresses are tried before that is an error.
    b.table.fail_from(id::cuMemAddressReserve, 1, CODE);
    says(line!(), id::cuMemAddressReserve, true, None, pool.allocate::<u32>(8, s));
    b.table.reset();
    row!(b, cuMemCreate, pool.allocate_raw(8, 1, s));
    row!(b, cuMemMap, pool.allocate_named::<u32>("words", 8, s));
    row!(b, cuMemSetAccess, pool.allocate_raw_named("bytes", 8, 1, s));
    row!(b, cuMemGetInfo_v2, pool.usage());
    row!(b, cuMemGetInfo_v2, pool.available());
    let free = || drop(pool.allocate::<u8>(6 << 20, s).unwrap());
    free();
    row!(b, cuStreamIsCapturing, pool.trim());
    b.context.events().trim(0).unwrap();
    row!(b, cuEventCreate, pool.trim());
    row!(b, cuEventRecord, pool.trim());
    free();
    row!(b, cuEventQuery, pool.trim());
    row!(b, cuMemUnmap, pool.trim());
    row!(b, cuMemRelease, pool.trim());
    free();
    row!(b, cuMemUnmap, pool.set_limit(4 << 20));
    row!(b, cuMemRelease, pool.set_limit(2 << 20));
    pool.set_limit(8 << 20).unwrap();
    // What this stream has not finished is lent to the other, which waits.
    let (hold, held) = std::sync::mpsc::channel::<()>();
    ops::host_function(s, move || { let _ = held.recv(); }).unwrap();
    drop(pool.allocate::<u8>(8 << 20, s).unwrap());
    row!(b, cuStreamWaitEvent on t, pool.allocate::<u8>(8 << 20, t));
    drop(hold);
    ops::synchronize(s).unwrap();
    pool.trim().unwrap();
}

// Without it the loss of a context in a pool that was asked for memory would be put down to a line
// of this crate, and not to the request that asked.
#[test]
fn a_loss_in_a_neighbour_names_the_request() {
    let b = Bench::new(Version::new(13, 0));
    let limit = DeviceLimit::new(4 << 20);
    let config = PoolConfig::limit(4 << 20).within(&limit);
    let pool = || b.context.memory_pool(config.clone()).unwrap();
    let (idle, asking) = (pool(), pool());
    drop(idle.allocate::<u8>(4 << 20, &b.stream).unwrap());
    ops::synchronize(&b.stream).unwrap();
    let next = b.table.count(id::cuMemUnmap) + 1;
    b.table
        .fail(id::cuMemUnmap, next, CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    let (line, asked) = (line!(), asking.allocate::<u8>(4 << 20, &b.stream));
    assert!(matches!(asked, Err(Error::Poisoned { .. })), "{asked:?}");
    let lost = b.context.poison().unwrap();
    let place = lost.location().unwrap();
    assert_eq!((place.file(), place.line()), (file!(), line), "{lost}");
}

// Without it the paths without virtual memory management could lose the caller.
#[test]
#[rustfmt::skip]
fn pools_of_chunks_name_their_caller() {
    let b = Bench::new(Version::new(13, 0));
    let (context, s) = (&b.context, &b.stream);
    let mut config = PoolConfig::limit(64 << 20);
    config.source = Source::Chunks;
    let pool = context.memory_pool(config).unwrap();
    row!(b, cuMemAlloc_v2, pool.allocate::<u32>(8, s));
    drop(pool.allocate::<u32>(8, s).unwrap());
    row!(b, cuMemFree_v2, pool.trim());
    row!(b, cuMemFree_v2, pool.set_limit(0));
}

// Without it what fails before there is a device or a context could name no place.
#[test]
#[rustfmt::skip]
fn the_way_to_a_context_names_its_caller() {
    let machine = Machine::builder().build();
    let table = FaultTable::new(machine.driver());
    table.fail(id::cuInit, 1, CODE);
    says(line!(), id::cuInit, false, None, ExecutionManager::new(table.driver()));
    table.fail(id::cuDeviceGetCount, 1, CODE);
    says(line!(), id::cuDeviceGetCount, false, None, ExecutionManager::new(table.driver()));
    let execution = ExecutionManager::new(table.driver()).unwrap();
    table.fail_from(id::cuDeviceGet, 1, CODE);
    says(line!(), id::cuDeviceGet, true, None, execution.devices().get(0));
    says(line!(), id::cuDeviceGet, true, None, execution.devices().iter().next().unwrap());
    table.reset();
    let device = execution.devices().get(0).unwrap();
    table.fail(id::cuDevicePrimaryCtxRetain, 1, CODE);
    says(line!(), id::cuDevicePrimaryCtxRetain, true, None, device.primary());
}

/// The first error of a shutdown.
fn first(report: ShutdownReport) -> Result<()> {
    report.errors.into_iter().next().map_or(Ok(()), Err)
}

// Without it what a shutdown could not destroy would be put down to a line of this crate.
#[test]
#[rustfmt::skip]
fn shutdowns_of_every_level_name_their_caller() {
    let b = Bench::new(Version::new(13, 0));
    let (context, execution) = (&b.context, &b.execution);
    let ready = ExecutionConfig::default();
    let idle = || drop(context.streams().acquire(StreamConfig { priority: 0, blocking: true }).unwrap());
    let event = || drop(context.events().acquire(EventConfig::timing()).unwrap());
    idle();
    row!(b, cuStreamDestroy_v2, first(context.streams().shutdown()));
    context.streams().configure(ready.contexts.streams).unwrap();
    event();
    row!(b, cuEventDestroy_v2, first(context.events().shutdown()));
    context.events().configure(ready.contexts.events).unwrap();
    idle();
    row!(b, cuStreamDestroy_v2, first(context.shutdown()));
    context.streams().configure(ready.contexts.streams).unwrap();
    context.events().configure(ready.contexts.events).unwrap();
    context.modules().configure(ready.contexts.modules).unwrap();
    context.modules().load_ptx_held(PTX).unwrap();
    row!(b, cuModuleUnload, first(context.modules().shutdown()));
    idle();
    row!(b, cuStreamDestroy_v2, first(b.device.contexts().shutdown()));
    execution.configure(ready).unwrap();
    context.streams().configure(ready.contexts.streams).unwrap();
    let again = execution.devices().get(0).unwrap().primary().unwrap();
    drop(again.streams().acquire(StreamConfig { priority: 0, blocking: true }).unwrap());
    row!(b, cuStreamDestroy_v2, first(execution.devices().shutdown()));
    execution.configure(ready).unwrap();
    let again = execution.devices().get(0).unwrap().primary().unwrap();
    drop(again.streams().acquire(StreamConfig { priority: 0, blocking: true }).unwrap());
    row!(b, cuStreamDestroy_v2, first(execution.shutdown()));
    execution.configure(ready).unwrap();
    let own = execution.devices().get(0).unwrap().contexts().create_held(Waiting::Auto).unwrap().handle();
    row!(b, cuCtxDestroy_v2, execution.devices().get(0).unwrap().contexts().release(own));
}

// Without it the errors that have an account or a log beside the call could lose its place.
#[test]
fn errors_with_more_to_say_name_their_caller_too() {
    let b = Bench::new(Version::new(13, 0));
    let pool = b.context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let function = id::cuMemCreate;
    b.table
        .fail_from(function, 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    let error = pool.allocate::<u8>(100, &b.stream).unwrap_err();
    let line = line!() - 1;
    assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
    let text = error.to_string();
    for part in [
        "100 bytes asked for",
        "device 0",
        "cuMemCreate",
        &format!("{}:{line}:", file!()),
    ] {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
}
