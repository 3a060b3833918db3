//! `Tuner`: answers who wins from what is remembered, or measures.

use std::fmt;
use std::time::Duration;

use cupola_managers::event::EventConfig;
use cupola_managers::{Context, DeviceInfo, Error, Event, Stream, ops};

use super::candidate::Candidate;
use super::error::TuneError;
use super::race::{self, Failed, Finish, Track, TuneConfig};
use super::report::{Trial, TuneReport};
use super::task::{TuneDevice, TuneTask};
use crate::cache::{
    Cache, CacheConfig, CacheError, CacheStats, Entry, EntryKind, Fetched, LoadPolicy, Manifest,
    Refusal,
};

/// Chooses between candidates on the device of a context, and remembers the winners: in memory, and in the
/// folder of a [cache](CacheConfig), where they take a few hundred bytes each. Threads share one.
///
/// ```no_run
/// use cupola_kernels::cache::CacheConfig;
/// use cupola_kernels::tune::{ProblemClass, TuneTask, Tuner, block_sizes};
/// use cupola_managers::ops::{LaunchConfig, launch};
/// use cupola_managers::{Buffer, Context, DeviceInfo, Function, Stream};
///
/// # fn example(context: &Context, info: &DeviceInfo, scale: &Function, x: &Buffer<f32>, y: &mut Buffer<f32>,
/// #     stream: &Stream) -> Result<(), Box<dyn std::error::Error>> {
/// let tuner = Tuner::new(context, info, CacheConfig::default())?;
/// let n = x.len() as u64;
/// let task = TuneTask::named("scale, version 3", ProblemClass::of_sizes(&[n]));
/// let sizes = block_sizes(&scale.occupancy_curve(|_| 0)?);
/// let choice = tuner.choose(&task, &sizes, stream, |&threads, stream| {
///     let config = LaunchConfig::for_elements(n, threads);
///     // SAFETY: the kernel reads n elements of x and writes n of y.
///     unsafe { launch(scale, config, (n, 2.0f32, x, &mut *y), stream) }
/// })?;
/// println!("{} threads a block\n{}", choice.candidate, choice.text);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Tuner {
    context: Context,
    device: TuneDevice,
    config: TuneConfig,
    cache: Cache<TuneError>,
}

/// The candidate that won.
#[derive(Clone, Debug)]
pub struct Choice<'c, C> {
    /// The candidate.
    pub candidate: &'c C,
    /// What came of each candidate, when it was measured here; `None` for a winner that was remembered, or
    /// that another thread measured meanwhile.
    pub report: Option<TuneReport>,
    /// The text of the report, which is remembered with the winner.
    pub text: String,
}

impl<C> Choice<'_, C> {
    /// Whether nothing was launched to find it.
    #[must_use]
    pub fn is_remembered(&self) -> bool {
        self.report.is_none()
    }
}

impl Tuner {
    /// A tuner for `context`, which is one of the device that `info` describes. It is there whatever the
    /// file system does: without its folder ([`Tuner::refusal`]) winners are remembered in memory alone.
    /// The configuration's [policy](CacheConfig::policy) is about code, and winners are none.
    ///
    /// # Errors
    /// What the driver returned.
    #[track_caller]
    pub fn new(context: &Context, info: &DeviceInfo, cache: CacheConfig) -> Result<Self, Error> {
        let multiprocessors = context.multiprocessors()?;
        let version = context.driver().driver_version();
        let policy = LoadPolicy::Any;
        Ok(Self {
            context: context.clone(),
            device: TuneDevice::new(info, multiprocessors, version),
            config: TuneConfig::default(),
            cache: Cache::new(CacheConfig { policy, ..cache }),
        })
    }

    /// The tuner, which measures as `config` says.
    #[must_use]
    pub fn with_config(self, config: TuneConfig) -> Self {
        Self { config, ..self }
    }

    /// Why the folder is not used, if it is not.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        self.cache.refusal()
    }

    /// What its cache did so far: `compiles` are measurements.
    #[must_use]
    pub fn stats(&self) -> CacheStats {
        self.cache.stats()
    }

    /// The fastest of `candidates`: as remembered for this task, these candidates, this kind of device and this
    /// version of the driver, else measured. Of threads and processes that ask for the same at a time one
    /// measures.
    ///
    /// `launch` puts the kernel on the stream as the candidate has it. It is called many times, on the
    /// same memory, so what it launches can be run again and again. It waits for nothing, and does nothing
    /// else that takes long: what it does between launches that are shorter is measured with them. A candidate
    /// whose launch is refused leaves the race with the reason in the report.
    ///
    /// What cannot be read or written on disk costs a measurement. A winner is not kept when a launch was
    /// refused for a reason that may pass, such as a lack of memory.
    ///
    /// # Errors
    /// [`TuneError::NoCandidates`], [`TuneError::SameLabel`]; [`TuneError::AllRefused`] with the reasons;
    /// [`TuneError::Driver`] when the measurement itself failed or the context is lost.
    pub fn choose<'c, C: Candidate>(
        &self,
        task: &TuneTask,
        candidates: &'c [C],
        stream: &Stream,
        launch: impl FnMut(&C, &Stream) -> Result<(), Error>,
    ) -> Result<Choice<'c, C>, TuneError> {
        let labels = labels(candidates)?;
        let key = task.key(&self.device, &labels);
        let mut arena = Arena {
            tuner: self,
            candidates,
            labels: &labels,
            stream,
            launch,
        };
        // A second attempt is for what is remembered and cannot be: it is dropped, and measured.
        for _ in 0..2 {
            let mut measured = None;
            let fetched = self.cache.get_or_compile(&key, || {
                let measurement = arena.measure()?;
                let entry = measurement.entry(&labels);
                measured = Some(measurement);
                Ok(entry)
            });
            if let Some(measured) = measured {
                return Ok(measured.choice(candidates));
            }
            match fetched {
                Ok(fetched) => match remembered(&fetched, candidates, &labels) {
                    Some(choice) => return Ok(choice),
                    None if self.cache.reject(&key, &fetched).is_ok() => {}
                    None => break,
                },
                Err(CacheError::Compile(error)) => return Err((*error).clone()),
                // There is no list.
                Err(CacheError::NotListed { .. }) => break,
            }
        }
        Ok(arena.measure()?.choice(candidates))
    }
}

