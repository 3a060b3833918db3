//! The symbols of a link: who defines what, and whether all agree on it.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::LinkError;
use crate::ptx::ast::{Func, Linkage, Module, Space, Var};

/// Functions that programs may call and need not define: the engine executes such a call
/// itself (`exec/decode/control/call.rs`), unless the module has a function of that name.
const OF_THE_SYSTEM: [&str; 5] = [
    "vprintf",
    "__assertfail",
    "malloc",
    "free",
    "cudaGraphSetConditional",
];

pub(super) fn is_of_the_system(name: &str) -> bool {
    OF_THE_SYSTEM.contains(&name)
}

/// How strongly a module claims a symbol; the strongest claim is the definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Claim {
    /// It is defined elsewhere.
    Extern,
    Weak,
    /// The largest of several, and zero.
    Common,
    Strong,
}

/// What kind of thing a symbol is, as far as all modules must agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Entry(Vec<u64>),
    /// Sizes of the results and of the parameters, in bytes.
    Func(Vec<u64>, Vec<u64>),
    /// Size in bytes; `None` for `[]`, which fits all.
    Var(Space, Option<u64>),
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry(params) => write!(f, "an entry with parameters of {params:?} bytes"),
            Self::Func(returns, params) => write!(
                f,
                "a function with results of {returns:?} and parameters of {params:?} bytes"
            ),
            Self::Var(space, Some(size)) => write!(f, "a .{space} variable of {size} bytes"),
            Self::Var(space, None) => write!(f, "a .{space} variable"),
        }
    }
}

/// A symbol that a module shares with others.
#[derive(Clone, Debug)]
pub(super) struct Symbol {
    pub(super) claim: Claim,
    pub(super) shape: Shape,
    /// Number of the input that makes the claim.
    pub(super) input: usize,
    /// The largest alignment that an input asks for.
    pub(super) align: u32,
    /// The sizes of the variable that were declared, each kind once.
    pub(super) sizes: Vec<Declared>,
}

/// A size that an input gave a variable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Declared {
    /// Only the largest `.common` counts, so these may differ from each other.
    common: bool,
    size: u64,
    input: usize,
}

/// The symbols of one module.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    pub(super) shared: HashMap<String, Symbol>,
    pub(super) statics: HashSet<String>,
}

