//! `Kernel<S>`: a kernel whose parameters are known when the program is compiled; and the way of every
//! launch to the driver.

use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;
use std::ptr;

use cupola_sys::driver::{Driver, DriverError, id};

use super::args::{LaunchId, List};
use super::attributes::launch_ex;
use super::signature::{ArgsFor, Signature};
use super::{LaunchAttributes, LaunchConfig};
use crate::error::{ArgumentMismatch, Error, Result};
use crate::module::Function;
use crate::stream::Stream;
use crate::stream::submit::BegunLaunch;

/// A kernel with the types of its parameters: a launch with other ones does not compile, and none
/// compares sizes.
///
/// `S` is a tuple of a type for each parameter: numbers, arrays and `#[derive(DeviceCopy)]` structs by
/// value, [`In<T>`](super::In) and [`InOut<T>`](super::InOut) for device memory.
///
/// ```
/// # use cupola_managers::{ExecutionManager, Result};
/// # fn main() -> Result<()> {
/// # let machine = cupola_sim::Machine::builder().build();
/// # let context = ExecutionManager::new(machine.driver())?.devices().get(0)?.primary()?;
/// # const SAXPY: &str = "
/// # .version 6.0
/// # .target sm_60
/// # .address_size 64
/// # .visible .entry saxpy(.param .u64 n, .param .f32 a, .param .u64 x, .param .u64 y) {
/// #   .reg .pred %p; .reg .b32 %i; .reg .b64 %n, %x, %y, %o; .reg .f32 %a, %f, %g;
/// #   ld.param.u64 %n, [n]; ld.param.f32 %a, [a]; ld.param.u64 %x, [x]; ld.param.u64 %y, [y];
/// #   mov.u32 %i, %tid.x; cvt.u64.u32 %o, %i; setp.ge.u64 %p, %o, %n; @%p ret;
/// #   mul.wide.u32 %o, %i, 4; add.u64 %x, %x, %o; add.u64 %y, %y, %o;
/// #   ld.global.f32 %f, [%x]; ld.global.f32 %g, [%y]; fma.rn.f32 %g, %a, %f, %g;
/// #   st.global.f32 [%y], %g; ret;
/// # }";
/// # let stream = context.streams().create(Default::default())?;
/// # let pool = context.memory_pool(cupola_managers::PoolConfig::limit(1 << 30))?;
/// use cupola_managers::ops::{In, InOut, Kernel, LaunchConfig};
///
/// let function = context.modules().load_ptx(SAXPY)?.function("saxpy")?;
/// // SAFETY: saxpy(unsigned long n, float a, const float *x, float *y).
/// let saxpy = unsafe { Kernel::<(u64, f32, In<f32>, InOut<f32>)>::new(function) }?;
///
/// let x = pool.upload(&[1.0f32, 2.0, 3.0], &stream)?;
/// let mut y = pool.upload(&[10.0f32, 20.0, 30.0], &stream)?;
/// let (n, config) = (x.len() as u64, LaunchConfig::linear(1, 32));
/// // SAFETY: it reads n elements of x and y and writes n of y, and both have as many.
/// unsafe { saxpy.launch(config, (n, 2.0, &x, &mut y), &stream) }?;
/// assert_eq!(y.to_vec(&stream)?, [12.0, 24.0, 36.0]);
/// # Ok(()) }
/// ```
///
/// A number of another type does not compile:
///
/// ```compile_fail,E0277
/// # use cupola_managers::{Buffer, Result, Stream};
/// # use cupola_managers::ops::{In, InOut, Kernel, LaunchConfig};
/// # fn f(k: &Kernel<(u64, f32, In<f32>, InOut<f32>)>, x: &Buffer<f32>, y: &mut Buffer<f32>, on: &Stream) -> Result<()> {
/// unsafe { k.launch(LaunchConfig::linear(1, 32), (1u64, 2.0f64, x, y), on) }
/// # }
/// ```
///
/// nor do elements of another type,
///
/// ```compile_fail,E0277
/// # use cupola_managers::{Buffer, Result, Stream};
/// # use cupola_managers::ops::{In, InOut, Kernel, LaunchConfig};
/// # fn f(k: &Kernel<(u64, f32, In<f32>, InOut<f32>)>, x: &Buffer<u32>, y: &mut Buffer<f32>, on: &Stream) -> Result<()> {
/// unsafe { k.launch(LaunchConfig::linear(1, 32), (1u64, 2.0f32, x, y), on) }
/// # }
/// ```
///
/// memory that is lent for reading where the kernel writes,
///
/// ```compile_fail,E0277
/// # use cupola_managers::{Buffer, Result, Stream};
/// # use cupola_managers::ops::{In, InOut, Kernel, LaunchConfig};
/// # fn f(k: &Kernel<(u64, f32, In<f32>, InOut<f32>)>, x: &Buffer<f32>, y: &Buffer<f32>, on: &Stream) -> Result<()> {
/// unsafe { k.launch(LaunchConfig::linear(1, 32), (1u64, 2.0f32, x, y), on) }
/// # }
/// ```
///
/// an argument too few, or one too many,
///
/// ```compile_fail,E0277
/// # use cupola_managers::{Buffer, Result, Stream};
/// # use cupola_managers::ops::{In, InOut, Kernel, LaunchConfig};
/// # fn f(k: &Kernel<(u64, f32, In<f32>, InOut<f32>)>, x: &Buffer<f32>, y: &mut Buffer<f32>, on: &Stream) -> Result<()> {
/// unsafe { k.launch(LaunchConfig::linear(1, 32), (1u64, 2.0f32, x), on) }
/// # }
/// ```
///
/// or a parameter that is a reference of the host:
///
/// ```compile_fail
/// # use cupola_managers::Result;
/// # use cupola_managers::module::Function;
/// # use cupola_managers::ops::Kernel;
/// # fn f(function: Function) -> Result<()> {
/// let kernel = unsafe { Kernel::<(u64, &'static [f32])>::new(function) }?;
/// # Ok(()) }
/// ```
pub struct Kernel<S> {
    function: Function,
    signature: PhantomData<fn(S)>,
}

