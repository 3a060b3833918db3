//! What is measured, and the memory that it is measured on.

use cupola_kernels::Kernels;
use cupola_kernels::ops::ReduceScratch;
use cupola_managers::{Buffer, Context, Error, PoolConfig, Stream, ops};
use half::f16;

/// The arrays of one size. `a` and `b` are ones, and stay so.
pub(super) struct Arrays {
    a: Buffer<f32>,
    b: Buffer<f32>,
    output: Buffer<f32>,
    scratch: ReduceScratch,
    result: Buffer<f64>,
}

impl Arrays {
    pub(super) fn new(context: &Context, bytes: usize, stream: &Stream) -> Result<Self, Error> {
        let pool = context.memory_pool(PoolConfig::limit(3 * bytes as u64 + (64 << 20)))?;
        let n = bytes / size_of::<f32>();
        let mut arrays = Self {
            a: pool.zeros(n, stream)?,
            b: pool.zeros(n, stream)?,
            output: pool.zeros(n, stream)?,
            scratch: ReduceScratch::new(&pool, stream)?,
            result: pool.zeros(1, stream)?,
        };
        ops::fill(&mut arrays.a, 1.0_f32, stream)?;
        ops::fill(&mut arrays.b, 1.0_f32, stream)?;
        ops::synchronize(stream)?;
        Ok(arrays)
    }
}

/// What a launch left, and what it should have left.
pub(super) struct Outcome {
    pub(super) found: f64,
    pub(super) expected: f64,
}

/// A kernel.
pub(super) struct Case {
    pub(super) name: &'static str,
    /// Bytes that it reads and writes, in sizes of the largest array.
    pub(super) traffic: f64,
    pub(super) launch: fn(&Kernels, &mut Arrays, &Stream) -> Result<(), Error>,
    pub(super) result: fn(&Kernels, &mut Arrays, &Stream) -> Result<Outcome, Error>,
}

/// What the kernels are compared with.
pub(super) const COPY: Case = Case {
    name: "copy by the driver",
    traffic: 2.0,
    launch: |_, arrays, stream| ops::copy(&arrays.a, &mut arrays.output, stream),
    result: |kernels, arrays, stream| arrays.output_outcome(arrays.len(), kernels, stream),
};

/// A reduction of the ones, as elements of another type, to the least or the largest of them.
macro_rules! extreme {
    ($name:literal, $of:ident, $reduce:ident, $expected:expr, $number:expr) => {
        Case {
            name: $name,
            traffic: 1.0,
            launch: |kernels, arrays, stream| {
                let input = arrays.a.view().cast::<$of>()?;
                let result = arrays.result.view_mut().cast()?.slice(..1)?;
                kernels.$reduce(input, &mut arrays.scratch, result, stream)
            },
            result: |_, arrays, stream| {
                let result = arrays.result.view().cast::<$of>()?;
                let number: fn($of) -> f64 = $number;
                Ok(Outcome {
                    found: number(result.to_vec(stream)?[0]),
                    expected: $expected,
                })
            },
        }
    };
}

/// The index of an extremum of the ones: that of the first.
macro_rules! index {
    ($name:literal, $of:ident, $reduce:ident) => {
        Case {
            name: $name,
            traffic: 1.0,
            launch: |kernels, arrays, stream| {
                let input = arrays.a.view().cast::<$of>()?;
                let index = arrays.result.view_mut().cast()?;
                kernels.$reduce(input, &mut arrays.scratch, index, stream)
            },
            result: |_, arrays, stream| {
                let index = arrays.result.view().cast::<u64>()?;
                Ok(Outcome {
                    found: index.to_vec(stream)?[0] as f64,
                    expected: 0.0,
                })
            },
        }
    };
}

