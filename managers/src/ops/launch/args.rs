//! Arguments of a launch: what the kernel gets of each, and the device memory that it names.

use core::ffi::c_void;
use core::fmt;
use core::ops::Range;
use std::hash::{DefaultHasher, Hash, Hasher};

use cupola_sys::driver::CUdeviceptr;

use super::LaunchConfig;
use crate::buffer::{
    Block, Buffer, DeviceCopy, DeviceSlice, DeviceSliceMut, Output, check_pointer,
};
use crate::error::{Result, Written};
use crate::module::Function;
use crate::stream::Stream;

/// An argument of a kernel: a number, an array or a struct by value (all that is [`DeviceCopy`]), a
/// reference to a [`Buffer`], a view.
///
/// A type that wraps one of these is an argument too where it says what the kernel gets:
///
/// ```
/// use cupola_managers::Buffer;
/// use cupola_managers::ops::{KernelArg, UsedMemory};
///
/// struct Weights(Buffer<f32>);
///
/// impl KernelArg for &Weights {
///     type Value = u64;
///
///     fn value(&self) -> u64 {
///         self.0.as_raw()
///     }
///
///     fn memory(&self) -> Option<UsedMemory<'_>> {
///         Some(UsedMemory::read(self.0.view()))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a kernel",
    note = "pass a number, a `&Buffer`, a view, or a struct with `#[derive(DeviceCopy)]`"
)]
pub trait KernelArg {
    /// What the kernel gets.
    type Value: DeviceCopy;

    /// What the kernel gets.
    fn value(&self) -> Self::Value;

    /// The device memory that the kernel may touch by this argument, with its address and its length
    /// in bytes.
    #[inline]
    fn memory(&self) -> Option<UsedMemory<'_>> {
        None
    }
}

impl<T: DeviceCopy> KernelArg for T {
    type Value = T;

    #[inline]
    fn value(&self) -> T {
        *self
    }
}

impl<T: DeviceCopy> KernelArg for DeviceSlice<'_, T> {
    type Value = CUdeviceptr;

    #[inline]
    fn value(&self) -> CUdeviceptr {
        self.as_raw()
    }

    #[inline]
    fn memory(&self) -> Option<UsedMemory<'_>> {
        Some(UsedMemory::read(*self))
    }
}

impl<T: DeviceCopy> KernelArg for DeviceSliceMut<'_, T> {
    type Value = CUdeviceptr;

    #[inline]
    fn value(&self) -> CUdeviceptr {
        self.as_raw()
    }

    #[inline]
    fn memory(&self) -> Option<UsedMemory<'_>> {
        Some(UsedMemory::write(self.as_slice()))
    }
}

impl<T: DeviceCopy> KernelArg for &Buffer<T> {
    type Value = CUdeviceptr;

    #[inline]
    fn value(&self) -> CUdeviceptr {
        self.as_raw()
    }

    #[inline]
    fn memory(&self) -> Option<UsedMemory<'_>> {
        Some(UsedMemory::read(self.view()))
    }
}

impl<T: DeviceCopy> KernelArg for &mut Buffer<T> {
    type Value = CUdeviceptr;

    #[inline]
    fn value(&self) -> CUdeviceptr {
        self.as_raw()
    }

    #[inline]
    fn memory(&self) -> Option<UsedMemory<'_>> {
        Some(UsedMemory::write(self.view()))
    }
}

/// What an operation does with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// It reads.
    Read,
    /// It writes, and may read.
    Write,
}

/// Device memory that an argument of a launch names: what the kernel may touch by it.
#[derive(Clone, Copy)]
pub struct UsedMemory<'b> {
    address: CUdeviceptr,
    bytes: u64,
    access: Access,
    /// The memory's owner; `None` for memory that this crate does not own.
    block: Option<&'b Block>,
}

impl<'b> UsedMemory<'b> {
    /// Elements that the kernel reads.
    #[must_use]
    #[inline]
    pub fn read<T: DeviceCopy>(elements: DeviceSlice<'b, T>) -> Self {
        Self {
            address: elements.as_raw(),
            bytes: elements.bytes(),
            access: Access::Read,
            block: elements.owner(),
        }
    }

    /// Elements that the kernel writes, and may read. They are named by a view for reading, because
    /// they are written when the launch is made, by a caller that has them for writing.
    #[must_use]
    #[inline]
    pub fn write<T: DeviceCopy>(elements: DeviceSlice<'b, T>) -> Self {
        Self {
            access: Access::Write,
            ..Self::read(elements)
        }
    }

    /// The address of the first byte.
    #[must_use]
    #[inline]
    pub fn address(&self) -> CUdeviceptr {
        self.address
    }

    /// Its size in bytes.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What the kernel does with it.
    #[must_use]
    #[inline]
    pub fn access(&self) -> Access {
        self.access
    }

    /// Makes it ready for work on `stream`.
    #[inline]
    #[track_caller]
    pub(crate) fn prepare(&self, stream: &Stream) -> Result<()> {
        match self.block {
            Some(block) if block.is_ready(stream) => Ok(()),
            Some(block) => self.prepare_shared(block, stream),
            None => check_pointer(stream.core(), self.address, self.bytes),
        }
    }

    /// Whether it is ready for work on a stream that
    /// [lets launches begin](Stream::lets_launches_begin), and nothing is to be told of the work's end.
    #[inline]
    #[track_caller]
    pub(crate) fn is_ready(&self, stream: &Stream) -> Result<bool> {
        match self.block {
            Some(block) => Ok(stream.is(block.home()) && block.is_plain()),
            None => check_pointer(stream.core(), self.address, self.bytes).map(|()| true),
        }
    }

