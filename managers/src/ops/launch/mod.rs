//! Kernel launches.
//!
//! * [`Kernel`]: parameters that are known when the program is compiled (`kernel`, `signature`).
//! * [`launch`]: a tuple, or a list made while the program runs ([`LaunchArgs`], `builder`), whose sizes
//!   are compared with the parameters at each launch.
//! * [`KernelArg`] (`args`), [`LaunchConfig`] (`config`), [`LaunchAttributes`] (`attributes`).
//!
//! How a launch goes to the driver is in `put`, and of one with attributes in `attributes`.

mod args;
mod attributes;
mod builder;
mod config;
mod kernel;
mod put;
mod signature;

use core::ffi::c_void;

pub use args::{Access, KernelArg, KernelArgs, UsedMemory};
pub use attributes::{LaunchAttributes, MemoryDomain};
pub use builder::{LaunchArgs, MAX_ARGUMENT_BYTES, MAX_ARGUMENTS};
pub use config::LaunchConfig;
pub use kernel::Kernel;
pub use signature::{ArgsFor, In, InOut, KernelParam, PassedAs, Signature};

use crate::error::{Error, Result};
use crate::module::Function;
use crate::stream::Stream;

/// Launches a kernel (`cuLaunchKernel`). `arguments` is a tuple of numbers, arrays, structs, buffers
/// and views ([`KernelArg`]), or [`LaunchArgs`]. The launch
/// waits for the allocation of buffers of other streams, and not for the work of these streams on
/// them: see [`order`](super::order).
///
/// The number and the sizes of the arguments are compared with those that the kernel declares,
/// where the driver can tell (CUDA 12.4); their types cannot be. A [`Kernel`] has that done once.
///
/// ```no_run
/// use cupola_managers::buffer::Buffer;
/// use cupola_managers::module::Function;
/// use cupola_managers::ops::{LaunchConfig, launch};
/// use cupola_managers::stream::Stream;
///
/// fn saxpy(f: &Function, x: &Buffer<f32>, y: &mut Buffer<f32>, on: &Stream) -> cupola_managers::Result<()> {
///     let n = x.len() as u64;
///     // SAFETY: the kernel reads n elements of x and y and writes n of y.
///     unsafe { launch(f, LaunchConfig::for_elements(n, 256), (n, 2.0f32, x, y), on) }
/// }
/// ```
///
/// # Errors
/// [`Error::Arguments`] when they do not match, which lists both sides. [`Error::Invalid`] naming `grid`
/// or `block` when it is empty or more than the device or the kernel takes, with the most; naming
/// `shared_bytes` for more dynamic shared memory than the kernel
/// [may have](Function::allow_dynamic_shared); for arguments that were made for another stream.
/// [`Error::WrongContext`] when the
/// kernel or memory among the arguments is another context's. [`Error::Full`] when there are too many
/// events for one more, which memory of another stream may need. [`Error::Poisoned`],
/// [`Error::Forked`]; in [checked mode](crate::Context::set_checked) [`Error::Unverified`]; what
/// the driver returned. [`Error::Tainted`] when an operation has failed to write memory that is given
/// as `&` (see [`Buffer`](crate::Buffer#failed-operations)).
///
/// # Safety
/// The arguments are of the types that the kernel declares, and with them and this many
/// threads it reads and writes only device memory that it may: nothing checks that. Buffers among
/// [`LaunchArgs`] are alive, as those in a tuple are.
#[doc(alias = "cuLaunchKernel")]
#[inline]
#[track_caller]
pub unsafe fn launch(
    function: &Function,
    config: LaunchConfig,
    arguments: impl KernelArgs,
    stream: &Stream,
) -> Result<()> {
    put::check_sizes(function, arguments.sizes())?;
    // SAFETY: the conditions are those of this function.
    unsafe { put::put(function, &config, arguments, stream) }
}

/// Launches a kernel with attributes (`cuLaunchKernelEx`): as [`launch`], and in clusters, with all
/// blocks at the same time, with a priority of its own or before the kernel before it has ended.
///
/// Without attributes it is [`launch`]. Where the driver lacks `cuLaunchKernelEx` (before CUDA 11.8), a
/// launch that is cooperative and no more is made by `cuLaunchCooperativeKernel`.
///
/// # Errors
/// As [`launch`]. [`Error::Invalid`] naming `cluster` for a grid that is not made of such clusters,
/// `shared_carveout` for more than 100 percent, and `programmatic` for a kernel that is not
/// [known to wait](Function::waits_for_predecessor);
/// [`Error::Unsupported`] by a driver that lacks the call or an attribute; what the driver returned where
/// the device has no
/// clusters, or not all blocks can run at the same time.
///
/// # Safety
/// The conditions of [`launch`]. With [`programmatic`](LaunchAttributes::programmatic) the kernel touches
/// no memory before its `griddepcontrol.wait`, but what no earlier work on the stream writes or reads.
#[doc(alias = "cuLaunchKernelEx")]
#[doc(alias = "cuLaunchCooperativeKernel")]
#[inline]
#[track_caller]
pub unsafe fn launch_with(
    function: &Function,
    config: LaunchConfig,
    attributes: LaunchAttributes,
    arguments: impl KernelArgs,
    stream: &Stream,
) -> Result<()> {
    put::check_sizes(function, arguments.sizes())?;
    // SAFETY: the conditions are those of this function.
    unsafe { put::put_with(function, &config, attributes, arguments, stream) }
}

/// Launches a kernel with arguments by address: `pointers[i]` leads to `sizes[i]` bytes.
/// For argument structs of other crates.
///
/// # Errors
/// As [`launch`], and [`Error::Invalid`] when there are not as many sizes as pointers.
///
/// # Safety
/// The conditions of [`launch`], and each pointer leads to as many readable bytes. Buffers among
/// the arguments have been declared with [`Buffer::used_on`](crate::buffer::Buffer::used_on). Whether
/// they are [tainted](crate::Buffer#failed-operations) is the caller's to look at.
#[doc(alias = "cuLaunchKernel")]
#[track_caller]
pub unsafe fn launch_raw(
    function: &Function,
    config: LaunchConfig,
    sizes: &[usize],
    pointers: &mut [*mut c_void],
    stream: &Stream,
) -> Result<()> {
    if sizes.len() != pointers.len() {
        let problem = format!("{} sizes for {} pointers", sizes.len(), pointers.len());
        return Err(Error::invalid("arguments", problem));
    }
    check_launch(function, config, sizes, stream)?;
    // SAFETY: the conditions of this function; the pointers lead to what it has checked.
    unsafe { put::put_pointers(function, &config, pointers, stream) }
}

/// Refuses a launch that is wrong as far as can be told without asking the driver.
#[track_caller]
pub(crate) fn check_launch(
    function: &Function,
    config: LaunchConfig,
    sizes: &[usize],
    stream: &Stream,
) -> Result<()> {
    put::check_sizes(function, sizes)?;
    put::check(function, &config, stream)
}
