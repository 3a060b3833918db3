//! What a machine is made of, read from a file and from the environment, so that programs
//! which know nothing of this crate can be tested on it too.
//!
//! The shared library reads [`Settings::from_environment`]; the command line shows them.
//! `docs/design/sim.md` lists every key and every variable.

mod environment;
mod fault;
mod text;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cupola_sys::driver::{Driver, DriverError};
use cupola_sys::{SymbolId, Version};
use serde::Deserialize;

use crate::device::{DeviceConfig, MachineBuilder, Order, Profile, Strict};
use crate::fault::FaultTable;

pub use environment::VARIABLES;
pub use fault::FaultSetting;
use text::{Size, Time};

/// Why settings cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The file that `CUPOLA_SIM_CONFIG` names cannot be read.
    #[error("{path}: {error}")]
    File {
        /// Its path.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The text is not what it should be.
    #[error("{origin}: {reason}")]
    Value {
        /// The file or the variable.
        origin: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl SettingsError {
    fn value(origin: impl Into<String>, reason: impl std::fmt::Display) -> Self {
        Self::Value {
            origin: origin.into(),
            reason: reason.to_string(),
        }
    }
}

/// Everything that can be set. The default is a machine as [`Machine::builder`] makes it,
/// without log, report and faults.
///
/// ```
/// use cupola_sim::settings::Settings;
///
/// let settings = Settings::from_toml(
///     r#"
///     driver_version = "12.4"
///     [[device]]
///     memory = "1GiB"
///     copy_engines = 1
///     [[fault]]
///     call = "cuMemAlloc_v2"
///     at = 3
///     code = "CUDA_ERROR_OUT_OF_MEMORY"
///     "#,
/// )?;
/// let machine = settings.builder().build();
/// let driver = settings.driver(machine.driver())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`Machine::builder`]: crate::Machine::builder
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    #[serde(deserialize_with = "text::version")]
    driver_version: Option<Version>,
    /// How many devices, if they are all alike.
    devices: Option<usize>,
    device: Vec<DeviceSettings>,
    /// Of the devices that do not say it.
    #[serde(deserialize_with = "text::profile")]
    profile: Option<Profile>,
    workers: Option<usize>,
    /// Where the log of calls goes: a path, `stderr`, or nothing.
    pub log: Option<PathBuf>,
    /// Where the report goes when the process ends: a path, `stderr`, or nothing.
    pub report: Option<PathBuf>,
    #[serde(deserialize_with = "text::strict")]
    strict: Option<Strict>,
    #[serde(deserialize_with = "text::order")]
    order: Option<Order>,
    /// Wins over `order`.
    seed: Option<u64>,
    fault: Vec<FaultSetting>,
    /// `cuGetProcAddress` does not find what is not built.
    hide_unsupported: bool,
    /// Ordered pairs of devices without a link: `from` and `to`.
    #[serde(deserialize_with = "text::pairs")]
    no_peer_access: Vec<(usize, usize)>,
    /// Ordered pairs of devices between which copies lose bytes.
    #[serde(deserialize_with = "text::pairs")]
    corrupt_links: Vec<(usize, usize)>,
    /// What `CUDA_VISIBLE_DEVICES` says.
    #[serde(skip)]
    visible: Option<String>,
    /// What `CUDA_LAUNCH_BLOCKING` says.
    #[serde(skip)]
    launch_blocking: bool,
    /// Functions that the machine lacks.
    #[serde(deserialize_with = "text::functions")]
    without: Vec<SymbolId>,
}

/// One device.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct DeviceSettings {
    name: Option<String>,
    #[serde(deserialize_with = "text::profile")]
    profile: Option<Profile>,
    memory: Option<Size>,
    #[serde(deserialize_with = "text::capability")]
    compute_capability: Option<(u32, u32)>,
    multiprocessors: Option<u32>,
    copy_engines: Option<u32>,
    clock_khz: Option<u32>,
    /// Bytes.
    large_alignment: Option<Size>,
    kernel_time_limit: Option<Time>,
    launch_delay: Option<Time>,
    operation_delay: Option<Time>,
    /// Bytes a second.
    upload_bandwidth: Option<Size>,
    /// Bytes a second.
    download_bandwidth: Option<Size>,
    copy_latency: Option<Time>,
    /// Of both bandwidths, from 0.001 to 1.
    duplex: Option<f64>,
    /// Bytes a second.
    memory_bandwidth: Option<Size>,
    jitter: Option<Time>,
    jitter_seed: u64,
}

impl Settings {
    /// Reads a TOML text.
    ///
    /// # Errors
    /// It is no TOML, or has a key or a value that means nothing here; the reason has the
    /// line.
    pub fn from_toml(text: &str) -> Result<Self, SettingsError> {
        Self::parse(text, "settings")
    }

