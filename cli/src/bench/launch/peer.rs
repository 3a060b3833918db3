//! cudarc's launches, with and without its event tracking. It finds a driver of its own by the library's
//! name, so it is measured on a GPU only.

use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg as _};
use cudarc::nvrtc::Ptx;
use cupola_managers::Device;

use super::LaunchError;
use super::form::Form;
use super::measure::PTX;
use crate::bench::is_system_driver;

const SHAPE: LaunchConfig = LaunchConfig {
    grid_dim: (1, 1, 1),
    block_dim: (32, 1, 1),
    shared_mem_bytes: 0,
};

fn failed(error: impl std::fmt::Display) -> LaunchError {
    LaunchError::Peer("cudarc", error.to_string())
}

pub(super) fn add(
    device: &Device,
    forms: &mut Vec<Form<'_>>,
    notes: &mut Vec<String>,
) -> Result<(), LaunchError> {
    if !is_system_driver(device)? {
        notes.push("without cudarc's rows: it takes the system's driver only".into());
        return Ok(());
    }
    forms.push(form(device, "cudarc")?);
    forms.push(form(device, "cudarc without event tracking")?);
    Ok(())
}

fn form<'m>(device: &Device, name: &'static str) -> Result<Form<'m>, LaunchError> {
    let context = CudaContext::new(device.ordinal() as usize).map_err(failed)?;
    if name != "cudarc" {
        // SAFETY: the memory of this context is used on one stream alone.
        unsafe { context.disable_event_tracking() };
    }
    let stream = context.new_stream().map_err(failed)?;
    let module = context.load_module(Ptx::from_src(PTX)).map_err(failed)?;
    let function = module.load_function("nothing").map_err(failed)?;
    let x = stream.alloc_zeros::<f32>(1024).map_err(failed)?;
    let mut y = stream.alloc_zeros::<f32>(1024).map_err(failed)?;
    let waited = stream.clone();
    let launch = move |n| {
        let (n, a, b) = (u64::from(n), 2.0_f32, 3_u32);
        let mut builder = stream.launch_builder(&function);
        builder.arg(&n).arg(&a).arg(&b).arg(&x).arg(&mut y);
        // SAFETY: the arguments are those of the kernel, which touches nothing.
        unsafe { builder.launch(SHAPE) }.map_err(failed)?;
        Ok(())
    };
    let settle = move || waited.synchronize().map_err(failed);
    Ok(Form::new(name, launch, settle))
}
