//! Mistakes made on purpose: a sanitizer that says nothing of them is blind.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Plain, together, wait};

/// Makes the mistake `name`.
pub(crate) fn run(name: &str) {
    match name {
        "race" => planted_race(),
        "relaxed" => planted_relaxed(),
        "use-after-free" => planted_use_after_free(),
        "leak" => planted_leak(),
        _ => panic!("no mistake is called {name}"),
    }
}

/// Two threads count in the same word.
fn planted_race() {
    let word = Plain::default();
    together(2, &|_| {
        for _ in 0..1000 {
            word.write(word.read() + 1);
        }
    });
    black_box(word.read());
}

/// A word is published, but relaxed: on this processor nothing goes wrong, and the
/// sanitizer must still see that it may.
fn planted_relaxed() {
    let word = Plain::default();
    let there = AtomicBool::new(false);
    together(2, &|number| {
        if number == 0 {
            word.write(1);
            there.store(true, Ordering::Relaxed);
        } else {
            while !there.load(Ordering::Relaxed) {
                wait();
            }
            black_box(word.read());
        }
    });
}

/// A box is read after it was dropped.
fn planted_use_after_free() {
    let pointer = Box::into_raw(Box::new(black_box(1_u64)));
    // SAFETY: the box that `into_raw` gave up, once.
    drop(unsafe { Box::from_raw(pointer) });
    // SAFETY: none, on purpose: run only to see it reported.
    black_box(unsafe { black_box(pointer).read_volatile() });
}

/// A box is forgotten, and so is the way to it.
fn planted_leak() {
    for number in 0..100_u64 {
        black_box(Box::into_raw(Box::new(number)));
    }
}
