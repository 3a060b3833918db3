//! A driver for the models: contexts, streams and events that are only counted. As CUDA does,
//! it gives the address of a destroyed object to the next that is made. It reports the mistakes
//! that a driver need not forgive: a context that is not there made current, a green one on two
//! threads. Work on streams is counted as if there were one stream; it completes when a thread asks
//! for it.

use std::cell::RefCell;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr;
use std::sync::Arc;

use cupola_sys::Symbol;
use cupola_sys::driver::{
    CUcontext, CUdevice, CUdeviceptr, CUevent, CUgreenCtx, CUresult, CUstream, Driver, ProcAddress,
    cuuint32_t, pfn,
};
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use loom::sync::{Mutex, MutexGuard};

use crate::driver::{ContextCore, Ledger, Ownership};
use crate::error::Site;
use crate::models::peers::switch;
use crate::sync::per_thread;

#[derive(Default)]
pub(super) struct Device {
    /// Address of a context, and a number that no other one has.
    contexts: Vec<(usize, u64)>,
    /// Addresses of green contexts, and on how many threads each is current.
    greens: Vec<(usize, u32)>,
    objects: Vec<usize>,
    /// Events that were recorded, and how much work they cover.
    recorded: Vec<(usize, u64)>,
    /// How much work has completed.
    completed: u64,
    /// The stream of each launch of a graph, in their order. All of them use one memory.
    pub(super) launches: Vec<usize>,
    /// Streams and events that come after launches, and after how many.
    after: Vec<(usize, usize)>,
    /// Address of the primary context, and how often it is retained.
    primary: Option<(usize, u32)>,
    /// Contexts so far.
    pub(super) made: u64,
    /// Streams and events so far.
    pub(super) objects_made: usize,
    /// Calls that no program may make.
    mistakes: Vec<&'static str>,
}

loom::lazy_static! {
    static ref DEVICE: Mutex<Device> = Mutex::new(Device::default());
    /// How much work was put on streams. Not under the lock: that would put threads in an
    /// order in which the driver does not put them.
    static ref WORK: AtomicU64 = AtomicU64::new(0);
}

per_thread! {
    /// The contexts of this thread, the current one last: address and number.
    static CURRENT: RefCell<Vec<(usize, u64)>> = RefCell::new(Vec::new());
}

/// The device of this run of a model.
pub(super) fn device() -> MutexGuard<'static, Device> {
    DEVICE.lock().unwrap()
}

/// Puts work on the stream: how much there has been then.
pub(super) fn put_work() -> u64 {
    WORK.fetch_add(1, Ordering::Relaxed) + 1
}

/// Launches a graph, of several that use one memory: it must come after all that were launched before.
pub(super) fn launch_graph(stream: CUstream) {
    let mut device = device();
    let launched = device.launches.len();
    if device.launches_before(stream.addr()) < launched {
        device
            .mistakes
            .push("a graph was launched that does not wait for one before it");
    }
    device.launches.push(stream.addr());
    device.order_after(stream.addr(), launched + 1);
}

/// How much work has completed.
pub(super) fn completed() -> u64 {
    device().completed
}

impl Device {
    fn context_at(&self, address: usize) -> Option<u64> {
        let found = self.contexts.iter().find(|context| context.0 == address);
        found.map(|context| context.1)
    }

    fn make_context(&mut self) -> usize {
        let used: Vec<_> = self.contexts.iter().map(|context| context.0).collect();
        let address = free(&used);
        self.made += 1;
        self.contexts.push((address, self.made));
        address
    }

    fn make(&mut self) -> usize {
        let address = free(&self.objects);
        self.objects.push(address);
        self.objects_made += 1;
        address
    }

