//! Whatever the order in which things are dropped, nothing is freed too early and nothing
//! is left: random orders, on the software device, which is strict about both.

use std::any::Any;

use cupola_managers::context::ContextHandle;
use cupola_managers::ops;
use cupola_managers::pipeline::{Pipeline, PipelineConfig};
use cupola_managers::{Context, Device, ExecutionManager, LiveWatch, PoolConfig, ShutdownReport};
use cupola_sim::Machine;
use quickcheck::quickcheck;

const PTX: &str =
    ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry nothing() { ret; }\n";

/// Something whose type is hidden.
struct Thing {
    it: Box<dyn Any>,
    /// The context that it keeps.
    context: Option<ContextHandle>,
    /// What a report calls it, and its handle.
    object: Option<(&'static str, u64)>,
}

type Things = Vec<Thing>;

/// One of everything, each in a box that hides what it is.
fn everything(execution: ExecutionManager) -> (Things, LiveWatch) {
    let watch = execution.watch();
    let device = execution.devices().get(0).unwrap();
    let context = device.primary().unwrap();
    let own = device.contexts().create(Default::default()).unwrap();
    let own_stream = own.streams().create(Default::default()).unwrap();
    let stream = context.streams().create(Default::default()).unwrap();
    let other = context.streams().create(Default::default()).unwrap();
    let event = context.events().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let mut x = pool.allocate::<u32>(1000, &stream).unwrap();
    let mut y = pool.allocate::<u32>(1000, &other).unwrap();
    let mut pinned = context.buffers().pinned::<u32>(1000).unwrap();
    let config = PipelineConfig::new(10, 10);
    let pipeline = Pipeline::<u8, u8>::new(&context, &pool, config).unwrap();
    let module = context.modules().load_ptx(PTX).unwrap();
    let function = module.function("nothing").unwrap();

    // Work that is on its way while things go.
    ops::fill(&mut x, 1, &stream).unwrap();
    ops::order(&stream, &other).unwrap();
    ops::copy(&x, &mut y, &other).unwrap();
    ops::record(&event, &other).unwrap();
    ops::copy_to_host(&y, &mut pinned, &stream).unwrap();
    let (first, second) = (Some(context.handle()), Some(own.handle()));
    macro_rules! thing {
        ($it:ident, $context:expr, $kind:literal) => {{
            let object = Some(($kind, $it.handle().to_bits()));
            Thing {
                object,
                ..thing!($it, $context)
            }
        }};
        ($it:ident, $context:expr) => {
            Thing {
                it: Box::new($it),
                context: $context,
                object: None,
            }
        };
    }
    let things = vec![
        thing!(execution, None),
        thing!(device, None, "Device"),
        thing!(context, first, "Context"),
        thing!(own, second, "Context"),
        thing!(own_stream, second, "Stream"),
        thing!(stream, first, "Stream"),
        thing!(other, first, "Stream"),
        thing!(event, first, "Event"),
        thing!(pool, first),
        thing!(x, first, "Buffer"),
        thing!(y, first, "Buffer"),
        thing!(pinned, first),
        thing!(pipeline, first),
        thing!(module, first, "Module"),
        thing!(function, first, "Function"),
    ];
    (things, watch)
}

// Without it one order of drops among many could free a context in use, or leak.
#[test]
fn any_order_of_drops_leaves_nothing() {
    fn property(order: Vec<u8>) -> bool {
        let machine = Machine::builder().worker_threads(1).build();
        let execution = ExecutionManager::new(machine.driver()).unwrap();
        let (mut things, watch) = everything(execution);
        for pick in order.into_iter().chain(std::iter::repeat(0)) {
            if things.is_empty() {
                break;
            }
            let index = usize::from(pick) % things.len();
            drop(things.swap_remove(index));
        }
        watch.live().is_empty() && machine.leaks().is_none()
    }
    quickcheck(property as fn(Vec<u8>) -> bool);
}

/// Shuts a level down that can still be reached from what is left.
fn shut_down(things: &Things, level: u8) {
    let find = |level: u8| {
        let its = || things.iter().map(|thing| &thing.it);
        let execution = its().find_map(|it| it.downcast_ref::<ExecutionManager>());
        let device = its().find_map(|it| it.downcast_ref::<Device>());
        let context = || its().find_map(|it| it.downcast_ref::<Context>());
        Some(match level {
            0 => (execution?.shutdown(), None),
            1 => (execution?.devices().shutdown(), None),
            2 => (device?.contexts().shutdown(), None),
            3 => (context()?.shutdown(), context()),
            4 => (context()?.modules().shutdown(), context()),
            5 => (context()?.buffers().shutdown(), context()),
            6 => (context()?.events().shutdown(), context()),
            _ => (context()?.streams().shutdown(), context()),
        })
    };
    let level = level % 8;
    if let Some((report, context)) = find(level) {
        assert!(report.errors.is_empty(), "{report}");
        match context {
            Some(context) => lists_what_is_in(things, &report, level, context.handle()),
            None => lists_what_is_left(things, &report, level),
        }
    }
}

/// The report of an upper level lists every context that something keeps, and no other.
fn lists_what_is_left(things: &Things, report: &ShutdownReport, level: u8) {
    let mut kept: Vec<_> = things.iter().filter_map(|thing| thing.context).collect();
    let mut listed: Vec<_> = report
        .leased_of("Context")
        .map(|object| object.context.unwrap())
        .collect();
    kept.sort_by_key(|handle| handle.to_bits());
    kept.dedup();
    listed.sort_by_key(|handle| handle.to_bits());
    assert_eq!(listed, kept, "{report}");
    let is_device = |thing: &Thing| level < 2 && thing.it.is::<Device>();
    let devices = things.iter().filter(|thing| is_device(thing)).count();
    assert_eq!(report.leased_of("Device").count(), devices, "{report}");
    assert_eq!(report.is_complete(), kept.is_empty() && devices == 0);
    for thing in things.iter().filter(|thing| thing.it.is::<Context>()) {
        lists_what_is_in(things, report, level, thing.context.unwrap());
    }
}

/// What is leased in a context whose managers are there is listed by its own name.
fn lists_what_is_in(things: &Things, report: &ShutdownReport, level: u8, context: ContextHandle) {
    let kinds: &[&str] = match level {
        0..3 => &["Context", "Stream", "Event", "Buffer", "Module", "Function"],
        3 => &["Stream", "Event", "Buffer", "Module", "Function"],
        4 => &["Module", "Function"],
        5 => &["Buffer"],
        6 => &["Event"],
        _ => &["Stream"],
    };
    for thing in things.iter().filter(|thing| thing.context == Some(context)) {
        let Some((kind, handle)) = thing.object else {
            continue;
        };
        let mut listed = report.leased_of(kind);
        let is_listed = listed.any(|it| it.handle == handle && it.context == Some(context));
        assert_eq!(is_listed, kinds.contains(&kind), "{kind}: {report}");
    }
}

// Without it a shutdown between drops could destroy what is leased, destroy something twice,
// or leave what is given back after it.
#[test]
fn any_order_of_drops_and_shutdowns_leaves_nothing() {
    fn property(steps: Vec<(u8, Option<u8>)>) -> bool {
        let machine = Machine::builder().worker_threads(1).build();
        let execution = ExecutionManager::new(machine.driver()).unwrap();
        let (mut things, watch) = everything(execution);
        for (pick, level) in steps.into_iter().chain(std::iter::repeat((0, None))) {
            if things.is_empty() {
                break;
            }
            if let Some(level) = level {
                shut_down(&things, level);
            }
            let index = usize::from(pick) % things.len();
            drop(things.swap_remove(index));
        }
        watch.live().is_empty() && machine.leaks().is_none()
    }
    quickcheck(property as fn(Vec<(u8, Option<u8>)>) -> bool);
}

// Without it things could be bound to the thread that made them.
#[test]
fn things_may_be_dropped_on_other_threads() {
    let machine = Machine::builder().build();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let watch = execution.watch();
    let context = execution.devices().get(0).unwrap().primary().unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let stream = context.streams().create(Default::default()).unwrap();
            let mut buffer = pool.allocate::<u32>(1000, &stream).unwrap();
            let mut pinned = context.buffers().pinned::<u32>(1000).unwrap();
            ops::fill(&mut buffer, 3, &stream).unwrap();
            scope.spawn(move || {
                ops::copy_to_host(&buffer, &mut pinned, &stream).unwrap();
                assert_eq!(pinned.as_slice().unwrap(), [3; 1000]);
            });
        }
    });
    drop((pool, context, execution));
    assert!(watch.live().is_empty());
    assert_eq!(machine.leaks(), None);
}

