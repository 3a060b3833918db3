//! The boxes of bytes that 2-D and 3-D copies name.

use std::ffi::c_void;

use cupola_sys::driver::*;

use crate::device::api::copies::copy_endpoint::{Endpoint, Plan};
use crate::device::calls::args::Reply;
use crate::device::calls::call::Call;
use crate::device::memory::Rows;

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// `CU_DEVICE_ATTRIBUTE_MAX_PITCH`.
pub(in crate::device::api) const MAX_PITCH: usize = i32::MAX as usize;

/// Where in its memory one end of a copy begins, and how that memory is laid out.
pub(super) struct Corner {
    pub(super) kind: CUmemorytype,
    pub(super) host: *mut c_void,
    pub(super) device: CUdeviceptr,
    /// Bytes in the row, the row, and the slice.
    pub(super) at: [usize; 3],
    /// Bytes from one row to the next; 0 if the rows have no gaps.
    pub(super) pitch: usize,
    /// Rows from one slice to the next; 0 if the slices have no gaps.
    pub(super) height: usize,
}

/// A copy of a box of bytes.
pub(super) struct Region {
    pub(super) to: Corner,
    pub(super) from: Corner,
    /// Bytes in a row, rows and slices.
    pub(super) extent: [usize; 3],
}

impl Corner {
    fn end(&self, call: &Call<'_>, name: &str) -> Reply<Endpoint> {
        match self.kind {
            CUmemorytype::CU_MEMORYTYPE_HOST => Ok(Endpoint::host(self.host)),
            CUmemorytype::CU_MEMORYTYPE_DEVICE => Ok(Endpoint::Device(self.device)),
            CUmemorytype::CU_MEMORYTYPE_UNIFIED => Ok(Endpoint::unified(self.device)),
            CUmemorytype::CU_MEMORYTYPE_ARRAY => {
                let text = format!("{name}: CUDA arrays are not supported by the software device");
                call.machine.messages.add(text);
                Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
            }
            _ => Err(INVALID),
        }
    }

    /// The first byte's offset, and the rows from there; `None` if a number is too large or
    /// the box sticks out of its rows or slices.
    fn rows(&self, [width, height, depth]: [usize; 3]) -> Option<(u64, Rows)> {
        let [x, y, z] = self.at;
        let within = |given: usize, needed: usize| match given {
            0 => Some(needed),
            _ => (given >= needed).then_some(given),
        };
        if self.pitch > MAX_PITCH {
            return None;
        }
        let pitch = within(self.pitch, x.checked_add(width)?)?;
        let slice = within(self.height, y.checked_add(height)?)?;
        let slice = pitch.checked_mul(slice)?;
        let start = z.checked_mul(slice)?.checked_add(y.checked_mul(pitch)?)?;
        let start = start.checked_add(x)? as u64;
        let extent = [width, height, depth].map(|n| n as u64);
        Some((start, Rows::new(extent, pitch as u64, slice as u64)?))
    }
}

impl Region {
    /// The copy that the call named `name` asks for, `None` if it is empty.
    ///
    /// # Errors
    /// A memory type that is none or not supported; pitches and heights that are too
    /// small; addresses that run over.
    pub(super) fn plan(&self, call: &Call<'_>, name: &str) -> Reply<Option<Plan>> {
        let (to, from) = (self.to.end(call, name)?, self.from.end(call, name)?);
        if self.extent.contains(&0) {
            return Ok(None);
        }
        let place = |end: Endpoint, corner: &Corner| {
            let (start, rows) = corner.rows(self.extent).ok_or(INVALID)?;
            Ok((end.offset(start)?, rows))
        };
        Ok(Some(Plan {
            to: place(to, &self.to)?,
            from: place(from, &self.from)?,
            named: None,
        }))
    }
}
