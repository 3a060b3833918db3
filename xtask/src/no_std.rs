//! `cargo xtask no-std`: proves that `core` links without std and without an allocator.
//!
//! `core/no_std` is a static library with a panic handler of its own that uses every public
//! type of `cupola-core`. That it builds proves that std is not there. What its objects
//! refer to is read from the archive. Two features of it do what must not be done, and
//! must be found out.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context as _, Result, ensure};
use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectSymbol as _};
use proc_macro2::{TokenStream, TokenTree};
use syn::{Item, UseTree, Visibility};

use crate::tasks::{cargo, target};
use crate::{root, skip};

/// Symbols that compiled code may always ask its environment for: plain memory, no heap.
const MEMORY: &[&str] = &["memcpy", "memmove", "memset", "memcmp", "bcmp"];

/// Parts of names that nothing here may refer to or define: Rust's allocation functions,
/// whatever the compiler adds to their names, and those of C.
const ALLOCATION: &[&str] = &[
    "__rust_alloc",
    "__rust_dealloc",
    "__rust_realloc",
    "__rust_no_alloc_shim",
    "__rg_",
    "__rdl_",
    "malloc",
    "calloc",
    "realloc",
    "memalign",
    "aligned_alloc",
    "mmap",
];

/// The crates of the toolchain that every program contains.
const TOOLCHAIN: &[&str] = &["core", "compiler_builtins"];

/// The whole proof.
pub(crate) fn run() -> Result<()> {
    eprintln!("\n==== core without std and without an allocator");
    every_type_is_used()?;
    if !cfg!(target_os = "linux") {
        return skip(
            "what the objects of core refer to",
            "the archive is read as Linux's linkers name it",
        );
    }

    let output = build(None)?;
    ensure!(
        output.status.success(),
        "core/no_std does not build:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let archive = Archive::read(&archive())?;
    let wrong = archive.wrong();
    ensure!(
        wrong.is_empty(),
        "core is not free of them:\n{}",
        wrong.join("\n")
    );
    println!(
        "{} objects refer to nothing outside but {:?}",
        archive.own, archive.outside
    );

    let output = build(Some("allocate"))?;
    ensure!(
        output.status.success(),
        "the negative control does not build:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let found = Archive::read(&self::archive())?.wrong();
    ensure!(
        found.iter().any(|line| line.contains("__rust_alloc")),
        "an allocation went unnoticed: {found:?}"
    );
    println!("an allocation is noticed: {}", found[0]);

    let output = build(Some("std"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        !output.status.success() && said.contains("panic_impl"),
        "std was linked and nothing happened ({}):\n{said}",
        output.status
    );
    println!("std cannot be linked: it has a panic handler too");
    Ok(())
}

fn build(feature: Option<&str>) -> Result<Output> {
    let mut cargo = cargo(["build"]);
    cargo
        .current_dir(root().join("core/no_std"))
        .args(feature.map(|feature| format!("--features={feature}")))
        .env("CARGO_TARGET_DIR", target().join("no-std"));
    cargo.output().context("starting cargo")
}

fn archive() -> PathBuf {
    target().join("no-std/debug/libcupola_core_no_std.a")
}

/// What the objects of a static library say of themselves.
#[derive(Debug, Default)]
struct Archive {
    /// Crates with objects in it.
    crates: BTreeSet<String>,
    /// Number of objects that are not the toolchain's.
    own: usize,
    /// All symbols of those.
    symbols: BTreeSet<String>,
    /// Symbols that those refer to and that neither they nor the toolchain's define.
    outside: BTreeSet<String>,
}

impl Archive {
    fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| path.display().to_string())?;
        let mut archive = Self::default();
        let mut defined = BTreeSet::new();
        for member in ArchiveFile::parse(&*bytes)?.members() {
            let member = member?;
            let name = String::from_utf8_lossy(member.name()).into_owned();
            // Objects of Rust are named CRATE-HASH.UNIT.rcgu.o; the rest are compiler-rt's.
            let own = match name.split_once('-') {
                Some((crate_name, _)) if name.ends_with(".rcgu.o") => {
                    archive.crates.insert(crate_name.to_owned());
                    !TOOLCHAIN.contains(&crate_name)
                }
                _ => false,
            };
            archive.own += usize::from(own);
            let object = object::File::parse(member.data(&*bytes)?)
                .with_context(|| format!("{name} in {}", path.display()))?;
            for symbol in object.symbols() {
                let name = symbol.name()?.to_owned();
                if symbol.is_undefined() {
                    if own && !name.is_empty() {
                        archive.outside.insert(name.clone());
                    }
                } else if symbol.is_global() {
                    defined.insert(name.clone());
                }
                if own {
                    archive.symbols.insert(name);
                }
            }
        }
        archive.outside.retain(|name| !defined.contains(name));
        ensure!(
            archive.crates.contains("cupola_core") && archive.symbols.contains("cupola_stores"),
            "{} does not contain what it is made of",
            path.display()
        );
        Ok(archive)
    }

    /// Everything that must not be there.
    fn wrong(&self) -> Vec<String> {
        let crates = self
            .crates
            .iter()
            .filter(|name| ["alloc", "std"].contains(&name.as_str()))
            .map(|name| format!("the crate {name} is linked"));
        let symbols = self
            .symbols
            .iter()
            .filter(|name| ALLOCATION.iter().any(|part| name.contains(part)))
            .map(|name| format!("allocation symbol {name}"));
        let outside = self
            .outside
            .iter()
            .filter(|name| !MEMORY.contains(&name.trim_start_matches('_')))
            .map(|name| format!("{name} is referred to and not defined"));
        symbols.chain(crates).chain(outside).collect()
    }
}

/// Every item that `cupola-core` exports must be named in the sources of `core/no_std`.
fn every_type_is_used() -> Result<()> {
    let mut public = BTreeSet::new();
    exports(&root().join("core/src"), "lib", &mut public)?;
    let mut used = BTreeSet::new();
    let folder = root().join("core/no_std/src");
    let library = syn::parse_file(&fs::read_to_string(folder.join("lib.rs"))?)?;
    // Only what is compiled counts: the files that the library names.
    for item in &library.items {
        if let Item::Mod(module) = item {
            let text = fs::read_to_string(folder.join(format!("{}.rs", module.ident)))?;
            let tokens: TokenStream = text.parse().map_err(|error| anyhow::anyhow!("{error}"))?;
            identifiers(tokens, &mut used);
        }
    }
    let unused: Vec<_> = public.difference(&used).collect();
    ensure!(
        unused.is_empty(),
        "core/no_std/src does not use these public items of cupola-core: {unused:?}"
    );
    println!("all {} public items are used", public.len());
    Ok(())
}

/// Adds the names that the module `name` in `folder` exports, and those of its public
/// modules.
fn exports(folder: &Path, name: &str, names: &mut BTreeSet<String>) -> Result<()> {
    let file = folder.join(format!("{name}.rs"));
    let (file, folder) = if file.exists() {
        let inside = if name == "lib" { "" } else { name };
        (file, folder.join(inside))
    } else {
        (folder.join(name).join("mod.rs"), folder.join(name))
    };
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    for module in public_names(&syn::parse_file(&text)?.items, names) {
        exports(&folder, &module, names)?;
    }
    Ok(())
}

/// Adds the names of a module's public items; returns its public modules in files.
fn public_names(items: &[Item], names: &mut BTreeSet<String>) -> Vec<String> {
    let mut modules = Vec::new();
    let public = |vis: &Visibility| matches!(vis, Visibility::Public(_));
    for item in items {
        let name = match item {
            Item::Use(item) if public(&item.vis) => {
                leaves(&item.tree, names);
                continue;
            }
            Item::Mod(item) if public(&item.vis) => {
                match &item.content {
                    Some((_, items)) => modules.extend(public_names(items, names)),
                    None => modules.push(item.ident.to_string()),
                }
                continue;
            }
            Item::Struct(item) if public(&item.vis) => &item.ident,
            Item::Enum(item) if public(&item.vis) => &item.ident,
            Item::Union(item) if public(&item.vis) => &item.ident,
            Item::Trait(item) if public(&item.vis) => &item.ident,
            Item::Type(item) if public(&item.vis) => &item.ident,
            Item::Fn(item) if public(&item.vis) => &item.sig.ident,
            Item::Const(item) if public(&item.vis) => &item.ident,
            Item::Static(item) if public(&item.vis) => &item.ident,
            _ => continue,
        };
        names.insert(name.to_string());
    }
    modules
}

fn leaves(tree: &UseTree, names: &mut BTreeSet<String>) {
    match tree {
        UseTree::Path(path) => leaves(&path.tree, names),
        UseTree::Name(name) => {
            names.insert(name.ident.to_string());
        }
        UseTree::Rename(rename) => {
            names.insert(rename.rename.to_string());
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, names)),
        UseTree::Glob(_) => {
            names.insert("*".into()); // used by no file: says that this check has gone blind
        }
    }
}

