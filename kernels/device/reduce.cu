// Sums of n elements, in an order fixed by n and the grid alone: partials[b] is the sum
// of what block b saw. A second launch of one block over the partials gives the total.
//
// Order:   thread t of block b adds elements b*256+t, then +grid*256, and so on, to
//          zero; then lane t adds lane t+128, t+64, ... t+1. The same grid therefore
//          gives the same bits on every device. f32 rounds each addition to nearest
//          even; u64 wraps modulo 2^64.
// Launch:  exactly 256 threads a block (x), any grid (x); no dynamic shared memory.
// Memory:  input is n elements, partials one element a block, both naturally aligned.
//          partials is overwritten, not accumulated; with n = 0 it becomes zero.
#include "prelude.cuh"

#define THREADS 256

template <typename T>
static __device__ __forceinline__ void block_sum(const T* input, u64 n, T* partials, T* lanes) {
    u32 t = threadIdx.x;
    T sum = 0;
    for (u64 i = grid_thread(); i < n; i += grid_threads()) {
        sum += input[i];
    }
    lanes[t] = sum;
    __syncthreads();
#pragma unroll 1
    for (u32 half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            lanes[t] += lanes[t + half];
        }
        __syncthreads();
    }
    if (t == 0) {
        partials[blockIdx.x] = lanes[0];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
cupola_reduce_sum_f32(const float* input, u64 n, float* partials) {
    __shared__ float lanes[THREADS];
    block_sum(input, n, partials, lanes);
}

extern "C" __global__ void __launch_bounds__(THREADS)
cupola_reduce_sum_u64(const u64* input, u64 n, u64* partials) {
    __shared__ u64 lanes[THREADS];
    block_sum(input, n, partials, lanes);
}
