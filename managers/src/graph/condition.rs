//! Conditional nodes: graphs in a graph that run if a number on the device says so.

use std::ptr;
use std::slice;

use cupola_sys::Version;
use cupola_sys::driver::{
    CUDA_CONDITIONAL_NODE_PARAMS, CUgraphConditionalHandle, CUgraphConditionalNodeType,
    CUgraphNodeParams, CUgraphNodeType,
};

use super::raw::RawGraph;
use super::{GraphBuilder, Node, NodeKind, calls};
use crate::error::{Error, Result};
use crate::ops::{KernelArg, KernelParam, PassedAs};

/// `CU_GRAPH_COND_ASSIGN_DEFAULT`.
const ASSIGN_DEFAULT: u32 = 1;

/// A number on the device that one conditional node of a graph looks at (`CUgraphConditionalHandle`). A
/// kernel that gets it as an argument sets it, by `cudaGraphSetConditional`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    raw: CUgraphConditionalHandle,
    /// The serial of the graph whose node looks at it.
    graph: u64,
}

impl KernelArg for Condition {
    type Value = u64;

    fn value(&self) -> u64 {
        self.raw
    }
}

impl KernelParam for Condition {
    type Value = u64;
}

impl PassedAs<Condition> for Condition {}

/// What is in a [`Condition`] when a launch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionStart {
    /// This.
    Value(u32),
    /// What the launch before has left; 0 at first.
    Kept,
}

/// The graphs of conditional nodes are built by closures. They consist of kernels, copies and fills
/// within the device, empty nodes, other graphs and further conditional nodes, and use what the graph
/// around them keeps. Where a closure fails, the node is there with what it has by then: the builder is
/// of no use any more. All of this needs a driver of CUDA 12.3.
impl GraphBuilder {
    /// A number that one conditional node of this graph will look at (`cuGraphConditionalHandleCreate`).
    /// Kernels of the whole graph may set it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] by a driver before CUDA 12.3; [`Error::Poisoned`], [`Error::Forked`]; what
    /// the driver returned.
    #[doc(alias = "cuGraphConditionalHandleCreate")]
    #[track_caller]
    pub fn condition(&mut self, start: ConditionStart) -> Result<Condition> {
        let (value, flags) = match start {
            ConditionStart::Value(value) => (value, ASSIGN_DEFAULT),
            ConditionStart::Kept => (0, 0),
        };
        let core = self.core();
        let driver = core.enter()?;
        let mut raw = 0;
        let made = {
            let graph = self.raw.lock();
            let context = core.raw();
            // SAFETY: graph and context are alive, and `raw` outlives the call.
            unsafe {
                driver.cuGraphConditionalHandleCreate(
                    &raw mut raw,
                    graph.get(),
                    context,
                    value,
                    flags,
                )
            }
        };
        core.check(made)?;
        let graph = self.raw.serial();
        Ok(Condition { raw, graph })
    }

