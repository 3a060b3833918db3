//! Kernel launches: the adapter between streams and the execution engine.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, RwLock};
use std::time::Instant;

use cupola_sys::driver::CUresult;

use crate::device::calls::args::Reply;
use crate::device::contexts::health::{Fault, Health};
use crate::device::machine::Device;
use crate::device::memory::{Access, Accessor, Heap, Place, Space};
use crate::device::modules::attributes::SHARED_MOST;
use crate::device::modules::module::Function;
use crate::device::strict::{Bounds, Limit, Watched, Watcher};
use crate::device::sync::{read, write};
use crate::exec::{
    self, BadFree, FaultKind, GlobalMemory, Grid, LaunchConfig, LaunchError, LaunchOptions,
    MemRange, Slice, Stepper, Turn,
};

/// A kernel with its arguments and its grid.
#[derive(Clone, Debug)]
pub(in crate::device) struct Launch {
    pub(in crate::device) function: Arc<Function>,
    pub(in crate::device) config: LaunchConfig,
    pub(in crate::device) params: Vec<u8>,
    pub(in crate::device) cooperative: bool,
    /// Instead of its stream's; lower is higher.
    pub(in crate::device) priority: Option<i32>,
    /// Where the kernel's `malloc` takes from, if its module calls it.
    pub(in crate::device) heap: Option<Arc<Heap>>,
    /// The multiprocessors of its stream's green context, by number.
    pub(in crate::device) places: Option<Arc<[u32]>>,
    /// How many of its blocks fit on the multiprocessors at once.
    pub(in crate::device) resident: u64,
}

impl Launch {
    /// Has the engine check the launch, so that a bad one is an error of the call.
    ///
    /// # Errors
    /// An invalid value; the text says which limit it is.
    pub(in crate::device) fn check(&self) -> Result<(), (CUresult, String)> {
        let nothing = Nothing;
        let options = LaunchOptions {
            max_shared: SHARED_MOST,
            ..LaunchOptions::default()
        };
        let kernel = &self.function.kernel;
        let grid = Grid::new(kernel, self.config, &self.params, &nothing, options);
        grid.map(drop)
            .map_err(|error| (CUresult::CUDA_ERROR_INVALID_VALUE, error.to_string()))
    }

    pub(in crate::device) fn run(self, device: &Device, health: &Health) -> Result<(), Fault> {
        let started = Instant::now();
        let kernel = &self.function.kernel;
        let watcher = self.watcher(device, Watched::default());
        let heap = self.heap.as_deref();
        let memory = Memory::new(device, health, heap, Held::default(), watcher.as_ref());
        let host = Listener(device);
        let options = self.options(device, health, &host, watcher.as_ref());
        let result = exec::launch(kernel, self.config, &self.params, &memory, options);
        drop(memory);
        if let Some(watcher) = watcher {
            watcher.end();
        }
        health.pass(started, device.engines.pace.launch);
        result.map(drop).map_err(|error| fault(device, &error))
    }

    /// Runs one slice. `held` keeps between slices what the kernel has touched, and what is known of
    /// it.
    pub(in crate::device) fn step(
        &self,
        held: &mut Held,
        stepper: &mut Stepper,
        turn: Turn,
        device: &Device,
        health: &Health,
    ) -> Result<Slice, Fault> {
        let kernel = &self.function.kernel;
        let watcher = self.watcher(device, std::mem::take(&mut held.watched));
        let heap = self.heap.as_deref();
        let memory = Memory::new(device, health, heap, std::mem::take(held), watcher.as_ref());
        let host = Listener(device);
        let options = self.options(device, health, &host, watcher.as_ref());
        let grid = Grid::new(kernel, self.config, &self.params, &memory, options);
        let slice = grid.and_then(|grid| grid.step(stepper, turn));
        *held = memory.into_held();
        if let Some(watcher) = watcher {
            match &slice {
                Ok(slice) if !slice.grid_ended => held.watched = watcher.pause(),
                _ => watcher.end(),
            }
        }
        slice.map_err(|error| fault(device, &error))
    }

    fn watcher<'a>(&'a self, device: &'a Device, watched: Watched) -> Option<Watcher<'a>> {
        let (kernel, strict) = (&self.function.kernel, &device.strict);
        let has_heap = self.heap.is_some();
        strict.watcher(&device.space, &kernel.name, &self.params, has_heap, watched)
    }

    fn options<'a>(
        &'a self,
        device: &'a Device,
        health: &'a Health,
        host: &'a Listener<'a>,
        watcher: Option<&'a Watcher<'a>>,
    ) -> LaunchOptions<'a> {
        LaunchOptions {
            workers: device.workers,
            cancel: Some(health.stop_flag()),
            cooperative: self.cooperative,
            resident: self.resident,
            time_limit: device.config.kernel_time_limit,
            multiprocessors: device.config.multiprocessors,
            places: self.places.as_deref(),
            max_shared: SHARED_MOST,
            host,
            watch: watcher.map(|watcher| watcher as &dyn exec::Watch),
            ..LaunchOptions::default()
        }
    }
}

