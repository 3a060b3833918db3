// Where the least and the largest of n elements are: the index of the first of them, or 2^64 - 1 if there
// is none.
//
// Of floats a NaN counts as missing, and -0 equals +0. The order does not matter, because of equals the
// one of the smallest index is taken.
//
// Launch:  exactly 256 threads a block (x), any grid (x); no dynamic shared memory.
// Early:   from sm_90 on it waits for the kernel before it, see cupola.cuh.
// Memory:  input is n elements, naturally aligned, and result is one index, which is overwritten. scratch is
//          16 bytes and 32 for each block, at a multiple of 16, zero before the launch and after it, and of one
//          launch at a time. A grid of one block does not touch it.
#include "cupola.cuh"
#include "prelude.cuh"

using namespace cupola;

#define THREADS 256
// Blocks that a multiprocessor is to hold at once: 40 registers a thread, which are enough.
#define RESIDENT 6
// What a thread of the block that takes all takes at once: enough for the largest grid of the Rust side.
#define TAKEN_AT_ONCE 2
#define NONE 0xffffffffffffffffull

// An element as an integer of as many bits: the lesser, the earlier it is in ascending order.
static CUPOLA_DEVICE u32 ascending(u32 x) { return x; }
static CUPOLA_DEVICE u64 ascending(u64 x) { return x; }
static CUPOLA_DEVICE u32 ascending(i32 x) { return (u32)x ^ 0x80000000u; }
static CUPOLA_DEVICE u64 ascending(i64 x) { return (u64)x ^ 0x8000000000000000ull; }
// Of floats the magnitude of those below zero runs the other way; -0 is +0.
static CUPOLA_DEVICE u32 ascending(f32 x) {
    u32 bits = detail::bits_of(x);
    bits = bits == 0x80000000u ? 0 : bits;
    return bits ^ ((i32)bits < 0 ? ~0u : 0x80000000u);
}
static CUPOLA_DEVICE u64 ascending(f64 x) {
    u64 bits = detail::bits_of(x);
    bits = bits == 0x8000000000000000ull ? 0 : bits;
    return bits ^ ((i64)bits < 0 ? ~0ull : 0x8000000000000000ull);
}

template <typename T> struct Less {
    using Key = decltype(ascending(T()));
    static CUPOLA_DEVICE bool before(T a, T b) { return a < b; }
    static CUPOLA_DEVICE Key key(T x) { return ascending(x); }
};
template <typename T> struct Greater {
    using Key = decltype(ascending(T()));
    static CUPOLA_DEVICE bool before(T a, T b) { return b < a; }
    static CUPOLA_DEVICE Key key(T x) { return (Key)~ascending(x); }
};

// An element by its key in the order, the least of which is wanted, and its index. The key of nothing may be that of
// an element, but NONE is behind every index.
struct Found {
    u64 key;
    u64 index;
};

struct First {
    CUPOLA_DEVICE Found operator()(Found a, Found b) const {
        // Without branches: each of these is an instruction.
        bool other = (b.key < a.key) | ((b.key == a.key) & (b.index < a.index));
        return Found{other ? b.key : a.key, other ? b.index : a.index};
    }
};

#if CUPOLA_SM >= 80
// The first of what the threads of a warp have found, for all of them: word by word, from the highest on. A thread
// that is behind in one has no say in the next.
template <typename Key> static CUPOLA_DEVICE Found warp_first(Found found) {
    u32 words[4] = {(u32)(found.key >> 32), (u32)found.key, (u32)(found.index >> 32), (u32)found.index};
    bool is_first = true;
#pragma unroll
    for (u32 w = sizeof(Key) == 8 ? 0 : 1; w < 4; w++) {
        u32 least = detail::warp_min(is_first ? words[w] : ~0u);
        is_first &= words[w] == least;
        words[w] = least;
    }
    return Found{(u64)words[0] << 32 | words[1], (u64)words[2] << 32 | words[3]};
}
#endif

