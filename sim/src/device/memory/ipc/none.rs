//! A host without files in memory: no memory has a name.

use cupola_sys::driver::CUresult;

use super::super::block::Block;
use super::super::pages::Pages;
use super::{Name, Refusal};

pub(in crate::device::memory) fn name(_: &Block) -> Option<Name> {
    None
}

pub(in crate::device::memory) fn open(_: &Name) -> Result<Pages, Refusal> {
    let why = "this host has no memory for other processes".to_owned();
    Err(Refusal::new(CUresult::CUDA_ERROR_NOT_SUPPORTED, why))
}
