// The least and the largest of n elements.
//
// Of floats a NaN counts as missing, and -0 is smaller than +0; so the order does not matter, and every
// grid gives the same bits. Of no elements, or of NaNs alone, the result is NaN. Of no integers the least
// is the largest there is, and the largest the smallest.
//
// Launch and memory as in reduce.cu.
#include "cupola.cuh"
#include "prelude.cuh"

using namespace cupola;

#define THREADS 256
// Blocks that a multiprocessor is to hold at once: 40 registers a thread, which are enough.
#define RESIDENT 6

// What changes no other value: NaN among floats.
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

#define EXTREME(name, Op, nothing, T)                                                          \
    extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)                            \
    cupola_reduce_##name##_##T(const T* input, u64 n, void* scratch, T* result) {              \
        __shared__ T lanes[THREADS];                                                           \
        wait_for_predecessor();                                                                \
        launch_dependents();                                                                   \
        T none = Nothing<T>::nothing();                                                        \
        reduce_grid<THREADS, lanes_of<T>()>(n, input, none, Op<T>(), lanes, scratch, result);  \
    }

#define EXTREMA(T)                 \
    EXTREME(min, Min, least, T)    \
    EXTREME(max, Max, largest, T)

EXTREMA(f32)
EXTREMA(f64)
EXTREMA(i32)
EXTREMA(i64)
EXTREMA(u32)
EXTREMA(u64)
