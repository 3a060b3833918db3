//! Warp-wide instructions, barriers and forward progress.

use crate::device::{Device, HEADER, kernel, run};
use cupola_sim::exec::LaunchOptions;

fn body(threads: u32, body: &str) -> Vec<u32> {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 p) {{
        .reg .b32 %t, %r, %x<8>; .reg .b64 %p, %w; .reg .pred %q<4>;
        mov.u32 %t, %tid.x; mov.u32 %r, 0;
        {body}
        done: ld.param.u64 %p, [p]; mad.wide.u32 %p, %t, 4, %p; st.global.u32 [%p], %r; ret; }}"
    );
    let mut device = Device::default();
    let out = device.alloc_len(u64::from(threads) * 4);
    let k = kernel(&mut device, &text, "k", false);
    run(&device, &k, (1, threads), &[out], LaunchOptions::default())
        .unwrap_or_else(|e| panic!("{e}"));
    device.read_u32(out, threads as usize)
}

#[test]
fn shuffles() {
    let all = |f: fn(u32) -> u32| (0..32).map(f).collect::<Vec<_>>();
    assert_eq!(
        body(32, "shfl.sync.up.b32 %r, %t, 3, 0, -1;"),
        all(|t| if t < 3 { t } else { t - 3 })
    );
    assert_eq!(
        body(32, "shfl.sync.down.b32 %r, %t, 3, 31, -1;"),
        all(|t| if t > 28 { t } else { t + 3 })
    );
    assert_eq!(
        body(32, "shfl.sync.bfly.b32 %r, %t, 5, 31, -1;"),
        all(|t| t ^ 5)
    );
    assert_eq!(body(32, "shfl.sync.idx.b32 %r, %t, 7, 31, -1;"), all(|_| 7));
    // Segments of 8 lanes, and the predicate that says who was in range.
    let down = "shfl.sync.down.b32 %r|%q1, %t, 1, 0x1807, -1; @!%q1 add.u32 %r, %r, 100;";
    assert_eq!(
        body(32, down),
        all(|t| if t % 8 == 7 { t + 100 } else { t + 1 })
    );
    // The form without .sync, of before sm_70.
    assert_eq!(body(32, "shfl.bfly.b32 %r, %t, 1, 31;"), all(|t| t ^ 1));
}

#[test]
fn votes_matches_and_reductions() {
    let odd = "and.b32 %x1, %t, 1; setp.ne.u32 %q1, %x1, 0;";
    let uniform = |v: u32| vec![v; 32];
    assert_eq!(
        body(32, &format!("{odd} vote.sync.ballot.b32 %r, %q1, -1;")),
        uniform(0xaaaa_aaaa)
    );
    assert_eq!(
        body(
            32,
            &format!("{odd} vote.sync.any.pred %q2, %q1, -1; selp.u32 %r, 1, 0, %q2;")
        ),
        uniform(1)
    );
    assert_eq!(
        body(
            32,
            &format!("{odd} vote.sync.all.pred %q2, !%q1, -1; selp.u32 %r, 1, 0, %q2;")
        ),
        uniform(0)
    );
    assert_eq!(
        body(32, "and.b32 %x1, %t, 1; match.any.sync.b32 %r, %x1, -1;")[..2],
        [0x5555_5555, 0xaaaa_aaaa]
    );
    assert_eq!(
        body(32, "match.all.sync.b32 %r|%q1, 5, -1;"),
        uniform(u32::MAX)
    );
    assert_eq!(body(32, "redux.sync.add.u32 %r, %t, -1;"), uniform(31 * 16));
    assert_eq!(
        body(32, "sub.u32 %x1, %t, 9; redux.sync.min.s32 %r, %x1, -1;"),
        uniform((-9i32).cast_unsigned())
    );
    // Inside a branch only those who took it take part.
    let inside =
        format!("{odd} @!%q1 bra done; activemask.b32 %x2; vote.sync.ballot.b32 %r, %q1, %x2;");
    assert_eq!(body(32, &inside)[..2], [0, 0xaaaa_aaaa]);
}

