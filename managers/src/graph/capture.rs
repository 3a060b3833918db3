//! `Graph::capture`, and what may be done in one.

use std::fmt;
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

use cupola_sys::driver::{CUgraphNodeType, CUstreamCaptureMode, CUstreamCaptureStatus, Driver};

use super::host::{HostFunction, call};
use super::node::NamedNodes;
use super::raw::RawGraph;
use super::staging::Staging;
use super::{Graph, Input, Node, NodeKind, Output, check_lens};
use crate::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut, PinnedBuffer};
use crate::context::Context;
use crate::driver::{ContextCore, is_capturing};
use crate::error::{Error, Result};
use crate::ops::{download_raw, upload_raw};
use crate::pool::{GraphArena, GraphMemory, MemoryPool};
use crate::stream::{GraphResources, Stream, StreamConfig};

/// Which calls a capture forbids, beside those for its own streams: getting and giving back memory by
/// the driver, asking events and waiting on the host, by code that does not know of the capture.
/// Operations of this crate are allowed in every mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaptureMode {
    /// To all threads of the process (`CU_STREAM_CAPTURE_MODE_GLOBAL`).
    Global,
    /// To the thread that captures (`CU_STREAM_CAPTURE_MODE_THREAD_LOCAL`).
    #[default]
    ThreadLocal,
    /// To none (`CU_STREAM_CAPTURE_MODE_RELAXED`).
    Relaxed,
}

impl CaptureMode {
    fn as_raw(self) -> CUstreamCaptureMode {
        match self {
            Self::Global => CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL,
            Self::ThreadLocal => CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
            Self::Relaxed => CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED,
        }
    }
}

/// How work is captured.
#[derive(Clone, Debug, Default)]
pub struct CaptureConfig {
    mode: CaptureMode,
    priority: i32,
    memory: Option<MemoryPool>,
}

impl CaptureConfig {
    /// Which calls are forbidden meanwhile.
    #[must_use]
    pub fn mode(mut self, mode: CaptureMode) -> Self {
        self.mode = mode;
        self
    }

    /// The priority of the capture's streams, which the nodes have where the graph is instantiated
    /// with `USE_NODE_PRIORITY`. See [`StreamConfig::priority`].
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Where memory comes from that the closure allocates on the capture's stream: memory of this
    /// pool that is the graph's, and used again within it ([`GraphMemory`]). A block of another pool
    /// is the graph's too, but not used again in it.
    #[must_use]
    pub fn memory(mut self, pool: &MemoryPool) -> Self {
        self.memory = Some(pool.clone());
        self
    }

    pub(super) fn pool(&self) -> Option<&MemoryPool> {
        self.memory.as_ref()
    }
}

/// A capture that is open. It stays on its thread: in most modes another one may not end it.
pub struct Capture<'c> {
    stream: Stream,
    pub(super) branches: Vec<Stream>,
    resources: Arc<GraphResources>,
    staging: Staging,
    memory: Option<GraphMemory>,
    config: StreamConfig,
    context: &'c Context,
    is_open: bool,
    /// The serial of its graph.
    serial: u64,
    /// For changes of its nodes, once one of them has a name: a stream that no caller has.
    named: Option<Stream>,
    /// A capture stays on its thread.
    thread: PhantomData<*mut ()>,
}

impl Graph {
    /// Captures the work that `work` puts on the streams of the capture (`cuStreamBeginCapture`,
    /// `cuStreamEndCapture`). The work does not run.
    ///
    /// The graph's launches come after the allocation of the buffers that it uses, on whatever stream
    /// that was, and not after other work on them.
    ///
    /// # Errors
    /// The error of `work`. What the driver returned: an operation that a capture forbids ends it, also
    /// if `work` goes on. [`Error::Unsupported`] by a driver before CUDA 10.1;
    /// [`Error::OutOfMemory`] and others of a pool that gives [`memory`](CaptureConfig::memory);
    /// [`Error::Full`], [`Error::ShutDown`], [`Error::Poisoned`], [`Error::Forked`]. After an error
    /// nothing is captured any more.
    #[doc(alias = "cuStreamBeginCapture")]
    #[doc(alias = "cuStreamEndCapture")]
    #[track_caller]
    pub fn capture<R, E: From<Error>>(
        context: &Context,
        config: CaptureConfig,
        work: impl FnOnce(&mut Capture<'_>) -> Result<R, E>,
    ) -> Result<(Self, R), E> {
        Capture::begin(context, config, None)?.run(work)
    }
}

impl<'c> Capture<'c> {
    /// Begins a capture, with memory of this arena of the configuration's pool, or else of its own.
    #[track_caller]
    pub(super) fn begin(
        context: &'c Context,
        config: CaptureConfig,
        arena: Option<&Arc<GraphArena>>,
    ) -> Result<Self> {
        let stream_config = StreamConfig {
            priority: config.priority,
            ..StreamConfig::default()
        };
        let stream = context.streams().create_reserved(stream_config)?;
        let resources = Arc::new(GraphResources::default());
        // Work of the stream's last life may use what its pools hand out at once.
        resources.comes_after(&stream);
        resources.keep(stream.clone());
        let memory = match (config.memory, arena) {
            (Some(pool), Some(arena)) => pool.pool().graph_memory_in(arena, &stream).map(Some),
            (Some(pool), None) => pool.graph_memory(&stream).map(Some),
            (None, _) => Ok(None),
        };
        let entered = stream.core().enter();
        let (memory, driver) = match (memory, entered) {
            (Ok(memory), Ok(driver)) => (memory, driver),
            (Err(error), _) | (_, Err(error)) => {
                stream.mark_captured(None);
                return Err(error);
            }
        };
        if let Some(memory) = &memory {
            resources.own(memory.number(), &stream);
        }
        stream.mark_captured(Some(Arc::clone(&resources)));
        // SAFETY: the stream is alive.
        let begun = unsafe { driver.cuStreamBeginCapture_v2(stream.raw(), config.mode.as_raw()) };
        if let Err(call) = begun {
            stream.mark_captured(None);
            return Err(stream.failed(call));
        }
        Ok(Self {
            stream,
            branches: Vec::new(),
            resources,
            staging: Staging::default(),
            memory,
            config: stream_config,
            context,
            is_open: true,
            serial: RawGraph::number(),
            named: None,
            thread: PhantomData,
        })
    }

