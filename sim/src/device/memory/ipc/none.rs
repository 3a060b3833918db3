//! A host without files in memory: no memory has a name.

use cupola_sys::driver::CUresult;

use crate::device::memory::block::Block;
use crate::device::memory::ipc::{Name, Refusal};
use crate::device::memory::pages::Pages;

pub(in crate::device::memory) fn name(_: &Block) -> Option<Name> {
    None
}

pub(in crate::device::memory) fn open(_: &Name) -> Result<Pages, Refusal> {
    let why = "this host has no memory for other processes".to_owned();
    Err(Refusal::new(CUresult::CUDA_ERROR_NOT_SUPPORTED, why))
}