/// Breaks if `.sync` operations do not wait for lanes that come by another way.
#[test]
fn sync_operations_gather_lanes() {
    // Lanes reach the shuffle through two branches of different length.
    let text = "setp.lt.u32 %q1, %t, 16; mov.u32 %x1, 0; @%q1 bra join;
        loop: add.u32 %x1, %x1, 1; setp.lt.u32 %q2, %x1, 50; @%q2 bra loop;
        join: shfl.sync.bfly.b32 %r, %x1, 16, 31, -1;";
    let want: Vec<u32> = (0..32).map(|t| if t < 16 { 50 } else { 0 }).collect();
    assert_eq!(body(32, text), want);
    // bar.warp.sync from two places.
    let text =
        ".shared .align 4 .u32 s[32]; mul.wide.u32 %w, %t, 4; mov.u64 %p, s; add.s64 %w, %w, %p;
        setp.lt.u32 %q1, %t, 16; @%q1 bra low;
        st.shared.u32 [%w], %t; bar.warp.sync -1; bra done;
        low: bar.warp.sync -1; ld.shared.u32 %r, [%w+64];";
    assert_eq!(body(32, text)[..3], [16, 17, 18]);
}

/// Breaks if barriers count wrongly.
#[test]
fn barriers() {
    // Every thread reads what its neighbour in another warp wrote.
    let exchange = ".shared .align 4 .u32 s[128]; mul.wide.u32 %w, %t, 4; mov.u64 %p, s; add.s64 %w, %w, %p;
        st.shared.u32 [%w], %t; barrier.sync 0; xor.b32 %x1, %t, 64; mul.wide.u32 %w, %x1, 4; add.s64 %w, %w, %p;
        ld.shared.u32 %r, [%w];";
    assert_eq!(
        body(128, exchange),
        (0..128).map(|t| t ^ 64).collect::<Vec<_>>()
    );
    // Threads that ended are not waited for.
    let gone = "setp.ge.u32 %q1, %t, 40; @%q1 exit; bar.sync 0; mov.u32 %r, 1;";
    assert_eq!(body(64, gone)[..40], [1; 40]);
    // A barrier of one half, and one by arrival.
    let halves = ".shared .align 4 .u32 flag; setp.ge.u32 %q1, %t, 32; @%q1 bra second;
        st.shared.u32 [flag], 77; bar.arrive 1, 64; bra done;
        second: bar.sync 1, 64; ld.shared.u32 %r, [flag];";
    let got = body(64, halves);
    assert_eq!((&got[..32], &got[32..]), (&[0; 32][..], &[77; 32][..]));
    // Reductions, in a block whose last warp is not full.
    let red = "and.b32 %x1, %t, 1; setp.ne.u32 %q1, %x1, 0; bar.red.popc.u32 %r, 0, %q1;
        bar.red.or.pred %q2, 0, %q1; @%q2 add.u32 %r, %r, 1000; bar.red.and.pred %q3, 0, !%q1; @%q3 add.u32 %r, %r, 5000;";
    assert_eq!(body(40, red), vec![1020; 40]);
}

/// Breaks if a lane that spins keeps the lane it waits for from running.
#[test]
fn spin_lock_within_a_warp() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 lock, .param .u64 count) {{
        .reg .b32 %o, %v; .reg .b64 %l, %c; .reg .pred %p;
        ld.param.u64 %l, [lock]; ld.param.u64 %c, [count];
        spin: atom.global.cas.b32 %o, [%l], 0, 1; setp.ne.u32 %p, %o, 0; @%p bra spin;
        ld.global.u32 %v, [%c]; add.u32 %v, %v, 1; st.global.u32 [%c], %v; membar.gl;
        atom.global.exch.b32 %o, [%l], 0; ret; }}"
    );
    for (workers, seed) in [(1, 0), (1, 42), (2, 0)] {
        let mut device = Device::default();
        let (lock, count) = (device.alloc_u32(&[0]), device.alloc_u32(&[0]));
        let k = kernel(&mut device, &text, "k", false);
        let options = LaunchOptions {
            workers,
            seed,
            ..LaunchOptions::default()
        };
        run(&device, &k, (2, 128), &[lock, count], options).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(device.read_u32(count, 1), [256]);
    }
}

/// Breaks if a block that waits for a later one is never suspended.
#[test]
fn blocks_wait_for_each_other() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 arrived) {{
        .reg .b32 %o, %n; .reg .b64 %a; .reg .pred %p;
        ld.param.u64 %a, [arrived]; mov.u32 %n, %nctaid.x; atom.global.add.u32 %o, [%a], 1;
        wait: ld.acquire.gpu.global.u32 %o, [%a]; setp.lt.u32 %p, %o, %n; @%p bra wait; ret; }}"
    );
    for (blocks, workers, cooperative) in [(8, 1, false), (100, 1, true), (100, 2, true)] {
        let mut device = Device::default();
        let arrived = device.alloc_u32(&[0]);
        let k = kernel(&mut device, &text, "k", false);
        let options = LaunchOptions {
            workers,
            cooperative,
            ..LaunchOptions::default()
        };
        run(&device, &k, (blocks, 1), &[arrived], options).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(device.read_u32(arrived, 1), [blocks]);
    }
}

