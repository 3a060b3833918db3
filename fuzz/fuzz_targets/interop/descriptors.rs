//! Any bytes as a DLPack tensor, and as a CUDA array interface, of another library: what is taken lies in the memory that it
//! says, and a tensor is ended once.
#![no_main]

#[path = "../../../managers/tests/interface/interop/descriptors.rs"]
mod descriptors;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| descriptors::check(bytes));
