//! Events.

use std::ffi::c_uint;
use std::sync::Arc;

use cupola_sys::driver::*;

use crate::device::api::contexts::context::pointer;
use crate::device::api::functions;
use crate::device::calls::args::{Out, Reply};
use crate::device::calls::call::Call;
use crate::device::contexts::context::Context;
use crate::device::graphs::NodeKind;
use crate::device::streams::event::Event;
use crate::device::sync::write;

fn create(call: &Call<'_>, event: Out<CUevent>, flags: c_uint) -> Reply {
    use CUevent_flags as F;
    event.check()?;
    let known = F::CU_EVENT_BLOCKING_SYNC.0 | F::CU_EVENT_DISABLE_TIMING.0;
    let shared = F::CU_EVENT_INTERPROCESS.0;
    // An event for other processes must be without timing.
    let timed = flags & F::CU_EVENT_DISABLE_TIMING.0 == 0;
    if flags & !(known | shared) != 0 || flags & shared != 0 && timed {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    if flags & shared != 0 {
        let text = "an event for other processes: the software device has none";
        call.machine.messages.add(text.to_owned());
        return Err(CUresult::CUDA_ERROR_NOT_SUPPORTED);
    }
    let context = call.context()?;
    let handle = call.machine.new_handle();
    let created = Event::new(context.handle, Arc::clone(&context.health), flags);
    write(&call.machine.events).insert(handle, Arc::new(created));
    // The context took along only the events that were there when it was destroyed.
    if context.is_closed() {
        write(&call.machine.events).remove(&handle);
        return Err(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED);
    }
    event.set(pointer(handle))
}

/// The event, of a context that works.
pub(in crate::device::api) fn get(call: &Call<'_>, event: CUevent) -> Reply<Arc<Event>> {
    let event = call.machine.event(event.addr() as u64)?;
    event.health.check()?;
    Ok(event)
}

/// Streams that wait for the event go on waiting for its record.
fn destroy(call: &Call<'_>, event: CUevent) -> Reply {
    call.machine.strict.destroys_event(&*get(call, event)?);
    let removed = write(&call.machine.events).remove(&(event.addr() as u64));
    removed.map(drop).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
}

/// The event, which must be of this context.
pub(in crate::device::api) fn of_context(
    call: &Call<'_>,
    event: CUevent,
    context: &Context,
) -> Reply<Arc<Event>> {
    let event = get(call, event)?;
    if event.context != context.handle {
        let what = "the event is of another context than the stream";
        call.machine.strict.foreign(what);
        return Err(CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    Ok(event)
}

pub(in crate::device::api) fn record(call: &Call<'_>, event: CUevent, stream: CUstream) -> Reply {
    let (context, stream) = call.stream(stream)?;
    let event = of_context(call, event, &context)?;
    context.record(&stream, &event)
}

fn record_with_flags(call: &Call<'_>, event: CUevent, stream: CUstream, flags: c_uint) -> Reply {
    if !is_external(call, stream, flags)? {
        return record(call, event, stream);
    }
    let (context, stream) = call.stream(stream)?;
    of_context(call, event, &context)?;
    context.capture(&stream, NodeKind::Record(event.addr() as u64))
}

/// Whether the event is to be a node of its own, which is for captured streams.
pub(super) fn is_external(call: &Call<'_>, stream: CUstream, flags: c_uint) -> Reply<bool> {
    match CUevent_wait_flags_enum(flags) {
        CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT => Ok(false),
        CUevent_wait_flags::CU_EVENT_WAIT_EXTERNAL => {
            match call.stream(stream)?.1.capture.is_taken() {
                true => Ok(true),
                false => Err(CUresult::CUDA_ERROR_ILLEGAL_STATE),
            }
        }
        _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    }
}

fn query(call: &Call<'_>, event: CUevent) -> Reply {
    let event = get(call, event)?;
    event.check_uncaptured()?;
    call.check_undisturbed()?;
    let Some(record) = event.latest() else {
        return event.health.check();
    };
    if let Some(schedule) = &call.machine.schedule {
        if !record.is_settled() {
            schedule.poll();
        }
        record
            .settled_at()
            .into_iter()
            .for_each(|at| schedule.observe(at));
    }
    // A fault is noted before what it stopped is settled: asked in this order, a question during one is told of it.
    let is_settled = record.is_settled();
    event.health.check()?;
    if is_settled {
        call.machine.strict.learn(record.clock());
        Ok(())
    } else {
        Err(CUresult::CUDA_ERROR_NOT_READY)
    }
}

fn synchronize(call: &Call<'_>, event: CUevent) -> Reply {
    let event = get(call, event)?;
    event.check_uncaptured()?;
    call.check_undisturbed()?;
    if let Some(record) = event.latest() {
        match &call.machine.schedule {
            Some(schedule) => {
                schedule.drive(|| record.is_settled());
                record
                    .settled_at()
                    .into_iter()
                    .for_each(|at| schedule.observe(at));
            }
            None => record.help(),
        }
        call.machine.strict.learn(record.clock());
    }
    if let Some(context) = call.machine.context(event.context) {
        context.device.account.synchronized();
    }
    event.health.check()
}

fn elapsed(call: &Call<'_>, milliseconds: Out<f32>, start: CUevent, end: CUevent) -> Reply {
    milliseconds.check()?;
    let (start, end) = (get(call, start)?, get(call, end)?);
    start.check_uncaptured()?;
    end.check_uncaptured()?;
    let mut time = end.elapsed_since(&start);
    if let Some(schedule) = &call.machine.schedule {
        if time == Err(CUresult::CUDA_ERROR_NOT_READY) {
            schedule.poll();
            // A fault comes before what it stopped.
            start.health.check()?;
            end.health.check()?;
            time = end.elapsed_since(&start);
        }
        if time.is_ok() {
            let records = [start.latest(), end.latest()].into_iter().flatten();
            let times = records.filter_map(|record| record.settled_at());
            times.for_each(|at| schedule.observe(at));
        }
    }
    milliseconds.set(time?)
}

functions! {
    Initialized {
        cuEventCreate: (event: *mut CUevent, flags: c_uint) = create;
        cuEventDestroy: (event: CUevent) = destroy;
        cuEventDestroy_v2: (event: CUevent) = destroy;
        cuEventRecord, cuEventRecord_ptsz: (event: CUevent, stream: CUstream) = record;
        cuEventRecordWithFlags, cuEventRecordWithFlags_ptsz: (event: CUevent, stream: CUstream,
            flags: c_uint) = record_with_flags;
        cuEventQuery: (event: CUevent) = query;
        cuEventSynchronize: (event: CUevent) = synchronize;
        cuEventElapsedTime: (milliseconds: *mut f32, start: CUevent, end: CUevent) = elapsed;
        cuEventElapsedTime_v2: (milliseconds: *mut f32, start: CUevent, end: CUevent) = elapsed;
    }
}
