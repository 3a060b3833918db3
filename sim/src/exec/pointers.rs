//! `Pointers`: which parameters of a kernel may become addresses.
//!
//! A parameter that holds the first address of a block may be the end of the block before it, as in
//! `kernel(begin, end)`, or a pointer to the block. What the kernel does with it tells: an end is
//! compared, or subtracted for a length that is compared. Looked at is which value goes into which,
//! in whatever order instructions run, so what is no pointer here is none, and what is one may be
//! none.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::kernel::ParamInfo;
use super::loader::operand_names;
use crate::ptx::{Func, Instr, Operand, ScalarType, Stmt};

/// Instructions that put nothing of what they read into a register but whether it is so.
const TESTS: &[&str] = &["set", "setp", "testp"];

/// The words of a kernel's parameters that may become addresses, by their number: eight bytes each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pointers(BTreeSet<usize>);

impl Pointers {
    /// Whether a word may become an address, or a part of one.
    pub(crate) fn has(&self, word: usize) -> bool {
        self.0.contains(&word)
    }

    /// Those of an entry with these parameters.
    pub(super) fn of(func: &Func<'_>, params: &[ParamInfo]) -> Self {
        let params = func.params.iter().zip(params);
        let mut flow = Flow {
            params: params
                .map(|(param, info)| (param.var.name, *info))
                .collect(),
            ..Flow::default()
        };
        flow.body(func.body.as_deref().unwrap_or_default());
        flow.pointers()
    }
}

/// Which value goes into which.
#[derive(Default)]
struct Flow<'a> {
    params: HashMap<&'a str, ParamInfo>,
    /// For each register, what is put into it.
    from: HashMap<&'a str, Vec<&'a str>>,
    /// Registers and the words that are loaded into them.
    loaded: Vec<(&'a str, BTreeSet<usize>)>,
    /// Registers of which an address is made, or that other code sees.
    sinks: Vec<&'a str>,
    found: BTreeSet<usize>,
}

impl<'a> Flow<'a> {
    fn body(&mut self, body: &'a [Stmt<'a>]) {
        for stmt in body {
            match stmt {
                Stmt::Instr(instr) => self.instr(instr),
                Stmt::Scope(inner) => self.body(inner),
                _ => {}
            }
        }
    }

    fn instr(&mut self, instr: &'a Instr<'a>) {
        if TESTS.contains(&instr.op.base) {
            return;
        }
        let (into, of) = instr.args.split_at(instr.args.len().min(1));
        if let ("ld", [Operand::Address(Some(name), offset)]) = (instr.op.base, of)
            && let Some(param) = self.params.get(name)
        {
            let words = words(*param, *offset, bytes(instr));
            let registers = names(into).into_iter();
            self.loaded
                .extend(registers.map(|register| (register, words.clone())));
            return;
        }
        let of = names(of);
        // The address of a parameter: whatever is read from there.
        for name in names(into).iter().chain(&of) {
            if let Some(param) = self.params.get(name) {
                self.found.extend(words(*param, 0, i64::from(param.size)));
            }
        }
        let accesses = |arg: &Operand<'_>| {
            matches!(
                arg,
                Operand::Address(..) | Operand::Bracket(_) | Operand::List(_)
            )
        };
        if instr.args.iter().any(accesses) {
            // What is stored or passed on too: another kernel or function may use it.
            self.sinks.extend(of);
            if instr.op.base != "ld" {
                self.sinks.extend(names(into));
            }
            return;
        }
        for register in names(into) {
            self.from.entry(register).or_default().extend(&of);
        }
    }

    fn pointers(self) -> Pointers {
        let mut reached: HashSet<&str> = self.sinks.iter().copied().collect();
        let mut open = self.sinks;
        while let Some(register) = open.pop() {
            let from = self.from.get(register).into_iter().flatten();
            open.extend(from.filter(|from| reached.insert(from)));
        }
        let loaded = self.loaded.into_iter();
        let loaded = loaded.filter(|(register, _)| reached.contains(register));
        let mut found = self.found;
        found.extend(loaded.flat_map(|(_, words)| words));
        Pointers(found)
    }
}

