// output[i] = factor * input[i] for i in 0..n, f32, rounded to nearest even.
//
// Launch:  any one-dimensional grid and block; each thread strides over the grid.
// Memory:  input and output are n floats, 4-byte aligned. They may be the same
//          buffer; they may not overlap otherwise.
#include "prelude.cuh"

extern "C" __global__ void cupola_scale(u64 n, float factor, const float* input, float* output) {
    for (u64 i = grid_thread(); i < n; i += grid_threads()) {
        output[i] = factor * input[i];
    }
}
