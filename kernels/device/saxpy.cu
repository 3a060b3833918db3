// y[i] = a * x[i] + y[i] for i in 0..n, f32, one rounding per element (fused).
//
// Launch:  any one-dimensional grid and block; each thread strides over the grid.
// Memory:  x and y are n floats, 4-byte aligned. x may be y; they may not overlap
//          otherwise.
#include "prelude.cuh"

extern "C" __global__ void cupola_saxpy(u64 n, float a, const float* x, float* y) {
    for (u64 i = grid_thread(); i < n; i += grid_threads()) {
        y[i] = __fmaf_rn(a, x[i], y[i]);
    }
}
