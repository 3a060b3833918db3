//! `Probe`: where the evidence is looked for. Tests give it other places.

#[cfg(unix)]
use std::ffi::CString;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use cupola_sys::LoadError;
use cupola_sys::driver::{Driver, LIBRARY_VARIABLE};

use super::{Availability, Missing};
use crate::driver::driver_was_left_to_the_parent;
use crate::lists::sort_by_number;

/// The part of the driver that is in the system's kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum KernelModule {
    /// NVIDIA's module, with its version as far as it says one.
    Nvidia(Option<String>),
    /// The host's driver, through Windows (WSL).
    Wsl,
    /// That of a Tegra board.
    Tegra,
    /// Nothing that is known.
    #[default]
    NotSeen,
    /// Not looked for: not on this system, or not needed by the library that was named.
    NotAsked,
}

impl fmt::Display for KernelModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nvidia(Some(version)) => write!(f, "nvidia {version}"),
            Self::Nvidia(None) => f.write_str("nvidia, of unknown version"),
            Self::Wsl => f.write_str("the host's (WSL)"),
            Self::Tegra => f.write_str("that of a Tegra board"),
            Self::NotSeen => f.write_str("not seen"),
            Self::NotAsked => f.write_str("not looked for"),
        }
    }
}

/// Whether a file may be opened for reading and writing. It is not opened: opening a
/// device's file wakes the device.
type Permit = fn(&Path) -> io::Result<()>;

type Load = Arc<dyn Fn() -> Result<Driver, LoadError> + Send + Sync>;

/// Where to look, and which library to load. [`system`](Self::system) takes this system's; every
/// part can be replaced.
#[derive(Clone)]
pub struct Probe {
    proc: PathBuf,
    dev: PathBuf,
    visible: Option<OsString>,
    named: bool,
    forked: bool,
    looks_at_files: bool,
    permit: Permit,
    load: Load,
}

impl Probe {
    /// This system and this process.
    #[must_use]
    pub fn system() -> Self {
        Self {
            proc: "/proc".into(),
            dev: "/dev".into(),
            visible: std::env::var_os("CUDA_VISIBLE_DEVICES"),
            named: std::env::var_os(LIBRARY_VARIABLE).is_some_and(|path| !path.is_empty()),
            forked: driver_was_left_to_the_parent(),
            looks_at_files: cfg!(target_os = "linux"),
            permit,
            load: Arc::new(Driver::load),
        }
    }

    /// Looks at files below these folders instead of `/proc` and `/dev`.
    #[must_use]
    pub fn roots(mut self, proc: impl Into<PathBuf>, dev: impl Into<PathBuf>) -> Self {
        (self.proc, self.dev) = (proc.into(), dev.into());
        self.looks_at_files = true;
        self
    }

    /// Takes this for the value of `CUDA_VISIBLE_DEVICES`.
    #[must_use]
    pub fn visible(mut self, value: Option<OsString>) -> Self {
        self.visible = value;
        self
    }

    /// Whether the library was named by the user. It may then be any library, so the files of
    /// NVIDIA's kernel module prove nothing.
    #[must_use]
    pub fn named(mut self, named: bool) -> Self {
        self.named = named;
        self
    }

    /// Whether the driver was initialised before this process was forked.
    #[must_use]
    pub fn forked(mut self, forked: bool) -> Self {
        self.forked = forked;
        self
    }

    /// Asks this instead of the system whether a file may be opened.
    #[must_use]
    pub fn permit(mut self, permit: fn(&Path) -> io::Result<()>) -> Self {
        self.permit = permit;
        self
    }

    /// Loads the driver this way.
    #[must_use]
    pub fn load(
        mut self,
        load: impl Fn() -> Result<Driver, LoadError> + Send + Sync + 'static,
    ) -> Self {
        self.load = Arc::new(load);
        self
    }

    /// Takes this driver, which was loaded before.
    #[must_use]
    pub fn with_driver(self, driver: Driver) -> Self {
        self.load(move || Ok(driver.clone()))
    }

    /// Looks at all evidence. Never fails: a file that cannot be read counts as not there.
    #[must_use]
    pub fn run(&self) -> Availability {
        let begin = Instant::now();
        let mut found = Availability {
            missing: None,
            library: None,
            version: None,
            kernel_module: KernelModule::NotAsked,
            device_nodes: Vec::new(),
            took: begin.elapsed(),
            driver: None,
        };
        found.missing = self.first_missing(&mut found).err();
        found.took = begin.elapsed();
        found
    }

    fn first_missing(&self, found: &mut Availability) -> Result<(), Missing> {
        if self.forked {
            return Err(Missing::Forked);
        }
        let driver = (self.load)().map_err(|error| Missing::Library {
            error: Arc::new(error),
            named: self.named,
        })?;
        found.library = Some(driver.describe());
        found.version = Some(driver.driver_version());
        found.driver = Some(driver);
        if let Some(value) = self.visible.as_ref().map(|value| value.to_string_lossy())
            && hides_all(&value)
        {
            let value = printable(&value);
            return Err(Missing::Hidden { value });
        }
        if !self.looks_at_files || self.named {
            return Ok(());
        }
        found.kernel_module = self.kernel_module();
        match found.kernel_module {
            KernelModule::NotSeen => Err(Missing::KernelModule {
                looked_at: self.version_file(),
            }),
            KernelModule::Nvidia(_) => {
                found.device_nodes = self.device_nodes();
                self.usable(&found.device_nodes)
            }
            KernelModule::Wsl => {
                found.device_nodes = vec![self.dev.join("dxg")];
                self.usable(&found.device_nodes)
            }
            KernelModule::Tegra | KernelModule::NotAsked => Ok(()),
        }
    }

