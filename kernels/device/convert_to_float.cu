// Conversions of integers to floats. To f16 and bf16 only from what f32 has exactly.
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

CONVERT(i8, f16)
CONVERT(i8, bf16)
CONVERT(i8, f32)
CONVERT(i8, f64)
CONVERT(u8, f16)
CONVERT(u8, bf16)
CONVERT(u8, f32)
CONVERT(u8, f64)
CONVERT(i16, f16)
CONVERT(i16, bf16)
CONVERT(i16, f32)
CONVERT(i16, f64)
CONVERT(u16, f16)
CONVERT(u16, bf16)
CONVERT(u16, f32)
CONVERT(u16, f64)
CONVERT(i32, f32)
CONVERT(i32, f64)
CONVERT(u32, f32)
CONVERT(u32, f64)
CONVERT(i64, f32)
CONVERT(i64, f64)
CONVERT(u64, f32)
CONVERT(u64, f64)
