//! Memsets, as a stream executes them.

use crate::device::contexts::health::{Fault, Health};
use crate::device::machine::Device;
use crate::device::memory::access::{Access, AccessRequest, Accessor};
use crate::device::memory::access_guard::AccessGuard;
use crate::device::memory::rows::Rows;
use crate::device::memory::transfer::Side;

/// A memset of rows of values, each `width` bytes.
#[derive(Clone, Debug)]
pub(in crate::device) struct Fill {
    pub(in crate::device) address: u64,
    pub(in crate::device) rows: Rows,
    pub(in crate::device) value: u32,
    pub(in crate::device) width: usize,
}

impl Fill {
    pub(in crate::device) fn run(self, device: &Device, health: &Health) -> Result<(), Fault> {
        let request = AccessRequest {
            what: "memset",
            access: Access::Write,
            accessor: Some(Accessor::new(device, health)),
            copies: false,
        };
        let mut side = Side::Device(self.address);
        let guard = AccessGuard::find(&mut side, self.rows, &device.space, request)?;
        if device.strict.keeps_shadows() {
            guard.wrote();
        }
        let count = usize::try_from(self.rows.width).unwrap_or(0) / self.width;
        let bytes = self.value.to_le_bytes();
        for start in guard.rows() {
            // SAFETY: the row holds `count` values of `width` bytes and is kept by the
            // reach. Unaligned stores serve every address.
            unsafe {
                match self.width {
                    1 => start.write_bytes(bytes[0], count),
                    2 => {
                        let value = u16::from_le_bytes([bytes[0], bytes[1]]);
                        (0..count).for_each(|i| start.cast::<u16>().add(i).write_unaligned(value));
                    }
                    _ => {
                        let value = self.value;
                        (0..count).for_each(|i| start.cast::<u32>().add(i).write_unaligned(value));
                    }
                }
            }
        }
        Ok(())
    }
}
