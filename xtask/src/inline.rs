//! `cargo xtask inline`: proves that a crate above `core` does not call into it for what is hot.
//!
//! Functions that are not generic are compiled where they are defined, and called from other
//! crates unless they are marked `#[inline]`; thin LTO hides that in this workspace's own
//! programs, and a dependent that is built without it pays for each call. `core/no_std` is such
//! a dependent: outside of the workspace, with cargo's own release profile but for LTO, which is
//! off, and using every public type. What its objects ask of those of `cupola-core` is listed
//! here.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectSymbol as _};

use crate::tasks::{cargo, target};
use crate::{root, skip};

/// What may be called: parts of mangled names, the same in both of rustc's manglings, and why.
const CALLED: &[(&str, &str)] = &[
    ("3fmt", "text"),
    (
        "5State10end_slowly",
        "the way of a release that is not the usual one",
    ),
    ("5State3set", "the end of a pool"),
    ("6Budget9set_limit", "now and then"),
    ("4wait", "waits"),
    ("11parse_bytes", "the text of an option, read once"),
    ("5Index6agrees", "the check of a heap"),
    ("6ledger", "a call of the driver is beside each"),
];

/// The whole proof.
pub(crate) fn run() -> Result<()> {
    eprintln!("\n==== core's hot functions are inlined into a crate without LTO");
    if !cfg!(target_os = "linux") {
        return skip(
            "what a dependent calls in core",
            "the archive is read as Linux's linkers name it",
        );
    }
    let folder = target().join("no-std");
    let output = cargo(["build", "--release"])
        .current_dir(root().join("core/no_std"))
        .env("CARGO_TARGET_DIR", &folder)
        .output()
        .context("starting cargo")?;
    ensure!(
        output.status.success(),
        "core/no_std does not build:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let called = calls(&folder.join("release/libcupola_core_no_std.a"))?;
    let unexpected = unexpected(&called);
    if !unexpected.is_empty() {
        bail!(
            "a dependent without LTO calls these functions of cupola-core: mark them \
             `#[inline]`, or list them in xtask/src/inline.rs with the reason why a call does \
             no harm:\n{}",
            unexpected.join("\n")
        );
    }
    // An archive in which no call is seen proves nothing.
    ensure!(
        called.iter().any(|name| name.contains("10end_slowly")),
        "the call that must be there is not: {called:?}"
    );
    println!("{} calls, all of them of what is rare", called.len());
    Ok(())
}

/// The names that are not listed.
fn unexpected(called: &BTreeSet<String>) -> Vec<&str> {
    let listed = |name: &str| CALLED.iter().any(|(part, _)| name.contains(part));
    let names = called.iter().map(String::as_str);
    names.filter(|name| !listed(name)).collect()
}

/// Symbols that the dependent's objects in `archive` refer to and that core's objects define.
fn calls(archive: &Path) -> Result<BTreeSet<String>> {
    let bytes = fs::read(archive).with_context(|| archive.display().to_string())?;
    let (mut defined, mut wanted) = (BTreeSet::new(), BTreeSet::new());
    for member in ArchiveFile::parse(&*bytes)?.members() {
        let member = member?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        // Objects of Rust are named CRATE-HASH.UNIT.rcgu.o.
        let core = match name.split_once('-') {
            Some(("cupola_core", _)) => true,
            Some(("cupola_core_no_std", _)) => false,
            _ => continue,
        };
        let object = object::File::parse(member.data(&*bytes)?)
            .with_context(|| format!("{name} in {}", archive.display()))?;
        for symbol in object.symbols() {
            if core && symbol.is_definition() {
                defined.insert(symbol.name()?.to_owned());
            } else if !core && symbol.is_undefined() {
                wanted.insert(symbol.name()?.to_owned());
            }
        }
    }
    Ok(wanted.intersection(&defined).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it a listed part could excuse a hot function too.
    #[test]
    fn what_is_hot_is_not_excused() {
        let names = [
            "_ZN11cupola_core5slots5state5State8exchange17hfa91d50b81f2e261E",
            "_ZN11cupola_core5slots5state5State10end_slowly17h3c6a0deb5a7833f2E",
            "_ZN11cupola_core5slots5group6Bitmap5claim17hcd3e44511ecce3ddE",
            "_RNvMs_NtNtCs1_11cupola_core6budget6Budget7release",
            "_RNvMs_NtNtCs1_11cupola_core6budget6Budget9set_limit",
        ];
        let called = names.map(String::from).into();
        let mut hot = [names[0], names[2], names[3]];
        hot.sort_unstable();
        let mut said = unexpected(&called);
        said.sort_unstable();
        assert_eq!(said, hot);
    }
}
