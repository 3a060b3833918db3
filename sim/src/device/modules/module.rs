//! Loaded modules and their functions.

mod check;
mod load;
mod placer;

use std::collections::HashMap;
use std::ffi::{CString, c_int};
use std::sync::{Arc, Mutex, RwLock, Weak};

use cupola_sys::driver::{CUfunction_attribute, CUresult};

use crate::device::calls::args::Reply;
use crate::device::contexts::context::Context;
use crate::device::machine::{Inner, get};
use crate::device::memory::Block;
use crate::device::modules::attributes::{Facts, Settings};
use crate::device::modules::library::{Library, LibraryKernel};
use crate::device::strict::Origin;
use crate::device::sync::{lock, read, write};
use crate::exec::{Kernel, KernelError, Program};

pub(in crate::device) use load::{
    constants_of, decode, executable, load, parse, remarks, target_of,
};

/// What a `CUmodule` names.
#[derive(Debug)]
pub(in crate::device) struct Module {
    pub(in crate::device) handle: u64,
    pub(in crate::device) context: u64,
    program: Program,
    /// The module's variables.
    blocks: Vec<Arc<Block>>,
    /// The `sm_` number of `.target`.
    target: u32,
    pub(in crate::device) made: Origin,
    /// Bytes of the `.const` variables.
    constants: u64,
    /// Set for a module that a library loaded.
    library: Option<Weak<Library>>,
    /// What was noticed while loading, a line each.
    remarks: Vec<String>,
    /// Handles given out, by name.
    functions: Mutex<HashMap<String, Arc<Function>>>,
}

/// What a `CUfunction` names.
#[derive(Debug)]
pub(in crate::device) struct Function {
    pub(in crate::device) handle: u64,
    pub(in crate::device) module: u64,
    pub(in crate::device) context: u64,
    pub(in crate::device) kernel: Arc<Kernel>,
    pub(in crate::device) name: CString,
    target: u32,
    constants: u64,
    capability: (u32, u32),
    device: usize,
    /// Set by `cuFuncSetAttribute`.
    pub(in crate::device) settings: Settings,
    /// For a function of a library: what `cuKernelSetAttribute` set holds for it too.
    of: Option<Arc<LibraryKernel>>,
}

impl Function {
    /// An attribute: the function's own, else its kernel's, else the default.
    ///
    /// # Errors
    /// There is no such attribute.
    pub(in crate::device) fn attribute(&self, attribute: CUfunction_attribute) -> Reply<c_int> {
        let of = self.of.as_ref();
        let set = self.settings.get(attribute);
        let set = set.or_else(|| of?.settings(self.device)?.get(attribute));
        let facts = Facts {
            kernel: &self.kernel,
            constants: self.constants,
            target: self.target,
            capability: self.capability,
        };
        set.map_or_else(|| facts.attribute(attribute), Ok)
    }

    /// The most dynamic shared memory that a block may have, in bytes.
    pub(in crate::device) fn most_dynamic(&self) -> u64 {
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let most = self.attribute(attribute).unwrap_or(0);
        u64::try_from(most).unwrap_or(0)
    }
}

/// The loaded modules of a machine, and all functions that were asked for.
#[derive(Debug, Default)]
pub(in crate::device) struct Modules {
    modules: RwLock<HashMap<u64, Arc<Module>>>,
    functions: RwLock<HashMap<u64, Arc<Function>>>,
}

impl Modules {
    /// How many modules programs have loaded, without those of libraries.
    pub(in crate::device) fn count(&self) -> usize {
        let modules = read(&self.modules);
        modules
            .values()
            .filter(|module| !module.is_of_library())
            .count()
    }

    pub(in crate::device) fn each(&self, f: impl FnMut(&Arc<Module>)) {
        read(&self.modules).values().for_each(f);
    }

    pub(in crate::device) fn module(&self, handle: u64) -> Reply<Arc<Module>> {
        get(&self.modules, &handle).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }

    pub(in crate::device) fn function(&self, handle: u64) -> Reply<Arc<Function>> {
        get(&self.functions, &handle).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }

    /// Gives a function its handle, unless its module has been unloaded meanwhile.
    fn add_function(&self, function: &Arc<Function>) -> Reply {
        // An unload waits for this lock, and then finds the function to take it out.
        let modules = read(&self.modules);
        if !modules.contains_key(&function.module) {
            return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
        }
        write(&self.functions).insert(function.handle, Arc::clone(function));
        Ok(())
    }

