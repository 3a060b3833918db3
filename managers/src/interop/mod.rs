//! Device memory that is handed to other libraries, and theirs: [DLPack](dlpack) tensors, the
//! [CUDA array interface](array_interface) of Python libraries, and memory and semaphores of other APIs by file
//! descriptor (`external`, on Unix).

pub mod array_interface;
pub mod dlpack;
#[cfg(unix)]
pub mod external;
mod layout;
mod stream_number;
mod strided;

pub use array_interface::ArrayInterface;
pub use dlpack::{DlElement, ExportedTensor, ForeignTensor, TensorError};
#[cfg(unix)]
pub use external::{
    ExternalAllocation, ExternalBuffer, ExternalMemory, ExternalMemoryConfig, ExternalSemaphore,
    ExternalTimeline,
};
pub use stream_number::StreamNumber;
pub use strided::StridedView;
