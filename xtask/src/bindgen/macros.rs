//! The constants of a header that are macros. bindgen translates those that are numbers, and
//! drops the rest without a word: casts, names of other constants, sizes of structures. Here
//! each macro is read from the header's text and becomes a constant, or has a reason not to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};

use super::api::Library;
use super::type_text;

/// A macro of a header, without comments.
#[derive(Debug, PartialEq, Eq)]
struct Macro {
    name: String,
    /// It takes arguments: code, not a constant.
    takes: bool,
    body: String,
}

/// Reads the macros of a header, those of branches that are not compiled too.
fn read(text: &str) -> Vec<Macro> {
    let text = text.replace("\r\n", "\n").replace("\\\n", " ");
    let mut macros = Vec::new();
    for line in text.lines() {
        let Some(line) = line.trim_start().strip_prefix('#') else {
            continue;
        };
        let Some(rest) = line.trim_start().strip_prefix("define") else {
            continue;
        };
        let rest = rest.trim_start();
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let (name, body) = rest.split_at(end);
        let body = ["//", "/*"]
            .iter()
            .fold(body, |body, mark| body.split(mark).next().unwrap_or(body));
        macros.push(Macro {
            name: name.to_owned(),
            takes: body.starts_with('('),
            body: body.split_whitespace().collect::<Vec<_>>().join(" "),
        });
    }
    macros
}

/// What bindgen made of the header.
struct Bound<'a> {
    /// Plain constants.
    constants: BTreeSet<String>,
    /// Constants of enumerations, each with its type.
    members: BTreeMap<String, String>,
    /// Types, each with what it stands for if it is an alias.
    types: BTreeMap<String, String>,
    functions: &'a BTreeSet<String>,
}

impl<'a> Bound<'a> {
    fn of(items: &[syn::Item], functions: &'a BTreeSet<String>) -> Self {
        let mut bound = Self {
            constants: BTreeSet::new(),
            members: BTreeMap::new(),
            types: BTreeMap::new(),
            functions,
        };
        for item in items {
            bound.add(item);
        }
        bound
    }

    fn add(&mut self, item: &syn::Item) {
        match item {
            syn::Item::Const(item) => {
                self.constants.insert(item.ident.to_string());
            }
            syn::Item::Type(item) => {
                self.types
                    .insert(item.ident.to_string(), type_text(&*item.ty));
            }
            syn::Item::Struct(item) => {
                self.types.insert(item.ident.to_string(), String::new());
            }
            syn::Item::Use(item) => {
                // `pub use self::name_enum as name_t;`
                if let Some(name) = type_text(&item.tree).rsplit(' ').next() {
                    self.types.insert(name.to_owned(), String::new());
                }
            }
            syn::Item::Impl(block) if block.trait_.is_none() => {
                for item in &block.items {
                    if let syn::ImplItem::Const(item) = item {
                        self.members
                            .insert(item.ident.to_string(), type_text(&*block.self_ty));
                    }
                }
            }
            _ => {}
        }
    }

    /// The Rust text for a macro that bindgen has no constant for; `None` when it is none.
    fn text(&self, name: &str, body: &str) -> Option<String> {
        let body = bare(body);
        if let Some(owner) = self.members.get(body) {
            return Some(format!("pub const {name}: {owner} = {owner}::{body};"));
        }
        if body == "INT_MIN" {
            let int = "::core::ffi::c_int";
            return Some(format!("pub const {name}: {int} = {int}::MIN;"));
        }
        if self.constants.contains(body) {
            // Flags are all of this type: bindgen makes one of what is not negative.
            return Some(format!("pub const {name}: u32 = {body};"));
        }
        if self.types.contains_key(body) {
            return Some(format!("pub type {name} = {body};"));
        }
        if let Some(arguments) = body.strip_prefix("NVML_STRUCT_VERSION") {
            let (of, version) = bare(arguments).split_once(',')?;
            let (of, version) = (of.trim(), version.trim());
            return Some(format!(
                "pub const {name}: u32 = \
                 ::core::mem::size_of::<nvml{of}_v{version}_t>() as u32 | ({version} << 24);"
            ));
        }
        if body.split('|').count() > 1
            && body
                .split('|')
                .all(|part| self.constants.contains(part.trim()))
        {
            return Some(format!("pub const {name}: u32 = {body};"));
        }
        self.cast(name, body)
    }

