//! How boxes lie in shared memory, and how they come there.

use cupola_sys::Version;
use cupola_sys::driver::{
    CUtensorMapFloatOOBfill as RawFill, CUtensorMapInterleave as RawInterleave,
    CUtensorMapL2promotion as RawPromotion, CUtensorMapSwizzle as RawSwizzle,
};

use super::element::TensorFormat;
use crate::error::{Error, Result};

/// How the bytes of a box are permuted in shared memory, so that threads which read a column of it
/// meet different banks (`CUtensorMapSwizzle`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Swizzle {
    /// Not at all.
    #[default]
    None,
    /// Pieces of 16 bytes within 32.
    Bytes32,
    /// Pieces of 16 bytes within 64.
    Bytes64,
    /// Pieces of 16 bytes within 128.
    Bytes128,
    /// Pieces of 32 bytes within 128. As those that follow, CUDA 12.8 or later, and GPUs of Blackwell's
    /// kind.
    Bytes128Atom32,
    /// The same, and of every other row the halves of each 16 bytes change places.
    Bytes128Atom32Flip8,
    /// Pieces of 64 bytes within 128.
    Bytes128Atom64,
}

impl Swizzle {
    /// The most bytes that the innermost dimension of a box has; `None` for any number.
    pub(super) const fn span(self) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Bytes32 => Some(32),
            Self::Bytes64 => Some(64),
            Self::Bytes128
            | Self::Bytes128Atom32
            | Self::Bytes128Atom32Flip8
            | Self::Bytes128Atom64 => Some(128),
        }
    }

    pub(super) const fn raw(self) -> RawSwizzle {
        match self {
            Self::None => RawSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
            Self::Bytes32 => RawSwizzle::CU_TENSOR_MAP_SWIZZLE_32B,
            Self::Bytes64 => RawSwizzle::CU_TENSOR_MAP_SWIZZLE_64B,
            Self::Bytes128 => RawSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
            Self::Bytes128Atom32 => RawSwizzle::CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B,
            Self::Bytes128Atom32Flip8 => RawSwizzle::CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B,
            Self::Bytes128Atom64 => RawSwizzle::CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B,
        }
    }

    /// The driver's name of a permutation that those before CUDA 12.8 do not know.
    pub(super) const fn since_12_8(self) -> Option<&'static str> {
        match self {
            Self::Bytes128Atom32 => Some("CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B"),
            Self::Bytes128Atom32Flip8 => Some("CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B"),
            Self::Bytes128Atom64 => Some("CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B"),
            _ => None,
        }
    }
}

/// Whether the channels of the array come in slices, as in NC/8HWC8 (`CUtensorMapInterleave`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Interleave {
    /// They do not.
    #[default]
    None,
    /// In slices of 16 bytes.
    Bytes16,
    /// In slices of 32 bytes.
    Bytes32,
}

impl Interleave {
    pub(super) const fn raw(self) -> RawInterleave {
        match self {
            Self::None => RawInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            Self::Bytes16 => RawInterleave::CU_TENSOR_MAP_INTERLEAVE_16B,
            Self::Bytes32 => RawInterleave::CU_TENSOR_MAP_INTERLEAVE_32B,
        }
    }

    /// What the address and the strides are multiples of.
    pub(super) const fn alignment(self) -> u64 {
        match self {
            Self::Bytes32 => 32,
            Self::None | Self::Bytes16 => 16,
        }
    }
}

/// How much of the array one access brings to the level-2 cache (`CUtensorMapL2promotion`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum L2Promotion {
    /// What was asked for.
    #[default]
    None,
    /// 64 bytes.
    Bytes64,
    /// 128 bytes.
    Bytes128,
    /// 256 bytes.
    Bytes256,
}

impl L2Promotion {
    pub(super) const fn raw(self) -> RawPromotion {
        match self {
            Self::None => RawPromotion::CU_TENSOR_MAP_L2_PROMOTION_NONE,
            Self::Bytes64 => RawPromotion::CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
            Self::Bytes128 => RawPromotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            Self::Bytes256 => RawPromotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        }
    }
}

/// What elements of a box have that lie outside of the array (`CUtensorMapFloatOOBfill`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fill {
    /// Zero.
    #[default]
    Zero,
    /// A not-a-number of which fused multiplications and additions make zero. Of floating-point
    /// elements alone.
    NotANumber,
}

impl Fill {
    pub(super) const fn raw(self) -> RawFill {
        match self {
            Self::Zero => RawFill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            Self::NotANumber => RawFill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
        }
    }
}

/// What all kinds of maps have in common besides the array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) swizzle: Swizzle,
    pub(super) interleave: Interleave,
    pub(super) promotion: L2Promotion,
    pub(super) fill: Fill,
}

impl Options {
    pub(super) const NONE: Self = Self {
        swizzle: Swizzle::None,
        interleave: Interleave::None,
        promotion: L2Promotion::None,
        fill: Fill::Zero,
    };

    /// Refuses a permutation that slices of channels or elements of this format are not copied with.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming `swizzle`.
    #[track_caller]
    pub(super) fn check_swizzle(self, format: TensorFormat) -> Result<()> {
        use Swizzle::{Bytes32, Bytes128, Bytes128Atom32, Bytes128Atom64};
        if self.interleave == Interleave::Bytes32 && self.swizzle != Bytes32 {
            let problem = "slices of 32 bytes are swizzled within 32 bytes";
            return Err(Error::invalid("swizzle", problem));
        }
        let is_taken = match (format, self.swizzle) {
            (TensorFormat::U6Align16, Bytes128Atom64) => true,
            (TensorFormat::U4Align16 | TensorFormat::U6Align16, swizzle) => {
                matches!(swizzle, Swizzle::None | Bytes128 | Bytes128Atom32)
            }
            _ => true,
        };
        if is_taken {
            return Ok(());
        }
        let problem = format!("{format:?} is not copied with {:?}", self.swizzle);
        Err(Error::invalid("swizzle", problem))
    }

    /// Refuses a permutation that a row of so many elements is too long for.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming `swizzle`.
    #[track_caller]
    pub(super) fn check_row(self, format: TensorFormat, elements: u32) -> Result<()> {
        // Rows with gaps have one length.
        if format.is_padded() || self.interleave != Interleave::None {
            return Ok(());
        }
        let row = (u64::from(elements) * format.bits()).div_ceil(8);
        match self.swizzle.span() {
            Some(span) if row > span => {
                let problem =
                    format!("a row of a box has {row} bytes, and is swizzled within {span}");
                Err(Error::invalid("swizzle", problem))
            }
            _ => Ok(()),
        }
    }

    /// Refuses what drivers before CUDA 12.8 do not know, which they would do by a code that names
    /// nothing.
    ///
    /// # Errors
    /// [`Error::Unsupported`].
    pub(super) fn check_driver(self, format: TensorFormat, have: Version) -> Result<()> {
        let needs = Version::new(12, 8);
        match format.since_12_8().or(self.swizzle.since_12_8()) {
            Some(symbol) if have < needs => Err(Error::Unsupported {
                symbol,
                needs,
                have,
            }),
            _ => Ok(()),
        }
    }
}
