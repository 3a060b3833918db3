//! `Im2colWide`: an image batch of which kernels copy columns that lie in one row of an image.

use cupola_sys::driver::CUtensorMapIm2ColWideMode as RawMode;

use super::builder::array_methods;
use super::element::TensorFormat;
use super::im2col::{check_channels, check_pixels};
use super::layout::Layout;
use super::options::{Options, Swizzle};
use crate::error::{Error, Result};

/// How many pixels a column has (`CUtensorMapIm2ColWideMode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WideColumn {
    /// So many, up to 1024: mode `W`.
    Pixels(u32),
    /// 128: mode `W128`.
    W128,
}

impl WideColumn {
    pub(super) const fn raw(self) -> RawMode {
        match self {
            Self::Pixels(_) => RawMode::CU_TENSOR_MAP_IM2COL_WIDE_MODE_W,
            Self::W128 => RawMode::CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128,
        }
    }

    /// As the driver takes them, which reads them in the first mode alone.
    pub(super) const fn pixels(self) -> u32 {
        match self {
            Self::Pixels(pixels) => pixels,
            Self::W128 => 128,
        }
    }
}

/// A batch of images, of which kernels copy what a filter meets at several pixels of one row: as
/// [`Im2col`](super::Im2col), but a column does not go on in the next row or image. **The innermost
/// dimension comes first**: channels, one to three dimensions of space beginning with the width, images,
/// as in `cuTensorMapEncodeIm2colWide`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "`TensorMap::im2col_wide` makes the map"]
pub struct Im2colWide<const R: usize> {
    pub(super) layout: Layout<R>,
    pub(super) lower: i32,
    pub(super) upper: i32,
    pub(super) channels: u32,
    pub(super) column: WideColumn,
    pub(super) options: Options,
}

impl<const R: usize> Im2colWide<R> {
    /// Channels, space and images.
    const RANK: () = assert!(
        R >= 3 && R <= 5,
        "images have one to three dimensions of space"
    );

    /// A batch of so many elements without gaps. A pixel of a column has up to 256 `channels`. Swizzled
    /// within 128 bytes until told otherwise: these columns are always swizzled.
    pub const fn new(dims: [u64; R], channels: u32, column: WideColumn) -> Self {
        let () = Self::RANK;
        Self {
            layout: Layout::new(dims),
            lower: 0,
            upper: 0,
            channels,
            column,
            options: Options {
                swizzle: Swizzle::Bytes128,
                ..Options::NONE
            },
        }
    }

    /// Where the pixels lie at which the filter is put: from the first pixel of a row, and from the last
    /// one. Numbers of 16 bits.
    pub const fn corners(mut self, lower: i32, upper: i32) -> Self {
        self.lower = lower;
        self.upper = upper;
        self
    }

    array_methods!();

    /// Refuses columns that the accelerator cannot take.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the field.
    #[track_caller]
    pub(super) fn check_columns(&self, format: TensorFormat) -> Result<()> {
        check_channels(self.channels, format)?;
        check_pixels(self.column.pixels())?;
        let (lower, upper) = (self.lower, self.upper);
        if i16::try_from(lower).is_err() || i16::try_from(upper).is_err() {
            let problem = format!("{lower} and {upper} are not both numbers of 16 bits");
            return Err(Error::invalid("corners", problem));
        }
        let swizzle = self.options.swizzle;
        let is_taken = match swizzle {
            Swizzle::Bytes64 => format != TensorFormat::U4Align16,
            Swizzle::Bytes128 | Swizzle::Bytes128Atom32 => true,
            _ => false,
        };
        if !is_taken {
            let problem = format!("wide columns of {format:?} are not copied with {swizzle:?}");
            return Err(Error::invalid("swizzle", problem));
        }
        self.options.check_row(format, self.channels)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it the driver would refuse with a code that does not name the column.
    #[test]
    fn wide_columns_that_cannot_be_are_named() {
        let field = |columns: Im2colWide<3>, format| match columns.check_columns(format) {
            Ok(()) => "",
            Err(Error::Invalid { field, .. }) => field,
            Err(other) => panic!("{other}"),
        };
        let of = |channels, column| Im2colWide::new([256, 32, 8], channels, column);
        let halves = |columns| field(columns, TensorFormat::F16);
        let whole = of(64, WideColumn::W128);
        assert_eq!(halves(whole), "");
        assert_eq!(halves(of(0, WideColumn::W128)), "channels");
        assert_eq!(halves(of(64, WideColumn::Pixels(1024))), "");
        assert_eq!(halves(of(64, WideColumn::Pixels(1025))), "pixels");
        assert_eq!(halves(whole.corners(-32768, 32767)), "");
        assert_eq!(halves(whole.corners(0, 32768)), "corners");
        assert_eq!(halves(whole.corners(-32769, 0)), "corners");
        // 128 bytes are too many for 64, and none is no permutation.
        assert_eq!(halves(whole.swizzle(Swizzle::Bytes64)), "swizzle");
        assert_eq!(halves(whole.swizzle(Swizzle::None)), "swizzle");
        assert_eq!(halves(whole.swizzle(Swizzle::Bytes128Atom64)), "swizzle");
        assert_eq!(halves(whole.swizzle(Swizzle::Bytes128Atom32)), "");
        let narrow = of(32, WideColumn::W128).swizzle(Swizzle::Bytes64);
        assert_eq!(halves(narrow), "");
        let padded = of(128, WideColumn::W128).swizzle(Swizzle::Bytes64);
        assert_eq!(field(padded, TensorFormat::U6Align16), "");
        assert_eq!(field(padded, TensorFormat::U4Align16), "swizzle");
        assert_eq!(field(whole, TensorFormat::U4Align16), "channels");
    }
}
