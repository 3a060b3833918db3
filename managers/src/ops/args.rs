//! Arguments of a launch: plain values and device memory, their number and sizes checked against
//! the parameters that the kernel declares, without allocating.

use core::ffi::c_void;
use core::fmt;
use core::mem::MaybeUninit;
use std::hash::{DefaultHasher, Hash, Hasher};

use cupola_sys::driver::CUdeviceptr;

use crate::buffer::{Buffer, DeviceCopy, DeviceSlice, DeviceSliceMut, Output};
use crate::driver::Identity;
use crate::error::{ArgumentMismatch, Error, Result, Written};
use crate::module::Parameter;
use crate::stream::Stream;

/// Most arguments of a launch. Kernels with more take a struct.
pub const MAX_ARGUMENTS: usize = 32;

/// Most bytes of all arguments of a launch, each rounded up to its alignment. Kernels that take
/// more get them in device memory, or through [`launch_raw`](super::launch_raw).
pub const MAX_ARGUMENT_BYTES: usize = 512;

/// The most that a value may be aligned to.
const ALIGN: usize = align_of::<Unit>();

/// A piece of the memory for values, aligned as far as a value may be.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Unit([MaybeUninit<u8>; 16]);

/// The arguments of one launch: their values and sizes, and the stream that device memory
/// among them was made ready for.
#[derive(Clone)]
pub struct LaunchArgs {
    /// The values, one behind the other.
    values: [Unit; MAX_ARGUMENT_BYTES / size_of::<Unit>()],
    /// Where each begins, in bytes.
    offsets: [u16; MAX_ARGUMENTS],
    sizes: [usize; MAX_ARGUMENTS],
    len: usize,
    /// Bytes of `values` that are taken.
    used: usize,
    stream: Option<StreamId>,
    outputs: Outputs,
}

/// The device memory among the arguments that the kernel may write. Of few arguments it is kept
/// without an allocation.
#[derive(Clone)]
struct Outputs {
    few: [Option<Output>; 4],
    more: Vec<Output>,
}

impl Outputs {
    fn push(&mut self, output: Output) {
        match self.few.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(output),
            None => self.more.push(output),
        }
    }

    fn iter(&self) -> impl Iterator<Item = Output> {
        (self.few.into_iter().flatten()).chain(self.more.iter().copied())
    }
}

/// A stream: its context, and its address, which no other stream has while memory that was made
/// ready for it is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StreamId(Identity, usize);

impl StreamId {
    fn of(stream: &Stream) -> Self {
        Self(stream.core().identity(), stream.raw().addr())
    }
}

impl Default for LaunchArgs {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for LaunchArgs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaunchArgs")
            .field("sizes", &self.sizes())
            .finish_non_exhaustive()
    }
}

