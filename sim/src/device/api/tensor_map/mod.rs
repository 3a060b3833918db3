//! Tensor maps: the driver's rules for them, and what was asked written down.
//!
//! The rules are those that `cuda.h` tells, of devices that play compute capability 9.0 and, for what
//! CUDA 12.8 brought, 10.0. No kernel of this device reads a map, as the instructions that do are not
//! built: so the attribute of tensor maps stays 0.

mod array;

use std::ffi::{c_int, c_void};

use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;

use array::{
    Array, MARK, MOST_RANK, Style, bits, is_padded, read, refuse, require, require_device,
};

use CUtensorMapDataType as Format;
use CUtensorMapInterleave as Interleave;
use CUtensorMapSwizzle as Swizzle;

fn check_place(map: Out<CUtensorMap>) -> Reply {
    map.check()?;
    require(map.is_aligned_to(64), "the place of the map is not aligned")
}

#[allow(clippy::too_many_arguments, reason = "the driver's function has them")]
fn tiled(
    call: &Call<'_>,
    map: Out<CUtensorMap>,
    format: Format,
    rank: cuuint32_t,
    address: *mut c_void,
    dims: In<cuuint64_t>,
    strides: In<cuuint64_t>,
    boxes: In<cuuint32_t>,
    steps: In<cuuint32_t>,
    interleave: Interleave,
    swizzle: Swizzle,
    promotion: CUtensorMapL2promotion,
    fill: CUtensorMapFloatOOBfill,
) -> Reply {
    check_place(map)?;
    let style = Style {
        interleave,
        swizzle,
        promotion,
        fill,
    };
    let array = Array::new(format, rank, address, dims, strides, steps, style)?;
    array.check(call)?;
    array.check_swizzle()?;
    let boxes: [u32; MOST_RANK] = read(boxes, array.rank)?;
    let fits = |len: &u32| (1..=256).contains(len);
    require(
        boxes[..array.rank].iter().all(fits),
        "a box is not 1 to 256 long",
    )?;
    array.check_row(boxes[0])?;
    let is_sliced = interleave != Interleave::CU_TENSOR_MAP_INTERLEAVE_NONE;
    let is_whole = (u64::from(boxes[0]) * bits(format)).is_multiple_of(128);
    require(is_sliced || is_whole, "a row is no multiple of 16 bytes")?;
    map.set(array.map(1, &boxes))
}

#[allow(clippy::too_many_arguments, reason = "the driver's function has them")]
fn im2col(
    call: &Call<'_>,
    map: Out<CUtensorMap>,
    format: Format,
    rank: cuuint32_t,
    address: *mut c_void,
    dims: In<cuuint64_t>,
    strides: In<cuuint64_t>,
    lower: In<c_int>,
    upper: In<c_int>,
    channels: cuuint32_t,
    pixels: cuuint32_t,
    steps: In<cuuint32_t>,
    interleave: Interleave,
    swizzle: Swizzle,
    promotion: CUtensorMapL2promotion,
    fill: CUtensorMapFloatOOBfill,
) -> Reply {
    check_place(map)?;
    let style = Style {
        interleave,
        swizzle,
        promotion,
        fill,
    };
    let array = Array::new(format, rank, address, dims, strides, steps, style)?;
    require(array.rank >= 3, "images have three dimensions at least")?;
    array.check(call)?;
    array.check_swizzle()?;
    array.check_row(channels)?;
    require(
        (1..=1024).contains(&pixels),
        "a column is not 1 to 1024 long",
    )?;
    let space = array.rank - 2;
    let (lower, upper): ([_; 3], [_; 3]) = (read(lower, space)?, read(upper, space)?);
    // Of 16, 8 or 5 bits, by how many share a word.
    let most = [1 << 15, 1 << 7, 1 << 4][space - 1];
    let fits = |corner: &c_int| (-most..most).contains(corner);
    let [a, b, c] = lower;
    let [d, e, f] = upper;
    let corners = [a, b, c, d, e, f];
    require(corners.iter().all(fits), "a corner is too far away")?;
    let [a, b, c, d, e, f] = corners.map(c_int::cast_unsigned);
    let rest = [channels, pixels, a, b, c, d, e, f];
    map.set(array.map(2, &rest))
}

