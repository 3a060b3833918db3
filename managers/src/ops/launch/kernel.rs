//! `Kernel<S>`: a kernel whose parameters are known when the program is compiled.

use std::fmt;
use std::marker::PhantomData;

use super::put::{check_sizes, put, put_with};
use super::signature::{ArgsFor, Signature};
use super::{LaunchAttributes, LaunchConfig};
use crate::error::Result;
use crate::module::Function;
use crate::stream::Stream;

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
    /// [`Error::Arguments`](crate::Error::Arguments), which lists both in full.
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
    /// As [`launch`](super::launch), but for [`Error::Arguments`](crate::Error::Arguments).
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
    /// As [`launch_with`](super::launch_with), but for [`Error::Arguments`](crate::Error::Arguments).
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
