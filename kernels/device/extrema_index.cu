// Where the least and the largest of n elements are: partials[b] is the index of the first of those that
// block b saw, or 2^64 - 1 if it saw none. A second launch of one block over these, as `candidates`,
// gives the result.
//
// Of floats a NaN counts as missing, and -0 equals +0. The order does not matter, because of equals the
// one of the smallest index is taken.
//
// Launch:  exactly 256 threads a block (x), any grid (x); no dynamic shared memory.
// Memory:  input is a number of elements, naturally aligned. Without candidates (a null pointer) the n
//          elements are input[0..n]; with them there are n candidates, which are indices of input or
//          2^64 - 1. partials is one element a block, and is overwritten.
#include "cupola.cuh"
#include "prelude.cuh"

using namespace cupola;

#define THREADS 256
#define NONE 0xffffffffffffffffull

template <typename T> struct Found {
    T value;
    u64 index;
};

template <typename T> struct Less {
    static CUPOLA_DEVICE bool before(T a, T b) { return a < b; }
};
template <typename T> struct Greater {
    static CUPOLA_DEVICE bool before(T a, T b) { return b < a; }
};

template <typename T, typename Order> struct First {
    CUPOLA_DEVICE Found<T> operator()(Found<T> a, Found<T> b) const {
        bool other = b.index != NONE &&
                     (a.index == NONE || Order::before(b.value, a.value) ||
                      (!Order::before(a.value, b.value) && b.index < a.index));
        return Found<T>{other ? b.value : a.value, other ? b.index : a.index};
    }
};

template <typename T>
static CUPOLA_DEVICE Found<T> element(T value, u64 index) {
    return Found<T>{value, value == value ? index : NONE};
}

template <typename T, typename Order>
static CUPOLA_DEVICE void find(const T* input, u64 n, const u64* candidates, u64* partials) {
    __shared__ Found<T> lanes[THREADS];
    constexpr u32 N = lanes_of<T>();
    constexpr u32 tile = THREADS * N * PACKS_IN_FLIGHT;
    First<T, Order> first;
    Found<T> found = {T(), NONE};
    u64 tiles = !candidates && is_pack<N>(input) ? n / tile : 0;
#pragma unroll 1
    for (u64 k = grid_block(); k < tiles; k += grid_blocks()) {
        u64 at = k * tile + block_thread() * N;
        Pack<T, N> packs[PACKS_IN_FLIGHT];
#pragma unroll
        for (u32 p = 0; p < PACKS_IN_FLIGHT; p++) {
            packs[p] = load<N>(input + at + p * THREADS * N);
        }
#pragma unroll
        for (u32 p = 0; p < PACKS_IN_FLIGHT; p++) {
#pragma unroll
            for (u32 lane = 0; lane < N; lane++) {
                u64 index = at + p * THREADS * N + lane;
                found = first(found, element(packs[p].lanes[lane], index));
            }
        }
    }
    grid_stride(tiles * tile, n, [&](u64 i) {
        u64 index = candidates ? candidates[i] : i;
        if (index != NONE) {
            found = first(found, element(input[index], index));
        }
    });
    found = block_reduce<THREADS>(found, first, lanes);
    if (block_thread() == 0) {
        partials[grid_block()] = found.index;
    }
}

#define FIND(name, Order, T)                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS)                                      \
    cupola_reduce_##name##_##T(const T* __restrict__ input, u64 n,                             \
                               const u64* __restrict__ candidates, u64* __restrict__ partials) { \
        find<T, Order<T>>(input, n, candidates, partials);                                     \
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
