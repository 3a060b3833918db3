//! The kernels, their inputs, and the same work as plain Rust loops.

use std::hint::black_box;

use super::memory::Memory;

/// What a kernel's output must be.
pub(super) enum Want {
    /// These bytes.
    Exactly(Vec<u8>),
    /// Within this relative error of each single.
    Single(Vec<f32>, f32),
    /// The same in double precision.
    Double(Vec<f64>, f64),
}

impl Want {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Exactly(bytes) => bytes.len(),
            Self::Single(values, _) => size_of_val(&values[..]),
            Self::Double(values, _) => size_of_val(&values[..]),
        }
    }

    /// The first element that is wrong.
    pub(super) fn wrong(&self, got: &[u8]) -> Option<usize> {
        match self {
            Self::Exactly(want) => (0..want.len()).find(|&i| got.get(i) != want.get(i)),
            Self::Single(want, error) => {
                let (got, _) = got.as_chunks::<4>();
                let bad = |i: &usize| {
                    let (got, want) = (f32::from_le_bytes(got[*i]), want[*i]);
                    let near = (got - want).abs() <= error * want.abs().max(1.0);
                    !near
                };
                (0..want.len()).find(bad)
            }
            Self::Double(want, error) => {
                let (got, _) = got.as_chunks::<8>();
                let bad = |i: &usize| {
                    let (got, want) = (f64::from_le_bytes(got[*i]), want[*i]);
                    let near = (got - want).abs() <= error * want.abs().max(1.0);
                    !near
                };
                (0..want.len()).find(bad)
            }
        }
    }
}

/// A launch that is measured.
pub(super) struct Case {
    /// What it is, with its size.
    pub(super) name: &'static str,
    /// The kernel's name.
    pub(super) entry: &'static str,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    /// Milliseconds that the first prototype took for the same work on one core of another
    /// machine; `None` if the work is not known to be the same.
    pub(super) bar: Option<f64>,
    pub(super) params: Vec<u8>,
    /// Address of the output, and what it holds before each launch.
    pub(super) out: (u64, Vec<u8>),
    pub(super) want: Want,
    /// The same work in Rust, one element after the other.
    pub(super) plain: Box<dyn Fn()>,
}

/// Kernel parameters, laid out as in memory.
struct Params(Vec<u8>);

impl Params {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn push(mut self, bytes: &[u8]) -> Self {
        let at = self.0.len().next_multiple_of(bytes.len());
        self.0.resize(at, 0);
        self.0.extend_from_slice(bytes);
        self
    }

    fn u64(self, value: u64) -> Self {
        self.push(&value.to_le_bytes())
    }

    fn u32(self, value: u32) -> Self {
        self.push(&value.to_le_bytes())
    }

    fn f32(self, value: f32) -> Self {
        self.push(&value.to_le_bytes())
    }
}

macro_rules! bytes {
    ($values:expr) => {
        $values
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect::<Vec<u8>>()
    };
}

/// A value between 0 and 1 that looks random.
fn noise(i: usize) -> f64 {
    f64::from((i as u32).wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24)
}

/// All of them, with their buffers in `memory`.
pub(super) fn all(memory: &mut Memory) -> Vec<Case> {
    vec![
        xorshift(memory),
        mandelbrot(memory),
        nbody(memory),
        matmul(memory),
        saxpy(memory),
        reduce(memory),
        collatz(memory),
        histogram(memory),
        functions(memory),
    ]
}

fn xorshift(memory: &mut Memory) -> Case {
    const LANES: usize = 1024;
    const ROUNDS: u32 = 10_000;
    fn plain(rounds: u32) -> Vec<u64> {
        let step = |i: usize| {
            let mut x = i as u64 + 1;
            for _ in 0..rounds {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
            }
            x
        };
        (0..LANES).map(step).collect()
    }
    let want = bytes!(plain(ROUNDS));
    let out = memory.add(&want.iter().map(|_| 0).collect::<Vec<u8>>());
    Case {
        name: "xorshift64, 10 000 rounds x 1 024",
        entry: "xorshift",
        grid: [4, 1, 1],
        block: [256, 1, 1],
        bar: Some(10.6),
        params: Params::new().u64(out).u32(ROUNDS).0,
        out: (out, vec![0; want.len()]),
        want: Want::Exactly(want),
        plain: Box::new(|| drop(black_box(plain(black_box(ROUNDS))))),
    }
}

