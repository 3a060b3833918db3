//! A rotation of `N` values against a list of fresh ones; bytes say what is done. Shared
//! by the properties and the fuzz target.

use std::collections::VecDeque;

use cupola_core::{BufferState, Buffered, ReadBuffer, RotationCounts, WriteBuffer};

/// The plainest account of the same thing.
struct Account {
    states: Vec<BufferState>,
    /// Buffer and generation, oldest first.
    fresh: VecDeque<(usize, u64)>,
    /// What was last written to each buffer.
    values: Vec<u64>,
    published: u64,
    consumed: u64,
    skipped: u64,
}

impl Account {
    fn free(&self) -> Option<usize> {
        let free = |state: &BufferState| *state == BufferState::Free;
        self.states.iter().position(free)
    }

    /// Takes a buffer for writing, over an old one if need be: all but `keep` fresh ones
    /// may be skipped.
    fn write_over(&mut self, keep: usize) -> Option<usize> {
        let buffer = self.free().or_else(|| {
            let old = (self.fresh.len() > keep).then(|| self.fresh.pop_front())??;
            self.skipped += 1;
            Some(old.0)
        })?;
        self.states[buffer] = BufferState::Writing;
        Some(buffer)
    }

    fn publish(&mut self, buffer: usize) -> u64 {
        self.published += 1;
        self.fresh.push_back((buffer, self.published));
        self.states[buffer] = BufferState::Fresh;
        self.published
    }

    fn read_oldest(&mut self) -> Option<(usize, u64)> {
        let (buffer, generation) = self.fresh.pop_front()?;
        self.states[buffer] = BufferState::Reading;
        self.consumed += 1;
        Some((buffer, generation))
    }

    fn read_newest(&mut self) -> Option<(usize, u64)> {
        while self.fresh.len() > 1 {
            let (buffer, _) = self.fresh.pop_front()?;
            self.states[buffer] = BufferState::Free;
            self.skipped += 1;
        }
        self.read_oldest()
    }
}

/// Does what `bytes` say and panics where the two differ.
pub(crate) fn replay<const N: usize>(bytes: &[u8]) {
    let buffers = Buffered::<u64, N>::new([0; N]);
    let mut account = Account {
        states: vec![BufferState::Free; N],
        fresh: VecDeque::new(),
        values: vec![0; N],
        published: 0,
        consumed: 0,
        skipped: 0,
    };
    let mut writers: Vec<WriteBuffer<'_, u64, N>> = Vec::new();
    let mut readers: Vec<ReadBuffer<'_, u64, N>> = Vec::new();
    for (stamp, byte) in (1..).zip(bytes) {
        let (step, which) = (byte % 10, usize::from(byte / 10));
        match step {
            0 | 1 => {
                let (found, expected) = if step == 0 {
                    let free = account.free();
                    if let Some(buffer) = free {
                        account.states[buffer] = BufferState::Writing;
                    }
                    (buffers.begin(), free)
                } else {
                    (buffers.begin_over(), account.write_over(1))
                };
                assert_eq!(found.as_ref().map(WriteBuffer::buffer), expected);
                writers.extend(found);
            }
            2..=5 if !writers.is_empty() => {
                let at = which % writers.len();
                let buffer = writers[at].buffer();
                assert_eq!(*writers[at], account.values[buffer], "as it was left");
                *writers[at] = stamp;
                account.values[buffer] = stamp;
                match step {
                    2 | 3 => {
                        let generation = writers.swap_remove(at).publish();
                        assert_eq!(generation, account.publish(buffer));
                    }
                    4 => {
                        writers.swap_remove(at).cancel();
                        account.states[buffer] = BufferState::Free;
                    }
                    _ => {
                        // The other one is chosen before this one counts as fresh.
                        let other = account.write_over(0);
                        let generation = other.map(|_| account.publish(buffer));
                        assert_eq!(writers[at].turn_over(), generation);
                        assert_eq!(writers[at].buffer(), other.unwrap_or(buffer));
                    }
                }
            }
            6 | 7 => {
                let (found, expected) = if step == 6 {
                    (buffers.oldest(), account.read_oldest())
                } else {
                    (buffers.latest(), account.read_newest())
                };
                let read = found
                    .as_ref()
                    .map(|read| (read.buffer(), read.generation()));
                assert_eq!(read, expected);
                readers.extend(found);
            }
            8 | 9 if !readers.is_empty() => {
                let at = which % readers.len();
                let buffer = readers[at].buffer();
                assert_eq!(*readers[at], account.values[buffer], "what was published");
                if step == 8 {
                    drop(readers.swap_remove(at));
                    account.states[buffer] = BufferState::Free;
                } else if let Some((newest, generation)) = account.read_newest() {
                    account.states[buffer] = BufferState::Free;
                    assert!(readers[at].refresh());
                    assert_eq!(readers[at].buffer(), newest);
                    assert_eq!(readers[at].generation(), generation);
                } else {
                    assert!(!readers[at].refresh());
                    assert_eq!(readers[at].buffer(), buffer);
                }
            }
            _ => {}
        }
        let rotation = buffers.rotation();
        assert_eq!(rotation.states().as_slice(), account.states);
        let counts = RotationCounts {
            published: account.published,
            consumed: account.consumed,
            skipped: account.skipped,
            fresh: account.fresh.len() as u64,
        };
        assert_eq!(rotation.counts(), counts);
        assert_eq!(
            counts.published,
            counts.consumed + counts.skipped + counts.fresh
        );
        assert_eq!(rotation.published(), account.published);
        let asked = u64::from(*byte) % (account.published + 2);
        let newer = account.fresh.iter().any(|fresh| fresh.1 > asked);
        assert_eq!(rotation.newer_than(asked), newer);
    }
    drop((writers, readers));
    let held = |state: &BufferState| matches!(state, BufferState::Writing | BufferState::Reading);
    assert!(!buffers.rotation().states().iter().any(held));
}
