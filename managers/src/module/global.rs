//! `Global`: a variable of a module.

use std::ffi::CString;
use std::fmt;
use std::marker::PhantomData;

use cupola_sys::driver::CUdeviceptr;

use super::Module;
use crate::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut};
use crate::error::{Error, Result};

/// A variable of a loaded module (`__device__` or `__constant__` in CUDA C++, `.global` or `.const`
/// in PTX), as `T`s. Clones are the same variable, and keep its module loaded.
pub struct Global<T: DeviceCopy> {
    address: CUdeviceptr,
    len: usize,
    module: Module,
    element: PhantomData<T>,
}

impl Module {
    /// The variable of this name, as elements of this type, as many as it has bytes for
    /// (`cuModuleGetGlobal`).
    ///
    /// ```no_run
    /// # use cupola_managers::{Stream, module::Module};
    /// # fn f(module: &Module, stream: &Stream) -> cupola_managers::Result<()> {
    /// module.global::<f32>("weights")?.write(&[0.25, 0.5, 0.25], stream)
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the driver returned: `CUDA_ERROR_NOT_FOUND` when the module has no such variable.
    /// [`Error::Invalid`] for a name with a NUL in it, and when the variable's bytes are no whole
    /// number of elements or not aligned for them; [`Error::Poisoned`], [`Error::Forked`].
    #[doc(alias = "cuModuleGetGlobal")]
    #[track_caller]
    pub fn global<T: DeviceCopy>(&self, name: &str) -> Result<Global<T>> {
        let name = CString::new(name)
            .map_err(|_| Error::invalid("variable name", "it has a NUL inside"))?;
        let driver = self.core().enter()?;
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: the module is loaded, the name ends with a NUL, both places outlive the call.
        let asked = unsafe {
            driver.cuModuleGetGlobal_v2(
                &raw mut address,
                &raw mut bytes,
                self.0.raw.raw,
                name.as_ptr(),
            )
        };
        self.core().check(asked)?;
        // SAFETY: only the numbers are looked at.
        let view = unsafe { DeviceSlice::<u8>::from_raw(address, bytes) };
        Ok(Global {
            address,
            len: view.cast::<T>()?.len(),
            module: self.clone(),
            element: PhantomData,
        })
    }
}

impl<T: DeviceCopy> Global<T> {
    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The device address of the first element.
    #[must_use]
    pub fn as_raw(&self) -> CUdeviceptr {
        self.address
    }

    /// The module that it is of.
    #[must_use]
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The elements, for operations that run after the call that ordered them.
    ///
    /// # Safety
    /// The module is loaded until they have completed: some lease of it, or of a function or
    /// variable of it, is kept for so long. The module waits for its kernels alone.
    #[must_use]
    pub unsafe fn view(&self) -> DeviceSlice<'_, T> {
        // SAFETY: needs the elements until all work on the view has completed: this function's
        // condition keeps their module loaded for so long.
        unsafe { DeviceSlice::from_raw(self.address, self.len) }
    }

    /// The elements, for writing by operations that run after the call that ordered them.
    ///
    /// # Safety
    /// As [`view`](Self::view).
    #[must_use]
    pub unsafe fn view_mut(&self) -> DeviceSliceMut<'_, T> {
        // SAFETY: needs the elements until all work on the view has completed: this function's
        // condition keeps their module loaded for so long.
        unsafe { DeviceSliceMut::from_raw(self.address, self.len) }
    }
}

impl<T: DeviceCopy> Clone for Global<T> {
    fn clone(&self) -> Self {
        Self {
            module: self.module.clone(),
            ..*self
        }
    }
}

impl<T: DeviceCopy> fmt::Debug for Global<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Global({:#x}, {})", self.address, self.len)
    }
}