impl<S: Signature> Kernel<S> {
    /// Compares the sizes of the signature with those of the parameters that the kernel declares
    /// ([`Function::parameters`]), once for all launches. A driver before CUDA 12.4 cannot tell them:
    /// there the promise below is all that there is.
    ///
    /// # Errors
    /// [`Error::Arguments`], which lists both in full.
    ///
    /// # Safety
    /// The kernel's parameters are of the types of `S`, which have the layout of the device code's:
    /// sizes are compared, and that a parameter of 8 bytes is a pointer to such elements, and not a
    /// number, is not to be seen in a binary.
    #[track_caller]
    pub unsafe fn new(function: Function) -> Result<Self> {
        check_sizes(&function, S::SIZES)?;
        Ok(Self {
            function,
            signature: PhantomData,
        })
    }

    /// The function, for operations that take one of any signature.
    #[must_use]
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Launches the kernel (`cuLaunchKernel`), as [`launch`](super::launch) does.
    ///
    /// # Errors
    /// As [`launch`](super::launch), but for [`Error::Arguments`].
    ///
    /// # Safety
    /// With these arguments and this many threads the kernel reads and writes only device memory that
    /// it may: as a rule, that the lengths which it is given are not more than those of the buffers.
    #[doc(alias = "cuLaunchKernel")]
    #[inline]
    #[track_caller]
    pub unsafe fn launch<A: ArgsFor<S>>(
        &self,
        config: LaunchConfig,
        arguments: A,
        stream: &Stream,
    ) -> Result<()> {
        // SAFETY: the arguments are of the types of `S`, which are those of the kernel by the condition
        // of `new`; what it touches is a condition here.
        unsafe { put(&self.function, &config, arguments, stream) }
    }

    /// Launches the kernel with attributes, as [`launch_with`](super::launch_with) does.
    ///
    /// # Errors
    /// As [`launch_with`](super::launch_with), but for [`Error::Arguments`].
    ///
    /// # Safety
    /// The condition of [`launch`](Self::launch).
    #[doc(alias = "cuLaunchKernelEx")]
    #[inline]
    #[track_caller]
    pub unsafe fn launch_with<A: ArgsFor<S>>(
        &self,
        config: LaunchConfig,
        attributes: LaunchAttributes,
        arguments: A,
        stream: &Stream,
    ) -> Result<()> {
        // SAFETY: as in `launch`.
        unsafe { put_with(&self.function, &config, attributes, arguments, stream) }
    }
}

impl<S> Clone for Kernel<S> {
    fn clone(&self) -> Self {
        Self {
            function: self.function.clone(),
            signature: PhantomData,
        }
    }
}

impl<S> fmt::Debug for Kernel<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kernel").field(&self.function).finish()
    }
}

/// Refuses sizes that are not those which the kernel declares, where the driver can tell.
#[inline]
#[track_caller]
pub(super) fn check_sizes(function: &Function, given: &[usize]) -> Result<()> {
    let Some(declared) = function.parameters() else {
        return Ok(());
    };
    let pairs = given.iter().zip(declared);
    if given.len() == declared.len()
        && pairs.fold(true, |all, (given, it)| all & (*given == it.size))
    {
        return Ok(());
    }
    Err(mismatch(function, given))
}

