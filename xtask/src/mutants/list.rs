//! The lists of mutants (`mutants.toml`) of `core`, `managers` and `kernels`, and the mutants that their
//! sources have.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use super::orderings;
use crate::root;

/// One `mutants.toml`.
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
    /// The crate whose list this is.
    #[serde(skip)]
    pub(super) member: Member,
}

impl Mutant {
    /// Whether it has this name, or is an ordering in this file or function.
    pub(super) fn is_of(&self, name: &str) -> bool {
        let rest = self.name.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ':']))
    }
}

/// A crate that has mutants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Member {
    #[default]
    Core,
    Managers,
    Kernels,
    Residency,
}

impl Member {
    pub(super) const ALL: [Self; 4] = [Self::Core, Self::Managers, Self::Kernels, Self::Residency];

    pub(super) fn folder(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Managers => "managers",
            Self::Kernels => "kernels",
            Self::Residency => "residency",
        }
    }

    pub(super) fn package(self) -> &'static str {
        match self {
            Self::Core => "cupola-core",
            Self::Managers => "cupola-managers",
            Self::Kernels => "cupola-kernels",
            Self::Residency => "cupola-residency",
        }
    }

    /// The features without which some of its mutants are not built.
    pub(super) fn features(self) -> &'static [&'static str] {
        match self {
            Self::Core | Self::Managers | Self::Residency => &[],
            Self::Kernels => &["--features", "compiler"],
        }
    }

    /// What selects the test program of a suite.
    pub(super) fn arguments(self, suite: Suite) -> &'static [&'static str] {
        match (self, suite) {
            (Self::Core, Suite::Loom) => &["--test", "loom"],
            // The models of the other crates look at what is private there.
            (_, Suite::Unit | Suite::Loom) => &["--lib"],
            (_, Suite::Properties) => &["--test", "properties"],
        }
    }
}

/// The test program that kills a mutant.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub(super) enum Suite {
    #[default]
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
    /// By not ending: the mistake makes a thread wait for ever.
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

/// The mutants of every crate that has some. No name comes twice: it says which mistake is made,
/// whichever crate it is in.
pub(super) fn read() -> Result<Vec<Mutant>> {
    let mut all = Vec::new();
    let mut names = BTreeSet::new();
    for member in Member::ALL {
        for mutant in read_of(member)?.into_iter().chain(orderings::read(member)?) {
            ensure!(
                names.insert(mutant.name.clone()),
                "{}/mutants.toml lists {}, which is listed before",
                member.folder(),
                mutant.name
            );
            all.push(mutant);
        }
    }
    Ok(all)
}

/// The mutants of one crate's list, checked against those of its sources.
fn read_of(member: Member) -> Result<Vec<Mutant>> {
    let folder = member.folder();
    let name = format!("{folder}/mutants.toml");
    let text = fs::read_to_string(root().join(&name))?;
    let list: List = toml::from_str(&text).with_context(|| name.clone())?;
    let mutants: Vec<_> = list
        .mutant
        .into_iter()
        .map(|mutant| Mutant { member, ..mutant })
        .collect();
    let listed: BTreeSet<_> = mutants.iter().map(|mutant| mutant.name.clone()).collect();
    let mut placed = BTreeSet::new();
    collect(&root().join(folder).join("src"), &mut placed)?;
    let unplaced: Vec<_> = listed.difference(&placed).cloned().collect();
    let unlisted: Vec<_> = placed.difference(&listed).cloned().collect();
    ensure!(
        unplaced.is_empty() && unlisted.is_empty(),
        "{name} lists what {folder}/src does not have: {unplaced:?}; \
         {folder}/src has what {name} does not list: {unlisted:?}"
    );
    Ok(mutants)
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
        for part in line.split("mutant!(\"").skip(1) {
            names.extend(part.split_once('"').map(|(name, _)| name.to_owned()));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it a mutant or an ordering that is not listed would be found only where all mutants
    /// are made.
    #[test]
    fn the_lists_have_what_the_sources_have() {
        let names: Vec<_> = read().unwrap().into_iter().map(|it| it.name).collect();
        let pin = "core/src/slots/state.rs State::pin: Acquire to Relaxed";
        assert!(names.iter().any(|name| name == pin), "{names:?}");
    }

    /// Without it the mutants of a file could not be made alone, or those of another would be too.
    #[test]
    fn a_file_stands_for_its_orderings() {
        let all = read().unwrap();
        let of = |name: &str| all.iter().filter(|mutant| mutant.is_of(name)).count();
        assert!(of("core/src/slots/state.rs") > of("core/src/slots/state.rs State::pin"));
        assert_eq!(of("core/src/slots/state.rs State::pin"), 1);
        assert_eq!(of("core/src/slots/state"), 0);
        assert_eq!(of("slots_two_makers"), 1);
    }

    /// Without it a mutant of the code could go unlisted.
    #[test]
    fn mutants_are_found_in_code_and_not_in_comments() {
        let source = "// mutant!(\"no\")\n    /// mutant!(\"no\")\n\
            let a = if mutant!(\"one\") { 1 } else { 2 };\n\
            if mutant!(\"two\") || mutant!(\"three\") {}\n";
        assert_eq!(placed(source), ["one", "two", "three"]);
    }
}
