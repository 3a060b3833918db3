//! The CUDA array interface, version 3: the dictionary `__cuda_array_interface__` by which Python libraries
//! show each other arrays on a device.

use std::fmt;

use super::layout::{Layout, fits};
use crate::buffer::{Buffer, DeviceCopy, DeviceSlice};
use crate::error::{Error, Result};
use crate::stream::Stream;

/// What the dictionary says. It owns nothing: the array's owner must live as long as it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArrayInterface {
    /// Elements of each dimension.
    pub shape: Vec<u64>,
    /// The type of an element as NumPy names it, `<f4`.
    pub typestr: String,
    /// The address of the first element.
    pub data: u64,
    /// Whether nothing may write to it.
    pub is_read_only: bool,
    /// Bytes from one element to the next, by dimension; none for C order without holes.
    pub strides: Option<Vec<i64>>,
    /// The stream on which the array is ready: 1 is the legacy default stream, 2 that of the thread; none
    /// where it needs no order.
    pub stream: Option<u64>,
}

/// The types of elements that NumPy has a name for.
pub trait NumpyElement: DeviceCopy {
    /// The name, of a little-endian machine.
    const TYPESTR: &'static str;
}

macro_rules! types {
    ($($element:ty: $name:literal),* $(,)?) => {$(
        impl NumpyElement for $element {
            const TYPESTR: &'static str = $name;
        }
    )*};
}

types! {
    bool: "|b1", i8: "|i1", u8: "|u1",
    i16: "<i2", i32: "<i4", i64: "<i8",
    u16: "<u2", u32: "<u4", u64: "<u8",
    f32: "<f4", f64: "<f8",
}

#[cfg(feature = "half")]
types! { half::f16: "<f2" }

impl ArrayInterface {
    /// A buffer as an array of this shape, ready on `stream`, which waits for the buffer on the device.
    ///
    /// The consumer puts its work on that stream, or makes its own wait for it.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the shape does not have as many elements;
    /// [`Error::WrongContext`]; what the driver returned.
    #[track_caller]
    pub fn of<T: NumpyElement>(buffer: &Buffer<T>, shape: &[u64], stream: &Stream) -> Result<Self> {
        fits(shape, buffer.len())?;
        buffer.ready_on(stream)?;
        let raw = stream.as_raw().addr() as u64;
        Ok(Self {
            shape: shape.to_vec(),
            typestr: T::TYPESTR.into(),
            data: buffer.as_raw(),
            is_read_only: false,
            strides: None,
            // Null is no stream here.
            stream: Some(raw.max(1)),
        })
    }

    /// The elements in C order.
    ///
    /// # Errors
    /// [`Error::Invalid`] when they are of another type, or not in C order without holes, or at null.
    ///
    /// # Safety
    /// The array is there as long as the slice and work that uses it. Work on another
    /// stream than [`stream`](Self::stream) waits for that.
    pub unsafe fn view<'a, T: NumpyElement>(&self) -> Result<DeviceSlice<'a, T>> {
        let invalid = |problem: String| Err(Error::invalid("array", problem));
        if self.typestr != T::TYPESTR {
            return invalid(format!(
                "its elements are {:?}, not {:?}",
                self.typestr,
                T::TYPESTR
            ));
        }
        let size = size_of::<T>() as u64;
        let layout = Layout::new(self.shape.as_slice().into(), self.strides.as_deref(), size)?;
        if !layout.is_contiguous {
            return invalid(format!(
                "strides {:?} of {:?} are not those of C order",
                layout.strides, layout.shape
            ));
        }
        let len = layout.elements;
        if len > 0 && (self.data == 0 || !self.data.is_multiple_of(align_of::<T>() as u64)) {
            return invalid(format!("no element is at {:#x}", self.data));
        }
        // SAFETY: as many elements of this type, as long as the caller promises.
        Ok(unsafe { DeviceSlice::from_raw(self.data, len) })
    }
}

/// The dictionary, as Python writes it.
impl fmt::Display for ArrayInterface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tuple = |f: &mut fmt::Formatter<'_>, values: &mut dyn Iterator<Item = i128>| {
            f.write_str("(")?;
            for value in values {
                write!(f, "{value}, ")?;
            }
            f.write_str(")")
        };
        f.write_str("{'version': 3, 'shape': ")?;
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
