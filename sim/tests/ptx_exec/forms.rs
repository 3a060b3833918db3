//! Forms of instructions beyond the usual ones: packed operands, modifiers of newer targets,
//! 128 bits, hints. Each test would notice that its form is missing or computes another one.

use crate::device::{Device, HEADER, check, eval, kernel, rows, run};
use cupola_sim::exec::{KernelError, LaunchOptions, Program};
use cupola_sim::ptx::Module;

const NAN: u64 = 0x7fff_ffff;

fn single(v: f32) -> u64 {
    u64::from(v.to_bits())
}

fn low(v: u64) -> u32 {
    v as u32
}

/// Without it zeros could count as anything but normal, as Rust has it.
#[test]
fn zeros_are_normal_numbers() {
    let ins = "testp.normal.f32 %p, %a;\nselp.u32 %d, 1, 0, %p;";
    let values = [0.0, -0.0, 1.0, 1e-40, f32::INFINITY, f32::NAN].map(|v| vec![single(v)]);
    assert_eq!(eval(ins, "u32", &["u32"], &values), [1, 1, 1, 0, 0, 0]);
}

/// Without it the sign, NaN and three-operand forms could be taken for the plain ones.
#[test]
fn min_and_max_of_every_form() {
    let (a, b) = (single(-3.0), single(2.0));
    let two = |ins: &str, a: u64, b: u64| eval(ins, "u32", &["u32"; 2], &[vec![a, b]])[0];
    let three = |ins: &str| eval(ins, "u32", &["u32"; 3], &[vec![a, b, single(f32::NAN)]])[0];
    assert_eq!(two("min.f32 %d, %a, %b;", a, b), a);
    assert_eq!(two("min.xorsign.abs.f32 %d, %a, %b;", a, b), single(-2.0));
    assert_eq!(two("max.xorsign.abs.f32 %d, %a, %b;", a, b), single(-3.0));
    assert_eq!(two("max.NaN.f32 %d, %a, %b;", a, NAN), NAN);
    assert_eq!(two("max.f32 %d, %a, %b;", a, NAN), a);
    assert_eq!(two("max.ftz.f32 %d, %a, %b;", a, 1), 0);
    assert_eq!(three("min.f32 %d, %a, %b, %c;"), a);
    assert_eq!(three("max.abs.f32 %d, %a, %b, %c;"), single(3.0));
    assert_eq!(three("max.NaN.f32 %d, %a, %b, %c;"), NAN);
    assert_eq!(two("max.relu.s32 %d, %a, %b;", 0xffff_fff0, 0xffff_ff00), 0);
}

/// Without it a carry could pass between the halves, or a sign be lost.
#[test]
fn packed_integers() {
    let values = [0x0001_ffff, 0xffff_0001, 0x7fff_8000, 0x8000_7fff, 0];
    let all = rows(&values, 2);
    let both = |r: &[u64], f: fn(u16, u16) -> u16| {
        let half = |s: u32| f((r[0] >> s) as u16, (r[1] >> s) as u16);
        u64::from(half(0)) | u64::from(half(16)) << 16
    };
    check("add.u16x2 %d, %a, %b;", "u32", &["u32"; 2], &all, |r| {
        both(r, u16::wrapping_add)
    });
    check("max.u16x2 %d, %a, %b;", "u32", &["u32"; 2], &all, |r| {
        both(r, u16::max)
    });
    check("min.s16x2 %d, %a, %b;", "u32", &["u32"; 2], &all, |r| {
        both(r, |a, b| {
            a.cast_signed().min(b.cast_signed()).cast_unsigned()
        })
    });
    check(
        "max.relu.s16x2 %d, %a, %b;",
        "u32",
        &["u32"; 2],
        &all,
        |r| {
            both(r, |a, b| {
                a.cast_signed().max(b.cast_signed()).max(0).cast_unsigned()
            })
        },
    );
    let sat = "mad24.hi.sat.s32 %d, %a, %b, %c;";
    let row = vec![0x7f_ffff, 0x7f_ffff, 0x7fff_fff0];
    assert_eq!(eval(sat, "u32", &["u32"; 3], &[row]), [0x7fff_ffff]);
}

