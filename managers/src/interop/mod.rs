//! Device memory that is handed to other libraries, and theirs: [DLPack](dlpack) tensors, the
//! [CUDA array interface](array_interface) of Python libraries, and memory of other APIs by file descriptor
//! (`external`, on Unix).

pub mod array_interface;
pub mod dlpack;
#[cfg(unix)]
pub mod external;
mod layout;

pub use array_interface::ArrayInterface;
pub use dlpack::{DlElement, ForeignTensor, TensorError};
#[cfg(unix)]
pub use external::{ExternalAllocation, ExternalBuffer, ExternalMemory, ExternalMemoryConfig};