    // By value: what is named is stored for this call alone, and not by all launches.
    #[cold]
    #[inline(never)]
    #[track_caller]
    fn prepare_shared(self, block: &Block, stream: &Stream) -> Result<()> {
        if self.access == Access::Read {
            block.check_written(self.address..self.address + self.bytes, stream)?;
        }
        block.join(stream)
    }

    /// What is to be told of the end of an operation that writes it.
    pub(crate) fn output(&self) -> Option<Output> {
        Some(Output::of(
            self.block?,
            self.address..self.address + self.bytes,
        ))
    }

    /// The end of an operation on `stream` that was to write it.
    #[inline(always)]
    pub(crate) fn end_write(
        self,
        stream: &Stream,
        result: &Result<()>,
        written: impl FnOnce() -> Written,
    ) {
        if let Some(block) = self.block
            && (result.is_err() || !block.is_plain())
        {
            let bytes = self.address..self.address + self.bytes;
            end_write_of(block, bytes, stream, result, written);
        }
    }
}

#[cold]
#[inline(never)]
fn end_write_of(
    block: &Block,
    bytes: Range<CUdeviceptr>,
    stream: &Stream,
    result: &Result<()>,
    written: impl FnOnce() -> Written,
) {
    block.end_write(bytes, stream, result, written);
}

impl fmt::Debug for UsedMemory<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (address, bytes, access) = (self.address, self.bytes, self.access);
        write!(f, "UsedMemory({address:#x}, {bytes}, {access:?})")
    }
}

/// A list of arguments: a tuple of up to 12, or a [`LaunchArgs`](super::LaunchArgs) or a reference to one.
/// No other type can be one.
pub trait KernelArgs: List {}

impl<L: List> KernelArgs for L {}

/// What a launch needs of its arguments.
pub trait List: Sized {
    /// The values that the driver is to find, but for those that it finds in the list itself.
    type Values;
    /// The address of each.
    type Pointers: AsMut<[*mut c_void]>;

    /// The size of each in bytes.
    fn sizes(&self) -> &[usize];

    /// Makes the device memory among them ready for work on `stream`.
    #[track_caller]
    fn prepare(&self, stream: &Stream) -> Result<()>;

    /// Whether [`prepare`](Self::prepare) and [`end`](Self::end) would do nothing for a launch on a stream that
    /// [lets launches begin](Stream::lets_launches_begin). It may be false though they would.
    ///
    /// # Errors
    /// As of `prepare`: an address that is looked for is looked for here.
    #[track_caller]
    fn is_ready(&self, stream: &Stream) -> Result<bool>;

    /// What the kernel gets.
    fn values(&self) -> Self::Values;

    /// The addresses of the values, which are good until these or the list are moved.
    fn pointers(&self, values: &mut Self::Values) -> Self::Pointers;

    /// The end of the launch that was put on `stream` with this result, if it was put at all: after a
    /// failure the memory that it was to write is not readable.
    ///
    /// # Safety
    /// The device memory among the arguments is alive.
    unsafe fn end(&self, stream: &Stream, result: &Result<()>, launch: LaunchId<'_>);
}

/// A launch, but for its arguments: what tells that it is made again.
#[derive(Clone, Copy, Debug)]
pub struct LaunchId<'a> {
    pub(super) function: &'a Function,
    pub(super) config: &'a LaunchConfig,
}

/// What a launch writes: the same launch with the same arguments writes the same memory.
#[cold]
pub(super) fn written<L: List>(list: &L, launch: LaunchId<'_>) -> Written {
    let mut values = list.values();
    let mut pointers = list.pointers(&mut values);
    let mut digest = DefaultHasher::new();
    launch.function.raw().addr().hash(&mut digest);
    launch.config.hash(&mut digest);
    for (pointer, size) in pointers.as_mut().iter().zip(list.sizes()) {
        // SAFETY: the pointer leads to a value of this size, none of whose bytes is padding
        // (`DeviceCopy`).
        let value = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), *size) };
        value.hash(&mut digest);
    }
    Written::Some(digest.finish())
}

macro_rules! tuples {
    ($($($name:ident)*;)*) => {$(
        #[allow(non_snake_case, unused_variables, clippy::unused_unit)]
        impl<$($name: KernelArg),*> List for ($($name,)*) {
            type Values = ($($name::Value,)*);
            type Pointers = [*mut c_void; const { 0 $(+ { let _ = stringify!($name); 1 })* }];

            #[inline]
            fn sizes(&self) -> &[usize] {
                const { &[$(size_of::<$name::Value>()),*] }
            }

            #[inline]
            #[track_caller]
            fn prepare(&self, stream: &Stream) -> Result<()> {
                let ($($name,)*) = self;
                $(
                    if let Some(memory) = $name.memory() {
                        memory.prepare(stream)?;
                    }
                )*
                Ok(())
            }

            #[inline(always)]
            #[track_caller]
            fn is_ready(&self, stream: &Stream) -> Result<bool> {
                let ($($name,)*) = self;
                $(
                    if let Some(memory) = $name.memory()
                        && !memory.is_ready(stream)?
                    {
                        return Ok(false);
                    }
                )*
                Ok(true)
            }

            #[inline]
            fn values(&self) -> Self::Values {
                let ($($name,)*) = self;
                ($($name.value(),)*)
            }

            #[inline]
            fn pointers(&self, values: &mut Self::Values) -> Self::Pointers {
                let ($($name,)*) = values;
                [$((&raw mut *$name).cast()),*]
            }

            #[inline(always)]
            unsafe fn end(&self, stream: &Stream, result: &Result<()>, launch: LaunchId<'_>) {
                let ($($name,)*) = self;
                $(
                    if let Some(memory) = $name.memory()
                        && memory.access() == Access::Write
                    {
                        memory.end_write(stream, result, move || written(self, launch));
                    }
                )*
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
