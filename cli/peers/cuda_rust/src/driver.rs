//! The driver's own calls, of the library as it is found by name.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

use cupola::sys::driver::{CUfunction, CUstream};
use libloading::Library;

use crate::failure::Failure;
use crate::kernels::THREADS;

type LaunchKernel = unsafe extern "C" fn(
    CUfunction,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    CUstream,
    *mut *mut c_void,
    *mut *mut c_void,
) -> c_int;
type StreamSynchronize = unsafe extern "C" fn(CUstream) -> c_int;

/// Two functions of the driver.
pub struct Driver {
    launch_kernel: LaunchKernel,
    stream_synchronize: StreamSynchronize,
    /// What the functions are in.
    _library: Library,
}

impl Driver {
    pub fn load() -> Result<Self, Failure> {
        // SAFETY: the driver's library may be loaded by any thread at any time, and its functions have
        // had these parameters since CUDA 4.0.
        unsafe {
            let library = Library::new("libcuda.so.1")?;
            Ok(Self {
                launch_kernel: *library.get(b"cuLaunchKernel\0")?,
                stream_synchronize: *library.get(b"cuStreamSynchronize\0")?,
                _library: library,
            })
        }
    }

    /// Launches one block of `function`.
    ///
    /// # Safety
    /// The function and the stream are alive and of the current context, and the pointers lead to values
    /// of all parameters, with which the kernel may run.
    #[inline]
    pub unsafe fn launch(
        &self,
        function: CUfunction,
        stream: CUstream,
        parameters: &mut [*mut c_void],
    ) -> Result<(), Failure> {
        let (parameters, none) = (parameters.as_mut_ptr(), ptr::null_mut());
        // SAFETY: the caller says so.
        let code = unsafe {
            (self.launch_kernel)(
                function, 1, 1, 1, THREADS, 1, 1, 0, stream, parameters, none,
            )
        };
        told("cuLaunchKernel", code)
    }

    /// Waits for all work on `stream`.
    ///
    /// # Safety
    /// The stream is alive and of the current context.
    #[inline]
    pub unsafe fn synchronize(&self, stream: CUstream) -> Result<(), Failure> {
        // SAFETY: the caller says so.
        told("cuStreamSynchronize", unsafe {
            (self.stream_synchronize)(stream)
        })
    }
}

fn told(call: &'static str, code: c_int) -> Result<(), Failure> {
    match code {
        0 => Ok(()),
        code => Err(Failure::Call(call, code)),
    }
}
