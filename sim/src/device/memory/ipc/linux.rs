//! Files in memory, found through `/proc`.

use std::io::ErrorKind;
use std::os::fd::AsRawFd;

use cupola_sys::driver::CUresult;
use rustix::fs::{Mode, OFlags, fstat, open as open_file};
use rustix::io::Errno;

use crate::device::memory::block::Block;
use crate::device::memory::ipc::{Name, Refusal, file_len};
use crate::device::memory::pages::Pages;

/// Names a block that is in a file; `None` if it is not, or the host does not say what is
/// needed.
pub(in crate::device::memory) fn name(block: &Block) -> Option<Name> {
    let file = block.pages()?.file()?;
    Some(Name {
        process: std::process::id(),
        started: started("self")?,
        file: u32::try_from(file.as_raw_fd()).ok()?,
        inode: fstat(file).ok()?.st_ino,
        len: block.len,
        device: u32::try_from(block.device).ok()?,
        id: block.id,
    })
}

/// When a process began: the 22nd field of its `stat`, the 20th after the name, which
/// ends with the last parenthesis.
fn started(process: &str) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
}

/// The memory of that name.
///
/// # Errors
/// It is not there any more, never was, or may not be opened. Codes as on an H200.
pub(in crate::device::memory) fn open(name: &Name) -> Result<Pages, Refusal> {
    let process = name.process;
    let gone = || {
        let why = format!("the memory of process {process} is freed");
        Refusal::new(CUresult::CUDA_ERROR_INVALID_VALUE, why)
    };
    let failed = |error: std::io::Error| {
        let why = format!("the memory of process {process}: {error}");
        Refusal::new(CUresult::CUDA_ERROR_OPERATING_SYSTEM, why)
    };
    if started(&process.to_string()) != Some(name.started) {
        let why = format!("process {process}, whose memory it was, has ended");
        return Err(Refusal::new(CUresult::CUDA_ERROR_INVALID_HANDLE, why));
    }
    let path = format!("/proc/{process}/fd/{}", name.file);
    let expected = Name::label(name.id);
    // Looked at before it is opened: what else has the number now may be a device.
    let link = match std::fs::read_link(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(gone()),
        link => link.map_err(failed)?,
    };
    if link.to_str() != Some(&format!("/memfd:{expected} (deleted)")) {
        return Err(gone());
    }
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = match open_file(&path, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Err(gone()),
        file => file.map_err(|error| failed(error.into()))?,
    };
    if fstat(&file).map(|stat| stat.st_ino) != Ok(name.inode) {
        return Err(gone());
    }
    match Pages::adopt(file) {
        Some((pages, label)) if label == expected && Some(pages.len()) == file_len(name.len) => {
            Ok(pages)
        }
        _ => Err(gone()),
    }
}
