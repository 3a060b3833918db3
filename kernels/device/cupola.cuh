// Device functions for CUDA C++: packs of elements that one instruction moves, loops over a grid,
// conversions that say how they round, minima that say what a NaN does, reductions of a block.
//
// One file without includes: NVRTC, nvcc and clang (with a CUDA toolkit or with `-nocudainc`) take it
// as it is, for sm_60 and later, as C++17. What it defines is in the namespace `cupola`, but for macros,
// which begin with `CUPOLA_`. No function allocates, prints or traps.
//
//     #include <cupola.cuh>
//
//     struct Square {
//         CUPOLA_DEVICE float operator()(float x) const { return x * x; }
//     };
//     extern "C" __global__ void square(unsigned long long n, const float* x, float* y) {
//         cupola::map<256, 4>(n, y, Square(), x);  // blocks of 256 threads
//     }
//
// Blocks and grids are one-dimensional throughout, lengths are 64 bits, and a pointer to elements has
// their natural alignment, no more.
#pragma once

#if defined(__clang__) && defined(__CUDA__)
#define CUPOLA_DEVICE inline __attribute__((device)) __attribute__((always_inline))
#define CUPOLA_REGISTER(name, family) __nvvm_read_ptx_sreg_##family##_x()
#else
#define CUPOLA_DEVICE __device__ __forceinline__
#define CUPOLA_REGISTER(name, family) name.x
#endif

// What is compiled for, `10 * major + minor`: instructions of that architecture may be used. A compiler that
// does not know the architecture is told by this macro, and is given a later one's PTX to write by `asm`.
#ifndef CUPOLA_SM
#ifdef __CUDA_ARCH__
#define CUPOLA_SM (__CUDA_ARCH__ / 10)
#else
#define CUPOLA_SM 0
#endif
#endif

