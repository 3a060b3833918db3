//! Whole kernels in the shape that compilers give them.
use crate::device::{Device, HEADER, kernel, run};
use cupola_sim::exec::LaunchOptions;

fn options(workers: usize, seed: u64) -> LaunchOptions<'static> {
    LaunchOptions {
        workers,
        seed,
        ..LaunchOptions::default()
    }
}

/// Both instruction sets, one and two workers, natural and seeded schedules.
fn every_way(
    text: &str,
    test: impl Fn(
        &dyn Fn(&mut Device) -> std::sync::Arc<cupola_sim::exec::Kernel>,
        LaunchOptions<'static>,
    ),
) {
    for (baseline, workers, seed) in [(false, 1, 0), (true, 1, 7), (false, 2, 0), (false, 2, 99)] {
        test(&|d| kernel(d, text, "k", baseline), options(workers, seed));
    }
}

const SAXPY: &str = "
.visible .entry k(.param .u64 py, .param .u64 px, .param .u32 pn, .param .f32 pa)
{
	.reg .pred %p<2>; .reg .f32 %f<5>; .reg .b32 %r<6>; .reg .b64 %rd<8>;
	ld.param.u64 %rd1, [py]; ld.param.u64 %rd2, [px];
	ld.param.u32 %r2, [pn]; ld.param.f32 %f1, [pa];
	mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
	mad.lo.s32 %r1, %r3, %r4, %r5;
	setp.ge.u32 %p1, %r1, %r2;
	@%p1 bra $out;
	cvta.to.global.u64 %rd3, %rd2; mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd3, %rd4;
	ld.global.f32 %f2, [%rd5];
	cvta.to.global.u64 %rd6, %rd1; add.s64 %rd7, %rd6, %rd4;
	ld.global.f32 %f3, [%rd7];
	fma.rn.f32 %f4, %f1, %f2, %f3;
	st.global.f32 [%rd7], %f4;
$out:
	ret;
}";

#[test]
fn saxpy() {
    every_way(&format!("{HEADER}{SAXPY}"), |load, options| {
        let mut device = Device::default();
        let n = 10_001usize;
        let x: Vec<u32> = (0..n).map(|i| (i as f32 * 0.5).to_bits()).collect();
        let y: Vec<u32> = (0..n).map(|i| (i as f32 - 3.0).to_bits()).collect();
        let (px, py) = (device.alloc_u32(&x), device.alloc_u32(&y));
        let k = load(&mut device);
        let a = 1.25f32;
        let stats = run(
            &device,
            &k,
            (40, 256),
            &[py, px, n as u64, u64::from(a.to_bits())],
            options,
        )
        .unwrap();
        assert_eq!(stats.blocks, 40);
        let want: Vec<u32> = (0..n)
            .map(|i| a.mul_add(i as f32 * 0.5, i as f32 - 3.0).to_bits())
            .collect();
        assert_eq!(device.read_u32(py, n), want);
    });
}

#[test]
fn histogram_with_shared_atomics() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 out, .param .u64 data, .param .u32 n) {{
        .reg .b32 %r<12>; .reg .b64 %d<10>; .reg .pred %p<4>; .shared .align 4 .b8 h[1024];
        mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; mov.u64 %d2, h; add.s64 %d3, %d2, %d1;
        st.shared.u32 [%d3], 0; bar.sync 0;
        ld.param.u64 %d4, [data]; ld.param.u32 %r2, [n];
        mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.u32 %r5, %r3, %r4, %r1;
        mov.u32 %r6, %nctaid.x; mul.lo.u32 %r6, %r6, %r4;
        loop: setp.ge.u32 %p1, %r5, %r2; @%p1 bra out;
        cvt.u64.u32 %d5, %r5; add.s64 %d5, %d5, %d4; ld.global.u8 %r7, [%d5];
        mul.wide.u32 %d6, %r7, 4; add.s64 %d6, %d6, %d2; atom.shared.add.u32 %r8, [%d6], 1;
        add.u32 %r5, %r5, %r6; bra loop;
        out: bar.sync 0; ld.shared.u32 %r9, [%d3]; ld.param.u64 %d7, [out]; add.s64 %d7, %d7, %d1;
        red.global.add.u32 [%d7], %r9; ret; }}"
    );
    every_way(&text, |load, options| {
        let mut device = Device::default();
        let data: Vec<u8> = (0..50_001u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 21) as u8)
            .collect();
        let (at, out) = (device.alloc(&data), device.alloc_len(1024));
        let k = load(&mut device);
        run(
            &device,
            &k,
            (7, 256),
            &[out, at, data.len() as u64],
            options,
        )
        .unwrap();
        let mut want = vec![0u32; 256];
        data.iter().for_each(|&b| want[usize::from(b)] += 1);
        assert_eq!(device.read_u32(out, 256), want);
    });
}

