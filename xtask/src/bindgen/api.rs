//! From bindgen's output to the files that the crate compiles: types and prototypes,
//! and one description of the API (a macro with a row for each symbol).
//!
//! The version that introduced a driver symbol comes from `cudaTypedefs.h`: it has a
//! type `PFN_<base>_v<version>[_ptsz|_ptds]` for each ABI that ever existed. Sorted by
//! age, the ABIs of a base and its types pair off one to one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};

use super::{macros, render, type_text};
use crate::root;

/// One library to bind.
pub(super) struct Library {
    pub(super) name: &'static str,
    /// The C text that bindgen parses.
    pub(super) wrapper: &'static str,
    /// The headers whose items are kept (a regular expression over paths).
    pub(super) files: &'static str,
    /// The headers whose macros are read, under `nvidia/`.
    pub(super) headers: &'static [&'static str],
    /// Types that come from elsewhere.
    pub(super) blocked: &'static [&'static str],
    /// Macros that are no constants in Rust, each with the reason.
    pub(super) excused: &'static [(&'static str, &'static str)],
    /// Rust text put before the bindings.
    pub(super) preamble: &'static str,
}

struct Function {
    name: String,
    args: Vec<(String, String)>,
    ret: Option<String>,
}

const NOTE: &str = "// Written by `cargo xtask bindgen`. Do not edit.\n";

/// The generated files of `library`: name and text.
pub(super) fn files(
    library: &Library,
    bindings: &syn::File,
    folder: &Path,
) -> Result<Vec<(String, String)>> {
    let mut types = syn::parse_file(library.preamble)?.items;
    let mut prototypes = Vec::new();
    let mut pointers = Vec::new();
    let mut functions = Vec::new();
    for item in &bindings.items {
        match item {
            syn::Item::ForeignMod(block) => {
                for foreign in &block.items {
                    if let syn::ForeignItem::Fn(function) = foreign {
                        functions.push(read_function(function)?);
                    }
                }
                prototypes.push(item.clone());
            }
            syn::Item::Type(alias) if alias.ident.to_string().starts_with("PFN_") => {
                pointers.push(item.clone());
            }
            other => types.push(other.clone()),
        }
    }
    ensure!(!functions.is_empty(), "no functions in {}", library.files);
    functions.sort_by(|a, b| a.name.cmp(&b.name));
    functions.dedup_by(|a, b| a.name == b.name);
    let names = functions.iter().map(|found| found.name.clone()).collect();
    macros::complete(library, folder, &names, &mut types)?;

    let mut files = vec![
        (format!("{}.rs", library.name), render(NOTE, types)),
        (
            format!("{}_prototypes.rs", library.name),
            render(NOTE, prototypes),
        ),
    ];
    let introduced = if library.name == "driver" {
        let table = introduced(&functions, &pointers)?;
        check_against_research(&table)?;
        files.push((
            "driver_pointers.rs".into(),
            pointer_assertions(&functions, &table, pointers),
        ));
        table
    } else {
        BTreeMap::new()
    };
    files.push((
        format!("{}_api.rs", library.name),
        description(library, &functions, &introduced)?,
    ));
    Ok(files)
}

fn read_function(function: &syn::ForeignItemFn) -> Result<Function> {
    let mut args = Vec::new();
    for input in &function.sig.inputs {
        let syn::FnArg::Typed(arg) = input else {
            bail!("a method among C functions")
        };
        let name = type_text_of_pattern(&arg.pat);
        args.push((name, type_text(&*arg.ty)));
    }
    let ret = match &function.sig.output {
        syn::ReturnType::Default => None,
        syn::ReturnType::Type(_, ty) => Some(type_text(&**ty)),
    };
    Ok(Function {
        name: function.sig.ident.to_string(),
        args,
        ret,
    })
}

fn type_text_of_pattern(pattern: &syn::Pat) -> String {
    match pattern {
        syn::Pat::Ident(name) => name.ident.to_string(),
        _ => "arg".into(),
    }
}

