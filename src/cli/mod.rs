//! The command line. Each command is a room of its own; this file picks one.

mod args;
mod bench;
mod device;
mod doctor;
mod exit;
mod output;
mod replay;
mod run;
#[cfg(all(feature = "libcuda", unix))]
mod sim;

use std::process::ExitCode;

use clap::Parser as _;
use cupola::Select;

use args::{Cli, Command, DeviceChoice};
use exit::Exit;

impl From<DeviceChoice> for Select {
    fn from(choice: DeviceChoice) -> Self {
        match choice {
            DeviceChoice::Auto => Self::Auto,
            DeviceChoice::Gpu => Self::Gpu,
            DeviceChoice::Sim => Self::Software,
        }
    }
}

/// Runs the program.
pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .init();
    let ended = match cli.command.unwrap_or(Command::Run(cli.run)) {
        Command::Run(args) => run::run(&args).map(Exit::into),
        Command::Doctor(args) => doctor::run(&args).map(Exit::into),
        Command::Bench(args) => bench::run(&args).map(Exit::into),
        Command::Replay(args) => replay::command(&args).map(Exit::into),
        #[cfg(all(feature = "libcuda", unix))]
        Command::Sim { command } => sim::run(&command),
    };
    match ended {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("cupola: {failure}");
            failure.exit.into()
        }
    }
}
