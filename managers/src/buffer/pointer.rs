//! The check of an address that comes from other code.
//!
//! A view of a [`Buffer`](super::Buffer) needs none: the buffer is alive as long as the view, and
//! the view lies within it. A view [from an address](super::DeviceSlice::from_raw) is what its
//! maker says it is, and here it is looked for.

use cupola_sys::driver::{
    CUcontext, CUdeviceptr, CUpointer_attribute as Attribute, CUresult, DriverError,
};

use crate::driver::{ContextCore, Found};
use crate::error::{Error, PointerFault, PointerProblem, Result};

/// Refuses an address at which there are not so many bytes of memory that work in the context may
/// use, if the context checks that.
///
/// # Errors
/// [`Error::Pointer`]; [`Error::Poisoned`], [`Error::Forked`]; what the driver returned.
#[inline]
#[track_caller]
pub(crate) fn check(core: &ContextCore, address: CUdeviceptr, bytes: u64) -> Result<()> {
    match core.checks_pointers() && bytes > 0 {
        true => look_at(core, address, bytes),
        false => Ok(()),
    }
}

#[track_caller]
fn look_at(core: &ContextCore, address: CUdeviceptr, bytes: u64) -> Result<()> {
    // In a fork another thread may have left a lock taken.
    core.healthy()?;
    let blocks = core.live_blocks();
    let problem = match blocks.find(address, bytes) {
        Found::Block => return Ok(()),
        Found::Short { room } => PointerProblem::TooShort { room },
        Found::Free => PointerProblem::Free,
        Found::Elsewhere => match ask(core, address, bytes)? {
            None => return Ok(()),
            Some(problem) => problem,
        },
    };
    Err(Error::Pointer(Box::new(PointerFault {
        address,
        bytes,
        problem,
        history: blocks.history_of(address),
    })))
}

/// What the driver knows of memory that no pool has noted (`cuPointerGetAttribute`): of other
/// libraries, of modules, of the host, and of pools from before the check. `None` if it is good.
#[track_caller]
fn ask(core: &ContextCore, address: CUdeviceptr, bytes: u64) -> Result<Option<PointerProblem>> {
    let (mut start, mut len): (CUdeviceptr, usize) = (0, 0);
    let (mut owner, mut ordinal): (CUcontext, i32) = (core::ptr::null_mut(), -1);
    // SAFETY: the driver writes an address, a size, a context and an `int`, to places of these types.
    let is_known = unsafe {
        get(
            core,
            address,
            Attribute::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
            &raw mut start,
        )? && get(
            core,
            address,
            Attribute::CU_POINTER_ATTRIBUTE_RANGE_SIZE,
            &raw mut len,
        )?
    };
    if !is_known {
        return Ok(Some(PointerProblem::NoMemory));
    }
    let room = (len as u64).saturating_sub(address.wrapping_sub(start));
    if room < bytes {
        return Ok(Some(PointerProblem::TooShort { room }));
    }
    // SAFETY: as above.
    let has_owner = unsafe {
        get(
            core,
            address,
            Attribute::CU_POINTER_ATTRIBUTE_CONTEXT,
            &raw mut owner,
        )? && get(
            core,
            address,
            Attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
            &raw mut ordinal,
        )?
    };
    // Memory of another device may be a peer's, and mapped memory is of no context.
    let is_here = u32::try_from(ordinal) == Ok(core.ordinal());
    let is_other = has_owner && is_here && !owner.is_null() && owner != core.current_raw();
    Ok(is_other.then_some(PointerProblem::OtherContext))
}

/// Asks for an attribute of an address. False when it has none.
///
/// # Errors
/// What the driver returned.
///
/// # Safety
/// `T` is the attribute's type, and `to` is good for writing one.
#[track_caller]
unsafe fn get<T>(
    core: &ContextCore,
    address: CUdeviceptr,
    attribute: Attribute,
    to: *mut T,
) -> Result<bool> {
    let driver = core.enter()?;
    // SAFETY: `to` is good for the value by this function's condition; any address may be asked about.
    match unsafe { driver.cuPointerGetAttribute(to.cast(), attribute, address) } {
        Ok(()) => Ok(true),
        Err(call) if is_unknown(&call) => Ok(false),
        Err(call) => core.check(Err(call)),
    }
}

/// Whether the driver says that there is no such attribute of the address, or none at all.
fn is_unknown(call: &DriverError) -> bool {
    matches!(
        call.status(),
        Some(CUresult::CUDA_ERROR_INVALID_VALUE | CUresult::CUDA_ERROR_NOT_SUPPORTED)
    )
}
