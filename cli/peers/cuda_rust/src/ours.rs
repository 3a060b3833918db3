//! What cupola's rows use.

use cupola::managers::buffer::Buffer;
use cupola::managers::module::Function;
use cupola::managers::ops::{In, InOut, Kernel, LaunchConfig};
use cupola::{Cupola, Event, MemoryPool, PoolConfig, Stream};

use crate::failure::Failure;
use crate::kernels::{ELEMENTS, PTX, THREADS};

pub const SHAPE: LaunchConfig = LaunchConfig::linear(1, THREADS);

/// The parameters of `nothing`.
pub type Nothing = (u64, f32, u32, In<f32>, InOut<f32>);

/// A stream, and kernels and buffers for it.
pub struct Ours {
    pub device_name: String,
    pub stream: Stream,
    pub event: Event,
    /// The same functions without their signatures, for the driver's own calls.
    pub nothing_function: Function,
    pub spin_function: Function,
    pub nothing: Kernel<Nothing>,
    pub spin: Kernel<(u64,)>,
    pub x: Buffer<f32>,
    pool: MemoryPool,
}

impl Ours {
    pub fn new(cupola: &Cupola, device: u32) -> Result<Self, Failure> {
        let device = cupola.device(device)?;
        let context = device.primary()?;
        let stream = context.streams().create(Default::default())?;
        let module = context.modules().load_ptx(PTX)?;
        let nothing_function = module.function("nothing")?;
        let spin_function = module.function("spin")?;
        let pool = context.memory_pool(PoolConfig::limit(64 << 20))?;
        // SAFETY: the parameters of `nothing` and of `spin` are these.
        let (nothing, spin) = unsafe {
            (
                Kernel::new(nothing_function.clone())?,
                Kernel::new(spin_function.clone())?,
            )
        };
        Ok(Self {
            device_name: device.info()?.name.clone(),
            event: context.events().create(Default::default())?,
            x: pool.zeros(ELEMENTS, &stream)?,
            pool,
            nothing_function,
            spin_function,
            nothing,
            spin,
            stream,
        })
    }

    /// A buffer that a launch is given to write to.
    pub fn output(&self) -> Result<Buffer<f32>, Failure> {
        Ok(self.pool.zeros(ELEMENTS, &self.stream)?)
    }

    /// Launches `spin`.
    #[inline]
    pub fn spin(&self, cycles: u64) -> Result<(), Failure> {
        // SAFETY: the kernel touches nothing.
        unsafe { self.spin.launch(SHAPE, (cycles,), &self.stream) }?;
        Ok(())
    }
}
