//! Two execution managers of one driver, as two `Cupola::open` of one GPU have, or two libraries in
//! one program: they meet in the driver's contexts.

use std::sync::{Barrier, Mutex};

use cupola_managers::event::EventConfig;
use cupola_managers::ops::LaunchConfig;
use cupola_managers::runtime::RuntimeContext;
use cupola_managers::{
    Blame, Event, ExecutionConfig, Function, LossWatch, MemoryPool, Module, Stream,
};

use super::*;

const STORE: &str = ".version 6.0\n.target sm_60\n.address_size 64\n\
    .visible .entry store(.param .u64 to) {\n.reg .b32 %r1;\n.reg .b64 %rd1;\n\
    ld.param.u64 %rd1, [to];\nmov.u32 %r1, 7;\ncvta.to.global.u64 %rd1, %rd1;\n\
    st.global.u32 [%rd1], %r1;\nret;\n}\n";

/// An execution manager, and one of what operations take.
struct Side {
    pool: MemoryPool,
    stream: Stream,
    event: Event,
    function: Function,
    module: Module,
    context: Context,
    device: Device,
    execution: ExecutionManager,
}

impl Side {
    /// Over a driver of its own, as each that opens one has.
    fn open(driver: Driver) -> Self {
        Self::open_in(driver, |device| device.primary().unwrap())
    }

    fn open_in(driver: Driver, context: impl FnOnce(&Device) -> Context) -> Self {
        let execution = ExecutionManager::new(driver).unwrap();
        let device = device(&execution);
        let context = context(&device);
        let module = context.modules().load_ptx(STORE).unwrap();
        Self {
            pool: context.memory_pool(PoolConfig::limit(8 << 20)).unwrap(),
            stream: context.streams().create(Default::default()).unwrap(),
            event: context.events().create(EventConfig::timing()).unwrap(),
            function: module.function("store").unwrap(),
            module,
            context,
            device,
            execution,
        }
    }

    /// Drops all but what asks for the state of the context.
    fn close(self) -> (ExecutionManager, Device) {
        (self.execution, self.device)
    }
}

fn grid() -> LaunchConfig {
    LaunchConfig::linear(1, 1)
}

/// Everything of one side with everything of the other.
fn work(one: &Side, two: &Side) {
    assert_eq!(one.context.as_raw(), two.context.as_raw());
    // The pool of one serves a stream of the other.
    let mut ours = one.pool.allocate::<u32>(64, &two.stream).unwrap();
    let mut theirs = two.pool.allocate::<u32>(64, &two.stream).unwrap();
    let mut pinned = two.context.buffers().pinned::<u32>(64).unwrap();
    ops::fill(&mut theirs, 3, &one.stream).unwrap();
    // SAFETY: the kernel writes the first element.
    unsafe { ops::launch(&two.function, grid(), (&mut theirs,), &one.stream) }.unwrap();
    ops::record(&two.event, &one.stream).unwrap();
    ops::wait(&two.stream, &two.event).unwrap();
    ops::copy(&theirs, &mut ours, &two.stream).unwrap();
    ops::order(&two.stream, &one.stream).unwrap();
    ops::copy_to_host(&ours, &mut pinned, &one.stream).unwrap();
    let mut expected = [3; 64];
    expected[0] = 7;
    assert_eq!(pinned.as_slice().unwrap(), expected);
    ops::copy_to_device(&pinned, &mut theirs, &one.stream).unwrap();
    ops::record(&one.event, &one.stream).unwrap();
    ops::synchronize(&one.stream).unwrap();
    ops::elapsed(&two.event, &one.event).unwrap();
    // Memory that was freed on a stream of one is allocated on a stream of the other, behind it.
    for stream in [&one.stream, &two.stream, &one.stream] {
        let mut again = one.pool.allocate::<u32>(1 << 20, stream).unwrap();
        ops::fill(&mut again, 1, stream).unwrap();
        again.used_on(&two.stream).unwrap();
    }
    let runtime = RuntimeContext::builder(&one.context)
        .device(&two.device)
        .stream(&two.stream)
        .pool(&two.pool);
    drop(runtime.build().unwrap());
}

