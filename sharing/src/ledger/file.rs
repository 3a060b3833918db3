//! The file in memory that a ledger is, and its mapping.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::ptr::{self, NonNull};

use cupola_core::ledger::Words;
use rustix::fs::{
    FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, fcntl_get_seals, fstat,
    ftruncate, memfd_create,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::ledger::error::LedgerError;
use crate::ledger::header::{self, Header};

/// Where the words begin.
const WORDS: usize = 4096;
/// Bytes of the file: whole pages of 64 KiB, the largest that Linux has where GPUs are.
const LEN: usize = (WORDS + size_of::<Words>()).next_multiple_of(64 << 10);
/// A mapping of all of it stays whole, and no process can change that.
const SEALS: SealFlags = SealFlags::SHRINK
    .union(SealFlags::GROW)
    .union(SealFlags::SEAL);

/// A mapped ledger.
#[derive(Debug)]
pub(crate) struct LedgerFile {
    file: File,
    base: NonNull<u8>,
}

// SAFETY: the mapping is of shared memory, which is used as atomic words alone, from any thread.
unsafe impl Send for LedgerFile {}
// SAFETY: as above.
unsafe impl Sync for LedgerFile {}

impl LedgerFile {
    /// A new one: its words are zero.
    pub(crate) fn create(header: Header) -> Result<Self, LedgerError> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create("cupola-ledger", flags)
            .map_err(|errno| LedgerError::system("memfd_create", errno.into()))?;
        ftruncate(&file, LEN as u64)
            .map_err(|errno| LedgerError::system("ftruncate", errno.into()))?;
        // A page that the system cannot give is an error here, and no signal at the first access.
        fallocate(&file, FallocateFlags::empty(), 0, LEN as u64)
            .map_err(|errno| LedgerError::system("fallocate", errno.into()))?;
        let file = File::from(file);
        file.write_all_at(&header.encode(), 0)
            .map_err(|error| LedgerError::system("pwrite", error))?;
        fcntl_add_seals(&file, SEALS)
            .map_err(|errno| LedgerError::system("fcntl(F_ADD_SEALS)", errno.into()))?;
        Self::map(file)
    }

    /// One that [`create`](Self::create) made, and its header.
    pub(crate) fn open(file: OwnedFd) -> Result<(Self, Header), LedgerError> {
        // Files of other kinds have no seals.
        let sealed = fcntl_get_seals(&file).is_ok_and(|seals| seals.contains(SEALS));
        let len = fstat(&file).map_err(|errno| LedgerError::system("fstat", errno.into()))?;
        if !sealed || u64::try_from(len.st_size) != Ok(LEN as u64) {
            return Err(LedgerError::Unsealed {
                expected: LEN as u64,
            });
        }
        let file = File::from(file);
        let mut raw = [0; header::LEN];
        file.read_exact_at(&mut raw, 0)
            .map_err(|error| LedgerError::system("pread", error))?;
        let header = Header::decode(&raw)?;
        Ok((Self::map(file)?, header))
    }

    fn map(file: File) -> Result<Self, LedgerError> {
        let (access, shared) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: `mmap` without a fixed address only adds a mapping.
        let base = unsafe { mmap(ptr::null_mut(), LEN, access, shared, &file, 0) };
        let base = base.map_err(|errno| LedgerError::system("mmap", errno.into()))?;
        let base = NonNull::new(base.cast::<u8>());
        // The kernel maps nothing at address 0 that was not asked for there.
        let base =
            base.ok_or_else(|| LedgerError::system("mmap", std::io::ErrorKind::Other.into()))?;
        Ok(Self { file, base })
    }

    pub(crate) fn words(&self) -> &Words {
        // SAFETY: the mapping has `LEN` bytes, which are more than `WORDS` and the words; the file is sealed, so
        // all of them stay there until `drop`. `WORDS` is a multiple of the words' alignment and the mapping
        // begins at a page. The words are atomics, for which any bytes are valid, and other processes use
        // them as such too.
        unsafe { self.base.add(WORDS).cast::<Words>().as_ref() }
    }

    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for LedgerFile {
    fn drop(&mut self) {
        // SAFETY: `munmap` needs a mapping that nothing uses any more: `LEN` bytes were mapped there, and
        // references to them borrow this value.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), LEN) };
    }
}
