//! What one module declares, imports and names.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item, ItemMod, ItemUse, Macro, Meta, Token, UseTree, Visibility};

use super::modules::Path;

/// What is read of a module, children apart.
#[derive(Default)]
pub(super) struct Found {
    /// The modules that it declares.
    pub(super) children: Vec<ItemMod>,
    /// Names that it has by `use`, and what they stand for there.
    pub(super) names: BTreeMap<String, Path>,
    /// What it imports for itself; a re-export imports nothing until its name is used.
    pub(super) imported: Vec<Path>,
    /// Paths outside of `use`.
    pub(super) named: Vec<Path>,
    /// A re-export of every name of a module: whose names they are cannot be seen here.
    pub(super) hidden: Option<String>,
}

/// Reads the items of a module, but those that only a test has.
pub(super) fn read(items: &[Item]) -> Found {
    let mut found = Found::default();
    for item in items {
        found.visit_item(item);
    }
    found
}

impl<'ast> Visit<'ast> for Found {
    fn visit_item(&mut self, item: &'ast Item) {
        if !attributes(item).iter().any(is_for_tests) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let for_tests = match item {
            ImplItem::Fn(item) => item.attrs.iter().any(is_for_tests),
            ImplItem::Const(item) => item.attrs.iter().any(is_for_tests),
            _ => false,
        };
        if !for_tests {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        self.children.push(item.clone());
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if item.leading_colon.is_none() {
            let exported = !matches!(item.vis, Visibility::Inherited);
            self.add_use(exported, &mut Path::new(), &item.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let segments = path.segments.iter();
            self.add_path(segments.map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast Macro) {
        self.visit_path(&item.path);
        self.add_tokens(item.tokens.clone());
    }

    // Says who may import, and imports nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}

impl Found {
    fn add_use(&mut self, exported: bool, path: &mut Path, tree: &UseTree) {
        let depth = path.len();
        match tree {
            UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                self.add_use(exported, path, &tree.tree);
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_use(exported, path, tree);
                }
            }
            UseTree::Glob(_) if exported => self.hidden = Some(path.join("::")),
            UseTree::Glob(_) => self.imported.push(path.clone()),
            UseTree::Name(tree) => {
                let name = tree.ident.to_string();
                self.add_name(exported, path, &name, None);
            }
            UseTree::Rename(tree) => {
                let alias = tree.rename.to_string();
                self.add_name(exported, path, &tree.ident.to_string(), Some(alias));
            }
        }
        path.truncate(depth);
    }

    fn add_name(&mut self, exported: bool, before: &Path, name: &str, alias: Option<String>) {
        let mut path = before.clone();
        // `heap::{self, Heap}`
        if name != "self" {
            path.push(name.to_owned());
        }
        if let Some(name) = alias.or_else(|| path.last().cloned()) {
            self.names.insert(name, path.clone());
        }
        if !exported {
            self.imported.push(path);
        }
    }

    /// A path in code. A lone name in lower case may be a variable.
    fn add_path(&mut self, path: Path) {
        let is_variable = |name: &String| !name.starts_with(|first: char| first.is_uppercase());
        if path.len() > 1 || path.first().is_some_and(|name| !is_variable(name)) {
            self.named.push(path);
        }
    }

    /// The paths among the arguments of a macro.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path = Path::new();
        // Colons since the path's last name.
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if colons != 2 {
                        self.add_path(std::mem::take(&mut path));
                    }
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(sign) if sign.as_char() == ':' => colons += 1,
                other => {
                    let before = std::mem::take(&mut path);
                    // A visibility is no import here either.
                    let visibility = before.last().is_some_and(|name| name == "pub");
                    self.add_path(before);
                    colons = 0;
                    if let TokenTree::Group(group) = other
                        && !visibility
                    {
                        self.add_tokens(group.stream());
                    }
                }
            }
        }
        self.add_path(path);
    }
}

/// Whether an attribute is a `cfg` that only a test meets.
pub(super) fn is_for_tests(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute
            .parse_args()
            .is_ok_and(|condition| needs_test(&condition))
}

fn needs_test(condition: &Meta) -> bool {
    let Meta::List(list) = condition else {
        return condition.path().is_ident("test");
    };
    let Ok(parts) = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) else {
        return false;
    };
    if list.path.is_ident("all") {
        parts.iter().any(needs_test)
    } else {
        list.path.is_ident("any") && !parts.is_empty() && parts.iter().all(needs_test)
    }
}

pub(super) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::super::imports_of;

    /// The files that `a.rs` imports, when `lib.rs` has a module of each name.
    fn imported_by(a: &str) -> Vec<String> {
        let lib = "mod a; mod b; mod c; mod d;";
        let files = [
            ("lib.rs", lib),
            ("a.rs", a),
            ("b.rs", ""),
            ("c.rs", ""),
            ("d.rs", ""),
        ];
        imports_of(&files)["a.rs"].keys().cloned().collect()
    }

    /// Without it an import in a form that the reader does not know would be seen by no rule.
    #[test]
    fn every_form_of_an_import_is_seen() {
        for form in [
            "use crate::b::X;",
            "use super::b;",
            "use crate::b::*;",
            "use crate::{b::{self, X as Y}};",
            "fn f() { use crate::b::X; }",
            "fn f(x: crate::b::X<u8>) {}",
            "fn f() { super::b::x() }",
            "impl crate::b::Trait for u8 {}",
            "fn f() { println!(\"{}\", crate::b::x()) }",
            "fn f() { matches!(x, [(super::b::X::Y, _)]) }",
            "mod inline { use super::super::b::X; }",
        ] {
            assert_eq!(imported_by(form), ["b.rs"], "{form}");
        }
    }

    /// Without it a test, a visibility or a comment could make a circle that is none.
    #[test]
    fn what_is_no_import_is_not_taken_for_one() {
        for form in [
            "#[cfg(test)] mod tests { use crate::b::X; }",
            "#[cfg(all(test, not(loom)))] mod tests { fn f() { crate::b::f() } }",
            "#[cfg(test)] use crate::b::X;",
            "struct S; impl S { #[cfg(test)] fn f() { crate::b::f() } }",
            "pub(in crate::b) struct S { pub(in crate::b) field: u8 }",
            "//! [`X`](crate::b::X)\n/* crate::b::X */ /// crate::b::X\nfn f() {}",
            "bitflags! { pub(in crate::b) struct S: u8 {} }",
            "pub use crate::b::X;",
            "fn f() { b::x(); let b = b; std::b::x() }",
            "use std::fmt; fn f(_: fmt::Result) {}",
        ] {
            assert_eq!(imported_by(form), [""; 0], "{form}");
        }
        assert_eq!(imported_by("#[cfg(not(test))] use crate::b::X;"), ["b.rs"]);
        assert_eq!(
            imported_by("#[cfg(any(test, loom))] use crate::b::X;"),
            ["b.rs"]
        );
    }
}
