//! `cupola replay`: any allocation trace through the pool; and the engine of that, which `cupola
//! run` has in common with it.

pub(crate) mod args;
mod engine;
mod gauges;
mod latency;
mod map;
mod plan;
mod report;
mod snapshot;
mod start;
mod worker;

use std::path::{Path, PathBuf};
use std::time::Instant;

use cupola::kernels::Kernels;
use cupola::{Context, Cupola, Stream};
use cupola_cli::trace::{ReadOptions, Trace, TraceError, smallest};

use super::destination::{Destination, apart};
use super::device::{DeviceReport, close};
use super::exit::{Exit, Failure};
use super::input::Input;
use args::ReplayArgs;
use engine::{Observer, Outcome, config};
pub(crate) use engine::{Settings, run, streams};
use gauges::Gauges;
use map::{Map, MapFiles};
use report::{ReplayReport, Report, SnapshotReport, TraceReport};
use snapshot::Recorder;

/// The command.
pub(super) fn command(args: &ReplayArgs) -> Result<Exit, Failure> {
    // A name that cannot be written to is said before a replay of hours, and not after it.
    let map = args.map.as_deref().map(MapFiles::new).transpose()?;
    let snapshot = Destination::named(args.snapshot.as_ref())?;
    let to = args.json.report()?;
    let mut written = map.as_ref().map_or(Vec::new(), MapFiles::destinations);
    written.push(("--snapshot", snapshot.as_ref()));
    written.push(("--json", to.file()));
    let input = Input::new(&args.trace);
    apart(&[("the trace", input.place())], &written)?;
    to.claim();
    if args.threads > 1 && (args.map.is_some() || args.snapshot.is_some()) {
        let problem = "--map and --snapshot follow one thread, and --threads asks for more";
        return Err(Failure::new(Exit::Usage, problem.into()));
    }
    let mut trace = read(args, input)?;
    if let Some(streams) = args.streams {
        trace = trace.spread(streams, args.seed);
    }
    let facts = TraceReport::new(input.name().display().to_string(), &trace);
    if trace.operations().is_empty() {
        to.say(&facts.text())?;
        return Err(Failure::file(input.name(), TraceError::Empty));
    }
    check_streams(input.name(), &trace)?;
    if args.realtime && trace.time(0).is_none() {
        let problem = "it has no times, which --realtime asks for";
        return Err(Failure::file(input.name(), problem));
    }

    let start = Instant::now();
    let cupola = Cupola::open(args.device.device.into())?;
    let device = cupola.device(0)?;
    let context = device.primary()?;
    let info = device.info()?;
    let found = DeviceReport::new(&cupola, info, start.elapsed());
    to.say(&found.text())?;
    to.say(&facts.text())?;

    let (mut replay, mut smallest, mut written) = (None, None, Ok(()));
    let streams = streams(&context, &trace)?;
    let bench = Bench {
        context: &context,
        streams: &streams,
        trace: &trace,
        args,
    };
    if args.smallest {
        // On one stream all limits from the smallest on have been seen to do.
        let around = (trace.streams() > 1).then_some(smallest::AROUND);
        let most = info.total_memory;
        let fits = |limit| bench.fits(limit);
        smallest = Some(smallest::search(trace.peak_bytes(), most, around, fits)?);
    } else {
        let kernels = match args.unchecked {
            true => None,
            false => Some(Kernels::load(&context, info)?),
        };
        let files = (map.as_ref(), snapshot.as_ref());
        let (report, files) = bench.measure(kernels.as_ref(), files)?;
        (replay, written) = (Some(report), files);
    }

    drop(streams);
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
    // Each of them, whatever became of the others.
    let said = to.say(&report.text());
    let json = to.write(&report);
    written.and(json).and(said)?;
    Ok(report.exit())
}

/// Refuses what cannot have all of its streams at a time.
pub(crate) fn check_streams(path: &Path, trace: &Trace) -> Result<(), Failure> {
    let (has, most) = (trace.streams(), args::STREAMS);
    if has <= most {
        return Ok(());
    }
    let problem = format!("it has {has} streams, and there can be {most} at a time");
    Err(Failure::file(path, problem))
}

fn read(args: &ReplayArgs, input: Input<'_>) -> Result<Trace, Failure> {
    let options = ReadOptions {
        device: args.trace_device,
        ..ReadOptions::default()
    };
    let name = input.name();
    Trace::read_with(input.open()?, &options).map_err(|error| match error {
        TraceError::NoDevices => Failure::new(
            Exit::Usage,
            format!(
                "--trace-device is for snapshots of PyTorch, and {} is none",
                name.display()
            ),
        ),
        other => Failure::file(name, other),
    })
}

/// What all replays of a command have in common.
struct Bench<'b> {
    context: &'b Context,
    streams: &'b [Stream],
    trace: &'b Trace,
    args: &'b ReplayArgs,
}