    /// Takes a module and its functions out of the registry.
    pub(in crate::device) fn remove(&self, handle: u64) -> Option<Arc<Module>> {
        let module = write(&self.modules).remove(&handle);
        write(&self.functions).retain(|_, function| function.module != handle);
        module
    }

    /// Forgets the modules of a context, whose handles come back; their memory goes with
    /// the context's.
    pub(in crate::device) fn remove_context(&self, context: u64) -> Vec<u64> {
        let mut gone = Vec::new();
        write(&self.modules).retain(|handle, module| {
            let stays = module.context != context;
            if !stays {
                gone.push(*handle);
            }
            stays
        });
        write(&self.functions).retain(|_, function| function.context != context);
        gone
    }
}

impl Module {
    /// The function of that name, always the same one.
    ///
    /// # Errors
    /// There is none, or it needs something that the device cannot execute.
    pub(in crate::device) fn function(&self, machine: &Inner, name: &str) -> Reply<Arc<Function>> {
        let mut functions = lock(&self.functions);
        if let Some(function) = functions.get(name) {
            return Ok(Arc::clone(function));
        }
        let kernel = self.program.kernel(name).map_err(|error| match error {
            KernelError::NotFound(_) => CUresult::CUDA_ERROR_NOT_FOUND,
            _ => {
                machine.messages.add(error.to_string());
                CUresult::CUDA_ERROR_NOT_SUPPORTED
            }
        })?;
        let context = machine.context(self.context);
        let context = context.ok_or(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED)?;
        let of = match self.library.as_ref().map(Weak::upgrade) {
            None => None,
            Some(None) => return Err(CUresult::CUDA_ERROR_INVALID_HANDLE),
            Some(Some(library)) => Some(library.kernel(machine, name)?),
        };
        let function = Arc::new(Function {
            handle: machine.new_handle(),
            module: self.handle,
            context: self.context,
            name: CString::new(name).map_err(|_| CUresult::CUDA_ERROR_NOT_FOUND)?,
            kernel,
            target: self.target,
            constants: self.constants,
            capability: context.device.config.capability,
            device: context.device.ordinal,
            settings: Settings::default(),
            of,
        });
        machine.modules.add_function(&function)?;
        functions.insert(name.to_owned(), Arc::clone(&function));
        Ok(function)
    }

    /// Names of the kernels that can be executed, in order.
    pub(in crate::device) fn kernel_names(&self) -> Vec<&str> {
        executable(&self.program)
    }

    /// What was noticed while loading, a line each.
    pub(in crate::device) fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Whether it belongs to a library, which unloads it.
    pub(in crate::device) fn is_of_library(&self) -> bool {
        self.library.is_some()
    }

    /// Address and size of a variable.
    pub(in crate::device) fn global(&self, name: &str) -> Option<(u64, u64)> {
        self.program.global(name)
    }

    /// Frees the module's variables.
    pub(in crate::device) fn release(&self, context: &Context) {
        self.blocks
            .iter()
            .for_each(|block| placer::release(context, block));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::{Placement, VarSpace};
    use crate::ptx;

    /// No memory: for modules without variables.
    struct Nowhere;

    impl Placement for Nowhere {
        fn place(&mut self, _: &str, _: VarSpace, _: u64, _: u64) -> Option<u64> {
            None
        }

        fn fill(&mut self, _: u64, _: &[u8]) {}
    }

    /// Without it, a function asked for while its module is unloaded would keep its handle
    /// for ever, and could be launched.
    #[test]
    fn a_function_needs_its_module() {
        let text = ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry k() { ret; }";
        let parsed = ptx::Module::parse(text).unwrap();
        let program = Program::load(&parsed, &mut Nowhere).unwrap();
        let function = Arc::new(Function {
            handle: 2,
            module: 1,
            context: 3,
            kernel: program.kernel("k").unwrap(),
            name: CString::from(c"k"),
            target: 60,
            constants: 0,
            capability: (8, 0),
            device: 0,
            settings: Settings::default(),
            of: None,
        });
        let module = Arc::new(Module {
            handle: 1,
            context: 3,
            program,
            blocks: Vec::new(),
            target: 60,
            made: Origin::default(),
            constants: 0,
            library: None,
            remarks: Vec::new(),
            functions: Mutex::default(),
        });
        let modules = Modules::default();
        write(&modules.modules).insert(1, module);
        assert_eq!(modules.add_function(&function), Ok(()));
        assert!(modules.function(2).is_ok());
        modules.remove(1);
        let gone = Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
        assert_eq!(modules.add_function(&function), gone);
        assert!(modules.function(2).is_err());
    }
}
