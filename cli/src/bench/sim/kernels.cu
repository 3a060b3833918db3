// The kernels of `cupola bench sim`. kernels.ptx is made from this file, by LLVM alone:
//
//   clang++-19 -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc -nocudalib \
//     -O3 -ffp-contract=fast -S kernels.cu -o kernels.ptx
//
// No header: what a kernel needs of CUDA are compiler builtins.

#define GLOBAL extern "C" __attribute__((global))
#define SHARED __attribute__((shared))
#define DEVICE __attribute__((device))

typedef unsigned int u32;
typedef unsigned long long u64;

DEVICE static inline u32 thread() { return __nvvm_read_ptx_sreg_tid_x(); }
DEVICE static inline u32 index() {
  return __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + thread();
}
DEVICE static inline void barrier() { __syncthreads(); }

GLOBAL void empty() {}

GLOBAL void xorshift(u64 *out, u32 rounds) {
  u32 i = index();
  u64 x = i + 1;
#pragma unroll 1
  for (u32 k = 0; k < rounds; k++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  out[i] = x;
}

GLOBAL void mandelbrot(u32 *out, u32 width, u32 height, u32 most) {
  u32 px = index();
  u32 py = __nvvm_read_ptx_sreg_ctaid_y();
  if (px >= width || py >= height) return;
  float cx = -2.0f + 3.0f * (float)px / (float)width;
  float cy = -1.5f + 3.0f * (float)py / (float)height;
  float x = 0, y = 0;
  u32 n = 0;
#pragma unroll 1
  while (n < most) {
    float xx = x * x, yy = y * y;
    if (xx + yy > 4.0f) break;
    y = 2.0f * x * y + cy;
    x = xx - yy + cx;
    n++;
  }
  out[py * width + px] = n;
}

GLOBAL void nbody(double *out, const double *bodies, u32 n) {
  u32 i = index();
  if (i >= n) return;
  double x = bodies[4 * i], y = bodies[4 * i + 1], z = bodies[4 * i + 2];
  double ax = 0, ay = 0, az = 0;
#pragma unroll 1
  for (u32 j = 0; j < n; j++) {
    double dx = bodies[4 * j] - x, dy = bodies[4 * j + 1] - y, dz = bodies[4 * j + 2] - z;
    double d = dx * dx + dy * dy + dz * dz + 1e-9;
    double s = 1.0 / __nvvm_sqrt_rn_d(d);
    double f = bodies[4 * j + 3] * s * s * s;
    ax += dx * f;
    ay += dy * f;
    az += dz * f;
  }
  out[3 * i] = ax;
  out[3 * i + 1] = ay;
  out[3 * i + 2] = az;
}

GLOBAL void matmul(float *c, const float *a, const float *b, u32 n) {
  SHARED static float as[16][16], bs[16][16];
  u32 tx = thread(), ty = __nvvm_read_ptx_sreg_tid_y();
  u32 row = __nvvm_read_ptx_sreg_ctaid_y() * 16 + ty;
  u32 col = __nvvm_read_ptx_sreg_ctaid_x() * 16 + tx;
  float sum = 0;
#pragma unroll 1
  for (u32 t = 0; t < n; t += 16) {
    as[ty][tx] = a[row * n + t + tx];
    bs[ty][tx] = b[(t + ty) * n + col];
    barrier();
    for (u32 k = 0; k < 16; k++) sum += as[ty][k] * bs[k][tx];
    barrier();
  }
  c[row * n + col] = sum;
}

GLOBAL void saxpy(float *y, const float *x, float a, u32 n) {
  u32 i = index();
  if (i < n) y[i] = a * x[i] + y[i];
}

GLOBAL void reduce(u64 *out, const u32 *data, u32 n) {
  SHARED static u32 part[256];
  u32 t = thread(), i = index();
  part[t] = i < n ? data[i] : 0;
  barrier();
#pragma unroll 1
  for (u32 s = 128; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    barrier();
  }
  if (t == 0) __nvvm_atom_add_gen_ll((long long *)out, (long long)part[0]);
}

GLOBAL void collatz(u32 *out, u32 n) {
  u32 i = index();
  if (i >= n) return;
  u64 v = i + 1;
  u32 steps = 0;
  while (v != 1) {
    if (v & 1)
      v = 3 * v + 1;
    else
      v >>= 1;
    steps++;
  }
  out[i] = steps;
}

GLOBAL void histogram(u32 *out, const unsigned char *data, u32 n) {
  SHARED static u32 bins[256];
  u32 t = thread();
  bins[t] = 0;
  barrier();
  u32 stride = __nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x();
#pragma unroll 1
  for (u32 i = index(); i < n; i += stride) __nvvm_atom_add_gen_i((int *)&bins[data[i]], 1);
  barrier();
  __nvvm_atom_add_gen_i((int *)&out[t], (int)bins[t]);
}

GLOBAL void functions(float *out, const float *in, u32 n) {
  u32 i = index();
  if (i >= n) return;
  float v = in[i];
  float r = 0;
#pragma unroll 1
  for (u32 k = 0; k < 8; k++) {
    r += __nvvm_sin_approx_f(v) + __nvvm_cos_approx_f(v);
    r += __nvvm_ex2_approx_f(v * 0.125f) + __nvvm_lg2_approx_f(v + 2.0f);
    r += __nvvm_rsqrt_approx_f(v + 1.0f);
    v += 0.25f;
  }
  out[i] = r;
}