#[allow(clippy::too_many_arguments, reason = "the driver's function has them")]
fn im2col_wide(
    call: &Call<'_>,
    map: Out<CUtensorMap>,
    format: Format,
    rank: cuuint32_t,
    address: *mut c_void,
    dims: In<cuuint64_t>,
    strides: In<cuuint64_t>,
    lower: c_int,
    upper: c_int,
    channels: cuuint32_t,
    pixels: cuuint32_t,
    steps: In<cuuint32_t>,
    interleave: Interleave,
    mode: CUtensorMapIm2ColWideMode,
    swizzle: Swizzle,
    promotion: CUtensorMapL2promotion,
    fill: CUtensorMapFloatOOBfill,
) -> Reply {
    use CUtensorMapIm2ColWideMode as Mode;
    check_place(map)?;
    let style = Style {
        interleave,
        swizzle,
        promotion,
        fill,
    };
    let array = Array::new(format, rank, address, dims, strides, steps, style)?;
    require(array.rank >= 3, "images have three dimensions at least")?;
    array.check(call)?;
    require_device(call, 10, "columns within a row")?;
    let is_taken = match swizzle {
        Swizzle::CU_TENSOR_MAP_SWIZZLE_128B | Swizzle::CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B => true,
        Swizzle::CU_TENSOR_MAP_SWIZZLE_64B => {
            format != Format::CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B
        }
        _ => false,
    };
    require(is_taken, "columns within a row are not swizzled so")?;
    array.check_row(channels)?;
    let is_counted = match mode {
        Mode::CU_TENSOR_MAP_IM2COL_WIDE_MODE_W => (1..=1024).contains(&pixels),
        Mode::CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128 => true,
        _ => return Err(refuse("no such mode")),
    };
    require(is_counted, "a column is not 1 to 1024 long")?;
    let corners = [lower, upper].map(i16::try_from);
    let [Ok(lower), Ok(upper)] = corners else {
        return Err(refuse("a corner is too far away"));
    };
    let corners = u32::from(lower.cast_unsigned()) | u32::from(upper.cast_unsigned()) << 16;
    let pixels = match mode {
        Mode::CU_TENSOR_MAP_IM2COL_WIDE_MODE_W => pixels,
        _ => 0,
    };
    map.set(array.map(3, &[channels, pixels, mode.0, corners]))
}

fn replace_address(call: &Call<'_>, map: Out<CUtensorMap>, address: *mut c_void) -> Reply {
    check_place(map)?;
    require_device(call, 9, "tensor maps")?;
    let mut there = map.get()?;
    require(there.opaque[0] == MARK, "no map of this device")?;
    let (format, interleave) = (there.opaque[2] >> 8 & 0xff, there.opaque[2] >> 32 & 0xff);
    let is_padded = is_padded(CUtensorMapDataType(format as u32));
    let unit = match is_padded || interleave == 2 {
        true => 32,
        false => 16,
    };
    let address = address.addr() as u64;
    require(address.is_multiple_of(unit), "the address is not aligned")?;
    there.opaque[1] = address;
    map.set(there)
}

functions! {
    Initialized {
        cuTensorMapEncodeTiled: (map: *mut CUtensorMap, format: CUtensorMapDataType,
            rank: cuuint32_t, address: *mut c_void, dims: *const cuuint64_t,
            strides: *const cuuint64_t, boxes: *const cuuint32_t, steps: *const cuuint32_t,
            interleave: CUtensorMapInterleave, swizzle: CUtensorMapSwizzle,
            promotion: CUtensorMapL2promotion, fill: CUtensorMapFloatOOBfill) = tiled;
        cuTensorMapEncodeIm2col: (map: *mut CUtensorMap, format: CUtensorMapDataType,
            rank: cuuint32_t, address: *mut c_void, dims: *const cuuint64_t,
            strides: *const cuuint64_t, lower: *const c_int, upper: *const c_int,
            channels: cuuint32_t, pixels: cuuint32_t, steps: *const cuuint32_t,
            interleave: CUtensorMapInterleave, swizzle: CUtensorMapSwizzle,
            promotion: CUtensorMapL2promotion, fill: CUtensorMapFloatOOBfill) = im2col;
        cuTensorMapEncodeIm2colWide: (map: *mut CUtensorMap, format: CUtensorMapDataType,
            rank: cuuint32_t, address: *mut c_void, dims: *const cuuint64_t,
            strides: *const cuuint64_t, lower: c_int, upper: c_int, channels: cuuint32_t,
            pixels: cuuint32_t, steps: *const cuuint32_t, interleave: CUtensorMapInterleave,
            mode: CUtensorMapIm2ColWideMode, swizzle: CUtensorMapSwizzle,
            promotion: CUtensorMapL2promotion, fill: CUtensorMapFloatOOBfill) = im2col_wide;
        cuTensorMapReplaceAddress: (map: *mut CUtensorMap, address: *mut c_void) = replace_address;
    }
}
