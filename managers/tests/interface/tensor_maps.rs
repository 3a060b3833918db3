//! Tensor maps: what is taken here a driver takes too, and what an older one lacks is named.

use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut};
use cupola_managers::tensor::{
    Fill, Im2col, Im2colWide, Interleave, L2Promotion, Swizzle, TensorFormat, TensorMap, Tiling,
    WideColumn,
};
use cupola_managers::{Context, Error, PoolConfig, Result};
use cupola_random::Random;
use cupola_sim::{DeviceConfig, Machine, MachineBuilder};
use cupola_sys::Version;
use cupola_sys::driver::CUresult;

use crate::test_bench::{PoolBench, TestBench};

const ROOM: usize = 1 << 20;

fn machine(major: u32) -> MachineBuilder {
    let device = DeviceConfig::new().compute_capability(major, 0);
    Machine::builder().device(device).worker_threads(1)
}

/// One of a list.
fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
    from[random.below(from.len() as u64) as usize]
}

const FORMATS: [TensorFormat; 4] = [
    TensorFormat::U8,
    TensorFormat::U4Align8,
    TensorFormat::U4Align16,
    TensorFormat::U6Align16,
];

const SWIZZLES: [Swizzle; 7] = [
    Swizzle::None,
    Swizzle::Bytes32,
    Swizzle::Bytes64,
    Swizzle::Bytes128,
    Swizzle::Bytes128Atom32,
    Swizzle::Bytes128Atom32Flip8,
    Swizzle::Bytes128Atom64,
];

/// One map of random arguments, of bytes or of numbers of less.
fn one(random: &mut Random, context: &Context, bytes: DeviceSlice<'_, u8>) -> Result<()> {
    let rows = [64, 96, 128, 130, 256];
    let dims = [pick(random, &rows), 8, 8, 2];
    let format = pick(random, &FORMATS);
    let swizzle = pick(random, &SWIZZLES);
    let slices = [
        Interleave::None,
        Interleave::None,
        Interleave::Bytes16,
        Interleave::Bytes32,
    ];
    let interleave = pick(random, &slices);
    let bytes = bytes.slice(pick(random, &[0, 16, 32, 33])..)?;
    let row = pick(random, &[16, 24, 32, 64, 96, 128, 256]);
    let steps = [1, pick(random, &[1, 2, 8]), 1, 1];
    let fill = pick(random, &[Fill::Zero, Fill::Zero, Fill::NotANumber]);
    macro_rules! with {
        ($description:expr) => {
            $description
                .format(format)
                .swizzle(swizzle)
                .interleave(interleave)
                .steps(steps)
                .fill(fill)
                .l2_promotion(L2Promotion::Bytes256)
        };
    }
    let corner = pick(random, &[-1, 0, 127, 200, 40_000]);
    match random.below(3) {
        0 => {
            let tiling = with!(Tiling::new(dims, [row, 4, 2, 1]));
            TensorMap::tiled(context, bytes, tiling).map(drop)
        }
        1 => {
            let columns = with!(Im2col::new(dims, row, 64)).corners([-1; 3], [corner; 3]);
            TensorMap::im2col(context, bytes, columns).map(drop)
        }
        _ => {
            let column = pick(random, &[WideColumn::W128, WideColumn::Pixels(64)]);
            let columns = with!(Im2colWide::new(dims, row, column)).corners(-1, corner);
            TensorMap::im2col_wide(context, bytes, columns).map(drop)
        }
    }
}

// Without it a rule could be missing here, and the driver refuse by a code that names none of the values;
// or one too many refuse all that there is.
#[test]
fn what_is_taken_here_the_driver_takes() {
    let bench = PoolBench::on(TestBench::on(machine(10)), PoolConfig::limit(8 << 20));
    let bytes = bench.pool.zeros::<u8>(ROOM, &bench.stream).unwrap();
    let mut random = Random::new(20_261_126);
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..20_000 {
        match one(&mut random, &bench.base.context, bytes.view()) {
            Ok(()) => taken += 1,
            Err(Error::Invalid { .. }) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(
        taken > 500 && refused > 500,
        "{taken} taken, {refused} refused"
    );
    drop(bytes);
    bench.finish();
}

// Without it a map of other memory could be one of the first, or be encoded from other arguments.
#[test]
fn a_map_of_other_memory_is_what_would_be_encoded() {
    let bench = PoolBench::on(TestBench::on(machine(10)), PoolConfig::limit(8 << 20));
    let context = &bench.base.context;
    let first = bench.pool.zeros::<u8>(1 << 16, &bench.stream).unwrap();
    let mut second = bench.pool.zeros::<u8>(1 << 16, &bench.stream).unwrap();
    let columns =
        Im2colWide::new([128, 16, 4], 128, WideColumn::W128).format(TensorFormat::U6Align16);
    let map = TensorMap::im2col_wide(context, first.view(), columns).unwrap();
    let replaced = map.of(context, second.view()).unwrap();
    let encoded = TensorMap::im2col_wide(context, second.view(), columns).unwrap();
    assert_eq!(replaced.as_raw(), encoded.as_raw());
    assert_ne!(map.as_raw(), encoded.as_raw());
    // One for writing is the same.
    let wanted = *encoded.as_raw();
    let written: DeviceSliceMut<'_, u8> = second.view_mut();
    let writing = TensorMap::im2col_wide(context, written, columns).unwrap();
    assert_eq!(*writing.as_raw(), wanted);
    drop((first, second));
    bench.finish();
}

/// What a driver says to wide columns, to numbers of 4 bits, and to a swizzle of CUDA 12.8.
fn newer(machine: MachineBuilder) -> [Error; 3] {
    let bench = PoolBench::on(TestBench::on(machine), PoolConfig::limit(8 << 20));
    let context = &bench.base.context;
    let bytes = bench.pool.zeros::<u8>(ROOM, &bench.stream).unwrap();
    let view = bytes.view();
    let columns = Im2colWide::new([128, 16, 4], 128, WideColumn::Pixels(64));
    let tiling = Tiling::new([128, 16], [128, 4]);
    let refused = [
        TensorMap::im2col_wide(context, view, columns).map(drop),
        TensorMap::tiled(context, view, tiling.format(TensorFormat::U4Align8)).map(drop),
        TensorMap::tiled(context, view, tiling.swizzle(Swizzle::Bytes128Atom64)).map(drop),
    ];
    TensorMap::tiled(context, view, tiling).unwrap();
    drop(bytes);
    bench.finish();
    refused.map(Result::unwrap_err)
}

// Without it a program on an older driver would be told of a wrong value, and not of what its driver lacks;
// or a device that lacks it be taken for a driver that does.
#[test]
fn what_older_drivers_and_devices_lack_is_told() {
    let names = newer(machine(10).driver_version(Version::new(12, 7))).map(|error| match error {
        Error::Unsupported {
            symbol,
            needs,
            have,
        } => {
            assert_eq!((needs, have), (Version::new(12, 8), Version::new(12, 7)));
            symbol
        }
        other => panic!("{other}"),
    });
    let expected = [
        "cuTensorMapEncodeIm2colWide",
        "CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B",
        "CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B",
    ];
    assert_eq!(names, expected);
    let unsupported = Some(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    let codes = newer(machine(9)).map(|error| error.status());
    assert_eq!(codes, [unsupported; 3]);
}
