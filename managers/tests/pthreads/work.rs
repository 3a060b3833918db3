//! Threads that do with an object pool whatever can be done, at random.

use cupola_random::Random;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use cupola_core::tag;

use crate::error::Result;
use crate::handle::ManagedHandle;
use crate::object_pool::{Leased, ObjectPool, Reusable};
use crate::shutdown_report::ShutdownReport;
use crate::sync::Arc;
use crate::together::{Plain, together};

const THREADS: usize = 8;
/// Managers, one after another.
const MANAGERS: u64 = 20;
/// What each thread does with each.
const STEPS: usize = 1000;

static MADE: AtomicUsize = AtomicUsize::new(0);
static ENDED: AtomicUsize = AtomicUsize::new(0);

struct Thing {
    /// Written by who has the thing alone.
    word: Plain,
}

impl Thing {
    fn make() -> Result<Self> {
        MADE.fetch_add(1, Ordering::Relaxed);
        let word = Plain::default();
        word.write(1);
        Ok(Self { word })
    }
}

impl Reusable for Thing {
    fn is_reusable(&self) -> bool {
        !self.word.read().is_multiple_of(16)
    }

    fn renew(&self) {
        self.word.write(self.word.read() + 1);
    }

    fn destroy(self) -> Result<()> {
        Ok(())
    }
}

impl Drop for Thing {
    fn drop(&mut self) {
        self.word.write(u64::MAX);
        ENDED.fetch_add(1, Ordering::Relaxed);
    }
}

type Things = ObjectPool<Thing, tag::Event>;

/// `CUPOLA_SEED`, or the time.
fn seed() -> u64 {
    let told = std::env::var("CUPOLA_SEED").ok();
    told.and_then(|text| text.parse().ok()).unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.map_or(1, |now| now.as_nanos() as u64)
    })
}

/// With an argument `plant=NAME`, makes that mistake instead, which a sanitizer must report.
pub(crate) fn run() {
    let planted = std::env::args().find_map(|arg| arg.strip_prefix("plant=").map(str::to_owned));
    match planted.as_deref() {
        None => anything_at_random(),
        Some("race") => planted_race(),
        Some(name) => panic!("no mistake is called {name}"),
    }
}

/// Two threads with leases of one life both write, as only who has it alone may.
fn planted_race() {
    let things = Things::new(1);
    let lease = things.acquire(0, false, Thing::make).unwrap();
    let shares = [lease.clone(), lease];
    together(2, &|number| {
        for _ in 0..1000 {
            shares[number].word.write(shares[number].word.read() + 1);
        }
    });
}

fn anything_at_random() {
    let seed = seed();
    println!("object pool: CUPOLA_SEED={seed}");
    for manager in 0..MANAGERS {
        one_manager(seed.wrapping_add(manager * THREADS as u64));
    }
    let (made, ended) = (MADE.load(Ordering::Relaxed), ENDED.load(Ordering::Relaxed));
    assert!(made > 0);
    assert_eq!(made, ended, "every object ends once");
    println!("object pool: {made} objects made and destroyed");
}

/// Threads that end with leases in their hands, one of them with the manager.
fn one_manager(seed: u64) {
    let things = Arc::new(Things::new(64));
    // Names that threads tell each other, with nothing to order them.
    let names: Vec<_> = (0..16).map(|_| AtomicU64::new(0)).collect();
    let shares: Vec<_> = (0..THREADS)
        .map(|_| Share(std::cell::Cell::new(Some(things.clone()))))
        .collect();
    drop(things);
    together(THREADS, &|number| {
        let random = Random::new(seed.wrapping_add(number as u64));
        if let Some(things) = shares[number].0.take() {
            one_thread(things, random, &names);
        }
    });
}

/// A share of the manager that one thread takes.
struct Share(std::cell::Cell<Option<Arc<Things>>>);

// SAFETY: each is taken by the thread of its number alone.
unsafe impl Sync for Share {}

fn one_thread(things: Arc<Things>, mut random: Random, names: &[AtomicU64]) {
    let mut leases: Vec<Leased<Thing, tag::Event>> = Vec::new();
    for _ in 0..STEPS {
        let name = &names[random.index(names.len())];
        let named = ManagedHandle::<tag::Event>::from_bits(name.load(Ordering::Relaxed));
        match random.below(100) {
            0..40 => {
                let held = random.below(8) == 0;
                let got = things.acquire(random.index(3), held, Thing::make);
                if let Ok(lease) = got {
                    name.store(lease.handle().to_bits(), Ordering::Relaxed);
                    leases.push(lease);
                }
            }
            40..55 => {
                if let Some(Ok(lease)) = named.map(|name| things.lease(name)) {
                    leases.push(lease);
                }
            }
            55..65 => {
                if let Some(name) = named {
                    let _ = things.release(name);
                }
            }
            65..75 => leases.extend(leases.last().cloned()),
            75..78 => things.trim(random.index(3)).unwrap(),
            78 => things.shut(&mut ShutdownReport::default()),
            79..82 => things.open(),
            82 => things.set_capacity(16 + random.index(100)),
            _ => {}
        }
        for lease in &leases {
            assert!(lease.word.read() < u64::MAX, "used after its end");
        }
        while leases.len() > 6 || (!leases.is_empty() && random.index(3) == 0) {
            leases.swap_remove(random.index(leases.len()));
        }
    }
    // The last thread ends the manager, while others still have leases.
    drop(things);
    for lease in &leases {
        assert!(lease.word.read() < u64::MAX, "used after its end");
    }
}
