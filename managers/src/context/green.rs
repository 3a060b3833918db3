//! Green contexts: some of a device's multiprocessors for some of its work.

use std::ptr;
use std::sync::{Arc, PoisonError};

use cupola_sys::driver::{
    CUcontext, CUdevResource, CUdevResourceDesc, CUdevResourceType,
    CUdevSmResourceSplitByCount_flags, CUdevice_attribute, CUgreenCtx, CUgreenCtxCreate_flags,
    CUstream, CUstream_flags, DriverError,
};

use super::{Context, ContextManager};
use crate::driver::{ContextCore, Kind, Ownership, current, forgive_shutdown};
use crate::error::{Error, Result, Site};

/// The multiprocessors that a green context is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GreenConfig {
    /// At least so many multiprocessors. The driver rounds up to what the architecture can
    /// part: on Hopper to multiples of 8, before it to even numbers from 4 on (compute
    /// capability 8.x) or 2 (7.x).
    pub multiprocessors: u32,
    /// Parts the device finer, in twos, and gives up features that need multiprocessors which are
    /// scheduled together: large clusters of blocks, from Hopper on.
    pub fine: bool,
}

impl GreenConfig {
    /// At least so many multiprocessors, in the architecture's usual portions.
    #[must_use]
    pub const fn at_least(multiprocessors: u32) -> Self {
        Self {
            multiprocessors,
            fine: false,
        }
    }
}

/// The contexts of [`ContextManager::green_partition`]. No two of them share a multiprocessor, and
/// together they have all of the device's that can be given out.
#[derive(Debug)]
pub struct GreenPartition {
    /// The groups, in the driver's order.
    pub groups: Vec<Context>,
    /// The multiprocessors that are in no group; `None` when there are none.
    pub rest: Option<Context>,
}

impl ContextManager {
    /// A context whose kernels run on some of the device's multiprocessors only:
    /// `green_split(1, config)`.
    ///
    /// # Errors
    /// As [`green_split`](Self::green_split).
    #[doc(alias = "cuGreenCtxCreate")]
    #[track_caller]
    pub fn green(&self, config: GreenConfig) -> Result<Context> {
        let mut parts = self.green_split(1, config)?;
        parts.pop().ok_or_else(|| none(1, config, 0))
    }

    /// `count` contexts with multiprocessors of their own: no two of them share one, so that
    /// kernels of one do not wait for room that kernels of another have. Contexts of
    /// different calls may share. [`Context::multiprocessors`] says how many each was given.
    ///
    /// They are parts of the device's primary context, which is [retained](Self::primary) for
    /// them: memory, events and modules of any of these contexts may be used on the streams
    /// of any other, and an error that loses one loses all. Memory bandwidth and caches are
    /// shared.
    ///
    /// NVIDIA's documentation says that a green context is current to one thread at a time,
    /// and that nothing in the driver orders calls of several threads in one. So operations in
    /// one are made with the primary context current, and any number of threads may make them:
    /// its streams alone are its own. There is no default stream of a green context here.
    ///
    /// (`cuDeviceGetDevResource`, `cuDevSmResourceSplitByCount`, and for each
    /// `cuDevResourceGenerateDesc`, `cuGreenCtxCreate`, `cuCtxFromGreenCtx`; for a stream
    /// `cuGreenCtxStreamCreate`. A blocking stream, and any before CUDA 12.5, is made with the
    /// green context current to one thread for so long. The driver has no call that frees a
    /// descriptor before CUDA 13.1.)
    ///
    /// # Errors
    /// [`Error::Unsupported`] before CUDA 12.4; [`Error::Invalid`] naming the field when the
    /// device cannot be parted so; [`Error::Full`] when the manager has room for no more contexts;
    /// [`Error::ShutDown`], [`Error::Forked`]; what the driver returned. No green context is left then.
    #[doc(alias = "cuDeviceGetDevResource")]
    #[doc(alias = "cuDevSmResourceSplitByCount")]
    #[doc(alias = "cuDevResourceGenerateDesc")]
    #[doc(alias = "cuGreenCtxCreate")]
    #[doc(alias = "cuCtxFromGreenCtx")]
    #[doc(alias = "cuGreenCtxStreamCreate")]
    #[track_caller]
    pub fn green_split(&self, count: u32, config: GreenConfig) -> Result<Vec<Context>> {
        let mut split = self.split(count, config, Rest::Unused)?;
        self.greens_of(&split.parent, &mut split.groups)
    }

