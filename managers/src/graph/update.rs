//! Updating an executable to another graph of the same shape.

use std::fmt;
use std::sync::Arc;

use cupola_sys::driver::{CUgraphExecUpdateResult, CUresult, DriverError};

use super::calls;
use super::order::join_order;
use super::{Graph, GraphExec};
use crate::driver::RelaxedCapture;
use crate::error::{Error, Result};

/// How an update ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "an executable that was not updated launches what it launched before"]
pub enum Update {
    /// The executable launches the other graph from now on.
    Done,
    /// The other graph is no such graph: instantiate it.
    Refused(UpdateRefusal),
}

/// The reason why an executable cannot be updated to a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpdateRefusal {
    /// The driver's number for it.
    pub result: CUgraphExecUpdateResult,
}

impl fmt::Display for UpdateRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use CUgraphExecUpdateResult as R;
        f.write_str(match self.result {
            R::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED => {
                "the graphs differ in their nodes or edges"
            }
            R::CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED => "a node is of another type",
            R::CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED => {
                "a kernel is of another context, or no kernel of this driver"
            }
            R::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED => {
                "a node's parameters differ in what cannot be changed"
            }
            R::CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED => "a node cannot be changed at all",
            R::CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE => {
                "a kernel changed in a way that cannot be changed"
            }
            R::CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED => {
                "a kernel's attributes differ in what cannot be changed"
            }
            _ => "the driver does not say why",
        })
    }
}

impl GraphExec {
    /// Makes later launches those of `graph`, which has the same nodes and edges with other parameters
    /// (`cuGraphExecUpdate`): microseconds in place of the tens or hundreds of an instantiation.
    /// Launches that run are not touched.
    ///
    /// # Errors
    /// [`Error::WrongContext`]; [`Error::Invalid`] where `graph` copies from or to pinned memory, which an
    /// executable gets when it is made, or is of another [group](super::GraphGroup); what the driver
    /// returned; [`Error::Poisoned`], [`Error::Forked`]. A graph of another shape is
    /// [`Update::Refused`].
    #[doc(alias = "cuGraphExecUpdate")]
    #[track_caller]
    pub fn update(&mut self, graph: &Graph) -> Result<Update> {
        if !self.core().shares_objects(graph.core()) {
            return Err(Error::WrongContext { what: "the graph" });
        }
        graph.refuse_pinned()?;
        join_order(&mut self.order, graph.order.as_ref())?;
        let core = Arc::clone(self.core());
        let driver = core.enter()?;
        // Before the call: one that fails may have changed some nodes.
        self.uses.resources.push(Arc::clone(&graph.resources));
        self.uses.ordered = 0;
        let (updated, result) = {
            let _relaxed = RelaxedCapture::uncounted(driver);
            let graph = graph.raw.lock();
            // SAFETY: both are alive.
            unsafe { calls::update(driver, self.as_raw(), graph.get()) }
        };
        match updated {
            Ok(()) => {
                let last = self.uses.resources.len() - 1;
                let mut before: Vec<_> = self.uses.resources.drain(..last).collect();
                before.extend(self.uses.forget_changes());
                // Launches that run use it, and the pinned memory stays the executable's.
                self.uses.retire(before);
                Ok(Update::Done)
            }
            Err(DriverError::Failed { code, .. })
                if code == CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE =>
            {
                Ok(Update::Refused(UpdateRefusal { result }))
            }
            Err(call) => core.check(Err(call)),
        }
    }
}
