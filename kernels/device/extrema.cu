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
