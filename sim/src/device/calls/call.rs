//! The way into every function of the driver: finds the machine, stops panics, and gives
//! bodies what they all need.

use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use cupola_sys::Version;
use cupola_sys::driver::{CUresult, CUstream, scope};

use crate::device::calls::args::Reply;
use crate::device::calls::logs;
use crate::device::contexts::context::Context;
use crate::device::contexts::current;
use crate::device::contexts::green::Green;
use crate::device::graphs::GLOBAL;
use crate::device::machine::{Inner, OwnedStream};
use crate::device::operations::op::in_host_function;
use crate::device::sync::{lock, read};

/// What the stream handle 0 means to a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) enum DefaultStream {
    Legacy,
    /// The `_ptds` and `_ptsz` forms.
    PerThread,
}

/// When a function may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) enum When {
    /// At any time.
    Always,
    /// After `cuInit`, and not from a function that a stream runs.
    Initialized,
}

/// Functions that end the use of captures of other modes than the relaxed one, apart from those
/// that look at their stream or event first. All were seen on an H200, but for the pitched and
/// managed allocations, the end of a registration, and the libraries, which are like one of these.
const DISTURBING: &[&str] = &[
    "cuGraphInstantiate",
    "cuGraphInstantiate_v2",
    "cuGraphInstantiateWithFlags",
    "cuGraphInstantiateWithParams",
    "cuGraphInstantiateWithParams_ptsz",
    "cuLibraryUnload",
    "cuMemAllocHost_v2",
    "cuMemAllocManaged",
    "cuMemAllocPitch_v2",
    "cuMemAlloc_v2",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemHostAlloc",
    "cuMemHostRegister_v2",
    "cuMemHostUnregister",
    "cuMemPoolTrimTo",
    "cuModuleUnload",
];

/// One call of a driver function.
pub(in crate::device) struct Call<'m> {
    pub(in crate::device) machine: &'m Arc<Inner>,
    default: DefaultStream,
}