    fn version_file(&self) -> PathBuf {
        self.proc.join("driver/nvidia/version")
    }

    fn kernel_module(&self) -> KernelModule {
        if let Some(text) = read_small(&self.version_file()) {
            KernelModule::Nvidia(module_version(&text))
        } else if self.dev.join("dxg").exists() {
            KernelModule::Wsl
        } else if self.dev.join("nvmap").exists() {
            KernelModule::Tegra
        } else {
            KernelModule::NotSeen
        }
    }

    /// The files of NVIDIA's module: the one for control first, then those of devices. A
    /// container may have any of the devices, so their numbers need not begin at 0.
    fn device_nodes(&self) -> Vec<PathBuf> {
        let mut numbers: Vec<u64> = Vec::new();
        if let Ok(entries) = std::fs::read_dir(&self.dev) {
            for entry in entries.flatten() {
                if let Some(number) = entry.file_name().to_str().and_then(device_number) {
                    numbers.push(u64::from(number));
                }
            }
        }
        sort_by_number(&mut numbers, |&number| number);
        let mut nodes = Vec::new();
        let control = self.dev.join("nvidiactl");
        if control.exists() {
            nodes.push(control);
        }
        for number in &numbers {
            nodes.push(self.dev.join(format!("nvidia{number}")));
        }
        nodes
    }

    fn usable(&self, nodes: &[PathBuf]) -> Result<(), Missing> {
        let is_control = |path: &PathBuf| path.ends_with("nvidiactl");
        let nvidia = !nodes.iter().any(|path| path.ends_with("dxg"));
        if nvidia && !nodes.iter().any(is_control) {
            let path = self.dev.join("nvidiactl");
            return Err(Missing::DeviceNode { path });
        }
        if nvidia && nodes.iter().all(is_control) {
            let path = self.dev.join("nvidia0");
            return Err(Missing::DeviceNode { path });
        }
        let refused = |path: &PathBuf| {
            let refused = (self.permit)(path).err()?;
            Some(Missing::Permission {
                path: path.clone(),
                reason: printable(&refused.to_string()),
            })
        };
        for control in nodes {
            if is_control(control)
                && let Some(refused) = refused(control)
            {
                return Err(refused);
            }
        }
        // One device that may be used is enough.
        let mut first = None;
        for device in nodes {
            if is_control(device) {
                continue;
            }
            match refused(device) {
                None => return Ok(()),
                Some(refused) => first = first.or(Some(refused)),
            }
        }
        first.map_or(Ok(()), Err)
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe")
            .field("proc", &self.proc)
            .field("dev", &self.dev)
            .field("visible", &self.visible)
            .field("named", &self.named)
            .field("forked", &self.forked)
            .finish_non_exhaustive()
    }
}

/// Whether this process may read and write a file.
#[cfg(unix)]
fn permit(path: &Path) -> io::Result<()> {
    use std::ffi::{c_char, c_int};
    use std::os::unix::ffi::OsStrExt as _;

    // As POSIX and all of its systems have it.
    const READ_AND_WRITE: c_int = 4 | 2;
    unsafe extern "C" {
        fn access(path: *const c_char, mode: c_int) -> c_int;
    }
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: needs a text that a NUL ends, for the time of the call.
    match unsafe { access(path.as_ptr(), READ_AND_WRITE) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(not(unix))]
fn permit(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Whether this value of `CUDA_VISIBLE_DEVICES` leaves no device: the list ends at the first
/// entry that names none, so one that begins with such an entry is empty.
fn hides_all(value: &str) -> bool {
    let first = value.split(',').next().unwrap_or_default().trim();
    first.is_empty() || first.starts_with('-')
}

/// The number in `nvidia<number>`; other files have other names (`nvidia-uvm`).
fn device_number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("nvidia")?;
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok())?
}

/// The beginning of a small file, if it is one. A pipe, which would keep a reader waiting,
/// is not.
fn read_small(path: &Path) -> Option<String> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    File::open(path)
        .ok()?
        .take(4096)
        .read_to_end(&mut text)
        .ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// The version in the first line of `/proc/driver/nvidia/version`, "NVRM version: NVIDIA UNIX
/// x86_64 Kernel Module  580.65.06  Sun ...": the first word of digits with a dot.
fn module_version(text: &str) -> Option<String> {
    let line = text.lines().next()?;
    let is_version = |word: &&str| {
        word.len() <= 32
            && word.contains('.')
            && word
                .split('.')
                .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    line.split_whitespace().find(is_version).map(Into::into)
}

/// Text from outside, made fit for one line of a message.
fn printable(text: &str) -> String {
    let plain = text.chars().take(200);
    plain
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}

#[cfg(all(test, unix, not(loom)))]
mod tests;
