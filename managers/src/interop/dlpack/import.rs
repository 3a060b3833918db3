//! Tensors of other libraries.

use std::sync::{Arc, Mutex, PoisonError};

use cupola_sys::driver::{CUdeviceptr, CUpointer_attribute as Attribute};

use super::abi::{DLDataType, DlElement, ManagedTensor};
use super::check::{Checked, TensorMemory, check};
use super::owned::{OwnedTensor, TensorError};
use crate::buffer::{DeviceSlice, DeviceSliceMut};
use crate::context::Context;
use crate::driver::{ContextCore, Kind};
use crate::error::{Error, Result, Site};
use crate::interop::strided::StridedView;
use crate::stream::{Stream, submit};
use crate::sync;

/// A tensor of another library, in memory that one of our contexts may use. Dropping it waits for the work on the
/// streams that it was viewed for, and calls its deleter.
///
/// Where no wait succeeds, the deleter is not called, because work may still use the memory: the tensor counts as
/// [abandoned](crate::Live::abandoned). In a lost context nothing begins any more, so the deleter is called then, but
/// for pinned memory, which a copy that is on its way could write when it is another's.
#[derive(Debug)]
pub struct ForeignTensor {
    tensor: OwnedTensor,
    checked: Checked,
    /// Of the first element, for work on the device.
    address: CUdeviceptr,
    /// The streams that it was viewed for.
    users: Mutex<Vec<Stream>>,
    core: Arc<ContextCore>,
}

impl ForeignTensor {
    /// Takes a tensor over, of either form: its deleter is called when this value is dropped, or when the error is.
    ///
    /// A Python consumer passes the number of its stream to `__dlpack__`, whose producer makes that stream
    /// wait; it gives the capsule its [other name](ManagedTensor::used_capsule_name) before this.
    ///
    /// # Errors
    /// With the tensor: [`Error::Invalid`], which names the field, when
    /// * the major version is another, or a flag is not known;
    /// * the memory is neither on the context's device nor pinned nor managed;
    /// * a length is negative, or a stride, or they reach further than memory does; strides are null where the version
    ///   does not allow that;
    /// * elements are not of whole bytes, their address is null, not aligned, or too high.
    ///
    /// Of pinned memory also what the driver returned when it was asked where the device finds it
    /// (`cuPointerGetAttribute`), and [`Error::Poisoned`], [`Error::Forked`].
    ///
    /// # Safety
    /// `tensor` is one as DLPack describes it, of whichever version it says, and the caller's to give away. Its memory is
    /// of `context`, or of one that shares its memory, and was made ready for the streams of this context that
    /// it will be viewed for. Its deleter may be called on any thread.
    #[track_caller]
    pub unsafe fn from_raw(
        tensor: impl Into<ManagedTensor>,
        context: &Context,
    ) -> Result<Self, TensorError> {
        // SAFETY: needs a tensor that is the caller's to give away, whose deleter any thread may call, as this function
        // does.
        let tensor = unsafe { OwnedTensor::new(tensor.into()) };
        let core = context.core();
        // SAFETY: needs a tensor of whichever version it says, as this function does.
        let checked = unsafe { check(&tensor, core.ordinal()) };
        let found = checked.and_then(|checked| Ok((device_address(core, &checked)?, checked)));
        match found {
            Ok((address, checked)) => Ok(Self {
                tensor,
                checked,
                address,
                users: Mutex::default(),
                core: Arc::clone(core),
            }),
            Err(error) => Err(TensorError { tensor, error }),
        }
    }

