//! Pieces of device code linked to one, while the program runs.
//!
//! Two linkers have one interface, [`Linker`]: [`NvJitLinker`] is nvJitLink, loaded at run time, and
//! needs neither a device nor a driver; [`DriverLinker`] is the linker in the driver of a context.
//! [`Linkers`] has what a machine has of them, and takes for a request
//!
//! 1. nvJitLink, if it can do what is asked: it knows LTO-IR and all options, and its messages are
//!    better;
//! 2. else the driver's: for binaries, PTX and what else has no LTO-IR in it, for the device of its
//!    context.
//!
//! What neither can do is [`LinkError::NoLinker`], with the reason of each. The second is not tried
//! when the first has failed: its message would hide that of the first.
//!
//! LTO-IR is readable for an nvJitLink at least as new as the compiler that made it, which
//! [`LinkInput::of_compiled`] remembers and [`LinkError::TooOld`] tells before anything is linked.

mod description;
mod driver;
mod error;
mod linkers;
mod nvjitlink;
mod options;
mod request;
mod session;

#[cfg(unix)]
pub(crate) use description::NvJitLinkDescription;
pub use driver::DriverLinker;
pub use error::LinkError;
pub use linkers::Linkers;
pub use nvjitlink::NvJitLinker;
pub use options::{LinkOptimization, LinkOption};
pub use request::{InputKind, LinkInput, LinkRequest};

use std::path::PathBuf;

use crate::compile::{Diagnostic, Target};

/// What can link.
pub trait Linker: std::fmt::Debug + Send + Sync {
    /// What people call it.
    fn name(&self) -> &'static str;

    /// Whether it can do what is asked, as far as that is known before it is tried.
    ///
    /// # Errors
    /// [`LinkError::Unsupported`] or [`LinkError::TooOld`]: what it cannot do.
    fn accepts(&self, request: &LinkRequest) -> Result<(), LinkError>;

    /// Which linker does what is asked, and which version of it.
    ///
    /// # Errors
    /// Those of [`accepts`](Self::accepts).
    fn identity(&self, request: &LinkRequest) -> Result<LinkerIdentity, LinkError>;

    /// Links on this thread.
    ///
    /// # Errors
    /// Those of [`accepts`](Self::accepts); [`LinkError::Input`] about one input;
    /// [`LinkError::Link`] about all of them; [`LinkError::Driver`].
    fn link(&self, request: &LinkRequest) -> Result<Linked, LinkError>;
}

/// Which linker made device code: what results depend on besides the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkerIdentity {
    /// Its name and version, with what it knows of its target beside the request.
    pub name: String,
    /// Its library; `None` where that is not known, so that another version could not be told from it.
    pub library: Option<PathBuf>,
}

/// Linked device code, and what the linker said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    target: Target,
    image: Vec<u8>,
    log: String,
}

impl Linked {
    /// What was asked for.
    #[must_use]
    pub fn target(&self) -> Target {
        self.target
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

    /// The linker's log, with its warnings; empty if it had nothing to say.
    #[must_use]
    pub fn log(&self) -> &str {
        &self.log
    }

    /// The messages in the log.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        Diagnostic::parse_log(&self.log)
    }
}
