//! Where clang is, and what it can do.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::process::{self, Ended};
use super::workspace::Workspace;
use super::{ClangCompiler, Found};
use crate::compile::{Cancellation, ClangAttempt, ClangVersion, CompileError, TargetArchitecture};

/// The newest major version whose name is tried, some years ahead.
const NEWEST: u32 = 29;

/// How long a program may take to tell its version.
const PROBE_LIMIT: Duration = Duration::from_secs(20);

/// The first clang that makes PTX.
pub(super) fn find() -> Result<Found, CompileError> {
    let mut tried = Vec::new();
    for name in names() {
        let Some(program) = resolve(&name) else {
            tried.push(ClangAttempt {
                program: name,
                problem: "not found".to_owned(),
            });
            continue;
        };
        match probe(&program) {
            Ok(found) => return Ok(found),
            Err(problem) => tried.push(ClangAttempt { program, problem }),
        }
    }
    Err(CompileError::ClangNotFound {
        tried: shortened(tried),
    })
}

/// The names that are tried, in order.
fn names() -> Vec<PathBuf> {
    let named = std::env::var_os(ClangCompiler::VARIABLE).filter(|name| !name.is_empty());
    match named {
        Some(named) => vec![named.into()],
        None => std::iter::once("clang".into())
            .chain(versions().map(|version| format!("clang-{version}").into()))
            .collect(),
    }
}

/// Every file that [`find`] looks for now, in order, whether it is there or not.
#[cfg(unix)]
pub(in crate::compile) fn candidates() -> Vec<PathBuf> {
    let files = |name: PathBuf| match is_path(&name) {
        true => vec![name],
        false => in_path(&name).collect(),
    };
    names().into_iter().flat_map(files).collect()
}

/// The versions that have names of their own, from new to old.
fn versions() -> impl Iterator<Item = u32> {
    (ClangCompiler::OLDEST..=NEWEST).rev()
}

/// The attempts with those names joined of which there is no file: twenty lines would say no more.
fn shortened(tried: Vec<ClangAttempt>) -> Vec<ClangAttempt> {
    let is_absent = |attempt: &ClangAttempt| {
        attempt.problem == "not found" && attempt.program.to_string_lossy().starts_with("clang-")
    };
    let (absent, mut others): (Vec<_>, Vec<_>) = tried.into_iter().partition(is_absent);
    if !absent.is_empty() {
        let which = match absent.len() == versions().count() {
            true => "not found",
            false => "those not told of: not found",
        };
        others.push(ClangAttempt {
            program: format!("clang-{} to clang-{NEWEST}", ClangCompiler::OLDEST).into(),
            problem: which.to_owned(),
        });
    }
    others
}

/// The file of a program: a name is looked for in the folders of `PATH`.
fn resolve(name: &Path) -> Option<PathBuf> {
    if is_path(name) {
        return name.is_file().then(|| name.to_owned());
    }
    in_path(name).find(|file| is_program(file))
}

fn is_path(name: &Path) -> bool {
    name.components().count() > 1
}

/// Where a program of this name may be, in the order of `PATH`.
fn in_path(name: &Path) -> impl Iterator<Item = PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut name = name.as_os_str().to_owned();
    name.push(std::env::consts::EXE_SUFFIX);
    let folders: Vec<_> = std::env::split_paths(&folders).collect();
    let folders = folders.into_iter().filter(|folder| folder.is_absolute());
    folders.map(move |folder| folder.join(&name))
}

fn is_program(file: &Path) -> bool {
    #[cfg(unix)]
    let may_run = |found: std::fs::Metadata| {
        std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o111 != 0
    };
    #[cfg(not(unix))]
    let may_run = |_: std::fs::Metadata| true;
    file.is_file() && file.metadata().is_ok_and(may_run)
}

/// Asks a program what it is.
///
/// # Errors
/// Why it is not taken, in words.
pub(super) fn probe(program: &Path) -> Result<Found, String> {
    let answer = ask(program, &[], |command| {
        command.args(["--target=nvptx64-nvidia-cuda", "-print-supported-cpus"])
    })?;
    let version = ClangVersion::of_text(&answer).ok_or("it is no clang")?;
    if version.major < ClangCompiler::OLDEST {
        let oldest = ClangCompiler::OLDEST;
        return Err(format!(
            "clang {version} is older than {oldest}, the oldest that is tested"
        ));
    }
    let architectures: Vec<TargetArchitecture> = answer
        .split_whitespace()
        .filter(|word| word.starts_with("sm_"))
        .filter_map(|word| word.parse().ok())
        .collect();
    if architectures.is_empty() {
        return Err(format!(
            "clang {version} makes no PTX (it was built without LLVM's NVPTX target)"
        ));
    }
    let banner = answer
        .lines()
        .find(|line| line.contains("clang version "))
        .unwrap_or_default();
    let (programs, installed) = programs(program, &answer);
    let is_compiler = match (&programs[..], installed) {
        ([only], Some(installed)) => *only == installed && is_elf(only),
        _ => false,
    };
    Ok(Found {
        files: with_libraries(programs),
        is_compiler,
        program: program.to_owned(),
        version,
        banner: banner.trim().to_owned(),
        architectures,
    })
}

