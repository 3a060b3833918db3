//! What a shutdown finds of devices and contexts whose managers are gone.

use cupola_managers::ContextsConfig;

use super::*;

const PTX: &str = ".version 6.0\n.target sm_60\n.address_size 64\n\
    .visible .entry nothing() { ret; }\n";

// Without it a context could outlive the shutdown of everything untold, with managers that hand
// out streams for ever, because the device that it was leased from is gone.
#[test]
fn a_shutdown_finds_a_context_whose_device_is_gone() {
    let machine = machine();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let devices = execution.devices();
    let device = device(&execution);
    let context = device.primary().unwrap();
    let handle = device.handle();
    drop(device);
    devices.release(handle).unwrap();
    assert_eq!(devices.stats().live, 0, "no lease of the device");
    context.streams().acquire(Default::default()).unwrap();
    for _ in 0..2 {
        let report = execution.shutdown();
        assert_eq!(report.leased.len(), 1, "{report}");
        let left = report.leased_of("Context").next().unwrap();
        assert_eq!(
            (left.context, left.device),
            (Some(context.handle()), Some(0))
        );
        let refused = context.streams().acquire(Default::default());
        assert!(matches!(refused, Err(Error::ShutDown { .. })));
    }
    drop(context);
    assert!(execution.shutdown().is_complete());
    assert_eq!(machine.leaks(), None);
}

// Without it what is leased of a context that was given up could keep that untold.
#[test]
fn a_shutdown_finds_a_context_whose_managers_are_gone() {
    type Make = fn(&Context) -> Box<dyn Any>;
    let makers: [Make; 4] = [
        |context| Box::new(context.streams().acquire(Default::default()).unwrap()),
        |context| Box::new(context.events().acquire(Default::default()).unwrap()),
        |context| Box::new(context.buffers().pinned::<u8>(8).unwrap()),
        |context| Box::new(context.modules().load_ptx(PTX).unwrap()),
    ];
    for (make, is_released) in makers
        .into_iter()
        .flat_map(|make| [(make, false), (make, true)])
    {
        let machine = machine();
        let execution = ExecutionManager::new(machine.driver()).unwrap();
        let device = device(&execution);
        let contexts = device.contexts();
        let context = contexts.create_held(Default::default()).unwrap();
        let (thing, handle) = (make(&context), context.handle());
        drop(context);
        contexts.release(handle).unwrap();
        if is_released {
            execution.devices().release(device.handle()).unwrap();
        }
        for _ in 0..2 {
            let report = contexts.shutdown();
            assert_eq!(report.leased.len(), 1, "{report}");
            assert_eq!(
                (report.leased[0].kind, report.leased[0].leases),
                ("Context", 1)
            );
            assert_eq!(report.leased[0].context, Some(handle));
        }
        let devices = execution.devices();
        assert_eq!(devices.shutdown().leased_of("Context").count(), 1);
        drop(device);
        assert_eq!(devices.shutdown().leased_of("Context").count(), 1);
        drop(thing);
        assert!(execution.shutdown().is_complete());
        assert_eq!(machine.leaks(), None);
    }
}

// Without it the primary context could have two handles, each with managers of its own, and
// stay under the one when the other is released.
#[test]
fn a_primary_context_has_one_handle_for_all_threads() {
    let machine = machine();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let device = device(&execution);
    let contexts = device.contexts();
    let first = device.primary().unwrap();
    contexts.release(first.handle()).unwrap();
    // SAFETY: ours, and leased.
    let borrowed = unsafe { contexts.borrow(first.as_raw(), Arc::new(())) }.unwrap();
    assert_eq!(borrowed.kind(), ContextKind::Primary);
    assert_eq!(device.primary().unwrap().handle(), borrowed.handle());
    let stats = contexts.stats();
    assert_eq!((stats.named, stats.live), (1, 1));
    drop((first, borrowed));
    let report = execution.shutdown();
    assert_eq!(report.leased_of("Context").count(), 0, "{report}");
}

// Without it a context that is held could be refused for want of the seat that it has itself.
#[test]
fn a_context_that_is_held_needs_no_second_seat() {
    let machine = machine();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let device = device(&execution);
    let contexts = device.contexts();
    let one = ContextsConfig {
        capacity: 1,
        ..ContextsConfig::default()
    };
    contexts.configure(one).unwrap();
    let stats = || (contexts.stats().live, contexts.stats().named);
    let first = device.primary().unwrap();
    contexts.release(first.handle()).unwrap();
    let again = device.primary().unwrap();
    assert_eq!(stats(), (1, 1));
    let stream = again.streams().acquire(Default::default()).unwrap();
    drop((first, again, contexts.shutdown()));
    contexts.configure(one).unwrap();
    assert_eq!(stats(), (1, 0));
    let third = device.primary().unwrap();
    assert_eq!(stats(), (1, 1));
    let refused = contexts.create(Default::default());
    assert_eq!(refused.unwrap_err(), Error::Full { kind: "Context" });
    contexts.release(third.handle()).unwrap();
    drop((third, stream));
    assert_eq!(stats(), (0, 0));
    let own = contexts.create(Default::default()).unwrap();
    contexts.release(own.handle()).unwrap();
    // SAFETY: ours, and leased.
    let back = unsafe { contexts.borrow(own.as_raw(), Arc::new(())) }.unwrap();
    assert_eq!((back.kind(), stats()), (ContextKind::Created, (1, 1)));
}

// Without it the contexts of a device that no caller can ask for any more could stay for good.
#[test]
fn contexts_of_a_device_that_is_gone_end() {
    let machine = machine();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    for _ in 0..3 {
        let device = device(&execution);
        execution.devices().release(device.handle()).unwrap();
        device
            .contexts()
            .configure(ContextsConfig::default())
            .unwrap();
        drop(device.contexts().create_held(Default::default()).unwrap());
        let kept = device.contexts().create(Default::default()).unwrap();
        assert_eq!(execution.live().contexts, 2);
        drop(device);
        assert_eq!(execution.live().contexts, 1);
        drop(kept);
        assert!(execution.live().is_empty());
    }
}

// Without it a shutdown could report a context as leased that it has itself destroyed, because
// it had a handle in two managers.
#[test]
fn a_context_with_two_managers_ends_once() {
    let machine = machine();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let first = device(&execution);
    let old = first.primary().unwrap();
    execution.devices().release(first.handle()).unwrap();
    let second = device(&execution);
    let new = second.primary().unwrap();
    first
        .contexts()
        .configure(ContextsConfig::default())
        .unwrap();
    let back = first.primary().unwrap();
    assert_eq!(back.as_raw(), new.as_raw());
    drop((old, new, back));
    let report = execution.shutdown();
    assert_eq!(report.leased_of("Context").count(), 0, "{report}");
    drop((first, second));
    assert!(execution.shutdown().is_complete());
    assert_eq!(machine.leaks(), None);
}

// Without it a context with one leased handle and one that is not leased could be told of twice.
#[test]
fn a_context_with_two_handles_is_told_of_once() {
    let machine = machine();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let device = device(&execution);
    let leased = device.primary().unwrap();
    device.contexts().release(leased.handle()).unwrap();
    drop(device.primary().unwrap());
    let report = device.contexts().shutdown();
    assert_eq!(report.leased.len(), 1, "{report}");
    assert_eq!(report.leased[0].leases, 1);
    assert_eq!(report.leased[0].context, Some(leased.handle()));
}
