//! Which function decodes which opcode.

use crate::exec::decode::arithmetic::{approx, carry, float, integer, minmax, sign};
use crate::exec::decode::control::{branch, call, warp};
use crate::exec::decode::logic::{bits, compare, shift};
use crate::exec::decode::memory::{atom, hint, load_store, moves};
use crate::exec::decode::{Bad, Cx, cvt};
use crate::ptx::Instr;
use std::collections::HashMap;
use std::sync::LazyLock;

type Decode = for<'a> fn(&mut Cx<'a, '_>, &Instr<'a>) -> Result<(), Bad>;

static TABLE: &[(&str, Decode)] = &[
    ("abs", sign::abs),
    ("activemask", warp::activemask),
    ("add", integer::add),
    ("addc", carry::carry),
    ("and", bits::logic),
    ("applypriority", hint::hint),
    ("atom", atom::decode),
    ("bar", branch::bar),
    ("barrier", branch::bar),
    ("bfe", bits::bfe),
    ("bfi", bits::bfi),
    ("bfind", bits::bfind),
    ("bmsk", bits::bmsk),
    ("bra", branch::bra),
    ("brev", bits::count),
    ("brkpt", branch::trap),
    ("brx", branch::brx),
    ("call", call::call),
    ("clz", bits::count),
    ("cnot", bits::not),
    ("copysign", sign::copysign),
    ("cos", approx::approx),
    ("createpolicy", hint::createpolicy),
    ("cvt", cvt::cvt),
    ("cvta", moves::cvta),
    ("discard", hint::hint),
    ("div", integer::div),
    ("dp2a", bits::dp),
    ("dp4a", bits::dp),
    ("elect", warp::elect),
    ("ex2", approx::approx),
    ("exit", branch::exit),
    ("fence", hint::fence),
    ("fma", float::fma),
    ("fns", bits::fns),
    ("griddepcontrol", hint::hint),
    ("isspacep", moves::isspacep),
    ("ld", load_store::ld),
    ("ldu", load_store::ld),
    ("lg2", approx::approx),
    ("lop3", bits::lop3),
    ("mad", integer::mad),
    ("mad24", integer::mul24),
    ("madc", carry::carry),
    ("match", warp::matching),
    ("max", minmax::min_max),
    ("membar", hint::fence),
    ("min", minmax::min_max),
    ("mov", moves::mov),
    ("mul", integer::mul),
    ("mul24", integer::mul24),
    ("nanosleep", branch::nanosleep),
    ("neg", sign::neg),
    ("not", bits::not),
    ("or", bits::logic),
    ("pmevent", hint::hint),
    ("popc", bits::count),
    ("prefetch", hint::hint),
    ("prefetchu", hint::hint),
    ("prmt", bits::prmt),
    ("rcp", float::rcp),
    ("red", atom::decode),
    ("redux", warp::redux),
    ("rem", integer::rem),
    ("ret", branch::ret),
    ("rsqrt", approx::approx),
    ("sad", integer::sad),
    ("selp", compare::selp),
    ("set", compare::set),
    ("setmaxnreg", hint::hint),
    ("setp", compare::setp),
    ("shf", shift::shf),
    ("shfl", warp::shfl),
    ("shl", shift::shift),
    ("shr", shift::shift),
    ("sin", approx::approx),
    ("slct", compare::slct),
    ("sqrt", float::sqrt),
    ("st", load_store::st),
    ("sub", integer::sub),
    ("subc", carry::carry),
    ("szext", bits::szext),
    ("tanh", approx::approx),
    ("testp", sign::testp),
    ("trap", branch::trap),
    ("vote", warp::vote),
    ("xor", bits::logic),
];

static INDEX: LazyLock<HashMap<&'static str, Decode>> =
    LazyLock::new(|| TABLE.iter().copied().collect());

/// Decodes one instruction into `cx`.
pub(super) fn decode<'a>(cx: &mut Cx<'a, '_>, ins: &Instr<'a>) -> Result<(), Bad> {
    match INDEX.get(ins.op.base) {
        Some(f) => f(cx, ins),
        None => Err(Bad::new("unknown opcode")),
    }
}