    /// Captures this work, and ends the capture.
    #[track_caller]
    pub(super) fn run<R, E: From<Error>>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<R, E>,
    ) -> Result<(Graph, R), E> {
        let worked = work(self);
        let ended = self.end();
        // The error of the work is the cause of that of the end.
        let value = worked?;
        let raw = Arc::new(ended?);
        let staging = std::mem::take(&mut self.staging);
        let mut graph = Graph::new(&raw, Arc::clone(&self.resources), staging);
        let named = self.named.take();
        graph.nodes = named.map(|stream| NamedNodes::new(&raw, stream));
        Ok((graph, value))
    }

    pub(super) fn core(&self) -> &Arc<ContextCore> {
        self.stream.core()
    }

    pub(super) fn context(&self) -> &'c Context {
        self.context
    }

    pub(super) fn resources(&self) -> &Arc<GraphResources> {
        &self.resources
    }

    pub(super) fn stream_config(&self) -> StreamConfig {
        self.config
    }

    /// The stream whose work is captured.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Keeps a value for as long as the graph may run: what code by raw handles uses.
    pub fn keep<T: Send + 'static>(&self, value: T) {
        self.resources.keep(value);
    }

    /// Copies pinned memory to the device, in the order of `stream`, one of the capture's
    /// (`cuMemcpyHtoDAsync`): at each launch what is in it then. The graph has the memory from now on.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the lengths differ, or when the stream is not the capture's;
    /// [`Error::WrongContext`]; what the driver returned. The pinned memory is dropped then, or with
    /// the capture.
    #[doc(alias = "cuMemcpyHtoDAsync")]
    #[track_caller]
    pub fn upload<'d, T: DeviceCopy>(
        &mut self,
        from: PinnedBuffer<T>,
        to: impl Into<DeviceSliceMut<'d, T>>,
        stream: &Stream,
    ) -> Result<Input<T>> {
        let to = to.into();
        self.check_stream(stream)?;
        check_lens(from.len(), to.len())?;
        from.check_context(stream)?;
        to.join(stream)?;
        let (start, bytes) = (from.as_ptr(), from.len() * size_of::<T>());
        let place = self.staging.add(from);
        // SAFETY: the graph keeps both as long as it may run, and the host touches the pinned memory
        // when no launch runs.
        unsafe { upload_raw(start.cast(), to.as_raw(), bytes, stream) }?;
        Ok(Input::new(place))
    }

    /// Copies from the device to pinned memory, in the order of `stream`, one of the capture's
    /// (`cuMemcpyDtoHAsync`). The graph has the memory from now on.
    ///
    /// # Errors
    /// As [`upload`](Self::upload).
    #[doc(alias = "cuMemcpyDtoHAsync")]
    #[track_caller]
    pub fn download<'d, T: DeviceCopy>(
        &mut self,
        from: impl Into<DeviceSlice<'d, T>>,
        to: PinnedBuffer<T>,
        stream: &Stream,
    ) -> Result<Output<T>> {
        let from = from.into();
        self.check_stream(stream)?;
        check_lens(from.len(), to.len())?;
        to.check_context(stream)?;
        from.join(stream)?;
        let (start, bytes) = (to.as_ptr(), to.len() * size_of::<T>());
        let place = self.staging.add(to);
        // SAFETY: the graph keeps both as long as it may run, and the host touches the pinned memory
        // when no launch runs.
        unsafe { download_raw(from.as_raw(), start.cast(), bytes, stream) }?;
        Ok(Output::new(place))
    }

    /// Calls `function` on a thread of the driver at each launch, in the order of `stream`, one of the
    /// capture's (`cuLaunchHostFunc`). It must not call CUDA; a panic ends in it. It is dropped when the
    /// graph is gone and its launches are over.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the stream is not the capture's; what the driver returned.
    #[doc(alias = "cuLaunchHostFunc")]
    #[track_caller]
    pub fn host<F: Fn() + Send + Sync + 'static>(
        &mut self,
        function: F,
        stream: &Stream,
    ) -> Result<()> {
        self.check_stream(stream)?;
        let function = HostFunction::new(function, self.core());
        let address = function.address();
        self.resources.keep(function);
        // SAFETY: the graph keeps the function as long as it may run; the stream is alive.
        stream.put(|driver, stream| unsafe {
            driver.cuLaunchHostFunc(stream, Some(call::<F>), address)
        })
    }

    /// The node of the last work on `stream`, one of the capture's (`cuStreamGetCaptureInfo`): to
    /// [change](super::GraphExec::set_kernel) it in executables. `None` where the stream has no work yet, or
    /// its next work comes after several nodes.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the stream is not the capture's; [`Error::Full`] when there are too many
    /// streams; [`Error::Unsupported`] by a driver before CUDA 11.3; what the driver returned.
    #[doc(alias = "cuStreamGetCaptureInfo")]
    #[track_caller]
    pub fn last_node(&mut self, stream: &Stream) -> Result<Option<Node>> {
        self.check_stream(stream)?;
        if self.named.is_none() {
            self.named = Some(self.context.streams().create(StreamConfig::default())?);
        }
        let mut status = CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        let (mut nodes, mut count) = (ptr::null(), 0);
        let mut kind = CUgraphNodeType::CU_GRAPH_NODE_TYPE_EMPTY;
        let mut found = None;
        stream.put(|driver, raw| {
            let (id, graph) = (ptr::null_mut(), ptr::null_mut());
            let (status, places) = (&raw mut status, &raw mut nodes);
            // SAFETY: the stream is alive; the places outlive the call, and what
            // may be null is.
            unsafe {
                driver.cuStreamGetCaptureInfo_v2(raw, status, id, graph, places, &raw mut count)?;
            }
            if count != 1 {
                return Ok(());
            }
            // SAFETY: the driver's list has this many nodes, until the next call for the stream, which is
            // this thread's.
            let node = unsafe { *nodes };
            // SAFETY: the node is alive, and `kind` outlives the call.
            unsafe { driver.cuGraphNodeGetType(node, &raw mut kind) }?;
            found = Some(node);
            Ok(())
        })?;
        let named = |node| Node::new(node, self.serial, NodeKind::of(kind));
        Ok(found.map(named))
    }

    pub(super) fn check_stream(&self, stream: &Stream) -> Result<()> {
        let is_ours = stream.is(&self.stream) || self.branches.iter().any(|it| it.is(stream));
        match is_ours {
            true => Ok(()),
            false => Err(Error::invalid("stream", "it is not one of the capture's")),
        }
    }

    /// Ends the capture, once.
    #[track_caller]
    fn end(&mut self) -> Result<RawGraph> {
        let joined = self.join_all();
        self.is_open = false;
        let mut graph = ptr::null_mut();
        // SAFETY: the stream is alive; `graph` outlives the call.
        let mut ended = self
            .stream
            .put(|driver, stream| unsafe { driver.cuStreamEndCapture(stream, &raw mut graph) });
        if ended.is_err() {
            ended = self.end_again(ended);
        }
        for stream in self.branches.iter().chain([&self.stream]) {
            stream.mark_captured(None);
        }
        if let Some(memory) = self.memory.take() {
            memory.end();
            drop(self.resources.end_capture());
            // Blocks that are still there began on it.
            self.resources
                .comes_after(memory.home().unwrap_or(&self.stream));
            self.resources.keep(memory);
        }
        ended?;
        let graph = RawGraph::new(graph, self.serial, self.core());
        joined?;
        Ok(graph)
    }
}

impl Capture<'_> {
    /// After an end that failed: a stream whose capture is open could be used by no caller any more.
    #[cold]
    #[track_caller]
    fn end_again(&self, failed: Result<()>) -> Result<()> {
        let is_open = |driver: &Driver, stream| is_capturing(driver, stream).unwrap_or(false);
        let mut graph = ptr::null_mut();
        let again = self.stream.put(|driver, stream| {
            if !is_open(driver, stream) {
                return Ok(());
            }
            // SAFETY: the stream is alive; `graph` outlives the call.
            unsafe { driver.cuStreamEndCapture(stream, &raw mut graph) }
        });
        if again.is_ok() && !graph.is_null() {
            drop(RawGraph::new(graph, self.serial, self.core()));
        }
        failed
    }
}

impl Drop for Capture<'_> {
    fn drop(&mut self) {
        // The closure has panicked.
        if self.is_open {
            drop(self.end());
        }
    }
}

impl fmt::Debug for Capture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture")
            .field("stream", &self.stream)
            .field("branches", &self.branches)
            .finish_non_exhaustive()
    }
}
