//! [`Names`]: the symbols of name expressions.
//!
//! NVRTC tells them by a call. For clang each expression becomes the initial value of a constant
//! behind the source, which instantiates what it names; the PTX then has the symbol as that value, and
//! the constant is taken out again.

use std::fmt::Write as _;

use crate::compile::{Diagnostic, LoweredName};

/// What messages about the constants call their file: each is in the line of its number.
const FILE: &str = "<name expressions>";

/// What the constants are called. Two underscores are reserved for compilers.
const PREFIX: &str = "__cupola_name_";

/// The name expressions of a request.
pub(super) struct Names<'r> {
    expressions: &'r [String],
}

impl<'r> Names<'r> {
    pub(super) fn of(expressions: &'r [String]) -> Self {
        Self { expressions }
    }

    /// What stands behind the source.
    pub(super) fn declarations(&self) -> String {
        let mut text = String::new();
        if !self.expressions.is_empty() {
            let _ = writeln!(text, "#line 1 \"{FILE}\"");
        }
        for (number, expression) in self.expressions.iter().enumerate() {
            // One line each, which is how a message about it is told.
            let expression = expression.replace(['\n', '\r'], " ");
            let _ = writeln!(
                text,
                "extern \"C\" __attribute__((device, nodebug)) const void* const {PREFIX}{number} = \
                 (const void*)({expression});"
            );
        }
        text
    }

    /// The PTX without the constants, and their values.
    ///
    /// # Errors
    /// The expression whose value is no symbol.
    pub(super) fn take(&self, ptx: String) -> Result<(String, Vec<LoweredName>), String> {
        if self.expressions.is_empty() {
            return Ok((ptx, Vec::new()));
        }
        let mut symbols = vec![None; self.expressions.len()];
        let mut rest = String::with_capacity(ptx.len());
        for line in ptx.split_inclusive('\n') {
            match constant(line) {
                Some((number, symbol)) if number < symbols.len() => {
                    symbols[number] = symbol;
                }
                _ => rest.push_str(line),
            }
        }
        let named = self.expressions.iter().zip(symbols);
        let named = named.map(|(expression, symbol)| match symbol {
            Some(symbol) => Ok(LoweredName {
                expression: expression.clone(),
                symbol,
            }),
            None => Err(expression.clone()),
        });
        Ok((rest, named.collect::<Result<_, _>>()?))
    }
}

/// The number of the constant that a line of PTX defines, and the symbol that is its value:
/// `.visible .const .align 8 .u64 __cupola_name_0 = generic(table);`.
fn constant(line: &str) -> Option<(usize, Option<String>)> {
    let (declaration, value) = line.split_once(" = ")?;
    let (_, name) = declaration.rsplit_once(' ')?;
    let number = name.strip_prefix(PREFIX)?.parse().ok()?;
    let value = value.trim().strip_suffix(';')?;
    let symbol = value
        .strip_prefix("generic(")
        .and_then(|value| value.strip_suffix(')'))
        .unwrap_or(value);
    let is_symbol = symbol.starts_with(|c: char| !c.is_ascii_digit())
        && symbol
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%'));
    Some((number, is_symbol.then(|| symbol.to_owned())))
}

/// The expression that a message is about.
pub(super) fn expression_of<'r>(
    message: &Diagnostic,
    expressions: &'r [String],
) -> Option<&'r String> {
    if message.file.as_deref() != Some(FILE) {
        return None;
    }
    let line = usize::try_from(message.line?).ok()?;
    expressions.get(line.checked_sub(1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Without it a symbol could be that of another expression, or a constant of ours stay in the code.
    #[test]
    fn each_constant_is_taken_with_its_symbol() {
        let expressions = ["f<int>", "&ns::table"].map(str::to_owned);
        let names = Names::of(&expressions);
        let ptx = concat!(
            ".visible .const .align 4 .f32 c;\n",
            ".visible .const .align 8 .u64 __cupola_name_1 = generic(_ZN2ns5tableE);\n",
            ".visible .const .align 8 .u64 __cupola_name_0 = _Z1fIiEvv;\n",
            ".visible .entry _Z1fIiEvv()\n",
        );
        let (rest, named) = names.take(ptx.to_owned()).unwrap();
        assert!(!rest.contains("__cupola") && rest.lines().count() == 2);
        let symbols: Vec<_> = named.iter().map(|name| name.symbol.as_str()).collect();
        assert_eq!(symbols, ["_Z1fIiEvv", "_ZN2ns5tableE"]);
        // An address within a variable, a number, and nothing at all.
        for value in ["generic(table)+8", "0", "7"] {
            let ptx = format!(".const .u64 __cupola_name_0 = {value};\n");
            assert_eq!(names.take(ptx), Err("f<int>".to_owned()), "{value}");
        }
        assert_eq!(names.take(String::new()), Err("f<int>".to_owned()));
    }
}
