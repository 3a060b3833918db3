//! This program in the place of the compiler, to add a mutant's `--cfg`.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use anyhow::{Context as _, Result};

use super::folder;

/// Tells this program that it runs as a compiler, and for which mutant (none when empty).
const WRAPPED: &str = "CUPOLA_XTASK_MUTANT";

/// Has `cargo` build the crates that have mutants with one, or as it is: `cargo` runs the compiler
/// through this program, from a path that only this mutant has.
pub(super) fn wrap(cargo: &mut Command, mutant: Option<&str>) -> Result<()> {
    cargo
        .env(
            "RUSTC_WORKSPACE_WRAPPER",
            wrapper(mutant.unwrap_or(super::UNCHANGED))?,
        )
        .env(WRAPPED, mutant.unwrap_or_default());
    Ok(())
}

/// Copies this program to where `wrapper` takes it from: what cargo builds can be replaced
/// meanwhile.
pub(super) fn prepare() -> Result<()> {
    let copy = original();
    fs::create_dir_all(folder().join("compilers"))?;
    let _ = fs::remove_file(&copy);
    fs::copy(env::current_exe()?, &copy)
        .with_context(|| format!("copying to {}", copy.display()))?;
    Ok(())
}

fn original() -> PathBuf {
    folder().join(format!("compilers/xtask{}", env::consts::EXE_SUFFIX))
}

/// This program under a path that only the mutant `name` has.
fn wrapper(name: &str) -> Result<PathBuf> {
    let folder = folder().join("compilers").join(name);
    fs::create_dir_all(&folder)?;
    let wrapper = folder.join(format!("xtask{}", env::consts::EXE_SUFFIX));
    let _ = fs::remove_file(&wrapper);
    if fs::hard_link(original(), &wrapper).is_err() {
        fs::copy(original(), &wrapper)
            .with_context(|| format!("copying to {}", wrapper.display()))?;
    }
    Ok(wrapper)
}

/// When cargo has started this program as the compiler: runs the compiler that it names
/// with the same arguments, and with the mutant for the crates that have some. `None` when it was
/// started as anything else.
pub(crate) fn as_compiler() -> Option<Result<ExitStatus>> {
    let mutant = env::var(WRAPPED).ok()?;
    let mut arguments = env::args_os().skip(1);
    let compiler = arguments.next()?;
    Some(
        Command::new(&compiler)
            .args(with_mutant(arguments.collect(), &mutant))
            .status()
            .with_context(|| format!("starting {}", compiler.display())),
    )
}

/// A compiler's arguments, with the mutant when they are those of a crate that has mutants.
/// Names of mutants are unique, so the other one is built as it is.
fn with_mutant(mut arguments: Vec<OsString>, mutant: &str) -> Vec<OsString> {
    let has_mutants = arguments.windows(2).any(|pair| {
        pair[0] == "--crate-name" && (pair[1] == "cupola_core" || pair[1] == "cupola_managers")
    });
    if has_mutants && !mutant.is_empty() {
        // A mistake may well leave something unused.
        let cfg = format!("mutant=\"{mutant}\"");
        arguments.extend(["--cfg", &cfg, "--cap-lints", "allow"].map(OsString::from));
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it every crate of a test program would get the mutant, or none.
    #[test]
    fn only_the_crates_themselves_get_the_mutant() {
        let of = |name: &str, mutant| {
            let arguments = ["--crate-name", name, "core/src/lib.rs"];
            with_mutant(arguments.map(OsString::from).to_vec(), mutant).len()
        };
        assert_eq!(of("cupola_core", "wrong"), 7);
        assert_eq!(of("cupola_managers", "wrong"), 7);
        assert_eq!(of("cupola_core", ""), 3);
        assert_eq!(of("loom", "wrong"), 3);
    }
}
