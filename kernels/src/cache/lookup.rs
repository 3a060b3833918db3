//! `Cache`: looks for an entry in memory and on disk, and compiles it once where there is none.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::config::CacheConfig;
use super::disk::file_system::{FileSystem, System};
use super::disk::{DiskStore, Refusal, SharedStore, tell};
use super::entry::Entry;
use super::error::{CacheError, Failure, Fault, RejectedTwice};
use super::flight::{Flights, Role};
use super::key::Key;
use super::memory::{Entries, Failures};
use super::stats::{CacheStats, Counters};

/// Where an entry came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Memory.
    Memory,
    /// The private folder.
    Disk,
    /// The shared folder.
    Shared,
    /// The compiler.
    Compiled,
}

/// An entry, and where it came from.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// What the compile made.
    pub entry: Arc<Entry>,
    /// Where it came from; for a thread that waited, where the thread it waited for had it from.
    pub source: Source,
    /// How often entries of its key had been rejected.
    rejections: u32,
}

/// Entries in memory and on disk. Threads share one; `E` is the error of a compile.
#[derive(Debug)]
pub struct Cache<E> {
    config: CacheConfig,
    private: Option<DiskStore>,
    shared: Option<SharedStore>,
    refusal: Option<Refusal>,
    memory: Mutex<Memory<E>>,
    flights: Flights<Key, Result<Fetched, CacheError<E>>>,
    counters: Arc<Counters>,
}

#[derive(Debug)]
struct Memory<E> {
    entries: Entries,
    failures: Failures<E>,
    rejections: HashMap<Key, u32>,
}

impl<E: Failure> Cache<E> {
    /// A cache, which is there whatever the file system does: without its folder
    /// ([`Cache::refusal`]) entries are in memory alone.
    #[must_use]
    pub fn new(config: CacheConfig) -> Self {
        Self::with(config, &(Arc::new(System) as Arc<dyn FileSystem>))
    }

    pub(super) fn with(config: CacheConfig, files: &Arc<dyn FileSystem>) -> Self {
        let counters = Arc::<Counters>::default();
        let mut refusal = None;
        let private = config.folder.as_deref().and_then(|folder| {
            let (files, counters) = (Arc::clone(files), Arc::clone(&counters));
            let opened = DiskStore::create(files, folder, config.disk_limit, counters);
            opened.map_err(|error| refusal = Some(error)).ok()
        });
        if let Some(refusal) = &refusal {
            tell(&counters, refusal);
        }
        let shared = config.shared.as_ref().and_then(|shared| {
            let opened = SharedStore::open(Arc::clone(files), shared, Arc::clone(&counters));
            opened.map_err(|error| tell(&counters, &error)).ok()
        });
        Self {
            memory: Mutex::new(Memory {
                entries: Entries::new(config.memory_limit),
                failures: Failures::new(),
                rejections: HashMap::new(),
            }),
            config,
            private,
            shared,
            refusal,
            flights: Flights::new(),
            counters,
        }
    }

