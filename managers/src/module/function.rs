//! `Function`: a kernel, the resources it needs, and the parameters it declares.

use std::ffi::{CStr, CString};
use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cupola_sys::driver::{
    CUfunction, CUfunction_attribute as Attribute, CUresult, Driver, DriverError, id,
};

use super::uses::Uses;
use super::{FunctionHandle, Module, RawModule};
use crate::driver::ContextCore;
use crate::error::{Cause, Result, Site};
use crate::stream::Stream;
use crate::sync::capacity::Permit;

/// One parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Distance in bytes from the first parameter.
    pub offset: usize,
    /// Size in bytes.
    pub size: usize,
}

/// The resources that a kernel needs (`cuFuncGetAttribute`).
#[doc(alias = "cuFuncGetAttribute")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionAttributes {
    /// Most threads in a block with which it can be launched.
    pub max_threads_per_block: u32,
    /// Shared memory of a block in bytes, beside the dynamic memory that the launch asks for.
    pub shared_bytes: u32,
    /// Constant memory in bytes.
    pub const_bytes: u32,
    /// Local memory of a thread in bytes.
    pub local_bytes: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Version of the PTX it was compiled from, `10 * major + minor`.
    pub ptx_version: u32,
    /// Version of the binary, `10 * major + minor`.
    pub binary_version: u32,
}

/// The most blocks and threads that a kernel may be launched with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaunchLimits {
    /// Blocks in x, y and z.
    pub(crate) grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub(crate) block: [u32; 3],
    /// Threads of a block in all.
    pub(crate) threads: u32,
}

/// What a launch reads that compares no sizes is in its first cache line.
#[repr(C, align(64))]
pub(crate) struct FunctionInner {
    raw: CUfunction,
    /// That of its module.
    core: Arc<ContextCore>,
    /// The number of its module.
    module: u64,
    /// The number of its name in its context's record of launches.
    number: u32,
    limits: LaunchLimits,
    /// At least so many bytes of dynamic shared memory may be asked for; more perhaps, if the driver says
    /// so.
    dynamic_shared: AtomicU32,
    handle: FunctionHandle,
    name: CString,
    /// Its PTX says that it waits for the kernel before it.
    waits: bool,
    attributes: FunctionAttributes,
    /// `None` when the driver cannot tell (before CUDA 12.4).
    parameters: Option<Box<[Parameter]>>,
    _permit: Permit,
}

// SAFETY: a CUfunction may be used from any thread; the rest is Send and Sync.
unsafe impl Send for FunctionInner {}
// SAFETY: no field of it changes, and a CUfunction may be used from any thread.
unsafe impl Sync for FunctionInner {}

impl FunctionInner {
    /// Looks the function up. Its caller keeps the module leased as long as the result is used.
    pub(super) fn get(
        module: &RawModule,
        (handle, permit): (FunctionHandle, Permit),
        name: &CStr,
        site: Site,
    ) -> Result<Self> {
        let core = module.core();
        let driver = core.enter_at(site)?;
        let failed = |call| core.failed_as(Cause::new(call, core.on_device(site)));
        let mut raw: CUfunction = ptr::null_mut();
        // SAFETY: the module is loaded, the name ends with a NUL, `raw` outlives the call.
        unsafe { driver.cuModuleGetFunction(&raw mut raw, module.raw, name.as_ptr()) }
            .map_err(|call| module.explain(failed(call), name))?;
        let attributes = read_attributes(driver, raw).map_err(failed)?;
        let shape = core.shape_limits().map_err(failed)?;
        Ok(Self {
            raw,
            module: module.uses.serial(),
            number: core.launches().name(name),
            core: Arc::clone(core),
            limits: LaunchLimits {
                grid: shape.grid,
                block: shape.block,
                threads: attributes.max_threads_per_block,
            },
            dynamic_shared: AtomicU32::new(0),
            handle,
            name: name.to_owned(),
            waits: module.waits(name),
            attributes,
            parameters: read_parameters(driver, raw).map_err(failed)?,
            _permit: permit,
        })
    }

    pub(super) fn name(&self) -> &CStr {
        &self.name
    }

    /// So many bytes of dynamic shared memory may be asked for.
    pub(super) fn know_dynamic_shared(&self, bytes: u32) {
        // Relaxed: a number alone, which a launch may learn late.
        self.dynamic_shared.fetch_max(bytes, Ordering::Relaxed);
    }
}

