//! The command line: what can be asked, and with which exit code it ends.

use std::ops::RangeBounds;
use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

use super::exit::{Exit, Failure};

const AFTER: &str = "\
Exit codes:
  0  done, and every result was verified
  1  the work ran, but a result was wrong or something leaked
  2  the command line was wrong
  3  the device that was asked for is not there
  4  the driver or the device failed during the work
  5  a file could not be read or written

Environment:
  CUPOLA_CUDA_LIBRARY       the driver library to load instead of the system's
  CUPOLA_NVRTC_LIBRARY, CUPOLA_NVJITLINK_LIBRARY, CUPOLA_NVML_LIBRARY,
  CUPOLA_NCCL_LIBRARY       the same for the optional libraries
  CUPOLA_WHEELS             a folder laid out like site-packages that holds NVIDIA's wheels
  RUST_LOG                  what to log on standard error (cupola=debug)";

/// The CUDA layer's own program: runs the whole path on real data and checks every result.
#[derive(Parser, Debug)]
#[command(version, after_help = AFTER, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// Without a command: `run`.
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Replay an allocation trace through the pool and stream a file through the pipeline
    Run(RunArgs),
    /// Say what was found: driver, devices, libraries, and what to do about what is missing
    Doctor(DoctorArgs),
    /// Measure one part beside what it replaces
    Bench(BenchArgs),
    /// Replay any allocation trace through the pool, and say how fast and how tight it was
    Replay(super::replay::args::ReplayArgs),
    /// The software device, for programs that know nothing of cupola
    #[cfg(all(feature = "libcuda", unix))]
    Sim {
        #[command(subcommand)]
        command: super::sim::args::SimCommand,
    },
}

/// Which device to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeviceChoice {
    /// A GPU if there is one, else the software device
    #[default]
    Auto,
    /// A GPU, or an error
    Gpu,
    /// The software device
    Sim,
}

#[derive(Args, Debug, Clone)]
pub(crate) struct DeviceArgs {
    /// Which device to use
    #[arg(long, value_enum, default_value_t, env = "CUPOLA_DEVICE")]
    pub(crate) device: DeviceChoice,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug, Clone)]
pub(crate) struct RunArgs {
    /// The file to stream through the pipeline; the trace itself if none is given
    pub(crate) file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) device: DeviceArgs,

    /// An allocation trace to replay instead of the bundled one: text, a snapshot of PyTorch
    /// (pickle or JSON) or a log of RMM; gzip-compressed or not
    #[arg(long)]
    pub(crate) trace: Option<PathBuf>,

    /// The most device memory that the pool may use (K, M, G and Ki, Mi, Gi are understood)
    #[arg(long, default_value = "8Gi", value_parser = bytes)]
    pub(crate) limit: u64,

    /// Bytes that one step of the pipeline takes; chosen from the file's size if not given
    #[arg(long, value_parser = bytes)]
    pub(crate) chunk: Option<u64>,
}

#[derive(Args, Debug, Clone)]
pub(crate) struct DoctorArgs {
    /// Print one JSON document instead of text
    #[arg(long)]
    pub(crate) json: bool,

    /// Name every function that the driver lacks, and check each row of the symbol table
    /// against the library's exports
    #[arg(long)]
    pub(crate) symbols: bool,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Suite {
    /// The memory pool against the driver's own allocator, cudarc (build with `--features
    /// peers`) and what the programs of other allocators printed
    Alloc,
    /// A driver call through the table against a raw function pointer
    Loader,
    /// Streams, events, the current context and opening a device against the driver's own
    /// calls and cudarc (build with `--features peers`)
    Lifecycle,
    /// The three-stream pipeline against the same work on one stream
    Pipeline,
    /// The software device's engine against plain Rust loops, and its launches
    #[cfg(feature = "sim")]
    Sim,
    /// The stores of cupola-core against what their users would pick instead (build with
    /// `--features peers`)
    Slots,
}

#[derive(Args, Debug, Clone)]
pub(crate) struct BenchArgs {
    /// What to measure
    #[arg(value_enum)]
    pub(crate) suite: Suite,

    /// Which device to use; `sim` measures the software device whatever this says, `slots`
    /// no device at all
    #[arg(long, value_enum, default_value_t, env = "CUPOLA_DEVICE")]
    pub(crate) device: DeviceChoice,

    /// Also write the figures to this file
    #[arg(long)]
    pub(crate) json: Option<PathBuf>,

    /// `sim`: threads for the rows with several workers; one for each core if not given
    #[arg(long, value_parser = count(1..=1024))]
    pub(crate) workers: Option<usize>,

    /// `alloc`, `slots`, `lifecycle`: threads for the rows with several; 2 if not given, 16 for
    /// `alloc`
    #[arg(long, value_parser = count(1..=1024))]
    pub(crate) threads: Option<usize>,

    /// `sim`: how often each kernel is timed; `alloc`, `slots`, `lifecycle`: samples of each row
    #[arg(long, value_parser = count(1..))]
    pub(crate) runs: Option<usize>,

    /// `sim`: only this kernel (xorshift, saxpy ...); `slots`: only rows whose names contain
    /// this
    #[arg(long)]
    pub(crate) only: Option<String>,

    /// `alloc`: an allocation trace to replay instead of the bundled one; `slots`: one for the
    /// heaps to replay besides it. May be given several times
    #[arg(long, num_args = 1..)]
    pub(crate) trace: Vec<PathBuf>,

