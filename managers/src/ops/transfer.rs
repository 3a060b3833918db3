//! Memory that comes with its contents, and contents that come back as a vector.

use crate::buffer::{Buffer, DeviceCopy, DeviceSlice};
use crate::error::Result;
use crate::ops;
use crate::pool::MemoryPool;
use crate::stream::Stream;

impl MemoryPool {
    /// A buffer of these elements: [`allocate`](Self::allocate), then
    /// [`ops::write`](crate::ops::write()), which waits until the copy is done.
    ///
    /// ```no_run
    /// # use cupola_managers::{MemoryPool, Stream};
    /// # fn f(pool: &MemoryPool, stream: &Stream) -> cupola_managers::Result<()> {
    /// let there = pool.upload(&[1.0f32, 2.0, 3.0], stream)?;
    /// assert_eq!(there.to_vec(stream)?, [1.0, 2.0, 3.0]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`allocate`](Self::allocate) and [`ops::write`](crate::ops::write()).
    ///
    /// # Aborts
    /// As [`ops::write`](crate::ops::write()).
    #[doc(alias = "cuMemcpyHtoDAsync")]
    #[doc(alias = "clone_htod")]
    #[track_caller]
    pub fn upload<T: DeviceCopy>(&self, data: &[T], stream: &Stream) -> Result<Buffer<T>> {
        let mut buffer = self.allocate(data.len(), stream)?;
        ops::write(&mut buffer, data, stream)?;
        Ok(buffer)
    }

    /// A buffer of `len` elements that are all zero bytes, once `stream` has come so far:
    /// [`allocate`](Self::allocate), then [`ops::zero`](crate::ops::zero).
    ///
    /// # Errors
    /// As [`allocate`](Self::allocate) and [`ops::zero`](crate::ops::zero).
    #[doc(alias = "cuMemsetD8Async")]
    #[doc(alias = "alloc_zeros")]
    #[track_caller]
    pub fn zeros<T: DeviceCopy>(&self, len: usize, stream: &Stream) -> Result<Buffer<T>> {
        let mut buffer = self.allocate(len, stream)?;
        ops::zero(&mut buffer, stream)?;
        Ok(buffer)
    }
}

impl<T: DeviceCopy> Buffer<T> {
    /// All elements, copied to the host in the order of `stream`. Waits until that is done, as
    /// [`ops::read`](crate::ops::read) does.
    ///
    /// # Errors
    /// As [`ops::read`](crate::ops::read).
    ///
    /// # Aborts
    /// As [`ops::write`](crate::ops::write()).
    #[doc(alias = "cuMemcpyDtoHAsync")]
    #[doc(alias = "clone_dtoh")]
    #[track_caller]
    pub fn to_vec(&self, stream: &Stream) -> Result<Vec<T>> {
        self.view().to_vec(stream)
    }
}

impl<T: DeviceCopy> DeviceSlice<'_, T> {
    /// The elements, copied to the host and waited for, as [`Buffer::to_vec`] does.
    ///
    /// # Errors
    /// As [`Buffer::to_vec`].
    ///
    /// # Aborts
    /// As [`Buffer::to_vec`].
    #[doc(alias = "cuMemcpyDtoHAsync")]
    #[track_caller]
    pub fn to_vec(self, stream: &Stream) -> Result<Vec<T>> {
        ops::copy::read_new(self, stream)
    }
}
