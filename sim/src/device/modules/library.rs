//! Libraries: code that belongs to no context, and is loaded into each that uses it.

mod managed;

use std::collections::{BTreeMap, HashMap};
use std::ffi::{CString, c_int};
use std::sync::{Arc, Mutex, RwLock};

use cupola_sys::driver::{CUfunction_attribute, CUresult};

use crate::device::calls::args::Reply;
use crate::device::contexts::context::Context;
use crate::device::machine::{Inner, get};
use crate::device::memory::Block;
use crate::device::modules::attributes::{Facts, Settings};
use crate::device::modules::image::{Image, ImageError};
use crate::device::modules::module::{self, Module};
use crate::device::strict::Origin;
use crate::device::sync::{lock, read, write};
use crate::exec::{Kernel, KernelError, Program};
use managed::{Managed, Pretend, Variable, check_values};

pub(in crate::device) use managed::Counter;

/// What a `CUlibrary` names.
#[derive(Debug)]
pub(in crate::device) struct Library {
    pub(in crate::device) handle: u64,
    pub(in crate::device) made: Origin,
    /// One for each compute capability among the machine's devices.
    editions: Vec<Edition>,
    /// Handles given out, by name.
    kernels: Mutex<BTreeMap<String, Arc<LibraryKernel>>>,
    /// The module of each context, by the context's id; `None` after the library's end.
    loaded: Mutex<Option<HashMap<u64, u64>>>,
    /// One place for all contexts.
    managed: Managed,
}

/// The code for one kind of device.
#[derive(Debug)]
struct Edition {
    capability: (u32, u32),
    text: String,
    /// Decoded with addresses that mean nothing, to know the kernels without a context.
    catalogue: Program,
    target: u32,
    constants: u64,
    remarks: Vec<String>,
}

/// What a `CUkernel` names.
#[derive(Debug)]
pub(in crate::device) struct LibraryKernel {
    pub(in crate::device) handle: u64,
    pub(in crate::device) library: u64,
    pub(in crate::device) name: CString,
    /// What `cuKernelSetAttribute` set, by device.
    settings: Vec<Settings>,
}

impl LibraryKernel {
    pub(in crate::device) fn settings(&self, device: usize) -> Option<&Settings> {
        self.settings.get(device)
    }

    /// The name as the library has it.
    pub(in crate::device) fn name(&self) -> &str {
        // Made from a `str`.
        self.name.to_str().unwrap_or("")
    }
}

/// The loaded libraries of a machine, and all kernels that were asked for.
#[derive(Debug, Default)]
pub(in crate::device) struct Libraries {
    libraries: RwLock<HashMap<u64, Arc<Library>>>,
    kernels: RwLock<HashMap<u64, Arc<LibraryKernel>>>,
}

impl Libraries {
    pub(in crate::device) fn count(&self) -> usize {
        read(&self.libraries).len()
    }

    pub(in crate::device) fn each(&self, f: impl FnMut(&Arc<Library>)) {
        read(&self.libraries).values().for_each(f);
    }

    pub(in crate::device) fn library(&self, handle: u64) -> Reply<Arc<Library>> {
        get(&self.libraries, &handle).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }

    pub(in crate::device) fn kernel(&self, handle: u64) -> Reply<Arc<LibraryKernel>> {
        get(&self.kernels, &handle).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }

    /// Gives a kernel its handle, unless its library has been unloaded meanwhile.
    fn add_kernel(&self, kernel: &Arc<LibraryKernel>) -> Reply {
        // An unload waits for this lock, and then finds the kernel to take it out.
        let libraries = read(&self.libraries);
        if !libraries.contains_key(&kernel.library) {
            return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
        }
        write(&self.kernels).insert(kernel.handle, Arc::clone(kernel));
        Ok(())
    }

    /// Takes a library and its kernels out of the registry.
    pub(in crate::device) fn remove(&self, handle: u64) -> Reply<Arc<Library>> {
        let library = write(&self.libraries).remove(&handle);
        write(&self.kernels).retain(|_, kernel| kernel.library != handle);
        library.ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }
}

