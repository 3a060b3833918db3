//! Loaded modules and their functions.

use std::collections::HashMap;
use std::ffi::{CString, c_int};
use std::sync::{Arc, Mutex, RwLock, Weak};

use cupola_sys::driver::{CUfunction_attribute, CUresult};

use super::args::Reply;
use super::attributes::{Facts, SHARED_DEFAULT, Settings};
use super::context::Context;
use super::image::ImageError;
use super::library::{Library, LibraryKernel};
use super::machine::{Inner, get};
use super::memory::{Block, allocate, allocate_managed};
use super::strict::Origin;
use super::sync::{lock, read, write};
use crate::exec::{Kernel, KernelError, LoadOptions, Placement, Program, VarSpace};
use crate::ptx;

/// What a `CUmodule` names.
#[derive(Debug)]
pub(super) struct Module {
    pub(super) handle: u64,
    pub(super) context: u64,
    program: Program,
    /// The module's variables.
    blocks: Vec<Arc<Block>>,
    /// The `sm_` number of `.target`.
    target: u32,
    pub(super) made: Origin,
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
pub(super) struct Function {
    pub(super) handle: u64,
    pub(super) module: u64,
    pub(super) context: u64,
    pub(super) kernel: Arc<Kernel>,
    pub(super) name: CString,
    target: u32,
    constants: u64,
    capability: (u32, u32),
    device: usize,
    /// Set by `cuFuncSetAttribute`.
    pub(super) settings: Settings,
    /// For a function of a library: what `cuKernelSetAttribute` set holds for it too.
    of: Option<Arc<LibraryKernel>>,
}

impl Function {
    /// An attribute: the function's own, else its kernel's, else the default.
    ///
    /// # Errors
    /// There is no such attribute.
    pub(super) fn attribute(&self, attribute: CUfunction_attribute) -> Reply<c_int> {
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
    pub(super) fn most_dynamic(&self) -> u64 {
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let most = self.attribute(attribute).unwrap_or(0);
        u64::try_from(most).unwrap_or(0)
    }
}

/// The loaded modules of a machine, and all functions that were asked for.
#[derive(Debug, Default)]
pub(super) struct Modules {
    modules: RwLock<HashMap<u64, Arc<Module>>>,
    functions: RwLock<HashMap<u64, Arc<Function>>>,
}

impl Modules {
    /// How many modules programs have loaded, without those of libraries.
    pub(super) fn count(&self) -> usize {
        let modules = read(&self.modules);
        modules
            .values()
            .filter(|module| !module.is_of_library())
            .count()
    }

    pub(super) fn each(&self, f: impl FnMut(&Arc<Module>)) {
        read(&self.modules).values().for_each(f);
    }

    pub(super) fn module(&self, handle: u64) -> Reply<Arc<Module>> {
        get(&self.modules, &handle).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }

    pub(super) fn function(&self, handle: u64) -> Reply<Arc<Function>> {
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
    pub(super) fn remove(&self, handle: u64) -> Option<Arc<Module>> {
        let module = write(&self.modules).remove(&handle);
        write(&self.functions).retain(|_, function| function.module != handle);
        module
    }

    /// Forgets the modules of a context; their memory goes with the context's.
    pub(super) fn remove_context(&self, context: u64) {
        write(&self.modules).retain(|_, module| module.context != context);
        write(&self.functions).retain(|_, function| function.context != context);
    }
}

/// A module's memory while it is loaded; what was placed is freed if loading fails.
struct Placer<'a> {
    context: &'a Context,
    blocks: Vec<Arc<Block>>,
    kept: bool,
}

impl Placement for Placer<'_> {
    fn place(&mut self, name: &str, space: VarSpace, size: u64, align: u64) -> Option<u64> {
        // A variable without bytes still has an address of its own.
        let len = usize::try_from(size.max(1)).ok()?;
        let block = match space {
            VarSpace::Managed => allocate_managed(self.context, len, Some(false)),
            VarSpace::Global | VarSpace::Const => {
                allocate(self.context, len, Some(space == VarSpace::Const))
            }
        };
        let block = block.ok()?;
        block.set_name(name);
        let address = block.address;
        self.blocks.push(block);
        (address % align.max(1) == 0).then_some(address)
    }

    fn fill(&mut self, address: u64, bytes: &[u8]) {
        let len = bytes.len() as u64;
        if let Some(block) = self.blocks.iter().find(|block| block.holds(address, len)) {
            // SAFETY: the block holds the bytes from that address, and nothing runs yet
            // that could know the address.
            unsafe {
                block
                    .host(address)
                    .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            };
        }
    }
}

impl Drop for Placer<'_> {
    fn drop(&mut self) {
        if !self.kept {
            self.blocks
                .iter()
                .for_each(|block| release(self.context, block));
        }
    }
}