namespace cupola {

using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using f32 = float;
using f64 = double;

/// IEEE 754 binary16, as its bits: what CUDA calls `__half`.
struct f16 {
    u16 bits;
};

/// The upper half of a binary32, as its bits: what CUDA calls `__nv_bfloat16`.
struct bf16 {
    u16 bits;
};

// ---------------------------------------------------------------------------------------------------
// Threads.

/// Index of this thread in its block.
CUPOLA_DEVICE u32 block_thread() { return CUPOLA_REGISTER(threadIdx, tid); }
/// Number of threads in a block.
CUPOLA_DEVICE u32 block_threads() { return CUPOLA_REGISTER(blockDim, ntid); }
/// Index of this block in the grid.
CUPOLA_DEVICE u32 grid_block() { return CUPOLA_REGISTER(blockIdx, ctaid); }
/// Number of blocks in the grid.
CUPOLA_DEVICE u32 grid_blocks() { return CUPOLA_REGISTER(gridDim, nctaid); }
/// Index of this thread in the grid.
CUPOLA_DEVICE u64 thread() { return (u64)grid_block() * block_threads() + block_thread(); }
/// Number of threads in the grid.
CUPOLA_DEVICE u64 threads() { return (u64)grid_blocks() * block_threads(); }

/// Calls `body(i)` for each i of begin..end once, each thread of the grid with its share.
template <typename Body>
CUPOLA_DEVICE void grid_stride(u64 begin, u64 end, Body body) {
#pragma unroll 1
    for (u64 i = begin + thread(); i < end; i += threads()) {
        body(i);
    }
}

// ---------------------------------------------------------------------------------------------------
// Programmatic dependent launch: a kernel that starts while the one before it on its stream still runs.
//
// A kernel that may be launched so calls `wait_for_predecessor` with all of its threads before any of them
// touches memory. Before sm_90 no kernel starts early, and both functions do nothing.

/// Waits until the kernels before this one on the stream have ended, and what they wrote is seen: those too that
/// they waited for. Nothing is waited for in a kernel that did not start early.
CUPOLA_DEVICE void wait_for_predecessor() {
#if CUPOLA_SM >= 90
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Lets the next kernel on the stream start once all blocks have come here or have ended, if it was launched to
/// start early. It waits for the end of this one before it touches memory, so any place is right. Behind
/// `wait_for_predecessor` is the best: before it, kernels that wait for each other could fill the device, and keep
/// from it a kernel of another stream that the first of them waits for.
CUPOLA_DEVICE void launch_dependents() {
#if CUPOLA_SM >= 90
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// ---------------------------------------------------------------------------------------------------
// Packs.

/// N elements that are moved together: N is a power of two, and a pack has at most 16 bytes.
template <typename T, u32 N>
struct alignas(sizeof(T) * N) Pack {
    static_assert(N > 0 && (N & (N - 1)) == 0, "a power of two");
    static_assert(sizeof(T) * N <= 16, "what one instruction moves");
    T lanes[N];
};

/// The most elements of types of these sizes that a pack can have.
template <typename First, typename... Rest>
CUPOLA_DEVICE constexpr u32 lanes_of() {
    u64 largest = sizeof(First);
    ((largest = sizeof(Rest) > largest ? sizeof(Rest) : largest), ...);
    return (u32)(16 / largest);
}

/// Whether a pack of N elements can be loaded from and stored to `address`.
template <u32 N, typename T>
CUPOLA_DEVICE bool is_pack(const T* address) {
    return (u64)address % (sizeof(T) * N) == 0;
}

#if defined(__clang__) && defined(__CUDA__)
namespace detail {

// clang makes one instruction of a vector's load for certain, and of a struct's not always.
template <typename T> struct Raw { using Type = T; };
template <> struct Raw<f16> { using Type = u16; };
template <> struct Raw<bf16> { using Type = u16; };
template <typename T, u32 N>
using Vector = typename Raw<T>::Type __attribute__((ext_vector_type(N)));

}  // namespace detail
#endif

/// N elements from `address`, for which `is_pack` holds.
template <u32 N, typename T>
CUPOLA_DEVICE Pack<T, N> load(const T* address) {
#if defined(__clang__) && defined(__CUDA__)
    auto vector = *(const detail::Vector<T, N>*)address;
    Pack<T, N> pack;
    for (u32 lane = 0; lane < N; lane++) {
        auto raw = vector[lane];
        __builtin_memcpy(&pack.lanes[lane], &raw, sizeof(T));
    }
    return pack;
#else
    return *(const Pack<T, N>*)address;
#endif
}

/// As `load`, of elements in global memory that no thread reads again, beside others that are read now: from
/// sm_90 on packs of 16 bytes take no room in the first cache, and the second fetches 256 bytes at once.
template <u32 N, typename T>
CUPOLA_DEVICE Pack<T, N> load_once(const T* address) { return load<N>(address); }

#if CUPOLA_SM >= 90
// Volatile, so that none is moved to before `wait_for_predecessor`.
#define CUPOLA_LOAD_4(T, type, constraint)                                                             \
    template <>                                                                                        \
    CUPOLA_DEVICE Pack<T, 4> load_once<4>(const T* address) {                                          \
        Pack<T, 4> pack;                                                                               \
        T* to = pack.lanes;                                                                            \
        asm volatile("ld.global.L1::no_allocate.L2::256B.v4." type " {%0, %1, %2, %3}, [%4];"          \
                     : constraint(to[0]), constraint(to[1]), constraint(to[2]), constraint(to[3])      \
                     : "l"(address));                                                                  \
        return pack;                                                                                   \
    }
CUPOLA_LOAD_4(f32, "f32", "=f")
CUPOLA_LOAD_4(i32, "s32", "=r")
CUPOLA_LOAD_4(u32, "u32", "=r")
#undef CUPOLA_LOAD_4
#define CUPOLA_LOAD_2(T, type, constraint)                                                             \
    template <>                                                                                        \
    CUPOLA_DEVICE Pack<T, 2> load_once<2>(const T* address) {                                          \
        Pack<T, 2> pack;                                                                               \
        T* to = pack.lanes;                                                                            \
        asm volatile("ld.global.L1::no_allocate.L2::256B.v2." type " {%0, %1}, [%2];"                  \
                     : constraint(to[0]), constraint(to[1])                                            \
                     : "l"(address));                                                                  \
        return pack;                                                                                   \
    }
CUPOLA_LOAD_2(f64, "f64", "=d")
CUPOLA_LOAD_2(i64, "s64", "=l")
CUPOLA_LOAD_2(u64, "u64", "=l")
#undef CUPOLA_LOAD_2
#endif

/// N elements to `address`, for which `is_pack` holds.
template <u32 N, typename T>
CUPOLA_DEVICE void store(T* address, const Pack<T, N>& pack) {
#if defined(__clang__) && defined(__CUDA__)
    detail::Vector<T, N> vector;
    for (u32 lane = 0; lane < N; lane++) {
        typename detail::Raw<T>::Type raw;
        __builtin_memcpy(&raw, &pack.lanes[lane], sizeof(T));
        vector[lane] = raw;
    }
    *(detail::Vector<T, N>*)address = vector;
#else
    *(Pack<T, N>*)address = pack;
#endif
}

/// Packs of each array that a thread of `map` loads before it uses the first of them. Loads of so many
/// bytes hide the latency of memory.
constexpr u32 PACKS_IN_FLIGHT = 4;

/// Elements up to the first at which a pack of N begins; N if none does.
template <u32 N, typename T>
CUPOLA_DEVICE u32 lead(const T* address) {
    u64 bytes = (0 - (u64)address) % (sizeof(T) * N);
    return bytes % sizeof(T) == 0 ? (u32)(bytes / sizeof(T)) : N;
}

/// `output[i] = f(inputs[i]...)` for each i of 0..n, by all threads of the grid, in blocks of `Threads`.
///
/// Where the arrays are so aligned that packs of N elements begin at the same i in all of them, they
/// are moved as packs, and else element by element. Blocks take tiles of `Threads * PACKS_IN_FLIGHT`
/// packs by turns, so a grid of as many blocks as there are tiles is best; any is right. `output` may be
/// one of the inputs; else it overlaps none of them.
template <u32 Threads, u32 N, typename Out, typename F, typename... In>
CUPOLA_DEVICE void map(u64 n, Out* output, F f, const In*... inputs);

// ---------------------------------------------------------------------------------------------------
// Conversions: `convert<To>(x)`, the same as Rust's `as`.
//
//   between floats     rounded once, to nearest, ties to even; too large becomes an infinity;
//                      subnormals are kept; a NaN gives a NaN, of any payload
//   integer to float   rounded once, to nearest, ties to even
//   float to integer   rounded towards zero; too large or too small gives the largest or the smallest
//                      integer, NaN gives 0
//   between integers   modulo 2^bits of `To`

namespace detail {

CUPOLA_DEVICE u32 bits_of(f32 x) {
    u32 bits;
    asm("mov.b32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
}
CUPOLA_DEVICE u64 bits_of(f64 x) {
    u64 bits;
    asm("mov.b64 %0, %1;" : "=l"(bits) : "d"(x));
    return bits;
}
CUPOLA_DEVICE f32 f32_of(u32 bits) {
    f32 x;
    asm("mov.b32 %0, %1;" : "=f"(x) : "r"(bits));
    return x;
}

CUPOLA_DEVICE f32 widen(f16 x) {
    f32 y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
}
CUPOLA_DEVICE f32 widen(bf16 x) { return f32_of((u32)x.bits << 16); }

CUPOLA_DEVICE f16 f16_of(f32 x) {
    f16 y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
}
CUPOLA_DEVICE f16 f16_of(f64 x) {
    f16 y;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(y.bits) : "d"(x));
    return y;
}

// By bits: the instruction is of sm_80. Adding half of the last place that stays, and one more where
// that place is odd, carries into it as rounding does, up to infinity.
CUPOLA_DEVICE bf16 bf16_of(f32 x) {
    u32 bits = bits_of(x);
    u32 rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return bf16{(u16)(x != x ? 0x7fff : rounded)};
}
// By way of an f32 that is rounded to odd: its last place says whether anything was lost, so that the
// second rounding is the only one.
CUPOLA_DEVICE bf16 bf16_of(f64 x) {
    f32 towards_zero;
    asm("cvt.rz.f32.f64 %0, %1;" : "=f"(towards_zero) : "d"(x));
    u32 lost = (f64)towards_zero != x ? 1 : 0;
    return bf16_of(x != x ? (f32)x : f32_of(bits_of(towards_zero) | lost));
}

// The instructions saturate, which a cast need not do; NaN gives 0 in some of them only.
CUPOLA_DEVICE i32 i32_of(f32 x) {
    i32 y;
    asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(y) : "f"(x));
    return x != x ? 0 : y;
}
CUPOLA_DEVICE i32 i32_of(f64 x) {
    i32 y;
    asm("cvt.rzi.s32.f64 %0, %1;" : "=r"(y) : "d"(x));
    return x != x ? 0 : y;
}
CUPOLA_DEVICE u32 u32_of(f32 x) {
    u32 y;
    asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(y) : "f"(x));
    return x != x ? 0 : y;
}
CUPOLA_DEVICE u32 u32_of(f64 x) {
    u32 y;
    asm("cvt.rzi.u32.f64 %0, %1;" : "=r"(y) : "d"(x));
    return x != x ? 0 : y;
}
CUPOLA_DEVICE i64 i64_of(f32 x) {
    i64 y;
    asm("cvt.rzi.s64.f32 %0, %1;" : "=l"(y) : "f"(x));
    return x != x ? 0 : y;
}
CUPOLA_DEVICE i64 i64_of(f64 x) {
    i64 y;
    asm("cvt.rzi.s64.f64 %0, %1;" : "=l"(y) : "d"(x));
    return x != x ? 0 : y;
}
CUPOLA_DEVICE u64 u64_of(f32 x) {
    u64 y;
    asm("cvt.rzi.u64.f32 %0, %1;" : "=l"(y) : "f"(x));
    return x != x ? 0 : y;
}
CUPOLA_DEVICE u64 u64_of(f64 x) {
    u64 y;
    asm("cvt.rzi.u64.f64 %0, %1;" : "=l"(y) : "d"(x));
    return x != x ? 0 : y;
}

CUPOLA_DEVICE i32 clamp(i32 x, i32 least, i32 most) { return x < least ? least : x > most ? most : x; }

/// A number as a type that C++ calculates with.
template <typename T>
CUPOLA_DEVICE T plain(T x) { return x; }
CUPOLA_DEVICE f32 plain(f16 x) { return widen(x); }
CUPOLA_DEVICE f32 plain(bf16 x) { return widen(x); }

/// Conversions from a number, which is not an f16 or a bf16, to `To`.
template <typename To>
struct Convert;

#define CUPOLA_TO_FLOAT(To)                                                                            \
    template <>                                                                                        \
    struct Convert<To> {                                                                               \
        template <typename From>                                                                       \
        static CUPOLA_DEVICE To from(From x) { return (To)x; }                                         \
    };
CUPOLA_TO_FLOAT(f32)
CUPOLA_TO_FLOAT(f64)
#undef CUPOLA_TO_FLOAT

#define CUPOLA_TO_HALF(To, convert)                                                                    \
    template <>                                                                                        \
    struct Convert<To> {                                                                               \
        static CUPOLA_DEVICE To from(f32 x) { return convert(x); }                                     \
        static CUPOLA_DEVICE To from(f64 x) { return convert(x); }                                     \
        /* Of 16 bits at most, which an f32 has exactly. */                                            \
        template <typename From>                                                                       \
        static CUPOLA_DEVICE To from(From x) {                                                         \
            static_assert(sizeof(From) <= 2, "by way of f32 or f64, which may round");                 \
            return convert((f32)x);                                                                    \
        }                                                                                              \
    };
CUPOLA_TO_HALF(f16, f16_of)
CUPOLA_TO_HALF(bf16, bf16_of)
#undef CUPOLA_TO_HALF

#define CUPOLA_TO_INTEGER(To, of_f32, of_f64)                                                          \
    template <>                                                                                        \
    struct Convert<To> {                                                                               \
        static CUPOLA_DEVICE To from(f32 x) { return (To)(of_f32); }                                   \
        static CUPOLA_DEVICE To from(f64 x) { return (To)(of_f64); }                                   \
        template <typename From>                                                                       \
        static CUPOLA_DEVICE To from(From x) { return (To)x; }                                         \
    };
CUPOLA_TO_INTEGER(i8, clamp(i32_of(x), -128, 127), clamp(i32_of(x), -128, 127))
CUPOLA_TO_INTEGER(u8, clamp(i32_of(x), 0, 255), clamp(i32_of(x), 0, 255))
CUPOLA_TO_INTEGER(i16, clamp(i32_of(x), -32768, 32767), clamp(i32_of(x), -32768, 32767))
CUPOLA_TO_INTEGER(u16, clamp(i32_of(x), 0, 65535), clamp(i32_of(x), 0, 65535))
CUPOLA_TO_INTEGER(i32, i32_of(x), i32_of(x))
CUPOLA_TO_INTEGER(u32, u32_of(x), u32_of(x))
CUPOLA_TO_INTEGER(i64, i64_of(x), i64_of(x))
CUPOLA_TO_INTEGER(u64, u64_of(x), u64_of(x))
#undef CUPOLA_TO_INTEGER

}  // namespace detail

/// `x` as a `To`, by the rules above. From integers of more than 16 bits to f16 and bf16 it does not
/// compile: convert to f32 or f64 first, and know that this rounds twice.
template <typename To, typename From>
CUPOLA_DEVICE To convert(From x) { return detail::Convert<To>::from(detail::plain(x)); }

// ---------------------------------------------------------------------------------------------------
// Operations, as functions and as types for `map` and `reduce`.
//
// Integers wrap. Floats round to nearest even, once for each operation.

/// The smaller and the larger. Of floats a NaN counts as missing, and -0 is smaller than +0: in any order
/// a set of numbers has one minimum.
template <typename T>
CUPOLA_DEVICE T smaller(T a, T b) { return b < a ? b : a; }
template <typename T>
CUPOLA_DEVICE T larger(T a, T b) { return a < b ? b : a; }

#define CUPOLA_FLOAT_ORDER(T, suffix, constraint)                                                      \
    template <>                                                                                        \
    CUPOLA_DEVICE T smaller(T a, T b) {                                                                \
        T y;                                                                                           \
        asm("min." suffix " %0, %1, %2;" : "=" constraint(y) : constraint(a), constraint(b));         \
        return y;                                                                                      \
    }                                                                                                  \
    template <>                                                                                        \
    CUPOLA_DEVICE T larger(T a, T b) {                                                                 \
        T y;                                                                                           \
        asm("max." suffix " %0, %1, %2;" : "=" constraint(y) : constraint(a), constraint(b));         \
        return y;                                                                                      \
    }
CUPOLA_FLOAT_ORDER(f32, "f32", "f")
CUPOLA_FLOAT_ORDER(f64, "f64", "d")
#undef CUPOLA_FLOAT_ORDER

/// `a * b + c`, of floats rounded once.
template <typename T>
CUPOLA_DEVICE T fused(T a, T b, T c) { return (T)((u64)a * (u64)b + (u64)c); }
template <>
CUPOLA_DEVICE f32 fused(f32 a, f32 b, f32 c) {
    f32 y;
    asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(y) : "f"(a), "f"(b), "f"(c));
    return y;
}
template <>
CUPOLA_DEVICE f64 fused(f64 a, f64 b, f64 c) {
    f64 y;
    asm("fma.rn.f64 %0, %1, %2, %3;" : "=d"(y) : "d"(a), "d"(b), "d"(c));
    return y;
}

