//! The rotation against a list of fresh buffers, and under threads.

mod replay;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use cupola_core::{Buffered, ReadBuffer, Rotation, WriteBuffer};
use quickcheck::quickcheck;
use replay::replay;
use static_assertions::{assert_impl_all, assert_not_impl_any};

// A guard is sent and shared as a reference to its value is, the buffers as their values.
assert_impl_all!(Buffered<Cell<u64>, 3>: Send, Sync);
assert_impl_all!(WriteBuffer<'static, Cell<u64>, 3>: Send);
assert_impl_all!(ReadBuffer<'static, u64, 3>: Send, Sync);
assert_not_impl_any!(Buffered<*mut u64, 3>: Send, Sync);
assert_not_impl_any!(WriteBuffer<'static, Cell<u64>, 3>: Sync);
assert_not_impl_any!(ReadBuffer<'static, Cell<u64>, 3>: Sync);

quickcheck! {
    /// Without it a buffer could have two holders, publications come out of order, the
    /// newest be skipped, or a count be lost.
    fn a_rotation_behaves_like_a_list(steps: Vec<u8>) -> bool {
        replay::<2>(&steps);
        replay::<3>(&steps);
        replay::<5>(&steps);
        replay::<8>(&steps);
        true
    }
}

/// Without it the sizes that the models do not have would go untested by more than one
/// thread: two producers, an impatient one and one that loses nothing, and two consumers.
#[test]
fn a_rotation_survives_threads() {
    const EACH: u64 = 20_000;
    let buffers = Buffered::<[u64; 2], 8>::new([[0; 2]; 8]);
    let (done, read) = (AtomicBool::new(false), AtomicU64::new(0));
    let consume = |newest: bool| {
        let mut last = 0;
        loop {
            let over = done.load(Ordering::Acquire);
            let value = if newest {
                buffers.latest()
            } else {
                buffers.oldest()
            };
            match value {
                Some(value) => {
                    assert_eq!(value[0], !value[1], "a torn value");
                    assert!(value.generation() > last, "a consumer goes back");
                    last = value.generation();
                    read.fetch_add(1, Ordering::Relaxed);
                }
                None if over => break,
                None => thread::yield_now(),
            }
        }
    };
    let produce = |over: bool| {
        let mut last = 0;
        for stamp in 0..EACH {
            let mut value = loop {
                let value = if over {
                    buffers.begin_over()
                } else {
                    buffers.begin()
                };
                match value {
                    Some(value) => break value,
                    // Eight buffers for two producers and two consumers: see `begin_over`.
                    None => assert!(!over, "it should always find one"),
                }
                thread::yield_now();
            };
            *value = [stamp, !stamp];
            let generation = value.publish();
            assert!(generation > last);
            last = generation;
        }
    };
    thread::scope(|scope| {
        let consume = &consume;
        let consumers = [true, false].map(|newest| scope.spawn(move || consume(newest)));
        let produce = &produce;
        let producers = [true, false].map(|over| scope.spawn(move || produce(over)));
        for producer in producers {
            producer.join().unwrap();
        }
        done.store(true, Ordering::Release);
        for consumer in consumers {
            consumer.join().unwrap();
        }
    });
    let counts = buffers.rotation().counts();
    assert_eq!((counts.published, counts.fresh), (2 * EACH, 0));
    assert_eq!(counts.consumed, read.into_inner());
    assert_eq!(counts.consumed + counts.skipped, counts.published);
}

/// Without it a forgotten guard could free what it still holds.
#[test]
#[expect(clippy::mem_forget, reason = "forgetting is what is tested")]
fn a_forgotten_guard_keeps_its_buffer() {
    let rotation = Rotation::<2>::new();
    std::mem::forget(rotation.begin().unwrap());
    let other = rotation.begin().unwrap();
    assert!(rotation.begin_over().is_none());
    assert_eq!(other.publish(), 1);
    assert_eq!(rotation.latest().unwrap().buffer(), 1);
}