fn read_attributes(
    driver: &Driver,
    function: CUfunction,
) -> Result<FunctionAttributes, DriverError> {
    let read = |attribute: Attribute| {
        let mut value = 0;
        // SAFETY: `value` outlives the call, and the function's module is loaded.
        unsafe { driver.cuFuncGetAttribute(&raw mut value, attribute, function) }?;
        Ok(u32::try_from(value).unwrap_or(0))
    };
    Ok(FunctionAttributes {
        max_threads_per_block: read(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        shared_bytes: read(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
        const_bytes: read(Attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)?,
        local_bytes: read(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
        registers: read(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
        ptx_version: read(Attribute::CU_FUNC_ATTRIBUTE_PTX_VERSION)?,
        binary_version: read(Attribute::CU_FUNC_ATTRIBUTE_BINARY_VERSION)?,
    })
}

/// The parameters, one question each until the driver says that there are no more.
fn read_parameters(
    driver: &Driver,
    function: CUfunction,
) -> Result<Option<Box<[Parameter]>>, DriverError> {
    if !driver.has(id::cuFuncGetParamInfo) {
        return Ok(None);
    }
    let mut parameters = Vec::new();
    loop {
        let mut next = Parameter { offset: 0, size: 0 };
        let (offset, size) = (&raw mut next.offset, &raw mut next.size);
        // SAFETY: both outlive the call, and the function's module is loaded.
        match unsafe { driver.cuFuncGetParamInfo(function, parameters.len(), offset, size) } {
            Ok(()) => parameters.push(next),
            Err(call) if call.status() == Some(CUresult::CUDA_ERROR_INVALID_VALUE) => {
                return Ok(Some(parameters.into_boxed_slice()));
            }
            Err(call) => return Err(call),
        }
    }
}

/// A kernel of a loaded module. Clones are the same kernel, and keep its module loaded.
/// Dropping the last value that does waits for its kernels, see [`Module`](super::Module).
#[derive(Clone)]
pub struct Function {
    inner: Arc<FunctionInner>,
    /// Keeps the code loaded.
    module: Module,
    /// The program has said that it waits for the kernel before it.
    assumed_to_wait: bool,
}

impl Function {
    pub(super) fn new(inner: Arc<FunctionInner>, module: Module) -> Self {
        Self {
            inner,
            module,
            assumed_to_wait: false,
        }
    }

    /// The function's handle in its [`FunctionManager`](super::FunctionManager).
    #[must_use]
    pub fn handle(&self) -> FunctionHandle {
        self.inner.handle
    }

    /// The module that it is of.
    #[must_use]
    #[inline]
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// The kernel's name in its module.
    #[must_use]
    pub fn name(&self) -> &CStr {
        &self.inner.name
    }

    /// The resources that it needs.
    #[must_use]
    pub fn attributes(&self) -> FunctionAttributes {
        self.inner.attributes
    }

    /// The parameters it declares; `None` when the driver cannot tell (before CUDA 12.4).
    #[doc(alias = "cuFuncGetParamInfo")]
    #[must_use]
    #[inline]
    pub fn parameters(&self) -> Option<&[Parameter]> {
        self.inner.parameters.as_deref()
    }

    /// The driver's function, for calls that this crate does not make. It is loaded as
    /// long as this value. From now on no error is put down to one launch of the context for
    /// certain ([`Blame`](crate::Blame)): work of other code is not seen.
    #[must_use]
    pub fn as_raw(&self) -> CUfunction {
        self.core().launches().note_unknown();
        self.module.uses().note_unknown();
        self.raw()
    }

    /// Whether the kernel is known to wait for the kernel before it on its stream, as it must if it is to
    /// [start before that one ends](crate::ops::LaunchAttributes::programmatic): it was loaded from PTX,
    /// and executes `griddepcontrol.wait` itself (`cudaGridDependencySynchronize`), or
    /// [`assume_waits`](Self::assume_waits) said so.
    #[must_use]
    pub fn waits_for_predecessor(&self) -> bool {
        self.inner.waits || self.assumed_to_wait
    }

    /// Takes the kernel for one that waits for the kernel before it, where that cannot be seen: its
    /// module was loaded from a binary, or it waits in a function that it calls. It counts for this value
    /// and its clones.
    ///
    /// # Safety
    /// Each thread of the kernel that reads or writes memory executes `griddepcontrol.wait` before it
    /// does so.
    #[must_use]
    pub unsafe fn assume_waits(mut self) -> Self {
        self.assumed_to_wait = true;
        self
    }

    /// Whether its context is the stream's.
    #[inline]
    pub(crate) fn is_in_context_of(&self, stream: &Stream) -> bool {
        let (own, streams) = (&self.inner.core, stream.core());
        // Else it may be one that several execution managers have, or a part of it.
        Arc::ptr_eq(own, streams) || own.current_identity() == streams.current_identity()
    }

    /// The most that it may be launched with.
    #[inline]
    pub(crate) fn limits(&self) -> &LaunchLimits {
        &self.inner.limits
    }

    /// Dynamic shared memory that it may have for certain, without asking the driver.
    #[inline]
    pub(crate) fn known_dynamic_shared(&self) -> u32 {
        self.inner.dynamic_shared.load(Ordering::Relaxed)
    }

    pub(super) fn inner(&self) -> &FunctionInner {
        &self.inner
    }

    /// For calls of this crate, which remember their launches.
    #[inline]
    pub(crate) fn raw(&self) -> CUfunction {
        self.inner.raw
    }

    /// Keeps its code for as long as a launch on the stream, which is made next, may run.
    #[inline]
    #[track_caller]
    pub(crate) fn note_use(&self, stream: &Stream) {
        if !Uses::is_noted(self.inner.module, stream) {
            self.module.uses().note_new(stream);
        }
    }

    /// Whether its module has noted the stream, which is one of its own execution manager's context.
    #[inline]
    pub(crate) fn is_noted(&self, stream: &Stream) -> bool {
        Arc::ptr_eq(&self.inner.core, stream.core()) && Uses::is_noted(self.inner.module, stream)
    }

    #[inline]
    pub(crate) fn number(&self) -> u32 {
        self.inner.number
    }

    #[inline]
    pub(crate) fn core(&self) -> &Arc<ContextCore> {
        self.module.core()
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function")
            .field("name", &self.inner.name)
            .field("parameters", &self.inner.parameters)
            .finish_non_exhaustive()
    }
}
