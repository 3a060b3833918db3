//! Memory for other processes: what names it, and how another process finds it.
//!
//! Memory that is shared lies in a sealed file in memory of its own. Its [`Name`] says
//! which open file of which process that is; the kernel lets processes of the same user
//! open it there. Nothing is kept running for it, and nothing can be left behind.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod none;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[cfg(target_os = "linux")]
pub(super) use linux::{name, open as open_pages};
#[cfg(not(target_os = "linux"))]
pub(super) use none::{name, open as open_pages};

use cupola_sys::driver::CUresult;

use crate::device::contexts::context::Context;
use crate::device::machine::Device;
use crate::device::memory::block::Block;

/// The first bytes of every name; the last is the layout's version.
const MAGIC: [u8; 8] = *b"cupolaM\x01";

/// Sizes of shared files are multiples of this: of every page size that Linux has.
const UNIT: u64 = 64 << 10;

/// Bytes of a file for so much memory; `None` if there can be no such file.
pub(super) fn file_len(len: u64) -> Option<u64> {
    len.checked_next_multiple_of(UNIT)
}

/// Names memory of a process, for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) struct Name {
    pub(in crate::device) process: u32,
    /// When the process began, in the kernel's count: process numbers come again.
    started: u64,
    /// The number of the file, in that process.
    file: u32,
    /// File numbers come again too.
    inode: u64,
    /// Bytes of the memory. The file is as long, up to a whole unit.
    pub(in crate::device) len: u64,
    /// The device's number: processes may see different ones.
    pub(in crate::device) device: u32,
    /// The block's, in its machine.
    id: u64,
}

impl Name {
    /// Bytes that a name has.
    pub(in crate::device) const BYTES: usize = 64;

    pub(in crate::device) fn to_bytes(self) -> [u8; Self::BYTES] {
        let fields = [
            &MAGIC[..],
            &self.process.to_le_bytes(),
            &self.file.to_le_bytes(),
            &self.started.to_le_bytes(),
            &self.inode.to_le_bytes(),
            &self.len.to_le_bytes(),
            &self.id.to_le_bytes(),
            &self.device.to_le_bytes(),
        ];
        let mut bytes = [0; Self::BYTES];
        for (place, byte) in bytes.iter_mut().zip(fields.into_iter().flatten()) {
            *place = *byte;
        }
        bytes
    }

    /// `None` if no `to_bytes` made them. The name may name nothing all the same.
    pub(in crate::device) fn from_bytes(bytes: [u8; Self::BYTES]) -> Option<Self> {
        let mut rest = &bytes[MAGIC.len()..];
        let name = Self {
            process: u32::from_le_bytes(take(&mut rest)?),
            file: u32::from_le_bytes(take(&mut rest)?),
            started: u64::from_le_bytes(take(&mut rest)?),
            inode: u64::from_le_bytes(take(&mut rest)?),
            len: u64::from_le_bytes(take(&mut rest)?),
            id: u64::from_le_bytes(take(&mut rest)?),
            device: u32::from_le_bytes(take(&mut rest)?),
        };
        (name.to_bytes() == bytes && name.len > 0).then_some(name)
    }

    /// What the file is called. It is the same only for this memory of this machine.
    fn label(id: u64) -> String {
        format!("cupola-ipc-{id}")
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, others) = rest.split_first_chunk()?;
    *rest = others;
    Some(*first)
}

/// Where memory of another process came from.
#[derive(Debug)]
pub(in crate::device) struct Opened {
    pub(super) name: Name,
    /// How often it is open: changed under the lock of the table.
    pub(super) times: AtomicUsize,
}

impl Opened {
    /// Whether the next close is the last one.
    pub(in crate::device) fn is_last(&self) -> bool {
        self.times.load(Ordering::Relaxed) == 1
    }
}

/// Why memory cannot be opened.
#[derive(Debug)]
pub(in crate::device) struct Refusal {
    pub(in crate::device) code: CUresult,
    /// What the code does not say.
    pub(in crate::device) why: Option<String>,
}

impl Refusal {
    pub(in crate::device) fn new(code: CUresult, why: String) -> Self {
        Self {
            code,
            why: Some(why),
        }
    }
}

impl From<CUresult> for Refusal {
    fn from(code: CUresult) -> Self {
        Self { code, why: None }
    }
}

/// Opens memory of another process for a context. `device` is the one that it is on; `again`
/// says whether it may be open already.
///
/// # Errors
/// What became of the memory, or what the context answers.
pub(in crate::device) fn open(
    context: &Context,
    device: &Device,
    name: Name,
    again: bool,
) -> Result<Arc<Block>, Refusal> {
    let opener = (context.handle, context.device.ordinal);
    let space = &context.device.space;
    let block = space.open(name, device.ordinal, opener, again)?;
    Ok(crate::device::memory::keep_if_open(context, device, block)?)
}

/// What a shared block's file is called.
pub(super) fn label(block: &Block) -> String {
    Name::label(block.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it, a field that is left out or cut short would name other memory, and
    /// bytes that are no name would be looked up.
    #[test]
    fn a_name_survives_its_bytes_and_other_bytes_are_none() {
        let name = Name {
            process: 0xf123_4567,
            started: u64::MAX - 1,
            file: 77,
            inode: 1 << 63,
            len: (1 << 40) + 1,
            device: 15,
            id: 0x0123_4567_89ab_cdef,
        };
        let bytes = name.to_bytes();
        assert_eq!(Name::from_bytes(bytes), Some(name));
        assert_eq!(Name::from_bytes([0; 64]), None);
        assert_eq!(Name::from_bytes([0xff; 64]), None);
        for other in [0, 7, 63] {
            let mut bytes = bytes;
            bytes[other] ^= 1;
            assert_eq!(Name::from_bytes(bytes), None, "byte {other}");
        }
        let empty = Name { len: 0, ..name };
        assert_eq!(Name::from_bytes(empty.to_bytes()), None);
    }
}
