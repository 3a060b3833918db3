//! A loaded module: placed variables and decoded functions.

use super::inst::Func;
use super::kernel::{Kernel, KernelError};
use super::lanes;
use super::loader::Loader;
use super::place::{LoadError, Placement};
use crate::ptx::Module;
use std::collections::HashMap;
use std::sync::Arc;

/// Choices made when a module is loaded.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoadOptions {
    /// Use only the baseline instruction set, as on a CPU without AVX2.
    pub baseline: bool,
    /// Put checks before accesses, for launches with a [`Watch`](super::Watch).
    pub checked: bool,
}

/// A function that cannot be executed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{function}: PTX line {line}: {opcode}: {reason}")]
pub struct Undecodable {
    /// Its name.
    pub function: String,
    /// Line of the PTX text.
    pub line: u32,
    /// The opcode in full, or empty if a declaration is at fault.
    pub opcode: String,
    /// What is wrong.
    pub reason: String,
}

/// A module that is ready to run.
#[derive(Debug)]
pub struct Program {
    pub(super) funcs: Arc<Vec<Func>>,
    pub(super) kernels: HashMap<String, Result<Arc<Kernel>, KernelError>>,
    pub(super) globals: HashMap<String, (u64, u64)>,
    pub(super) undecodable: Vec<Undecodable>,
    pub(super) adopted: Vec<String>,
}

impl Program {
    /// Loads a module. Functions that cannot be decoded are reported by
    /// [`Program::kernel`], not here.
    ///
    /// # Errors
    /// What concerns the module as a whole: its variables and address size.
    pub fn load(module: &Module<'_>, device: &mut dyn Placement) -> Result<Self, LoadError> {
        Self::load_with(module, device, LoadOptions::default())
    }

    /// [`Program::load`] with choices.
    ///
    /// # Errors
    /// As for [`Program::load`].
    pub fn load_with(
        module: &Module<'_>,
        device: &mut dyn Placement,
        options: LoadOptions,
    ) -> Result<Self, LoadError> {
        if module.address_size != 64 {
            return Err(LoadError::AddressSize);
        }
        let mut loader = Loader::new(module)?;
        loader.place_globals(device)?;
        loader.place_shared();
        let wide = !options.baseline && lanes::wide_available();
        Ok(loader.decode(wide, options.checked))
    }

    /// A kernel by name.
    ///
    /// # Errors
    /// There is none of that name, or it needs something this engine lacks.
    pub fn kernel(&self, name: &str) -> Result<Arc<Kernel>, KernelError> {
        self.kernels
            .get(name)
            .cloned()
            .unwrap_or_else(|| Err(KernelError::NotFound(name.to_owned())))
    }

    /// Names of all entries, in no order, executable or not.
    pub fn kernel_names(&self) -> impl Iterator<Item = &str> {
        self.kernels.keys().map(String::as_str)
    }

    /// Address and size of a `.global` or `.const` variable of module scope.
    #[must_use]
    pub fn global(&self, name: &str) -> Option<(u64, u64)> {
        self.globals.get(name).copied()
    }

    /// The functions that cannot be executed, kernels or not, in the order of the text.
    #[must_use]
    pub fn undecodable(&self) -> &[Undecodable] {
        &self.undecodable
    }

    /// Variables that the module declares `.extern` and does not define. They are taken to
    /// be defined here, as compilers for GPUs take them when a module is not linked.
    #[must_use]
    pub fn adopted(&self) -> &[String] {
        &self.adopted
    }

    /// Functions of the module, called ones and those that cannot be executed included.
    #[must_use]
    pub fn function_count(&self) -> usize {
        self.funcs.len()
    }
}
