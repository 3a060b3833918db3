//! `GraphBuilder`: graphs made node by node.

use std::fmt;
use std::ptr;
use std::sync::Arc;

use cupola_sys::Version;
use cupola_sys::driver::{
    CUDA_HOST_NODE_PARAMS, CUDA_MEMCPY3D, CUgraphDeviceNode, CUgraphNode, Driver, DriverError,
};

use super::calls::{self, CopyRow, Place};
use super::host::{HostFunction, call};
use super::node::{Marked, NamedNodes};
use super::order::{LaunchOrder, join_order};
use super::raw::RawGraph;
use super::staging::Staging;
use super::{Graph, Input, Node, NodeKind, Output, check_lens};
use crate::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut, PinnedBuffer};
use crate::context::Context;
use crate::driver::ContextCore;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::module::Function;
use crate::ops::{
    KernelArg, KernelArgs, KernelParam, LaunchAttributes, LaunchConfig, PassedAs, Pattern,
    check_launch,
};
use crate::stream::{GraphResources, Stream, StreamConfig};

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
    pub(super) raw: Arc<RawGraph>,
    /// Never has work: with its mark, buffers that are used on it are the graph's.
    stream: Arc<Marked>,
    pub(super) resources: Arc<GraphResources>,
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
        let stream = context.streams().create(StreamConfig::default())?;
        let core = stream.core();
        let driver = core.enter()?;
        let mut raw = ptr::null_mut();
        // SAFETY: `raw` outlives the call.
        let made = unsafe { driver.cuGraphCreate(&raw mut raw, 0) };
        core.check(made)?;
        let raw = Arc::new(RawGraph::new(raw, RawGraph::number(), core));
        let resources = Arc::new(GraphResources::default());
        Ok(Self {
            raw,
            stream: Arc::new(Marked::new(stream, &resources)),
            resources,
            staging: Staging::default(),
            order: None,
        })
    }

    /// A builder of a graph that a node of this one has. What its nodes use is this graph's.
    pub(super) fn body(&self, raw: RawGraph) -> Self {
        Self {
            raw: Arc::new(raw),
            stream: Arc::clone(&self.stream),
            resources: Arc::clone(&self.resources),
            staging: Staging::default(),
            order: None,
        }
    }

    /// Refuses what the graph of a node cannot have.
    fn refuse_in_body(&self, problem: &'static str) -> Result<()> {
        match self.raw.is_body() {
            true => Err(Error::invalid("body", problem)),
            false => Ok(()),
        }
    }

    pub(super) fn core(&self) -> &Arc<ContextCore> {
        self.stream().core()
    }

    /// The stream on which buffers that are used are the graph's.
    fn stream(&self) -> &Stream {
        self.stream.stream()
    }

    /// Adds a node by this call, which gets the graph and the nodes that it comes after.
    #[track_caller]
    pub(super) fn add(
        &mut self,
        kind: NodeKind,
        after: &[Node],
        add: impl FnOnce(&Driver, *mut CUgraphNode, Place) -> Result<(), DriverError>,
    ) -> Result<Node> {
        let mut nodes = Vec::with_capacity(after.len());
        for node in after {
            node.check_graph(self.raw.serial(), "after")?;
            nodes.push(node.raw());
        }
        let mut raw = ptr::null_mut();
        let core = self.core();
        let driver = core.enter()?;
        let added = {
            let graph = self.raw.lock();
            let to = Place {
                graph: graph.get(),
                after: nodes.as_ptr(),
                count: nodes.len(),
            };
            add(driver, &raw mut raw, to)
        };
        core.check(added)?;
        Ok(Node::new(raw, self.raw.serial(), kind))
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
        self.add(NodeKind::Empty, after, |driver, node, to| unsafe {
            driver.cuGraphAddEmptyNode(node, to.graph, to.after, to.count)
        })
    }

    /// A kernel (`cuGraphAddKernelNode`), as [`ops::launch`](crate::ops::launch) launches it.
    ///
    /// # Errors
    /// As [`ops::launch`](crate::ops::launch) and [`empty`](Self::empty).
    ///
    /// # Safety
    /// The conditions of [`ops::launch`](crate::ops::launch), for each launch of the graph.
    #[doc(alias = "cuGraphAddKernelNode")]
    #[inline]
    #[track_caller]
    pub unsafe fn kernel(
        &mut self,
        after: &[Node],
        function: &Function,
        config: LaunchConfig,
        arguments: impl KernelArgs,
    ) -> Result<Node> {
        let none = LaunchAttributes::new();
        // SAFETY: the conditions of this function are those of that one.
        unsafe { self.kernel_with(after, function, config, none, arguments) }
    }

    /// A kernel with attributes (`cuGraphKernelNodeSetAttribute`), as
    /// [`ops::launch_with`](crate::ops::launch_with) launches it. The graph's launches heed the priority
    /// where it is instantiated with `USE_NODE_PRIORITY`.
    ///
    /// # Errors
    /// As [`ops::launch_with`](crate::ops::launch_with) and [`empty`](Self::empty); [`Error::Invalid`]
    /// naming `programmatic`, which a node cannot have.
    ///
    /// # Safety
    /// The conditions of [`ops::launch_with`](crate::ops::launch_with), for each launch of the graph.
    #[doc(alias = "cuGraphAddKernelNode")]
    #[doc(alias = "cuGraphKernelNodeSetAttribute")]
    #[track_caller]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "an argument is a `&mut Buffer`"
    )]
    pub unsafe fn kernel_with(
        &mut self,
        after: &[Node],
        function: &Function,
        config: LaunchConfig,
        attributes: LaunchAttributes,
        arguments: impl KernelArgs,
    ) -> Result<Node> {
        check_launch(function, config, arguments.sizes(), self.stream())?;
        attributes.check_node()?;
        attributes.check(config, function)?;
        attributes.check_driver(self.core().driver())?;
        arguments.prepare(self.stream())?;
        let mut values = arguments.values();
        let mut pointers = arguments.pointers(&mut values);
        self.resources.keep_one(function.raw().addr(), function);
        let parameters = calls::kernel(function, config, pointers.as_mut());
        // SAFETY: the graph, its nodes and the function are alive, and all pointers outlive the calls,
        // which copy the arguments; that they fit the kernel is a condition of this function.
        self.add(NodeKind::Kernel, after, |driver, node, to| unsafe {
            calls::add_kernel(driver, node, to, &parameters)?;
            calls::set_attributes(driver, *node, attributes)
        })
    }

    /// Lets other kernels change this one on the device (`cudaGraphKernelNodeSetParam` and its like): they
    /// get the returned name as an argument.
    ///
    /// The graph has one executable and no clone, and that is updated to no other graph. It is
    /// [uploaded](super::GraphExec::upload) before its first launch, and again after each change of the
    /// node by the host.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming `node` for a node of another graph, or one that launches no kernel;
    /// [`Error::Unsupported`] by a driver before CUDA 12.4; [`Error::Poisoned`], [`Error::Forked`]; what
    /// the driver returned.
    #[doc(alias = "CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE")]
    #[track_caller]
    pub fn device_updatable(&mut self, node: Node) -> Result<DeviceNode> {
        node.check_graph(self.raw.serial(), "node")?;
        node.check_kind(&[NodeKind::Kernel])?;
        let core = self.core();
        let driver = core.enter()?;
        calls::needs(driver, "device-updatable kernel nodes", Version::new(12, 4))?;
        let made = {
            let _graph = self.raw.lock();
            // SAFETY: the node is alive, and no other thread makes calls with its graph.
            unsafe { calls::make_updatable(driver, node.raw()) }
        };
        let raw = core.check(made)?;
        if raw.is_null() {
            return Err(Error::invalid("node", "the driver has no name of it"));
        }
        Ok(DeviceNode(raw))
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
        from.join(self.stream())?;
        to.join(self.stream())?;
        let row = CopyRow::of_bytes(from.len() * size_of::<T>())?;
        let row = row
            .source_device(from.as_raw())
            .target_device(to.as_raw())
            .done();
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
        self.refuse_in_body(PINNED)?;
        check_lens(from.len(), to.len())?;
        from.check_context(self.stream())?;
        to.join(self.stream())?;
        let start = from.as_ptr().cast_const().cast();
        let row = CopyRow::of_bytes(from.len() * size_of::<T>())?;
        let row = row.source_host(start).target_device(to.as_raw()).done();
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
        self.refuse_in_body(PINNED)?;
        check_lens(from.len(), to.len())?;
        to.check_context(self.stream())?;
        from.join(self.stream())?;
        let row = CopyRow::of_bytes(from.len() * size_of::<T>())?;
        let row = row
            .source_device(from.as_raw())
            .target_host(to.as_ptr().cast());
        let row = row.done();
        let place = self.staging.add(to);
        Ok((self.add_copy(after, &row)?, Output::new(place)))
    }

    #[track_caller]
    fn add_copy(&mut self, after: &[Node], row: &CUDA_MEMCPY3D) -> Result<Node> {
        let context = self.core().raw();
        // SAFETY: the graph, its nodes and the context are alive, and all pointers outlive the call;
        // the graph keeps the memory of both sides as long as it may run.
        self.add(NodeKind::Copy, after, |driver, node, to| unsafe {
            driver.cuGraphAddMemcpyNode(node, to.graph, to.after, to.count, row, context)
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
        let pattern = Pattern::of_value(&value, to.as_raw())?;
        let parameters = calls::fill(to.as_raw(), bytes, pattern)?;
        to.join(self.stream())?;
        let context = self.core().raw();
        // SAFETY: the graph, its nodes and the context are alive, and all pointers outlive the call;
        // the graph keeps the memory as long as it may run.
        self.add(NodeKind::Fill, after, |driver, node, to| unsafe {
            let parameters = &raw const parameters;
            driver.cuGraphAddMemsetNode(node, to.graph, to.after, to.count, parameters, context)
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
        self.add(NodeKind::Host, after, |driver, node, to| unsafe {
            let parameters = &raw const parameters;
            driver.cuGraphAddHostNode(node, to.graph, to.after, to.count, parameters)
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
        if child.order.is_some() {
            self.refuse_in_body("a graph of a group is no child in a conditional node")?;
        }
        join_order(&mut self.order, child.order.as_ref())?;
        self.resources.absorb(&child.resources);
        // SAFETY: both graphs and the nodes are alive, and all pointers outlive the call; what the child
        // uses is this graph's from now on too.
        self.add(NodeKind::Child, after, |driver, node, to| unsafe {
            let child = child.raw.lock();
            driver.cuGraphAddChildGraphNode(node, to.graph, to.after, to.count, child.get())
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
        self.add(NodeKind::Record, after, |driver, node, to| unsafe {
            driver.cuGraphAddEventRecordNode(node, to.graph, to.after, to.count, raw)
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
        self.add(NodeKind::Wait, after, |driver, node, to| unsafe {
            driver.cuGraphAddEventWaitNode(node, to.graph, to.after, to.count, raw)
        })
    }

    /// The graph with the nodes that were added.
    #[must_use]
    pub fn finish(self) -> Graph {
        let Self {
            raw,
            stream: marked,
            resources,
            staging,
            order,
        } = self;
        let stream = marked.stream().clone();
        drop(marked);
        let mut graph = Graph::new(&raw, resources, staging);
        graph.nodes = Some(NamedNodes::new(&raw, stream));
        graph.order = order;
        graph
    }
}

/// A kernel of a graph, for kernels that [change](GraphBuilder::device_updatable) it: an argument of
/// theirs (`cudaGraphDeviceNode_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceNode(CUgraphDeviceNode);

// SAFETY: the host only hands it on.
unsafe impl Send for DeviceNode {}
// SAFETY: as above.
unsafe impl Sync for DeviceNode {}

impl KernelArg for DeviceNode {
    type Value = u64;

    fn value(&self) -> u64 {
        self.0.addr() as u64
    }
}

impl KernelParam for DeviceNode {
    type Value = u64;
}

impl PassedAs<DeviceNode> for DeviceNode {}

/// Why the graphs of conditional nodes have no pinned memory.
const PINNED: &str = "pinned memory goes up and down outside of conditional nodes";

impl fmt::Debug for GraphBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphBuilder").finish_non_exhaustive()
    }
}
