// Integer and floating-point arithmetic of every width, and conversions between all types.
#include "prelude.cuh"

template <class T> DEVICE T integer(T a, T b, T c) {
    T r = a + b * c - (a ^ b);
    r += (a & c) | (b & ~c);
    r ^= a << (b & 7);
    r += a >> (c & 7);
    if (b != 0) r += a / b + a % b;
    r = a < b ? r : -r;
    r += a > c ? a : c;
    r += a <= c ? a - c : c - a;
    return r * 7 + (a == b) + (a != c) + (a >= b);
}

#define INTEGER(name, T)                                                                         \
    KERNEL integer_##name(T *d, const T *a, const T *b, const T *c) {                            \
        u32 i = thread();                                                                        \
        d[i] = integer<T>(a[i], b[i], c[i]);                                                     \
    }

INTEGER(u8, u8) INTEGER(i8, i8) INTEGER(u16, u16) INTEGER(i16, i16)
INTEGER(u32, u32) INTEGER(i32, i32) INTEGER(u64, u64) INTEGER(i64, i64)

KERNEL wide(u64 *d, const u64 *a, const u64 *b) {
    u32 i = thread();
    unsigned __int128 p = (unsigned __int128)a[i] * b[i];
    p += ((unsigned __int128)b[i] << 64) | a[i];
    p -= a[i] >> 3;
    p <<= b[i] & 63;
    d[2 * i] = (u64)p;
    d[2 * i + 1] = (u64)(p >> 64);
    __int128 q = (__int128)(i64)a[i] * (i64)b[i];
    d[2 * i] ^= (u64)(q >> 65);
}

KERNEL bits(u32 *d, const u64 *a, u32 n) {
    u32 i = thread();
    u64 v = a[i];
    u32 w = (u32)v;
    u32 r = __builtin_popcount(w) + __builtin_popcountll(v);
    r += w ? __builtin_clz(w) + __builtin_ctz(w) : 0;
    r += v ? __builtin_clzll(v) + __builtin_ctzll(v) : 0;
    r += __builtin_bitreverse32(w) ^ (u32)__builtin_bitreverse64(v);
    r += __builtin_bswap32(w) ^ (u32)__builtin_bswap64(v) ^ __builtin_bswap16((u16)w);
    r += __builtin_rotateleft32(w, n) + (u32)__builtin_rotateright64(v, n);
    r += __builtin_ffs((int)w) + __builtin_parity(w);
    r += __nvvm_prmt(w, (u32)(v >> 32), n);
    d[i] = r;
}

struct Fields { u32 a : 3, b : 13; i32 c : 7, d : 9; u64 e : 37; i64 f : 27; };

KERNEL fields(Fields *s, u32 v) {
    Fields &f = s[thread()];
    f.a += v; f.b ^= v; f.c -= v; f.d *= (i32)v; f.e |= v; f.f = f.f * 3 + f.c;
}

template <class T> DEVICE T floating(T a, T b, T c) {
    T r = a * b + c;
    r = r / (b + (T)1.5) - a;
    r += __builtin_fabs(b);
    r = r < a ? -r : r;
    if (r != r) r = c;
    return r > b ? r - b : r <= c ? r * c : a == b ? (T)1 : (T)0;
}

KERNEL floats(float *d, const float *a) {
    u32 i = thread();
    float x = a[i], y = a[i + 1], r = floating<float>(x, y, 0.25f);
    r += __builtin_fmaf(x, y, r) + __builtin_sqrtf(y) + __builtin_fabsf(x);
    r += __builtin_fminf(x, y) - __builtin_fmaxf(x, y) + __builtin_copysignf(x, y);
    r += __builtin_floorf(x) + __builtin_ceilf(y) + __builtin_truncf(x) + __builtin_rintf(y);
    r += __nvvm_sin_approx_f(x) + __nvvm_cos_approx_ftz_f(y) + __nvvm_ex2_approx_f(x);
    r += __nvvm_lg2_approx_ftz_f(x) + __nvvm_rsqrt_approx_f(y) + __nvvm_rsqrt_approx_ftz_f(x);
    r += __nvvm_rcp_rn_f(x) + __nvvm_rcp_rz_f(x) + __nvvm_rcp_rm_ftz_f(x) + __nvvm_rcp_rp_f(x);
    r += __nvvm_sqrt_rn_f(x) + __nvvm_sqrt_rz_ftz_f(x) + __nvvm_sqrt_approx_f(x);
    r += __nvvm_add_rn_f(x, y) + __nvvm_add_rz_f(x, y) + __nvvm_add_rm_ftz_f(x, y);
    r += __nvvm_mul_rp_f(x, y) + __nvvm_mul_rn_ftz_f(x, y) + __nvvm_fma_rm_f(x, y, r);
    r += __nvvm_div_approx_f(x, y) + __nvvm_div_rn_f(x, y) + __nvvm_div_rz_ftz_f(x, y);
    r += __nvvm_saturate_f(x) + __nvvm_saturate_ftz_f(y);
    d[i] = r;
}

