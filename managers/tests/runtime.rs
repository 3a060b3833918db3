//! The runtime context that a thread is in: nesting, order of drops, threads and their end.

#[path = "../src/test_bench.rs"]
mod test_bench;

use cupola_random::Random;
use std::cell::RefCell;

use cupola_managers::runtime::{self, RuntimeContext, RuntimeGuard};
use cupola_managers::{Buffer, Error, PoolConfig, Result, ops};
use cupola_sim::Machine;
use cupola_sys::Version;
use cupola_sys::driver::{CUresult, id};

use test_bench::TestBench;

fn side(version: Version) -> TestBench {
    let builder = Machine::builder().driver_version(version);
    TestBench::on(builder.worker_threads(1))
}

fn runtime_of(side: &TestBench) -> RuntimeContext {
    let device = side.execution.devices().get(0).unwrap();
    let builder = RuntimeContext::builder(&side.context);
    builder.device(&device).pool_limit(8 << 20).build().unwrap()
}

fn is_current(runtime: &RuntimeContext) -> bool {
    RuntimeContext::current().is_ok_and(|current| current.is(runtime))
}

fn none_is_current() -> bool {
    matches!(RuntimeContext::current(), Err(Error::NoRuntime))
}

/// An operation that needs a temporary buffer and is given none.
fn swap(one: &mut Buffer<u32>, other: &mut Buffer<u32>) -> Result<()> {
    let mut between = runtime::scratch::<u32>(one.len())?;
    let current = RuntimeContext::current()?;
    ops::copy(&*one, &mut between, current.stream())?;
    ops::copy(&*other, one, current.stream())?;
    ops::copy(&between, other, current.stream())
}

// Without it an operation could work in another thread's context, or in the one before.
#[test]
fn guards_nest_and_restore_across_two_drivers() {
    let (new, old) = (side(Version::new(13, 0)), side(Version::new(11, 1)));
    let (outer, inner) = (runtime_of(&new), runtime_of(&old));
    assert!(none_is_current());
    let text = RuntimeContext::current().unwrap_err().to_string();
    assert!(text.starts_with("no runtime context is entered on this thread"));
    assert_eq!(runtime::scratch::<u8>(1).unwrap_err(), Error::NoRuntime);
    new.faults.reset();
    old.faults.reset();
    {
        let _outer = outer.enter();
        assert!(is_current(&outer));
        {
            let _inner = inner.enter();
            let _again = inner.clone().enter();
            assert!(is_current(&inner) && !is_current(&outer));
            std::thread::scope(|scope| {
                scope.spawn(|| assert!(none_is_current(), "threads do not inherit"));
            });
        }
        assert!(is_current(&outer));
    }
    assert!(none_is_current());
    let calls = (new.faults.counts(), old.faults.counts());
    assert!(calls.0.is_empty() && calls.1.is_empty(), "{calls:?}");

    for (runtime, version) in [(&outer, 13), (&inner, 11)] {
        let _guard = runtime.enter();
        let current = RuntimeContext::current().unwrap();
        let driver = current.context().driver();
        assert_eq!(driver.driver_version().major(), version);
        assert_eq!(current.device().unwrap().ordinal(), current.ordinal());
        let mut one = current.scratch::<u32>(100).unwrap();
        let mut other = runtime::scratch::<u32>(100).unwrap();
        ops::fill(&mut one, 1, current.stream()).unwrap();
        ops::fill(&mut other, 2, current.stream()).unwrap();
        swap(&mut one, &mut other).unwrap();
        let mut back = [[0; 100]; 2];
        ops::read(&one, &mut back[0], current.stream()).unwrap();
        ops::read(&other, &mut back[1], current.stream()).unwrap();
        assert_eq!(back, [[2; 100], [1; 100]]);
        let usage = current.pool().usage().unwrap();
        assert_eq!(
            (usage.live, usage.allocations),
            (800, 3),
            "the third was freed"
        );
    }
    drop((outer, inner));
    new.finish();
    old.finish();
}

// Without it a guard that goes first could make a runtime context current that was left, or
// leave its own behind.
#[test]
fn guards_may_go_in_any_order() {
    let side = side(Version::new(13, 0));
    let runtimes: Vec<_> = (0..5).map(|_| runtime_of(&side)).collect();
    fn property(runtimes: &[RuntimeContext], order: &[u8]) {
        let mut entered: Vec<(usize, RuntimeGuard)> = Vec::new();
        for pick in order {
            let pick = usize::from(*pick);
            if pick % 2 == 0 {
                let which = pick / 2 % runtimes.len();
                entered.push((which, runtimes[which].enter()));
            } else if !entered.is_empty() {
                drop(entered.remove(pick / 2 % entered.len()));
            }
            match entered.last() {
                Some((which, _)) => assert!(is_current(&runtimes[*which])),
                None => assert!(none_is_current()),
            }
        }
        drop(entered);
        assert!(none_is_current());
    }
    let check = runtimes.clone();
    std::thread::spawn(move || {
        let mut random = Random::new(1);
        for _ in 0..300 {
            let order = random.bytes(64);
            property(&check, &order);
        }
    })
    .join()
    .unwrap();
    drop(runtimes);
    side.finish();
}

