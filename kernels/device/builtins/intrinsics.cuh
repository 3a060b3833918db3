// What CUDA C++ has built in and clang alone has not, part 2: barriers, warps, atomics, memory, integers,
// and instructions of floats that say how they round.
#pragma once
#pragma clang system_header

#ifdef CUPOLA_FLUSH_TO_ZERO
#define CUPOLA_FTZ ".ftz"
#else
#define CUPOLA_FTZ ""
#endif

// ---------------------------------------------------------------------------------------------------
// Barriers and fences. `__syncthreads` is a builtin of clang.

#define CUPOLA_VOTING_BARRIER(name, instruction)                                                       \
    CUPOLA_BUILTIN int name(int vote) { return instruction(vote); }
CUPOLA_VOTING_BARRIER(__syncthreads_or, __nvvm_bar0_or)
CUPOLA_VOTING_BARRIER(__syncthreads_and, __nvvm_bar0_and)
CUPOLA_VOTING_BARRIER(__syncthreads_count, __nvvm_bar0_popc)
#undef CUPOLA_VOTING_BARRIER

CUPOLA_BUILTIN void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
CUPOLA_BUILTIN void __threadfence_block() { __nvvm_membar_cta(); }
CUPOLA_BUILTIN void __threadfence() { __nvvm_membar_gl(); }
CUPOLA_BUILTIN void __threadfence_system() { __nvvm_membar_sys(); }

// ---------------------------------------------------------------------------------------------------
// Across a warp.

CUPOLA_BUILTIN unsigned __activemask() {
    unsigned mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}
CUPOLA_BUILTIN unsigned __ballot_sync(unsigned mask, int vote) { return __nvvm_vote_ballot_sync(mask, vote != 0); }
CUPOLA_BUILTIN int __any_sync(unsigned mask, int vote) { return __nvvm_vote_any_sync(mask, vote != 0); }
CUPOLA_BUILTIN int __all_sync(unsigned mask, int vote) { return __nvvm_vote_all_sync(mask, vote != 0); }

// The instruction's third operand: where a part of `width` lanes begins, and its last lane.
#define CUPOLA_SHUFFLES(name, instruction, By, edge)                                                   \
    CUPOLA_BUILTIN int name(unsigned mask, int value, By by, int width = 32) {                         \
        return instruction(mask, value, by, ((32 - width) << 8) | edge);                               \
    }                                                                                                  \
    CUPOLA_BUILTIN unsigned name(unsigned mask, unsigned value, By by, int width = 32) {               \
        return (unsigned)name(mask, (int)value, by, width);                                            \
    }                                                                                                  \
    CUPOLA_BUILTIN float name(unsigned mask, float value, By by, int width = 32) {                     \
        return __builtin_bit_cast(float, name(mask, __builtin_bit_cast(int, value), by, width));       \
    }                                                                                                  \
    CUPOLA_BUILTIN unsigned long long name(unsigned mask, unsigned long long value, By by, int width = 32) { \
        unsigned low = name(mask, (unsigned)value, by, width);                                         \
        unsigned high = name(mask, (unsigned)(value >> 32), by, width);                                \
        return (unsigned long long)high << 32 | low;                                                   \
    }                                                                                                  \
    CUPOLA_BUILTIN long long name(unsigned mask, long long value, By by, int width = 32) {             \
        return (long long)name(mask, (unsigned long long)value, by, width);                            \
    }                                                                                                  \
    CUPOLA_BUILTIN unsigned long name(unsigned mask, unsigned long value, By by, int width = 32) {     \
        return (unsigned long)name(mask, (unsigned long long)value, by, width);                        \
    }                                                                                                  \
    CUPOLA_BUILTIN long name(unsigned mask, long value, By by, int width = 32) {                       \
        return (long)name(mask, (unsigned long long)value, by, width);                                 \
    }                                                                                                  \
    CUPOLA_BUILTIN double name(unsigned mask, double value, By by, int width = 32) {                   \
        unsigned long long bits = __builtin_bit_cast(unsigned long long, value);                       \
        return __builtin_bit_cast(double, name(mask, bits, by, width));                                \
    }
CUPOLA_SHUFFLES(__shfl_sync, __nvvm_shfl_sync_idx_i32, int, 31)
CUPOLA_SHUFFLES(__shfl_up_sync, __nvvm_shfl_sync_up_i32, unsigned, 0)
CUPOLA_SHUFFLES(__shfl_down_sync, __nvvm_shfl_sync_down_i32, unsigned, 31)
CUPOLA_SHUFFLES(__shfl_xor_sync, __nvvm_shfl_sync_bfly_i32, int, 31)
#undef CUPOLA_SHUFFLES

