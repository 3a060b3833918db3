//! Atomic operations: `atom`, and `red`, which is the same without a result.

use crate::exec::access::atom::{self as atoms, atom, atom_split};
use crate::exec::check::Mode;
use crate::exec::decode::arithmetic::half;
use crate::exec::decode::memory::load_store::{self, Target};
use crate::exec::decode::mods::Mods;
use crate::exec::decode::{Bad, Cx};
use crate::exec::inst::{Class, NONE};
use crate::exec::lanes::Twin;
use crate::exec::num::float::{ftz, nan32};
use crate::ptx::{Instr, Operand, ScalarType};

const OPS: &[&str] = &[
    "add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas",
];

/// Both halves of a packed pair.
fn both(o: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f(o as u16, b as u16)) | u32::from(f((o >> 16) as u16, (b >> 16) as u16)) << 16
}

fn operation(op: &str, ty: ScalarType) -> Option<Twin> {
    use ScalarType::{
        B16, B32, B64, B128, BF16, BF16x2, F16, F16x2, F32, F64, S32, S64, U16, U32, U64,
    };
    macro_rules! halves {
        ($f:expr, $bfloat:expr) => {
            atom(|o: u16, b: u16, _: u16| $f(o, b, $bfloat))
        };
    }
    macro_rules! pairs {
        ($f:expr, $bfloat:expr) => {
            atom(|o: u32, b: u32, _: u32| both(o, b, |o, b| $f(o, b, $bfloat)))
        };
    }
    Some(match (op, ty) {
        ("add", U32 | S32 | B32) => atom(|o: u32, b: u32, _: u32| o.wrapping_add(b)),
        ("add", U64 | S64 | B64) => atom(|o: u64, b: u64, _: u64| o.wrapping_add(b)),
        // In global memory subnormal numbers are flushed, in shared memory they are not:
        // so PTX documents it.
        ("add", F32) => atom_split(
            |o: u32, b: f32, _: f32| ftz(nan32(ftz(f32::from_bits(o)) + ftz(b))).to_bits(),
            |o: u32, b: f32, _: f32| nan32(f32::from_bits(o) + b).to_bits(),
        ),
        ("add", F64) => atom(|o: u64, b: f64, _: f64| (f64::from_bits(o) + b).to_bits()),
        ("add", F16) => halves!(half::sum, false),
        ("add", BF16) => halves!(half::sum, true),
        ("add", F16x2) => pairs!(half::sum, false),
        ("add", BF16x2) => pairs!(half::sum, true),
        ("min", F16) => halves!(half::min, false),
        ("min", BF16) => halves!(half::min, true),
        ("min", F16x2) => pairs!(half::min, false),
        ("min", BF16x2) => pairs!(half::min, true),
        ("max", F16) => halves!(half::max, false),
        ("max", BF16) => halves!(half::max, true),
        ("max", F16x2) => pairs!(half::max, false),
        ("max", BF16x2) => pairs!(half::max, true),
        ("min", U32) => atom(|o: u32, b: u32, _: u32| o.min(b)),
        ("max", U32) => atom(|o: u32, b: u32, _: u32| o.max(b)),
        ("min", S32) => atom(|o: u32, b: i32, _: i32| o.cast_signed().min(b).cast_unsigned()),
        ("max", S32) => atom(|o: u32, b: i32, _: i32| o.cast_signed().max(b).cast_unsigned()),
        ("min", U64) => atom(|o: u64, b: u64, _: u64| o.min(b)),
        ("max", U64) => atom(|o: u64, b: u64, _: u64| o.max(b)),
        ("min", S64) => atom(|o: u64, b: i64, _: i64| o.cast_signed().min(b).cast_unsigned()),
        ("max", S64) => atom(|o: u64, b: i64, _: i64| o.cast_signed().max(b).cast_unsigned()),
        ("inc", U32) => atom(|o: u32, b: u32, _: u32| if o >= b { 0 } else { o + 1 }),
        ("dec", U32) => atom(|o: u32, b: u32, _: u32| if o == 0 || o > b { b } else { o - 1 }),
        ("and", B32 | U32 | S32) => atom(|o: u32, b: u32, _: u32| o & b),
        ("or", B32 | U32 | S32) => atom(|o: u32, b: u32, _: u32| o | b),
        ("xor", B32 | U32 | S32) => atom(|o: u32, b: u32, _: u32| o ^ b),
        ("and", B64 | U64 | S64) => atom(|o: u64, b: u64, _: u64| o & b),
        ("or", B64 | U64 | S64) => atom(|o: u64, b: u64, _: u64| o | b),
        ("xor", B64 | U64 | S64) => atom(|o: u64, b: u64, _: u64| o ^ b),
        ("exch", B16 | U16) => atom(|_: u16, b: u16, _: u16| b),
        ("exch", B32 | U32 | S32 | F32) => atom(|_: u32, b: u32, _: u32| b),
        ("exch", B64 | U64 | S64 | F64) => atom(|_: u64, b: u64, _: u64| b),
        ("exch", B128) => atoms::exchange128(),
        ("cas", B16 | U16) => atom(|o: u16, b: u16, c: u16| if o == b { c } else { o }),
        ("cas", B32 | U32 | S32 | F32) => atom(|o: u32, b: u32, c: u32| if o == b { c } else { o }),
        ("cas", B64 | U64 | S64 | F64) => atom(|o: u64, b: u64, c: u64| if o == b { c } else { o }),
        ("cas", B128) => atoms::compare128(),
        _ => return None,
    })
}

