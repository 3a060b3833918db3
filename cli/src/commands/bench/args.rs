//! The suites of `cupola bench`, each with the options that it looks at.

use std::ops::RangeBounds;
use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::{Args, Subcommand, ValueEnum};

use crate::commands::args::DeviceArgs;
use crate::commands::json::JsonArgs;

/// What can be measured.
#[derive(Subcommand, Debug)]
pub(crate) enum Suite {
    /// The memory pool against the driver's own allocator, cudarc (build with `--features
    /// peers`) and what the programs of other allocators printed
    Alloc(AllocArgs),
    /// A hit of the cache of compiled kernels against reading and hashing a file, and a process that
    /// runs a kernel which another one has kept
    #[cfg(unix)]
    Cache(CacheSuiteArgs),
    /// Futures against waits on the host, and what the thread costs that looks after futures
    Completion(DeviceSuiteArgs),
    /// A small copy beside a bulk one, which is put in one call or in chunks
    Copies(DeviceSuiteArgs),
    /// Launches, instantiations and updates of graphs against the driver's own calls
    Graph(DeviceSuiteArgs),
    /// The bandwidth of the device library's kernels against that of the driver's copies
    Kernels(DeviceSuiteArgs),
    /// Launches of a kernel with five arguments against the driver's own call and cudarc (build with
    /// `--features peers`)
    Launch(LaunchSuiteArgs),
    /// Streams, events, the current context and opening a device against the driver's own
    /// calls and cudarc (build with `--features peers`)
    Lifecycle(LifecycleArgs),
    /// A driver call through the table against a raw function pointer
    Loader(DeviceSuiteArgs),
    /// Copies between two devices against the driver's call, without access and with it
    Peer(DeviceSuiteArgs),
    /// Page-locked memory of a pool against the driver's call, and copies from and to it
    Pinned(DeviceSuiteArgs),
    /// The three-stream pipeline against the same work on one stream
    Pipeline(DeviceSuiteArgs),
    /// Models that share a device's memory: slots are loaded beside plain copies, evicted, and
    /// requested in four orders
    Residency(ResidencyArgs),
    /// The software device's engine against plain Rust loops, and its launches
    #[cfg(feature = "sim")]
    Sim(SimSuiteArgs),
    /// The stores of cupola-core against what their users would pick instead (build with
    /// `--features peers`); on no device
    Slots(SlotsArgs),
    /// How little memory the pool needs: the smallest limit of traces, as a multiple of the most
    /// bytes that they have alive
    Tight(TightArgs),
}

impl Suite {
    pub(crate) fn json(&self) -> &JsonArgs {
        let common = match self {
            Self::Alloc(args) => &args.common,
            #[cfg(unix)]
            Self::Cache(args) => &args.common,
            Self::Launch(args) => &args.common,
            Self::Lifecycle(args) => &args.common,
            Self::Completion(args)
            | Self::Copies(args)
            | Self::Graph(args)
            | Self::Kernels(args)
            | Self::Loader(args)
            | Self::Peer(args)
            | Self::Pinned(args)
            | Self::Pipeline(args) => &args.common,
            Self::Residency(args) => &args.common,
            #[cfg(feature = "sim")]
            Self::Sim(args) => &args.common,
            Self::Slots(args) => &args.common,
            Self::Tight(args) => &args.common,
        };
        &common.json
    }
}

/// The options of every suite.
#[derive(Args, Debug)]
pub(crate) struct CommonArgs {
    #[command(flatten)]
    pub(crate) json: JsonArgs,

    /// One short sample of each row, to see that everything works; the figures mean nothing
    #[arg(long)]
    pub(crate) quick: bool,
}

#[derive(Args, Debug)]
pub(crate) struct DeviceSuiteArgs {
    #[command(flatten)]
    pub(crate) device: DeviceArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

#[cfg(unix)]
#[derive(Args, Debug)]
pub(crate) struct CacheSuiteArgs {
    #[command(flatten)]
    pub(crate) device: DeviceArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,