impl LaunchArgs {
    /// No arguments.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            values: [Unit([MaybeUninit::uninit(); 16]); MAX_ARGUMENT_BYTES / size_of::<Unit>()],
            offsets: [0; MAX_ARGUMENTS],
            sizes: [0; MAX_ARGUMENTS],
            len: 0,
            used: 0,
            stream: None,
            outputs: Outputs {
                few: [None; 4],
                more: Vec::new(),
            },
        }
    }

    /// Refuses a launch on another stream than the one that device memory was made ready for.
    fn expect_stream(&self, stream: &Stream) -> Result<()> {
        if self
            .stream
            .is_none_or(|known| known == StreamId::of(stream))
        {
            return Ok(());
        }
        Err(Error::invalid(
            "arguments",
            "device memory among them was made ready for another stream",
        ))
    }

    /// Adds the address of device memory that was made ready for `stream`.
    fn push_address(&mut self, address: CUdeviceptr, stream: &Stream) -> Result<()> {
        self.expect_stream(stream)?;
        self.push(address)?;
        self.stream = Some(StreamId::of(stream));
        Ok(())
    }

    /// Number of arguments.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size of each argument in bytes.
    #[must_use]
    pub fn sizes(&self) -> &[usize] {
        &self.sizes[..self.len]
    }

    /// Adds a value: a number, an array, a struct.
    ///
    /// # Errors
    /// [`Error::Invalid`] when there are [`MAX_ARGUMENTS`] already, when there would be more than
    /// [`MAX_ARGUMENT_BYTES`], or when the value is aligned to more than 16 bytes.
    pub fn push<T: DeviceCopy>(&mut self, value: T) -> Result<()> {
        let (size, align) = (size_of::<T>(), align_of::<T>());
        if self.len == MAX_ARGUMENTS {
            let problem = format!("a launch takes at most {MAX_ARGUMENTS}");
            return Err(Error::invalid("arguments", problem));
        }
        if align > ALIGN {
            let problem = format!("aligned to {align} bytes; a launch takes up to {ALIGN}");
            return Err(Error::invalid("argument", problem));
        }
        let start = self.used.next_multiple_of(align);
        if start + size > MAX_ARGUMENT_BYTES {
            let problem = format!(
                "{} bytes; a launch takes at most {MAX_ARGUMENT_BYTES}: pass the value in device \
                 memory",
                start + size
            );
            return Err(Error::invalid("arguments", problem));
        }
        // SAFETY: `size` bytes from `start` lie in `values`, aligned for `T`: `start` is a multiple
        // of its alignment, which that of `values` is a multiple of.
        unsafe {
            let values = self.values.as_mut_ptr().cast::<u8>();
            values.add(start).cast::<T>().write(value);
        };
        // At most `MAX_ARGUMENT_BYTES`, so it fits.
        self.offsets[self.len] = start as u16;
        self.sizes[self.len] = size;
        self.used = start + size;
        self.len += 1;
        Ok(())
    }

    /// The end of a launch with these arguments, which was put on `stream` with this result, if it
    /// was put at all: after a failure its outputs are not readable. `launch` is what it is of
    /// besides the arguments.
    ///
    /// # Safety
    /// The device memory among the arguments is alive.
    #[inline]
    pub(super) unsafe fn end_launch(
        &self,
        stream: &Stream,
        result: Result<()>,
        launch: impl Hash,
    ) -> Result<()> {
        for output in self.outputs.iter() {
            // SAFETY: needs memory that is alive, as this function does.
            unsafe { output.end_write(stream, &result, || self.written(&launch)) };
        }
        result
    }

    /// What a launch writes with these arguments.
    #[cold]
    fn written(&self, launch: &impl Hash) -> Written {
        let mut digest = DefaultHasher::new();
        launch.hash(&mut digest);
        let values = self.values.as_ptr().cast::<u8>();
        for (&offset, &size) in self.offsets.iter().zip(self.sizes()) {
            // SAFETY: `push` has written a value of this size there, none of whose bytes is padding
            // (`DeviceCopy`).
            let value = unsafe { std::slice::from_raw_parts(values.add(offset.into()), size) };
            value.hash(&mut digest);
        }
        Written::Some(digest.finish())
    }

    /// The address of each argument.
    pub(crate) fn pointers(&mut self) -> [*mut c_void; MAX_ARGUMENTS] {
        let base = self.values.as_mut_ptr().cast::<u8>();
        // `wrapping_add` stays in the array: offsets are below its length.
        self.offsets
            .map(|offset| base.wrapping_add(usize::from(offset)).cast())
    }
}

/// Compares the sizes of a launch's arguments with the parameters that a kernel declares.
pub(super) fn compare(sizes: &[usize], declared: &[Parameter]) -> Result<(), ArgumentMismatch> {
    if sizes.len() != declared.len() {
        return Err(ArgumentMismatch::Count {
            declared: declared.len(),
            given: sizes.len(),
        });
    }
    for (index, (&given, parameter)) in sizes.iter().zip(declared).enumerate() {
        if given != parameter.size {
            return Err(ArgumentMismatch::Size {
                index,
                declared: parameter.size,
                given,
            });
        }
    }
    Ok(())
}

