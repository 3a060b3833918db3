//! Tensor maps as arguments: 128 bytes by value, and the memory that they are of.

use std::fmt::Write as _;

use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut};
use cupola_managers::module::Function;
use cupola_managers::ops::{self, InOut, Kernel, LaunchConfig};
use cupola_managers::tensor::{CUtensorMap, TensorMap, Tiling};
use cupola_managers::{Error, MemoryPool};
use cupola_sys::driver::{CUresult, id};

use super::Bench;

const ONE: LaunchConfig = LaunchConfig::linear(1, 1);
const WORDS: usize = 16;

/// Copies the 16 words of a map, which is behind a number, to `to`.
fn words(bench: &Bench) -> Function {
    let mut text = String::from(
        ".visible .entry words(.param .u32 number, .param .align 128 .b8 map[128], .param .u64 to) {\n\
         .reg .b64 %to, %word;\nld.param.u64 %to, [to];\n",
    );
    for at in (0..8 * WORDS).step_by(8) {
        writeln!(text, "ld.param.u64 %word, [map+{at}];").unwrap();
        writeln!(text, "st.global.u64 [%to+{at}], %word;").unwrap();
    }
    bench.function(&(text + "ret;\n}\n"), "words")
}

fn tiling() -> Tiling<2> {
    Tiling::new([64, 4], [16, 2])
}

/// A pool, whose memory is not that of the words.
fn pool(bench: &Bench) -> MemoryPool {
    bench.base.pool(8 << 20)
}

// Without it a kernel could get a map at another one's place, or not all of it.
#[test]
fn a_kernel_gets_all_of_a_map() {
    let bench = Bench::new();
    let (function, stream, pool) = (words(&bench), &bench.stream, pool(&bench));
    let context = &bench.base.context;
    let mut array = pool.zeros::<f32>(256, stream).unwrap();
    let mut to = pool.zeros::<u64>(WORDS, stream).unwrap();
    let map = TensorMap::tiled(context, array.view(), tiling()).unwrap();
    let expected = map.as_raw().opaque;
    // SAFETY: here and below: it writes 16 words, and reads no array.
    unsafe { ops::launch(&function, ONE, (7_u32, &map, &mut to), stream) }.unwrap();
    assert_eq!(to.to_vec(stream).unwrap(), expected);
    to.clear_taint();
    ops::zero(&mut to, stream).unwrap();
    // SAFETY: as above; the parameters are these.
    let typed = unsafe { Kernel::<(u32, CUtensorMap, InOut<u64>)>::new(function.clone()) }.unwrap();
    // SAFETY: as above.
    unsafe { typed.launch(ONE, (7, &map, &mut to), stream) }.unwrap();
    assert_eq!(to.to_vec(stream).unwrap(), expected);
    ops::zero(&mut to, stream).unwrap();
    let mut writing = TensorMap::tiled(context, array.view_mut(), tiling()).unwrap();
    // SAFETY: as above.
    unsafe { typed.launch(ONE, (7, &mut writing, &mut to), stream) }.unwrap();
    assert_eq!(to.to_vec(stream).unwrap(), expected);
    bench.finish((typed, function, to, array, pool));
}

// Without it a kernel could read through a map what was not written, or leave what it was to write through one as
// if it had.
#[test]
fn memory_that_is_not_written_through_a_map_is_not_read() {
    let bench = Bench::new();
    let (function, stream, pool) = (words(&bench), &bench.stream, pool(&bench));
    let (context, faults) = (&bench.base.context, &bench.base.faults);
    let mut array = pool.zeros::<f32>(256, stream).unwrap();
    let mut to = pool.zeros::<u64>(WORDS, stream).unwrap();
    let mut writing: TensorMap<DeviceSliceMut<'_, f32>> =
        TensorMap::tiled(context, array.view_mut(), tiling()).unwrap();
    faults.fail(id::cuLaunchKernel, 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    // SAFETY: here and below: it writes 16 words, and reads no array.
    let refused = unsafe { ops::launch(&function, ONE, (7_u32, &mut writing, &mut to), stream) };
    assert!(matches!(refused, Err(Error::Driver(_))), "{refused:?}");
    faults.reset();
    to.clear_taint();
    let reading: TensorMap<DeviceSlice<'_, f32>> =
        TensorMap::tiled(context, array.view(), tiling()).unwrap();
    // SAFETY: as above.
    let reads = unsafe { ops::launch(&function, ONE, (7_u32, &reading, &mut to), stream) };
    assert!(matches!(reads, Err(Error::Tainted { .. })), "{reads:?}");
    assert_eq!(faults.count(id::cuLaunchKernel), 0);
    drop(to);
    assert!(array.taint().is_err());
    bench.finish((function, array, pool));
}
