//! Kernels with a signature.

use cupola_managers::ops::{self, In, InOut, Kernel, LaunchAttributes, LaunchConfig};
use cupola_managers::{ArgumentMismatch, DeviceCopy, Error};
use cupola_sys::driver::{CUresult, id};

use super::{Bench, hopper};

/// Adds to each of `n` words of `to` the product of that of `from` and the sum of what else it is given:
/// two numbers, two of an array and two of a struct.
const PTX: &str = "
.visible .entry sum(.param .u64 n, .param .u32 one, .param .align 4 .b8 two[8],
                    .param .align 4 .b8 three[8], .param .u64 from, .param .u64 to) {
    .reg .pred %p; .reg .b32 %a<8>; .reg .b64 %l<8>;
    mov.u32 %a1, %tid.x; cvt.u64.u32 %l1, %a1;
    ld.param.u64 %l2, [n]; setp.ge.u64 %p, %l1, %l2; @%p ret;
    ld.param.u32 %a2, [one];
    ld.param.u32 %a3, [two]; add.u32 %a2, %a2, %a3;
    ld.param.u32 %a3, [two+4]; add.u32 %a2, %a2, %a3;
    ld.param.u32 %a3, [three]; add.u32 %a2, %a2, %a3;
    ld.param.u32 %a3, [three+4]; add.u32 %a2, %a2, %a3;
    ld.param.u64 %l3, [from]; mad.wide.u32 %l3, %a1, 4, %l3;
    ld.param.u64 %l4, [to]; mad.wide.u32 %l4, %a1, 4, %l4;
    ld.global.u32 %a4, [%l3]; ld.global.u32 %a5, [%l4];
    mad.lo.u32 %a5, %a4, %a2, %a5; st.global.u32 [%l4], %a5; ret;
}
";

#[derive(Clone, Copy)]
#[repr(C)]
struct Pair {
    first: u32,
    second: u32,
}

// SAFETY: two numbers, without padding.
unsafe impl DeviceCopy for Pair {}

type Sum = (u64, u32, [u32; 2], Pair, In<u32>, InOut<u32>);

const GRID: LaunchConfig = LaunchConfig::linear(1, 32);
const PAIR: Pair = Pair {
    first: 1000,
    second: 10_000,
};

fn sum(bench: &Bench) -> Kernel<Sum> {
    // SAFETY: the parameters of `sum` are these.
    unsafe { Kernel::new(bench.function(PTX, "sum")) }.unwrap()
}

// Without it a kernel could get an argument at another one's place, or the address of another value.
#[test]
fn the_kernel_gets_each_argument_at_its_place() {
    let bench = Bench::new();
    let (kernel, stream) = (sum(&bench), &bench.stream);
    let pool = bench.base.pool(8 << 20);
    let from = pool.upload(&[1_u32, 2, 3, 4], stream).unwrap();
    let mut to = pool.upload(&[5_u32; 4], stream).unwrap();
    // SAFETY: here and below: it reads and writes 4 words, or as many as there are.
    unsafe { kernel.launch(GRID, (4, 1, [10, 100], PAIR, &from, &mut to), stream) }.unwrap();
    assert_eq!(to.to_vec(stream).unwrap(), [11_116, 22_227, 33_338, 44_449]);
    let (part, rest) = (from.slice(1..3).unwrap(), to.slice_mut(2..).unwrap());
    let attributes = LaunchAttributes::new().priority(0);
    let arguments = (
        2,
        0,
        [0, 1],
        Pair {
            first: 0,
            second: 0,
        },
        part,
        rest,
    );
    // SAFETY: as above.
    unsafe { kernel.launch_with(GRID, attributes, arguments, stream) }.unwrap();
    assert_eq!(to.to_vec(stream).unwrap(), [11_116, 22_227, 33_340, 44_452]);
    bench.finish((kernel.clone(), kernel, from, to, pool));
}

