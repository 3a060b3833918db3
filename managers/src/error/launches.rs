//! `Launches`: the kernels that may still run, so that an error can be put down to a few.
//!
//! CUDA reports the error of a kernel at the next call, on any stream, and does not say which
//! kernel's it is. So each stream keeps a short ring of its newest launches. A launch writes a few
//! words there, which no other stream writes; a wait for the stream that succeeds tells that the
//! launches before it are complete. Launches that are left when an error comes are suspect.
//!
//! Threads that launch on one stream write their entries one after the other, each of a few words. A
//! thread that finds another one held up in between goes on, and its launch is not remembered: none waits
//! for long, and no entry is ever written by two.

use core::panic::Location;
use core::ptr;
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::{Arc, PoisonError};

use cupola_core::tag;

use super::{Blame, LaunchSite, Site};
use crate::handle::ManagedHandle;
use crate::lists;
use crate::sync::spin_lock::SpinLock;
use crate::sync::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Mutex, MutexGuard, Ordering, fence,
};

/// Launches that a stream remembers. Under loom two, so that entries are soon used again.
const RING: u64 = if cfg!(loom) { 2 } else { 16 };

/// How often a thread looks whether another one is done with its entry. Under loom not for long.
const LOOKS: u32 = if cfg!(loom) { 2 } else { 100 };

/// Suspects that an error names.
const MOST: usize = 8;

/// Streams that are gone, and still remembered because a launch on them may still run.
const GONE: usize = 64;

/// The launches of one context.
#[derive(Debug, Default)]
pub(crate) struct Launches {
    names: Mutex<Names>,
    rings: Mutex<Vec<Arc<Ring>>>,
    /// Work may run that no ring knows of. Never reset: other code that has a raw handle may
    /// use it at any time.
    unknown: AtomicBool,
}

/// Names of kernels, each once: a launch records a number.
#[derive(Debug, Default)]
struct Names {
    by_number: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
}

/// The newest launches of one stream.
#[derive(Debug)]
pub(crate) struct Ring {
    /// The number of the next launch. The thread that has it writes an entry.
    numbers: SpinLock<u64>,
    /// Launches begun so far.
    begun: AtomicU64,
    /// The launches before this one are complete.
    done: AtomicU64,
    closed: AtomicBool,
    /// A launch is not remembered that the driver may not have had yet.
    lost_one: AtomicBool,
    entries: [Entry; RING as usize],
}

#[derive(Debug)]
struct Entry {
    /// The launch and its state, see [`word`]. Written first and last, and read before and
    /// after.
    turn: AtomicU64,
    /// The launch, plus one, once the driver has taken it.
    put: AtomicU64,
    location: AtomicPtr<Location<'static>>,
    kernel: AtomicU32,
    stream: AtomicU64,
}

/// The launch is being written.
const WRITING: u64 = 1;
/// It is on its way to the driver, or there.
const BEGUN: u64 = 2;
/// The driver has refused it.
const REFUSED: u64 = 3;

