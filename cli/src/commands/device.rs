//! The device that a command works on: what is said of it first, and what is left of it last.

use std::fmt::Write as _;
use std::time::Duration;

use cupola::managers::context::Live;
use cupola::{Context, Cupola, Device, DeviceInfo};
use serde::Serialize;

use super::output::{bytes, count};

/// The device that the job ran on.
#[derive(Debug, Serialize)]
pub(crate) struct DeviceReport {
    backend: String,
    name: String,
    driver: String,
    driver_version: String,
    compute_capability: String,
    multiprocessors: u32,
    memory_bytes: u64,
    copy_engines: u32,
    open_seconds: f64,
    /// Why it is not a GPU.
    why_not_gpu: Option<String>,
}

/// What is left after everything was dropped.
#[derive(Debug, Serialize)]
pub(crate) struct Leaks {
    /// Objects that the managers still count.
    objects: u64,
    /// Driver objects that could not be destroyed.
    abandoned: u64,
    /// What the software machine still holds.
    on_device: Option<String>,
}

impl DeviceReport {
    pub(crate) fn new(cupola: &Cupola, info: &DeviceInfo, opened: Duration) -> Self {
        Self {
            backend: cupola.backend().to_string(),
            name: info.name.clone(),
            driver: cupola.driver().library_path().map_or_else(
                || cupola.driver().describe(),
                |path| path.display().to_string(),
            ),
            driver_version: cupola.driver().driver_version().to_string(),
            compute_capability: format!(
                "{}.{}",
                info.compute_capability.0, info.compute_capability.1
            ),
            multiprocessors: info.multiprocessors,
            memory_bytes: info.total_memory,
            copy_engines: info.async_engines,
            open_seconds: opened.as_secs_f64(),
            why_not_gpu: cupola.why_not_gpu().map(ToString::to_string),
        }
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        if let Some(why) = &self.why_not_gpu {
            let _ = writeln!(text, "{why}");
        }
        let _ = writeln!(
            text,
            "device   {} ({}), compute capability {}, {} multiprocessors, {}, {} copy engines",
            self.name,
            self.backend,
            self.compute_capability,
            self.multiprocessors,
            bytes(self.memory_bytes),
            self.copy_engines,
        );
        // A driver that is no file says its version itself.
        let version = format!("CUDA {}", self.driver_version);
        let driver = match self.driver.contains(&version) {
            true => self.driver.clone(),
            false => format!("{version}, {}", self.driver),
        };
        let milliseconds = self.open_seconds * 1e3;
        let _ = writeln!(text, "driver   {driver}; open in {milliseconds:.0} ms");
        text
    }
}

impl Leaks {
    fn new(live: &Live, on_device: Option<String>) -> Self {
        let Live {
            contexts,
            streams,
            events,
            modules,
            pools,
            buffers,
            pinned,
            pinned_regions,
            managed,
            abandoned,
            ..
        } = *live;
        let of_device = contexts + streams + events + modules + pools + buffers;
        let objects = of_device + pinned + pinned_regions + managed;
        Self {
            objects,
            abandoned,
            on_device,
        }
    }

    pub(crate) fn text(&self) -> String {
        let found = self.on_device.as_ref();
        format!(
            "leaks    {}, {} abandoned{}\n",
            count(self.objects, "object"),
            self.abandoned,
            found.map_or_else(String::new, |found| format!("; {found}")),
        )
    }

    pub(crate) fn none(&self) -> bool {
        self.objects == 0 && self.abandoned == 0 && self.on_device.is_none()
    }
}

/// Drops everything and asks both sides what is left: our own account, and the software
/// machine's.
pub(crate) fn close(cupola: Cupola, context: Context, device: Device) -> Leaks {
    let watch = cupola.execution().watch();
    #[cfg(feature = "sim")]
    let machine = cupola.machine().cloned();
    drop((context, device, cupola));
    let live = watch.live();
    #[cfg(feature = "sim")]
    let on_device = machine.and_then(|machine| machine.leaks());
    #[cfg(not(feature = "sim"))]
    let on_device = None;
    Leaks::new(&live, on_device)
}
