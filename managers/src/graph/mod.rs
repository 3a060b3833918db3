//! Graphs: work that is put on a stream once and launched any number of times by one call.
//!
//! [`Graph::capture`] turns the work that a closure puts on a stream into a graph; a [`GraphExec`] made
//! of it is launched. What the work uses is kept for as long as it may run: buffers, functions,
//! functions on the host, memory that was allocated in the capture. A buffer that is dropped
//! meanwhile is freed when the last graph that uses it is gone and its launches are over.
//!
//! A capture has a stream of its own, which no other thread has: so nothing gets into it by
//! accident. Operations that a capture forbids are refused on that stream before a driver
//! call is made ([`Error::Capturing`]), so they do not end it.

mod branch;
mod build;
mod calls;
mod capture;
mod condition;
mod exec;
mod group;
mod host;
mod node;
pub(crate) mod order;
mod params;
mod raw;
mod staging;
mod update;

use std::ffi::CString;
use std::fmt;
use std::path::Path;
use std::ptr;
use std::sync::{Arc, Mutex};

use cupola_sys::driver::flags::{GraphDebugDotFlags, GraphInstantiateFlags};

pub use build::{DeviceNode, GraphBuilder};
pub use capture::{Capture, CaptureConfig, CaptureMode};
pub use condition::{Condition, ConditionStart};
pub use exec::GraphExec;
pub use group::GraphGroup;
pub use node::{Node, NodeKind};
pub use staging::{Input, Output};
pub use update::{Update, UpdateRefusal};

use crate::driver::{ContextCore, RelaxedCapture};
use crate::error::{Error, Result};
use crate::ops::synchronize;
use crate::stream::{GraphResources, Stream};
use crate::sync;
use node::NamedNodes;
use order::{LaunchOrder, join_order};
use raw::RawGraph;
use staging::Staging;

/// Work that can be launched once it is [instantiated](Self::instantiate) (`CUgraph`).
///
/// ```
/// use cupola_managers::graph::{CaptureConfig, Graph};
/// use cupola_managers::{Error, ExecutionManager, PoolConfig, ops};
///
/// # let driver = cupola_sim::Machine::builder().build().driver();
/// let context = ExecutionManager::new(driver)?.devices().get(0)?.primary()?;
/// let stream = context.streams().create(Default::default())?;
/// let pool = context.memory_pool(PoolConfig::limit(64 << 20))?;
/// let mut out = pool.zeros::<u32>(1000, &stream)?;
///
/// let (graph, ()) = Graph::capture(&context, CaptureConfig::default().memory(&pool), |capture| {
///     let mut scratch = pool.allocate::<u32>(1000, capture.stream())?;
///     ops::fill(&mut scratch, 7, capture.stream())?;
///     ops::copy(&scratch, &mut out, capture.stream())?;
///     Ok::<_, Error>(())
/// })?;
/// let mut executable = graph.instantiate()?;
/// executable.launch(&stream)?;
/// assert_eq!(out.to_vec(&stream)?, [7; 1000]);
/// # Ok::<_, Error>(())
/// ```
pub struct Graph {
    raw: Arc<RawGraph>,
    resources: Arc<GraphResources>,
    /// Pinned memory that the graph copies from and to, which goes to its executable.
    staging: Mutex<Option<Staging>>,
    /// Of a graph that shares its memory with others.
    order: Option<Arc<LaunchOrder>>,
    /// Of a graph whose nodes have names.
    nodes: Option<Arc<NamedNodes>>,
}

impl Graph {
    fn new(raw: &Arc<RawGraph>, resources: Arc<GraphResources>, staging: Staging) -> Self {
        let staging = Mutex::new(Some(staging));
        Self {
            raw: Arc::clone(raw),
            resources,
            staging,
            order: None,
            nodes: None,
        }
    }

    /// Its launches are in this order with others.
    ///
    /// # Errors
    /// [`Error::Invalid`] when they are in another one.
    fn join_order(&mut self, order: &Arc<LaunchOrder>) -> Result<()> {
        join_order(&mut self.order, Some(order))
    }

    fn core(&self) -> &Arc<ContextCore> {
        self.raw.core()
    }

    /// Refuses a graph whose copies are from or to pinned memory, which its executable has.
    fn refuse_pinned(&self) -> Result<()> {
        self.core().not_forked()?;
        let has_none = |staging: &Staging| staging.is_empty();
        match sync::lock(&self.staging).as_ref().is_some_and(has_none) {
            true => Ok(()),
            false => {
                let problem = "it copies from or to pinned memory, which goes with its executable";
                Err(Error::invalid("graph", problem))
            }
        }
    }

    /// Number of its nodes (`cuGraphGetNodes`).
    ///
    /// # Errors
    /// What the driver returned; [`Error::Poisoned`], [`Error::Forked`].
    #[doc(alias = "cuGraphGetNodes")]
    #[track_caller]
    pub fn nodes(&self) -> Result<usize> {
        let driver = self.core().enter()?;
        let mut count = 0;
        // SAFETY: the graph is alive; without a place for nodes only their number is written.
        let asked = unsafe {
            driver.cuGraphGetNodes(self.raw.lock().get(), ptr::null_mut(), &raw mut count)
        };
        self.core().check(asked)?;
        Ok(count)
    }

    /// Makes an executable of the graph (`cuGraphInstantiateWithFlags`), which takes tens of
    /// microseconds and some memory of the device that counts for no pool.
    ///
    /// # Errors
    /// [`Error::Invalid`] where the graph copies from or to pinned memory that another executable has;
    /// what the driver returned: a graph that allocates memory itself has one executable at a time. [`Error::Poisoned`], [`Error::Forked`].
    #[doc(alias = "cuGraphInstantiate")]
    #[doc(alias = "cuGraphInstantiateWithFlags")]
    #[track_caller]
    pub fn instantiate(&self) -> Result<GraphExec> {
        self.instantiate_with(GraphInstantiateFlags::empty())
    }