// Without it a panic could leave a runtime context entered.
#[test]
fn a_panic_leaves_the_runtime_context() {
    let side = side(Version::new(13, 0));
    let runtime = runtime_of(&side);
    let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _guard = runtime.enter();
        panic!("in the middle");
    }));
    assert!(unwound.is_err() && none_is_current());
    drop(runtime);
    side.finish();
}

thread_local! {
    /// What a thread still has when it ends.
    static KEPT: RefCell<Vec<Box<dyn std::any::Any>>> = const { RefCell::new(Vec::new()) };
}

/// Asks and enters when it is dropped, as destructors of thread-locals may.
struct AsksAtTheEnd(RuntimeContext);

impl Drop for AsksAtTheEnd {
    fn drop(&mut self) {
        // What the answer is depends on which thread-local goes first.
        let _ = RuntimeContext::current();
        let guard = self.0.enter();
        let _ = runtime::scratch::<u8>(16);
        drop(guard);
    }
}

// Without it the end of a thread could panic, which ends the process, touch thread-locals
// that are gone, or leave streams and memory behind.
#[test]
fn threads_may_end_while_a_runtime_context_is_entered() {
    let side = side(Version::new(13, 0));
    let shared = runtime_of(&side);
    for round in 0..50 {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..20)
                .map(|thread| {
                    let (side, shared) = (&side, &shared);
                    scope.spawn(move || {
                        let keep = |thing: Box<dyn std::any::Any>| {
                            KEPT.with_borrow_mut(|kept| kept.push(thing));
                        };
                        // In every second thread the test's thread-local is made first.
                        if thread % 2 == 0 {
                            KEPT.with_borrow(|_| ());
                        }
                        let own = runtime_of(side);
                        let guard = own.enter();
                        let inner = shared.enter();
                        let buffer = runtime::scratch::<u64>(64).unwrap();
                        match (round + thread) % 5 {
                            // Forgotten: the end of the thread drops the last of its own one.
                            0 => {
                                let _ = std::mem::ManuallyDrop::new((guard, inner));
                            }
                            1 => keep(Box::new((guard, inner, buffer))),
                            2 => keep(Box::new((buffer, inner, guard, own))),
                            3 => keep(Box::new((AsksAtTheEnd(own), guard))),
                            _ => drop((guard, buffer, inner)),
                        }
                    })
                })
                .collect();
            // The scope alone waits for the closures, not for the ends of the threads.
            for thread in threads {
                thread.join().unwrap();
            }
        });
    }
    assert!(none_is_current());
    drop(shared);
    side.finish();
}

// Without it parts of two contexts could be passed around as one.
#[test]
fn the_parts_have_to_belong_together() {
    let (side, other) = (side(Version::new(13, 0)), side(Version::new(13, 0)));
    let device = side.execution.devices().get(0).unwrap();
    let context = device.primary().unwrap();
    let own = device.contexts().create(Default::default()).unwrap();
    let foreign = other.execution.devices().get(0).unwrap();
    let stream = own.streams().create(Default::default()).unwrap();
    let pool = own.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let builder = || RuntimeContext::builder(&context);
    let wrong = |result: Result<RuntimeContext>, thing: &str| match result {
        Err(Error::WrongContext { what }) => assert_eq!(what, thing),
        other => panic!("{other:?}"),
    };
    wrong(
        builder().pool_limit(1).device(&foreign).build(),
        "the device",
    );
    wrong(
        builder().pool_limit(1).stream(&stream).build(),
        "the stream",
    );
    wrong(builder().pool(&pool).build(), "the pool");
    for (field, result) in [
        ("pool", builder().build()),
        (
            "pool_limit",
            RuntimeContext::builder(&own)
                .pool(&pool)
                .pool_limit(1)
                .build(),
        ),
    ] {
        assert!(
            matches!(&result, Err(Error::Invalid { field: named, .. }) if *named == field),
            "{result:?}"
        );
    }
    let streams = own.streams().live();
    let runtime = RuntimeContext::builder(&own)
        .stream(&stream)
        .pool(&pool)
        .device(&device)
        .build()
        .unwrap();
    assert_eq!(own.streams().live(), streams, "none was created");
    assert_eq!(runtime.stream().handle(), stream.handle());
    drop(runtime);
    own.streams()
        .lease(stream.handle())
        .expect("it is the caller's");

    // A stream that cannot be had leaves no pool behind.
    let before = side.execution.live();
    side.faults.reset();
    let code = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    side.faults.fail(id::cuStreamCreateWithPriority, 1, code);
    let refused = builder().pool_limit(8 << 20).build().unwrap_err();
    assert_eq!(refused.status(), Some(code));
    assert_eq!(side.execution.live(), before);
    // What a runtime context made goes with its last clone.
    let made = builder().pool_limit(8 << 20).build().unwrap();
    let clone = made.clone();
    drop(made);
    assert_eq!(
        (context.streams().live(), side.execution.live().pools),
        (1, before.pools + 1)
    );
    drop(clone);
    assert_eq!(
        (context.streams().live(), side.execution.live().pools),
        (0, before.pools)
    );

    own.streams().release(stream.handle()).unwrap();
    device.contexts().release(own.handle()).unwrap();
    drop((stream, pool, own, context, device, foreign));
    side.finish();
    other.finish();
}
