// What CUDA C++ has built in and clang alone has not, part 3: mathematical functions.
//
// Of one IEEE operation (sqrt, fma, minima, roundings to integers): exact, as NVRTC's. `rsqrtf` and the names
// with two underscores: the instructions that NVRTC takes. The others are computed in double precision and rounded
// once: within 1 ulp of the exact result, special values as in C; NVRTC's are within 1 to 4 ulp, so bits may
// differ. What is missing is an error that says so: functions of doubles by series, and rarer ones.
#pragma once
#pragma clang system_header

// ---------------------------------------------------------------------------------------------------
// Exact.

#define CUPOLA_EXACT_1(name)                                                                           \
    CUPOLA_BUILTIN float name##f(float x) { return __builtin_##name##f(x); }                           \
    CUPOLA_BUILTIN double name(double x) { return __builtin_##name(x); }                               \
    CUPOLA_BUILTIN float name(float x) { return __builtin_##name##f(x); }
#define CUPOLA_EXACT_2(name)                                                                           \
    CUPOLA_BUILTIN float name##f(float x, float y) { return __builtin_##name##f(x, y); }               \
    CUPOLA_BUILTIN double name(double x, double y) { return __builtin_##name(x, y); }                  \
    CUPOLA_BUILTIN float name(float x, float y) { return __builtin_##name##f(x, y); }
CUPOLA_EXACT_1(sqrt)
CUPOLA_EXACT_1(fabs)
CUPOLA_EXACT_1(floor)
CUPOLA_EXACT_1(ceil)
CUPOLA_EXACT_1(trunc)
CUPOLA_EXACT_1(rint)
CUPOLA_EXACT_1(nearbyint)
CUPOLA_EXACT_1(round)
CUPOLA_EXACT_2(fmin)
CUPOLA_EXACT_2(fmax)
CUPOLA_EXACT_2(copysign)
#undef CUPOLA_EXACT_1
#undef CUPOLA_EXACT_2
CUPOLA_BUILTIN float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
CUPOLA_BUILTIN double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
CUPOLA_BUILTIN float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
CUPOLA_BUILTIN float fdimf(float x, float y) { return x <= y ? 0.0f : x - y; }
CUPOLA_BUILTIN float fdividef(float x, float y) { return x / y; }

#define CUPOLA_CLASSES(T)                                                                              \
    CUPOLA_BUILTIN bool isnan(T x) { return __builtin_isnan(x); }                                      \
    CUPOLA_BUILTIN bool isinf(T x) { return __builtin_isinf(x); }                                      \
    CUPOLA_BUILTIN bool isfinite(T x) { return __builtin_isfinite(x); }
CUPOLA_CLASSES(float)
CUPOLA_CLASSES(double)
#undef CUPOLA_CLASSES
CUPOLA_BUILTIN bool signbit(float x) { return __float_as_int(x) < 0; }
CUPOLA_BUILTIN bool signbit(double x) { return __double_as_longlong(x) < 0; }

CUPOLA_BUILTIN int abs(int x) { return x < 0 ? (int)(0 - (unsigned)x) : x; }
CUPOLA_BUILTIN long abs(long x) { return x < 0 ? (long)(0 - (unsigned long)x) : x; }
CUPOLA_BUILTIN long long abs(long long x) { return x < 0 ? (long long)(0 - (unsigned long long)x) : x; }
CUPOLA_BUILTIN float abs(float x) { return __builtin_fabsf(x); }
CUPOLA_BUILTIN double abs(double x) { return __builtin_fabs(x); }
CUPOLA_BUILTIN long labs(long x) { return abs(x); }
CUPOLA_BUILTIN long long llabs(long long x) { return abs(x); }

// Of two types the result has that of their sum, as in C.
#define CUPOLA_ORDER(A, B, T)                                                                          \
    CUPOLA_BUILTIN T min(A x, B y) { return (T)x < (T)y ? (T)x : (T)y; }                               \
    CUPOLA_BUILTIN T max(A x, B y) { return (T)x > (T)y ? (T)x : (T)y; }
#define CUPOLA_ORDERS(S, U)                                                                            \
    CUPOLA_ORDER(S, S, S)                                                                              \
    CUPOLA_ORDER(U, U, U)                                                                              \
    CUPOLA_ORDER(S, U, U)                                                                              \
    CUPOLA_ORDER(U, S, U)
CUPOLA_ORDERS(int, unsigned)
CUPOLA_ORDERS(long, unsigned long)
CUPOLA_ORDERS(long long, unsigned long long)
#undef CUPOLA_ORDERS
#undef CUPOLA_ORDER
#define CUPOLA_ORDER(A, B, T, suffix)                                                                  \
    CUPOLA_BUILTIN T min(A x, B y) { return __builtin_fmin##suffix(x, y); }                            \
    CUPOLA_BUILTIN T max(A x, B y) { return __builtin_fmax##suffix(x, y); }
CUPOLA_ORDER(float, float, float, f)
CUPOLA_ORDER(double, double, double, )
CUPOLA_ORDER(float, double, double, )
CUPOLA_ORDER(double, float, double, )
#undef CUPOLA_ORDER

// ---------------------------------------------------------------------------------------------------
// In double precision, for arguments that were floats: relative errors below 2^-40.

#define CUPOLA_LN2 0.69314718055994531
#define CUPOLA_LOG2E 1.4426950408889634
#define CUPOLA_LOG10E 0.43429448190325183
#define CUPOLA_LOG2_10 3.3219280948873623

/// 2^t. Beyond what a float can hold it is any number that rounds to an infinity or to zero.
CUPOLA_BUILTIN double cupola_exp2(double t) {
    t = t > 1000.0 ? 1000.0 : t;
    t = t < -1000.0 ? -1000.0 : t;
    double n = __builtin_rint(t);
    double r = (t - n) * CUPOLA_LN2;
    double sum = 1.0 / 479001600.0;
    sum = sum * r + 1.0 / 39916800.0;
    sum = sum * r + 1.0 / 3628800.0;
    sum = sum * r + 1.0 / 362880.0;
    sum = sum * r + 1.0 / 40320.0;
    sum = sum * r + 1.0 / 5040.0;
    sum = sum * r + 1.0 / 720.0;
    sum = sum * r + 1.0 / 120.0;
    sum = sum * r + 1.0 / 24.0;
    sum = sum * r + 1.0 / 6.0;
    sum = sum * r + 0.5;
    sum = sum * r + 1.0;
    sum = sum * r + 1.0;
    return sum * __longlong_as_double((long long)((unsigned long long)((int)n + 1023) << 52));
}

/// e^x - 1.
CUPOLA_BUILTIN double cupola_expm1(double x) {
    if (__builtin_fabs(x) > 0.35) {
        return cupola_exp2(x * CUPOLA_LOG2E) - 1.0;
    }
    double sum = 1.0;
    for (int n = 15; n > 1; n--) {
        sum = 1.0 + sum * x / n;
    }
    return sum * x;
}

/// ln((1 + s) / (1 - s)) for small s.
CUPOLA_BUILTIN double cupola_log_ratio(double s) {
    double square = s * s;
    double sum = 1.0 / 23.0;
    sum = sum * square + 1.0 / 21.0;
    sum = sum * square + 1.0 / 19.0;
    sum = sum * square + 1.0 / 17.0;
    sum = sum * square + 1.0 / 15.0;
    sum = sum * square + 1.0 / 13.0;
    sum = sum * square + 1.0 / 11.0;
    sum = sum * square + 1.0 / 9.0;
    sum = sum * square + 1.0 / 7.0;
    sum = sum * square + 1.0 / 5.0;
    sum = sum * square + 1.0 / 3.0;
    return 2.0 * (s + s * square * sum);
}

/// The logarithm of x, which is positive and finite, in two parts: an exponent, and ln of what is left.
CUPOLA_BUILTIN double cupola_log_parts(double x, double* exponent) {
    unsigned long long bits = (unsigned long long)__double_as_longlong(x);
    int e = (int)(bits >> 52) - 1023;
    double m = __longlong_as_double((long long)((bits & 0xfffffffffffffull) | 0x3ff0000000000000ull));
    // Around 1, so that nothing cancels there.
    bool high = m > 1.4142135623730951;
    m = high ? m * 0.5 : m;
    *exponent = high ? e + 1 : e;
    return cupola_log_ratio((m - 1.0) / (m + 1.0));
}

/// The logarithm to the base whose own natural logarithm is 1 / `per_e`; `per_2` is that of 2.
CUPOLA_BUILTIN double cupola_log(double x, double per_e, double per_2) {
    if (!(x > 0.0) || x == __builtin_inf()) {
        return x == 0.0 ? -__builtin_inf() : x > 0.0 ? x : __builtin_nan("");
    }
    double exponent;
    double rest = cupola_log_parts(x, &exponent);
    return exponent * per_2 + rest * per_e;
}

/// |x| = part + a multiple of pi/2, whose count modulo 4 is given.
CUPOLA_BUILTIN int cupola_quadrant(float x, double* part) {
    // 2 / pi, from the first bit behind the point.
    static __constant__ const unsigned two_over_pi[7] = {
        0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu,
    };
    unsigned bits = (unsigned)__float_as_int(x) & 0x7fffffffu;
    int exponent = (int)(bits >> 23) - 150;
    if (exponent < 2) {
        double whole = __builtin_fabsf(x);
        double n = __builtin_rint(whole * 0.63661977236758138);
        double rest = __builtin_fma(-n, 0x1.921fb54442d18p+0, whole);
        rest = __builtin_fma(-n, 0x1.1a62633145c07p-54, rest);
        *part = __builtin_fma(-n, -0x1.f1976b7ed8fbcp-110, rest);
        return (int)n & 3;
    }
    // x is m * 2^exponent. Bits of 2/pi that make whole turns are left out, and of the others 96 taken: the
    // first has the weight 2, so the product has the quadrant in its first two bits.
    unsigned m = (bits & 0x7fffffu) | 0x800000u;
    int first = exponent - 2;
    const unsigned* words = two_over_pi + first / 32;
    unsigned high = __funnelshift_l(words[1], words[0], (unsigned)first);
    unsigned middle = __funnelshift_l(words[2], words[1], (unsigned)first);
    unsigned low = __funnelshift_l(words[3], words[2], (unsigned)first);
    unsigned long long carried = ((unsigned long long)m * low >> 32) + (unsigned long long)m * middle;
    unsigned top = m * high + (unsigned)(carried >> 32);
    unsigned long long fraction = (unsigned long long)top << 34 | (carried & 0xffffffffu) << 2 | (m * low) >> 30;
    *part = (double)(long long)fraction * (1.5707963267948966 / 18446744073709551616.0);
    return (int)((top >> 30) + (unsigned)(fraction >> 63)) & 3;
}

/// The sine and the cosine of x, which is finite.
CUPOLA_BUILTIN void cupola_sincos(float x, double* sine, double* cosine) {
    double r;
    int quadrant = cupola_quadrant(x, &r);
    double square = r * r;
    double s = 1.0;
    double c = 1.0;
    for (int n = 17; n > 2; n -= 2) {
        s = 1.0 - s * square / (n * (n - 1));
        c = 1.0 - c * square / ((n - 1) * (n - 2));
    }
    s *= r;
    bool swapped = (quadrant & 1) != 0;
    *sine = (swapped ? c : s) * (((quadrant & 2) != 0) != signbit(x) ? -1.0 : 1.0);
    *cosine = (swapped ? s : c) * (((quadrant + 1) & 2) != 0 ? -1.0 : 1.0);
}

// ---------------------------------------------------------------------------------------------------
// Rounded to a float once.

CUPOLA_BUILTIN float exp2f(float x) { return x != x ? x : (float)cupola_exp2(x); }
CUPOLA_BUILTIN float expf(float x) { return x != x ? x : (float)cupola_exp2(x * CUPOLA_LOG2E); }
CUPOLA_BUILTIN float exp10f(float x) { return x != x ? x : (float)cupola_exp2(x * CUPOLA_LOG2_10); }
CUPOLA_BUILTIN float expm1f(float x) { return x != x || x == 0.0f ? x : (float)cupola_expm1(x); }
CUPOLA_BUILTIN float logf(float x) { return (float)cupola_log(x, 1.0, CUPOLA_LN2); }
CUPOLA_BUILTIN float log2f(float x) { return (float)cupola_log(x, CUPOLA_LOG2E, 1.0); }
CUPOLA_BUILTIN float log10f(float x) { return (float)cupola_log(x, CUPOLA_LOG10E, CUPOLA_LN2 * CUPOLA_LOG10E); }
CUPOLA_BUILTIN float log1pf(float x) {
    if (__builtin_fabsf(x) < 0.4f) {
        return x == 0.0f ? x : (float)cupola_log_ratio(x / (2.0 + x));
    }
    return (float)cupola_log(1.0 + x, 1.0, CUPOLA_LN2);
}
CUPOLA_BUILTIN float sinhf(float x) {
    double e = cupola_expm1(__builtin_fabsf(x));
    return x != x ? x : __builtin_copysignf((float)(0.5 * (e + e / (e + 1.0))), x);
}
CUPOLA_BUILTIN float coshf(float x) {
    double e = cupola_exp2(__builtin_fabsf(x) * CUPOLA_LOG2E);
    return x != x ? x : (float)(0.5 * (e + 1.0 / e));
}
CUPOLA_BUILTIN float tanhf(float x) {
    double e = cupola_expm1(2.0 * x);
    return x != x || x == 0.0f ? x : __builtin_fabsf(x) > 40.0f ? __builtin_copysignf(1.0f, x) : (float)(e / (e + 2.0));
}
CUPOLA_BUILTIN float hypotf(float x, float y) {
    if (__builtin_isinf(x) || __builtin_isinf(y)) {
        return __builtin_inff();
    }
    return (float)__builtin_sqrt((double)x * x + (double)y * y);
}
CUPOLA_BUILTIN void sincosf(float x, float* sine, float* cosine) {
    double s, c;
    cupola_sincos(x, &s, &c);
    bool is_finite = __builtin_isfinite(x);
    *sine = !is_finite ? __builtin_nanf("") : x == 0.0f ? x : (float)s;
    *cosine = !is_finite ? __builtin_nanf("") : (float)c;
}
CUPOLA_BUILTIN float sinf(float x) {
    float sine, cosine;
    sincosf(x, &sine, &cosine);
    return sine;
}
CUPOLA_BUILTIN float cosf(float x) {
    float sine, cosine;
    sincosf(x, &sine, &cosine);
    return cosine;
}
CUPOLA_BUILTIN float tanf(float x) {
    double s, c;
    cupola_sincos(x, &s, &c);
    return !__builtin_isfinite(x) ? __builtin_nanf("") : x == 0.0f ? x : (float)(s / c);
}
CUPOLA_BUILTIN float powf(float x, float y) {
    if (x == 1.0f || y == 0.0f) {
        return 1.0f;
    }
    if (x != x || y != y) {
        return x + y;
    }
    float size = __builtin_fabsf(x);
    float length = __builtin_fabsf(y);
    // From 2^24 on all floats are even.
    bool is_whole = __builtin_truncf(y) == y;
    bool is_odd = is_whole && length < 16777216.0f && ((int)length & 1) != 0;
    float sign = is_odd && signbit(x) ? -1.0f : 1.0f;
    if (__builtin_isinf(y)) {
        return size == 1.0f ? 1.0f : (size > 1.0f) == (y > 0.0f) ? __builtin_inff() : 0.0f;
    }
    if (size == 0.0f || __builtin_isinf(x)) {
        return sign * ((size == 0.0f) == (y > 0.0f) ? 0.0f : __builtin_inff());
    }
    if (x < 0.0f && !is_whole) {
        return __builtin_nanf("");
    }
    double exponent;
    double rest = cupola_log_parts(size, &exponent);
    return sign * (float)cupola_exp2(y * (exponent + rest * CUPOLA_LOG2E));
}

// ---------------------------------------------------------------------------------------------------
// The unsuffixed names: of floats the above, of doubles an error in place of a conversion.

#define CUPOLA_MISSING                                                                                 \
    __attribute__((unavailable("cupola has no such function for clang; NVRTC has it, for GPUs")))
#define CUPOLA_OF_FLOATS(name)                                                                         \
    CUPOLA_BUILTIN float name(float x) { return name##f(x); }                                          \
    __device__ double name(double) CUPOLA_MISSING;
CUPOLA_OF_FLOATS(exp)
CUPOLA_OF_FLOATS(exp2)
CUPOLA_OF_FLOATS(exp10)
CUPOLA_OF_FLOATS(expm1)
CUPOLA_OF_FLOATS(log)
CUPOLA_OF_FLOATS(log2)
CUPOLA_OF_FLOATS(log10)
CUPOLA_OF_FLOATS(log1p)
CUPOLA_OF_FLOATS(sin)
CUPOLA_OF_FLOATS(cos)
CUPOLA_OF_FLOATS(tan)
CUPOLA_OF_FLOATS(sinh)
CUPOLA_OF_FLOATS(cosh)
CUPOLA_OF_FLOATS(tanh)
CUPOLA_OF_FLOATS(rsqrt)
#undef CUPOLA_OF_FLOATS
CUPOLA_BUILTIN float pow(float x, float y) { return powf(x, y); }
CUPOLA_BUILTIN float hypot(float x, float y) { return hypotf(x, y); }
__device__ double pow(double, double) CUPOLA_MISSING;
__device__ double hypot(double, double) CUPOLA_MISSING;

#define CUPOLA_NONE_1(name)                                                                            \
    __device__ float name##f(float) CUPOLA_MISSING;                                                    \
    __device__ double name(double) CUPOLA_MISSING;
#define CUPOLA_NONE_2(name)                                                                            \
    __device__ float name##f(float, float) CUPOLA_MISSING;                                             \
    __device__ double name(double, double) CUPOLA_MISSING;
CUPOLA_NONE_1(asin)
CUPOLA_NONE_1(acos)
CUPOLA_NONE_1(atan)
CUPOLA_NONE_1(asinh)
CUPOLA_NONE_1(acosh)
CUPOLA_NONE_1(atanh)
CUPOLA_NONE_1(cbrt)
CUPOLA_NONE_1(erf)
CUPOLA_NONE_1(erfc)
CUPOLA_NONE_1(lgamma)
CUPOLA_NONE_1(tgamma)
CUPOLA_NONE_2(atan2)
CUPOLA_NONE_2(fmod)
CUPOLA_NONE_2(remainder)
#undef CUPOLA_NONE_1
#undef CUPOLA_NONE_2
