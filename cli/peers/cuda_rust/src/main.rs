//! Launches, and waits for them, in one process by turns: the driver's own calls, cupola, and NVIDIA's
//! crates cuda-core and cuda-async. `docs/measurements/launch.md` says how it is built and run.

mod completion;
mod driver;
mod failure;
mod figures;
mod kernels;
mod launch;
mod nvidia;
mod ours;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use cupola::{Cupola, Select};

use driver::Driver;
use failure::Failure;
use figures::Figures;
use nvidia::Nvidia;
use ours::Ours;

/// Measures launches, and waits for them, beside cuda-core 0.5 and cuda-async 0.5.
#[derive(Debug, Parser)]
struct Options {
    /// Position of the device in the driver's order.
    #[arg(long, default_value_t = 0)]
    device: u32,
    /// Writes the figures to this file too.
    #[arg(long)]
    json: Option<PathBuf>,
    /// So few rounds that the figures mean nothing: shows that everything runs.
    #[arg(long)]
    quick: bool,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("cuda-rust-peer: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Failure> {
    let cupola = Cupola::open(Select::Gpu)?;
    let driver = Driver::load()?;
    let ours = Ours::new(&cupola, options.device)?;
    let nvidia = Nvidia::new(options.device as usize)?;

    let mut figures = Figures::new(ours.device_name.clone());
    figures.note(format!(
        "bindings of cuda-core made from headers of CUDA {}.{}; {}",
        cuda_core::sys::CUDA_VERSION / 1000,
        cuda_core::sys::CUDA_VERSION % 1000 / 10,
        nvidia::settings(),
    ));
    launch::measure(&driver, &ours, &nvidia, options.quick, &mut figures)?;
    completion::measure(&driver, &ours, &nvidia, options.quick, &mut figures)?;

    print!("{}", figures.table());
    if let Some(path) = &options.json {
        let json = serde_json::to_string_pretty(&figures)?;
        fs::write(path, json + "\n").map_err(|error| Failure::File(path.clone(), error))?;
    }
    Ok(())
}
