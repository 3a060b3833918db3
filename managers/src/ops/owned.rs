//! Copies of pinned memory that a future owns meanwhile.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::{copy_to_device, copy_to_host};
use crate::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut, PinnedBuffer};
use crate::error::{Error, Result};
use crate::stream::{Stream, Ticket};

/// A copy from or to pinned memory that is on its way, see [`upload`] and [`download`]: a future
/// that gives the memory back when it is done.
///
/// It may be dropped at any time, which waits for nothing: the memory is kept until the device has
/// done the copy, and freed then. The device memory of the copy may be dropped before the future,
/// because it is freed behind the copy.
///
/// # Errors
/// As a [`Ticket`]; the memory is given up then, when the device has left it alone.
#[must_use = "a transfer that is dropped gives its memory up"]
pub struct Transfer<T: DeviceCopy> {
    ticket: Ticket,
    /// Until it was given back.
    pinned: Option<PinnedBuffer<T>>,
}

/// Copies pinned memory to the device (`cuMemcpyHtoDAsync`) and owns it until that is done. The
/// lengths are equal.
///
/// # Errors
/// As [`copy_to_device`], and as [`Stream::ticket`]. The memory is dropped then, which may wait for
/// the copy.
#[doc(alias = "cuMemcpyHtoDAsync")]
#[track_caller]
pub fn upload<'d, T: DeviceCopy>(
    from: PinnedBuffer<T>,
    to: impl Into<DeviceSliceMut<'d, T>>,
    stream: &Stream,
) -> Result<Transfer<T>> {
    copy_to_device(&from, to, stream)?;
    Transfer::behind(from, stream)
}

/// Copies from the device to pinned memory (`cuMemcpyDtoHAsync`) and owns it until that is done. The
/// lengths are equal.
///
/// ```
/// # use std::future::Future;
/// # use std::pin::pin;
/// # use std::task::{Context, Poll, Waker};
/// use cupola_managers::{ExecutionManager, PoolConfig, ops};
///
/// # fn block_on<F: Future>(future: F) -> F::Output {
/// #     let mut future = pin!(future);
/// #     loop {
/// #         match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
/// #             Poll::Ready(value) => return value,
/// #             Poll::Pending => std::thread::yield_now(),
/// #         }
/// #     }
/// # }
/// # let driver = cupola_sim::Machine::builder().build().driver();
/// let execution = ExecutionManager::new(driver)?;
/// let context = execution.devices().get(0)?.primary()?;
/// let stream = context.streams().create(Default::default())?;
/// let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
/// let sixes = pool.upload(&[6u32; 1000], &stream)?;
/// let pinned = context.buffers().pinned(1000)?;
/// let pinned = block_on(async { ops::download(&sixes, pinned, &stream)?.await })?;
/// assert_eq!(pinned.as_slice()?, [6; 1000]);
/// # Ok::<_, cupola_managers::Error>(())
/// ```
///
/// # Errors
/// As [`upload`].
#[doc(alias = "cuMemcpyDtoHAsync")]
#[track_caller]
pub fn download<'d, T: DeviceCopy>(
    from: impl Into<DeviceSlice<'d, T>>,
    mut to: PinnedBuffer<T>,
    stream: &Stream,
) -> Result<Transfer<T>> {
    copy_to_host(from, &mut to, stream)?;
    Transfer::behind(to, stream)
}

impl<T: DeviceCopy> Transfer<T> {
    #[track_caller]
    fn behind(pinned: PinnedBuffer<T>, stream: &Stream) -> Result<Self> {
        Ok(Self {
            ticket: stream.ticket()?,
            pinned: Some(pinned),
        })
    }
}

// Nothing in it is pinned in place.
impl<T: DeviceCopy> Unpin for Transfer<T> {}

impl<T: DeviceCopy> Future for Transfer<T> {
    type Output = Result<PinnedBuffer<T>>;

    /// [`Error::Invalid`] when it was ready before.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        Pin::new(&mut this.ticket).poll(context).map(|done| {
            done?;
            let spent = || Error::invalid("transfer", "it was asked after its end");
            this.pinned.take().ok_or_else(spent)
        })
    }
}

impl<T: DeviceCopy> Drop for Transfer<T> {
    fn drop(&mut self) {
        if let Some(pinned) = self.pinned.take() {
            self.ticket.keep(pinned);
        }
    }
}

impl<T: DeviceCopy> fmt::Debug for Transfer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transfer")
            .field("ticket", &self.ticket)
            .field("pinned", &self.pinned)
            .finish()
    }
}