KERNEL doubles(double *d, const double *a) {
    u32 i = thread();
    double x = a[i], y = a[i + 1], r = floating<double>(x, y, 0.25);
    r += __builtin_fma(x, y, r) + __builtin_sqrt(y) + __builtin_fabs(x);
    r += __builtin_fmin(x, y) - __builtin_fmax(x, y) + __builtin_copysign(x, y);
    r += __builtin_floor(x) + __builtin_ceil(y) + __builtin_trunc(x) + __builtin_rint(y);
    r += __nvvm_rcp_rn_d(x) + __nvvm_rcp_approx_ftz_d(x) + __nvvm_sqrt_rm_d(y);
    r += __nvvm_add_rz_d(x, y) + __nvvm_mul_rm_d(x, y) + __nvvm_fma_rp_d(x, y, r);
    r += __nvvm_div_rz_d(x, y) + __nvvm_rsqrt_approx_d(y);
    d[i] = r;
}

KERNEL intrinsics(i32 *d, const i32 *a) {
    u32 i = thread();
    i32 x = a[i], y = a[i + 1];
    i32 r = __nvvm_mulhi_i(x, y) + (i32)__nvvm_mulhi_ui(x, y) + (i32)__nvvm_mulhi_ll(x, y);
    r += __nvvm_mul24_i(x, y) + (i32)__nvvm_mul24_ui(x, y);
    r += __nvvm_f2i_rn((float)x) + __nvvm_f2i_rz_ftz((float)y) + (i32)__nvvm_f2ll_rm((float)x);
    r += (i32)__nvvm_f2ui_rp((float)x) + __nvvm_d2i_rn((double)y) + (i32)__nvvm_d2ull_rz((double)x);
    r += (i32)(__nvvm_i2f_rz(x) + __nvvm_ll2f_rp(y) + (float)__nvvm_ull2d_rm(x));
    r += (i32)__nvvm_d2f_rz((double)x) + (i32)__nvvm_d2f_rm_ftz((double)y);
    r += __nvvm_bitcast_f2i(__nvvm_bitcast_i2f(x)) + __nvvm_d2i_lo((double)x) + __nvvm_d2i_hi((double)y);
    r += (i32)__nvvm_lohi_i2d(x, y);
    d[i] = r;
}

template <class T, class S> DEVICE void put(T *d, const S *s, u32 i) { d[i] = (T)s[i]; }
template <class S> DEVICE void from(void *d, const S *s, u32 i) {
    put((u8 *)d, s, i); put((i8 *)d, s, i); put((u16 *)d, s, i); put((i16 *)d, s, i);
    put((u32 *)d, s, i); put((i32 *)d, s, i); put((u64 *)d, s, i); put((i64 *)d, s, i);
    put((float *)d, s, i); put((double *)d, s, i); put((bool *)d, s, i); put((__fp16 *)d, s, i);
}
KERNEL conversions(void *d, const void *s) {
    u32 i = thread();
    from(d, (const u8 *)s, i); from(d, (const i8 *)s, i); from(d, (const u16 *)s, i);
    from(d, (const i16 *)s, i); from(d, (const u32 *)s, i); from(d, (const i32 *)s, i);
    from(d, (const u64 *)s, i); from(d, (const i64 *)s, i); from(d, (const float *)s, i);
    from(d, (const double *)s, i); from(d, (const bool *)s, i); from(d, (const __fp16 *)s, i);
}

// clang 14 has no half type on this target.
#if __clang_major__ >= 15
KERNEL halves(_Float16 *d, const _Float16 *a) {
    u32 i = thread();
    _Float16 x = a[i], y = a[i + 1];
    _Float16 r = x * y + x - y / (x + (_Float16)1);
    r = x < y ? r : -r;
    d[i] = r + (_Float16)(float)(int)x + (x == y ? (_Float16)2 : (_Float16)3);
}

typedef _Float16 half2 __attribute__((ext_vector_type(2)));
KERNEL packed_halves(half2 *d, const half2 *a) {
    u32 i = thread();
    half2 x = a[i], y = a[i + 1];
    d[i] = x * y + x - y + __builtin_shufflevector(x, y, 1, 2);
}
#endif