/// Symbol -> (base name, introducing version).
fn introduced(
    functions: &[Function],
    pointers: &[syn::Item],
) -> Result<BTreeMap<String, (String, u32)>> {
    // Base name and default-stream suffix -> versions in which an ABI appeared.
    let mut ages: BTreeMap<(String, String), Vec<u32>> = BTreeMap::new();
    for item in pointers {
        let syn::Item::Type(alias) = item else {
            continue;
        };
        let name = alias.ident.to_string();
        let (name, stream) = split_stream_suffix(name.trim_start_matches("PFN_"));
        let Some((base, version)) = split_version(name) else {
            continue;
        };
        ages.entry((base.into(), stream.into()))
            .or_default()
            .push(version);
    }
    let mut symbols: BTreeMap<(String, String), Vec<(u32, String)>> = BTreeMap::new();
    for function in functions {
        let (name, stream) = split_stream_suffix(&function.name);
        let (base, abi) = split_version(name).unwrap_or((name, 1));
        symbols
            .entry((base.into(), stream.into()))
            .or_default()
            .push((abi, function.name.clone()));
    }
    let mut table = BTreeMap::new();
    for (key, mut names) in symbols {
        let mut versions = ages.remove(&key).unwrap_or_default();
        versions.sort_unstable();
        versions.dedup();
        names.sort_unstable();
        ensure!(
            versions.len() == names.len(),
            "{key:?}: symbols {names:?} against versions {versions:?}"
        );
        for ((_, symbol), version) in names.into_iter().zip(versions) {
            table.insert(symbol, (key.0.clone(), version));
        }
    }
    Ok(table)
}

fn split_stream_suffix(name: &str) -> (&str, &str) {
    for suffix in ["_ptsz", "_ptds"] {
        if let Some(rest) = name.strip_suffix(suffix) {
            return (rest, suffix);
        }
    }
    (name, "")
}

/// `cuMemAlloc_v2` -> (`cuMemAlloc`, 2).
fn split_version(name: &str) -> Option<(&str, u32)> {
    let (base, version) = name.rsplit_once("_v")?;
    Some((base, version.parse().ok()?))
}

/// The derived table must agree with the one that was verified against a real driver
/// (symbols that only `cudaProfiler.h` declares are not in it).
fn check_against_research(table: &BTreeMap<String, (String, u32)>) -> Result<()> {
    let path = root().join("xtask/cuda_abi.tsv");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut rows = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut columns = line.split('\t');
        let (Some(symbol), Some(base), Some(version)) =
            (columns.next(), columns.next(), columns.next())
        else {
            continue;
        };
        let derived = table
            .get(symbol)
            .with_context(|| format!("{symbol} is not in the headers"))?;
        ensure!(
            derived.0 == base && derived.1.to_string() == version,
            "{symbol}: derived {derived:?}, verified {base} {version}"
        );
        rows += 1;
    }
    let extra: Vec<_> = table
        .keys()
        .filter(|name| !name.starts_with("cuProfiler"))
        .collect();
    ensure!(
        extra.len() == rows,
        "{} symbols derived, {rows} verified",
        extra.len()
    );
    Ok(())
}

/// The types of `cudaTypedefs.h`, each asserted equal to the prototype it pairs with.
fn pointer_assertions(
    functions: &[Function],
    table: &BTreeMap<String, (String, u32)>,
    pointers: Vec<syn::Item>,
) -> String {
    let mut text = render(NOTE, pointers);
    for function in functions {
        let Some((base, version)) = table.get(&function.name) else {
            continue;
        };
        let (_, stream) = split_stream_suffix(&function.name);
        let _ = writeln!(
            text,
            "const _: PFN_{base}_v{version}{stream} = Some({});",
            function.name
        );
    }
    text
}

/// The macro with one row for each symbol.
fn description(
    library: &Library,
    functions: &[Function],
    introduced: &BTreeMap<String, (String, u32)>,
) -> Result<String> {
    let name = library.name;
    let mut text = format!(
        "{NOTE}\n/// Calls a macro with one row for each function of the API:\n\
         /// `fn name = c\"symbol\" c\"base\" introduced (arguments) -> result;`\n\
         #[macro_export]\nmacro_rules! for_each_{name}_symbol {{\n    ($($callback:tt)*) => {{\n        $($callback)* {{\n"
    );
    for function in functions {
        let symbol = &function.name;
        let (base, version) = introduced
            .get(symbol)
            .map_or((symbol.as_str(), 0), |(base, version)| {
                (base.as_str(), *version)
            });
        let args: Vec<_> = function
            .args
            .iter()
            .map(|(name, ty)| format!("{name}: {ty}"))
            .collect();
        let ret = function.ret.as_deref().unwrap_or("()");
        writeln!(
            text,
            "            fn {symbol} = c\"{symbol}\" c\"{base}\" {version} ({}) -> {ret};",
            args.join(", ")
        )?;
    }
    text.push_str("        }\n    };\n}\n");
    Ok(text)
}
