//! `cupola sim info`: the machine that the settings describe, as a program sees it.

use std::fmt::Write as _;

use cupola::managers::ExecutionManager;
use cupola_sim::settings::{Settings, VARIABLES};
use serde::Serialize;

use super::args::SimInfoArgs;
use super::library;
use crate::commands::exit::{Exit, Failure};
use crate::commands::output::bytes;

#[derive(Serialize)]
struct Info {
    library: String,
    driver: String,
    functions: usize,
    of: usize,
    devices: Vec<Device>,
    settings: Vec<(&'static str, Option<String>)>,
}

#[derive(Serialize)]
struct Device {
    name: String,
    compute_capability: String,
    multiprocessors: u32,
    memory_bytes: u64,
    copy_engines: u32,
}

pub(super) fn run(args: &SimInfoArgs) -> Result<Exit, Failure> {
    let to = args.json.report()?;
    to.claim();
    let settings = Settings::from_environment()
        .map_err(|error| Failure::new(Exit::File, error.to_string()))?;
    let machine = settings.builder().build();
    let driver = machine.driver();
    let missing = driver.missing().count();
    let all = cupola::sys::driver::SYMBOLS.len();
    let mut info = Info {
        library: library::describe(),
        driver: driver.describe(),
        functions: all - missing,
        of: all,
        devices: Vec::new(),
        settings: VARIABLES
            .iter()
            .map(|(name, _)| (*name, std::env::var(name).ok()))
            .collect(),
    };
    let execution = ExecutionManager::new(driver)?;
    for device in execution.devices().iter() {
        let device = device?;
        let found = device.info()?;
        info.devices.push(Device {
            name: found.name.clone(),
            compute_capability: {
                let (major, minor) = found.compute_capability;
                format!("{major}.{minor}")
            },
            multiprocessors: found.multiprocessors,
            memory_bytes: found.total_memory,
            copy_engines: found.async_engines,
        });
    }
    let said = to.say(&text(&info));
    to.write(&info)?;
    said?;
    Ok(Exit::Done)
}

fn text(info: &Info) -> String {
    let mut text = String::new();
    // Writing to a text does not fail.
    let _ = writeln!(text, "library  {}", info.library);
    let _ = writeln!(
        text,
        "driver   {}; {} of the API's {} functions, the others return CUDA_ERROR_NOT_SUPPORTED",
        info.driver, info.functions, info.of
    );
    for (ordinal, device) in info.devices.iter().enumerate() {
        let _ = writeln!(
            text,
            "device {ordinal} {}, compute capability {}, {} multiprocessors, {}, {} copy engines",
            device.name,
            device.compute_capability,
            device.multiprocessors,
            bytes(device.memory_bytes),
            device.copy_engines
        );
    }
    for ((name, value), (_, meaning)) in info.settings.iter().zip(VARIABLES) {
        let value = value.as_deref().unwrap_or("not set");
        let _ = writeln!(text, "{name}: {value} ({meaning})");
    }
    text
}