pub(super) const CASES: &[Case] = &[
    Case {
        name: "fill f32",
        traffic: 1.0,
        launch: |kernels, arrays, stream| kernels.fill(&mut arrays.output, 0.5, stream),
        result: |kernels, arrays, stream| {
            arrays.output_outcome(0.5 * arrays.len(), kernels, stream)
        },
    },
    Case {
        name: "copy",
        traffic: 2.0,
        launch: |kernels, arrays, stream| kernels.copy(&arrays.a, &mut arrays.output, stream),
        result: |kernels, arrays, stream| arrays.output_outcome(arrays.len(), kernels, stream),
    },
    Case {
        name: "convert f32 to f16",
        traffic: 1.5,
        launch: |kernels, arrays, stream| {
            let halves = arrays.output.view_mut().cast::<f16>()?;
            let halves = halves.slice(..arrays.a.len())?;
            kernels.convert(&arrays.a, halves, stream)
        },
        // Two ones, as one f32.
        result: |kernels, arrays, stream| {
            let n = arrays.a.len();
            let ones = f64::from(f32::from_bits(0x3c00_3c00));
            Ok(Outcome {
                found: sum(kernels, arrays, n / 2, stream)?,
                expected: ones * (n / 2) as f64,
            })
        },
    },
    Case {
        name: "convert f16 to f32",
        traffic: 1.5,
        // The bits of an f32 that is one are 0.0 and 1.875.
        launch: |kernels, arrays, stream| {
            let n = arrays.output.len();
            let halves = arrays.b.view().cast::<f16>()?.slice(..n)?;
            kernels.convert(halves, &mut arrays.output, stream)
        },
        result: |kernels, arrays, stream| {
            arrays.output_outcome(1.875 * arrays.len() / 2.0, kernels, stream)
        },
    },
    Case {
        name: "add f32",
        traffic: 3.0,
        launch: |kernels, arrays, stream| {
            kernels.add(&arrays.a, &arrays.b, &mut arrays.output, stream)
        },
        result: |kernels, arrays, stream| {
            arrays.output_outcome(2.0 * arrays.len(), kernels, stream)
        },
    },
    Case {
        name: "axpy f32",
        traffic: 3.0,
        // One stays one.
        launch: |kernels, arrays, stream| kernels.axpy(0.0, &arrays.a, &mut arrays.b, stream),
        result: |kernels, arrays, stream| {
            kernels.copy(&arrays.b, &mut arrays.output, stream)?;
            arrays.output_outcome(arrays.len(), kernels, stream)
        },
    },
    Case {
        name: "sum f32",
        traffic: 1.0,
        launch: |kernels, arrays, stream| {
            let total = arrays.result.view_mut().cast()?.slice(..1)?;
            kernels.reduce_sum(&arrays.a, &mut arrays.scratch, total, stream)
        },
        result: |_, arrays, stream| {
            Ok(Outcome {
                found: arrays.f32_result(stream)?,
                expected: arrays.len(),
            })
        },
    },
    Case {
        name: "sum f64",
        traffic: 1.0,
        launch: |kernels, arrays, stream| {
            let input = arrays.a.view().cast::<f64>()?;
            kernels.reduce_sum(input, &mut arrays.scratch, &mut arrays.result, stream)
        },
        // Two ones, as one f64.
        result: |_, arrays, stream| {
            let ones = f64::from_bits(0x3f80_0000_3f80_0000);
            Ok(Outcome {
                found: arrays.result.to_vec(stream)?[0],
                expected: ones * arrays.len() / 2.0,
            })
        },
    },
    extreme!("min f32", f32, reduce_min, 1.0, f64::from),
    extreme!("max f32", f32, reduce_max, 1.0, f64::from),
    extreme!(
        "max f64",
        f64,
        reduce_max,
        f64::from_bits(0x3f80_0000_3f80_0000),
        |x| x
    ),
    extreme!(
        "max u64",
        u64,
        reduce_max,
        0x3f80_0000_3f80_0000_u64 as f64,
        |x| x as f64
    ),
    index!("arg_min f32", f32, reduce_arg_min),
    index!("arg_max f64", f64, reduce_arg_max),
];

impl Arrays {
    /// Elements of an array of f32.
    fn len(&self) -> f64 {
        self.a.len() as f64
    }

    /// The output's sum beside what it should be.
    fn output_outcome(
        &mut self,
        expected: f64,
        kernels: &Kernels,
        stream: &Stream,
    ) -> Result<Outcome, Error> {
        let n = self.output.len();
        let found = sum(kernels, self, n, stream)?;
        Ok(Outcome { found, expected })
    }

    fn f32_result(&self, stream: &Stream) -> Result<f64, Error> {
        let result = self.result.view().cast::<f32>()?;
        Ok(result.to_vec(stream)?[0].into())
    }
}

/// The sum of the first n elements of the output: any one that was not written shows in it.
fn sum(kernels: &Kernels, arrays: &mut Arrays, n: usize, stream: &Stream) -> Result<f64, Error> {
    let input = arrays.output.slice(..n)?;
    let total = arrays.result.view_mut().cast::<f32>()?.slice(..1)?;
    kernels.reduce_sum(input, &mut arrays.scratch, total, stream)?;
    arrays.f32_result(stream)
}
