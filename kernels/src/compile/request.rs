//! [`CompileRequest`]: all that a compile is asked for.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{CompileOption, Target};

/// A text that the compiler finds under a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceText {
    /// The name: what diagnostics and `__FILE__` say, and what `#include` names.
    pub name: String,
    /// The text.
    pub text: String,
}

/// All that a compile is asked for: a value that can be compared, kept and walked.
///
/// What the compiler is given is made of this value alone, in a fixed order:
/// the source, the headers in memory, the name expressions, and the
/// [arguments](Self::arguments), which clang is given in a translation. What it takes besides is the [compiler](super::Compiler) itself
/// and the [files](super::Dependencies) that the source includes.
///
/// ```
/// use cupola_kernels::compile::{CompileOption, CompileRequest, CppStandard, Target};
///
/// let request = CompileRequest::new("scale.cu", "__global__ void scale() {}", Target::Cubin("sm_90".parse()?))
///     .header("factor.h", "#define FACTOR 2")
///     .with(CompileOption::Standard(CppStandard::Cpp20))
///     .with("--anything=else");
/// assert_eq!(request.arguments()[1], "--std=c++20");
/// # Ok::<_, cupola_kernels::compile::NoArchitecture>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CompileRequest {
    source: SourceText,
    headers: Vec<SourceText>,
    include_folders: Vec<PathBuf>,
    options: Vec<CompileOption>,
    name_expressions: Vec<String>,
    target: Target,
}

impl CompileRequest {
    /// A compile of a source, which has a name for its diagnostics. The folder in the name, or the
    /// current one without any, is where the compiler looks first for `#include "..."`.
    #[must_use]
    pub fn new(name: impl Into<String>, source: impl Into<String>, target: Target) -> Self {
        Self {
            source: SourceText {
                name: name.into(),
                text: source.into(),
            },
            headers: Vec::new(),
            include_folders: Vec::new(),
            options: Vec::new(),
            name_expressions: Vec::new(),
            target,
        }
    }

    /// Adds a header that is in memory. It is found by exactly the name that `#include` says, before
    /// any file.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.headers.push(SourceText {
            name: name.into(),
            text: text.into(),
        });
        self
    }

    /// Adds a folder that headers are looked for in, after those before it (`--include-path`).
    #[must_use]
    pub fn include_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.include_folders.push(folder.into());
        self
    }

    /// Adds an option, behind those before it.
    #[must_use]
    pub fn with(mut self, option: impl Into<CompileOption>) -> Self {
        self.options.push(option.into());
        self
    }

    /// Defines a macro.
    #[must_use]
    pub fn define(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.with(CompileOption::Define {
            name: name.into(),
            value: Some(value.into()),
        })
    }

    /// Asks for the symbol of a kernel or variable by its C++ name: `scale<float>`, `&ns::table`.
    /// Templates among them are instantiated. [`Compiled::lowered_name`](super::Compiled::lowered_name)
    /// gives the symbol.
    #[must_use]
    pub fn name_expression(mut self, expression: impl Into<String>) -> Self {
        self.name_expressions.push(expression.into());
        self
    }

    /// The same request for another target.
    #[must_use]
    pub fn for_target(mut self, target: Target) -> Self {
        self.target = target;
        self
    }

    /// The source.
    #[must_use]
    pub fn source(&self) -> &SourceText {
        &self.source
    }

    /// The headers in memory, in order.
    #[must_use]
    pub fn headers(&self) -> &[SourceText] {
        &self.headers
    }

    /// The folders for headers, in order, as they were given: relative ones are relative to the
    /// current folder of the compile.
    #[must_use]
    pub fn include_folders(&self) -> &[PathBuf] {
        &self.include_folders
    }

    /// The options, in order.
    #[must_use]
    pub fn options(&self) -> &[CompileOption] {
        &self.options
    }

    /// The name expressions, in order.
    #[must_use]
    pub fn name_expressions(&self) -> &[String] {
        &self.name_expressions
    }

    /// What is made.
    #[must_use]
    pub fn target(&self) -> Target {
        self.target
    }

    /// The arguments that NVRTC is given, in order: the target's, the options, and the
    /// folders for headers.
    #[must_use]
    pub fn arguments(&self) -> Vec<OsString> {
        let folder = |folder: &PathBuf| {
            let mut argument = OsString::from("--include-path=");
            argument.push(folder);
            argument
        };
        let mut arguments = self.target.arguments();
        arguments.extend(self.options.iter().map(CompileOption::argument));
        arguments.extend(self.include_folders.iter().map(folder));
        arguments
    }

    /// Whether an option is about precompiled headers.
    pub(super) fn wants_pch(&self) -> bool {
        self.options.iter().any(CompileOption::is_pch)
    }

    /// The folder that the source names, where the compiler looks first.
    pub(super) fn source_folder(&self) -> &Path {
        Path::new(&self.source.name)
            .parent()
            .unwrap_or(Path::new(""))
    }
}
