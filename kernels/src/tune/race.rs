//! The race of the candidates: which of them has the lowest median.

use std::time::Duration;

use cupola_managers::Error;

use super::report::TrialOutcome;

/// How candidates are measured.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TuneConfig {
    /// Launches of each candidate before any is measured: 2 by default. At least one is made.
    pub warm_ups: u32,
    /// Samples of each candidate, one a round: 7 by default. At least one is taken.
    pub rounds: u32,
    /// After three rounds a candidate leaves whose fastest sample is so many times the best median: 1.5 by
    /// default. Infinity keeps all to the end.
    pub reject_above: f64,
    /// Launches are put in one sample until it takes so long: 100 us by default. The clock has steps of half
    /// a microsecond, and its marks cost about two.
    pub sample_time: Duration,
    /// The most launches of one sample: 64 by default.
    pub most_launches: u32,
}

impl Default for TuneConfig {
    fn default() -> Self {
        Self {
            warm_ups: 2,
            rounds: 7,
            reject_above: 1.5,
            sample_time: Duration::from_micros(100),
            most_launches: 64,
        }
    }
}

/// A candidate leaves early after so many rounds: two samples may both have been disturbed.
const ROUNDS_BEFORE_REJECTION: usize = 3;

/// Launches candidates, and takes the time.
pub(super) trait Track {
    /// Launches a candidate so many times.
    fn warm_up(&mut self, candidate: usize, launches: u32) -> Result<(), Failed>;

    /// The time of so many launches of a candidate.
    fn sample(&mut self, candidate: usize, launches: u32) -> Result<Duration, Failed>;
}

/// Why a candidate was not launched.
#[derive(Debug)]
pub(super) enum Failed {
    /// The launch was refused: the others go on.
    Launch(Error),
    /// The measurement failed, or the context is lost.
    Measurement(Error),
}

/// How a race ended.
#[derive(Debug)]
pub(super) struct Finish {
    /// `None` when each candidate was refused.
    pub(super) winner: Option<usize>,
    pub(super) outcomes: Vec<TrialOutcome>,
    pub(super) launches: u32,
    /// A launch was refused that may succeed another time.
    pub(super) may_differ: bool,
}

#[derive(Debug, Default)]
struct Runner {
    samples: Vec<Duration>,
    left: Option<Left>,
}

#[derive(Debug)]
enum Left {
    Refused(Error),
    Slower,
}

/// Runs all candidates in rounds, so that a device whose clock falls meanwhile slows all of them.
///
/// # Errors
/// The measurement failed.
pub(super) fn run(
    candidates: usize,
    config: TuneConfig,
    track: &mut impl Track,
) -> Result<Finish, Error> {
    let mut race = Race {
        runners: (0..candidates).map(|_| Runner::default()).collect(),
        track,
    };
    for candidate in 0..candidates {
        let warm = race.track.warm_up(candidate, config.warm_ups.max(1));
        race.note(candidate, warm)?;
    }
    let launches = race.launches(config)?;
    for round in 0..config.rounds.max(1) {
        // Each is the first of a round at times.
        for place in 0..candidates {
            let candidate = (place + round as usize) % candidates;
            race.sample(candidate, launches)?;
        }
        race.reject(config.reject_above);
    }
    let runners = race.runners;
    let may_differ = runners
        .iter()
        .any(|runner| matches!(&runner.left, Some(Left::Refused(error)) if error.is_retryable()));
    let remaining = runners.iter().enumerate();
    let remaining = remaining.filter(|(_, runner)| runner.left.is_none());
    // Of equals the first, which its caller prefers.
    let winner = remaining.min_by_key(|(_, runner)| median(&runner.samples));
    Ok(Finish {
        winner: winner.map(|(index, _)| index),
        launches,
        may_differ,
        outcomes: runners.into_iter().map(Runner::outcome).collect(),
    })
}

struct Race<'t, T> {
    runners: Vec<Runner>,
    track: &'t mut T,
}

impl<T: Track> Race<'_, T> {
    /// Takes a refused candidate out of the race.
    fn note<V>(&mut self, candidate: usize, result: Result<V, Failed>) -> Result<Option<V>, Error> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Failed::Launch(error)) => {
                self.runners[candidate].left = Some(Left::Refused(error));
                Ok(None)
            }
            Err(Failed::Measurement(error)) => Err(error),
        }
    }

    fn is_running(&self, candidate: usize) -> bool {
        self.runners[candidate].left.is_none()
    }

    /// How many launches make a sample long enough, by one launch of the first candidate. The same for
    /// all: the marks cost each as much.
    fn launches(&mut self, config: TuneConfig) -> Result<u32, Error> {
        for candidate in 0..self.runners.len() {
            if !self.is_running(candidate) {
                continue;
            }
            let one = self.track.sample(candidate, 1);
            if let Some(one) = self.note(candidate, one)? {
                let nanos = one.as_nanos().max(1);
                let wanted = config.sample_time.as_nanos().div_ceil(nanos);
                let wanted = u32::try_from(wanted).unwrap_or(u32::MAX);
                return Ok(wanted.clamp(1, config.most_launches.max(1)));
            }
        }
        Ok(1)
    }

    fn sample(&mut self, candidate: usize, launches: u32) -> Result<(), Error> {
        if !self.is_running(candidate) {
            return Ok(());
        }
        let sample = self.track.sample(candidate, launches);
        if let Some(sample) = self.note(candidate, sample)? {
            self.runners[candidate].samples.push(sample / launches);
        }
        Ok(())
    }

    /// Takes those out of the race that cannot win any more but by luck.
    fn reject(&mut self, above: f64) {
        let running = self.runners.iter().filter(|runner| runner.left.is_none());
        let Some(best) = running.map(|runner| median(&runner.samples)).min() else {
            return;
        };
        let most = best.as_secs_f64() * above;
        for runner in &mut self.runners {
            let fastest = runner.samples.iter().min();
            let is_slower = fastest.is_some_and(|fastest| fastest.as_secs_f64() > most);
            let is_known = runner.samples.len() >= ROUNDS_BEFORE_REJECTION;
            if runner.left.is_none() && is_slower && is_known {
                runner.left = Some(Left::Slower);
            }
        }
    }
}

impl Runner {
    fn outcome(self) -> TrialOutcome {
        let (median, samples) = (median(&self.samples), self.samples.len() as u32);
        match self.left {
            None => TrialOutcome::Measured { median, samples },
            Some(Left::Slower) => TrialOutcome::Slower { median, samples },
            Some(Left::Refused(error)) => TrialOutcome::Refused {
                reason: error.to_string(),
            },
        }
    }
}

/// The lower of the two in the middle of an even number; 0 of none.
fn median(samples: &[Duration]) -> Duration {
    let mut samples = samples.to_vec();
    samples.sort_unstable();
    let middle = samples.len().saturating_sub(1) / 2;
    samples.get(middle).copied().unwrap_or_default()
}

#[cfg(all(test, not(loom)))]
mod tests;