#[cold]
fn mismatch(function: &Function, given: &[usize]) -> Error {
    let declared = function.parameters().unwrap_or_default();
    Error::Arguments {
        function: function.name().to_string_lossy().into_owned(),
        mismatch: ArgumentMismatch {
            declared: declared.iter().map(|parameter| parameter.size).collect(),
            given: given.into(),
        },
    }
}

/// Refuses a kernel of another context than the stream's, and a shape that it cannot have.
#[inline]
#[track_caller]
pub(super) fn check(function: &Function, config: &LaunchConfig, stream: &Stream) -> Result<()> {
    if !function.is_in_context_of(stream) {
        return Err(Error::WrongContext { what: "the kernel" });
    }
    config.check(function)
}

/// Checks a launch, and makes the memory among its arguments ready.
#[inline]
#[track_caller]
fn prepare<L: List>(
    function: &Function,
    config: &LaunchConfig,
    arguments: &L,
    stream: &Stream,
) -> Result<()> {
    check(function, config, stream)?;
    arguments.prepare(stream)
}

/// Launches a kernel (`cuLaunchKernel`): all launches without attributes come by here. The shape is
/// lent, because a copy of it would wait until the caller's own has left the processor's store buffer.
///
/// # Safety
/// The arguments are of the types that the kernel declares, and with them it touches only memory that
/// it may; memory among them is alive.
#[expect(
    clippy::needless_pass_by_value,
    reason = "a launch uses its borrows up"
)]
#[inline]
#[track_caller]
pub(super) unsafe fn put<L: List>(
    function: &Function,
    config: &LaunchConfig,
    arguments: L,
    stream: &Stream,
) -> Result<()> {
    let launch = LaunchId { function, config };
    if let Err(refused) = prepare(function, config, &arguments, stream) {
        // SAFETY: memory among the arguments is alive, which is a condition of this function.
        return unsafe { end_failed(&arguments, stream, refused, launch) };
    }
    let mut values = arguments.values();
    let mut pointers = arguments.pointers(&mut values);
    // SAFETY: the conditions of this function; the pointers lead to the values, and memory among these is
    // ready.
    let launched = unsafe { put_pointers(function, config, pointers.as_mut(), stream) };
    if let Err(failed) = launched {
        // SAFETY: as above.
        return unsafe { end_failed(&arguments, stream, failed, launch) };
    }
    // SAFETY: as above.
    unsafe { arguments.end(stream, &Ok(()), launch) };
    Ok(())
}

/// # Safety
/// As [`put`]; each pointer leads to a value of the kernel's parameter, and device memory among them is
/// ready for work on the stream.
#[inline(always)]
#[track_caller]
pub(super) unsafe fn put_pointers(
    function: &Function,
    config: &LaunchConfig,
    pointers: &mut [*mut c_void],
    stream: &Stream,
) -> Result<()> {
    let pointers = pointers.as_mut_ptr();
    if !stream.is_captured() {
        function.note_use(stream);
        if let Some(launch) = stream.begin_owners_launch(function.number()) {
            // SAFETY: the conditions of this function, and of the call.
            return match unsafe { call(function, config, pointers, stream) } {
                Ok(()) if !stream.core().is_checked() => {
                    stream.launches().put_as_owner(launch);
                    Ok(())
                }
                launched => {
                    let begun = BegunLaunch::Owners(launch);
                    // SAFETY: as above.
                    unsafe { end(function, config, pointers, stream, begun, launched) }
                }
            };
        }
    }
    // SAFETY: as above.
    unsafe { put_other(function, config, pointers, stream) }
}

/// A launch that is of a graph, or not of the thread that has the stream's ring. The module's note of the stream is made.
///
/// # Safety
/// As [`put_pointers`].
#[cold]
#[inline(never)]
#[track_caller]
unsafe fn put_other(
    function: &Function,
    config: &LaunchConfig,
    pointers: *mut *mut c_void,
    stream: &Stream,
) -> Result<()> {
    if stream.is_captured() {
        note_captured(function, stream);
    }
    let begun = stream.begin_other_launch(function.number())?;
    // SAFETY: the conditions of this function, and of the call.
    let launched = unsafe { call(function, config, pointers, stream) };
    // SAFETY: as above.
    unsafe { end(function, config, pointers, stream, begun, launched) }
}

