//! What the last pass over the code must not change.
use crate::device::{Device, HEADER, kernel, run};
use cupola_sim::exec::LaunchOptions;

fn results(body: &str, baseline: bool) -> (Vec<u32>, u64) {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 out) {{
        .reg .b32 %r<12>; .reg .b64 %d<4>; .reg .pred %p<4>;
        mov.u32 %r1, %tid.x; mov.u32 %r2, 0;
        {body}
        ld.param.u64 %d1, [out]; mad.wide.u32 %d1, %r1, 4, %d1; st.global.u32 [%d1], %r2; ret; }}"
    );
    let mut device = Device::default();
    let k = kernel(&mut device, &text, "k", baseline);
    let out = device.alloc_len(128);
    let stats = run(&device, &k, (1, 32), &[out], LaunchOptions::default()).unwrap();
    (device.read_u32(out, 32), stats.instructions)
}

/// Without it, a branch to an instruction between an operation and the branch behind it
/// could execute the operation too, or skip the branch.
#[test]
fn a_branch_into_the_middle_of_a_pair() {
    // Odd lanes enter the loop at its branch, even ones at the operation before it.
    let body =
        "and.b32 %r3, %r1, 1; setp.ne.u32 %p1, %r3, 0; mov.u32 %r4, 5; setp.ne.u32 %p2, %r4, 0;
        @%p1 bra middle;
        again: add.u32 %r2, %r2, 1; sub.u32 %r4, %r4, 1; setp.ne.u32 %p2, %r4, 0;
        middle: @%p2 bra again;";
    for baseline in [false, true] {
        let (got, _) = results(body, baseline);
        assert_eq!(got, [5; 32]);
    }
}

/// Without it, a branch around a branch could lead the wrong lanes out of the loop.
#[test]
fn a_branch_around_a_branch() {
    let body = "again: add.u32 %r2, %r2, 1; setp.gt.u32 %p1, %r2, %r1; @%p1 bra out; bra.uni again;
        out: add.u32 %r2, %r2, 100;";
    let want: Vec<u32> = (0..32).map(|l| l + 101).collect();
    for baseline in [false, true] {
        assert_eq!(results(body, baseline).0, want);
    }
}

/// Without it, the budget and the figures could count fewer instructions than were executed.
#[test]
fn every_instruction_counts() {
    let body =
        "mov.u32 %r4, 10; again: add.u32 %r2, %r2, 3; sub.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0;
        @%p1 bra again;";
    let (got, count) = results(body, false);
    assert_eq!(got, [30; 32]);
    let (same, baseline) = results(body, true);
    assert_eq!((same, baseline), (got, count));
    // The loop's four, ten times, and what is around them.
    assert!((48..=52).contains(&count), "{count}");
}

/// Results of two instructions that write %t from %a and %b and then %v from %t and %c.
/// With `spare`, the program names %t once more, so that the two are not a pair.
fn chained(kind: &str, first: &str, second: &str, spare: bool, baseline: bool) -> Vec<u8> {
    let wide = kind != "b32" && kind != "f32";
    let (class, size) = if wide { ("b64", 8) } else { ("b32", 4) };
    let spare = if spare {
        format!("mov.{class} %v1, %t;")
    } else {
        String::new()
    };
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 out, .param .u64 data) {{
        .reg .b32 %r<4>, %n1, %n2; .reg .b64 %d<4>; .reg .{class} %a, %b, %c, %t, %v, %v1;
        mov.u32 %r1, %tid.x; ld.param.u64 %d1, [data]; mad.wide.u32 %d1, %r1, {size}, %d1;
        ld.global.{class} %a, [%d1]; ld.global.{class} %b, [%d1+256]; ld.global.{class} %c, [%d1+512];
        ld.global.u32 %n1, [%d1]; ld.global.u32 %n2, [%d1+256];
        {first} {second} {spare}
        ld.param.u64 %d2, [out]; mad.wide.u32 %d2, %r1, {size}, %d2; st.global.{class} [%d2], %v; ret; }}"
    );
    let mut device = Device::default();
    let words: Vec<u8> = (0..96u64)
        .flat_map(|i| {
            let edges = [
                0,
                1,
                u64::MAX,
                1 << 63,
                0x7fc0_0000_7f80_0001,
                0x8000_0000_3f80_0000,
            ];
            let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ i << 52;
            edges
                .get(i as usize * 5 % 16)
                .copied()
                .unwrap_or(mixed)
                .to_le_bytes()
        })
        .collect();
    let k = kernel(&mut device, &text, "k", baseline);
    let (data, out) = (device.alloc(&words), device.alloc_len(256));
    run(&device, &k, (1, 32), &[out, data], LaunchOptions::default()).unwrap();
    device.read(out, 32 * size)
}