namespace detail {

// Signed integers wrap as unsigned ones do; C++ would leave that open.
template <typename T> struct Wrapping { using Type = T; };
template <> struct Wrapping<i32> { using Type = u32; };
template <> struct Wrapping<i64> { using Type = u64; };
template <typename T> using Wrap = typename Wrapping<T>::Type;

}  // namespace detail

template <typename T> struct Add {
    CUPOLA_DEVICE T operator()(T a, T b) const { using W = detail::Wrap<T>; return (T)((W)a + (W)b); }
};
template <typename T> struct Sub {
    CUPOLA_DEVICE T operator()(T a, T b) const { using W = detail::Wrap<T>; return (T)((W)a - (W)b); }
};
template <typename T> struct Mul {
    CUPOLA_DEVICE T operator()(T a, T b) const { using W = detail::Wrap<T>; return (T)((W)a * (W)b); }
};
/// Of floats; a division of integers has operands without a result.
template <typename T> struct Div {
    CUPOLA_DEVICE T operator()(T a, T b) const { return a / b; }
};
template <typename T> struct Min {
    CUPOLA_DEVICE T operator()(T a, T b) const { return smaller<T>(a, b); }
};
template <typename T> struct Max {
    CUPOLA_DEVICE T operator()(T a, T b) const { return larger<T>(a, b); }
};
template <typename T> struct Neg {
    CUPOLA_DEVICE T operator()(T a) const { using W = detail::Wrap<T>; return (T)(0 - (W)a); }
};
template <> struct Neg<f32> {
    CUPOLA_DEVICE f32 operator()(f32 a) const { return -a; }
};
template <> struct Neg<f64> {
    CUPOLA_DEVICE f64 operator()(f64 a) const { return -a; }
};
/// Of the smallest integer it is the smallest integer.
template <typename T> struct Abs {
    CUPOLA_DEVICE T operator()(T a) const { return a < 0 ? Neg<T>()(a) : a; }
};
template <> struct Abs<f32> {
    CUPOLA_DEVICE f32 operator()(f32 a) const { return detail::f32_of(detail::bits_of(a) & 0x7fffffff); }
};
template <> struct Abs<f64> {
    CUPOLA_DEVICE f64 operator()(f64 a) const {
        f64 y;
        asm("abs.f64 %0, %1;" : "=d"(y) : "d"(a));
        return y;
    }
};
template <typename T> struct Fma {
    CUPOLA_DEVICE T operator()(T a, T b, T c) const { return fused<T>(a, b, c); }
};
/// `a * x + y`.
template <typename T> struct Axpy {
    T a;
    CUPOLA_DEVICE T operator()(T x, T y) const { return fused<T>(a, x, y); }
};
/// `convert<To>`.
template <typename To> struct ConvertTo {
    template <typename From>
    CUPOLA_DEVICE To operator()(From x) const { return convert<To>(x); }
};

