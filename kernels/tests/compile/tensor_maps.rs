//! Arrays that a GPU's tensor memory accelerator copies boxes of (`CUPOLA_TEST_DEVICE=gpu`).

use cupola_kernels::compile::{CompileRequest, Compiler, Target};
use cupola_managers::Error;
use cupola_managers::buffer::DeviceSlice;
use cupola_managers::device::Features;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::pool::PoolConfig;
use cupola_managers::tensor::{
    CUtensorMap, Im2col, Im2colWide, L2Promotion, Swizzle, TensorFormat, TensorMap, Tiling,
    WideColumn,
};
use cupola_sys::driver::*;

use super::load::gpu;

/// Copies the box at a column and a row to the output, by one instruction of one thread.
const BOXES: &str = r#"
struct alignas(128) Map { unsigned long long opaque[16]; };
extern "C" __global__ void take_box(const __grid_constant__ Map map, unsigned *out, int column, int row) {
    __shared__ alignas(128) unsigned box[32];
    __shared__ alignas(8) unsigned long long barrier;
    unsigned at = (unsigned)__cvta_generic_to_shared(box);
    unsigned arrived = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(arrived));
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
            :: "r"(arrived), "r"(128) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
            "[%0], [%1, {%3, %4}], [%2];"
            :: "r"(at), "l"(&map), "r"(arrived), "r"(column), "r"(row) : "memory");
    }
    __syncthreads();
    unsigned done = 0;
    while (!done) {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; "
            "selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(arrived) : "memory");
    }
    out[threadIdx.x] = box[threadIdx.x];
}
"#;

const COLUMNS: usize = 64;
const ROWS: usize = 16;

/// What a box of eight columns and four rows has: zeros where the array ends.
fn expected(column: usize, row: usize, first: u32) -> Vec<u32> {
    let at = |place: usize| (column + place % 8, row + place / 8);
    let element = |(x, y)| match x < COLUMNS && y < ROWS {
        true => first + (y * COLUMNS + x) as u32,
        false => 0,
    };
    (0..32).map(|place| element(at(place))).collect()
}

// Without it a map could be encoded with its dimensions in another order, of other memory, or reach a
// kernel in pieces.
#[test]
fn a_gpu_copies_boxes_that_a_map_describes() {
    let Some((_execution, device, context)) = gpu() else {
        return;
    };
    let info = device.info().unwrap();
    if !info.features.contains(Features::TENSOR_MAPS) {
        eprintln!("SKIPPED: {} has no tensor memory accelerator", info.name);
        return;
    }
    let compiler = Compiler::load().unwrap();
    let target = Target::Cubin(info.architecture().into());
    let image = compiler
        .compile(&CompileRequest::new("boxes.cu", BOXES, target))
        .unwrap()
        .into_image();
    // SAFETY: a whole image, as the compiler made it.
    let module = unsafe { context.modules().load_binary(&image) }.unwrap();
    let kernel = module.function("take_box").unwrap();
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let numbers = |first: u32| (first..).take(COLUMNS * ROWS).collect::<Vec<_>>();
    let array = pool.upload(&numbers(1), &stream).unwrap();
    let other = pool.upload(&numbers(5000), &stream).unwrap();
    let mut out = pool.zeros::<u32>(32, &stream).unwrap();
    let dims = [COLUMNS as u64, ROWS as u64];
    let tiling = Tiling::new(dims, [8, 4]).l2_promotion(L2Promotion::Bytes128);
    let map = TensorMap::tiled(&context, array.view(), tiling).unwrap();
    let second = map.of(&context, other.view()).unwrap();
    let mut take = |map: &TensorMap<DeviceSlice<'_, u32>>, column: usize, row: usize| {
        let arguments = (map, &mut out, column as i32, row as i32);
        // SAFETY: the kernel reads the array through its map, and writes 32 words.
        unsafe { ops::launch(&kernel, LaunchConfig::linear(1, 32), arguments, &stream) }.unwrap();
        out.to_vec(&stream).unwrap()
    };
    for (column, row) in [(0, 0), (8, 4), (12, 11), (60, 0), (0, 14), (60, 13)] {
        assert_eq!(
            take(&map, column, row),
            expected(column, row, 1),
            "{column}, {row}"
        );
        assert_eq!(
            take(&second, column, row),
            expected(column, row, 5000),
            "{column}, {row}"
        );
    }
    let images = Im2col::new([16, 8, 8, 1], 16, 32).corners([-1; 3], [1; 3]);
    TensorMap::im2col(&context, array.view(), images).unwrap();
    // What is refused here the driver refuses too, or would take for memory that is not there.
    let tiling = Tiling::new(dims, [16, 4]).swizzle(Swizzle::Bytes32);
    let refused = TensorMap::tiled(&context, array.view(), tiling).unwrap_err();
    assert!(
        matches!(
            refused,
            Error::Invalid {
                field: "swizzle",
                ..
            }
        ),
        "{refused}"
    );
    let short = array.slice(..COLUMNS * ROWS - 1).unwrap();
    let refused = TensorMap::tiled(&context, short, Tiling::new(dims, [8, 4])).unwrap_err();
    assert!(
        matches!(refused, Error::Invalid { field: "dims", .. }),
        "{refused}"
    );
}

