//! Random kernels from bytes: structured programs, so that every one ends, written out as
//! PTX. The same bytes give the same kernel.

use std::fmt::Write as _;

use crate::ops::{Class, OPS, Op};

/// Registers of each class.
pub(crate) const REGISTERS: usize = 6;
/// Words of local memory of a thread.
pub(crate) const LOCAL: usize = 8;
/// Functions that a kernel may call.
pub(crate) const FUNCTIONS: usize = 2;
/// Most threads of a block.
pub(crate) const THREADS: u32 = 96;
/// Most statements, nested ones included.
const STATEMENTS: usize = 60;

/// Where decisions come from; zeros when it is used up.
pub(crate) struct Entropy<'a>(&'a [u8]);

impl<'a> Entropy<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        let wide = usize::from(self.byte()) << 8 | usize::from(self.byte());
        wide % end.max(1)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A source operand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Register(usize),
    Value(u64),
}

/// An instruction under a predicate.
pub(crate) struct Instruction {
    pub(crate) guard: Option<(usize, bool)>,
    pub(crate) op: &'static Op,
    pub(crate) result: usize,
    pub(crate) sources: Vec<Source>,
}

pub(crate) enum Statement {
    Op(Instruction),
    If {
        predicate: usize,
        negated: bool,
        then: Vec<Statement>,
        other: Vec<Statement>,
    },
    /// Runs as often as the low three bits of a register say when it begins.
    Loop {
        count: usize,
        body: Vec<Statement>,
        /// Left early when this predicate is true after a round.
        until: Option<usize>,
    },
    /// `r[result] = function(r[a], r[b])`.
    Call {
        function: usize,
        result: usize,
        arguments: [usize; 2],
    },
    /// `local[r[index] % LOCAL] = r[value]`.
    Store {
        index: usize,
        value: usize,
    },
    Load {
        index: usize,
        result: usize,
    },
    /// Every thread adds a register to one word in memory.
    Add {
        value: usize,
    },
    /// Only at the outermost level, where all threads meet: each thread puts a register
    /// into shared memory and takes that of its neighbour `distance` on.
    Exchange {
        value: usize,
        result: usize,
        distance: u32,
    },
    /// At the outermost level too: a shuffle of the full warps.
    Shuffle {
        value: usize,
        result: usize,
        mask: u32,
    },
    /// A vote of the full warps.
    Ballot {
        predicate: usize,
        result: usize,
    },
}

/// A device function: instructions on 32-bit registers alone.
pub(crate) type Function = Vec<Instruction>;

pub(crate) struct Kernel {
    pub(crate) threads: u32,
    pub(crate) blocks: u32,
    pub(crate) body: Vec<Statement>,
    pub(crate) functions: Vec<Function>,
}

/// Bits that find mistakes.
const EDGES: [u64; 16] = [
    0,
    1,
    2,
    7,
    31,
    32,
    63,
    0x7f,
    0x80,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
    0x1_0000_0000,
];

const FLOATS: [f32; 12] = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    0.5,
    2.5,
    1e-40,
    f32::MAX,
    f32::MIN_POSITIVE,
    f32::INFINITY,
    f32::NAN,
    16_777_217.0,
];

impl Kernel {
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let mut from = Entropy::new(bytes);
        let threads = 1 + from.below(THREADS as usize) as u32;
        let blocks = 1 + from.below(3) as u32;
        let functions = (0..FUNCTIONS)
            .map(|_| {
                let count = 1 + from.below(4);
                (0..count).map(|_| instruction(&mut from, true)).collect()
            })
            .collect();
        let mut left = STATEMENTS;
        let body = block(&mut from, 0, &mut left);
        Self {
            threads,
            blocks,
            body,
            functions,
        }
    }
}

fn block(from: &mut Entropy<'_>, depth: usize, left: &mut usize) -> Vec<Statement> {
    let most = if depth == 0 {
        STATEMENTS
    } else {
        1 + from.below(6)
    };
    let mut statements = Vec::new();
    while statements.len() < most && *left > 0 && !from.is_empty() {
        *left -= 1;
        statements.push(statement(from, depth, left));
    }
    statements
}

