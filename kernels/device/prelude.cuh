// What the kernels of this folder need from their compiler, and nothing else.
//
// NVRTC has all of CUDA C built in, so for it this file only adds names. clang, run
// with `-nocudainc -nocudalib`, has the language but none of its names: they are
// declared in `builtins`, so that the portable PTX is made without any file of a CUDA toolkit.
// `compile::ClangCompiler` has read those before the source.
#pragma once

#if defined(__clang__) && !defined(CUPOLA_BUILTINS)
#include "builtins/language.cuh"
#include "builtins/intrinsics.cuh"
#endif

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

// Index of this thread in the whole grid, and the number of threads in it. 64 bits:
// lengths are counted in bytes or elements and pass 2^32.
__device__ __forceinline__ u64 grid_thread() {
    return (u64)blockIdx.x * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ u64 grid_threads() {
    return (u64)gridDim.x * blockDim.x;
}