/// `f(x, value)` of one operand.
template <typename F, typename T> struct With {
    F f;
    T value;
    CUPOLA_DEVICE T operator()(T x) const { return f(x, value); }
};

// ---------------------------------------------------------------------------------------------------
// Reductions.

/// What every value is before when the least, or the largest, is looked for, or equals: NaN among floats.
template <typename T> struct Nothing {
    static CUPOLA_DEVICE T least() { return (T)detail::f32_of(0x7fffffff); }
    static CUPOLA_DEVICE T largest() { return (T)detail::f32_of(0x7fffffff); }
};
template <> struct Nothing<i32> {
    static CUPOLA_DEVICE i32 least() { return 0x7fffffff; }
    static CUPOLA_DEVICE i32 largest() { return -0x7fffffff - 1; }
};
template <> struct Nothing<i64> {
    static CUPOLA_DEVICE i64 least() { return 0x7fffffffffffffff; }
    static CUPOLA_DEVICE i64 largest() { return -0x7fffffffffffffff - 1; }
};
template <> struct Nothing<u32> {
    static CUPOLA_DEVICE u32 least() { return ~0u; }
    static CUPOLA_DEVICE u32 largest() { return 0; }
};
template <> struct Nothing<u64> {
    static CUPOLA_DEVICE u64 least() { return ~0ull; }
    static CUPOLA_DEVICE u64 largest() { return 0; }
};

