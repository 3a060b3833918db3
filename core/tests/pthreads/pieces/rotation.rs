//! Buffers that go round: written by producers, read by consumers, never by both.

use std::sync::atomic::{AtomicUsize, Ordering};

use cupola_core::Buffered;

use super::{ROUNDS, THREADS, together, wait};

/// Four words, so that a value which is written while it is read shows as torn too.
type Words = [u64; 4];

/// Would race if publishing, taking or giving back were relaxed.
pub(crate) fn buffers_pass_from_thread_to_thread() {
    // One producer and one consumer with three buffers; two of each with eight.
    triple();
    let buffers = Buffered::<Words, 8>::new([[0; 4]; 8]);
    let producing = AtomicUsize::new(2);
    together(THREADS, &|number| {
        if number < 2 {
            for round in 0..ROUNDS {
                let value = if round % 3 == 0 {
                    buffers.begin()
                } else {
                    buffers.begin_over()
                };
                let Some(mut value) = value else { continue };
                *value = [(number * ROUNDS + round) as u64; 4];
                if round % 5 == 0 {
                    value.cancel();
                } else {
                    value.publish();
                }
            }
            producing.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        while producing.load(Ordering::Relaxed) > 0 {
            let value = if number == 2 {
                buffers.oldest()
            } else {
                buffers.latest()
            };
            match value {
                Some(mut value) => {
                    whole(&value);
                    *value = [7; 4]; // a reader may take something out
                }
                None => wait(),
            }
        }
    });
    let counts = buffers.rotation().counts();
    assert_eq!(
        counts.published,
        counts.consumed + counts.skipped + counts.fresh
    );
}

fn triple() {
    let buffers = Buffered::<Words, 3>::new([[0; 4]; 3]);
    together(2, &|number| {
        if number == 0 {
            let mut value = buffers.begin_over().expect("all three are free");
            for round in 1..=ROUNDS as u64 {
                *value = [round; 4];
                assert_eq!(value.turn_over(), Some(round));
            }
            return;
        }
        let mut shown = loop {
            match buffers.latest() {
                Some(shown) => break shown,
                None => wait(),
            }
        };
        while shown.generation() < ROUNDS as u64 {
            whole(&shown);
            assert_eq!(shown[0], shown.generation());
            if !shown.refresh() {
                wait();
            }
        }
        whole(&shown);
    });
}

fn whole(words: &Words) {
    assert_eq!(*words, [words[0]; 4]);
}
