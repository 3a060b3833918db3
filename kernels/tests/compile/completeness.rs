//! Whether a key has all that a result depends on, asked of the real compiler: a state of everything that
//! a compile can be given is changed in one place again and again, and what the cache gives is compared
//! with what the compiler makes of the state.
//!
//! NVRTC makes the same bytes of the same inputs, so a difference is an ingredient that the key, or the
//! list of files, lacks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use cupola_kernels::CachedCompiler;
use cupola_kernels::cache::{CacheConfig, Source};
use cupola_kernels::compile::{
    CompileOption, CompileRequest, Compiler, Switch, Target, TargetArchitecture,
};
use cupola_random::Random;

use super::compiler;

/// Changes under `CUPOLA_STRICT=1`, which CI sets, and otherwise.
const CHANGES: (u64, u64) = (10_000, 400);

/// Files that may be there, below the root: in the folder of the source, and in two that are searched.
const FILES: [&str; 7] = [
    "own/a.h",
    "own/b.h",
    "one/a.h",
    "one/b.h",
    "two/a.h",
    "two/b.h",
    "two/deep.h",
];

/// Everything that a compile can be given.
#[derive(Clone)]
struct State {
    root: PathBuf,
    files: BTreeMap<&'static str, u64>,
    /// `"a.h"`, `<b.h>`, `"m.h"` and what is behind `__has_include`.
    includes: [bool; 4],
    body: u64,
    memory: Option<u64>,
    /// A header in memory with the name of a file.
    hidden: Option<u64>,
    options: Vec<CompileOption>,
    is_one_first: bool,
    target: Target,
    expressions: Vec<&'static str>,
    name: &'static str,
}

fn drawn_option(random: &mut Random) -> CompileOption {
    let number = random.below(3);
    match random.below(9) {
        0 => CompileOption::FastMath,
        1 => CompileOption::FusedMultiplyAdd(Switch::Off),
        2 => CompileOption::MaxRegisters(32 + 32 * number as u32),
        3 => CompileOption::LineInfo,
        4 => CompileOption::Restrict,
        5 => CompileOption::Undefine("N".into()),
        6 => CompileOption::Other(format!("-DM={number}").into()),
        7 => CompileOption::FlushToZero(Switch::On),
        _ => CompileOption::Define {
            name: "N".into(),
            value: Some(number.to_string()),
        },
    }
}

impl State {
    fn new(root: &Path, architecture: TargetArchitecture) -> Self {
        Self {
            root: root.to_owned(),
            files: BTreeMap::new(),
            includes: [false; 4],
            body: 0,
            memory: None,
            hidden: None,
            options: Vec::new(),
            is_one_first: true,
            target: Target::Ptx(architecture),
            expressions: Vec::new(),
            name: "k.cu",
        }
    }

    /// Changes one ingredient.
    fn change(&mut self, random: &mut Random, architectures: &[TargetArchitecture]) {
        match random.below(12) {
            // Files change most often: they are what caches miss.
            0..=3 => {
                let file = FILES[random.index(FILES.len())];
                if self.files.remove(file).is_none() || random.one_in(2) {
                    self.files.insert(file, random.below(3));
                }
            }
            4 => {
                let include = &mut self.includes[random.index(4)];
                *include = !*include;
            }
            5 => self.body = random.below(3),
            6 => self.memory = (!random.one_in(3)).then(|| random.below(3)),
            7 => self.hidden = random.one_in(3).then(|| random.below(3)),
            8 => match random.below(3) {
                0 if !self.options.is_empty() => {
                    self.options.remove(random.index(self.options.len()));
                }
                1 if self.options.len() > 1 => {
                    let last = self.options.len() - 1;
                    self.options.swap(random.index(last), last);
                }
                _ if self.options.len() < 5 => self.options.push(drawn_option(random)),
                _ => self.options.clear(),
            },
            9 => self.is_one_first = !self.is_one_first,
            10 => {
                let architecture = architectures[random.index(architectures.len())];
                self.target = match random.one_in(2) {
                    true => Target::Ptx(architecture),
                    false => Target::Cubin(architecture),
                };
            }
            _ => match random.below(2) {
                0 => self.name = ["k.cu", "other.cu"][random.index(2)],
                _ => {
                    let all = ["t<int>", "t<float>", "&table"];
                    self.expressions = all.into_iter().filter(|_| random.one_in(2)).collect();
                }
            },
        }
    }

