//! [`ClangCompiler`]: clang, started as a program, as a compiler of the same requests as NVRTC.
//!
//! No file of a CUDA toolkit and no header of the host takes part (`-nocudainc -nocudalib
//! -nostdinc`): what CUDA C++ has built in is declared by the files of `kernels/device/builtins`, which are
//! read before the source. `docs/design/kernels.md` says what differs from NVRTC.

mod arguments;
mod builtins;
mod find;
mod names;
mod process;
mod workspace;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use super::{
    Cancellation, ClangAttempt, ClangVersion, CompileError, CompileOption, CompileRequest,
    Compiled, CompilerCall, CompilerVersion, Dependencies, Diagnostic, PlaceState, Severity,
    SourceText, TargetArchitecture,
};
use names::Names;
use process::Ended;
use workspace::Workspace;

#[cfg(unix)]
pub(super) use find::candidates;
#[cfg(unix)]
pub(super) use process::loads_from_elsewhere;

/// Goes up whenever a request is translated to other arguments or texts than before, because kept
/// results are of those.
const TRANSLATION: u32 = 2;

/// clang. Cheap to clone, and shared by threads: each compile is a process of its own.
///
/// It makes PTX alone, for GPUs and for the software device. What NVRTC's options have no equivalent
/// of is [`CompileError::NotInClang`]; nothing that is asked for is left out. Differences that remain:
///
/// - A header in memory is found before those in folders, but behind one that lies in the folder of
///   the file that includes it.
/// - With [`CompileOption::FastMath`] square roots stay exact.
/// - [`CompileOption::Other`] is an argument of clang, not of NVRTC.
/// - Built-in are the names of CUDA C++ that can be had without a file of NVIDIA's: vectors, registers, barriers,
///   warps, atomics, integer and bit functions, operations that name their rounding, and mathematical functions
///   of floats within 1 ulp. A function of NVRTC's that is missing (of doubles, all that is not one IEEE operation)
///   is an error of the source which says so. `docs/design/kernels.md` has the list.
#[derive(Clone, Debug)]
pub struct ClangCompiler {
    found: Arc<Found>,
    time_limit: Duration,
}

/// A clang that makes PTX.
#[derive(Debug)]
struct Found {
    program: PathBuf,
    version: ClangVersion,
    /// The line with its version, which has the distribution's name and patches.
    banner: String,
    architectures: Vec<TargetArchitecture>,
    /// The program and the libraries that it is made of, without links.
    files: Vec<PathBuf>,
    /// The program is the compiler itself, and no script that starts it.
    #[cfg_attr(
        not(unix),
        allow(dead_code, reason = "the cache asks, which is for Unix")
    )]
    is_compiler: bool,
}

impl ClangCompiler {
    /// The variable that names a clang.
    pub const VARIABLE: &'static str = "CUPOLA_CLANG";

    /// The oldest major version that is taken.
    pub const OLDEST: u32 = 14;

    /// How long a compile may take unless [`with_time_limit`](Self::with_time_limit) says otherwise.
    pub const TIME_LIMIT: Duration = Duration::from_secs(300);

    /// Looks for a clang that makes PTX: the one that `CUPOLA_CLANG` names, and no other then; else
    /// `clang`, and then `clang-N` from new to old, in the folders of `PATH`. Each is started once to
    /// tell its version and architectures.
    ///
    /// # Errors
    /// [`CompileError::ClangNotFound`] says what was tried and how to get it.
    pub fn find() -> Result<Self, CompileError> {
        find::find().map(Self::over)
    }

