//! The CUDA array interface, version 3: the dictionary `__cuda_array_interface__` by which Python libraries
//! show each other arrays on a device
//! (<https://nvidia.github.io/numba-cuda/user/cuda_array_interface.html>).

mod typestr;

use std::fmt;

use super::layout::{Layout, fits};
use super::stream_number::StreamNumber;
use super::strided::StridedView;
use crate::buffer::{Buffer, DeviceSlice, DeviceSliceMut};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::stream::{Stream, submit};
pub use typestr::NumpyElement;

/// The newest version of the interface.
const VERSION: u32 = 3;

/// What the dictionary says. It owns nothing: the array's owner must live as long as it is used.
///
/// [`of`](Self::of) describes a buffer, [`new`](Self::new) what another library has written; the entries
/// that a dictionary may leave out are fields to set then. Nothing is looked at before a view is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArrayInterface {
    /// The version that the dictionary is of.
    pub version: u32,
    /// Elements of each dimension.
    pub shape: Vec<u64>,
    /// The type of an element as NumPy names it, `<f4`.
    pub typestr: String,
    /// The address of the first element; 0 for arrays without elements.
    pub data: u64,
    /// Whether nothing may write to it.
    pub is_read_only: bool,
    /// Bytes from one element to the next, by dimension; none for C order without holes.
    pub strides: Option<Vec<i64>>,
    /// The stream on which the array is ready: 1 is the legacy default stream, 2 that of the thread; none
    /// where it needs no order. Dictionaries of before version 3 have no such entry, and nothing says whether their
    /// arrays are ready.
    pub stream: Option<u64>,
    /// Whether there is an entry `mask` that is not `None`: some elements count for nothing.
    pub is_masked: bool,
}

impl ArrayInterface {
    /// What another library has written: an array that may be written, in C order, without a stream or a mask.
    #[must_use]
    pub fn new(version: u32, shape: &[u64], typestr: &str, data: u64) -> Self {
        Self {
            version,
            shape: shape.to_vec(),
            typestr: typestr.into(),
            data,
            is_read_only: false,
            strides: None,
            stream: None,
            is_masked: false,
        }
    }

    /// A buffer as an array of this shape, ready on `stream`, which waits, on the device, for the work on the buffer that
    /// other streams have by now.
    ///
    /// The consumer puts its work on that stream, or makes its own wait for it.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the shape does not have as many elements;
    /// [`Error::Tainted`] when an operation has failed to write it; [`Error::WrongContext`]; [`Error::Capturing`];
    /// [`Error::Full`] when there are too many events; [`Error::Poisoned`], [`Error::Forked`]; what the driver returned.
    #[track_caller]
    pub fn of<T: NumpyElement>(buffer: &Buffer<T>, shape: &[u64], stream: &Stream) -> Result<Self> {
        fits(shape, buffer.len())?;
        buffer.taint()?;
        buffer.ready_on(stream)?;
        // Null is no stream here.
        let number = (stream.as_raw().addr() as u64).max(1);
        Ok(Self {
            stream: Some(number),
            ..Self::new(VERSION, shape, T::TYPESTR, buffer.as_raw())
        })
    }

    /// Makes later work on `stream` wait, on the device, for the work that the producer has put on the array's stream. Does
    /// nothing where the dictionary asks for no order.
    ///
    /// # Errors
    /// [`Error::Invalid`] of a stream that the interface disallows; those of [`StreamNumber::lease`] and of
    /// [`ops::order`](crate::ops::order).
    ///
    /// # Safety
    /// The array's [`stream`](Self::stream), if it is an address, is that of a stream of this context that is alive.
    #[doc(alias = "cuStreamWaitEvent")]
    #[track_caller]
    pub unsafe fn order(&self, context: &Context, stream: &Stream) -> Result<()> {
        let number = StreamNumber::from_array_interface(self.stream)?;
        // SAFETY: needs a stream of this context, by the condition of this function, that lives as long as the lease and
        // all that was given it: the lease ends here, and nothing was.
        match unsafe { number.lease(context) }? {
            Some(theirs) if !theirs.is(stream) => submit::order(&theirs, stream),
            _ => Ok(()),
        }
    }

    /// The elements in C order.
    ///
    /// # Errors
    /// [`Error::Invalid`], which names the entry, when
    /// * the version is a later one than 3, a mask is there, or the stream is 0;
    /// * the elements are of another type, or big-endian;
    /// * there is another number of strides than of dimensions, or the elements are not in C order without holes, or reach
    ///   further than memory does;
    /// * there are elements, at null or not aligned.
    ///
    /// # Safety
    /// The array is there as long as the slice and work that uses it. Work that is given it comes after the
    /// producer's: see [`order`](Self::order). What is there are values of the type.
    pub unsafe fn view<'a, T: NumpyElement>(&self) -> Result<DeviceSlice<'a, T>> {
        let layout = self.contiguous::<T>()?;
        // SAFETY: as many elements of this type, as long as the caller promises.
        Ok(unsafe { DeviceSlice::from_raw(self.data, layout.elements) })
    }