#if __CUDA_ARCH__ >= 700
#define CUPOLA_MATCH(T, suffix, constraint)                                                            \
    CUPOLA_BUILTIN unsigned __match_any_sync(unsigned mask, T value) {                                 \
        unsigned same;                                                                                 \
        asm volatile("match.any.sync." suffix " %0, %1, %2;" : "=r"(same) : constraint(value), "r"(mask)); \
        return same;                                                                                   \
    }
CUPOLA_MATCH(int, "b32", "r")
CUPOLA_MATCH(unsigned, "b32", "r")
CUPOLA_MATCH(long long, "b64", "l")
CUPOLA_MATCH(unsigned long long, "b64", "l")
#undef CUPOLA_MATCH
#endif

#if __CUDA_ARCH__ >= 800
#define CUPOLA_REDUCTION(name, instruction, T)                                                         \
    CUPOLA_BUILTIN T name(unsigned mask, T value) {                                                    \
        T all;                                                                                         \
        asm volatile("redux.sync." instruction " %0, %1, %2;" : "=r"(all) : "r"(value), "r"(mask));    \
        return all;                                                                                    \
    }
CUPOLA_REDUCTION(__reduce_add_sync, "add.s32", int)
CUPOLA_REDUCTION(__reduce_add_sync, "add.u32", unsigned)
CUPOLA_REDUCTION(__reduce_min_sync, "min.s32", int)
CUPOLA_REDUCTION(__reduce_min_sync, "min.u32", unsigned)
CUPOLA_REDUCTION(__reduce_max_sync, "max.s32", int)
CUPOLA_REDUCTION(__reduce_max_sync, "max.u32", unsigned)
CUPOLA_REDUCTION(__reduce_and_sync, "and.b32", unsigned)
CUPOLA_REDUCTION(__reduce_or_sync, "or.b32", unsigned)
CUPOLA_REDUCTION(__reduce_xor_sync, "xor.b32", unsigned)
#undef CUPOLA_REDUCTION
#endif

// ---------------------------------------------------------------------------------------------------
// Atomics: relaxed; each gives the value from before.

#define CUPOLA_ATOMIC(name, function, T)                                                               \
    CUPOLA_BUILTIN T name(T* address, T value) { return function(address, value, __ATOMIC_RELAXED); }
#define CUPOLA_ATOMICS_32(name, function)                                                              \
    CUPOLA_ATOMIC(name, function, int)                                                                 \
    CUPOLA_ATOMIC(name, function, unsigned)
#define CUPOLA_ATOMICS_64(name, function)                                                              \
    CUPOLA_ATOMICS_32(name, function)                                                                  \
    CUPOLA_ATOMIC(name, function, unsigned long long)
CUPOLA_ATOMICS_64(atomicAdd, __atomic_fetch_add)
CUPOLA_ATOMICS_32(atomicSub, __atomic_fetch_sub)
CUPOLA_ATOMICS_64(atomicExch, __atomic_exchange_n)
CUPOLA_ATOMICS_64(atomicMin, __atomic_fetch_min)
CUPOLA_ATOMIC(atomicMin, __atomic_fetch_min, long long)
CUPOLA_ATOMICS_64(atomicMax, __atomic_fetch_max)
CUPOLA_ATOMIC(atomicMax, __atomic_fetch_max, long long)
CUPOLA_ATOMICS_64(atomicAnd, __atomic_fetch_and)
CUPOLA_ATOMICS_64(atomicOr, __atomic_fetch_or)
CUPOLA_ATOMICS_64(atomicXor, __atomic_fetch_xor)
#undef CUPOLA_ATOMICS_64
#undef CUPOLA_ATOMICS_32
#undef CUPOLA_ATOMIC

#define CUPOLA_CAS(T)                                                                                  \
    CUPOLA_BUILTIN T atomicCAS(T* address, T compare, T value) {                                       \
        __atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
        return compare;                                                                                \
    }
CUPOLA_CAS(int)
CUPOLA_CAS(unsigned)
CUPOLA_CAS(unsigned long long)
#undef CUPOLA_CAS

