//! `ColdFields`: the fields that few blocks need, apart from their header.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::driver::Identity;
use crate::error::Taints;
use crate::lists;
use crate::pool::heap::peer_uses::PeerUse;
use crate::pool::heap::stream_uses::StreamUses;
use crate::stream::{GraphResources, Stream};
use crate::sync::capacity::Permit;

/// The fields that few blocks need. What each operation on a block that has them looks at, whether it is tainted
/// and the stream of the newest use, is on one line: the end of the marks, and the beginning of the uses.
#[derive(Default)]
#[repr(C)]
pub(crate) struct ColdFields {
    /// Addresses that an operation has failed to write.
    taints: Taints,
    /// Streams other than its own that work with the block was put on.
    uses: StreamUses<Stream>,
    /// Contexts of other devices that work with the block was put in.
    peers: Mutex<Vec<PeerUse>>,
    /// Graphs that use the block.
    graphs: Mutex<Vec<Weak<GraphResources>>>,
    /// Its place among a limited number of buffers.
    _permit: Option<Permit>,
}

impl ColdFields {
    /// Of a buffer that has a place among a limited number.
    pub(crate) fn of_permit(permit: Permit) -> Self {
        Self {
            _permit: Some(permit),
            ..Self::default()
        }
    }

    /// Streams other than its own that work with the block was put on.
    #[inline]
    pub(crate) fn uses(&self) -> &StreamUses<Stream> {
        &self.uses
    }

    /// Whether the pool stays open to this context as long as the block is there.
    pub(crate) fn is_used_by(&self, context: Identity) -> bool {
        let peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        peers.iter().any(|known| known.context() == context)
    }

    /// Keeps the pool open until [`end_peer_uses`](Self::end_peer_uses).
    pub(crate) fn add_peer_use(&self, peer: PeerUse) {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        peers.push(peer);
    }

    /// The block is freed: its uses by other contexts are over, or come before what is put on this stream
    /// from now on.
    pub(crate) fn end_peer_uses(&mut self, behind: &Stream) {
        let peers = self.peers.get_mut().unwrap_or_else(PoisonError::into_inner);
        for peer in peers.drain(..) {
            peer.end(behind.deferred_ticket());
        }
    }

    /// Addresses that an operation has failed to write.
    #[inline]
    pub(crate) fn taints(&self) -> &Taints {
        &self.taints
    }

    /// A graph uses the block. Whether that is new.
    pub(crate) fn add_graph(&self, graph: &Arc<GraphResources>) -> bool {
        let mut graphs = self.graphs.lock().unwrap_or_else(PoisonError::into_inner);
        lists::retain(&mut graphs, |known| known.strong_count() > 0);
        let is_new = !graphs
            .iter()
            .any(|known| std::ptr::eq(known.as_ptr(), Arc::as_ptr(graph)));
        if is_new {
            graphs.push(Arc::downgrade(graph));
        }
        is_new
    }

    /// Takes out a graph that uses the block and may still run.
    pub(crate) fn take_graph(&mut self) -> Option<Arc<GraphResources>> {
        let graphs = self
            .graphs
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        while let Some(graph) = graphs.pop() {
            if let Some(graph) = graph.upgrade() {
                return Some(graph);
            }
        }
        None
    }

    /// The streams of [`uses`](Self::uses), for the block's only user.
    pub(crate) fn uses_mut(&mut self) -> &mut Vec<Stream> {
        self.uses.get_mut()
    }
}

const fn assert_shared<T: Send + Sync>() {}
const _: () = {
    assert_shared::<ColdFields>();
    assert_shared::<Stream>();
};
