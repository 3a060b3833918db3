//! Files of PTX: the committed, hand-written ones, and those that `cargo xtask corpus` makes
//! with the compilers of the machine, whose folder `CUPOLA_PTX_CORPUS` names.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use cupola_sim::exec::{LoadError, Placement, Program, VarSpace};
use cupola_sim::ptx::{Module, ParseError};
use quickcheck::{Arbitrary, Gen, quickcheck};

/// A device of which only addresses are asked.
struct Addresses(u64);

impl Placement for Addresses {
    fn place(&mut self, _: &str, _: VarSpace, size: u64, align: u64) -> Option<u64> {
        let at = self.0.next_multiple_of(align.max(1));
        self.0 = at.checked_add(size).filter(|end| *end < 1 << 46)?;
        Some(at)
    }

    fn fill(&mut self, _: u64, _: &[u8]) {}
}

/// What a text is, as far as the engine gets with it.
enum Outcome {
    Parse(ParseError),
    Load(LoadError),
    Program(Program),
}

fn load(text: &str) -> Outcome {
    let module = match Module::parse(text) {
        Ok(module) => module,
        Err(error) => return Outcome::Parse(error),
    };
    match Program::load(&module, &mut Addresses(0x1000)) {
        Ok(program) => Outcome::Program(program),
        Err(error) => Outcome::Load(error),
    }
}

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

fn files(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "ptx"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no .ptx file in {}", folder.display());
    files
}

/// Without it a construct that hand-written PTX has could stop being understood: every
/// file parses and loads, and all but the functions that say so in their name decode.
#[test]
fn committed_files_load_and_decode() {
    for (name, text) in files(&committed()) {
        let program = match load(&text) {
            Outcome::Program(program) => program,
            Outcome::Parse(error) => panic!("{name}: {error}"),
            Outcome::Load(error) => panic!("{name}: {error}"),
        };
        assert!(program.function_count() > 0, "{name} has no function");
        let mut wrong = String::new();
        for bad in program.undecodable() {
            if !bad.function.starts_with("refused_") {
                let _ = writeln!(wrong, "{name}: {bad:?}");
            }
        }
        let refused = program
            .kernel_names()
            .filter(|kernel| kernel.starts_with("refused_"));
        for kernel in refused {
            if program.kernel(kernel).is_ok() {
                let _ = writeln!(wrong, "{name}: {kernel} can be executed");
            }
        }
        assert!(wrong.is_empty(), "\n{wrong}");
    }
}

/// Without it a compiler's output could stop parsing; prints how much of it decodes.
#[test]
fn compiled_files_load() {
    let Some(folder) = std::env::var_os("CUPOLA_PTX_CORPUS") else {
        eprintln!("skipped: CUPOLA_PTX_CORPUS names no folder (see `cargo xtask corpus`)");
        return;
    };
    let mut census = Census::default();
    for (name, text) in files(Path::new(&folder)) {
        census.add(&name, &text);
    }
    print!("{census}");
    assert!(census.broken.is_empty(), "files do not load");
}

#[derive(Default)]
struct Census {
    files: usize,
    bytes: usize,
    functions: usize,
    decoded: usize,
    /// Files by compiler: the part of the name before the first dash.
    makers: BTreeMap<String, (usize, usize, usize)>,
    /// By opcode: how often, and the first example.
    missing: BTreeMap<String, (usize, String)>,
    broken: Vec<String>,
}

impl Census {
    fn add(&mut self, name: &str, text: &str) {
        self.files += 1;
        self.bytes += text.len();
        let program = match load(text) {
            Outcome::Program(program) => program,
            Outcome::Parse(error) => return self.broken.push(format!("{name}: {error}")),
            Outcome::Load(error) => return self.broken.push(format!("{name}: {error}")),
        };
        let (all, bad) = (program.function_count(), program.undecodable());
        self.functions += all;
        self.decoded += all - bad.len();
        let maker = name.split('-').next().unwrap_or(name).to_owned();
        let sums = self.makers.entry(maker).or_default();
        *sums = (sums.0 + 1, sums.1 + all, sums.2 + all - bad.len());
        for bad in bad {
            let example = format!("{name}:{} {}: {}", bad.line, bad.function, bad.reason);
            let entry = self.missing.entry(bad.opcode.clone());
            entry.or_insert((0, example)).0 += 1;
        }
    }
}

