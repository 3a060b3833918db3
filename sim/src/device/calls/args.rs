//! Arguments of C functions as types whose use is safe: the promise that a pointer is
//! null or good is made once, where the C function is entered.

#[cfg(unix)]
use std::ffi::OsString;
use std::ffi::{CStr, c_char, c_void};
use std::path::PathBuf;

use cupola_sys::driver::CUresult;

/// What every function body returns; the error is the code that the caller sees.
pub(in crate::device) type Reply<T = ()> = Result<T, CUresult>;

/// Makes an argument of a body from the C argument.
pub(in crate::device) trait FromC<C>: Sized {
    /// # Safety
    /// A pointer is null or is good for what `Self` says it does, until the call returns.
    unsafe fn from_c(value: C) -> Self;
}

impl<T> FromC<T> for T {
    unsafe fn from_c(value: T) -> Self {
        value
    }
}

/// A place for a result.
pub(in crate::device) struct Out<T>(*mut T);

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T> FromC<*mut T> for Out<T> {
    unsafe fn from_c(value: *mut T) -> Self {
        Self(value)
    }
}

impl<T> Out<T> {
    /// Writes the result; null is an invalid value.
    pub(in crate::device) fn set(self, value: T) -> Reply {
        self.check()?;
        self.set_if(value);
        Ok(())
    }

    /// Writes the result if the caller gave a place for it.
    pub(in crate::device) fn set_if(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: a non-null place is writable (`from_c`). C callers may have packed it.
            unsafe { self.0.write_unaligned(value) };
        }
    }

    /// An error if the place is null, for calls that must not have effects then.
    pub(in crate::device) fn check(self) -> Reply {
        if self.0.is_null() {
            Err(CUresult::CUDA_ERROR_INVALID_VALUE)
        } else {
            Ok(())
        }
    }

    pub(in crate::device) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Whether the address of the place is a multiple of this.
    pub(in crate::device) fn is_aligned_to(self, bytes: usize) -> bool {
        self.0.addr().is_multiple_of(bytes)
    }

    /// No place.
    pub(in crate::device) fn none() -> Self {
        Self(std::ptr::null_mut())
    }
}

impl<T: Copy> Out<T> {
    /// What the place holds, for a function that exchanges it.
    pub(in crate::device) fn get(self) -> Reply<T> {
        In(self.0.cast_const()).get()
    }
}

impl Out<c_char> {
    /// A buffer that an argument's own value points to, under the argument's contract.
    pub(in crate::device) fn to(value: *mut c_char) -> Self {
        Self(value)
    }

    /// Writes text with its NUL into `len` bytes, cut where they end.
    pub(in crate::device) fn set_text(self, len: i32, text: &str) -> Reply {
        let len = usize::try_from(len).map_err(|_| CUresult::CUDA_ERROR_INVALID_VALUE)?;
        if self.0.is_null() || len == 0 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let bytes = &text.as_bytes()[..text.len().min(len - 1)];
        // SAFETY: the caller gave `len` writable bytes, and at most `len` are written.
        unsafe {
            self.0
                .cast::<u8>()
                .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            self.0.add(bytes.len()).write(0);
        }
        Ok(())
    }
}

impl Out<c_void> {
    /// A place out of an array of places.
    pub(in crate::device) fn of(place: *mut c_void) -> Self {
        Self(place)
    }

    /// The place as an array of values, as long as the argument's contract says.
    pub(in crate::device) fn slots<T>(self) -> Slots<T> {
        Slots(self.0.cast())
    }

    /// Writes a value of the type that the attribute asked for has.
    pub(in crate::device) fn set_as<T>(self, value: T) -> Reply {
        Out(self.0.cast::<T>()).set(value)
    }

    /// Reads a value of the type that the attribute has.
    pub(in crate::device) fn get_as<T: Copy>(self) -> Reply<T> {
        In(self.0.cast_const().cast::<T>()).get()
    }
}

