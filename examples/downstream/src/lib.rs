//! Vectors times a number: a small GPU crate on cupola.

use cupola::kernels::Kernels;
use cupola::managers::ops;
use cupola::{Device, MemoryPool, PoolConfig, Stream, StreamConfig};

/// Why a vector was not scaled.
#[derive(Debug, thiserror::Error)]
pub enum ScaleError {
    /// The device or its driver could not.
    #[error("the device could not scale the vector")]
    Device(#[from] cupola::Error),
    /// The factor is no number.
    #[error("the factor is not a number")]
    NotANumber,
}

/// Scales vectors on one device.
#[derive(Debug)]
pub struct Scaler {
    stream: Stream,
    pool: MemoryPool,
    kernels: Kernels,
}

impl Scaler {
    /// Loads the kernels, and takes a stream and up to `limit` bytes of the device's memory.
    ///
    /// # Errors
    /// [`ScaleError::Device`].
    pub fn new(device: &Device, limit: u64) -> Result<Self, ScaleError> {
        let context = device.primary()?;
        let pool = context.memory_pool(PoolConfig::limit(limit))?;
        let kernels = Kernels::load(&context, device.info()?)?;
        Ok(Self {
            stream: context.streams().create(StreamConfig::default())?,
            pool,
            kernels,
        })
    }

    /// Every element times `factor`.
    ///
    /// # Errors
    /// [`ScaleError::Device`], [`ScaleError::NotANumber`].
    pub fn scale(&self, factor: f32, vector: &[f32]) -> Result<Vec<f32>, ScaleError> {
        if factor.is_nan() {
            return Err(ScaleError::NotANumber);
        }
        let stream = &self.stream;
        let mut x = self.pool.allocate::<f32>(vector.len(), stream)?;
        let mut y = self.pool.allocate::<f32>(vector.len(), stream)?;
        ops::write(&mut x, vector, stream)?;
        self.kernels.scale(factor, &x, &mut y, stream)?;
        let mut scaled = vec![0.0; vector.len()];
        ops::read(&y, &mut scaled, stream)?;
        Ok(scaled)
    }
}
