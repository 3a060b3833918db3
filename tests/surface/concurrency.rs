//! Threads that wait for each other: locks, flags, barriers of a block and of a grid, and
//! control flow that parts them. Every kernel here ends on hardware with independent thread
//! scheduling (Volta and later), however its threads are scheduled.

use std::ffi::CString;

use cupola_sys::driver::{CUdevice_attribute, CUdeviceptr, CUfunction, CUmodule};

use crate::raw::Raw;

/// A module of one kernel `k`, whose only parameter is the address of `.u32` words.
struct Kernel {
    raw: Raw,
    module: CUmodule,
    function: CUfunction,
}

impl Kernel {
    fn new(raw: Raw, text: &str) -> Self {
        let image = CString::new(text).expect("no zero byte");
        let (mut module, mut function) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the image ends with a zero and, as the places, outlives the calls.
        unsafe {
            raw.driver
                .cuModuleLoadData(&raw mut module, image.as_ptr().cast())
                .expect("the module loads");
            raw.driver
                .cuModuleGetFunction(&raw mut function, module, c"k".as_ptr())
                .expect("k");
        }
        Self {
            raw,
            module,
            function,
        }
    }

    /// The words after a launch that began with `words`.
    fn run(&self, blocks: u32, threads: u32, cooperative: bool, words: &[u32]) -> Vec<u32> {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let mut address: CUdeviceptr = self.raw.upload(&bytes);
        let mut arguments = [(&raw mut address).cast()];
        let (f, none) = (self.function, std::ptr::null_mut());
        let arguments = arguments.as_mut_ptr();
        let driver = &self.raw.driver;
        // SAFETY: the kernel has one parameter, an address whose memory lives until the end
        // of the launch was waited for.
        unsafe {
            if cooperative {
                driver
                    .cuLaunchCooperativeKernel(f, blocks, 1, 1, threads, 1, 1, 0, none, arguments)
                    .expect("a cooperative launch");
            } else {
                let extra = std::ptr::null_mut();
                driver
                    .cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, none, arguments, extra)
                    .expect("a launch");
            }
            driver.cuCtxSynchronize().expect("the kernel ends");
        }
        let bytes = self.raw.download(address, bytes.len());
        self.raw.free(address);
        let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("4 bytes"));
        bytes.chunks(4).map(word).collect()
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        // SAFETY: loaded in `new`, and nothing runs.
        let unloaded = unsafe { self.raw.driver.cuModuleUnload(self.module) };
        if !std::thread::panicking() {
            unloaded.expect("unload");
        }
    }
}

/// A kernel around a body: `%t` the thread, `%b` the block, `%n` the block's threads, `%p` the
/// words, and registers to use. `%r` goes to word `16 + thread of the grid`.
fn per_thread(functions: &str, body: &str) -> Kernel {
    Kernel::new(
        Raw::open(),
        &format!(
            ".version 7.8\n.target sm_80\n.address_size 64\n{functions}
            .visible .entry k(.param .u64 words) {{
            .reg .b32 %t, %b, %n, %i, %r, %x<8>; .reg .b64 %p, %q, %f; .reg .pred %c<8>;
            ld.param.u64 %p, [words]; cvta.to.global.u64 %p, %p;
            mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %n, %ntid.x;
            mad.lo.u32 %i, %b, %n, %t; mov.u32 %r, 0;
            {body}
            done: mad.wide.u32 %q, %i, 4, %p; st.global.u32 [%q+64], %r; ret; }}"
        ),
    )
}

/// Words for `threads` results, with zeros before them.
fn words(threads: u32) -> Vec<u32> {
    vec![0; 16 + threads as usize]
}

/// Lanes of one warp take turns at a lock. Without it, a lane that holds the lock could wait
/// for one that spins, or two could be inside at once.
#[test]
fn a_spin_lock_within_a_warp() {
    // Word 0 is the lock, word 1 is counted without an atomic, word 2 says who was last.
    let kernel = per_thread(
        "",
        "mov.u32 %x4, 0;
        again: atom.acquire.gpu.global.cas.b32 %x1, [%p], 0, 1;
        setp.ne.u32 %c1, %x1, 0; @%c1 bra next;
        ld.relaxed.gpu.global.u32 %r, [%p+4]; add.u32 %x2, %r, 1;
        st.relaxed.gpu.global.u32 [%p+4], %x2; st.relaxed.gpu.global.u32 [%p+8], %i;
        atom.release.gpu.global.exch.b32 %x3, [%p], 0; mov.u32 %x4, 1;
        next: setp.eq.u32 %c2, %x4, 0; @%c2 bra again;",
    );
    let (blocks, threads) = (3, 64);
    let got = kernel.run(blocks, threads, false, &words(blocks * threads));
    let all = blocks * threads;
    assert_eq!(got[..2], [0, all]);
    assert!(got[2] < all);
    // Each thread saw another count.
    let mut seen = got[16..].to_vec();
    seen.sort_unstable();
    assert_eq!(seen, (0..all).collect::<Vec<_>>());
}

