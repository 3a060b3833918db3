//! `GraphBuilder`: graphs made node by node.

use std::fmt;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cupola_sys::driver::{
    CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS,
    CUgraph, CUgraphNode, CUmemorytype, Driver, DriverError,
};

use super::host::{HostFunction, call};
use super::order::{LaunchOrder, join_order};
use super::raw::RawGraph;
use super::staging::Staging;
use super::{Graph, Input, Output, check_lens};
use crate::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut, PinnedBuffer};
use crate::context::Context;
use crate::driver::ContextCore;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::module::Function;
use crate::ops::{KernelArgs, LaunchArgs, LaunchConfig, Pattern, check_launch};
use crate::stream::{GraphResources, Stream, StreamConfig};

/// A node of the graph of one [`GraphBuilder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    raw: CUgraphNode,
    builder: u64,
}

// SAFETY: a CUgraphNode is bound to no thread, and is looked at by its builder only.
unsafe impl Send for Node {}
// SAFETY: as above.
unsafe impl Sync for Node {}

/// A graph in the making: each node says after which others it comes. Memory and functions that nodes
/// use are the graph's for as long as it may run, as those of a [capture](Graph::capture) are.
///
/// ```
/// use cupola_managers::graph::GraphBuilder;
/// use cupola_managers::{ExecutionManager, PoolConfig};
///
/// # let driver = cupola_sim::Machine::builder().build().driver();
/// let context = ExecutionManager::new(driver)?.devices().get(0)?.primary()?;
/// let stream = context.streams().create(Default::default())?;
/// let pool = context.memory_pool(PoolConfig::limit(64 << 20))?;
/// let mut from = pool.allocate::<u32>(100, &stream)?;
/// let mut to = pool.allocate::<u32>(100, &stream)?;
///
/// let mut builder = GraphBuilder::new(&context)?;
/// let filled = builder.fill(&[], &mut from, 7)?;
/// builder.copy(&[filled], &from, &mut to)?;
/// builder.finish().instantiate()?.launch(&stream)?;
/// assert_eq!(to.to_vec(&stream)?, [7; 100]);
/// # Ok::<_, cupola_managers::Error>(())
/// ```
pub struct GraphBuilder {
    raw: RawGraph,
    serial: u64,
    /// Never has work: with its mark, buffers that are used on it are the graph's.
    stream: Marked,
    resources: Arc<GraphResources>,
    staging: Staging,
    order: Option<Arc<LaunchOrder>>,
}