// Without it two libraries of one program that each open the GPU could not hand each other a buffer
// or wait for each other's streams.
#[test]
fn objects_of_two_managers_work_together() {
    for without in [None, Some(id::cuCtxGetId)] {
        let builder = Machine::builder().worker_threads(1);
        let machine = match without {
            Some(function) => builder.without(function).build(),
            None => builder.build(),
        };
        let (one, two) = (Side::open(machine.driver()), Side::open(machine.driver()));
        work(&one, &two);
        work(&two, &one);
        let watches = [one.execution.watch(), two.execution.watch()];
        assert_eq!(
            watches.each_ref().map(|watch| watch.live().contexts),
            [1; 2]
        );
        drop((one, two));
        assert!(watches.iter().all(|watch| watch.live().is_empty()));
        assert_eq!(machine.leaks(), None);
    }
}

// Without it the end of one library would take the context from the other, or leave it behind when
// both are gone.
#[test]
fn the_context_ends_with_the_last_manager() {
    let machine = machine();
    let (one, two) = (Side::open(machine.driver()), Side::open(machine.driver()));
    let shared = two.pool.allocate::<u32>(64, &two.stream).unwrap();
    let mut kept = one.pool.allocate::<u32>(64, &one.stream).unwrap();
    ops::copy(&shared, &mut kept, &one.stream).unwrap();
    let report = one.execution.shutdown();
    assert_eq!(
        report.leased_of("Stream").count(),
        1,
        "its own only: {report}"
    );
    let refused = one.context.streams().create(Default::default());
    assert!(matches!(refused, Err(Error::ShutDown { .. })));
    // Leases are good after a shutdown, with things of the other too, and the other goes on.
    ops::fill(&mut kept, 5, &two.stream).unwrap();
    ops::order(&two.stream, &one.stream).unwrap();
    let mut back = [0; 64];
    ops::read(&kept, &mut back, &one.stream).unwrap();
    assert_eq!(back, [5; 64]);
    work(&two, &two);
    one.execution.configure(ExecutionConfig::default()).unwrap();
    drop((one, shared));
    let state = two.device.contexts().primary_state().unwrap();
    assert!(state.active);
    let mut own = two.pool.allocate::<u32>(64, &two.stream).unwrap();
    ops::copy(&kept, &mut own, &two.stream).unwrap();
    ops::synchronize(&two.stream).unwrap();
    drop((kept, own));
    let (execution, device) = two.close();
    assert!(device.contexts().shutdown().is_complete());
    let state = device.contexts().primary_state().unwrap();
    assert!(!state.active);
    drop(device);
    assert!(execution.shutdown().is_complete());
    assert_eq!(machine.leaks(), None);
}

/// Counts how often it is told.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<Error>>>);

impl Told {
    fn policy(&self) -> PoisonPolicy {
        let told = self.clone();
        PoisonPolicy::call(move |error| told.0.lock().unwrap().push(error.clone()))
    }

    fn subscribe(&self, context: &Context) -> LossWatch {
        let told = self.clone();
        context.on_loss(move |error| told.0.lock().unwrap().push(error.clone()))
    }

    #[track_caller]
    fn once(&self) -> Error {
        let told = self.0.lock().unwrap();
        assert_eq!(told.len(), 1, "{told:?}");
        told[0].clone()
    }
}

// Without it one library would go on in a context that the other knows to be lost, and nothing
// would tell it; or one of them would be told twice.
#[test]
fn a_loss_that_one_meets_is_that_of_both() {
    let machine = machine();
    let table = FaultTable::new(machine.driver());
    let (one, two) = (Side::open(table.driver()), Side::open(table.driver()));
    let told: [Told; 6] = Default::default();
    one.execution.set_poison_policy(told[0].policy());
    two.execution.set_poison_policy(told[1].policy());
    let watches = [
        told[2].subscribe(&one.context),
        told[3].subscribe(&two.context),
        told[4].subscribe(&two.context),
    ];
    let mut buffer = two.pool.allocate::<u32>(1, &two.stream).unwrap();
    // SAFETY: the kernel writes the element.
    unsafe { ops::launch(&two.function, grid(), (&mut buffer,), &two.stream) }.unwrap();
    let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    table.reset();
    table.fail(id::cuStreamSynchronize, 1, code);
    let error = ops::synchronize(&one.stream).unwrap_err();
    assert_eq!(error.status(), Some(code));
    // The kernel of the other may be its cause.
    let cause = error.cause().unwrap();
    let Some(Blame::OneOf(launches)) = cause.blame.as_deref() else {
        panic!("{cause:?}");
    };
    assert_eq!(launches[0].kernel, "store");
    let lost = one.context.poison().unwrap();
    assert!(told[..5].iter().all(|told| told.once() == lost));
    // No call is made any more, by either.
    table.reset();
    assert_eq!(ops::fill(&mut buffer, 1, &two.stream), Err(lost.clone()));
    assert_eq!(two.context.poison().as_ref(), Some(&lost));
    assert!(table.counts().is_empty());
    // One that comes later has the context as it is.
    let three = ExecutionManager::new(table.driver()).unwrap();
    three.set_poison_policy(told[5].policy());
    let context = device(&three).primary().unwrap();
    assert_eq!(context.poison().as_ref(), Some(&lost));
    assert!(told[5].0.lock().unwrap().is_empty(), "it was lost before");
    let watch = told[5].subscribe(&context);
    assert_eq!(told[5].once(), lost);
    drop((watches, watch));
    // Another context of the second manager learns what the process was lost to.
    let own = two.device.contexts().create(Default::default()).unwrap();
    table.reset();
    table.fail(
        id::cuStreamSynchronize,
        1,
        CUresult::CUDA_ERROR_LAUNCH_FAILED,
    );
    let stream = own.streams().create(Default::default()).unwrap();
    let Err(Error::Poisoned { before, .. }) = ops::synchronize(&stream) else {
        panic!("it follows from the first");
    };
    assert_eq!(before.unwrap().call.status(), Some(code));
}

