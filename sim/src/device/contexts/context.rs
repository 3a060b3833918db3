//! Contexts: their streams, and the order between them.
//!
//! The order is fixed when an operation is submitted, under the lock of the context's
//! streams: it waits only for operations that were submitted before it, so streams never
//! wait for each other in a circle.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::ThreadId;

use cupola_sys::driver::{CUlimit, CUresult};

use crate::device::calls::args::Reply;
use crate::device::contexts::green::{Green, Part};
use crate::device::contexts::health::Health;
use crate::device::machine::Device;
use crate::device::memory::{Heap, make_heap};
use crate::device::operations::op::Op;
use crate::device::streams::event::Event;
use crate::device::streams::stream::{Kind, Mode, Stream, Submitted, Until};
use crate::device::strict::{Finding, Origin, Trace};
use crate::device::sync::lock;

/// The least size of the kernels' heap, and what it is a multiple of; seen on an H200.
const SMALLEST_HEAP: usize = 4 << 20;
const HEAP_STEP: usize = 64 << 10;

/// The streams of a context other than its legacy default stream.
#[derive(Debug, Default)]
struct Streams {
    created: HashMap<u64, Arc<Stream>>,
    /// By thread and group.
    per_thread: HashMap<(ThreadId, u64), Arc<Stream>>,
    /// The default streams of green contexts, by the handles of these.
    parts: HashMap<u64, Arc<Stream>>,
    /// Where green contexts' events are recorded and waited for, likewise.
    hidden: HashMap<u64, [Arc<Stream>; 2]>,
    /// Where branches of executable graphs run, by the handles of these.
    lanes: HashMap<u64, Vec<Arc<Stream>>>,
    /// Destroyed while they had work.
    retiring: Vec<Arc<Stream>>,
    /// The context is being destroyed: there are no new streams.
    closed: bool,
}

impl Streams {
    fn all(&self) -> impl Iterator<Item = &Arc<Stream>> {
        self.created
            .values()
            .chain(self.per_thread.values())
            .chain(self.parts.values())
            .chain(&self.retiring)
    }

    /// With those that no call waits for.
    fn every(&self) -> impl Iterator<Item = &Arc<Stream>> {
        let hidden = self.hidden.values().flatten();
        self.all()
            .chain(hidden)
            .chain(self.lanes.values().flatten())
    }

    /// Lets go of destroyed streams that have finished.
    fn reap(&mut self) {
        self.retiring.retain(|stream| {
            let keep = !stream.is_idle();
            if !keep {
                stream.join();
            }
            keep
        });
    }
}

/// What a `CUcontext` names.
#[derive(Debug)]
pub(in crate::device) struct Context {
    pub(in crate::device) handle: u64,
    /// What `cuCtxGetId` gives: never used again.
    pub(in crate::device) id: u64,
    pub(in crate::device) flags: AtomicU32,
    pub(in crate::device) cache_config: AtomicU32,
    pub(in crate::device) primary: bool,
    pub(in crate::device) device: Arc<Device>,
    pub(in crate::device) health: Arc<Health>,
    pub(in crate::device) made: Origin,
    legacy: Arc<Stream>,
    streams: Mutex<Streams>,
    limits: Mutex<HashMap<u32, usize>>,
    /// What kernels allocate from, once a kernel was launched that may.
    heap: Mutex<Option<Arc<Heap>>>,
}

impl Context {
    pub(in crate::device) fn new(
        (handle, id): (u64, u64),
        (stream, stream_id): (u64, u64),
        device: &Arc<Device>,
        flags: u32,
        primary: bool,
    ) -> Arc<Self> {
        let health = Arc::new(Health::default());
        let legacy = Stream::new(
            (stream, stream_id),
            Arc::clone(&health),
            Arc::clone(device),
            None,
            (Kind::Legacy, 0, 0),
        );
        Arc::new(Self {
            handle,
            id,
            flags: AtomicU32::new(flags),
            cache_config: AtomicU32::new(0),
            primary,
            device: Arc::clone(device),
            health,
            made: device.strict.origin(),
            legacy,
            streams: Mutex::default(),
            limits: Mutex::new(default_limits()),
            heap: Mutex::default(),
        })
    }

