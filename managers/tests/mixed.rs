//! Two drivers in one process: what belongs to one never reaches a call of the other, and
//! the thread's current context is right for both.

#[path = "../src/test_bench.rs"]
mod test_bench;

use cupola_managers::context::context_switches;
use cupola_managers::event::EventConfig;
use cupola_managers::module::Function;
use cupola_managers::ops::{LaunchArgs, LaunchConfig};
use cupola_managers::{Context, Error, ExecutionManager, MemoryPool, Result, Stream};
use cupola_managers::{Event, ops};
use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;
use cupola_sys::driver::CUcontext;

use test_bench::TestBench;

/// One driver and one of what operations take.
struct Side {
    table: FaultTable,
    execution: ExecutionManager,
    context: Context,
    stream: Stream,
    event: Event,
    pool: MemoryPool,
    function: Function,
}

const NOTHING: &str = ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry nothing(.param .u64 p) { ret; }\n";

impl Side {
    fn open() -> Self {
        let base = TestBench::on(Machine::builder());
        let module = base.context.modules().load_ptx(NOTHING).unwrap();
        Self {
            stream: base.stream(),
            event: base.context.events().create(EventConfig::timing()).unwrap(),
            pool: base.pool(8 << 20),
            function: module.function("nothing").unwrap(),
            table: base.faults,
            execution: base.execution,
            context: base.context,
        }
    }