CUPOLA_BUILTIN float atomicAdd(float* address, float value) { return __nvvm_atom_add_gen_f(address, value); }
#if __CUDA_ARCH__ >= 600
CUPOLA_BUILTIN double atomicAdd(double* address, double value) { return __nvvm_atom_add_gen_d(address, value); }
#endif
CUPOLA_BUILTIN float atomicExch(float* address, float value) {
    return __builtin_bit_cast(float, atomicExch((unsigned*)address, __builtin_bit_cast(unsigned, value)));
}
CUPOLA_BUILTIN unsigned atomicInc(unsigned* address, unsigned last) { return __nvvm_atom_inc_gen_ui(address, last); }
CUPOLA_BUILTIN unsigned atomicDec(unsigned* address, unsigned last) { return __nvvm_atom_dec_gen_ui(address, last); }

// ---------------------------------------------------------------------------------------------------
// Memory, time, and what the driver provides.

// A load by any path gives the same value, as what is read so is written by no thread of the kernel.
#define CUPOLA_LDG(T) CUPOLA_BUILTIN T __ldg(const T* address) { return *address; }
#define CUPOLA_LDG_ALL(T, name) CUPOLA_LDG(T) CUPOLA_LDG(name##2) CUPOLA_LDG(name##4)
CUPOLA_LDG(char)
CUPOLA_LDG_ALL(signed char, char)
CUPOLA_LDG_ALL(unsigned char, uchar)
CUPOLA_LDG_ALL(short, short)
CUPOLA_LDG_ALL(unsigned short, ushort)
CUPOLA_LDG_ALL(int, int)
CUPOLA_LDG_ALL(unsigned, uint)
CUPOLA_LDG(long)
CUPOLA_LDG(unsigned long)
CUPOLA_LDG(long long)
CUPOLA_LDG(longlong2)
CUPOLA_LDG(unsigned long long)
CUPOLA_LDG(ulonglong2)
CUPOLA_LDG_ALL(float, float)
CUPOLA_LDG(double)
CUPOLA_LDG(double2)
#undef CUPOLA_LDG_ALL
#undef CUPOLA_LDG

extern "C" {
__device__ int printf(const char* format, ...);
__device__ void* malloc(size_t bytes);
__device__ void free(void* memory);
}
CUPOLA_BUILTIN void* memcpy(void* to, const void* from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
CUPOLA_BUILTIN void* memset(void* to, int byte, size_t bytes) { return __builtin_memset(to, byte, bytes); }

CUPOLA_BUILTIN void __trap() { asm volatile("trap;"); }
CUPOLA_BUILTIN long long clock64() {
    long long now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now) : : "memory");
    return now;
}
CUPOLA_BUILTIN long clock() { return (long)clock64(); }
#if __CUDA_ARCH__ >= 700
CUPOLA_BUILTIN void __nanosleep(unsigned nanoseconds) { asm volatile("nanosleep.u32 %0;" : : "r"(nanoseconds)); }
#endif

// ---------------------------------------------------------------------------------------------------
// Integers.

CUPOLA_BUILTIN int __popc(unsigned x) { return __builtin_popcount(x); }
CUPOLA_BUILTIN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
CUPOLA_BUILTIN int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
CUPOLA_BUILTIN int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
CUPOLA_BUILTIN int __ffs(int x) { return __builtin_ffs(x); }
CUPOLA_BUILTIN int __ffsll(long long x) { return __builtin_ffsll(x); }
CUPOLA_BUILTIN unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
CUPOLA_BUILTIN unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
CUPOLA_BUILTIN unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    unsigned z;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(z) : "r"(x), "r"(y), "r"(selector));
    return z;
}
CUPOLA_BUILTIN int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
CUPOLA_BUILTIN unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((unsigned long long)x * y >> 32); }
CUPOLA_BUILTIN long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
CUPOLA_BUILTIN unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)((unsigned __int128)x * y >> 64);
}
CUPOLA_BUILTIN int __mul24(int x, int y) {
    return (int)((unsigned)((int)((unsigned)x << 8) >> 8) * (unsigned)((int)((unsigned)y << 8) >> 8));
}
CUPOLA_BUILTIN unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }
CUPOLA_BUILTIN unsigned __sad(int x, int y, unsigned z) {
    return z + (x < y ? (unsigned)y - (unsigned)x : (unsigned)x - (unsigned)y);
}
CUPOLA_BUILTIN unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x < y ? y - x : x - y); }
CUPOLA_BUILTIN int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
CUPOLA_BUILTIN int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
CUPOLA_BUILTIN unsigned __uhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x + y) >> 1); }
CUPOLA_BUILTIN unsigned __urhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x + y + 1) >> 1); }
CUPOLA_BUILTIN unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)((((unsigned long long)high << 32 | low) << (shift & 31)) >> 32);
}
CUPOLA_BUILTIN unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
CUPOLA_BUILTIN unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
CUPOLA_BUILTIN unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
CUPOLA_BUILTIN int __dp4a(int a, int b, int c) {
    unsigned sum = (unsigned)c;
    for (int byte = 0; byte < 32; byte += 8) {
        sum += (unsigned)((int)(signed char)(a >> byte) * (int)(signed char)(b >> byte));
    }
    return (int)sum;
}
CUPOLA_BUILTIN unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int byte = 0; byte < 32; byte += 8) {
        c += (a >> byte & 0xff) * (b >> byte & 0xff);
    }
    return c;
}