/// What a program says to some arguments.
fn ask(
    program: &Path,
    variables: &[(&str, &str)],
    arguments: impl FnOnce(&mut Command) -> &mut Command,
) -> Result<String, String> {
    let words = |error: std::io::Error| error.to_string();
    let workspace = Workspace::create().map_err(words)?;
    let answer = workspace.path("answer");
    let file = std::fs::File::create_new(&answer).map_err(words)?;
    let mut command = Command::new(program);
    arguments(&mut command)
        .stdin(Stdio::null())
        .stderr(file.try_clone().map_err(words)?)
        .stdout(file);
    process::seclude(&mut command, workspace.folder());
    command.envs(variables.iter().copied());
    match process::run(&mut command, PROBE_LIMIT, &Cancellation::new()).map_err(words)? {
        Ended::Exit(_) => {}
        Ended::Cancelled | Ended::TimedOut => {
            return Err(format!("it did not tell its version in {PROBE_LIMIT:?}"));
        }
    }
    let answer = std::fs::read(&answer).map_err(words)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// The program, and the clang behind it where it is a script; and the second of these by itself, if the
/// compiler says where it is installed. All without links.
fn programs(program: &Path, answer: &str) -> (Vec<PathBuf>, Option<PathBuf>) {
    let folder = answer
        .lines()
        .find_map(|line| line.strip_prefix("InstalledDir: "));
    let installed = folder.and_then(|folder| {
        let name = program.file_name().unwrap_or(OsStr::new("clang"));
        let mut named = [name, OsStr::new("clang")]
            .map(|name| Path::new(folder.trim()).join(name))
            .into_iter();
        named.find_map(|file| file.canonicalize().ok())
    });
    let programs = program.canonicalize().into_iter().chain(installed.clone());
    let programs: BTreeSet<_> = programs.collect();
    (programs.into_iter().collect(), installed)
}

/// Whether a file is a program of Linux and no script.
fn is_elf(file: &Path) -> bool {
    use std::io::Read as _;
    let mut magic = [0; 4];
    let read = std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == *b"\x7fELF"
}

/// The files that the compiler is made of: its programs, and the libraries of LLVM that these are linked
/// with.
fn with_libraries(programs: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut files = BTreeSet::from_iter(programs.iter().cloned());
    for program in programs {
        files.extend(libraries(&program));
    }
    files.into_iter().collect()
}

/// The shared libraries of clang and LLVM that the program is linked with. On Linux its loader tells
/// them; elsewhere the program alone stands for the compiler.
fn libraries(program: &Path) -> Vec<PathBuf> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let traced = [("LD_TRACE_LOADED_OBJECTS", "1")];
    let answer = ask(program, &traced, |command| command.arg("--version"));
    let answer = answer.unwrap_or_default();
    let loaded = answer.lines().filter_map(|line| {
        let (name, rest) = line.trim().split_once(" => ")?;
        let path = rest.rsplit_once(" (").map_or(rest, |(path, _)| path);
        let is_compiler = name.contains("clang") || name.contains("LLVM");
        is_compiler.then(|| Path::new(path).canonicalize().ok())?
    });
    loaded.collect()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// A program that answers so.
    fn program(folder: &Path, text: &str) -> PathBuf {
        let file = folder.join("clang");
        std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    // Without it a program that is no clang, is too old, or makes no PTX could be taken, and every
    // compile fail with words about the source.
    #[test]
    fn a_program_that_will_not_do_is_told_why() {
        let folder = tempfile::tempdir().unwrap();
        for (text, problem) in [
            ("echo gcc 12", "it is no clang"),
            ("echo clang version 13.0.1; echo sm_80", "older than 14"),
            ("echo Apple clang version 15.0.0", "makes no PTX"),
        ] {
            let refused = probe(&program(folder.path(), text)).unwrap_err();
            assert!(refused.contains(problem), "{text}: {refused}");
        }
        let text = "echo x clang version 15.0.1; echo sm_80 sm_90a";
        let found = probe(&program(folder.path(), text)).unwrap();
        assert_eq!(found.version.to_string(), "15.0.1");
        assert_eq!(found.architectures.len(), 2);
        assert_eq!(found.files.len(), 1);
        assert!(probe(&folder.path().join("none")).is_err());
    }
}
