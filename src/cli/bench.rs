//! `cupola bench`: figures for people on standard output, and as JSON in a file.

use cupola::Cupola;
use cupola::bench::{self, Figures};

use super::args::{BenchArgs, Suite};
use super::destination::{Destination, apart};
use super::exit::{Exit, Failure};
use super::output::say;

pub(super) fn run(args: &BenchArgs) -> Result<Exit, Failure> {
    args.check()?;
    let json = Destination::named(args.json.as_ref())?;
    let traces = args.trace.iter().map(|path| ("--trace", path.as_path()));
    let outputs = args.peer_output.iter();
    let outputs = outputs.map(|path| ("--peer-output", path.as_path()));
    let read: Vec<_> = traces.chain(outputs).collect();
    apart(&read, &[("--json", json.as_ref())])?;
    let figures = match args.suite {
        #[cfg(feature = "sim")]
        Suite::Sim => {
            let default = bench::sim::Options::default();
            bench::sim::run(&bench::sim::Options {
                workers: args.workers.unwrap_or(default.workers),
                runs: args.runs.unwrap_or(default.runs),
                only: args.only.clone(),
            })?
        }
        Suite::Slots => bench::slots::run(&slots(args))?,
        Suite::Lifecycle if args.opening.is_some() => return opening(args),
        Suite::Alloc | Suite::Loader | Suite::Pipeline | Suite::Lifecycle => on_device(args)?,
    };
    let said = say(&figures.table());
    json.map_or(Ok(()), |json| json.write_json(&figures))?;
    said?;
    Ok(Exit::Done)
}

fn slots(args: &BenchArgs) -> bench::slots::Options {
    let default = bench::slots::Options::default();
    let options = bench::slots::Options {
        threads: args.threads.unwrap_or(default.threads),
        only: args.only.clone(),
        traces: args.trace.clone(),
        ..default
    };
    let options = if args.quick { options.quick() } else { options };
    bench::slots::Options {
        rounds: args.runs.unwrap_or(options.rounds),
        ..options
    }
}

fn alloc(args: &BenchArgs) -> bench::alloc::Options {
    let default = bench::alloc::Options::default();
    let options = bench::alloc::Options {
        threads: args.threads.unwrap_or(default.threads),
        traces: args.trace.clone(),
        peer_output: args.peer_output.clone(),
        ..default
    };
    let options = if args.quick { options.quick() } else { options };
    bench::alloc::Options {
        rounds: args.runs.unwrap_or(options.rounds),
        ..options
    }
}

fn lifecycle(args: &BenchArgs) -> bench::lifecycle::Options {
    let default = bench::lifecycle::Options::default();
    bench::lifecycle::Options {
        rounds: match args.runs {
            Some(runs) => runs,
            None if args.quick => 1,
            None => default.rounds,
        },
        threads: args.threads.unwrap_or(default.threads),
        program: std::env::current_exe().ok(),
        quick: args.quick,
    }
}

/// One of the processes that `lifecycle` starts.
fn opening(args: &BenchArgs) -> Result<Exit, Failure> {
    use bench::lifecycle::{Way, open_once};
    let word = args.opening.as_deref().unwrap_or_default();
    let way = Way::ALL.into_iter().find(|way| way.word() == word);
    let way = way.ok_or_else(|| Failure::new(Exit::Device, format!("no way {word:?}")))?;
    let time = open_once(way).map_err(|error| Failure::new(Exit::Device, error.to_string()))?;
    say(&format!("{time}\n"))?;
    Ok(Exit::Done)
}

/// The suites that measure whatever device there is.
fn on_device(args: &BenchArgs) -> Result<Figures, Failure> {
    let cupola = Cupola::open(args.device.into())?;
    let device = cupola.device(0)?;
    let name = format!("{} ({})", device.info()?.name, cupola.backend());
    Ok(match args.suite {
        Suite::Alloc => bench::alloc::run(&device, name, &alloc(args))?,
        Suite::Loader => bench::loader::run(cupola.driver(), name)?,
        Suite::Lifecycle => bench::lifecycle::run(&device, name, &lifecycle(args))?,
        _ => bench::pipeline::run(&device, name)?,
    })
}
