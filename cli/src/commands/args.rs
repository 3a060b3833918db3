//! The command line: what can be asked, and with which exit code it ends.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::bench::args::Suite;
use super::json::JsonArgs;
use super::size::{limit, some_bytes};

const AFTER: &str = "\
Exit codes:
  0  done, and every result was verified
  1  the work ran, but a result was wrong or something leaked; a source has errors
  2  the command line was wrong
  3  the device that was asked for is not there
  4  the driver or the device failed during the work
  5  a file could not be read or written
  6  memory was refused: the limit or the device is too small for what was asked for

Sizes are bytes, or have a unit: 512, 64Ki, 1.5GiB, 2T.

Environment:
  CUPOLA_CUDA_LIBRARY       the driver library to load instead of the system's
  CUPOLA_NVRTC_LIBRARY, CUPOLA_NVJITLINK_LIBRARY, CUPOLA_NVML_LIBRARY,
  CUPOLA_NCCL_LIBRARY       the same for the optional libraries
  CUPOLA_CACHE_DIR          the folder of compiled kernels, in place of cupola/kernels in the
                            user's cache
  CUPOLA_WHEELS             a folder laid out like site-packages that holds NVIDIA's wheels
  RUST_LOG                  what to log on standard error (cupola=debug)";

/// The CUDA layer's own program: runs the whole path on real data and checks every result.
#[derive(Parser, Debug)]
#[command(
    name = "cupola",
    version,
    after_help = AFTER,
    max_term_width = 100,
    args_conflicts_with_subcommands = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// Without a command: `run` of the bundled data.
    #[command(flatten)]
    pub(crate) run: RunOptions,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Replay an allocation trace through the pool and stream a file through the pipeline; what
    /// is done without a command
    Run(RunArgs),
    /// Say what was found: driver, devices, libraries, and what to do about what is missing
    Doctor(DoctorArgs),
    /// Compile CUDA C++ to a binary, PTX or LTO-IR with NVRTC, which needs no GPU
    Compile(super::compile::args::CompileArgs),
    /// Measure one part beside what it replaces
    Bench {
        /// What to measure
        #[command(subcommand)]
        suite: Suite,
    },
    /// The compiled kernels that programs of this user keep on disk
    #[cfg(unix)]
    Cache {
        #[command(subcommand)]
        command: super::cache::args::CacheCommand,
    },
    /// Replay any allocation trace through the pool, and say how fast and how tight it was
    Replay(super::replay::args::ReplayArgs),
    /// The software device, for programs that know nothing of cupola
    #[cfg(all(feature = "libcuda", unix))]
    Sim {
        #[command(subcommand)]
        command: super::sim::args::SimCommand,
    },
    /// Print what makes a shell complete this command line
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, in the form that `man` reads (`cupola man | man -l -`)
    Man {
        /// The command that the page is of, such as `bench alloc`; the program itself if none is
        /// named
        command: Vec<String>,
    },
}

impl Command {
    /// The option `--json` of the command, if it has it.
    pub(crate) fn json(&self) -> Option<&JsonArgs> {
        match self {
            Self::Run(args) => Some(&args.options.json),
            Self::Doctor(args) => Some(&args.json),
            Self::Bench { suite } => Some(suite.json()),
            #[cfg(unix)]
            Self::Cache { command } => Some(&command.folder().json),
            Self::Replay(args) => Some(&args.json),
            #[cfg(all(feature = "libcuda", unix))]
            Self::Sim { command } => command.json(),
            Self::Compile(_) | Self::Completions { .. } | Self::Man { .. } => None,
        }
    }
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

/// The option that every command with a device has.
#[derive(Args, Debug, Clone)]
pub(crate) struct DeviceArgs {
    /// Which device to use
    #[arg(long, value_enum, default_value_t, env = "CUPOLA_DEVICE")]
    pub(crate) device: DeviceChoice,
}

#[derive(Args, Debug, Clone)]
pub(crate) struct RunArgs {
    /// The file to stream through the pipeline; the bundled trace if none is given
    pub(crate) file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) options: RunOptions,
}

