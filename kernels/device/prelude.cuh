// What the kernels of this folder need from their compiler, and nothing else.
//
// NVRTC has all of CUDA C built in, so for it this file only adds names. clang, run
// with `-nocudainc -nocudalib`, has the language but none of its names: they are
// declared here, so that the portable PTX is made without any file of a CUDA toolkit.
#pragma once

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;

#if defined(__clang__)

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(threads) __attribute__((launch_bounds(threads)))

// A class whose members x, y and z read one family of special registers. Members are
// properties, so no object is ever stored: the variables below are declarations only.
#define CUPOLA_REGISTER_CLASS(class_name, family)                                              \
    struct class_name {                                                                        \
        static __device__ __forceinline__ u32 read_x() { return __nvvm_read_ptx_sreg_##family##_x(); } \
        static __device__ __forceinline__ u32 read_y() { return __nvvm_read_ptx_sreg_##family##_y(); } \
        static __device__ __forceinline__ u32 read_z() { return __nvvm_read_ptx_sreg_##family##_z(); } \
        __declspec(property(get = read_x)) u32 x;                                              \
        __declspec(property(get = read_y)) u32 y;                                              \
        __declspec(property(get = read_z)) u32 z;                                              \
    }

CUPOLA_REGISTER_CLASS(CupolaThreadIdx, tid);
CUPOLA_REGISTER_CLASS(CupolaBlockIdx, ctaid);
CUPOLA_REGISTER_CLASS(CupolaBlockDim, ntid);
CUPOLA_REGISTER_CLASS(CupolaGridDim, nctaid);

extern const __device__ CupolaThreadIdx threadIdx;
extern const __device__ CupolaBlockIdx blockIdx;
extern const __device__ CupolaBlockDim blockDim;
extern const __device__ CupolaGridDim gridDim;

struct __attribute__((aligned(16))) uint4 {
    u32 x, y, z, w;
};

// __syncthreads is a builtin of clang, too. CUDA's atomics are relaxed and return the old value.
__device__ __forceinline__ u32 atomicAdd(u32* address, u32 value) {
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}
__device__ __forceinline__ u64 atomicAdd(u64* address, u64 value) {
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}
__device__ __forceinline__ float atomicAdd(float* address, float value) {
    return __nvvm_atom_add_gen_f(address, value);
}
__device__ __forceinline__ u32 atomicXor(u32* address, u32 value) {
    return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);
}

// One rounding, whatever the compiler is allowed to contract.
__device__ __forceinline__ float __fmaf_rn(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}

#endif

// Index of this thread in the whole grid, and the number of threads in it. 64 bits:
// lengths are counted in bytes or elements and pass 2^32.
__device__ __forceinline__ u64 grid_thread() {
    return (u64)blockIdx.x * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ u64 grid_threads() {
    return (u64)gridDim.x * blockDim.x;
}
