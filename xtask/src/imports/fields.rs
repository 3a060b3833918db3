//! The fields of the components of the pool are private: rooms that compose call methods, which say
//! what is done.

use syn::visit::{self, Visit};
use syn::{Fields, Item, ItemStruct, ItemUnion, Visibility};

use super::uses::{attributes, is_for_tests};

/// The rooms of components.
const ROOMS: &[&str] = &["pool/cache/", "pool/heap/", "pool/pages/", "pool/streams/"];

/// Types with fields that others see, each with the reason.
const BUT: &[(&str, &str)] = &[
    (
        "pool/heap/central.rs: HeapRequest",
        "three numbers of a request, which any caller may put together",
    ),
    (
        "pool/pages/page_table.rs: Extent",
        "two numbers that name pages: the page table says whether they are an extent",
    ),
    (
        "pool/pages/handle_cache.rs: PhysicalHandle",
        "a handle of the driver and its length, which goes from the driver to the page table",
    ),
    (
        "pool/pages/handle_size.rs: Device",
        "two figures of the driver",
    ),
    (
        "pool/pages/search.rs: Search",
        "the notes of one search, which each step reads and adds to",
    ),
];

/// What is read of a file: the types that have fields which are not private.
#[derive(Default)]
struct Open {
    types: Vec<String>,
}

impl<'ast> Visit<'ast> for Open {
    fn visit_item(&mut self, item: &'ast Item) {
        if !attributes(item).iter().any(is_for_tests) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        self.note(&item.ident, &item.fields);
    }

    fn visit_item_union(&mut self, item: &'ast ItemUnion) {
        self.note(&item.ident, &Fields::Named(item.fields.clone()));
    }
}

impl Open {
    fn note(&mut self, name: &syn::Ident, fields: &Fields) {
        let is_open = |field: &syn::Field| !matches!(field.vis, Visibility::Inherited);
        if fields.iter().any(is_open) {
            self.types.push(name.to_string());
        }
    }
}

/// A complaint about types of components with fields that are not private, and one about exceptions
/// that no type needs. `files` are those of the crate, with their texts.
pub(super) fn problems<'a>(
    files: impl IntoIterator<Item = (&'a str, String)>,
) -> syn::Result<Vec<String>> {
    let mut open = Vec::new();
    for (file, text) in files {
        if !ROOMS.iter().any(|room| file.starts_with(room)) {
            continue;
        }
        let mut found = Open::default();
        found.visit_file(&syn::parse_file(&text)?);
        open.extend(found.types.iter().map(|name| format!("{file}: {name}")));
    }
    let excused = |name: &str| BUT.iter().any(|(but, _)| *but == name);
    let list = |names: Vec<&str>| names.join("\n    ");
    let wrong: Vec<_> = (open.iter().map(String::as_str))
        .filter(|name| !excused(name))
        .collect();
    let idle: Vec<_> = (BUT.iter().map(|(name, _)| *name))
        .filter(|name| !open.iter().any(|open| open == name))
        .collect();
    let mut problems = Vec::new();
    if !wrong.is_empty() {
        let why = "a field of a component is private, and a method says what is done";
        problems.push(format!("{why}:\n    {}", list(wrong)));
    }
    if !idle.is_empty() {
        problems.push(format!("excused for nothing:\n    {}", list(idle)));
    }
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files that the exceptions are for, and these.
    fn said(files: &[(&str, &str)]) -> String {
        let mut texts: Vec<(&str, String)> = Vec::new();
        for (but, _) in BUT {
            let (file, name) = but.split_once(": ").unwrap();
            texts.push((file, format!("struct {name} {{ pub(crate) it: u64 }}")));
        }
        texts.extend(files.iter().map(|&(file, text)| (file, text.to_owned())));
        problems(texts).unwrap().join("\n")
    }

    /// Without it a field could be opened to the crate again, in whichever way.
    #[test]
    fn a_field_that_is_not_private_is_told() {
        for text in [
            "pub(crate) struct Heap { used: u64, pub(crate) free: u64 }",
            "struct Heap { pub free: u64 }",
            "struct Heap(pub(super) u64);",
            "struct Heap<T> { pub(in crate::pool) free: T }",
            "union Heap { pub(crate) free: u64, used: u32 }",
            "mod inner { pub(crate) struct Heap { pub(crate) free: u64 } }",
        ] {
            let said = said(&[("pool/heap/best_fit.rs", text)]);
            assert!(
                said.contains("pool/heap/best_fit.rs: Heap"),
                "{text}: {said}"
            );
        }
    }

    /// Without it the check could complain of what may be: private fields, methods, tests, and the
    /// rooms that compose.
    #[test]
    fn what_may_be_is_not_told() {
        assert_eq!(
            said(&[
                ("pool/heap/a.rs", "pub(crate) struct Heap { used: u64 }"),
                (
                    "pool/heap/b.rs",
                    "impl Heap { pub(crate) fn used(&self) {} }"
                ),
                (
                    "pool/heap/c.rs",
                    "#[cfg(test)] mod tests { struct Bench { pub(crate) a: u8 } }"
                ),
                ("pool/limit/d.rs", "struct Budget { pub(crate) most: u64 }"),
                ("pool/heap/central.rs", "pub(crate) struct Central(Heap);"),
            ]),
            ""
        );
    }

    /// Without it an exception could stay when its reason has gone.
    #[test]
    fn an_exception_that_is_not_needed_is_told() {
        let said = problems([]).unwrap().join("\n");
        for (name, _) in BUT {
            assert!(said.contains(name), "{said}");
        }
    }
}
