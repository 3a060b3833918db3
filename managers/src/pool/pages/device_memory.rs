//! How much memory the device has left.
//!
//! Of a device with its own memory the driver says so. An integrated one has the host's: there the
//! driver counts the system's copies of files (the page cache) as used, though the system gives
//! them up for any program that asks. So the system is asked how much is available.

#[cfg(test)]
use std::sync::OnceLock;

use crate::device::is_integrated;
use crate::driver::ContextCore;
use crate::error::Result;
use crate::pool::pages::vmm::Calls;

/// Asks how many bytes of the host's memory a program may have.
#[cfg(test)]
type Available = fn() -> Option<u64>;

/// Where the free memory of a pool's device is asked for.
#[derive(Clone, Debug)]
pub(crate) struct DeviceMemory {
    is_integrated: bool,
    /// The answer of a test in place of the system's.
    #[cfg(test)]
    available: OnceLock<Available>,
}

impl DeviceMemory {
    #[track_caller]
    pub(crate) fn of(core: &ContextCore, calls: &Calls) -> Result<Self> {
        let _switches = calls.switches();
        let driver = core.enter()?;
        calls.note_attribute();
        Ok(Self {
            is_integrated: core.check(is_integrated(driver, core.device()))?,
            #[cfg(test)]
            available: OnceLock::new(),
        })
    }

    /// Bytes of `total` that are free, when the driver says `free`.
    pub(crate) fn free(&self, (free, total): (u64, u64)) -> u64 {
        if !self.is_integrated {
            return free;
        }
        #[cfg(test)]
        let ask = self.available.get().copied().unwrap_or(available_on_host);
        #[cfg(not(test))]
        let ask = available_on_host;
        ask().map_or(free, |available| available.min(total))
    }
}

/// Bytes that are available by `/proc/meminfo` of Linux; `None` elsewhere.
fn available_on_host() -> Option<u64> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    available_in(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

fn available_in(meminfo: &str) -> Option<u64> {
    let mut lines = meminfo.lines();
    let line = lines.find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1 << 10)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use cupola_core::Pressure;
    use cupola_sim::{DeviceConfig, Machine};

    use super::*;
    use crate::Context;
    use crate::pool::PoolConfig;
    use crate::test_bench::TestBench;

    const GIB: u64 = 1 << 30;

    // Without it a kernel that says it otherwise, or not at all, would be misread.
    #[test]
    fn what_is_available_is_read_as_the_system_writes_it() {
        let text = "MemTotal:       130000000 kB\nMemFree:          812340 kB\n\
            MemAvailable:   98765432 kB\nCached:         90000000 kB\n";
        assert_eq!(available_in(text), Some(98_765_432 << 10));
        assert_eq!(available_in("MemTotal: 1 kB\nMemFree: 1 kB\n"), None);
        assert_eq!(available_in("MemAvailable: many kB\n"), None);
        assert_eq!(
            available_in("MemAvailable: 99999999999999999999 kB\n"),
            None
        );
        #[cfg(target_os = "linux")]
        assert!(available_on_host().is_some_and(|bytes| bytes > 0));
    }

    /// Another context's memory fills the device but for 1 GiB.
    fn fill(context: &Context) -> crate::MemoryPool {
        let pool = context.memory_pool(PoolConfig::limit(15 * GIB)).unwrap();
        let stream = context.streams().create(Default::default()).unwrap();
        let block = pool.allocate_raw(15 * GIB, 1, &stream).unwrap();
        // Leaked: it fills the device to the end.
        let _block = std::mem::ManuallyDrop::new(block);
        pool
    }

    // Without it an integrated device would be full, and a pool under pressure, because of files
    // that the system keeps in memory no program has asked for.
    #[test]
    fn an_integrated_device_has_what_the_host_has_available() {
        for is_integrated in [false, true] {
            let device = DeviceConfig::new()
                .memory(16 * GIB)
                .integrated(is_integrated);
            let bench = TestBench::on(Machine::builder().device(device).worker_threads(1));
            let pool = bench.pool(8 * GIB);
            let ask = &pool.pool().pages.memory().available;
            ask.set(|| Some(12 * GIB)).unwrap();
            let stream = bench.stream();
            let block = pool.allocate_raw(GIB / 2, 1, &stream).unwrap();
            let cache = fill(&bench.context);
            let usage = pool.usage().unwrap();
            let free = if is_integrated { 12 * GIB } else { GIB / 2 };
            assert_eq!(usage.device_free, free);
            let (left, pressure) = match is_integrated {
                true => (8 * GIB - GIB / 2, Pressure::Low),
                false => (GIB / 2, Pressure::Medium),
            };
            assert_eq!(pool.available(), Ok(left));
            assert_eq!(
                (usage.pressure, pool.pressure_level()),
                (pressure, pressure)
            );
            assert_eq!(pool.account().device_free, free);
            // SAFETY: nothing uses the block.
            unsafe { block.free(&stream) }.unwrap();
            drop((cache, pool));
        }
    }
}
