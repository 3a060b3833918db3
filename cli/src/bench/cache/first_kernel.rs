//! How soon a second process completes its first kernel from the cache, and where the time goes; and how soon
//! it has a kernel by its source, which takes a key that names the compiler.
//!
//! A process of its own is started for each sample, because a driver, an allocator and the caches of a
//! processor are warm in one that has done so before.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use cupola::Backend;
use cupola_kernels::CachedCompiler;
use cupola_kernels::cache::{
    Cache, CacheConfig, Digest, Entry, EntryKind, Failure, Fault, Key, Manifest, Source,
};
use cupola_kernels::compile::{CompileRequest, ImageKind};
use cupola_managers::Device;
use cupola_managers::backend::BackendKind;
use cupola_managers::module::Module;
use cupola_managers::ops::{self, LaunchConfig};

use super::{Error, Figures};
use crate::bench::device_word;

/// Why there is nothing to measure.
type Failed = Box<dyn std::error::Error>;

/// The most that a process is meant to take from a ready context to the end of its first kernel, in
/// microseconds.
const MOST: f64 = 1000.0;

/// What the parts are, in the order in which a process says them; the last is all of them.
const PARTS: [&str; 5] = [
    "first kernel of a process: the cache is opened",
    "first kernel of a process: a hit on disk",
    "first kernel of a process: its module is loaded",
    "first kernel of a process: a stream, the launch, and its end",
    "first kernel of a process, from a ready context to its end",
];

/// What a process says of its compiler behind those, if there is one.
const COMPILER_PARTS: [&str; 3] = [
    "compiler of a process: known by what an earlier one noted",
    "compiler of a process: a hit on disk by a source",
    "compiler of a process: loaded",
];

/// The kernel's source, for a machine that has a compiler.
const SOURCE: &str = "extern \"C\" __global__ void first() {}\n";

/// The same kernel, written by hand: for one that has not, and for the software device.
const PTX: &str = "\
.version 7.0
.target sm_60
.address_size 64
.visible .entry first() { ret; }
";

/// The processes that are measured.
#[derive(Clone, Copy, Debug)]
pub struct FirstKernel<'p> {
    /// The command line, to be started.
    pub program: &'p Path,
    /// What the device is of.
    pub backend: Backend,
    /// The device.
    pub device: &'p Device,
}

/// What the compiler would say: it is not asked.
#[derive(Debug, thiserror::Error)]
#[error("the entry was not found, and nothing is compiled here")]
struct NotKept;

impl Failure for NotKept {
    fn fault(&self) -> Fault<'_> {
        Fault::Machine
    }
}

fn key() -> Key {
    Key::from_digest(Digest::of(b"the first kernel of a process"))
}

fn config(folder: &Path) -> CacheConfig {
    let mut config = CacheConfig::default();
    config.folder = Some(folder.to_owned());
    config
}

fn open(folder: &Path) -> Cache<NotKept> {
    Cache::new(config(folder))
}

/// The kernel's source for a device.
fn request(compiler: &CachedCompiler, device: &Device) -> Result<CompileRequest, Failed> {
    let context = device.primary()?;
    let driver = context.driver().driver_version();
    let target = compiler.target_for(device.info()?.architecture(), driver)?;
    Ok(CompileRequest::new("first.cu", SOURCE, target))
}