    /// Elements of each dimension.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.checked.layout.shape
    }

    /// Elements from one to the next, by dimension.
    #[must_use]
    pub fn strides(&self) -> &[i64] {
        &self.checked.layout.strides
    }

    /// Whether its elements are in C order without holes, as [`view`](Self::view) needs.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        self.checked.layout.is_contiguous
    }

    /// The type of its elements.
    #[must_use]
    pub fn dtype(&self) -> DLDataType {
        self.checked.dtype
    }

    /// Where its memory is.
    #[must_use]
    pub fn memory(&self) -> TensorMemory {
        self.checked.memory
    }

    /// Whether nothing may write to it. A tensor without a version does not say so.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.checked.is_read_only
    }

    /// Whether it is a copy that its producer has made, so that it is this program's alone.
    #[must_use]
    pub fn is_copied(&self) -> bool {
        self.checked.is_copied
    }

    /// The address of its first element, for work on the device; 0 when it has no elements.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Bytes from its lowest to the end of its highest element.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.checked.bytes
    }

    /// Its elements in C order, for work on `stream`, which the drop of the tensor waits for.
    ///
    /// # Errors
    /// [`Error::Invalid`] when they are of another type, or not in C order without holes; [`Error::WrongContext`]
    /// when the stream is of a context that does not share the memory; [`Error::Capturing`], because nothing tells when
    /// launches of a graph are over; [`Error::Poisoned`], [`Error::Forked`]; what the driver returned.
    ///
    /// # Safety
    /// All work that is given the slice is on `stream`, and before the tensor is dropped. What is there are
    /// values of the type.
    #[track_caller]
    pub unsafe fn view<T: DlElement>(&self, stream: &Stream) -> Result<DeviceSlice<'_, T>> {
        self.lend::<T>(stream)?;
        self.demand_contiguous()?;
        // SAFETY: as many elements of this type are there, as was seen when the tensor was taken; they stay as long
        // as it does, and its drop waits for the work on the stream, which is all, by the condition of this function.
        Ok(unsafe { DeviceSlice::from_raw(self.address, self.checked.layout.elements) })
    }

    /// Its elements in C order, for work on `stream` that may write them, which the drop of the tensor waits for.
    ///
    /// # Errors
    /// Those of [`view`](Self::view); [`Error::Invalid`] when nothing may write to it.
    ///
    /// # Safety
    /// Those of [`view`](Self::view); other libraries that have the memory expect such writes, and do not use it
    /// meanwhile.
    #[track_caller]
    pub unsafe fn view_mut<T: DlElement>(
        &mut self,
        stream: &Stream,
    ) -> Result<DeviceSliceMut<'_, T>> {
        if self.checked.is_read_only {
            return Err(Error::invalid("flags", "the tensor is read only"));
        }
        self.lend::<T>(stream)?;
        self.demand_contiguous()?;
        // SAFETY: as in `view`; nothing else uses the elements meanwhile, by the condition of this function and since
        // `self` is borrowed mutably.
        Ok(unsafe { DeviceSliceMut::from_raw(self.address, self.checked.layout.elements) })
    }

    /// The memory that its elements are in, whichever their order, for work on `stream`, which the drop of the tensor
    /// waits for.
    ///
    /// # Errors
    /// Those of [`view`](Self::view), but for the order.
    ///
    /// # Safety
    /// That of [`view`](Self::view).
    #[track_caller]
    pub unsafe fn view_strided<T: DlElement>(&self, stream: &Stream) -> Result<StridedView<'_, T>> {
        self.lend::<T>(stream)?;
        let layout = &self.checked.layout;
        let len = usize::try_from(layout.span).unwrap_or(usize::MAX);
        Ok(StridedView {
            // SAFETY: so many elements of memory are there, as was seen when the tensor was taken; as in `view` they stay
            // as long as needed. No stride is negative, so that the first is the lowest.
            elements: unsafe { DeviceSlice::from_raw(self.address, len) },
            first: 0,
            strides: layout.strides.clone(),
        })
    }

    /// Its elements in C order, on the host, of a tensor in pinned memory. Waits for the work on the streams that it was
    /// viewed for.
    ///
    /// # Errors
    /// [`Error::Invalid`] when they are not in pinned memory, of another type, not in C order, or no values of the
    /// type; [`Error::Poisoned`], [`Error::Forked`]; what the driver returned.
    ///
    /// # Safety
    /// The producer's work on the memory is over, and no library writes there meanwhile.
    #[track_caller]
    pub unsafe fn host_view<T: DlElement>(&self) -> Result<&[T]> {
        if self.checked.memory != TensorMemory::PinnedHost {
            let problem = format!("{:?} memory is not looked at here", self.checked.memory);
            return Err(Error::invalid("device", problem));
        }
        self.demand_type::<T>()?;
        self.demand_contiguous()?;
        let users = sync::lock(&self.users).clone();
        for stream in users {
            stream.ticket()?.wait()?;
        }
        let len = self.checked.layout.elements;
        if len == 0 {
            return Ok(&[]);
        }
        let start = std::ptr::with_exposed_provenance::<T>(self.checked.address as usize);
        // SAFETY: as many elements are there and aligned, as was seen when the tensor was taken, and nothing writes
        // meanwhile: our work was waited for, other libraries' by the condition of this function.
        unsafe { crate::buffer::check(start, len) }?;
        // SAFETY: as before, and they are values; they stay as long as the tensor, which is borrowed.
        Ok(unsafe { std::slice::from_raw_parts(start, len) })
    }

    /// Gives the tensor away: its memory is not waited for, and its deleter is the caller's to call.
    #[must_use]
    pub fn into_raw(mut self) -> ManagedTensor {
        self.take_users();
        self.tensor.give_away()
    }

    fn take_users(&mut self) -> Vec<Stream> {
        let users = self.users.get_mut();
        std::mem::take(users.unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes that work of the stream uses elements of this type.
    #[track_caller]
    fn lend<T: DlElement>(&self, stream: &Stream) -> Result<()> {
        self.demand_type::<T>()?;
        if !stream.is_in(&self.core) {
            return Err(Error::WrongContext { what: "the tensor" });
        }
        self.core.healthy()?;
        stream.refuse_captured("a view of a tensor of another library")?;
        let mut users = sync::lock(&self.users);
        if !users.iter().any(|user| user.is(stream)) {
            users.push(stream.clone());
        }
        Ok(())
    }

    fn demand_type<T: DlElement>(&self) -> Result<()> {
        let dtype = self.dtype();
        if dtype == T::TYPE {
            return Ok(());
        }
        let problem = format!("its elements are {dtype:?}, not {:?}", T::TYPE);
        Err(Error::invalid("dtype", problem))
    }

    fn demand_contiguous(&self) -> Result<()> {
        if self.is_contiguous() {
            return Ok(());
        }
        let (strides, shape) = (self.strides(), self.shape());
        let problem = format!("{strides:?} of {shape:?} are not those of C order");
        Err(Error::invalid("strides", problem))
    }
}

/// Where the device finds the first element.
#[track_caller]
fn device_address(core: &Arc<ContextCore>, checked: &Checked) -> Result<CUdeviceptr> {
    if checked.memory != TensorMemory::PinnedHost || checked.address == 0 {
        return Ok(checked.address);
    }
    let mut address: CUdeviceptr = 0;
    let driver = core.enter()?;
    let attribute = Attribute::CU_POINTER_ATTRIBUTE_DEVICE_POINTER;
    // SAFETY: the driver writes an address there; any address may be asked about.
    let found = unsafe {
        driver.cuPointerGetAttribute((&raw mut address).cast(), attribute, checked.address)
    };
    core.check(found)?;
    Ok(address)
}

impl Drop for ForeignTensor {
    fn drop(&mut self) {
        let users = self.take_users();
        let site = Site::here();
        let is_over = users.iter().all(|stream| submit::settle(stream, site));
        let is_lost =
            || self.core.poison().is_some() && self.checked.memory != TensorMemory::PinnedHost;
        if !is_over && !is_lost() {
            self.core.ledger().add(Kind::Abandoned, 1);
            let _never_ended = self.tensor.give_away();
        }
    }
}
