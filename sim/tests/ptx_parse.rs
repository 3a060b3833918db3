//! The parser on hand-written modules, on broken ones, and on arbitrary bytes.

use cupola_sim::exec::{Placement, Program, VarSpace};
use cupola_sim::ptx::{Init, Linkage, Module, Operand, ScalarType, Space, Stmt};
use quickcheck::{Arbitrary, Gen, QuickCheck};

/// A module with every construct of the grammar.
const CORPUS: &str = r#"//
// Hand-written.
//
.version 8.3
.target sm_90, debug
.address_size 64
/* a comment
   over lines */
.file 1 "a path.cu", 123, 456
.extern .func (.param .b32 func_retval0) vprintf (.param .b64 a, .param .b64 b);
.visible .global .align 8 .b8 data[16] = {1, 0x2, 03, 0b100, 5U, -1, ~0, 1+2*3, (7<<1)|1, 'x'};
"#;

const REST: &str = r#"
.global .align 8 .b8 data[16] = {1, 0x2, 03, 0b100, 5U, -1, ~0, 1+2*3, (7<<1)|1, 1?2:3};
.const .f32 pi = 0f40490FDB, rate = 6.25;
.global .f64 big = 0d400921FB54442D18;
.global .u64 refs[2][2] = {{data+4, generic(pi)}, {data}};
.global .u8 bytes[2] = {0xff(data), 0xff00(data)};
.weak .global .v4 .f32 quad;
.common .global .u32 shared_by_modules;
.extern .shared .align 16 .b8 dynamic[];
.global .texref tex;
.func (.reg .b32 %ret) old (.reg .b32 %a, .reg .pred %p) { add.u32 %ret, %a, 1; ret; }
.weak .func forward (.param .align 16 .b8 blob[32]) .noreturn ;
.alias other, old;
.visible .entry kernel (
	.param .u64 .ptr .global .align 16 kernel_param_0,
	.param .align 8 .b8 kernel_param_1[24]
)
.maxntid 128, 1, 1
.minnctapersm 2
.pragma "nounroll";
{
	.reg .pred 	%p<4>;
	.reg .b32 	%r<8>, %single;
	.reg .f64 %fd1;
	.reg .v2 .b32 %pair;
	.local .align 8 .b8 	__local_depot0[16];
	.loc 1 10 3
	.loc	1 11 5, function_name $L__info0, inlined_at 1 9 1
$start:
	@%p1 bra $end;
	@!%p2 bra.uni $end;
	ld.param.v2.u64 {%rd1, %rd2}, [kernel_param_1+8];
	ld.global.L1::evict_last.L2::128B.b32 %r1, [%rd1+-4];
	mov.b64 {_, %r2}, %rd1;
	setp.lt.and.s32 %p1|%p2, %r1, -5, !%p3;
	shfl.sync.idx.b32 %r3|%p3, %r1, %r2, 31, -1;
	mov.u32 %r4, %tid.x;
	mov.f32 %f1, 1.5e-3; mov.f64 %fd1, 0D3FF0000000000000;
	mov.u64 %rd3, data+8;
	tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [tex, {%f5, %f6}];
	vadd.u32.u32.u32 %r1, %r2.b0, -%r3;
	{
		.reg .b32 temp;
		.param .b32 param0;
		st.param.b32 [param0+0], %r1;
		call.uni (retval0), vprintf, (param0, 5, %r1);
		call (%r1), %rd1, (%r2), proto;
	}
	proto: .callprototype (.param .b32 _) _ (.param .b64 _, .param .b64 _);
	list: .branchtargets $start, $end;
	brx.idx %r1, list;
	atom.global.acq_rel.gpu.cas.b32 %r1, [%rd1], 0, 1;
	bar.sync 0;
$end:
	ret;
}
.section .debug_info {
	.b8 1, 2 // { not a brace
	.b32 label
	{ }
}
	.pragma "a string";
"#;

fn corpus() -> String {
    CORPUS
        .lines()
        .filter(|l| !l.contains("'x'"))
        .collect::<Vec<_>>()
        .join("\n")
        + REST
}