    fn destroy(&mut self, address: usize) -> CUresult {
        match self.objects.iter().position(|&object| object == address) {
            Some(place) => {
                self.objects.remove(place);
                self.recorded.retain(|event| event.0 != address);
                self.after.retain(|it| it.0 != address);
                CUresult::CUDA_SUCCESS
            }
            None => {
                self.mistakes
                    .push("an object was destroyed that is not there");
                CUresult::CUDA_ERROR_INVALID_HANDLE
            }
        }
    }

    /// How many launches of graphs the next work of a stream comes after, or what waits for an event.
    fn launches_before(&self, object: usize) -> usize {
        let found = self.after.iter().find(|it| it.0 == object);
        found.map_or(0, |it| it.1)
    }

    fn order_after(&mut self, object: usize, launches: usize) {
        self.after.retain(|it| it.0 != object);
        self.after.push((object, launches));
    }

    /// Another context is current on a thread.
    fn switched(&mut self, from: usize, to: usize) {
        if from == to {
            return;
        }
        for (address, threads) in &mut self.greens {
            *threads -= u32::from(*address == from);
            *threads += u32::from(*address == to);
            if *threads > 1 {
                self.mistakes
                    .push("a green context is current on two threads");
            }
        }
    }

    /// Nothing is left, and no call was wrong.
    pub(super) fn check_empty(&self) {
        assert_eq!(self.mistakes, [""; 0]);
        assert_eq!((self.contexts.len(), self.objects.len()), (0, 0));
    }
}

/// The lowest address that is not in use.
fn free(used: &[usize]) -> usize {
    (1..)
        .map(|n| n * 0x1000)
        .find(|address| !used.contains(address))
        .unwrap()
}

fn new_context() -> usize {
    device().make_context()
}

/// A green context in another one, as a context manager makes one.
pub(super) fn green(
    driver: &Driver,
    ledger: &Arc<Ledger>,
    of: &Arc<ContextCore>,
) -> Arc<ContextCore> {
    let address = new_context();
    device().greens.push((address, 0));
    let raw: CUcontext = ptr::without_provenance_mut(address);
    let ownership = Ownership::green(raw.cast(), 1);
    let parent = Some(Arc::clone(of));
    let ledger = Arc::clone(ledger);
    // SAFETY: made just now, for this value alone.
    unsafe {
        ContextCore::new(
            driver.clone(),
            raw,
            ownership,
            parent,
            (0, 0),
            ledger,
            Site::here(),
        )
    }
    .unwrap()
}

/// A context of this device, as a context manager makes one.
pub(super) fn context(driver: &Driver, ledger: &Arc<Ledger>) -> Arc<ContextCore> {
    context_on(0, driver, ledger)
}

/// A context of the device with this ordinal.
pub(super) fn context_on(ordinal: u32, driver: &Driver, ledger: &Arc<Ledger>) -> Arc<ContextCore> {
    let raw = ptr::without_provenance_mut(new_context());
    let ledger = Arc::clone(ledger);
    // SAFETY: made just now, for this value alone.
    unsafe {
        ContextCore::new(
            driver.clone(),
            raw,
            Ownership::Created,
            None,
            (ordinal as CUdevice, ordinal),
            ledger,
            Site::here(),
        )
    }
    .unwrap()
}

/// The primary context, retained once more as a context manager does.
pub(super) fn primary(driver: &Driver, ledger: &Arc<Ledger>) -> Arc<ContextCore> {
    let mut raw = ptr::null_mut();
    // SAFETY: the place outlives the call.
    unsafe { driver.cuDevicePrimaryCtxRetain(&raw mut raw, 0) }.unwrap();
    let ledger = Arc::clone(ledger);
    // SAFETY: retained just now, for this value.
    unsafe {
        ContextCore::new(
            driver.clone(),
            raw,
            Ownership::Primary,
            None,
            (0, 0),
            ledger,
            Site::here(),
        )
    }
    .unwrap()
}