// Without it a kernel of other parameters could be launched, as each launch trusts that it was compared.
#[test]
fn a_signature_of_other_sizes_is_refused_once_with_both_sides() {
    let bench = Bench::new();
    let function = bench.function(PTX, "sum");
    let declared = [8, 4, 8, 8, 8, 8];
    bench.base.faults.reset();
    let mismatch = |result: Result<(), Error>| match result {
        Err(Error::Arguments { function, mismatch }) => {
            assert_eq!(function, "sum");
            mismatch
        }
        other => panic!("{other:?}"),
    };
    // SAFETY: refused.
    let few = unsafe { Kernel::<(u64, u32)>::new(function.clone()) };
    assert_eq!(
        mismatch(few.map(drop)),
        ArgumentMismatch {
            declared: declared.into(),
            given: [8, 4].into()
        }
    );
    type Wide = (u64, u64, [u32; 2], Pair, In<u32>, InOut<u32>);
    // SAFETY: refused.
    let wide = mismatch(unsafe { Kernel::<Wide>::new(function.clone()) }.map(drop));
    assert_eq!((wide.position(), &*wide.given), (1, &[8; 6][..]));
    // The list that is made while the program runs says the same.
    // SAFETY: refused.
    let listed = unsafe { ops::launch(&function, GRID, (0_u64,), &bench.stream) };
    let listed = mismatch(listed);
    assert_eq!(
        (&*listed.declared, &*listed.given),
        (&declared[..], &[8][..])
    );
    assert!(bench.base.faults.counts().is_empty());
    bench.finish(function);
}

// Without it a driver that cannot tell parameters could not launch a kernel with a signature.
#[test]
fn a_driver_that_cannot_tell_parameters_takes_the_programs_word() {
    let bench = Bench::on(hopper().without(id::cuFuncGetParamInfo));
    let kernel = sum(&bench);
    assert_eq!(kernel.function().parameters(), None);
    bench.finish(kernel);
}

// Without it a launch with a signature could read what was not written, or leave what it has not written
// as if it had.
#[test]
fn memory_that_a_launch_has_not_written_is_not_read() {
    let bench = Bench::new();
    let (kernel, stream, faults) = (sum(&bench), &bench.stream, &bench.base.faults);
    let pool = bench.base.pool(8 << 20);
    let mut from = pool.upload(&[1_u32, 2, 3, 4], stream).unwrap();
    let mut to = pool.upload(&[5_u32; 4], stream).unwrap();
    faults.fail(id::cuLaunchKernel, 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    // SAFETY: here and below: it reads and writes 4 words.
    let refused = unsafe { kernel.launch(GRID, (4, 1, [0, 0], PAIR, &from, &mut to), stream) };
    assert!(matches!(refused, Err(Error::Driver(_))), "{refused:?}");
    faults.reset();
    // SAFETY: as above.
    let reads = unsafe { kernel.launch(GRID, (4, 1, [0, 0], PAIR, &to, &mut from), stream) };
    assert!(matches!(reads, Err(Error::Tainted { .. })), "{reads:?}");
    assert_eq!(faults.count(id::cuLaunchKernel), 0);
    assert!(from.taint().is_err());
    from.clear_taint();
    // Another launch may not have written all of it.
    // SAFETY: as above.
    unsafe { kernel.launch(GRID, (1, 1, [0, 0], PAIR, &from, &mut to), stream) }.unwrap();
    assert!(to.taint().is_err());
    // SAFETY: as above.
    unsafe { kernel.launch(GRID, (4, 1, [0, 0], PAIR, &from, &mut to), stream) }.unwrap();
    to.taint().unwrap();
    bench.finish((kernel, from, to, pool));
}

// Without it a launch on another stream could use memory before it is allocated there, or a kernel of
// another context.
#[test]
fn streams_and_contexts_are_those_of_the_operation() {
    let (bench, other) = (Bench::new(), Bench::new());
    let kernel = sum(&bench);
    let pool = bench.base.pool(8 << 20);
    let from = pool.upload(&[1_u32; 4], &bench.stream).unwrap();
    let mut to = pool.upload(&[0_u32; 4], &bench.stream).unwrap();
    // SAFETY: refused.
    let foreign =
        unsafe { kernel.launch(GRID, (4, 1, [0, 0], PAIR, &from, &mut to), &other.stream) };
    assert_eq!(foreign, Err(Error::WrongContext { what: "the kernel" }));
    let second = bench.base.stream();
    ops::order(&bench.stream, &second).unwrap();
    // SAFETY: it reads and writes 4 words.
    unsafe { kernel.launch(GRID, (4, 1, [0, 0], PAIR, &from, &mut to), &second) }.unwrap();
    assert_eq!(to.to_vec(&second).unwrap(), [11_001; 4]);
    other.finish(());
    bench.finish((kernel, second, from, to, pool));
}