/// Without it, a pair could compute something else than its two instructions: another
/// operand order, one rounding instead of two, a shift by the wrong amount.
#[test]
fn pairs_are_what_their_instructions_are() {
    let ints = |ty: &str| -> Vec<String> {
        ["add", "sub", "mul.lo"]
            .iter()
            .map(|op| format!("{op}.u{ty}"))
            .chain(["and", "or", "xor"].iter().map(|op| format!("{op}.b{ty}")))
            .collect()
    };
    let floats = |ty: &str| {
        ["add", "sub", "mul"]
            .map(|op| format!("{op}.rn.{ty}"))
            .to_vec()
    };
    for (kind, ops) in [
        ("b32", ints("32")),
        ("b64", ints("64")),
        ("f32", floats("f32")),
        ("f64", floats("f64")),
    ] {
        let mut firsts: Vec<String> = ops.iter().map(|op| format!("{op} %t, %a, %b;")).collect();
        if let Some(bits) = kind.strip_prefix('b') {
            for by in [0, 1, 13, 31] {
                firsts.push(format!("shl.b{bits} %t, %a, {by};"));
                firsts.push(format!("shr.u{bits} %t, %a, {by};"));
                firsts.push(format!("shr.s{bits} %t, %a, {by};"));
            }
            if bits == "64" {
                firsts.push("mul.wide.u32 %t, %n1, %n2;".into());
                firsts.push("mul.wide.s32 %t, %n1, %n2;".into());
                firsts.push("cvt.u64.u32 %t, %n1;".into());
            }
        }
        for first in &firsts {
            for op in &ops {
                for operands in ["%t, %c", "%c, %t"] {
                    let second = format!("{op} %v, {operands};");
                    for baseline in [false, true] {
                        let pair = chained(kind, first, &second, false, baseline);
                        let apart = chained(kind, first, &second, true, baseline);
                        assert_eq!(pair, apart, "{first} {second} baseline {baseline}");
                    }
                }
            }
        }
    }
}

/// Without it, an operation whose result a function returns is joined with the next one, and
/// the result is lost.
#[test]
fn results_of_functions_are_used() {
    let text = format!(
        "{HEADER}.func (.reg .b32 %x, .reg .b32 %y) f(.reg .b32 %a) {{
        add.u32 %x, %a, 5; mul.lo.u32 %y, %a, 3; xor.b32 %y, %y, %a; and.b32 %x, %x, 0xff; ret; }}
        .func (.reg .b32 %x, .reg .b32 %y) g(.reg .b32 %a) {{
        add.u32 %x, %a, 5; xor.b32 %y, %x, %a; ret; }}
        .visible .entry k(.param .u64 out) {{ .reg .b32 %r<12>; .reg .b64 %d<4>;
        mov.u32 %r1, %tid.x; call (%r2, %r3), g, (%r1);
        ld.param.u64 %d1, [out]; mad.wide.u32 %d1, %r1, 8, %d1;
        st.global.v2.u32 [%d1], {{%r2, %r3}}; ret; }}"
    );
    for baseline in [false, true] {
        let mut device = Device::default();
        let k = kernel(&mut device, &text, "k", baseline);
        let out = device.alloc_len(256);
        run(&device, &k, (1, 32), &[out], LaunchOptions::default()).unwrap();
        let want: Vec<u32> = (0..32).flat_map(|t| [t + 5, (t + 5) ^ t]).collect();
        assert_eq!(device.read_u32(out, 64), want);
    }
}

/// Without it, an instruction that is several operations asks its guard again after it has
/// written it.
#[test]
fn a_guard_is_asked_once() {
    // Lanes 8.. execute it: the low halves are equal, the high ones are not.
    let body = "setp.ge.u32 %p1, %r1, 8; setp.ne.u32 %p2, %r1, %r1;
        mov.b32 %r3, 0x3c004000; mov.b32 %r4, 0x40004000;
        @%p1 setp.ne.f16x2 %p2|%p1, %r3, %r4;
        selp.u32 %r2, 1, 0, %p1; @%p2 add.u32 %r2, %r2, 2;
        setp.ge.u32 %p1, %r1, 8; mov.u32 %r5, 0; mov.u32 %r6, 0; setp.ne.u32 %p2, %r5, 0;
        @%p1 lop3.or.b32 %r5|%p1, %r1, %r6, %r6, 0xf0, %p2;
        @%p1 add.u32 %r2, %r2, %r5;";
    let want: Vec<u32> = (0..32).map(|l| if l < 8 { 0 } else { 1 + l }).collect();
    for baseline in [false, true] {
        assert_eq!(results(body, baseline).0, want);
    }
}