    /// The clang that is this file.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub fn load_from(program: &Path) -> Result<Self, CompileError> {
        find::probe(program).map(Self::over).map_err(|problem| {
            let program = program.to_owned();
            CompileError::ClangNotFound {
                tried: vec![ClangAttempt { program, problem }],
            }
        })
    }

    fn over(found: Found) -> Self {
        Self {
            found: Arc::new(found),
            time_limit: Self::TIME_LIMIT,
        }
    }

    /// The same compiler, each of whose compiles may take so long.
    #[must_use]
    pub fn with_time_limit(self, time_limit: Duration) -> Self {
        Self { time_limit, ..self }
    }

    /// Its version.
    #[must_use]
    pub fn version(&self) -> ClangVersion {
        self.found.version
    }

    /// The program that is started.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.found.program
    }

    /// The architectures that it makes code for, without those of their features.
    #[must_use]
    pub fn architectures(&self) -> Vec<TargetArchitecture> {
        let known = self.found.architectures.iter().copied();
        known
            .filter(|one| TargetArchitecture::new(one.architecture()) == *one)
            .collect()
    }

    /// Names the compiler, wherever it is installed, with what this crate adds to it.
    pub(super) fn identity(&self) -> String {
        Self::identity_of(&self.found.banner)
    }

    /// The same of a clang that says this of its version.
    pub(super) fn identity_of(banner: &str) -> String {
        let builtins = builtins::digest();
        format!("{banner}, translation {TRANSLATION}, built-in {builtins}")
    }

    /// The line with its version.
    #[cfg(unix)]
    pub(super) fn banner(&self) -> &str {
        &self.found.banner
    }

    /// Whether the program is the compiler, and not a script or a wrapper that starts one: then what it
    /// is depends on its [files](Self::files) alone.
    #[cfg(unix)]
    pub(super) fn is_told_by_its_files(&self) -> bool {
        self.found.is_compiler
    }

    /// The program and the libraries that it is made of.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.found.files
    }

    /// Whether an option may have clang read or write files that the request does not name.
    pub(super) fn has_hidden_inputs(request: &CompileRequest) -> bool {
        request.options().iter().any(|option| match option {
            CompileOption::Other(argument) => !arguments::is_transparent(argument),
            _ => false,
        })
    }

    /// Compiles a request, whose files were looked for just now, until another thread cancels it.
    pub(super) fn compile_scanned(
        &self,
        request: &CompileRequest,
        mut dependencies: Dependencies,
        cancellation: &Cancellation,
    ) -> Result<Compiled, CompileError> {
        let version = self.version();
        let arguments = arguments::translate(request, version)?;
        self.check_architecture(request.target().architecture())?;
        let names = Names::of(request.name_expressions());
        let workspace = Workspace::create().map_err(failed("a private folder for a compile"))?;
        let layout = Layout::write(&workspace, request, &names, version)?;
        let mut command = Command::new(self.program());
        command.args(&arguments).args(&layout.arguments);
        let log = workspace.path("log");
        let status = self.start(command, &workspace, &log, cancellation)?;
        let log = read_text(&log)?;
        let call = CompilerCall::Clang { version, status };
        if !status.success() {
            return Err(refused(call, log, request));
        }
        let ptx = read_text(&layout.output)?;
        let (ptx, lowered_names) = names.take(ptx).map_err(|expression| CompileError::Name {
            expression,
            call,
            log: "it is neither a kernel nor the address of a variable".to_owned(),
        })?;
        for path in unscanned(&read_text(&layout.list)?, &workspace, &dependencies) {
            dependencies.note_unscanned(path);
        }
        Ok(Compiled {
            target: request.target(),
            compiler: CompilerVersion::Clang(version),
            image: ptx.into_bytes(),
            log,
            lowered_names,
            dependencies,
            pch: None,
        })
    }

    fn check_architecture(&self, wanted: TargetArchitecture) -> Result<(), CompileError> {
        if self.found.architectures.contains(&wanted) {
            return Ok(());
        }
        Err(CompileError::Architecture {
            wanted,
            supported: self.found.architectures.clone(),
            have: CompilerVersion::Clang(self.version()),
        })
    }

    /// Runs the command with its messages in a file, and waits for its end.
    fn start(
        &self,
        mut command: Command,
        workspace: &Workspace,
        log: &Path,
        cancellation: &Cancellation,
    ) -> Result<ExitStatus, CompileError> {
        let messages = std::fs::File::create_new(log).map_err(failed("the log of a compile"))?;
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(messages);
        process::seclude(&mut command, workspace.folder());
        let ended = process::run(&mut command, self.time_limit, cancellation);
        let what = || format!("starting {}", self.program().display());
        match ended.map_err(|error| process_error(what(), error))? {
            Ended::Exit(status) => Ok(status),
            Ended::Cancelled => Err(CompileError::Cancelled),
            Ended::TimedOut => Err(CompileError::TimedOut {
                limit: self.time_limit,
                have: self.version(),
            }),
        }
    }
}

fn process_error(what: String, error: io::Error) -> CompileError {
    let error = Arc::new(error);
    CompileError::Process { what, error }
}

fn failed(what: &str) -> impl Fn(io::Error) -> CompileError {
    move |error| process_error(what.to_owned(), error)
}

