//! `Tiling`: an array of which kernels copy boxes.

use super::element::TensorFormat;
use super::layout::Layout;
use super::options::{Fill, Interleave, L2Promotion, Options, Swizzle};
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
            options: Options {
                swizzle: Swizzle::None,
                interleave: Interleave::None,
                promotion: L2Promotion::None,
                fill: Fill::Zero,
            },
        }
    }

    /// Bytes from an element to the next one of each dimension: that of the innermost one is an
    /// element's size, the others are multiples of 16.
    pub const fn strides(mut self, bytes: [u64; R]) -> Self {
        self.layout.strides = Some(bytes);
        self
    }

    /// Takes every how manyth element of each dimension, one to eight.
    pub const fn steps(mut self, elements: [u32; R]) -> Self {
        self.layout.steps = elements;
        self
    }

    /// Takes the elements so, and not as their type says.
    pub const fn format(mut self, format: TensorFormat) -> Self {
        self.layout.format = Some(format);
        self
    }

    /// Permutes the bytes of a box in shared memory.
    pub const fn swizzle(mut self, swizzle: Swizzle) -> Self {
        self.options.swizzle = swizzle;
        self
    }

    /// Has the channels come in slices.
    pub const fn interleave(mut self, interleave: Interleave) -> Self {
        self.options.interleave = interleave;
        self
    }

    /// Brings more to the level-2 cache than was asked for.
    pub const fn l2_promotion(mut self, promotion: L2Promotion) -> Self {
        self.options.promotion = promotion;
        self
    }

    /// What elements have that lie outside of the array.
    pub const fn fill(mut self, fill: Fill) -> Self {
        self.options.fill = fill;
        self
    }

    /// Refuses boxes that the accelerator cannot take.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the field.
    #[track_caller]
    pub(super) fn check_boxes(&self, element: u64) -> Result<()> {
        if self.boxes.iter().any(|&len| len == 0 || len > MOST_BOX) {
            let problem = format!("{:?} are not all 1 to {MOST_BOX} elements", self.boxes);
            return Err(Error::invalid("boxes", problem));
        }
        let row = u64::from(self.boxes[0].div_ceil(self.layout.steps[0])) * element;
        if self.options.interleave == Interleave::None && !row.is_multiple_of(16) {
            let problem = format!("a row of a box has {row} bytes, which is no multiple of 16");
            return Err(Error::invalid("boxes", problem));
        }
        check_swizzle(self.options, row)
    }
}

/// Refuses a permutation that a row of so many bytes is too long for.
///
/// # Errors
/// [`Error::Invalid`] naming `swizzle`.
#[track_caller]
pub(super) fn check_swizzle(options: Options, row: u64) -> Result<()> {
    if options.interleave == Interleave::Bytes32 && options.swizzle != Swizzle::Bytes32 {
        let problem = "slices of 32 bytes are swizzled within 32 bytes";
        return Err(Error::invalid("swizzle", problem));
    }
    match options.swizzle.span() {
        Some(span) if options.interleave == Interleave::None && row > span => {
            let problem = format!("a row of a box has {row} bytes, and is swizzled within {span}");
            Err(Error::invalid("swizzle", problem))
        }
        _ => Ok(()),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it the driver would refuse with a code that does not name the box.
    #[test]
    fn boxes_that_cannot_be_are_named() {
        let field = |tiling: Tiling<2>| match tiling.check_boxes(4) {
            Ok(()) => "",
            Err(Error::Invalid { field, .. }) => field,
            Err(other) => panic!("{other}"),
        };
        let of = |boxes| Tiling::new([1024, 1024], boxes);
        assert_eq!(field(of([32, 256])), "");
        assert_eq!(field(of([32, 257])), "boxes");
        assert_eq!(field(of([0, 1])), "boxes");
        assert_eq!(field(of([6, 1])), "boxes");
        assert_eq!(field(of([32, 8]).swizzle(Swizzle::Bytes128)), "");
        assert_eq!(field(of([36, 8]).swizzle(Swizzle::Bytes128)), "swizzle");
        // Every second element: half as many bytes.
        assert_eq!(
            field(of([64, 8]).steps([2, 1]).swizzle(Swizzle::Bytes128)),
            ""
        );
        let sliced = of([8, 8]).interleave(Interleave::Bytes32);
        assert_eq!(field(sliced), "swizzle");
        assert_eq!(field(sliced.swizzle(Swizzle::Bytes32)), "");
    }
}