    /// As `text` for `(type)value`.
    fn cast(&self, name: &str, body: &str) -> Option<String> {
        let (ty, value) = body.strip_prefix('(')?.split_once(')')?;
        let (ty, value) = (ty.trim(), value.trim());
        let number = value.strip_prefix("0x").map_or_else(
            || value.parse::<i64>().is_ok(),
            |digits| i64::from_str_radix(digits, 16).is_ok(),
        );
        if !number && !self.constants.contains(value) {
            return None;
        }
        let pointer = "::core::ptr::without_provenance_mut";
        if ty == "void*" {
            return Some(format!(
                "pub const {name}: *mut ::core::ffi::c_void = {pointer}({value} as usize);"
            ));
        }
        let stands_for = self.types.get(ty)?;
        Some(if stands_for.starts_with("*mut") {
            format!("pub const {name}: {ty} = {pointer}({value});")
        } else {
            format!("pub const {name}: {ty} = {value};")
        })
    }

    /// Why a macro without a constant needs none.
    fn reason(&self, found: &Macro, library: &Library) -> Option<&'static str> {
        let renamed = |prefix| {
            let name = found.body.strip_prefix(prefix)?.strip_suffix(')')?;
            self.functions.contains(name).then_some(())
        };
        if found.takes {
            Some("takes arguments")
        } else if found.body.is_empty() {
            Some("is a switch")
        } else if found.body.starts_with("__") && !found.body.contains('(')
            || found.body.starts_with("__declspec(")
            || found.body.starts_with("__attribute__(")
        {
            Some("is a word of the compiler")
        } else if self.functions.contains(&found.body)
            || self.functions.contains(&found.name)
            || renamed("__CUDA_API_PTDS(").is_some()
            || renamed("__CUDA_API_PTSZ(").is_some()
        {
            Some("renames a function")
        } else {
            let mut excused = library.excused.iter();
            excused
                .find(|(name, _)| *name == found.name)
                .map(|(_, why)| *why)
        }
    }
}

/// Adds to `items`, which bindgen made of the headers of `library` in `folder`, the constants
/// that it dropped, and gives those that it read as negative their type.
pub(super) fn complete(
    library: &Library,
    folder: &Path,
    functions: &BTreeSet<String>,
    items: &mut Vec<syn::Item>,
) -> Result<()> {
    let mut macros = Vec::new();
    for header in library.headers {
        let path = folder.join("nvidia").join(header);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        macros.extend(read(&text));
    }
    ensure!(
        !macros.is_empty() || library.headers.is_empty(),
        "no macro was read"
    );
    for item in items.iter_mut() {
        if let syn::Item::Const(item) = item {
            give_sign(item, &macros)?;
        }
    }
    let mut bound = Bound::of(items, functions);
    let (mut made, mut unknown) = (0, Vec::new());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for found in &macros {
        let name = &found.name;
        if bound.constants.contains(name) || bound.types.contains_key(name) {
            *counts.entry("is there").or_default() += 1;
        } else if let Some(why) = bound.reason(found, library) {
            *counts.entry(why).or_default() += 1;
        } else if let Some(text) = bound.text(name, &found.body) {
            let item = syn::parse_str(&text).with_context(|| text.clone())?;
            bound.add(&item);
            items.push(item);
            made += 1;
        } else {
            unknown.push(format!("{name} = {}", found.body));
        }
    }
    if !unknown.is_empty() {
        bail!(
            "neither a constant nor a reason to have none (`excused` in xtask/src/bindgen): {}",
            unknown.join("; ")
        );
    }
    for (name, _) in library.excused {
        ensure!(
            macros.iter().any(|found| found.name == *name) && !bound.constants.contains(*name),
            "{name} is excused for nothing"
        );
    }
    let counts: Vec<_> = counts
        .iter()
        .map(|(why, n)| format!("{n}: {why}"))
        .collect();
    println!(
        "{}: {} macros; {made} made here, {}",
        library.name,
        macros.len(),
        counts.join(", ")
    );
    Ok(())
}