/// Without it `.ftz`, `.relu` and comparisons of half precision could be ignored.
#[test]
fn halves_flush_compare_and_clamp() {
    let one = |ins: &str, row: &[u64]| eval(ins, "u32", &["u32"; 2], &[row.to_vec()])[0];
    // 1.0 and the least subnormal; the sum of subnormals is one without .ftz.
    let (a, b) = (0x0001_3c00, 0x0001_4000);
    assert_eq!(one("add.rn.f16x2 %d, %a, %b;", &[a, b]), 0x0002_4200);
    assert_eq!(one("add.rn.ftz.f16x2 %d, %a, %b;", &[a, b]), 0x0000_4200);
    assert_eq!(one("neg.ftz.f16x2 %d, %a;", &[a, b]), 0x8000_bc00);
    assert_eq!(
        one(
            "min.xorsign.abs.f16x2 %d, %a, %b;",
            &[0xbc00_4000, 0x4000_bc00]
        ),
        0xbc00_bc00
    );
    assert_eq!(
        one(
            "fma.rn.relu.bf16x2 %d, %a, %b, %a;",
            &[0xbf80_3f80, 0x3f80_3f80]
        ),
        0x0000_4000
    );
    assert_eq!(one("set.lt.f16x2.f16x2 %d, %a, %b;", &[a, b]), 0x0000_3c00);
    assert_eq!(
        one("set.lt.u32.f16x2 %d, %b, %a;", &[0x3c00_0000, 0x0000_3c00]),
        0xffff_0000
    );
    let pair = "setp.ltu.bf16x2 %p|%q, %a, %b;\nselp.u32 %t, 2, 0, %q;\nselp.u32 %u, 1, 0, %p;\nadd.u32 %d, %t, %u;";
    assert_eq!(one(pair, &[0x7fff_3f80, 0x3f80_4000]), 3);
    assert_eq!(one(pair, &[0x4000_3f80, 0x3f80_4000]), 1);
}

/// Without it the predicate of a logic operation would be wrong or missing.
#[test]
fn logic_with_a_predicate() {
    let ins =
        "setp.ne.u32 %p, %c, 0;\nlop3.and.b32 %d|%p1, %a, %b, 0, 0xc0, %p;\n@!%p1 mov.u32 %d, 77;";
    let all = [vec![6, 3, 1], vec![4, 3, 1], vec![6, 3, 0]];
    assert_eq!(eval(ins, "u32", &["u32"; 3], &all), [2, 77, 77]);
}

/// Without it conversions could overflow where they are told to stay finite, or pack the
/// wrong way round.
#[test]
fn conversions_that_clamp_and_pack() {
    let one = |ins: &str, d: &str, v: u64| eval(ins, d, &["u32"], &[vec![v]])[0];
    let inf = single(f32::INFINITY);
    assert_eq!(one("cvt.rn.satfinite.f16.f32 %d, %a;", "u16", inf), 0x7bff);
    assert_eq!(one("cvt.rn.f16.f32 %d, %a;", "u16", inf), 0x7c00);
    assert_eq!(
        one("cvt.rn.satfinite.bf16.f32 %d, %a;", "u16", inf | 1 << 31),
        0xff7f
    );
    assert_eq!(one("cvt.rn.satfinite.bf16.f32 %d, %a;", "u16", NAN), 0x7fff);
    assert_eq!(one("cvt.rn.relu.bf16.f32 %d, %a;", "u16", single(-1.0)), 0);
    assert_eq!(
        one("cvt.rna.tf32.f32 %d, %a;", "u32", 0x3f80_1000),
        0x3f80_2000
    );
    assert_eq!(
        one("cvt.rn.tf32.f32 %d, %a;", "u32", 0x3f80_1000),
        0x3f80_0000
    );
    assert_eq!(
        one("cvt.rz.tf32.f32 %d, %a;", "u32", 0x3f80_1fff),
        0x3f80_0000
    );
    assert_eq!(one("cvt.rn.sat.f16.s32 %d, %a;", "u16", 5), 0x3c00);
    let bytes = "cvt.pack.sat.u8.s32.b32 %d, %a, %b, %c;";
    let row = vec![300, 0xffff_fffe, 0x1234_5678];
    assert_eq!(eval(bytes, "u32", &["u32"; 3], &[row]), [0x5678_ff00]);
    let words = "cvt.pack.sat.s16.s32 %d, %a, %b;";
    assert_eq!(
        eval(words, "u32", &["u32"; 2], &[vec![70_000, 0xffff_0000]]),
        [0x7fff_8000]
    );
}

/// Without it operands of two widths could be read with one, or halves be mixed up.
#[test]
fn mixed_and_packed_singles() {
    let mixed = "fma.rn.f32.f16 %d, %a, %b, %c;";
    let row = vec![0x4000, 0x4200, single(0.5)];
    assert_eq!(
        eval(mixed, "u32", &["u16", "u16", "u32"], &[row]),
        [single(6.5)]
    );
    let packed = "mul.rn.f32x2 %d, %a, %b;";
    let pair = |a: f32, b: f32| single(a) | single(b) << 32;
    let row = vec![pair(2.0, -3.0), pair(4.0, 0.5)];
    assert_eq!(eval(packed, "u64", &["u64"; 2], &[row]), [pair(8.0, -1.5)]);
}

