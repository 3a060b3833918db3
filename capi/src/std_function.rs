//! A `std::function<bool(cudaStream_t)>` of libstdc++, which PyTorch passes by a hidden pointer.
//!
//! Its layout is part of libstdc++'s ABI (GCC 3.4 to today): two words of the functor or a pointer to it, the
//! manager, which copies and destroys it, and the invoker. PyTorch's wheels for Linux are built with it.
//! Another C++ library's is refused.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;

use cupola_sys::driver::CUstream;

use crate::error::Failure;

type Functor = [*mut c_void; 2];

/// As libstdc++ lays it out. The functions may throw.
#[repr(C)]
struct StdFunction {
    functor: Functor,
    manager: Option<unsafe extern "C-unwind" fn(*mut Functor, *const Functor, c_int) -> bool>,
    invoker: Option<unsafe extern "C-unwind" fn(*const Functor, *mut CUstream) -> bool>,
}

/// `std::__clone_functor`.
const CLONE: c_int = 2;
/// `std::__destroy_functor`.
const DESTROY: c_int = 3;

/// Says whether a stream's requests are meant.
pub(crate) struct StreamFilter(StdFunction);

// SAFETY: PyTorch's filters compare numbers and ask the runtime about the stream, on any thread that
// allocates; this one is called by one thread at a time.
unsafe impl Send for StreamFilter {}

impl StreamFilter {
    /// A copy: the caller's own ends when the call returns.
    ///
    /// # Safety
    /// `function` is null or a live `std::function<bool(cudaStream_t)>` of libstdc++.
    #[cfg(target_os = "linux")]
    pub(crate) unsafe fn copy(function: *const c_void) -> Result<Self, Failure> {
        let name = "filter";
        // SAFETY: null, or a live one, by the condition of this function.
        let from = unsafe { function.cast::<StdFunction>().as_ref() };
        let from = from.ok_or(Failure::Null { name })?;
        let (Some(manager), Some(_)) = (from.manager, from.invoker) else {
            return Err(Failure::Null { name });
        };
        let mut functor = MaybeUninit::<Functor>::zeroed();
        // SAFETY: the manager is that of `from`, and copies its functor into a place of two words.
        unsafe { manager(functor.as_mut_ptr(), &raw const from.functor, CLONE) };
        Ok(Self(StdFunction {
            // SAFETY: all bit patterns are pointers.
            functor: unsafe { functor.assume_init() },
            manager: from.manager,
            invoker: from.invoker,
        }))
    }

    /// # Safety
    /// None: it refuses every function.
    #[cfg(not(target_os = "linux"))]
    pub(crate) unsafe fn copy(_: *const c_void) -> Result<Self, Failure> {
        Err(Failure::UnknownFunction)
    }

    /// Whether the stream's requests are meant.
    pub(crate) fn accepts(&self, mut stream: CUstream) -> bool {
        // SAFETY: the invoker belongs to the functor, which is there, and takes the stream by reference.
        (self.0.invoker)
            .is_some_and(|invoker| unsafe { invoker(&raw const self.0.functor, &raw mut stream) })
    }
}

impl Drop for StreamFilter {
    fn drop(&mut self) {
        let functor = &raw mut self.0.functor;
        if let Some(manager) = self.0.manager {
            // SAFETY: the functor is this value's own copy, which ends here.
            unsafe { manager(functor, functor, DESTROY) };
        }
    }
}