pub(in crate::exec::decode) fn decode<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    let mut allowed = load_store::MODS.to_vec();
    allowed.extend(OPS);
    allowed.push("noftz");
    let mods = Mods::of(ins, &allowed)?;
    let ty = mods.ty()?;
    let op = mods
        .find(|t| OPS.contains(&t).then_some(t))
        .ok_or_else(|| Bad::new("an atomic operation is expected"))?;
    let twin = operation(op, ty)
        .ok_or_else(|| Bad::new(format!("atomic .{op} is not supported for this type")))?;
    let (d, rest) = match &ins.args[..] {
        [d, rest @ ..] if ins.op.base == "atom" => (Some(d), rest),
        rest => (None, rest),
    };
    let hinted = usize::from(mods.has("L2::cache_hint"));
    let (a, b, c) = match (rest, op) {
        ([a, b, c, policy @ ..], "cas") if policy.len() == hinted => (a, b, c),
        ([a, b, policy @ ..], _) if op != "cas" && policy.len() == hinted => (a, b, b),
        _ => return Err(Bad::new("the number of operands is wrong")),
    };
    if hinted == 1
        && let Some(policy) = rest.last()
    {
        cx.src(policy, ScalarType::B64)?;
    }
    let Target::Memory(space, base, offset) = load_store::target(cx, &mods, a)? else {
        return Err(Bad::new("the parameters of a kernel cannot be written"));
    };
    let whole = ty.size() * load_store::elements(&mods, b)?.len() as u32;
    cx.check(Mode::atomic(), space, base, offset, whole);
    let (b, c) = (
        load_store::elements(&mods, b)?,
        load_store::elements(&mods, c)?,
    );
    let d = d.map(|d| load_store::elements(&mods, d)).transpose()?;
    // Each element of a vector is an atomic operation of its own. Results wait until all
    // operands have been read.
    let count = b.len();
    let mut results = Vec::new();
    for (k, (b, c)) in b.iter().zip(c).enumerate() {
        let (rb, rc) = (cx.src(b, ty)?, cx.src(c, ty)?);
        let result = match d.map(|d| &d[k]) {
            None | Some(Operand::Sink) => NONE,
            Some(_) => cx.temp(Class::of(ty))?,
        };
        let mut inst = cx.blank(twin);
        (inst.a, inst.b, inst.c, inst.d) = (base, rb, rc, result);
        inst.x = offset.wrapping_add(u64::from(k as u32 * ty.size()));
        let elements = if k == 0 { count } else { 1 };
        inst.e = ty.size() * elements as u32 - 1;
        inst.p = cx.slot() | atoms::space_bits(space);
        cx.push(inst);
        results.push(result);
    }
    for (d, result) in d.unwrap_or(&[]).iter().zip(results) {
        if result != NONE {
            let dst = cx.dst(d, ty)?;
            cx.copy(Class::of(ty), dst.reg, result);
            cx.finish(&dst);
        }
    }
    Ok(())
}