#[track_caller]
fn stale<T>(result: Result<T, Error>) {
    let error = result.map(drop).unwrap_err();
    assert!(matches!(error, Error::StaleHandle { .. }), "{error}");
}

// Without it one library could end what another has under the same name in the same context.
#[test]
fn a_handle_is_good_in_its_own_manager_only() {
    let machine = machine();
    let (one, two) = (Side::open(machine.driver()), Side::open(machine.driver()));
    for (own, other) in [(&one, &two), (&two, &one)] {
        let contexts = own.device.contexts();
        stale(contexts.lease(other.context.handle()));
        stale(contexts.release(other.context.handle()));
        stale(own.context.streams().release(other.stream.handle()));
        stale(own.context.events().release(other.event.handle()));
        stale(own.context.modules().release(other.module.handle()));
    }
    work(&one, &two);
}

// Without it a library that made a context and ends would destroy it under another one that works
// in it.
#[test]
fn a_created_context_ends_with_the_last_manager() {
    for maker_first in [true, false] {
        let machine = machine();
        let table = FaultTable::new(machine.driver());
        let create = |device: &Device| device.contexts().create(Default::default()).unwrap();
        let one = Side::open_in(table.driver(), create);
        let raw = one.context.as_raw();
        let token = Arc::new(());
        let two = Side::open_in(table.driver(), |device| {
            // SAFETY: a manager of this process has it, and keeps it for this one.
            unsafe { device.contexts().borrow(raw, token.clone()) }.unwrap()
        });
        assert_eq!(two.context.kind(), ContextKind::Borrowed);
        work(&one, &two);
        let mut sides = [one, two];
        if !maker_first {
            sides.reverse();
        }
        let [first, last] = sides;
        drop(first);
        assert_eq!(table.count(id::cuCtxDestroy_v2), 0);
        let mut buffer = last.pool.allocate::<u32>(64, &last.stream).unwrap();
        ops::fill(&mut buffer, 1, &last.stream).unwrap();
        ops::synchronize(&last.stream).unwrap();
        drop((buffer, last));
        assert_eq!(table.count(id::cuCtxDestroy_v2), 1);
        assert_eq!(Arc::strong_count(&token), 1);
        assert_eq!(machine.leaks(), None);
        assert_eq!(machine.findings().len(), 0);
    }
}

// Without it two libraries that are handed one context of other code would not know of each other.
#[test]
fn a_context_of_other_code_is_one_for_all_managers() {
    let machine = machine();
    let (other, ended) = Other::new(&machine.driver(), 0);
    let open = || Side::open_in(machine.driver(), |device| borrow(device, &other).unwrap());
    let (one, two) = (open(), open());
    work(&one, &two);
    drop(other);
    drop(one);
    assert_eq!(ended.load(Ordering::Relaxed), 0);
    let mut buffer = two.pool.allocate::<u32>(64, &two.stream).unwrap();
    ops::fill(&mut buffer, 1, &two.stream).unwrap();
    drop((buffer, two));
    assert_eq!(ended.load(Ordering::Relaxed), 1);
    assert_eq!(machine.leaks(), None);
}

