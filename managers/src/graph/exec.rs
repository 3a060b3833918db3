//! `GraphExec`: a graph that can be launched.

use std::collections::HashMap;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex};
use std::thread;

use cupola_sys::driver::{CUgraphExec, id};

use super::node::NamedNodes;
use super::order::LaunchOrder;
use super::staging::Staging;
use super::{Input, Output};
use crate::buffer::DeviceCopy;
use crate::driver::{ContextCore, Kind, is_reactor};
use crate::error::{Error, Result};
use crate::lists;
use crate::stream::timeline::OnDone;
use crate::stream::{GraphResources, Stream};
use crate::sync;

/// An executable graph (`CUgraphExec`). Its launches run one after the other, on whatever streams.
///
/// Dropping it waits for nothing: what launches use is kept until they are over.
pub struct GraphExec {
    raw: CUgraphExec,
    /// The number under which its launches are remembered.
    number: u32,
    pub(super) uses: Uses,
    /// Of an executable that shares memory with others.
    pub(super) order: Option<Arc<LaunchOrder>>,
    /// Of one whose nodes have names.
    nodes: Option<Arc<NamedNodes>>,
    /// Bytes of the device that it took, where that was looked at.
    memory: Option<u64>,
    core: Arc<ContextCore>,
}

/// What launches use, and how far they may have come.
#[derive(Default)]
pub(super) struct Uses {
    /// Of the graph, and of those that the executable was updated to or nearly so.
    pub(super) resources: Vec<Arc<GraphResources>>,
    pub(super) staging: Staging,
    /// Of nodes that were changed, by the address of the node: of its last change, and of those before
    /// that it may use because a later one failed.
    changes: HashMap<usize, Vec<Arc<GraphResources>>>,
    /// Those of the changes that launches may have to wait for.
    pending: Vec<Arc<GraphResources>>,
    /// The streams of launches that may run, with the tickets that they end by.
    launched: Vec<(Stream, u64)>,
    /// The stream, by its serial, whose launches come after all that the resources do; 0 for none.
    pub(super) ordered: u64,
}

// SAFETY: a CUgraphExec is bound to no thread; everything else is Send.
unsafe impl Send for GraphExec {}

impl GraphExec {
    pub(super) fn new(
        raw: CUgraphExec,
        core: &Arc<ContextCore>,
        resources: Arc<GraphResources>,
        staging: Staging,
        order: Option<Arc<LaunchOrder>>,
        nodes: Option<Arc<NamedNodes>>,
    ) -> Self {
        core.ledger().add(Kind::GraphExec, 1);
        core.executables().add();
        let uses = Uses {
            resources: vec![resources],
            staging,
            ..Uses::default()
        };
        Self {
            raw,
            number: core.launches().name(c"graph"),
            uses,
            order,
            nodes,
            memory: None,
            core: Arc::clone(core),
        }
    }

    pub(super) fn as_raw(&self) -> CUgraphExec {
        self.raw
    }

    pub(super) fn core(&self) -> &Arc<ContextCore> {
        &self.core
    }

    /// The nodes of the graph that it was made of, where they have names.
    pub(super) fn nodes(&self) -> Option<&Arc<NamedNodes>> {
        self.nodes.as_ref()
    }

    /// It took so many bytes of the device.
    pub(super) fn note_memory(&mut self, bytes: u64) {
        self.memory = Some(bytes);
        self.core.executables().add_measured(bytes);
    }

    /// Bytes of the device that the executable took when it was made and uploaded, of one that was
    /// [measured](super::Graph::instantiate_measured) then.
    #[must_use]
    pub fn device_memory(&self) -> Option<u64> {
        self.memory
    }

    /// Launches the graph (`cuGraphLaunch`): in the order of `stream`, and after the launch before, of
    /// a graph of a [group](super::GraphGroup) after that of whichever graph of the group.
    ///
    /// # Errors
    /// [`Error::WrongContext`] when the stream is another context's; [`Error::Capturing`] while it is
    /// captured, or that of the launch before in a group by code that this crate does not see; [`Error::Poisoned`], [`Error::Forked`]; in
    /// [checked mode](crate::Context::set_checked) [`Error::Unverified`]; what the driver returned.
    #[doc(alias = "cuGraphLaunch")]
    #[inline]
    #[track_caller]
    pub fn launch(&mut self, stream: &Stream) -> Result<()> {
        if !stream.is_in(&self.core) {
            return Err(Error::WrongContext { what: "the graph" });
        }
        stream.refuse_marked("launch a graph")?;
        if self.uses.ordered != stream.serial() || !self.uses.pending.is_empty() {
            self.order_uses(stream)?;
        }
        if let Some(order) = &self.order {
            let order = Arc::clone(order);
            return self.put_in_turn(&order, stream);
        }
        let launched = self.put(stream);
        // Also after an error: the graph may run all the same.
        self.uses.note_launch(stream);
        launched
    }

