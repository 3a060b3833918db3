// What CUDA C++ has built in and clang alone has not, part 1: keywords, vector types, registers.
//
// clang reads these three files before a source, in place of the headers of a CUDA toolkit. NVRTC has all
// of it, and does not see them. The names and results are those of NVRTC; what cannot be had here with
// its accuracy has no name, or is an error that says so.
#pragma once
#pragma clang system_header

#define CUPOLA_BUILTINS 1

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __attribute__((aligned(bytes)))
// Since 15 it is a keyword.
#if __clang_major__ < 15
#define __noinline__ __attribute__((noinline))
#endif

// A function of the device that leaves nothing behind where it is not called.
#define CUPOLA_BUILTIN static __device__ __forceinline__ __attribute__((unused))
// The same, for both sides: a source may use vectors in functions of the host too.
#define CUPOLA_BOTH static __host__ __device__ __forceinline__ __attribute__((unused))
#if __cplusplus >= 201103L
#define CUPOLA_CONSTEXPR constexpr
#else
#define CUPOLA_CONSTEXPR
#endif

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;

// ---------------------------------------------------------------------------------------------------
// Vectors of 1 to 4 elements. Two and four are aligned so that one instruction moves them, 16 bytes at most.

#define CUPOLA_VECTORS(T, name, of_two, of_four)                                                        \
    struct name##1 { T x; };                                                                           \
    struct __align__(of_two) name##2 { T x, y; };                                                      \
    struct name##3 { T x, y, z; };                                                                     \
    struct __align__(of_four) name##4 { T x, y, z, w; };                                               \
    CUPOLA_BOTH name##1 make_##name##1(T x) { name##1 v = {x}; return v; }                             \
    CUPOLA_BOTH name##2 make_##name##2(T x, T y) { name##2 v = {x, y}; return v; }                     \
    CUPOLA_BOTH name##3 make_##name##3(T x, T y, T z) { name##3 v = {x, y, z}; return v; }             \
    CUPOLA_BOTH name##4 make_##name##4(T x, T y, T z, T w) { name##4 v = {x, y, z, w}; return v; }

CUPOLA_VECTORS(signed char, char, 2, 4)
CUPOLA_VECTORS(unsigned char, uchar, 2, 4)
CUPOLA_VECTORS(short, short, 4, 8)
CUPOLA_VECTORS(unsigned short, ushort, 4, 8)
CUPOLA_VECTORS(int, int, 8, 16)
CUPOLA_VECTORS(unsigned int, uint, 8, 16)
CUPOLA_VECTORS(long, long, 16, 16)
CUPOLA_VECTORS(unsigned long, ulong, 16, 16)
CUPOLA_VECTORS(long long, longlong, 16, 16)
CUPOLA_VECTORS(unsigned long long, ulonglong, 16, 16)
CUPOLA_VECTORS(float, float, 8, 16)
CUPOLA_VECTORS(double, double, 16, 16)
#undef CUPOLA_VECTORS

struct dim3 {
    unsigned int x, y, z;
    __host__ __device__ CUPOLA_CONSTEXPR dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1)
        : x(x), y(y), z(z) {}
    __host__ __device__ CUPOLA_CONSTEXPR dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ operator uint3() const { return make_uint3(x, y, z); }
};

// ---------------------------------------------------------------------------------------------------
// Where a thread is. The members are properties that read a special register, so no object is ever stored.

#define CUPOLA_REGISTER_CLASS(class_name, whole, family)                                               \
    struct class_name {                                                                                \
        static __device__ __forceinline__ unsigned read_x() { return __nvvm_read_ptx_sreg_##family##_x(); } \
        static __device__ __forceinline__ unsigned read_y() { return __nvvm_read_ptx_sreg_##family##_y(); } \
        static __device__ __forceinline__ unsigned read_z() { return __nvvm_read_ptx_sreg_##family##_z(); } \
        __declspec(property(get = read_x)) unsigned x;                                                 \
        __declspec(property(get = read_y)) unsigned y;                                                 \
        __declspec(property(get = read_z)) unsigned z;                                                 \
        __device__ __forceinline__ operator uint3() const { return make_uint3(read_x(), read_y(), read_z()); } \
        __device__ __forceinline__ operator dim3() const { return dim3(read_x(), read_y(), read_z()); } \
    };

CUPOLA_REGISTER_CLASS(CupolaThreadIdx, uint3, tid)
CUPOLA_REGISTER_CLASS(CupolaBlockIdx, uint3, ctaid)
CUPOLA_REGISTER_CLASS(CupolaBlockDim, dim3, ntid)
CUPOLA_REGISTER_CLASS(CupolaGridDim, dim3, nctaid)
#undef CUPOLA_REGISTER_CLASS

// Objects of this file, as code without optimisation takes the address of what a member is called on.
#define CUPOLA_REGISTERS(Class, name) static const __device__ __attribute__((unused)) Class name = Class();
CUPOLA_REGISTERS(CupolaThreadIdx, threadIdx)
CUPOLA_REGISTERS(CupolaBlockIdx, blockIdx)
CUPOLA_REGISTERS(CupolaBlockDim, blockDim)
CUPOLA_REGISTERS(CupolaGridDim, gridDim)
#undef CUPOLA_REGISTERS
static const int warpSize = 32;