    fn current(&self) -> CUcontext {
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` outlives the call.
        unsafe { self.execution.driver().cuCtxGetCurrent(&raw mut raw) }.unwrap();
        raw
    }
}

fn refused<T: std::fmt::Debug>(result: &Result<T>) {
    assert!(
        matches!(result, Err(Error::WrongContext { .. })),
        "{result:?}"
    );
}

// Without it safe code could hand one driver the address of another driver's object.
#[test]
fn what_belongs_to_two_drivers_does_not_mix() {
    let (one, two) = (Side::open(), Side::open());
    let mut ours = one.pool.allocate::<u32>(8, &one.stream).unwrap();
    let mut theirs = two.pool.allocate::<u32>(8, &two.stream).unwrap();
    let mut pinned = two.context.buffers().pinned::<u32>(8).unwrap();
    ops::record(&one.event, &one.stream).unwrap();
    ops::record(&two.event, &two.stream).unwrap();
    one.table.reset();
    two.table.reset();

    refused(&ops::wait(&one.stream, &two.event));
    refused(&ops::record(&two.event, &one.stream));
    refused(&ops::order(&one.stream, &two.stream));
    refused(&ops::elapsed(&one.event, &two.event));
    refused(&one.pool.allocate::<u32>(8, &two.stream));
    refused(&theirs.used_on(&one.stream));
    refused(&ops::fill(&mut theirs, 1, &one.stream));
    refused(&ops::set_bytes(&mut theirs, 1, &one.stream));
    refused(&ops::copy(&theirs, &mut ours, &one.stream));
    refused(&ops::copy(&theirs, &mut ours, &two.stream));
    refused(&ops::copy_to_device(&pinned, &mut ours, &one.stream));
    refused(&ops::copy_to_host(&ours, &mut pinned, &one.stream));
    refused(&ops::read(&theirs, &mut [0; 8], &one.stream));
    refused(&ops::write(&mut theirs, &[0; 8], &one.stream));
    let grid = LaunchConfig::linear(1, 1);
    // SAFETY: the kernel does nothing with its argument.
    refused(&unsafe { ops::launch(&two.function, grid, (0u64,), &one.stream) });
    // SAFETY: as above.
    refused(&unsafe { ops::launch(&one.function, grid, (&theirs,), &one.stream) });

    assert!(one.table.counts().is_empty(), "{:?}", one.table.counts());
    assert!(two.table.counts().is_empty(), "{:?}", two.table.counts());
}

// Without it a launch could read memory that its stream has not waited for.
#[test]
fn arguments_are_launched_on_the_stream_they_were_made_for() {
    let side = Side::open();
    let other = side.context.streams().create(Default::default()).unwrap();
    let buffer = side.pool.allocate::<u64>(8, &side.stream).unwrap();
    let mut arguments = LaunchArgs::new();
    arguments.push_for(buffer.view(), &side.stream).unwrap();
    let second = arguments.clone().push_for(&buffer, &other);
    assert!(matches!(second, Err(Error::Invalid { .. })), "{second:?}");
    let launch = |stream: &Stream| {
        let grid = LaunchConfig::linear(1, 1);
        // SAFETY: the kernel does nothing with its argument.
        unsafe { ops::launch(&side.function, grid, arguments.clone(), stream) }
    };
    launch(&side.stream).unwrap();
    assert!(matches!(launch(&other), Err(Error::Invalid { .. })));
}

// Without it the thread could take a context for current that is not, and work there fail
// or land in another context.
#[test]
fn a_guard_does_not_confuse_the_current_contexts_of_two_drivers() {
    let (one, two) = (Side::open(), Side::open());
    let device = two.execution.devices().get(0).unwrap();
    let own = device.contexts().create(Default::default()).unwrap();
    one.context.make_current().unwrap();
    two.context.make_current().unwrap();
    {
        let _guard = one.context.enter().unwrap();
        // Makes another context of the second driver current.
        own.make_current().unwrap();
    }
    two.context.make_current().unwrap();
    assert_eq!(two.current(), two.context.as_raw());
    one.context.make_current().unwrap();
    assert_eq!(one.current(), one.context.as_raw());
}

// Without it foreign code behind a guard could go on in the context of some operation that ran
// while the guard was held, because the guard's own was current before.
#[test]
fn a_guard_of_the_current_context_restores_it_too() {
    let side = Side::open();
    let device = side.execution.devices().get(0).unwrap();
    let own = device.contexts().create(Default::default()).unwrap();
    side.context.make_current().unwrap();
    let guard = side.context.enter().unwrap();
    own.make_current().unwrap();
    assert_eq!(side.current(), own.as_raw());
    drop(guard);
    assert_eq!(side.current(), side.context.as_raw());
    // One for each guard and one for the operation: what was there before is known.
    let before = context_switches();
    drop(side.context.enter().unwrap());
    let guard = own.enter().unwrap();
    side.context.make_current().unwrap();
    drop(guard);
    side.context.make_current().unwrap();
    assert_eq!(context_switches() - before, 3);
    assert_eq!(side.current(), side.context.as_raw());
}

// Without it the end of a guard would wait for that of one which is on another driver's stack.
#[test]
fn guards_of_two_drivers_do_not_wait_for_each_other() {
    let (one, two) = (Side::open(), Side::open());
    let nothing = std::ptr::null_mut();
    for side in [&one, &two] {
        // SAFETY: no context is always allowed.
        unsafe { side.execution.driver().cuCtxSetCurrent(nothing) }.unwrap();
    }
    let (first, second) = (one.context.enter().unwrap(), two.context.enter().unwrap());
    drop(first);
    assert_eq!(one.current(), nothing);
    assert_eq!(two.current(), two.context.as_raw());
    drop(second);
    assert_eq!(two.current(), nothing);
}

// Without it a guard could restore a context that was destroyed while it was held.
#[test]
fn a_guard_keeps_the_context_that_it_restores() {
    let side = Side::open();
    let device = side.execution.devices().get(0).unwrap();
    let own = device.contexts().create(Default::default()).unwrap();
    let raw = own.as_raw();
    ops::synchronize(&own.streams().create(Default::default()).unwrap()).unwrap();
    let guard = side.context.enter().unwrap();
    device.contexts().release(own.handle()).unwrap();
    drop(own);
    assert_eq!(side.execution.live().contexts, 2);
    side.table.reset();
    drop(guard);
    assert_eq!(side.execution.live().contexts, 1);
    assert_ne!(side.current(), raw, "destroyed, so not left current");
    ops::synchronize(&side.stream).unwrap();
}
