//! Every ordering of `core`, `managers` and `kernels` that is stronger than `Relaxed` is a mutant: the test
//! that `orderings.toml` names for it must fail where the ordering is weaker. One that no test can
//! tell from a weaker one is listed there with the reason.

mod scan;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use super::list::{Kill, Member, Mutant, Suite};
use crate::root;
use scan::{Site, scan};

/// An `orderings.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    ordering: Vec<Row>,
}

/// Orderings that one test tells from weaker ones, or none for one reason.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[serde(default)]
    suite: Suite,
    test: Option<String>,
    #[serde(default)]
    kill: Kill,
    /// Why no test tells these apart.
    why: Option<String>,
    /// As [`Weakening::name`].
    weaken: Vec<String>,
}

/// The files of a crate that the product is built of, by their paths in `src`.
pub(super) struct Sources {
    files: BTreeMap<String, (String, Vec<Site>)>,
}

/// One way to weaken an ordering.
struct Weakening<'s> {
    file: &'s str,
    site: &'s Site,
    /// What is there instead; [`NOTHING`] for a fence.
    to: &'static str,
}

const NOTHING: &str = "nothing";

/// The text of a file, if there is one.
type Text<'a> = &'a dyn Fn(&str) -> Result<Option<String>>;

impl Sources {
    pub(super) fn of(member: Member) -> Result<Self> {
        let folder = root().join(member.folder()).join("src");
        Self::read(&|file| match fs::read_to_string(folder.join(file)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| file.to_owned()),
        })
    }

    /// Reads `lib.rs`, and the files of the modules that it declares.
    fn read(text: Text) -> Result<Self> {
        let mut files = BTreeMap::new();
        // Each with the folder of its modules.
        let mut open = vec![("lib.rs".to_owned(), String::new())];
        while let Some((file, folder)) = open.pop() {
            let source = text(&file)?.with_context(|| format!("there is no {file}"))?;
            let found = scan(&source).with_context(|| file.clone())?;
            for child in found.children {
                let below = format!("{folder}{child}/");
                let alone = format!("{folder}{child}.rs");
                let child = match text(&alone)? {
                    Some(_) => alone,
                    None => format!("{below}mod.rs"),
                };
                open.push((child, below));
            }
            files.insert(file, (source, found.sites));
        }
        Ok(Self { files })
    }

    fn weakenings(&self) -> impl Iterator<Item = Weakening<'_>> {
        self.files.iter().flat_map(|(file, (_, sites))| {
            let of = move |site| Weakening::of(file, site);
            sites.iter().flat_map(of)
        })
    }

    /// Each file with orderings, by its path in `src`, changed so that a program which was asked for
    /// a mutant makes it.
    pub(super) fn with_mutants(&self, member: Member) -> impl Iterator<Item = (&str, String)> {
        let files = self
            .files
            .iter()
            .filter(|(_, (_, sites))| !sites.is_empty());
        files.map(move |(file, (text, sites))| {
            let mut text = text.clone();
            // From the end: what is changed before stays where it is.
            let mut sites: Vec<_> = sites.iter().collect();
            sites.sort_by_key(|site| site.path.start);
            for site in sites.iter().rev() {
                plant(member, file, site, &mut text);
            }
            (file.as_str(), text)
        })
    }
}

/// Puts the mutants of an ordering into the text, in the line in which it stands.
fn plant(member: Member, file: &str, site: &Site, text: &mut String) {
    let prefix = text[site.path.start..site.name.start].to_owned();
    let mut range = site.path.clone();
    let mut choice = String::new();
    for weakening in Weakening::of(file, site) {
        let instead = match (weakening.to, &site.fence) {
            (NOTHING, Some(fence)) => {
                range = fence.clone();
                String::new()
            }
            (to, _) => format!("{prefix}{to}"),
        };
        let name = weakening.full_name(member);
        let _ = write!(
            choice,
            "if crate::mutant::is(\"{name}\") {{ {instead} }} else "
        );
    }
    let planted = format!("({choice}{{ {} }})", &text[range.clone()]);
    text.replace_range(range, &planted);
}

impl<'s> Weakening<'s> {
    /// The ways to weaken an ordering by one step.
    fn of(file: &'s str, site: &'s Site) -> impl Iterator<Item = Self> {
        let weaker: &[&str] = match (site.order.as_str(), &site.fence) {
            ("SeqCst", _) => &["AcqRel"],
            ("AcqRel", _) => &["Acquire", "Release"],
            (_, Some(_)) => &[NOTHING],
            (_, None) => &["Relaxed"],
        };
        weaker.iter().map(move |to| Self { file, site, to })
    }

    /// The name in the list: `slots/state.rs State::end: AcqRel to Release`. An ordering that its
    /// function has several times is followed by its place among them.
    fn name(&self) -> String {
        let Site {
            function, order, ..
        } = self.site;
        let place = match self.site.place {
            1 => String::new(),
            place => format!(" ({place})"),
        };
        format!("{} {function}: {order}{place} to {}", self.file, self.to)
    }

    fn full_name(&self, member: Member) -> String {
        full_name(member, &self.name())
    }
}

fn full_name(member: Member, name: &str) -> String {
    format!("{}/src/{name}", member.folder())
}

/// The mutants of a crate's list, which must have every ordering of its sources once.
pub(super) fn read(member: Member) -> Result<Vec<Mutant>> {
    let name = format!("{}/orderings.toml", member.folder());
    let text = fs::read_to_string(root().join(&name)).with_context(|| name.clone())?;
    let sources = Sources::of(member)?;
    let rows = compare(&sources, &text).with_context(|| name)?;
    Ok(rows
        .into_iter()
        .flat_map(|row| mutants(member, row))
        .collect())
}

