use quickcheck::quickcheck;

use super::*;

/// Samples that are written down: `times[candidate]` in turn, in microseconds, the last one again and
/// again. A launch of a candidate without times is refused.
struct Script {
    times: Vec<Vec<u64>>,
    taken: Vec<usize>,
    launches: Vec<u32>,
    /// The sample whose measurement fails.
    fails_at: Option<usize>,
}

impl Script {
    fn new(times: &[&[u64]]) -> Self {
        Self {
            times: times.iter().map(|times| times.to_vec()).collect(),
            taken: vec![0; times.len()],
            launches: Vec::new(),
            fails_at: None,
        }
    }

    fn run(&mut self, config: TuneConfig) -> Result<Finish, Error> {
        run(self.times.len(), config, self)
    }
}

fn refused() -> Failed {
    Failed::Launch(Error::Full { kind: "launch" })
}

impl Track for Script {
    fn warm_up(&mut self, candidate: usize, _: u32) -> Result<(), Failed> {
        if self.times[candidate].is_empty() {
            return Err(refused());
        }
        Ok(())
    }

    fn sample(&mut self, candidate: usize, launches: u32) -> Result<Duration, Failed> {
        if self.fails_at == Some(self.launches.len()) {
            return Err(Failed::Measurement(Error::Forked));
        }
        self.launches.push(launches);
        let times = &self.times[candidate];
        let at = self.taken[candidate].min(times.len() - 1);
        self.taken[candidate] += 1;
        Ok(Duration::from_micros(times[at]) * launches)
    }
}

fn once() -> TuneConfig {
    TuneConfig {
        sample_time: Duration::ZERO,
        ..TuneConfig::default()
    }
}

// Without it a sample that was disturbed could decide who wins.
#[test]
fn the_lowest_median_wins() {
    let mut script = Script::new(&[&[90, 20, 20], &[30], &[10, 25, 900, 25]]);
    let finish = script.run(once()).unwrap();
    assert_eq!(finish.winner, Some(0));
    let median = Duration::from_micros(20);
    assert_eq!(
        finish.outcomes[0],
        TrialOutcome::Measured { median, samples: 7 }
    );
    // Of equals the first.
    let mut script = Script::new(&[&[30], &[20], &[20]]);
    assert_eq!(script.run(once()).unwrap().winner, Some(1));
}

// Without it the race of many candidates would take as long as its slowest makes it.
#[test]
fn clearly_slower_candidates_leave_early() {
    let mut script = Script::new(&[&[10], &[14], &[16], &[500, 500, 500, 1]]);
    let finish = script.run(once()).unwrap();
    let samples = |outcome: &TrialOutcome| match outcome {
        TrialOutcome::Measured { samples, .. } => (true, *samples),
        TrialOutcome::Slower { samples, .. } => (false, *samples),
        TrialOutcome::Refused { .. } => panic!("{outcome:?}"),
    };
    let samples: Vec<_> = finish.outcomes.iter().map(samples).collect();
    assert_eq!(samples, [(true, 7), (true, 7), (false, 3), (false, 3)]);
    let all = TuneConfig {
        reject_above: f64::INFINITY,
        ..once()
    };
    let mut script = Script::new(&[&[10], &[500]]);
    let finish = script.run(all).unwrap();
    assert!(matches!(
        finish.outcomes[1],
        TrialOutcome::Measured { samples: 7, .. }
    ));
}

// Without it launches shorter than the clock's steps would be told apart by chance.
#[test]
fn short_launches_are_measured_together() {
    let mut script = Script::new(&[&[7], &[100]]);
    let finish = script.run(TuneConfig::default()).unwrap();
    // 15 times 7 us are the first of more than 100.
    assert_eq!(finish.launches, 15);
    assert!(script.launches[1..].iter().all(|launches| *launches == 15));
    let median = Duration::from_micros(7);
    assert_eq!(
        finish.outcomes[0],
        TrialOutcome::Measured { median, samples: 7 }
    );
    // No time at all: the clock's steps are longer.
    let mut script = Script::new(&[&[0]]);
    assert_eq!(script.run(TuneConfig::default()).unwrap().launches, 64);
}

// Without it a candidate that cannot be launched would end the race of the others, or win it.
#[test]
fn a_refused_launch_is_out_and_told() {
    let mut script = Script::new(&[&[], &[30], &[]]);
    let finish = script.run(once()).unwrap();
    assert_eq!(finish.winner, Some(1));
    assert!(finish.may_differ, "there may be room another time");
    assert!(
        matches!(&finish.outcomes[2], TrialOutcome::Refused { reason } if reason.contains("room"))
    );
    let mut script = Script::new(&[&[], &[]]);
    let finish = script.run(once()).unwrap();
    assert_eq!((finish.winner, finish.launches), (None, 1));
}

// Without it a winner could be chosen by samples that were not taken.
#[test]
fn a_failed_measurement_ends_the_race() {
    for at in 0..15 {
        let mut script = Script::new(&[&[10], &[12]]);
        script.fails_at = Some(at);
        let failed = script.run(once());
        assert!(matches!(failed, Err(Error::Forked)), "{at}");
    }
}

quickcheck! {
    /// Without it some table of times could leave no winner, or one that is not the fastest of those that
    /// stay.
    fn no_candidate_that_stays_beats_the_winner(times: Vec<Vec<u16>>, rounds: u8, above: u8) -> bool {
        if times.is_empty() {
            return true;
        }
        let times: Vec<Vec<u64>> = times
            .into_iter()
            .map(|times| times.into_iter().map(u64::from).collect())
            .collect();
        let lines: Vec<_> = times.iter().map(Vec::as_slice).collect();
        let config = TuneConfig {
            rounds: (rounds % 20).into(),
            reject_above: 1.0 + f64::from(above) / 64.0,
            ..once()
        };
        let finish = Script::new(&lines).run(config).unwrap();
        let Some(winner) = finish.winner else {
            return times.iter().all(Vec::is_empty);
        };
        let of = |outcome: &TrialOutcome| match outcome {
            TrialOutcome::Measured { median, .. } => Some(*median),
            _ => None,
        };
        let least = of(&finish.outcomes[winner]).unwrap();
        finish.outcomes.iter().filter_map(of).all(|median| median >= least)
    }
}
