//! `TensorMap`: the description of an array as kernels take it.

use core::ffi::c_void;
use std::fmt;
use std::ptr;

use cupola_sys::driver::{CUdeviceptr, CUtensorMap, Driver, DriverError};

use super::element::{TensorElement, TensorFormat};
use super::im2col::Im2col;
use super::im2col_wide::Im2colWide;
use super::layout::Layout;
use super::options::Options;
use super::tiling::Tiling;
use crate::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::{KernelArg, PassedAs, UsedMemory};

/// A view that a tensor map can be of: for reading, or for reading and writing.
pub trait TensorMemory: sealed::Memory {
    /// Its elements.
    type Element: TensorElement;
}

mod sealed {
    use cupola_sys::driver::CUdeviceptr;

    pub trait Memory {
        fn address(&self) -> CUdeviceptr;
        fn room(&self) -> u64;
    }
}

macro_rules! memory {
    ($($view:ident)*) => {$(
        impl<T: TensorElement> sealed::Memory for $view<'_, T> {
            fn address(&self) -> CUdeviceptr {
                self.as_raw()
            }

            fn room(&self) -> u64 {
                self.bytes()
            }
        }

        impl<T: TensorElement> TensorMemory for $view<'_, T> {
            type Element = T;
        }
    )*};
}

memory! { DeviceSlice DeviceSliceMut }

/// How an array lies in the memory of a view, for a kernel that copies boxes of it. It borrows the
/// memory as its view does.
pub struct TensorMap<V: TensorMemory> {
    map: CUtensorMap,
    memory: V,
}

impl<V: TensorMemory> TensorMap<V> {
    /// The map of an array of which boxes are copied (`cuTensorMapEncodeTiled`).
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the field that cannot be, also of an array that reaches over more
    /// than the view; [`Error::Unsupported`] by a driver before CUDA 12.0, or before 12.8 for a
    /// [format](crate::tensor::TensorFormat) or a [swizzle](crate::tensor::Swizzle) that came with it; what
    /// the driver returned, as on devices before Hopper
    /// ([`Features::TENSOR_MAPS`](crate::device::Features::TENSOR_MAPS)), or before Blackwell for those
    /// formats and swizzles; [`Error::Poisoned`], [`Error::Forked`].
    #[doc(alias = "cuTensorMapEncodeTiled")]
    #[track_caller]
    pub fn tiled<const R: usize>(context: &Context, memory: V, tiling: Tiling<R>) -> Result<Self> {
        let array = Array::check(&memory, tiling.layout, tiling.options)?;
        tiling.check_boxes(array.format)?;
        // SAFETY: the place is aligned as its type is, the arrays have `R` elements, of the strides all
        // but the first; the address is only written down.
        array.encode(context, memory, |driver, map| unsafe {
            driver.cuTensorMapEncodeTiled(
                map,
                array.format.raw(),
                R as u32,
                array.address,
                array.dims.as_ptr(),
                array.outer_strides().as_ptr(),
                tiling.boxes.as_ptr(),
                array.steps.as_ptr(),
                array.options.interleave.raw(),
                array.options.swizzle.raw(),
                array.options.promotion.raw(),
                array.options.fill.raw(),
            )
        })
    }

    /// The map of a batch of images of which columns are copied (`cuTensorMapEncodeIm2col`).
    ///
    /// # Errors
    /// As [`tiled`](Self::tiled).
    #[doc(alias = "cuTensorMapEncodeIm2col")]
    #[track_caller]
    pub fn im2col<const R: usize>(
        context: &Context,
        memory: V,
        columns: Im2col<R>,
    ) -> Result<Self> {
        let array = Array::check(&memory, columns.layout, columns.options)?;
        columns.check_columns(array.format)?;
        let (lower, upper) = columns.space();
        // SAFETY: the place is aligned as its type is, the arrays have `R` elements, of the strides all
        // but the first, of the corners two less; the address is only written down.
        array.encode(context, memory, |driver, map| unsafe {
            driver.cuTensorMapEncodeIm2col(
                map,
                array.format.raw(),
                R as u32,
                array.address,
                array.dims.as_ptr(),
                array.outer_strides().as_ptr(),
                lower.as_ptr(),
                upper.as_ptr(),
                columns.channels,
                columns.pixels,
                array.steps.as_ptr(),
                array.options.interleave.raw(),
                array.options.swizzle.raw(),
                array.options.promotion.raw(),
                array.options.fill.raw(),
            )
        })
    }

    /// The map of a batch of images of which columns within a row are copied
    /// (`cuTensorMapEncodeIm2colWide`).
    ///
    /// # Errors
    /// As [`tiled`](Self::tiled), but [`Error::Unsupported`] by a driver before CUDA 12.8, and what the
    /// driver returned on devices before Blackwell.
    #[doc(alias = "cuTensorMapEncodeIm2colWide")]
    #[track_caller]
    pub fn im2col_wide<const R: usize>(
        context: &Context,
        memory: V,
        columns: Im2colWide<R>,
    ) -> Result<Self> {
        let array = Array::check(&memory, columns.layout, columns.options)?;
        columns.check_columns(array.format)?;
        // SAFETY: the place is aligned as its type is, the arrays have `R` elements, of the strides all
        // but the first; the address is only written down.
        array.encode(context, memory, |driver, map| unsafe {
            driver.cuTensorMapEncodeIm2colWide(
                map,
                array.format.raw(),
                R as u32,
                array.address,
                array.dims.as_ptr(),
                array.outer_strides().as_ptr(),
                columns.lower,
                columns.upper,
                columns.channels,
                columns.column.pixels(),
                array.steps.as_ptr(),
                array.options.interleave.raw(),
                columns.column.raw(),
                array.options.swizzle.raw(),
                array.options.promotion.raw(),
                array.options.fill.raw(),
            )
        })
    }

