//! [`Array`]: what all kinds of maps have in common, its rules, and how it is written down.

use std::ffi::c_void;

use cupola_sys::Version;
use cupola_sys::driver::*;

use crate::device::calls::args::{In, Reply};
use crate::device::calls::call::Call;
use crate::device::calls::logs::say;

use CUtensorMapDataType as Format;
use CUtensorMapInterleave as Interleave;
use CUtensorMapSwizzle as Swizzle;

/// The first number of each map of this device.
pub(super) const MARK: u64 = u64::from_le_bytes(*b"cupolaTM");
pub(super) const MOST_RANK: usize = 5;
/// Numbers that a row has between which there are gaps in shared memory.
const PADDED_ROW: u32 = 128;
/// How such rows are permuted; numbers of 4 bits not as the last.
const PADDED_SWIZZLES: [Swizzle; 4] = [
    Swizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
    Swizzle::CU_TENSOR_MAP_SWIZZLE_128B,
    Swizzle::CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B,
    Swizzle::CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B,
];

/// How the bytes come to shared memory.
pub(super) struct Style {
    pub(super) interleave: Interleave,
    pub(super) swizzle: Swizzle,
    pub(super) promotion: CUtensorMapL2promotion,
    pub(super) fill: CUtensorMapFloatOOBfill,
}

/// What all three kinds of maps have. Entries behind the last dimension are 0.
pub(super) struct Array {
    format: Format,
    pub(super) rank: usize,
    address: u64,
    dims: [u64; MOST_RANK],
    /// Of all dimensions but the innermost.
    strides: [u64; MOST_RANK - 1],
    steps: [u32; MOST_RANK],
    style: Style,
}

pub(super) fn refuse(why: &str) -> CUresult {
    say(why);
    CUresult::CUDA_ERROR_INVALID_VALUE
}

pub(super) fn require(holds: bool, why: &str) -> Reply {
    match holds {
        true => Ok(()),
        false => Err(refuse(why)),
    }
}

pub(super) fn read<T: Copy + Default, const N: usize>(from: In<T>, len: usize) -> Reply<[T; N]> {
    let mut all = [T::default(); N];
    for (at, place) in all.iter_mut().enumerate().take(len) {
        *place = from.at(at)?;
    }
    Ok(all)
}

/// Whether the device of the current context plays this generation.
pub(super) fn require_device(call: &Call<'_>, major: u32, what: &str) -> Reply {
    let context = call.context()?;
    if context.device.config.capability.0 >= major {
        return Ok(());
    }
    let text = format!("{what}: not supported before compute capability {major}.0");
    call.machine.messages.add(text);
    Err(CUresult::CUDA_ERROR_NOT_SUPPORTED)
}

/// Bits of an element in memory.
pub(super) fn bits(format: Format) -> u64 {
    match format {
        Format::CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B
        | Format::CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B => 4,
        Format::CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B => 6,
        Format::CU_TENSOR_MAP_DATA_TYPE_UINT8 => 8,
        Format::CU_TENSOR_MAP_DATA_TYPE_UINT16
        | Format::CU_TENSOR_MAP_DATA_TYPE_FLOAT16
        | Format::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 => 16,
        Format::CU_TENSOR_MAP_DATA_TYPE_UINT64
        | Format::CU_TENSOR_MAP_DATA_TYPE_INT64
        | Format::CU_TENSOR_MAP_DATA_TYPE_FLOAT64 => 64,
        _ => 32,
    }
}

/// Whether there are gaps between the elements in shared memory.
pub(super) fn is_padded(format: Format) -> bool {
    format == Format::CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B
        || format == Format::CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B
}

fn has_nan(format: Format) -> bool {
    (Format::CU_TENSOR_MAP_DATA_TYPE_FLOAT16.0..=Format::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ.0)
        .contains(&format.0)
}

/// The most bytes of a row that is permuted so.
fn span(swizzle: Swizzle) -> Option<u64> {
    match swizzle {
        Swizzle::CU_TENSOR_MAP_SWIZZLE_NONE => None,
        Swizzle::CU_TENSOR_MAP_SWIZZLE_32B => Some(32),
        Swizzle::CU_TENSOR_MAP_SWIZZLE_64B => Some(64),
        _ => Some(128),
    }
}

impl Array {
    pub(super) fn new(
        format: Format,
        rank: cuuint32_t,
        address: *mut c_void,
        dims: In<cuuint64_t>,
        strides: In<cuuint64_t>,
        steps: In<cuuint32_t>,
        style: Style,
    ) -> Reply<Self> {
        let rank = rank as usize;
        require(
            (1..=MOST_RANK).contains(&rank),
            "not one to five dimensions",
        )?;
        Ok(Self {
            format,
            rank,
            address: address.addr() as u64,
            dims: read(dims, rank)?,
            strides: read(strides, rank - 1)?,
            steps: read(steps, rank)?,
            style,
        })
    }

