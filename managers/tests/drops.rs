//! Whatever the order in which things are dropped, nothing is freed too early and nothing
//! is left: random orders, on the software device, which is strict about both.

use std::any::Any;

use cupola_managers::ops;
use cupola_managers::pipeline::{Pipeline, PipelineConfig};
use cupola_managers::{Context, Device, ExecutionManager, LiveWatch, PoolConfig};
use cupola_sim::Machine;
use quickcheck::quickcheck;

type Things = Vec<Box<dyn Any>>;

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
    let pool = context.memory_pool(PoolConfig::limit(1 << 20)).unwrap();
    let mut x = pool.allocate::<u32>(1000, &stream).unwrap();
    let mut y = pool.allocate::<u32>(1000, &other).unwrap();
    let mut pinned = context.buffers().pinned::<u32>(1000).unwrap();
    let config = PipelineConfig::new(10, 10);
    let pipeline = Pipeline::<u8, u8>::new(&context, &pool, config).unwrap();
    let ptx = ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry nothing() { ret; }\n";
    let module = context.modules().load_ptx(ptx).unwrap();
    let function = module.function("nothing").unwrap();

    // Work that is on its way while things go.
    ops::fill(&mut x, 1, &stream).unwrap();
    ops::order(&stream, &other).unwrap();
    ops::copy(&x, &mut y, &other).unwrap();
    ops::record(&event, &other).unwrap();
    ops::copy_to_host(&y, &mut pinned, &stream).unwrap();
    let things: Things = vec![
        Box::new(execution),
        Box::new(device),
        Box::new(context),
        Box::new(own),
        Box::new(own_stream),
        Box::new(stream),
        Box::new(other),
        Box::new(event),
        Box::new(pool),
        Box::new(x),
        Box::new(y),
        Box::new(pinned),
        Box::new(pipeline),
        Box::new(module),
        Box::new(function),
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
        let execution = things
            .iter()
            .find_map(|t| t.downcast_ref::<ExecutionManager>());
        let device = things.iter().find_map(|t| t.downcast_ref::<Device>());
        let mut contexts = things.iter().filter_map(|t| t.downcast_ref::<Context>());
        let mut context = || contexts.next();
        Some(match level {
            0 => execution?.shutdown(),
            1 => execution?.devices().shutdown(),
            2 => device?.contexts().shutdown(),
            3 => context()?.shutdown(),
            4 => context()?.modules().shutdown(),
            5 => context()?.buffers().shutdown(),
            6 => context()?.events().shutdown(),
            _ => context()?.streams().shutdown(),
        })
    };
    if let Some(report) = find(level % 8) {
        assert!(report.errors.is_empty(), "{report}");
        assert!(report.to_string().contains("still leased"));
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
    let pool = context.memory_pool(PoolConfig::limit(1 << 20)).unwrap();
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
