//! Tensor maps: what the driver takes, and what it refuses.

use std::ffi::c_void;
use std::ptr::without_provenance_mut;

use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::Version;
use cupola_sys::driver::*;

use crate::support::{Code, TestBench, code};

use CUtensorMapDataType as Format;
use CUtensorMapInterleave as Interleave;
use CUtensorMapSwizzle as Swizzle;

const OK: Code = CUresult::CUDA_SUCCESS;
const INVALID: Code = CUresult::CUDA_ERROR_INVALID_VALUE;
const UNSUPPORTED: Code = CUresult::CUDA_ERROR_NOT_SUPPORTED;

/// What a program asks for, of any of the three kinds.
#[derive(Clone, Copy)]
struct Asked {
    format: Format,
    rank: u32,
    address: usize,
    dims: [u64; 5],
    strides: [u64; 4],
    steps: [u32; 5],
    boxes: [u32; 5],
    lower: [i32; 3],
    upper: [i32; 3],
    channels: u32,
    pixels: u32,
    mode: CUtensorMapIm2ColWideMode,
    interleave: Interleave,
    swizzle: Swizzle,
    promotion: u32,
    fill: u32,
}

impl Asked {
    /// A batch of images, of 64 halves for each pixel.
    const fn halves() -> Self {
        Self {
            format: Format::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
            rank: 4,
            address: 0x1000,
            dims: [64, 8, 8, 2, 0],
            strides: [128, 1024, 8192, 0],
            steps: [1; 5],
            boxes: [64, 4, 2, 1, 0],
            lower: [-1; 3],
            upper: [1; 3],
            channels: 64,
            pixels: 32,
            mode: CUtensorMapIm2ColWideMode::CU_TENSOR_MAP_IM2COL_WIDE_MODE_W,
            interleave: Interleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            swizzle: Swizzle::CU_TENSOR_MAP_SWIZZLE_128B,
            promotion: 0,
            fill: 0,
        }
    }

    /// The same batch of 128 numbers of 6 bits.
    const fn sixes() -> Self {
        Self {
            format: Format::CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B,
            dims: [128, 8, 8, 2, 0],
            strides: [96, 768, 6144, 0],
            boxes: [128, 4, 2, 1, 0],
            channels: 128,
            ..Self::halves()
        }
    }

    fn address(&self) -> *mut c_void {
        without_provenance_mut(self.address)
    }

    fn tiled(&self, d: &Driver) -> Result<CUtensorMap, Code> {
        let mut map = CUtensorMap::default();
        // SAFETY: all arrays have five elements, or four of strides, and outlive the call.
        let made = code(unsafe {
            d.cuTensorMapEncodeTiled(
                &raw mut map,
                self.format,
                self.rank,
                self.address(),
                self.dims.as_ptr(),
                self.strides.as_ptr(),
                self.boxes.as_ptr(),
                self.steps.as_ptr(),
                self.interleave,
                self.swizzle,
                CUtensorMapL2promotion(self.promotion),
                CUtensorMapFloatOOBfill(self.fill),
            )
        });
        if made == OK { Ok(map) } else { Err(made) }
    }

    fn im2col(&self, d: &Driver) -> Result<CUtensorMap, Code> {
        let mut map = CUtensorMap::default();
        // SAFETY: as above; three elements of the corners.
        let made = code(unsafe {
            d.cuTensorMapEncodeIm2col(
                &raw mut map,
                self.format,
                self.rank,
                self.address(),
                self.dims.as_ptr(),
                self.strides.as_ptr(),
                self.lower.as_ptr(),
                self.upper.as_ptr(),
                self.channels,
                self.pixels,
                self.steps.as_ptr(),
                self.interleave,
                self.swizzle,
                CUtensorMapL2promotion(self.promotion),
                CUtensorMapFloatOOBfill(self.fill),
            )
        });
        if made == OK { Ok(map) } else { Err(made) }
    }

