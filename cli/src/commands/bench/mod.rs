//! `cupola bench`: figures for people on standard output, or as JSON.

pub(crate) mod args;

use std::num::NonZero;
use std::path::{Path, PathBuf};

use cupola::{Backend, Cupola, Device};
use cupola_cli::bench;

use super::args::DeviceArgs;
use super::destination::apart;
use super::exit::{Exit, Failure};
use super::input::only_files;
use super::output::say;
use args::{
    AllocArgs, LaunchSuiteArgs, LifecycleArgs, ResidencyArgs, ResidencyPart, SlotsArgs, Suite,
    TightArgs,
};

/// Processes in which launches are measured on a GPU.
const LAUNCH_PROCESSES: NonZero<usize> = NonZero::new(8).unwrap();

pub(super) fn run(suite: &Suite) -> Result<Exit, Failure> {
    let report = suite.json().report()?;
    let files = read(suite);
    apart(&files, &[("--json", report.file())])?;
    report.claim();
    let names = files.iter().map(|(_, path)| *path);
    only_files(names, "rows are called as their files are")?;
    let figures = match suite {
        Suite::Alloc(args) => {
            let (_cupola, device, name) = open(&args.device)?;
            bench::alloc::run(&device, name, &alloc(args))?
        }
        #[cfg(unix)]
        Suite::Cache(args) => match &args.first_kernel {
            Some(folder) => return first_kernel(&args.device, folder),
            None => cache(args)?,
        },
        Suite::Completion(args) => {
            let (_cupola, device, name) = open(&args.device)?;
            bench::completion::run(&device, name, args.common.quick)?
        }
        Suite::Copies(args) => {
            let (_cupola, device, name) = open(&args.device)?;
            bench::copies::run(&device, name, args.common.quick)?
        }
        Suite::Graph(args) => {
            let (_cupola, device, name) = open(&args.device)?;
            bench::graph::run(&device, name, args.common.quick)?
        }
        Suite::Kernels(args) => {
            let (_cupola, device, name) = open(&args.device)?;
            bench::kernels::run(&device, name, args.common.quick)?
        }
        Suite::Launch(args) if args.one => return launches_of_one(args),
        Suite::Launch(args) => launch(args)?,
        Suite::Lifecycle(args) => match &args.opening {
            Some(word) => return opening(word),
            None => {
                let (_cupola, device, name) = open(&args.device)?;
                bench::lifecycle::run(&device, name, &lifecycle(args))?
            }
        },
        Suite::Loader(args) => {
            let (cupola, _device, name) = open(&args.device)?;
            bench::loader::run(cupola.driver(), name, args.common.quick)?
        }
        Suite::Peer(args) => {
            let (cupola, name) = open_two(&args.device)?;
            bench::peer::run(cupola.execution(), name, args.common.quick)?
        }
        Suite::Pinned(args) => {
            let (_cupola, device, name) = open(&args.device)?;
            bench::pinned::run(&device, name, args.common.quick)?
        }
        Suite::Pipeline(args) => {
            let (_cupola, device, name) = open(&args.device)?;
            bench::pipeline::run(&device, name, args.common.quick)?
        }
        Suite::Residency(args) => {
            let (_cupola, device, name) = open(&args.device)?;
            bench::residency::run(&device, name, &residency(args))?
        }
        #[cfg(feature = "sim")]
        Suite::Sim(args) => bench::sim::run(&sim(args))?,
        Suite::Slots(args) => bench::slots::run(&slots(args))?,
        Suite::Tight(args) => {
            let (_cupola, device, name) = open(&args.device)?;
            bench::tight::run(&device, name, &tight(args))?
        }
    };
    let said = report.say(&figures.table());
    report.write(&figures)?;
    said?;
    Ok(Exit::Done)
}

/// The device, and what figures call it.
fn open(args: &DeviceArgs) -> Result<(Cupola, Device, String), Failure> {
    let cupola = Cupola::open(args.device.into())?;
    let device = cupola.device(0)?;
    let name = format!("{} ({})", device.info()?.name, cupola.backend());
    Ok((cupola, device, name))
}

/// The devices; of the software device two, which it does not have by itself.
fn open_two(args: &DeviceArgs) -> Result<(Cupola, String), Failure> {
    let (cupola, _device, name) = open(args)?;
    #[cfg(feature = "sim")]
    if cupola.backend() == Backend::Software && cupola.execution().devices().count() < 2 {
        let machine = cupola_sim::Machine::builder().devices(2).build();
        return Ok((Cupola::with_driver(machine.driver())?, name));
    }
    Ok((cupola, name))
}

/// The files that the suite reads, each with its option.
fn read(suite: &Suite) -> Vec<(&'static str, &Path)> {
    let (traces, outputs): (&[PathBuf], &[PathBuf]) = match suite {
        Suite::Alloc(args) => (&args.trace, &args.peer_output),
        Suite::Slots(args) => (&args.trace, &[]),
        Suite::Tight(args) => (&args.trace, &[]),
        _ => (&[], &[]),
    };
    let traces = traces.iter().map(|path| ("--trace", path.as_path()));
    let outputs = outputs.iter().map(|path| ("--peer-output", path.as_path()));
    traces.chain(outputs).collect()
}

fn slots(args: &SlotsArgs) -> bench::slots::Options {
    let default = bench::slots::Options::default();
    let options = bench::slots::Options {
        threads: args.threads.unwrap_or(default.threads),
        only: args.only.clone(),
        traces: args.trace.clone(),
        ..default
    };
    let options = match args.common.quick {
        true => options.quick(),
        false => options,
    };
    bench::slots::Options {
        rounds: args.runs.unwrap_or(options.rounds),
        ..options
    }
}

