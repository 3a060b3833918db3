//! `cupola doctor`: what this machine offers, and what to do about what it lacks.
//!
//! Nothing it finds is an error of its own: it succeeds on a machine without a GPU. Only
//! a symbol table that does not fit the driver fails it.

mod libraries;
mod links;
mod symbols;
mod text;

use std::time::Duration;

use cupola::managers::backend::{self, availability};
use cupola::managers::peer::PeerMatrix;
use cupola::{Cupola, DeviceInfo, Select};
use serde::Serialize;

use super::args::DoctorArgs;
use super::exit::{Exit, Failure};
use libraries::Library;
use symbols::SymbolCheck;

/// All findings.
#[derive(Debug, Serialize)]
struct Report {
    cupola: &'static str,
    commit: &'static str,
    target: &'static str,
    driver: DriverReport,
    devices: Vec<DeviceReport>,
    /// The links between devices, of each ordered pair.
    peers: Vec<links::Link>,
    software_device: Vec<DeviceReport>,
    libraries: Vec<Library>,
    #[serde(skip)]
    matrix: Option<PeerMatrix>,
}

/// The driver library.
#[derive(Debug, Default, Serialize)]
struct DriverReport {
    /// The file it was loaded from.
    library: Option<String>,
    /// The CUDA version that it supports.
    version: Option<String>,
    /// How many functions of the API it has.
    functions: usize,
    /// Those that it lacks.
    missing: Vec<Missing>,
    /// The rows of the symbol table against the library's exports.
    symbols: Option<SymbolCheck>,
    /// How long it took to look for it, in microseconds; without initialising it.
    found_in_us: u64,
    /// How long `cuInit` and counting the devices took, in microseconds.
    started_in_us: Option<u64>,
    /// Its part in the system's kernel, as far as files tell.
    kernel_module: String,
    /// The files by which devices are reached.
    device_nodes: Vec<String>,
    /// Why it cannot be used.
    problem: Option<String>,
    /// What to do about it.
    advice: Option<&'static str>,
}

/// A function that the driver lacks.
#[derive(Debug, Serialize)]
struct Missing {
    name: &'static str,
    /// The CUDA version that has it.
    needs: String,
}

/// One device.
#[derive(Debug, Serialize)]
pub(super) struct DeviceReport {
    ordinal: u32,
    name: String,
    uuid: String,
    pci: String,
    compute_capability: String,
    multiprocessors: u32,
    clock_mhz: u32,
    memory_bytes: u64,
    free_bytes: Option<u64>,
    copy_engines: u32,
    architecture: String,
    features: Vec<String>,
    ecc: bool,
    mig: bool,
    mps: bool,
    compute_mode: String,
    /// How it gets page-locked host memory, if that could be tried.
    pinned: Option<String>,
}

impl DeviceReport {
    pub(super) fn new(info: &DeviceInfo, free_bytes: Option<u64>, pinned: Option<String>) -> Self {
        let mut uuid = String::from("GPU-");
        for (index, byte) in info.uuid.iter().enumerate() {
            let dash = if matches!(index, 4 | 6 | 8 | 10) {
                "-"
            } else {
                ""
            };
            uuid.push_str(&format!("{dash}{byte:02x}"));
        }
        Self {
            ordinal: info.ordinal,
            name: info.name.clone(),
            uuid,
            pci: info.pci.to_string(),
            compute_capability: format!(
                "{}.{}",
                info.compute_capability.0, info.compute_capability.1
            ),
            multiprocessors: info.multiprocessors,
            clock_mhz: info.clock_khz / 1000,
            memory_bytes: info.total_memory,
            free_bytes,
            copy_engines: info.async_engines,
            architecture: info.architecture().to_string(),
            features: info.features.iter().map(|one| one.to_string()).collect(),
            ecc: info.ecc,
            mig: info.mig,
            mps: info.mps,
            compute_mode: info.compute_mode.to_string(),
            pinned,
        }
    }
}

pub(super) fn run(args: &DoctorArgs) -> Result<Exit, Failure> {
    let to = args.json.report()?;
    to.claim();
    let (driver, devices, matrix) = examine_driver(args.symbols);
    let report = Report {
        cupola: env!("CARGO_PKG_VERSION"),
        commit: env!("CUPOLA_COMMIT"),
        target: env!("CUPOLA_TARGET"),
        driver,
        devices,
        peers: links::all(matrix.as_ref()),
        matrix,
        software_device: Cupola::open(Select::Software)
            .map_or_else(|_| Vec::new(), |c| devices_of(&c)),
        libraries: libraries::all(),
    };
    let said = to.say(&text::render(&report, args.symbols));
    to.write(&report)?;
    said?;
    let wrong = report
        .driver
        .symbols
        .as_ref()
        .is_some_and(|check| !check.passed());
    Ok(if wrong { Exit::Wrong } else { Exit::Done })
}

fn examine_driver(symbols: bool) -> (DriverReport, Vec<DeviceReport>, Option<PeerMatrix>) {
    let found = availability();
    let mut report = DriverReport {
        found_in_us: micros(found.took),
        kernel_module: found.kernel_module.to_string(),
        device_nodes: found
            .device_nodes
            .iter()
            .map(|path| path.display().to_string())
            .collect(),
        ..DriverReport::default()
    };
    let Some(driver) = found.driver().cloned() else {
        report.miss(found.missing.as_ref());
        return (report, Vec::new(), None);
    };
    let path = driver.library_path();
    report.library = Some(
        path.as_ref()
            .map_or_else(|| driver.describe(), |path| path.display().to_string()),
    );
    report.version = Some(driver.driver_version().to_string());
    report.missing = driver
        .missing()
        .map(|symbol| Missing {
            name: symbol.as_str(),
            needs: symbol.introduced.to_string(),
        })
        .collect();
    report.functions = cupola::sys::driver::SYMBOLS.len() - report.missing.len();
    if symbols && let Some(path) = &path {
        match symbols::check(&driver, path) {
            Ok(check) => report.symbols = Some(check),
            Err(error) => report.problem = Some(format!("the exports cannot be read: {error}")),
        }
    }
    let (found, started) = found.full();
    report.started_in_us = started.map(|started| micros(started.took));
    report.miss(found.missing.as_ref());
    if found.missing.is_some() {
        return (report, Vec::new(), None);
    }
    match Cupola::with_driver(driver) {
        Ok(cupola) => (report, devices_of(&cupola), links::of(&cupola)),
        Err(error) => {
            report.problem = Some(error.to_string());
            (report, Vec::new(), None)
        }
    }
}

impl DriverReport {
    fn miss(&mut self, missing: Option<&backend::Missing>) {
        if let Some(missing) = missing {
            self.problem = Some(missing.to_string());
            self.advice = Some(missing.advice());
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// The devices, with what a context tells where one can be had.
fn devices_of(cupola: &Cupola) -> Vec<DeviceReport> {
    let devices = cupola.execution().devices();
    devices
        .iter()
        .filter_map(|device| {
            let device = device.ok()?;
            let context = device.primary().ok();
            let context = context.as_ref();
            let free = context.and_then(|context| Some(context.memory_info().ok()?.free));
            let pinned = context.and_then(|context| context.pinned_backing().ok());
            let pinned = pinned.map(|pinned| pinned.to_string());
            Some(DeviceReport::new(device.info().ok()?, free, pinned))
        })
        .collect()
}
