//! Device memory that is handed to other libraries, and theirs: [DLPack](dlpack) tensors, and the
//! [CUDA array interface](array_interface) of Python libraries.

pub mod array_interface;
pub mod dlpack;
mod layout;

pub use array_interface::ArrayInterface;
pub use dlpack::{DlElement, ForeignTensor, TensorError};