#[test]
fn reduction_with_barriers() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 out, .param .u64 data, .param .u32 n) {{
        .reg .b32 %r<12>; .reg .b64 %d<10>; .reg .pred %p<4>; .shared .align 8 .b8 s[2048];
        mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r4, %r3, %r2, %r1;
        ld.param.u32 %r5, [n]; setp.lt.u32 %p1, %r4, %r5; mov.u64 %d1, 0;
        ld.param.u64 %d2, [data]; mad.wide.u32 %d2, %r4, 8, %d2; @%p1 ld.global.u64 %d1, [%d2];
        mov.u64 %d3, s; mad.wide.u32 %d3, %r1, 8, %d3; st.shared.u64 [%d3], %d1; bar.sync 0;
        shr.u32 %r6, %r2, 1;
        loop: setp.eq.u32 %p2, %r6, 0; @%p2 bra out; setp.ge.u32 %p3, %r1, %r6; @%p3 bra next;
        mad.wide.u32 %d4, %r6, 8, %d3; ld.shared.u64 %d5, [%d4]; ld.shared.u64 %d6, [%d3];
        add.s64 %d6, %d6, %d5; st.shared.u64 [%d3], %d6;
        next: bar.sync 0; shr.u32 %r6, %r6, 1; bra loop;
        out: setp.ne.u32 %p2, %r1, 0; @%p2 bra end; ld.shared.u64 %d6, [s]; ld.param.u64 %d7, [out];
        red.global.add.u64 [%d7], %d6; end: ret; }}"
    );
    every_way(&text, |load, options| {
        let mut device = Device::default();
        let values: Vec<u64> = (0..5_000u64).map(|i| i * i + 1).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let (data, out) = (device.alloc(&bytes), device.alloc(&0u64.to_le_bytes()));
        let k = load(&mut device);
        run(&device, &k, (20, 256), &[out, data, 5_000], options).unwrap();
        assert_eq!(
            device.read(out, 8),
            values.iter().sum::<u64>().to_le_bytes()
        );
    });
}

#[test]
fn crc32_of_rows() {
    // One thread per row, bit by bit: a long loop with data-dependent selects.
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 out, .param .u64 data, .param .u32 len) {{
        .reg .b32 %r<12>; .reg .b64 %d<10>; .reg .pred %p<4>;
        mov.u32 %r1, %tid.x; ld.param.u32 %r2, [len]; ld.param.u64 %d1, [data]; mul.lo.u32 %r3, %r1, %r2;
        cvt.u64.u32 %d2, %r3; add.s64 %d1, %d1, %d2; mov.u32 %r4, 0xffffffff; mov.u32 %r5, 0;
        bytes: setp.ge.u32 %p1, %r5, %r2; @%p1 bra out;
        ld.global.u8 %r6, [%d1]; add.s64 %d1, %d1, 1; xor.b32 %r4, %r4, %r6; mov.u32 %r7, 8;
        bits: and.b32 %r8, %r4, 1; neg.s32 %r8, %r8; and.b32 %r8, %r8, 0xedb88320; shr.u32 %r4, %r4, 1;
        xor.b32 %r4, %r4, %r8; sub.u32 %r7, %r7, 1; setp.ne.u32 %p2, %r7, 0; @%p2 bra bits;
        add.u32 %r5, %r5, 1; bra bytes;
        out: not.b32 %r4, %r4; ld.param.u64 %d3, [out]; mad.wide.u32 %d3, %r1, 4, %d3; st.global.u32 [%d3], %r4; ret; }}"
    );
    every_way(&text, |load, options| {
        let mut device = Device::default();
        let data: Vec<u8> = (0..64 * 77u32).map(|i| ((i * i) >> 3) as u8).collect();
        let (at, out) = (device.alloc(&data), device.alloc_len(256));
        let k = load(&mut device);
        run(&device, &k, (1, 64), &[out, at, 77], options).unwrap();
        let want: Vec<u32> = data.chunks(77).map(crc32fast::hash).collect();
        assert_eq!(device.read_u32(out, 64), want);
    });
}