namespace detail {

/// What this thread wrote before, all threads of the device see that see what it writes afterwards.
CUPOLA_DEVICE void device_fence() {
#if CUPOLA_SM >= 70
    // Enough for that, where `__threadfence` also puts all fences in one order.
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
#elif defined(__clang__) && defined(__CUDA__)
    __nvvm_membar_gl();
#else
    __threadfence();
#endif
}
/// Copies so many bytes, which do not overlap.
CUPOLA_DEVICE void copy_bytes(void* to, const void* from, decltype(sizeof(0)) bytes) {
#if defined(__clang__) && defined(__CUDA__)
    __builtin_memcpy(to, from, bytes);
#else
    // NVRTC knows it by this name alone.
    memcpy(to, from, bytes);
#endif
}
/// The value of the thread that is `distance` further on in this warp, whose threads of `mask` all come here. Of no use
/// where there is no such thread.
template <typename T>
CUPOLA_DEVICE T from_further_on(u32 mask, T value, u32 distance) {
    constexpr u32 words = (sizeof(T) + sizeof(u32) - 1) / sizeof(u32);
    u32 parts[words] = {};
    copy_bytes(parts, &value, sizeof(T));
#pragma unroll
    for (u32 i = 0; i < words; i++) {
#if defined(__clang__) && defined(__CUDA__)
        parts[i] = (u32)__nvvm_shfl_sync_down_i32(mask, (int)parts[i], distance, 31);
#else
        parts[i] = __shfl_down_sync(mask, parts[i], distance);
#endif
    }
    copy_bytes(&value, parts, sizeof(T));
    return value;
}
#if CUPOLA_SM >= 80
/// The least value among the threads of this warp, all of which come here.
CUPOLA_DEVICE u32 warp_min(u32 value) {
    u32 least;
    asm volatile("redux.sync.min.u32 %0, %1, 0xffffffff;" : "=r"(least) : "r"(value));
    return least;
}
#endif
/// A barrier of the block: whether any thread brought `vote`.
CUPOLA_DEVICE bool block_any(bool vote) {
#if defined(__clang__) && defined(__CUDA__)
    return __nvvm_bar0_or(vote) != 0;
#else
    return __syncthreads_or(vote) != 0;
#endif
}
#if CUPOLA_SM >= 70
/// Words that other threads of the device load and store at the same time: each as a whole, in no order.
template <u32 Words>
CUPOLA_DEVICE void load_relaxed(u64 (&words)[Words], const u64* address) {
    if constexpr (Words == 1) {
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(words[0]) : "l"(address) : "memory");
    } else {
#pragma unroll
        for (u32 w = 0; w < Words; w += 2) {
            asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                         : "=l"(words[w]), "=l"(words[w + 1])
                         : "l"(address + w)
                         : "memory");
        }
    }
}
template <u32 Words>
CUPOLA_DEVICE void store_relaxed(u64* address, const u64 (&words)[Words]) {
    if constexpr (Words == 1) {
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(words[0]) : "memory");
    } else {
#pragma unroll
        for (u32 w = 0; w < Words; w += 2) {
            asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(address + w), "l"(words[w]),
                         "l"(words[w + 1])
                         : "memory");
        }
    }
}
#endif
/// Adds one to `*counter`, which is set to zero where it was `last`. What it was before.
CUPOLA_DEVICE u32 increment_or_wrap(u32* counter, u32 last) {
#if defined(__clang__) && defined(__CUDA__)
    return __nvvm_atom_inc_gen_ui(counter, last);
#else
    return atomicInc(counter, last);
#endif
}

}  // namespace detail

