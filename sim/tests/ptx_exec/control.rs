//! Branches, loops, calls and scopes.

use crate::device::{Device, HEADER, kernel, run};
use cupola_sim::exec::{Host, LaunchOptions};
use std::sync::Mutex;

/// Results of 64 threads of a kernel body with the thread index in %t, that
/// leaves its result in %r.
fn body(functions: &str, body: &str) -> Vec<u32> {
    let text = format!(
        "{HEADER}{functions}
        .visible .entry k(.param .u64 p) {{
        .reg .b32 %t, %r, %x<8>; .reg .b64 %p, %w, %f; .reg .pred %q<4>;
        mov.u32 %t, %tid.x; mov.u32 %r, 0;
        {body}
        done: ld.param.u64 %p, [p]; mad.wide.u32 %p, %t, 4, %p; st.global.u32 [%p], %r; ret; }}"
    );
    let mut device = Device::default();
    let out = device.alloc_len(256);
    let k = kernel(&mut device, &text, "k", false);
    run(&device, &k, (1, 64), &[out], LaunchOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    device.read_u32(out, 64)
}

fn per_thread(f: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..64).map(f).collect()
}

/// Breaks if lanes that branched apart lose their registers or their way.
#[test]
fn divergent_branches_and_loops() {
    // Collatz steps: every lane leaves the loop at another time.
    let collatz = "add.u32 %x1, %t, 1;
        loop: setp.eq.u32 %q1, %x1, 1; @%q1 bra done;
        and.b32 %x2, %x1, 1; setp.ne.u32 %q2, %x2, 0; add.u32 %r, %r, 1;
        @%q2 bra odd; shr.u32 %x1, %x1, 1; bra loop;
        odd: mad.lo.u32 %x1, %x1, 3, 1; bra.uni loop;";
    let steps = |t: u32| {
        let (mut v, mut n) = (t + 1, 0);
        while v != 1 {
            v = if v % 2 == 1 { 3 * v + 1 } else { v / 2 };
            n += 1;
        }
        n
    };
    assert_eq!(body("", collatz), per_thread(steps));
    // Nested loops whose bounds depend on the lane, with an early way out.
    let nested = "mov.u32 %x1, 0;
        outer: setp.ge.u32 %q1, %x1, %t; @%q1 bra done; mov.u32 %x2, 0;
        inner: setp.gt.u32 %q2, %x2, %x1; @%q2 bra next;
        setp.gt.u32 %q3, %r, 500; @%q3 bra done;
        add.u32 %r, %r, %x2; add.u32 %x2, %x2, 1; bra inner;
        next: add.u32 %x1, %x1, 1; bra outer;";
    let sum = |t: u32| {
        let mut r = 0;
        for a in 0..t {
            for b in 0..=a {
                if r > 500 {
                    return r;
                }
                r += b;
            }
        }
        r
    };
    assert_eq!(body("", nested), per_thread(sum));
}

/// Breaks if lanes do not meet again after a branch or a loop: `activemask`
/// shows who is there.
#[test]
fn lanes_meet_again() {
    let after_if = "and.b32 %x1, %t, 1; setp.eq.u32 %q1, %x1, 0; @%q1 bra even;
        add.u32 %x2, %t, 3; bra join; even: add.u32 %x2, %t, 5;
        join: activemask.b32 %r;";
    assert_eq!(body("", after_if), per_thread(|_| u32::MAX));
    // Blocks written in an order no compiler would choose.
    let shuffled = "bra start;
        join: activemask.b32 %r; bra done;
        odd: add.u32 %x2, %t, 3; bra join;
        start: and.b32 %x1, %t, 1; setp.ne.u32 %q1, %x1, 0; @%q1 bra odd;
        add.u32 %x2, %t, 5; bra join;";
    assert_eq!(body("", shuffled), per_thread(|_| u32::MAX));
    let after_loop = "and.b32 %x1, %t, 7;
        loop: setp.eq.u32 %q1, %x1, 0; @%q1 bra out; sub.u32 %x1, %x1, 1; bra loop;
        out: activemask.b32 %r;";
    assert_eq!(body("", after_loop), per_thread(|_| u32::MAX));
    // A second way out of the loop, placed before part of the loop's body.
    let two_exits = "and.b32 %x1, %t, 7;
        loop: setp.eq.u32 %q1, %x1, 5; @%q1 bra out; setp.eq.u32 %q2, %x1, 0; @%q2 bra out;
        and.b32 %x2, %x1, 1; setp.eq.u32 %q3, %x2, 0; @%q3 bra even; sub.u32 %x1, %x1, 1; bra loop;
        even: sub.u32 %x1, %x1, 1; bra loop;
        out: activemask.b32 %r;";
    assert_eq!(body("", two_exits), per_thread(|_| u32::MAX));
}

#[test]
fn indexed_branches() {
    let switch = "and.b32 %x1, %t, 3; cases: .branchtargets a, b, c, d; brx.idx %x1, cases;
        a: mov.u32 %r, 10; bra done; b: mov.u32 %r, 11; bra done;
        c: mov.u32 %r, 12; bra done; d: mov.u32 %r, 13;";
    assert_eq!(body("", switch), per_thread(|t| 10 + t % 4));
}

