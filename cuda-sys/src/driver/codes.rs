//! What each `CUresult` means and what to do about it.
use super::{CUresult, SYMBOLS};
use crate::{Status, Symbol};

impl Status for CUresult {
    const LIBRARY: &'static str = "CUDA driver";

    fn symbols() -> &'static [Symbol] {
        &SYMBOLS
    }

    #[inline(always)]
    fn is_success(self) -> bool {
        self == Self::CUDA_SUCCESS
    }

    fn code(self) -> i64 {
        i64::from(self.0)
    }

    fn name(self) -> Option<&'static str> {
        None
    }

    fn advice(self) -> Option<&'static str> {
        None
    }
}
