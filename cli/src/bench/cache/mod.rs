//! What a hit of the cache of compiled kernels costs, beside reading and hashing a file of the size; and
//! how soon a process completes a kernel that another one has kept.

mod first_kernel;

use std::fs;
use std::hint::black_box;
use std::io;
use std::path::Path;

use cupola_kernels::cache::{Cache, CacheConfig, Digest, Entry, Failure, Fault, Key, Manifest};
use cupola_kernels::compile::{ImageKind, LoweredName};

use super::{Figures, nanoseconds};
pub use first_kernel::{FirstKernel, run_once};

const ROUNDS: usize = 31;
const CALLS: u32 = 200;

/// The most that a hit of 16 KiB is meant to take, in microseconds.
const MOST: f64 = 40.0;

/// Why there are no figures.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder of the measurement cannot be made.
    #[error("the folder of the measurement: {0}")]
    Folder(#[from] io::Error),
    /// What was kept was not found.
    #[error("an entry that was kept was not found: {0}")]
    NotFound(&'static str),
    /// A process that runs its first kernel did not say how long that took.
    #[error("a process that runs its first kernel failed: {0}")]
    Process(String),
}

/// What the compiler would say: it is not asked.
#[derive(Debug, thiserror::Error)]
#[error("nothing is compiled here")]
struct NotKept;

impl Failure for NotKept {
    fn fault(&self) -> Fault<'_> {
        Fault::Machine
    }
}

/// Measures hits in memory and on disk, and writes, and processes that run a kernel from the cache;
/// with `quick` so few that the figures mean nothing.
///
/// # Errors
/// There is no folder, an entry was not found again, or a process failed.
pub fn run(
    name: String,
    first_kernel: Option<FirstKernel<'_>>,
    quick: bool,
) -> Result<Figures, Error> {
    let (rounds, calls) = if quick { (1, 2) } else { (ROUNDS, CALLS) };
    let folder = tempfile::tempdir()?;
    let mut figures = Figures::new("cache", name);
    figures
        .notes
        .push("the folder is in the system's folder for temporaries".into());
    let mut row = |name: &str, against: Option<&str>, times: Vec<f64>| {
        let times: Vec<_> = times.into_iter().map(|time| time / 1e3).collect();
        figures.push(name, "us", &times, against);
    };
    let on_disk = open(folder.path(), 0);
    let in_memory = open(folder.path(), 1 << 30);
    let mut found = true;
    let mut of = 0_u64;
    for (size, bytes) in [("16 KiB", 16 << 10), ("128 KiB", 128 << 10)] {
        let key = Key::from_digest(Digest::of(size.as_bytes()));
        let write = nanoseconds(rounds, calls.div_ceil(10), || {
            of += 1;
            let key = Key::from_digest(Digest::of(&of.to_le_bytes()));
            black_box(on_disk.get_or_compile(&key, || Ok(entry(bytes)))).ok();
        });
        found &= on_disk.get_or_compile(&key, || Ok(entry(bytes))).is_ok();
        let by_hand = folder.path().join(format!("{bytes}"));
        fs::write(&by_hand, entry(bytes).encode(&key))?;
        let read = nanoseconds(rounds, calls, || {
            let bytes = fs::read(black_box(&by_hand)).unwrap_or_default();
            black_box(Digest::of(&bytes));
        });
        let hit = |cache: &Cache<NotKept>| {
            let mut found = true;
            let times = nanoseconds(rounds, calls, || {
                found &= cache
                    .get_or_compile(black_box(&key), || Err(NotKept))
                    .is_ok();
            });
            (times, found)
        };
        let (disk, on_disk) = hit(&on_disk);
        let (memory, in_memory) = hit(&in_memory);
        found &= on_disk && in_memory;
        let by_hand = format!("file of {size}, read and SHA-256");
        row(&by_hand, None, read);
        row(&format!("hit on disk, {size}"), Some(&by_hand), disk);
        row(&format!("hit in memory, {size}"), None, memory);
        row(&format!("miss, and write of {size}"), None, write);
    }
    if !found {
        return Err(Error::NotFound("a look went to the compiler"));
    }
    let bar = figures
        .rows
        .iter_mut()
        .find(|row| row.name == "hit on disk, 16 KiB");
    if let Some(row) = bar {
        row.want(MOST);
    }
    if let Some(first_kernel) = first_kernel {
        first_kernel.measure(&mut figures, rounds)?;
    }
    Ok(figures)
}

fn open(folder: &Path, memory_limit: u64) -> Cache<NotKept> {
    let mut config = CacheConfig::default();
    config.folder = Some(folder.join("cache"));
    config.memory_limit = memory_limit;
    Cache::new(config)
}

/// As large as the binary of a kernel.
fn entry(bytes: usize) -> Entry {
    Entry {
        kind: ImageKind::Cubin.into(),
        payload: vec![7; bytes],
        names: vec![LoweredName {
            expression: "scale<float>".into(),
            symbol: "_Z5scaleIfEvPT_j".into(),
        }],
        log: String::new(),
        manifest: Manifest::new(),
        recipe: None,
    }
}
