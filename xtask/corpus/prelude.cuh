// What the corpus needs of CUDA's names, so that clang compiles it without any file of a
// CUDA toolkit.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define DEVICE __device__ inline
#define NOINLINE __device__ __attribute__((noinline))
#define KERNEL extern "C" __global__ void

DEVICE u32 tid() { return __nvvm_read_ptx_sreg_tid_x(); }
DEVICE u32 thread() {
    return __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + tid();
}

struct __attribute__((aligned(16))) float4 { float x, y, z, w; };
struct __attribute__((aligned(8))) float2 { float x, y; };
struct __attribute__((aligned(16))) double2 { double x, y; };
struct __attribute__((aligned(4))) uchar4 { u8 x, y, z, w; };
struct __attribute__((aligned(8))) short4 { i16 x, y, z, w; };

extern "C" __device__ int vprintf(const char *, const char *);
extern "C" __device__ void __assertfail(const char *, const char *, u32, const char *, u64);
extern "C" __device__ void *malloc(u64);
extern "C" __device__ void free(void *);

// What virtual functions refer to.
extern "C" __device__ inline __attribute__((used)) void __cxa_pure_virtual() { __builtin_trap(); }
__device__ inline void operator delete(void *p) noexcept { free(p); }
__device__ inline void operator delete(void *p, decltype(sizeof 0)) noexcept { free(p); }
