//! Typed launches of the embedded kernels.
//!
//! [`Kernels::load`] loads them into a context once; its methods check the lengths of what
//! they are given, choose the geometry, and put the launch on a stream. They return before
//! the kernel has run, allocate nothing (but for [`Kernels::sum`], and for the first call of a kernel,
//! which loads it), and are safe: a kernel touches only the views that it is given, within their
//! lengths. Views may have any length, 0 too, and begin anywhere; those that begin at a multiple of
//! 16 bytes, or all equally far from one, are the fastest.

mod arithmetic;
mod bytes;
mod convert;
mod element;
mod elementwise;
mod family;
mod library;
mod memory;
mod reduce;
mod reduce_scratch;
mod stamp;

use std::collections::HashMap;
use std::sync::Arc;

use cupola_managers::module::{Function, Module};
use cupola_managers::ops::LaunchConfig;
use cupola_managers::{Context, DeviceInfo, Error, Result};
use cupola_sys::driver::CUresult;

pub use arithmetic::Operand;
pub use convert::ConvertTo;
pub use element::{Float, Number, Signed};
pub use family::KernelFamily;
pub use reduce_scratch::ReduceScratch;

use crate::Embedded;
use crate::arguments::{Arguments, Check, Crc32, Histogram, Saxpy, Scale, Stamp};
use crate::geometry::Geometry;
use library::Library;

/// The embedded kernels, loaded into one context. Clones share them; the code is unloaded
/// with the last clone, and that drop waits on the host for the streams that kernels were launched
/// on, because one may still run.
#[derive(Clone, Debug)]
pub struct Kernels {
    multiprocessors: u32,
    histogram: Function,
    crc32: Function,
    saxpy: Function,
    scale: Function,
    stamp: Function,
    check: Function,
    library: Arc<Library>,
}

impl Kernels {
    /// Loads the kernels of bytes, of marks, and `saxpy` and `scale` into `context`, which is one of the
    /// device that `info` describes. The others, which are many, are loaded with the first call of a
    /// method that needs them, a file for each family, or by [`preload`](Self::preload).
    /// A real driver compiles the PTX for its GPU when it loads it, and keeps the result in
    /// its own cache for the next process. Of reductions there are others for devices of compute capability
    /// 7.0, and 9.0, and later ([`Embedded::ptx_for`]). The kernels of the last start before the kernel before them has ended; a
    /// driver before CUDA 11.8 gets those of before there too, with the same results.
    ///
    /// # Errors
    /// As [`ModuleManager::load_ptx`](cupola_managers::module::ModuleManager::load_ptx) and
    /// [`Module::function`]; nothing stays loaded then.
    pub fn load(context: &Context, info: &DeviceInfo) -> Result<Self> {
        let mut loader = Loader::new(info.compute_capability);
        Ok(Self {
            multiprocessors: info.multiprocessors,
            histogram: loader.of::<Histogram>(context)?,
            crc32: loader.of::<Crc32>(context)?,
            saxpy: loader.of::<Saxpy>(context)?,
            scale: loader.of::<Scale>(context)?,
            stamp: loader.of::<Stamp>(context)?,
            check: loader.of::<Check>(context)?,
            library: Arc::new(Library::new(context, loader)),
        })
    }
}

/// Loads each file once, however many of its kernels are asked for.
struct Loader {
    compute_capability: (u32, u32),
    modules: Vec<(&'static str, Module)>,
    /// Those of files that were loaded before their first launch.
    functions: HashMap<&'static str, Function>,
}

impl Loader {
    fn new(compute_capability: (u32, u32)) -> Self {
        Self {
            compute_capability,
            modules: Vec::new(),
            functions: HashMap::new(),
        }
    }

    fn of<A: Arguments>(&mut self, context: &Context) -> Result<Function> {
        self.function(context, A::ENTRY.to_str().unwrap_or_default())
    }

    fn function(&mut self, context: &Context, entry: &str) -> Result<Function> {
        if let Some(function) = self.functions.get(entry) {
            return Ok(function.clone());
        }
        let Some(file) = Embedded::with_entry(entry) else {
            return Err(invalid("kernel", format!("{entry} is not embedded")));
        };
        self.module(context, file)?.function(entry)
    }

    /// The module of a file, which is loaded if it is not yet.
    fn module(&mut self, context: &Context, file: &Embedded) -> Result<&Module> {
        let is_it = |(name, _): &(&str, Module)| *name == file.name();
        let place = match self.modules.iter().position(is_it) {
            Some(place) => place,
            None => {
                let module = self.load(context, file)?;
                self.modules.push((file.name(), module));
                self.modules.len() - 1
            }
        };
        Ok(&self.modules[place].1)
    }

    fn load(&self, context: &Context, file: &Embedded) -> Result<Module> {
        let mut texts = file.ptx_for(self.compute_capability);
        let mut loaded = context.modules().load_ptx(texts.next().unwrap_or_default());
        for older in texts {
            // By a driver that is older than the PTX, though the device runs it. The kernels are the same.
            match loaded {
                Err(error)
                    if error.status() == Some(CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION) =>
                {
                    loaded = context.modules().load_ptx(older);
                }
                settled => return settled,
            }
        }
        loaded
    }

    /// Every kernel of a file.
    fn preload(&mut self, context: &Context, file: &'static Embedded) -> Result<()> {
        let module = self.module(context, file)?.clone();
        for entry in file.entries() {
            let function = module.function(entry)?;
            self.functions.insert(entry, function);
        }
        Ok(())
    }
}

impl From<Geometry> for LaunchConfig {
    fn from(geometry: Geometry) -> Self {
        Self {
            shared_bytes: geometry.shared_bytes,
            ..Self::linear(geometry.blocks, geometry.threads)
        }
    }
}

fn invalid(field: &'static str, problem: String) -> Error {
    Error::Invalid { field, problem }
}

/// Refuses a view that has another length than the kernel takes.
fn expect_len(field: &'static str, len: usize, expected: usize) -> Result<()> {
    if len == expected {
        return Ok(());
    }
    Err(invalid(
        field,
        format!("{len} elements, where {expected} are needed"),
    ))
}
