//! Instructions put together from PTX's own words: most mean nothing, many decode. What
//! decodes also runs, on both instruction sets, which must agree; a fault is fine, a crash
//! or an access outside of the registers and the memory is not.
#![no_main]

#[path = "../../sim/tests/random_kernels/memory.rs"]
mod memory;

use cupola_sim::exec::{LaunchConfig, LaunchOptions, LoadOptions, Program, launch};
use cupola_sim::ptx::Module;
use libfuzzer_sys::fuzz_target;

use memory::{Memory, NoVariables, Piece};

const OPCODES: &[&str] = &[
    "add", "sub", "mul", "mad", "fma", "div", "rem", "abs", "neg", "min", "max", "and", "or", "xor",
    "not", "cnot", "lop3", "shl", "shr", "shf", "prmt", "bfe", "bfi", "bfind", "brev", "clz", "popc",
    "sad", "mul24", "mad24", "dp4a", "dp2a", "addc", "subc", "madc", "setp", "set", "selp", "slct",
    "cvt", "cvta", "mov", "ld", "st", "ldu", "atom", "red", "bar", "barrier", "shfl", "vote", "match",
    "redux", "activemask", "elect", "membar", "fence", "rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin",
    "cos", "tanh", "copysign", "testp", "isspacep", "nanosleep", "trap", "exit", "ret", "bra",
    "prefetch", "fns", "bmsk", "szext", "discard", "applypriority", "alloca", "call", "brx", "pmevent",
];

const MODIFIERS: &[&str] = &[
    "u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f16", "f16x2", "bf16", "bf16x2", "f32",
    "f64", "b8", "b16", "b32", "b64", "b128", "pred", "rn", "rz", "rm", "rp", "rni", "rzi", "rmi",
    "rpi", "ftz", "sat", "approx", "full", "lo", "hi", "wide", "cc", "eq", "ne", "lt", "le", "gt",
    "ge", "equ", "neu", "ltu", "num", "nan", "and", "or", "xor", "add", "min", "max", "inc", "dec",
    "exch", "cas", "global", "shared", "local", "const", "param", "to", "v2", "v4", "sync", "up",
    "down", "bfly", "idx", "ballot", "any", "all", "uni", "relaxed", "acquire", "release", "acq_rel",
    "gpu", "cta", "sys", "volatile", "nc", "ca", "cg", "cs", "wt", "l", "r", "clamp", "wrap", "f4e",
    "b4e", "rc8", "ecl", "ecr", "shiftamt", "relu", "xorsign", "abs", "NaN", "noftz", "popc", "red",
    "arrive", "aligned", "warp", "gl", "finite", "infinite", "normal", "subnormal", "number", "L1",
];

const OPERANDS: &[&str] = &[
    "%h0", "%h1", "%r0", "%r1", "%r2", "%r3", "%d0", "%d1", "%f0", "%f1", "%f2", "%g0", "%g1", "%p0",
    "%p1", "!%p1", "0", "1", "31", "-1", "0xffffffff", "0f3F800000", "0d3FF0000000000000", "1.5",
    "[%out]", "[%out+8]", "[%out+4096]", "[mine]", "[mine+4]", "[all]", "[all+16]", "[%d0]", "[out]",
    "{%r0, %r1}", "{%r0, %r1, %r2, %r3}", "{%h0, %h1}", "{%f0, %f1}", "{%d0, %d1}", "%tid.x",
    "%laneid", "%ctaid.y", "%r0|%p0", "%p0|%p1", "mine", "all", "$here", "_", "0xE8", "%lanemask_lt",
];

/// Takes the input a byte at a time; zeros at its end.
struct Words<'a>(std::slice::Iter<'a, u8>);

impl Words<'_> {
    fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    fn of(&mut self, list: &[&'static str]) -> &'static str {
        list[usize::from(self.byte()) % list.len()]
    }
}

fn text(bytes: &[u8]) -> String {
    let mut words = Words(bytes.iter());
    let mut text = String::from(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 out, .param .u64 other) {\n\
         .reg .b16 %h<2>; .reg .b32 %r<4>; .reg .b64 %d<2>; .reg .f32 %f<3>; .reg .f64 %g<2>;\n\
         .reg .pred %p<2>; .reg .b64 %out;\n\
         .local .align 16 .b8 mine[64]; .shared .align 16 .b8 all[64];\n\
         ld.param.u64 %out, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, 7; mov.u64 %d0, %out;\n",
    );
    while words.0.len() > 0 && text.len() < 8192 {
        match words.byte() % 8 {
            0 => text.push_str("@%p0 "),
            1 => text.push_str("@!%p1 "),
            2 if !text.contains("$here:") => text.push_str("$here: "),
            _ => {}
        }
        text.push_str(words.of(OPCODES));
        for _ in 0..words.byte() % 6 {
            text.push('.');
            text.push_str(words.of(MODIFIERS));
        }
        for at in 0..words.byte() % 6 {
            text.push_str(if at == 0 { " " } else { ", " });
            text.push_str(words.of(OPERANDS));
        }
        text.push_str(";\n");
    }
    if !text.contains("$here:") {
        text.push_str("$here:\n");
    }
    text.push_str("st.global.b32 [%out], %r0; st.global.b64 [%out+8], %d1; ret;\n}\n");
    text
}

fuzz_target!(|bytes: &[u8]| {
    let text = text(bytes);
    let Ok(module) = Module::parse(&text) else {
        return;
    };
    // Clocks and the like differ from run to run; there are none among the operands.
    let results = [false, true].map(|baseline| {
        #[allow(clippy::needless_update, reason = "other choices keep their defaults")]
        let options = LoadOptions {
            baseline,
            ..LoadOptions::default()
        };
        let program = Program::load_with(&module, &mut NoVariables, options).ok()?;
        let entry = program.kernel("k").ok()?;
        let memory = Memory([
            Piece::new(0x7100_0000_0000, 256),
            Piece::new(0x7200_0000_0000, 256),
        ]);
        let config = LaunchConfig {
            grid: [1, 1, 1],
            block: [40, 1, 1],
            dynamic_shared: 0,
        };
        let options = LaunchOptions {
            budget: 20_000,
            ..LaunchOptions::default()
        };
        let arguments: Vec<u8> = [0x7100_0000_0000u64, 0x7200_0000_0000]
            .iter()
            .flat_map(|at| at.to_le_bytes())
            .collect();
        let ended = launch(&entry, config, &arguments, &memory, options);
        Some((ended.is_ok(), memory.0[0].bytes(), memory.0[1].bytes()))
    });
    let [wide, baseline] = results;
    assert_eq!(wide, baseline, "the two instruction sets differ:\n{text}");
});
