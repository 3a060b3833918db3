// Sums of n elements, in an order fixed by n and the grid alone: partials[b] is the sum
// of what block b saw. A second launch of one block over the partials gives the total.
//
// Order:   that of `reduce` in cupola.cuh, in packs of 16 bytes, beginning with zero. The same grid
//          therefore gives the same bits on every device, whatever the alignment. Floats round each
//          addition to nearest even; integers wrap, so signed ones are summed as unsigned ones.
// Launch:  exactly 256 threads a block (x), any grid (x); no dynamic shared memory.
// Memory:  input is n elements, partials one element a block, both naturally aligned.
//          partials is overwritten, not accumulated; with n = 0 it becomes zero.
#include "cupola.cuh"
#include "prelude.cuh"

using namespace cupola;

#define THREADS 256

#define SUM(T)                                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS)                                      \
    cupola_reduce_sum_##T(const T* __restrict__ input, u64 n, T* __restrict__ partials) {      \
        __shared__ T lanes[THREADS];                                                           \
        T sum = reduce<THREADS, lanes_of<T>()>(n, input, (T)0, Add<T>(), lanes);               \
        if (block_thread() == 0) {                                                             \
            partials[grid_block()] = sum;                                                      \
        }                                                                                      \
    }

SUM(f32)
SUM(f64)
SUM(u32)
SUM(u64)