/// Breaks if giving way is forgotten when the spinning lanes part and meet in
/// their loop, or call a function in it.
#[test]
fn spinning_with_branches_and_calls_inside_gives_way() {
    let flag = ".shared .align 4 .u32 flag; setp.eq.u32 %q1, %t, 0; @%q1 st.shared.u32 [flag], 0; bar.sync 0;
        @!%q1 bra spin; mov.u32 %x1, 0;
        bra release;
        spin: and.b32 %x2, %t, 1; setp.eq.u32 %q2, %x2, 0; @%q2 bra even;
        add.u32 %x3, %x3, 1; CALL ld.volatile.shared.u32 %r, [flag]; setp.eq.u32 %q3, %r, 0; @%q3 bra spin; bra done;
        even: ld.volatile.shared.u32 %r, [flag]; setp.eq.u32 %q3, %r, 0; @%q3 bra spin; bra done;
        release: st.volatile.shared.u32 [flag], 5; mov.u32 %r, 5;";
    assert_eq!(body(32, &flag.replace("CALL", "")), [5; 32]);
    let text = flag.replace("CALL", "call nothing;");
    let functions = ".func nothing() { ret; }\n";
    let module = format!(
        "{HEADER}{functions}.visible .entry k(.param .u64 p) {{
        .reg .b32 %t, %r, %x<8>; .reg .b64 %p; .reg .pred %q<4>; mov.u32 %t, %tid.x; mov.u32 %x3, 0;
        {text}
        done: ld.param.u64 %p, [p]; mad.wide.u32 %p, %t, 4, %p; st.global.u32 [%p], %r; ret; }}"
    );
    let mut device = Device::default();
    let out = device.alloc_len(128);
    let k = kernel(&mut device, &module, "k", false);
    run(&device, &k, (1, 32), &[out], LaunchOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(device.read_u32(out, 32), [5; 32]);
}

/// Without it, tiles of one warp that execute an instruction together with a mask each are
/// taken for members of the first one's.
#[test]
fn tiles_have_their_own_members() {
    let masks = "setp.lt.u32 %q1, %t, 16; selp.b32 %x1, 0xffff, 0xffff0000, %q1;";
    let tiles = |f: fn(u32) -> u32| (0..32).map(f).collect::<Vec<_>>();
    assert_eq!(
        body(32, &format!("{masks} redux.sync.add.u32 %r, %t, %x1;")),
        tiles(|t| if t < 16 { 120 } else { 376 })
    );
    assert_eq!(
        body(
            32,
            &format!(
                "{masks} and.b32 %x2, %t, 1; setp.ne.u32 %q2, %x2, 0; vote.sync.ballot.b32 %r, %q2, %x1;"
            )
        ),
        tiles(|t| if t < 16 { 0xaaaa } else { 0xaaaa_0000 })
    );
    assert_eq!(
        body(
            32,
            &format!("{masks} mov.u32 %x2, 5; match.any.sync.b32 %r, %x2, %x1;")
        ),
        tiles(|t| if t < 16 { 0xffff } else { 0xffff_0000 })
    );
    assert_eq!(
        body(32, &format!("{masks} elect.sync %r|%q3, %x1;")),
        tiles(|t| if t < 16 { 0 } else { 16 })
    );
    // Half of the first tile comes later than the second tile, which need not wait for it.
    let late = "setp.gt.u32 %q2, %t, 7; @%q2 bra together; mov.u32 %x3, 1; together:";
    assert_eq!(
        body(
            32,
            &format!("{masks} {late} redux.sync.add.u32 %r, %t, %x1;")
        ),
        tiles(|t| if t < 16 { 120 } else { 376 })
    );
}

/// Without it, a barrier of one tile lets lanes of another pass theirs, or never opens.
#[test]
fn tiles_have_their_own_barriers() {
    let text = "setp.lt.u32 %q1, %t, 16; selp.b32 %x1, 0xffff, 0xffff0000, %q1;
        .shared .align 4 .b8 s[128];
        mul.lo.u32 %x2, %t, 4; mov.u32 %x3, s; add.u32 %x2, %x2, %x3;
        and.b32 %x4, %t, 1; setp.eq.u32 %q2, %x4, 0; @%q2 bra even;
        bar.warp.sync %x1; ld.shared.u32 %r, [%x2+-4]; bra done;
        even: add.u32 %x5, %t, 100; st.shared.u32 [%x2], %x5; bar.warp.sync %x1;";
    let want: Vec<u32> = (0..32)
        .map(|t| if t % 2 == 1 { t + 99 } else { 0 })
        .collect();
    assert_eq!(body(32, text), want);
}