    pub(in crate::device) fn legacy(&self) -> Arc<Stream> {
        Arc::clone(&self.legacy)
    }

    /// The calling thread's default stream; `ids` gives a new one its handle and id. It
    /// lives as long as the context, not the thread.
    pub(in crate::device) fn per_thread(
        &self,
        part: Option<Arc<Part>>,
        ids: impl FnOnce() -> (u64, u64),
    ) -> Reply<Arc<Stream>> {
        let mut streams = self.open_streams()?;
        let group = part.as_ref().map_or(0, |part| part.handle);
        let here = (std::thread::current().id(), group);
        let stream = streams.per_thread.entry(here);
        let stream = stream.or_insert_with(|| self.new_stream(ids(), part, (Kind::Blocking, 0, 0)));
        Ok(Arc::clone(stream))
    }

    pub(in crate::device) fn create_stream(
        &self,
        ids: (u64, u64),
        part: Option<Arc<Part>>,
        (flags, priority): (u32, i32),
    ) -> Reply<Arc<Stream>> {
        let kind = if flags & 1 == 0 {
            Kind::Blocking
        } else {
            Kind::NonBlocking
        };
        let stream = self.new_stream(ids, part, (kind, flags, priority));
        self.open_streams()?
            .created
            .insert(stream.handle, Arc::clone(&stream));
        Ok(stream)
    }

