//! Types of a user's own, in memory of the device and as arguments of kernels.

use cupola::DeviceCopy;
use cupola_managers::ops::{self, LaunchConfig};
use half::{bf16, f16};

use crate::common::Bench;

/// As the kernel below knows it: 24 bytes, aligned to 8.
#[derive(Clone, Copy, Debug, DeviceCopy, PartialEq)]
#[repr(C)]
struct Particle {
    position: [f32; 3],
    alive: bool,
    _pad: [u8; 3],
    mass: f64,
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(transparent)]
struct Flag(bool);

/// Moves the particles of `all` by `delta` where `mask` says so, and writes whether it did. The
/// struct `delta` and the half are passed by value.
const PTX: &str = "
.version 6.0
.target sm_60
.address_size 64
.visible .entry move_all(
    .param .u64 all, .param .u64 mask, .param .align 8 .b8 delta[24], .param .b16 scale,
    .param .u64 scaled
) {
    .reg .b32 %i<4>;
    .reg .b64 %a<8>;
    .reg .f32 %f<4>;
    .reg .b16 %h<4>;
    .reg .pred %p<2>;
    mov.u32 %i1, %tid.x;
    ld.param.u64 %a1, [all];
    ld.param.u64 %a2, [mask];
    mad.wide.u32 %a3, %i1, 24, %a1;
    cvt.u64.u32 %a4, %i1;
    add.u64 %a5, %a2, %a4;
    ld.global.u8 %h1, [%a5];
    setp.ne.u16 %p1, %h1, 0;
    @!%p1 bra done;
    ld.global.f32 %f1, [%a3+4];
    ld.param.f32 %f2, [delta+4];
    add.f32 %f1, %f1, %f2;
    st.global.f32 [%a3+4], %f1;
    ld.param.u8 %h2, [delta+12];
    st.global.u8 [%a3+12], %h2;
done:
    ld.param.u64 %a6, [scaled];
    ld.param.u16 %h3, [scale];
    mad.wide.u32 %a7, %i1, 2, %a6;
    st.global.u16 [%a7], %h3;
    ret;
}
";

// Without it a struct could arrive on the device with other bytes than it has on the host, in
// memory or as an argument.
#[test]
fn structs_and_halves_arrive_as_they_are() {
    let bench = Bench::open();
    let module = bench.context.modules().load_ptx(PTX).unwrap();
    let kernel = module.function("move_all").unwrap();
    let particle = |index: u8| Particle {
        position: [f32::from(index), 1.0, -1.0],
        alive: false,
        _pad: [index; 3],
        mass: f64::from(index) / 3.0,
    };
    let before: Vec<Particle> = (0..32).map(particle).collect();
    let moved: Vec<bool> = (0..32).map(|index| index % 3 == 1).collect();
    let mut all = bench.pool.allocate::<Particle>(32, &bench.stream).unwrap();
    let mut mask = bench.pool.allocate::<bool>(32, &bench.stream).unwrap();
    let mut scaled = bench.pool.allocate::<f16>(32, &bench.stream).unwrap();
    ops::write(&mut all, &before, &bench.stream).unwrap();
    ops::write(&mut mask, &moved, &bench.stream).unwrap();
    let delta = Particle {
        position: [0.0, 0.5, 0.0],
        alive: true,
        _pad: [0; 3],
        mass: 0.0,
    };
    let arguments = (&mut all, &mask, delta, f16::from_f32(0.25), &mut scaled);
    // SAFETY: 32 threads, each on its elements of the three buffers.
    unsafe {
        ops::launch(
            &kernel,
            LaunchConfig::linear(1, 32),
            arguments,
            &bench.stream,
        )
    }
    .unwrap();

    let mut after = before.clone();
    ops::read(&all, &mut after, &bench.stream).unwrap();
    for ((after, mut expected), moved) in after.iter().zip(before).zip(moved) {
        if moved {
            expected.position[1] += 0.5;
            expected.alive = true;
        }
        assert_eq!(*after, expected);
    }
    let mut halves = [bf16::ZERO; 32];
    ops::read(
        scaled.view().cast::<bf16>().unwrap(),
        &mut halves,
        &bench.stream,
    )
    .unwrap();
    // The same bits, read as the other half.
    assert_eq!(halves, [bf16::from_bits(f16::from_f32(0.25).to_bits()); 32]);
    drop((all, mask, scaled, kernel, module));
    bench.finish();
}

// Without it a `bool` that is neither true nor false could come from a device, which is undefined
// behaviour in safe code.
#[test]
fn bytes_that_are_no_bool_are_refused() {
    let bench = Bench::open();
    let mut bytes = bench.pool.allocate::<u8>(24, &bench.stream).unwrap();
    ops::set_bytes(&mut bytes, 1, &bench.stream).unwrap();
    let view = || bytes.view().cast::<bool>().unwrap();
    let mut flags = [false; 24];
    ops::read(view(), &mut flags, &bench.stream).unwrap();
    assert_eq!(flags, [true; 24]);
    let mut pinned = bench.context.buffers().pinned::<bool>(24).unwrap();
    ops::copy_to_host(view(), &mut pinned, &bench.stream).unwrap();
    assert_eq!(pinned.as_slice().unwrap(), [true; 24]);

    ops::set_bytes(bytes.slice_mut(12..14).unwrap(), 7, &bench.stream).unwrap();
    let view = || bytes.view().cast::<bool>().unwrap();
    let refused = ops::read(view(), &mut flags, &bench.stream).unwrap_err();
    assert!(refused.to_string().contains("number 12 of 24"), "{refused}");
    let mut expected = [true; 24];
    expected[12..14].fill(false);
    assert_eq!(flags, expected, "what is no value is false");

    ops::copy_to_host(view(), &mut pinned, &bench.stream).unwrap();
    assert!(pinned.as_slice().is_err());
    assert!(pinned.as_mut_slice().is_err(), "told once");
    assert_eq!(pinned.as_slice().unwrap(), expected, "and mended");

    // Within a struct and an array too: of the particle only byte 12 is a bool.
    let mut particle = [Particle {
        position: [0.0; 3],
        alive: false,
        _pad: [0; 3],
        mass: 0.0,
    }];
    let refused = ops::read(
        bytes.view().cast::<Particle>().unwrap(),
        &mut particle,
        &bench.stream,
    );
    assert!(refused.unwrap_err().to_string().contains("Particle"));
    ops::set_bytes(bytes.slice_mut(12..13).unwrap(), 1, &bench.stream).unwrap();
    ops::read(
        bytes.view().cast::<Particle>().unwrap(),
        &mut particle,
        &bench.stream,
    )
    .unwrap();
    assert!(particle[0].alive);
    let mut flag = [[Flag(false); 2]; 12];
    let refused = ops::read(
        bytes.view().cast::<[Flag; 2]>().unwrap(),
        &mut flag,
        &bench.stream,
    );
    assert!(refused.unwrap_err().to_string().contains("number 6 of 12"));
    assert!(flag[0][0].0 && !flag[6][0].0);
    drop((bytes, pinned));
    bench.finish();
}