/// The sizes of a parameter list.
fn sizes(list: &[crate::ptx::ast::Param<'_>]) -> Vec<u64> {
    list.iter()
        .map(|param| param.var.size().unwrap_or(u64::MAX))
        .collect()
}

fn shape_of(func: &Func<'_>) -> Shape {
    if func.entry {
        Shape::Entry(sizes(&func.params))
    } else {
        Shape::Func(sizes(&func.returns), sizes(&func.params))
    }
}

fn claim_of(var: &Var<'_>) -> Claim {
    match var.linkage {
        Linkage::Extern => Claim::Extern,
        Linkage::Weak => Claim::Weak,
        Linkage::Common => Claim::Common,
        Linkage::Visible | Linkage::Internal => Claim::Strong,
    }
}

impl Symbols {
    /// The symbols of input number `input`.
    ///
    /// # Errors
    /// The module contradicts itself.
    pub(super) fn of(module: &Module<'_>, input: usize, name: &str) -> Result<Self, LinkError> {
        let mut symbols = Self::default();
        for var in &module.vars {
            let claim = claim_of(var);
            let declared = fixed_size(var).map(|size| Declared {
                common: claim == Claim::Common,
                size,
                input,
            });
            let symbol = Symbol {
                claim,
                shape: Shape::Var(var.space, fixed_size(var)),
                input,
                align: var.alignment(),
                sizes: declared.into_iter().collect(),
            };
            symbols.declare(var.name, var.linkage == Linkage::Internal, symbol, name)?;
        }
        let aliases: HashSet<&str> = module.aliases.iter().map(|(new, _)| *new).collect();
        for func in &module.funcs {
            let defined = func.body.is_some() || aliases.contains(func.name);
            let claim = match (defined, func.linkage) {
                (false, _) => Claim::Extern,
                (true, Linkage::Weak) => Claim::Weak,
                (true, _) => Claim::Strong,
            };
            let symbol = Symbol {
                claim,
                shape: shape_of(func),
                input,
                align: 1,
                sizes: Vec::new(),
            };
            let private = defined && func.linkage == Linkage::Internal;
            symbols.declare(func.name, private, symbol, name)?;
        }
        Ok(symbols)
    }

    fn declare(
        &mut self,
        name: &str,
        private: bool,
        symbol: Symbol,
        input: &str,
    ) -> Result<(), LinkError> {
        let known = self.shared.get_mut(name);
        if let Some(known) = known {
            known.merge(name, &symbol, &|_| input)?;
        } else {
            self.shared.insert(name.to_owned(), symbol);
        }
        // Declared first and defined as a static later, or the other way round.
        if private {
            self.statics.insert(name.to_owned());
        }
        Ok(())
    }

    /// Moves the statics out of the shared symbols: other inputs do not see them.
    pub(super) fn hide_statics(mut self) -> Self {
        self.shared.retain(|name, _| !self.statics.contains(name));
        self
    }

    /// Adds a module's symbols; nothing is added if there is an error.
    pub(super) fn join(&mut self, other: Self, inputs: &[String]) -> Result<(), LinkError> {
        let input = |index: usize| inputs.get(index).map_or("", String::as_str);
        let mut merged = Vec::new();
        for (name, symbol) in other.shared {
            let symbol = match self.shared.get(&name) {
                None => symbol,
                Some(known) => {
                    let mut both = known.clone();
                    both.merge(&name, &symbol, &input)?;
                    both
                }
            };
            merged.push((name, symbol));
        }
        self.shared.extend(merged);
        Ok(())
    }
}

/// The size that others must agree with.
fn fixed_size(var: &Var<'_>) -> Option<u64> {
    let open = var.dims.iter().any(Option::is_none) && var.init.is_none();
    if open { None } else { var.size() }
}

impl Symbol {
    /// Takes another module's symbol of the same name into account.
    fn merge<'i>(
        &mut self,
        name: &str,
        other: &Self,
        inputs: &dyn Fn(usize) -> &'i str,
    ) -> Result<(), LinkError> {
        let (first, second) = (inputs(self.input), inputs(other.input));
        match (&self.shape, &other.shape) {
            (Shape::Var(a, _), Shape::Var(b, _)) if a == b => {}
            (a, b) if a == b => {}
            (a, b) => return Err(mismatch(name, (a, first), (b, second))),
        }
        // Each size with each, so that the order of the inputs does not matter.
        for new in &other.sizes {
            let clash = self.sizes.iter().find(|old| old.clashes(*new));
            if let (Some(old), Shape::Var(space, _)) = (clash, &self.shape) {
                let shape = |size| Shape::Var(*space, Some(size));
                let was = (&shape(old.size), inputs(old.input));
                return Err(mismatch(name, was, (&shape(new.size), inputs(new.input))));
            }
        }
        let grow = match (&self.shape, &other.shape) {
            (Shape::Var(_, Some(old)), Shape::Var(_, Some(new))) => {
                new > old && self.claim == other.claim
            }
            _ => false,
        };
        if self.claim == Claim::Strong && other.claim == Claim::Strong {
            return Err(LinkError::Duplicate {
                name: name.to_owned(),
                first: first.to_owned(),
                second: second.to_owned(),
            });
        }
        let align = self.align.max(other.align);
        let mut sizes = std::mem::take(&mut self.sizes);
        for new in &other.sizes {
            if !sizes.iter().any(|old| old.is_same(*new)) {
                sizes.push(*new);
            }
        }
        // An unsized declaration knows less than one with a size.
        let sized = matches!(self.shape, Shape::Var(_, None)) && other.claim == self.claim;
        if other.claim > self.claim || grow || sized {
            *self = other.clone();
        }
        self.align = align;
        self.sizes = sizes;
        Ok(())
    }
}

impl Declared {
    fn clashes(self, other: Self) -> bool {
        self.size != other.size && !(self.common && other.common)
    }

    fn is_same(self, other: Self) -> bool {
        self.size == other.size && self.common == other.common
    }
}

fn mismatch(name: &str, (was, first): (&Shape, &str), (is, second): (&Shape, &str)) -> LinkError {
    LinkError::Mismatch {
        name: name.to_owned(),
        first: first.to_owned(),
        was: was.to_string(),
        second: second.to_owned(),
        is: is.to_string(),
    }
}
