//! How soon a second process completes its first kernel from the cache, and where the time goes.
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
use cupola_kernels::compile::{CompileRequest, Compiler, ImageKind};
use cupola_managers::Device;
use cupola_managers::module::Module;
use cupola_managers::ops::{self, LaunchConfig};

use super::{Error, Figures};

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

/// The kernel's source, for a machine that has NVRTC.
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

fn open(folder: &Path) -> Cache<NotKept> {
    let mut config = CacheConfig::default();
    config.folder = Some(folder.to_owned());
    Cache::new(config)
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
        let mut parts = [const { Vec::new() }; PARTS.len()];
        for _ in 0..samples {
            for (part, time) in parts.iter_mut().zip(self.start(&folder)?) {
                part.push(time);
            }
        }
        for (name, times) in PARTS.iter().zip(&parts) {
            figures.push(name, "us", times, None);
        }
        if let Some(whole) = figures.rows.last_mut() {
            whole.want(MOST);
        }
        figures.notes.push(format!(
            "the first kernel is kept as {kind}; its key is known, as that of a program that keeps its own: \
             a CachedCompiler loads its compiler first, to make the key"
        ));
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
        let compiler = CachedCompiler::new(Compiler::load().ok()?, config);
        let context = self.device.primary().ok()?;
        let architecture = self.device.info().ok()?.architecture();
        let target = compiler
            .compiler()
            .target_for(architecture, context.driver().driver_version())
            .ok()?;
        let request = CompileRequest::new("first.cu", SOURCE, target);
        Some((*compiler.compile(&request).ok()?.entry).clone())
    }

    /// Microseconds of each part, as a process says them.
    fn start(&self, folder: &Path) -> Result<[f64; PARTS.len()], Error> {
        let device = match self.backend {
            Backend::Gpu => "gpu",
            Backend::Software => "sim",
        };
        let output = Command::new(self.program)
            .args(["bench", "cache", "--device", device, "--first-kernel"])
            .arg(folder)
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let times: Option<Vec<f64>> = said.split_whitespace().map(|it| it.parse().ok()).collect();
        let times = times.and_then(|times| times.try_into().ok());
        times.ok_or_else(|| {
            let errors = String::from_utf8_lossy(&output.stderr);
            Error::Process(format!("{}: {said}{errors}", output.status))
        })
    }
}

/// Completes the kernel that is kept in this folder, once, and returns how many microseconds each part
/// took.
///
/// # Errors
/// The entry was not found, or what the driver returned.
pub fn run_once(
    device: &Device,
    folder: &Path,
) -> Result<[f64; PARTS.len()], Box<dyn std::error::Error>> {
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
