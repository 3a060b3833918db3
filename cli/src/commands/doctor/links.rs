//! The links between devices.

use cupola::Cupola;
use cupola::managers::peer::{PeerLink, PeerMatrix};
use serde::Serialize;

/// What the driver says of one ordered pair of devices; what it does not know is not there.
#[derive(Debug, Serialize)]
pub(super) struct Link {
    device: u32,
    peer: u32,
    access: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    native_atomics: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partial_atomics: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    array_access: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    performance_rank: Option<i32>,
}

impl Link {
    fn new(link: &PeerLink) -> Self {
        Self {
            device: link.device,
            peer: link.peer,
            access: link.access,
            native_atomics: link.native_atomics,
            partial_atomics: link.partial_atomics,
            array_access: link.array_access,
            performance_rank: link.performance_rank,
        }
    }
}

/// The links of a driver's devices, where there are two at least.
pub(super) fn of(cupola: &Cupola) -> Option<PeerMatrix> {
    let matrix = cupola.execution().devices().peers().ok()?;
    (matrix.devices() > 1).then_some(matrix)
}

/// The same for a report.
pub(super) fn all(matrix: Option<&PeerMatrix>) -> Vec<Link> {
    matrix.map_or_else(Vec::new, |matrix| {
        matrix.links().iter().map(Link::new).collect()
    })
}
