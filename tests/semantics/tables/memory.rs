//! `ld` and `st` (PTX ISA 9.7.9.8, 9.7.9.11): widths, vectors, extension (9.4.1), spaces.

use crate::edges::ones;
use crate::form::{Expect, Form, Ty};
use crate::oracle::int::{number, wrap};

/// PTX that makes `%at` the thread's own 16 bytes in a space.
fn own(space: &str) -> &'static str {
    match space {
        ".global" => ".reg .b64 %at; mov.u64 %at, %out;",
        ".shared" => {
            ".shared .align 16 .b8 cells[2048]; .reg .b64 %at; .reg .b32 %own;
            mov.u32 %own, %tid.x; mov.u64 %at, cells; mad.wide.u32 %at, %own, 16, %at;"
        }
        ".local" => ".local .align 16 .b8 cell[16]; .reg .b64 %at; mov.u64 %at, cell;",
        _ => ".reg .b64 %at; cvta.global.u64 %at, %out;",
    }
}

const SPACES: [&str; 4] = [".global", ".shared", ".local", ""];

const NARROW: [Ty; 6] = [Ty::B8, Ty::U8, Ty::S8, Ty::B16, Ty::U16, Ty::S16];

pub(crate) fn all() -> Vec<Form> {
    let mut all = Vec::new();
    for space in SPACES {
        for ty in NARROW {
            all.extend(narrow(space, ty));
        }
        for ty in [Ty::B32, Ty::U32, Ty::S32] {
            all.push(load(space, ty, Ty::B64, 4));
        }
        all.push(store(space));
        all.extend(vectors(space));
    }
    all.extend(moves());
    all
}

/// Loads of a narrow type into each wider register, from an offset.
fn narrow(space: &str, ty: Ty) -> Vec<Form> {
    let registers = [Ty::B16, Ty::B32, Ty::B64];
    let mut all: Vec<Form> = registers.map(|to| load(space, ty, to, 2)).into();
    if ty.bits() == 8 {
        all.push(load(space, ty, Ty::B32, 7));
    }
    all
}

/// A word is stored, and a part of it loaded: sign-extended if the type is signed.
fn load(space: &str, ty: Ty, to: Ty, offset: u32) -> Form {
    let t = ty.name();
    let form = Form::new(
        format!("ld{space}.{t} into {} at {offset}", to.name()),
        &[Ty::B64],
        to,
        ones(Ty::U64),
        move |a| wrap(number(a[0] >> (8 * offset), ty), to),
    );
    form.body(format!(
        "{} st{space}.b64 [%at], %a0; ld{space}.{t} %d0, [%at+{offset}];",
        own(space)
    ))
}

/// Narrow stores change their own bytes and no others.
fn store(space: &str) -> Form {
    let form = Form::new(
        format!("st{space}.b8, .b16 and .b32 into one word"),
        &[Ty::B64, Ty::B64],
        Ty::B64,
        crate::edges::pairs(Ty::U64, Ty::U64),
        |a| {
            let low = a[1];
            let mut bytes = a[0].to_le_bytes();
            bytes[1] = low as u8;
            bytes[2..4].copy_from_slice(&(low as u16).to_le_bytes());
            bytes[4..].copy_from_slice(&(low as u32).to_le_bytes());
            bytes[7] = (low >> 8) as u8;
            u64::from_le_bytes(bytes)
        },
    );
    form.body(format!(
        "{} .reg .b32 %w; .reg .b16 %h; st{space}.b64 [%at], %a0;
        cvt.u32.u64 %w, %a1; cvt.u16.u64 %h, %a1;
        st{space}.u8 [%at+1], %h; st{space}.b16 [%at+2], %w; st{space}.s32 [%at+4], %w;
        shr.u32 %w, %w, 8; st{space}.b8 [%at+7], %w; ld{space}.b64 %d0, [%at];",
        own(space)
    ))
}

