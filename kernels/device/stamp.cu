// Marks a block of memory at sampled offsets, and later checks the marks: two live blocks
// that share an address, or a block handed out again too early, show as wrong bytes.
//
// Samples: SAMPLES offsets spread evenly from the first byte to the last, both included
//          (a block of fewer bytes is covered whole). The byte at offset o is a mix of
//          the seed and o, so a neighbour's stamp or a shifted one does not pass.
// Launch:  one block of 64 threads (x); no dynamic shared memory.
// Memory:  `block` is `bytes` bytes at any alignment; bytes = 0 does nothing. cupola_check
//          adds the number of wrong samples to *wrong, atomically: set it to zero first.
#include "prelude.cuh"

#define SAMPLES 64

static __device__ __forceinline__ u64 sample_offset(u32 sample, u64 bytes) {
    // bytes < 2^57 keeps the product in range; a device has less than that.
    return bytes <= SAMPLES ? sample : sample * (bytes - 1) / (SAMPLES - 1);
}

static __device__ __forceinline__ u8 sample_byte(u64 seed, u64 offset) {
    u64 x = seed ^ (offset * 0x9e3779b97f4a7c15ull);
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    x ^= x >> 32;
    return (u8)x;
}

extern "C" __global__ void __launch_bounds__(SAMPLES)
cupola_stamp(u8* block, u64 bytes, u64 seed) {
    u64 offset = sample_offset(threadIdx.x, bytes);
    if (offset < bytes) {
        block[offset] = sample_byte(seed, offset);
    }
}

extern "C" __global__ void __launch_bounds__(SAMPLES)
cupola_check(const u8* block, u64 bytes, u64 seed, u64* wrong) {
    u64 offset = sample_offset(threadIdx.x, bytes);
    if (offset < bytes && block[offset] != sample_byte(seed, offset)) {
        atomicAdd(wrong, (u64)1);
    }
}
