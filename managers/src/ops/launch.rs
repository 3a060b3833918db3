//! Kernel launches.

use core::ffi::c_void;
use core::ptr;

use cupola_sys::driver::{CUlaunchConfig, CUresult, id};

use super::LaunchAttributes;
use super::args::{KernelArgs, LaunchArgs, compare};
use crate::error::{Error, Result};
use crate::module::Function;
use crate::stream::Stream;

/// How many blocks of how many threads, and how much dynamic shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchConfig {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block in bytes.
    pub shared_bytes: u32,
}

impl LaunchConfig {
    /// A row of blocks, each a row of threads.
    #[must_use]
    pub const fn linear(blocks: u32, threads: u32) -> Self {
        Self {
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            shared_bytes: 0,
        }
    }

    /// Enough blocks of `threads` for one thread an element, and at least one block.
    #[must_use]
    pub fn for_elements(elements: u64, threads: u32) -> Self {
        let blocks = elements.div_ceil(u64::from(threads.max(1))).max(1);
        Self::linear(u32::try_from(blocks).unwrap_or(u32::MAX), threads)
    }

    /// Refuses a launch that is wrong as far as can be told without asking the driver.
    #[track_caller]
    fn check(&self, function: &Function) -> Result<()> {
        if self.grid.contains(&0) {
            return Err(Error::invalid(
                "grid",
                format!("{:?} has no blocks", self.grid),
            ));
        }
        if self.block.contains(&0) {
            return Err(Error::invalid(
                "block",
                format!("{:?} has no threads", self.block),
            ));
        }
        let most = function.attributes().max_threads_per_block;
        if self.threads().is_none_or(|threads| threads > most) {
            let problem = format!(
                "{:?} is more than the {most} threads that the kernel can have",
                self.block
            );
            return Err(Error::invalid("block", problem));
        }
        Ok(())
    }

    /// Threads of a block; `None` when they are more than any device has.
    fn threads(&self) -> Option<u32> {
        let [x, y, z] = self.block;
        x.checked_mul(y)?.checked_mul(z)
    }
}

/// Launches a kernel (`cuLaunchKernel`). `arguments` is a tuple of numbers, arrays, structs, buffers
/// and views ([`KernelArg`](super::KernelArg)), or [`LaunchArgs`](super::LaunchArgs). The launch
/// waits for the allocation of buffers of other streams, and not for the work of these streams on
/// them: see [`order`](super::order).
///
/// The number and the sizes of the arguments are compared with those that the kernel declares,
/// where the driver can tell (CUDA 12.4); their types cannot be.
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
/// [`Error::Arguments`] when they do not match. [`Error::Invalid`] for an empty grid or block, too
/// large a block, more dynamic shared memory than the kernel
/// [may have](Function::allow_dynamic_shared), more than [`MAX_ARGUMENTS`](super::MAX_ARGUMENTS) arguments or
/// [`MAX_ARGUMENT_BYTES`](super::MAX_ARGUMENT_BYTES) of them, one that is aligned to more than 16
/// bytes, or arguments that were made for another stream. [`Error::WrongContext`] when the
/// kernel or memory among the arguments is another context's. [`Error::Full`] when there are too many
/// events for one more, which memory of another stream may need. [`Error::Poisoned`],
/// [`Error::Forked`]; in [checked mode](crate::Context::set_checked) [`Error::Unverified`]; what
/// the driver returned. [`Error::Tainted`] when an operation has failed to write memory that is given
/// as `&` (see [`Buffer`](crate::Buffer#failed-operations)).
///
/// # Safety
/// The arguments are of the types that the kernel declares, and with them and this many
/// threads it reads and writes only device memory that it may: nothing checks that. Buffers among
/// [`LaunchArgs`](super::LaunchArgs) are alive, as those in a tuple are.
#[doc(alias = "cuLaunchKernel")]
#[track_caller]
pub unsafe fn launch(
    function: &Function,
    config: LaunchConfig,
    arguments: impl KernelArgs,
    stream: &Stream,
) -> Result<()> {
    let list = arguments;
    let mut arguments = LaunchArgs::new();
    let launched = match list.collect(&mut arguments, stream) {
        // SAFETY: the conditions are those of this function.
        Ok(()) => unsafe { put(function, config, &mut arguments, stream) },
        refused => refused,
    };
    let launch = (function.raw().addr(), config);
    // SAFETY: the memory among the arguments is alive, which is a condition of this function.
    unsafe { arguments.end_launch(stream, launched, launch) }
}

/// # Safety
/// As [`launch`].
#[track_caller]
unsafe fn put(
    function: &Function,
    config: LaunchConfig,
    arguments: &mut LaunchArgs,
    stream: &Stream,
) -> Result<()> {
    let mut pointers = arguments.pointers();
    let sizes = arguments.sizes();
    // SAFETY: the pointers lead into `arguments`, which outlives the call and whose buffers are
    // declared; the types, and the memory that the kernel touches, are conditions of this function
    // too.
    unsafe {
        launch_raw(
            function,
            config,
            sizes,
            &mut pointers[..sizes.len()],
            stream,
        )
    }
}