/// `cuLaunchKernel`.
///
/// # Safety
/// As [`put_pointers`].
#[inline(always)]
unsafe fn call(
    function: &Function,
    config: &LaunchConfig,
    pointers: *mut *mut c_void,
    stream: &Stream,
) -> Result<(), DriverError> {
    let ([gx, gy, gz], [bx, by, bz]) = (config.grid, config.block);
    let (shared, none) = (config.shared_bytes, ptr::null_mut());
    let (kernel, driver, raw) = (function.raw(), stream.core().driver(), stream.raw());
    // SAFETY: function and stream are alive and of one context; the driver copies the values, to which the
    // pointers lead, before it returns; their types, and the memory that the kernel touches, are conditions
    // of this function.
    unsafe { driver.cuLaunchKernel(kernel, gx, gy, gz, bx, by, bz, shared, raw, pointers, none) }
}

/// Ends a launch. One that the driver has refused is made in the context, if it was not.
///
/// # Safety
/// As [`put_pointers`].
#[cold]
#[inline(never)]
#[track_caller]
unsafe fn end(
    function: &Function,
    config: &LaunchConfig,
    pointers: *mut *mut c_void,
    stream: &Stream,
    begun: BegunLaunch,
    launched: Result<(), DriverError>,
) -> Result<()> {
    // SAFETY: the conditions of this function.
    let again = |_: &Driver| unsafe { call(function, config, pointers, stream) };
    let launched = launched.or_else(|refused| stream.core().call_again(refused, again));
    let is_put = launched.is_ok();
    let ended = stream.end_launch(begun, id::cuLaunchKernel, launched);
    match is_put {
        // What a wait for it has found has another cause than its shape.
        true => ended,
        false => ended.map_err(|error| explain(error, function, *config)),
    }
}

/// Keeps the kernel for as long as a launch on the stream, which is made next, may run.
#[inline]
#[track_caller]
pub(super) fn note_use(function: &Function, stream: &Stream) {
    if stream.is_captured() {
        note_captured(function, stream);
    } else {
        function.note_use(stream);
    }
}

#[cold]
fn note_captured(function: &Function, stream: &Stream) {
    if let Some(graph) = stream.captured() {
        graph.keep_one(function.raw().addr(), function);
    }
}

/// As [`put`], with attributes.
///
/// # Safety
/// The conditions of [`put`].
#[inline]
#[track_caller]
pub(super) unsafe fn put_with<L: List>(
    function: &Function,
    config: &LaunchConfig,
    attributes: LaunchAttributes,
    arguments: L,
    stream: &Stream,
) -> Result<()> {
    if attributes == LaunchAttributes::new() {
        // SAFETY: the conditions of this function.
        return unsafe { put(function, config, arguments, stream) };
    }
    attributes.check(*config, function)?;
    let launch = LaunchId { function, config };
    if let Err(refused) = prepare(function, config, &arguments, stream) {
        // SAFETY: memory among the arguments is alive, which is a condition of this function.
        return unsafe { end_failed(&arguments, stream, refused, launch) };
    }
    let mut values = arguments.values();
    let mut pointers = arguments.pointers(&mut values);
    let pointers = pointers.as_mut();
    // SAFETY: the conditions of this function; the pointers lead to the values.
    let launched = unsafe { launch_ex(function, *config, attributes, pointers, stream) };
    if let Err(failed) = launched {
        // SAFETY: as above.
        return unsafe { end_failed(&arguments, stream, failed, launch) };
    }
    // SAFETY: as above.
    unsafe { arguments.end(stream, &Ok(()), launch) };
    Ok(())
}

/// Tells memory among the arguments that a launch has failed. What ends well does not come by here, and no
/// result is handed on: a good one would be copied, of which all but a word was never written.
///
/// # Safety
/// Memory among the arguments is alive.
#[cold]
unsafe fn end_failed<L: List>(
    arguments: &L,
    stream: &Stream,
    failed: Error,
    launch: LaunchId<'_>,
) -> Result<()> {
    let failed = Err(failed);
    // SAFETY: the condition of this function.
    unsafe { arguments.end(stream, &failed, launch) };
    failed
}

/// A launch that may have failed because of its shared memory says so.
#[cold]
pub(super) fn explain(error: Error, function: &Function, config: LaunchConfig) -> Error {
    use cupola_sys::driver::CUresult;
    let is_of_a_value = error.status() == Some(CUresult::CUDA_ERROR_INVALID_VALUE);
    if config.shared_bytes == 0 || !is_of_a_value {
        return error;
    }
    function
        .too_much_shared(config.shared_bytes)
        .unwrap_or(error)
}
