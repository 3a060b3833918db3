//! The second half of the main job: a file through the pipeline, a byte histogram and a
//! CRC-32 of each chunk computed on the device, and every one compared with the CPU's.
//!
//! The file is read twice: once straight into pinned memory, timed, and once afterwards to
//! compare. Reading is part of the pipeline: where it takes longest, it is the bound.

use std::io::Read;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cupola::kernels::Kernels;
use cupola::managers::ops;
use cupola::managers::pipeline::{
    OverlapReport, Pipeline, PipelineConfig, Step, Timeline, Utilisation,
};
use cupola::{Context, Error, PoolConfig};
use serde::Serialize;

use crate::commands::exit::{Exit, Failure};
use crate::commands::output::{Progress, bytes};

/// A chunk's output: 256 counters and the CRC.
const OUTPUT: usize = 257;

/// What is streamed.
pub(super) enum Source {
    /// A file and its length when it was looked at.
    File(PathBuf, u64),
    /// Bytes in memory.
    Memory(Vec<u8>),
}

impl Source {
    pub(super) fn file(path: &std::path::Path) -> Result<Self, Failure> {
        let facts = std::fs::metadata(path).map_err(|error| Failure::file(path, error))?;
        if !facts.is_file() {
            return Err(Failure::file(
                path,
                "it is not a regular file, and is read twice",
            ));
        }
        Ok(Self::File(path.into(), facts.len()))
    }

    fn len(&self) -> u64 {
        match self {
            Self::File(_, len) => *len,
            Self::Memory(data) => data.len() as u64,
        }
    }

    fn name(&self) -> String {
        match self {
            Self::File(path, _) => path.display().to_string(),
            Self::Memory(_) => "the bundled trace".into(),
        }
    }

    fn open(&self) -> Result<Box<dyn Read + '_>, Failure> {
        Ok(match self {
            Self::File(path, _) => {
                Box::new(std::fs::File::open(path).map_err(|error| Failure::file(path, error))?)
            }
            Self::Memory(data) => Box::new(&data[..]),
        })
    }

    /// Reads until `into` is full or the source ends; returns how much that was.
    fn fill(&self, reader: &mut dyn Read, into: &mut [u8]) -> Result<usize, Failure> {
        let mut filled = 0;
        while filled < into.len() {
            match reader.read(&mut into[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Failure::file(self.name().as_ref(), error)),
            }
        }
        Ok(filled)
    }
}

/// What the stream did.
#[derive(Debug, Serialize)]
pub(super) struct StreamReport {
    pub(super) source: String,
    pub(super) bytes: u64,
    pub(super) chunk: u64,
    pub(super) chunks: usize,
    pub(super) seconds: f64,
    pub(super) megabytes_per_second: f64,
    /// Time that the host took to read the file into pinned memory.
    pub(super) read_ms: f64,
    /// Times of the stages by the device's clock.
    pub(super) upload_ms: f64,
    pub(super) compute_ms: f64,
    pub(super) download_ms: f64,
    /// From the first start to the last end, by the device's clock.
    pub(super) span_ms: f64,
    /// All stages one after the other, reading included.
    pub(super) serial_ms: f64,
    /// From the start of a chunk's upload to the end of its download: of half of them not longer, and
    /// of 99 %.
    pub(super) chunk_p50_ms: f64,
    pub(super) chunk_p99_ms: f64,
    /// How much of the span each engine was at work: 1 is all of it.
    pub(super) utilisation: Option<Engines>,
    /// What bound the run, in words.
    pub(super) bound: String,
    /// The longest stage divided by the span: 1 is the most that overlapping can reach.
    pub(super) efficiency: f64,
    /// The stages' sum divided by the span.
    pub(super) speedup: f64,
    /// The stages' sum divided by the longest stage.
    pub(super) possible: f64,
    /// Whether different stages were at work at the same time.
    pub(super) overlapped: bool,
    /// The most device memory that the pipeline's pool had from the driver.
    pub(super) pool_peak: u64,
    pub(super) wrong_chunks: usize,
    pub(super) verified: bool,
}

