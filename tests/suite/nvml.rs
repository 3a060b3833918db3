//! What NVML says that is in use on a device, beside a test that has the device to itself.

use std::ffi::CString;
use std::ptr;

use cupola_managers::DeviceInfo;
use cupola_sys::nvml::{Nvml, NvmlError, nvmlDevice_t, nvmlMemory_t};

/// A device as NVML knows it, which is found by its UUID: NVML counts devices in another order.
pub(crate) struct Watched {
    nvml: Nvml,
    device: nvmlDevice_t,
}

// SAFETY: NVML may be used from any thread, and its handles are not of one.
unsafe impl Send for Watched {}
// SAFETY: as above.
unsafe impl Sync for Watched {}

impl Watched {
    /// `None`, and loudly so, where the device is there and NVML is not.
    pub(crate) fn find(info: &DeviceInfo) -> Option<Self> {
        let nvml = Nvml::load().map_err(|error| error.to_string());
        let found = nvml.and_then(|nvml| Self::over(nvml, info).map_err(|error| error.to_string()));
        found
            .inspect_err(|why| eprintln!("SKIPPED: what NVML says of the limit: {why}"))
            .ok()
    }

    fn over(nvml: Nvml, info: &DeviceInfo) -> Result<Self, NvmlError> {
        // SAFETY: no pointers.
        unsafe { nvml.nvmlInit_v2() }?;
        let mut watched = Self {
            nvml,
            device: ptr::null_mut(),
        };
        let name = uuid(info);
        // SAFETY: both outlive the call, and NVML is initialised.
        unsafe {
            watched
                .nvml
                .nvmlDeviceGetHandleByUUID(name.as_ptr(), &raw mut watched.device)
        }?;
        watched.read()?;
        Ok(watched)
    }

    fn read(&self) -> Result<u64, NvmlError> {
        let mut memory = nvmlMemory_t {
            total: 0,
            free: 0,
            used: 0,
        };
        // SAFETY: the place outlives the call, and NVML is initialised.
        unsafe {
            self.nvml
                .nvmlDeviceGetMemoryInfo(self.device, &raw mut memory)
        }?;
        Ok(memory.used)
    }

    /// Bytes in use, by all processes and by the driver itself.
    pub(crate) fn used(&self) -> u64 {
        self.read().expect("as when it was found")
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // SAFETY: initialised in `over`.
        let _ = unsafe { self.nvml.nvmlShutdown() };
    }
}

/// As NVML writes it.
fn uuid(info: &DeviceInfo) -> CString {
    let hex: String = info.uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &hex[part]);
    let kind = if info.mig { "MIG" } else { "GPU" };
    CString::new(format!("{kind}-{}", parts.join("-"))).expect("no NUL in it")
}

#[cfg(feature = "sim")]
mod tests {
    use std::ffi::{CStr, c_char, c_void};
    use std::sync::atomic::{AtomicU64, Ordering};

    use cupola_sys::Symbol;
    use cupola_sys::driver::ProcAddress;
    use cupola_sys::nvml::{nvmlReturn_t, pfn};

    use super::*;
    use crate::common::Bench;

    static USED: AtomicU64 = AtomicU64::new(0);
    static USERS: AtomicU64 = AtomicU64::new(0);
    const FOUND: *mut c_void = ptr::without_provenance_mut(8);
    const SUCCESS: nvmlReturn_t = nvmlReturn_t::NVML_SUCCESS;

    unsafe extern "C" fn init() -> nvmlReturn_t {
        USERS.fetch_add(1, Ordering::Relaxed);
        SUCCESS
    }

    unsafe extern "C" fn shutdown() -> nvmlReturn_t {
        USERS.fetch_sub(1, Ordering::Relaxed);
        SUCCESS
    }

    unsafe extern "C" fn by_uuid(uuid: *const c_char, device: *mut nvmlDevice_t) -> nvmlReturn_t {
        // SAFETY: the caller's text ends with NUL.
        let name = unsafe { CStr::from_ptr(uuid) }.to_str().unwrap();
        let (kind, rest) = name.split_at(4);
        let lengths: Vec<_> = rest.split('-').map(str::len).collect();
        assert_eq!((kind, &lengths[..]), ("GPU-", &[8, 4, 4, 4, 12][..]));
        // SAFETY: the caller's place.
        unsafe { *device = FOUND.cast() };
        SUCCESS
    }

    unsafe extern "C" fn memory(device: nvmlDevice_t, memory: *mut nvmlMemory_t) -> nvmlReturn_t {
        assert_eq!(device.cast(), FOUND);
        // SAFETY: the caller's place.
        unsafe { (*memory).used = USED.load(Ordering::Relaxed) };
        SUCCESS
    }

    struct Mock;

    // SAFETY: each function has the type of the name that it answers for.
    unsafe impl ProcAddress for Mock {
        fn proc_address(&self, symbol: &Symbol) -> *const c_void {
            match symbol.as_str() {
                "nvmlInit_v2" => init as pfn::nvmlInit_v2 as *const c_void,
                "nvmlShutdown" => shutdown as pfn::nvmlShutdown as *const c_void,
                "nvmlDeviceGetHandleByUUID" => {
                    by_uuid as pfn::nvmlDeviceGetHandleByUUID as *const c_void
                }
                "nvmlDeviceGetMemoryInfo" => {
                    memory as pfn::nvmlDeviceGetMemoryInfo as *const c_void
                }
                _ => ptr::null(),
            }
        }

        fn scope(&self) -> *const () {
            ptr::null()
        }

        fn describe(&self) -> String {
            "a mock of NVML".into()
        }
    }

    // Without it nothing but a GPU would tell whether the right device is asked, and what it says.
    #[test]
    fn a_device_is_found_by_its_uuid_and_asked() {
        let bench = Bench::open();
        // SAFETY: see `Mock`.
        let nvml = unsafe { Nvml::from_source(Box::new(Mock)) };
        let watched = Watched::over(nvml, bench.device.info().unwrap()).unwrap();
        for used in [0, 5 << 30] {
            USED.store(used, Ordering::Relaxed);
            assert_eq!(watched.used(), used);
        }
        assert_eq!(USERS.load(Ordering::Relaxed), 1);
        drop(watched);
        assert_eq!(USERS.load(Ordering::Relaxed), 0);
        bench.finish();
    }
}