/// Launches a kernel with attributes (`cuLaunchKernelEx`): as [`launch`], and in clusters, with all
/// blocks at the same time or with a priority of its own.
///
/// # Errors
/// As [`launch`]. [`Error::Invalid`] naming `cluster` for a grid that is not made of such clusters;
/// [`Error::Unsupported`] by a driver before CUDA 11.6; what the driver returned where the device has no
/// clusters, or not all blocks can run at the same time.
///
/// # Safety
/// The conditions of [`launch`].
#[doc(alias = "cuLaunchKernelEx")]
#[doc(alias = "cuLaunchCooperativeKernel")]
#[track_caller]
pub unsafe fn launch_with(
    function: &Function,
    config: LaunchConfig,
    attributes: LaunchAttributes,
    arguments: impl KernelArgs,
    stream: &Stream,
) -> Result<()> {
    let list = arguments;
    let mut arguments = LaunchArgs::new();
    let launched = match list.collect(&mut arguments, stream) {
        // SAFETY: the conditions are those of this function.
        Ok(()) => unsafe { put_with(function, config, attributes, &mut arguments, stream) },
        refused => refused,
    };
    let launch = (function.raw().addr(), config);
    // SAFETY: the memory among the arguments is alive, which is a condition of this function.
    unsafe { arguments.end_launch(stream, launched, launch) }
}

/// # Safety
/// As [`launch_with`].
#[track_caller]
unsafe fn put_with(
    function: &Function,
    config: LaunchConfig,
    attributes: LaunchAttributes,
    arguments: &mut LaunchArgs,
    stream: &Stream,
) -> Result<()> {
    let mut pointers = arguments.pointers();
    check_launch(function, config, arguments.sizes(), stream)?;
    attributes.check(config)?;
    note_use(function, stream);
    let mut list = attributes.list();
    let list = list.as_mut_slice();
    let ([gx, gy, gz], [bx, by, bz]) = (config.grid, config.block);
    let mut launch = CUlaunchConfig {
        gridDimX: gx,
        gridDimY: gy,
        gridDimZ: gz,
        blockDimX: bx,
        blockDimY: by,
        blockDimZ: bz,
        sharedMemBytes: config.shared_bytes,
        hStream: ptr::null_mut(),
        attrs: list.as_mut_ptr(),
        // At most as many as there are kinds.
        numAttrs: list.len() as u32,
    };
    let (call, number) = (id::cuLaunchKernelEx, function.number());
    let launched = stream.submit_launch(call, number, |driver, raw| {
        launch.hStream = raw;
        // SAFETY: function and stream are alive and of this context, which is current; the driver copies
        // arguments and attributes before it returns; the types of the arguments, and the memory that
        // the kernel touches, are conditions of this function.
        unsafe {
            let (launch, pointers) = (&raw const launch, pointers.as_mut_ptr());
            driver.cuLaunchKernelEx(launch, function.raw(), pointers, ptr::null_mut())
        }
    });
    explain_shared(launched, function, config)
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
    note_use(function, stream);
    let ([gx, gy, gz], [bx, by, bz]) = (config.grid, config.block);
    // SAFETY: function and stream are alive and of this context, which is current; the driver
    // copies the arguments before it returns; their types and pointers, and the memory that the
    // kernel touches, are conditions of this function.
    let launched = stream.submit_launch(
        id::cuLaunchKernel,
        function.number(),
        |driver, raw| unsafe {
            driver.cuLaunchKernel(
                function.raw(),
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                config.shared_bytes,
                raw,
                pointers.as_mut_ptr(),
                ptr::null_mut(),
            )
        },
    );
    explain_shared(launched, function, config)
}

/// Keeps the kernel for as long as the launch may run.
#[inline]
fn note_use(function: &Function, stream: &Stream) {
    match stream.captured() {
        Some(graph) => graph.keep_one(function.raw().addr(), function),
        None => function.module().uses().note(stream),
    }
}

/// A launch that may have failed because of its shared memory says so.
#[inline]
fn explain_shared(launched: Result<()>, function: &Function, config: LaunchConfig) -> Result<()> {
    match launched {
        Err(error) if config.shared_bytes > 0 && is_of_a_value(&error) => Err(function
            .too_much_shared(config.shared_bytes)
            .unwrap_or(error)),
        launched => launched,
    }
}

/// Refuses a launch that is wrong as far as can be told without asking the driver.
#[inline]
#[track_caller]
pub(crate) fn check_launch(
    function: &Function,
    config: LaunchConfig,
    sizes: &[usize],
    stream: &Stream,
) -> Result<()> {
    if !stream.is_in(function.core()) {
        return Err(Error::WrongContext { what: "the kernel" });
    }
    config.check(function)?;
    if let Some(declared) = function.parameters() {
        compare(sizes, declared).map_err(|mismatch| Error::Arguments {
            function: function.name().to_string_lossy().into_owned(),
            mismatch,
        })?;
    }
    Ok(())
}

#[cold]
fn is_of_a_value(error: &Error) -> bool {
    error.status() == Some(CUresult::CUDA_ERROR_INVALID_VALUE)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it the product could overflow to a small number, and pass for it.
    #[test]
    fn the_threads_of_a_block_do_not_overflow() {
        let threads = |block| {
            LaunchConfig {
                block,
                ..LaunchConfig::linear(1, 1)
            }
            .threads()
        };
        assert_eq!(threads([8, 4, 2]), Some(64));
        assert_eq!(threads([1 << 22, 1 << 21, 1 << 21]), None);
        assert_eq!(threads([u32::MAX; 3]), None);
    }

    // Without it an empty input would give an empty grid, which drivers refuse.
    #[test]
    fn a_grid_covers_all_elements_and_is_never_empty() {
        for (elements, blocks) in [(0, 1), (1, 1), (256, 1), (257, 2), (u64::MAX, u32::MAX)] {
            assert_eq!(
                LaunchConfig::for_elements(elements, 256).grid,
                [blocks, 1, 1]
            );
        }
    }
}
