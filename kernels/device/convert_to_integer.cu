// Conversions of floats to integers. From f16 and bf16 only to integers of 16 bits at most.
//
//   cupola_convert_FROM_TO(n, input, output)    output[i] = input[i] as TO
//
// The rules are those of `convert` in cupola.cuh, which are those of Rust's `as`.
//
// Launch:  exactly 256 threads a block (x), any grid (x), best one block for each 1024 packs of the larger
//          elements, of 4 elements at most; no dynamic shared memory.
// Memory:  n elements each, naturally aligned; input and output do not overlap.
#include "cupola.cuh"
#include "prelude.cuh"

using namespace cupola;

#define THREADS 256

// At most 4: more would be many instructions for small elements, and no faster.
template <typename From, typename To>
CUPOLA_DEVICE constexpr u32 lanes() {
    return lanes_of<From, To>() < 4 ? lanes_of<From, To>() : 4;
}

#define CONVERT(From, To)                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS)                                      \
    cupola_convert_##From##_##To(u64 n, const From* __restrict__ input, To* __restrict__ output) { \
        map<THREADS, lanes<From, To>()>(n, output, ConvertTo<To>(), input);                    \
    }

CONVERT(f16, i8)
CONVERT(f16, u8)
CONVERT(f16, i16)
CONVERT(f16, u16)
CONVERT(bf16, i8)
CONVERT(bf16, u8)
CONVERT(bf16, i16)
CONVERT(bf16, u16)
CONVERT(f32, i8)
CONVERT(f32, u8)
CONVERT(f32, i16)
CONVERT(f32, u16)
CONVERT(f32, i32)
CONVERT(f32, u32)
CONVERT(f32, i64)
CONVERT(f32, u64)
CONVERT(f64, i8)
CONVERT(f64, u8)
CONVERT(f64, i16)
CONVERT(f64, u16)
CONVERT(f64, i32)
CONVERT(f64, u32)
CONVERT(f64, i64)
CONVERT(f64, u64)
