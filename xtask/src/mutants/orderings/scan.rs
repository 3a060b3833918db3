//! Finds the orderings in the text of a source file.

use std::collections::BTreeMap;
use std::ops::Range;

use anyhow::{Result, anyhow, ensure};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The orderings that can be weakened.
pub(super) const STRONG: [&str; 4] = ["Acquire", "Release", "AcqRel", "SeqCst"];

/// An ordering that a file of the product names, stronger than `Relaxed`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// `Type::function`, or the function alone.
    pub(super) function: String,
    /// One of [`STRONG`].
    pub(super) order: String,
    /// Its place among those of the function that are equal, from 1.
    pub(super) place: usize,
    /// The bytes of its path, `Ordering::Acquire`.
    pub(super) path: Range<usize>,
    /// The bytes of its name.
    pub(super) name: Range<usize>,
    /// The bytes of the call, if it is a fence's.
    pub(super) fence: Option<Range<usize>>,
}

/// What a file has.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) sites: Vec<Site>,
    /// The modules that have files of their own.
    pub(super) children: Vec<String>,
}

/// Reads a file. What is only built for tests or for models is left out.
pub(super) fn scan(text: &str) -> Result<Found> {
    let tokens: TokenStream = text.parse().map_err(|error| anyhow!("{error}"))?;
    let mut reader = Reader::default();
    reader.read(tokens, &Scope::default())?;
    Ok(reader.found)
}

/// Where the reader is.
#[derive(Clone, Debug, Default)]
struct Scope {
    /// The type that an `impl` or a `trait` is of.
    of: Option<String>,
    function: Option<String>,
}

#[derive(Default)]
struct Reader {
    found: Found,
    /// How many of an ordering each function has so far.
    places: BTreeMap<(String, String), usize>,
}

impl Reader {
    fn read(&mut self, tokens: TokenStream, scope: &Scope) -> Result<()> {
        let tokens: Vec<_> = tokens.into_iter().collect();
        // The scope of the next braces, when they are of an item.
        let mut next: Option<Scope> = None;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let rest = &tokens[at..];
            if let Some(length) = attribute(rest) {
                at += length;
                if !is_of_the_product(&rest[length - 1]) {
                    at += item(&tokens[at..]);
                }
                continue;
            }
            match token {
                TokenTree::Ident(word) if word == "fn" => {
                    if let Some(TokenTree::Ident(name)) = rest.get(1) {
                        let function = match (&scope.of, &scope.function) {
                            (_, Some(outer)) => format!("{outer}::{name}"),
                            (Some(of), None) => format!("{of}::{name}"),
                            (None, None) => name.to_string(),
                        };
                        next = Some(Scope {
                            of: None,
                            function: Some(function),
                        });
                    }
                }
                TokenTree::Ident(word) if (word == "impl" || word == "trait") && next.is_none() => {
                    next = Some(Scope {
                        of: Some(subject(&rest[1..])),
                        function: scope.function.clone(),
                    });
                }
                TokenTree::Ident(word) if word == "mod" => match rest {
                    [_, TokenTree::Ident(name), TokenTree::Punct(end), ..]
                        if end.as_char() == ';' =>
                    {
                        self.found.children.push(name.to_string());
                    }
                    _ => {}
                },
                // What a mistake does is no claim.
                TokenTree::Ident(word) if word == "if" && mistake(rest) => at += 4,
                TokenTree::Ident(word) if word == "Ordering" => {
                    self.note(&tokens, at, scope)?;
                }
                TokenTree::Punct(end) if end.as_char() == ';' => next = None,
                TokenTree::Group(group) => {
                    let is_body = group.delimiter() == Delimiter::Brace;
                    let inner = if is_body { next.take() } else { None };
                    let fence = fence(&tokens, at, group);
                    let before = self.found.sites.len();
                    self.read(group.stream(), inner.as_ref().unwrap_or(scope))?;
                    for site in &mut self.found.sites[before..] {
                        site.fence = site.fence.take().or_else(|| fence.clone());
                    }
                }
                _ => {}
            }
            at += 1;
        }
        Ok(())
    }

    /// Notes the ordering whose path has `Ordering` at this place, if it is a strong one.
    fn note(&mut self, tokens: &[TokenTree], at: usize, scope: &Scope) -> Result<()> {
        let [_, colon, _, last, ..] = &tokens[at..] else {
            return Ok(());
        };
        if !is_colon(colon) {
            return Ok(());
        }
        if let TokenTree::Group(group) = last {
            let imported = group.stream().to_string();
            // A name alone would not be found.
            ensure!(
                !STRONG.iter().any(|order| imported.contains(order)),
                "import Ordering, not {imported} of it"
            );
            return Ok(());
        }
        let order = last.to_string();
        if !STRONG.contains(&order.as_str()) {
            return Ok(());
        }
        let function = scope.function.clone().unwrap_or_default();
        ensure!(!function.is_empty(), "{order} is in no function");
        let place = self
            .places
            .entry((function.clone(), order.clone()))
            .or_default();
        *place += 1;
        self.found.sites.push(Site {
            function,
            order,
            place: *place,
            path: start(tokens, at)..last.span().byte_range().end,
            name: last.span().byte_range(),
            fence: None,
        });
        Ok(())
    }
}