fn alloc(args: &AllocArgs) -> bench::alloc::Options {
    let default = bench::alloc::Options::default();
    let options = bench::alloc::Options {
        threads: args.threads.unwrap_or(default.threads),
        traces: args.trace.clone(),
        peer_output: args.peer_output.clone(),
        ..default
    };
    let options = match args.common.quick {
        true => options.quick(),
        false => options,
    };
    bench::alloc::Options {
        rounds: args.runs.unwrap_or(options.rounds),
        ..options
    }
}

fn residency(args: &ResidencyArgs) -> bench::residency::Options {
    use bench::residency::Part;
    let part = |part: &ResidencyPart| match part {
        ResidencyPart::Loads => Part::Loads,
        ResidencyPart::Slots => Part::Slots,
        ResidencyPart::Cold => Part::Cold,
        ResidencyPart::Orders => Part::Orders,
    };
    bench::residency::Options {
        quick: args.common.quick,
        only: args.only.iter().map(part).collect(),
        piece: args.piece.map(|mib| (mib as u64) << 20),
    }
}

fn tight(args: &TightArgs) -> bench::tight::Options {
    let default = bench::tight::Options::default();
    let options = bench::tight::Options {
        traces: args.trace.clone(),
        ..default
    };
    let mut options = match args.common.quick {
        true => options.quick(),
        false => options,
    };
    if !args.streams.is_empty() {
        options.streams.clone_from(&args.streams);
    }
    options.seeds = args.seeds.unwrap_or(options.seeds);
    options.ablate = args.ablate;
    options.explain = args.explain;
    options
}

#[cfg(feature = "sim")]
fn sim(args: &args::SimSuiteArgs) -> bench::sim::Options {
    let default = bench::sim::Options::default();
    let options = bench::sim::Options {
        workers: args.workers.unwrap_or(default.workers),
        only: args.only.clone(),
        ..default
    };
    let options = match args.common.quick {
        true => options.quick(),
        false => options,
    };
    bench::sim::Options {
        runs: args.runs.unwrap_or(options.runs),
        ..options
    }
}

fn launch(args: &LaunchSuiteArgs) -> Result<bench::Figures, Failure> {
    let (cupola, device, name) = open(&args.device)?;
    let backend = cupola.backend();
    let quick = args.common.quick;
    let default = match backend {
        Backend::Gpu if !quick => LAUNCH_PROCESSES,
        Backend::Gpu | Backend::Software => NonZero::<usize>::MIN,
    };
    let count = args.processes.and_then(NonZero::new).unwrap_or(default);
    let samples = if count == NonZero::<usize>::MIN {
        bench::launch::measure(&device, quick)?
    } else {
        let program = std::env::current_exe()
            .map_err(|error| Failure::new(Exit::File, format!("this program: {error}")))?;
        let processes = bench::launch::Processes {
            program: &program,
            backend,
            count,
        };
        processes.measure(quick)?
    };
    Ok(bench::launch::figures(name, &samples))
}

/// One of the processes that `launch` starts.
fn launches_of_one(args: &LaunchSuiteArgs) -> Result<Exit, Failure> {
    let (_cupola, device, _) = open(&args.device)?;
    let medians = bench::launch::measure(&device, args.common.quick)?.medians();
    let text = serde_json::to_string(&medians)
        .map_err(|error| Failure::new(Exit::Device, error.to_string()))?;
    say(&text)?;
    Ok(Exit::Done)
}

fn lifecycle(args: &LifecycleArgs) -> bench::lifecycle::Options {
    let default = bench::lifecycle::Options::default();
    let options = bench::lifecycle::Options {
        threads: args.threads.unwrap_or(default.threads),
        program: std::env::current_exe().ok(),
        ..default
    };
    let options = match args.common.quick {
        true => options.quick(),
        false => options,
    };
    bench::lifecycle::Options {
        rounds: args.runs.unwrap_or(options.rounds),
        ..options
    }
}

#[cfg(unix)]
fn cache(args: &args::CacheSuiteArgs) -> Result<bench::Figures, Failure> {
    let (cupola, device, name) = open(&args.device)?;
    let program = std::env::current_exe().ok();
    let first_kernel = program.as_deref().map(|program| bench::cache::FirstKernel {
        program,
        backend: cupola.backend(),
        device: &device,
    });
    Ok(bench::cache::run(name, first_kernel, args.common.quick)?)
}

/// One of the processes that `cache` starts.
#[cfg(unix)]
fn first_kernel(args: &DeviceArgs, folder: &Path) -> Result<Exit, Failure> {
    let (cupola, device, _) = open(args)?;
    let parts = bench::cache::run_once(cupola.backend().into(), &device, folder)
        .map_err(|error| Failure::new(Exit::Device, error.to_string()))?;
    let parts: Vec<_> = parts.iter().map(f64::to_string).collect();
    say(&format!("{}\n", parts.join(" ")))?;
    Ok(Exit::Done)
}

/// One of the processes that `lifecycle` starts.
fn opening(word: &str) -> Result<Exit, Failure> {
    use bench::lifecycle::{Way, open_once};
    let way = Way::ALL.into_iter().find(|way| way.word() == word);
    let way = way.ok_or_else(|| Failure::new(Exit::Device, format!("no way {word:?}")))?;
    let time = open_once(way).map_err(|error| Failure::new(Exit::Device, error.to_string()))?;
    say(&format!("{time}\n"))?;
    Ok(Exit::Done)
}
