//! `Discovery`: the findings about a backend.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cupola_sys::Version;

use super::kind::BackendKind;
use super::source::Backend;
use super::unavailable::{Unavailable, guarded};
use crate::device::{DeviceInfo, Features};
use crate::error::{Result, Site};
use crate::execution::ExecutionManager;

/// A backend, and the findings about it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Discovery {
    /// Its name.
    pub name: String,
    /// The kind of its devices.
    pub kind: BackendKind,
    /// The devices that it offers, or the reason why it has none.
    pub status: Status,
    /// How long it took to find out.
    pub took: Duration,
}

/// Whether a backend can be used.
#[derive(Clone, Debug)]
pub enum Status {
    /// It can.
    Available(Capabilities),
    /// It cannot.
    Unavailable(Unavailable),
}

impl Discovery {
    /// The devices that the backend offers, if it can be used.
    #[must_use]
    pub fn capabilities(&self) -> Option<&Capabilities> {
        match &self.status {
            Status::Available(capabilities) => Some(capabilities),
            Status::Unavailable(_) => None,
        }
    }
}

/// The driver and the devices that a backend offers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Capabilities {
    /// The newest CUDA version that its driver supports.
    pub version: Version,
    /// The origin of the driver, for people.
    pub description: String,
    /// Its devices, in the order of their ordinals; at least one.
    pub devices: Vec<FoundDevice>,
}

impl Capabilities {
    /// The features that all devices have which report theirs.
    #[must_use]
    pub fn common_features(&self) -> Features {
        let mut common: Option<Features> = None;
        for device in &self.devices {
            if let Ok(info) = &device.info {
                let before = common.unwrap_or(info.features);
                common = Some(before & info.features);
            }
        }
        common.unwrap_or_default()
    }
}

/// A device of a backend.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FoundDevice {
    /// Its position in the driver's order.
    pub ordinal: u32,
    /// Its properties, or the error of reading them.
    pub info: Result<DeviceInfo>,
}

pub(super) fn examine(backend: &Backend, site: Site) -> Discovery {
    let begin = Instant::now();
    let found = backend.open(site).and_then(|execution| {
        guarded(|| Capabilities {
            version: execution.driver().driver_version(),
            description: execution.driver().describe(),
            devices: devices(&execution),
        })
    });
    Discovery {
        name: backend.name().to_owned(),
        kind: backend.kind(),
        status: found.map_or_else(Status::Unavailable, Status::Available),
        took: begin.elapsed(),
    }
}

fn devices(execution: &Arc<ExecutionManager>) -> Vec<FoundDevice> {
    let devices = execution.devices();
    (0..devices.count())
        .map(|ordinal| FoundDevice {
            ordinal,
            info: devices
                .get(ordinal)
                .and_then(|device| device.info().cloned()),
        })
        .collect()
}
