//! How much dynamic shared memory a kernel may be launched with.

use std::sync::PoisonError;

use cupola_sys::driver::{
    CUdevice_attribute, CUfunction_attribute as Attribute, Driver, DriverError,
};

use super::Function;
use crate::error::{Error, Result};
use crate::sync::deferred::DeferCallbacks;

const MOST_DYNAMIC: Attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;

impl Function {
    /// The most dynamic shared memory, in bytes, that a block of the kernel may be launched with now
    /// ([`shared_bytes`](crate::ops::LaunchConfig::shared_bytes)): 48 KiB less the kernel's own, until
    /// [`allow_dynamic_shared`](Self::allow_dynamic_shared).
    ///
    /// # Errors
    /// [`Error::Poisoned`], [`Error::Forked`]; what the driver returned.
    #[doc(alias = "cuFuncGetAttribute")]
    #[track_caller]
    pub fn max_dynamic_shared(&self) -> Result<u32> {
        let driver = self.core().enter()?;
        self.core().check(self.most_dynamic(driver))
    }

    /// Allows launches with so many bytes of dynamic shared memory a block
    /// (`CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`), which more than 48 KiB need. It counts for
    /// all users of the kernel in its module, and takes nothing back that was allowed before.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming `bytes` when the device cannot give a block as much, with the most
    /// that it can (`CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN` less the kernel's own);
    /// [`Error::Unsupported`] by a driver before CUDA 9; [`Error::Poisoned`], [`Error::Forked`];
    /// what the driver returned.
    #[doc(alias = "cuFuncSetAttribute")]
    #[track_caller]
    pub fn allow_dynamic_shared(&self, bytes: u32) -> Result<()> {
        let core = self.core();
        let driver = core.enter()?;
        let mut optin = 0;
        // SAFETY: `optin` outlives the call; the device is the context's.
        let asked = unsafe {
            driver.cuDeviceGetAttribute(
                &raw mut optin,
                CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                core.device(),
            )
        };
        core.check(asked)?;
        let own = self.attributes().shared_bytes;
        let most = u32::try_from(optin).unwrap_or(0).saturating_sub(own);
        if bytes > most {
            let problem = format!(
                "{bytes} bytes of dynamic shared memory are more than the {most} that the device \
                 has for a block beside the kernel's own {own}"
            );
            return Err(Error::invalid("bytes", problem));
        }
        // A policy that a failing call sets off waits for the lock to be given back.
        let _deferred = DeferCallbacks::new();
        let raising = &self.module().0.raw.raising;
        let _one = raising.lock().unwrap_or_else(PoisonError::into_inner);
        if core.check(self.most_dynamic(driver))? < bytes {
            let value = i32::try_from(bytes).unwrap_or(i32::MAX);
            // SAFETY: the function's module is loaded.
            core.check(unsafe { driver.cuFuncSetAttribute(self.raw(), MOST_DYNAMIC, value) })?;
        }
        self.inner().know_dynamic_shared(bytes);
        Ok(())
    }

    /// Asks the driver whether a launch may have so much dynamic shared memory, and remembers how much
    /// may be had: other code may have allowed more than was known.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming `shared_bytes`; [`Error::Poisoned`], [`Error::Forked`]; what the driver
    /// returned.
    #[cold]
    #[track_caller]
    pub(crate) fn check_dynamic_shared(&self, bytes: u32) -> Result<()> {
        let most = self.max_dynamic_shared()?;
        self.inner().know_dynamic_shared(most);
        match bytes <= most {
            true => Ok(()),
            false => Err(too_much(bytes, most)),
        }
    }

    fn most_dynamic(&self, driver: &Driver) -> Result<u32, DriverError> {
        let mut most = 0;
        // SAFETY: `most` outlives the call, and the function's module is loaded.
        unsafe { driver.cuFuncGetAttribute(&raw mut most, MOST_DYNAMIC, self.raw()) }?;
        Ok(u32::try_from(most).unwrap_or(0))
    }

    /// The error of a launch that the driver refused for a value, if it asked for too much shared
    /// memory: other code may allow less than was known.
    #[cold]
    pub(crate) fn too_much_shared(&self, bytes: u32) -> Option<Error> {
        let driver = self.core().driver();
        // The launch had an error already: another says nothing of it.
        let most = self.most_dynamic(driver).ok();
        let most = most.filter(|&most| bytes > most)?;
        Some(too_much(bytes, most))
    }
}

fn too_much(bytes: u32, most: u32) -> Error {
    let problem = format!(
        "{bytes} bytes of dynamic shared memory are more than the {most} that the kernel may have; \
         Function::allow_dynamic_shared allows more, where the device has as much"
    );
    Error::invalid("shared_bytes", problem)
}