fn release(context: &Context, block: &Block) {
    if block.doom() {
        context.device.account.give(None, block.charge);
        context.device.space.remove(block);
    }
}

/// The newest PTX version that a driver of this version takes.
fn newest_ptx(driver: cupola_sys::Version) -> (u32, u32) {
    // CUDA 12.6 did not raise the PTX version, so 12.6 and later are one behind.
    match (driver.major(), driver.minor()) {
        (10, minor) => (6, minor + 3),
        (12, minor) if minor > 5 => (8, minor - 1),
        (major, minor) => (major.saturating_sub(4), minor),
    }
}

/// The number in `sm_80`, without a letter after it.
fn target_number(target: &str) -> Option<u32> {
    let digits = target
        .strip_prefix("sm_")?
        .trim_end_matches(|c: char| c.is_ascii_alphabetic());
    digits.parse().ok()
}

/// The first kernel by name whose static shared memory no compiler would accept. Only
/// dynamic shared memory can be larger, and only when asked for.
fn too_much_shared(program: &Program) -> Option<(&str, u32)> {
    let sizes = program
        .kernel_names()
        .filter_map(|name| Some((name, program.kernel(name).ok()?.static_shared)));
    sizes.filter(|(_, bytes)| *bytes > SHARED_DEFAULT).min()
}

/// Reads PTX for a device of this capability, as a driver of this version takes it.
///
/// # Errors
/// A code, and what to say in the log.
pub(super) fn parse(
    version: cupola_sys::Version,
    (major, minor): (u32, u32),
    text: &str,
) -> Result<ptx::Module<'_>, ImageError> {
    if !text.contains(".version") {
        let text = "the image is no PTX text: it has no .version".into();
        return Err((CUresult::CUDA_ERROR_INVALID_IMAGE, text));
    }
    let parsed = ptx::Module::parse(text).map_err(|error| invalid(error.to_string()))?;
    let newest = newest_ptx(version);
    if parsed.version > newest {
        let ((ptx, ptx_minor), (most, most_minor)) = (parsed.version, newest);
        let text = format!(
            "PTX {ptx}.{ptx_minor} is newer than this driver, CUDA {version} \
             (PTX {most}.{most_minor})"
        );
        return Err((CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION, text));
    }
    if target_of(&parsed) > major * 10 + minor {
        let target = target_of(&parsed);
        let text = format!("the PTX is for sm_{target}, the device is sm_{major}{minor}");
        return Err(invalid(text));
    }
    Ok(parsed)
}

fn invalid(text: String) -> ImageError {
    (CUresult::CUDA_ERROR_INVALID_PTX, text)
}

/// The `sm_` number of a module's target.
pub(super) fn target_of(module: &ptx::Module<'_>) -> u32 {
    let mut targets = module.target.iter();
    targets.find_map(|name| target_number(name)).unwrap_or(0)
}

/// Bytes of a module's `.const` variables.
pub(super) fn constants_of(module: &ptx::Module<'_>) -> u64 {
    let constants = module
        .vars
        .iter()
        .filter(|var| var.space == ptx::Space::Const && var.linkage != ptx::Linkage::Extern);
    constants.fold(0, |at: u64, var| {
        let at = at.next_multiple_of(u64::from(var.alignment()));
        at.saturating_add(var.size().unwrap_or(0))
    })
}

/// Decodes a module, with strict mode's checks if `checked`, and places its variables.
///
/// # Errors
/// A code, and what to say in the log.
pub(super) fn decode(
    parsed: &mut ptx::Module<'_>,
    placer: &mut dyn Placement,
    checked: bool,
) -> Result<Program, ImageError> {
    if let Some((name, line)) = ptx::link::unresolved_function(parsed) {
        return Err(invalid(format!(
            "PTX line {line}: function {name} is extern and defined nowhere: link the module \
             with the one that defines it (cuLinkAddData)"
        )));
    }
    let options = LoadOptions {
        checked,
        ..LoadOptions::default()
    };
    let program = Program::load_with(parsed, placer, options).map_err(|error| match error {
        crate::exec::LoadError::NoRoom { .. } => {
            (CUresult::CUDA_ERROR_OUT_OF_MEMORY, error.to_string())
        }
        _ => invalid(error.to_string()),
    })?;
    if let Some((name, bytes)) = too_much_shared(&program) {
        return Err(invalid(format!(
            "kernel {name} declares {bytes} bytes of shared memory, more than {SHARED_DEFAULT}"
        )));
    }
    Ok(program)
}