// ---------------------------------------------------------------------------------------------------
// Bits of floats.

CUPOLA_BUILTIN int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
CUPOLA_BUILTIN unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
CUPOLA_BUILTIN float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
CUPOLA_BUILTIN float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
CUPOLA_BUILTIN long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
CUPOLA_BUILTIN double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
CUPOLA_BUILTIN int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
CUPOLA_BUILTIN int __double2loint(double x) { return (int)__double_as_longlong(x); }
CUPOLA_BUILTIN double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}

// ---------------------------------------------------------------------------------------------------
// Instructions that say how they round.

#define CUPOLA_UNARY(name, instruction, T, in, From, of)                                               \
    CUPOLA_BUILTIN T name(From x) {                                                                    \
        T y;                                                                                           \
        asm(instruction " %0, %1;" : "=" in(y) : of(x));                                               \
        return y;                                                                                      \
    }
#define CUPOLA_BINARY(name, instruction, T, c)                                                         \
    CUPOLA_BUILTIN T name(T a, T b) {                                                                  \
        T y;                                                                                           \
        asm(instruction " %0, %1, %2;" : "=" c(y) : c(a), c(b));                                       \
        return y;                                                                                      \
    }
#define CUPOLA_TERNARY(name, instruction, T, c)                                                        \
    CUPOLA_BUILTIN T name(T a, T b, T with) {                                                          \
        T y;                                                                                           \
        asm(instruction " %0, %1, %2, %3;" : "=" c(y) : c(a), c(b), c(with));                          \
        return y;                                                                                      \
    }
