//! DLPack: tensors that change hands between libraries without a copy
//! (<https://dmlc.github.io/dlpack>).
//!
//! A producer fills a structure and gives its address away; the consumer calls its deleter when it has no more use
//! for the memory. Python's `__dlpack__` wraps that address in a capsule. There are two forms: that of
//! version 1 ([`DLManagedTensorVersioned`]), and that of before ([`DLManagedTensor`]), which a Python consumer means that
//! passes no `max_version`. [`ExportedTensor`] makes either, [`ForeignTensor`] takes either.
//!
//! ```
//! use cupola_managers::interop::{ExportedTensor, ForeignTensor};
//! use cupola_managers::{ExecutionManager, PoolConfig};
//!
//! # let driver = cupola_sim::Machine::builder().build().driver();
//! let context = ExecutionManager::new(driver)?.devices().get(0)?.primary()?;
//! let stream = context.streams().create(Default::default())?;
//! let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
//! let matrix = pool.upload(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &stream)?;
//! // For a consumer whose work is on `stream`.
//! let raw = ExportedTensor::of_buffer(matrix, &[2, 3], Some(&stream))?.into_versioned();
//!
//! // The consumer's side, here the same program.
//! // SAFETY: a tensor that was just exported, and that no other consumer has.
//! let tensor = unsafe { ForeignTensor::from_raw(raw, &context) }?;
//! assert_eq!(tensor.shape(), [2, 3]);
//! // SAFETY: the copy is on the stream, and waited for.
//! let numbers = unsafe { tensor.view::<f32>(&stream)? };
//! assert_eq!(numbers.to_vec(&stream)?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

mod abi;
mod check;
mod export;
mod import;
mod owned;

pub use abi::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor,
    DlElement, ManagedTensor,
};
pub use check::TensorMemory;
pub use export::ExportedTensor;
pub use import::ForeignTensor;
pub use owned::{OwnedTensor, TensorError};