/// A context that another execution manager has made, and keeps until this one is in it.
pub(super) fn borrowed(
    driver: &Driver,
    ledger: &Arc<Ledger>,
    made: &ContextCore,
) -> Arc<ContextCore> {
    let (raw, ownership) = (made.raw(), Ownership::Borrowed(Arc::new(())));
    let ledger = Arc::clone(ledger);
    // SAFETY: the caller's, which leaves it to this one when it ends.
    unsafe {
        ContextCore::new(
            driver.clone(),
            raw,
            ownership,
            None,
            (0, 0),
            ledger,
            Site::here(),
        )
    }
    .unwrap()
}

/// The number of the context that is current on this thread, if it is alive.
pub(super) fn current() -> Option<u64> {
    let (address, number) = top();
    (device().context_at(address) == Some(number)).then_some(number)
}

/// How many contexts this thread's stack has.
pub(super) fn height() -> usize {
    CURRENT.with(|stack| stack.borrow().len())
}

fn top() -> (usize, u64) {
    CURRENT.with(|stack| stack.borrow().last().copied().unwrap_or_default())
}

/// Changes this thread's stack, and tells the device which context is current now.
fn change<T>(change: impl FnOnce(&mut Vec<(usize, u64)>) -> T) -> T {
    let (from, _) = top();
    let value = CURRENT.with(|stack| change(&mut stack.borrow_mut()));
    let (to, _) = top();
    device().switched(from, to);
    value
}

/// The number of a context that is alive.
pub(super) fn number_of(core: &ContextCore) -> u64 {
    device().context_at(core.raw().addr()).unwrap()
}

unsafe extern "C" fn version(version: *mut c_int) -> CUresult {
    // SAFETY: the caller gives the address of a place for the result, as for the CUDA function.
    unsafe { *version = 12_040 };
    CUresult::CUDA_SUCCESS
}

/// A context that is to be current.
fn alive(context: CUcontext) -> Option<(usize, u64)> {
    let address = context.addr();
    let mut device = device();
    let found = device.context_at(address);
    if found.is_none() {
        device
            .mistakes
            .push("a context was made current that is not there");
    }
    Some((address, found?))
}

unsafe extern "C" fn set_current(context: CUcontext) -> CUresult {
    let to = match context.is_null() {
        true => None,
        false => match alive(context) {
            None => return CUresult::CUDA_ERROR_INVALID_CONTEXT,
            found => found,
        },
    };
    change(|stack| {
        stack.pop();
        stack.extend(to);
    });
    CUresult::CUDA_SUCCESS
}

unsafe extern "C" fn push_current(context: CUcontext) -> CUresult {
    let Some(to) = alive(context) else {
        return CUresult::CUDA_ERROR_INVALID_CONTEXT;
    };
    change(|stack| stack.push(to));
    CUresult::CUDA_SUCCESS
}

unsafe extern "C" fn pop_current(context: *mut CUcontext) -> CUresult {
    let Some((address, _)) = change(Vec::pop) else {
        return CUresult::CUDA_ERROR_INVALID_CONTEXT;
    };
    // SAFETY: the caller gives the address of a place for the result, as for the CUDA function.
    unsafe { *context = ptr::without_provenance_mut(address) };
    CUresult::CUDA_SUCCESS
}

unsafe extern "C" fn get_current(context: *mut CUcontext) -> CUresult {
    let (address, _) = top();
    // SAFETY: the caller gives the address of a place for the result, as for the CUDA function.
    unsafe { *context = ptr::without_provenance_mut(address) };
    CUresult::CUDA_SUCCESS
}

unsafe extern "C" fn synchronize() -> CUresult {
    match current() {
        Some(_) => {
            let covered = WORK.load(Ordering::Relaxed);
            let mut device = device();
            device.completed = device.completed.max(covered);
            CUresult::CUDA_SUCCESS
        }
        None => CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED,
    }
}