    fn wide(&self, d: &Driver) -> Result<CUtensorMap, Code> {
        let mut map = CUtensorMap::default();
        // SAFETY: as above.
        let made = code(unsafe {
            d.cuTensorMapEncodeIm2colWide(
                &raw mut map,
                self.format,
                self.rank,
                self.address(),
                self.dims.as_ptr(),
                self.strides.as_ptr(),
                self.lower[0],
                self.upper[0],
                self.channels,
                self.pixels,
                self.steps.as_ptr(),
                self.interleave,
                self.mode,
                self.swizzle,
                CUtensorMapL2promotion(self.promotion),
                CUtensorMapFloatOOBfill(self.fill),
            )
        });
        if made == OK { Ok(map) } else { Err(made) }
    }

    fn all(&self, d: &Driver) -> [Code; 3] {
        [self.tiled(d), self.im2col(d), self.wide(d)].map(|made| made.err().unwrap_or(OK))
    }
}

fn bench(major: u32, version: Version) -> TestBench {
    let device = DeviceConfig::new().compute_capability(major, 0);
    TestBench::with(Machine::builder().device(device).driver_version(version))
}

const NEW: Version = Version::new(13, 0);

/// Without it a program could be told that the device takes a map which no GPU does, or not be given one.
#[test]
fn each_rule_of_a_map_is_kept() {
    let bench = bench(10, NEW);
    let d = &bench.driver;
    let good = Asked::halves();
    let six = Asked::sixes();
    let four = Asked {
        format: Format::CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B,
        strides: [64, 512, 4096, 0],
        ..six
    };
    let packed = Asked {
        format: Format::CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B,
        ..four
    };
    for taken in [good, six, four, packed] {
        assert_eq!(taken.all(d), [OK; 3]);
    }
    let none = Swizzle::CU_TENSOR_MAP_SWIZZLE_NONE;
    let of_64 = Swizzle::CU_TENSOR_MAP_SWIZZLE_64B;
    let atom_64 = Swizzle::CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B;
    let sliced = Interleave::CU_TENSOR_MAP_INTERLEAVE_16B;
    #[rustfmt::skip]
    let cases = [
        (Asked { format: CUtensorMapDataType(16), ..good }, [INVALID; 3]),
        (Asked { swizzle: CUtensorMapSwizzle(7), ..good }, [INVALID; 3]),
        (Asked { interleave: CUtensorMapInterleave(3), ..good }, [INVALID; 3]),
        (Asked { promotion: 4, ..good }, [INVALID; 3]),
        (Asked { fill: 2, ..good }, [INVALID; 3]),
        (Asked { fill: 1, ..good }, [OK; 3]),
        (Asked { fill: 1, ..six }, [INVALID; 3]),
        (Asked { rank: 0, ..good }, [INVALID; 3]),
        (Asked { rank: 6, ..good }, [INVALID; 3]),
        (Asked { rank: 2, ..good }, [OK, INVALID, INVALID]),
        (Asked { rank: 2, interleave: sliced, ..good }, [INVALID; 3]),
        (Asked { address: 0x1008, ..good }, [INVALID; 3]),
        (Asked { address: 0x1010, ..packed }, [OK; 3]),
        (Asked { address: 0x1010, ..four }, [INVALID; 3]),
        (Asked { address: 0x1010, ..six }, [INVALID; 3]),
        (Asked { dims: [64, 0, 8, 2, 0], ..good }, [INVALID; 3]),
        (Asked { dims: [129, 8, 8, 2, 0], ..packed }, [INVALID; 3]),
        (Asked { dims: [130, 8, 8, 2, 0], ..packed }, [OK; 3]),
        (Asked { dims: [130, 8, 8, 2, 0], ..four }, [INVALID; 3]),
        (Asked { strides: [136, 1024, 8192, 0], ..good }, [INVALID; 3]),
        (Asked { strides: [112, 768, 6144, 0], ..six }, [INVALID; 3]),
        (Asked { strides: [128, 1024, 1 << 40, 0], ..good }, [INVALID; 3]),
        (Asked { steps: [1, 9, 1, 1, 1], ..good }, [INVALID; 3]),
        (Asked { boxes: [64, 257, 1, 1, 0], ..good }, [INVALID, OK, OK]),
        (Asked { boxes: [12, 1, 1, 1, 0], channels: 12, ..good }, [INVALID, OK, OK]),
        (Asked { boxes: [128, 1, 1, 1, 0], channels: 128, ..good }, [INVALID; 3]),
        (Asked { boxes: [64, 1, 1, 1, 0], channels: 64, ..six }, [INVALID; 3]),
        (Asked { pixels: 1025, ..good }, [OK, INVALID, INVALID]),
        (Asked { lower: [-129, 0, 0], ..good }, [OK, INVALID, OK]),
        (Asked { lower: [-32769, 0, 0], ..good }, [OK, INVALID, INVALID]),
        (Asked { mode: CUtensorMapIm2ColWideMode(2), ..good }, [OK, OK, INVALID]),
        (Asked { swizzle: none, ..good }, [OK, OK, INVALID]),
        (Asked { swizzle: of_64, ..six }, [INVALID, INVALID, OK]),
        (Asked { swizzle: of_64, ..four }, [INVALID; 3]),
        (Asked { swizzle: atom_64, ..six }, [OK, OK, INVALID]),
        (Asked { swizzle: atom_64, ..four }, [INVALID; 3]),
        (Asked { interleave: sliced, ..six }, [INVALID; 3]),
        (Asked { interleave: Interleave::CU_TENSOR_MAP_INTERLEAVE_32B, ..good }, [INVALID, INVALID, OK]),
    ];
    for (at, (asked, codes)) in cases.into_iter().enumerate() {
        assert_eq!(asked.all(d), codes, "case {at}");
    }
    bench.finish();
}

