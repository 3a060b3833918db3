//! The findings as text.

use std::fmt::Write as _;

use super::{DeviceReport, Report};
use crate::cli::output::bytes;

/// Lines for people. With `symbols` every missing function is named.
pub(super) fn render(report: &Report, symbols: bool) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "cupola {} ({}, {})",
        report.cupola, report.commit, report.target
    );
    driver(&mut out, report, symbols);
    for device in &report.devices {
        self::device(&mut out, device);
    }
    for device in &report.software_device {
        self::device(&mut out, device);
    }
    for library in &report.libraries {
        let _ = write!(out, "{:<10} ", library.name);
        match (&library.version, &library.path) {
            (Some(version), Some(path)) => {
                let _ = writeln!(out, "{version}, {path}");
                if !library.missing.is_empty() {
                    let _ = writeln!(
                        out,
                        "           older than the bindings: lacks {}",
                        library.missing.join(", ")
                    );
                }
            }
            _ => {
                let _ = writeln!(out, "not found (for {})", library.used_for);
            }
        }
        if let Some(problem) = &library.problem {
            let _ = writeln!(out, "           {problem}");
        }
        if let Some(advice) = library.advice {
            let _ = writeln!(out, "           -> {advice}");
        }
    }
    out
}

fn driver(out: &mut String, report: &Report, symbols: bool) {
    let driver = &report.driver;
    let all = driver.functions + driver.missing.len();
    match (&driver.library, &driver.version) {
        (Some(library), Some(version)) => {
            let _ = writeln!(out, "driver     CUDA {version}, {library}");
            let _ = writeln!(
                out,
                "           {} of {all} functions; {} are newer than this driver",
                driver.functions,
                driver.missing.len()
            );
        }
        _ => {
            let _ = writeln!(out, "driver     not found");
        }
    }
    if symbols {
        for missing in &driver.missing {
            let _ = writeln!(
                out,
                "           lacks {} (needs CUDA {})",
                missing.name, missing.needs
            );
        }
    }
    if let Some(check) = &driver.symbols {
        let _ = writeln!(
            out,
            "           symbol table: {} rows same, {} absent both ways, {} in one only, {} different",
            check.same,
            check.absent,
            check.one_only.len(),
            check.different.len()
        );
        for name in check.one_only.iter().chain(&check.different) {
            let _ = writeln!(out, "           WRONG ROW: {name}");
        }
    }
    if let Some(problem) = &driver.problem {
        let _ = writeln!(out, "           {problem}");
    }
    if let Some(advice) = driver.advice {
        let _ = writeln!(out, "           -> {advice}");
    }
}

fn device(out: &mut String, device: &DeviceReport) {
    let _ = writeln!(
        out,
        "device {}   {}, compute capability {}, {} multiprocessors at {} MHz",
        device.ordinal,
        device.name,
        device.compute_capability,
        device.multiprocessors,
        device.clock_mhz
    );
    let free = device
        .free_bytes
        .map_or_else(String::new, |free| format!(" ({} free)", bytes(free)));
    let _ = writeln!(
        out,
        "           {} of memory{free}, {} copy engines, PCI {}, {}",
        bytes(device.memory_bytes),
        device.copy_engines,
        device.pci,
        device.uuid
    );
    let features: Vec<_> = [
        ("memory pools", device.memory_pools),
        ("virtual memory", device.virtual_memory),
        ("unified addressing", device.unified_addressing),
        ("managed memory", device.managed_memory),
        ("ECC", device.ecc),
    ]
    .iter()
    .filter(|(_, has)| *has)
    .map(|(name, _)| *name)
    .collect();
    let _ = writeln!(
        out,
        "           {}",
        if features.is_empty() {
            "no optional features".into()
        } else {
            features.join(", ")
        }
    );
}