/// What the driver itself says to boxes of 32-bit floats of a matrix of 1024 columns.
fn asked(driver: &Driver, row: u32, step: u32, swizzle: CUtensorMapSwizzle) -> Option<CUresult> {
    let mut map = CUtensorMap::default();
    // SAFETY: the arrays have two elements, one of the strides; the address is only written down.
    let made = unsafe {
        driver.cuTensorMapEncodeTiled(
            &raw mut map,
            CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
            2,
            std::ptr::without_provenance_mut(1 << 20),
            [1024u64, 64].as_ptr(),
            [4096u64].as_ptr(),
            [row, 4].as_ptr(),
            [step, 1].as_ptr(),
            CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            swizzle,
            CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_NONE,
            CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
    };
    made.err().and_then(|error| error.status())
}

// Without it what Blackwell brought could be refused there; and rows that pass over elements be measured
// here as the driver does not.
#[test]
fn a_gpu_says_which_newer_maps_it_takes() {
    let Some((_execution, device, context)) = gpu() else {
        return;
    };
    let info = device.info().unwrap();
    if !info.features.contains(Features::TENSOR_MAPS) {
        eprintln!("SKIPPED: {} has no tensor memory accelerator", info.name);
        return;
    }
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let bytes = pool.zeros::<u8>(1 << 20, &stream).unwrap();
    let view = bytes.view();
    let tiling = Tiling::new([128, 16], [128, 4]);
    let of = |format| TensorMap::tiled(&context, view, tiling.format(format)).map(drop);
    let wide = Im2colWide::new([128, 16, 16], 128, WideColumn::W128);
    let answers = [
        of(TensorFormat::U4Align8),
        of(TensorFormat::U4Align16),
        of(TensorFormat::U6Align16),
        TensorMap::tiled(&context, view, tiling.swizzle(Swizzle::Bytes128Atom32)).map(drop),
        TensorMap::im2col_wide(&context, view, wide).map(drop),
    ];
    eprintln!("{}: {answers:?}", info.name);
    let is_blackwell = info.architecture().compute_capability().0 >= 10;
    for answer in answers {
        match answer {
            Ok(()) | Err(Error::Unsupported { .. }) => {}
            Err(error) => assert!(!is_blackwell && error.status().is_some(), "{error}"),
        }
    }
    let driver = context.driver();
    let of_128 = CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B;
    assert_eq!(asked(driver, 32, 1, of_128), None);
    assert_eq!(asked(driver, 32, 2, of_128), None);
    let invalid = Some(CUresult::CUDA_ERROR_INVALID_VALUE);
    assert_eq!(asked(driver, 64, 1, of_128), invalid);
    assert_eq!(asked(driver, 64, 2, of_128), invalid);
}