/// Shares of the span in which the engines were at work.
#[derive(Debug, Serialize)]
pub(super) struct Engines {
    upload: f64,
    compute: f64,
    download: f64,
}

impl From<Utilisation> for Engines {
    fn from(found: Utilisation) -> Self {
        Self {
            upload: found.upload,
            compute: found.compute,
            download: found.download,
        }
    }
}

/// Puts the kernels of one chunk on the pipeline's compute stream.
fn enqueue(kernels: &Kernels, step: Step<'_, u8, u64>) -> Result<usize, Error> {
    let Step {
        stream,
        input,
        mut output,
        ..
    } = step;
    // The counters are added to, and hold an earlier chunk's.
    ops::zero(output.reborrow(), stream)?;
    kernels.histogram(input, output.reborrow().slice(..256)?, stream)?;
    // The low half of the last element; the high half stays zero.
    kernels.crc32(
        input,
        output.slice(256..)?.cast::<u32>()?.slice(..1)?,
        stream,
    )?;
    Ok(OUTPUT)
}

/// Chunks that are on the device at a time, and outputs.
const SLOTS: u64 = 3;

/// Bytes that a pool has from the driver at least, of which its memory is a multiple.
const PAGE: u64 = 2 << 20;

/// What the pipeline may use.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    chunk: u64,
    limit: u64,
}

impl Sizes {
    /// Those that were asked for, or a chunk that the limit has room for.
    pub(super) fn new(source: &Source, chunk: Option<u64>, limit: u64) -> Self {
        // About 32 steps, so that filling and draining the pipeline weigh little.
        let steps = || (source.len() / 32).clamp(64 << 10, 8 << 20);
        let room = (limit / (SLOTS + 1)).max(1);
        Self {
            chunk: chunk.unwrap_or_else(|| steps().min(room)),
            limit,
        }
    }
}

/// Refuses a chunk that the pipeline has no room for under `limit`, before any work is done.
pub(super) fn check_chunk(chunk: u64, limit: u64) -> Result<(), Failure> {
    let output = (OUTPUT * size_of::<u64>()) as u64;
    let needed = chunk.saturating_add(output).saturating_mul(SLOTS);
    let needed = needed.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX);
    if needed <= limit {
        return Ok(());
    }
    let problem = format!(
        "--chunk of {}: {SLOTS} of them take {} of the device's memory, and --limit is {}",
        bytes(chunk),
        bytes(needed),
        bytes(limit),
    );
    Err(Failure::new(Exit::Refused, problem))
}

/// Streams `source`; what it did, and the last chunks to look at.
pub(super) fn run(
    context: &Context,
    source: &Source,
    Sizes { chunk, limit }: Sizes,
    kernels: &Kernels,
    quiet: bool,
) -> Result<(StreamReport, Timeline), Failure> {
    let input = usize::try_from(chunk).unwrap_or(usize::MAX);
    let pool = context.memory_pool(PoolConfig::limit(limit))?;
    let mut pipeline: Pipeline<u8, u64> = Pipeline::new(
        context,
        &pool,
        PipelineConfig::new(input, OUTPUT).measured(),
    )?;

    warm_up(source, kernels, &mut pipeline)?;

    let mut progress = Progress::new("stream", source.len().div_ceil(chunk), quiet);
    let mut outputs: Vec<[u64; OUTPUT]> = Vec::new();
    let mut reader = source.open()?;
    let (mut reading, mut total) = (Duration::ZERO, 0_u64);
    let start = Instant::now();
    let report = pipeline.run(
        |slot| {
            let start = Instant::now();
            let len = source.fill(&mut *reader, slot)?;
            reading += start.elapsed();
            total += len as u64;
            Ok((len > 0).then_some(len))
        },
        |step| Ok(enqueue(kernels, step)?),
        |item| {
            outputs.push(std::array::from_fn(|index| item.output[index]));
            progress.at(outputs.len() as u64);
            Ok::<(), Failure>(())
        },
    )?;
    let seconds = start.elapsed().as_secs_f64();
    let timeline = pipeline.timeline().cloned().unwrap_or_default();
    let chunk_ms = |percent| {
        let times = pipeline.step_times()?;
        times.latency.percentile(percent)
    };
    let [chunk_p50_ms, chunk_p99_ms] =
        [50.0, 99.0].map(|percent| chunk_ms(percent).unwrap_or_default().as_secs_f64() * 1e3);
    drop((progress, reader, pipeline));

    let wrong_chunks = compare(source, input, &outputs)?;
    let (overlap, items) = (report.overlap, report.items);
    let times = Times::new(overlap.as_ref(), reading);
    let report = StreamReport {
        source: source.name(),
        bytes: total,
        chunk,
        chunks: outputs.len(),
        seconds,
        megabytes_per_second: total as f64 / seconds / 1e6,
        read_ms: times.stages[0],
        upload_ms: times.stages[1],
        compute_ms: times.stages[2],
        download_ms: times.stages[3],
        span_ms: times.span,
        serial_ms: times.sum(),
        chunk_p50_ms,
        chunk_p99_ms,
        utilisation: overlap.map(|overlap| overlap.utilisation().into()),
        bound: bound(overlap.as_ref()),
        efficiency: ratio(times.longest(), times.span),
        speedup: ratio(times.sum(), times.span),
        possible: ratio(times.sum(), times.longest()),
        overlapped: overlap.is_some_and(|overlap| overlap.overlapped),
        pool_peak: pool.usage()?.peak_mapped,
        wrong_chunks,
        verified: wrong_chunks == 0 && items == outputs.len() as u64,
    };
    Ok((report, timeline))
}