#[derive(Args, Debug, Clone)]
pub(crate) struct RunOptions {
    #[command(flatten)]
    pub(crate) device: DeviceArgs,

    #[command(flatten)]
    pub(crate) json: JsonArgs,

    /// An allocation trace to replay instead of the bundled one: text, a snapshot of PyTorch
    /// (pickle or JSON) or a log of RMM; gzip-compressed or not; `-` is standard input
    #[arg(long)]
    pub(crate) trace: Option<PathBuf>,

    /// The most device memory that the pool of the replay, and then that of the pipeline, may use
    #[arg(long, value_name = "SIZE", default_value = "8Gi", value_parser = limit)]
    pub(crate) limit: u64,

    /// Bytes that one step of the pipeline takes, which has three of them on the device; chosen
    /// from the file's size and the limit if not given
    #[arg(long, value_name = "SIZE", value_parser = some_bytes)]
    pub(crate) chunk: Option<u64>,

    /// Write the pipeline's chunks to this file as a trace that ui.perfetto.dev and chrome://tracing open
    #[arg(long, value_name = "FILE")]
    pub(crate) chrome_trace: Option<PathBuf>,

    /// Draw the pipeline's chunks into this file, as SVG: time from left to right, a row for each stage
    #[arg(long, value_name = "FILE")]
    pub(crate) timeline: Option<PathBuf>,
}

#[derive(Args, Debug, Clone)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) json: JsonArgs,

    /// Name every function that the driver lacks, and check each row of the symbol table
    /// against the library's exports
    #[arg(long)]
    pub(crate) symbols: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use clap::error::ErrorKind;

    use super::*;

    /// Without it a conflict between arguments would only show at run time.
    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// Without it `cargo run --release` could stop doing the main job, or a mistyped command be
    /// taken for a file.
    #[test]
    fn run_is_the_default_and_files_have_a_command() {
        let cli = Cli::try_parse_from(["cupola", "--device", "sim"]).unwrap();
        assert!(cli.command.is_none());
        assert_eq!(cli.run.device.device, DeviceChoice::Sim);
        let cli = Cli::try_parse_from(["cupola", "run", "--limit", "1.5Gi", "data.bin"]).unwrap();
        let Some(Command::Run(args)) = cli.command else {
            panic!("{cli:?}");
        };
        assert_eq!(args.file, Some("data.bin".into()));
        assert_eq!(args.options.limit, 3 << 29);
        let error = Cli::try_parse_from(["cupola", "docter"]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidSubcommand);
        assert!(error.to_string().contains("'doctor'"), "{error}");
    }

    /// Without it figures could pass for those that a user asked for, or be of nothing.
    #[test]
    fn what_a_suite_does_not_look_at_is_refused() {
        let parse = |words: &[&str]| {
            let words = ["cupola", "bench"].iter().chain(words);
            Cli::try_parse_from(words).map(|_| ())
        };
        for words in [
            &["alloc", "--only", "x"][..],
            &["alloc", "--workers", "2"],
            &["lifecycle", "--trace", "x"],
            &["loader", "--runs", "3"],
            &["pipeline", "--threads", "2"],
            &["slots", "--peer-output", "x"],
            &["slots", "--device", "sim"],
            &["alloc", "--opening", "x"],
            &["alloc", "--threads", "0"],
            &["alloc", "--runs", "0"],
            &["alloc", "--threads", "1025"],
        ] {
            assert!(parse(words).is_err(), "{words:?}");
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
            &["lifecycle", "--opening", "raw", "--threads", "1024"],
            &["loader", "--json", "-"],
        ] {
            assert!(parse(words).is_ok(), "{words:?}");
        }
        for suite in ["alloc", "lifecycle", "loader", "pipeline", "slots"] {
            assert!(parse(&[suite, "--quick"]).is_ok(), "{suite}");
        }
    }
}
