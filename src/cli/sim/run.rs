//! `cupola sim run`: a program with the software device in place of NVIDIA's driver.

use std::env;
use std::ffi::OsString;
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use tempfile::TempDir;

use super::args::SimRunArgs;
use super::library;
use crate::cli::exit::{Exit, Failure};

/// The names under which programs look for the driver.
const NAMES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

pub(super) fn run(args: &SimRunArgs) -> Result<ExitCode, Failure> {
    let library = library::find()?;
    let folder = TempDir::new().map_err(|error| Failure::file(&env::temp_dir(), error))?;
    for name in NAMES {
        let link = folder.path().join(name);
        std::os::unix::fs::symlink(&library, &link).map_err(|error| Failure::file(&link, error))?;
    }
    let report = folder.path().join("report");
    let (program, arguments) = args
        .program
        .split_first()
        .ok_or_else(|| Failure::new(Exit::File, "no program is named".into()))?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("LD_LIBRARY_PATH", search_path(folder.path()))
        // For programs on cupola itself: they take no other driver then.
        .env("CUPOLA_CUDA_LIBRARY", folder.path().join(NAMES[0]));
    for (name, value) in args.settings.variables() {
        command.env(name, value);
    }
    let own_report = args.settings.report.is_none() && env::var_os("CUPOLA_SIM_REPORT").is_none();
    if own_report {
        command.env("CUPOLA_SIM_REPORT", &report);
    }
    let status = command
        .status()
        .map_err(|error| Failure::file(Path::new(program), error))?;
    let mut text = String::new();
    if own_report
        && let Ok(mut file) = std::fs::File::open(&report)
        // What is readable of it; the program may have died while it was written.
        && file.read_to_string(&mut text).is_ok()
        && !text.is_empty()
    {
        eprint!("{text}");
    }
    let found = text.lines().any(|line| !line.starts_with("message: "));
    if args.fail_on_findings && status.success() && found {
        return Ok(Exit::Wrong.into());
    }
    // As shells do: a program that a signal ended has 128 more than the signal.
    let code = status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    Ok(ExitCode::from(u8::try_from(code & 0xff).unwrap_or(1)))
}

/// The library path with our folder before all others.
fn search_path(folder: &Path) -> OsString {
    let mut path = OsString::from(folder);
    if let Some(old) = env::var_os("LD_LIBRARY_PATH").filter(|old| !old.is_empty()) {
        path.push(":");
        path.push(old);
    }
    path
}