/// The reduction of one value for each thread of a block, in all bits the same in every run: for halves of
/// `Threads`, thread t takes its value and that of thread t + half. Thread 0 gets the result; what the
/// others get is of no use. All threads of the block call it, `Threads` of them, a power of two.
/// `lanes` is shared memory of as many elements, which may be used again when all threads are past a
/// `__syncthreads()`.
template <u32 Threads, typename T, typename F>
CUPOLA_DEVICE T block_reduce(T value, F f, T* lanes) {
    static_assert(Threads > 0 && (Threads & (Threads - 1)) == 0, "a power of two");
    // One warp does it all: a barrier of the block costs more than what the other warps could do.
    constexpr u32 warp = Threads < 32 ? Threads : 32;
    constexpr u32 warps = Threads / warp;
    u32 t = block_thread();
    lanes[t] = value;
    __syncthreads();
    if (t < warp) {
        T values[warps];
#pragma unroll
        for (u32 w = 0; w < warps; w++) {
            values[w] = lanes[t + w * warp];
        }
#pragma unroll
        for (u32 half = warps / 2; half > 0; half /= 2) {
#pragma unroll
            for (u32 w = 0; w < half; w++) {
                values[w] = f(values[w], values[w + half]);
            }
        }
        value = values[0];
#pragma unroll
        for (u32 half = warp / 2; half > 0; half /= 2) {
            value = f(value, detail::from_further_on(0xffffffffu >> (32 - warp), value, half));
        }
    }
    return value;
}

/// Whether this block is the last of the grid that comes here; all threads of it get the same answer, and
/// then see what thread 0 of each block wrote before. All threads of all blocks call it once.
///
/// `*arrived` is zero before the launch, and again when the last block has come: launches that follow each
/// other can use it without anything between them. Launches at the same time need one each.
CUPOLA_DEVICE bool is_last_block(u32* arrived) {
    bool last = false;
    if (block_thread() == 0) {
        // This fence is for what the block wrote, the second for what the last one is going to read.
        detail::device_fence();
        last = detail::increment_or_wrap(arrived, grid_blocks() - 1) == grid_blocks() - 1;
        if (last) {
            detail::device_fence();
        }
    }
    return detail::block_any(last);
}

/// Bytes of a grid's scratch memory before the partial results.
constexpr u32 SCRATCH_HEAD = 16;

/// The values that the blocks of a grid leave, one each, and that one block takes.
///
/// `T` is copied by its bytes: up to 4, or 8 or 16 of them. `scratch` begins at a multiple of 16 bytes, and has `SCRATCH_HEAD` bytes
/// and for each block twice those of `T`, at least 8, all of them zero. They are zero again when the grid has ended, if each block's
/// value was taken: launches that follow each other can use it without anything between them. Launches at the same time need one
/// each: with one for both, a block may wait for ever.
///
/// From sm_70 on the block that takes all is the last to begin. It waits for what the others leave: each word of that has a mark
/// beside 32 bits of the value, so there is neither a fence nor a count on the way. All others have begun before, and so
/// come to their end. Before sm_70, where a thread that waits may keep others from going on, it is the last to end.
template <typename T>
class Partials {
    static constexpr u32 WORDS = (sizeof(T) + sizeof(u32) - 1) / sizeof(u32);
    static_assert(WORDS == 1 || WORDS == 2 || WORDS == 4, "up to 4 bytes, 8 or 16");

    u32* arrived;
#if CUPOLA_SM >= 70
    static constexpr u64 MARK = 1ull << 32;

    // Of thread 0. It is looked at when the loads behind it are there, so no thread waits for it.
    u32 place;