fn statement(from: &mut Entropy<'_>, depth: usize, left: &mut usize) -> Statement {
    let register = |from: &mut Entropy<'_>| from.below(REGISTERS);
    match from.below(24) {
        0 | 1 if depth < 3 => Statement::If {
            predicate: register(from),
            negated: from.below(2) == 1,
            then: block(from, depth + 1, left),
            other: block(from, depth + 1, left),
        },
        2 | 3 if depth < 2 => Statement::Loop {
            count: register(from),
            body: block(from, depth + 1, left),
            until: (from.below(3) == 0).then(|| register(from)),
        },
        4 => Statement::Call {
            function: from.below(FUNCTIONS),
            result: register(from),
            arguments: [register(from), register(from)],
        },
        5 => Statement::Store {
            index: register(from),
            value: register(from),
        },
        6 => Statement::Load {
            index: register(from),
            result: register(from),
        },
        7 => Statement::Add {
            value: register(from),
        },
        8 if depth == 0 => Statement::Exchange {
            value: register(from),
            result: register(from),
            distance: from.below(THREADS as usize) as u32,
        },
        9 if depth == 0 => Statement::Shuffle {
            value: register(from),
            result: register(from),
            mask: from.below(32) as u32,
        },
        10 if depth == 0 => Statement::Ballot {
            predicate: register(from),
            result: register(from),
        },
        _ => Statement::Op(instruction(from, false)),
    }
}

fn instruction(from: &mut Entropy<'_>, plain: bool) -> Instruction {
    let allowed = |op: &&Op| {
        !plain || op.result == Class::R && op.sources.iter().all(|class| *class == Class::R)
    };
    let all: Vec<_> = OPS.iter().filter(allowed).collect();
    let op = all[from.below(all.len())];
    let guard = (!plain && from.below(4) == 0).then(|| (from.below(REGISTERS), from.below(2) == 1));
    // Several instructions in one text would need the guard on each.
    let guard = guard.filter(|_| op.text.matches(';').count() == 1);
    let result = from.below(REGISTERS);
    let mut fixed = 0;
    let sources = op
        .sources
        .iter()
        .map(|class| {
            // At most one immediate: with more, some are folded and some refused.
            let value =
                *class != Class::P && fixed == 0 && from.below(5) == 0 && op.sources.len() > 1;
            if !value || op.text.contains("mov.b64") {
                return Source::Register(from.below(REGISTERS));
            }
            fixed += 1;
            Source::Value(match class {
                Class::F => u64::from(FLOATS[from.below(FLOATS.len())].to_bits()),
                Class::R => EDGES[from.below(EDGES.len())] & 0xffff_ffff,
                _ => EDGES[from.below(EDGES.len())],
            })
        })
        .collect();
    // What a text reads after it has written the result must not be the result.
    let mut sources: Vec<_> = sources;
    if op.text.contains(".cc.") {
        for source in &mut sources {
            if let Source::Register(at) = source
                && *at == result
            {
                *at = (result + 1) % REGISTERS;
            }
        }
    }
    Instruction {
        guard,
        op,
        result,
        sources,
    }
}

fn name(class: Class, at: usize) -> String {
    match class {
        Class::R => format!("%r{at}"),
        Class::D => format!("%d{at}"),
        Class::F => format!("%f{at}"),
        Class::P => format!("%p{at}"),
    }
}

struct Writer {
    text: String,
    labels: usize,
}

