//! Any bytes as the words of a ledger, which strangers may write. Shared by the properties and the fuzz target.

use cupola_core::ledger::{Operation, Owner, UNIT};

use super::memory::{Memory, ROWS, WORDS};

/// Does what the last bytes say with words that the others are: each operation ends soon, and nothing panics.
pub(crate) fn replay(bytes: &[u8]) {
    let (words, acts) = bytes.split_at(bytes.len().min(8 * WORDS));
    let mut values = [0; WORDS];
    for (value, bytes) in values.iter_mut().zip(words.chunks(8)) {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        *value = u64::from_le_bytes(word);
    }
    let memory = Memory::new();
    memory.write(&values);
    let words = memory.words();
    for act in acts {
        let (kind, row) = (act % 6, usize::from(act / 6) % (ROWS + 1));
        let owner = words.owner(row);
        let operation = match (kind, owner) {
            (0..2, _) => Operation::charge(row, u64::from(*act) * UNIT / 4),
            (2, _) => Operation::charge(row, u64::MAX),
            (3, Some(owner)) => Operation::reclaim(row, owner),
            (4, _) => {
                words.set_limit(u64::from(*act) * UNIT);
                continue;
            }
            _ => {
                let me = Owner::new(7, 7).unwrap();
                if let Some(row) = words.join(me) {
                    words.leave(row, me);
                }
                continue;
            }
        };
        let mut running = operation;
        let steps = (0..100).take_while(|_| running.step(words).is_none());
        assert!(steps.count() < 100, "{operation:?} has no end");
        let _read = (words.member(row), words.used(), words.limit());
    }
}
