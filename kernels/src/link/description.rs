//! `NvJitLinkDescription`: what is told of an nvJitLink, also of one that is not loaded.

use std::path::PathBuf;

use cupola_sys::Version;

use super::{InputKind, LinkError, LinkRequest, LinkerIdentity};
use crate::compile::Target;

/// What is told of an nvJitLink: enough to name it in keys, and to know what it can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NvJitLinkDescription {
    /// `None` before CUDA 12.3, where it does not tell.
    pub(crate) version: Option<Version>,
    /// Its file, where that is known.
    pub(crate) library: Option<PathBuf>,
}

impl NvJitLinkDescription {
    pub(crate) const NAME: &'static str = "nvJitLink";

    /// Its name and version, as keys have them.
    pub(crate) fn name(&self) -> String {
        let version = self.version;
        let version = version.map_or_else(String::new, |version| version.to_string());
        format!("{} {version}", Self::NAME)
    }

    /// Whether that nvJitLink can do what is asked, as [`Linker::accepts`](super::Linker::accepts).
    pub(crate) fn accepts(&self, request: &LinkRequest) -> Result<(), LinkError> {
        let cannot = |what: &str| {
            Err(LinkError::Unsupported {
                linker: Self::NAME,
                what: what.to_owned(),
            })
        };
        match request.target() {
            Target::LtoIr(_) => return cannot("make LTO-IR of several inputs"),
            Target::Ptx(_) if !request.is_lto() => {
                return cannot("make PTX of inputs of which none is LTO-IR");
            }
            Target::Ptx(_) | Target::Cubin(_) => {}
        }
        let Some(have) = self.version else {
            return Ok(());
        };
        for input in request.inputs() {
            match input.made_by {
                Some(made_by) if input.kind == InputKind::LtoIr && made_by > have => {
                    return Err(LinkError::TooOld {
                        input: input.name.clone(),
                        made_by,
                        have,
                    });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Which linker does what is asked, as [`Linker::identity`](super::Linker::identity).
    pub(crate) fn identity(&self, request: &LinkRequest) -> Result<LinkerIdentity, LinkError> {
        self.accepts(request)?;
        Ok(LinkerIdentity {
            name: self.name(),
            library: self.library.clone(),
        })
    }
}
