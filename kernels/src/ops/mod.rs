//! Typed launches of the embedded kernels.
//!
//! [`Kernels::load`] loads them into a context once; its methods check the lengths of what
//! they are given, choose the geometry, and put the launch on a stream. They return before
//! the kernel has run, allocate nothing (but for [`Kernels::sum`]), and are safe: a kernel
//! touches only the views that it is given, within their lengths.

mod bytes;
mod elementwise;
mod reduce;
mod stamp;

use cupola_managers::module::{Function, Module};
use cupola_managers::ops::LaunchConfig;
use cupola_managers::{Context, DeviceInfo, Error, Result};

pub use reduce::Summable;

use crate::Embedded;
use crate::arguments::{
    Arguments, Check, Crc32, Histogram, ReduceSumF32, ReduceSumU64, Saxpy, Scale, Stamp,
};
use crate::geometry::Geometry;

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
    reduce_sum_f32: Function,
    reduce_sum_u64: Function,
    stamp: Function,
    check: Function,
}

impl Kernels {
    /// Loads every embedded kernel into `context`, which is one of the device that `info`
    /// describes. A real driver compiles the PTX for its GPU here, and keeps the result in
    /// its own cache for the next process.
    ///
    /// # Errors
    /// As [`ModuleManager::load_ptx`](cupola_managers::module::ModuleManager::load_ptx) and
    /// [`Module::function`]; nothing stays loaded then.
    pub fn load(context: &Context, info: &DeviceInfo) -> Result<Self> {
        let mut loader = Loader {
            context,
            modules: Vec::new(),
        };
        Ok(Self {
            multiprocessors: info.multiprocessors,
            histogram: loader.function::<Histogram>()?,
            crc32: loader.function::<Crc32>()?,
            saxpy: loader.function::<Saxpy>()?,
            scale: loader.function::<Scale>()?,
            reduce_sum_f32: loader.function::<ReduceSumF32>()?,
            reduce_sum_u64: loader.function::<ReduceSumU64>()?,
            stamp: loader.function::<Stamp>()?,
            check: loader.function::<Check>()?,
        })
    }
}

/// Loads each file once, however many of its kernels are asked for.
struct Loader<'c> {
    context: &'c Context,
    modules: Vec<(&'static str, Module)>,
}

impl Loader<'_> {
    fn function<A: Arguments>(&mut self) -> Result<Function> {
        let entry = A::ENTRY.to_str().unwrap_or_default();
        let Some(file) = Embedded::with_entry(entry) else {
            return Err(invalid("kernel", format!("{entry} is not embedded")));
        };
        if let Some((_, module)) = self.modules.iter().find(|(name, _)| *name == file.name()) {
            return module.function(entry);
        }
        let module = self.context.modules().load_ptx(file.ptx())?;
        let function = module.function(entry);
        self.modules.push((file.name(), module));
        function
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