fn names<'a>(args: &'a [Operand<'a>]) -> Vec<&'a str> {
    let mut names = Vec::new();
    for arg in args {
        operand_names(arg, &mut |name| names.push(name));
    }
    names
}

/// What a load takes, as far as its types say.
fn bytes(instr: &Instr<'_>) -> i64 {
    let mods = instr.op.mods.iter().rev();
    let size = mods
        .filter_map(|token| ScalarType::from_token(token))
        .next();
    let each = size.map_or(8, |ty| i64::from(ty.size()));
    let count = match instr.args.first() {
        Some(Operand::Vector(list)) => list.len() as i64,
        _ => 1,
    };
    each * count
}

/// The words that some bytes of a parameter are in.
fn words(param: ParamInfo, offset: i64, bytes: i64) -> BTreeSet<usize> {
    let first = i64::from(param.offset).saturating_add(offset).max(0);
    let last = first.saturating_add(bytes.max(1) - 1);
    // No kernel has more bytes of parameters.
    let word = |at: i64| usize::try_from(at.min(1 << 16) / 8).unwrap_or(0);
    (word(first)..=word(last)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::Module;

    /// The words of a kernel's four parameters, of eight bytes each, that may become addresses.
    fn pointers(body: &str) -> Vec<usize> {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.func helper(.param .u64 a) {{ ret; }}
            .entry k(.param .u64 a, .param .u64 b, .param .align 8 .b8 c[16]) {{
            .reg .b64 %x<9>; .reg .b32 %r<9>; .reg .pred %p<3>;
            ld.param.u64 %x1, [a]; ld.param.u64 %x2, [b]; {body} ret; }}"
        );
        let module = Module::parse(&text).unwrap();
        let func = module.funcs.iter().find(|func| func.entry).unwrap();
        let info = |offset, size| ParamInfo {
            offset,
            size,
            align: 8,
        };
        let params = [info(0, 8), info(8, 8), info(16, 16)];
        Pointers::of(func, &params).0.into_iter().collect()
    }

    /// Without it the end of a block would count as a use of the block that begins there, or a
    /// pointer as an end, so that what is done to its block would not be looked at.
    #[test]
    fn an_end_is_compared_and_a_pointer_used() {
        for (body, expected) in [
            ("", &[][..]),
            ("st.global.u32 [%x1+4], 1;", &[0]),
            // begin and end
            (
                "add.u64 %x3, %x1, 4; setp.ge.u64 %p1, %x3, %x2; @%p1 ret; ld.global.u32 %r1, [%x3];",
                &[0],
            ),
            // a length, of both
            (
                "sub.u64 %x3, %x2, %x1; shr.u64 %x3, %x3, 2; setp.lt.u64 %p1, 5, %x3;
                 mad.lo.u64 %x4, 5, 4, %x1; ld.global.u32 %r1, [%x4];",
                &[0],
            ),
            // from the end
            ("sub.u64 %x3, %x2, 4; ld.global.u32 %r1, [%x3];", &[1]),
            // round a loop, and written before it is put there
            (
                "again: st.global.u32 [%x4], 1; add.u64 %x4, %x3, 8; mov.u64 %x3, %x2; bra again;",
                &[1],
            ),
            // halves of a word, a struct by value, and a choice
            (
                "ld.param.v2.u32 {%r1, %r2}, [c+8]; mov.b64 %x3, {%r1, %r2}; ld.global.u32 %r3, [%x3];",
                &[3],
            ),
            (
                "ld.param.u64 %x3, [c]; setp.eq.u64 %p1, %x3, 0; selp.u64 %x4, %x1, %x2, %p1;
                 prefetch.global.L1 [%x4];",
                &[0, 1],
            ),
            // stored, passed on, and what is read by its address
            ("st.global.u64 [%x1], %x2;", &[0, 1]),
            ("atom.global.exch.b64 %x3, [%x1], %x2;", &[0, 1]),
            ("call helper, (%x2);", &[1]),
            ("mov.b64 %x3, c; ld.param.u64 %x4, [%x3+8];", &[2, 3]),
            // what memory says is not what a parameter says
            ("ld.global.u64 %x3, [%x1]; ld.global.u32 %r1, [%x3];", &[0]),
        ] {
            assert_eq!(pointers(body), expected, "{body}");
        }
    }
}