// The first of what the threads of the block have found, for thread 0.
template <typename Key> static CUPOLA_DEVICE Found block_first(Found found, Found* lanes) {
#if CUPOLA_SM >= 80
    constexpr u32 warps = THREADS / 32;
    static_assert(warps <= 32, "a warp has a thread for each");
    u32 t = block_thread();
    found = warp_first<Key>(found);
    if (t % 32 == 0) {
        lanes[t / 32] = found;
    }
    __syncthreads();
    if (t < 32) {
        // Behind the last warp's it is that again.
        found = warp_first<Key>(lanes[t < warps ? t : warps - 1]);
    }
    return found;
#else
    return block_reduce<THREADS>(found, First(), lanes);
#endif
}

// An element and its place in a tile.
template <typename T> struct Candidate {
    T value;
    u32 place;
};

// The first of so many elements of a thread's packs, by halves: each comparison waits for few others. A NaN is behind
// all, and of equals the earlier one is taken.
template <typename Order, u32 From, u32 Count, typename T, u32 N>
static CUPOLA_DEVICE Candidate<T> first_among(const Pack<T, N>* packs) {
    if constexpr (Count == 1) {
        return Candidate<T>{packs[From / N].lanes[From % N], From / N * THREADS * N + From % N};
    } else {
        Candidate<T> a = first_among<Order, From, Count / 2>(packs);
        Candidate<T> b = first_among<Order, From + Count / 2, Count / 2>(packs);
        bool other = Order::before(b.value, a.value) | (a.value != a.value);
        return Candidate<T>{other ? b.value : a.value, other ? b.place : a.place};
    }
}

template <typename T, typename Order>
static CUPOLA_DEVICE void find(u64 n, const T* input, Found* lanes, void* scratch, u64* result) {
    using Key = typename Order::Key;
    static_assert(sizeof(Found) == 16, "what scratch has for each block");
    constexpr u32 N = lanes_of<T>();
    constexpr u32 tile = THREADS * N * PACKS_IN_FLIGHT;
    wait_for_predecessor();
    launch_dependents();
    Partials<Found> partials(scratch);
    const Found nothing = {(Key) ~(Key)0, NONE};
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
        Candidate<T> tile_first = first_among<Order, 0, N * PACKS_IN_FLIGHT>(packs);
        // The first is taken whatever it is, and after a NaN any.
        bool is_taken = Order::before(tile_first.value, best) | (best != best) | is_first;
        best = is_taken ? tile_first.value : best;
        best_tile = is_taken ? at : best_tile;
        best_place = is_taken ? tile_first.place : best_place;
        is_first = false;
    }
    Found found = nothing;
    if (!is_first & (best == best)) {
        found = Found{Order::key(best), best_tile + best_place};
    }
    grid_stride(tiles * tile, n, [&](u64 i) {
        T value = input[i];
        found = value == value ? First()(found, Found{Order::key(value), i}) : found;
    });
    // Once, or twice in the block that takes all: one text for both.
#pragma unroll 1
    for (u32 left = grid_blocks();; left = 1) {
        found = block_first<Key>(found, lanes);
        if (left == 1) {
            break;
        }
        if (!partials.leave(found)) {
            return;
        }
        found = nothing;
#pragma unroll 1
        for (u32 at = block_thread(); at < grid_blocks(); at += TAKEN_AT_ONCE * THREADS) {
            u32 blocks[TAKEN_AT_ONCE];
#pragma unroll
            for (u32 p = 0; p < TAKEN_AT_ONCE; p++) {
                blocks[p] = at + p * THREADS < grid_blocks() ? at + p * THREADS : at;
            }
            Found some[TAKEN_AT_ONCE];
            partials.take(blocks, some);
            // One that is there twice changes nothing the second time.
#pragma unroll
            for (u32 p = 0; p < TAKEN_AT_ONCE; p++) {
                found = First()(found, some[p]);
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
        __shared__ Found lanes[THREADS];                                                    \
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