unsafe extern "C" fn destroy_context(context: CUcontext) -> CUresult {
    let mut device = device();
    let before = device.contexts.len();
    device.contexts.retain(|known| known.0 != context.addr());
    if device.contexts.len() == before {
        device
            .mistakes
            .push("a context was destroyed that is not there");
    }
    if device.contexts.is_empty() && !device.objects.is_empty() {
        device
            .mistakes
            .push("a context went before what was made in it");
    }
    CUresult::CUDA_SUCCESS
}

unsafe extern "C" fn retain_primary(context: *mut CUcontext, _: CUdevice) -> CUresult {
    let mut device = device();
    let (address, count) = match device.primary {
        Some(there) => there,
        None => (device.make_context(), 0),
    };
    device.primary = Some((address, count + 1));
    // SAFETY: the caller gives the address of a place for the result, as for the CUDA function.
    unsafe { *context = ptr::without_provenance_mut(address) };
    CUresult::CUDA_SUCCESS
}

unsafe extern "C" fn release_primary(_: CUdevice) -> CUresult {
    let mut device = device();
    let Some((address, count)) = device.primary else {
        device
            .mistakes
            .push("a primary context was released that is not retained");
        return CUresult::CUDA_ERROR_INVALID_CONTEXT;
    };
    device.primary = (count > 1).then_some((address, count - 1));
    if count == 1 {
        device.contexts.retain(|known| known.0 != address);
    }
    CUresult::CUDA_SUCCESS
}

unsafe extern "C" fn destroy_green(green: CUgreenCtx) -> CUresult {
    device().greens.retain(|known| known.0 != green.addr());
    // SAFETY: `destroy_context` has no condition of its own: it looks at the address alone.
    unsafe { destroy_context(green.cast()) }
}

unsafe extern "C" fn create_event(event: *mut CUevent, _: c_uint) -> CUresult {
    if current().is_none() {
        return CUresult::CUDA_ERROR_INVALID_CONTEXT;
    }
    // SAFETY: the caller gives the address of a place for the result, as for the CUDA function.
    unsafe { *event = ptr::without_provenance_mut(device().make()) };
    CUresult::CUDA_SUCCESS
}

unsafe extern "C" fn destroy_event(event: CUevent) -> CUresult {
    device().destroy(event.addr())
}

unsafe extern "C" fn record_event(event: CUevent, stream: CUstream) -> CUresult {
    let covered = WORK.load(Ordering::Relaxed);
    let mut device = device();
    let objects = [event.addr(), stream.addr()];
    if !objects.iter().all(|object| device.objects.contains(object)) {
        device.mistakes.push("a record with what is not there");
    }
    device.recorded.retain(|known| known.0 != event.addr());
    device.recorded.push((event.addr(), covered));
    let launches = device.launches_before(stream.addr());
    device.order_after(event.addr(), launches);
    CUresult::CUDA_SUCCESS
}

unsafe extern "C" fn wait_event(stream: CUstream, event: CUevent, _: c_uint) -> CUresult {
    let mut device = device();
    let before = [stream.addr(), event.addr()].map(|it| device.launches_before(it));
    device.order_after(stream.addr(), before[0].max(before[1]));
    CUresult::CUDA_SUCCESS
}

unsafe extern "C" fn query_event(event: CUevent) -> CUresult {
    let mut device = device();
    let known = device.recorded.iter().find(|known| known.0 == event.addr());
    if let Some(&(_, covered)) = known {
        device.completed = device.completed.max(covered);
    }
    CUresult::CUDA_SUCCESS
}

unsafe extern "C" fn synchronize_event(event: CUevent) -> CUresult {
    // SAFETY: `query_event` has no condition of its own: it looks at the address alone.
    unsafe { query_event(event) }
}

unsafe extern "C" fn synchronize_stream(_: CUstream) -> CUresult {
    let covered = WORK.load(Ordering::Relaxed);
    let mut device = device();
    device.completed = device.completed.max(covered);
    CUresult::CUDA_SUCCESS
}