#define CUPOLA_ROUNDED(r, ptx)                                                                         \
    CUPOLA_BINARY(__fadd_##r, "add." ptx CUPOLA_FTZ ".f32", float, "f")                                \
    CUPOLA_BINARY(__fsub_##r, "sub." ptx CUPOLA_FTZ ".f32", float, "f")                                \
    CUPOLA_BINARY(__fmul_##r, "mul." ptx CUPOLA_FTZ ".f32", float, "f")                                \
    CUPOLA_BINARY(__fdiv_##r, "div." ptx CUPOLA_FTZ ".f32", float, "f")                                \
    CUPOLA_TERNARY(__fmaf_##r, "fma." ptx CUPOLA_FTZ ".f32", float, "f")                               \
    CUPOLA_UNARY(__fsqrt_##r, "sqrt." ptx CUPOLA_FTZ ".f32", float, "f", float, "f")                   \
    CUPOLA_UNARY(__frcp_##r, "rcp." ptx CUPOLA_FTZ ".f32", float, "f", float, "f")                     \
    CUPOLA_BINARY(__dadd_##r, "add." ptx ".f64", double, "d")                                          \
    CUPOLA_BINARY(__dsub_##r, "sub." ptx ".f64", double, "d")                                          \
    CUPOLA_BINARY(__dmul_##r, "mul." ptx ".f64", double, "d")                                          \
    CUPOLA_BINARY(__ddiv_##r, "div." ptx ".f64", double, "d")                                          \
    CUPOLA_TERNARY(__fma_##r, "fma." ptx ".f64", double, "d")                                          \
    CUPOLA_UNARY(__dsqrt_##r, "sqrt." ptx ".f64", double, "d", double, "d")                            \
    CUPOLA_UNARY(__drcp_##r, "rcp." ptx ".f64", double, "d", double, "d")                              \
    CUPOLA_UNARY(__double2float_##r, "cvt." ptx CUPOLA_FTZ ".f32.f64", float, "f", double, "d")        \
    CUPOLA_UNARY(__int2float_##r, "cvt." ptx ".f32.s32", float, "f", int, "r")                         \
    CUPOLA_UNARY(__uint2float_##r, "cvt." ptx ".f32.u32", float, "f", unsigned, "r")                   \
    CUPOLA_UNARY(__ll2float_##r, "cvt." ptx ".f32.s64", float, "f", long long, "l")                    \
    CUPOLA_UNARY(__ull2float_##r, "cvt." ptx ".f32.u64", float, "f", unsigned long long, "l")          \
    CUPOLA_UNARY(__ll2double_##r, "cvt." ptx ".f64.s64", double, "d", long long, "l")                  \
    CUPOLA_UNARY(__ull2double_##r, "cvt." ptx ".f64.u64", double, "d", unsigned long long, "l")        \
    CUPOLA_UNARY(__float2int_##r, "cvt." ptx "i" CUPOLA_FTZ ".s32.f32", int, "r", float, "f")          \
    CUPOLA_UNARY(__float2uint_##r, "cvt." ptx "i" CUPOLA_FTZ ".u32.f32", unsigned, "r", float, "f")    \
    CUPOLA_UNARY(__float2ll_##r, "cvt." ptx "i" CUPOLA_FTZ ".s64.f32", long long, "l", float, "f")     \
    CUPOLA_UNARY(__float2ull_##r, "cvt." ptx "i" CUPOLA_FTZ ".u64.f32", unsigned long long, "l", float, "f") \
    CUPOLA_UNARY(__double2int_##r, "cvt." ptx "i.s32.f64", int, "r", double, "d")                      \
    CUPOLA_UNARY(__double2uint_##r, "cvt." ptx "i.u32.f64", unsigned, "r", double, "d")                \
    CUPOLA_UNARY(__double2ll_##r, "cvt." ptx "i.s64.f64", long long, "l", double, "d")                 \
    CUPOLA_UNARY(__double2ull_##r, "cvt." ptx "i.u64.f64", unsigned long long, "l", double, "d")
// What CUDA calls up and down is p and m in PTX.
CUPOLA_ROUNDED(rn, "rn")
CUPOLA_ROUNDED(rz, "rz")
CUPOLA_ROUNDED(ru, "rp")
CUPOLA_ROUNDED(rd, "rm")
#undef CUPOLA_ROUNDED
CUPOLA_BUILTIN double __int2double_rn(int x) { return x; }
CUPOLA_BUILTIN double __uint2double_rn(unsigned x) { return x; }

// ---------------------------------------------------------------------------------------------------
// Approximations, as accurate as the instructions that they are made of.

CUPOLA_UNARY(cupola_ex2, "ex2.approx" CUPOLA_FTZ ".f32", float, "f", float, "f")
CUPOLA_UNARY(__log2f, "lg2.approx" CUPOLA_FTZ ".f32", float, "f", float, "f")
CUPOLA_UNARY(__sinf, "sin.approx" CUPOLA_FTZ ".f32", float, "f", float, "f")
CUPOLA_UNARY(__cosf, "cos.approx" CUPOLA_FTZ ".f32", float, "f", float, "f")
CUPOLA_UNARY(rsqrtf, "rsqrt.approx" CUPOLA_FTZ ".f32", float, "f", float, "f")
CUPOLA_UNARY(__saturatef, "cvt.sat" CUPOLA_FTZ ".f32.f32", float, "f", float, "f")
CUPOLA_BINARY(__fdividef, "div.approx" CUPOLA_FTZ ".f32", float, "f")
#undef CUPOLA_UNARY
#undef CUPOLA_BINARY
#undef CUPOLA_TERNARY
CUPOLA_BUILTIN float __expf(float x) { return cupola_ex2(__fmul_rn(x, 1.44269504f)); }
CUPOLA_BUILTIN float __exp10f(float x) { return cupola_ex2(__fmul_rn(x, 3.32192809f)); }
CUPOLA_BUILTIN float __logf(float x) { return __fmul_rn(__log2f(x), 0.69314718f); }
CUPOLA_BUILTIN float __log10f(float x) { return __fmul_rn(__log2f(x), 0.30103f); }
CUPOLA_BUILTIN float __powf(float x, float y) { return cupola_ex2(__fmul_rn(y, __log2f(x))); }
CUPOLA_BUILTIN float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
CUPOLA_BUILTIN void __sincosf(float x, float* sine, float* cosine) {
    *sine = __sinf(x);
    *cosine = __cosf(x);
}