impl Writer {
    fn label(&mut self) -> String {
        self.labels += 1;
        format!("$L{}", self.labels)
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn instruction(&mut self, one: &Instruction) {
        let mut text = one.op.text.replace("{d}", &name(one.op.result, one.result));
        for ((source, class), place) in one
            .sources
            .iter()
            .zip(one.op.sources)
            .zip(["{a}", "{b}", "{c}"])
        {
            let operand = match (source, class) {
                (Source::Register(at), class) => name(*class, *at),
                (Source::Value(bits), Class::F) => format!("0f{bits:08X}"),
                (Source::Value(bits), _) => format!("{bits:#x}"),
            };
            text = text.replace(place, &operand);
        }
        if let Some((predicate, negated)) = one.guard {
            let not = if negated { "!" } else { "" };
            text = format!("@{not}%p{predicate} {text}");
        }
        self.line(&text);
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Op(one) => self.instruction(one),
            Statement::If {
                predicate,
                negated,
                then,
                other,
            } => {
                let (other_label, end) = (self.label(), self.label());
                let not = if *negated { "" } else { "!" };
                self.line(&format!("@{not}%p{predicate} bra {other_label};"));
                self.statements(then);
                self.line(&format!("bra {end};\n{other_label}:"));
                self.statements(other);
                self.line(&format!("{end}:"));
            }
            Statement::Loop { count, body, until } => {
                let (start, end) = (self.label(), self.label());
                let counter = format!("%n{}", self.labels);
                self.line(&format!(
                    "{{ .reg .b32 {counter}; .reg .pred %q{};",
                    self.labels
                ));
                let flag = format!("%q{}", self.labels);
                self.line(&format!("and.b32 {counter}, %r{count}, 7;\n{start}:"));
                self.line(&format!(
                    "setp.eq.u32 {flag}, {counter}, 0;\n@{flag} bra {end};"
                ));
                self.statements(body);
                if let Some(until) = until {
                    self.line(&format!("@%p{until} bra {end};"));
                }
                self.line(&format!(
                    "sub.u32 {counter}, {counter}, 1;\nbra.uni {start};\n{end}:\n}}"
                ));
            }
            Statement::Call {
                function,
                result,
                arguments: [a, b],
            } => {
                self.line("{ .param .b32 x; .param .b32 y; .param .b32 z;");
                self.line(&format!(
                    "st.param.b32 [x], %r{a};\nst.param.b32 [y], %r{b};"
                ));
                self.line(&format!("call.uni (z), function{function}, (x, y);"));
                self.line(&format!("ld.param.b32 %r{result}, [z]; }}"));
            }
            Statement::Store { index, value } => {
                self.line(&format!("and.b32 %t, %r{index}, {};", LOCAL - 1));
                self.line("mul.wide.u32 %v, %t, 4; add.u64 %v, %base, %v;");
                self.line(&format!("st.local.b32 [%v], %r{value};"));
            }
            Statement::Load { index, result } => {
                self.line(&format!("and.b32 %t, %r{index}, {};", LOCAL - 1));
                self.line("mul.wide.u32 %v, %t, 4; add.u64 %v, %base, %v;");
                self.line(&format!("ld.local.b32 %r{result}, [%v];"));
            }
            Statement::Add { value } => {
                self.line(&format!("red.global.add.u32 [%sum], %r{value};"));
            }
            Statement::Exchange {
                value,
                result,
                distance,
            } => {
                self.line("mul.wide.u32 %v, %tid, 4; add.u64 %v, %shared, %v;");
                self.line(&format!("st.shared.b32 [%v], %r{value};\nbar.sync 0;"));
                self.line(&format!(
                    "add.u32 %t, %tid, {distance}; rem.u32 %t, %t, %ntid;"
                ));
                self.line("mul.wide.u32 %v, %t, 4; add.u64 %v, %shared, %v;");
                self.line(&format!("ld.shared.b32 %r{result}, [%v];\nbar.sync 0;"));
            }
            Statement::Shuffle {
                value,
                result,
                mask,
            } => {
                // Lanes that do not exist keep the thread's own value.
                self.line("activemask.b32 %u;");
                self.line(&format!(
                    "shfl.sync.bfly.b32 %t, %r{value}, {mask}, 31, %u;"
                ));
                self.line(&format!(
                    "xor.b32 %w, %lane, {mask}; shr.u32 %w, %u, %w; and.b32 %w, %w, 1;"
                ));
                self.line("setp.ne.u32 %q, %w, 0;");
                self.line(&format!(
                    "@%q mov.b32 %r{result}, %t;\n@!%q mov.b32 %r{result}, %r{value};"
                ));
            }
            Statement::Ballot { predicate, result } => {
                self.line("activemask.b32 %u;");
                self.line(&format!(
                    "vote.sync.ballot.b32 %r{result}, %p{predicate}, %u;"
                ));
            }
        }
    }
}

/// Bytes that a thread writes at the end: its registers of 32 and 64 bits, floats and
/// predicates, and its local memory.
pub(crate) const RECORD: usize = REGISTERS * (4 + 8 + 4 + 4) + LOCAL * 4;

