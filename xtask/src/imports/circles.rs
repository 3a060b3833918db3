//! Files that import each other.

use std::collections::{BTreeMap, BTreeSet};

use super::{Imports, arrow};

/// A type and two that are made for it may know each other; more are one file in pieces.
const MOST_IN_A_CIRCLE: usize = 3;

/// A complaint for each circle that is too large, with its imports.
pub(super) fn problems(imports: &Imports) -> Vec<String> {
    let mut problems = Vec::new();
    for circle in circles(imports) {
        if circle.len() <= MOST_IN_A_CIRCLE {
            continue;
        }
        let mut lines = vec![format!(
            "{} files import each other, at most {MOST_IN_A_CIRCLE} may:",
            circle.len()
        )];
        for from in &circle {
            let inside = imports[*from]
                .iter()
                .filter(|(to, _)| circle.contains(to.as_str()));
            lines.extend(inside.map(|(to, paths)| arrow(from, to, paths)));
        }
        problems.push(lines.join("\n"));
    }
    problems
}

/// The sets of two and more files each of which imports every other, through others of the set
/// too.
fn circles(imports: &Imports) -> BTreeSet<BTreeSet<&str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = imports
        .keys()
        .map(|file| (file.as_str(), reached_from(file, imports)))
        .collect();
    let circle_of = |file: &str| -> BTreeSet<&str> {
        let others = reached[file].iter().copied();
        others
            .filter(|other| reached[*other].contains(file))
            .collect()
    };
    let circles = reached.keys().map(|file| circle_of(file));
    circles.filter(|circle| circle.len() > 1).collect()
}

/// The files that a file imports, and those that they import, and so on.
fn reached_from<'a>(file: &str, imports: &'a Imports) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![file];
    while let Some(file) = open.pop() {
        for other in imports.get(file).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(other.as_str()) {
                open.push(other);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::super::imports_of;
    use super::*;

    /// Without it two files that import each other could pass for two that do not.
    #[test]
    fn a_circle_of_two_is_found() {
        let imports = imports_of(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::B; pub struct A(B);"),
            ("b.rs", "fn f(_: super::a::A) {}"),
            ("c.rs", "use crate::a::A;"),
        ]);
        assert_eq!(circles(&imports), [["a.rs", "b.rs"].into()].into());
        assert_eq!(problems(&imports), [""; 0]);
    }

    /// Without it a circle could hide behind the names that a room's `mod.rs` re-exports, or seem
    /// to go through a `mod.rs` that only re-exports.
    #[test]
    fn a_re_export_is_followed() {
        let room = "mod a; mod b; pub(crate) use a::A; pub(crate) use self::b::B as C;";
        let imports = imports_of(&[
            ("lib.rs", "mod room; mod user; pub use room::A;"),
            ("user.rs", "use crate::{A, room::C};"),
            ("room/mod.rs", room),
            ("room/a.rs", "use super::C; pub struct A(C);"),
            ("room/b.rs", "use crate::A; pub struct B(A);"),
        ]);
        let circle = BTreeSet::from(["room/a.rs", "room/b.rs"]);
        assert_eq!(
            imports["user.rs"].keys().collect::<Vec<_>>(),
            ["room/a.rs", "room/b.rs"]
        );
        assert_eq!(circles(&imports), [circle].into());
        // The room's own code imports what it names.
        let room = format!("{room} fn f(_: A) {{}}");
        let imports = imports_of(&[
            ("lib.rs", "mod room;"),
            ("room/mod.rs", &room),
            ("room/a.rs", "use super::f;"),
            ("room/b.rs", ""),
        ]);
        let circle = BTreeSet::from(["room/a.rs", "room/mod.rs"]);
        assert_eq!(circles(&imports), [circle].into());
    }

    /// Without it a test's imports could make a circle of files that do well without.
    #[test]
    fn a_test_makes_no_circle() {
        let tests = "#[cfg(test)] mod tests { use crate::b::B; } #[cfg(test)] mod more;";
        let imports = imports_of(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", tests),
            ("b.rs", "use crate::a::A;"),
        ]);
        assert_eq!(circles(&imports), BTreeSet::new());
    }

    /// Without it the check could find a large circle and let it pass, or not say how it comes.
    #[test]
    fn four_in_a_circle_are_too_many_and_are_named() {
        let imports = imports_of(&[
            ("lib.rs", "mod a; mod b; mod c; mod d; mod e;"),
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "use crate::c::C;"),
            ("c.rs", "use crate::d::D; use crate::e::E;"),
            ("d.rs", "use crate::a::A;"),
            ("e.rs", ""),
        ]);
        let problems = problems(&imports).join("\n");
        for part in [
            "4 files",
            "a.rs imports b.rs (crate::b::B)",
            "d.rs imports a.rs",
        ] {
            assert!(problems.contains(part), "{problems}");
        }
        assert!(!problems.contains("e.rs"), "{problems}");
    }
}
