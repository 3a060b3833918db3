//! `Mapping`: pages of the process, touched by several threads.

use crate::driver::Origin;

/// The size of a huge page: mappings of as much and more begin at one.
#[cfg(target_os = "linux")]
const HUGE_PAGE: usize = 2 << 20;
/// The smallest page that there is. Touching more often than once a page does no harm.
#[cfg(target_os = "linux")]
const PAGE: usize = 4 << 10;
/// Bytes that a thread touches at the least: starting one costs as much as touching some megabytes.
#[cfg(target_os = "linux")]
const SHARE: usize = 16 << 20;
/// The most threads that touch: the system's own locks let no more of them work at a time.
#[cfg(target_os = "linux")]
const THREADS: usize = 16;

/// Private anonymous memory of the process, given back when it is dropped. All of it is there: each
/// page was written to, so that page-locking it has nothing left to do but to lock.
///
/// A fork has none of it. It would share the pages until one of both writes to them: the writer gets
/// others then, and the device would go on with the first.
#[derive(Debug)]
pub(super) struct Mapping {
    start: *mut u8,
    bytes: usize,
    /// The process that has it.
    origin: Origin,
}

// SAFETY: the memory is owned, and bytes are Send.
unsafe impl Send for Mapping {}

impl Mapping {
    /// The first byte, on a page.
    pub(super) fn start(&self) -> *mut u8 {
        self.start
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use core::ffi::{c_int, c_void};
    use std::{io, ptr, thread};

    use super::{HUGE_PAGE, Mapping, Origin, PAGE, SHARE, THREADS};

    const PROT_READ_WRITE: c_int = 1 | 2;
    const MAP_PRIVATE_ANONYMOUS: c_int = 0x02 | 0x20;
    const MADV_DONTFORK: c_int = 10;
    const MADV_HUGEPAGE: c_int = 14;

    unsafe extern "C" {
        // POSIX and Linux, in the C library that `std` links. Offsets are as wide as pointers on the
        // targets that CUDA has.
        fn mmap(
            at: *mut c_void,
            bytes: usize,
            access: c_int,
            flags: c_int,
            file: c_int,
            offset: isize,
        ) -> *mut c_void;
        fn munmap(at: *mut c_void, bytes: usize) -> c_int;
        fn madvise(at: *mut c_void, bytes: usize, advice: c_int) -> c_int;
    }

    /// # Safety
    /// Whole pages of mappings that nothing uses.
    unsafe fn unmap(at: *mut u8, bytes: usize) {
        if bytes > 0 {
            // SAFETY: needs pages that nothing uses, which is this function's condition. It fails only
            // for arguments that are no pages, or where the system is out of memory for its lists:
            // then the addresses stay taken, which does no harm.
            let _ = unsafe { munmap(at.cast(), bytes) };
        }
    }

    impl Mapping {
        /// Reserves `bytes`, whole pages and not zero, asks for huge pages, and writes to each page from
        /// several threads (`mmap`, `madvise`).
        ///
        /// # Errors
        /// What the system returned: there are no addresses left, or a limit of the process is
        /// reached.
        pub(in crate::host) fn touched(bytes: usize) -> io::Result<Self> {
            let mapping = Self::reserve(bytes)?;
            mapping.touch();
            Ok(mapping)
        }

        fn reserve(bytes: usize) -> io::Result<Self> {
            // Room to begin at a huge page.
            let slack = if bytes >= HUGE_PAGE { HUGE_PAGE } else { 0 };
            let all = bytes.checked_add(slack);
            let all = all.ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?;
            // SAFETY: a mapping anywhere that is free replaces none.
            let at = unsafe {
                mmap(
                    ptr::null_mut(),
                    all,
                    PROT_READ_WRITE,
                    MAP_PRIVATE_ANONYMOUS,
                    -1,
                    0,
                )
            };
            if at.addr() == usize::MAX {
                return Err(io::Error::last_os_error());
            }
            let at: *mut u8 = at.cast();
            let before = if slack > 0 {
                at.addr().wrapping_neg() % HUGE_PAGE
            } else {
                0
            };
            let start = at.wrapping_add(before);
            // SAFETY: the parts of the mapping before and after the `bytes` at `start`: `before` is
            // less than the slack, and all are whole pages.
            unsafe {
                unmap(at, before);
                unmap(start.wrapping_add(bytes), slack - before);
            }
            let mapping = Self {
                start,
                bytes,
                origin: Origin::here(),
            };
            // SAFETY: the mapping, which is this function's.
            if unsafe { madvise(start.cast(), bytes, MADV_DONTFORK) } != 0 {
                return Err(io::Error::last_os_error());
            }
            // SAFETY: as before. A system without huge pages refuses, and does without.
            let _ = unsafe { madvise(start.cast(), bytes, MADV_HUGEPAGE) };
            Ok(mapping)
        }

        /// Writes to each page, each thread to its part of them.
        fn touch(&self) {
            let threads = thread::available_parallelism().map_or(1, usize::from);
            let threads = threads.min(self.bytes / SHARE).clamp(1, THREADS);
            let share = self.bytes.div_ceil(threads).next_multiple_of(PAGE);
            thread::scope(|scope| {
                for index in 1..threads {
                    let part = self.part(index, share);
                    let begun = thread::Builder::new().spawn_scoped(scope, move || part.touch());
                    if begun.is_err() {
                        // The system has no thread for it.
                        self.part(index, share).touch();
                    }
                }
                self.part(0, share).touch();
            });
        }

        fn part(&self, index: usize, share: usize) -> Part {
            let from = (index * share).min(self.bytes);
            Part(self.start.wrapping_add(from), share.min(self.bytes - from))
        }
    }

    /// Some pages of a mapping.
    struct Part(*mut u8, usize);

    // SAFETY: the part is one thread's alone, and bytes are Send.
    unsafe impl Send for Part {}

    impl Part {
        fn touch(self) {
            let Self(start, bytes) = self;
            for offset in (0..bytes).step_by(PAGE) {
                // SAFETY: within the mapping, which is this thread's so far. Volatile: all bytes are
                // zeros before and after, which the compiler must not know.
                unsafe { start.add(offset).write_volatile(0) };
            }
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            // A fork may have other memory there by now.
            if self.origin.is_elsewhere() {
                return;
            }
            // SAFETY: the pages of the mapping, whose owner is gone.
            unsafe { unmap(self.start, self.bytes) };
        }
    }

    #[cfg(all(test, not(loom)))]
    mod tests {
        use super::*;

        // Without it a part of a mapping could be left untouched, or be touched twice by two threads at
        // a time, and a large one not begin where a huge page does.
        #[test]
        fn all_pages_are_there_and_zero() {
            for bytes in [64 << 10, HUGE_PAGE + (64 << 10), 3 * SHARE + PAGE] {
                let mapping = Mapping::touched(bytes).unwrap();
                assert_eq!(mapping.bytes, bytes);
                if bytes >= HUGE_PAGE {
                    assert_eq!(mapping.start().addr() % HUGE_PAGE, 0);
                }
                let pages = bytes / PAGE;
                let mut resident = vec![0u8; pages];
                unsafe extern "C" {
                    fn mincore(at: *mut c_void, bytes: usize, found: *mut u8) -> c_int;
                }
                // SAFETY: a byte for each page.
                let asked =
                    unsafe { mincore(mapping.start().cast(), bytes, resident.as_mut_ptr()) };
                assert_eq!(asked, 0);
                assert!(resident.iter().all(|byte| byte & 1 == 1), "{bytes}");
                // SAFETY: the bytes are there, and written by no thread any more.
                let all = unsafe { std::slice::from_raw_parts(mapping.start(), bytes) };
                assert!(all.iter().all(|&byte| byte == 0));
            }
        }

        // Without it a refusal of the system could become a mapping at a wild address.
        #[test]
        fn too_large_a_mapping_is_refused() {
            assert!(Mapping::touched(usize::MAX - (64 << 10) + 1).is_err());
            assert!(Mapping::touched(1 << 60).is_err());
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Mapping {
    /// Elsewhere the driver allocates.
    ///
    /// # Errors
    /// Always.
    pub(super) fn touched(_bytes: usize) -> std::io::Result<Self> {
        Err(std::io::Error::from(std::io::ErrorKind::Unsupported))
    }
}
