//! What the rooms of `managers` may not import.

use std::collections::BTreeSet;

use super::{Imports, arrow};

/// A rule for the files of some rooms.
struct Rule {
    /// Folders.
    of: &'static [&'static str],
    /// Folders, and modules of one file, that they may not import.
    never: &'static [&'static str],
    /// Files that they may import all the same, each with the reason. These are held to the rule
    /// themselves.
    but: &'static [(&'static str, &'static str)],
    why: &'static str,
}

/// The room of locks and atomics, which imports no other.
const BOTTOM: &str = "sync";

/// A room is its folder, or the file of that name.
const RULES: &[Rule] = &[
    Rule {
        of: &["pool/cache", "pool/heap", "pool/pages", "pool/streams"],
        never: &[
            // `Pool`, the handle that has one, and modules that have both by `*`.
            "pool/state",
            "pool/memory_pool",
            "pool/mod",
            "lib",
            "pool/alloc",
            "pool/mapping",
            "pool/limit",
            "pool/lifetime",
            "pool/inspect",
        ],
        but: &[(
            "pool/inspect/history.rs",
            "the record that a call of the driver is written to when it is made",
        )],
        why: "a component of the pool names neither the pool nor a room that composes components",
    },
    Rule {
        of: &["driver"],
        never: &[
            "context", "stream", "event", "module", "buffer", "pool", "ops", "pipeline", "graph",
        ],
        but: &[],
        why: "the bottom of the managers knows no manager",
    },
];

/// Whether a file is of a room.
fn is_of(file: &str, room: &str) -> bool {
    let rest = file.strip_prefix(room);
    rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

fn is_of_any(file: &str, rooms: &[&str]) -> bool {
    rooms.iter().any(|room| is_of(file, room))
}

impl Rule {
    fn excuses(&self, file: &str) -> bool {
        self.but.iter().any(|(excused, _)| *excused == file)
    }

    fn forbids(&self, from: &str, to: &str) -> bool {
        let held = is_of_any(from, self.of) || self.excuses(from);
        held && is_of_any(to, self.never) && !self.excuses(to)
    }

    /// The complaint about exceptions that no file needs.
    fn excused_for_nothing(&self, imports: &Imports) -> Option<String> {
        let needed = |excused: &str| {
            let mut files = imports.iter();
            files.any(|(from, others)| is_of_any(from, self.of) && others.contains_key(excused))
        };
        let idle = self.but.iter().filter(|(file, _)| !needed(file));
        let idle: Vec<_> = idle.map(|(file, _)| format!("    {file}")).collect();
        (!idle.is_empty()).then(|| format!("excused for nothing:\n{}", idle.join("\n")))
    }
}

/// A complaint for each rule that is broken, with the imports that break it.
pub(super) fn problems(imports: &Imports) -> Vec<String> {
    let mut problems = Vec::new();
    for rule in RULES {
        problems.extend(broken(imports, rule.why, |from, to| rule.forbids(from, to)));
        problems.extend(rule.excused_for_nothing(imports));
    }
    let why = "what everything is made from imports no other room";
    problems.extend(broken(imports, why, |from, to| {
        is_of(from, BOTTOM) && !is_of(to, BOTTOM)
    }));
    problems
}

/// The complaint about the imports that are `wrong`, if there are any.
fn broken(imports: &Imports, why: &str, wrong: impl Fn(&str, &str) -> bool) -> Option<String> {
    let mut lines = vec![format!("{why}:")];
    for (from, others) in imports {
        let wrong = others.iter().filter(|(to, _)| wrong(from, to));
        lines.extend(wrong.map(|(to, paths)| arrow(from, to, paths)));
    }
    (lines.len() > 1).then(|| lines.join("\n"))
}

/// A complaint for each folder in a rule that has no file: a rule for a name of yesterday holds
/// nothing.
pub(super) fn empty(imports: &Imports) -> Vec<String> {
    let rules = RULES
        .iter()
        .flat_map(|rule| rule.of.iter().chain(rule.never));
    let mut rooms = rules.chain([&BOTTOM]).copied().collect::<BTreeSet<_>>();
    rooms.retain(|room| !imports.keys().any(|file| is_of(file, room)));
    let empty = rooms.into_iter();
    empty
        .map(|room| format!("{room} is in a rule, and has no file"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Imports that are asked for, and those that the exceptions are for.
    fn imports(arrows: &[(&str, &str)]) -> Imports {
        let excused = RULES.iter().flat_map(|rule| rule.but);
        let excused = excused.map(|(file, _)| ("pool/heap/any.rs", *file));
        let mut imports = Imports::new();
        for (from, to) in excused.chain(arrows.iter().copied()) {
            let paths = BTreeSet::from(["a::path".to_owned()]);
            imports
                .entry(from.to_owned())
                .or_default()
                .insert(to.to_owned(), paths);
        }
        imports
    }

    /// Without it a rule could hold for no file, or complain of what it allows.
    #[test]
    fn each_rule_is_broken_by_its_imports() {
        for (from, to) in [
            ("pool/cache/magazine.rs", "pool/state.rs"),
            ("pool/heap/slab/inner.rs", "pool/alloc/mod.rs"),
            ("pool/pages/mod.rs", "pool/limit/levels.rs"),
            ("pool/inspect/history.rs", "pool/state.rs"),
            ("sync/mod.rs", "error/mod.rs"),
            ("driver/core.rs", "stream/mod.rs"),
            ("driver/core.rs", "pipeline.rs"),
        ] {
            let said = problems(&imports(&[(from, to)])).join("\n");
            let line = format!("{from} imports {to} (a::path)");
            assert_eq!(said.matches("(a::path)").count(), 1, "{said}");
            assert!(said.contains(&line), "{said}");
        }
        let allowed = imports(&[
            ("pool/alloc/free.rs", "pool/state.rs"),
            ("pool/heap/slab.rs", "pool/cache/size_class.rs"),
            ("pool/pages/vmm.rs", "pool/inspect/history.rs"),
            ("sync/spin_lock.rs", "sync/mod.rs"),
            ("stream/mod.rs", "driver/mod.rs"),
            ("driver/core.rs", "handle.rs"),
        ]);
        assert_eq!(problems(&allowed), [""; 0]);
    }

    /// Without it an exception could stay when its reason has gone.
    #[test]
    fn an_exception_that_is_not_needed_is_told() {
        let mut imports = imports(&[]);
        imports.remove("pool/heap/any.rs");
        let said = problems(&imports).join("\n");
        for (file, _) in RULES[0].but {
            assert!(said.contains(file), "{said}");
        }
    }

    /// Without it a room could be renamed, and its rule hold for no file.
    #[test]
    fn a_rule_for_a_room_that_is_not_there_is_told() {
        let none = ("pool/heap/any.rs", "driver.rs");
        let said = empty(&imports(&[none])).join("\n");
        assert!(said.contains("pool/cache is in a rule"), "{said}");
        assert!(!said.contains("pool/heap "), "{said}");
    }
}