// Without it a primary context that was borrowed from other code and then retained would be two:
// its objects would not meet, and a loss would be that of one.
#[test]
fn a_borrowed_primary_context_is_the_one_that_is_retained() {
    let machine = machine();
    let table = FaultTable::new(machine.driver());
    let driver = table.driver();
    let mut raw = ptr::null_mut();
    // SAFETY: the place outlives the call.
    unsafe {
        driver.cuInit(0).unwrap();
        driver.cuDevicePrimaryCtxRetain(&raw mut raw, 0).unwrap();
    }
    let execution = ExecutionManager::new(driver.clone()).unwrap();
    let device = device(&execution);
    // SAFETY: retained above.
    let borrowed = unsafe { device.contexts().borrow(raw, Arc::new(())) }.unwrap();
    let retained = device.primary().unwrap();
    let told = Told::default();
    execution.set_poison_policy(told.policy());
    let stream = borrowed.streams().create(Default::default()).unwrap();
    let event = retained.events().create(Default::default()).unwrap();
    ops::record(&event, &stream).unwrap();
    table.reset();
    table.fail(
        id::cuStreamSynchronize,
        1,
        CUresult::CUDA_ERROR_LAUNCH_FAILED,
    );
    ops::synchronize(&stream).unwrap_err();
    assert_eq!(retained.poison(), borrowed.poison());
    assert_eq!(told.once(), retained.poison().unwrap());
    drop((stream, event, borrowed, retained, device, execution));
    // SAFETY: retained above.
    unsafe { driver.cuDevicePrimaryCtxRelease_v2(0) }.unwrap();
    assert_eq!(machine.leaks(), None);
}

// Without it a manager that opens a device after other code has reset its primary context would get
// the state of the one before: lost when that was, and with objects that are gone.
#[test]
fn a_context_that_was_reset_is_another_one() {
    let machine = machine();
    let table = FaultTable::new(machine.driver());
    let before = Side::open(table.driver());
    table.reset();
    table.fail(
        id::cuStreamSynchronize,
        1,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
    );
    ops::synchronize(&before.stream).unwrap_err();
    // SAFETY: a device that there is.
    unsafe { machine.driver().cuDevicePrimaryCtxReset_v2(0) }.unwrap();
    let (after, again) = (Side::open(table.driver()), Side::open(table.driver()));
    assert_eq!(after.context.as_raw(), before.context.as_raw());
    assert_eq!(after.context.poison(), None);
    let wrong = ops::record(&before.event, &after.stream);
    assert!(matches!(wrong, Err(Error::WrongContext { .. })));
    work(&after, &again);
}

// Without it a guard would leave its thread in no context, or in one that is destroyed, when the
// context from before is another manager's.
#[test]
fn a_guard_keeps_a_context_of_another_manager() {
    let machine = machine();
    let (one, two) = (Side::open(machine.driver()), Side::open(machine.driver()));
    let own = two.device.contexts().create(Default::default()).unwrap();
    own.make_current().unwrap();
    let watch = two.execution.watch();
    let guard = one.context.enter().unwrap();
    std::thread::scope(|scope| scope.spawn(move || drop(own)).join().unwrap());
    assert_eq!(watch.live().contexts, 2, "the guard has it");
    drop(guard);
    assert_eq!(watch.live().contexts, 1);
    assert_eq!(machine.findings().len(), 0);
    work(&one, &two);
}

// Without it a manager that comes while another one goes could get a state of its own beside one
// that is in use, or that of a context which is ending.
#[test]
fn managers_come_and_go_on_many_threads() {
    let machine = Machine::builder().worker_threads(1).build();
    let meeting = Mutex::new(None::<Stream>);
    let barrier = Barrier::new(4);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                barrier.wait();
                for round in 0..100 {
                    let execution = ExecutionManager::new(machine.driver()).unwrap();
                    let context = device(&execution).primary().unwrap();
                    let stream = context.streams().create(Default::default()).unwrap();
                    let event = context.events().create(Default::default()).unwrap();
                    ops::record(&event, &stream).unwrap();
                    // A stream of a thread that is here or that has gone: its context is there.
                    let left = meeting.lock().unwrap().replace(stream);
                    if let Some(other) = left {
                        ops::record(&event, &other).unwrap();
                        ops::synchronize(&other).unwrap();
                    }
                    if round % 3 == 0 {
                        // So that the context ends at times.
                        drop(meeting.lock().unwrap().take());
                    }
                }
            });
        }
    });
    drop(meeting);
    assert_eq!(machine.leaks(), None);
    assert_eq!(machine.findings().len(), 0);
}