/// Without it an approximation could leave PTX's bounds, or do so only in one twin.
#[test]
fn approximations_are_near() {
    let values: Vec<Vec<u64>> = (0..5000u32)
        .map(|k| vec![u64::from(k.wrapping_mul(858_993) ^ k << 30)])
        .collect();
    type Function = fn(f64) -> f64;
    let functions: [(&str, Function); 6] = [
        ("ex2.approx.f32", f64::exp2),
        ("lg2.approx.f32", f64::log2),
        ("sin.approx.f32", f64::sin),
        ("cos.approx.f32", f64::cos),
        ("tanh.approx.f32", f64::tanh),
        ("rsqrt.approx.f32", |a| 1.0 / a.sqrt()),
    ];
    for (name, function) in functions {
        let got = eval(&format!("{name} %d, %a;"), "u32", &["u32"], &values);
        for (row, got) in values.iter().zip(got) {
            let a = f32::from_bits(low(row[0]));
            let (got, want) = (f32::from_bits(low(got)), function(f64::from(a)) as f32);
            let near = got == want
                || got.is_nan() && want.is_nan()
                || (got.to_bits().abs_diff(want.to_bits())) <= 1;
            assert!(near, "{name} of {a:e}: got {got:e}, want {want:e}");
        }
    }
    let flushed = eval("rcp.approx.ftz.f32 %d, %a;", "u32", &["u32"], &[vec![1]]);
    assert_eq!(flushed, [single(f32::INFINITY)]);
    // PTX documents zero for divisors whose reciprocal is not normal.
    let huge = vec![single(1e38), single(1.5e38)];
    let quotient = eval("div.approx.f32 %d, %a, %b;", "u32", &["u32"; 2], &[huge]);
    assert_eq!(quotient, [0]);
}

/// Runs a body on 32 threads with %p at 256 zeroed bytes and %t the thread; the bytes after.
fn after(body: &str) -> Vec<u32> {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 p) {{
.reg .b32 %t, %r<8>; .reg .b64 %p, %w<6>; .reg .b16 %h<4>; .reg .b128 %q<4>; .reg .pred %c<3>;
.shared .align 16 .b8 s[64];
ld.param.u64 %p, [p]; mov.u32 %t, %tid.x;
{body}
ret; }}"
    );
    let mut device = Device::default();
    let p = device.alloc_len(256);
    let k = kernel(&mut device, &text, "k", false);
    run(&device, &k, (1, 32), &[p], LaunchOptions::default())
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    device.read_u32(p, 64)
}

/// Without it halves of 128-bit registers could be exchanged or lost on their way.
#[test]
fn values_of_128_bits() {
    let got = after(
        "setp.ne.u32 %c0, %t, 0;\n@%c0 ret;
mov.b64 %w0, 0x1111111122222222;\nmov.b64 %w1, 0x3333333344444444;
mov.b128 %q0, {%w0, %w1};\nmov.b128 %q1, %q0;\nst.global.b128 [%p+16], %q1;
ld.global.b128 %q2, [%p+16];\nmov.b128 {%r0, %r1, %r2, %r3}, %q2;\nst.global.v4.u32 [%p+32], {%r3, %r2, %r1, %r0};
mov.b128 {%w2, %w3}, %q2;\nst.global.u64 [%p], %w3;
atom.exch.b128 %q3, [%p+16], %q2;\natom.cas.b128 %q3, [%p+48], %q3, %q2;\nst.global.b128 [%p+64], %q3;
mov.b64 %w4, 0;\nmov.b128 %q3, {%w4, %w4};\natom.cas.b128 %q3, [%p+48], %q3, %q2;",
    );
    let value = [0x2222_2222, 0x1111_1111, 0x4444_4444, 0x3333_3333];
    assert_eq!(got[..2], value[2..], "the upper half");
    assert_eq!(got[4..8], value, "stored");
    assert_eq!(
        got[8..12],
        [0x3333_3333, 0x4444_4444, 0x1111_1111, 0x2222_2222]
    );
    assert_eq!(
        got[12..16],
        value,
        "the second compare found zeros and exchanged"
    );
    assert_eq!(
        got[16..20],
        [0; 4],
        "the first compare found zeros and kept them"
    );
}