    /// The same map of other memory (`cuTensorMapReplaceAddress`), which is as long as the first at
    /// least: the next block of a ring, without a map of its own being made.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a shorter view, or one that is not aligned to 32 bytes; else as
    /// [`tiled`](Self::tiled).
    #[doc(alias = "cuTensorMapReplaceAddress")]
    #[track_caller]
    pub fn of<W>(&self, context: &Context, memory: W) -> Result<TensorMap<W>>
    where
        W: TensorMemory<Element = V::Element>,
    {
        if memory.room() < self.memory.room() {
            let (there, room) = (memory.room(), self.memory.room());
            let problem = format!("a view of {there} bytes, and the map is of one of {room}");
            return Err(Error::invalid("view", problem));
        }
        // What slices of channels need, which the map may have.
        if !memory.address().is_multiple_of(32) {
            let problem = format!("{:#x} is no multiple of 32", memory.address());
            return Err(Error::invalid("address", problem));
        }
        let core = context.core();
        let driver = core.enter()?;
        let mut map = self.map;
        let address = pointer(memory.address());
        // SAFETY: the map was made by the driver; the address is only written down.
        let replaced = unsafe { driver.cuTensorMapReplaceAddress(&raw mut map, address) };
        core.check(replaced)?;
        Ok(TensorMap { map, memory })
    }

    /// The driver's map, which is good as long as the memory is.
    #[must_use]
    pub fn as_raw(&self) -> &CUtensorMap {
        &self.map
    }

    /// The view that it is of.
    #[must_use]
    pub fn memory(&self) -> &V {
        &self.memory
    }
}

/// An array that the accelerator can take and that a view has, as the driver is told of it.
struct Array<const R: usize> {
    format: TensorFormat,
    address: *mut c_void,
    dims: [u64; R],
    strides: [u64; R],
    steps: [u32; R],
    options: Options,
}

impl<const R: usize> Array<R> {
    #[track_caller]
    fn check<V: TensorMemory>(memory: &V, layout: Layout<R>, options: Options) -> Result<Self> {
        let own = V::Element::FORMAT;
        Ok(Self {
            format: layout.format.unwrap_or(own),
            address: pointer(memory.address()),
            strides: layout.check(own, options, memory.address(), memory.room())?,
            dims: layout.dims,
            steps: layout.steps,
            options,
        })
    }

    /// The strides that the driver asks for: that of the innermost dimension it knows.
    fn outer_strides(&self) -> &[u64] {
        &self.strides[1..]
    }

    /// The map that a call of the driver's writes.
    #[track_caller]
    fn encode<V: TensorMemory>(
        &self,
        context: &Context,
        memory: V,
        call: impl FnOnce(&Driver, *mut CUtensorMap) -> Result<(), DriverError>,
    ) -> Result<TensorMap<V>> {
        let core = context.core();
        let driver = core.enter()?;
        self.options
            .check_driver(self.format, driver.driver_version())?;
        let mut map = CUtensorMap::default();
        core.check(call(driver, &raw mut map))?;
        Ok(TensorMap { map, memory })
    }
}

/// An address as the driver's functions for maps take it.
fn pointer(address: CUdeviceptr) -> *mut c_void {
    ptr::without_provenance_mut(address as usize)
}

impl<V: TensorMemory + fmt::Debug> fmt::Debug for TensorMap<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TensorMap")
            .field("memory", &self.memory)
            .finish_non_exhaustive()
    }
}

// SAFETY: 128 bytes, all of them numbers.
unsafe impl DeviceCopy for CUtensorMap {}

impl<T: TensorElement> KernelArg for &TensorMap<DeviceSlice<'_, T>> {
    type Value = CUtensorMap;

    fn value(&self) -> CUtensorMap {
        self.map
    }

    fn memory(&self) -> Option<UsedMemory<'_>> {
        Some(UsedMemory::read(self.memory))
    }
}

impl<T: TensorElement> KernelArg for &mut TensorMap<DeviceSliceMut<'_, T>> {
    type Value = CUtensorMap;

    fn value(&self) -> CUtensorMap {
        self.map
    }

    fn memory(&self) -> Option<UsedMemory<'_>> {
        Some(UsedMemory::write(self.memory.as_slice()))
    }
}

impl<T: TensorElement> PassedAs<CUtensorMap> for &TensorMap<DeviceSlice<'_, T>> {}
impl<T: TensorElement> PassedAs<CUtensorMap> for &mut TensorMap<DeviceSliceMut<'_, T>> {}
