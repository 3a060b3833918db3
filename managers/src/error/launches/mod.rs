//! `Launches`: the kernels that may still run, so that an error can be put down to a few.
//!
//! CUDA reports the error of a kernel at the next call, on any stream, and does not say which
//! kernel's it is. So each stream keeps its newest launches in short [rings](Rings). A launch writes a few
//! words there, which no other stream writes; a wait for the stream that succeeds tells that the
//! launches before it are complete. Launches that are left when an error comes are suspect.

mod owner_ring;
mod rings;
mod shared_ring;

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::{Arc, PoisonError};

use cupola_core::tag;

use super::{Blame, LaunchSite, Site};
use crate::handle::ManagedHandle;
use crate::lists;
use crate::sync::{AtomicBool, Mutex, MutexGuard, Ordering};
use rings::Record;
pub(crate) use rings::{Launch, Mark, Rings};

/// Suspects that an error names.
const MOST: usize = 8;

/// The number of kernels beyond all that have one. It fits where a ring keeps it.
const NAMELESS: u32 = (1 << owner_ring::KERNEL_BITS) - 1;

/// Streams that are gone, and still remembered because a launch on them may still run.
const GONE: usize = 64;

/// The launches of one context.
#[derive(Debug, Default)]
pub(crate) struct Launches {
    names: Mutex<Names>,
    streams: Mutex<Vec<Arc<Rings>>>,
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
        if number >= NAMELESS {
            return NAMELESS;
        }
        names.by_number.push(Arc::clone(&name));
        names.numbers.insert(name, number);
        number
    }

    /// A ring for a new stream.
    pub(crate) fn ring(&self) -> Arc<Rings> {
        let ring = Arc::new(Rings::new());
        let mut rings = lock(&self.streams);
        if rings.len() == rings.capacity() && forget(&mut rings) {
            self.note_unknown();
        }
        rings.push(Arc::clone(&ring));
        ring
    }

    /// The launches that a wait for the whole context which begins now covers, by ring.
    pub(crate) fn mark(&self) -> Vec<(Arc<Rings>, Mark)> {
        let mut marked = Vec::new();
        for ring in lock(&self.streams).iter() {
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
        for ring in lock(&self.streams).iter() {
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

    /// What launches ask before they begin has changed: they ask again.
    pub(crate) fn close_gates(&self) {
        self.close_gates_if(|| true);
    }

    /// The same, if `change` says so. A second thread that makes the same change finds the gates closed.
    pub(crate) fn close_gates_if(&self, change: impl FnOnce() -> bool) {
        let streams = lock(&self.streams);
        if change() {
            for ring in streams.iter() {
                ring.close_gate();
            }
        }
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
        let rings = lock(&self.streams).iter().all(|ring| ring.knows_all());
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
fn forget(rings: &mut Vec<Arc<Rings>>) -> bool {
    let (mut gone, mut lost) = (0, false);
    rings.reverse();
    lists::retain(rings, |ring| {
        if !ring.is_closed() {
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
mod tests;