/// Two resident blocks hand a number back and forth. Without it, a block that waits could keep
/// the other one from running, or see a flag before the data that it announces.
#[test]
fn blocks_wait_for_flags() {
    // Word 0 is the turn, word 1 the number. Block 0 acts on even turns, block 1 on odd ones.
    let kernel = per_thread(
        "",
        "setp.ne.u32 %c1, %t, 0; @%c1 bra done; mov.u32 %x1, %b;
        turn: ld.acquire.gpu.global.u32 %x2, [%p]; setp.ne.u32 %c2, %x2, %x1; @%c2 bra turn;
        ld.relaxed.gpu.global.u32 %x3, [%p+4]; mad.lo.u32 %x3, %x3, 3, %x1;
        st.relaxed.gpu.global.u32 [%p+4], %x3;
        add.u32 %x4, %x1, 1; st.release.gpu.global.u32 [%p], %x4;
        add.u32 %x1, %x1, 2; add.u32 %r, %r, 1; setp.lt.u32 %c3, %x1, 100; @%c3 bra turn;",
    );
    let got = kernel.run(2, 32, false, &words(64));
    let number = (0..100).fold(0u32, |n, turn| n.wrapping_mul(3).wrapping_add(turn));
    assert_eq!(got[..2], [100, number]);
    assert_eq!((got[16], got[48]), (50, 50));
}

/// A barrier of the whole grid, made of atomics, in a cooperative launch. Without it, blocks
/// that wait could hold all places, and what a block wrote before could be missed after.
#[test]
fn a_grid_wide_barrier() {
    let raw = Raw::open();
    let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH;
    if raw.attribute(attribute) == 0 {
        println!("skipped: the device launches no cooperative kernels");
        return;
    }
    drop(raw);
    // Words 0: arrivals, counted up for ever. Words 1 to 8: one for each block and parity of
    // the round. Every round a block adds up what all wrote.
    let kernel = per_thread(
        "",
        "mov.u32 %x1, 0; mov.u32 %x2, %nctaid.x; mov.u32 %x7, 0;
        round: setp.ne.u32 %c1, %t, 0; @%c1 bra arrived;
        and.b32 %x3, %x1, 1; mad.lo.u32 %x3, %x3, %x2, %b; mad.wide.u32 %q, %x3, 4, %p;
        add.u32 %x4, %x7, %b; add.u32 %x4, %x4, 1; st.relaxed.gpu.global.u32 [%q+4], %x4;
        atom.acq_rel.gpu.global.add.u32 %x4, [%p], 1;
        add.u32 %x5, %x1, 1; mul.lo.u32 %x5, %x5, %x2;
        all: ld.acquire.gpu.global.u32 %x4, [%p]; setp.lt.u32 %c2, %x4, %x5; @%c2 bra all;
        arrived: bar.sync 0;
        and.b32 %x3, %x1, 1; mul.lo.u32 %x3, %x3, %x2; mad.wide.u32 %q, %x3, 4, %p;
        mov.u32 %x7, 0; mov.u32 %x6, 0;
        sum: ld.relaxed.gpu.global.u32 %x4, [%q+4]; add.u32 %x7, %x7, %x4; add.s64 %q, %q, 4;
        add.u32 %x6, %x6, 1; setp.lt.u32 %c3, %x6, %x2; @%c3 bra sum;
        add.u32 %x1, %x1, 1; setp.lt.u32 %c4, %x1, 6; @%c4 bra round; mov.u32 %r, %x7;",
    );
    let (blocks, threads) = (4, 64);
    let got = kernel.run(blocks, threads, true, &words(blocks * threads));
    // Block b writes the last sum, b and 1: sums go s -> 4 s + 10.
    let sum = (0..6).fold(0u32, |s, _| 4 * s + 10);
    assert_eq!(got[0], 6 * blocks);
    assert!(
        got[16..].iter().all(|r| *r == sum),
        "{:?} not {sum}",
        &got[16..]
    );
}

