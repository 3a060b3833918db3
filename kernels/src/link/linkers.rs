//! [`Linkers`]: the linkers of a machine, in the order in which they are asked.

use super::{DriverLinker, LinkError, LinkRequest, Linked, Linker, LinkerIdentity, NvJitLinker};

/// What a machine has of linkers. The first that can do what is asked does it; the order is in the
/// documentation of the [module](super).
#[derive(Debug, Default)]
pub struct Linkers {
    linkers: Vec<Box<dyn Linker>>,
    /// Why nvJitLink is not there.
    absent: Option<LinkError>,
}

impl Linkers {
    /// nvJitLink, where there is one, and behind it the driver's, where there is a context for it.
    #[must_use]
    pub fn find(driver: Option<DriverLinker>) -> Self {
        Self::of(NvJitLinker::load(), driver)
    }

    /// The same with an nvJitLink that was looked for.
    pub(crate) fn of(
        nvjitlink: Result<impl Linker + 'static, LinkError>,
        driver: Option<DriverLinker>,
    ) -> Self {
        let mut found = Self::default();
        match nvjitlink {
            Ok(linker) => found = found.then(linker),
            Err(error) => found.absent = Some(error),
        }
        match driver {
            Some(driver) => found.then(driver),
            None => found,
        }
    }

    /// Adds a linker that is asked after those before it.
    #[must_use]
    pub fn then(mut self, linker: impl Linker + 'static) -> Self {
        self.linkers.push(Box::new(linker));
        self
    }
}

impl Linker for Linkers {
    fn name(&self) -> &'static str {
        "the linkers of this machine"
    }

    fn accepts(&self, request: &LinkRequest) -> Result<(), LinkError> {
        self.choose(request).map(|_| ())
    }

    fn identity(&self, request: &LinkRequest) -> Result<LinkerIdentity, LinkError> {
        self.choose(request)?.identity(request)
    }

    fn link(&self, request: &LinkRequest) -> Result<Linked, LinkError> {
        self.choose(request)?.link(request)
    }
}

impl Linkers {
    /// The first that can do what is asked.
    fn choose(&self, request: &LinkRequest) -> Result<&dyn Linker, LinkError> {
        let mut reasons: Vec<_> = self.absent.iter().cloned().collect();
        for linker in &self.linkers {
            match linker.accepts(request) {
                Ok(()) => return Ok(&**linker),
                Err(reason) => reasons.push(reason),
            }
        }
        Err(LinkError::NoLinker { reasons })
    }
}
