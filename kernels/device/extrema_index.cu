// Where the least and the largest of n elements are: the index of the first of them, or 2^64 - 1 if there
// is none.
//
// Of floats a NaN counts as missing, and -0 equals +0. The order does not matter, because of equals the
// one of the smallest index is taken.
//
// Launch:  exactly 256 threads a block (x), any grid (x); no dynamic shared memory.
// Early:   from sm_90 on it waits for the kernel before it, see cupola.cuh.
// Memory:  input is n elements, naturally aligned, and result is one index, which is overwritten. scratch is
//          16 bytes and 16 for each block, at a multiple of 16; its first four bytes are zero before the
//          launch and after it. A grid of one block does not touch it.
#include "cupola.cuh"
#include "prelude.cuh"

using namespace cupola;

#define THREADS 256
// Blocks that a multiprocessor is to hold at once: 40 registers a thread, which are enough.
#define RESIDENT 6
// What a thread of the last block takes at once: enough for the largest grid of the Rust side.
#define PARTIALS 2
#define NONE 0xffffffffffffffffull
// No place in a tile.
#define ELSEWHERE 0xffffffffu

template <typename T> struct Found {
    T value;
    u64 index;
};

template <typename T> struct Less {
    static CUPOLA_DEVICE bool before(T a, T b) { return a < b; }
    static CUPOLA_DEVICE T nothing() { return Nothing<T>::least(); }
};
template <typename T> struct Greater {
    static CUPOLA_DEVICE bool before(T a, T b) { return b < a; }
    static CUPOLA_DEVICE T nothing() { return Nothing<T>::largest(); }
};

template <typename T, typename Order> struct First {
    // Where nothing was found its value is `nothing`, and NONE is behind every index: so it needs no look.
    CUPOLA_DEVICE Found<T> operator()(Found<T> a, Found<T> b) const {
        // Without branches: each of these is an instruction.
        bool is_before = Order::before(b.value, a.value);
        bool is_behind = Order::before(a.value, b.value);
        bool is_earlier = b.index < a.index;
        bool other = is_before | (!is_behind & is_earlier);
        return Found<T>{other ? b.value : a.value, other ? b.index : a.index};
    }
};

// With an element behind all that are in `found`: of equals that one stays.
template <typename T, typename Order>
static CUPOLA_DEVICE void look_at(Found<T>& found, T value, u64 index) {
    bool is_before = Order::before(value, found.value);
    if ((value == value) & ((found.index == NONE) | is_before)) {
        found = Found<T>{value, index};
    }
}

template <typename T, typename Order>
static CUPOLA_DEVICE void find(u64 n, const T* input, Found<T>* lanes, void* scratch, u64* result) {
    static_assert(sizeof(Found<T>) == 16, "what scratch has for each block");
    constexpr u32 N = lanes_of<T>();
    constexpr u32 tile = THREADS * N * PACKS_IN_FLIGHT;
    wait_for_predecessor();
    launch_dependents();
    First<T, Order> first;
    u64 tiles = is_pack<N>(input) ? n / tile : 0;
    // What the tiles have, as the place in one of them: a place is a constant for each element, and an index two
    // instructions more.
    T best = T();
    u64 best_tile = 0;
    u32 best_place = 0;
    bool is_first = true;
#pragma unroll 1
    for (u64 k = grid_block(); k < tiles; k += grid_blocks()) {
        u64 at = k * tile + block_thread() * N;
        Pack<T, N> packs[PACKS_IN_FLIGHT];
#pragma unroll
        for (u32 p = 0; p < PACKS_IN_FLIGHT; p++) {
            packs[p] = load_once<N>(input + at + p * THREADS * N);
        }
        u32 place = ELSEWHERE;
#pragma unroll
        for (u32 p = 0; p < PACKS_IN_FLIGHT; p++) {
#pragma unroll
            for (u32 lane = 0; lane < N; lane++) {
                T value = packs[p].lanes[lane];
                // The first is taken whatever it is, and after a NaN any.
                bool is_taken = Order::before(value, best) | (best != best);
                if (p == 0 && lane == 0) {
                    is_taken |= is_first;
                }
                best = is_taken ? value : best;
                place = is_taken ? p * THREADS * N + lane : place;
            }
        }
        best_tile = place != ELSEWHERE ? at : best_tile;
        best_place = place != ELSEWHERE ? place : best_place;
        is_first = false;
    }
    Found<T> found = {Order::nothing(), NONE};
    if (!is_first & (best == best)) {
        found = Found<T>{best, best_tile + best_place};
    }
    grid_stride(tiles * tile, n, [&](u64 i) { look_at<T, Order>(found, input[i], i); });
    Found<T>* partials = (Found<T>*)((u8*)scratch + SCRATCH_HEAD);
    // Once, or twice in the last block.
#pragma unroll 1
    for (u32 left = grid_blocks();; left = 1) {
        found = block_reduce<THREADS>(found, first, lanes);
        if (left == 1) {
            break;
        }
        if (block_thread() == 0) {
            partials[grid_block()] = found;
        }
        if (!is_last_block((u32*)scratch)) {
            return;
        }
        found = Found<T>{Order::nothing(), NONE};
        // Behind the last one it is taken again, which changes nothing: so no load waits for another.
#pragma unroll 1
        for (u32 block = block_thread(); block < grid_blocks(); block += PARTIALS * THREADS) {
            Found<T> some[PARTIALS];
#pragma unroll
            for (u32 p = 0; p < PARTIALS; p++) {
                u32 at = block + p * THREADS;
                some[p] = partials[at < grid_blocks() ? at : grid_blocks() - 1];
            }
#pragma unroll
            for (u32 p = 0; p < PARTIALS; p++) {
                found = first(found, some[p]);
            }
        }
    }
    if (block_thread() == 0) {
        *result = found.index;
    }
}

#define FIND(name, Order, T)                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)                            \
    cupola_reduce_##name##_##T(const T* input, u64 n, void* scratch, u64* result) {            \
        __shared__ Found<T> lanes[THREADS];                                                    \
        find<T, Order<T>>(n, input, lanes, scratch, result);                                   \
    }

#define FINDERS(T)               \
    FIND(arg_min, Less, T)       \
    FIND(arg_max, Greater, T)

FINDERS(f32)
FINDERS(f64)
FINDERS(i32)
FINDERS(i64)
FINDERS(u32)
FINDERS(u64)