impl std::fmt::Display for Census {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(
            f,
            "corpus: {} files ({} KiB), {} load; {} functions, {} decode",
            self.files,
            self.bytes >> 10,
            self.files - self.broken.len(),
            self.functions,
            self.decoded
        )?;
        for (maker, (files, functions, decoded)) in &self.makers {
            writeln!(
                f,
                "  {maker}: {files} files, {functions} functions, {decoded} decode"
            )?;
        }
        for error in &self.broken {
            writeln!(f, "  does not load: {error}")?;
        }
        for (opcode, (count, example)) in &self.missing {
            writeln!(
                f,
                "  does not decode: {opcode} in {count} functions; {example}"
            )?;
        }
        Ok(())
    }
}

/// Without it a file that was cut short could crash the process that reads it.
#[test]
fn truncations_are_errors_or_programs() {
    for (_, text) in files(&committed()) {
        // Long files have more of the same.
        let step = if text.len() < 8 << 10 { 1 } else { 101 };
        for end in (0..text.len()).step_by(step) {
            if text.is_char_boundary(end) {
                load(&text[..end]);
            }
        }
    }
}

/// Changes to make to a text, as numbers that any text can use.
#[derive(Debug, Clone)]
struct Changes(usize, Vec<(u8, usize, usize, u8)>);

impl Arbitrary for Changes {
    fn arbitrary(g: &mut Gen) -> Self {
        let count = 1 + usize::arbitrary(g) % 6;
        let one = |g: &mut Gen| {
            (
                u8::arbitrary(g),
                usize::arbitrary(g),
                usize::arbitrary(g),
                u8::arbitrary(g),
            )
        };
        Changes(usize::arbitrary(g), (0..count).map(|_| one(g)).collect())
    }
}

/// Words that change what a text means more often than random bytes do.
const WORDS: &[&str] = &[
    "0",
    "-1",
    "4294967295",
    "0xffffffffffffffff",
    "9223372036854775807",
    "65536",
    ".b128",
    ".pred",
    ".v8",
    ".b64",
    ".f16x2",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ";",
    ":",
    "%p1",
    "%r1",
    "_",
    ".param",
    ".reg",
    "<",
    ">",
    "|",
    "!",
    "1.5",
    "0f7f800000",
    "@",
    ".sat",
    ".wide",
    ".sync",
    "ret",
    "bra",
];

fn apply(text: &str, changes: &[(u8, usize, usize, u8)]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for &(kind, a, b, byte) in changes {
        let len = bytes.len().max(1);
        let (a, b) = (a % len, b % len);
        let (low, high) = (a.min(b), a.max(b).min(a.min(b) + 64));
        match kind % 6 {
            0 => drop(bytes.drain(low..high)),
            1 => bytes[a] = byte,
            2 => drop(bytes.splice(a..a, WORDS[b % WORDS.len()].bytes())),
            3 => {
                let piece = bytes[low..high].to_vec();
                drop(bytes.splice(low..low, piece));
            }
            // A line moves somewhere else.
            4 => {
                let lines: Vec<Vec<u8>> =
                    bytes.split(|&c| c == b'\n').map(<[u8]>::to_vec).collect();
                let mut lines = lines;
                let line = lines.remove(a % lines.len());
                lines.insert(b % (lines.len() + 1), line);
                bytes = lines.join(&b'\n');
            }
            _ => bytes.swap(a, b),
        }
        if bytes.is_empty() {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Without it PTX with mistakes could panic, hang or exhaust memory instead of being
/// refused.
#[test]
fn mutations_are_errors_or_programs() {
    #[allow(
        clippy::needless_pass_by_value,
        reason = "quickcheck hands values over"
    )]
    fn unharmed(changes: Changes) -> bool {
        let files = files(&committed());
        let (_, text) = &files[changes.0 % files.len()];
        load(&apply(text, &changes.1));
        true
    }
    let cases = std::env::var("CUPOLA_MUTATIONS").map_or(400, |n| n.parse().unwrap());
    quickcheck::QuickCheck::new()
        .tests(cases)
        .quickcheck(unharmed as fn(Changes) -> bool);
}

quickcheck! {
    /// Without it text that is no PTX at all could crash the parser.
    fn noise_is_an_error_or_a_program(noise: String, behind: bool) -> bool {
        let head = if behind { ".version 8.0\n.target sm_90\n.address_size 64\n" } else { "" };
        load(&format!("{head}{noise}"));
        true
    }
}
