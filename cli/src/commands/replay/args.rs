//! The arguments of `cupola replay`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use cupola::managers::StreamsConfig;

use crate::commands::args::DeviceArgs;
use crate::commands::json::JsonArgs;
use crate::commands::size::limit;

/// The most streams of a trace: so many places a pool has, and no more may be there at a time.
pub(crate) const STREAMS: u32 = {
    let places = 65_535;
    let there = StreamsConfig::MOST as u32;
    if there < places { there } else { places }
};

#[derive(Args, Debug, Clone)]
pub(crate) struct ReplayArgs {
    /// The trace: this project's text, a snapshot of PyTorch (pickle or JSON), or a log of RMM;
    /// gzip-compressed or not; `-` is standard input
    pub(crate) trace: PathBuf,

    #[command(flatten)]
    pub(crate) device: DeviceArgs,

    /// Of a snapshot of PyTorch, which may be of several devices: whose events to replay; the
    /// first that has any if not given
    #[arg(long)]
    pub(crate) trace_device: Option<usize>,

    /// The hard limit of the pool: a size, or a factor of the most bytes that the trace has
    /// alive, such as 1.02x
    #[arg(long, value_name = "SIZE", default_value = "8Gi")]
    pub(crate) limit: Limit,

    /// How many threads the streams are dealt to; they run freely
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: u16,

    /// Spreads the operations over so many streams: runs of them, 32 long on average, go to
    /// one each
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(STREAMS)))]
    pub(crate) streams: Option<u32>,

    /// What `--streams` chooses by
    #[arg(long, default_value_t = 1, requires = "streams")]
    pub(crate) seed: u64,

    /// Each operation waits for the time that the trace has for it
    #[arg(long)]
    pub(crate) realtime: bool,

    /// Looks for the smallest limit, in steps of 2 MiB, under which no allocation fails; with
    /// several streams larger ones may fail, so all around it are tried, and what is safe from
    /// there on is said too. No kernels run, so nothing is stamped or checked, and where kernels
    /// lag behind more may be needed
    #[arg(long, conflicts_with_all = ["limit", "realtime", "unchecked"])]
    pub(crate) smallest: bool,

    /// Runs no kernels: nothing but allocations and frees, first without a look at the clock
    /// and then timed one by one
    #[arg(long)]
    pub(crate) unchecked: bool,

    /// Draws the pool where most is mapped into this file (SVG), and the first failure, if
    /// there is one, into one beside it that ends in .failure.svg (not beside a device or a pipe);
    /// that takes time, so single operations are not timed
    #[arg(long, conflicts_with = "smallest")]
    pub(crate) map: Option<PathBuf>,

    /// Records what the pool does, and writes it into this file: as a pickle for PyTorch's memory
    /// viewer (<https://pytorch.org/memory_viz>), which opens nothing else; or, if its name ends in
    /// .json, as JSON for tools and `cupola replay`; single operations are not timed
    #[arg(long, conflicts_with = "smallest")]
    pub(crate) snapshot: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

/// The limit of the pool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Limit {
    Bytes(u64),
    /// So many times the most bytes that the trace has alive.
    Peak(f64),
}

impl Limit {
    /// In bytes, for a trace with `peak` bytes alive; a factor gives whole pages of 2 MiB.
    pub(crate) fn of(self, peak: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Peak(factor) => ((peak as f64 * factor) as u64)
                .max(1)
                .checked_next_multiple_of(2 << 20)
                .unwrap_or(u64::MAX),
        }
    }
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some(factor) = text.strip_suffix(['x', 'X']) else {
            return limit(text).map(Self::Bytes);
        };
        match factor.parse() {
            Ok(factor) if factor > 0.0 && factor <= 1000.0 => Ok(Self::Peak(factor)),
            _ => Err(format!("{text:?} is not a factor such as 1.02x")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it a limit could be taken for another one.
    #[test]
    fn limits_are_bytes_or_factors() {
        assert_eq!("8Gi".parse(), Ok(Limit::Bytes(8 << 30)));
        assert_eq!("1.02x".parse(), Ok(Limit::Peak(1.02)));
        for wrong in ["x", "-1x", "0x", "NaNx", "infx", "1.5", "2000x"] {
            assert!(wrong.parse::<Limit>().is_err(), "{wrong}");
        }
        assert_eq!(Limit::Bytes(5).of(100), 5);
        assert_eq!(Limit::Peak(1.5).of(2 << 20), 4 << 20);
        assert_eq!(Limit::Peak(1.0).of(2 << 20), 2 << 20);
        assert_eq!(Limit::Peak(1.0).of(0), 2 << 20);
        assert_eq!(Limit::Peak(1000.0).of(u64::MAX), u64::MAX);
    }
}