fn identifiers(tokens: TokenStream, names: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                names.insert(name.to_string());
            }
            TokenTree::Group(group) => identifiers(group.stream(), names),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it a new type could be left out of the proof.
    #[test]
    fn public_names_are_those_that_are_exported() {
        let text = "mod a; use a::No; pub(crate) use a::Neither; pub use a::{One, b::Two};\n\
            pub use a::Other as Three; pub struct Four(u8); struct Nor; pub mod five;";
        let mut names = BTreeSet::new();
        let modules = public_names(&syn::parse_file(text).unwrap().items, &mut names);
        assert_eq!(modules, ["five"]);
        let names: Vec<_> = names.into_iter().collect();
        assert_eq!(names, ["Four", "One", "Three", "Two"]);
    }

    /// Without it only one spelling of an allocation would be noticed.
    #[test]
    fn what_must_not_be_there_is_said() {
        let set = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let mut archive = Archive {
            crates: set(&["core", "cupola_core"]),
            own: 1,
            symbols: set(&["cupola_stores", "memcpy"]),
            outside: set(&["memcpy"]),
        };
        assert_eq!(archive.wrong(), [""; 0]);
        archive
            .symbols
            .insert("_RNvCsabc_7___rustc12___rust_alloc".into());
        archive.outside.insert("getenv".into());
        archive.crates.insert("alloc".into());
        assert_eq!(archive.wrong().len(), 3);
    }
}