    /// Makes the files of the state what they are, and no others.
    fn write(&self) {
        for file in FILES {
            let path = self.root.join(file);
            match self.files.get(file) {
                Some(value) => {
                    let more = match file {
                        "two/b.h" => "#include \"deep.h\"\n",
                        _ => "",
                    };
                    let macro_of = if file.ends_with("a.h") { "A" } else { "B" };
                    let text = format!("{more}#undef {macro_of}\n#define {macro_of} {value}\n");
                    std::fs::write(path, text).unwrap();
                }
                None => {
                    let _ = std::fs::remove_file(path);
                }
            }
        }
    }

    fn request(&self) -> CompileRequest {
        let [quoted, angled, memory, conditional] = self.includes;
        let mut source = String::new();
        for (is_there, line) in [
            (quoted, "#include \"a.h\"\n"),
            (angled, "#include <b.h>\n"),
            (memory, "#include \"m.h\"\n"),
            (
                conditional,
                "#if __has_include(<deep.h>)\n#define DEEP 1\n#endif\n",
            ),
        ] {
            if is_there {
                source.push_str(line);
            }
        }
        source.push_str("#ifndef A\n#define A 7\n#endif\n#ifndef B\n#define B 8\n#endif\n");
        source.push_str("#ifndef N\n#define N 9\n#endif\n#ifndef M\n#define M 10\n#endif\n");
        source.push_str("#ifndef DEEP\n#define DEEP 0\n#endif\n");
        source.push_str("__constant__ int table = 3;\n");
        source.push_str("template<class T> __global__ void t(T* x) { *x = T(A * 100 + N); }\n");
        source.push_str(&format!(
            "extern \"C\" __global__ void k(float* x, float* y, int line) {{\n \
             y[0] = x[0] / x[1] * A + B * 10 + N + M + DEEP + {};\n if (line) x[2] = __LINE__;\n}}\n",
            self.body
        ));
        let name = self.root.join("own").join(self.name);
        let name = name.to_str().unwrap();
        let mut folders = ["one", "two"];
        if !self.is_one_first {
            folders.reverse();
        }
        let mut request = CompileRequest::new(name, source, self.target);
        for folder in folders {
            request = request.include_folder(self.root.join(folder));
        }
        if let Some(value) = self.memory {
            request = request.header("m.h", format!("#undef A\n#define A {}\n", value + 20));
        }
        if let Some(value) = self.hidden {
            request = request.header("b.h", format!("#undef B\n#define B {}\n", value + 30));
        }
        for option in &self.options {
            request = request.with(option.clone());
        }
        for expression in &self.expressions {
            request = request.name_expression(*expression);
        }
        // The driver's own cache would answer for the compiler. A compile takes two thirds of its time without
        // what the sources do not use.
        request
            .with(CompileOption::NoDriverCache)
            .with(CompileOption::Minimal)
    }
}

/// What a compile comes to: code and symbols, or the compiler's words.
#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    Made(Vec<u8>, Vec<String>),
    Failed(String),
}

fn of_compiler(compiler: &Compiler, request: &CompileRequest) -> Outcome {
    match compiler.compile(request) {
        Ok(made) => {
            let symbols = made.lowered_names().iter().map(|it| it.symbol.clone());
            let symbols = symbols.collect();
            Outcome::Made(made.into_image(), symbols)
        }
        Err(error) => Outcome::Failed(error.to_string()),
    }
}

/// What the cache gives, and whether it compiled.
fn of_cache(compiler: &CachedCompiler, request: &CompileRequest) -> (Outcome, bool) {
    let compiles = compiler.stats().compiles;
    match compiler.compile(request) {
        Ok(found) => {
            let symbols = found.entry.names.iter().map(|it| it.symbol.clone());
            let made = Outcome::Made(found.entry.payload.clone(), symbols.collect());
            (made, found.source == Source::Compiled)
        }
        Err(error) => {
            let compiled = compiler.stats().compiles > compiles;
            (Outcome::Failed(error.to_string()), compiled)
        }
    }
}