/// A value that can be an argument of a kernel: a number, an array or a struct by value, a
/// reference to a [`Buffer`], a view.
///
/// `#[derive(DeviceCopy)]` implements it for a struct; by hand it is one line:
/// `arguments.push(self)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a kernel",
    note = "pass a number, a `&Buffer`, a view, or a struct with `#[derive(DeviceCopy)]`"
)]
pub trait KernelArg {
    /// Adds the argument for a launch on `stream`.
    ///
    /// # Errors
    /// As [`LaunchArgs::push`]. For device memory also [`Error::WrongContext`],
    /// [`Error::Invalid`] when memory was added for another stream before, and where the stream is
    /// made to wait for it [`Error::Full`] when there are too many events for one more,
    /// [`Error::Poisoned`], [`Error::Forked`], and what the driver returned.
    #[track_caller]
    fn push(self, arguments: &mut LaunchArgs, stream: &Stream) -> Result<()>;
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl KernelArg for $number {
            // Compiled for the numbers that a program passes, not for all of them here.
            #[inline]
            fn push(self, arguments: &mut LaunchArgs, _: &Stream) -> Result<()> {
                arguments.push(self)
            }
        }
    )*};
}

numbers! { u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize f32 f64 bool }

#[cfg(feature = "half")]
numbers! { half::f16 half::bf16 }

impl<T: DeviceCopy, const N: usize> KernelArg for [T; N] {
    fn push(self, arguments: &mut LaunchArgs, _: &Stream) -> Result<()> {
        arguments.push(self)
    }
}

impl<T: DeviceCopy> KernelArg for DeviceSlice<'_, T> {
    fn push(self, arguments: &mut LaunchArgs, stream: &Stream) -> Result<()> {
        self.check_written(stream)?;
        self.join(stream)?;
        arguments.push_address(self.as_raw(), stream)
    }
}

impl<T: DeviceCopy> KernelArg for DeviceSliceMut<'_, T> {
    fn push(self, arguments: &mut LaunchArgs, stream: &Stream) -> Result<()> {
        if let Some(output) = self.output() {
            arguments.outputs.push(output);
        }
        self.join(stream)?;
        arguments.push_address(self.as_raw(), stream)
    }
}

impl<T: DeviceCopy> KernelArg for &Buffer<T> {
    fn push(self, arguments: &mut LaunchArgs, stream: &Stream) -> Result<()> {
        self.view().push(arguments, stream)
    }
}

impl<T: DeviceCopy> KernelArg for &mut Buffer<T> {
    fn push(self, arguments: &mut LaunchArgs, stream: &Stream) -> Result<()> {
        self.view_mut().push(arguments, stream)
    }
}

/// A list of arguments: a tuple of up to 12, or [`LaunchArgs`].
pub trait KernelArgs {
    /// Makes `arguments`, which has none, those of a launch on `stream`. After an error it has them
    /// all the same as far as they could be added: a launch that is not made does not write what it
    /// was to write.
    ///
    /// # Errors
    /// [`Error::Invalid`] for [`LaunchArgs`] made for another stream; the first error of
    /// [`KernelArg::push`].
    #[track_caller]
    fn collect(self, arguments: &mut LaunchArgs, stream: &Stream) -> Result<()>;
}

impl KernelArgs for LaunchArgs {
    fn collect(self, arguments: &mut LaunchArgs, stream: &Stream) -> Result<()> {
        let expected = self.expect_stream(stream);
        *arguments = self;
        expected
    }
}

macro_rules! tuples {
    ($($($name:ident)*;)*) => {$(
        impl<$($name: KernelArg),*> KernelArgs for ($($name,)*) {
            fn collect(self, arguments: &mut LaunchArgs, stream: &Stream) -> Result<()> {
                #[allow(non_snake_case)]
                let ($($name,)*) = self;
                #[allow(unused_mut)]
                let mut first = Ok(());
                let _ = (&arguments, stream);
                $(
                    let pushed = $name.push(arguments, stream);
                    if first.is_ok() {
                        first = pushed;
                    }
                )*
                first
            }
        }
    )*};
}