/// A structure or an array to read.
#[derive(Clone, Copy)]
pub(in crate::device) struct In<T>(*const T);

impl<T> FromC<*const T> for In<T> {
    unsafe fn from_c(value: *const T) -> Self {
        Self(value)
    }
}

impl<T> FromC<*mut T> for In<T> {
    unsafe fn from_c(value: *mut T) -> Self {
        Self(value.cast_const())
    }
}

impl<T: Copy> In<T> {
    /// What an argument's own field points to, under the argument's contract.
    pub(in crate::device) fn of(value: *const T) -> Self {
        Self(value)
    }

    /// The value; null is an invalid value.
    pub(in crate::device) fn get(self) -> Reply<T> {
        self.at(0)
    }

    /// Element `index` of the array, which the caller says is long enough.
    pub(in crate::device) fn at(self, index: usize) -> Reply<T> {
        if self.0.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: a non-null pointer is readable for what the function's contract says.
        Ok(unsafe { self.0.add(index).read_unaligned() })
    }

    pub(in crate::device) fn is_null(self) -> bool {
        self.0.is_null()
    }
}

impl In<c_void> {
    /// Reads a value of the type that the attribute has.
    pub(in crate::device) fn get_as<T: Copy>(self) -> Reply<T> {
        In(self.0.cast::<T>()).get()
    }
}

/// An array that is read and written, such as the values of options.
#[derive(Clone, Copy)]
pub(in crate::device) struct Slots<T>(*mut T);

impl<T> FromC<*mut T> for Slots<T> {
    unsafe fn from_c(value: *mut T) -> Self {
        Self(value)
    }
}

impl<T: Copy> Slots<T> {
    /// Element `index` of the array, which the caller says is long enough.
    pub(in crate::device) fn at(self, index: usize) -> Reply<T> {
        In(self.0.cast_const()).at(index)
    }

    /// Writes element `index` of the array.
    pub(in crate::device) fn put(self, index: usize, value: T) -> Reply {
        if self.0.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: a non-null array is writable as far as the function's contract says.
        unsafe { self.0.add(index).write_unaligned(value) };
        Ok(())
    }

    /// What an argument's own field points to, under the argument's contract.
    pub(in crate::device) fn of(start: *mut T) -> Self {
        Self(start)
    }

    /// No array.
    pub(in crate::device) fn none() -> Self {
        Self(std::ptr::null_mut())
    }

    pub(in crate::device) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The array itself.
    pub(in crate::device) fn start(self) -> *const T {
        self.0.cast_const()
    }
}

/// A C string.
#[derive(Clone, Copy)]
pub(in crate::device) struct Text(*const c_char);

impl FromC<*const c_char> for Text {
    unsafe fn from_c(value: *const c_char) -> Self {
        Self(value)
    }
}

impl Text {
    /// The bytes before the NUL, or something else for null.
    pub(in crate::device) fn bytes_or(self, other: &[u8]) -> Vec<u8> {
        self.bytes().unwrap_or_else(|_| other.to_vec())
    }

    /// The bytes before the NUL; null is an invalid value.
    pub(in crate::device) fn bytes(self) -> Reply<Vec<u8>> {
        if self.0.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: a non-null text ends with NUL (`from_c`).
        Ok(unsafe { CStr::from_ptr(self.0) }.to_bytes().to_vec())
    }

    /// The name of a file, whose bytes need not be UTF-8 where the system asks for none.
    ///
    /// # Errors
    /// Null is an invalid value; where names are text, what is none names no file.
    pub(in crate::device) fn path(self) -> Reply<PathBuf> {
        let bytes = self.bytes()?;
        #[cfg(unix)]
        let path: OsString = std::os::unix::ffi::OsStringExt::from_vec(bytes);
        #[cfg(not(unix))]
        let path = String::from_utf8(bytes).map_err(|_| CUresult::CUDA_ERROR_FILE_NOT_FOUND)?;
        Ok(PathBuf::from(path))
    }
}
