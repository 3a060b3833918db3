//! `cupola sim run`: a program with the software device in place of NVIDIA's driver.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use cupola_sim::settings::{Settings, SettingsError};
use tempfile::TempDir;

use super::args::{SettingArgs, SimRunArgs};
use super::{library, signals};
use crate::commands::exit::{Exit, Failure};
use crate::commands::output::complain;

/// The names under which programs look for the driver.
const NAMES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

pub(super) fn run(args: &SimRunArgs) -> Result<ExitCode, Failure> {
    let settings = settings(&args.settings)?;
    let folder = TempDir::new().map_err(|error| Failure::file(&env::temp_dir(), error))?;
    let library = library::find(folder.path())?;
    for name in NAMES {
        let link = folder.path().join(name);
        std::os::unix::fs::symlink(&library, &link).map_err(|error| Failure::file(&link, error))?;
    }
    let own = folder.path().join("report");
    let named = settings.report;
    let report = named.as_deref().unwrap_or(&own);
    if args.fail_on_findings && report == Path::new("stderr") {
        return Err(Failure::new(
            Exit::Usage,
            "--fail-on-findings reads the report: it cannot go to stderr".into(),
        ));
    }
    empty(report)?;
    if let Some(log) = &args.settings.log {
        empty(log)?;
    }
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
    command.env("CUPOLA_SIM_REPORT", report);
    let status =
        signals::status(&mut command).map_err(|error| Failure::file(Path::new(program), error))?;
    // A report that is named may be a pipe, which has no end while this process could write to it.
    let text = if named.is_none() || args.fail_on_findings {
        let bytes = std::fs::read(report).map_err(|error| Failure::file(report, error))?;
        String::from_utf8_lossy(&bytes).into_owned()
    } else {
        String::new()
    };
    if named.is_none() {
        complain(&text);
    }
    if args.fail_on_findings && status.success() && text.lines().any(is_finding) {
        return Ok(Exit::Wrong.into());
    }
    // As shells do: a program that a signal ended has 128 more than the signal.
    let code = status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    Ok(ExitCode::from(u8::try_from(code & 0xff).unwrap_or(1)))
}

/// What the library will read. Refuses what it would refuse: a program that does not look at what
/// `cuInit` returns would run without a device, and succeed.
fn settings(args: &SettingArgs) -> Result<Settings, Failure> {
    let given: Vec<_> = args.variables().collect();
    let get = |name: &str| {
        let option = given.iter().find(|(known, _)| *known == name);
        option.map_or_else(|| env::var_os(name), |(_, value)| Some(value.clone()))
    };
    Settings::from_variables(get).map_err(|error| {
        let exit = match error {
            SettingsError::File { .. } => Exit::File,
            _ => Exit::Usage,
        };
        Failure::new(exit, error.to_string())
    })
}

/// Empties a file that the program, and those that it starts, add to.
fn empty(path: &Path) -> Result<(), Failure> {
    if path == Path::new("stderr") {
        return Ok(());
    }
    std::fs::write(path, "").map_err(|error| Failure::file(path, error))
}

/// Whether a line of a report is a finding, and not a message or a part of one.
fn is_finding(line: &str) -> bool {
    !["message: ", " ", "{\"message\":"]
        .iter()
        .any(|start| line.starts_with(start))
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
