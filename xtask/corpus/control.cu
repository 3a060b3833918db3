// Control flow, calls of every kind, memory of every space, and what the device provides.
#include "prelude.cuh"

NOINLINE u32 factorial(u32 n) { return n < 2 ? 1 : n * factorial(n - 1); }
NOINLINE u32 odd(u32 n);
NOINLINE u32 even(u32 n) { return n == 0 ? 1 : odd(n - 1); }
NOINLINE u32 odd(u32 n) { return n == 0 ? 0 : even(n - 1); }

struct Big { u32 words[9]; float f; u8 tail[3]; };
NOINLINE Big shuffle_big(Big b, u32 by) {
    for (u32 i = 0; i < 9; i++) b.words[i] = b.words[(i + by) % 9] + i;
    b.f *= 2;
    b.tail[by % 3]++;
    return b;
}

struct Shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape { float s; __device__ Square(float s) : s(s) {} __device__ float area() const { return s * s; } };
struct Circle : Shape { float r; __device__ Circle(float r) : r(r) {} __device__ float area() const { return 3.14159f * r * r; } };

typedef u32 (*Op)(u32, u32);
NOINLINE u32 plus(u32 a, u32 b) { return a + b; }
NOINLINE u32 times(u32 a, u32 b) { return a * b; }
NOINLINE u32 minus(u32 a, u32 b) { return a - b; }
__device__ Op operations[] = {plus, times, minus};
__constant__ u32 primes[] = {2, 3, 5, 7, 11, 13, 17, 19};
__constant__ double tenth = 0.1;
__device__ const char *const words[] = {"one", "two", "three"};
__device__ u32 counter = 41, *pointer = &counter;
__device__ struct { u8 a; i16 b; u32 c; double d; float4 e[2]; } record = {1, -2, 3, 4.5, {{1, 2, 3, 4}, {5, 6, 7, 8}}};

KERNEL calls(u32 *d, u32 n) {
    u32 i = thread();
    u32 r = factorial(n) + even(i) + operations[i % 3](i, n);
    Big b = {};
    b.words[i % 9] = i;
    b = shuffle_big(b, n);
    r += b.words[n % 9] + (u32)b.f + b.tail[0];
    Square s(n);
    Circle c(i);
    Shape *shape = i & 1 ? (Shape *)&s : (Shape *)&c;
    d[i] = r + (u32)shape->area() + primes[i % 8] + (u32)(tenth * n) + words[n % 3][0];
    record.c += r;
    *pointer += record.b + (u32)record.e[n & 1].z;
}

KERNEL jump(u32 *d, u32 n) {
    u32 i = thread(), r = 0;
    for (u32 k = 0; k < n; k++) {
        switch ((i + k) % 12) {
        case 0: r += 3; break;
        case 1: r *= 5; break;
        case 2: r ^= k; [[fallthrough]];
        case 3: r -= i; break;
        case 4: r = ~r; break;
        case 5: r <<= 1; break;
        case 6: r >>= 3; break;
        case 7: if (r & 1) continue; r++; break;
        case 8: r += d[k]; break;
        case 9: goto out;
        case 10: while (r > 100) r /= 3; break;
        default: do { r += 7; } while (r % 4);
        }
    }
out:
    d[i] = r;
}

extern __shared__ u32 dynamic[];
KERNEL block(u32 *d, const u32 *a) {
    __shared__ u32 tile[33][32];
    __shared__ float4 wide[64];
    __shared__ double one;
    u32 t = tid();
    tile[t % 33][t % 32] = a[thread()];
    dynamic[t] = t;
    wide[t % 64] = {1.f, 2.f, 3.f, (float)t};
    if (t == 0) one = 2.5;
    __syncthreads();
    u32 r = tile[(t + 1) % 33][t % 32] + dynamic[t ^ 1] + (u32)wide[(t + 5) % 64].w + (u32)one;
    for (u32 half = 64; half > 0; half /= 2) {
        if (t < half) dynamic[t] += dynamic[t + half];
        __syncthreads();
    }
    r += __nvvm_bar0_popc(r & 1) + __nvvm_bar0_and(t) + __nvvm_bar0_or(r);
    d[thread()] = r + dynamic[0];
}