    /// Makes work on `stream` wait for the allocation of what the graph uses.
    #[cold]
    #[track_caller]
    fn order_uses(&mut self, stream: &Stream) -> Result<()> {
        // In a fork another thread may have left a lock taken.
        self.core.not_forked()?;
        if self.uses.ordered != stream.serial() {
            for resources in &self.uses.resources {
                resources.order(stream)?;
            }
            self.uses.ordered = stream.serial();
        }
        self.uses.order_changes(stream)
    }

    /// Launches the graph after the last launch of its group.
    #[cold]
    #[track_caller]
    fn put_in_turn(&mut self, order: &LaunchOrder, stream: &Stream) -> Result<()> {
        self.core.not_forked()?;
        let turn = order.take_turn(stream)?;
        let launched = self.put(stream);
        turn.end(stream, self.uses.note_launch(stream));
        launched
    }

    /// Puts the launch on the stream.
    #[inline]
    #[track_caller]
    fn put(&self, stream: &Stream) -> Result<()> {
        let raw = self.raw;
        // SAFETY: both are alive and of one context; what the graph uses is kept, and no other graph runs
        // that uses the same memory.
        stream.submit_launch(
            id::cuGraphLaunch,
            self.number,
            move |driver, stream| unsafe { driver.cuGraphLaunch(raw, stream) },
        )
    }

    /// Prepares a first launch on `stream` (`cuGraphUpload`), which then takes no longer than the next
    /// ones.
    ///
    /// # Errors
    /// As [`launch`](Self::launch); [`Error::Unsupported`] by a driver before CUDA 11.1.
    #[doc(alias = "cuGraphUpload")]
    #[track_caller]
    pub fn upload(&mut self, stream: &Stream) -> Result<()> {
        if !stream.is_in(&self.core) {
            return Err(Error::WrongContext { what: "the graph" });
        }
        stream.refuse_marked("upload a graph")?;
        let raw = self.raw;
        // SAFETY: both are alive and of one context.
        stream.put(|driver, stream| unsafe { driver.cuGraphUpload(raw, stream) })
    }

    /// Waits on the host until all launches so far are over.
    ///
    /// # Errors
    /// What the driver returned: the error of failed work among it; [`Error::Capturing`] while a stream
    /// of them is captured; [`Error::Poisoned`], [`Error::Forked`].
    #[doc(alias = "cuEventSynchronize")]
    #[track_caller]
    pub fn synchronize(&mut self) -> Result<()> {
        self.core.healthy()?;
        while let Some((stream, ticket)) = self.uses.launched.last() {
            if !stream.timeline().is_done(*ticket) {
                stream.ticket()?.wait()?;
            }
            self.uses.launched.pop();
        }
        Ok(())
    }

    /// The elements that the graph copies to the device, to be written for the next launch. Waits
    /// until the launches so far are over.
    ///
    /// # Errors
    /// [`Error::Invalid`] when it is another graph's; as [`synchronize`](Self::synchronize).
    #[track_caller]
    pub fn input<T: DeviceCopy>(&mut self, input: Input<T>) -> Result<&mut [T]> {
        self.synchronize()?;
        self.uses.staging.get_mut(input.place)?.as_mut_slice()
    }

    /// The elements that the last launch has copied from the device. Waits until it is over.
    ///
    /// # Errors
    /// As [`input`](Self::input); also [`Error::Invalid`] when the device has written bytes that are no
    /// value of `T`.
    #[track_caller]
    pub fn output<T: DeviceCopy>(&mut self, output: Output<T>) -> Result<&[T]> {
        self.synchronize()?;
        self.uses.staging.get(output.place)?.as_slice()
    }
}

impl Uses {
    /// A launch is on `stream`: the ticket that it is over by.
    #[inline]
    fn note_launch(&mut self, stream: &Stream) -> u64 {
        let ticket = stream.timeline().stamp();
        match self.launched.iter_mut().find(|(known, _)| known.is(stream)) {
            Some((_, known)) => *known = ticket,
            None => self.note_new(stream, ticket),
        }
        ticket
    }