/// Whether these tokens begin with `if mutant!(..) { .. }`.
fn mistake(tokens: &[TokenTree]) -> bool {
    matches!(
        tokens,
        [_, TokenTree::Ident(name), _, TokenTree::Group(_), TokenTree::Group(_), ..] if name == "mutant"
    )
}

fn is_colon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':')
}

/// Where the path begins that has this token.
fn start(tokens: &[TokenTree], mut at: usize) -> usize {
    while let [.., TokenTree::Ident(_), first, second] = &tokens[..at]
        && is_colon(first)
        && is_colon(second)
    {
        at -= 3;
    }
    tokens[at].span().byte_range().start
}

/// The bytes of the call whose arguments these are, if it is of `fence`.
fn fence(tokens: &[TokenTree], at: usize, arguments: &Group) -> Option<Range<usize>> {
    let function = at.checked_sub(1)?;
    let is_fence = matches!(&tokens[function], TokenTree::Ident(name) if name == "fence" || name == "compiler_fence");
    is_fence.then(|| start(tokens, function)..arguments.span().byte_range().end)
}

/// How many tokens the attribute has that these begin with.
fn attribute(tokens: &[TokenTree]) -> Option<usize> {
    let is = |token: Option<&TokenTree>, sign| matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign);
    let length = match is(tokens.first(), '#') {
        true if is(tokens.get(1), '!') => 3,
        true => 2,
        false => return None,
    };
    matches!(tokens.get(length - 1), Some(TokenTree::Group(_))).then_some(length)
}

/// How many tokens the item has that these begin with, with the attributes that follow.
fn item(tokens: &[TokenTree]) -> usize {
    let is_end = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        _ => false,
    };
    let end = tokens.iter().position(is_end);
    end.map_or(tokens.len(), |end| end + 1)
}

/// The name of the type that an `impl` or a `trait` is of, whose header begins with these tokens.
fn subject(header: &[TokenTree]) -> String {
    let mut name = String::new();
    let mut depth = 0_usize;
    for (at, token) in header.iter().enumerate() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
            TokenTree::Punct(punct) if punct.as_char() == '>' => {
                // The head of an arrow closes nothing.
                let arrow = at.checked_sub(1).map(|before| header[before].to_string());
                if arrow.as_deref() != Some("-") {
                    depth = depth.saturating_sub(1);
                }
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => break,
            TokenTree::Ident(word) if depth == 0 => {
                if word == "where" {
                    break;
                }
                if word != "for" && word != "dyn" {
                    name = word.to_string();
                }
            }
            _ => {}
        }
    }
    name
}

/// Whether an attribute lets its item be built outside of tests and models.
fn is_of_the_product(attribute: &TokenTree) -> bool {
    let TokenTree::Group(attribute) = attribute else {
        return true;
    };
    let tokens: Vec<_> = attribute.stream().into_iter().collect();
    match &tokens[..] {
        [TokenTree::Ident(name), TokenTree::Group(condition)] if name == "cfg" => {
            may_be(&condition.stream().into_iter().collect::<Vec<_>>()) != Some(false)
        }
        _ => true,
    }
}