fn word(launch: u64, state: u64) -> u64 {
    (launch + 1) << 2 | state
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Record {
    location: &'static Location<'static>,
    kernel: u32,
    stream: u64,
}

impl Entry {
    /// The oldest launch that the driver may not have yet, as far as this launch's entry tells: this
    /// one, or an older one whose place it has yet to take.
    fn on_its_way(&self, launch: u64) -> Option<u64> {
        // Acquire: once a newer launch is there, it is seen whether it has overwritten one that was
        // on its way.
        let turn = self.turn.load(Ordering::Acquire);
        let (there, state) = (turn >> 2, turn & 3);
        if there > launch + 1 {
            return None;
        }
        // Acquire: a wait that covers the launch begins after the driver has it.
        if there == 0 || state == REFUSED || self.put.load(Ordering::Acquire) == there {
            return (there <= launch).then_some(launch);
        }
        Some(there - 1)
    }
}

impl Ring {
    fn new() -> Self {
        Self {
            numbers: SpinLock::new(0),
            begun: AtomicU64::new(0),
            done: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            lost_one: AtomicBool::new(false),
            entries: core::array::from_fn(|_| Entry {
                turn: AtomicU64::new(0),
                put: AtomicU64::new(0),
                location: AtomicPtr::new(ptr::null_mut()),
                kernel: AtomicU32::new(0),
                stream: AtomicU64::new(0),
            }),
        }
    }

    fn entry(&self, launch: u64) -> &Entry {
        &self.entries[(launch % RING) as usize]
    }

    /// Records a launch that is about to be put on the stream, and gives it a number, if it can be
    /// remembered. One locked instruction; streams share no word of it.
    #[inline]
    pub(crate) fn begin(
        &self,
        kernel: u32,
        location: &'static Location<'static>,
        stream: u64,
    ) -> Option<u64> {
        let Some(mut next) = self.numbers.try_lock(LOOKS) else {
            self.lost_one.store(true, Ordering::Relaxed);
            return None;
        };
        let launch = *next;
        *next += 1;
        let entry = self.entry(launch);
        let before = entry.turn.load(Ordering::Relaxed);
        if before & 3 == BEGUN && entry.put.load(Ordering::Relaxed) != before >> 2 {
            // It is forgotten while it is on its way: no wait can tell that it is complete.
            self.lost_one.store(true, Ordering::Relaxed);
        }
        // Release: a thread that sees the newer launch here sees that an older one was lost.
        entry.turn.store(word(launch, WRITING), Ordering::Release);
        // Release: a thread that sees one of the fields sees that they are being written.
        fence(Ordering::Release);
        let location = ptr::from_ref(location).cast_mut();
        entry.location.store(location, Ordering::Relaxed);
        entry.kernel.store(kernel, Ordering::Relaxed);
        entry.stream.store(stream, Ordering::Relaxed);
        entry.turn.store(word(launch, BEGUN), Ordering::Release);
        self.begun.store(launch + 1, Ordering::Relaxed);
        Some(launch)
    }

    /// The driver has taken it.
    #[inline]
    pub(crate) fn put(&self, launch: u64) {
        let entry = self.entry(launch);
        // Should a newer launch take the entry just now, it may stay suspect for too long.
        if entry.turn.load(Ordering::Relaxed) == word(launch, BEGUN) {
            entry.put.store(launch + 1, Ordering::Release);
        }
    }

    /// The driver has refused it.
    #[cold]
    pub(crate) fn refused(&self, launch: u64) {
        let turn = &self.entry(launch).turn;
        let (begun, refused) = (word(launch, BEGUN), word(launch, REFUSED));
        // Relaxed: an exchange, which passes on what `begin` has released.
        let _ = turn.compare_exchange(begun, refused, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The launches that a wait which begins now covers: those below this number, which the driver
    /// has by now.
    pub(crate) fn mark(&self) -> u64 {
        let next = self.begun.load(Ordering::Relaxed);
        if mutant!("launches_mark_covers_all") {
            return next;
        }
        let mut mark = next;
        for launch in self.oldest(next)..next {
            if let Some(oldest) = self.entry(launch).on_its_way(launch) {
                mark = mark.min(oldest);
            }
        }
        mark
    }

    fn oldest(&self, next: u64) -> u64 {
        let done = self.done.load(Ordering::Relaxed);
        done.max(next.saturating_sub(RING))
    }

    /// A wait that began with this mark has succeeded.
    pub(crate) fn complete(&self, mark: u64) {
        if self.done.load(Ordering::Relaxed) < mark {
            self.done.fetch_max(mark, Ordering::Relaxed);
        }
    }

    /// The stream is gone; work that was put on it may still run.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Whether every launch that may still run is remembered.
    pub(crate) fn knows_all(&self) -> bool {
        let next = self.begun.load(Ordering::Relaxed);
        let forgotten = next.saturating_sub(RING);
        !self.lost_one.load(Ordering::Relaxed) && self.done.load(Ordering::Relaxed) >= forgotten
    }

    /// The launches that may still run, newest first.
    fn open(&self) -> Vec<Record> {
        let next = self.begun.load(Ordering::Relaxed);
        let mut open = Vec::new();
        for launch in (self.oldest(next)..next).rev() {
            if let Some(record) = self.read(launch) {
                open.push(record);
            }
        }
        open
    }

    fn read(&self, launch: u64) -> Option<Record> {
        let entry = self.entry(launch);
        let before = entry.turn.load(Ordering::Acquire);
        let location = entry.location.load(Ordering::Relaxed);
        let kernel = entry.kernel.load(Ordering::Relaxed);
        let stream = entry.stream.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        let after = entry.turn.load(Ordering::Relaxed);
        let changed = after != before && !mutant!("launches_reader_looks_once");
        if before != word(launch, BEGUN) || changed {
            return None;
        }
        // SAFETY: null, or the address of a `&'static Location` that `begin` stored.
        let location = unsafe { location.as_ref() }?;
        Some(Record {
            location,
            kernel,
            stream,
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Launches {
    /// The number of a kernel's name.
    pub(crate) fn name(&self, name: &CStr) -> u32 {
        let name: Arc<str> = name.to_string_lossy().into();
        let mut names = lock(&self.names);
        if let Some(&number) = names.numbers.get(&name) {
            return number;
        }
        let number = u32::try_from(names.by_number.len()).unwrap_or(u32::MAX);
        names.by_number.push(Arc::clone(&name));
        names.numbers.insert(name, number);
        number
    }

    /// A ring for a new stream.
    pub(crate) fn ring(&self) -> Arc<Ring> {
        let ring = Arc::new(Ring::new());
        let mut rings = lock(&self.rings);
        if rings.len() == rings.capacity() && forget(&mut rings) {
            self.note_unknown();
        }
        rings.push(Arc::clone(&ring));
        ring
    }

    /// The launches that a wait for the whole context which begins now covers, by ring.
    pub(crate) fn mark(&self) -> Vec<(Arc<Ring>, u64)> {
        let mut marked = Vec::new();
        for ring in lock(&self.rings).iter() {
            marked.push((Arc::clone(ring), ring.mark()));
        }
        marked
    }

    /// Launches that an error may be of: those of the failed call's stream first, then
    /// by turns those of the others, each newest first and once.
    fn suspects(&self, site: &Site) -> Vec<LaunchSite> {
        let stream = site.stream.map(ManagedHandle::to_bits);
        let (mut open, mut others) = (Vec::new(), Vec::new());
        let mut longest = 0;
        for ring in lock(&self.rings).iter() {
            let ring = ring.open();
            longest = longest.max(ring.len());
            match ring.first() {
                Some(newest) if Some(newest.stream) == stream => open.push(ring),
                _ => others.push(ring),
            }
        }
        open.append(&mut others);
        let mut found: Vec<Record> = Vec::new();
        let mut suspect = |record: &Record| {
            if found.len() < MOST && !found.contains(record) {
                found.push(*record);
            }
        };
        for ring in &open {
            for record in ring {
                if Some(record.stream) == stream {
                    suspect(record);
                }
            }
        }
        for age in 0..longest {
            for ring in &open {
                if let Some(record) = ring.get(age) {
                    suspect(record);
                }
            }
        }
        let names = lock(&self.names);
        let mut told = Vec::with_capacity(found.len());
        for record in &found {
            told.push(LaunchSite {
                kernel: names
                    .by_number
                    .get(record.kernel as usize)
                    .map_or_else(String::new, |name| name.as_ref().to_owned()),
                site: Site {
                    device: site.device,
                    stream: ManagedHandle::<tag::Stream>::from_bits(record.stream),
                    location: record.location,
                },
            });
        }
        told
    }

    /// Work may run from now on that no ring knows of: other code was given a raw handle, or a
    /// launch is not remembered. Before that work begins.
    #[inline]
    pub(crate) fn note_unknown(&self) {
        if !self.unknown.load(Ordering::Relaxed) {
            self.unknown.store(true, Ordering::Relaxed);
        }
    }

    /// Whether every launch of this context that may still run is remembered.
    fn knows_all(&self) -> bool {
        // The rings first: a ring that is forgotten sets the other before it goes.
        let rings = lock(&self.rings).iter().all(|ring| ring.knows_all());
        rings && !self.unknown.load(Ordering::Relaxed)
    }

    /// Whose an error at `site` may be; `waited` when that call was a launch and has been
    /// waited for. It is that one's for certain only if nothing else may have run.
    pub(crate) fn blame(&self, site: &Site, waited: bool) -> Option<Arc<Blame>> {
        let suspects = self.suspects(site);
        let itself =
            |one: &LaunchSite| one.site.location == site.location && one.site.stream == site.stream;
        Some(Arc::new(match &suspects[..] {
            [] => return None,
            [one] if waited && itself(one) && self.knows_all() => Blame::Launch(one.clone()),
            _ => Blame::OneOf(suspects),
        }))
    }
}

/// Forgets streams that are gone, but for the newest on which a launch may still run. Returns
/// whether one was forgotten on which a launch may run.
fn forget(rings: &mut Vec<Arc<Ring>>) -> bool {
    let (mut gone, mut lost) = (0, false);
    rings.reverse();
    lists::retain(rings, |ring| {
        if !ring.closed.load(Ordering::Relaxed) {
            return true;
        }
        let open = !ring.open().is_empty();
        gone += usize::from(open);
        let keep = open && gone <= GONE;
        lost |= !keep && (open || !ring.knows_all());
        keep
    });
    rings.reverse();
    lost
}

#[cfg(all(test, not(loom)))]
#[path = "launches_tests.rs"]
mod tests;