    CUPOLA_DEVICE u64* slot(u32 block) const { return (u64*)((u8*)arrived + SCRATCH_HEAD) + (u64)block * WORDS; }
#else
    CUPOLA_DEVICE T* slot(u32 block) const { return (T*)((u8*)arrived + SCRATCH_HEAD) + block; }
#endif

public:
    /// All threads of all blocks come here, behind `wait_for_predecessor` and before what they have to do. A grid of one
    /// block does not touch its scratch memory here.
    CUPOLA_DEVICE explicit Partials(void* scratch) : arrived((u32*)scratch) {
#if CUPOLA_SM >= 70
        place = 0;
        if (block_thread() == 0 && grid_blocks() > 1) {
            place = detail::increment_or_wrap(arrived, grid_blocks() - 1);
        }
#endif
    }

    /// Leaves thread 0's value of this block. Whether this block is the one that takes all: all threads of it get the same
    /// answer. All threads of all blocks come here once; it is a barrier of the block.
    CUPOLA_DEVICE bool leave(T value) {
#if CUPOLA_SM >= 70
        if (block_thread() == 0) {
            u32 parts[WORDS] = {};
            detail::copy_bytes(parts, &value, sizeof(T));
            u64 words[WORDS];
#pragma unroll
            for (u32 w = 0; w < WORDS; w++) {
                words[w] = MARK | parts[w];
            }
            detail::store_relaxed(slot(grid_block()), words);
        }
        return detail::block_any(block_thread() == 0 && place == grid_blocks() - 1);
#else
        if (block_thread() == 0) {
            *slot(grid_block()) = value;
        }
        return is_last_block(arrived);
#endif
    }

    /// What these blocks left, for one thread of the block that takes all: each is taken by one call. A block may be named more
    /// than once in that.
    template <u32 N>
    CUPOLA_DEVICE void take(const u32 (&blocks)[N], T (&values)[N]) {
#if CUPOLA_SM >= 70
        u64 words[N][WORDS];
        u64 marks;
        do {
            marks = MARK;
#pragma unroll
            for (u32 i = 0; i < N; i++) {
                detail::load_relaxed(words[i], slot(blocks[i]));
            }
#pragma unroll
            for (u32 i = 0; i < N; i++) {
#pragma unroll
                for (u32 w = 0; w < WORDS; w++) {
                    marks &= words[i][w];
                }
            }
        } while (marks == 0);
        const u64 nothing[WORDS] = {};
#pragma unroll
        for (u32 i = 0; i < N; i++) {
            detail::store_relaxed(slot(blocks[i]), nothing);
            u32 parts[WORDS];
#pragma unroll
            for (u32 w = 0; w < WORDS; w++) {
                parts[w] = (u32)words[i][w];
            }
            detail::copy_bytes(&values[i], parts, sizeof(T));
        }
#else
#pragma unroll
        for (u32 i = 0; i < N; i++) {
            values[i] = *slot(blocks[i]);
        }
#pragma unroll
        for (u32 i = 0; i < N; i++) {
            const u32 nothing[WORDS] = {};
            T zero;
            detail::copy_bytes(&zero, nothing, sizeof(T));
            *slot(blocks[i]) = zero;
        }
#endif
    }
};

namespace detail {

/// What each thread of a block has of its share, one for each place in a pack: by `f` beside what is there.
template <u32 Threads, u32 N, typename T, typename F>
CUPOLA_DEVICE void reduce_share(T (&values)[N], u64 n, const T* input, F f) {
    constexpr u32 tile = Threads * N * PACKS_IN_FLIGHT;
    u64 whole = is_pack<N>(input) ? n / tile : 0;
    u64 k = grid_block();
#pragma unroll 1
    for (; k < whole; k += grid_blocks()) {
        u64 at = k * tile + block_thread() * N;
        Pack<T, N> packs[PACKS_IN_FLIGHT];
#pragma unroll
        for (u32 p = 0; p < PACKS_IN_FLIGHT; p++) {
            packs[p] = load_once<N>(input + at + p * Threads * N);
        }
#pragma unroll
        for (u32 p = 0; p < PACKS_IN_FLIGHT; p++) {
#pragma unroll
            for (u32 lane = 0; lane < N; lane++) {
                values[lane] = f(values[lane], packs[p].lanes[lane]);
            }
        }
    }
    // The last tile, or all of an input where no packs begin: by itself, so that what it needs takes no registers
    // of the loop above.
#pragma unroll 1
    for (; k * tile < n; k += grid_blocks()) {
        u64 at = k * tile + block_thread() * N;
        // Behind the last element it is loaded once more, and left out: so the loads of a pack wait for nothing.
#pragma unroll 1
        for (u32 p = 0; p < PACKS_IN_FLIGHT && at < n; p++, at += Threads * N) {
            Pack<T, N> pack;
#pragma unroll
            for (u32 lane = 0; lane < N; lane++) {
                pack.lanes[lane] = input[at + lane < n ? at + lane : n - 1];
            }
#pragma unroll
            for (u32 lane = 0; lane < N; lane++) {
                T with = f(values[lane], pack.lanes[lane]);
                values[lane] = at + lane < n ? with : values[lane];
            }
        }
    }
}

/// The reduction of what the threads of a block have, for thread 0.
template <u32 Threads, u32 N, typename T, typename F>
CUPOLA_DEVICE T reduce_values(T (&values)[N], F f, T* lanes) {
#pragma unroll
    for (u32 half = N / 2; half > 0; half /= 2) {
#pragma unroll
        for (u32 lane = 0; lane < half; lane++) {
            values[lane] = f(values[lane], values[lane + half]);
        }
    }
    return block_reduce<Threads>(values[0], f, lanes);
}

template <u32 N, typename T>
CUPOLA_DEVICE void set_all(T (&values)[N], T value) {
#pragma unroll
    for (u32 lane = 0; lane < N; lane++) {
        values[lane] = value;
    }
}

}  // namespace detail