    /// Why the private folder is not used, if it is not.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        self.refusal.as_ref()
    }

    /// The private folder, if it is used.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.private.as_ref().map(DiskStore::folder)
    }

    /// What the cache did so far.
    #[must_use]
    pub fn stats(&self) -> CacheStats {
        self.counters.stats()
    }

    /// The entry of `key`: from memory, from the private folder, from the shared one, or from
    /// `compile`, whose entry is kept. Of threads that want one key one looks and compiles, the
    /// others wait for it; of processes too, for no longer than
    /// [`CacheConfig::lock_timeout`]. The entry that is returned after a compile is what the compile
    /// returned, whatever became of its file.
    ///
    /// `compile` must not ask for the same key: it would wait for itself.
    ///
    /// # Errors
    /// The compile failed, or the policy does not list what it made.
    pub fn get_or_compile(
        &self,
        key: &Key,
        compile: impl FnOnce() -> Result<Entry, E>,
    ) -> Result<Fetched, CacheError<E>> {
        loop {
            if let Some(known) = self.recall(key) {
                return known;
            }
            match self.flights.join(*key) {
                Role::Lead(leader) => {
                    // Another thread may have been done just before.
                    let result = match self.recall(key) {
                        Some(known) => known,
                        None => self.fetch(key, compile),
                    };
                    match &result {
                        Err(CacheError::Compile(error))
                            if matches!(error.fault(), Fault::GivenUp) => {}
                        told => leader.land(told.clone()),
                    }
                    return result;
                }
                Role::Take(result) => {
                    self.counters.joined.note();
                    return result;
                }
                Role::Retry => {}
            }
        }
    }

    /// What is noted in the private folder under a key that is no compile's, while its files are as they
    /// were. Neither memory, statistics nor policy know of it: it is no code, and costs no compile.
    pub(crate) fn noted(&self, key: &Key) -> Option<Entry> {
        let noted = self.private.as_ref()?.load(key)?;
        noted.manifest.holds().then_some(noted)
    }

    /// Notes something there, if all of its files are known and as they were. Two processes that note the
    /// same replace it by itself.
    pub(crate) fn note(&self, key: &Key, entry: &Entry) {
        if let Some(disk) = &self.private
            && entry.manifest.holds()
        {
            disk.store(key, entry);
        }
    }

    /// Says that the driver rejected an entry: it is dropped, and the next
    /// [`Cache::get_or_compile`] compiles it anew. Threads that were given the same entry may all say
    /// so; it counts once.
    ///
    /// # Errors
    /// The entry is one that was made anew after a rejection.
    pub fn reject(&self, key: &Key, rejected: &Fetched) -> Result<(), RejectedTwice> {
        {
            let mut memory = self.memory();
            let rejections = memory.rejections.entry(*key).or_default();
            if rejected.rejections != *rejections {
                return Ok(());
            }
            if *rejections > 0 {
                return Err(RejectedTwice { key: *key });
            }
            *rejections = 1;
            memory.entries.remove(key);
        }
        self.counters.rejected.note();
        tracing::warn!(%key, source = ?rejected.source, "an entry was rejected by its user: it is made again");
        if let Some(disk) = &self.private {
            disk.remove(key);
        }
        Ok(())
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Memory<E>> {
        // Each holder leaves the value whole at every step.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What memory has of a key.
    fn recall(&self, key: &Key) -> Option<Result<Fetched, CacheError<E>>> {
        let (entry, failure, rejections) = {
            let mut memory = self.memory();
            let entry = memory.entries.get(key);
            let rejections = memory.rejections.get(key).copied().unwrap_or(0);
            (entry, memory.failures.get(key), rejections)
        };
        if let Some(entry) = entry {
            if entry.manifest.holds() {
                self.counters.memory_hits.note();
                return Some(Ok(Fetched {
                    entry,
                    source: Source::Memory,
                    rejections,
                }));
            }
            self.memory().entries.remove(key);
        }
        if let Some(error) = failure {
            if matches!(error.fault(), Fault::Inputs(manifest) if manifest.holds()) {
                self.counters.failure_hits.note();
                return Some(Err(CacheError::Compile(error)));
            }
            self.memory().failures.remove(key);
        }
        None
    }

    /// The entry from a folder or from the compiler.
    fn fetch(
        &self,
        key: &Key,
        compile: impl FnOnce() -> Result<Entry, E>,
    ) -> Result<Fetched, CacheError<E>> {
        let rejections = self.memory().rejections.get(key).copied().unwrap_or(0);
        // What was rejected may still lie in the shared folder, or come back from another process.
        let may_load = rejections == 0;
        if may_load && let Some(found) = self.load(key) {
            return Ok(found);
        }
        let disk = self.private.as_ref();
        let lock = disk.and_then(|disk| disk.lock(key, self.config.lock_timeout));
        if may_load && let Some(entry) = self.usable(key, disk.and_then(|disk| disk.load(key))) {
            // Another process compiled it while this one waited.
            self.counters.disk_hits.note();
            return Ok(self.keep(key, entry, Source::Disk, 0));
        }
        self.counters.compiles.note();
        let entry = match compile() {
            Ok(entry) => entry,
            Err(error) => return Err(CacheError::Compile(self.failed(key, error))),
        };
        if let Err(digest) = self.config.policy.check(&entry) {
            let key = *key;
            return Err(CacheError::NotListed { key, digest });
        }
        // A file that changed during the compile: which of its contents was compiled is not known.
        let is_lasting = entry.manifest.holds();
        let entry = Arc::new(entry);
        if !is_lasting {
            self.counters.stale.note();
            let source = Source::Compiled;
            return Ok(Fetched {
                entry,
                source,
                rejections,
            });
        }
        if let Some(disk) = disk {
            disk.store(key, &entry);
        }
        // Not before: the next process finds the entry there.
        drop(lock);
        Ok(self.keep(key, entry, Source::Compiled, rejections))
    }

    /// The entry from the folders.
    fn load(&self, key: &Key) -> Option<Fetched> {
        let private = self.private.as_ref().and_then(|disk| disk.load(key));
        if let Some(entry) = self.usable(key, private) {
            self.counters.disk_hits.note();
            return Some(self.keep(key, entry, Source::Disk, 0));
        }
        let shared = self.shared.as_ref().and_then(|shared| shared.load(key));
        let entry = self.usable(key, shared)?;
        self.counters.shared_hits.note();
        Some(self.keep(key, entry, Source::Shared, 0))
    }

    /// An entry from a folder, if its files are as they were and the policy lists it.
    fn usable(&self, key: &Key, entry: Option<Entry>) -> Option<Arc<Entry>> {
        let entry = entry?;
        if !entry.manifest.holds() && !mutant!("cache_without_manifest") {
            self.counters.stale.note();
            return None;
        }
        if let Err(digest) = self.config.policy.check(&entry)
            && !mutant!("cache_loads_what_is_not_listed")
        {
            self.counters.unlisted.note();
            tracing::warn!(%key, %digest, "a kernel's entry is not listed: it is compiled again");
            return None;
        }
        Some(Arc::new(entry))
    }

    fn keep(&self, key: &Key, entry: Arc<Entry>, source: Source, rejections: u32) -> Fetched {
        let mut memory = self.memory();
        memory.failures.remove(key);
        // Unless it was rejected meanwhile.
        if memory.rejections.get(key).copied().unwrap_or(0) == rejections {
            memory.entries.insert(*key, Arc::clone(&entry));
        }
        Fetched {
            entry,
            source,
            rejections,
        }
    }

    fn failed(&self, key: &Key, error: E) -> Arc<E> {
        let error = Arc::new(error);
        if matches!(error.fault(), Fault::Inputs(_)) {
            self.memory().failures.insert(*key, Arc::clone(&error));
        }
        error
    }
}
