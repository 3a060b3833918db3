//! Launches that fill and copy memory.

use cupola_managers::Result;
use cupola_managers::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut};
use cupola_managers::ops::launch;
use cupola_managers::stream::Stream;

use super::library::LibraryKernel;
use super::{Kernels, expect_len};
use crate::geometry;

impl Kernels {
    /// Sets every element to `value`, of 1, 2, 4, 8 or 16 bytes; a type of another size does not compile.
    /// [`ops::fill`](cupola_managers::ops::fill) is the driver's own, for values of at most 4 bytes and
    /// for larger ones that repeat such.
    ///
    /// # Errors
    /// As [`launch`]; where the kernel is not loaded yet, as
    /// [`ModuleManager::load_ptx`](cupola_managers::module::ModuleManager::load_ptx).
    pub fn fill<'a, T: DeviceCopy>(
        &self,
        output: impl Into<DeviceSliceMut<'a, T>>,
        value: T,
        stream: &Stream,
    ) -> Result<()> {
        const { assert!(matches!(size_of::<T>(), 1 | 2 | 4 | 8 | 16)) };
        let output = output.into();
        let (low, high) = pattern(&value, output.as_raw());
        let function = self.library.function(LibraryKernel::Fill)?;
        let bytes = output.bytes();
        let config = geometry::tiled(bytes, 16).into();
        // SAFETY: the kernel takes these types in this order and writes `bytes` bytes of the view: whole
        // copies of `value`, because the pattern is turned as far as the view is from an aligned unit.
        unsafe { launch(function, config, (bytes, output, low, high), stream) }
    }

    /// Copies elements by a kernel. [`ops::copy`](cupola_managers::ops::copy) leaves that to the driver,
    /// which may use a copy engine; inside of a graph, and for many small copies, a kernel can be the faster.
    ///
    /// # Errors
    /// `Error::Invalid` if the views differ in length; as [`fill`](Self::fill).
    pub fn copy<'a, 'b, T: DeviceCopy>(
        &self,
        input: impl Into<DeviceSlice<'a, T>>,
        output: impl Into<DeviceSliceMut<'b, T>>,
        stream: &Stream,
    ) -> Result<()> {
        let (input, output) = (input.into(), output.into());
        expect_len("output", output.len(), input.len())?;
        let function = self.library.function(LibraryKernel::Copy)?;
        let bytes = input.bytes();
        let config = geometry::tiled(bytes, 16).into();
        // SAFETY: the kernel takes these types in this order, and moves `bytes` bytes of any alignment;
        // output is borrowed mutably, so the views do not overlap.
        unsafe { launch(function, config, (bytes, input, output), stream) }
    }
}

/// The bytes of the first aligned unit of 16 in memory at `address` that is filled with `value`.
fn pattern<T: DeviceCopy>(value: &T, address: u64) -> (u64, u64) {
    let size = size_of::<T>();
    // SAFETY: all bytes of a value are initialised (`DeviceCopy`).
    let value = unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast::<u8>(), size) };
    let before = (address.wrapping_neg() % 16) as usize;
    let unit: [u8; 16] = std::array::from_fn(|place| value[(before + place) % size]);
    let unit = u128::from_le_bytes(unit);
    (unit as u64, (unit >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::pattern;

    // Without it a fill of a view that begins between two units could be shifted.
    #[test]
    fn a_pattern_is_turned_as_far_as_the_view_is_from_a_unit() {
        let value = 0x0807_0605_0403_0201_u64;
        assert_eq!(pattern(&value, 32), (value, value));
        assert_eq!(pattern(&value, 24), (value, value));
        let turned = value.rotate_right(32);
        assert_eq!(pattern(&value, 20), (turned, turned));
        assert_eq!(pattern(&[1_u64, 2], 24), (2, 1));
        assert_eq!(
            pattern(&7_u8, 3),
            (0x0707_0707_0707_0707, 0x0707_0707_0707_0707)
        );
    }
}