    /// All multiprocessors of the device: `count` contexts as [`green_split`](Self::green_split) makes
    /// them, and one with those that are left. A [`StreamPool`](crate::stream::StreamPool) of each gives
    /// its streams to many callers.
    ///
    /// # Errors
    /// As [`green_split`](Self::green_split).
    #[doc(alias = "cuDevSmResourceSplitByCount")]
    #[track_caller]
    pub fn green_partition(&self, count: u32, config: GreenConfig) -> Result<GreenPartition> {
        let mut split = self.split(count, config, Rest::Used)?;
        let has_rest = multiprocessors_of(&split.rest) > 0;
        if has_rest {
            split.groups.push(split.rest);
        }
        let mut groups = self.greens_of(&split.parent, &mut split.groups)?;
        let rest = has_rest.then(|| groups.pop()).flatten();
        Ok(GreenPartition { groups, rest })
    }

    /// Groups of the device's multiprocessors, of which no context is made yet.
    #[track_caller]
    fn split(&self, count: u32, config: GreenConfig, wanted: Rest) -> Result<Split> {
        self.not_forked()?;
        if count == 0 {
            return Err(Error::invalid("count", "0 contexts are none"));
        }
        let site = Site::here();
        let mut whole = CUdevResource::default();
        let kind = CUdevResourceType::CU_DEV_RESOURCE_TYPE_SM;
        // SAFETY: `whole` outlives the call.
        unsafe {
            self.driver
                .cuDeviceGetDevResource(self.device, &raw mut whole, kind)
        }
        .map_err(|call| self.failed(call, site))?;
        let all = multiprocessors_of(&whole);
        if config.multiprocessors == 0 || config.multiprocessors > all {
            let asked = config.multiprocessors;
            let problem = format!("{asked} is not from 1 to the device's {all}");
            return Err(Error::invalid("multiprocessors", problem));
        }
        // More groups than multiprocessors there never are: the array stays small.
        if count > all {
            return Err(none(count, config, all));
        }
        let primary = self.primary()?;
        let parent = Arc::clone(primary.core());
        let mut groups = vec![CUdevResource::default(); count as usize];
        let mut rest = CUdevResource::default();
        let mut made = count;
        let flags = match config.fine {
            true => {
                CUdevSmResourceSplitByCount_flags::CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING.0
            }
            false => 0,
        };
        let (first, least) = (groups.as_mut_ptr(), config.multiprocessors);
        let input = &raw const whole;
        let left = match wanted {
            Rest::Used => &raw mut rest,
            Rest::Unused => ptr::null_mut(),
        };
        // SAFETY: there are `made` places in `groups`; all outlive the call.
        let split = unsafe {
            let driver = parent.driver();
            driver.cuDevSmResourceSplitByCount(first, &raw mut made, input, left, flags, least)
        };
        parent.check(split)?;
        if made < count {
            return Err(none(count, config, all));
        }
        Ok(Split {
            parent,
            groups,
            rest,
        })
    }

    /// A green context of each group, or none.
    #[track_caller]
    fn greens_of(
        &self,
        parent: &Arc<ContextCore>,
        groups: &mut [CUdevResource],
    ) -> Result<Vec<Context>> {
        let mut greens = Vec::with_capacity(groups.len());
        for group in groups {
            match self.green_of(parent, group) {
                Ok(green) => greens.push(green),
                Err(error) => {
                    for green in greens {
                        // No other thread has the handle: it cannot be stale.
                        let _ = self.release(green.handle());
                    }
                    return Err(error);
                }
            }
        }
        Ok(greens)
    }

    /// A green context with the multiprocessors of one group.
    #[track_caller]
    fn green_of(&self, parent: &Arc<ContextCore>, group: &mut CUdevResource) -> Result<Context> {
        let site = Site::here();
        self.insert(|| {
            let driver = parent.driver();
            let mut descriptor: CUdevResourceDesc = ptr::null_mut();
            // SAFETY: both outlive the call.
            let described =
                unsafe { driver.cuDevResourceGenerateDesc(&raw mut descriptor, group, 1) };
            parent.check(described)?;
            let mut green: CUgreenCtx = ptr::null_mut();
            let flags = CUgreenCtxCreate_flags::CU_GREEN_CTX_DEFAULT_STREAM.0;
            // SAFETY: `green` outlives the call; the descriptor is of this device.
            let made =
                unsafe { driver.cuGreenCtxCreate(&raw mut green, descriptor, self.device, flags) };
            parent.check(made)?;
            let mut raw: CUcontext = ptr::null_mut();
            // SAFETY: `raw` outlives the call, and `green` is alive.
            let converted = unsafe { driver.cuCtxFromGreenCtx(&raw mut raw, green) };
            if let Err(call) = converted {
                // The first error is the one to tell.
                let error = parent.failed(call);
                // SAFETY: made above, and known to no other code.
                let destroyed = forgive_shutdown(unsafe { driver.cuGreenCtxDestroy(green) });
                if let Err(call) = destroyed {
                    parent.note(call, parent.site());
                    self.ledger.add(Kind::Abandoned, 1);
                }
                return Err(error);
            }
            let ownership = Ownership::green(green, multiprocessors_of(group));
            let parent = Some(Arc::clone(parent));
            // SAFETY: alive, of this device, and ended by this value alone.
            unsafe { self.core(raw, ownership, parent, site) }
        })
    }
}

