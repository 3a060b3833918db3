//! The newest value, from one thread to another: both are never made to wait, and values
//! that nobody read in time are skipped.

use std::hint::black_box;

use cupola_core::{Buffered, ReadBuffer, WriteBuffer};

use super::bars::{BEGIN_LATEST, TURN_OVER};
use super::pairs::{HAND_OVER, ONE};
use crate::bench::clock::together;
use crate::bench::rounds::Case;

/// Operations between two looks at the clock.
const BATCH: u64 = 1024;

/// Buffers between one producer and one consumer. The values grow.
pub(super) trait Exchange: Sync + 'static {
    type Input<'s>;
    type Output<'s>;

    /// Holds a value that can be read.
    fn new() -> Self;

    /// The producer's end, once.
    fn input(&self) -> Option<Self::Input<'_>>;

    /// The consumer's end, once.
    fn output(&self) -> Option<Self::Output<'_>>;

    /// Makes `value` the newest. False when there is no buffer to be had.
    fn publish(input: &mut Self::Input<'_>, value: u64) -> bool;

    /// The newest value, or the one that was read last.
    fn read(output: &mut Self::Output<'_>) -> u64;
}

/// The rows.
pub(super) struct Exchanges {
    threads: usize,
    cases: Vec<Case>,
}

/// All rows.
pub(super) fn cases(threads: usize) -> Vec<Case> {
    let mut exchanges = Exchanges {
        threads,
        cases: vec![],
    };
    exchanges.add::<Held>(TURN_OVER);
    exchanges.add::<Taken>(BEGIN_LATEST);
    #[cfg(feature = "peers")]
    super::peers::exchanges(&mut exchanges);
    exchanges.cases
}

impl Exchanges {
    /// Measures buffers on one thread and between two.
    pub(super) fn add<E: Exchange>(&mut self, name: &str) {
        self.cases
            .push(alone::<E>(format!("{ONE}: newest value, {name}")));
        if self.threads > 1 {
            let name = format!("{HAND_OVER}: newest value, {name}");
            self.cases.push(between::<E>(name));
        }
    }
}

/// A value is published, and read.
fn alone<E: Exchange>(name: String) -> Case {
    Case::new(name, 1, |turn| {
        let buffers = E::new();
        let (mut input, mut output) = (buffers.input()?, buffers.output()?);
        let mut wrong = false;
        let mut value = 0;
        let lap = turn.measure(|| {
            for _ in 0..BATCH {
                value += 1;
                wrong |= !E::publish(&mut input, black_box(value));
                wrong |= E::read(&mut output) != value;
            }
            BATCH
        });
        (!wrong).then_some(lap)
    })
}

/// One thread publishes, another reads, each as often as it can.
fn between<E: Exchange>(name: String) -> Case {
    Case::of_samples(name, 2, |time| {
        let buffers = E::new();
        together(2, time, |turn| {
            let mut wrong = false;
            let mut value = 0;
            let lap = if turn.thread == 0 {
                let mut input = buffers.input()?;
                turn.measure(|| {
                    for _ in 0..BATCH {
                        value += 1;
                        wrong |= !E::publish(&mut input, value);
                    }
                    BATCH
                })
            } else {
                let mut output = buffers.output()?;
                turn.measure(|| {
                    for _ in 0..BATCH {
                        let read = E::read(&mut output);
                        wrong |= read < value;
                        value = read;
                    }
                    BATCH
                })
            };
            (!wrong).then_some(lap)
        })
    })
}

/// Three buffers of which each end holds one all the time, as those of a triple buffer do.
struct Held(Buffered<u64, 3>);

/// Values that start at 0, with one published.
fn published() -> Buffered<u64, 3> {
    let buffers = Buffered::new([0; 3]);
    if let Some(first) = buffers.begin() {
        first.publish();
    }
    buffers
}

impl Exchange for Held {
    type Input<'s> = WriteBuffer<'s, u64, 3>;
    type Output<'s> = ReadBuffer<'s, u64, 3>;

    fn new() -> Self {
        Self(published())
    }

    fn input(&self) -> Option<Self::Input<'_>> {
        self.0.begin()
    }

    fn output(&self) -> Option<Self::Output<'_>> {
        self.0.latest()
    }

    fn publish(input: &mut Self::Input<'_>, value: u64) -> bool {
        **input = value;
        input.turn_over().is_some()
    }

    fn read(output: &mut Self::Output<'_>) -> u64 {
        output.refresh();
        **output
    }
}

/// The same, with a buffer taken and given back for each value.
struct Taken(Buffered<u64, 3>);

impl Exchange for Taken {
    type Input<'s> = &'s Buffered<u64, 3>;
    /// The value that was read last.
    type Output<'s> = (&'s Buffered<u64, 3>, u64);

    fn new() -> Self {
        Self(published())
    }

    fn input(&self) -> Option<Self::Input<'_>> {
        Some(&self.0)
    }

    fn output(&self) -> Option<Self::Output<'_>> {
        Some((&self.0, 0))
    }

    fn publish(input: &mut Self::Input<'_>, value: u64) -> bool {
        let Some(mut buffer) = input.begin_over() else {
            return false;
        };
        *buffer = value;
        buffer.publish();
        true
    }

    fn read((buffers, last): &mut Self::Output<'_>) -> u64 {
        if let Some(newest) = buffers.latest() {
            *last = *newest;
        }
        *last
    }
}
