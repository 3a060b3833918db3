//! The one error of the parser. It owns its text so that it outlives the source.

/// Where a module stopped being PTX, and what would have been accepted there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("PTX line {line}, column {column}: expected {expected}, found {found}")]
pub struct ParseError {
    /// Line of the offending token, from 1.
    pub line: u32,
    /// Column of the offending token in bytes, from 1.
    pub column: u32,
    /// What the grammar allows at this place.
    pub expected: String,
    /// The text found instead, shortened, or `end of file`.
    pub found: String,
}
