//! What captured streams do with work: it becomes nodes of a graph.

use cupola_sys::driver::{CUDA_MEMSET_NODE_PARAMS, CUresult};

use crate::device::calls::args::Reply;
use crate::device::contexts::context::Context;
use crate::device::graphs::{FillNode, HostNode, KernelNode, NodeKind, ValuesNode};
use crate::device::memory::Fill;
use crate::device::operations::op::Op;
use crate::device::streams::stream::{Kind, Stream};

impl Context {
    /// Whether a legacy stream may be used: not while a stream is captured that it would have to
    /// wait for, which ends the capture's use.
    pub(in crate::device) fn check_implied(&self, stream: &Stream) -> Reply {
        let captures = &self.device.graphs.captures;
        if stream.kind != Kind::Legacy || !captures.any() {
            return Ok(());
        }
        let implied = captures.implied(stream);
        implied.iter().for_each(|capture| capture.invalidate());
        match implied.is_empty() {
            true => Ok(()),
            false => Err(CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT),
        }
    }

    /// Whether a call may wait for a stream, or ask it: not while it is captured, which ends the
    /// capture's use.
    pub(in crate::device) fn check_uncaptured(&self, stream: &Stream) -> Reply {
        self.check_implied(stream)?;
        match stream.capture.is_taken() {
            true => Err(stream.capture.refuse()),
            false => Ok(()),
        }
    }

    /// Adds a node for a captured stream.
    pub(in crate::device) fn capture(&self, stream: &Stream, kind: NodeKind) -> Reply {
        let blocks = self.device.strict.blocks();
        let added = stream.capture.add(&self.device.graphs, (kind, blocks));
        added.map(drop)
    }

    /// Makes a node of an operation if the stream is captured; else gives it back.
    pub(super) fn divert(&self, stream: &Stream, op: Op) -> Reply<Option<Op>> {
        self.check_implied(stream)?;
        if !stream.capture.is_taken() {
            return Ok(Some(op));
        }
        let context = self.handle;
        let kind = match op {
            Op::Launch(launch) => NodeKind::Kernel(Box::new(KernelNode::new(*launch))),
            Op::Fill(fill) => NodeKind::Fill(Box::new(FillNode {
                params: params_of(&fill),
                fill: Some(fill),
                context,
            })),
            Op::Host(function, data) => NodeKind::Host(HostNode { function, data }),
            Op::Value(step) => NodeKind::Values(ValuesNode {
                params: vec![step.params()],
                steps: vec![step],
                context,
            }),
            // Copies come by another way, unless their call waits for them.
            Op::Copy(_)
            | Op::Record(_)
            | Op::Wait(_)
            | Op::Callback(..)
            | Op::Alloc(_)
            | Op::Free(_)
            | Op::Release(_)
            | Op::Branch(_)
            | Op::Reset(_) => {
                return Err(stream.capture.refuse());
            }
        };
        self.capture(stream, kind)?;
        Ok(None)
    }
}

/// What a program is told of a memset that was captured.
fn params_of(fill: &Fill) -> CUDA_MEMSET_NODE_PARAMS {
    let ([width, height, _], pitch, _) = fill.rows.shape();
    let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    CUDA_MEMSET_NODE_PARAMS {
        dst: fill.address,
        pitch: size(pitch),
        value: fill.value,
        elementSize: fill.width as u32,
        width: size(width) / fill.width,
        height: size(height),
    }
}