/// Loads PTX text into a context, for a program or for a library.
///
/// # Errors
/// A code, and what to say in the log.
pub(super) fn load(
    machine: &Inner,
    context: &Context,
    text: &str,
    library: Option<&Arc<Library>>,
) -> Result<Arc<Module>, ImageError> {
    let mut parsed = parse(machine.version, context.device.config.capability, text)?;
    let mut placer = Placer {
        context,
        blocks: Vec::new(),
        kept: false,
    };
    let checked = machine.strict.watches_kernels();
    let program = decode(&mut parsed, &mut placer, checked)?;
    placer.kept = true;
    let module = Arc::new(Module {
        handle: machine.new_handle(),
        context: context.handle,
        blocks: std::mem::take(&mut placer.blocks),
        target: target_of(&parsed),
        constants: constants_of(&parsed),
        library: library.map(Arc::downgrade),
        remarks: remarks(&program),
        made: machine.strict.origin(),
        functions: Mutex::default(),
        program,
    });
    write(&machine.modules.modules).insert(module.handle, Arc::clone(&module));
    // The context took along only the modules that were there when it was destroyed.
    if context.is_closed() {
        if let Some(module) = machine.modules.remove(module.handle) {
            module.release(context);
        }
        let text = "the context was destroyed meanwhile".into();
        return Err((CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED, text));
    }
    Ok(module)
}

/// What a module's author may want to know: variables that are taken to be defined here,
/// and kernels that cannot be executed.
pub(super) fn remarks(program: &Program) -> Vec<String> {
    let names = program.kernel_names();
    let mut kernels: Vec<_> = names
        .filter_map(|name| program.kernel(name).err())
        .map(|error| error.to_string())
        .collect();
    kernels.sort_unstable();
    let adopted = program.adopted().iter().map(|name| {
        format!("variable {name} is extern and defined nowhere: it is taken to be defined here")
    });
    adopted.chain(kernels).collect()
}

/// Names of the kernels that can be executed, in order.
pub(super) fn executable(program: &Program) -> Vec<&str> {
    let names = program.kernel_names();
    let mut names: Vec<_> = names.filter(|name| program.kernel(name).is_ok()).collect();
    names.sort_unstable();
    names
}

impl Module {
    /// The function of that name, always the same one.
    ///
    /// # Errors
    /// There is none, or it needs something that the device cannot execute.
    pub(super) fn function(&self, machine: &Inner, name: &str) -> Reply<Arc<Function>> {
        let mut functions = lock(&self.functions);
        if let Some(function) = functions.get(name) {
            return Ok(Arc::clone(function));
        }
        let kernel = self.program.kernel(name).map_err(|error| match error {
            KernelError::NotFound(_) => CUresult::CUDA_ERROR_NOT_FOUND,
            _ => {
                machine.notes.add(error.to_string());
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
    pub(super) fn kernel_names(&self) -> Vec<&str> {
        executable(&self.program)
    }

    /// What was noticed while loading, a line each.
    pub(super) fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Whether it belongs to a library, which unloads it.
    pub(super) fn is_of_library(&self) -> bool {
        self.library.is_some()
    }

    /// Address and size of a variable.
    pub(super) fn global(&self, name: &str) -> Option<(u64, u64)> {
        self.program.global(name)
    }

    /// Frees the module's variables.
    pub(super) fn release(&self, context: &Context) {
        self.blocks.iter().for_each(|block| release(context, block));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Machine;
    use cupola_sys::Version;

    /// Without it, old drivers would take PTX that the real ones refuse.
    #[test]
    fn knows_the_newest_ptx_of_each_driver() {
        let newest = |major, minor| newest_ptx(Version::new(major, minor));
        assert_eq!(newest(10, 0), (6, 3));
        assert_eq!(newest(10, 1), (6, 4));
        assert_eq!(newest(10, 2), (6, 5));
        assert_eq!(newest(11, 0), (7, 0));
        assert_eq!(newest(11, 4), (7, 4));
        assert_eq!(newest(12, 2), (8, 2));
        assert_eq!(newest(12, 6), (8, 5));
        assert_eq!(newest(12, 9), (8, 8));
        assert_eq!(newest(13, 0), (9, 0));
    }

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

    /// Without it, a module whose load outlasts its context would stay for ever.
    #[test]
    fn a_module_needs_its_context() {
        let machine = Machine::builder().build();
        let inner = machine.inner();
        let handle = inner.new_handle();
        let context = inner.create_context(handle, &inner.devices[0], 0, false);
        // What a thread that loads has in its hands when another one destroys the context.
        inner.destroy_context(&context).unwrap();
        let text = ".version 7.0\n.target sm_60\n.address_size 64\n.visible .entry k() { ret; }";
        let (code, _) = load(inner, &context, text, None).unwrap_err();
        assert_eq!(code, CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED);
        assert_eq!(inner.modules.count(), 0);
    }

    /// Without it, `sm_90a` would not be seen as newer than the device.
    #[test]
    fn reads_targets() {
        assert_eq!(target_number("sm_60"), Some(60));
        assert_eq!(target_number("sm_90a"), Some(90));
        assert_eq!(target_number("texmode_unified"), None);
    }
}