    /// Runs the kernel that is kept in this folder once, and says how long each part took
    #[arg(long, hide = true, value_name = "FOLDER")]
    pub(crate) first_kernel: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct ResidencyArgs {
    #[command(flatten)]
    pub(crate) device: DeviceArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,

    /// Only these rows; may be given several times
    #[arg(long, value_name = "PART")]
    pub(crate) only: Vec<ResidencyPart>,

    /// MiB of the pieces in which slots get memory, a power of two; the library's default if not given
    #[arg(long, value_name = "MIB", value_parser = count(1..=1024))]
    pub(crate) piece: Option<usize>,
}

/// Rows of the residency's suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResidencyPart {
    /// Slots that are loaded, beside plain copies
    Loads,
    /// Leases of slots that are there, and evictions
    Slots,
    /// Requests that find nothing loaded, and work that overlaps with loading
    Cold,
    /// Requests for 13 models in four orders
    Orders,
}

#[derive(Args, Debug)]
pub(crate) struct AllocArgs {
    #[command(flatten)]
    pub(crate) device: DeviceArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,

    /// Threads for the rows with several; 16 if not given
    #[arg(long, value_parser = count(1..=1024))]
    pub(crate) threads: Option<usize>,

    /// Samples of each row
    #[arg(long, value_parser = count(1..))]
    pub(crate) runs: Option<usize>,

    /// An allocation trace to replay instead of the bundled one; may be given several times
    #[arg(long, num_args = 1..)]
    pub(crate) trace: Vec<PathBuf>,

    /// What the programs of other allocators printed in the same run; their figures become rows
    #[arg(long, num_args = 1..)]
    pub(crate) peer_output: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct LaunchSuiteArgs {
    #[command(flatten)]
    pub(crate) device: DeviceArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,

    /// Processes that measure, one after the other: what a launch takes depends on where a process has its code.
    /// If not given, 8 measure on a GPU; with --quick, and on the software device, one does
    #[arg(long, value_parser = count(1..=1024))]
    pub(crate) processes: Option<usize>,

    /// Says the medians of this process to the one that started it
    #[arg(long, hide = true, conflicts_with_all = ["processes", "json"])]
    pub(crate) one: bool,
}

#[derive(Args, Debug)]
pub(crate) struct LifecycleArgs {
    #[command(flatten)]
    pub(crate) device: DeviceArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,

    /// Threads for the rows with several; 2 if not given
    #[arg(long, value_parser = count(1..=1024))]
    pub(crate) threads: Option<usize>,

    /// Samples of each row
    #[arg(long, value_parser = count(1..))]
    pub(crate) runs: Option<usize>,

    /// Opens the device once, this way, and says how long it took
    #[arg(long, hide = true)]
    pub(crate) opening: Option<String>,
}

#[cfg(feature = "sim")]
#[derive(Args, Debug)]
pub(crate) struct SimSuiteArgs {
    #[command(flatten)]
    pub(crate) common: CommonArgs,

    /// Threads for the rows with several workers; one for each core if not given
    #[arg(long, value_parser = count(1..=1024))]
    pub(crate) workers: Option<usize>,

    /// How often each kernel is timed
    #[arg(long, value_parser = count(1..))]
    pub(crate) runs: Option<usize>,

    /// Only this kernel (xorshift, saxpy ...)
    #[arg(long, value_name = "KERNEL")]
    pub(crate) only: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct SlotsArgs {
    #[command(flatten)]
    pub(crate) common: CommonArgs,

    /// Threads for the rows with several; 2 if not given
    #[arg(long, value_parser = count(1..=1024))]
    pub(crate) threads: Option<usize>,

    /// Samples of each row
    #[arg(long, value_parser = count(1..))]
    pub(crate) runs: Option<usize>,

    /// Only rows whose names contain this
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Option<String>,

    /// An allocation trace for the heaps to replay besides the bundled one; may be given several
    /// times
    #[arg(long, num_args = 1..)]
    pub(crate) trace: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct TightArgs {
    #[command(flatten)]
    pub(crate) device: DeviceArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,

    /// An allocation trace besides the bundled one; may be given several times
    #[arg(long, num_args = 1..)]
    pub(crate) trace: Vec<PathBuf>,

    /// Streams that the traces are spread over, a row for each number; 1, 4 and 8 if not given
    #[arg(long, num_args = 1.., value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) streams: Vec<u32>,

    /// How many generated traces, of few huge blocks among many small ones; 32 if not given
    #[arg(long)]
    pub(crate) seeds: Option<u64>,

    /// Leaves each step of reclaim out in turn
    #[arg(long, hide = true)]
    pub(crate) ablate: bool,

    /// Says where every byte is when the largest limit below the smallest one is too little
    #[arg(long)]
    pub(crate) explain: bool,
}

/// How many of something.
fn count(range: impl RangeBounds<u64>) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(range)
}