/// bindgen reads what has all bits set as -1, whatever its type in C.
fn give_sign(item: &mut syn::ItemConst, macros: &[Macro]) -> Result<()> {
    let negative =
        matches!(&*item.expr, syn::Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Neg(_)));
    let name = item.ident.to_string();
    let Some(found) = macros.iter().find(|found| found.name == name) else {
        return Ok(());
    };
    if !negative || found.body.contains('-') {
        return Ok(());
    }
    let text = match bare(&found.body) {
        "~0u" | "~0U" => "pub const A: u32 = u32::MAX;".to_owned(),
        body => match body
            .strip_prefix("0x")
            .map(|digits| u64::from_str_radix(digits, 16))
        {
            Some(Ok(_)) => format!("pub const A: u64 = {body};"),
            _ => bail!("{name} = {body} is not negative"),
        },
    };
    let right: syn::ItemConst = syn::parse_str(&text)?;
    (item.ty, item.expr) = (right.ty, right.expr);
    Ok(())
}

/// An expression without the parentheses around all of it.
fn bare(body: &str) -> &str {
    let body = body.trim();
    let Some(inside) = body
        .strip_prefix('(')
        .and_then(|body| body.strip_suffix(')'))
    else {
        return body;
    };
    let mut depth = 0_i32;
    for character in inside.chars() {
        depth += match character {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth < 0 {
            return body;
        }
    }
    bare(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIBRARY: Library = Library {
        name: "test",
        wrapper: "",
        files: "",
        headers: &[],
        blocked: &[],
        excused: &[("ODD", "for the test")],
        preamble: "",
    };

    /// Without it a constant of a header could be missing from the bindings unnoticed.
    #[test]
    fn each_macro_is_a_constant_or_has_a_reason() {
        let header = "#ifndef GUARD\n#define GUARD\n# define  PLAIN 1 /* a comment */\n\
            #define ALIAS MEMBER // another\n#define CAST ((Number)-2)\n#define LEGACY ((Stream)0x1)\n\
            #define END ((void*)PLAIN)\n#define BOTH \\\n    (PLAIN \\\n    | OTHER)\n\
            #define old new_v2\n#define CALL __stdcall\n#define F(x) (x + 1)\n#define ODD 0:0\n\
            #define LEAST INT_MIN\n#define LOST \"text\" \"more\"\n";
        let macros = read(header);
        let bindings = "pub const PLAIN: u32 = 1; pub const OTHER: u32 = 2; pub type Number = i32;\n\
            pub type Stream = *mut S; pub struct E(pub u32); impl E { pub const MEMBER: E = E(7); }";
        let functions = BTreeSet::from(["new_v2".to_owned()]);
        let bound = Bound::of(&syn::parse_file(bindings).unwrap().items, &functions);
        let judge = |name: &str| {
            let found = macros.iter().find(|found| found.name == name).unwrap();
            bound
                .reason(found, &LIBRARY)
                .map(str::to_owned)
                .or_else(|| bound.text(name, &found.body))
        };
        let told = |name: &str| judge(name).unwrap();
        assert_eq!(told("GUARD"), "is a switch");
        assert_eq!(told("ALIAS"), "pub const ALIAS: E = E::MEMBER;");
        assert_eq!(told("CAST"), "pub const CAST: Number = -2;");
        assert!(told("LEGACY").ends_with("without_provenance_mut(0x1);"));
        assert!(told("END").ends_with("without_provenance_mut(PLAIN as usize);"));
        assert_eq!(told("BOTH"), "pub const BOTH: u32 = PLAIN | OTHER;");
        assert_eq!(told("old"), "renames a function");
        assert_eq!(told("CALL"), "is a word of the compiler");
        assert_eq!(told("F"), "takes arguments");
        assert_eq!(told("ODD"), "for the test");
        assert!(told("LEAST").ends_with("c_int::MIN;"));
        assert_eq!(judge("LOST"), None);
    }

    /// Without it a constant with all bits set could have the type `i32` and the value -1.
    #[test]
    fn all_bits_set_is_not_minus_one() {
        let sign = |body: &str| {
            let mut item: syn::ItemConst = syn::parse_str("pub const X: i32 = -1;").unwrap();
            let macros = read(&format!("#define X {body}"));
            give_sign(&mut item, &macros).map(|()| type_text(&*item.ty))
        };
        assert_eq!(sign("-1").unwrap(), "i32");
        assert_eq!(sign("(-1)").unwrap(), "i32");
        assert_eq!(sign("(~0u)").unwrap(), "u32");
        assert_eq!(sign("0xFFFFFFFFFFFFFFFF //!< all").unwrap(), "u64");
        assert!(sign("(~0ull)").is_err());
    }
}