/// The block that comes last adds up what the others left. Without it, a fence and an atomic
/// could fail to hand on data, or two blocks could take themselves for the last.
#[test]
fn the_last_block_reduces() {
    // Word 0 counts blocks, word 1 is the sum, word 2 counts last blocks; partial sums lie
    // behind the results.
    let kernel = per_thread(
        "",
        ".shared .align 4 .u32 part[128]; .shared .align 4 .u32 ticket;
        mul.wide.u32 %q, %t, 4; mov.u64 %f, part; add.s64 %f, %f, %q;
        add.u32 %x1, %i, 1; st.shared.u32 [%f], %x1; mov.u32 %x2, 64;
        half: bar.sync 0; setp.ge.u32 %c1, %t, %x2; @%c1 bra skip;
        mul.wide.u32 %q, %x2, 4; add.s64 %q, %f, %q; ld.shared.u32 %x3, [%q];
        ld.shared.u32 %x4, [%f]; add.u32 %x4, %x4, %x3; st.shared.u32 [%f], %x4;
        skip: shr.u32 %x2, %x2, 1; setp.ne.u32 %c2, %x2, 0; @%c2 bra half;
        setp.ne.u32 %c3, %t, 0; @%c3 bra wait;
        mov.u32 %x5, %nctaid.x; mad.lo.u32 %x6, %x5, %n, %b; mad.wide.u32 %q, %x6, 4, %p;
        st.global.u32 [%q+64], %x4; membar.gl;
        sub.u32 %x7, %x5, 1; atom.global.inc.u32 %x6, [%p], %x7; st.shared.u32 [ticket], %x6;
        wait: bar.sync 0; ld.shared.u32 %x6, [ticket]; mov.u32 %x5, %nctaid.x; sub.u32 %x7, %x5, 1;
        setp.ne.u32 %c4, %x6, %x7; @%c4 bra done; membar.gl;
        setp.ge.u32 %c5, %t, %x5; @%c5 bra done;
        mad.lo.u32 %x6, %x5, %n, %t; mad.wide.u32 %q, %x6, 4, %p; ld.volatile.global.u32 %x4, [%q+64];
        atom.global.add.u32 %x3, [%p+4], %x4; setp.ne.u32 %c6, %t, 0; @%c6 bra done;
        atom.global.add.u32 %x3, [%p+8], 1;",
    );
    let (blocks, threads) = (24u32, 128u32);
    let all = blocks * threads;
    let got = kernel.run(blocks, threads, false, &words(all + blocks));
    // The counter wraps to zero, the sum is that of 1 to the number of threads.
    assert_eq!(got[..3], [0, all * (all + 1) / 2, 1]);
}

/// Without it, frames of lanes that recurse to different depths could mix.
#[test]
fn recursion_to_different_depths() {
    let fib = ".func (.param .b32 out) fib(.param .b32 in) {
        .reg .b32 %n, %a, %b; .reg .pred %p; ld.param.b32 %n, [in];
        setp.lt.u32 %p, %n, 2; @%p bra base;
        { .param .b32 x; .param .b32 y; sub.u32 %a, %n, 1; st.param.b32 [x], %a;
        call (y), fib, (x); ld.param.b32 %a, [y]; }
        { .param .b32 x; .param .b32 y; sub.u32 %b, %n, 2; st.param.b32 [x], %b;
        call (y), fib, (x); ld.param.b32 %b, [y]; }
        add.u32 %n, %a, %b; base: st.param.b32 [out], %n; ret; }";
    let kernel = per_thread(
        fib,
        "and.b32 %x1, %t, 7; { .param .b32 x; .param .b32 y; st.param.b32 [x], %x1;
        call (y), fib, (x); ld.param.b32 %r, [y]; }",
    );
    let got = kernel.run(1, 64, false, &words(64));
    let numbers = [0, 1, 1, 2, 3, 5, 8, 13];
    let want: Vec<u32> = (0..64).map(|t| numbers[t % 8]).collect();
    assert_eq!(got[16..], want);
}

/// Without it, lanes that call different functions through one instruction could all get one.
#[test]
fn calls_through_a_table_of_functions() {
    let functions = ".func (.param .b32 out) twice(.param .b32 in) { .reg .b32 %v;
        ld.param.b32 %v, [in]; add.u32 %v, %v, %v; st.param.b32 [out], %v; ret; }
        .func (.param .b32 out) square(.param .b32 in) { .reg .b32 %v;
        ld.param.b32 %v, [in]; mul.lo.u32 %v, %v, %v; st.param.b32 [out], %v; ret; }
        .func (.param .b32 out) invert(.param .b32 in) { .reg .b32 %v;
        ld.param.b32 %v, [in]; not.b32 %v, %v; st.param.b32 [out], %v; ret; }
        .global .align 8 .u64 table[3] = {twice, square, invert};";
    let kernel = per_thread(
        functions,
        "rem.u32 %x1, %t, 3; mov.u64 %q, table; cvta.global.u64 %q, %q;
        mad.wide.u32 %q, %x1, 8, %q; ld.u64 %f, [%q];
        { .param .b32 x; .param .b32 y; st.param.b32 [x], %t;
        shape: .callprototype (.param .b32 _) _ (.param .b32 _);
        call (y), %f, (x), shape; ld.param.b32 %r, [y]; }",
    );
    let got = kernel.run(1, 96, false, &words(96));
    let want: Vec<u32> = (0..96u32)
        .map(|t| match t % 3 {
            0 => t + t,
            1 => t * t,
            _ => !t,
        })
        .collect();
    assert_eq!(got[16..], want);
}