/// What kernels print goes to the program, what is said of them to the machine's messages.
struct Listener<'a>(&'a Device);

impl exec::Host for Listener<'_> {
    fn print(&self, text: &[u8]) {
        self.0.output.print(text);
    }

    fn set_conditional(&self, handle: u64, value: u32) -> bool {
        let condition = self.0.graphs.condition(handle);
        let known = condition.is_some();
        condition
            .into_iter()
            .for_each(|condition| condition.set(value));
        known
    }

    fn remark(&self, text: &str) {
        self.0.messages.add(text.to_owned());
    }
}

fn fault(device: &Device, error: &LaunchError) -> Fault {
    let code = match error {
        LaunchError::Fault(fault) if fault.kind == FaultKind::Cancelled => return Fault::stop(),
        LaunchError::Fault(fault) => {
            device
                .strict
                .kernel_fault(&device.space, device.ordinal, fault);
            code(&fault.kind)
        }
        _ => CUresult::CUDA_ERROR_LAUNCH_FAILED,
    };
    Fault {
        code,
        text: explain(device, error),
    }
}

/// The error's text. For reserved addresses it says what is wrong with them.
fn explain(device: &Device, error: &LaunchError) -> String {
    let why = match error {
        LaunchError::Fault(fault) if fault.kind == FaultKind::IllegalAddress => {
            // A load faults only where there is no access at all.
            let who = Some((device.ordinal, Access::Write));
            let mapped = device.space.mapped();
            fault.address.and_then(|at| mapped.why_not(at, 1, who))
        }
        _ => None,
    };
    why.map_or_else(|| error.to_string(), |why| format!("{error}: {why}"))
}

/// The sticky code of a kernel's fault.
fn code(kind: &FaultKind) -> CUresult {
    match kind {
        FaultKind::IllegalAddress => CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
        FaultKind::MisalignedAddress => CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
        FaultKind::IllegalInstruction => CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
        FaultKind::InvalidPc => CUresult::CUDA_ERROR_INVALID_PC,
        FaultKind::StackOverflow => CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR,
        FaultKind::Assert(_) => CUresult::CUDA_ERROR_ASSERT,
        FaultKind::Deadlock(_) | FaultKind::Budget | FaultKind::TimeLimit(_) => {
            CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
        }
        _ => CUresult::CUDA_ERROR_LAUNCH_FAILED,
    }
}

/// The memory that a running kernel sees. Whatever it has touched stays until it ends,
/// even if the program frees it meanwhile.
struct Memory<'a> {
    space: &'a Space,
    accessor: Accessor<'a>,
    /// The launch keeps it, and so does the context.
    heap: Option<&'a Heap>,
    held: RwLock<Held>,
    /// Which blocks of allocators it may touch.
    bounds: Option<&'a Bounds<'a>>,
}

impl<'a> Memory<'a> {
    fn new(
        device: &'a Device,
        health: &'a Health,
        heap: Option<&'a Heap>,
        held: Held,
        watcher: Option<&'a Watcher<'a>>,
    ) -> Self {
        Self {
            space: &device.space,
            accessor: Accessor::new(device, health),
            heap,
            held: RwLock::new(held),
            bounds: watcher.and_then(Watcher::bounds),
        }
    }