/// What thread 0 of a block gets is the reduction of the block's share of n elements; `identity` is what
/// changes no value. The order is fixed by n, N, `Threads` and the number of blocks alone: neither by the
/// alignment of `input` nor by the device.
///
/// Pack p is elements p*N to p*N+N-1, from the first element on, and tile k is packs k*T to k*T+T-1, where
/// T is `Threads * PACKS_IN_FLIGHT`. Block b takes the tiles b, b + blocks, ...; in each of them thread t
/// takes the packs t, t + Threads, ...; it reduces the elements at each place of its packs in this order,
/// beginning with `identity`. Then it reduces its N values by halves, place i with i + N/2, and the block
/// its threads as `block_reduce` does.
template <u32 Threads, u32 N, typename T, typename F>
CUPOLA_DEVICE T reduce(u64 n, const T* input, T identity, F f, T* lanes) {
    T values[N];
    detail::set_all(values, identity);
    detail::reduce_share<Threads>(values, n, input, f);
    return detail::reduce_values<Threads>(values, f, lanes);
}

/// `*result` is the reduction of n elements: of each block what `reduce` gives it, and of these results, in
/// the order of the blocks, what `reduce` gives a grid of one block. One block does that for all, so
/// one launch is enough, and the order depends on n, N, `Threads` and the number of blocks alone.
///
/// `scratch` is as `Partials` has it; a grid of one block does not touch it. `lanes` as for `reduce`.
template <u32 Threads, u32 N, typename T, typename F>
CUPOLA_DEVICE void reduce_grid(u64 n, const T* input, T identity, F f, T* lanes, void* scratch, T* result) {
    Partials<T> partials(scratch);
    T values[N];
    detail::set_all(values, identity);
    detail::reduce_share<Threads>(values, n, input, f);
    // Once, or twice in the block that takes all: one text for both.
#pragma unroll 1
    for (u32 left = grid_blocks();; left = 1) {
        T value = detail::reduce_values<Threads>(values, f, lanes);
        if (left == 1) {
            if (block_thread() == 0) {
                *result = value;
            }
            return;
        }
        if (!partials.leave(value)) {
            return;
        }
        detail::set_all(values, identity);
#pragma unroll 1
        for (u32 at = block_thread() * N; at < grid_blocks(); at += Threads * N) {
            u32 blocks[N];
#pragma unroll
            for (u32 lane = 0; lane < N; lane++) {
                blocks[lane] = at + lane < grid_blocks() ? at + lane : at;
            }
            T some[N];
            partials.take(blocks, some);
#pragma unroll
            for (u32 lane = 0; lane < N; lane++) {
                T with = f(values[lane], some[lane]);
                values[lane] = at + lane < grid_blocks() ? with : values[lane];
            }
        }
    }
}

namespace detail {

/// Packs of one array, as many as are in flight.
template <u32 Threads, typename T, u32 N>
struct Loaded {
    Pack<T, N> packs[PACKS_IN_FLIGHT];
    CUPOLA_DEVICE explicit Loaded(const T* address) {
#pragma unroll
        for (u32 p = 0; p < PACKS_IN_FLIGHT; p++) {
            packs[p] = load<N>(address + p * Threads * N);
        }
    }
};

template <u32 Threads, u32 N, typename F, typename Out, typename... In>
CUPOLA_DEVICE void map_tile(Out* output, F f, const Loaded<Threads, In, N>&... inputs) {
#pragma unroll
    for (u32 p = 0; p < PACKS_IN_FLIGHT; p++) {
        Pack<Out, N> result;
#pragma unroll
        for (u32 lane = 0; lane < N; lane++) {
            result.lanes[lane] = f(inputs.packs[p].lanes[lane]...);
        }
        store<N>(output + p * Threads * N, result);
    }
}

}  // namespace detail

template <u32 Threads, u32 N, typename Out, typename F, typename... In>
CUPOLA_DEVICE void map(u64 n, Out* output, F f, const In*... inputs) {
    constexpr u32 tile = Threads * N * PACKS_IN_FLIGHT;
    u32 head = lead<N>(output);
    bool aligned = head < N && (... && (lead<N>(inputs) == head));
    u64 first = aligned && head < n ? head : n;
    u64 tiles = (n - first) / tile;
#pragma unroll 1
    for (u64 k = grid_block(); k < tiles; k += grid_blocks()) {
        u64 at = first + k * tile + block_thread() * N;
        detail::map_tile<Threads, N>(output + at, f, detail::Loaded<Threads, In, N>(inputs + at)...);
    }
    // Before the tiles and behind them.
    u64 tiled = tiles * tile;
    grid_stride(0, n - tiled, [&](u64 i) {
        u64 at = i < first ? i : i + tiled;
        output[at] = f(inputs[at]...);
    });
}

}  // namespace cupola
