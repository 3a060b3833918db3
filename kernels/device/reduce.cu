// Sums of n elements, in an order fixed by n and the grid alone.
//
// Order:   that of `reduce_grid` in cupola.cuh, in packs of 16 bytes, beginning with zero. The same grid
//          therefore gives the same bits on every device, whatever the alignment. Floats round each
//          addition to nearest even; integers wrap, so signed ones are summed as unsigned ones.
// Launch:  exactly 256 threads a block (x), any grid (x); no dynamic shared memory.
// Early:   from sm_90 on it waits for the kernel before it, see cupola.cuh.
// Memory:  input is n elements and result is one, naturally aligned. scratch is 16 bytes and 32 for each
//          block, at a multiple of 16, zero before the launch and after it, and of one launch at a time. A
//          grid of one block does not touch it. result is overwritten; with n = 0 it becomes zero.
#include "cupola.cuh"
#include "prelude.cuh"

using namespace cupola;

#define THREADS 256
// Blocks that a multiprocessor is to hold at once: 40 registers a thread, which are enough.
#define RESIDENT 6

#define SUM(T)                                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)                            \
    cupola_reduce_sum_##T(const T* input, u64 n, void* scratch, T* result) {                   \
        __shared__ T lanes[THREADS];                                                           \
        wait_for_predecessor();                                                                \
        launch_dependents();                                                                   \
        reduce_grid<THREADS, lanes_of<T>()>(n, input, (T)0, Add<T>(), lanes, scratch, result); \
    }

SUM(f32)
SUM(f64)
SUM(u32)
SUM(u64)