    /// A graph that runs if the number is not 0 (`CU_GRAPH_COND_TYPE_IF`).
    ///
    /// # Errors
    /// The error of `body`. [`Error::Invalid`] for a condition or a node of another graph;
    /// [`Error::Unsupported`] by a driver before CUDA 12.3; what the driver returned;
    /// [`Error::Poisoned`], [`Error::Forked`].
    #[doc(alias = "CU_GRAPH_COND_TYPE_IF")]
    #[track_caller]
    pub fn when<E: From<Error>>(
        &mut self,
        after: &[Node],
        condition: Condition,
        body: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<Node, E> {
        let kind = CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF;
        let (node, mut bodies) = self.add_conditional(after, condition, kind, 1)?;
        body(&mut self.body_of(&mut bodies, 0)?)?;
        Ok(node)
    }

    /// A graph that runs if the number is not 0, and one that runs if it is (`CU_GRAPH_COND_TYPE_IF`).
    ///
    /// # Errors
    /// As [`when`](Self::when); [`Error::Unsupported`] by a driver before CUDA 12.8.
    #[doc(alias = "CU_GRAPH_COND_TYPE_IF")]
    #[track_caller]
    pub fn when_else<E: From<Error>>(
        &mut self,
        after: &[Node],
        condition: Condition,
        body: impl FnOnce(&mut Self) -> Result<(), E>,
        otherwise: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<Node, E> {
        self.needs_12_8("a conditional node with an else")?;
        let kind = CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF;
        let (node, mut bodies) = self.add_conditional(after, condition, kind, 2)?;
        body(&mut self.body_of(&mut bodies, 0)?)?;
        otherwise(&mut self.body_of(&mut bodies, 1)?)?;
        Ok(node)
    }

    /// A graph that runs again and again, as long as the number is not 0 before it does
    /// (`CU_GRAPH_COND_TYPE_WHILE`).
    ///
    /// ```no_run
    /// use cupola_managers::graph::{ConditionStart, GraphBuilder};
    /// use cupola_managers::module::Function;
    /// use cupola_managers::ops::LaunchConfig;
    /// use cupola_managers::{Buffer, Error};
    ///
    /// // A kernel that works with `state`, and sets the condition to 0 when it has found what it sought.
    /// fn search(builder: &mut GraphBuilder, step: &Function, state: &mut Buffer<u32>) -> Result<(), Error> {
    ///     let goes_on = builder.condition(ConditionStart::Value(1))?;
    ///     builder.repeat_while(&[], goes_on, |body| {
    ///         // SAFETY: the kernel takes a condition and the address of its state.
    ///         unsafe { body.kernel(&[], step, LaunchConfig::linear(1, 32), (goes_on, &mut *state)) }?;
    ///         Ok::<_, Error>(())
    ///     })?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`when`](Self::when).
    #[doc(alias = "CU_GRAPH_COND_TYPE_WHILE")]
    #[track_caller]
    pub fn repeat_while<E: From<Error>>(
        &mut self,
        after: &[Node],
        condition: Condition,
        body: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<Node, E> {
        let kind = CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_WHILE;
        let (node, mut bodies) = self.add_conditional(after, condition, kind, 1)?;
        body(&mut self.body_of(&mut bodies, 0)?)?;
        Ok(node)
    }

    /// So many graphs, of which the one runs whose index the number is, and none if it is larger
    /// (`CU_GRAPH_COND_TYPE_SWITCH`). `body` is called for each index.
    ///
    /// # Errors
    /// As [`when_else`](Self::when_else); [`Error::Invalid`] for no graphs.
    #[doc(alias = "CU_GRAPH_COND_TYPE_SWITCH")]
    #[track_caller]
    pub fn switch<E: From<Error>>(
        &mut self,
        after: &[Node],
        condition: Condition,
        cases: u32,
        mut body: impl FnMut(u32, &mut Self) -> Result<(), E>,
    ) -> Result<Node, E> {
        self.needs_12_8("a conditional node of many graphs")?;
        if cases == 0 {
            let problem = "a switch has a graph at least";
            return Err(E::from(Error::invalid("cases", problem)));
        }
        let kind = CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_SWITCH;
        let (node, mut bodies) = self.add_conditional(after, condition, kind, cases)?;
        for case in 0..cases {
            body(case, &mut self.body_of(&mut bodies, case as usize)?)?;
        }
        Ok(node)
    }

    #[track_caller]
    fn needs_12_8(&self, what: &'static str) -> Result<()> {
        let driver = self.core().enter()?;
        calls::needs(driver, what, Version::new(12, 8))
    }

    /// Adds a conditional node (`cuGraphAddNode`), and tells its graphs.
    #[track_caller]
    fn add_conditional(
        &mut self,
        after: &[Node],
        condition: Condition,
        kind: CUgraphConditionalNodeType,
        size: u32,
    ) -> Result<(Node, Bodies)> {
        if condition.graph != self.raw.serial() {
            let problem = "it is another graph's, or a conditional node's within this one";
            return Err(Error::invalid("condition", problem));
        }
        let mut parameters = CUgraphNodeParams {
            type_: CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL,
            ..CUgraphNodeParams::default()
        };
        parameters.__bindgen_anon_1.conditional = CUDA_CONDITIONAL_NODE_PARAMS {
            handle: condition.raw,
            type_: kind,
            size,
            phGraph_out: ptr::null_mut(),
            ctx: self.core().raw(),
        };
        // SAFETY: the graph, its nodes and the context are alive, and all pointers outlive the call.
        let node = self.add(NodeKind::Conditional, after, |driver, node, to| unsafe {
            let parameters = &raw mut parameters;
            driver.cuGraphAddNode(node, to.graph, to.after, to.count, parameters)
        })?;
        // SAFETY: the member was set, by this function and by the call.
        let told = unsafe { parameters.__bindgen_anon_1.conditional }.phGraph_out;
        if told.is_null() {
            return Ok((node, Bodies(Vec::new())));
        }
        // SAFETY: the driver tells an array of so many graphs, which is the node's.
        let graphs = unsafe { slice::from_raw_parts(told, size as usize) };
        let bodies = graphs.iter().map(|graph| self.raw.body(*graph));
        Ok((node, Bodies(bodies.map(Some).collect())))
    }

    /// A builder of one of these graphs, once.
    fn body_of(&self, bodies: &mut Bodies, index: usize) -> Result<Self> {
        let graph = bodies.0.get_mut(index).and_then(Option::take);
        let graph = graph
            .ok_or_else(|| Error::invalid("condition", "the driver tells no graph of the node"))?;
        Ok(self.body(graph))
    }
}

/// The graphs of a conditional node.
struct Bodies(Vec<Option<RawGraph>>);