    /// Refuses what is wrong whatever is copied of the array.
    pub(super) fn check(&self, call: &Call<'_>) -> Reply {
        let Style {
            interleave,
            swizzle,
            promotion,
            fill,
        } = &self.style;
        let format = self.format;
        // What the played driver does not know are wrong numbers to it.
        let is_new = call.machine.version >= Version::new(12, 8);
        let (formats, swizzles) = match is_new {
            true => (15, 6),
            false => (12, 3),
        };
        require(format.0 <= formats, "no such data type")?;
        require(swizzle.0 <= swizzles, "no such swizzle")?;
        require(interleave.0 <= 2, "no such interleave")?;
        require(promotion.0 <= 3, "no such promotion")?;
        require(fill.0 <= 1, "no such fill")?;
        require_device(call, 9, "tensor maps")?;
        if format.0 > 12 || swizzle.0 > 3 {
            require_device(call, 10, "this data type or swizzle")?;
        }
        let is_sliced = *interleave != Interleave::CU_TENSOR_MAP_INTERLEAVE_NONE;
        require(
            !is_sliced || self.rank >= 3,
            "slices of fewer than three dimensions",
        )?;
        let is_six = format == Format::CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
        require(!is_sliced || !is_six, "slices of numbers of 6 bits")?;
        let unit =
            match *interleave == Interleave::CU_TENSOR_MAP_INTERLEAVE_32B || is_padded(format) {
                true => 32,
                false => 16,
            };
        require(
            self.address.is_multiple_of(unit),
            "the address is not aligned",
        )?;
        let dims = &self.dims[..self.rank];
        let fits = |len: &u64| (1..=1 << 32).contains(len);
        require(dims.iter().all(fits), "a dimension is 0 or too long")?;
        let group = match format {
            _ if is_padded(format) => u64::from(PADDED_ROW),
            Format::CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B => 2,
            _ => 1,
        };
        require(
            dims[0].is_multiple_of(group),
            "the innermost dimension ends in a group",
        )?;
        let strides = &self.strides[..self.rank - 1];
        let fits = |stride: &u64| stride.is_multiple_of(unit) && *stride < 1 << 40;
        require(
            strides.iter().all(fits),
            "a stride is not aligned or too long",
        )?;
        let steps = &self.steps[..self.rank];
        let fits = |step: &u32| (1..=8).contains(step);
        require(steps.iter().all(fits), "a step is not 1 to 8")?;
        let is_zero = *fill == CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
        require(
            is_zero || has_nan(format),
            "the data type has no not-a-number",
        )
    }

    /// Refuses permutations that tiles and columns of pixels are not copied with.
    pub(super) fn check_swizzle(&self) -> Reply {
        let swizzle = self.style.swizzle;
        let is_of_32 = self.style.interleave == Interleave::CU_TENSOR_MAP_INTERLEAVE_32B;
        let is_right = !is_of_32 || swizzle == Swizzle::CU_TENSOR_MAP_SWIZZLE_32B;
        require(is_right, "slices of 32 bytes are swizzled within 32")?;
        let taken = match self.format {
            Format::CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B => &PADDED_SWIZZLES[..3],
            Format::CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B => &PADDED_SWIZZLES[..],
            _ => return Ok(()),
        };
        require(taken.contains(&swizzle), "the data type is not swizzled so")
    }

    /// Refuses a row of so many elements in shared memory.
    pub(super) fn check_row(&self, elements: u32) -> Reply {
        require((1..=256).contains(&elements), "a row is empty or too long")?;
        let is_sliced = self.style.interleave != Interleave::CU_TENSOR_MAP_INTERLEAVE_NONE;
        if is_padded(self.format) {
            return require(elements == PADDED_ROW, "a row of this data type has 128");
        }
        let bytes = (u64::from(elements) * bits(self.format)).div_ceil(8);
        let fits = is_sliced || span(self.style.swizzle).is_none_or(|span| bytes <= span);
        require(fits, "a row is longer than it is swizzled within")
    }

    /// The map: what was asked, number by number.
    pub(super) fn map(&self, kind: u32, rest: &[u32]) -> CUtensorMap {
        let style = &self.style;
        let halves = |word: u64| [word as u32, (word >> 32) as u32];
        let header = [
            kind | self.format.0 << 8 | (self.rank as u32) << 16,
            style.interleave.0
                | style.swizzle.0 << 8
                | style.promotion.0 << 16
                | style.fill.0 << 24,
        ];
        let lengths = self.dims.map(|len| len.wrapping_sub(1) as u32);
        let numbers = halves(MARK)
            .into_iter()
            .chain(halves(self.address))
            .chain(header)
            .chain(lengths)
            .chain(self.strides.into_iter().flat_map(halves))
            .chain(self.steps)
            .chain(rest.iter().copied());
        let mut map = CUtensorMap::default();
        for (at, number) in numbers.enumerate() {
            map.opaque[at / 2] |= u64::from(number) << (at % 2 * 32);
        }
        map
    }
}
