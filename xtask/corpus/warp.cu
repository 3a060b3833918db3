// Warp-wide operations, and inline assembly for what clang has no name for. sm_70 and later.
#include "prelude.cuh"

KERNEL shuffles(u32 *d) {
    u32 i = thread(), r = i, full = 0xffffffff;
    for (u32 k = 16; k; k /= 2) r += __nvvm_shfl_sync_bfly_i32(full, r, k, 31);
    r += __nvvm_shfl_sync_down_i32(full, r, 1, 31) + __nvvm_shfl_sync_up_i32(full, r, 1, 0);
    r += __nvvm_shfl_sync_idx_i32(full, r, 3, 0x181f) + (u32)__nvvm_shfl_sync_idx_f32(full, (float)r, 0, 31);
    r += __nvvm_vote_all_sync(full, r > 3) + __nvvm_vote_any_sync(full, r > 5);
    r += __nvvm_vote_uni_sync(full, i > 3) + __nvvm_vote_ballot_sync(full, i & 1);
    r += __nvvm_match_any_sync_i32(full, r & 3) + __nvvm_match_any_sync_i64(full, r & 1);
    __nvvm_bar_warp_sync(full);
    __nvvm_barrier_sync(1);
    __nvvm_barrier_sync_cnt(2, 64);
    r += __nvvm_fns(r, 3, 2);
    d[i] = r;
}

#define ASM1(d, text, a) asm volatile(text : "=r"(d) : "r"(a))
#define ASM2(d, text, a, b) asm volatile(text : "=r"(d) : "r"(a), "r"(b))
#define ASM3(d, text, a, b, c) asm volatile(text : "=r"(d) : "r"(a), "r"(b), "r"(c))

KERNEL assembly(u32 *d, const u32 *s) {
    u32 i = thread(), a = s[i], b = s[i + 1], c = s[i + 2], r = 0, x;
    ASM3(x, "lop3.b32 %0, %1, %2, %3, 0x96;", a, b, c); r += x;
    ASM3(x, "{ .reg .pred p; lop3.or.b32 %0|p, %1, %2, %3, 0xe8, 0; @p not.b32 %0, %0; }", a, b, c); r += x;
    ASM3(x, "prmt.b32.b4e %0, %1, %2, %3;", a, b, c); r += x;
    ASM3(x, "shf.l.wrap.b32 %0, %1, %2, %3;", a, b, c); r += x;
    ASM3(x, "bfe.s32 %0, %1, %2, %3;", a, b, c); r += x;
    ASM3(x, "sad.u32 %0, %1, %2, %3;", a, b, c); r += x;
    ASM3(x, "dp4a.u32.s32 %0, %1, %2, %3;", a, b, c); r += x;
    ASM3(x, "dp2a.lo.s32.u32 %0, %1, %2, %3;", a, b, c); r += x;
    ASM3(x, "mad24.lo.u32 %0, %1, %2, %3;", a, b, c); r += x;
    ASM3(x, "{ .reg .u32 t; add.cc.u32 t, %1, %2; addc.u32 %0, t, %3; }", a, b, c); r += x;
    ASM3(x, "{ .reg .u32 t; mad.lo.cc.u32 t, %1, %2, %3; madc.hi.u32 %0, %1, %2, t; }", a, b, c); r += x;
    ASM2(x, "bfind.u32 %0, %1; // %2", a, b); r += x;
    ASM1(x, "bfind.shiftamt.s32 %0, %1;", a); r += x;
    ASM2(x, "set.gt.u32.s32 %0, %1, %2;", a, b); r += x;
    ASM3(x, "slct.u32.s32 %0, %1, %2, %3;", a, b, c); r += x;
    ASM2(x, "add.sat.s32 %0, %1, %2;", a, b); r += x;
    ASM2(x, "{ .reg .pred p, q; setp.lt.and.u32 p|q, %1, %2, 1; selp.u32 %0, 1, 0, q; }", a, b); r += x;
    asm volatile("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(x) : "l"(d)); r += x;
    ASM1(x, "mov.u32 %0, %%dynamic_smem_size; // %1", a); r += x;
    ASM1(x, "mov.u32 %0, %%total_smem_size; // %1", a); r += x;
    ASM1(x, "{ .reg .b16 l, h; mov.b32 {l, h}, %1; mov.b32 %0, {h, l}; }", a); r += x;
    asm volatile("nanosleep.u32 100; activemask.b32 %0;" : "=r"(x)); r += x;
    asm volatile("prefetch.global.L2 [%0]; prefetchu.L1 [%0];" : : "l"(s));
    asm volatile("{ .reg .b64 p; ld.global.L1::no_allocate.L2::128B.u32 %0, [%1]; }" : "=r"(x) : "l"(s)); r += x;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(s)); r += x;
    asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(x) : "l"(s)); r += x;
    asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(d), "r"(r) : "memory");
    asm volatile("fence.acq_rel.gpu; fence.sc.sys; membar.gl;" : : : "memory");
    asm volatile("bar.sync 3, 64; bar.arrive 4, 96; barrier.cta.sync.aligned 5;" : : : "memory");
    float f, g = __nvvm_bitcast_i2f((int)a);
    asm volatile("copysign.f32 %0, %1, %1; tanh.approx.f32 %0, %0;" : "=f"(f) : "f"(g)); r += (u32)f;
    asm volatile("cvt.rn.relu.bf16x2.f32 %0, %1, %1;" : "=r"(x) : "f"(g)); r += x;
    asm volatile("fma.rn.relu.bf16x2 %0, %1, %1, %1;" : "=r"(x) : "r"(a)); r += x;
    asm volatile("min.NaN.f16x2 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b)); r += x;
    asm volatile("max.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b)); r += x;
    asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(x) : "r"(a)); r += x;
    asm volatile("{ .reg .pred p; elect.sync %0|p, 0xffffffff; @!p mov.u32 %0, 7; }" : "=r"(x)); r += x;
    asm volatile("red.global.add.noftz.f16x2 [%0], %1;" : : "l"(d), "r"(a) : "memory");
    asm volatile("{ .reg .b16 t; cvt.u16.u32 t, %1; atom.add.noftz.bf16 t, [%0], t; }" : : "l"(d), "r"(a) : "memory");
    d[i] = r;
}