/// Sends the first chunk through once: a driver loads a kernel's code at its first launch.
fn warm_up(
    source: &Source,
    kernels: &Kernels,
    pipeline: &mut Pipeline<u8, u64>,
) -> Result<(), Failure> {
    let mut reader = source.open()?;
    let mut first = true;
    pipeline.run(
        |slot| {
            let len = if first {
                source.fill(&mut *reader, slot)?
            } else {
                0
            };
            first = false;
            Ok((len > 0).then_some(len))
        },
        |step| Ok(enqueue(kernels, step)?),
        |_| Ok::<(), Failure>(()),
    )?;
    Ok(())
}

/// Times in milliseconds: reading, upload, compute, download, and the span of it all.
struct Times {
    stages: [f64; 4],
    span: f64,
}

impl Times {
    fn new(overlap: Option<&OverlapReport>, reading: Duration) -> Self {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let reading = ms(reading);
        overlap.map_or(
            Self {
                stages: [reading, 0.0, 0.0, 0.0],
                span: reading,
            },
            |overlap| Self {
                stages: [
                    reading,
                    ms(overlap.upload),
                    ms(overlap.compute),
                    ms(overlap.download),
                ],
                // Device and host clocks are not the same: the reading of the first chunk is
                // before the device's first mark.
                span: ms(overlap.span).max(reading),
            },
        )
    }

    fn sum(&self) -> f64 {
        self.stages.iter().sum()
    }

    fn longest(&self) -> f64 {
        self.stages.iter().copied().fold(0.0, f64::max)
    }
}

/// What bound the run; nothing, when there was nothing to do.
fn bound(overlap: Option<&OverlapReport>) -> String {
    overlap.map_or_else(String::new, |overlap| overlap.diagnosis().bound.to_string())
}

/// `part / whole`, and 0 where nothing was done.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Counts the chunks whose histogram or CRC is not what the CPU computes.
fn compare(source: &Source, chunk: usize, outputs: &[[u64; OUTPUT]]) -> Result<usize, Failure> {
    let mut reader = source.open()?;
    let mut data = vec![0; chunk];
    let mut wrong = 0;
    for output in outputs {
        let len = source.fill(&mut *reader, &mut data)?;
        let mut counts = [0_u64; 256];
        for &byte in &data[..len] {
            counts[usize::from(byte)] += 1;
        }
        let right =
            output[..256] == counts && output[256] == u64::from(crc32fast::hash(&data[..len]));
        wrong += usize::from(!right);
    }
    // A chunk that never came out is as wrong as one that came out wrong.
    if source.fill(&mut *reader, &mut data)? > 0 {
        wrong += 1;
    }
    Ok(wrong)
}