    /// The elements in C order, for work that may write them.
    ///
    /// # Errors
    /// Those of [`view`](Self::view); [`Error::Invalid`] when nothing may write to the array.
    ///
    /// # Safety
    /// Those of [`view`](Self::view); nothing else uses the array meanwhile.
    pub unsafe fn view_mut<'a, T: NumpyElement>(&self) -> Result<DeviceSliceMut<'a, T>> {
        if self.is_read_only {
            return Err(Error::invalid("data", "the array is read only"));
        }
        let layout = self.contiguous::<T>()?;
        // SAFETY: as many elements of this type, which nothing else uses, as long as the caller promises.
        Ok(unsafe { DeviceSliceMut::from_raw(self.data, layout.elements) })
    }

    /// The memory that the elements are in, whichever their order: strides may be negative, or 0.
    ///
    /// # Errors
    /// Those of [`view`](Self::view), but for the order; [`Error::Invalid`] of strides that are no whole elements.
    ///
    /// # Safety
    /// Those of [`view`](Self::view), of the holes between the elements too.
    pub unsafe fn view_strided<'a, T: NumpyElement>(&self) -> Result<StridedView<'a, T>> {
        let layout = self.layout::<T>()?;
        let size = size_of::<T>() as u64;
        let strides = layout.strides.iter().map(|&stride| {
            let is_whole = stride % size as i64 == 0;
            is_whole.then_some(stride / size as i64)
        });
        let strides = strides.collect::<Option<Box<[i64]>>>().ok_or_else(|| {
            let problem = format!("{:?} are not of {size} bytes each", layout.strides);
            Error::invalid("strides", problem)
        })?;
        let number = |bytes: u64| usize::try_from(bytes / size).unwrap_or(usize::MAX);
        Ok(StridedView {
            // SAFETY: so many elements of memory are from the lowest on, as long as the caller promises. That address was
            // seen to be one.
            elements: unsafe {
                DeviceSlice::from_raw(self.data.wrapping_sub(layout.below), number(layout.span))
            },
            first: number(layout.below),
            strides,
        })
    }

    /// The layout, in C order without holes.
    fn contiguous<T: NumpyElement>(&self) -> Result<Layout> {
        let layout = self.layout::<T>()?;
        if layout.is_contiguous {
            return Ok(layout);
        }
        let problem = format!(
            "{:?} of {:?} are not those of C order",
            layout.strides, layout.shape
        );
        Err(Error::invalid("strides", problem))
    }

    /// The layout in bytes, once all entries were looked at.
    fn layout<T: NumpyElement>(&self) -> Result<Layout> {
        if self.version > VERSION {
            let problem = format!("it is {}, and {VERSION} the newest known", self.version);
            return Err(Error::invalid("version", problem));
        }
        if self.is_masked {
            return Err(Error::invalid("mask", "masked arrays are not supported"));
        }
        StreamNumber::from_array_interface(self.stream)?;
        typestr::demand::<T>(&self.typestr)?;
        let size = size_of::<T>() as u64;
        let layout = Layout::new(self.shape.as_slice().into(), self.strides.as_deref(), size)?;
        let is_there = layout.elements == 0
            || (self.data != 0
                && self.data.is_multiple_of(align_of::<T>() as u64)
                && self.data > layout.below
                && (self.data - layout.below)
                    .checked_add(layout.span)
                    .is_some());
        match is_there {
            true => Ok(layout),
            false => Err(Error::invalid(
                "data",
                format!("no such elements are at {:#x}", self.data),
            )),
        }
    }
}

/// The dictionary, as Python writes it, but for a mask, which has no text.
impl fmt::Display for ArrayInterface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tuple = |f: &mut fmt::Formatter<'_>, values: &mut dyn Iterator<Item = i128>| {
            f.write_str("(")?;
            for value in values {
                write!(f, "{value}, ")?;
            }
            f.write_str(")")
        };
        write!(f, "{{'version': {}, 'shape': ", self.version)?;
        tuple(f, &mut self.shape.iter().map(|&len| i128::from(len)))?;
        let read_only = if self.is_read_only { "True" } else { "False" };
        write!(
            f,
            ", 'typestr': '{}', 'data': ({}, {read_only})",
            self.typestr, self.data
        )?;
        f.write_str(", 'strides': ")?;
        match &self.strides {
            Some(strides) => tuple(f, &mut strides.iter().map(|&it| i128::from(it)))?,
            None => f.write_str("None")?,
        }
        match self.stream {
            Some(stream) => write!(f, ", 'stream': {stream}}}"),
            None => f.write_str(", 'stream': None}"),
        }
    }
}