fn mandelbrot(memory: &mut Memory) -> Case {
    const SIDE: u32 = 512;
    const MOST: u32 = 256;
    /// With `FUSED`, the roundings of the kernel's code, whose compiler fused what it could.
    fn plain<const FUSED: bool>(most: u32) -> Vec<u32> {
        let pixel = |i: u32| {
            let (px, py) = (i % SIDE, i / SIDE);
            let cx = (px as f32) * 3.0 / SIDE as f32 - 2.0;
            let cy = (py * 3) as f32 / SIDE as f32 - 1.5;
            let (mut x, mut y, mut n) = (0f32, 0f32, 0);
            while n < most {
                let yy = y * y;
                let sum = if FUSED { x.mul_add(x, yy) } else { x * x + yy };
                if sum > 4.0 {
                    break;
                }
                if FUSED {
                    let difference = x.mul_add(x, -yy);
                    y = y.mul_add(x + x, cy);
                    x = cx + difference;
                } else {
                    let difference = x * x - yy;
                    y = y * (x + x) + cy;
                    x = cx + difference;
                }
                n += 1;
            }
            n
        };
        (0..SIDE * SIDE).map(pixel).collect()
    }
    let want = bytes!(plain::<true>(MOST));
    let out = memory.add(&vec![0; want.len()]);
    Case {
        name: "mandelbrot, 512 x 512, 256 rounds",
        entry: "mandelbrot",
        grid: [SIDE / 128, SIDE, 1],
        block: [128, 1, 1],
        bar: Some(47.7),
        params: Params::new().u64(out).u32(SIDE).u32(SIDE).u32(MOST).0,
        out: (out, vec![0; want.len()]),
        want: Want::Exactly(want),
        plain: Box::new(|| drop(black_box(plain::<false>(black_box(MOST))))),
    }
}

fn nbody(memory: &mut Memory) -> Case {
    const N: usize = 1024;
    fn plain(bodies: &[[f64; 4]]) -> Vec<f64> {
        let pull = |body: &[f64; 4]| {
            let mut sum = [0.0; 3];
            for other in bodies {
                let d: [f64; 3] = std::array::from_fn(|k| other[k] - body[k]);
                let square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 1e-9;
                let inverse = 1.0 / square.sqrt();
                let force = other[3] * inverse * inverse * inverse;
                (0..3).for_each(|k| sum[k] += d[k] * force);
            }
            sum
        };
        bodies.iter().flat_map(pull).collect()
    }
    let bodies: Vec<[f64; 4]> = (0..N)
        .map(|i| std::array::from_fn(|k| noise(4 * i + k) + 0.5))
        .collect();
    let want = plain(&bodies);
    let input = memory.add(&bytes!(bodies.as_flattened()));
    let out = memory.add(&vec![0; size_of_val(&want[..])]);
    Case {
        name: "n-body, 1 024, double",
        entry: "nbody",
        grid: [8, 1, 1],
        block: [128, 1, 1],
        bar: Some(7.6),
        params: Params::new().u64(out).u64(input).u32(N as u32).0,
        out: (out, vec![0; size_of_val(&want[..])]),
        want: Want::Double(want, 1e-9),
        plain: Box::new(move || drop(black_box(plain(black_box(&bodies))))),
    }
}

fn matmul(memory: &mut Memory) -> Case {
    const N: usize = 256;
    fn plain(a: &[f32], b: &[f32]) -> Vec<f32> {
        let element = |i: usize| {
            let (row, col) = (i / N, i % N);
            let products = (0..N).map(|k| a[row * N + k] * b[k * N + col]);
            products.sum()
        };
        (0..N * N).map(element).collect()
    }
    let fill = |seed: usize| -> Vec<f32> {
        let value = |i| noise(i + seed) as f32 - 0.5;
        (0..N * N).map(value).collect()
    };
    let (a, b) = (fill(0), fill(N * N));
    let want = plain(&a, &b);
    let (pa, pb) = (memory.add(&bytes!(a)), memory.add(&bytes!(b)));
    let out = memory.add(&vec![0; 4 * N * N]);
    Case {
        name: "tiled matrix product, 256",
        entry: "matmul",
        grid: [16, 16, 1],
        block: [16, 16, 1],
        bar: Some(33.8),
        params: Params::new().u64(out).u64(pa).u64(pb).u32(N as u32).0,
        out: (out, vec![0; 4 * N * N]),
        want: Want::Single(want, 1e-4),
        plain: Box::new(move || drop(black_box(plain(black_box(&a), black_box(&b))))),
    }
}

const MILLION: usize = 1 << 20;