/// Lanes leave a function, a loop and the kernel at different places. Without it, a lane could
/// go on after its return, or a barrier could wait for threads that are gone.
#[test]
fn divergent_returns() {
    // Returns from the middle of a loop in a function.
    let function = ".func (.param .b32 out) collatz(.param .b32 in) {
        .reg .b32 %n, %k, %o; .reg .pred %p, %e; ld.param.b32 %n, [in]; mov.u32 %k, 0;
        loop: setp.le.u32 %p, %n, 1; st.param.b32 [out], %k; @%p ret;
        and.b32 %o, %n, 1; setp.eq.u32 %e, %o, 0; add.u32 %k, %k, 1; @%e bra even;
        mad.lo.u32 %n, %n, 3, 1; bra loop; even: shr.u32 %n, %n, 1; bra loop; }";
    let kernel = per_thread(
        function,
        "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %t; call (y), collatz, (x);
        ld.param.b32 %r, [y]; }
        setp.ge.u32 %c1, %r, 20; @%c1 exit;
        bar.sync 0; mov.u32 %x1, 0; add.u32 %r, %r, 1000;",
    );
    let got = kernel.run(1, 128, false, &words(128));
    let steps = |mut n: u32| -> u32 {
        let mut steps = 0;
        while n > 1 {
            n = if n.is_multiple_of(2) {
                n / 2
            } else {
                3 * n + 1
            };
            steps += 1;
        }
        steps
    };
    let want: Vec<u32> = (0..128)
        .map(|t| match steps(t) {
            // Those that left wrote nothing.
            20.. => 0,
            few => 1000 + few,
        })
        .collect();
    assert_eq!(got[16..], want);
}

/// A warp fills a slot, another one empties it, by two named barriers. Without it, an arrival
/// could be lost, or a barrier could release before the other side came.
#[test]
fn named_barriers_of_a_producer_and_a_consumer() {
    // Barrier 1: the slot is full. Barrier 2: it is empty. 32 threads wait, 32 only arrive.
    let kernel = per_thread(
        "",
        ".shared .align 4 .u32 slot[32]; and.b32 %x1, %t, 31; mul.wide.u32 %q, %x1, 4;
        mov.u64 %f, slot; add.s64 %f, %f, %q; mov.u32 %x2, 0;
        setp.ge.u32 %c1, %t, 32; @%c1 bra consumer;
        produce: setp.eq.u32 %c2, %x2, 0; @%c2 bra first; bar.sync 2, 64;
        first: mad.lo.u32 %x3, %x2, 100, %t; st.shared.u32 [%f], %x3; bar.arrive 1, 64;
        add.u32 %x2, %x2, 1; setp.lt.u32 %c3, %x2, 10; @%c3 bra produce; bra done;
        consumer: bar.sync 1, 64; ld.shared.u32 %x4, [%f]; mad.lo.u32 %r, %r, 5, %x4;
        add.u32 %x2, %x2, 1; setp.ge.u32 %c4, %x2, 10; @%c4 bra done;
        bar.arrive 2, 64; bra consumer;",
    );
    let got = kernel.run(1, 64, false, &words(64));
    let of = |lane: u32| (0..10).fold(0u32, |r, k| r.wrapping_mul(5).wrapping_add(100 * k + lane));
    let want: Vec<u32> = (0..32).map(of).collect();
    assert_eq!(got[16..48], [0; 32]);
    assert_eq!(got[48..], want);
}

/// Without it, a reduction at a barrier could miss threads, or count some twice.
#[test]
fn reductions_at_barriers() {
    // All 96 threads, then 64 of them at a barrier with a thread count.
    let kernel = per_thread(
        "",
        "rem.u32 %x1, %t, 3; setp.eq.u32 %c1, %x1, 0; bar.red.popc.u32 %r, 0, %c1;
        setp.eq.u32 %c2, %t, 95; bar.red.or.pred %c3, 0, %c2; @%c3 add.u32 %r, %r, 100;
        setp.ne.u32 %c4, %t, 50; bar.red.and.pred %c5, 0, %c4; @%c5 add.u32 %r, %r, 1000;
        setp.ge.u32 %c6, %t, 64; @%c6 bra done;
        bar.red.popc.u32 %x2, 3, 64, %c1; mad.lo.u32 %r, %x2, 10000, %r;",
    );
    let got = kernel.run(2, 96, false, &words(192));
    let of = |t: u32| 32 + 100 + if t < 64 { 22 * 10_000 } else { 0 };
    let want: Vec<u32> = (0..192).map(|i| of(i % 96)).collect();
    assert_eq!(got[16..], want);
}
