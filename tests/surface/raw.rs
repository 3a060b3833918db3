//! A driver, a device and its primary context, current on the calling thread.
#![allow(dead_code, reason = "each test uses its own part")]

#[path = "../common/target.rs"]
mod target;

pub(crate) use target::{Where, target};

use cupola_sys::driver::{CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, Driver};

/// Device 0 and its primary context, which the calling thread has current.
pub(crate) struct Raw {
    pub(crate) driver: Driver,
    pub(crate) device: CUdevice,
    pub(crate) context: CUcontext,
}

impl Raw {
    pub(crate) fn open() -> Self {
        Self::with_devices(1).expect("a device")
    }

    /// `None` where there are fewer devices than `count`.
    pub(crate) fn with_devices(count: usize) -> Option<Self> {
        let driver = match target() {
            Where::Sim => software(count),
            Where::Library | Where::Gpu => Driver::load().expect("a CUDA driver"),
        };
        Self::on(driver, count)
    }

    /// With a driver of the caller's own.
    pub(crate) fn on(driver: Driver, count: usize) -> Option<Self> {
        let (mut found, mut device, mut context) = (0, 0, std::ptr::null_mut());
        // SAFETY: the places outlive the calls.
        unsafe {
            driver.cuInit(0).expect("cuInit");
            driver.cuDeviceGetCount(&raw mut found).expect("count");
            if usize::try_from(found).unwrap_or(0) < count {
                return None;
            }
            driver.cuDeviceGet(&raw mut device, 0).expect("device 0");
            driver
                .cuDevicePrimaryCtxRetain(&raw mut context, device)
                .expect("primary context");
            driver.cuCtxSetCurrent(context).expect("current");
        }
        Some(Self {
            driver,
            device,
            context,
        })
    }

    pub(crate) fn attribute(&self, attribute: CUdevice_attribute) -> i32 {
        let mut value = 0;
        // SAFETY: the place outlives the call.
        let asked = unsafe {
            self.driver
                .cuDeviceGetAttribute(&raw mut value, attribute, self.device)
        };
        asked.expect("an attribute");
        value
    }

    /// Device memory, filled with `bytes`.
    pub(crate) fn upload(&self, bytes: &[u8]) -> CUdeviceptr {
        let mut address = 0;
        // SAFETY: the places outlive the calls, and the copy stays in both ranges.
        unsafe {
            let size = bytes.len().max(1);
            self.driver
                .cuMemAlloc_v2(&raw mut address, size)
                .expect("memory");
            self.driver
                .cuMemcpyHtoD_v2(address, bytes.as_ptr().cast(), bytes.len())
                .expect("upload");
        }
        address
    }

    /// What `len` bytes of device memory hold.
    pub(crate) fn download(&self, address: CUdeviceptr, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        // SAFETY: the copy stays in both ranges.
        unsafe {
            self.driver
                .cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), address, len)
                .expect("download");
        }
        bytes
    }

    pub(crate) fn free(&self, address: CUdeviceptr) {
        // SAFETY: the caller is done with the memory.
        unsafe { self.driver.cuMemFree_v2(address) }.expect("free");
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: retained in `with_devices`.
        let released = unsafe { self.driver.cuDevicePrimaryCtxRelease_v2(self.device) };
        if !std::thread::panicking() {
            released.expect("release");
        }
    }
}

#[cfg(feature = "sim")]
fn software(count: usize) -> Driver {
    use cupola_sim::{DeviceConfig, Machine};

    let mut machine = Machine::builder().profile(target::profile()).devices(0);
    for _ in 0..count {
        // Said, so that an instance of a partitioned device has as many: a seventh of the default is
        // one, which cannot be divided; hardware gives an instance at least fourteen.
        machine = machine.add_device(DeviceConfig::new().multiprocessors(8));
    }
    machine.build().driver()
}

#[cfg(not(feature = "sim"))]
fn software(_: usize) -> Driver {
    panic!("built without the software device")
}
