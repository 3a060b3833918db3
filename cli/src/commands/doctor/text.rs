//! The findings as text.

use std::fmt::Write as _;

use super::{DeviceReport, Report};
use crate::commands::output::bytes;

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
    if let Some(matrix) = &report.matrix {
        for (number, line) in matrix.to_string().lines().enumerate() {
            let head = if number == 0 { "peers" } else { "" };
            let _ = writeln!(out, "{head:<10} {line}");
        }
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
    let _ = write!(
        out,
        "           kernel module: {}; looked for in {:.1} ms",
        driver.kernel_module,
        driver.found_in_us as f64 / 1e3
    );
    let _ = match driver.started_in_us {
        Some(time) => writeln!(out, ", started in {:.1} ms", time as f64 / 1e3),
        None => writeln!(out),
    };
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
        "device {}   {}, {}, compute capability {}, {} multiprocessors at {} MHz",
        device.ordinal,
        device.name,
        device.architecture,
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
    let marks = [
        ("ECC", device.ecc),
        ("a part of a divided device (MIG)", device.mig),
        ("under MPS", device.mps),
    ];
    let marks = marks.iter().filter(|(_, is)| *is).map(|(name, _)| *name);
    let features: Vec<_> = device
        .features
        .iter()
        .map(String::as_str)
        .chain(marks)
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
    if let Some(pinned) = &device.pinned {
        let _ = writeln!(out, "           pinned memory: {pinned}");
    }
    if device.compute_mode != "default" {
        let _ = writeln!(out, "           compute mode: {}", device.compute_mode);
    }
}