/// Whether a condition holds in the product; `None` where that depends on the target.
fn may_be(condition: &[TokenTree]) -> Option<bool> {
    match condition {
        [TokenTree::Ident(name)] if name == "test" || name == "loom" || name == "mutants" => {
            Some(false)
        }
        [TokenTree::Ident(name), TokenTree::Group(parts)] => {
            let parts: Vec<_> = parts.stream().into_iter().collect();
            let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
            let parts = parts.split(is_comma).filter(|part| !part.is_empty());
            let mut known = parts.map(may_be);
            match name.to_string().as_str() {
                "not" => known.next().flatten().map(|holds| !holds),
                "all" => fold(known, false),
                "any" => fold(known, true),
                _ => None,
            }
        }
        _ => None,
    }
}

/// `decisive` when a part is, its opposite when all parts are, else not known.
fn fold(parts: impl Iterator<Item = Option<bool>>, decisive: bool) -> Option<bool> {
    let mut all = Some(!decisive);
    for part in parts {
        match part {
            Some(holds) if holds == decisive => return Some(decisive),
            Some(_) => {}
            None => all = None,
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let sites = scan(text).unwrap().sites;
        let line = |site: Site| {
            let fence = site.fence.map(|range| format!(" in {}", &text[range]));
            format!(
                "{} {} {} = {}{}",
                site.function,
                site.place,
                site.order,
                &text[site.path],
                fence.unwrap_or_default()
            )
        };
        sites.into_iter().map(line).collect()
    }

    /// Without it an ordering could be missed, or taken for that of another function.
    #[test]
    fn orderings_are_found_in_their_functions() {
        let text = "
            impl<T: Fn() -> u8> Drop for Lock<'_, T> where T: Send {
                fn drop(&mut self) {
                    if mutant!(\"a\") { self.a.load(Ordering::Acquire); }
                    if !mutant!(\"b\") { self.a.load(Ordering::Acquire); }
                    self.a.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Acquire);
                    let again = || self.a.load(Ordering::Acquire);
                    assert!(self.a.load(Ordering::Acquire));
                }
            }
            impl Lock<'_, u8> { fn get(&self) -> impl Sized { self.0.load(Ordering::Acquire) } }
            macros! { const fn alone() { crate::sync::fence(crate::sync::Ordering::SeqCst); } }
            fn compare() { match a.cmp(&b) { Ordering::Less => compiler_fence(Ordering::SeqCst) } }
        ";
        assert_eq!(
            found(text),
            [
                "Lock::drop 1 Acquire = Ordering::Acquire",
                "Lock::drop 1 AcqRel = Ordering::AcqRel",
                "Lock::drop 2 Acquire = Ordering::Acquire",
                "Lock::drop 3 Acquire = Ordering::Acquire",
                "Lock::drop 4 Acquire = Ordering::Acquire",
                "Lock::get 1 Acquire = Ordering::Acquire",
                "alone 1 SeqCst = crate::sync::Ordering::SeqCst \
                 in crate::sync::fence(crate::sync::Ordering::SeqCst)",
                "compare 1 SeqCst = Ordering::SeqCst in compiler_fence(Ordering::SeqCst)",
            ]
        );
    }

    /// Without it the orderings of tests would need mutants, or those of other targets none.
    #[test]
    fn what_is_not_of_the_product_is_left_out() {
        let text = "
            #[cfg(test)] mod tests { fn a() { x.load(Ordering::Acquire) } }
            #[cfg(all(test, not(loom)))] mod more;
            #[cfg(loom)] use loom::Ordering;
            #[cfg(all(unix, not(loom)))] mod kept;
            #[cfg(not(all(unix, not(loom))))] fn b() { x.load(Ordering::Acquire) }
            fn c() { #[cfg(loom)] x.load(Ordering::SeqCst); x.load(Ordering::Acquire) }
            mod also;
        ";
        assert_eq!(
            found(text),
            [
                "b 1 Acquire = Ordering::Acquire",
                "c 1 Acquire = Ordering::Acquire"
            ]
        );
        assert_eq!(scan(text).unwrap().children, ["kept", "also"]);
    }

    /// Without it an ordering could hide behind an import.
    #[test]
    fn an_ordering_is_not_imported_by_its_name() {
        assert!(scan("use std::sync::atomic::Ordering::{Acquire, Relaxed};").is_err());
        assert!(scan("use std::sync::atomic::{AtomicU8, Ordering};").is_ok());
    }
}
