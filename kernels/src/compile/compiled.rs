//! [`Compiled`]: device code, and what the compiler said of it.

use super::{CompilerVersion, Dependencies, Diagnostic, ImageKind, PchOutcome, Target};

/// Device code, and what the compiler said of it.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub(super) target: Target,
    pub(super) compiler: CompilerVersion,
    pub(super) image: Vec<u8>,
    pub(super) log: String,
    pub(super) lowered_names: Vec<LoweredName>,
    pub(super) dependencies: Dependencies,
    pub(super) pch: Option<PchOutcome>,
}

/// The symbol of a name expression.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoweredName {
    /// The expression of the request.
    pub expression: String,
    /// The symbol in the device code.
    pub symbol: String,
}

impl Compiled {
    /// What was asked for.
    #[must_use]
    pub fn target(&self) -> Target {
        self.target
    }

    /// The compiler that made it.
    #[must_use]
    pub fn compiler(&self) -> CompilerVersion {
        self.compiler
    }

    /// The device code. PTX is text without a NUL at its end.
    #[must_use]
    pub fn image(&self) -> &[u8] {
        &self.image
    }

    /// The device code, without a copy.
    #[must_use]
    pub fn into_image(self) -> Vec<u8> {
        self.image
    }

    /// The device code as text, if it is PTX.
    #[must_use]
    pub fn ptx(&self) -> Option<&str> {
        match self.target.kind() {
            ImageKind::Ptx => std::str::from_utf8(&self.image).ok(),
            ImageKind::Cubin | ImageKind::LtoIr | ImageKind::Fatbin => None,
        }
    }

    /// The compiler's log, with its warnings; empty if it had nothing to say.
    #[must_use]
    pub fn log(&self) -> &str {
        &self.log
    }

    /// The messages in the log.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        Diagnostic::parse_log(&self.log)
    }

    /// The symbols of the name expressions, in the order of the request.
    #[must_use]
    pub fn lowered_names(&self) -> &[LoweredName] {
        &self.lowered_names
    }

    /// The symbol of a name expression of the request.
    #[must_use]
    pub fn lowered_name(&self, expression: &str) -> Option<&str> {
        let found = self
            .lowered_names
            .iter()
            .find(|name| name.expression == expression)?;
        Some(&found.symbol)
    }

    /// The files that the result depends on, as they were before the compile.
    #[must_use]
    pub fn dependencies(&self) -> &Dependencies {
        &self.dependencies
    }

    /// What became of the precompiled header; `None` when the request has no option about them.
    #[must_use]
    pub fn pch(&self) -> Option<PchOutcome> {
        self.pch
    }
}
