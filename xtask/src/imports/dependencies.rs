//! How many crates a dependent of `managers` builds.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};

use crate::tasks::cargo;

/// The crates of a dependent that wants streams and a pool on Linux, `managers` itself and
/// procedural macros included, the dependent not.
const MOST_CRATES: usize = 11;

/// Fails when the tree has grown.
pub(super) fn check() -> Result<()> {
    let mut tree = cargo(["tree", "--locked", "--package", "cupola-managers"]);
    // The same number on every host.
    tree.args(["--target", "x86_64-unknown-linux-gnu"])
        .args(["--edges", "normal", "--prefix", "none"]);
    let output = tree.output().context("starting cargo tree")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo tree failed:\n{said}");
    let printed = String::from_utf8(output.stdout)?;
    let crates = crates(&printed);
    ensure!(
        crates.iter().any(|name| name.starts_with("cupola-core ")),
        "not a tree: {printed}"
    );
    ensure!(
        crates.len() <= MOST_CRATES,
        "a dependent of cupola-managers builds {} crates, at most {MOST_CRATES} are promised: {}",
        crates.len(),
        crates.into_iter().collect::<Vec<_>>().join(", ")
    );
    println!("{} crates in a dependent's tree", crates.len());
    Ok(())
}

/// Name and version of each crate that `cargo tree` printed, a line for each dependency.
fn crates(printed: &str) -> BTreeSet<String> {
    let lines = printed.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| {
            line.split_whitespace()
                .take(2)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::crates;

    /// Without it a crate could count as often as it is depended on, or two versions as one.
    #[test]
    fn a_crate_counts_once_and_a_version_apart() {
        let printed = "a v1.0.0 (/somewhere)\nb v2.0.0 (proc-macro)\nc v1.0.0\nb v2.0.0 \
            (proc-macro) (*)\nc v2.0.0\n\n";
        let names: Vec<_> = crates(printed).into_iter().collect();
        assert_eq!(names, ["a v1.0.0", "b v2.0.0", "c v1.0.0", "c v2.0.0"]);
    }
}
