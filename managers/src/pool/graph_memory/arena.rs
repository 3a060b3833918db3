//! `GraphArena`: memory that graphs use, each of them while it runs.

use std::any::Any;
use std::sync::Arc;

use crate::error::Result;
use crate::pool::inspect::layout::RunState;
use crate::pool::state::Pool;
use crate::stream::Stream;

/// A pool within a pool, for the memory of one graph, or of several that never run at the same time:
/// what was freed in one capture is there for the next. It ends with its last share.
///
/// Captures that share one have streams of their own. Their blocks are those of a `home`, which is
/// never captured, and reserved as long as the graphs may run: so no work but theirs is on the memory,
/// and a block that outlives its capture is free for the next one as soon as its owner drops it.
pub(crate) struct GraphArena {
    memory: Arc<Pool>,
    home: Option<Stream>,
}

impl GraphArena {
    /// The memory of one capture in this pool, which `open` keeps open. Its blocks are those of the
    /// stream that is captured.
    #[track_caller]
    pub(crate) fn new(outer: &Arc<Pool>, open: Arc<dyn Any + Send + Sync>) -> Result<Arc<Self>> {
        let memory = Pool::within(outer, open)?;
        Ok(Arc::new(Self { memory, home: None }))
    }

    /// The memory of any number of captures. Its blocks are those of this stream, which no work is on, and which is
    /// [reserved](Stream::mark_reserved).
    #[track_caller]
    pub(crate) fn shared(
        outer: &Arc<Pool>,
        open: Arc<dyn Any + Send + Sync>,
        home: Stream,
    ) -> Result<Arc<Self>> {
        match Pool::within(outer, open) {
            Ok(memory) => Ok(Arc::new(Self {
                memory,
                home: Some(home),
            })),
            Err(error) => {
                home.mark_captured(None);
                Err(error)
            }
        }
    }

    /// After a capture: gives what threads keep of freed blocks to the heap, where the next capture
    /// finds it in one piece, whichever thread that is on.
    pub(crate) fn gather(&self) {
        self.memory.drain();
    }

    pub(super) fn memory(&self) -> &Arc<Pool> {
        &self.memory
    }

    pub(super) fn home(&self) -> Option<&Stream> {
        self.home.as_ref()
    }

    /// Bytes of its pages.
    pub(crate) fn mapped(&self) -> Result<u64> {
        let layout = self.memory.layout()?;
        let runs = layout.regions.iter().flat_map(|region| &region.runs);
        let mapped = runs.filter(|run| run.state != RunState::Bare);
        Ok(mapped.map(|run| run.bytes).sum())
    }
}

impl Drop for GraphArena {
    fn drop(&mut self) {
        // No graph is left: blocks that are still out are buffers like others.
        if self.memory.core.not_forked().is_ok()
            && let Some(home) = &self.home
        {
            home.mark_captured(None);
        }
        // In a fork it is left alone for ever.
        self.memory.close();
    }
}
