//! The words of a ledger as plain numbers. Shared by the properties and the fuzz target.

use std::sync::atomic::{AtomicU64, Ordering};

use cupola_core::ledger::Words;

/// Rows that are looked at: no scenario has more.
pub(crate) const ROWS: usize = 3;
/// Words that are looked at: the limit, the total, the row of the limit, and these rows.
pub(crate) const WORDS: usize = 3 + 4 * ROWS;

/// Words of which a copy is a few numbers.
pub(crate) struct Memory(Box<Words>);

impl Memory {
    pub(crate) fn new() -> Self {
        Self(Box::default())
    }

    pub(crate) fn words(&self) -> &Words {
        &self.0
    }

    /// The word at this place: the limit, the total and four of each row begin lines of eight.
    pub(crate) fn word(&self, line: usize, word: usize) -> &AtomicU64 {
        let at = line * 8 + word;
        assert!(at < size_of::<Words>() / 8 && word < 8);
        let first = std::ptr::from_ref(&*self.0).cast::<AtomicU64>();
        // SAFETY: `add` and the reference need a word inside of the box, which `at` is; words are atomic,
        // there or in padding that nothing else uses.
        unsafe { &*first.add(at) }
    }

    fn each(&self) -> impl Iterator<Item = &AtomicU64> {
        let rows = (2..2 + ROWS).flat_map(|line| (0..4).map(move |word| (line, word)));
        // The last row is the limit's.
        let last = size_of::<Words>() / 64 - 1;
        [(0, 0), (1, 0), (last, 1)]
            .into_iter()
            .chain(rows)
            .map(|(line, word)| self.word(line, word))
    }

    /// The words that count.
    pub(crate) fn read(&self) -> Vec<u64> {
        self.each().map(|it| it.load(Ordering::Relaxed)).collect()
    }

    pub(crate) fn write(&self, values: &[u64]) {
        for (word, value) in self.each().zip(values) {
            word.store(*value, Ordering::Relaxed);
        }
    }
}