/// Runs the body of the function of that name, for the machine that the caller's driver
/// belongs to.
pub(in crate::device) fn enter(
    function: &'static str,
    when: When,
    default: DefaultStream,
    body: impl FnOnce(&Call<'_>) -> Reply,
) -> CUresult {
    let machine = scope().cast::<Inner>();
    if machine.is_null() {
        return CUresult::CUDA_ERROR_NOT_INITIALIZED;
    }
    // SAFETY: these functions are handed out by `Source`, whose scope is `Arc::as_ptr` of its
    // machine, and the driver that is being called keeps that `Arc`. Called by their address
    // alone, or through a source without a scope, they see null. A source with a scope of
    // another kind must not hand them out (`ProcAddress`, Safety). The count is not touched:
    // the copy is never dropped.
    let machine = ManuallyDrop::new(unsafe { Arc::from_raw(machine) });
    let call = Call {
        machine: &machine,
        default,
    };
    let _here = call.machine.strict.enter(function);
    let run = AssertUnwindSafe(|| {
        if when == When::Initialized {
            call.check_permitted()?;
            if let Some(schedule) = &machine.schedule {
                schedule.enter();
            }
            if machine.graphs.captures.any() && DISTURBING.contains(&function) {
                call.check_undisturbed()?;
            }
        }
        body(&call)
    });
    let reply = catch_unwind(run).unwrap_or(Err(CUresult::CUDA_ERROR_UNKNOWN));
    let said = logs::take_said();
    match reply {
        Ok(()) => CUresult::CUDA_SUCCESS,
        // An answer, and no failure.
        Err(CUresult::CUDA_ERROR_NOT_READY) => CUresult::CUDA_ERROR_NOT_READY,
        Err(code) => {
            call.learn_of_faults(code);
            let why = call.fault(code).or(said);
            machine.logs.add(function, code, why.as_deref());
            code
        }
    }
}

impl Call<'_> {
    fn check_permitted(&self) -> Reply {
        if in_host_function(self.machine.id) {
            return Err(CUresult::CUDA_ERROR_NOT_PERMITTED);
        }
        if !self.machine.initialized.load(Ordering::Acquire) {
            return Err(CUresult::CUDA_ERROR_NOT_INITIALIZED);
        }
        Ok(())
    }

    /// Ends the use of the captures that a call which could wait, or change what they need,
    /// disturbs.
    ///
    /// # Errors
    /// There is one.
    pub(in crate::device) fn check_undisturbed(&self) -> Reply {
        let captures = &self.machine.graphs.captures;
        if !captures.any() {
            return Ok(());
        }
        let thread = std::thread::current().id();
        let mode = lock(&self.machine.capture_modes).get(&thread).copied();
        captures.disturb(mode.unwrap_or(GLOBAL))
    }

    /// A program that is told of a fault knows that the context's work is over, whichever call
    /// told it: a wait that comes after the fault is refused and waits for nothing.
    fn learn_of_faults(&self, code: CUresult) {
        if !code.is_sticky() {
            return;
        }
        for context in read(&self.machine.contexts).values() {
            if context.health.check() == Err(code) {
                let strict = &context.device.strict;
                strict.learn(strict.seen_all(context.handle, None).as_ref());
            }
        }
    }

    /// What the current context has faulted with, if it has with this code.
    fn fault(&self, code: CUresult) -> Option<String> {
        if !code.is_sticky() {
            return None;
        }
        let context = self.any_context().ok()?;
        let fault = context.health.why().filter(|fault| fault.code == code)?;
        Some(fault.text.clone())
    }

    /// The current context, which may have faulted. Of a green context it is the primary
    /// context, whose memory, modules and events it shares.
    pub(in crate::device) fn any_context(&self) -> Reply<Arc<Context>> {
        let top = current::top(self.machine)?.ok_or(CUresult::CUDA_ERROR_INVALID_CONTEXT)?;
        if let Some(context) = self.machine.context(top) {
            return Ok(context);
        }
        let green = self.machine.green(top)?;
        green
            .map(|green| Arc::clone(&green.primary))
            .ok_or(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED)
    }

    /// The current green context, if it is one.
    pub(in crate::device) fn green(&self) -> Reply<Option<Arc<Green>>> {
        match current::top(self.machine)? {
            Some(top) => self.machine.green(top),
            None => Ok(None),
        }
    }

    /// A green context by handle; null is the current one.
    pub(in crate::device) fn green_or_current(&self, handle: u64) -> Reply<Option<Arc<Green>>> {
        match handle {
            0 => self.green(),
            handle => self.machine.green(handle),
        }
    }

    /// The current context.
    ///
    /// # Errors
    /// There is none, it is destroyed, or its fault.
    pub(in crate::device) fn context(&self) -> Reply<Arc<Context>> {
        let context = self.any_context()?;
        context.health.check()?;
        Ok(context)
    }

    /// A context by handle; null is the current one.
    pub(in crate::device) fn context_or_current(&self, handle: u64) -> Reply<Arc<Context>> {
        if handle == 0 {
            return self.context();
        }
        let context = self.machine.context_or_primary(handle)?;
        context.health.check()?;
        Ok(context)
    }

    /// A stream and its context. A created stream need not be of the current context; the
    /// default streams are.
    ///
    /// # Errors
    /// There is no such stream, its green context was destroyed, or the fault of its context.
    pub(in crate::device) fn stream(&self, stream: CUstream) -> Reply<OwnedStream> {
        let stream = match (stream.addr(), self.default) {
            (0, DefaultStream::Legacy) | (1, _) => None,
            (0, DefaultStream::PerThread) | (2, _) => Some(0),
            (handle, _) => Some(handle as u64),
        };
        match stream {
            None => {
                let context = self.context()?;
                let legacy = match self.green()? {
                    Some(green) => Arc::clone(&green.legacy),
                    None => context.legacy(),
                };
                Ok((context, legacy))
            }
            Some(0) => {
                let context = self.context()?;
                let green = self.green()?;
                let part = green.map(|green| Arc::clone(&green.part));
                let stream = context.per_thread(part, || self.machine.new_ids())?;
                Ok((context, stream))
            }
            Some(handle) => {
                let found = read(&self.machine.streams).get(&handle).cloned();
                let (context, stream) = found.ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
                if stream.part.as_ref().is_some_and(|part| part.is_closed()) {
                    return Err(self.detached());
                }
                context.health.check()?;
                Ok((context, stream))
            }
        }
    }

    /// What is said of a stream whose green context was destroyed. Drivers up to 13.0 have no
    /// code of its own for that.
    pub(in crate::device) fn detached(&self) -> CUresult {
        match self.machine.version >= Version(13_010) {
            true => CUresult::CUDA_ERROR_STREAM_DETACHED,
            false => CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED,
        }
    }

    /// The stream that a function without a stream argument uses.
    pub(in crate::device) fn default_stream(&self) -> Reply<OwnedStream> {
        self.stream(std::ptr::null_mut())
    }
}
