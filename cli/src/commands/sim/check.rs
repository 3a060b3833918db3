//! `cupola sim check`: which functions of PTX files the software device can run, as the settings
//! describe it. What it would not load runs nothing.

use std::fmt::Write as _;
use std::path::Path;

use cupola_sim::MachineBuilder;
use cupola_sim::exec::Program;
use cupola_sim::settings::Settings;
use serde::Serialize;

use super::args::SimCheckArgs;
use crate::commands::destination::apart;
use crate::commands::exit::{Exit, Failure};
use crate::commands::output::complain;

/// What was found in one file.
#[derive(Serialize)]
struct Checked {
    file: String,
    /// Why nothing of it can run.
    error: Option<String>,
    /// It is not there, or no file that can be read.
    #[serde(skip)]
    unread: bool,
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
    let to = args.json.report()?;
    let read: Vec<_> = args.files.iter().map(|path| ("a FILE", &**path)).collect();
    apart(&read, &[("--json", to.file())])?;
    to.claim();
    let settings = Settings::from_environment()
        .map_err(|error| Failure::new(Exit::File, error.to_string()))?;
    let machine = settings.builder();
    // A file that cannot be read keeps none of the others from its answer.
    let files: Vec<_> = args
        .files
        .iter()
        .map(|path| check(&machine, path))
        .collect();
    // What could not be read is said on standard error, and in the document.
    let answers = files.iter().filter(|file| !file.unread).map(text);
    let said = to.say(&answers.collect::<String>());
    to.write(&files)?;
    said?;
    let mut unread = files.iter().filter(|file| file.unread).peekable();
    if unread.peek().is_some() {
        unread.for_each(|file| complain(&format!("cupola: {}", text(file))));
        return Ok(Exit::File);
    }
    Ok(if files.iter().all(Checked::is_good) {
        Exit::Done
    } else {
        Exit::Wrong
    })
}

fn check(machine: &MachineBuilder, path: &Path) -> Checked {
    let mut checked = Checked {
        file: path.display().to_string(),
        error: None,
        unread: false,
        functions: 0,
        failed: Vec::new(),
    };
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            checked.error = Some(error.to_string());
            checked.unread = true;
            return checked;
        }
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
    checked
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