impl Bench<'_> {
    fn settings<'k>(&self, limit: u64, kernels: Option<&'k Kernels>) -> Settings<'k> {
        Settings {
            limit,
            threads: self.args.threads.into(),
            kernels,
            timed: true,
            realtime: self.args.realtime,
            stop: false,
            quiet: false,
        }
    }

    fn run(&self, settings: Settings<'_>) -> Result<Outcome, Failure> {
        Ok(run(self.context, self.streams, self.trace, settings)?.0)
    }

    /// Whether every allocation succeeds under `limit`.
    fn fits(&self, limit: u64) -> Result<bool, Failure> {
        let outcome = self.run(Settings {
            timed: false,
            stop: true,
            quiet: true,
            ..self.settings(limit, None)
        })?;
        Ok(outcome.failures == 0)
    }

    /// One replay with all figures, and whether the files that were asked for are written.
    fn measure(
        &self,
        kernels: Option<&Kernels>,
        (map, snapshot): (Option<&MapFiles>, Option<&Destination>),
    ) -> Result<(ReplayReport, Result<(), Failure>), Failure> {
        let (trace, args) = (self.trace, self.args);
        let limit = args.limit.of(trace.peak_bytes());
        // Who looks on takes time between operations, and a pool that is recorded takes the slow
        // way.
        let observed = map.is_some() || snapshot.is_some();
        let settings = Settings {
            timed: !observed,
            ..self.settings(limit, kernels)
        };
        let operations = trace.operations().len() as f64;
        // Looking at the clock takes as long as the pool: what an operation takes is measured
        // without, and how times are distributed in a replay of its own.
        let mut plain = None;
        if kernels.is_none() && !args.realtime {
            let untimed = Settings {
                timed: false,
                ..settings
            };
            plain = Some(self.run(untimed)?);
        }
        let pool = self.context.memory_pool(config(limit))?;
        let mut map = map.map(|files| (Map::new(trace, &pool), files));
        let recorder = match snapshot {
            Some(file) => Some(Recorder::start(&pool, trace, file)?),
            None => None,
        };
        let mut look = map.as_mut().map(|(map, _)| |seen| map.observe(seen));
        let look = look.as_mut().map(|look| look as Observer<'_>);
        let (context, streams) = (self.context, self.streams);
        let outcome = engine::run_in(context, &pool, streams, trace, settings, look)?;
        let (maps, snapshot, written) = write(map, recorder);
        // One operation may take less than the clock can tell.
        let seconds = plain.as_ref().unwrap_or(&outcome).seconds.max(1e-9);
        let untimed_failures = plain.as_ref().map(|plain| plain.failures);
        let thread_seconds = plain.as_ref().map(|plain| plain.thread_seconds);
        let first_failure = outcome.first_failure;
        let first_failure = first_failure.or(plain.and_then(|plain| plain.first_failure));
        let usage = pool.usage()?;
        let gauges = Gauges::new(pool.describe(), &usage);
        let checked = kernels.map(|_| outcome.checked);
        let refused = outcome.failures > 0 || untimed_failures.unwrap_or(0) > 0;
        // The blocks of refused allocations are nowhere.
        let had = (trace.blocks() as u64).saturating_sub(outcome.failures);
        let all_checked = checked.is_none_or(|checked| checked as u64 == had);
        let right = outcome.wrong_bytes == 0 && all_checked && gauges.live == 0;
        let report = ReplayReport {
            // Of more than a pool can have it takes what it can.
            limit: usage.limit,
            seconds,
            observed: observed && untimed_failures.is_none(),
            operations_per_second: operations / seconds,
            nanoseconds: thread_seconds.map(|seconds| seconds * 1e9 / operations.max(1.0)),
            failures: outcome.failures,
            untimed_failures,
            first_failure: first_failure.as_ref().map(Into::into),
            checked,
            wrong_bytes: outcome.wrong_bytes,
            refused: right && refused,
            verified: right && !refused,
            gauges,
            maps,
            snapshot,
            allocate: outcome.allocate.percentiles(),
            free: outcome.free.percentiles(),
        };
        Ok((report, written))
    }
}

/// Writes what was asked for besides: which pictures there are now, and what the snapshot has.
fn write(
    map: Option<(Map<'_>, &MapFiles)>,
    recorder: Option<Recorder<'_>>,
) -> (Vec<PathBuf>, Option<SnapshotReport>, Result<(), Failure>) {
    let (mut maps, mut snapshot, mut written) = (Vec::new(), None, Ok(()));
    if let Some(recorder) = recorder {
        match recorder.write() {
            Ok(report) => snapshot = Some(report),
            Err(failure) => written = Err(failure),
        }
    }
    if let Some((map, files)) = map {
        written = written.and(map.write(files, &mut maps));
    }
    (maps, snapshot, written)
}
