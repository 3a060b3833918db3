//! What each device of a machine may do with a range of memory.

use crate::device::memory::access::Access;

/// For each of a machine's devices, of which there are at most 16, what it may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::device) struct Permissions {
    /// A bit for each device.
    read: u16,
    write: u16,
}

impl Permissions {
    pub(in crate::device) fn of(self, device: usize) -> Access {
        let bit = Self::bit(device);
        match (self.read & bit != 0, self.write & bit != 0) {
            (_, true) => Access::Write,
            (true, false) => Access::Read,
            (false, false) => Access::None,
        }
    }

    /// The same but for one device.
    pub(super) fn with(self, device: usize, access: Access) -> Self {
        let bit = Self::bit(device);
        let put = |bits: u16, on: bool| if on { bits | bit } else { bits & !bit };
        Self {
            read: put(self.read, access >= Access::Read),
            write: put(self.write, access >= Access::Write),
        }
    }

    /// What both allow.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            read: self.read & other.read,
            write: self.write & other.write,
        }
    }

    /// No device from the seventeenth on has permissions.
    fn bit(device: usize) -> u16 {
        u32::try_from(device)
            .ok()
            .and_then(|device| 1u16.checked_shl(device))
            .unwrap_or(0)
    }
}
