//! `cupola sim check`: which functions of PTX files the software device can run, as the settings
//! describe it. What it would not load runs nothing.

use std::fmt::Write as _;
use std::path::Path;

use cupola_sim::MachineBuilder;
use cupola_sim::exec::Program;
use cupola_sim::settings::Settings;
use serde::Serialize;

use super::args::SimCheckArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::say;

/// What was found in one file.
#[derive(Serialize)]
struct Checked {
    file: String,
    /// Why nothing of it can run.
    error: Option<String>,
    /// Kernels and device functions.
    functions: usize,
    failed: Vec<Failed>,
}

/// A function that cannot run.
#[derive(Serialize)]
struct Failed {
    function: String,
    line: u32,
    opcode: String,
    reason: String,
}

impl Checked {
    fn is_good(&self) -> bool {
        self.error.is_none() && self.failed.is_empty()
    }
}

pub(super) fn run(args: &SimCheckArgs) -> Result<Exit, Failure> {
    let settings = Settings::from_environment()
        .map_err(|error| Failure::new(Exit::File, error.to_string()))?;
    let machine = settings.builder();
    let files = args.files.iter().map(|path| check(&machine, path));
    let files = files.collect::<Result<Vec<_>, _>>()?;
    if args.json {
        say(&(serde_json::to_string_pretty(&files)? + "\n"))?;
    } else {
        say(&files.iter().map(text).collect::<String>())?;
    }
    Ok(if files.iter().all(Checked::is_good) {
        Exit::Done
    } else {
        Exit::Wrong
    })
}

fn check(machine: &MachineBuilder, path: &Path) -> Result<Checked, Failure> {
    let bytes = std::fs::read(path).map_err(|error| Failure::file(path, error))?;
    let mut checked = Checked {
        file: path.display().to_string(),
        error: None,
        functions: 0,
        failed: Vec::new(),
    };
    match load(machine, &bytes) {
        Ok(program) => {
            checked.functions = program.function_count();
            let failed = program.undecodable().iter().cloned();
            checked.failed = failed
                .map(|failed| Failed {
                    function: failed.function,
                    line: failed.line,
                    opcode: failed.opcode,
                    reason: failed.reason,
                })
                .collect();
        }
        Err(error) => checked.error = Some(error),
    }
    Ok(checked)
}

fn load(machine: &MachineBuilder, bytes: &[u8]) -> Result<Program, String> {
    // As the driver takes it: any bytes in comments and names, and the text ends at a NUL.
    let text = String::from_utf8_lossy(bytes);
    let text = text.split('\0').next().unwrap_or_default();
    machine.check_ptx(text)
}

fn text(file: &Checked) -> String {
    let mut text = String::new();
    // Writing to a text does not fail.
    if let Some(error) = &file.error {
        let _ = writeln!(text, "{}: {error}", file.file);
        return text;
    }
    let good = file.functions - file.failed.len();
    let _ = writeln!(
        text,
        "{}: {good} of {} functions can run",
        file.file, file.functions
    );
    for failed in &file.failed {
        let _ = writeln!(
            text,
            "  {}, line {}: {}: {}",
            failed.function, failed.line, failed.opcode, failed.reason
        );
    }
    text
}
