//! Links in progress: what `cuLink*` works on.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, RwLock};
use std::time::Instant;

use cupola_sys::Version;
use cupola_sys::driver::CUresult;

use crate::device::api::Jit;
use crate::device::calls::args::Reply;
use crate::device::machine::get;
use crate::device::modules::image::{Image, ImageError};
use crate::device::modules::module;
use crate::device::strict::Origin;
use crate::device::sync::{read, write};
use crate::ptx::link::{LinkError, Linker};

/// What a `CUlinkState` names.
#[derive(Debug)]
pub(in crate::device) struct Link {
    /// Of the device that the result is for.
    pub(in crate::device) capability: (u32, u32),
    pub(in crate::device) made: Origin,
    pub(in crate::device) state: Mutex<State>,
}

#[derive(Debug)]
pub(in crate::device) struct State {
    linker: Linker,
    pub(in crate::device) jit: Jit,
    /// Inputs that do not fit together spoil the link for good.
    spoilt: Option<CUresult>,
    /// The result. The program has its address until it destroys the link.
    image: Option<CString>,
    inputs: usize,
}

/// The links of a machine.
#[derive(Debug, Default)]
pub(in crate::device) struct Links(RwLock<HashMap<u64, Arc<Link>>>);

impl Links {
    pub(in crate::device) fn count(&self) -> usize {
        read(&self.0).len()
    }

    pub(in crate::device) fn each(&self, f: impl FnMut(&Arc<Link>)) {
        read(&self.0).values().for_each(f);
    }

    pub(in crate::device) fn get(&self, handle: u64) -> Reply<Arc<Link>> {
        get(&self.0, &handle).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }

    pub(in crate::device) fn add(
        &self,
        handle: u64,
        capability: (u32, u32),
        jit: Jit,
        made: Origin,
    ) {
        let state = State {
            linker: Linker::new(),
            jit,
            spoilt: None,
            image: None,
            inputs: 0,
        };
        let link = Link {
            capability,
            made,
            state: Mutex::new(state),
        };
        write(&self.0).insert(handle, Arc::new(link));
    }

    pub(in crate::device) fn remove(&self, handle: u64) -> Reply {
        let removed = write(&self.0).remove(&handle);
        removed.map(drop).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }
}

impl State {
    /// A name for an input that the program gave none.
    pub(in crate::device) fn next_name(&mut self) -> String {
        self.inputs += 1;
        format!("input {}", self.inputs)
    }

    pub(in crate::device) fn is_complete(&self) -> bool {
        self.image.is_some()
    }

    /// Makes the link fail from now on.
    pub(in crate::device) fn spoil(&mut self, (code, text): ImageError) -> ImageError {
        self.spoilt = self.spoilt.or(Some(code));
        (code, text)
    }

    /// Adds PTX. An input that is no PTX leaves the link as it was; one that does not fit
    /// to the others spoils it.
    ///
    /// # Errors
    /// A code, and what to say in the log.
    pub(in crate::device) fn add(
        &mut self,
        version: Version,
        capability: (u32, u32),
        name: &str,
        image: &Image<'_>,
    ) -> Result<(), ImageError> {
        let started = Instant::now();
        let result = self.add_ptx(version, capability, name, image);
        self.jit.spent(started.elapsed());
        result
    }

    fn add_ptx(
        &mut self,
        version: Version,
        capability: (u32, u32),
        name: &str,
        image: &Image<'_>,
    ) -> Result<(), ImageError> {
        let text = image.ptx(capability)?;
        module::parse(version, capability, &text)
            .map_err(|(code, text)| (code, format!("{name}: {text}")))?;
        self.linker.add(name, &text).map_err(|error| {
            let error = (CUresult::CUDA_ERROR_UNKNOWN, error.to_string());
            self.spoil(error)
        })
    }

    /// Puts the inputs together; a second time is an error.
    ///
    /// # Errors
    /// A code, and what to say in the log.
    pub(in crate::device) fn complete(&mut self) -> Result<&CString, ImageError> {
        if self.image.is_some() {
            let text = "the link is complete already".into();
            return Err((CUresult::CUDA_ERROR_INVALID_HANDLE, text));
        }
        if let Some(code) = self.spoilt {
            return Err((code, String::new()));
        }
        let started = Instant::now();
        let linked = self.linker.finish();
        self.jit.spent(started.elapsed());
        let text = linked.map_err(|errors| {
            let lines: Vec<_> = errors.iter().map(LinkError::to_string).collect();
            self.spoil((CUresult::CUDA_ERROR_UNKNOWN, lines.join("\n")))
        })?;
        // PTX has no NUL: the image ends there.
        let image = CString::new(text);
        let image = image.map_err(|_| (CUresult::CUDA_ERROR_INVALID_PTX, String::new()))?;
        Ok(self.image.insert(image))
    }
}