/// Breaks if a construct of the grammar is misread.
#[test]
fn every_construct_is_read() {
    let text = corpus();
    let m = Module::parse(&text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((m.version, m.address_size), ((8, 3), 64));
    assert_eq!(m.target, ["sm_90", "debug"]);
    assert_eq!(m.files, [(1, "a path.cu")]);
    assert_eq!(m.aliases, [("other", "old")]);
    let var = |name: &str| m.vars.iter().find(|v| v.name == name).expect("a variable");
    let Some(Init::List(values)) = &var("data").init else {
        panic!("a list")
    };
    let ints = [1, 2, 3, 4, 5, u64::MAX, u64::MAX, 7, 15, 2].map(Init::Int);
    assert_eq!(values[..], ints);
    assert_eq!((var("data").align, var("data").size()), (Some(8), Some(16)));
    assert_eq!(var("pi").init, Some(Init::F32(0x4049_0fdb)));
    assert_eq!(var("rate").init, Some(Init::F64(6.25f64.to_bits())));
    assert_eq!(var("refs").dims, [Some(2), Some(2)]);
    assert_eq!(
        (var("quad").vector, var("quad").size(), var("quad").linkage),
        (4, Some(16), Linkage::Weak)
    );
    assert_eq!(
        (var("dynamic").space, var("dynamic").size()),
        (Space::Shared, Some(0))
    );
    assert_eq!(var("tex").ty, ScalarType::Opaque);
    let func = |name: &str| m.funcs.iter().find(|f| f.name == name).expect("a function");
    assert!(func("vprintf").body.is_none() && func("forward").body.is_none());
    assert_eq!(func("old").params[1].var.space, Space::Reg);
    let kernel = func("kernel");
    assert!(kernel.entry && kernel.params[0].ptr && kernel.params[0].var.align.is_none());
    assert_eq!(kernel.params[1].var.size(), Some(24));
    assert_eq!(kernel.directives[0], ("maxntid", vec![128, 1, 1]));
    let body = kernel.body.as_ref().expect("a body");
    let instructions: Vec<_> = body
        .iter()
        .filter_map(|s| {
            if let Stmt::Instr(i) = s {
                Some(i)
            } else {
                None
            }
        })
        .collect();
    let find = |base: &str| {
        instructions
            .iter()
            .find(|i| i.op.base == base)
            .expect("an instruction")
    };
    let load = instructions[3];
    assert_eq!(load.op.to_string(), "ld.global.L1::evict_last.L2::128B.b32");
    assert_eq!(load.args[1], Operand::Address(Some("%rd1"), -4));
    let set = find("setp");
    assert_eq!(set.args[0], Operand::Pair("%p1", "%p2"));
    assert_eq!(
        (&set.args[2], &set.args[3]),
        (&Operand::Int(-5i64 as u64), &Operand::Not("%p3"))
    );
    assert!(matches!(&find("tex").args[1], Operand::Bracket(parts) if parts.len() == 2));
    assert_eq!(
        find("vadd").args[1..],
        [Operand::Name("%r2.b0"), Operand::Neg("%r3")]
    );
    let guard = instructions[1].pred.expect("a guard");
    assert!(guard.negated && guard.name == "%p2");
    let line = text
        .lines()
        .position(|l| l.contains("shfl.sync"))
        .expect("the line")
        + 1;
    assert_eq!(find("shfl").line as usize, line);
    let scope = body.iter().find_map(|s| {
        if let Stmt::Scope(s) = s {
            Some(s)
        } else {
            None
        }
    });
    let call = scope.and_then(|s| {
        s.iter().find_map(|s| {
            if let Stmt::Instr(i) = s {
                Some(i).filter(|i| i.op.base == "call")
            } else {
                None
            }
        })
    });
    let call = call.expect("a call");
    assert_eq!(call.args[0], Operand::List(vec![Operand::Name("retval0")]));
    assert!(matches!(&call.args[2], Operand::List(l) if l.len() == 3));
}

/// Breaks if an error points to the wrong place or says nothing useful.
#[test]
fn errors_say_where_and_what() {
    let error = |text: &str| Module::parse(text).expect_err("an error").to_string();
    assert_eq!(
        error(""),
        "PTX line 1, column 1: expected `.version`, the first directive of every module, found end of file"
    );
    assert_eq!(
        error(".version 7.0\n.target sm_60\n.entry k() {\n  add.u32 %r1, , 1;\n}"),
        "PTX line 4, column 16: expected an operand, found `,`"
    );
    assert_eq!(
        error(".version 7.0\n.entry k() { ret }"),
        "PTX line 2, column 18: expected an operand, found `}`"
    );
    assert_eq!(
        error(".version 7.0\n.global .u31 x;"),
        "PTX line 2, column 9: expected a type, found `.u31`"
    );
    assert!(error(".version 7.0\n.global .u32 x = 1/0;").contains("a divisor other than zero"));
}

/// Breaks if nested input can exhaust the stack.
#[test]
fn nesting_is_bounded() {
    let refused = |text: &str| {
        let error = Module::parse(text).expect_err("an error");
        assert!(error.expected.contains("less nesting"), "{error}");
    };
    let deep = 100_000;
    refused(&format!(".version 7.0\n.entry k() {{ {}", "{".repeat(deep)));
    for prefix in ["{", "[{", "-(", "~~", "1?", "!("] {
        refused(&format!(
            ".version 7.0\n.entry k() {{ mov.u32 %r, {}1",
            prefix.repeat(deep)
        ));
    }
    for prefix in ["{", "(", "-", "~", "1?", "1?2:", "1+("] {
        refused(&format!(
            ".version 7.0\n.global .u32 x = {}1;",
            prefix.repeat(deep)
        ));
    }
}

/// A device that hands out addresses and forgets what it is given.
struct Nowhere(u64);

impl Placement for Nowhere {
    fn place(&mut self, _: &str, _: VarSpace, size: u64, align: u64) -> Option<u64> {
        let at = self.0.checked_next_multiple_of(align)?;
        self.0 = at.checked_add(size)?;
        (size < 1 << 20).then_some(at)
    }

    fn fill(&mut self, _: u64, _: &[u8]) {}
}

/// What a fuzz target does: parse, load, decode everything, on any bytes.
fn survives(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(module) = Module::parse(&text)
        && let Ok(program) = Program::load(&module, &mut Nowhere(0x7100_0000_0000))
    {
        for name in program.kernel_names() {
            if let Err(e) = program.kernel(name) {
                assert!(!e.to_string().is_empty());
            }
        }
    }
    true
}

/// A kernel with instructions of every decoder, to be mutated.
const DECODED: &str = ".version 8.0\n.target sm_90\n.address_size 64\n.global .u32 g[4] = {1,2};\n.extern .shared .b8 dyn[];
.func (.param .b32 o) f(.param .b32 i) { .reg .b32 %a; ld.param.b32 %a, [i]; st.param.b32 [o], %a; ret; }
.entry k(.param .u64 p, .param .u32 n) { .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b16 %h<3>; .reg .pred %p<4>; .local .b8 l[8];
ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d2, %d1, %d2; mad.lo.cc.u32 %r2, %r1, 3, 7;
setp.lt.or.u32 %p1|%p2, %r1, 5, !%p3; @%p1 bra a; cvt.rn.f32.u32 %r3, %r1; fma.rn.ftz.f32 %r3, %r3, 0f3f800000, %r3;
a: ld.global.v2.u32 {%r4, %r5}, [%d2+8]; atom.global.cas.b32 %r6, [%d2], %r4, %r5; bfe.u32 %r7, %r6, 3, 4; prmt.b32 %r7, %r7, %r6, 0x1234;
lop3.b32 %r1, %r2, %r3, %r4, 0x96; shfl.sync.idx.b32 %r1|%p1, %r2, 3, 31, -1; vote.sync.ballot.b32 %r2, %p1, -1; bar.red.popc.u32 %r3, 0, %p1;
{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call (y), f, (x); ld.param.b32 %r1, [y]; }
mov.b64 {%r1, %r2}, %d1; mov.b64 %d1, {%r1, %r2}; cvta.to.global.u64 %d3, %d1; st.shared.u32 [dyn+4], %r1; mov.u64 %d4, g+4; st.local.u8 [l+1], %r1;
t: .branchtargets a, b; brx.idx %r1, t; b: bar.sync 0; membar.gl; selp.b32 %r1, %r2, 3, %p1; div.rn.f64 %d1, %d2, %d3; ex2.approx.f32 %r1, %r2; exit; }";

/// Breaks if any cut-off module panics somewhere between lexer and decoder.
#[test]
fn every_truncation_is_survived() {
    let corpus = corpus();
    for text in [corpus.as_str(), DECODED] {
        for end in 0..text.len() {
            survives(&text.as_bytes()[..end]);
        }
    }
    // The whole one decodes, or mutating it would test little.
    let module = Module::parse(DECODED).unwrap_or_else(|e| panic!("{e}"));
    let program = Program::load(&module, &mut Nowhere(0x7100_0000_0000)).unwrap();
    program.kernel("k").unwrap_or_else(|e| panic!("{e}"));
}

/// Edits of a text: at a place, drop some bytes and put in others.
#[derive(Debug, Clone)]
struct Edits(Vec<(usize, usize, Vec<u8>)>);

impl Arbitrary for Edits {
    fn arbitrary(g: &mut Gen) -> Self {
        const PIECES: &[&str] = &[
            "{",
            "}",
            "(",
            ")",
            "[",
            "]",
            ";",
            ",",
            ".",
            "%r1",
            "%p1",
            "0",
            "-1",
            "0xffffffffffffffff",
            ".u64",
            ".b8",
            ".f16x2",
            "@",
            "!",
            "|",
            "_",
            ":",
            "\"",
            "/*",
            "//",
            "\n",
            "call",
            "bra",
            "<4000000000>",
            "[99999999999]",
            "k",
            "f",
            "g",
            "%tid.x",
            ".wide",
            ".sat",
            ".v4",
            "+",
            "1?",
            "\u{e9}",
            ".align 65536",
            "ret;",
            "a:",
        ];
        let count = usize::arbitrary(g) % 4 + 1;
        let edit = |g: &mut Gen| {
            let text = if bool::arbitrary(g) {
                g.choose(PIECES)
                    .map_or(Vec::new(), |p| p.as_bytes().to_vec())
            } else {
                let mut bytes = Vec::<u8>::arbitrary(g);
                bytes.truncate(3);
                bytes
            };
            (usize::arbitrary(g), usize::arbitrary(g) % 12, text)
        };
        Edits((0..count).map(|_| edit(g)).collect())
    }
}

/// Breaks if a mutated module panics.
#[test]
fn mutations_are_survived() {
    fn property(edits: Edits, whole: bool) -> bool {
        let mut text = if whole { corpus() } else { DECODED.to_owned() }.into_bytes();
        for (at, drop, insert) in edits.0 {
            let at = at % (text.len() + 1);
            let end = (at + drop).min(text.len());
            text.splice(at..end, insert);
        }
        survives(&text)
    }
    QuickCheck::new()
        .tests(3000)
        .quickcheck(property as fn(Edits, bool) -> bool);
}

/// Breaks if arbitrary bytes panic.
#[test]
fn arbitrary_bytes_are_survived() {
    #[allow(clippy::needless_pass_by_value, reason = "quickcheck's signature")]
    fn property(bytes: Vec<u8>) -> bool {
        survives(&bytes) && survives(&[b".version 7.0\n".as_slice(), &bytes].concat())
    }
    QuickCheck::new()
        .tests(2000)
        .quickcheck(property as fn(Vec<u8>) -> bool);
}

/// Breaks if a comment that never ends hides the rest of a module, which a driver refuses.
#[test]
fn a_comment_has_an_end() {
    const HEAD: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";
    assert!(Module::parse(&format!("{HEAD}/* an end */")).is_ok());
    for open in ["/* no end", "/*", ".func f() { /* ret; }", "/* */ /*/"] {
        let error = Module::parse(&format!("{HEAD}{open}")).unwrap_err();
        assert_eq!(error.found, "`/`", "{open}");
    }
}

/// Breaks if what a sampler does, which nothing here looks at, keeps a module from loading.
#[test]
fn samplers_may_have_values() {
    let text = ".version 8.0\n.target sm_80, texmode_independent\n.address_size 64
        .global .samplerref one = {addr_mode_0 = clamp_to_border, filter_mode = nearest}, two;
        .global .u32 after = 3;";
    let module = Module::parse(text).unwrap();
    let names: Vec<_> = module.vars.iter().map(|var| var.name).collect();
    assert_eq!(names, ["one", "two", "after"]);
    assert_eq!(module.vars[0].init, None);
}

/// Without it an element of an array could lie where another array of that name has it.
#[test]
fn an_index_is_that_of_the_array_in_sight() {
    const HEADER: &str = ".version 7.0\n.target sm_60\n.address_size 64\n";
    fn offsets(body: &[Stmt<'_>], out: &mut Vec<i64>) {
        for stmt in body {
            match stmt {
                Stmt::Scope(inner) => offsets(inner, out),
                Stmt::Instr(instr) => out.extend(instr.args.iter().filter_map(|arg| match arg {
                    Operand::Element { offset, .. } => Some(*offset),
                    _ => None,
                })),
                _ => {}
            }
        }
    }
    let uses = "mov.u64 %a, x[3];";
    let text = format!(
        "{HEADER}.global .u32 x[4]; .visible .entry k() {{ .reg .b64 %a; {uses}
        {{ .shared .u64 x[4]; {uses} {{ .local .b8 x[4]; {uses} }} {uses} }} {uses}
        {{ .local .u16 x; }} {uses} ret; }}"
    );
    let module = Module::parse(&text).unwrap();
    let mut found = Vec::new();
    for function in &module.funcs {
        offsets(function.body.as_deref().unwrap_or(&[]), &mut found);
    }
    assert_eq!(found, [12, 24, 3, 24, 12, 12]);
    let gone =
        format!("{HEADER}.visible .entry k() {{ .reg .b64 %a; {{ .local .b8 x[4]; }} {uses} }}");
    assert!(
        Module::parse(&gone)
            .unwrap_err()
            .to_string()
            .contains("declared array")
    );
}