    /// As [`instantiate`](Self::instantiate), with flags of the driver.
    ///
    /// # Errors
    /// As [`instantiate`](Self::instantiate); [`Error::Unsupported`] for any flag by a driver before
    /// CUDA 11.4.
    #[doc(alias = "cuGraphInstantiateWithFlags")]
    #[track_caller]
    pub fn instantiate_with(&self, flags: GraphInstantiateFlags) -> Result<GraphExec> {
        // In a fork another thread may have left the lock taken.
        self.core().not_forked()?;
        let mut staging = sync::lock(&self.staging);
        if staging.is_none() {
            let problem = "its pinned memory is with another executable: capture it once more";
            return Err(Error::invalid("graph", problem));
        }
        let driver = self.core().enter()?;
        let mut raw = ptr::null_mut();
        let made = {
            let _relaxed = RelaxedCapture::uncounted(driver);
            let graph = self.raw.lock();
            // SAFETY: the graph is alive, and `raw` outlives the call.
            unsafe { calls::instantiate(driver, &raw mut raw, graph.get(), flags) }
        };
        self.core().check(made)?;
        let has_memory = staging.as_ref().is_some_and(|staging| !staging.is_empty());
        let staging = match has_memory {
            true => staging.take(),
            false => None,
        };
        let resources = Arc::clone(&self.resources);
        Ok(GraphExec::new(
            raw,
            self.core(),
            resources,
            staging.unwrap_or_default(),
            self.order.clone(),
            self.nodes.clone(),
        ))
    }

    /// Makes an executable, uploads it on `stream`, waits for that, and looks how much less of the device is
    /// free then (`cuMemGetInfo`): [`GraphExec::device_memory`]. No driver tells what an executable takes. So
    /// the figure is an estimate, in the steps in which the driver gets memory for many objects: 0 for an
    /// executable that found room there, and what other users of the device do meanwhile is in it.
    ///
    /// # Errors
    /// As [`instantiate_with`](Self::instantiate_with) and [`GraphExec::upload`]; the error of work on
    /// `stream`.
    #[doc(alias = "cuGraphUpload")]
    #[doc(alias = "cuMemGetInfo")]
    #[track_caller]
    pub fn instantiate_measured(
        &self,
        flags: GraphInstantiateFlags,
        stream: &Stream,
    ) -> Result<GraphExec> {
        let before = self.free_memory()?;
        let mut executable = self.instantiate_with(flags)?;
        executable.upload(stream)?;
        synchronize(stream)?;
        let after = self.free_memory()?;
        executable.note_memory(before.saturating_sub(after));
        Ok(executable)
    }

    /// Bytes of the device that are free.
    #[track_caller]
    fn free_memory(&self) -> Result<u64> {
        let (mut free, mut total) = (0, 0);
        let driver = self.core().enter()?;
        // SAFETY: both outlive the call, and the context is current.
        let asked = unsafe { driver.cuMemGetInfo_v2(&raw mut free, &raw mut total) };
        self.core().check(asked)?;
        Ok(free as u64)
    }

    /// A graph of the same work (`cuGraphClone`), without the pinned memory of this one: it copies
    /// from and to the same addresses, so its executable is refused where there is any.
    ///
    /// # Errors
    /// What the driver returned: graphs that allocate memory themselves have no clones.
    /// [`Error::Poisoned`], [`Error::Forked`].
    #[doc(alias = "cuGraphClone")]
    #[track_caller]
    pub fn try_clone(&self) -> Result<Self> {
        self.core().not_forked()?;
        let has_memory = match &*sync::lock(&self.staging) {
            Some(staging) => !staging.is_empty(),
            None => true,
        };
        let driver = self.core().enter()?;
        let mut clone = ptr::null_mut();
        // SAFETY: the graph is alive, and `clone` outlives the call.
        let cloned = unsafe { driver.cuGraphClone(&raw mut clone, self.raw.lock().get()) };
        self.core().check(cloned)?;
        let staging = match has_memory {
            true => None,
            false => Some(Staging::default()),
        };
        Ok(Self {
            raw: Arc::new(RawGraph::new(clone, RawGraph::number(), self.core())),
            resources: Arc::clone(&self.resources),
            staging: Mutex::new(staging),
            order: self.order.clone(),
            nodes: None,
        })
    }

    /// Writes the graph to a file in the DOT language (`cuGraphDebugDotPrint`).
    ///
    /// # Errors
    /// [`Error::Invalid`] for a path with a NUL; [`Error::Unsupported`] by a driver before CUDA 11.3;
    /// what the driver returned; [`Error::Poisoned`], [`Error::Forked`].
    #[doc(alias = "cuGraphDebugDotPrint")]
    #[track_caller]
    pub fn write_dot(&self, path: impl AsRef<Path>, flags: GraphDebugDotFlags) -> Result<()> {
        let bytes = path.as_ref().as_os_str().as_encoded_bytes();
        let Ok(path) = CString::new(bytes) else {
            return Err(Error::invalid("path", "it has a NUL in it"));
        };
        let driver = self.core().enter()?;
        // SAFETY: the graph is alive, and the path ends with a NUL.
        let written = unsafe {
            driver.cuGraphDebugDotPrint(self.raw.lock().get(), path.as_ptr(), flags.bits())
        };
        self.core().check(written)
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").finish_non_exhaustive()
    }
}

#[track_caller]
fn check_lens(from: usize, to: usize) -> Result<()> {
    if from == to {
        return Ok(());
    }
    let problem = format!("{from} elements do not fill {to}");
    Err(Error::invalid("copy", problem))
}