/// Breaks if arguments, results or frames of calls mix between lanes.
#[test]
fn calls_of_every_kind() {
    let twice =
        ".func (.param .b32 out) twice(.param .b32 in) { .reg .b32 %v; ld.param.b32 %v, [in];
        add.u32 %v, %v, %v; st.param.b32 [out], %v; ret; }";
    let direct = "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %t; call.uni (b), twice, (a); ld.param.b32 %r, [b]; }";
    assert_eq!(body(twice, direct), per_thread(|t| 2 * t));
    // Register parameters, the old style.
    let old = ".func (.reg .b32 %o) plus(.reg .b32 %a, .reg .b32 %b) { add.u32 %o, %a, %b; ret; }";
    assert_eq!(
        body(old, "call (%r), plus, (%t, 7);"),
        per_thread(|t| t + 7)
    );
    // Recursion that every lane leaves at its own depth.
    let fib = ".func (.param .b32 out) fib(.param .b32 in) {
        .reg .b32 %n, %a, %b; .reg .pred %p; ld.param.b32 %n, [in]; setp.lt.u32 %p, %n, 2; @%p bra base;
        { .param .b32 x; .param .b32 y; sub.u32 %a, %n, 1; st.param.b32 [x], %a; call (y), fib, (x); ld.param.b32 %a, [y]; }
        { .param .b32 x; .param .b32 y; sub.u32 %b, %n, 2; st.param.b32 [x], %b; call (y), fib, (x); ld.param.b32 %b, [y]; }
        add.u32 %n, %a, %b; base: st.param.b32 [out], %n; ret; }";
    let call = "and.b32 %x1, %t, 7; { .param .b32 a; .param .b32 b; st.param.b32 [a], %x1; call (b), fib, (a); ld.param.b32 %r, [b]; }";
    assert_eq!(
        body(fib, call),
        per_thread(|t| [0, 1, 1, 2, 3, 5, 8, 13][t as usize % 8])
    );
    // Function pointers that differ between lanes.
    let two = format!(
        "{twice} .func (.param .b32 out) half(.param .b32 in) {{ .reg .b32 %v; ld.param.b32 %v, [in];
        shr.u32 %v, %v, 1; st.param.b32 [out], %v; ret; }}
        .global .u64 table[2] = {{twice, half}};"
    );
    let indirect = "and.b32 %x1, %t, 1; mul.wide.u32 %w, %x1, 8; mov.u64 %f, table; add.s64 %w, %w, %f;
        ld.global.u64 %f, [%w]; { .param .b32 a; .param .b32 b; st.param.b32 [a], %t;
        proto: .callprototype (.param .b32 _) _ (.param .b32 _); call (b), %f, (a), proto; ld.param.b32 %r, [b]; }";
    assert_eq!(
        body(&two, indirect),
        per_thread(|t| if t % 2 == 0 { 2 * t } else { t / 2 })
    );
}

/// Breaks if a name of an inner scope is taken for that of an outer one.
#[test]
fn scopes_have_their_own_names() {
    let text = "mov.u32 %x1, 5; { .reg .b32 %x1; mov.u32 %x1, 9; bra skip; mov.u32 %x1, 8; skip: add.u32 %r, %r, %x1; }
        { .reg .b32 %x1; mov.u32 %x1, 20; bra skip; mov.u32 %x1, 1; skip: add.u32 %r, %r, %x1; } add.u32 %r, %r, %x1;";
    assert_eq!(body("", text), per_thread(|_| 34));
}

struct Recorder(Mutex<Vec<u8>>);

impl Host for Recorder {
    fn print(&self, text: &[u8]) {
        self.0.lock().unwrap().extend_from_slice(text);
    }
}

/// Breaks if packed arguments are read at the wrong offsets.
#[test]
fn printf_formats_like_c() {
    let format = b"t=%d %5.2f|%-4u|%#x %s %c%% %lld %e\n\0";
    let list: Vec<String> = format.iter().map(u8::to_string).collect();
    let text = format!(
        "{HEADER}.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
        .global .b8 fmt[{}] = {{{}}}; .global .b8 word[3] = {{104, 105, 0}};
        .visible .entry k() {{ .local .align 8 .b8 args[72]; .reg .b32 %r, %t; .reg .b64 %a, %f;
        mov.u32 %t, %tid.x; mov.u64 %a, args; st.local.u32 [%a], %t; st.local.u64 [%a+8], 0d400921FB54442D18;
        st.local.u32 [%a+16], 7; st.local.u32 [%a+20], 255; mov.u64 %f, word; st.local.u64 [%a+24], %f;
        st.local.u32 [%a+32], 33; st.local.u64 [%a+40], -5; st.local.u64 [%a+48], 0d40F86A0000000000;
        cvta.local.u64 %a, %a; mov.u64 %f, fmt;
        {{ .param .b64 p0; .param .b64 p1; .param .b32 r; st.param.b64 [p0], %f; st.param.b64 [p1], %a;
        call.uni (r), vprintf, (p0, p1); ld.param.b32 %r, [r]; }} ret; }}",
        list.len(),
        list.join(",")
    );
    let mut device = Device::default();
    let k = kernel(&mut device, &text, "k", false);
    let host = Recorder(Mutex::new(Vec::new()));
    let options = LaunchOptions {
        host: &host,
        ..LaunchOptions::default()
    };
    run(&device, &k, (1, 2), &[], options).unwrap_or_else(|e| panic!("{e}"));
    let want =
        "t=0  3.14|7   |0xff hi !% -5 1.000000e+05\nt=1  3.14|7   |0xff hi !% -5 1.000000e+05\n";
    assert_eq!(
        String::from_utf8(host.0.into_inner().unwrap()).unwrap(),
        want
    );
}
