//! `LaunchArgs`: a list of arguments that is made while the program runs, without allocating.

use core::ffi::c_void;
use core::fmt;
use core::mem::MaybeUninit;

use super::args::{Access, KernelArg, LaunchId, List, written};
use crate::buffer::{DeviceCopy, Output};
use crate::driver::Identity;
use crate::error::{Error, Result};
use crate::stream::Stream;

/// Most arguments of a [`LaunchArgs`]. Kernels with more take a struct.
pub const MAX_ARGUMENTS: usize = 32;

/// Most bytes of all arguments of a [`LaunchArgs`], each rounded up to its alignment. Kernels that take
/// more get them in device memory, or through [`launch_raw`](super::launch_raw).
pub const MAX_ARGUMENT_BYTES: usize = 512;

/// The most that a value may be aligned to: a [tensor map](crate::tensor) is.
const ALIGN: usize = align_of::<Values>();

/// Memory for values, aligned as far as a value may be.
#[derive(Clone, Copy)]
#[repr(C, align(128))]
struct Values([MaybeUninit<u8>; MAX_ARGUMENT_BYTES]);

/// The arguments of one launch, for programs that learn a kernel's parameters while they run: their
/// values and sizes, and the stream that device memory among them was made ready for. They are compared
/// with the parameters that the kernel declares at each launch.
///
/// ```no_run
/// use cupola_managers::module::Function;
/// use cupola_managers::ops::{self, LaunchArgs, LaunchConfig};
/// use cupola_managers::{Buffer, Stream};
///
/// fn scale(f: &Function, factors: &[f32], x: &mut Buffer<f32>, on: &Stream) -> cupola_managers::Result<()> {
///     let mut arguments = LaunchArgs::new();
///     for factor in factors {
///         arguments.push(*factor)?;
///     }
///     arguments.push_for(x, on)?;
///     // SAFETY: the kernel takes numbers, and a pointer that one thread uses.
///     unsafe { ops::launch(f, LaunchConfig::linear(1, 1), arguments, on) }
/// }
/// ```
#[derive(Clone)]
pub struct LaunchArgs {
    /// The values, one behind the other.
    values: Values,
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
            values: Values([MaybeUninit::uninit(); MAX_ARGUMENT_BYTES]),
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
    /// [`MAX_ARGUMENT_BYTES`], or when the value is aligned to more than 128 bytes.
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
            let values = self.values.0.as_mut_ptr().cast::<u8>();
            values.add(start).cast::<T>().write(value);
        };
        // At most `MAX_ARGUMENT_BYTES`, so it fits.
        self.offsets[self.len] = start as u16;
        self.sizes[self.len] = size;
        self.used = start + size;
        self.len += 1;
        Ok(())
    }

    /// Adds an argument for a launch on `stream`: device memory is made ready for work there.
    ///
    /// # Errors
    /// As [`push`](Self::push). For device memory also [`Error::WrongContext`]; [`Error::Invalid`]
    /// when memory was added for another stream before; [`Error::Tainted`] when it is to be read, and
    /// an operation has failed to write it; and where the stream is made to wait for it
    /// [`Error::Full`] when there are too many events for one more, [`Error::Poisoned`],
    /// [`Error::Forked`], and what the driver returned.
    #[track_caller]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "an argument is a `&mut Buffer`"
    )]
    pub fn push_for(&mut self, argument: impl KernelArg, stream: &Stream) -> Result<()> {
        let Some(memory) = argument.memory() else {
            return self.push(argument.value());
        };
        if memory.access() == Access::Write
            && let Some(output) = memory.output()
        {
            self.outputs.push(output);
        }
        self.expect_stream(stream)?;
        memory.prepare(stream)?;
        self.push(argument.value())?;
        self.stream = Some(StreamId::of(stream));
        Ok(())
    }
}

impl List for LaunchArgs {
    type Values = ();
    type Pointers = PointerList;

    fn sizes(&self) -> &[usize] {
        &self.sizes[..self.len]
    }

    #[track_caller]
    fn prepare(&self, stream: &Stream) -> Result<()> {
        self.expect_stream(stream)
    }

    fn is_ready(&self, stream: &Stream) -> Result<bool> {
        (&self).is_ready(stream)
    }

    fn values(&self) {}

    fn pointers(&self, (): &mut ()) -> PointerList {
        // The driver only reads.
        let base = self.values.0.as_ptr().cast_mut().cast::<u8>();
        // `wrapping_add` stays in the array: offsets are below its length.
        let of = |offset| base.wrapping_add(usize::from(offset)).cast();
        PointerList {
            pointers: self.offsets.map(of),
            len: self.len,
        }
    }

    unsafe fn end(&self, stream: &Stream, result: &Result<()>, launch: LaunchId<'_>) {
        // SAFETY: needs memory that is alive, as this function does.
        unsafe { (&self).end(stream, result, launch) };
    }
}

/// The same list for several launches.
impl List for &LaunchArgs {
    type Values = ();
    type Pointers = PointerList;

    fn sizes(&self) -> &[usize] {
        List::sizes(*self)
    }

    #[track_caller]
    fn prepare(&self, stream: &Stream) -> Result<()> {
        (*self).prepare(stream)
    }

    fn is_ready(&self, stream: &Stream) -> Result<bool> {
        // Memory was made ready when it was added.
        self.expect_stream(stream)?;
        Ok(self.outputs.iter().next().is_none())
    }

    fn values(&self) {}

    fn pointers(&self, values: &mut ()) -> PointerList {
        (*self).pointers(values)
    }

    unsafe fn end(&self, stream: &Stream, result: &Result<()>, launch: LaunchId<'_>) {
        for output in self.outputs.iter() {
            // SAFETY: needs memory that is alive, as this function does.
            unsafe { output.end_write(stream, result, || written(self, launch)) };
        }
    }
}

/// The addresses of a [`LaunchArgs`]'s values.
#[derive(Debug)]
pub struct PointerList {
    pointers: [*mut c_void; MAX_ARGUMENTS],
    len: usize,
}

impl AsMut<[*mut c_void]> for PointerList {
    fn as_mut(&mut self) -> &mut [*mut c_void] {
        &mut self.pointers[..self.len]
    }
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
        let pointers = arguments.pointers(&mut ()).pointers;
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
        #[repr(align(256))]
        struct Wide(#[expect(dead_code)] [u8; 256]);
        // SAFETY: 256 bytes of 256, all numbers.
        unsafe impl DeviceCopy for Wide {}
        assert!(LaunchArgs::new().push(Wide([0; 256])).is_err());
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
        let moved = arguments.clone();
        let pointers = moved.pointers(&mut ()).pointers;
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
}
