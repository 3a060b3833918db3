//! The arguments of `cupola sim`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::commands::json::JsonArgs;
use crate::commands::size::some_bytes;

#[derive(Subcommand, Debug)]
pub(crate) enum SimCommand {
    /// Run a program with the software device in place of NVIDIA's driver
    Run(Box<SimRunArgs>),
    /// Describe the machine that a program would find
    Info(SimInfoArgs),
    /// Say which functions of PTX files the software device can run
    Check(SimCheckArgs),
}

impl SimCommand {
    pub(crate) fn json(&self) -> Option<&JsonArgs> {
        match self {
            // Standard output is the program's.
            Self::Run(_) => None,
            Self::Info(args) => Some(&args.json),
            Self::Check(args) => Some(&args.json),
        }
    }
}

/// Each wins over the environment variable of the same name, and that over the file.
#[derive(Args, Debug, Default)]
pub(crate) struct SettingArgs {
    /// A TOML file with settings (CUPOLA_SIM_CONFIG)
    #[arg(long)]
    pub(crate) config: Option<PathBuf>,

    /// How many devices (CUPOLA_SIM_DEVICES)
    #[arg(long)]
    pub(crate) devices: Option<usize>,

    /// Memory of each device, such as 16GiB (CUPOLA_SIM_MEMORY)
    #[arg(long, value_name = "SIZE", value_parser = some_bytes)]
    pub(crate) memory: Option<u64>,

    /// The CUDA version of the driver, such as 12.4 (CUPOLA_SIM_DRIVER_VERSION)
    #[arg(long)]
    pub(crate) driver_version: Option<String>,

    /// Where the log of all calls goes: a file, or stderr (CUPOLA_SIM_LOG)
    #[arg(long)]
    pub(crate) log: Option<PathBuf>,

    /// Where the report at the end goes: a file, or stderr (CUPOLA_SIM_REPORT); if it is not
    /// said, it is printed after the program's own output
    #[arg(long)]
    pub(crate) report: Option<PathBuf>,

    /// What is looked for: off, default, all, or names of checks (CUPOLA_SIM_STRICT)
    #[arg(long)]
    pub(crate) strict: Option<String>,

    /// Who decides what runs next: threads, or timed (CUPOLA_SIM_ORDER)
    #[arg(long)]
    pub(crate) order: Option<String>,

    /// A number that decides what runs next (CUPOLA_SIM_SEED)
    #[arg(long)]
    pub(crate) seed: Option<u32>,

    /// Calls that fail, such as cuMemAlloc_v2:3=CUDA_ERROR_OUT_OF_MEMORY (CUPOLA_SIM_FAULTS)
    #[arg(long)]
    pub(crate) faults: Option<String>,
}

impl SettingArgs {
    /// The variables that say the same.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&'static str, OsString)> {
        let path = |path: &Option<PathBuf>| path.clone().map(PathBuf::into_os_string);
        let text = |text: &Option<String>| text.clone().map(OsString::from);
        [
            ("CUPOLA_SIM_CONFIG", path(&self.config)),
            (
                "CUPOLA_SIM_DEVICES",
                self.devices.map(|count| count.to_string().into()),
            ),
            (
                "CUPOLA_SIM_MEMORY",
                self.memory.map(|bytes| bytes.to_string().into()),
            ),
            ("CUPOLA_SIM_DRIVER_VERSION", text(&self.driver_version)),
            ("CUPOLA_SIM_STRICT", text(&self.strict)),
            ("CUPOLA_SIM_ORDER", text(&self.order)),
            (
                "CUPOLA_SIM_SEED",
                self.seed.map(|seed| seed.to_string().into()),
            ),
            ("CUPOLA_SIM_LOG", path(&self.log)),
            ("CUPOLA_SIM_REPORT", path(&self.report)),
            ("CUPOLA_SIM_FAULTS", text(&self.faults)),
        ]
        .into_iter()
        .filter_map(|(name, value)| value.map(|value| (name, value)))
    }
}

#[derive(Args, Debug)]
pub(crate) struct SimRunArgs {
    #[command(flatten)]
    pub(crate) settings: SettingArgs,

    /// End with exit code 1 if the program succeeds and the report is not empty
    #[arg(long)]
    pub(crate) fail_on_findings: bool,

    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) program: Vec<OsString>,
}

#[derive(Args, Debug)]
pub(crate) struct SimInfoArgs {
    #[command(flatten)]
    pub(crate) json: JsonArgs,
}

#[derive(Args, Debug)]
pub(crate) struct SimCheckArgs {
    #[command(flatten)]
    pub(crate) json: JsonArgs,

    /// PTX files
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
}
