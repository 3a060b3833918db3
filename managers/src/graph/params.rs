//! Changing single nodes of an executable.

use std::ffi::c_uint;
use std::sync::Arc;

use cupola_sys::driver::{CUDA_HOST_NODE_PARAMS, DriverError};

use super::calls::{self, CopyRow};
use super::host::{HostFunction, call};
use super::node::{NamedNodes, NodeChange};
use super::{GraphExec, Node, NodeKind, check_lens};
use crate::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut};
use crate::driver::RelaxedCapture;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::module::Function;
use crate::ops::{KernelArgs, LaunchConfig, Pattern, check_launch};

/// What may be left out of a launch.
const OPTIONAL: [NodeKind; 3] = [NodeKind::Kernel, NodeKind::Copy, NodeKind::Fill];

/// Nodes are those of the graph that the executable was made of, also after an
/// [update](GraphExec::update) to another graph. Later launches are changed, and not those that run.
/// What a node uses after a change is kept as what a graph uses, and what it used before until the
/// launches so far are over, or with the graph if it is from there.
impl GraphExec {
    /// Launches another kernel, or the same with other arguments (`cuGraphExecKernelNodeSetParams`). The
    /// node keeps its attributes.
    ///
    /// # Errors
    /// As [`ops::launch`](crate::ops::launch). [`Error::Invalid`] naming `node` for a node of another
    /// graph, or one that launches no kernel. What the driver returned where the node cannot have that
    /// kernel, as where one of the two is cooperative.
    ///
    /// # Safety
    /// The conditions of [`ops::launch`](crate::ops::launch), for each launch of the graph.
    #[doc(alias = "cuGraphExecKernelNodeSetParams")]
    #[track_caller]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "an argument is a `&mut Buffer`"
    )]
    pub unsafe fn set_kernel(
        &mut self,
        node: Node,
        function: &Function,
        config: LaunchConfig,
        arguments: impl KernelArgs,
    ) -> Result<()> {
        let nodes = self.nodes_of(node, &[NodeKind::Kernel])?;
        let change = nodes.change();
        check_launch(function, config, arguments.sizes(), change.stream())?;
        arguments.prepare(change.stream())?;
        let mut values = arguments.values();
        let mut pointers = arguments.pointers(&mut values);
        let address = function.raw().addr();
        change.resources().keep_one(address, function);
        let parameters = calls::kernel(function, config, pointers.as_mut());
        self.begin_change(node, &change)?;
        let core = Arc::clone(self.core());
        let driver = core.enter()?;
        let set = {
            let (_relaxed, _graph) = (RelaxedCapture::uncounted(driver), nodes.graph().lock());
            // SAFETY: executable, node and function are alive, and all pointers outlive the call, which
            // copies the arguments; that they fit the kernel is a condition of this function.
            unsafe { calls::set_kernel(driver, self.as_raw(), node.raw(), &parameters) }
        };
        self.end_change(node, set)
    }

    /// Copies something else, within the device (`cuGraphExecMemcpyNodeSetParams`).
    ///
    /// # Errors
    /// As [`ops::copy`](crate::ops::copy). [`Error::Invalid`] naming `node` for a node of another graph
    /// or one that copies nothing, and for no elements. What the driver returned, as for a node that
    /// copies from or to the host.
    #[doc(alias = "cuGraphExecMemcpyNodeSetParams")]
    #[track_caller]
    pub fn set_copy<'s, 'd, T: DeviceCopy>(
        &mut self,
        node: Node,
        from: impl Into<DeviceSlice<'s, T>>,
        to: impl Into<DeviceSliceMut<'d, T>>,
    ) -> Result<()> {
        let (from, to) = (from.into(), to.into());
        let nodes = self.nodes_of(node, &[NodeKind::Copy])?;
        check_lens(from.len(), to.len())?;
        let change = nodes.change();
        from.join(change.stream())?;
        to.join(change.stream())?;
        let row = CopyRow::of_bytes(from.len() * size_of::<T>())?;
        let row = row
            .source_device(from.as_raw())
            .target_device(to.as_raw())
            .done();
        self.begin_change(node, &change)?;
        let core = Arc::clone(self.core());
        let driver = core.enter()?;
        let set = {
            let (_relaxed, _graph) = (RelaxedCapture::uncounted(driver), nodes.graph().lock());
            let raw = self.as_raw();
            // SAFETY: executable, node and context are alive, and `row` outlives the call; the memory is
            // kept as long as a launch may use it.
            unsafe {
                driver.cuGraphExecMemcpyNodeSetParams(raw, node.raw(), &raw const row, core.raw())
            }
        };
        self.end_change(node, set)
    }

    /// Sets other elements, or to another value (`cuGraphExecMemsetNodeSetParams`).
    ///
    /// # Errors
    /// As [`ops::fill`](crate::ops::fill) and [`set_copy`](Self::set_copy).
    #[doc(alias = "cuGraphExecMemsetNodeSetParams")]
    #[track_caller]
    pub fn set_fill<'d, T: DeviceCopy>(
        &mut self,
        node: Node,
        to: impl Into<DeviceSliceMut<'d, T>>,
        value: T,
    ) -> Result<()> {
        let to = to.into();
        let nodes = self.nodes_of(node, &[NodeKind::Fill])?;
        let parameters = calls::fill(to.as_raw(), to.len() * size_of::<T>(), {
            Pattern::of_value(&value, to.as_raw())?
        })?;
        let change = nodes.change();
        to.join(change.stream())?;
        self.begin_change(node, &change)?;
        let core = Arc::clone(self.core());
        let driver = core.enter()?;
        let set = {
            let (_relaxed, _graph) = (RelaxedCapture::uncounted(driver), nodes.graph().lock());
            let (raw, parameters) = (self.as_raw(), &raw const parameters);
            // SAFETY: as in `set_copy`.
            unsafe {
                driver.cuGraphExecMemsetNodeSetParams(raw, node.raw(), parameters, core.raw())
            }
        };
        self.end_change(node, set)
    }

    /// Calls another function on the host (`cuGraphExecHostNodeSetParams`), as
    /// [`Capture::host`](super::Capture::host) does.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming `node` for a node of another graph, or one that calls no function;
    /// [`Error::Poisoned`], [`Error::Forked`]; what the driver returned.
    #[doc(alias = "cuGraphExecHostNodeSetParams")]
    #[track_caller]
    pub fn set_host<F: Fn() + Send + Sync + 'static>(
        &mut self,
        node: Node,
        function: F,
    ) -> Result<()> {
        let nodes = self.nodes_of(node, &[NodeKind::Host])?;
        let change = nodes.change();
        let function = HostFunction::new(function, self.core());
        let parameters = CUDA_HOST_NODE_PARAMS {
            fn_: Some(call::<F>),
            userData: function.address(),
        };
        change.resources().keep(function);
        self.begin_change(node, &change)?;
        let core = Arc::clone(self.core());
        let driver = core.enter()?;
        let set = {
            let (_relaxed, _graph) = (RelaxedCapture::uncounted(driver), nodes.graph().lock());
            let (raw, parameters) = (self.as_raw(), &raw const parameters);
            // SAFETY: executable and node are alive, and `parameters` outlives the call; the function is
            // kept as long as a launch may call it.
            unsafe { driver.cuGraphExecHostNodeSetParams(raw, node.raw(), parameters) }
        };
        self.end_change(node, set)
    }

    /// Records another event, or waits for another one (`cuGraphExecEventRecordNodeSetEvent`,
    /// `cuGraphExecEventWaitNodeSetEvent`).
    ///
    /// # Errors
    /// [`Error::Invalid`] naming `node` for a node of another graph, or one of another kind;
    /// [`Error::WrongContext`]; [`Error::Unsupported`] by a driver before CUDA 11.1;
    /// [`Error::Poisoned`], [`Error::Forked`]; what the driver returned.
    #[doc(alias = "cuGraphExecEventRecordNodeSetEvent")]
    #[doc(alias = "cuGraphExecEventWaitNodeSetEvent")]
    #[track_caller]
    pub fn set_event(&mut self, node: Node, event: &Event) -> Result<()> {
        let nodes = self.nodes_of(node, &[NodeKind::Record, NodeKind::Wait])?;
        if !self.core().shares_objects(event.core()) {
            return Err(Error::WrongContext { what: "the event" });
        }
        let change = nodes.change();
        let event_raw = event.raw().as_raw();
        change.resources().keep_one(event_raw.addr(), event);
        if node.kind() == NodeKind::Record {
            event.raw().note_recorded();
        }
        self.begin_change(node, &change)?;
        let core = Arc::clone(self.core());
        let driver = core.enter()?;
        let set = {
            let (_relaxed, _graph) = (RelaxedCapture::uncounted(driver), nodes.graph().lock());
            let raw = self.as_raw();
            // SAFETY: executable, node and event are alive, and the event is kept as long as a launch may
            // use it.
            unsafe {
                match node.kind() {
                    NodeKind::Record => {
                        driver.cuGraphExecEventRecordNodeSetEvent(raw, node.raw(), event_raw)
                    }
                    _ => driver.cuGraphExecEventWaitNodeSetEvent(raw, node.raw(), event_raw),
                }
            }
        };
        self.end_change(node, set)
    }

    /// Leaves a kernel, a copy or a fill out of later launches, or has it in again
    /// (`cuGraphNodeSetEnabled`). Its order among the others stays.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming `node` for a node of another graph, or of another kind;
    /// [`Error::Unsupported`] by a driver before CUDA 11.6; [`Error::Poisoned`], [`Error::Forked`]; what
    /// the driver returned.
    #[doc(alias = "cuGraphNodeSetEnabled")]
    #[track_caller]
    pub fn set_enabled(&mut self, node: Node, enabled: bool) -> Result<()> {
        let nodes = self.nodes_of(node, &OPTIONAL)?;
        let driver = self.core().enter()?;
        let set = {
            let (_relaxed, _graph) = (RelaxedCapture::uncounted(driver), nodes.graph().lock());
            // SAFETY: executable and node are alive.
            unsafe {
                driver.cuGraphNodeSetEnabled(self.as_raw(), node.raw(), c_uint::from(enabled))
            }
        };
        self.core().check(set)
    }

    /// Whether a node is in launches (`cuGraphNodeGetEnabled`).
    ///
    /// # Errors
    /// As [`set_enabled`](Self::set_enabled).
    #[doc(alias = "cuGraphNodeGetEnabled")]
    #[track_caller]
    pub fn is_enabled(&self, node: Node) -> Result<bool> {
        let nodes = self.nodes_of(node, &OPTIONAL)?;
        let driver = self.core().enter()?;
        let mut enabled = 0;
        let asked = {
            let _graph = nodes.graph().lock();
            // SAFETY: executable and node are alive, and `enabled` outlives the call.
            unsafe { driver.cuGraphNodeGetEnabled(self.as_raw(), node.raw(), &raw mut enabled) }
        };
        self.core().check(asked)?;
        Ok(enabled != 0)
    }
}

impl GraphExec {
    /// The nodes of the executable's graph, if this is one of them, and of one of these kinds.
    #[track_caller]
    fn nodes_of(&self, node: Node, kinds: &[NodeKind]) -> Result<Arc<NamedNodes>> {
        self.core().healthy()?;
        let Some(nodes) = self.nodes() else {
            return Err(Error::invalid("node", "a node is another graph's"));
        };
        node.check_graph(nodes.graph().serial(), "node")?;
        node.check_kind(kinds)?;
        Ok(Arc::clone(nodes))
    }

    /// Before the call that changes the node: one that fails may have changed it.
    fn begin_change(&mut self, node: Node, change: &NodeChange<'_>) -> Result<()> {
        self.core().healthy()?;
        self.uses
            .begin_change(node.raw().addr(), change.resources());
        Ok(())
    }

    #[track_caller]
    fn end_change(&mut self, node: Node, set: Result<(), DriverError>) -> Result<()> {
        if set.is_ok() {
            self.uses.end_change(node.raw().addr());
        }
        let core = Arc::clone(self.core());
        core.check(set)
    }
}