impl GraphBuilder {
    /// A graph without nodes (`cuGraphCreate`).
    ///
    /// # Errors
    /// What the driver returned; [`Error::Full`], [`Error::ShutDown`], [`Error::Poisoned`],
    /// [`Error::Forked`].
    #[doc(alias = "cuGraphCreate")]
    #[track_caller]
    pub fn new(context: &Context) -> Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let stream = context.streams().create(StreamConfig::default())?;
        let core = stream.core();
        let driver = core.enter()?;
        let mut raw = ptr::null_mut();
        // SAFETY: `raw` outlives the call.
        let made = unsafe { driver.cuGraphCreate(&raw mut raw, 0) };
        core.check(made)?;
        let raw = RawGraph::new(raw, core);
        let resources = Arc::new(GraphResources::default());
        stream.mark_captured(Some(Arc::clone(&resources)));
        let stream = Marked(stream);
        Ok(Self {
            raw,
            serial: NEXT.fetch_add(1, Ordering::Relaxed),
            stream,
            resources,
            staging: Staging::default(),
            order: None,
        })
    }

    fn core(&self) -> &Arc<ContextCore> {
        self.stream.0.core()
    }

    /// Adds a node by this call, which gets the graph and the nodes that it comes after.
    #[track_caller]
    fn add(
        &mut self,
        after: &[Node],
        add: impl FnOnce(
            &Driver,
            *mut CUgraphNode,
            (CUgraph, *const CUgraphNode, usize),
        ) -> Result<(), DriverError>,
    ) -> Result<Node> {
        let mut nodes = Vec::with_capacity(after.len());
        for node in after {
            if node.builder != self.serial {
                return Err(Error::invalid("after", "a node is another builder's"));
            }
            nodes.push(node.raw);
        }
        let mut raw = ptr::null_mut();
        let core = self.core();
        let driver = core.enter()?;
        let to = (self.raw.get(), nodes.as_ptr(), nodes.len());
        core.check(add(driver, &raw mut raw, to))?;
        let builder = self.serial;
        Ok(Node { raw, builder })
    }

    /// A node that does nothing: many nodes come after many others through it
    /// (`cuGraphAddEmptyNode`).
    ///
    /// # Errors
    /// [`Error::Invalid`] for a node of another builder; what the driver returned;
    /// [`Error::Poisoned`], [`Error::Forked`].
    #[doc(alias = "cuGraphAddEmptyNode")]
    #[track_caller]
    pub fn empty(&mut self, after: &[Node]) -> Result<Node> {
        // SAFETY: the graph and its nodes are alive, and all pointers outlive the call.
        self.add(after, |driver, node, (graph, nodes, count)| unsafe {
            driver.cuGraphAddEmptyNode(node, graph, nodes, count)
        })
    }

    /// A kernel (`cuGraphAddKernelNode`), as [`ops::launch`](crate::ops::launch) launches it.
    ///
    /// # Errors
    /// As [`ops::launch`](crate::ops::launch) and [`empty`](Self::empty); [`Error::Unsupported`] by a
    /// driver before CUDA 12.0.
    ///
    /// # Safety
    /// The conditions of [`ops::launch`](crate::ops::launch), for each launch of the graph.
    #[doc(alias = "cuGraphAddKernelNode")]
    #[track_caller]
    pub unsafe fn kernel(
        &mut self,
        after: &[Node],
        function: &Function,
        config: LaunchConfig,
        arguments: impl KernelArgs,
    ) -> Result<Node> {
        let list = arguments;
        let mut arguments = LaunchArgs::new();
        list.collect(&mut arguments, &self.stream.0)?;
        let mut pointers = arguments.pointers();
        check_launch(function, config, arguments.sizes(), &self.stream.0)?;
        self.resources.keep_one(function.raw().addr(), function);
        let ([gx, gy, gz], [bx, by, bz]) = (config.grid, config.block);
        let parameters = CUDA_KERNEL_NODE_PARAMS {
            func: function.raw(),
            gridDimX: gx,
            gridDimY: gy,
            gridDimZ: gz,
            blockDimX: bx,
            blockDimY: by,
            blockDimZ: bz,
            sharedMemBytes: config.shared_bytes,
            kernelParams: pointers.as_mut_ptr(),
            extra: ptr::null_mut(),
            kern: ptr::null_mut(),
            ctx: ptr::null_mut(),
        };
        // SAFETY: the graph, its nodes and the function are alive, and all pointers outlive the call,
        // which copies the arguments; that they fit the kernel is a condition of this function.
        self.add(after, |driver, node, (graph, nodes, count)| unsafe {
            driver.cuGraphAddKernelNode_v2(node, graph, nodes, count, &raw const parameters)
        })
    }

    /// A copy within the device (`cuGraphAddMemcpyNode`). The lengths are equal, and not 0.
    ///
    /// # Errors
    /// As [`ops::copy`](crate::ops::copy) and [`empty`](Self::empty); [`Error::Invalid`] for no
    /// elements.
    #[doc(alias = "cuGraphAddMemcpyNode")]
    #[track_caller]
    pub fn copy<'s, 'd, T: DeviceCopy>(
        &mut self,
        after: &[Node],
        from: impl Into<DeviceSlice<'s, T>>,
        to: impl Into<DeviceSliceMut<'d, T>>,
    ) -> Result<Node> {
        let (from, to) = (from.into(), to.into());
        check_lens(from.len(), to.len())?;
        from.join(&self.stream.0)?;
        to.join(&self.stream.0)?;
        let row = CUDA_MEMCPY3D {
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcDevice: from.as_raw(),
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstDevice: to.as_raw(),
            ..row(from.len() * size_of::<T>())?
        };
        self.add_copy(after, &row)
    }

    /// A copy from pinned memory to the device (`cuGraphAddMemcpyNode`): at each launch of what is in it
    /// then. The graph has the memory from now on.
    ///
    /// # Errors
    /// As [`copy`](Self::copy).
    #[doc(alias = "cuGraphAddMemcpyNode")]
    #[track_caller]
    pub fn upload<'d, T: DeviceCopy>(
        &mut self,
        after: &[Node],
        from: PinnedBuffer<T>,
        to: impl Into<DeviceSliceMut<'d, T>>,
    ) -> Result<(Node, Input<T>)> {
        let to = to.into();
        check_lens(from.len(), to.len())?;
        from.check_context(&self.stream.0)?;
        to.join(&self.stream.0)?;
        let row = CUDA_MEMCPY3D {
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            srcHost: from.as_ptr().cast_const().cast(),
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstDevice: to.as_raw(),
            ..row(from.len() * size_of::<T>())?
        };
        let place = self.staging.add(from);
        Ok((self.add_copy(after, &row)?, Input::new(place)))
    }

    /// A copy from the device to pinned memory (`cuGraphAddMemcpyNode`). The graph has the memory from
    /// now on.
    ///
    /// # Errors
    /// As [`copy`](Self::copy).
    #[doc(alias = "cuGraphAddMemcpyNode")]
    #[track_caller]
    pub fn download<'d, T: DeviceCopy>(
        &mut self,
        after: &[Node],
        from: impl Into<DeviceSlice<'d, T>>,
        to: PinnedBuffer<T>,
    ) -> Result<(Node, Output<T>)> {
        let from = from.into();
        check_lens(from.len(), to.len())?;
        to.check_context(&self.stream.0)?;
        from.join(&self.stream.0)?;
        let row = CUDA_MEMCPY3D {
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcDevice: from.as_raw(),
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_HOST,
            dstHost: to.as_ptr().cast(),
            ..row(from.len() * size_of::<T>())?
        };
        let place = self.staging.add(to);
        Ok((self.add_copy(after, &row)?, Output::new(place)))
    }

    #[track_caller]
    fn add_copy(&mut self, after: &[Node], row: &CUDA_MEMCPY3D) -> Result<Node> {
        let context = self.core().raw();
        // SAFETY: the graph, its nodes and the context are alive, and all pointers outlive the call;
        // the graph keeps the memory of both sides as long as it may run.
        self.add(after, |driver, node, (graph, nodes, count)| unsafe {
            driver.cuGraphAddMemcpyNode(node, graph, nodes, count, row, context)
        })
    }

    /// Sets every element to `value` (`cuGraphAddMemsetNode`), of the values that
    /// [`ops::fill`](crate::ops::fill) takes.
    ///
    /// # Errors
    /// As [`ops::fill`](crate::ops::fill) and [`copy`](Self::copy).
    #[doc(alias = "cuGraphAddMemsetNode")]
    #[track_caller]
    pub fn fill<'d, T: DeviceCopy>(
        &mut self,
        after: &[Node],
        to: impl Into<DeviceSliceMut<'d, T>>,
        value: T,
    ) -> Result<Node> {
        let to = to.into();
        let bytes = to.len() * size_of::<T>();
        row(bytes)?;
        let pattern = Pattern::of_value(&value, to.as_raw())?;
        to.join(&self.stream.0)?;
        let (value, size) = pattern.number();
        let parameters = CUDA_MEMSET_NODE_PARAMS {
            dst: to.as_raw(),
            pitch: 0,
            value,
            elementSize: size,
            width: bytes / size as usize,
            height: 1,
        };
        let context = self.core().raw();
        // SAFETY: the graph, its nodes and the context are alive, and all pointers outlive the call;
        // the graph keeps the memory as long as it may run.
        self.add(after, |driver, node, (graph, nodes, count)| unsafe {
            let parameters = &raw const parameters;
            driver.cuGraphAddMemsetNode(node, graph, nodes, count, parameters, context)
        })
    }

    /// Calls `function` on a thread of the driver at each launch (`cuGraphAddHostNode`), as
    /// [`Capture::host`](super::Capture::host) does.
    ///
    /// # Errors
    /// As [`empty`](Self::empty).
    #[doc(alias = "cuGraphAddHostNode")]
    #[track_caller]
    pub fn host<F: Fn() + Send + Sync + 'static>(
        &mut self,
        after: &[Node],
        function: F,
    ) -> Result<Node> {
        let function = HostFunction::new(function, self.core());
        let parameters = CUDA_HOST_NODE_PARAMS {
            fn_: Some(call::<F>),
            userData: function.address(),
        };
        self.resources.keep(function);
        // SAFETY: the graph and its nodes are alive, and all pointers outlive the call; the graph keeps
        // the function as long as it may run.
        self.add(after, |driver, node, (graph, nodes, count)| unsafe {
            driver.cuGraphAddHostNode(node, graph, nodes, count, &raw const parameters)
        })
    }

    /// All work of another graph, which is copied (`cuGraphAddChildGraphNode`). This graph is of the
    /// [group](super::GraphGroup) of the other one, if that is of any.
    ///
    /// # Errors
    /// [`Error::WrongContext`]; [`Error::Invalid`] where the other graph copies from or to pinned memory,
    /// which its executable has, or where an earlier child is of another group; as [`empty`](Self::empty).
    #[doc(alias = "cuGraphAddChildGraphNode")]
    #[track_caller]
    pub fn child(&mut self, after: &[Node], child: &Graph) -> Result<Node> {
        if !self.core().shares_objects(child.core()) {
            return Err(Error::WrongContext { what: "the child" });
        }
        child.refuse_pinned()?;
        join_order(&mut self.order, child.order.as_ref())?;
        let raw = child.raw.get();
        self.resources.absorb(&child.resources);
        // SAFETY: both graphs and the nodes are alive, and all pointers outlive the call; what the child
        // uses is this graph's from now on too.
        self.add(after, |driver, node, (graph, nodes, count)| unsafe {
            driver.cuGraphAddChildGraphNode(node, graph, nodes, count, raw)
        })
    }

    /// Records an event at each launch (`cuGraphAddEventRecordNode`): work outside of the graph can wait
    /// for this point of it.
    ///
    /// # Errors
    /// [`Error::WrongContext`]; [`Error::Unsupported`] by a driver before CUDA 11.1; as
    /// [`empty`](Self::empty).
    #[doc(alias = "cuGraphAddEventRecordNode")]
    #[track_caller]
    pub fn record(&mut self, after: &[Node], event: &Event) -> Result<Node> {
        if !self.core().shares_objects(event.core()) {
            return Err(Error::WrongContext { what: "the event" });
        }
        let raw = event.raw().as_raw();
        event.raw().note_recorded();
        self.resources.keep_one(raw.addr(), event);
        // SAFETY: the graph, its nodes and the event are alive, and all pointers outlive the call.
        self.add(after, |driver, node, (graph, nodes, count)| unsafe {
            driver.cuGraphAddEventRecordNode(node, graph, nodes, count, raw)
        })
    }

    /// Waits at each launch for what an event marks then (`cuGraphAddEventWaitNode`).
    ///
    /// # Errors
    /// As [`record`](Self::record).
    #[doc(alias = "cuGraphAddEventWaitNode")]
    #[track_caller]
    pub fn wait(&mut self, after: &[Node], event: &Event) -> Result<Node> {
        if !self.core().shares_objects(event.core()) {
            return Err(Error::WrongContext { what: "the event" });
        }
        let raw = event.raw().as_raw();
        self.resources.keep_one(raw.addr(), event);
        // SAFETY: the graph, its nodes and the event are alive, and all pointers outlive the call.
        self.add(after, |driver, node, (graph, nodes, count)| unsafe {
            driver.cuGraphAddEventWaitNode(node, graph, nodes, count, raw)
        })
    }

    /// The graph with the nodes that were added.
    #[must_use]
    pub fn finish(self) -> Graph {
        let Self {
            raw,
            stream,
            resources,
            staging,
            order,
            ..
        } = self;
        drop(stream);
        Graph {
            order,
            ..Graph::new(raw, resources, staging)
        }
    }
}

/// A stream that is marked as captured for as long as this lives.
struct Marked(Stream);

impl Drop for Marked {
    fn drop(&mut self) {
        self.0.mark_captured(None);
    }
}

impl fmt::Debug for GraphBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphBuilder").finish_non_exhaustive()
    }
}

/// A copy of so many bytes, without its ends.
#[track_caller]
fn row(bytes: usize) -> Result<CUDA_MEMCPY3D> {
    if bytes == 0 {
        return Err(Error::invalid("copy", "a node has some elements at least"));
    }
    Ok(CUDA_MEMCPY3D {
        WidthInBytes: bytes,
        Height: 1,
        Depth: 1,
        ..CUDA_MEMCPY3D::default()
    })
}
