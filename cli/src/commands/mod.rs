//! The command line. Each command is a room of its own; this file picks one.

mod args;
mod bench;
#[cfg(unix)]
mod cache;
mod compile;
mod destination;
mod device;
mod doctor;
mod exit;
mod ignored;
mod input;
mod json;
mod manual;
mod output;
mod position;
mod replay;
mod run;
#[cfg(all(feature = "libcuda", unix))]
mod sim;
mod size;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, Parser as _};
use cupola::Select;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use args::{Cli, Command, DeviceChoice, RunArgs};
use exit::Exit;
use output::{complain, said};
use position::device_after_command;

impl From<DeviceChoice> for Select {
    fn from(choice: DeviceChoice) -> Self {
        match choice {
            DeviceChoice::Auto => Self::AutoOrSoftware,
            DeviceChoice::Gpu => Self::Gpu,
            DeviceChoice::Sim => Self::Software,
        }
    }
}

/// Runs the program.
pub(crate) fn main() -> ExitCode {
    let words = device_after_command(&Cli::command(), std::env::args_os());
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return unparsed(&error),
    };
    tracing_subscriber::fmt()
        .with_env_filter(log_filter())
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal() && !no_color())
        // Where it cannot write it would say so in the same place, and panic.
        .log_internal_errors(false)
        .init();
    let command = cli.command.unwrap_or(Command::Run(RunArgs {
        file: None,
        options: cli.run,
    }));
    let json = command.json().cloned().unwrap_or_default();
    let ended = match command {
        Command::Run(args) => run::run(&args).map(Exit::into),
        Command::Doctor(args) => doctor::run(&args).map(Exit::into),
        Command::Compile(args) => compile::run(&args).map(Exit::into),
        Command::Bench { suite } => bench::run(&suite).map(Exit::into),
        #[cfg(unix)]
        Command::Cache { command } => cache::run(&command).map(Exit::into),
        Command::Replay(args) => replay::command(&args).map(Exit::into),
        #[cfg(all(feature = "libcuda", unix))]
        Command::Sim { command } => sim::run(&command),
        Command::Completions { shell } => manual::completions(shell).map(Exit::into),
        Command::Man { command } => manual::page(&command).map(Exit::into),
    };
    match ended {
        Ok(code) => code,
        Err(failure) => {
            json.fail(&failure);
            complain(&format!("cupola: {failure}\n"));
            failure.exit.into()
        }
    }
}

/// Whether the user wants no colours anywhere (<https://no-color.org>).
fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Prints what clap has to say: what is wrong with the command line, or the help that it asks for.
fn unparsed(error: &clap::Error) -> ExitCode {
    let printed = error.print();
    if !error.use_stderr()
        && let Err(failure) = said(printed)
    {
        complain(&format!("cupola: {failure}\n"));
        return failure.exit.into();
    }
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && std::path::Path::new(word).is_file()
    {
        complain(&format!("\n  tip: `cupola run {word}` streams that file\n"));
    }
    u8::try_from(error.exit_code()).map_or(Exit::Usage.into(), ExitCode::from)
}

/// What `RUST_LOG` asks for; errors if it makes no sense.
fn log_filter() -> EnvFilter {
    let wanted = std::env::var(EnvFilter::DEFAULT_ENV).unwrap_or_default();
    let errors = EnvFilter::builder().with_default_directive(LevelFilter::ERROR.into());
    errors.clone().parse(&wanted).unwrap_or_else(|error| {
        complain(&format!("cupola: RUST_LOG={wanted}: {error}\n"));
        errors.parse_lossy("")
    })
}