/// Without it vector and half-precision atomics could lose updates or mix elements.
#[test]
fn atomics_of_small_and_packed_types() {
    let got = after(
        "mov.b16 %h0, 0x3c00;\nmov.b32 %r0, 0x3c004000;\nmov.b32 %r1, 0f3F800000;\nmov.b32 %r2, 0f40000000;
red.global.add.noftz.f16 [%p], %h0;\natom.global.add.noftz.f16x2 %r3, [%p+4], %r0;
mov.b16 %h1, 0x3f80;\nred.add.noftz.bf16 [%p+8], %h1;
atom.global.v2.f32.add {%r1, %r2}, [%p+16], {%r2, %r1};
red.global.max.noftz.v2.f16x2 [%p+24], {%r0, %r0};
mov.b32 %r5, 1;\nred.global.add.f32 [%p+32], %r5;
mov.u64 %w0, s;\nsetp.eq.u32 %c0, %t, 0;\n@%c0 st.shared.u32 [%w0], 0;\nbar.sync 0;
red.shared.add.f32 [%w0], %r5;\nbar.sync 0;\nld.shared.u32 %r6, [%w0];\nst.global.u32 [%p+36], %r6;",
    );
    assert_eq!(got[0], 0x5000, "32 in half precision");
    assert_eq!(got[1], 0x5000_5400, "32 and 64");
    assert_eq!(got[2], 0x4200, "32 in bfloat16");
    assert_eq!(got[4..6], [64f32.to_bits(), 32f32.to_bits()]);
    assert_eq!(got[6..8], [0x3c00_4000; 2]);
    assert_eq!(got[8], 0, "subnormal numbers are flushed in global memory");
    assert_eq!(got[9], 32, "and not in shared memory");
}

/// Without it the reductions of floats could mistake a NaN or a sign.
#[test]
fn reductions_of_floats() {
    let got = after(
        "cvt.rn.f32.u32 %r0, %t;\nneg.f32 %r0, %r0;
redux.sync.min.f32 %r1, %r0, 0xffffffff;\nredux.sync.min.abs.f32 %r2, %r0, 0xffffffff;
setp.eq.u32 %c0, %t, 3;\n@%c0 mov.b32 %r0, 0x7fc00001;
redux.sync.max.f32 %r3, %r0, 0xffffffff;\nredux.sync.max.NaN.f32 %r4, %r0, 0xffffffff;
st.global.v4.u32 [%p], {%r1, %r2, %r3, %r4};",
    );
    let want = [(-31f32).to_bits(), 0, (-0f32).to_bits(), 0x7fff_ffff];
    assert_eq!(got[..4], want);
}

/// Without it an instruction that does nothing here could have operands that do not exist.
#[test]
fn hints_check_their_operands() {
    for (body, good) in [
        ("prefetch.global.L2 [%p];", true),
        ("prefetch.global.L2 [%missing];", false),
        ("prefetch.global.L2;", false),
        ("applypriority.global.L2::evict_normal [%p], 128;", true),
        ("discard.global.L2 [%p];", false),
        ("createpolicy.fractional.L2::evict_last.b64 %w, 0.5;", true),
        ("createpolicy.fractional.L2::evict_last.b64 %r, 0.5;", false),
        ("nanosleep.u32 %r;", true),
        ("nanosleep.u32 %missing;", false),
        ("fence.acq_rel.gpu;", true),
        ("fence.whatever;", false),
        ("pmevent %r, %r;", false),
        ("ld.global.L2::cache_hint.u32 %r, [%p];", false),
        ("ld.global.u32 %r, [%p], %w;", false),
    ] {
        let text = format!(
            "{HEADER}.visible .entry k() {{ .reg .b64 %p, %w; .reg .b32 %r; {body} ret; }}"
        );
        let module = Module::parse(&text).unwrap();
        let found = Program::load(&module, &mut Device::default())
            .unwrap()
            .kernel("k");
        match (found, good) {
            (Ok(_), true) | (Err(KernelError::Unsupported { .. }), false) => {}
            (other, _) => panic!("{body}: {other:?}"),
        }
    }
}