tuples! {
    ;
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
    A B C D E F G H I;
    A B C D E F G H I J;
    A B C D E F G H I J K;
    A B C D E F G H I J K L;
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it an argument could be written to the wrong place or with the wrong size,
    // and the kernel would read its neighbour.
    #[test]
    fn pointers_lead_to_the_values_in_order() {
        let mut arguments = LaunchArgs::new();
        arguments.push(7u64).unwrap();
        arguments.push(1.5f32).unwrap();
        arguments.push(0xabu8).unwrap();
        assert_eq!(arguments.sizes(), [8, 4, 1]);
        let pointers = arguments.pointers();
        // SAFETY: each is the address of a value of that type in `arguments`.
        let read = unsafe {
            (
                pointers[0].cast::<u64>().read(),
                pointers[1].cast::<f32>().read(),
                pointers[2].cast::<u8>().read(),
            )
        };
        assert_eq!(read, (7, 1.5, 0xab));
    }

    // Without it too many arguments would be written past the end.
    #[test]
    fn too_many_or_too_large_arguments_are_refused() {
        let mut arguments = LaunchArgs::new();
        assert!(arguments.push([0u64; 65]).is_err());
        for index in 0..MAX_ARGUMENTS {
            arguments.push(index).unwrap();
        }
        assert!(arguments.push(0u8).is_err());
        assert_eq!(arguments.len(), MAX_ARGUMENTS);

        let mut arguments = LaunchArgs::new();
        arguments.push([1u8; MAX_ARGUMENT_BYTES - 1]).unwrap();
        // Rounded up to its alignment it begins past the end.
        assert!(arguments.push(0u16).is_err());
        arguments.push(2u8).unwrap();
        assert!(arguments.push(3u8).is_err());
        assert_eq!(arguments.sizes(), [MAX_ARGUMENT_BYTES - 1, 1]);

        #[derive(Clone, Copy)]
        #[repr(align(32))]
        struct Wide(#[expect(dead_code)] [u8; 32]);
        // SAFETY: 32 bytes of 32, all numbers.
        unsafe impl DeviceCopy for Wide {}
        assert!(LaunchArgs::new().push(Wide([0; 32])).is_err());
    }

    // Without it structs and arrays could be cut, or be written where the driver does not read.
    #[test]
    fn values_of_any_size_are_aligned_and_whole() {
        let mut arguments = LaunchArgs::new();
        arguments.push(true).unwrap();
        arguments.push([1.0f32, 2.0, 3.0]).unwrap();
        arguments.push(u128::MAX - 5).unwrap();
        arguments.push(7u8).unwrap();
        arguments.push([9u64; 3]).unwrap();
        assert_eq!(arguments.sizes(), [1, 12, 16, 1, 24]);
        let mut moved = arguments.clone();
        let pointers = moved.pointers();
        // SAFETY: each is the address of a value of that type in `moved`; `read` asserts that it
        // is aligned in builds with debug assertions.
        let read = unsafe {
            (
                pointers[0].cast::<bool>().read(),
                pointers[1].cast::<[f32; 3]>().read(),
                pointers[2].cast::<u128>().read(),
                pointers[3].cast::<u8>().read(),
                pointers[4].cast::<[u64; 3]>().read(),
            )
        };
        assert_eq!(read, (true, [1.0, 2.0, 3.0], u128::MAX - 5, 7, [9; 3]));
    }

    // Without it a kernel could be launched with arguments of the wrong size.
    #[test]
    fn differences_are_named() {
        let declared = [8, 4].map(|size| Parameter { offset: 0, size });
        assert_eq!(compare(&[8, 4], &declared), Ok(()));
        assert_eq!(
            compare(&[8], &declared),
            Err(ArgumentMismatch::Count {
                declared: 2,
                given: 1
            })
        );
        assert_eq!(
            compare(&[8, 8], &declared),
            Err(ArgumentMismatch::Size {
                index: 1,
                declared: 4,
                given: 8
            })
        );
    }
}
