//! The linker: several PTX modules become one.
//!
//! The result is PTX text again, so it can be read, kept and loaded like any other. Names
//! that modules share are resolved as a linker does: one strong definition, else the
//! largest `.common`, else the first `.weak`; variables must agree on state space and
//! size, functions on the sizes of results and parameters. Names that are a module's own
//! stay apart: where two clash, the later input's gets a new name.

mod merge;
mod names;
mod symbols;

use super::ast::Module;
use super::error::ParseError;
use symbols::{Claim, Symbols, is_of_the_system};

/// Why modules do not fit together. Inputs go by the names that the linker was given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// An input is not PTX.
    #[error("{input}: {error}")]
    Parse {
        /// The input.
        input: String,
        /// Where and why.
        error: ParseError,
    },
    /// Inputs with addresses of different lengths.
    #[error("{input} has addresses of {bits} bits, the inputs before have not")]
    AddressSize {
        /// The later input.
        input: String,
        /// Its `.address_size`.
        bits: u32,
    },
    /// Two strong definitions of one symbol.
    #[error("{name} is defined in {second}, and before in {first}")]
    Duplicate {
        /// The symbol.
        name: String,
        /// The earlier input.
        first: String,
        /// The later input.
        second: String,
    },
    /// Two declarations of a symbol that cannot be the same thing.
    #[error("{name} is {is} in {second}, but {was} in {first}")]
    Mismatch {
        /// The symbol.
        name: String,
        /// The earlier input.
        first: String,
        /// What it is there.
        was: String,
        /// The later input.
        second: String,
        /// What it is there.
        is: String,
    },
    /// A symbol that is used, and that no input defines.
    #[error("{name}, which {input} uses, is defined in no input")]
    Undefined {
        /// The symbol.
        name: String,
        /// The input that uses it.
        input: String,
    },
}

/// Takes modules one after the other, and puts them together.
#[derive(Debug, Default)]
pub struct Linker {
    names: Vec<String>,
    texts: Vec<String>,
    symbols: Symbols,
    address_size: Option<u32>,
}

impl Linker {
    /// A linker without inputs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a module. After an error the linker is as it was before.
    ///
    /// # Errors
    /// It is not PTX, or does not fit to the inputs before.
    pub fn add(&mut self, name: &str, text: &str) -> Result<(), LinkError> {
        let module = Module::parse(text).map_err(|error| LinkError::Parse {
            input: name.to_owned(),
            error,
        })?;
        let bits = module.address_size;
        if self.address_size.is_some_and(|known| known != bits) {
            let input = name.to_owned();
            return Err(LinkError::AddressSize { input, bits });
        }
        let symbols = Symbols::of(&module, self.names.len(), name)?.hide_statics();
        self.names.push(name.to_owned());
        if let Err(error) = self.symbols.join(symbols, &self.names) {
            self.names.pop();
            return Err(error);
        }
        self.texts.push(text.to_owned());
        self.address_size = Some(bits);
        Ok(())
    }

    /// The linked module, as PTX text. Without inputs it is a module without contents.
    ///
    /// # Errors
    /// All symbols that no input defines.
    pub fn finish(&self) -> Result<String, Vec<LinkError>> {
        merge::merge(self)
    }
}

/// The first function that the module uses and does not define, other than those that
/// the engine has: its name, and the line of its declaration.
///
/// # Errors
/// The module contradicts itself about a name.
pub fn unresolved_function(module: &mut Module<'_>) -> Result<Option<(String, u32)>, LinkError> {
    let symbols = Symbols::of(module, 0, "the module")?;
    Ok(first_unresolved(module, &symbols))
}

fn first_unresolved(module: &mut Module<'_>, symbols: &Symbols) -> Option<(String, u32)> {
    let missing = |name: &str| {
        let symbol = symbols.shared.get(name)?;
        let extern_function = symbol.claim == Claim::Extern
            && !matches!(symbol.shape, symbols::Shape::Var(..))
            && !is_of_the_system(name);
        extern_function.then_some(())
    };
    if !symbols.shared.keys().any(|name| missing(name).is_some()) {
        return None;
    }
    let mut found = None;
    names::each_use(module, &mut |name| {
        if found.is_none() && missing(name).is_some() {
            found = Some((*name).to_owned());
        }
    });
    let name = found?;
    let line = module.funcs.iter().find(|func| func.name == name)?.line;
    Some((name, line))
}

#[cfg(test)]
mod tests;
