//! What is not checked: on this machine, and on any.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use serde::{Deserialize, Serialize};

/// What a machine may lack and still pass under `CUPOLA_STRICT=1`: the words with which it is
/// skipped, and why nothing can be done about it there. All else is installed by `.ci/run`.
const ALLOWED: &[(&str, &str)] = &[
    ("PTX of rustc", RUSTUP),
    ("the thread sanitizer, std as well", RUSTUP),
    ("compiling for aarch64-unknown-linux-gnu", RUSTUP),
    ("compiling for x86_64-pc-windows-gnu", RUSTUP),
];

/// Why a machine may lack parts of a toolchain.
const RUSTUP: &str = "only rustup's own server has it, which no package registry stands in for";

/// What no machine of CI does, and what stands in for it.
const NEVER: &[(&str, &str)] = &[
    (
        "the tests on a GPU",
        "there is none: `cargo xtask bundle` makes what a GPU machine runs",
    ),
    (
        "Miri",
        "there is no stage of it yet: the address and the thread sanitizer run instead",
    ),
];

/// What was skipped, and why.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Skip {
    what: String,
    why: String,
}

/// What this process has skipped by now.
static SKIPPED: Mutex<Vec<Skip>> = Mutex::new(Vec::new());

/// Notes that something was not done. Under `CUPOLA_STRICT=1` that is an error, unless the machine
/// may lack it.
///
/// # Errors
/// It may not be skipped.
pub(crate) fn skip(what: &str, why: &str) -> Result<()> {
    let strict = std::env::var_os("CUPOLA_STRICT").is_some_and(|value| value == "1");
    if !may_skip(what, strict) {
        anyhow::bail!("{what} cannot be done: {why}");
    }
    // On standard error, so that it is not overlooked.
    eprintln!("\n==== SKIPPED: {what}\n==== because {why}\n");
    let mut skipped = SKIPPED.lock().unwrap_or_else(PoisonError::into_inner);
    skipped.push(Skip {
        what: what.to_owned(),
        why: why.to_owned(),
    });
    Ok(())
}

/// What this process has skipped by now.
pub(crate) fn skipped() -> Vec<Skip> {
    let skipped = SKIPPED.lock().unwrap_or_else(PoisonError::into_inner);
    skipped.clone()
}

/// The lines that say what was not done, and how much of that a machine could do.
pub(crate) fn list<'s>(skipped: impl Iterator<Item = &'s Skip>) -> String {
    let mut text = String::new();
    // Writing to a text does not fail.
    for (what, why) in NEVER {
        let _ = writeln!(text, "not done here: {what}: {why}");
    }
    let mut count = 0;
    for Skip { what, why } in skipped {
        let reason = ALLOWED.iter().find(|(allowed, _)| allowed == what);
        let reason = reason.map_or("", |(_, reason)| *reason);
        let _ = writeln!(text, "SKIPPED: {what}: {why} {reason}");
        count += 1;
    }
    let _ = writeln!(text, "{count} of this machine's checks skipped");
    text
}

/// Whether a machine may go without `what`.
fn may_skip(what: &str, strict: bool) -> bool {
    !strict || ALLOWED.iter().any(|(allowed, _)| *allowed == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it CI could pass although a check was not done that it can do.
    #[test]
    fn strict_ci_goes_without_what_is_listed_alone() {
        assert!(may_skip("a new check", false) && !may_skip("a new check", true));
        assert!(!may_skip("", true) && !may_skip("PTX of rustc ", true));
        for (listed, _) in ALLOWED {
            assert!(may_skip(listed, true), "{listed}");
        }
        let ci = std::fs::read_to_string(crate::root().join(".ci/run")).unwrap();
        let mut lines = ci.lines();
        assert!(lines.any(|line| line == "export CUPOLA_STRICT=1"), "{ci}");
        assert!(
            lines.any(|line| line.starts_with("exec cargo run ")),
            "{ci}"
        );
    }

    /// Without it a name could stay on the list when its check is gone, and excuse another check.
    #[test]
    fn every_listed_skip_is_a_check_that_is_there() {
        let mut names: Vec<_> = [
            include_str!("corpus.rs"),
            include_str!("ci/mod.rs"),
            include_str!("sanitize.rs"),
        ]
        .iter()
        .flat_map(|source| source.split("skip(").skip(1))
        .filter_map(|call| call.split('"').nth(1))
        .map(str::to_owned)
        .collect();
        // Those that are put together.
        let fill = |names: &mut Vec<String>, hole: &str, parts: &[&str]| {
            let at = names.iter().position(|name| name.contains(hole));
            let name = names.remove(at.unwrap_or_else(|| panic!("{hole}: {names:?}")));
            names.extend(parts.iter().map(|part| name.replace(hole, part)));
        };
        let triples: Vec<_> = crate::ci::TARGETS
            .iter()
            .map(|(triple, _)| *triple)
            .collect();
        fill(&mut names, "{triple}", &triples);
        fill(&mut names, "{}", &crate::sanitize::NAMES);
        for (listed, _) in ALLOWED {
            let calls = names.iter().filter(|name| name == listed).count();
            assert_eq!(calls, 1, "{listed}: {names:?}");
        }
    }

    /// Without it the last lines could hide that something was skipped.
    #[test]
    fn the_list_names_skips() {
        let skip = Skip {
            what: "a check".into(),
            why: "a reason".into(),
        };
        let list = list([skip].iter());
        for part in [
            "not done here: Miri",
            "SKIPPED: a check: a reason",
            "1 of this machine's checks skipped",
        ] {
            assert!(list.contains(part), "{list}");
        }
    }
}
