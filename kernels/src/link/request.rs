//! [`LinkRequest`]: all that a link is asked for.

use std::fmt;

use cupola_sys::Version;

use super::LinkOption;
use crate::compile::{Compiled, ImageKind, Target};

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InputKind {
    /// A binary for one architecture, with relocations.
    Cubin,
    /// Assembly text.
    Ptx,
    /// Code for link-time optimisation.
    LtoIr,
    /// Several of these in one.
    Fatbin,
    /// A host object with device code in it.
    Object,
    /// An archive of such objects.
    Library,
}

impl From<ImageKind> for InputKind {
    fn from(kind: ImageKind) -> Self {
        match kind {
            ImageKind::Cubin => Self::Cubin,
            ImageKind::Ptx => Self::Ptx,
            ImageKind::LtoIr => Self::LtoIr,
            ImageKind::Fatbin => Self::Fatbin,
        }
    }
}

impl fmt::Display for InputKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cubin => "CUBIN",
            Self::Ptx => "PTX",
            Self::LtoIr => "LTO-IR",
            Self::Fatbin => "a fat binary",
            Self::Object => "an object",
            Self::Library => "a library",
        })
    }
}

/// A piece of device code to be linked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkInput {
    /// What messages call it.
    pub name: String,
    /// What it is.
    pub kind: InputKind,
    /// Its bytes; a NUL at the end of PTX is not needed.
    pub data: Vec<u8>,
    /// The version of the compiler that made it, if that is known.
    pub made_by: Option<Version>,
}

impl LinkInput {
    /// An input of which it is not known which version made it.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: InputKind, data: impl Into<Vec<u8>>) -> Self {
        Self {
            name: name.into(),
            kind,
            data: data.into(),
            made_by: None,
        }
    }

    /// What a compile gave.
    #[must_use]
    pub fn of_compiled(name: impl Into<String>, compiled: &Compiled) -> Self {
        Self {
            name: name.into(),
            kind: compiled.target().kind().into(),
            data: compiled.image().to_vec(),
            made_by: compiled.compiler().cuda(),
        }
    }
}

/// All that a link is asked for: a value that can be compared, kept and walked. Inputs are linked in
/// order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkRequest {
    target: Target,
    inputs: Vec<LinkInput>,
    options: Vec<LinkOption>,
}

impl LinkRequest {
    /// A link without inputs yet.
    #[must_use]
    pub fn new(target: Target) -> Self {
        Self {
            target,
            inputs: Vec::new(),
            options: Vec::new(),
        }
    }

    /// Adds an input, behind those before it.
    #[must_use]
    pub fn input(mut self, input: LinkInput) -> Self {
        self.inputs.push(input);
        self
    }

    /// Adds an option, behind those before it.
    #[must_use]
    pub fn with(mut self, option: impl Into<LinkOption>) -> Self {
        self.options.push(option.into());
        self
    }

    /// What is made.
    #[must_use]
    pub fn target(&self) -> Target {
        self.target
    }

    /// The inputs, in order.
    #[must_use]
    pub fn inputs(&self) -> &[LinkInput] {
        &self.inputs
    }

    /// The options, in order.
    #[must_use]
    pub fn options(&self) -> &[LinkOption] {
        &self.options
    }

    /// Whether all is optimised together: an input is LTO-IR, or an option says so.
    #[must_use]
    pub fn is_lto(&self) -> bool {
        self.inputs.iter().any(|one| one.kind == InputKind::LtoIr)
            || self.options.contains(&LinkOption::LinkTimeOptimization)
    }

    /// The arguments that nvJitLink is given, in order: the target's and the options.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let architecture = self.target.architecture();
        let name = match self.target {
            Target::Cubin(_) => architecture.real_name(),
            Target::Ptx(_) | Target::LtoIr(_) => architecture.virtual_name(),
        };
        let mut arguments = vec![format!("-arch={name}")];
        let said = self.options.contains(&LinkOption::LinkTimeOptimization);
        if self.is_lto() && !said {
            arguments.push("-lto".to_owned());
        }
        if let Target::Ptx(_) = self.target {
            arguments.push("-ptx".to_owned());
        }
        arguments.extend(self.options.iter().map(LinkOption::argument));
        arguments
    }
}