KERNEL atomics(u32 *d, u64 *w, float *f, double *g) {
    __shared__ u32 s;
    __shared__ u64 l;
    u32 i = thread();
    s = 0; l = 0;
    __syncthreads();
    u32 r = __atomic_fetch_add(d, i, __ATOMIC_RELAXED) + __atomic_fetch_sub(&s, i, __ATOMIC_RELAXED);
    r += __atomic_fetch_and(d + 1, i, __ATOMIC_RELAXED) + __atomic_fetch_or(&s, i, __ATOMIC_RELAXED);
    r += __atomic_fetch_xor(d + 2, i, __ATOMIC_RELAXED) + __atomic_exchange_n(d + 3, i, __ATOMIC_RELAXED);
    r += __nvvm_atom_inc_gen_ui(d + 4, 100) + __nvvm_atom_dec_gen_ui(d + 5, 100);
    r += __nvvm_atom_min_gen_ui(d + 6, i) + __nvvm_atom_max_gen_i((i32 *)d + 7, (i32)i);
    r += __nvvm_atom_cas_gen_i((i32 *)d + 8, 0, (i32)i);
    u64 q = __atomic_fetch_add(w, i, __ATOMIC_RELAXED) + __atomic_fetch_or(&l, i, __ATOMIC_RELAXED);
    q += __nvvm_atom_min_gen_ull(w + 1, i) + __nvvm_atom_max_gen_ll((i64 *)w + 2, i);
    q += __nvvm_atom_cas_gen_ll((i64 *)w + 3, 0, i) + __atomic_exchange_n(&l, q, __ATOMIC_RELAXED);
    float h = __nvvm_atom_add_gen_f(f, 1.5f);
    double k = __nvvm_atom_add_gen_d(g, 2.5);
    d[9 + i] = r + (u32)q + (u32)h + (u32)k;
}

KERNEL memory(volatile u32 *v, float4 *p, double2 *q, uchar4 *c, short4 *s, const u32 *r) {
    u32 i = thread();
    u32 local[17];
    for (u32 k = 0; k < 17; k++) local[k] = r[k] * i;
    v[i] = local[v[i + 1] % 17];
    float4 a = p[i]; p[i + 1] = {a.w, a.z, a.y, a.x};
    double2 b = q[i]; q[i + 1] = {b.y, b.x};
    uchar4 e = c[i]; c[i + 1] = {e.w, e.z, e.y, e.x};
    short4 f = s[i]; s[i + 1] = {f.w, f.z, f.y, f.x};
    u32 x = __nvvm_ldg_ui(r + i);
    __builtin_memcpy(p + 2, local, 48);
    __builtin_memset(q + 2, 0, 32);
    __nvvm_membar_cta(); __nvvm_membar_gl(); __nvvm_membar_sys();
    v[0] = x;
}

struct Message { u32 n; double x; const char *s; };
KERNEL provided(u32 *d, u32 n) {
    Message m = {n, 1.25, "text"};
    vprintf("%d %f %s\n", (const char *)&m);
    if (n == 77) __assertfail("n != 77", "control.cu", 1, "provided", 1);
    u32 *p = (u32 *)malloc(n * 4);
    if (p) { p[0] = n; d[thread()] = p[0]; free(p); }
    if (n == 78) __builtin_trap();
    if (n == 79) asm volatile("exit;");
}

KERNEL registers(u64 *d) {
    u64 r = 0;
#define ADD(name) r = r * 3 + __nvvm_read_ptx_sreg_##name();
    ADD(tid_x) ADD(tid_y) ADD(tid_z) ADD(ntid_x) ADD(ntid_y) ADD(ntid_z)
    ADD(ctaid_x) ADD(ctaid_y) ADD(ctaid_z) ADD(nctaid_x) ADD(nctaid_y) ADD(nctaid_z)
    ADD(laneid) ADD(warpid) ADD(nwarpid) ADD(smid) ADD(nsmid) ADD(gridid)
    ADD(lanemask_eq) ADD(lanemask_le) ADD(lanemask_lt) ADD(lanemask_ge) ADD(lanemask_gt)
    ADD(clock) ADD(clock64)
    d[thread()] = r;
}
