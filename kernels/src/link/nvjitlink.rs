//! [`NvJitLinker`]: nvJitLink as a [`Linker`].

use std::ffi::CString;
use std::path::Path;

use cupola_sys::nvjitlink::NvJitLink;
use cupola_sys::{LoadError, Version};

use super::description::NvJitLinkDescription;
use super::session::Session;
use super::{InputKind, LinkError, LinkRequest, Linked, Linker, LinkerIdentity};

/// nvJitLink. Cheap to clone, and shared by threads.
#[derive(Clone, Debug)]
pub struct NvJitLinker {
    library: NvJitLink,
    description: NvJitLinkDescription,
}

impl NvJitLinker {
    /// Loads nvJitLink from where [`NvJitLink::load`] looks.
    ///
    /// # Errors
    /// [`LinkError::NotFound`] says what was tried and how to get it.
    pub fn load() -> Result<Self, LinkError> {
        Self::loaded(NvJitLink::load())
    }

    /// Loads the nvJitLink at `path`.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_from(path: &Path) -> Result<Self, LinkError> {
        Self::loaded(NvJitLink::load_from(path))
    }

    fn loaded(found: Result<NvJitLink, LoadError>) -> Result<Self, LinkError> {
        let library = found.map_err(|error| LinkError::NotFound(error.into()))?;
        Ok(Self::over(library))
    }

    /// The linker of a library that is loaded.
    #[must_use]
    pub fn over(library: NvJitLink) -> Self {
        let description = NvJitLinkDescription {
            // Those before CUDA 12.3 do not tell.
            version: library.version().ok(),
            library: library.path(),
        };
        Self {
            library,
            description,
        }
    }

    /// The version of CUDA that it belongs to; `None` before CUDA 12.3, where it does not tell.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        self.description.version
    }

    /// What is told of it.
    #[cfg(unix)]
    pub(crate) fn description(&self) -> &NvJitLinkDescription {
        &self.description
    }

    /// The library.
    #[must_use]
    pub fn library(&self) -> &NvJitLink {
        &self.library
    }
}

impl Linker for NvJitLinker {
    fn name(&self) -> &'static str {
        NvJitLinkDescription::NAME
    }

    fn accepts(&self, request: &LinkRequest) -> Result<(), LinkError> {
        self.description.accepts(request)
    }

    fn identity(&self, request: &LinkRequest) -> Result<LinkerIdentity, LinkError> {
        self.description.identity(request)
    }

    fn link(&self, request: &LinkRequest) -> Result<Linked, LinkError> {
        self.accepts(request)?;
        let text = |text: String, what: &str| {
            CString::new(text).map_err(|nul| LinkError::Nul {
                what: format!("{what} {:?}", String::from_utf8_lossy(&nul.into_vec())),
            })
        };
        let arguments = request.arguments().into_iter();
        let arguments = arguments
            .map(|argument| text(argument, "option"))
            .collect::<Result<Vec<_>, _>>()?;
        let session = Session::new(&self.library, &arguments).map_err(|call| LinkError::Link {
            call,
            log: String::new(),
        })?;
        for input in request.inputs() {
            let name = text(input.name.clone(), "the name of input")?;
            let ended;
            let data = match input.kind {
                // nvJitLink takes a NUL for the end of PTX.
                InputKind::Ptx if input.data.last() != Some(&0) => {
                    ended = [&input.data[..], &[0]].concat();
                    &ended
                }
                _ => &input.data,
            };
            session
                .add(input.kind, &name, data)
                .map_err(|call| LinkError::Input {
                    name: input.name.clone(),
                    kind: input.kind,
                    call,
                    log: session.log(),
                })?;
        }
        let failed = |call| LinkError::Link {
            call,
            log: session.log(),
        };
        session.complete().map_err(failed)?;
        Ok(Linked {
            target: request.target(),
            image: session.image(request.target()).map_err(failed)?,
            log: session.log(),
        })
    }
}