/// Two and four elements at once. Eight bytes hold all but those of 4 x 32 and 2 x 64 bits.
fn vectors(space: &str) -> Vec<Form> {
    let mut all = Vec::new();
    for (count, ty) in [
        (2, Ty::U8),
        (4, Ty::S8),
        (2, Ty::S16),
        (4, Ty::U16),
        (2, Ty::S32),
        (4, Ty::U32),
        (2, Ty::U64),
    ] {
        let to = if ty.bits() == 64 { Ty::B64 } else { Ty::B32 };
        let t = ty.name();
        let words = [Ty::B64, Ty::B64];
        let form = Form::many(
            format!("ld{space}.v{count}.{t}"),
            &words,
            &vec![to; count],
            crate::edges::pairs(Ty::U64, Ty::U64),
            move |a| {
                let both = u128::from(a[0]) | u128::from(a[1]) << 64;
                let element = |i: usize| (both >> (ty.bits() as usize * i)) as u64;
                let extended = |i| Expect::Is(wrap(number(element(i), ty), to));
                (0..count).map(extended).collect()
            },
        );
        let list = |r: &str| {
            let names: Vec<String> = (0..count).map(|i| format!("{r}{i}")).collect();
            names.join(", ")
        };
        // The place in global memory is the thread's own results: 16 bytes if two words are.
        all.push(form.body(format!(
            "{} st{space}.b64 [%at], %a0; {} ld{space}.v{count}.{t} {{{}}}, [%at];",
            own(space),
            if ty.bits() as usize * count > 64 {
                format!("st{space}.b64 [%at+8], %a1;")
            } else {
                String::new()
            },
            list("%d")
        )));
        if ty.bits() == 32 {
            let form = Form::many(
                format!("st{space}.v{count}.{t}"),
                &words,
                &words,
                crate::edges::pairs(Ty::U64, Ty::U64),
                move |a| {
                    let upper = if count == 4 { a[1] } else { 0 };
                    vec![Expect::Is(a[0]), Expect::Is(upper)]
                },
            );
            all.push(form.body(format!(
                "{} .reg .b32 %w<4>; .reg .b64 %zero; mov.u64 %zero, 0; st{space}.b64 [%at+8], %zero;
                mov.b64 {{%w0, %w1}}, %a0; mov.b64 {{%w2, %w3}}, %a1;
                st{space}.v{count}.{t} [%at], {{{}}};
                ld{space}.b64 %d0, [%at]; ld{space}.b64 %d1, [%at+8];",
                own(space),
                list("%w")
            )));
        }
    }
    all
}

/// Words packed of parts and taken apart (9.7.9.4).
fn moves() -> Vec<Form> {
    let halves = Form::many(
        "mov.b32 of two halves",
        &[Ty::B32],
        &[Ty::B16, Ty::B16, Ty::B32],
        ones(Ty::U32),
        |a| {
            let (low, high) = (a[0] & 0xffff, a[0] >> 16);
            [low, high, low << 16 | high].map(Expect::Is).to_vec()
        },
    );
    let words = Form::many(
        "mov.b64 of two words",
        &[Ty::B64],
        &[Ty::B32, Ty::B32, Ty::B64],
        ones(Ty::U64),
        |a| {
            let (low, high) = (a[0] & 0xffff_ffff, a[0] >> 32);
            [low, high, low << 32 | high].map(Expect::Is).to_vec()
        },
    );
    let quarters = Form::many(
        "mov.b64 of four halves",
        &[Ty::B64],
        &[Ty::B16, Ty::B16, Ty::B16, Ty::B16, Ty::B64],
        ones(Ty::U64),
        |a| {
            let part = |i: u64| a[0] >> (16 * i) & 0xffff;
            let turned = (0..4).fold(0, |w, i| w << 16 | part(i));
            let parts = [part(0), part(1), part(2), part(3), turned];
            parts.map(Expect::Is).to_vec()
        },
    );
    vec![
        halves.body("mov.b32 {%d0, %d1}, %a0; mov.b32 %d2, {%d1, %d0};"),
        words.body("mov.b64 {%d0, %d1}, %a0; mov.b64 %d2, {%d1, %d0};"),
        quarters.body("mov.b64 {%d0, %d1, %d2, %d3}, %a0; mov.b64 %d4, {%d3, %d2, %d1, %d0};"),
    ]
}