impl Kernel {
    /// The kernel as PTX: `k(out, sum)`.
    pub(crate) fn ptx(&self) -> String {
        let mut writer = Writer {
            text: String::from(".version 8.0\n.target sm_90\n.address_size 64\n"),
            labels: 0,
        };
        for (index, function) in self.functions.iter().enumerate() {
            let parameters = "(.param .b32 x, .param .b32 y)";
            writer.line(&format!(
                ".func (.param .b32 z) function{index} {parameters}\n{{"
            ));
            writer.line(&format!(".reg .b32 %r<{REGISTERS}>, %t;"));
            writer.line("ld.param.b32 %r0, [x]; ld.param.b32 %r1, [y];");
            for at in 2..REGISTERS {
                writer.line(&format!("mov.b32 %r{at}, {at};"));
            }
            function.iter().for_each(|one| writer.instruction(one));
            writer.line("st.param.b32 [z], %r0;\nret;\n}");
        }
        writer.line(".visible .entry k(.param .u64 out, .param .u64 sum)\n{");
        writer.line(&format!(
            ".reg .b32 %r<{REGISTERS}>; .reg .b64 %d<{REGISTERS}>;"
        ));
        writer.line(&format!(
            ".reg .f32 %f<{REGISTERS}>; .reg .pred %p<{REGISTERS}>;"
        ));
        writer.line(".reg .b32 %t, %u, %w, %tid, %ntid, %lane, %id; .reg .b64 %v, %base, %shared, %sum, %out; .reg .pred %q;");
        writer.line(&format!(".local .align 4 .b8 mine[{}];", LOCAL * 4));
        writer.line(&format!(".shared .align 4 .b8 all[{}];", THREADS * 4));
        writer.line("mov.u64 %base, mine; mov.u64 %shared, all; ld.param.u64 %sum, [sum];");
        writer.line("mov.u32 %tid, %tid.x; mov.u32 %ntid, %ntid.x; mov.u32 %lane, %laneid;");
        writer.line("mov.u32 %t, %ctaid.x; mad.lo.u32 %id, %t, %ntid, %tid;");
        for at in 0..REGISTERS {
            // What the oracle's `initial` computes.
            writer.line(&format!(
                "mad.lo.u32 %r{at}, %id, {}, {};",
                2 * at + 1,
                at * 1000
            ));
            writer.line(&format!("mul.wide.u32 %d{at}, %r{at}, {};", 0x9e37_79b9u32));
            writer.line(&format!("cvt.rn.f32.u32 %f{at}, %r{at};"));
            writer.line(&format!(
                "and.b32 %t, %r{at}, 1; setp.ne.u32 %p{at}, %t, 0;"
            ));
        }
        for at in 0..LOCAL {
            writer.line(&format!("st.local.b32 [%base+{}], {at};", at * 4));
        }
        writer.statements(&self.body);
        writer.line(&format!(
            "ld.param.u64 %out, [out]; mad.wide.u32 %out, %id, {RECORD}, %out;"
        ));
        let mut at = 0;
        let mut put = |line: String, size: usize, writer: &mut Writer| {
            writer.line(&line.replace("{at}", &at.to_string()));
            at += size;
        };
        // Words of 8 bytes first, so that every one is aligned.
        for k in 0..REGISTERS {
            put(
                format!("st.global.b64 [%out+{{at}}], %d{k};"),
                8,
                &mut writer,
            );
        }
        for k in 0..REGISTERS {
            put(
                format!("st.global.b32 [%out+{{at}}], %r{k};"),
                4,
                &mut writer,
            );
            // NaNs of instructions that move them have the sign and payload of their source.
            let canonical =
                format!("setp.nan.f32 %q, %f{k}, %f{k};\n@%q mov.f32 %f{k}, 0f7FFFFFFF;\n");
            put(
                format!("{canonical}st.global.f32 [%out+{{at}}], %f{k};"),
                4,
                &mut writer,
            );
            put(
                format!("selp.u32 %t, 1, 0, %p{k};\nst.global.b32 [%out+{{at}}], %t;"),
                4,
                &mut writer,
            );
        }
        for k in 0..LOCAL {
            let load = format!("ld.local.b32 %t, [%base+{}];\n", k * 4);
            put(
                format!("{load}st.global.b32 [%out+{{at}}], %t;"),
                4,
                &mut writer,
            );
        }
        writer.line("ret;\n}");
        let _ = write!(writer.text, "");
        writer.text
    }
}