/// Reads an image for all kinds of devices that the machine has.
///
/// # Errors
/// A code, and what to say in the log, if no device can use it.
pub(in crate::device) fn load(
    machine: &Inner,
    image: &Image<'_>,
) -> Result<Arc<Library>, ImageError> {
    let mut editions: Vec<Edition> = Vec::new();
    let mut failed = None;
    let mut managed = Managed::default();
    for device in &machine.devices {
        let capability = device.config.capability;
        if editions.iter().all(|known| known.capability != capability) {
            match edition(machine, image, capability, &mut managed) {
                Ok(edition) => editions.push(edition),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
    }
    if let (true, Some(error)) = (editions.is_empty(), failed) {
        managed.release(machine);
        return Err(error);
    }
    let library = Arc::new(Library {
        handle: machine.new_handle(),
        made: machine.strict.origin(),
        editions,
        kernels: Mutex::default(),
        loaded: Mutex::new(Some(HashMap::new())),
        managed,
    });
    let registry = &machine.libraries.libraries;
    write(registry).insert(library.handle, Arc::clone(&library));
    Ok(library)
}

fn edition(
    machine: &Inner,
    image: &Image<'_>,
    capability: (u32, u32),
    managed: &mut Managed,
) -> Result<Edition, ImageError> {
    let text = image.ptx(capability)?.into_owned();
    let mut parsed = module::parse(machine.version, capability, &text)?;
    check_values(&parsed)?;
    let mut pretend = Pretend::new(&machine.space, managed);
    let catalogue = module::decode(&mut parsed, &mut pretend, false)?;
    Ok(Edition {
        capability,
        target: module::target_of(&parsed),
        constants: module::constants_of(&parsed),
        remarks: module::remarks(&catalogue),
        text,
        catalogue,
    })
}

impl Library {
    /// The code for a device, if there is any.
    fn edition(&self, capability: (u32, u32)) -> Reply<&Edition> {
        let fits = |edition: &&Edition| edition.capability == capability;
        let found = self.editions.iter().find(fits);
        found.ok_or(CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU)
    }

    /// What was noticed while loading, a line each.
    pub(in crate::device) fn remarks(&self) -> String {
        let first = self.editions.first();
        first.map_or(String::new(), |edition| edition.remarks.join("\n"))
    }

    /// The kernel of that name, always the same one.
    ///
    /// # Errors
    /// There is none, or it needs something that the device cannot execute.
    pub(in crate::device) fn kernel(
        &self,
        machine: &Inner,
        name: &str,
    ) -> Reply<Arc<LibraryKernel>> {
        let mut kernels = lock(&self.kernels);
        if let Some(kernel) = kernels.get(name) {
            return Ok(Arc::clone(kernel));
        }
        let edition = self.editions.first();
        let edition = edition.ok_or(CUresult::CUDA_ERROR_NOT_FOUND)?;
        edition
            .catalogue
            .kernel(name)
            .map_err(|error| match error {
                KernelError::NotFound(_) => CUresult::CUDA_ERROR_NOT_FOUND,
                _ => {
                    machine.messages.add(error.to_string());
                    CUresult::CUDA_ERROR_NOT_SUPPORTED
                }
            })?;
        let devices = machine.devices.iter();
        let kernel = Arc::new(LibraryKernel {
            handle: machine.new_handle(),
            library: self.handle,
            name: CString::new(name).map_err(|_| CUresult::CUDA_ERROR_NOT_FOUND)?,
            settings: devices.map(|_| Settings::default()).collect(),
        });
        machine.libraries.add_kernel(&kernel)?;
        kernels.insert(name.to_owned(), Arc::clone(&kernel));
        Ok(kernel)
    }

    /// Names of the kernels that can be executed, in order.
    pub(in crate::device) fn kernel_names(&self) -> Vec<&str> {
        let Some(edition) = self.editions.first() else {
            return Vec::new();
        };
        module::executable(&edition.catalogue)
    }

    /// A kernel as a device has it.
    ///
    /// # Errors
    /// The library has no code for the device.
    pub(in crate::device) fn code(&self, capability: (u32, u32), name: &str) -> Reply<Arc<Kernel>> {
        let kernel = self.edition(capability)?.catalogue.kernel(name);
        kernel.map_err(|_| CUresult::CUDA_ERROR_NOT_FOUND)
    }

    /// A kernel as the machine's first kind of device has it.
    ///
    /// # Errors
    /// There is none of that name.
    pub(in crate::device) fn first_code(&self, name: &str) -> Reply<Arc<Kernel>> {
        let edition = self.editions.first();
        let kernel = edition.and_then(|edition| edition.catalogue.kernel(name).ok());
        kernel.ok_or(CUresult::CUDA_ERROR_NOT_FOUND)
    }

    /// An attribute of a kernel on a device: as set, or the default.
    ///
    /// # Errors
    /// There is no such attribute, or no code for the device.
    pub(in crate::device) fn attribute(
        &self,
        kernel: &LibraryKernel,
        (device, capability): (usize, (u32, u32)),
        attribute: CUfunction_attribute,
    ) -> Reply<c_int> {
        let set = kernel.settings(device);
        if let Some(value) = set.and_then(|set| set.get(attribute)) {
            return Ok(value);
        }
        let edition = self.edition(capability)?;
        let facts = Facts {
            kernel: &*self.code(capability, kernel.name())?,
            constants: edition.constants,
            target: edition.target,
            capability,
        };
        facts.attribute(attribute)
    }

    /// The library's module in a context, loaded now if it is not yet.
    ///
    /// # Errors
    /// The library is gone, or cannot be loaded: the reason is among the messages.
    pub(in crate::device) fn module(
        self: &Arc<Self>,
        machine: &Inner,
        context: &Context,
    ) -> Reply<Arc<Module>> {
        let mut loaded = lock(&self.loaded);
        let loaded = loaded.as_mut().ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
        // Modules go with their contexts.
        loaded.retain(|_, module| machine.modules.module(*module).is_ok());
        if let Some(module) = loaded.get(&context.id) {
            return machine.modules.module(*module);
        }
        let edition = self.edition(context.device.config.capability)?;
        let module = module::load(machine, context, &edition.text, Some(self));
        let module = module.map_err(|(code, text)| {
            machine.messages.add(text);
            code
        })?;
        loaded.insert(context.id, module.handle);
        Ok(module)
    }

    /// Where a managed variable of the library is.
    pub(super) fn managed_block(&self, variable: &Variable) -> Option<&Arc<Block>> {
        self.managed.blocks.get(variable)
    }

    /// Address and size of a managed variable.
    ///
    /// # Errors
    /// There is none of that name.
    pub(in crate::device) fn managed(&self, name: &str) -> Reply<(u64, u64)> {
        const NONE: CUresult = CUresult::CUDA_ERROR_NOT_FOUND;
        let edition = self.editions.first().ok_or(NONE)?;
        // Functions' own variables have no name out here.
        let (_, size) = edition.catalogue.global(name).ok_or(NONE)?;
        // The module's come before those of its functions.
        let block = self.managed_block(&(name.to_owned(), 0)).ok_or(NONE)?;
        Ok((block.address, size))
    }

    /// Ends the library: it is in no registry any more. Waits for the work of the contexts
    /// that have loaded it.
    pub(in crate::device) fn unload(&self, machine: &Inner) {
        let loaded = lock(&self.loaded).take().unwrap_or_default();
        // All before any is waited for, which would be an excuse for the others.
        for module in loaded.values() {
            machine.strict.unloads_now(*module);
        }
        for module in loaded.into_values() {
            let Ok(known) = machine.modules.module(module) else {
                continue;
            };
            let Some(context) = machine.context(known.context) else {
                continue;
            };
            context.wait_idle();
            if let Some(module) = machine.modules.remove(module) {
                module.release(&context);
            }
        }
        self.managed.release(machine);
    }
}
