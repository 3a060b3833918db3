//! `cupola run`: the main job, end to end, every result compared with the CPU's.

mod replay;
mod report;
mod stream;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::Instant;

use cupola::Cupola;
use cupola::kernels::Kernels;
use cupola::trace::{self, Trace};

use super::args::RunArgs;
use super::device::{DeviceReport, close};
use super::exit::{Exit, Failure};
use super::output::say;
use super::replay::check_streams;
use report::Report;
use stream::Source;

pub(super) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    // What is named is opened before a device is, and read after: a wrong name and a missing
    // device are both said at once.
    let named = args
        .trace
        .as_deref()
        .map(|path| open(path).map(|file| (path, file)))
        .transpose()?;
    let named_source = args.file.as_deref().map(Source::file).transpose()?;

    let quiet = args.device.json;
    let start = Instant::now();
    let cupola = Cupola::open(args.device.device.into())?;
    let device = cupola.device(0)?;
    let context = device.primary()?;
    let found = DeviceReport::new(&cupola, device.info()?, start.elapsed());
    if !quiet {
        say(&found.text())?;
    }

    let trace = match named {
        Some((path, file)) => {
            let trace = Trace::read(file).and_then(Trace::not_empty);
            let trace = trace.map_err(|error| Failure::file(path, error))?;
            check_streams(path, &trace)?;
            trace
        }
        None => Trace::read(trace::EMBED13)?,
    };
    let source = match named_source {
        Some(source) => source,
        None => Source::Memory(unpacked()?),
    };
    let kernels = Kernels::load(&context, device.info()?)?;
    let replay = replay::run(&context, &kernels, &trace, args.limit, quiet)?;
    if !quiet {
        say(&replay.text())?;
    }
    let stream = stream::run(&context, &source, args.chunk, &kernels, quiet)?;
    if !quiet {
        say(&stream.text())?;
    }

    drop(kernels);
    let leaks = close(cupola, context, device);
    let report = Report {
        device: found,
        replay,
        stream,
        leaks,
    };
    if quiet {
        say(&(serde_json::to_string_pretty(&report)? + "\n"))?;
    } else {
        say(&report.verdict())?;
    }
    Ok(if report.verified() {
        Exit::Done
    } else {
        Exit::Wrong
    })
}

fn open(path: &Path) -> Result<File, Failure> {
    File::open(path).map_err(|error| Failure::file(path, error))
}

/// The bundled trace as text: the data that is streamed if no file is named.
fn unpacked() -> Result<Vec<u8>, Failure> {
    let mut data = Vec::new();
    flate2::read::GzDecoder::new(trace::EMBED13)
        .read_to_end(&mut data)
        .map_err(trace::TraceError::Read)?;
    Ok(data)
}
