//! `PeerMatrix`: what the driver says of the links between devices.

use std::fmt;

use cupola_sys::driver::{
    CUdevice, CUdevice_P2PAttribute as Attribute, CUresult, Driver, DriverError,
};

/// What the driver says of the link over which one device reaches another's memory. A figure is `None`
/// where the driver does not know the question: it is not guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerLink {
    /// Ordinal of the device that accesses.
    pub device: u32,
    /// Ordinal of the device that has the memory.
    pub peer: u32,
    /// Whether the device can access the memory at all (`cuDeviceCanAccessPeer`).
    pub access: bool,
    /// Whether atomic operations over the link are the hardware's own
    /// (`CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED`).
    pub native_atomics: Option<bool>,
    /// Whether only some of them are (`CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED`).
    pub partial_atomics: Option<bool>,
    /// Whether CUDA arrays can be accessed
    /// (`CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED`).
    pub array_access: Option<bool>,
    /// The link's place among those of the machine: a lower one is faster
    /// (`CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK`).
    pub performance_rank: Option<i32>,
}

impl PeerLink {
    pub(crate) fn read(
        driver: &Driver,
        (device, own): (u32, CUdevice),
        (peer, other): (u32, CUdevice),
    ) -> Result<Self, DriverError> {
        let mut can = 0;
        // SAFETY: `can` outlives the call.
        unsafe { driver.cuDeviceCanAccessPeer(&raw mut can, own, other) }?;
        let ask = |attribute| {
            let mut value = 0;
            // SAFETY: `value` outlives the call.
            let asked =
                unsafe { driver.cuDeviceGetP2PAttribute(&raw mut value, attribute, own, other) };
            match asked {
                Ok(()) => Ok(Some(value)),
                Err(DriverError::Missing { .. }) => Ok(None),
                Err(call) if call.status() == Some(CUresult::CUDA_ERROR_INVALID_VALUE) => Ok(None),
                Err(call) => Err(call),
            }
        };
        let has = |attribute| Ok(ask(attribute)?.map(|value| value != 0));
        Ok(Self {
            device,
            peer,
            access: can != 0,
            native_atomics: has(Attribute::CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED)?,
            partial_atomics: has(
                Attribute::CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED,
            )?,
            array_access: has(Attribute::CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED)?,
            performance_rank: ask(Attribute::CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK)?,
        })
    }
}

/// The links of all ordered pairs of devices; from [`DeviceManager::peers`](crate::DeviceManager::peers).
///
/// `Display` is a table: a row for each device that accesses, a column for each that has the memory.
///
/// ```
/// # let driver = cupola_sim::Machine::builder().devices(2).without_peer_access(1, 0).build().driver();
/// let execution = cupola_managers::ExecutionManager::new(driver)?;
/// let peers = execution.devices().peers()?;
/// assert!(peers.can_access(0, 1) && !peers.can_access(1, 0));
/// println!("{peers}");
/// # Ok::<_, cupola_managers::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerMatrix {
    devices: u32,
    /// In the order of the devices that access, and of their peers.
    links: Vec<PeerLink>,
}

impl PeerMatrix {
    pub(crate) fn new(devices: u32, links: Vec<PeerLink>) -> Self {
        Self { devices, links }
    }

    /// How many devices there are.
    #[must_use]
    pub fn devices(&self) -> u32 {
        self.devices
    }

    /// The links of all ordered pairs, in the order of the devices that access and of their peers.
    #[must_use]
    pub fn links(&self) -> &[PeerLink] {
        &self.links
    }

    /// The link over which `device` reaches the memory of `peer`; `None` for a device and itself, and
    /// ordinals beyond the count.
    #[must_use]
    pub fn link(&self, device: u32, peer: u32) -> Option<&PeerLink> {
        let mut links = self.links.iter();
        links.find(|link| link.device == device && link.peer == peer)
    }

    /// Whether `device` can access the memory of `peer`.
    #[must_use]
    pub fn can_access(&self, device: u32, peer: u32) -> bool {
        self.link(device, peer).is_some_and(|link| link.access)
    }
}

impl PeerLink {
    /// The cell of the table.
    fn cell(&self) -> String {
        if !self.access {
            return "no".into();
        }
        let rank = match self.performance_rank {
            Some(rank) => rank.to_string(),
            None => "?".into(),
        };
        let atomics = match (self.native_atomics, self.partial_atomics) {
            (Some(true), _) => "atomics",
            (_, Some(true)) => "some atomics",
            (Some(false), _) => "no atomics",
            (None, _) => "atomics ?",
        };
        format!("rank {rank}, {atomics}")
    }
}

impl fmt::Display for PeerMatrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cell = |row: u32, column: u32| match self.link(row, column) {
            Some(link) => link.cell(),
            None => "-".into(),
        };
        let widths: Vec<usize> = (0..self.devices)
            .map(|column| {
                let cells = (0..self.devices).map(|row| cell(row, column).len());
                cells
                    .max()
                    .unwrap_or(0)
                    .max(format!("memory of {column}").len())
            })
            .collect();
        let mut line = format!("{:>10}", "");
        for (column, width) in widths.iter().enumerate() {
            let head = format!("memory of {column}");
            line.push_str(&format!("  {head:<width$}"));
        }
        f.write_str(line.trim_end())?;
        for row in 0..self.devices {
            let mut line = format!("{:>10}", format!("device {row}"));
            for (column, &width) in (0..).zip(&widths) {
                line.push_str(&format!("  {:<width$}", cell(row, column)));
            }
            write!(f, "\n{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn link(device: u32, peer: u32) -> PeerLink {
        PeerLink {
            device,
            peer,
            access: true,
            native_atomics: Some(true),
            partial_atomics: None,
            array_access: Some(false),
            performance_rank: Some(0),
        }
    }

    // Without it a table could put a pair into another one's place, or show a guess.
    #[test]
    fn the_table_has_a_row_for_each_device_that_accesses() {
        let apart = PeerLink {
            access: false,
            ..link(1, 0)
        };
        let matrix = PeerMatrix::new(2, vec![link(0, 1), apart]);
        assert_eq!(
            matrix.to_string(),
            "            memory of 0  memory of 1\n  device 0  -            rank 0, atomics\n  \
             device 1  no           -"
        );
        let unknown = PeerLink {
            native_atomics: None,
            performance_rank: None,
            ..link(0, 1)
        };
        let text = PeerMatrix::new(2, vec![unknown, apart]).to_string();
        assert!(text.contains("rank ?, atomics ?"), "{text}");
    }
}