// Without it an ingredient could be missing in the key or in the list of files: a program would be given
// the code of another source, header, option or architecture, and no test of one ingredient would tell.
#[test]
fn whatever_changes_the_result_changes_the_key_or_the_files() {
    let Some(reference) = compiler() else { return };
    let strict = std::env::var_os("CUPOLA_STRICT").is_some_and(|value| value == "1");
    let changes = if strict { CHANGES.0 } else { CHANGES.1 };
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    // Of the newest family and of one before, with and without their features.
    let names = ["sm_90", "sm_90a", "sm_80"];
    let architectures: Vec<_> = names.iter().map(|name| name.parse().unwrap()).collect();
    let [found, wrong, again] = [const { AtomicU64::new(0) }; 3];
    std::thread::scope(|scope| {
        for seed in 0..threads {
            let (architectures, found, wrong, again) = (&architectures, &found, &wrong, &again);
            let reference = &reference;
            scope.spawn(move || {
                let folder = tempfile::tempdir().unwrap();
                for name in ["own", "one", "two"] {
                    std::fs::create_dir(folder.path().join(name)).unwrap();
                }
                let mut config = CacheConfig::default();
                config.folder = Some(folder.path().join("cache"));
                let cached = CachedCompiler::new(Compiler::load().unwrap(), config);
                let mut random = Random::new(seed);
                let mut state = State::new(folder.path(), architectures[0]);
                let mut last = None;
                for change in 0..changes.div_ceil(threads) {
                    state.change(&mut random, architectures);
                    state.write();
                    let request = state.request();
                    let (outcome, has_compiled) = of_cache(&cached, &request);
                    if has_compiled {
                        again
                            .fetch_add(u64::from(last == Some(outcome.clone())), Ordering::Relaxed);
                    } else {
                        found.fetch_add(1, Ordering::Relaxed);
                        let real = of_compiler(reference, &request);
                        if outcome != real {
                            wrong.fetch_add(1, Ordering::Relaxed);
                            eprintln!(
                                "seed {seed}, change {change}: {request:?}\n{outcome:?}\n{real:?}"
                            );
                        }
                    }
                    last = Some(outcome);
                }
            });
        }
    });
    let [found, wrong, again] = [found, wrong, again].map(AtomicU64::into_inner);
    println!(
        "{changes} changes: {found} results were kept ones, {wrong} of them wrong; {again} compiles made what the \
         one before had made"
    );
    assert_eq!(wrong, 0);
    // Else nothing was compared.
    assert!(found > changes / 50, "{found}");
}

/// Variables that compilers of the field look at, and what could change a result if NVRTC did.
const VARIABLES: [(&str, &str); 14] = [
    ("CPATH", "INCLUDES"),
    ("C_INCLUDE_PATH", "INCLUDES"),
    ("CPLUS_INCLUDE_PATH", "INCLUDES"),
    ("INCLUDE", "INCLUDES"),
    ("NVCC_PREPEND_FLAGS", "-DA=2"),
    ("NVCC_APPEND_FLAGS", "-DA=2"),
    ("NVRTC_PREPEND_FLAGS", "-DA=2"),
    ("NVRTC_APPEND_FLAGS", "-DA=2"),
    ("CUDA_PATH", "INCLUDES"),
    ("CUDA_HOME", "INCLUDES"),
    ("SOURCE_DATE_EPOCH", "1"),
    ("LC_ALL", "tr_TR.UTF-8"),
    ("TMPDIR", "INCLUDES"),
    ("CUDA_FORCE_PTX_JIT", "1"),
];

/// What a process of its own makes, with one variable set.
fn made_with(variable: Option<(&str, &str)>) -> String {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "completeness::child", "--ignored", "--nocapture"]);
    if let Some((name, value)) = variable {
        child.env(name, value);
    }
    let done = child.output().unwrap();
    assert!(done.status.success(), "{variable:?}: {done:?}");
    let text = String::from_utf8(done.stdout).unwrap();
    let made = text.lines().find(|line| line.starts_with("made "));
    made.unwrap_or_else(|| panic!("{variable:?}: {text}"))
        .to_owned()
}

// Without it a variable of the environment could change what the compiler makes, and the key not.
#[test]
fn no_variable_of_the_environment_changes_a_result() {
    if compiler().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.h"), "#define A 3\n").unwrap();
    let plain = made_with(None);
    for (name, value) in VARIABLES {
        let value = match value {
            "INCLUDES" => folder.path().to_str().unwrap(),
            value => value,
        };
        assert_eq!(made_with(Some((name, value))), plain, "{name}={value}");
    }
}

#[test]
#[ignore = "of no_variable_of_the_environment_changes_a_result"]
fn child() {
    let compiler = Compiler::load().unwrap();
    let source = "#if __has_include(<a.h>)\n#include <a.h>\n#endif\n#ifndef A\n#define A 1\n#endif\n\
                  extern \"C\" __global__ void k(int* x) { *x = A; }";
    let request = super::request(&compiler, source);
    let made = compiler.compile(&request).unwrap();
    let sum = cupola_kernels::cache::Digest::of(made.image());
    println!("made {sum}");
}
