//! Development tasks of cupola: `cargo xtask --help`.
//!
//! Everything that CI or a newcomer runs goes through here, so that there is one
//! place that knows which tools, versions and folders are used.

mod bindgen;
mod bundle;
mod capi;
mod ci;
#[cfg(test)]
mod commit;
mod corpus;
mod fuzz;
mod imports;
mod inline;
mod mutants;
mod no_std;
mod ptx;
#[cfg(test)]
mod publish;
mod sanitize;
mod skips;
mod tasks;
mod wheels;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
pub(crate) use skips::skip;

/// Development tasks of cupola.
#[derive(Parser)]
#[command(name = "cargo xtask", version)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Regenerate `cuda-sys/src/generated` from the pinned header wheels
    Bindgen {
        /// Change nothing; fail if the committed files differ
        #[arg(long)]
        check: bool,
    },
    /// Fetch NVRTC, nvJitLink and the CUDA headers as wheels into `.cuda/`
    Cuda,
    /// Regenerate `kernels/ptx` from `kernels/device` with Debian's clang
    Ptx {
        /// Change nothing; fail if the committed files differ
        #[arg(long)]
        check: bool,
    },
    /// Compile PTX with every compiler that is installed, and have the software device read it
    Corpus,
    /// Run every test that the README promises
    Test,
    /// Run what CI runs: format, lints, docs, tests, loom models, fuzz smoke
    Ci {
        /// Remove what each step has built when it has passed, but for what the tests use again
        #[arg(long)]
        tidy: bool,
    },
    /// Run one stage of `ci`
    #[command(hide = true)]
    Stage {
        name: String,
        /// The file that says what came of it
        report: PathBuf,
    },
    /// Regenerate `capi/include/cupola.h` from `capi/src`
    Header {
        /// Change nothing; fail if the committed file differs
        #[arg(long)]
        check: bool,
    },
    /// Build `libcupola.so` into a folder, with its header and its examples
    Capi {
        /// The folder
        dir: PathBuf,
    },
    /// Build the programs that a GPU machine without Rust needs into a folder
    Bundle {
        /// The folder
        dir: PathBuf,
    },
    /// Run the loom models of `core` and `managers`
    Loom,
    /// Build each deliberate mistake in `core` and `managers` and demand that the test named for
    /// it fails
    Mutants {
        /// The mutants, by the names in `mutants.toml` and `orderings.toml` of `core` and `managers`;
        /// a file (`core/src/slots/state.rs`) stands for the orderings in it; all when none is named
        names: Vec<String>,
    },
    /// Show that `core` links without std and refers to no allocation function
    NoStd,
    /// Show that the rooms of `managers` import what they may, how few crates it needs, and that no
    /// folder and no file of the repository is too large
    Imports,
    /// Show that a crate built without LTO calls into `core` for nothing that is hot
    Inline,
    /// Run tests of `core` and `managers` under the address and the thread sanitizer
    Sanitize,
    /// Run each fuzz target for a bounded time
    Fuzz {
        /// Seconds for each target
        #[arg(long, default_value_t = 30)]
        seconds: u64,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without a backtrace, whatever `RUST_BACKTRACE` is: it would push what was wrong out of
            // the last lines.
            eprintln!("Error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    match task {
        Task::Bindgen { check } => bindgen::run(check),
        Task::Cuda => wheels::fetch_runtime().map(drop),
        Task::Ptx { check } => ptx::run(check),
        Task::Corpus => corpus::run(),
        Task::Test => tasks::test(),
        Task::Ci { tidy } => ci::run(tidy),
        Task::Stage { name, report } => ci::stage(&name, &report),
        Task::Header { check } => capi::header(check),
        Task::Capi { dir } => capi::library(&dir),
        Task::Bundle { dir } => bundle::run(&dir),
        Task::Loom => tasks::loom(),
        Task::Mutants { names } => mutants::run(&names),
        Task::NoStd => no_std::run(),
        Task::Imports => imports::run(),
        Task::Inline => inline::run(),
        Task::Sanitize => sanitize::run(),
        Task::Fuzz { seconds } => fuzz::run(seconds),
    }
}

/// The root of the checkout.
fn root() -> PathBuf {
    // The manifest folder is `<root>/xtask`, known when this program was compiled.
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}
