//! Loading a module: which PTX a device takes, and where it goes in a context.

use std::collections::HashSet;
use std::sync::Arc;

use cupola_sys::driver::CUresult;

use crate::device::contexts::context::Context;
use crate::device::machine::Inner;
use crate::device::modules::attributes::SHARED_DEFAULT;
use crate::device::modules::image::ImageError;
use crate::device::modules::library::Library;
use crate::device::modules::module::Module;
use crate::device::modules::module::placer::Placer;
use crate::device::sync::write;
use crate::exec::{LoadOptions, Placement, Program};
use crate::ptx;

/// The newest PTX version that a driver of this version takes.
fn newest_ptx(driver: cupola_sys::Version) -> (u32, u32) {
    // CUDA 12.6 did not raise the PTX version, so 12.6 and later are one behind.
    match (driver.major(), driver.minor()) {
        (10, minor) => (6, minor + 3),
        (12, minor) if minor > 5 => (8, minor - 1),
        (major, minor) => (major.saturating_sub(4), minor),
    }
}

/// Most bytes of a module's `.const` variables: what devices have for them.
const MOST_CONSTANTS: u64 = 64 << 10;

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
pub(in crate::device) fn parse(
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
    let target = parsed.architecture();
    if target.is_some_and(|target| !target.runs_on((major, minor))) {
        let targets = parsed.target.join(", ");
        let text = format!("the PTX is for {targets}, the device is sm_{major}{minor}");
        return Err(invalid(text));
    }
    Ok(parsed)
}

fn invalid(text: String) -> ImageError {
    (CUresult::CUDA_ERROR_INVALID_PTX, text)
}

/// The `sm_` number of a module's target.
pub(in crate::device) fn target_of(module: &ptx::Module<'_>) -> u32 {
    module.architecture().map_or(0, |target| target.number)
}

/// Bytes of a module's `.const` variables, each counted once.
pub(in crate::device) fn constants_of(module: &ptx::Module<'_>) -> u64 {
    let mut seen = HashSet::new();
    let constants = module.vars.iter().filter(|var| {
        let here = var.space == ptx::Space::Const && var.linkage != ptx::Linkage::Extern;
        // Of several `.weak` or `.common` ones, one is placed.
        here && seen.insert(var.name)
    });
    constants.fold(0, |at: u64, var| {
        let at = at.checked_next_multiple_of(u64::from(var.alignment()));
        let size = var.size().unwrap_or(u64::MAX);
        at.map_or(u64::MAX, |at| at.saturating_add(size))
    })
}

/// Decodes a module, with strict mode's checks if `checked`, and places its variables.
///
/// # Errors
/// A code, and what to say in the log.
pub(in crate::device) fn decode(
    parsed: &mut ptx::Module<'_>,
    placer: &mut dyn Placement,
    checked: bool,
) -> Result<Program, ImageError> {
    let unresolved = ptx::link::unresolved_function(parsed);
    if let Some((name, line)) = unresolved.map_err(|error| invalid(error.to_string()))? {
        return Err(invalid(format!(
            "PTX line {line}: function {name} is extern and defined nowhere: link the module \
             with the one that defines it (cuLinkAddData)"
        )));
    }
    let constants = constants_of(parsed);
    if constants > MOST_CONSTANTS {
        return Err(invalid(format!(
            "the module declares {constants} bytes of constant memory, more than {MOST_CONSTANTS}"
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
pub(in crate::device) fn load(
    machine: &Inner,
    context: &Context,
    text: &str,
    library: Option<&Arc<Library>>,
) -> Result<Arc<Module>, ImageError> {
    let mut parsed = parse(machine.version, context.device.config.capability, text)?;
    let mut placer = Placer::new(context, library.map(AsRef::as_ref));
    let checked = machine.strict.watches_kernels();
    let program = decode(&mut parsed, &mut placer, checked)?;
    let module = Arc::new(Module {
        handle: machine.new_handle(),
        context: context.handle,
        blocks: placer.keep(),
        target: target_of(&parsed),
        constants: constants_of(&parsed),
        library: library.map(Arc::downgrade),
        remarks: remarks(&program),
        made: machine.strict.origin(),
        functions: std::sync::Mutex::default(),
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
pub(in crate::device) fn remarks(program: &Program) -> Vec<String> {
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
pub(in crate::device) fn executable(program: &Program) -> Vec<&str> {
    let names = program.kernel_names();
    let mut names: Vec<_> = names.filter(|name| program.kernel(name).is_ok()).collect();
    names.sort_unstable();
    names
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

    /// Without it, a weak constant that is declared twice would count twice.
    #[test]
    fn constants_count_once() {
        let count = |text: &str| {
            let text = format!(".version 7.0\n.target sm_60\n.address_size 64\n{text}");
            constants_of(&ptx::Module::parse(&text).unwrap())
        };
        assert_eq!(
            count(".const .u8 a; .const .u64 b; .extern .const .u64 c;"),
            16
        );
        assert_eq!(count(".weak .const .u32 a; .weak .const .u32 a;"), 4);
    }
}
