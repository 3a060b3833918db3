//! `cupola run`: the main job, end to end, every result compared with the CPU's.

mod pictures;
mod replay;
mod report;
mod stream;

use std::io::Read as _;
use std::time::Instant;

use cupola::Cupola;
use cupola::kernels::Kernels;
use cupola_cli::trace::{self, Trace};

use super::args::RunArgs;
use super::destination::apart;
use super::device::{DeviceReport, close};
use super::exit::{Exit, Failure};
use super::input::{Input, only_files};
use super::replay::check_streams;
use pictures::Pictures;
use report::Report;
use stream::Source;

pub(super) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let RunArgs { file, options } = args;
    let to = options.json.report()?;
    let input = options.trace.as_deref().map(Input::new);
    let read = [
        ("FILE", file.as_deref()),
        ("--trace", input.map(Input::place)),
    ];
    let read = read
        .iter()
        .filter_map(|(name, path)| Some((*name, (*path)?)));
    let pictures = Pictures::of(options)?;
    let [trace_file, timeline] = pictures.destinations();
    let written = [("--json", to.file()), trace_file, timeline];
    apart(&read.collect::<Vec<_>>(), &written)?;
    to.claim();
    only_files(file.as_deref(), "the file is read twice")?;
    if let Some(chunk) = options.chunk {
        stream::check_chunk(chunk, options.limit)?;
    }
    // What is named is opened before a device is, and read after: a wrong name and a missing
    // device are both said at once.
    let named = input
        .map(|input| input.open().map(|file| (input.name(), file)))
        .transpose()?;
    let named_source = file.as_deref().map(Source::file).transpose()?;

    let quiet = to.is_alone();
    let start = Instant::now();
    let cupola = Cupola::open(options.device.device.into())?;
    let device = cupola.device(0)?;
    let context = device.primary()?;
    let found = DeviceReport::new(&cupola, device.info()?, start.elapsed());
    to.say(&found.text())?;

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
    let replay = replay::run(&context, &kernels, &trace, options.limit, quiet)?;
    to.say(&replay.text())?;
    let sizes = stream::Sizes::new(&source, options.chunk, options.limit);
    let (stream, timeline) = stream::run(&context, &source, sizes, &kernels, quiet)?;
    to.say(&stream.text())?;

    drop(kernels);
    let leaks = close(cupola, context, device);
    let report = Report {
        device: found,
        replay,
        stream,
        leaks,
    };
    let said = to.say(&report.verdict());
    to.write(&report)?;
    pictures.write(&timeline)?;
    said?;
    Ok(if report.verified() {
        Exit::Done
    } else {
        Exit::Wrong
    })
}

/// The bundled trace as text: the data that is streamed if no file is named.
fn unpacked() -> Result<Vec<u8>, Failure> {
    let mut data = Vec::new();
    flate2::read::GzDecoder::new(trace::EMBED13)
        .read_to_end(&mut data)
        .map_err(trace::TraceError::Read)?;
    Ok(data)
}