    #[cold]
    fn note_new(&mut self, stream: &Stream, ticket: u64) {
        lists::retain(&mut self.launched, |(known, ticket)| {
            !known.timeline().is_done(*ticket)
        });
        self.launched.push((stream.clone(), ticket));
    }

    /// A node may use this from now on. What it uses so far is kept as well: a call that fails may have
    /// changed it.
    pub(super) fn begin_change(&mut self, node: usize, new: &Arc<GraphResources>) {
        self.pending.push(Arc::clone(new));
        self.changes.entry(node).or_default().push(Arc::clone(new));
    }

    /// The node's last change is what it uses, and nothing that it was changed to before.
    pub(super) fn end_change(&mut self, node: usize) {
        let Some(changes) = self.changes.get_mut(&node) else {
            return;
        };
        let old: Vec<_> = changes.drain(..changes.len().saturating_sub(1)).collect();
        if old.is_empty() {
            return;
        }
        let is_old = |it: &Arc<GraphResources>| old.iter().any(|old| Arc::ptr_eq(old, it));
        lists::retain(&mut self.pending, |it| !is_old(it));
        self.retire(old);
    }

    /// Nothing that nodes were changed to is used any more.
    pub(super) fn forget_changes(&mut self) -> impl Iterator<Item = Arc<GraphResources>> {
        self.pending.clear();
        self.changes.drain().flat_map(|(_, resources)| resources)
    }

    /// Makes later work on `stream` wait for the allocation of what nodes were changed to.
    #[track_caller]
    fn order_changes(&mut self, stream: &Stream) -> Result<()> {
        for resources in &self.pending {
            resources.order(stream)?;
        }
        lists::retain(&mut self.pending, |resources| !resources.is_ordered());
        Ok(())
    }

    /// Splits off what is used no more after the launches so far: it goes when they are over.
    pub(super) fn retire(&self, resources: Vec<Arc<GraphResources>>) {
        let launched = self.launched.clone();
        Self {
            resources,
            launched,
            ..Self::default()
        }
        .drop_later();
    }

    /// Drops this when its launches are over.
    fn drop_later(mut self) {
        let launched = std::mem::take(&mut self.launched);
        let pending = |(stream, ticket): &(Stream, u64)| !stream.timeline().is_done(*ticket);
        let launched: Vec<_> = launched.into_iter().filter(pending).collect();
        if launched.is_empty() {
            return;
        }
        let retired = Arc::new(Retired {
            uses: Mutex::new((launched.len(), Some(self))),
            watches: Mutex::default(),
        });
        for (stream, ticket) in launched {
            let uses = Arc::clone(&retired);
            let over = move |result: Result<()>| uses.note_end(&result);
            let watch = stream.timeline().on_done(stream.core(), ticket, over);
            sync::lock(&retired.watches).push(watch);
        }
    }
}

/// What the launches of a dropped executable use.
struct Retired {
    /// With the number of streams whose launches may run.
    uses: Mutex<(usize, Option<Uses>)>,
    watches: Mutex<Vec<OnDone>>,
}

impl Retired {
    /// The launches of one stream are over, or it is not known of them.
    fn note_end(&self, result: &Result<()>) {
        let is_over = match result {
            Ok(()) => true,
            // Nothing runs in a context that is lost, or will: its memory is handed out no more.
            Err(error) => matches!(error, Error::Poisoned { .. }),
        };
        let uses = {
            let (left, uses) = &mut *sync::lock(&self.uses);
            *left -= 1;
            match is_over && *left > 0 {
                true => None,
                false => uses.take(),
            }
        };
        if !is_over {
            // What the graph uses is left alone for ever.
            let _for_ever = ManuallyDrop::new(uses);
        } else if uses.is_some() && is_reactor() {
            // Pinned memory and modules wait for the device when they are dropped.
            let thread = thread::Builder::new().name("cupola-release".into());
            // Where there can be no thread they are dropped here.
            let _ended_or_here = thread.spawn(move || drop(uses));
        }
    }
}

impl Drop for GraphExec {
    fn drop(&mut self) {
        self.core.executables().remove(self.memory);
        let raw = self.raw;
        // SAFETY: made by the driver for this owner, and used no more; the driver lets launches end.
        let _ = self.core.dispose(Kind::GraphExec, |driver| unsafe {
            driver.cuGraphExecDestroy(raw)
        });
        std::mem::take(&mut self.uses).drop_later();
    }
}

impl fmt::Debug for GraphExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphExec")
            .field("launched", &self.uses.launched)
            .finish_non_exhaustive()
    }
}
