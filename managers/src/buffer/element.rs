//! `DeviceCopy`: values that may be copied to and from a device byte by byte. The trait alone,
//! without the derive macro of the same name.

use crate::error::{Error, Result};

/// A plain value that means the same on the device: numbers, arrays of them, and structs of them.
///
/// Implemented for the numbers, `bool`, arrays, and with the feature `half` for `f16` and `bf16`.
/// `#[derive(DeviceCopy)]` (feature `derive`) implements it for a struct and checks each condition
/// below at compile time. Every type that has it is an argument of kernels, by value.
///
/// Most types take any bytes. For types that do not (`bool`, and structs that contain one), every
/// read from a device looks at each element before it hands out a reference, and is
/// [`Error::Invalid`] if one has bytes that are no value: a kernel may have written any bytes.
///
/// # Safety
/// * No byte of a value is padding or otherwise uninitialised: `#[repr(C)]` or
///   `#[repr(transparent)]`, and the sizes of the fields add up to the size of the whole.
/// * It contains no reference and no pointer to host memory that safe code follows.
/// * All bytes zero are a value.
/// * If [`ANY_BITS`](Self::ANY_BITS) is true, any bytes are a value. Else all bytes for which
///   [`is_valid`](Self::is_valid) returns true are one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be copied to a device byte by byte",
    note = "derive it for a `#[repr(C)]` struct: `#[derive(Clone, Copy, DeviceCopy)]` (feature `derive`)"
)]
pub unsafe trait DeviceCopy: Copy + Send + Sync + 'static {
    /// Whether every pattern of bits is a value.
    const ANY_BITS: bool = true;

    /// Whether these bytes, as many as the type has, are a value. Asked only if
    /// [`ANY_BITS`](Self::ANY_BITS) is false.
    fn is_valid(bytes: &[u8]) -> bool {
        let _ = bytes;
        Self::ANY_BITS
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        // SAFETY: a number has no padding, no pointer and no invalid patterns.
        unsafe impl DeviceCopy for $number {}
    )*};
}

numbers! { u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize f32 f64 }

#[cfg(feature = "half")]
numbers! { half::f16 half::bf16 }

// SAFETY: one byte, 0 or 1, which `is_valid` asks for.
unsafe impl DeviceCopy for bool {
    const ANY_BITS: bool = false;

    fn is_valid(bytes: &[u8]) -> bool {
        matches!(bytes, [0 | 1])
    }
}

// SAFETY: an array has no padding of its own, and is valid where its elements are.
unsafe impl<T: DeviceCopy, const N: usize> DeviceCopy for [T; N] {
    const ANY_BITS: bool = T::ANY_BITS;

    fn is_valid(bytes: &[u8]) -> bool {
        let size = size_of::<T>();
        size == 0 || bytes.chunks(size).all(T::is_valid)
    }
}

/// The first of `len` elements whose bytes are no value.
///
/// # Safety
/// `start` is the address of `len` elements, all bytes of which are initialised; nothing writes
/// them meanwhile.
unsafe fn first_invalid<T: DeviceCopy>(start: *const T, len: usize) -> Option<usize> {
    let size = size_of::<T>();
    if T::ANY_BITS || size == 0 {
        return None;
    }
    // SAFETY: the caller's elements, looked at as bytes, of which none is padding (`DeviceCopy`).
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), len * size) };
    bytes
        .chunks_exact(size)
        .position(|element| !T::is_valid(element))
}

fn no_value<T>(index: usize, len: usize) -> Error {
    let problem = format!(
        "the bytes that the device wrote to number {index} of {len} are no value of {}",
        std::any::type_name::<T>()
    );
    Error::invalid("element", problem)
}

/// Refuses elements that a device has written and that are no values.
///
/// # Safety
/// `start` is the address of `len` elements, all bytes of which are initialised; nothing writes
/// them meanwhile.
#[track_caller]
pub(crate) unsafe fn check<T: DeviceCopy>(start: *const T, len: usize) -> Result<()> {
    // SAFETY: needs `len` initialised elements that nothing writes meanwhile, as this function
    // does.
    unsafe { first_invalid(start, len) }.map_or(Ok(()), |index| Err(no_value::<T>(index, len)))
}

/// Makes zeros of elements that a device has written and that are no values, and returns an error
/// for the first.
///
/// # Safety
/// `start` is the address of `len` elements, all bytes of which are initialised; they may be
/// written here, and nothing else writes them meanwhile.
#[track_caller]
pub(crate) unsafe fn repair<T: DeviceCopy>(start: *mut T, len: usize) -> Result<()> {
    let mut found = Ok(());
    let mut from = 0;
    // SAFETY: `from` is at most `len`, so it is the rest of the caller's elements.
    while let Some(index) = unsafe { first_invalid(start.add(from).cast_const(), len - from) } {
        let index = from + index;
        // SAFETY: below `len`; zeros are a value (`DeviceCopy`).
        unsafe { start.add(index).write_bytes(0, 1) };
        if found.is_ok() {
            found = Err(no_value::<T>(index, len));
        }
        from = index + 1;
    }
    found
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it bytes that are no `bool` could become one, which is undefined behaviour in safe
    // code, or a valid one could be refused.
    #[test]
    fn bytes_that_are_no_value_are_found_and_made_zeros() {
        let property = |mut bytes: Vec<u8>| {
            // Half of them are valid.
            bytes.iter_mut().step_by(2).for_each(|byte| *byte %= 2);
            let before = bytes.clone();
            let first = before.iter().position(|&byte| byte > 1);
            let (start, len) = (bytes.as_mut_ptr().cast::<bool>(), bytes.len());
            // SAFETY: `len` bytes, initialised and written here only.
            let (checked, repaired) = unsafe { (check(start, len), repair(start, len)) };
            let named = |result: Result<()>| {
                result.err().map(|error| {
                    error
                        .to_string()
                        .contains(&format!("number {} of", first.unwrap_or(0)))
                })
            };
            let right = first.map(|_| true);
            named(checked) == right
                && named(repaired) == right
                && bytes
                    .iter()
                    .zip(&before)
                    .all(|(&now, &old)| now == if old > 1 { 0 } else { old })
        };
        quickcheck::quickcheck(property as fn(Vec<u8>) -> bool);
    }

    // Without it an array could hide elements that are no values.
    #[test]
    fn arrays_are_valid_where_their_elements_are() {
        assert!(<[bool; 3]>::is_valid(&[1, 0, 1]));
        assert!(!<[bool; 3]>::is_valid(&[1, 0, 2]));
        const { assert!(!<[[bool; 2]; 2]>::ANY_BITS && <[u32; 4]>::ANY_BITS) };
        assert!(<[bool; 0]>::is_valid(&[]));
    }
}
