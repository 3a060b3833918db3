//! `Im2col`: an image batch of which kernels copy the columns of a convolution.

use super::element::TensorFormat;
use super::layout::Layout;
use super::options::{Fill, Interleave, L2Promotion, Options, Swizzle};
use super::tiling::check_swizzle;
use crate::error::{Error, Result};

/// Most channels of a column.
const MOST_CHANNELS: u32 = 256;
/// Most pixels of a column.
const MOST_PIXELS: u32 = 1024;

/// A batch of images, of which kernels copy what a filter meets at several pixels, without the copies
/// of pixels that an explicit matrix of columns has. **The innermost dimension comes first**:
/// channels, one to three dimensions of space, images, as in `cuTensorMapEncodeIm2col`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "`TensorMap::im2col` makes the map"]
pub struct Im2col<const R: usize> {
    pub(super) layout: Layout<R>,
    lower: [i32; 3],
    upper: [i32; 3],
    pub(super) channels: u32,
    pub(super) pixels: u32,
    pub(super) options: Options,
}

impl<const R: usize> Im2col<R> {
    /// Channels, space and images.
    const RANK: () = assert!(
        R >= 3 && R <= 5,
        "images have one to three dimensions of space"
    );

    /// A batch of so many elements without gaps. A column has `channels` of `pixels`: up to 256, and
    /// up to 1024.
    pub const fn new(dims: [u64; R], channels: u32, pixels: u32) -> Self {
        let () = Self::RANK;
        Self {
            layout: Layout::new(dims),
            lower: [0; 3],
            upper: [0; 3],
            channels,
            pixels,
            options: Options {
                swizzle: Swizzle::None,
                interleave: Interleave::None,
                promotion: L2Promotion::None,
                fill: Fill::Zero,
            },
        }
    }

    /// Where the pixels lie at which the filter is put: from the first pixel, and from the last one of
    /// each dimension of space. Further entries than there are such dimensions are not looked at.
    pub const fn corners(mut self, lower: [i32; 3], upper: [i32; 3]) -> Self {
        self.lower = lower;
        self.upper = upper;
        self
    }

    /// Bytes from an element to the next one of each dimension: that of the innermost one is an
    /// element's size, the others are multiples of 16.
    pub const fn strides(mut self, bytes: [u64; R]) -> Self {
        self.layout.strides = Some(bytes);
        self
    }

    /// Takes every how manyth element of each dimension, one to eight: the strides of the convolution.
    pub const fn steps(mut self, elements: [u32; R]) -> Self {
        self.layout.steps = elements;
        self
    }

    /// Takes the elements so, and not as their type says.
    pub const fn format(mut self, format: TensorFormat) -> Self {
        self.layout.format = Some(format);
        self
    }

    /// Permutes the bytes of a column in shared memory.
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

    /// What elements have that lie outside of the images: the padding.
    pub const fn fill(mut self, fill: Fill) -> Self {
        self.options.fill = fill;
        self
    }

    /// The corners of the dimensions of space.
    pub(super) fn space(&self) -> (&[i32], &[i32]) {
        (&self.lower[..R - 2], &self.upper[..R - 2])
    }

    /// Refuses columns that the accelerator cannot take.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the field.
    #[track_caller]
    pub(super) fn check_columns(&self, element: u64) -> Result<()> {
        let (channels, pixels) = (self.channels, self.pixels);
        if channels == 0 || channels > MOST_CHANNELS {
            let problem = format!("{channels} are not 1 to {MOST_CHANNELS}");
            return Err(Error::invalid("channels", problem));
        }
        if pixels == 0 || pixels > MOST_PIXELS {
            let problem = format!("{pixels} are not 1 to {MOST_PIXELS}");
            return Err(Error::invalid("pixels", problem));
        }
        // Two bytes for one dimension, one for two, five bits for three.
        let bits = match R {
            3 => 16,
            4 => 8,
            _ => 5,
        };
        let most = 1 << (bits - 1);
        let (lower, upper) = self.space();
        let fits = |&corner: &i32| (-most..most).contains(&corner);
        if !lower.iter().chain(upper).all(fits) {
            let problem = format!("{lower:?} and {upper:?} are not all numbers of {bits} bits");
            return Err(Error::invalid("corners", problem));
        }
        check_swizzle(self.options, u64::from(channels) * element)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it the driver would refuse with a code that does not name the column.
    #[test]
    fn columns_that_cannot_be_are_named() {
        let field = |columns: Im2col<4>| match columns.check_columns(2) {
            Ok(()) => "",
            Err(Error::Invalid { field, .. }) => field,
            Err(other) => panic!("{other}"),
        };
        let of = |channels, pixels| Im2col::new([64, 32, 32, 8], channels, pixels);
        assert_eq!(field(of(64, 128)), "");
        assert_eq!(field(of(257, 128)), "channels");
        assert_eq!(field(of(64, 0)), "pixels");
        assert_eq!(field(of(64, 1025)), "pixels");
        assert_eq!(field(of(64, 128).corners([-128, 127, 999], [0; 3])), "");
        assert_eq!(field(of(64, 128).corners([0; 3], [0, 128, 0])), "corners");
        assert_eq!(field(of(64, 128).swizzle(Swizzle::Bytes128)), "");
        assert_eq!(field(of(128, 128).swizzle(Swizzle::Bytes128)), "swizzle");
    }
}
