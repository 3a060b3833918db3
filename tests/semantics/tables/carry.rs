//! Extended precision (PTX ISA 9.7.2): chains of words are one sum, difference or product.

use crate::edges::{few, mixed, ones, product};
use crate::form::{Expect, Form, Ty};

/// A number of `n` words in one list of operands, and back.
fn join(words: &[u64], bits: u32) -> u128 {
    let fold = |sum: u128, (i, w): (usize, &u64)| sum | u128::from(*w) << (bits as usize * i);
    words.iter().enumerate().fold(0, fold)
}

fn split(value: u128, bits: u32, words: usize) -> Vec<Expect> {
    let word = |i: usize| (value >> (bits as usize * i)) as u64 & (u64::MAX >> (64 - bits));
    (0..words).map(|i| Expect::Is(word(i))).collect()
}

pub(crate) fn chains() -> Vec<Form> {
    let mut all = Vec::new();
    for ty in [Ty::U32, Ty::S32, Ty::U64, Ty::S64] {
        all.push(sums("add", ty, u128::wrapping_add));
        all.push(sums("sub", ty, u128::wrapping_sub));
        all.extend(carry_out(ty));
        all.push(square(ty));
        all.extend(multiply_add(ty));
    }
    for words in [3, 4] {
        all.push(long("add", words, u128::wrapping_add));
        all.push(long("sub", words, u128::wrapping_sub));
    }
    all
}

/// Two words: the first gives the carry, the second takes it.
fn sums(op: &str, ty: Ty, f: fn(u128, u128) -> u128) -> Form {
    let t = ty.name();
    let bits = ty.bits();
    let lists = [few(ty), few(ty), few(ty), few(ty)];
    let lists = lists.map(|mut list| {
        list.truncate(7);
        list
    });
    let form = Form::many(
        format!("{op}.cc.{t} {op}c.{t}"),
        &[ty; 4],
        &[ty; 2],
        mixed(&lists, &[ty; 4]),
        move |a| split(f(join(&a[..2], bits), join(&a[2..], bits)), bits, 2),
    );
    form.body(format!(
        "{op}.cc.{t} %d0, %a0, %a2; {op}c.{t} %d1, %a1, %a3;"
    ))
}

/// Three or four words of 32 bits: a carry goes through the middle.
fn long(op: &str, words: usize, f: fn(u128, u128) -> u128) -> Form {
    let edges = vec![0, 1, 0xffff_ffff, 0x8000_0000];
    let mut operands = product(&vec![edges; 2 * words]);
    if words == 4 {
        operands = operands.into_iter().step_by(17).collect();
    }
    let mut body = format!("{op}.cc.u32 %d0, %a0, %a{words};");
    for i in 1..words {
        let cc = if i + 1 < words { ".cc" } else { "" };
        body += &format!(" {op}c{cc}.u32 %d{i}, %a{i}, %a{};", words + i);
    }
    let form = Form::many(
        format!("{op}.cc {op}c.cc of {words} words"),
        &vec![Ty::U32; 2 * words],
        &vec![Ty::U32; words],
        operands,
        move |a| split(f(join(&a[..words], 32), join(&a[words..], 32)), 32, words),
    );
    form.body(body)
}

/// The flag itself: `addc` and `subc` of zeros.
fn carry_out(ty: Ty) -> [Form; 2] {
    let t = ty.name();
    let mask = u64::MAX >> (64 - ty.bits());
    let edges = crate::edges::pairs(ty, ty);
    let sum = Form::many(
        format!("addc.{t} of the carry"),
        &[ty; 2],
        &[ty; 2],
        edges.clone(),
        move |a| {
            let sum = u128::from(a[0]) + u128::from(a[1]);
            let carry = u64::from(sum > u128::from(mask));
            vec![Expect::Is(sum as u64 & mask), Expect::Is(carry)]
        },
    );
    let difference = Form::many(
        format!("subc.{t} of the borrow"),
        &[ty; 2],
        &[ty; 2],
        edges,
        move |a| {
            let borrow = if a[0] < a[1] { mask } else { 0 };
            vec![
                Expect::Is(a[0].wrapping_sub(a[1]) & mask),
                Expect::Is(borrow),
            ]
        },
    );
    [
        sum.body(format!("add.cc.{t} %d0, %a0, %a1; addc.{t} %d1, 0, 0;")),
        difference.body(format!("sub.cc.{t} %d0, %a0, %a1; subc.{t} %d1, 0, 0;")),
    ]
}

