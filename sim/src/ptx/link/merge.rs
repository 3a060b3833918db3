//! Putting the inputs together: what stays, under which name.

use std::collections::{HashMap, HashSet};

use super::symbols::{Claim, Shape, Symbol, Symbols, is_of_the_system};
use super::{LinkError, Linker, names};
use crate::ptx::ast::{Func, Linkage, Module, Space, Stmt};
use crate::ptx::lexer::{Lexer, Tok};

/// New names of statics, by input and name.
type Renames = HashMap<(usize, String), String>;

pub(super) fn merge(linker: &Linker) -> Result<String, Vec<LinkError>> {
    let mut parsed = Vec::new();
    let mut privates = Vec::new();
    for (input, (name, text)) in linker.names.iter().zip(&linker.texts).enumerate() {
        // Both worked when the input was added.
        let module = Module::parse(text).map_err(|error| {
            let input = name.clone();
            vec![LinkError::Parse { input, error }]
        })?;
        let symbols = Symbols::of(&module, input, name).map_err(|error| vec![error])?;
        parsed.push(module);
        privates.push(symbols.statics);
    }
    drop_losers(linker, &mut parsed, &privates);
    let missing = undefined(linker, &mut parsed, &privates);
    if !missing.is_empty() {
        return Err(missing);
    }
    let renames = renames(linker, &privates);
    Ok(put_together(linker, parsed, &renames).to_string())
}

/// A `.shared` array without an owner is the dynamic shared memory of a launch.
fn needs_definition(name: &str, symbol: &Symbol) -> bool {
    symbol.claim == Claim::Extern
        && !matches!(symbol.shape, Shape::Var(Space::Shared, _))
        && !is_of_the_system(name)
}

