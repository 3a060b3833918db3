// One result for each element, of integers, modulo 2^bits.
//
//   cupola_{add,sub,mul,min,max}_T(n, a, b, output)       output[i] = a[i] op b[i]
//   cupola_{add,mul,min,max}_scalar_T(n, a, b, output)    output[i] = a[i] op b
//   cupola_{neg,abs}_T(n, a, output)                      output[i] = op a[i]
//   cupola_axpy_T(n, a, x, y)                             y[i] = a * x[i] + y[i]
//
// Sums and products of signed integers are those of unsigned ones, and have no kernels of their own.
// There is no division: some operands have no quotient.
//
// Launch and memory as in elementwise_float.cu.
#include "cupola.cuh"
#include "prelude.cuh"

using namespace cupola;

#define THREADS 256
#define KERNEL extern "C" __global__ void __launch_bounds__(THREADS)

#define BINARY(name, Op, T)                                                                    \
    KERNEL cupola_##name##_##T(u64 n, const T* a, const T* b, T* output) {                     \
        map<THREADS, lanes_of<T>()>(n, output, Op<T>(), a, b);                                 \
    }
#define SCALAR(name, Op, T)                                                                    \
    KERNEL cupola_##name##_scalar_##T(u64 n, const T* a, T b, T* output) {                     \
        map<THREADS, lanes_of<T>()>(n, output, With<Op<T>, T>{Op<T>(), b}, a);                 \
    }
#define UNARY(name, Op, T)                                                                     \
    KERNEL cupola_##name##_##T(u64 n, const T* a, T* output) {                                 \
        map<THREADS, lanes_of<T>()>(n, output, Op<T>(), a);                                    \
    }
#define AXPY(T)                                                                                \
    KERNEL cupola_axpy_##T(u64 n, T a, const T* x, T* y) {                                     \
        map<THREADS, lanes_of<T>()>(n, y, Axpy<T>{a}, x, (const T*)y);                         \
    }

#define MODULAR(T)        \
    BINARY(add, Add, T)   \
    BINARY(sub, Sub, T)   \
    BINARY(mul, Mul, T)   \
    SCALAR(add, Add, T)   \
    SCALAR(mul, Mul, T)   \
    AXPY(T)

#define ORDERED(T)        \
    BINARY(min, Min, T)   \
    BINARY(max, Max, T)   \
    SCALAR(min, Min, T)   \
    SCALAR(max, Max, T)

#define SIGNED(T)         \
    UNARY(neg, Neg, T)    \
    UNARY(abs, Abs, T)

MODULAR(u32)
MODULAR(u64)
ORDERED(i32)
ORDERED(i64)
ORDERED(u32)
ORDERED(u64)
SIGNED(i32)
SIGNED(i64)
