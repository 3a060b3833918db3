//! `cupola doctor`: what this machine offers, and what to do about what it lacks.
//!
//! Nothing it finds is an error of its own: it succeeds on a machine without a GPU. Only
//! a symbol table that does not fit the driver fails it.

mod libraries;
mod symbols;
mod text;

use cupola::sys::driver::{Driver, LIBRARY_VARIABLE};
use cupola::{Cupola, DeviceInfo, Select};
use serde::Serialize;

use super::args::DoctorArgs;
use super::exit::{Exit, Failure};
use super::output::say;
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
    software_device: Vec<DeviceReport>,
    libraries: Vec<Library>,
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
    memory_pools: bool,
    virtual_memory: bool,
    unified_addressing: bool,
    managed_memory: bool,
    ecc: bool,
}

impl DeviceReport {
    pub(super) fn new(info: &DeviceInfo, free_bytes: Option<u64>) -> Self {
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
            memory_pools: info.memory_pools,
            virtual_memory: info.virtual_memory,
            unified_addressing: info.unified_addressing,
            managed_memory: info.managed_memory,
            ecc: info.ecc,
        }
    }
}

pub(super) fn run(args: &DoctorArgs) -> Result<Exit, Failure> {
    let (driver, devices) = examine_driver(args.symbols);
    let report = Report {
        cupola: env!("CARGO_PKG_VERSION"),
        commit: env!("CUPOLA_COMMIT"),
        target: env!("CUPOLA_TARGET"),
        driver,
        devices,
        software_device: Cupola::open(Select::Software)
            .map_or_else(|_| Vec::new(), |c| devices_of(&c)),
        libraries: libraries::all(),
    };
    if args.json {
        say(&(serde_json::to_string_pretty(&report)? + "\n"));
    } else {
        say(&text::render(&report, args.symbols));
    }
    let wrong = report
        .driver
        .symbols
        .as_ref()
        .is_some_and(|check| !check.passed());
    Ok(if wrong { Exit::Wrong } else { Exit::Done })
}

fn examine_driver(symbols: bool) -> (DriverReport, Vec<DeviceReport>) {
    let mut report = DriverReport::default();
    let driver = match Driver::load() {
        Ok(driver) => driver,
        Err(error) => {
            report.problem = Some(error.to_string());
            let named = std::env::var_os(LIBRARY_VARIABLE).is_some_and(|path| !path.is_empty());
            report.advice = Some(if named {
                "CUPOLA_CUDA_LIBRARY names this library: correct it, or unset it to use the system's"
            } else {
                "install NVIDIA's driver, or set CUPOLA_CUDA_LIBRARY if it lies elsewhere; \
                 until then everything runs on the software device"
            });
            return (report, Vec::new());
        }
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
    match Cupola::with_driver(driver) {
        Ok(cupola) => (report, devices_of(&cupola)),
        Err(error) => {
            report.problem = Some(error.to_string());
            report.advice = Some("see `nvidia-smi`; in a container, pass the devices in");
            (report, Vec::new())
        }
    }
}

/// The devices, with their free memory where a context can be had.
fn devices_of(cupola: &Cupola) -> Vec<DeviceReport> {
    let devices = cupola.execution().devices();
    devices
        .iter()
        .filter_map(|device| {
            let device = device.ok()?;
            let context = device.primary().ok();
            let free = context.and_then(|context| Some(context.memory_info().ok()?.free));
            Some(DeviceReport::new(device.info().ok()?, free))
        })
        .collect()
}
