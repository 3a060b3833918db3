//! `Tiling`: an array of which kernels copy boxes.

use super::builder::array_methods;
use super::element::{PADDED_ROW, TensorFormat};
use super::layout::Layout;
use super::options::{Interleave, Options};
use crate::error::{Error, Result};

/// Most elements of a box in a dimension.
const MOST_BOX: u32 = 256;

/// An array of `R` dimensions, one to five, of which kernels copy boxes of a fixed size. **The
/// innermost dimension comes first**, as in `cuTensorMapEncodeTiled`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "`TensorMap::tiled` makes the map"]
pub struct Tiling<const R: usize> {
    pub(super) layout: Layout<R>,
    pub(super) boxes: [u32; R],
    pub(super) options: Options,
}

impl<const R: usize> Tiling<R> {
    /// An array of so many elements without gaps, and boxes of so many, up to 256 in each dimension.
    pub const fn new(dims: [u64; R], boxes: [u32; R]) -> Self {
        Self {
            layout: Layout::new(dims),
            boxes,
            options: Options::NONE,
        }
    }

    array_methods!();

    /// Refuses boxes that the accelerator cannot take.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the field.
    #[track_caller]
    pub(super) fn check_boxes(&self, format: TensorFormat) -> Result<()> {
        if self.boxes.iter().any(|&len| len == 0 || len > MOST_BOX) {
            let problem = format!("{:?} are not all 1 to {MOST_BOX} elements", self.boxes);
            return Err(Error::invalid("boxes", problem));
        }
        let row = self.boxes[0];
        if format.is_padded() && row != PADDED_ROW {
            let problem = format!("a row of a box has {row} of {format:?}, and not {PADDED_ROW}");
            return Err(Error::invalid("boxes", problem));
        }
        let bits = u64::from(row) * format.bits();
        if self.options.interleave == Interleave::None && !bits.is_multiple_of(128) {
            let problem = format!("a row of a box has {bits} bits, which are no multiple of 128");
            return Err(Error::invalid("boxes", problem));
        }
        self.options.check_swizzle(format)?;
        self.options.check_row(format, row)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::options::Swizzle;
    use super::*;

    // Without it the driver would refuse with a code that does not name the box.
    #[test]
    fn boxes_that_cannot_be_are_named() {
        let field = |tiling: Tiling<2>, format| match tiling.check_boxes(format) {
            Ok(()) => "",
            Err(Error::Invalid { field, .. }) => field,
            Err(other) => panic!("{other}"),
        };
        let of = |boxes| Tiling::new([1024, 1024], boxes);
        let words = |tiling| field(tiling, TensorFormat::F32);
        assert_eq!(words(of([32, 256])), "");
        assert_eq!(words(of([32, 257])), "boxes");
        assert_eq!(words(of([0, 1])), "boxes");
        assert_eq!(words(of([6, 1])), "boxes");
        assert_eq!(words(of([32, 8]).swizzle(Swizzle::Bytes128)), "");
        assert_eq!(words(of([36, 8]).swizzle(Swizzle::Bytes128)), "swizzle");
        // The accelerator passes over none of a row.
        let stepped = of([64, 8]).steps([2, 1]).swizzle(Swizzle::Bytes128);
        assert_eq!(words(stepped), "swizzle");
        let sliced = of([8, 8]).interleave(Interleave::Bytes32);
        assert_eq!(words(sliced), "swizzle");
        assert_eq!(words(sliced.swizzle(Swizzle::Bytes32)), "");

        // Numbers of less than a byte: 32 of them are 16 bytes, or there are 128.
        let packed = TensorFormat::U4Align8;
        assert_eq!(field(of([32, 1]), packed), "");
        assert_eq!(field(of([16, 1]), packed), "boxes");
        let swizzled = of([96, 1]).swizzle(Swizzle::Bytes32);
        assert_eq!(field(swizzled, packed), "swizzle");
        for padded in [TensorFormat::U4Align16, TensorFormat::U6Align16] {
            assert_eq!(field(of([256, 1]), padded), "boxes");
            let of = of([128, 1]);
            assert_eq!(field(of, padded), "");
            assert_eq!(field(of.swizzle(Swizzle::Bytes64), padded), "swizzle");
            assert_eq!(field(of.swizzle(Swizzle::Bytes128Atom32), padded), "");
            let flipped = of.swizzle(Swizzle::Bytes128Atom32Flip8);
            assert_eq!(field(flipped, padded), "swizzle");
            let stored = field(of.swizzle(Swizzle::Bytes128Atom64), padded);
            assert_eq!(stored.is_empty(), padded == TensorFormat::U6Align16);
        }
    }
}
