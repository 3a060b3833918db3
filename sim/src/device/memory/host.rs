//! What the host lets the process do with its own memory.

/// Whether all of a range is mapped readable, and writable if `write`. Where this is
/// unknown, because the host has no such list or does not show it, the answer is yes.
pub(super) fn permits(start: u64, len: u64, write: bool) -> bool {
    #[cfg(target_os = "linux")]
    if let Ok(maps) = std::fs::read_to_string("/proc/self/maps") {
        return covers(&maps, start, len, write);
    }
    let _ = (start, len, write);
    true
}

/// The same, by the text of `/proc/self/maps`: lines like `start-end rwxp ...`, ascending.
#[cfg(any(target_os = "linux", test))]
fn covers(maps: &str, start: u64, len: u64, write: bool) -> bool {
    let Some(end) = start.checked_add(len) else {
        return false;
    };
    let mut at = start;
    for line in maps.lines() {
        let Some((from, to, rights)) = parse(line) else {
            continue;
        };
        let good = rights.starts_with(if write { "rw" } else { "r" });
        if good && (from..to).contains(&at) {
            at = to;
        }
        if at >= end {
            return true;
        }
    }
    false
}

#[cfg(any(target_os = "linux", test))]
fn parse(line: &str) -> Option<(u64, u64, &str)> {
    let (range, rest) = line.split_once(' ')?;
    let (from, to) = range.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some((number(from)?, number(to)?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
1000-2000 rw-p 00000000 00:00 0
2000-3000 r--p 00000000 fe:01 12 /some where/file
3000-4000 rw-s 00000000 00:01 7  /memfd:x (deleted)
5000-6000 ---p 00000000 00:00 0 [guard]
6000-8000 rwxp 00000000 00:00 0";

    /// Without it, memory that the process may not write, or does not have, could be
    /// registered, and a kernel would kill the process.
    #[test]
    fn every_page_counts() {
        for (start, end, read, write) in [
            (0x1000, 0x2000, true, true),
            (0x1fff, 0x2001, true, false),
            (0x1000, 0x4000, true, false),
            (0x3000, 0x4001, false, false),
            (0x0fff, 0x1001, false, false),
            (0x5000, 0x5001, false, false),
            (0x6001, 0x8000, true, true),
            (0x7fff, 0x8001, false, false),
        ] {
            let covers = |write| covers(MAPS, start, end - start, write);
            assert_eq!((covers(false), covers(true)), (read, write), "{start:x}");
        }
        assert!(!covers(MAPS, u64::MAX, 2, false));
    }

    /// Without it, host memory where processes without a limit of the stack have theirs would
    /// be taken for memory of a device.
    #[cfg(target_os = "linux")]
    #[test]
    fn memory_is_the_hosts_wherever_it_lies() {
        use cupola_sys::driver::CUcontext;
        use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
        const LEN: usize = 4096;
        let driver = crate::Machine::builder().build().driver();
        let (mut context, mut at): (CUcontext, _) = (std::ptr::null_mut(), 0);
        // SAFETY: the places outlive the calls.
        unsafe {
            driver.cuInit(0).unwrap();
            driver.cuCtxCreate_v2(&raw mut context, 0, 0).unwrap();
            driver.cuMemAlloc_v2(&raw mut at, LEN).unwrap();
        }
        for wanted in [0x1100_0000_0000usize, 0x1544_0000_0000, 0x10f0_0000_0000] {
            let wanted = std::ptr::without_provenance_mut(wanted);
            let access = ProtFlags::READ | ProtFlags::WRITE;
            // SAFETY: without FIXED nothing that exists is replaced. The memory has LEN bytes
            // until it is unmapped, which the copies and the registration do not outlive.
            unsafe {
                let own = mmap_anonymous(wanted, LEN, access, MapFlags::PRIVATE).unwrap();
                own.cast::<u8>().add(7).write(9);
                driver.cuMemcpyHtoD_v2(at, own, LEN).unwrap();
                own.cast::<u8>().add(7).write(0);
                driver.cuMemcpyDtoH_v2(own, at, LEN).unwrap();
                assert_eq!(own.cast::<u8>().add(7).read(), 9);
                driver.cuMemHostRegister_v2(own, LEN, 0).unwrap();
                driver.cuMemHostUnregister(own).unwrap();
                munmap(own, LEN).unwrap();
            }
        }
    }

    /// Without it, the real list could have another shape, and everything be refused.
    #[test]
    fn the_process_knows_its_own() {
        let mut own = vec![0u8; 1 << 20];
        let start = own.as_mut_ptr().addr() as u64;
        assert!(permits(start, 1 << 20, true));
        let text: &'static str = "in the program's file";
        assert!(permits(
            text.as_ptr().addr() as u64,
            text.len() as u64,
            false
        ));
        if cfg!(target_os = "linux") {
            assert!(!permits(
                text.as_ptr().addr() as u64,
                text.len() as u64,
                true
            ));
            assert!(!permits(16, 1, false));
        }
    }
}