/// What clang wrote; bytes that are no text are shown as such.
fn read_text(path: &Path) -> Result<String, CompileError> {
    let bytes = std::fs::read(path).map_err(failed("what clang wrote"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The files of a compile in its private folder.
struct Layout {
    /// What clang is told of them, behind the arguments of the request.
    arguments: Vec<OsString>,
    output: PathBuf,
    /// The files that clang read, as a rule of make.
    list: PathBuf,
}

impl Layout {
    fn write(
        workspace: &Workspace,
        request: &CompileRequest,
        names: &Names,
        version: ClangVersion,
    ) -> Result<Self, CompileError> {
        let mut arguments: Vec<OsString> = Vec::new();
        let write = |path: &Path, text: &str| {
            let written = workspace.write(path, text);
            written.map_err(failed("a file for a compile"))
        };
        for (name, text) in builtins::FILES {
            let text = numbered(&format!("cupola/{name}"), text);
            let file = write(&Path::new("built-in").join(name), &text)?;
            arguments.extend(["-include".into(), file.into_os_string()]);
        }
        // Each has a folder of its own, so that none is found but by its whole name. What is found there
        // leads to the text, which lies beside no other that it could include.
        for (number, header) in request.headers().iter().enumerate() {
            let SourceText { name, text } = header;
            let Some(depth) = workspace::depth(name) else {
                let what = format!("a header in memory by the name {name:?}");
                return Err(CompileError::NotInClang {
                    what,
                    have: version,
                });
            };
            let place = format!("text{number}/it");
            write(Path::new(&place), &numbered(name, text))?;
            let up = "../".repeat(depth);
            let lead = numbered(name, &format!("#include \"{up}{place}\""));
            let folder = PathBuf::from(format!("header{number}"));
            write(&folder.join(name), &lead)?;
            arguments.extend(["-I".into(), workspace.path(folder).into_os_string()]);
        }
        // The source lies in a folder without headers: its own is searched by these.
        for folder in [request.source_folder(), Path::new("")] {
            let folder = match folder.as_os_str().is_empty() {
                true => Path::new("."),
                false => folder,
            };
            arguments.extend(["-iquote".into(), folder.into()]);
        }
        for folder in request.include_folders() {
            arguments.extend(["-I".into(), folder.into()]);
        }
        let source = request.source();
        let text = numbered(&source.name, &source.text) + &names.declarations();
        let source = write(Path::new("source/source.cu"), &text)?;
        let (output, list) = (workspace.path("output.ptx"), workspace.path("list"));
        // What is made must not tell where the private folder was.
        let mut map = OsString::from("-ffile-prefix-map=");
        map.push(workspace.folder());
        map.push("=cupola");
        arguments.extend([
            map,
            "-MD".into(),
            "-MF".into(),
            list.clone().into(),
            "-MT".into(),
            "it".into(),
            "-o".into(),
            output.clone().into(),
            source.into(),
        ]);
        Ok(Self {
            arguments,
            output,
            list,
        })
    }
}

/// A text whose messages and `__FILE__` have its own name.
fn numbered(name: &str, text: &str) -> String {
    let name: String = name
        .chars()
        .flat_map(|one| match one {
            '"' | '\\' => vec!['\\', one],
            one => vec![one],
        })
        .collect();
    format!("#line 1 \"{name}\"\n{text}\n")
}

/// The error of a run that failed.
fn refused(call: CompilerCall, log: String, request: &CompileRequest) -> CompileError {
    let diagnostics = Diagnostic::parse_log(&log);
    let first = diagnostics
        .iter()
        .find(|it| it.severity >= Severity::Error && it.file.is_some());
    if let Some(first) = first {
        return match names::expression_of(first, request.name_expressions()) {
            Some(expression) => CompileError::Name {
                expression: expression.to_owned(),
                call,
                log,
            },
            None => CompileError::Source {
                call,
                log,
                diagnostics,
            },
        };
    }
    match arguments::is_about_options(&log) {
        true => CompileError::Option { call, log },
        false => CompileError::Call { call, log },
    }
}

/// The files that clang read, of those outside of the private folder, that the scan did not find.
fn unscanned(rule: &str, workspace: &Workspace, dependencies: &Dependencies) -> Vec<PathBuf> {
    let is_file = |state: PlaceState| state != PlaceState::NoFile;
    let places = dependencies.places().iter();
    let known: BTreeSet<_> = places
        .filter(|place| is_file(place.state))
        .filter_map(|place| place.path.canonicalize().ok())
        .collect();
    let is_known = |path: &Path| {
        path.starts_with(workspace.folder())
            || path.canonicalize().is_ok_and(|path| known.contains(&path))
    };
    let read = prerequisites(rule).into_iter();
    read.filter(|path| !is_known(path)).collect()
}

/// The prerequisites of a rule of make, as clang writes it.
fn prerequisites(rule: &str) -> Vec<PathBuf> {
    let Some((_, rest)) = rule.split_once(':') else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut name = String::new();
    let mut rest = rest.chars().peekable();
    while let Some(one) = rest.next() {
        match (one, rest.peek().copied()) {
            ('\\', Some('\n')) => {
                rest.next();
                found.push(std::mem::take(&mut name));
            }
            ('\\', Some(escaped @ (' ' | '#'))) | ('$', Some(escaped @ '$')) => {
                rest.next();
                name.push(escaped);
            }
            (blank, _) if blank.is_whitespace() => found.push(std::mem::take(&mut name)),
            (one, _) => name.push(one),
        }
    }
    found.push(name);
    found.retain(|name| !name.is_empty());
    found.into_iter().map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Without it a header with a blank in its name would pass for one that the scan has missed, or a
    // missed one for two that are known.
    #[test]
    fn names_in_a_rule_may_have_blanks() {
        let rule = "it: source.cu a\\ b.h \\\n  /c$$d/e\\#f.h\n";
        let names = ["source.cu", "a b.h", "/c$d/e#f.h"].map(PathBuf::from);
        assert_eq!(prerequisites(rule), names);
        assert!(prerequisites("").is_empty());
    }

    // Without it a name could end the directive, and its rest be compiled.
    #[test]
    fn a_name_stays_within_its_quotes() {
        let text = numbered("a\"b\\c.cu", "int x;");
        assert_eq!(text, "#line 1 \"a\\\"b\\\\c.cu\"\nint x;\n");
    }
}
