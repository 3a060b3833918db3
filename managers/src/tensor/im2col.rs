//! `Im2col`: an image batch of which kernels copy the columns of a convolution.

use super::builder::array_methods;
use super::element::{PADDED_ROW, TensorFormat};
use super::layout::Layout;
use super::options::Options;
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
            options: Options::NONE,
        }
    }

    /// Where the pixels lie at which the filter is put: from the first pixel, and from the last one of
    /// each dimension of space. Further entries than there are such dimensions are not looked at.
    pub const fn corners(mut self, lower: [i32; 3], upper: [i32; 3]) -> Self {
        self.lower = lower;
        self.upper = upper;
        self
    }

    array_methods!();

    /// The corners of the dimensions of space.
    pub(super) fn space(&self) -> (&[i32], &[i32]) {
        (&self.lower[..R - 2], &self.upper[..R - 2])
    }

    /// Refuses columns that the accelerator cannot take.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the field.
    #[track_caller]
    pub(super) fn check_columns(&self, format: TensorFormat) -> Result<()> {
        check_channels(self.channels, format)?;
        check_pixels(self.pixels)?;
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
        self.options.check_swizzle(format)?;
        self.options.check_row(format, self.channels)
    }
}

/// Refuses so many channels in a column.
///
/// # Errors
/// [`Error::Invalid`] naming `channels`.
#[track_caller]
pub(super) fn check_channels(channels: u32, format: TensorFormat) -> Result<()> {
    if channels == 0 || channels > MOST_CHANNELS {
        let problem = format!("{channels} are not 1 to {MOST_CHANNELS}");
        return Err(Error::invalid("channels", problem));
    }
    if format.is_padded() && channels != PADDED_ROW {
        let problem = format!("{channels} of {format:?} are not {PADDED_ROW}");
        return Err(Error::invalid("channels", problem));
    }
    Ok(())
}

/// Refuses so many pixels in a column.
///
/// # Errors
/// [`Error::Invalid`] naming `pixels`.
#[track_caller]
pub(super) fn check_pixels(pixels: u32) -> Result<()> {
    if pixels == 0 || pixels > MOST_PIXELS {
        let problem = format!("{pixels} are not 1 to {MOST_PIXELS}");
        return Err(Error::invalid("pixels", problem));
    }
    Ok(())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::options::Swizzle;
    use super::*;

    // Without it the driver would refuse with a code that does not name the column.
    #[test]
    fn columns_that_cannot_be_are_named() {
        let field = |columns: Im2col<4>, format| match columns.check_columns(format) {
            Ok(()) => "",
            Err(Error::Invalid { field, .. }) => field,
            Err(other) => panic!("{other}"),
        };
        let of = |channels, pixels| Im2col::new([64, 32, 32, 8], channels, pixels);
        let halves = |columns| field(columns, TensorFormat::F16);
        assert_eq!(halves(of(64, 128)), "");
        assert_eq!(halves(of(257, 128)), "channels");
        assert_eq!(halves(of(64, 0)), "pixels");
        assert_eq!(halves(of(64, 1025)), "pixels");
        assert_eq!(halves(of(64, 128).corners([-128, 127, 999], [0; 3])), "");
        let far = of(64, 128).corners([0; 3], [0, 128, 0]);
        assert_eq!(halves(far), "corners");
        assert_eq!(halves(of(64, 128).swizzle(Swizzle::Bytes128)), "");
        assert_eq!(halves(of(128, 128).swizzle(Swizzle::Bytes128)), "swizzle");
        assert_eq!(field(of(64, 128), TensorFormat::U4Align16), "channels");
        assert_eq!(field(of(128, 128), TensorFormat::U4Align16), "");
        let swizzled = of(128, 128).swizzle(Swizzle::Bytes32);
        assert_eq!(field(swizzled, TensorFormat::U4Align16), "swizzle");
        assert_eq!(field(swizzled, TensorFormat::U4Align8), "swizzle");
    }
}
