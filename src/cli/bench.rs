//! `cupola bench`: figures for people on standard output, and as JSON in a file.

use std::fs;

use cupola::Cupola;
use cupola::bench::{self, Figures};

use super::args::{BenchArgs, Suite};
use super::exit::{Exit, Failure};
use super::output::say;

pub(super) fn run(args: &BenchArgs) -> Result<Exit, Failure> {
    let figures = match args.suite {
        #[cfg(feature = "sim")]
        Suite::Sim => {
            let default = bench::sim::Options::default();
            bench::sim::run(&bench::sim::Options {
                workers: args.workers.unwrap_or(default.workers).max(1),
                runs: args.runs.unwrap_or(default.runs).max(1),
                only: args.only.clone(),
            })?
        }
        Suite::Slots => bench::slots::run(&slots(args))?,
        Suite::Loader | Suite::Pipeline => on_device(args)?,
    };
    say(&figures.table());
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&figures)?;
        fs::write(path, text).map_err(|error| Failure::file(path, error))?;
    }
    Ok(Exit::Done)
}

fn slots(args: &BenchArgs) -> bench::slots::Options {
    let default = bench::slots::Options::default();
    let options = bench::slots::Options {
        threads: args.threads.unwrap_or(default.threads).max(1),
        only: args.only.clone(),
        traces: args.trace.clone(),
        ..default
    };
    let options = if args.quick { options.quick() } else { options };
    bench::slots::Options {
        rounds: args.runs.unwrap_or(options.rounds).max(1),
        ..options
    }
}

/// The suites that measure whatever device there is.
fn on_device(args: &BenchArgs) -> Result<Figures, Failure> {
    let cupola = Cupola::open(args.device.into())?;
    let device = cupola.device(0)?;
    let name = format!("{} ({})", device.info()?.name, cupola.backend());
    Ok(if args.suite == Suite::Loader {
        bench::loader::run(cupola.driver(), name)?
    } else {
        bench::pipeline::run(&device, name)?
    })
}
