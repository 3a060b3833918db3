//! Distributions: how long the slowest few of many operations took.
//!
//! Every operation is measured by itself, between two looks at the clock, so that a slow one
//! is not averaged away by its neighbours. What two looks with nothing in between say, the
//! median of many, is subtracted. The clock waits for what came before it, so an operation
//! takes longer here than in a loop, where the processor works on several at once.

use std::hint::black_box;
use std::time::Instant;

use super::Error;
use crate::bench::Figures;

/// Nanoseconds that two looks at the clock are apart when nothing happens in between. Measured before
/// each round: a processor's clock is not the same all the time.
pub(super) fn clock() -> u64 {
    let mut empty: Vec<u64> = (0..100_001)
        .map(|_| {
            let start = Instant::now();
            since(black_box(start), 0)
        })
        .collect();
    empty.sort_unstable();
    empty[empty.len() / 2]
}

/// Nanoseconds from `start` until now, without `clock`.
pub(super) fn since(start: Instant, clock: u64) -> u64 {
    let time = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    time.saturating_sub(clock)
}

/// What is said of a distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Point {
    /// As many hundredths of a percent are at most this.
    Below(u16),
    /// The largest.
    Max,
}

impl Point {
    pub(super) const P50: Self = Self::Below(5_000);
    pub(super) const P90: Self = Self::Below(9_000);
    pub(super) const P99: Self = Self::Below(9_900);
    pub(super) const P99_9: Self = Self::Below(9_990);
    pub(super) const P99_99: Self = Self::Below(9_999);

    /// Its name in the rows.
    pub(super) fn name(self) -> String {
        match self {
            Self::Max => "max".into(),
            Self::Below(part) if part % 100 == 0 => format!("p{}", part / 100),
            Self::Below(part) => {
                let rest = format!("{:02}", part % 100);
                format!("p{}.{}", part / 100, rest.trim_end_matches('0'))
            }
        }
    }

    /// The value at this point of `sorted`; `None` when there are none.
    fn of(self, sorted: &[u64]) -> Option<u64> {
        let last = sorted.len().checked_sub(1)?;
        let index = match self {
            Self::Max => last,
            // The nearest rank.
            Self::Below(part) => {
                let rank = (sorted.len() as u64 * u64::from(part)).div_ceil(10_000);
                (rank as usize).saturating_sub(1).min(last)
            }
        };
        sorted.get(index).copied()
    }
}

/// One distribution, round by round.
#[derive(Debug)]
pub(super) struct Spread {
    points: &'static [Point],
    /// For each point, its value in each round.
    rounds: Vec<Vec<f64>>,
}

impl Spread {
    pub(super) fn new(points: &'static [Point]) -> Self {
        Self {
            points,
            rounds: vec![Vec::new(); points.len()],
        }
    }

    /// Takes the nanoseconds of a round's operations.
    pub(super) fn add(&mut self, mut times: Vec<u64>) {
        times.sort_unstable();
        for (point, values) in self.points.iter().zip(&mut self.rounds) {
            values.extend(point.of(&times).map(|time| time as f64));
        }
    }

    /// No round had an operation.
    pub(super) fn is_empty(&self) -> bool {
        self.rounds.iter().all(Vec::is_empty)
    }

    /// Adds a row for each point, the median over the rounds, and wants those that `bars`
    /// names to be at most so many nanoseconds. `row` makes a row's name of a point's.
    pub(super) fn rows(
        &self,
        figures: &mut Figures,
        row: impl Fn(&str) -> String,
        against: Option<&dyn Fn(&str) -> String>,
        bars: &[(Point, f64)],
    ) -> Result<(), Error> {
        for (point, values) in self.points.iter().zip(&self.rounds) {
            let name = row(&point.name());
            if values.is_empty() {
                return Err(Error::Wrong(name));
            }
            let against = against.map(|against| against(&point.name()));
            let row = figures.push(&name, "ns", values, against.as_deref());
            for (_, most) in bars.iter().filter(|(wanted, _)| wanted == point) {
                row.want(*most);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it a percentile could be its neighbour's value, and a bar of rare slow
    /// operations be met because they were not looked at.
    #[test]
    fn points_are_nearest_ranks() {
        let sorted: Vec<u64> = (1..=10_000).collect();
        for (point, value, name) in [
            (Point::P50, 5_000, "p50"),
            (Point::P90, 9_000, "p90"),
            (Point::P99, 9_900, "p99"),
            (Point::P99_9, 9_990, "p99.9"),
            (Point::P99_99, 9_999, "p99.99"),
            (Point::Max, 10_000, "max"),
        ] {
            assert_eq!(point.of(&sorted), Some(value));
            assert_eq!(point.name(), name);
        }
        assert_eq!(Point::P50.of(&[7]), Some(7));
        assert_eq!(Point::P99.of(&[1, 2]), Some(2));
        assert_eq!(Point::Max.of(&[]), None);
    }

    /// Without it rows could be of one round only, or a bar be put on another row.
    #[test]
    fn rows_are_medians_of_rounds() {
        let mut spread = Spread::new(&[Point::P50, Point::Max]);
        for last in [30, 10, 20] {
            spread.add(vec![last, 1, 2]);
        }
        let mut figures = Figures::new("test", "none".into());
        let bars = [(Point::Max, 15.0)];
        spread
            .rows(&mut figures, |point| format!("row, {point}"), None, &bars)
            .unwrap();
        let [half, most] = &figures.rows[..] else {
            panic!("two rows");
        };
        assert_eq!((half.name.as_str(), half.median), ("row, p50", 2.0));
        assert_eq!((most.name.as_str(), most.median), ("row, max", 20.0));
        assert!(half.bars.is_empty() && !most.bars[0].met);
    }
}
