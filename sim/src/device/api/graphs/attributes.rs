//! Attributes of kernel nodes.

use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::api::graphs::kernel::keep_attributes;
use crate::device::api::graphs::{INVALID, with_kind};
use crate::device::api::kernels::shape::set_attribute;
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;
use crate::device::graphs::{KernelNode, NodeKind};

use CUlaunchAttributeID as A;

fn get(
    call: &Call<'_>,
    node: CUgraphNode,
    attribute: CUkernelNodeAttrID,
    value: Out<CUkernelNodeAttrValue>,
) -> Reply {
    value.check()?;
    let told = with_kind(call, node, |kind| match kind {
        NodeKind::Kernel(node) => told(node, attribute),
        _ => Err(INVALID),
    })?;
    value.set(told)
}

fn told(node: &KernelNode, attribute: A) -> Reply<CUkernelNodeAttrValue> {
    let mut told = CUkernelNodeAttrValue::default();
    match attribute {
        A::CU_LAUNCH_ATTRIBUTE_COOPERATIVE => told.cooperative = node.launch.cooperative.into(),
        A::CU_LAUNCH_ATTRIBUTE_PRIORITY => told.priority = node.launch.priority.unwrap_or(0),
        A::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
        | A::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        | A::CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE
        | A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN
        | A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP
        | A::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => {
            told = node.hints.get(&attribute.0).copied().unwrap_or(told);
        }
        _ => return Err(INVALID),
    }
    Ok(told)
}

fn set(
    call: &Call<'_>,
    node: CUgraphNode,
    attribute: CUkernelNodeAttrID,
    value: In<CUkernelNodeAttrValue>,
) -> Reply {
    let value = value.get()?;
    let wanted = CUlaunchAttribute {
        id: attribute,
        value,
        ..Default::default()
    };
    with_kind(call, node, |kind| match kind {
        NodeKind::Kernel(node) => {
            set_attribute(call, &mut node.launch, &wanted)?;
            node.hints.insert(attribute.0, value);
            Ok(())
        }
        _ => Err(INVALID),
    })
}

fn copy(call: &Call<'_>, to: CUgraphNode, from: CUgraphNode) -> Reply {
    let kept = with_kind(call, from, |kind| match kind {
        NodeKind::Kernel(node) => Ok((**node).clone()),
        _ => Err(INVALID),
    })?;
    with_kind(call, to, |kind| match kind {
        NodeKind::Kernel(node) => {
            keep_attributes(&kept, node);
            Ok(())
        }
        _ => Err(INVALID),
    })
}

functions! {
    Initialized {
        cuGraphKernelNodeGetAttribute: (node: CUgraphNode, attribute: CUkernelNodeAttrID,
            value: *mut CUkernelNodeAttrValue) = get;
        cuGraphKernelNodeSetAttribute: (node: CUgraphNode, attribute: CUkernelNodeAttrID,
            value: *const CUkernelNodeAttrValue) = set;
        cuGraphKernelNodeCopyAttributes: (to: CUgraphNode, from: CUgraphNode) = copy;
    }
}
