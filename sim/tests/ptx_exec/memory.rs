//! State spaces, vectors, parameters, initialised variables and atomics.

use crate::device::{Device, HEADER, kernel, run};
use cupola_sim::exec::{LaunchOptions, LoadOptions, Program};
use cupola_sim::ptx::Module;

fn go(device: &Device, k: &cupola_sim::exec::Kernel, shape: (u32, u32), params: &[u64]) {
    run(device, k, shape, params, LaunchOptions::default()).unwrap_or_else(|e| panic!("{e}"));
}

/// Breaks if an access width, extension or vector element goes wrong.
#[test]
fn widths_and_vectors() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 in, .param .u64 out) {{
        .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .b16 %h<4>;
        ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];
        ld.global.v4.u8 {{%r1, %r2, %r3, %r4}}, [%d1];
        st.global.v4.u32 [%d2], {{%r1, %r2, %r3, %r4}};
        ld.global.s8 %r5, [%d1+3]; st.global.u32 [%d2+16], %r5;
        ld.global.v2.u64 {{%d1, %d3}}, [%d1];
        st.global.v2.u64 [%d2+32], {{%d3, %d1}};
        ld.global.s16 %d4, [%d2+32]; st.global.u64 [%d2+48], %d4;
        ret; }}"
    );
    let mut device = Device::default();
    let bytes: Vec<u8> = (0..16).map(|i| 0x7d + i).collect();
    let input = device.alloc(&bytes);
    let out = device.alloc_len(64);
    let k = kernel(&mut device, &text, "k", false);
    go(&device, &k, (1, 1), &[input, out]);
    assert_eq!(
        device.read_u32(out, 5),
        [0x7d, 0x7e, 0x7f, 0x80, 0xffff_ff80]
    );
    let (low, high) = (0x8483_8281_807f_7e7du64, 0x8c8b_8a89_8887_8685u64);
    assert_eq!(device.read(out + 32, 8), high.to_le_bytes());
    assert_eq!(device.read(out + 40, 8), low.to_le_bytes());
    assert_eq!(device.read_u32(out + 48, 2), [0xffff_8685, 0xffff_ffff]);
}

/// Breaks if variables are not initialised as written, or symbols do not resolve.
#[test]
fn initialised_variables() {
    let text = format!(
        "{HEADER}.const .align 4 .u32 table[4] = {{1, 2, 0x30}};
        .visible .global .f32 pi = 0f40490FDB;
        .global .align 8 .u64 pointer = generic(table)+4;
        .global .u8 bytes[2][3] = {{{{1,2,3}},{{4,5}}}};
        .visible .entry k(.param .u64 out) {{
        .reg .b32 %r<8>; .reg .b64 %d<8>;
        ld.param.u64 %d1, [out];
        ld.const.u32 %r1, [table+8]; st.global.u32 [%d1], %r1;
        ld.global.u32 %r1, [pi]; st.global.u32 [%d1+4], %r1;
        ld.global.u64 %d2, [pointer]; ld.u32 %r2, [%d2]; st.global.u32 [%d1+8], %r2;
        mov.u64 %d3, bytes; cvta.global.u64 %d3, %d3; ld.u8 %r3, [%d3+4]; st.global.u32 [%d1+12], %r3;
        mov.u64 %d3, bytes+2; ld.global.u8 %r3, [%d3]; st.global.u32 [%d1+16], %r3;
        ret; }}"
    );
    let mut device = Device::default();
    let out = device.alloc_len(20);
    let k = kernel(&mut device, &text, "k", false);
    go(&device, &k, (1, 1), &[out]);
    assert_eq!(device.read_u32(out, 5), [0x30, 0x4049_0fdb, 2, 5, 3]);
    let module = Module::parse(&text).unwrap();
    let program = Program::load_with(&module, &mut device, LoadOptions::default()).unwrap();
    let (at, size) = program.global("pi").expect("a global");
    assert_eq!(
        (device.read(at, 4), size),
        (0x4049_0fdbu32.to_le_bytes().to_vec(), 4)
    );
    assert_eq!(program.global("nothing"), None);
}

