//! Arrays with holes, or in another order than C's.

use crate::buffer::{DeviceCopy, DeviceSlice};

/// The memory from the lowest to the highest element of an array, for kernels that follow its strides: element
/// `[i, j]` is number `first + i * strides[0] + j * strides[1]` of `elements`.
#[derive(Debug)]
#[non_exhaustive]
pub struct StridedView<'v, T: DeviceCopy> {
    /// All of it, holes among it.
    pub elements: DeviceSlice<'v, T>,
    /// Where the array's first element is. Not 0 where a stride is negative.
    pub first: usize,
    /// Elements from one to the next, by dimension. 0 where one stands for all.
    pub strides: Box<[i64]>,
}
