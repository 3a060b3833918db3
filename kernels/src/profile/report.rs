//! `Profile`: what was measured of a kernel.

use std::fmt;
use std::io::{self, Write};

use cupola_managers::trace_events::JsonText;

use super::limits::DeviceLimits;
use super::statistics::Summary;
use super::{Cost, Sample};

/// What was measured of a kernel. Its text is a report; [`write_json`](Self::write_json) has all of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Profile {
    /// The name that the caller gave it.
    pub label: String,
    /// The name of the device.
    pub device: String,
    /// Launches before the first sample.
    pub warm_up: u32,
    /// Launches of a sample.
    pub launches: u32,
    /// How long a launch took the device.
    pub execute: Summary,
    /// How long the call took the host.
    pub launch: Summary,
    /// What a launch does, as declared.
    pub cost: Cost,
    /// What the device can.
    pub limits: DeviceLimits,
    /// In the order in which they were taken.
    pub samples: Vec<Sample>,
}

impl Profile {
    /// Bytes a second, by the median; `None` where no bytes are declared, or no time was measured.
    #[must_use]
    pub fn bandwidth(&self) -> Option<f64> {
        self.rate(self.cost.bytes?)
    }

    /// Operations a second, by the median; `None` where none are declared, or no time was measured.
    #[must_use]
    pub fn flop_rate(&self) -> Option<f64> {
        self.rate(self.cost.flops?)
    }

    /// What part of the device's bandwidth that is; `None` where one of them is not known.
    #[must_use]
    pub fn bandwidth_share(&self) -> Option<f64> {
        Some(self.bandwidth()? / self.limits.bandwidth?)
    }

    /// What part of the device's rate of operations that is; `None` where one of them is not known.
    #[must_use]
    pub fn flop_share(&self) -> Option<f64> {
        Some(self.flop_rate()? / self.limits.flop_rate?)
    }

    /// Whether the device has waited for launches, as far as can be told: a launch took the host as long
    /// as its execution the device. The kernel is shorter than the times then.
    #[must_use]
    pub fn is_launch_bound(&self) -> bool {
        self.execute.median * 10 < self.launch.median * 11
    }

    fn rate(&self, amount: u64) -> Option<f64> {
        let median = self.execute.median;
        (!median.is_zero()).then(|| amount as f64 / median.as_secs_f64())
    }

    /// Writes everything as one JSON object: times in nanoseconds, rates in units a second, what is not
    /// known as `null`.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn write_json(&self, to: &mut dyn Write) -> io::Result<()> {
        let (label, device) = (JsonText(&self.label), JsonText(&self.device));
        write!(to, "{{\"label\":{label},\"device\":{device}")?;
        let (warm_up, launches) = (self.warm_up, self.launches);
        write!(to, ",\"warm_up\":{warm_up},\"launches\":{launches}")?;
        for (name, summary) in [("execute", &self.execute), ("launch", &self.launch)] {
            write!(to, ",\"{name}\":{{\"count\":{}", summary.count)?;
            for (name, time) in summary.figures() {
                write!(to, ",\"{name}\":{}", time.as_nanos())?;
            }
            write!(to, "}}")?;
        }
        write!(to, ",\"launch_bound\":{}", self.is_launch_bound())?;
        let whole = |number: Option<u64>| number.map(|number| number as f64);
        for (name, number) in [
            ("bytes", whole(self.cost.bytes)),
            ("flops", whole(self.cost.flops)),
            ("bandwidth", self.bandwidth()),
            ("flop_rate", self.flop_rate()),
            ("bandwidth_limit", self.limits.bandwidth),
            ("flop_rate_limit", self.limits.flop_rate),
            ("bandwidth_share", self.bandwidth_share()),
            ("flop_share", self.flop_share()),
        ] {
            match number {
                Some(number) => write!(to, ",\"{name}\":{number}")?,
                None => write!(to, ",\"{name}\":null")?,
            }
        }
        write!(to, ",\"samples\":[")?;
        let mut separator = "";
        for Sample { execute, launch } in &self.samples {
            let (execute, launch) = (execute.as_nanos(), launch.as_nanos());
            write!(
                to,
                "{separator}{{\"execute\":{execute},\"launch\":{launch}}}"
            )?;
            separator = ",";
        }
        writeln!(to, "]}}")
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { label, device, .. } = self;
        let (count, launches, warm_up) = (self.samples.len(), self.launches, self.warm_up);
        writeln!(
            f,
            "{label} on {device}: {count} samples of {launches} launches, after {warm_up}"
        )?;
        writeln!(f, "  device     {}", self.execute)?;
        write!(f, "  launch     {}", self.launch)?;
        if let Some(rate) = self.bandwidth() {
            write!(f, "\n  bandwidth  {}", Rate(rate, "B/s"))?;
            share(f, rate, self.limits.bandwidth, "B/s")?;
        }
        if let Some(rate) = self.flop_rate() {
            write!(f, "\n  operations {}", Rate(rate, "FLOP/s"))?;
            share(f, rate, self.limits.flop_rate, "FLOP/s")?;
        }
        if self.is_launch_bound() {
            write!(
                f,
                "\n  The device waited for launches: the kernel is shorter than these times."
            )?;
        }
        Ok(())
    }
}

/// What part of a limit a rate is.
fn share(
    f: &mut fmt::Formatter<'_>,
    rate: f64,
    limit: Option<f64>,
    unit: &'static str,
) -> fmt::Result {
    match limit {
        Some(limit) => {
            let percent = 100.0 * rate / limit;
            write!(f, ", {percent:.1} % of {}", Rate(limit, unit))
        }
        None => write!(f, " (the device's limit is not told)"),
    }
}

/// So much a second, of a unit.
struct Rate(f64, &'static str);

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self(rate, unit) = self;
        let steps = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
        let step = steps.into_iter().find(|(size, _)| rate >= *size);
        let (size, prefix) = step.unwrap_or((1.0, ""));
        write!(f, "{:.2} {prefix}{unit}", rate / size)
    }
}