/// Breaks if the windows of shared, local and parameter memory overlap, or if
/// generic addresses do not reach them.
#[test]
fn generic_addresses_reach_every_space() {
    let text = format!(
        "{HEADER}.extern .shared .align 16 .b8 dynamic[];
        .visible .entry k(.param .u64 out, .param .align 4 .b8 blob[8]) {{
        .reg .b32 %r<8>; .reg .b64 %d<12>; .reg .pred %p<4>;
        .shared .align 4 .b8 fixed[256]; .local .align 4 .b8 own[16];
        ld.param.u64 %d1, [out];
        mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4;
        mov.u64 %d3, fixed; cvta.shared.u64 %d4, %d3; add.s64 %d5, %d4, %d2;
        st.u32 [%d5], %r1;
        bar.sync 0;
        mov.u64 %d6, own; cvta.local.u64 %d7, %d6;
        xor.b32 %r2, %r1, 1; mul.wide.u32 %d8, %r2, 4; add.s64 %d8, %d3, %d8;
        ld.shared.u32 %r3, [%d8]; st.u32 [%d7+4], %r3; ld.local.u32 %r4, [own+4];
        mov.u64 %d9, blob; cvta.param.u64 %d9, %d9; ld.u32 %r5, [%d9+4]; add.u32 %r4, %r4, %r5;
        isspacep.shared %p1, %d5; isspacep.local %p2, %d7; isspacep.global %p3, %d1;
        selp.u32 %r6, 1000, 0, %p1; add.u32 %r4, %r4, %r6;
        selp.u32 %r6, 2000, 0, %p2; add.u32 %r4, %r4, %r6;
        selp.u32 %r6, 4000, 0, %p3; add.u32 %r4, %r4, %r6;
        mov.u64 %d10, dynamic; cvta.shared.u64 %d10, %d10; sub.s64 %d10, %d10, %d4;
        cvt.u32.u64 %r6, %d10; mad.lo.u32 %r4, %r6, 100000, %r4;
        add.s64 %d2, %d1, %d2; st.global.u32 [%d2], %r4;
        ret; }}"
    );
    let mut device = Device::default();
    let out = device.alloc_len(256);
    let k = kernel(&mut device, &text, "k", false);
    assert_eq!(
        (k.static_shared, k.local_bytes, k.params[1].size),
        (256, 16, 8)
    );
    go(&device, &k, (1, 64), &[out, 5 << 32]);
    let want: Vec<u32> = (0..64).map(|i| (i ^ 1) + 5 + 7000 + 25_600_000).collect();
    assert_eq!(device.read_u32(out, 64), want);
}