impl FirstKernel<'_> {
    /// Keeps the kernel's entry, and measures so many processes that find it.
    pub(super) fn measure(&self, figures: &mut Figures, samples: usize) -> Result<(), Error> {
        let folder = tempfile::tempdir()?;
        let folder = folder.path().join("first");
        let entry = self.entry();
        let kind = entry.kind;
        open(&folder)
            .get_or_compile(&key(), || Ok(entry))
            .map_err(|_| Error::NotFound("the first kernel"))?;
        let compiler = self.keep_by_source(&folder);
        let names = match compiler {
            Ok(()) => [&PARTS[..], &COMPILER_PARTS].concat(),
            Err(_) => PARTS.to_vec(),
        };
        let mut parts = vec![Vec::new(); names.len()];
        for _ in 0..samples {
            for (part, time) in parts.iter_mut().zip(self.start(&folder, names.len())?) {
                part.push(time);
            }
        }
        for (at, (name, times)) in names.iter().zip(&parts).enumerate() {
            let row = figures.push(name, "us", times, None);
            if at + 1 == PARTS.len() {
                row.want(MOST);
            }
        }
        figures.notes.push(format!(
            "the first kernel is kept as {kind}; its key is known, as that of a program that keeps its own"
        ));
        figures.notes.push(match compiler {
            Ok(()) => "a CachedCompiler knows its compiler by a note, and loads it for the first compile: a \
                       process that finds its kernels by their sources has the first two rows of the \
                       compiler, one without a note the third instead of the first"
                .to_owned(),
            Err(error) => format!("there are no figures of a compiler: {error}"),
        });
        Ok(())
    }

    /// Keeps the kernel once more, as what a compiler makes of its source, with a note of the compiler.
    fn keep_by_source(&self, folder: &Path) -> Result<(), Failed> {
        let compiler = CachedCompiler::for_backend(self.backend.into(), config(folder))?;
        compiler.compile(&request(&compiler, self.device)?)?;
        Ok(())
    }

    /// The kernel, as this machine can make it.
    fn entry(&self) -> Entry {
        let made = match self.backend {
            Backend::Gpu => self.compiled(),
            // It executes nothing that NVIDIA's compilers make.
            Backend::Software => None,
        };
        made.unwrap_or_else(|| Entry {
            kind: ImageKind::Ptx.into(),
            payload: PTX.into(),
            names: Vec::new(),
            log: String::new(),
            manifest: Manifest::new(),
            recipe: None,
        })
    }

    /// A binary for the device, if there is NVRTC.
    fn compiled(&self) -> Option<Entry> {
        let mut config = CacheConfig::default();
        config.folder = None;
        let compiler = CachedCompiler::for_backend(self.backend.into(), config).ok()?;
        let request = request(&compiler, self.device).ok()?;
        Some((*compiler.compile(&request).ok()?.entry).clone())
    }

    /// Microseconds of so many parts, as a process says them.
    fn start(&self, folder: &Path, parts: usize) -> Result<Vec<f64>, Error> {
        let output = Command::new(self.program)
            .args(["bench", "cache", "--device", device_word(self.backend)])
            .arg("--first-kernel")
            .arg(folder)
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let times: Option<Vec<f64>> = said.split_whitespace().map(|it| it.parse().ok()).collect();
        let times = times.filter(|times| times.len() == parts);
        times.ok_or_else(|| {
            let errors = String::from_utf8_lossy(&output.stderr);
            Error::Process(format!("{}: {said}{errors}", output.status))
        })
    }
}

/// Completes the kernel that is kept in this folder, once, and looks for it by its source if a compiler of
/// this kind has kept it. Returns how many microseconds each part took.
///
/// # Errors
/// The entry was not found, or what the driver returned.
pub fn run_once(kind: BackendKind, device: &Device, folder: &Path) -> Result<Vec<f64>, Failed> {
    let mut parts = complete(device, folder)?.to_vec();
    // Without a compiler there is nothing to measure.
    if let Ok(compiler) = find_by_source(kind, device, folder) {
        parts.extend(compiler);
    }
    Ok(parts)
}

/// The parts of a hit by a source, and of loading the compiler after all.
fn find_by_source(
    kind: BackendKind,
    device: &Device,
    folder: &Path,
) -> Result<[f64; COMPILER_PARTS.len()], Failed> {
    let start = Instant::now();
    let compiler = CachedCompiler::for_backend(kind, config(folder))?;
    let known = start.elapsed();
    let request = request(&compiler, device)?;
    let start = Instant::now();
    let fetched = compiler.compile(&request)?;
    let found = start.elapsed();
    let start = Instant::now();
    compiler.compiler()?;
    let loaded = start.elapsed();
    if fetched.source != Source::Disk {
        return Err("the source's entry did not come from the folder".into());
    }
    Ok([known, found, loaded].map(|part| part.as_secs_f64() * 1e6))
}

/// The parts of a kernel whose key is known.
fn complete(device: &Device, folder: &Path) -> Result<[f64; PARTS.len()], Failed> {
    let context = device.primary()?;
    context.make_current()?;
    let start = Instant::now();
    let cache = open(folder);
    let opened = start.elapsed();
    let fetched = cache.get_or_compile(&key(), || Err(NotKept))?;
    let found = start.elapsed();
    let module: Module = match fetched.entry.kind {
        EntryKind::Image(ImageKind::Ptx) => {
            let text = std::str::from_utf8(&fetched.entry.payload)?;
            context.modules().load_ptx(text)?
        }
        // SAFETY: whole, as NVRTC made it for this device: the process that started this one kept it.
        _ => unsafe { context.modules().load_binary(&fetched.entry.payload) }?,
    };
    let function = module.function("first")?;
    let loaded = start.elapsed();
    let stream = context.streams().create(Default::default())?;
    // SAFETY: the kernel has no parameters and touches no memory.
    unsafe { ops::launch(&function, LaunchConfig::linear(1, 1), (), &stream) }?;
    ops::synchronize(&stream)?;
    let ended = start.elapsed();
    if fetched.source != Source::Disk {
        return Err("the entry did not come from the folder".into());
    }
    let parts = [
        opened,
        found - opened,
        loaded - found,
        ended - loaded,
        ended,
    ];
    Ok(parts.map(|part| part.as_secs_f64() * 1e6))
}
