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