    /// `alloc`: what the programs of other allocators printed in the same run; their figures
    /// become rows
    #[arg(long, num_args = 1..)]
    pub(crate) peer_output: Vec<PathBuf>,

    /// `alloc`, `slots`, `lifecycle`: one short sample of each row, to see that everything works;
    /// the figures mean nothing
    #[arg(long)]
    pub(crate) quick: bool,

    /// `lifecycle`: opens the device once, this way, and says how long it took
    #[arg(long, hide = true)]
    pub(crate) opening: Option<String>,
}

impl BenchArgs {
    /// Refuses options that the suite does not look at: its figures would pass for those that
    /// were asked for.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let suite = self.suite.to_possible_value();
        let suite = suite.as_ref().map_or("", |value| value.get_name());
        let several = &["alloc", "slots", "lifecycle"][..];
        let options = [
            ("--workers", self.workers.is_some(), &["sim"][..]),
            ("--threads", self.threads.is_some(), several),
            (
                "--runs",
                self.runs.is_some(),
                &["sim", "alloc", "slots", "lifecycle"],
            ),
            ("--only", self.only.is_some(), &["sim", "slots"]),
            ("--trace", !self.trace.is_empty(), &["alloc", "slots"]),
            ("--peer-output", !self.peer_output.is_empty(), &["alloc"]),
            ("--quick", self.quick, several),
            ("--opening", self.opening.is_some(), &["lifecycle"]),
        ];
        let mut idle = options
            .iter()
            .filter(|(_, given, users)| *given && !users.contains(&suite));
        idle.next().map_or(Ok(()), |(option, _, users)| {
            let users = users.join(", ");
            let problem = format!("`bench {suite}` does not look at {option}: it is for {users}");
            Err(Failure::new(Exit::Usage, problem))
        })
    }
}

/// How many of something.
fn count(range: impl RangeBounds<u64>) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(range)
}

/// A number of bytes with an optional unit: `512`, `64Ki`, `8G`.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits
        .parse()
        .map_err(|_| format!("{text:?} is not a number of bytes"))?;
    let unit = match text[digits.len()..].trim_end_matches(['b', 'B']) {
        "" => 1,
        "k" | "K" => 1_000,
        "m" | "M" => 1_000_000,
        "g" | "G" => 1_000_000_000,
        "ki" | "Ki" => 1 << 10,
        "mi" | "Mi" => 1 << 20,
        "gi" | "Gi" => 1 << 30,
        other => {
            return Err(format!(
                "{other:?} is not a unit; use K, M, G, Ki, Mi or Gi"
            ));
        }
    };
    number
        .checked_mul(unit)
        .ok_or_else(|| format!("{text:?} exceeds 64 bits"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    /// Without it a conflict between arguments would only show at run time.
    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// Without it `cupola FILE` could stop meaning `cupola run FILE`.
    #[test]
    fn run_is_the_default() {
        let cli = Cli::try_parse_from(["cupola", "--device", "sim", "data.bin"]).unwrap();
        assert!(cli.command.is_none());
        assert_eq!(cli.run.device.device, DeviceChoice::Sim);
        assert_eq!(cli.run.file, Some("data.bin".into()));
    }

    /// Without it figures could pass for those that somebody asked for, or be of nothing.
    #[test]
    fn what_a_suite_does_not_look_at_is_refused() {
        let parse = |words: &[&str]| {
            let words = ["cupola", "bench"].iter().chain(words);
            match Cli::try_parse_from(words).map(|cli| cli.command) {
                Ok(Some(Command::Bench(args))) => Ok(args),
                other => Err(format!("{other:?}")),
            }
        };
        for words in [
            &["alloc", "--only", "x"][..],
            &["alloc", "--workers", "2"],
            &["lifecycle", "--trace", "x"],
            &["loader", "--runs", "3"],
            &["loader", "--threads", "2"],
            &["pipeline", "--quick"],
            &["slots", "--peer-output", "x"],
            &["alloc", "--opening", "x"],
        ] {
            let failure = parse(words).unwrap().check().unwrap_err();
            assert_eq!(failure.exit, Exit::Usage);
            assert!(failure.to_string().contains(words[1]), "{failure}");
        }
        for words in [
            &[
                "alloc",
                "--quick",
                "--threads",
                "2",
                "--trace",
                "x",
                "--peer-output",
                "y",
            ][..],
            &["slots", "--only", "x", "--runs", "3", "--trace", "x"],
            &["lifecycle", "--opening", "x", "--threads", "1024"],
            &["loader", "--json", "x"],
        ] {
            assert!(parse(words).unwrap().check().is_ok(), "{words:?}");
        }
        for option in ["--threads", "--runs", "--workers"] {
            assert!(parse(&["alloc", option, "0"]).is_err(), "{option}");
        }
        assert!(parse(&["alloc", "--threads", "1025"]).is_err());
    }

    /// Without it a limit could be taken for another one.
    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("512"), Ok(512));
        assert_eq!(bytes("8Gi"), Ok(8 << 30));
        assert_eq!(bytes("8GiB"), Ok(8 << 30));
        assert_eq!(bytes("2M"), Ok(2_000_000));
        for wrong in ["", "G", "-1", "1T", "99999999999999G", "1.5G"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