/// The labels of candidates, all of which differ.
fn labels<C: Candidate>(candidates: &[C]) -> Result<Vec<String>, TuneError> {
    let labels: Vec<_> = candidates.iter().map(Candidate::label).collect();
    if labels.is_empty() {
        return Err(TuneError::NoCandidates);
    }
    let mut sorted: Vec<_> = labels.iter().collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(TuneError::SameLabel(pair[0].clone())),
        None => Ok(labels),
    }
}

/// The winner that an entry names; `None` for one that names no candidate.
fn remembered<'c, C>(
    fetched: &Fetched,
    candidates: &'c [C],
    labels: &[String],
) -> Option<Choice<'c, C>> {
    let entry = &fetched.entry;
    let is_winner = |label: &String| label.as_bytes() == entry.payload;
    let index = labels.iter().position(is_winner)?;
    (entry.kind == EntryKind::Tuning).then(|| Choice {
        candidate: &candidates[index],
        report: None,
        text: entry.log.clone(),
    })
}

/// What a measurement came to.
#[derive(Debug)]
struct Measurement {
    winner: usize,
    report: TuneReport,
    may_differ: bool,
}

impl Measurement {
    /// What is remembered of it: the winner's label, and the report as text.
    fn entry(&self, labels: &[String]) -> Entry {
        let mut manifest = Manifest::new();
        if self.may_differ {
            manifest.note_unknown();
        }
        Entry {
            kind: EntryKind::Tuning,
            payload: labels[self.winner].clone().into_bytes(),
            names: Vec::new(),
            log: self.report.to_string(),
            manifest,
            recipe: None,
        }
    }

    fn choice<C>(self, candidates: &[C]) -> Choice<'_, C> {
        Choice {
            candidate: &candidates[self.winner],
            text: self.report.to_string(),
            report: Some(self.report),
        }
    }
}

/// Where candidates are measured.
struct Arena<'a, C, L> {
    tuner: &'a Tuner,
    candidates: &'a [C],
    labels: &'a [String],
    stream: &'a Stream,
    launch: L,
}

impl<C: Candidate, L: FnMut(&C, &Stream) -> Result<(), Error>> Arena<'_, C, L> {
    fn measure(&mut self) -> Result<Measurement, TuneError> {
        let events = self.tuner.context.events();
        let mut track = DeviceTrack {
            start: events.create(EventConfig::timing())?,
            end: events.create(EventConfig::timing())?,
            candidates: self.candidates,
            stream: self.stream,
            launch: &mut self.launch,
        };
        let Finish {
            winner,
            outcomes,
            launches,
            may_differ,
        } = race::run(self.candidates.len(), self.tuner.config, &mut track)?;
        let trials = self.labels.iter().zip(outcomes);
        let trials = trials.map(|(label, outcome)| Trial {
            label: label.clone(),
            outcome,
        });
        let report = TuneReport {
            trials: trials.collect(),
            launches,
        };
        match winner {
            Some(winner) => Ok(Measurement {
                winner,
                report,
                may_differ,
            }),
            None => Err(TuneError::AllRefused(report)),
        }
    }
}

/// Times by events on a stream.
struct DeviceTrack<'a, C, L> {
    start: Event,
    end: Event,
    candidates: &'a [C],
    stream: &'a Stream,
    launch: &'a mut L,
}

impl<C, L> fmt::Debug for DeviceTrack<'_, C, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceTrack").finish_non_exhaustive()
    }
}

impl<C, L: FnMut(&C, &Stream) -> Result<(), Error>> Track for DeviceTrack<'_, C, L> {
    fn warm_up(&mut self, candidate: usize, launches: u32) -> Result<(), Failed> {
        for _ in 0..launches {
            (self.launch)(&self.candidates[candidate], self.stream).map_err(of_launch)?;
        }
        Ok(())
    }

    fn sample(&mut self, candidate: usize, launches: u32) -> Result<Duration, Failed> {
        ops::record(&self.start, self.stream).map_err(Failed::Measurement)?;
        self.warm_up(candidate, launches)?;
        self.time().map_err(Failed::Measurement)
    }
}

impl<C, L> DeviceTrack<'_, C, L> {
    /// The time since the start was marked.
    fn time(&self) -> Result<Duration, Error> {
        ops::record(&self.end, self.stream)?;
        ops::synchronize_event(&self.end)?;
        let milliseconds = f64::from(ops::elapsed(&self.start, &self.end)?);
        // No time is negative, and none is longer than a duration can be.
        Ok(Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or_default())
    }
}

/// A context that is lost takes every launch.
fn of_launch(error: Error) -> Failed {
    match error.is_sticky() {
        true => Failed::Measurement(error),
        false => Failed::Launch(error),
    }
}
