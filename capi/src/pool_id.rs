//! The names of private pools.

use std::fmt;

/// The name of a private pool: PyTorch's `MempoolId_t`, a `std::pair` of two integers by value.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PoolId {
    /// The first number.
    pub first: u64,
    /// The second number.
    pub second: u64,
}

impl fmt::Display for PoolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.first, self.second)
    }
}
