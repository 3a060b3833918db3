// One result for each element, of floats: rounded to nearest even, once for each operation.
//
//   cupola_{add,sub,mul,div,min,max}_T(n, a, b, output)       output[i] = a[i] op b[i]
//   cupola_{add,mul,div,min,max}_scalar_T(n, a, b, output)    output[i] = a[i] op b
//   cupola_{neg,abs}_T(n, a, output)                          output[i] = op a[i]
//   cupola_axpy_T(n, a, x, y)                                 y[i] = a * x[i] + y[i], rounded once
//   cupola_fma_T(n, a, b, c, output)                          output[i] = a[i] * b[i] + c[i], rounded once
//
// min and max take a NaN for missing, and -0 for smaller than +0.
//
// Launch:  exactly 256 threads a block (x), any grid (x), best one block for each 16 KiB of an array; no
//          dynamic shared memory.
// Memory:  n elements of natural alignment each. output may be one of the inputs; it may not overlap
//          them otherwise.
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
#define FMA(T)                                                                                 \
    KERNEL cupola_fma_##T(u64 n, const T* a, const T* b, const T* c, T* output) {              \
        map<THREADS, lanes_of<T>()>(n, output, Fma<T>(), a, b, c);                             \
    }

#define FLOAT(T)          \
    BINARY(add, Add, T)   \
    BINARY(sub, Sub, T)   \
    BINARY(mul, Mul, T)   \
    BINARY(div, Div, T)   \
    BINARY(min, Min, T)   \
    BINARY(max, Max, T)   \
    SCALAR(add, Add, T)   \
    SCALAR(mul, Mul, T)   \
    SCALAR(div, Div, T)   \
    SCALAR(min, Min, T)   \
    SCALAR(max, Max, T)   \
    UNARY(neg, Neg, T)    \
    UNARY(abs, Abs, T)    \
    AXPY(T)               \
    FMA(T)

FLOAT(f32)
FLOAT(f64)