fn saxpy(memory: &mut Memory) -> Case {
    const A: f32 = 1.25;
    let x: Vec<f32> = (0..MILLION).map(|i| noise(i) as f32).collect();
    let y: Vec<f32> = (0..MILLION).map(|i| noise(i + MILLION) as f32).collect();
    let want = x.iter().zip(&y).map(|(x, y)| A.mul_add(*x, *y));
    let want = bytes!(want.collect::<Vec<_>>());
    let (px, py) = (memory.add(&bytes!(x)), memory.add(&bytes!(y)));
    Case {
        name: "saxpy, 4 096 blocks of 256",
        entry: "saxpy",
        grid: [4096, 1, 1],
        block: [256, 1, 1],
        bar: Some(18.7),
        params: Params::new().u64(py).u64(px).f32(A).u32(MILLION as u32).0,
        out: (py, bytes!(y)),
        want: Want::Exactly(want),
        plain: Box::new(move || {
            let sum = |(x, y): (&f32, &f32)| black_box(A) * x + y;
            drop(black_box(x.iter().zip(&y).map(sum).collect::<Vec<_>>()));
        }),
    }
}

fn reduce(memory: &mut Memory) -> Case {
    let data: Vec<u32> = (0..MILLION).map(|i| (noise(i) * 1000.0) as u32).collect();
    let sum: u64 = data.iter().map(|v| u64::from(*v)).sum();
    let input = memory.add(&bytes!(data));
    let out = memory.add(&[0; 8]);
    Case {
        name: "reduction in shared memory, 4 096 blocks of 256",
        entry: "reduce",
        grid: [4096, 1, 1],
        block: [256, 1, 1],
        bar: Some(19.8),
        params: Params::new().u64(out).u64(input).u32(MILLION as u32).0,
        out: (out, vec![0; 8]),
        want: Want::Exactly(sum.to_le_bytes().to_vec()),
        plain: Box::new(move || {
            let sum: u64 = black_box(&data).iter().map(|v| u64::from(*v)).sum();
            black_box(sum);
        }),
    }
}

fn collatz(memory: &mut Memory) -> Case {
    const N: u32 = 20_000;
    fn plain(n: u32) -> Vec<u32> {
        let steps = |i: u32| {
            let (mut v, mut steps) = (u64::from(i) + 1, 0);
            while v != 1 {
                v = if v & 1 == 1 { 3 * v + 1 } else { v >> 1 };
                steps += 1;
            }
            steps
        };
        (0..n).map(steps).collect()
    }
    let want = bytes!(plain(N));
    let out = memory.add(&vec![0; want.len()]);
    Case {
        name: "collatz, 20 000, divergent",
        entry: "collatz",
        grid: [N.div_ceil(256), 1, 1],
        block: [256, 1, 1],
        bar: Some(9.1),
        params: Params::new().u64(out).u32(N).0,
        out: (out, vec![0; want.len()]),
        want: Want::Exactly(want),
        plain: Box::new(|| drop(black_box(plain(black_box(N))))),
    }
}

fn histogram(memory: &mut Memory) -> Case {
    let data: Vec<u8> = (0..MILLION).map(|i| (noise(i) * 256.0) as u8).collect();
    let count = |data: &[u8]| {
        let mut bins = [0u32; 256];
        data.iter().for_each(|v| bins[usize::from(*v)] += 1);
        bins
    };
    let want = bytes!(count(&data));
    let input = memory.add(&data);
    let out = memory.add(&[0; 1024]);
    Case {
        name: "histogram with shared atomics, 1 Mi bytes",
        entry: "histogram",
        grid: [64, 1, 1],
        block: [256, 1, 1],
        bar: Some(6.9),
        params: Params::new().u64(out).u64(input).u32(MILLION as u32).0,
        out: (out, vec![0; 1024]),
        want: Want::Exactly(want),
        plain: Box::new(move || {
            black_box(count(black_box(&data)));
        }),
    }
}

fn functions(memory: &mut Memory) -> Case {
    const N: usize = 1 << 16;
    fn plain(values: &[f32]) -> Vec<f32> {
        let mix = |v: &f32| {
            let (mut v, mut r) = (*v, 0f32);
            for _ in 0..8 {
                r += v.sin() + v.cos();
                r += (v * 0.125).exp2() + (v + 2.0).log2();
                r += 1.0 / (v + 1.0).sqrt();
                v += 0.25;
            }
            r
        };
        values.iter().map(mix).collect()
    }
    let values: Vec<f32> = (0..N).map(|i| noise(i) as f32 * 8.0).collect();
    let want = plain(&values);
    let input = memory.add(&bytes!(values));
    let out = memory.add(&vec![0; 4 * N]);
    Case {
        name: "sin, cos, ex2, lg2, rsqrt: 8 rounds x 64 Ki",
        entry: "functions",
        grid: [256, 1, 1],
        block: [256, 1, 1],
        bar: None,
        params: Params::new().u64(out).u64(input).u32(N as u32).0,
        out: (out, vec![0; 4 * N]),
        want: Want::Single(want, 1e-5),
        plain: Box::new(move || drop(black_box(plain(black_box(&values))))),
    }
}