    fn into_held(self) -> Held {
        let held = self.held.into_inner();
        held.unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// What a launch keeps between its slices: what it has touched stays alive.
#[derive(Debug, Default)]
pub(in crate::device) struct Held {
    /// By first address.
    places: BTreeMap<u64, Place>,
    /// Freed by the program, with another place at the same first address since then.
    /// Workers may still have them in their caches.
    retired: Vec<Place>,
    /// For strict mode.
    watched: Watched,
}

// SAFETY: a range's place is kept in `held`, which lives as long as `self` and from which
// nothing is taken out, and so does its memory. Device blocks start at multiples of 512 with
// host memory aligned to 16; page-locked memory is at its own address; a view of mapped
// memory keeps what it shows accessible, and both its addresses start at a page. What the heap
// gives is at multiples of 16 in a device block that `heap` keeps until it goes itself, freed
// or not. Copies access the bytes through raw pointers.
unsafe impl GlobalMemory for Memory<'_> {
    fn lookup(&self, address: u64) -> Option<MemRange> {
        match self
            .bounds
            .map_or(Limit::None, |bounds| bounds.limit(address))
        {
            Limit::None => self.around(address),
            Limit::Block(base, len) => part(self.around(address)?, base, len),
            Limit::Nothing => None,
        }
    }

    fn stray(&self, address: u64) -> Option<MemRange> {
        let limit = self.bounds?.limit(address);
        (limit != Limit::None).then(|| self.around(address))?
    }

    fn allocate(&self, bytes: u64) -> Option<u64> {
        self.heap?.allocate(bytes)
    }

    fn release(&self, address: u64) -> Result<(), BadFree> {
        let heap = self.heap.ok_or(BadFree::NotAllocated)?;
        heap.release(address)
    }
}

/// What of a range lies within others' bytes.
fn part(range: MemRange, base: u64, len: u64) -> Option<MemRange> {
    let first = base.max(range.base);
    let end = (base + len).min(range.base + range.len);
    let skipped = usize::try_from(first - range.base).ok()?;
    Some(MemRange {
        base: first,
        len: end.checked_sub(first)?,
        host: range.host.wrapping_add(skipped),
        ..range
    })
}

impl Memory<'_> {
    /// All memory around an address that is contiguous there.
    fn around(&self, address: u64) -> Option<MemRange> {
        if let Some(heap) = self.heap.filter(|heap| heap.holds(address)) {
            return heap.range(address);
        }
        let below = (Bound::Unbounded, Bound::Included(address));
        let known = read(&self.held)
            .places
            .range(below)
            .next_back()
            .map(|(_, place)| range(place, self.accessor));
        if let Some(known) = known
            && address - known.base < known.len
        {
            return Some(known);
        }
        let place = self.space.find(address)?;
        if self.accessor.access(&place) == Access::None {
            return None;
        }
        let found = range(&place, self.accessor);
        let mut held = write(&self.held);
        if let Some(old) = held.places.insert(found.base, place) {
            held.retired.push(old);
        }
        Some(found)
    }
}

fn range(place: &Place, accessor: Accessor<'_>) -> MemRange {
    match place {
        Place::Device(block) => MemRange {
            base: block.address,
            len: block.len,
            host: block.host(block.address),
            writable: !block.constant && accessor.access(place) == Access::Write,
        },
        Place::Pinned(range) => MemRange {
            base: range.address,
            len: range.len,
            host: range.host(range.address),
            writable: accessor.access(place) == Access::Write,
        },
        Place::Mapped(view) => MemRange {
            base: view.base,
            len: view.len,
            host: view.host(view.base),
            writable: accessor.access(place) == Access::Write,
        },
    }
}

/// No memory, for checks that run nothing.
struct Nothing;

// SAFETY: there is no range.
unsafe impl GlobalMemory for Nothing {
    fn lookup(&self, _: u64) -> Option<MemRange> {
        None
    }
}

/// The parameter buffer from `kernelParams`: one pointer for each parameter.
///
/// # Safety
/// A non-null `pointers` has an element for each parameter, and each non-null element
/// points to as many bytes as its parameter has.
pub(in crate::device) unsafe fn gather(
    function: &Function,
    pointers: *const *mut u8,
) -> Reply<Vec<u8>> {
    let kernel = &function.kernel;
    let mut buffer = vec![0; kernel.param_bytes as usize];
    for (index, param) in kernel.params.iter().enumerate() {
        if pointers.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        // SAFETY: there is an element for each parameter.
        let pointer = unsafe { pointers.add(index).read() };
        if pointer.is_null() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let (offset, size) = (param.offset as usize, param.size as usize);
        // SAFETY: the element points to the parameter's bytes.
        let bytes = unsafe { std::slice::from_raw_parts(pointer, size) };
        let place = buffer.get_mut(offset..offset + size);
        place
            .ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?
            .copy_from_slice(bytes);
    }
    Ok(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::memory::Peers;

    /// Without it, a worker could write through a cached pointer to memory that was freed
    /// when another range took its first address.
    #[test]
    fn a_replaced_place_stays_until_the_launch_ends() {
        let space = Space::default();
        let mut bytes = vec![0u8; 64];
        let address = bytes.as_mut_ptr().expose_provenance() as u64;
        let peers = Peers::default();
        let memory = Memory {
            space: &space,
            accessor: Accessor::of(0, &peers),
            heap: None,
            held: RwLock::default(),
            bounds: None,
        };
        let pin = |len| {
            let start = std::ptr::with_exposed_provenance_mut(address as usize);
            space.register_host(start, len, 0, 1, 0).unwrap();
        };
        pin(16);
        assert_eq!(memory.lookup(address).map(|range| range.len), Some(16));
        let first = space.remove_host(address, false).unwrap();
        pin(64);
        assert_eq!(memory.lookup(address + 32).map(|range| range.len), Some(64));
        let first = {
            let weak = Arc::downgrade(&first);
            drop(first);
            weak
        };
        assert!(first.upgrade().is_some(), "the launch has let go of it");
        drop(memory);
        assert!(first.upgrade().is_none(), "nothing needs it any more");
    }
}
