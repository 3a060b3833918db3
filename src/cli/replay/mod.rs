//! `cupola replay`: any allocation trace through the pool; and the engine of that, which `cupola
//! run` has in common with it.

pub(crate) mod args;
mod engine;
mod gauges;
mod latency;
mod map;
mod plan;
mod report;
mod smallest;
mod snapshot;
mod worker;

use std::fs::{self, File};
use std::time::Instant;

use cupola::kernels::Kernels;
use cupola::trace::{ReadOptions, Trace};
use cupola::{Context, Cupola, Error, PoolConfig};

use super::device::{DeviceReport, close};
use super::exit::{Exit, Failure};
use super::output::say;
use args::ReplayArgs;
pub(crate) use engine::{Settings, run};
use gauges::Gauges;
use map::Map;
use report::{ReplayReport, Report, TraceReport};
use snapshot::Recorder;

/// The command.
pub(super) fn command(args: &ReplayArgs) -> Result<Exit, Failure> {
    let mut trace = read(args)?;
    if let Some(streams) = args.streams {
        trace = trace.spread(streams, args.seed);
    }
    let facts = TraceReport::new(args.trace.display().to_string(), &trace);
    if args.realtime && trace.time(0).is_none() && !trace.operations().is_empty() {
        let problem = "it has no times, which --realtime asks for";
        return Err(Failure::file(&args.trace, problem));
    }

    let start = Instant::now();
    let cupola = Cupola::open(args.device.into())?;
    let device = cupola.device(0)?;
    let context = device.primary()?;
    let info = device.info()?;
    let found = DeviceReport::new(&cupola, info, start.elapsed());
    say(&found.text());
    say(&facts.text());

    let (mut replay, mut smallest) = (None, None);
    if args.smallest {
        let most = info.total_memory;
        smallest = Some(smallest::search(trace.peak_bytes(), most, |limit| {
            fits(&context, &trace, args, limit)
        })?);
    } else {
        let kernels = match args.unchecked {
            true => None,
            false => Some(Kernels::load(&context, info)?),
        };
        replay = Some(measure(&context, &trace, args, kernels.as_ref())?);
    }

    let leaks = close(cupola, context, device);
    let report = Report {
        device: found,
        trace: facts,
        threads: args.threads.into(),
        seed: args.streams.map(|_| args.seed),
        realtime: args.realtime,
        replay,
        smallest,
        leaks,
    };
    say(&report.text());
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&report)?;
        fs::write(path, text).map_err(|error| Failure::file(path, error))?;
    }
    Ok(if report.verified() {
        Exit::Done
    } else {
        Exit::Wrong
    })
}

fn read(args: &ReplayArgs) -> Result<Trace, Failure> {
    let path = &args.trace;
    let options = ReadOptions {
        device: args.trace_device,
        ..ReadOptions::default()
    };
    let file = File::open(path).map_err(|error| Failure::file(path, error))?;
    Trace::read_with(file, &options).map_err(|error| Failure::file(path, error))
}

fn settings<'k>(args: &ReplayArgs, limit: u64, kernels: Option<&'k Kernels>) -> Settings<'k> {
    Settings {
        limit,
        threads: args.threads.into(),
        kernels,
        timed: true,
        realtime: args.realtime,
        stop: false,
        quiet: false,
    }
}

/// Whether every allocation succeeds under `limit`.
fn fits(context: &Context, trace: &Trace, args: &ReplayArgs, limit: u64) -> Result<bool, Error> {
    let settings = Settings {
        timed: false,
        stop: true,
        quiet: true,
        ..settings(args, limit, None)
    };
    let (outcome, _) = run(context, trace, settings)?;
    Ok(outcome.failures == 0)
}

/// One replay with all figures.
fn measure(
    context: &Context,
    trace: &Trace,
    args: &ReplayArgs,
    kernels: Option<&Kernels>,
) -> Result<ReplayReport, Failure> {
    let limit = args.limit.of(trace.peak_bytes());
    let settings = settings(args, limit, kernels);
    let operations = trace.operations().len() as f64;
    // Looking at the clock takes as long as the pool: what an operation takes is measured
    // without, and how times are distributed in a replay of its own.
    let mut plain = None;
    if kernels.is_none() && !args.realtime {
        let untimed = Settings {
            timed: false,
            ..settings
        };
        plain = Some(run(context, trace, untimed)?.0.seconds);
    }
    let pool = context.memory_pool(PoolConfig::limit(limit))?;
    let mut map = args.map.as_ref().map(|path| (Map::new(trace, &pool), path));
    let recorder = match &args.snapshot {
        Some(path) => Some(Recorder::start(&pool, trace, path)?),
        None => None,
    };
    let outcome = match &mut map {
        Some((map, _)) => {
            let mut look = |seen| map.observe(seen);
            engine::run_in(context, &pool, trace, settings, Some(&mut look))?
        }
        None => engine::run_in(context, &pool, trace, settings, None)?,
    };
    if let Some(recorder) = recorder {
        recorder.write()?;
    }
    let maps = match map {
        Some((map, path)) => map.write(path)?,
        None => Vec::new(),
    };
    // A trace of no operations takes no time.
    let seconds = plain.unwrap_or(outcome.seconds).max(1e-9);
    let gauges = Gauges::new(pool.describe(), &pool.usage()?);
    let checked = kernels.map(|_| outcome.checked);
    let all_checked = checked.is_none_or(|checked| checked == trace.blocks());
    Ok(ReplayReport {
        limit,
        seconds,
        operations_per_second: operations / seconds,
        nanoseconds: plain.map(|plain| plain * 1e9 * settings.threads as f64 / operations.max(1.0)),
        failures: outcome.failures,
        first_failure: outcome.first_failure.as_ref().map(Into::into),
        checked,
        wrong_bytes: outcome.wrong_bytes,
        verified: outcome.failures == 0
            && outcome.wrong_bytes == 0
            && all_checked
            && gauges.live == 0,
        gauges,
        maps,
        allocate: outcome.allocate.percentiles(),
        free: outcome.free.percentiles(),
    })
}