/// The square of a number of two words, as the PTX ISA multiplies (9.7.2.6). 64-bit words
/// would need 256 bits, so there it is the product of two words plus a third.
fn square(ty: Ty) -> Form {
    let t = ty.name();
    if ty.bits() == 64 {
        let form = Form::many(
            format!("mad.lo.cc.{t} madc.hi.{t}"),
            &[Ty::U64; 3],
            &[Ty::U64; 2],
            crate::edges::triples(Ty::U64, Ty::U64, Ty::U64),
            |a| {
                split(
                    u128::from(a[0]) * u128::from(a[1]) + u128::from(a[2]),
                    64,
                    2,
                )
            },
        );
        // The upper half of a product is another one for signed factors.
        return form.body(format!(
            "mad.lo.cc.{t} %d0, %a0, %a1, %a2; madc.hi.u64 %d1, %a0, %a1, 0;"
        ));
    }
    let form = Form::many(
        format!("mad.cc.{t} madc.cc.{t} square"),
        &[Ty::U64],
        &[Ty::U32; 4],
        ones(Ty::U64),
        |a| split(u128::from(a[0]) * u128::from(a[0]), 32, 4),
    );
    form.body(format!(
        ".reg .b32 %l, %h; mov.b64 {{%l, %h}}, %a0;
        mul.lo.u32 %d0, %l, %l; mul.hi.u32 %d1, %l, %l;
        mad.lo.cc.{t} %d1, %h, %l, %d1; madc.hi.u32 %d2, %h, %l, 0;
        mad.lo.cc.{t} %d1, %l, %h, %d1; madc.hi.cc.u32 %d2, %l, %h, %d2; addc.{t} %d3, 0, 0;
        mad.lo.cc.{t} %d2, %h, %h, %d2; madc.hi.u32 %d3, %h, %h, %d3;"
    ))
}

/// `mad.{lo,hi}.cc` and `madc.{lo,hi}`: half a product, a sum, and its carry.
fn multiply_add(ty: Ty) -> Vec<Form> {
    let t = ty.name();
    let bits = ty.bits();
    let mask = u128::from(u64::MAX >> (64 - bits));
    let half = move |a: u64, b: u64, high: bool| {
        let [a, b] = [a, b].map(|v| crate::oracle::int::number(v, ty));
        let product = a.wrapping_mul(b).cast_unsigned();
        (if high { product >> bits } else { product }) & mask
    };
    let mut all = Vec::new();
    for (mode, high) in [("lo", false), ("hi", true)] {
        let form = Form::many(
            format!("mad.{mode}.cc.{t} addc"),
            &[ty; 3],
            &[ty; 2],
            crate::edges::triples(ty, ty, ty),
            move |a| split(half(a[0], a[1], high) + u128::from(a[2]), bits, 2),
        );
        all.push(form.body(format!(
            "mad.{mode}.cc.{t} %d0, %a0, %a1, %a2; addc.{t} %d1, 0, 0;"
        )));
        // The carry that goes in: all ones and one make it, zero and one do not.
        let form = Form::many(
            format!("madc.{mode}.cc.{t}"),
            &[ty, ty, ty, ty],
            &[ty; 2],
            crate::edges::triples(ty, ty, ty)
                .into_iter()
                .enumerate()
                .map(|(i, mut a)| {
                    a.push(if i % 2 == 0 { mask as u64 } else { 0 });
                    a
                })
                .collect(),
            move |a| {
                let carry = u128::from(a[3] != 0);
                split(half(a[0], a[1], high) + u128::from(a[2]) + carry, bits, 2)
            },
        );
        all.push(form.body(format!(
            "add.cc.{t} %d0, %a3, 1; madc.{mode}.cc.{t} %d0, %a0, %a1, %a2; addc.{t} %d1, 0, 0;"
        )));
    }
    all
}
