// counts[v] += number of bytes of value v in data[0..len].
//
// Each warp's worth of threads counts into its own 256 bins in shared memory, so that
// runs of one value do not make the whole block wait on one bin; the block then adds
// its sums to the global counters, one atomic per non-empty bin.
//
// Launch:  at most 256 threads a block (x), any grid (x); no dynamic shared memory.
//          A block's bins are 32 bits wide: no block may see 2^32 bytes or more, so
//          the grid needs at least len / 2^31 blocks.
// Memory:  data is len bytes of any alignment: whole 16-byte units are read at once,
//          the bytes before the first and after the last one by one. counts is 256 u64,
//          8-byte aligned; it is accumulated, so zero it for a fresh count.
#include "prelude.cuh"

#define THREADS 256
#define BINS 256
#define COPIES (THREADS / 32)

static __device__ __forceinline__ void count_word(u32* bins, u32 word) {
    atomicAdd(&bins[word & 255], 1u);
    atomicAdd(&bins[(word >> 8) & 255], 1u);
    atomicAdd(&bins[(word >> 16) & 255], 1u);
    atomicAdd(&bins[word >> 24], 1u);
}

extern "C" __global__ void __launch_bounds__(THREADS)
cupola_histogram(const u8* data, u64 len, u64* counts) {
    __shared__ u32 bins[COPIES * BINS];
    for (u32 i = threadIdx.x; i < COPIES * BINS; i += blockDim.x) {
        bins[i] = 0;
    }
    __syncthreads();

    u32* mine = bins + (threadIdx.x / 32) * BINS;
    u64 thread = grid_thread();
    u64 threads = grid_threads();

    // Bytes up to the first 16-byte boundary, at most all of them.
    u64 head = (16 - ((u64)data & 15)) & 15;
    if (head > len) {
        head = len;
    }
    u64 units = (len - head) / 16;
    u64 tail = head + units * 16;

    const uint4* body = (const uint4*)(data + head);
    for (u64 i = thread; i < units; i += threads) {
        uint4 unit = body[i];
        count_word(mine, unit.x);
        count_word(mine, unit.y);
        count_word(mine, unit.z);
        count_word(mine, unit.w);
    }
    for (u64 i = thread; i < head; i += threads) {
        atomicAdd(&mine[data[i]], 1u);
    }
    for (u64 i = tail + thread; i < len; i += threads) {
        atomicAdd(&mine[data[i]], 1u);
    }
    __syncthreads();

    for (u32 bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        u32 sum = 0;
        for (u32 copy = 0; copy < COPIES; copy++) {
            sum += bins[copy * BINS + bin];
        }
        if (sum != 0) {
            atomicAdd(&counts[bin], (u64)sum);
        }
    }
}