/// The rows of a list that has every ordering of these sources once.
fn compare(sources: &Sources, list: &str) -> Result<Vec<Row>> {
    let list: List = toml::from_str(list)?;
    let mut listed = BTreeSet::new();
    for row in &list.ordering {
        ensure!(
            row.test.is_some() != row.why.is_some(),
            "either a test or a reason is needed: {row:?}"
        );
        for name in &row.weaken {
            ensure!(listed.insert(name.clone()), "{name} is listed twice");
        }
    }
    let there: BTreeSet<_> = sources.weakenings().map(|it| it.name()).collect();
    let lines = |names: Vec<&String>| {
        names.into_iter().fold(String::new(), |mut lines, name| {
            let _ = write!(lines, "\n    {name}");
            lines
        })
    };
    let unlisted: Vec<_> = there.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&there).collect();
    ensure!(
        unlisted.is_empty() && gone.is_empty(),
        "orderings that are not listed, with neither a test nor a reason:{}\n\
         orderings that are listed and not there:{}",
        lines(unlisted),
        lines(gone)
    );
    Ok(list.ordering)
}

/// The mutants of a row: none if no test tells them apart.
fn mutants(member: Member, row: Row) -> Vec<Mutant> {
    let Some(test) = row.test else {
        return Vec::new();
    };
    let names = row.weaken.iter();
    names
        .map(|name| Mutant {
            name: full_name(member, name),
            what: "a weaker ordering".into(),
            suite: row.suite,
            test: test.clone(),
            kill: row.kill,
            member,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIB: &str = "mod lock; #[cfg(test)] mod tests;";
    const LOCK: &str = "impl Lock {
        fn take(&self) { self.0.swap(true, Ordering::AcqRel); fence(Ordering::Acquire); }
        fn leave(&self) { self.0.store(false, Ordering::Release) }
    }";

    fn sources() -> Sources {
        let text = |file: &str| {
            Ok(match file {
                "lib.rs" => Some(LIB.to_owned()),
                "lock.rs" => Some(LOCK.to_owned()),
                _ => None,
            })
        };
        Sources::read(&text).unwrap()
    }

    const LIST: &str = r#"
        [[ordering]]
        test = "lock::a"
        weaken = ["lock.rs Lock::take: AcqRel to Release", "lock.rs Lock::leave: Release to Relaxed"]
        [[ordering]]
        why = "no thread waits"
        weaken = ["lock.rs Lock::take: AcqRel to Acquire", "lock.rs Lock::take: Acquire to nothing"]
    "#;

    /// Without it an ordering could be added that no test looks at, or a reason stay when its
    /// ordering has gone.
    #[test]
    fn an_ordering_that_is_not_listed_is_found() {
        let rows = compare(&sources(), LIST).unwrap();
        let mutants: Vec<_> = rows
            .into_iter()
            .flat_map(|row| mutants(Member::Core, row))
            .map(|mutant| mutant.name)
            .collect();
        assert_eq!(
            mutants,
            [
                "core/src/lock.rs Lock::take: AcqRel to Release",
                "core/src/lock.rs Lock::leave: Release to Relaxed"
            ]
        );
        let refused = |list: &str| format!("{:#}", compare(&sources(), list).unwrap_err());
        let without = LIST.replace(", \"lock.rs Lock::leave: Release to Relaxed\"", "");
        let said = refused(&without);
        let unlisted = "nor a reason:\n    lock.rs Lock::leave: Release to Relaxed\n";
        assert!(said.contains(unlisted), "{said}");
        let said = refused(&LIST.replace("Lock::leave:", "Lock::left:"));
        let gone = "not there:\n    lock.rs Lock::left: Release to Relaxed";
        assert!(said.contains(gone), "{said}");
        assert!(
            refused(
                &LIST
                    .replace("why =", "test =")
                    .replace("test =", "test = \"b\"\nwhy =")
            )
            .contains("test")
        );
        assert!(
            refused(&LIST.replace("leave: Release to Relaxed", "take: AcqRel to Acquire"))
                .contains("twice")
        );
    }

    /// Without it a mutant could be planted elsewhere than it is said, or a fence be refused
    /// because it is relaxed.
    #[test]
    fn mutants_are_planted_where_the_orderings_are() {
        let sources = sources();
        let planted: Vec<_> = sources.with_mutants(Member::Core).collect();
        let take = "self.0.swap(true, \
            (if crate::mutant::is(\"core/src/lock.rs Lock::take: AcqRel to Acquire\") { Ordering::Acquire } \
            else if crate::mutant::is(\"core/src/lock.rs Lock::take: AcqRel to Release\") { Ordering::Release } \
            else { Ordering::AcqRel })); \
            (if crate::mutant::is(\"core/src/lock.rs Lock::take: Acquire to nothing\") {  } \
            else { fence(Ordering::Acquire) });";
        let leave = "self.0.store(false, \
            (if crate::mutant::is(\"core/src/lock.rs Lock::leave: Release to Relaxed\") { Ordering::Relaxed } \
            else { Ordering::Release }))";
        let expected = LOCK
            .replace(
                "self.0.swap(true, Ordering::AcqRel); fence(Ordering::Acquire);",
                take,
            )
            .replace("self.0.store(false, Ordering::Release)", leave);
        assert_eq!(planted, [("lock.rs", expected)]);
    }
}