unsafe extern "C" fn create_stream(stream: *mut CUstream, _: c_uint, _: c_int) -> CUresult {
    if current().is_none() {
        return CUresult::CUDA_ERROR_INVALID_CONTEXT;
    }
    // SAFETY: the caller gives the address of a place for the result, as for the CUDA function.
    unsafe { *stream = ptr::without_provenance_mut(device().make()) };
    CUresult::CUDA_SUCCESS
}

unsafe extern "C" fn destroy_stream(stream: CUstream) -> CUresult {
    device().destroy(stream.addr())
}

/// The stream has come this far at once: one of the times at which it may.
unsafe extern "C" fn write_value(
    _: CUstream,
    address: CUdeviceptr,
    value: cuuint32_t,
    _: c_uint,
) -> CUresult {
    let word: *const AtomicU32 = ptr::with_exposed_provenance(address as usize);
    // SAFETY: the caller gives the address of a word of the models, which it keeps.
    unsafe { &*word }.store(value, Ordering::Release);
    CUresult::CUDA_SUCCESS
}

struct Source;

// SAFETY: each function has the type of the name that it answers for, and is always there.
unsafe impl ProcAddress for Source {
    fn proc_address(&self, symbol: &Symbol) -> *const c_void {
        match symbol.as_str() {
            "cuDriverGetVersion" => version as pfn::cuDriverGetVersion as _,
            "cuCtxSetCurrent" => set_current as pfn::cuCtxSetCurrent as _,
            "cuCtxGetCurrent" => get_current as pfn::cuCtxGetCurrent as _,
            "cuCtxPushCurrent_v2" => push_current as pfn::cuCtxPushCurrent_v2 as _,
            "cuCtxPopCurrent_v2" => pop_current as pfn::cuCtxPopCurrent_v2 as _,
            "cuDevicePrimaryCtxRetain" => retain_primary as pfn::cuDevicePrimaryCtxRetain as _,
            "cuDevicePrimaryCtxRelease_v2" => {
                release_primary as pfn::cuDevicePrimaryCtxRelease_v2 as _
            }
            "cuGreenCtxDestroy" => destroy_green as pfn::cuGreenCtxDestroy as _,
            "cuCtxSynchronize" => synchronize as pfn::cuCtxSynchronize as _,
            "cuDeviceCanAccessPeer" => switch::can_access as pfn::cuDeviceCanAccessPeer as _,
            "cuCtxEnablePeerAccess" => switch::enable as pfn::cuCtxEnablePeerAccess as _,
            "cuCtxDisablePeerAccess" => switch::disable as pfn::cuCtxDisablePeerAccess as _,
            "cuCtxDestroy_v2" => destroy_context as pfn::cuCtxDestroy_v2 as _,
            "cuEventCreate" => create_event as pfn::cuEventCreate as _,
            "cuEventDestroy_v2" => destroy_event as pfn::cuEventDestroy_v2 as _,
            "cuEventRecord" => record_event as pfn::cuEventRecord as _,
            "cuEventQuery" => query_event as pfn::cuEventQuery as _,
            "cuEventSynchronize" => synchronize_event as pfn::cuEventSynchronize as _,
            "cuStreamWaitEvent" => wait_event as pfn::cuStreamWaitEvent as _,
            "cuStreamSynchronize" => synchronize_stream as pfn::cuStreamSynchronize as _,
            "cuStreamCreateWithPriority" => create_stream as pfn::cuStreamCreateWithPriority as _,
            "cuStreamWriteValue32_v2" => write_value as pfn::cuStreamWriteValue32_v2 as _,
            "cuStreamDestroy_v2" => destroy_stream as pfn::cuStreamDestroy_v2 as _,
            _ => ptr::null(),
        }
    }

    fn describe(&self) -> String {
        "a driver of the models".into()
    }
}

/// A driver of this device.
pub(super) fn driver() -> Driver {
    // SAFETY: `Source` keeps its contract.
    unsafe { Driver::from_source(Box::new(Source)) }.unwrap()
}