    /// Reads a TOML file.
    ///
    /// # Errors
    /// As for [`from_toml`](Self::from_toml), or the file cannot be read.
    pub fn from_file(path: &Path) -> Result<Self, SettingsError> {
        let text = std::fs::read_to_string(path).map_err(|error| SettingsError::File {
            path: path.into(),
            error,
        })?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Reads the file that `CUPOLA_SIM_CONFIG` names, if it names one, and then the other
    /// variables, which win over the file.
    ///
    /// # Errors
    /// The file or a variable cannot be used.
    pub fn from_environment() -> Result<Self, SettingsError> {
        Self::from_variables(|name| std::env::var_os(name))
    }

    /// The same with variables that `get` gives: those that a program is going to be started
    /// with.
    ///
    /// # Errors
    /// As for [`from_environment`](Self::from_environment).
    pub fn from_variables(get: impl Fn(&str) -> Option<OsString>) -> Result<Self, SettingsError> {
        environment::read(get)
    }

    fn parse(text: &str, origin: &str) -> Result<Self, SettingsError> {
        let settings: Self =
            toml::from_str(text).map_err(|error| SettingsError::value(origin, error))?;
        let most = settings.devices.unwrap_or(0).max(settings.device.len());
        text::device_count(most).map_err(|reason| SettingsError::value(origin, reason))?;
        if settings.devices.is_some() && settings.device.len() > 1 {
            return Err(SettingsError::value(
                origin,
                "`devices` counts devices that are all alike: it goes with one [[device]] at most",
            ));
        }
        Ok(settings)
    }

    /// A machine as these settings describe it.
    #[must_use]
    pub fn builder(&self) -> MachineBuilder {
        let mut builder = MachineBuilder::default();
        let described: Vec<_> = self.device.iter().map(DeviceSettings::config).collect();
        let devices = match (self.devices, described.as_slice()) {
            (None, []) => None,
            (Some(count), []) => Some(vec![DeviceConfig::default(); count]),
            (Some(count), [one, ..]) => Some(vec![one.clone(); count]),
            (None, _) => Some(described),
        };
        if let Some(devices) = devices {
            builder = devices
                .into_iter()
                .fold(builder.devices(0), MachineBuilder::add_device);
        }
        if let Some(list) = &self.visible {
            builder = builder.visible_devices(list);
        }
        builder = builder
            .hide_unsupported(self.hide_unsupported)
            .launch_blocking(self.launch_blocking);
        if let Some(version) = self.driver_version {
            builder = builder.driver_version(version);
        }
        if let Some(profile) = self.profile {
            builder = builder.profile(profile);
        }
        if let Some(workers) = self.workers {
            builder = builder.worker_threads(workers);
        }
        if let Some(strict) = self.strict {
            builder = builder.strict(strict);
        }
        if let Some(order) = self.seed.map(Order::Seeded).or(self.order) {
            builder = builder.order(order);
        }
        for &(device, peer) in &self.no_peer_access {
            builder = builder.without_peer_access(device, peer);
        }
        for &(from, to) in &self.corrupt_links {
            builder = builder.corrupt_link(from, to);
        }
        self.without
            .iter()
            .fold(builder, |builder, id| builder.without(*id))
    }

    /// The driver, through a fault table if these settings have faults.
    ///
    /// # Errors
    /// What the driver said when it was asked for its version.
    pub fn driver(&self, driver: Driver) -> Result<Driver, DriverError> {
        if self.fault.is_empty() {
            return Ok(driver);
        }
        let table = FaultTable::new(driver);
        // Made before the faults: it asks for the driver's version.
        let faulty = table.try_driver()?;
        table.reset();
        for fault in &self.fault {
            fault.arm(&table);
        }
        Ok(faulty)
    }
}

impl DeviceSettings {
    fn config(&self) -> DeviceConfig {
        fn with<T>(
            config: DeviceConfig,
            value: Option<T>,
            set: impl FnOnce(DeviceConfig, T) -> DeviceConfig,
        ) -> DeviceConfig {
            match value {
                Some(value) => set(config, value),
                None => config,
            }
        }
        let config = DeviceConfig::new();
        let config = with(config, self.name.as_deref(), DeviceConfig::name);
        let config = with(config, self.profile, DeviceConfig::profile);
        let config = with(config, self.memory, |config, size| config.memory(size.0));
        let config = with(config, self.compute_capability, |config, (major, minor)| {
            config.compute_capability(major, minor)
        });
        let config = with(config, self.multiprocessors, DeviceConfig::multiprocessors);
        let config = with(config, self.copy_engines, DeviceConfig::copy_engines);
        let config = with(config, self.clock_khz, DeviceConfig::clock_khz);
        let config = with(config, self.large_alignment, |config, size| {
            config.large_alignment(size.0)
        });
        let time = |time: Option<Time>| time.map(|time| time.0);
        let config = with(
            config,
            time(self.kernel_time_limit),
            DeviceConfig::kernel_time_limit,
        );
        let config = with(config, time(self.launch_delay), DeviceConfig::launch_delay);
        let config = with(
            config,
            time(self.operation_delay),
            DeviceConfig::operation_delay,
        );
        let config = with(config, self.upload_bandwidth, |config, size| {
            config.upload_bandwidth(size.0)
        });
        let config = with(config, self.download_bandwidth, |config, size| {
            config.download_bandwidth(size.0)
        });
        let config = with(config, time(self.copy_latency), DeviceConfig::copy_latency);
        let config = with(config, self.duplex, DeviceConfig::duplex);
        let config = with(config, self.memory_bandwidth, |config, size| {
            config.memory_bandwidth(size.0)
        });
        with(config, time(self.jitter), |config, most: Duration| {
            config.jitter(most, self.jitter_seed)
        })
    }
}

#[cfg(test)]
mod tests;
