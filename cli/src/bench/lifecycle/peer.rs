//! cudarc's streams, events and current context. It finds a driver of its own by the
//! library's name, so it is measured on a GPU only.

use std::sync::Arc;

use cudarc::driver::{CudaContext, sys};
use cupola_managers::Device;

use super::{Case, Error};
use crate::bench::is_system_driver;

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Peer("cudarc", error.to_string())
}

pub(super) fn cases(
    device: &Device,
    few: u32,
    many: u32,
    cases: &mut Vec<Case>,
    notes: &mut Vec<String>,
) -> Result<(), Error> {
    if !is_system_driver(device)? {
        notes.push("without cudarc's rows: it takes the system's driver only".into());
        return Ok(());
    }
    let context = CudaContext::new(device.ordinal() as usize).map_err(failed)?;
    let bound: Arc<CudaContext> = Arc::clone(&context);
    cases.push(
        Case::new("stream: new and drop, cudarc", few, move || {
            bound.new_stream().is_ok()
        })
        .against("stream: acquire and return"),
    );
    let bound = Arc::clone(&context);
    cases.push(
        Case::new("event: new and drop, cudarc", few, move || {
            let flags = sys::CUevent_flags::CU_EVENT_DISABLE_TIMING;
            bound.new_event(Some(flags)).is_ok()
        })
        .against("event: acquire and return"),
    );
    cases.push(
        Case::new("current context: bind_to_thread, cudarc", many, move || {
            context.bind_to_thread().is_ok()
        })
        .against("current context: check"),
    );
    Ok(())
}