/// Whether the multiprocessors are asked for that are in no group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Used,
    Unused,
}

/// Groups of multiprocessors, and those in none.
struct Split {
    /// The primary context's, which is retained for green contexts.
    parent: Arc<ContextCore>,
    groups: Vec<CUdevResource>,
    rest: CUdevResource,
}

impl ContextCore {
    /// A new stream of the context, which is current if it is not green.
    pub(crate) fn create_stream(
        &self,
        flags: CUstream_flags,
        priority: i32,
        site: Site,
    ) -> Result<CUstream, DriverError> {
        let driver = self.driver();
        let mut raw: CUstream = ptr::null_mut();
        let Some(part) = self.green_part() else {
            // SAFETY: `raw` outlives the call, and the context is current.
            let made =
                unsafe { driver.cuStreamCreateWithPriority(&raw mut raw, flags.0, priority) };
            return made.map(|()| raw);
        };
        if flags == CUstream_flags::CU_STREAM_NON_BLOCKING {
            // SAFETY: `raw` outlives the call, and the green context is alive.
            let made =
                unsafe { driver.cuGreenCtxStreamCreate(&raw mut raw, part.raw, flags.0, priority) };
            match made {
                // A driver of CUDA 12.4.
                Err(DriverError::Missing { .. }) => {}
                made => return made.map(|()| raw),
            }
        }
        let one = (!mutant!("green_context_on_any_thread")).then(|| {
            let one = part.current.lock();
            one.unwrap_or_else(PoisonError::into_inner)
        });
        // SAFETY: the green context is alive, and current to no other thread.
        unsafe { driver.cuCtxPushCurrent_v2(self.raw()) }?;
        // SAFETY: `raw` outlives the call, and the green context is current.
        let made = unsafe { driver.cuStreamCreateWithPriority(&raw mut raw, flags.0, priority) };
        let mut popped: CUcontext = ptr::null_mut();
        // SAFETY: `popped` outlives the call.
        let taken_off = unsafe { driver.cuCtxPopCurrent_v2(&raw mut popped) };
        drop(one);
        if let Err(call) = taken_off {
            // The next operation of this thread sets the primary context in its place.
            current::forget();
            self.note(call, site);
        }
        made.map(|()| raw)
    }
}

impl Context {
    /// How many multiprocessors kernels run on: of a green context the ones that it was given, else
    /// all of the device (`cuDeviceGetAttribute`).
    ///
    /// # Errors
    /// What the driver returned.
    #[doc(alias = "cuDeviceGetAttribute")]
    #[track_caller]
    pub fn multiprocessors(&self) -> Result<u32> {
        let core = self.core();
        if let Some(count) = core.multiprocessors() {
            return Ok(count);
        }
        let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        let mut count = 0;
        core.healthy()?;
        // SAFETY: `count` outlives the call.
        let asked = unsafe {
            core.driver()
                .cuDeviceGetAttribute(&raw mut count, attribute, core.device())
        };
        core.check(asked)?;
        Ok(u32::try_from(count).unwrap_or(0))
    }
}

/// There are not so many groups.
fn none(count: u32, config: GreenConfig, all: u32) -> Error {
    let asked = config.multiprocessors;
    let problem =
        format!("the device's {all} multiprocessors do not make {count} groups of {asked} or more");
    Error::invalid("count", problem)
}

fn multiprocessors_of(resource: &CUdevResource) -> u32 {
    if resource.type_ != CUdevResourceType::CU_DEV_RESOURCE_TYPE_SM {
        return 0;
    }
    // SAFETY: the resource's type tells which field of the union was written: this one.
    unsafe { resource.__bindgen_anon_1.sm.smCount }
}