/// Breaks if an atomic computes the wrong value, or loses an update.
#[test]
fn atomics_of_every_kind() {
    // Each of 64 threads of 8 blocks applies `ins` to one word with its index.
    let apply = |ins: &str, start: u64, size: usize, workers: usize| {
        let text = format!(
            "{HEADER}.visible .entry k(.param .u64 p) {{
            .reg .b32 %i, %t, %o; .reg .b64 %p, %w, %v;
            ld.param.u64 %p, [p]; mov.u32 %i, %ctaid.x; mov.u32 %t, %tid.x;
            mad.lo.u32 %i, %i, 64, %t; cvt.u64.u32 %w, %i;
            {ins} ret; }}"
        );
        let mut device = Device::default();
        let at = device.alloc(&start.to_le_bytes()[..size]);
        let k = kernel(&mut device, &text, "k", false);
        let options = LaunchOptions {
            workers,
            ..LaunchOptions::default()
        };
        run(&device, &k, (8, 64), &[at], options).unwrap_or_else(|e| panic!("{ins}: {e}"));
        let mut raw = [0; 8];
        raw[..size].copy_from_slice(&device.read(at, size));
        u64::from_le_bytes(raw)
    };
    let sum = (0..512u64).sum::<u64>();
    for workers in [1, 2] {
        let run = |ins: &str, start: u64, size: usize| apply(ins, start, size, workers);
        assert_eq!(run("atom.global.add.u32 %o, [%p], %i;", 7, 4), sum + 7);
        assert_eq!(run("red.global.add.u64 [%p], %w;", 7, 8), sum + 7);
        assert_eq!(
            run("red.relaxed.gpu.global.max.s32 [%p], %i;", 0xffff_ffff, 4),
            511
        );
        assert_eq!(run("atom.min.u64 %v, [%p], %w;", 400, 8), 0);
        assert_eq!(
            run("atom.global.min.s32 %o, [%p], %i;", 0xffff_fff0, 4),
            0xffff_fff0
        );
        assert_eq!(run("atom.global.or.b32 %o, [%p], %i;", 0, 4), 511);
        assert_eq!(run("atom.global.and.b64 %v, [%p], %w;", 0xfff, 8), 0);
        assert_eq!(run("atom.global.xor.b32 %o, [%p], %i;", 1, 4), 1);
        assert_eq!(run("atom.global.inc.u32 %o, [%p], 99;", 0, 4), 512 % 100);
        assert_eq!(run("atom.global.dec.u32 %o, [%p], 99;", 0, 4), 88);
        assert_eq!(
            run(
                "cvt.rn.f32.u32 %o, %i; atom.global.add.f32 %o, [%p], %o;",
                0,
                4
            ),
            u64::from((sum as f32).to_bits())
        );
        assert_eq!(
            run("cvt.rn.f64.u32 %w, %i; red.global.add.f64 [%p], %w;", 0, 8),
            (sum as f64).to_bits()
        );
        // A lock-free sum by compare-and-swap.
        let cas = ".reg .pred %q; .reg .b32 %old, %new; ld.global.u32 %old, [%p];
            again: add.u32 %new, %old, %i; atom.global.cas.b32 %new, [%p], %old, %new;
            setp.ne.u32 %q, %new, %old; mov.u32 %old, %new; @%q bra again;";
        assert_eq!(run(cas, 0, 4), sum);
    }
    let shared = ".shared .align 4 .u32 s; .reg .pred %q; setp.eq.u32 %q, %t, 0;
        @%q st.shared.u32 [s], 0; bar.sync 0; atom.shared.add.u32 %o, [s], %i; bar.sync 0;
        ld.shared.u32 %o, [s]; @%q red.global.add.u32 [%p], %o;";
    assert_eq!(apply(shared, 0, 4, 2), sum);
}

/// Breaks if dimensions are multiplied without care when a variable has no elements.
#[test]
fn an_initialiser_without_room_is_an_error() {
    let text = format!("{HEADER}.global .u32 x[0][1099511627776][1099511627776] = {{{{1}}}};");
    let module = Module::parse(&text).unwrap();
    assert!(Program::load(&module, &mut Device::default()).is_err());
}

/// Without it, lanes that a load has done before one leaves the expected allocation are done
/// again, from what they have just loaded if that is where their address was.
#[test]
fn a_load_over_its_own_address() {
    // Lanes 0 and 2 read the first allocation, lane 1 the second; the second time round the
    // first one is expected.
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out) {{
        .reg .b64 %a, %b, %x, %o; .reg .b32 %t, %n; .reg .pred %p<3>;
        ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %o, [out];
        mov.u32 %t, %tid.x; mov.u32 %n, 0; setp.eq.u32 %p1, %t, 1;
        again: selp.b64 %x, %b, %a, %p1; ld.global.u64 %x, [%x];
        add.u32 %n, %n, 1; setp.lt.u32 %p2, %n, 3; @%p2 bra again;
        mad.wide.u32 %o, %t, 8, %o; st.global.u64 [%o], %x; ret; }}"
    );
    for baseline in [false, true] {
        let mut device = Device::default();
        let (a, b) = (device.alloc(&[7; 8]), device.alloc(&[9; 8]));
        let out = device.alloc_len(24);
        let k = kernel(&mut device, &text, "k", baseline);
        run(&device, &k, (1, 3), &[a, b, out], LaunchOptions::default()).unwrap();
        let want = [[7; 8], [9; 8], [7; 8]].concat();
        assert_eq!(device.read(out, 24), want);
    }
}