/// Without it a program that asks an older device or driver would be given what those do not have.
#[test]
fn older_devices_and_drivers_refuse() {
    let older = bench(8, NEW);
    assert_eq!(Asked::halves().all(&older.driver), [UNSUPPORTED; 3]);
    older.finish();
    let hopper = bench(9, NEW);
    let codes = Asked::halves().all(&hopper.driver);
    assert_eq!(codes, [OK, OK, UNSUPPORTED]);
    assert_eq!(Asked::sixes().all(&hopper.driver), [UNSUPPORTED; 3]);
    hopper.finish();
    let before = bench(10, Version::new(12, 7));
    let d = &before.driver;
    let six = Asked::sixes();
    assert_eq!(six.tiled(d), Err(INVALID));
    assert_eq!(Asked::halves().im2col(d).err(), None);
    // SAFETY: the function is missing.
    assert!(!d.has(id::cuTensorMapEncodeIm2colWide));
    before.finish();
}

/// Without it two requests could give one map, or a map keep the address that it had.
#[test]
fn a_map_has_what_was_asked() {
    let bench = bench(10, NEW);
    let d = &bench.driver;
    let good = Asked::halves();
    #[rustfmt::skip]
    let all = [
        good,
        Asked { address: 0x2000, ..good },
        Asked { dims: [64, 8, 8, 3, 0], ..good },
        Asked { strides: [128, 1024, 16384, 0], ..good },
        Asked { steps: [1, 2, 1, 1, 1], ..good },
        Asked { promotion: 1, ..good },
        Asked { fill: 1, ..good },
        Asked { format: Format::CU_TENSOR_MAP_DATA_TYPE_UINT16, ..good },
        Asked { boxes: [64, 4, 2, 2, 0], channels: 32, ..good },
        Asked { boxes: [64, 4, 4, 1, 0], upper: [2, 1, 1], ..good },
        Asked { boxes: [64, 8, 2, 1, 0], pixels: 64, ..good },
    ];
    let maps: Vec<CUtensorMap> = all
        .iter()
        .flat_map(|asked| [asked.tiled(d), asked.im2col(d), asked.wide(d)])
        .map(Result::unwrap)
        .collect();
    for (at, map) in maps.iter().enumerate() {
        assert!(!maps[..at].contains(map), "{at}");
    }
    let mut map = maps[0];
    let replace = |map: &mut CUtensorMap, address| {
        // SAFETY: the place outlives the call.
        code(unsafe { d.cuTensorMapReplaceAddress(map, without_provenance_mut(address)) })
    };
    assert_eq!(replace(&mut map, 0x2000), OK);
    assert_eq!(map, maps[3]);
    assert_eq!(replace(&mut map, 0x2008), INVALID);
    assert_eq!(replace(&mut CUtensorMap::default(), 0x2000), INVALID);
    let mut six = Asked::sixes().tiled(d).unwrap();
    assert_eq!(replace(&mut six, 0x2010), INVALID);
    assert_eq!(replace(&mut six, 0x2020), OK);
    bench.finish();
}
