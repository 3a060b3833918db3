use std::collections::BTreeSet;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use cupola_core::tag;

use super::*;

type Numbers = Registry<(u32, Permit), tag::Stream>;
type Named = (ManagedHandle<tag::Stream>, Arc<(u32, Permit)>);

fn insert(registry: &Numbers, number: u32) -> Result<Named> {
    let mut handle = None;
    let value = registry.insert_with(|h, permit| {
        handle = Some(h);
        Ok((number, permit))
    })?;
    Ok((handle.unwrap(), value))
}

// Without it a released handle could reach the slot's next object, or an object go while it
// is leased.
#[test]
fn stale_handles_stay_stale_and_leases_outlive_them() {
    let registry = Numbers::new(10);
    let (handle, lease) = insert(&registry, 7).unwrap();
    assert!(registry.release(handle).unwrap().is_none());
    assert_eq!(lease.0, 7);
    insert(&registry, 8).unwrap();
    assert!(matches!(
        registry.lease(handle),
        Err(Error::StaleHandle { kind: "Stream", .. })
    ));
    assert!(matches!(
        registry.release(handle),
        Err(Error::StaleHandle { .. })
    ));
}

// Without it a failed creation would use up a slot, or a permit, for ever.
#[test]
fn a_failed_creation_gives_its_slot_back() {
    let registry = Numbers::new(1);
    for _ in 0..200_000 {
        assert!(registry.insert_with(|_, _| Err(Error::Forked)).is_err());
    }
    assert_eq!(registry.stats().live, 0);
    assert!(insert(&registry, 1).is_ok());
}

// Without it the capacity could be passed by objects that have no handle any more.
#[test]
fn an_object_keeps_its_seat_until_it_goes() {
    let registry = Numbers::new(1);
    let (handle, lease) = insert(&registry, 1).unwrap();
    drop(registry.release(handle));
    assert!(matches!(
        insert(&registry, 2),
        Err(Error::Full { kind: "Stream" })
    ));
    drop(lease);
    assert!(insert(&registry, 2).is_ok());
    let stats = registry.stats();
    assert_eq!((stats.created, stats.peak, stats.capacity), (2, 1, 1));
}

// Without it something could be handed out after a shutdown had returned, unseen by it.
#[test]
fn what_is_made_during_a_shutdown_is_not_handed_out() {
    let registry = Numbers::new(10);
    let made = registry.insert_with(|_, permit| {
        assert!(registry.shut().is_empty());
        Ok((1, permit))
    });
    assert_eq!(made.unwrap_err(), Error::ShutDown { kind: "Stream" });
    registry.open(10);
    let reserved = registry.reserve().unwrap();
    let made = registry.ensure_alive(reserved, |permit| {
        registry.shut();
        // Open again: an object begun before is refused all the same.
        registry.open(10);
        Ok((1, permit))
    });
    assert_eq!(made.unwrap_err(), Error::ShutDown { kind: "Stream" });
    assert_eq!((registry.live(), registry.stats().live), (0, 0));
}

// Without it a shutdown could miss an object that is leased under no name.
#[test]
fn a_shutdown_finds_everything() {
    let registry = Numbers::new(10);
    let (released, lease) = insert(&registry, 1).unwrap();
    drop(registry.release(released));
    let (named, _) = insert(&registry, 2).unwrap();
    let reserved = registry.reserve().unwrap();
    let found: Vec<_> = registry.shut().into_iter().map(|(h, v)| (h, v.0)).collect();
    assert_eq!(found, [(released, 1), (named, 2)]);
    registry.open(10);
    for stale in [released, named, reserved] {
        let made = registry.ensure_alive(stale, |_| unreachable!());
        assert!(matches!(made, Err(Error::StaleHandle { .. })));
    }
    drop(lease);
}

// Without it two threads could both make an object, or an error reach only one of them.
#[test]
fn one_thread_makes_it_and_all_get_its_outcome() {
    let registry = Numbers::new(10);
    let handle = registry.reserve().unwrap();
    let (makers, barrier) = (AtomicU32::new(0), Barrier::new(8));
    let attempt = |outcome: fn(u32, Permit) -> Result<(u32, Permit)>| {
        makers.store(0, Ordering::Relaxed);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        barrier.wait();
                        registry.ensure_alive(handle, |permit| {
                            let maker = makers.fetch_add(1, Ordering::Relaxed);
                            std::thread::sleep(Duration::from_millis(50));
                            outcome(maker, permit)
                        })
                    })
                })
                .collect();
            let outcomes = threads.into_iter().map(|thread| thread.join().unwrap());
            outcomes.collect::<Vec<_>>()
        })
    };
    // Each maker has an error of its own.
    let failed = attempt(|maker, _| Err(Error::stale("Stream", u64::from(maker))));
    let errors = failed.into_iter().map(|made| match made.unwrap_err() {
        Error::StaleHandle { bits, .. } => bits,
        other => panic!("{other}"),
    });
    let errors: BTreeSet<_> = errors.collect();
    // One that came late may have begun an attempt of its own, and then none that waits for
    // that is told of another.
    let makers_of_all = u64::from(makers.load(Ordering::Relaxed));
    assert_eq!(errors, (0..makers_of_all).collect());
    let made = attempt(|_, permit| Ok((5, permit)));
    assert!(made.iter().all(|made| made.as_ref().unwrap().0 == 5));
    assert_eq!(makers.load(Ordering::Relaxed), 1);
}
