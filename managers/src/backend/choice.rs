//! The choice of a device over all backends.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use super::kind::BackendKind;
use super::requirements::{Requirements, Unmet};
use super::source::Backend;
use crate::device::{Device, DeviceInfo};
use crate::error::Site;
use crate::execution::ExecutionManager;

/// The device that was chosen.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Choice {
    /// The name of its backend.
    pub backend: String,
    /// The kind of the backend's devices.
    pub kind: BackendKind,
    /// The backend's execution manager.
    pub execution: Arc<ExecutionManager>,
    /// The device.
    pub device: Device,
    /// The properties of the device.
    pub info: DeviceInfo,
    /// The devices that were looked at and do not suit: with a software device, why each real one
    /// does not.
    pub refused: Vec<Refusal>,
}

/// No device suits.
#[derive(Clone, Debug)]
pub struct NoMatch {
    /// Each device, and each backend that has none to show, with the requirements that it lacks.
    pub refused: Vec<Refusal>,
}

/// A device that does not suit, or a backend without one to look at.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// The name of the backend.
    pub backend: String,
    /// Ordinal and name of the device; `None` when this is about the whole backend.
    pub device: Option<(u32, String)>,
    /// All requirements that it lacks.
    pub unmet: Vec<Unmet>,
}

pub(super) fn best(
    backends: &[Arc<Backend>],
    wanted: &Requirements,
    site: Site,
) -> Result<Choice, NoMatch> {
    let mut refused = Vec::new();
    for kind in [BackendKind::Real, BackendKind::Software] {
        let mut best: Option<Choice> = None;
        for backend in backends.iter().filter(|backend| backend.kind() == kind) {
            for choice in suitable(backend, wanted, site, &mut refused) {
                let better = best.as_ref().is_none_or(|best| {
                    wanted.strategy.compare(&choice.info, &best.info) == Ordering::Greater
                });
                if better {
                    best = Some(choice);
                }
            }
        }
        if let Some(best) = best {
            return Ok(Choice { refused, ..best });
        }
    }
    Err(NoMatch { refused })
}

fn suitable(
    backend: &Backend,
    wanted: &Requirements,
    site: Site,
    refused: &mut Vec<Refusal>,
) -> Vec<Choice> {
    let mut refuse = |device: Option<(u32, String)>, unmet: Vec<Unmet>| {
        refused.push(Refusal {
            backend: backend.name().to_owned(),
            device,
            unmet,
        });
    };
    if backend.kind() == BackendKind::Software && !wanted.allow_software {
        refuse(None, vec![Unmet::Software]);
        return Vec::new();
    }
    let execution = match backend.open(site) {
        Ok(execution) => execution,
        Err(why) => {
            refuse(None, vec![Unmet::Unavailable(why)]);
            return Vec::new();
        }
    };
    let mut suitable = Vec::new();
    for ordinal in 0..execution.devices().count() {
        let read = execution.devices().get(ordinal);
        let read = read.and_then(|device| Ok((device.info()?.clone(), device)));
        let (info, device) = match read {
            Ok(read) => read,
            Err(error) => {
                let unknown = (ordinal, "unknown".to_owned());
                refuse(Some(unknown), vec![Unmet::Unreadable(error)]);
                continue;
            }
        };
        let unmet = wanted.unmet(&info, execution.driver().driver_version());
        if unmet.is_empty() {
            suitable.push(Choice {
                backend: backend.name().to_owned(),
                kind: backend.kind(),
                execution: Arc::clone(&execution),
                device,
                info,
                refused: Vec::new(),
            });
        } else {
            refuse(Some((ordinal, info.name)), unmet);
        }
    }
    suitable
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.backend)?;
        if let Some((ordinal, name)) = &self.device {
            write!(f, " device {ordinal} ({name})")?;
        }
        for (index, unmet) in self.unmet.iter().enumerate() {
            let before = if index == 0 { ": " } else { ", and " };
            write!(f, "{before}{unmet}")?;
        }
        Ok(())
    }
}

impl fmt::Display for NoMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no device suits")?;
        if self.refused.is_empty() {
            return f.write_str(": there is no backend; register one");
        }
        for (index, refusal) in self.refused.iter().enumerate() {
            let before = if index == 0 { ": " } else { "; " };
            write!(f, "{before}{refusal}")?;
        }
        Ok(())
    }
}

impl std::error::Error for NoMatch {}