/// Takes out of every module what the link does not keep: definitions that lose to
/// another one, with the references that only they make, and declarations, which are
/// made anew.
fn drop_losers(linker: &Linker, modules: &mut [Module<'_>], privates: &[HashSet<String>]) {
    let mut kept = HashSet::new();
    for (input, module) in modules.iter_mut().enumerate() {
        // `None` for what is the module's own.
        let symbol = |name: &str| {
            let shared = linker.symbols.shared.get(name);
            shared.filter(|_| !privates[input].contains(name))
        };
        module.vars.retain_mut(|var| {
            let Some(symbol) = symbol(var.name) else {
                // Not a declaration of the module's own static.
                return var.linkage != Linkage::Extern;
            };
            let own = symbol.input == input && claims(var.linkage, symbol.claim);
            let same = matches!(symbol.shape, Shape::Var(_, size) if size.is_none_or(|size| Some(size) == var.size()));
            var.align = Some(symbol.align)
                .filter(|align| *align > var.alignment())
                .or(var.align);
            own && same && kept.insert(var.name)
        });
        let aliases = &module.aliases;
        module.funcs.retain(|func| {
            let defined = func.body.is_some() || aliases.iter().any(|(new, _)| *new == func.name);
            let Some(symbol) = symbol(func.name) else {
                return defined;
            };
            // Calls of the engine's functions need a declaration, if no input defines them.
            let system = symbol.claim == Claim::Extern && is_of_the_system(func.name);
            (defined || system) && symbol.input == input && kept.insert(func.name)
        });
        module
            .aliases
            .retain(|(new, _)| symbol(new).is_none_or(|symbol| symbol.input == input));
    }
}

/// Every symbol that is used and that no input defines, once for each input.
fn undefined(
    linker: &Linker,
    modules: &mut [Module<'_>],
    privates: &[HashSet<String>],
) -> Vec<LinkError> {
    let mut errors = Vec::new();
    for (input, module) in modules.iter_mut().enumerate() {
        let mut seen = HashSet::new();
        names::each_use(module, &mut |name| {
            if privates[input].contains(*name) {
                return;
            }
            let Some(symbol) = linker.symbols.shared.get(*name) else {
                return;
            };
            if needs_definition(name, symbol) && seen.insert(*name) {
                errors.push(LinkError::Undefined {
                    name: (*name).to_owned(),
                    input: linker.names[input].clone(),
                });
            }
        });
    }
    errors
}

/// Gives a new name to each static whose name another symbol has.
fn renames(linker: &Linker, privates: &[HashSet<String>]) -> Renames {
    let mut taken: HashSet<&str> = linker.symbols.shared.keys().map(String::as_str).collect();
    // No name that occurs anywhere: a function's own must not hide the new one.
    let mut words = None;
    let mut renames = Renames::new();
    for (input, statics) in privates.iter().enumerate() {
        // In an order of its own, so that the same inputs give the same text.
        let mut statics: Vec<&String> = statics.iter().collect();
        statics.sort_unstable();
        for name in statics {
            if taken.insert(name) {
                continue;
            }
            let words = words.get_or_insert_with(|| words_of(linker));
            // It ends with no digit, so no numbered family of registers has it either.
            let new = (0u64..)
                .map(|index| format!("{name}$in{input}_{index}$"))
                .find(|new| !words.contains(new.as_str()));
            if let Some(new) = new {
                renames.insert((input, name.clone()), new);
            }
        }
    }
    renames
}

/// All identifiers of all inputs.
fn words_of(linker: &Linker) -> HashSet<&str> {
    let mut words = HashSet::new();
    for text in &linker.texts {
        let mut lexer = Lexer::new(text);
        while lexer.tok != Tok::Eof {
            if let Tok::Ident(word) = lexer.tok {
                words.insert(word);
            }
            lexer.advance();
        }
    }
    words
}

fn put_together<'a>(
    linker: &'a Linker,
    modules: Vec<Module<'a>>,
    renames: &'a Renames,
) -> Module<'a> {
    let mut whole = Module {
        version: (7, 0),
        target: vec!["sm_50"],
        address_size: linker.address_size.unwrap_or(64),
        vars: Vec::new(),
        funcs: Vec::new(),
        aliases: Vec::new(),
        files: Vec::new(),
    };
    if let Some(version) = modules.iter().map(|module| module.version).max() {
        whole.version = version;
    }
    let newest = modules
        .iter()
        .max_by_key(|module| module.architecture().map_or(0, |target| target.number));
    if let Some(newest) = newest {
        whole.target.clone_from(&newest.target);
    }
    let mut bodies = Vec::new();
    for (input, mut module) in modules.into_iter().enumerate() {
        let rename = |name: &mut &'a str| {
            if let Some(new) = renames.get(&(input, (*name).to_owned())) {
                *name = new;
            }
        };
        names::each_use(&mut module, &mut { rename });
        for mut var in module.vars {
            rename(&mut var.name);
            whole.vars.push(var);
        }
        for mut func in module.funcs {
            rename(&mut func.name);
            shift_files(&mut func, input);
            bodies.push(func);
        }
        for (mut new, old) in module.aliases {
            rename(&mut new);
            whole.aliases.push((new, old));
        }
        let files = module.files.into_iter();
        whole
            .files
            .extend(files.map(|(index, path)| (file_number(index, input), path)));
    }
    // All functions are declared first: initial values and calls may name any of them.
    let callable = bodies
        .iter()
        .filter(|func| !func.entry && func.body.is_some());
    let declared: Vec<_> = callable.map(declaration).collect();
    whole.funcs = declared;
    whole.funcs.extend(bodies);
    whole
}

/// Whether a variable with this linkage is what made the claim.
fn claims(linkage: Linkage, claim: Claim) -> bool {
    match claim {
        Claim::Extern => linkage == Linkage::Extern,
        Claim::Weak => linkage == Linkage::Weak,
        Claim::Common => linkage == Linkage::Common,
        Claim::Strong => matches!(linkage, Linkage::Visible | Linkage::Internal),
    }
}

fn declaration<'a>(func: &Func<'a>) -> Func<'a> {
    Func {
        entry: false,
        linkage: func.linkage,
        name: func.name,
        returns: func.returns.clone(),
        params: func.params.clone(),
        directives: Vec::new(),
        body: None,
        line: func.line,
    }
}

/// Each input has a million numbers for its files.
fn file_number(index: u64, input: usize) -> u64 {
    index.saturating_add(1_000_000 * input as u64)
}

fn shift_files(func: &mut Func<'_>, input: usize) {
    fn shift(body: &mut [Stmt<'_>], input: usize) {
        for stmt in body {
            match stmt {
                Stmt::Loc(loc) => loc.file = file_number(loc.file, input),
                Stmt::Scope(inner) => shift(inner, input),
                _ => {}
            }
        }
    }
    if input > 0
        && let Some(body) = &mut func.body
    {
        shift(body, input);
    }
}
