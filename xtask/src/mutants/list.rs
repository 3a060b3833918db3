//! `core/mutants.toml`, and the mutants that `core/src` has.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use crate::root;

/// `core/mutants.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    mutant: Vec<Mutant>,
}

/// One row of the list.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Mutant {
    pub(super) name: String,
    /// The mistake, for who reads the list.
    pub(super) what: String,
    pub(super) suite: Suite,
    pub(super) test: String,
    #[serde(default)]
    pub(super) kill: Kill,
}

/// The test program that kills a mutant.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub(super) enum Suite {
    Loom,
    Properties,
    Unit,
}

/// How the test fails.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kill {
    /// By a panic, or by dying of a signal.
    #[default]
    Failure,
    /// By not ending: the mistake makes somebody wait for ever.
    Timeout,
}

impl fmt::Display for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loom => "loom",
            Self::Properties => "properties",
            Self::Unit => "unit",
        })
    }
}

/// The mutants of `core/mutants.toml`, checked against those of `core/src`.
pub(super) fn read() -> Result<Vec<Mutant>> {
    let text = fs::read_to_string(root().join("core/mutants.toml"))?;
    let list: List = toml::from_str(&text).context("core/mutants.toml")?;
    let mut listed = BTreeSet::new();
    for mutant in &list.mutant {
        ensure!(
            listed.insert(mutant.name.clone()),
            "core/mutants.toml lists {} twice",
            mutant.name
        );
    }
    let mut placed = BTreeSet::new();
    collect(&root().join("core/src"), &mut placed)?;
    let unplaced: Vec<_> = listed.difference(&placed).cloned().collect();
    let unlisted: Vec<_> = placed.difference(&listed).cloned().collect();
    ensure!(
        unplaced.is_empty() && unlisted.is_empty(),
        "core/mutants.toml lists what core/src does not have: {unplaced:?}; \
         core/src has what core/mutants.toml does not list: {unlisted:?}"
    );
    Ok(list.mutant)
}

/// Adds the names of all mutants in the files under `folder`.
fn collect(folder: &Path, names: &mut BTreeSet<String>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, names)?;
        } else {
            names.extend(placed(&fs::read_to_string(&path)?));
        }
    }
    Ok(())
}

/// The mutants that a source file asks for, comments left out.
fn placed(source: &str) -> Vec<String> {
    let code = source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let mut names = Vec::new();
    for line in code {
        for part in line.split("mutant = \"").skip(1) {
            names.extend(part.split_once('"').map(|(name, _)| name.to_owned()));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it a mutant of the code could go unlisted.
    #[test]
    fn mutants_are_found_in_code_and_not_in_comments() {
        let source = "// cfg!(mutant = \"no\")\n    /// mutant = \"no\"\n\
            let a = if cfg!(mutant = \"one\") { 1 } else { 2 };\n\
            if cfg!(any(mutant = \"two\", mutant = \"three\")) {}\n";
        assert_eq!(placed(source), ["one", "two", "three"]);
    }
}
