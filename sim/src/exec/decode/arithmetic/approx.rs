//! `sin`, `cos`, `lg2`, `ex2`, `rsqrt` and `tanh`: what PTX only has approximately. They are
//! computed in double precision and rounded, which is within every documented error bound
//! and bit-equal to no GPU.

use crate::exec::decode::arithmetic::float::{count, emit, high_half, mode};
use crate::exec::decode::arithmetic::half;
use crate::exec::decode::mods::Mods;
use crate::exec::decode::{Bad, Cx};
use crate::exec::lanes::map::{map1, map1_patched, map1x};
use crate::exec::num::approx;
use crate::exec::num::float::{flush, nan32};
use crate::ptx::{Instr, ScalarType};

#[inline(always)]
fn through(a: f32, x: u64, f: impl Fn(f64) -> f64) -> f32 {
    flush(nan32(f(f64::from(flush(a, x))) as f32), x)
}

pub(in crate::exec::decode) fn approx<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mods = Mods::of(ins, &["approx", "ftz"])?;
    if half::is_half(&mods) {
        return half::arith(cx, ins, &mods);
    }
    count(ins, 2)?;
    macro_rules! f {
        ($f:expr) => {
            map1x(|a: f32, x: u64| through(a, x, $f))
        };
        ($fast:expr, $slow:expr) => {
            map1_patched(
                |a: f32, _: u64| approx::reducible(f64::from(a)),
                |a: f32, x: u64| through(a, x, $fast),
                |a: f32, x: u64| through(a, x, $slow),
            )
        };
    }
    let twin = match (ins.op.base, mods.ty()?) {
        ("sin", ScalarType::F32) => f!(approx::sin, f64::sin),
        ("cos", ScalarType::F32) => f!(approx::cos, f64::cos),
        ("lg2", ScalarType::F32) => f!(approx::log2),
        ("ex2", ScalarType::F32) => f!(approx::exp2),
        ("rsqrt", ScalarType::F32) => f!(|a: f64| 1.0 / a.sqrt()),
        ("tanh", ScalarType::F32) => f!(approx::tanh),
        // The approximation has only the upper half of the result's bits.
        ("rsqrt", ScalarType::F64) if mods.has("ftz") => {
            map1(|a: f64| high_half(1.0 / high_half(a).sqrt()))
        }
        ("rsqrt", ScalarType::F64) => map1(|a: f64| 1.0 / a.sqrt()),
        _ => return Err(Bad::new("this type is not supported")),
    };
    emit(cx, ins, &mods, twin, mode(&mods))
}