    fn open_streams(&self) -> Reply<MutexGuard<'_, Streams>> {
        let streams = lock(&self.streams);
        if streams.closed {
            Err(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED)
        } else {
            Ok(streams)
        }
    }

    fn new_stream(
        &self,
        ids: (u64, u64),
        part: Option<Arc<Part>>,
        shape: (Kind, u32, i32),
    ) -> Arc<Stream> {
        Stream::new(
            ids,
            Arc::clone(&self.health),
            Arc::clone(&self.device),
            part,
            shape,
        )
    }

    /// Takes a stream's handle away; work in it goes on.
    pub(in crate::device) fn destroy_stream(&self, handle: u64) -> Reply {
        let mut streams = lock(&self.streams);
        let stream = streams
            .created
            .remove(&handle)
            .ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
        stream.close();
        self.device.strict.stream_closed(stream.id);
        streams.retiring.push(stream);
        streams.reap();
        Ok(())
    }

    /// Makes the streams of a green context: its default stream, the one where events are
    /// recorded, and the one where they are waited for.
    pub(super) fn add_part(
        &self,
        part: &Arc<Part>,
        ids: [(u64, u64); 3],
    ) -> Reply<[Arc<Stream>; 3]> {
        let new = |ids, kind| self.new_stream(ids, Some(Arc::clone(part)), (kind, 0, 0));
        let legacy = new(ids[0], Kind::Legacy);
        let marker = new(ids[1], Kind::Marker);
        let gate = new(ids[2], Kind::NonBlocking);
        let mut streams = self.open_streams()?;
        streams.parts.insert(part.handle, Arc::clone(&legacy));
        let hidden = [Arc::clone(&marker), Arc::clone(&gate)];
        streams.hidden.insert(part.handle, hidden);
        Ok([legacy, marker, gate])
    }

    /// Closes the streams of a green context. Those that the program has made wait for it to
    /// destroy their handles.
    pub(super) fn remove_part(&self, part: u64) {
        let mut streams = lock(&self.streams);
        let created = streams.created.values();
        created
            .filter(|stream| stream.group() == part)
            .for_each(|stream| stream.close());
        let gone = streams.parts.remove(&part).into_iter();
        let hidden = streams.hidden.remove(&part).into_iter().flatten();
        let threads = streams
            .per_thread
            .extract_if(|(_, group), _| *group == part);
        let threads: Vec<_> = threads.map(|(_, stream)| stream).collect();
        let gone: Vec<_> = gone.chain(hidden).chain(threads).collect();
        for stream in gone {
            stream.close();
            self.device.strict.stream_closed(stream.id);
            streams.retiring.push(stream);
        }
        streams.reap();
    }

    /// Makes a stream for branches of an executable graph. What a launch puts there its own stream
    /// waits for, so no call has to.
    pub(in crate::device) fn add_lane(&self, exec: u64, ids: (u64, u64)) -> Reply<Arc<Stream>> {
        let stream = self.new_stream(ids, None, (Kind::NonBlocking, 1, 0));
        let mut streams = self.open_streams()?;
        let lanes = streams.lanes.entry(exec).or_default();
        lanes.push(Arc::clone(&stream));
        Ok(stream)
    }

    /// Closes the streams of an executable graph; work in them goes on.
    pub(in crate::device) fn remove_lanes(&self, exec: u64) {
        let mut streams = lock(&self.streams);
        for stream in streams.lanes.remove(&exec).into_iter().flatten() {
            stream.close();
            self.device.strict.stream_closed(stream.id);
            streams.retiring.push(stream);
        }
        streams.reap();
    }

    /// Queues what a stream of a green context has to wait for first.
    fn pass_gate(&self, stream: &Arc<Stream>, findings: &mut Vec<Finding>) -> Reply {
        let Some(part) = &stream.part else {
            return Ok(());
        };
        // Locked over the wait: another thread's work in the stream comes after it too.
        let mut seen = lock(&stream.gate_seen);
        if let Some((changes, record)) = part.gate_after(*seen) {
            let wait = Op::Wait(record);
            self.place(stream, wait, Mode::Async, findings)?.go();
            *seen = changes;
        }
        Ok(())
    }

    /// Submits an operation in its place between the streams.
    fn order(&self, stream: &Arc<Stream>, op: Op, mode: Mode) -> Reply<Submitted> {
        let mut findings = Vec::new();
        let submitted = self.submit_in_order(stream, op, mode, &mut findings);
        self.tell(&findings);
        submitted
    }

    fn submit_in_order(
        &self,
        stream: &Arc<Stream>,
        op: Op,
        mode: Mode,
        findings: &mut Vec<Finding>,
    ) -> Reply<Submitted> {
        self.pass_gate(stream, findings)?;
        self.place(stream, op, mode, findings)
    }

    fn place(
        &self,
        stream: &Arc<Stream>,
        op: Op,
        mode: Mode,
        findings: &mut Vec<Finding>,
    ) -> Reply<Submitted> {
        let device = &self.device;
        let trace = |op: &Op, findings| {
            let space = &device.space;
            device
                .strict
                .queue(space, self.handle, stream, op, findings)
        };
        if stream.kind == Kind::NonBlocking {
            let trace = trace(&op, findings);
            return stream.submit(op, trace, Vec::new(), mode);
        }
        let streams = lock(&self.streams);
        let trace = trace(&op, findings);
        let group = stream.group();
        let after = match stream.kind {
            Kind::Legacy => {
                let blocking = streams.all().filter(|stream| is_blocking(stream, group));
                blocking.filter_map(Stream::pending).collect()
            }
            Kind::Marker => {
                let part = streams.all().filter(|stream| stream.group() == group);
                part.filter_map(Stream::pending).collect()
            }
            Kind::Blocking | Kind::NonBlocking => {
                let legacies = streams.parts.values().chain([&self.legacy]);
                let seen = legacies.filter(|legacy| in_sight(group, legacy.group()));
                seen.filter_map(Stream::pending).collect()
            }
        };
        stream.submit(op, trace, after, mode)
    }

    /// Submits an operation; the call does not wait for it.
    pub(in crate::device) fn submit(&self, stream: &Arc<Stream>, op: Op) -> Reply {
        match self.divert(stream, op)? {
            Some(op) => self.enqueue(stream, op),
            None => Ok(()),
        }
    }

    /// What strict mode keeps of an operation that a queued one may put into the stream.
    pub(in crate::device) fn foresee(&self, stream: &Stream, op: &Op) -> Trace {
        let (device, mut findings) = (&self.device, Vec::new());
        let trace = device
            .strict
            .queue(&device.space, self.handle, stream, op, &mut findings);
        self.tell(&findings);
        trace
    }

    /// Submits an operation of a graph's launch.
    pub(in crate::device) fn enqueue(&self, stream: &Arc<Stream>, op: Op) -> Reply {
        self.order(stream, op, Mode::Async)?.go();
        Ok(())
    }

    /// Submits a new record of an event.
    pub(in crate::device) fn record(&self, stream: &Arc<Stream>, event: &Event) -> Reply {
        self.check_implied(stream)?;
        match event.record_captured(&stream.capture)? {
            true => Ok(()),
            false => self.enqueue_record(stream, event),
        }
    }

    /// Submits a new record of an event, of a graph's launch.
    pub(in crate::device) fn enqueue_record(&self, stream: &Arc<Stream>, event: &Event) -> Reply {
        let mut findings = Vec::new();
        let submitted = event.record(|record| {
            self.submit_in_order(stream, Op::Record(record), Mode::Async, &mut findings)
        });
        // Without the event's lock: the program's function may wait for who uses the event.
        self.tell(&findings);
        submitted?.go();
        Ok(())
    }

    fn tell(&self, findings: &[Finding]) {
        let strict = &self.device.strict;
        findings.iter().for_each(|found| strict.tell(found));
    }

    /// Submits an operation and waits for it.
    ///
    /// # Errors
    /// The context's fault, which may be the operation's own.
    pub(in crate::device) fn submit_and_wait(&self, stream: &Arc<Stream>, op: Op) -> Reply {
        self.check_uncaptured(stream)?;
        let submitted = self.order(stream, op, Mode::Sync)?;
        let seen = self.device.strict.seen(self.handle, stream);
        submitted.finish();
        self.device.strict.learn(seen.as_ref());
        self.health.check()
    }

    /// What an operation submitted to `stream` now would come after.
    fn before(&self, stream: &Arc<Stream>) -> Vec<Until> {
        let mut pending: Vec<_> = stream.pending().into_iter().collect();
        if stream.kind == Kind::Legacy {
            let (streams, group) = (lock(&self.streams), stream.group());
            let blocking = streams.all().filter(|stream| is_blocking(stream, group));
            pending.extend(blocking.filter_map(Stream::pending));
        }
        pending
    }

    /// Waits for a stream; for the legacy stream that includes all blocking streams.
    pub(in crate::device) fn synchronize_stream(&self, stream: &Arc<Stream>) -> Reply {
        let seen = self.device.strict.seen(self.handle, stream);
        self.before(stream).iter().for_each(Until::help);
        self.device.strict.learn(seen.as_ref());
        self.observe(stream);
        self.device.account.synchronized();
        self.health.check()
    }

    /// The program knows that a stream has finished, and so that its virtual time is over.
    fn observe(&self, stream: &Arc<Stream>) {
        let Some(schedule) = &self.device.schedule else {
            return;
        };
        schedule.observe(stream.ready_at());
        if stream.kind == Kind::Legacy {
            let (streams, group) = (lock(&self.streams), stream.group());
            let blocking = streams.all().filter(|stream| is_blocking(stream, group));
            blocking.for_each(|stream| schedule.observe(stream.ready_at()));
        }
    }

    pub(in crate::device) fn query_stream(&self, stream: &Arc<Stream>) -> Reply {
        let seen = self.device.strict.seen(self.handle, stream);
        let mut ready = self.before(stream).is_empty();
        if !ready && let Some(schedule) = &self.device.schedule {
            schedule.poll();
            ready = self.before(stream).is_empty();
        }
        if ready {
            self.observe(stream);
        }
        self.health.check()?;
        if ready {
            self.device.strict.learn(seen.as_ref());
            Ok(())
        } else {
            Err(CUresult::CUDA_ERROR_NOT_READY)
        }
    }

    /// Waits for all work of the context, green contexts' included, or of one of them.
    pub(in crate::device) fn synchronize(&self, green: Option<&Green>) -> Reply {
        let part = green.map(|green| green.part.handle);
        let seen = self.device.strict.seen_all(self.handle, part);
        self.idle(part, Until::help);
        self.device.strict.learn(seen.as_ref());
        self.device.account.synchronized();
        self.health.check()
    }

    /// Waits for all work of the context, whatever became of it.
    pub(in crate::device) fn wait_idle(&self) {
        self.idle(None, Until::wait);
    }

    fn idle(&self, part: Option<u64>, wait: impl Fn(&Until)) {
        let here = |stream: &&Arc<Stream>| part.is_none_or(|part| stream.group() == part);
        let pending: Vec<_> = {
            let mut streams = lock(&self.streams);
            streams.reap();
            streams
                .all()
                .chain([&self.legacy])
                .filter(here)
                .filter_map(Stream::pending)
                .collect()
        };
        pending.iter().for_each(wait);
        if let Some(schedule) = &self.device.schedule {
            let streams = lock(&self.streams);
            let all = streams.all().chain([&self.legacy]).filter(here);
            all.for_each(|stream| schedule.observe(stream.ready_at()));
        }
    }

    /// Waits for all work and ends the threads.
    pub(in crate::device) fn shut_down(&self) {
        self.wait_idle();
        let closed = Streams {
            closed: true,
            ..Streams::default()
        };
        let streams = std::mem::replace(&mut *lock(&self.streams), closed);
        for stream in streams.every().chain([&self.legacy]) {
            stream.close();
            stream.join();
        }
    }

    /// Ends the threads after what they do now, without waiting for them.
    pub(in crate::device) fn close(&self) {
        let mut streams = lock(&self.streams);
        streams.closed = true;
        let all = streams.every().chain([&self.legacy]);
        all.for_each(|stream| stream.close());
    }

    /// Whether the context is being destroyed.
    pub(in crate::device) fn is_closed(&self) -> bool {
        lock(&self.streams).closed
    }

    /// How many streams the program has created and not destroyed.
    pub(in crate::device) fn stream_count(&self) -> usize {
        lock(&self.streams).created.len()
    }

    pub(in crate::device) fn limit(&self, limit: CUlimit) -> Reply<usize> {
        let limits = lock(&self.limits);
        limits
            .get(&limit.0)
            .copied()
            .ok_or(CUresult::CUDA_ERROR_UNSUPPORTED_LIMIT)
    }

    /// The size of the kernels' heap can be set until the heap is there. It is rounded up.
    pub(in crate::device) fn set_limit(&self, limit: CUlimit, mut value: usize) -> Reply {
        let heap = lock(&self.heap);
        if limit == CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE {
            if heap.is_some() {
                return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
            }
            let rounded = value.max(SMALLEST_HEAP).checked_next_multiple_of(HEAP_STEP);
            value = rounded.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        }
        let mut limits = lock(&self.limits);
        let slot = limits
            .get_mut(&limit.0)
            .ok_or(CUresult::CUDA_ERROR_UNSUPPORTED_LIMIT)?;
        *slot = value;
        Ok(())
    }

    /// The heap that kernels allocate from; made when it is first asked for.
    pub(in crate::device) fn heap(&self) -> Reply<Arc<Heap>> {
        let mut heap = lock(&self.heap);
        if let Some(heap) = &*heap {
            return Ok(Arc::clone(heap));
        }
        // Under the heap's lock: the context's end takes the heap after it has closed.
        if self.is_closed() {
            return Err(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED);
        }
        let size = self.limit(CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE)?;
        let made = make_heap(self, size)?;
        *heap = Some(Arc::clone(&made));
        Ok(made)
    }

    /// Gives the heap back, after all work of the context has ended.
    pub(in crate::device) fn end_heap(&self) {
        if let Some(heap) = lock(&self.heap).take() {
            self.device.account.give(None, heap.bytes());
        }
    }

    /// The flags that the program gave.
    pub(in crate::device) fn flags(&self) -> u32 {
        self.flags.load(Ordering::Relaxed)
    }
}

/// Whether the stream is a blocking one that a default stream of the group comes after.
fn is_blocking(stream: &Stream, group: u64) -> bool {
    stream.kind == Kind::Blocking && in_sight(group, stream.group())
}

/// Whether blocking streams and default streams of a group come after those of another: a
/// green context sees its own, the context around it sees all (as on an H200).
pub(in crate::device) fn in_sight(group: u64, other: u64) -> bool {
    group == 0 || group == other
}

/// The limits that the device keeps; it enforces the size of the heap alone.
fn default_limits() -> HashMap<u32, usize> {
    let limits = [
        (CUlimit::CU_LIMIT_STACK_SIZE, 1024),
        (CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20),
        (CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE, 8 << 20),
        (CUlimit::CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2),
        (CUlimit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048),
        (CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64),
        (CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0),
    ];
    limits.map(|(limit, value)| (limit.0, value)).into()
}