// Without it code in the usual style would keep every stream, event, module and context that it
// ever made, until there is no room for another.
#[test]
fn what_is_created_ends_with_its_last_lease() {
    let machine = Machine::builder().worker_threads(1).build();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let device = execution.devices().get(0).unwrap();
    let context = device.primary().unwrap();
    for _ in 0..3 {
        let own = device.contexts().create(Default::default()).unwrap();
        let stream = own.streams().create(Default::default()).unwrap();
        let event = own.events().create(Default::default()).unwrap();
        let module = own.modules().load_ptx(PTX).unwrap();
        let function = module.function("nothing").unwrap();
        let handles = (
            own.handle(),
            stream.handle(),
            event.handle(),
            module.handle(),
        );
        let again = device.contexts().lease(handles.0).unwrap();
        drop((stream.clone(), event.clone(), module.clone(), own));
        assert!(again.streams().is_alive(handles.1) && again.events().is_alive(handles.2));
        drop((stream, event));
        assert!(again.streams().lease(handles.1).is_err());
        assert!(again.events().lease(handles.2).is_err());
        // A function keeps its code.
        drop(module);
        assert_eq!(
            again.modules().lease(handles.3).unwrap().handle(),
            handles.3
        );
        assert_eq!(machine.usage().modules, 1);
        drop(function);
        assert!(again.modules().lease(handles.3).is_err());
        assert_eq!((machine.usage().modules, again.modules().live()), (0, 0));
        assert_eq!(again.streams().live() + again.events().live(), 0);
        drop(again);
        assert!(device.contexts().lease(handles.0).is_err());
        assert_eq!(execution.live().contexts, 1, "the primary one");
    }
    // What is asked for by name is kept until its release.
    let own = device.contexts().create_held(Default::default()).unwrap();
    let stream = own.streams().create_held(Default::default()).unwrap();
    let event = own.events().create_held(Default::default()).unwrap();
    let module = own.modules().load_ptx_held(PTX).unwrap();
    let handle = (
        own.handle(),
        stream.handle(),
        event.handle(),
        module.handle(),
    );
    drop((own, stream, event, module));
    let own = device.contexts().lease(handle.0).unwrap();
    own.streams().release(handle.1).unwrap();
    own.events().release(handle.2).unwrap();
    own.modules().release(handle.3).unwrap();
    assert_eq!(machine.usage().modules, 0);
    device.contexts().release(handle.0).unwrap();
    drop(own);
    assert_eq!(execution.live().contexts, 1);
    // A shutdown finds what is leased, and what it ends is not ended again.
    let module = context.modules().load_ptx(PTX).unwrap();
    let report = context.modules().shutdown();
    assert_eq!(report.leased_of("Module").count(), 1);
    assert!(context.modules().lease(module.handle()).is_err());
    drop(module);
    assert_eq!(machine.usage().modules, 0);
    drop((context, device, execution));
    assert_eq!(machine.leaks(), None);
}