/// Without it an element of an array could not be named, or be another one than the driver's
/// compiler takes. The distances are those of an H100.
#[test]
fn elements_of_arrays_are_operands() {
    let module = "
        .global .u32 a[8] = {1, 2, 3, 4, 5, 6, 7, 8};
        .global .u32 b[4][4];
        .global .v4 .u32 c[4];
        .extern .shared .f32 d[];
        .visible .entry k(.param .u64 out) {
            .reg .u64 %x, %y, %o; .reg .u32 %v;
            .shared .u64 s[4]; .local .u16 l[8];
            ld.param.u64 %o, [out];
            ";
    let mut text = format!("{HEADER}{module}");
    let mut wanted = Vec::new();
    for (element, array, distance) in [
        ("a[3]", "a", 12),
        ("a[0]", "a", 0),
        ("a[1 + 1]", "a", 8),
        ("a[99]", "a", 396),
        ("a[-1]", "a", -4),
        ("b[1]", "b", 4),
        ("c[1]", "c", 4),
        ("d[2]", "d", 2),
        ("s[2]", "s", 16),
        ("l[2]", "l", 4),
    ] {
        let at = wanted.len() * 4;
        text += &format!(
            "mov.u64 %x, {element}; mov.u64 %y, {array}; sub.u64 %x, %x, %y;
             cvt.u32.u64 %v, %x; st.global.u32 [%o+{at}], %v;"
        );
        wanted.push(i32::cast_unsigned(distance));
    }
    let at = wanted.len() * 4;
    text += &format!(
        "st.u32 a[5], 77; ld.global.u32 %v, a[5]; st.global.u32 [%o+{at}], %v;
         {{ .param .b32 s[2]; st.param.b32 s[1], %v; }} st.shared.u64 s[1], %o; ret; }}"
    );
    wanted.push(77);
    for baseline in [true, false] {
        let mut device = Device::default();
        let k = kernel(&mut device, &text, "k", baseline);
        let out = device.alloc_u32(&vec![9; wanted.len()]);
        run(&device, &k, (1, 1), &[out], LaunchOptions::default()).unwrap();
        assert_eq!(device.read_u32(out, wanted.len()), wanted);
    }
    // Written again, it is the same module.
    let module = Module::parse(&text).unwrap();
    assert!(module.to_string().contains("mov.u64 %x, a[99];"));
    let again = module.to_string();
    assert_eq!(Module::parse(&again).unwrap().to_string(), again);
    for wrong in [
        "mov.u64 %x, a[3]+4;",
        "mov.u64 %x, b[1][2];",
        "ld.global.u32 %v, [a[2]];",
        "ld.param.u64 %x, out[0];",
        "mov.u64 %x, none[0];",
        "{ .local .u32 inner[2]; } mov.u64 %x, inner[0];",
    ] {
        let text = text.replace("st.u32 a[5], 77;", wrong);
        assert!(Module::parse(&text).is_err(), "{wrong}");
    }
}

/// Without it a table of functions could hold other functions than it names, whether they are
/// defined before it or after it.
#[test]
fn tables_of_functions_are_initial_values() {
    let text = format!(
        "{HEADER}
        .func (.param .b32 r) two(.param .b32 x);
        .func (.param .b32 r) one(.param .b32 x) {{ st.param.b32 [r], 1; ret; }}
        .visible .global .align 8 .u64 vtable[4] = {{0, one, two, 0}};
        .weak .const .align 8 .b8 bytes[8] = {{0xFF(two), 0xFF00(two), 0xFF0000(two),
            0xFF000000(two), 0xFF00000000(two), 0xFF0000000000(two), 0xFF000000000000(two)}};
        .func (.param .b32 r) two(.param .b32 x) {{ st.param.b32 [r], 2; ret; }}
        .visible .entry k(.param .u64 out) {{
            .reg .u64 %f, %o; .reg .u32 %v;
            ld.param.u64 %o, [out];
            ld.global.u64 %f, vtable[1];
            {{ .param .b32 r; .param .b32 x; st.param.b32 [x], 0;
               call (r), %f, (x), shape; ld.param.b32 %v, [r]; }}
            st.global.u32 [%o], %v;
            ld.global.u64 %f, [vtable+16];
            {{ .param .b32 r; .param .b32 x; st.param.b32 [x], 0;
               call (r), %f, (x), shape; ld.param.b32 %v, [r]; }}
            st.global.u32 [%o+4], %v;
            ld.const.u64 %f, [bytes];
            {{ .param .b32 r; .param .b32 x; st.param.b32 [x], 0;
               call (r), %f, (x), shape; ld.param.b32 %v, [r]; }}
            st.global.u32 [%o+8], %v;
            ret;
            shape: .callprototype (.param .b32 _) _ (.param .b32 _);
        }}"
    );
    let mut device = Device::default();
    let k = kernel(&mut device, &text, "k", false);
    let out = device.alloc_u32(&[9; 3]);
    run(&device, &k, (1, 1), &[out], LaunchOptions::default()).unwrap();
    assert_eq!(device.read_u32(out, 3), [1, 2, 2]);
}
