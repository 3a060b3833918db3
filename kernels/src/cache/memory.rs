//! Entries and failures in memory.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use super::entry::Entry;
use super::key::Key;

/// Entries by key, the ones least recently used given up for new ones.
#[derive(Debug)]
pub(super) struct Entries {
    limit: u64,
    bytes: u64,
    held: HashMap<Key, Held>,
    /// The keys by when they were last used.
    order: BTreeMap<u64, Key>,
    uses: u64,
}

#[derive(Debug)]
struct Held {
    entry: Arc<Entry>,
    used: u64,
}

impl Entries {
    pub(super) fn new(limit: u64) -> Self {
        Self {
            limit,
            bytes: 0,
            held: HashMap::new(),
            order: BTreeMap::new(),
            uses: 0,
        }
    }

    /// The entry of a key, which is now the most recently used.
    pub(super) fn get(&mut self, key: &Key) -> Option<Arc<Entry>> {
        let held = self.held.get_mut(key)?;
        self.order.remove(&held.used);
        self.uses += 1;
        held.used = self.uses;
        self.order.insert(held.used, *key);
        Some(Arc::clone(&held.entry))
    }

    /// Keeps an entry, in the place of another of its key. One that is larger than the limit is not
    /// kept.
    pub(super) fn insert(&mut self, key: Key, entry: Arc<Entry>) {
        self.remove(&key);
        let bytes = entry.bytes();
        if bytes > self.limit {
            return;
        }
        while self.bytes + bytes > self.limit
            && let Some((_, oldest)) = self.order.first_key_value()
        {
            let oldest = *oldest;
            self.remove(&oldest);
        }
        self.uses += 1;
        let used = self.uses;
        self.bytes += bytes;
        self.order.insert(used, key);
        self.held.insert(key, Held { entry, used });
    }

    pub(super) fn remove(&mut self, key: &Key) {
        if let Some(held) = self.held.remove(key) {
            self.order.remove(&held.used);
            self.bytes -= held.entry.bytes();
        }
    }
}

/// How many failures are remembered.
const MOST_FAILURES: usize = 64;

/// The last compiles that failed by the fault of their inputs. They are never on disk: a machine
/// where they would succeed may share the folder.
#[derive(Debug)]
pub(super) struct Failures<E>(VecDeque<(Key, Arc<E>)>);

impl<E> Failures<E> {
    pub(super) const fn new() -> Self {
        Self(VecDeque::new())
    }

    pub(super) fn get(&self, key: &Key) -> Option<Arc<E>> {
        let (_, error) = self.0.iter().find(|(of, _)| of == key)?;
        Some(Arc::clone(error))
    }

    pub(super) fn insert(&mut self, key: Key, error: Arc<E>) {
        self.remove(&key);
        if self.0.len() == MOST_FAILURES {
            self.0.pop_front();
        }
        self.0.push_back((key, error));
    }

    pub(super) fn remove(&mut self, key: &Key) {
        self.0.retain(|(of, _)| of != key);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Manifest;
    use super::super::digest::Digest;
    use super::*;
    use crate::compile::ImageKind;

    fn key(of: u8) -> Key {
        Key::from_digest(Digest::of(&[of]))
    }

    fn entry(bytes: usize) -> Arc<Entry> {
        Arc::new(Entry {
            kind: ImageKind::Cubin.into(),
            payload: vec![0; bytes],
            names: Vec::new(),
            log: String::new(),
            manifest: Manifest::new(),
            recipe: None,
        })
    }

    /// Without it memory would grow without end, or lose what is used all the time.
    #[test]
    fn the_least_recently_used_entry_goes() {
        let one = entry(1000);
        let mut entries = Entries::new(3 * one.bytes());
        for of in 0..3 {
            entries.insert(key(of), Arc::clone(&one));
        }
        assert!(entries.get(&key(0)).is_some());
        entries.insert(key(3), Arc::clone(&one));
        let there = |entries: &mut Entries, of| entries.get(&key(of)).is_some();
        assert!(there(&mut entries, 0) && !there(&mut entries, 1));
        assert!(there(&mut entries, 2) && there(&mut entries, 3));
        // In the place of itself; and one that never fits takes no other's place.
        entries.insert(key(3), Arc::clone(&one));
        entries.insert(key(4), entry(100_000));
        assert!(there(&mut entries, 0) && !there(&mut entries, 4));
        assert_eq!(entries.bytes, 3 * one.bytes());
        for of in 0..5 {
            entries.remove(&key(of));
        }
        assert!(entries.bytes == 0 && entries.order.is_empty());
    }

    /// Without it failures of programs that generate sources would fill memory.
    #[test]
    fn old_failures_are_forgotten() {
        let mut failures = Failures::new();
        for of in 0..=u8::try_from(MOST_FAILURES).unwrap() {
            failures.insert(key(of), Arc::new(of));
        }
        assert_eq!(failures.get(&key(0)), None);
        assert_eq!(failures.get(&key(1)).as_deref(), Some(&1));
        failures.remove(&key(1));
        assert_eq!(failures.get(&key(1)), None);
    }
}
