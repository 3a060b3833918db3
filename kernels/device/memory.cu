// Fill and copy of any bytes.
//
// Launch:  exactly 256 threads a block (x), any grid (x), best one block for each 16 KiB; no dynamic
//          shared memory.
// Memory:  any alignment. Whole 16-byte units are moved at once, and bytes at the edges by themselves.
//          A copy moves units as large as both ends allow: 16 bytes where they are equally far from a
//          multiple of 16, else 4 or 1. The ends of a copy do not overlap.
#include "cupola.cuh"
#include "prelude.cuh"

using namespace cupola;

#define THREADS 256

struct Same {
    template <typename T>
    CUPOLA_DEVICE T operator()(T x) const { return x; }
};

// output[i] = byte i mod 16 of the pattern. It is that of the first aligned unit: a caller turns it by
// as many bytes as are before that.
extern "C" __global__ void __launch_bounds__(THREADS)
cupola_fill(u64 bytes, u8* output, u64 low, u64 high) {
    u64 head = lead<16>(output);
    if (head > bytes) {
        head = bytes;
    }
    u64 units = (bytes - head) / 16;
    Pack<u64, 2> unit = {{low, high}};
    u64* body = (u64*)(output + head);
    constexpr u64 tile = THREADS * PACKS_IN_FLIGHT;
    u64 tiles = units / tile;
#pragma unroll 1
    for (u64 k = grid_block(); k < tiles; k += grid_blocks()) {
#pragma unroll
        for (u32 p = 0; p < PACKS_IN_FLIGHT; p++) {
            store<2>(body + 2 * (k * tile + p * THREADS + block_thread()), unit);
        }
    }
    grid_stride(tiles * tile, units, [&](u64 i) { store<2>(body + 2 * i, unit); });
    // At most 15 bytes before the units, and at most 15 behind them.
    u64 tail = head + units * 16;
    grid_stride(0, head + (bytes - tail), [&](u64 i) {
        u64 at = i < head ? i : tail + (i - head);
        u32 place = (u32)(at - head) & 15;
        output[at] = (u8)((place < 8 ? low : high) >> (8 * (place & 7)));
    });
}

extern "C" __global__ void __launch_bounds__(THREADS)
cupola_copy(u64 bytes, const u8* __restrict__ input, u8* __restrict__ output) {
    u64 apart = (u64)input ^ (u64)output;
    // Words that begin at multiples of their size in both ends, if any do, and the other bytes.
    u64 head = apart % 4 == 0 ? lead<4>(output) : bytes;
    if (head > bytes) {
        head = bytes;
    }
    u64 words = (bytes - head) / 4;
    map<THREADS, 4>(words, (u32*)(output + head), Same(), (const u32*)(input + head));
    u64 tail = head + words * 4;
    grid_stride(0, head + (bytes - tail), [&](u64 i) {
        u64 at = i < head ? i : tail + (i - head);
        output[at] = input[at];
    });
}
