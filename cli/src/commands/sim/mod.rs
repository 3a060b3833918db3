//! `cupola sim`: the software device for programs that know nothing of cupola.

pub(super) mod args;
mod cache;
mod check;
mod info;
mod library;
mod run;
mod signals;

use super::exit::{Exit, Failure};
use args::SimCommand;

pub(super) fn run(command: &SimCommand) -> Result<std::process::ExitCode, Failure> {
    match command {
        SimCommand::Run(args) => run::run(args),
        SimCommand::Info(args) => info::run(args).map(Exit::into),
        SimCommand::Check(args) => check::run(args).map(Exit::into),
    }
}
