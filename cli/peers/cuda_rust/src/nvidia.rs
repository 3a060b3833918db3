//! What the rows of cuda-core and cuda-async use.

use std::env;
use std::ffi::c_void;
use std::sync::Arc;

use cuda_async::device_operation::DeviceOp;
use cuda_async::launch::{AsyncKernelLaunch, AsyncKernelLaunchBuilder};
use cuda_async::scheduling_policies::SingleStream;
use cuda_core::{Context, DeviceBuffer, Function, LaunchConfig, Stream};

use crate::failure::Failure;
use crate::kernels::{ELEMENTS, PTX, THREADS};

const GRID: (u32, u32, u32) = (1, 1, 1);
const BLOCK: (u32, u32, u32) = (THREADS, 1, 1);

/// The variables that change how cuda-async waits, which it reads once in a process.
const VARIABLES: [&str; 2] = ["CUDA_ASYNC_SPIN_BUDGET_US", "CUDA_ASYNC_HOST_SYNC"];

/// How cuda-async has been told to wait.
pub fn settings() -> String {
    VARIABLES
        .map(|name| match env::var(name) {
            Ok(value) => format!("{name}={value}"),
            Err(_) => format!("{name} unset"),
        })
        .join(", ")
}

/// A stream, and kernels and buffers for it.
pub struct Nvidia {
    pub stream: Arc<Stream>,
    policy: SingleStream,
    nothing: Arc<Function>,
    spin: Arc<Function>,
    x: DeviceBuffer<f32>,
    y: DeviceBuffer<f32>,
}

/// What keeps the buffers of a launch of cuda-async.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// Nothing: the launch is given addresses.
    Nothing,
    /// The launch, which is told of both buffers, and of which one it writes to.
    Launch,
}

impl Nvidia {
    pub fn new(device: usize) -> Result<Self, Failure> {
        let context = Context::new(device)?;
        let stream = context.new_stream()?;
        let module = context.load_module_from_ptx_src(PTX)?;
        Ok(Self {
            nothing: Arc::new(module.load_function("nothing")?),
            spin: Arc::new(module.load_function("spin")?),
            x: DeviceBuffer::zeroed(&stream, ELEMENTS)?,
            y: DeviceBuffer::zeroed(&stream, ELEMENTS)?,
            policy: SingleStream::from_stream(Arc::clone(&stream)),
            stream,
        })
    }

    /// `cuda_core::launch_kernel`: handles of the driver, and no look at the current context.
    #[inline]
    pub fn launch(&self, n: u64) -> Result<(), Failure> {
        let (mut n, mut a, mut b) = (n, 2.0_f32, 3_u32);
        let (mut x, mut y) = (self.x.cu_deviceptr(), self.y.cu_deviceptr());
        let mut parameters: [*mut c_void; 5] = [
            (&raw mut n).cast(),
            (&raw mut a).cast(),
            (&raw mut b).cast(),
            (&raw mut x).cast(),
            (&raw mut y).cast(),
        ];
        // SAFETY: function and stream are alive and of the primary context, which is current, the
        // pointers lead to values of the kernel's parameters, and it touches nothing.
        unsafe {
            let function = self.nothing.cu_function();
            let stream = self.stream.cu_stream();
            cuda_core::launch_kernel(function, GRID, BLOCK, 0, stream, &mut parameters)
        }?;
        Ok(())
    }

    /// `cuda_core::launch_kernel_on_stream`, which makes the stream's context current.
    #[inline]
    pub fn launch_on_stream(&self, n: u64) -> Result<(), Failure> {
        let (mut n, mut a, mut b) = (n, 2.0_f32, 3_u32);
        let (mut x, mut y) = (self.x.cu_deviceptr(), self.y.cu_deviceptr());
        let mut parameters: [*mut c_void; 5] = [
            (&raw mut n).cast(),
            (&raw mut a).cast(),
            (&raw mut b).cast(),
            (&raw mut x).cast(),
            (&raw mut y).cast(),
        ];
        let (function, stream) = (&self.nothing, &self.stream);
        // SAFETY: the pointers lead to values of the kernel's parameters, and it touches nothing.
        unsafe {
            cuda_core::launch_kernel_on_stream(function, GRID, BLOCK, 0, stream, &mut parameters)
        }?;
        Ok(())
    }

    /// cuda-async's operation, put on the stream without a wait.
    #[inline]
    pub fn launch_operation(&self, n: u64, keeping: Keeping) -> Result<(), Failure> {
        let mut builder = AsyncKernelLaunchBuilder::new(Arc::clone(&self.nothing));
        if keeping == Keeping::Launch {
            builder.retain_buffer(self.x.storage().clone(), false);
            builder.retain_buffer(self.y.storage().clone(), true);
        }
        let (x, y) = (self.x.cu_deviceptr(), self.y.cu_deviceptr());
        builder.push_args((n, 2.0_f32, 3_u32, x, y));
        // SAFETY: the arguments are those of the kernel, which touches nothing, and kernel and buffers
        // outlive all launches.
        unsafe { builder.finalize_unchecked(shape()).async_on(&self.stream) }?;
        Ok(())
    }

    /// cuda-async's operation that launches `spin`.
    #[inline]
    fn spins(&self, cycles: u64) -> AsyncKernelLaunch<'static> {
        let mut builder = AsyncKernelLaunchBuilder::new(Arc::clone(&self.spin));
        builder.push_arg(cycles);
        // SAFETY: the argument is that of the kernel, which touches nothing.
        unsafe { builder.finalize_unchecked(shape()) }
    }

    /// Launches `spin` and awaits it.
    pub fn spin_awaited(&self, cycles: u64) -> Result<(), Failure> {
        Ok(pollster::block_on(
            self.spins(cycles).schedule(&self.policy)?,
        )?)
    }

    /// Launches `spin` and waits in `cuStreamSynchronize`.
    pub fn spin_waited(&self, cycles: u64) -> Result<(), Failure> {
        Ok(self.spins(cycles).sync_on(&self.stream)?)
    }
}

fn shape() -> LaunchConfig {
    LaunchConfig {
        grid_dim: GRID,
        block_dim: BLOCK,
        shared_mem_bytes: 0,
    }
}
