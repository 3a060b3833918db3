//! Attributes of streams. Which there are, and their codes, are as on an H200.

use std::ffi::c_int;

use cupola_sys::driver::*;

use crate::device::api::contexts::context::{GREATEST_PRIORITY, LEAST_PRIORITY};
use crate::device::api::functions;
use crate::device::calls::args::{In, Out, Reply};
use crate::device::calls::call::Call;
use crate::device::sync::lock;

/// What a stream keeps for its program. Only the priority means something here, which the
/// stream has itself.
#[derive(Clone, Copy, Debug)]
pub(in crate::device) struct Attributes {
    window: CUaccessPolicyWindow,
    policy: CUsynchronizationPolicy,
    domains: CUlaunchMemSyncDomainMap,
    domain: CUlaunchMemSyncDomain,
}

// SAFETY: the window's address is kept and never followed.
unsafe impl Send for Attributes {}

impl Default for Attributes {
    fn default() -> Self {
        Self {
            window: CUaccessPolicyWindow::default(),
            // Not set: an H200 says so with a number that is no policy.
            policy: CUsynchronizationPolicy(u32::MAX),
            // The device has one domain.
            domains: CUlaunchMemSyncDomainMap {
                default_: 0,
                remote: 0,
            },
            domain: CUlaunchMemSyncDomain::CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT,
        }
    }
}

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

fn get(
    call: &Call<'_>,
    stream: CUstream,
    attribute: CUlaunchAttributeID,
    value: Out<CUstreamAttrValue>,
) -> Reply {
    use CUlaunchAttributeID as A;
    let (_, stream) = call.stream(stream)?;
    let kept = *lock(&stream.attributes);
    let mut told = CUstreamAttrValue::default();
    match attribute {
        A::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW => told.accessPolicyWindow = kept.window,
        A::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY => told.syncPolicy = kept.policy,
        A::CU_LAUNCH_ATTRIBUTE_PRIORITY => told.priority = stream.priority(),
        A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP => told.memSyncDomainMap = kept.domains,
        A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN => told.memSyncDomain = kept.domain,
        _ => return Err(INVALID),
    }
    value.set(told)
}

fn set(
    call: &Call<'_>,
    stream: CUstream,
    attribute: CUlaunchAttributeID,
    value: In<CUstreamAttrValue>,
) -> Reply {
    use CUlaunchAttributeID as A;
    let (_, stream) = call.stream(stream)?;
    let value = value.get()?;
    let mut kept = lock(&stream.attributes);
    // SAFETY: the attribute says which member of the union is set. All are numbers, apart
    // from the window's address, which may have any value too.
    unsafe {
        match attribute {
            A::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW => {
                let window = value.accessPolicyWindow;
                if !(0.0..=1.0).contains(&window.hitRatio) {
                    return Err(INVALID);
                }
                kept.window = window;
            }
            A::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY => {
                use CUsynchronizationPolicy as P;
                let known = P::CU_SYNC_POLICY_AUTO.0..=P::CU_SYNC_POLICY_BLOCKING_SYNC.0;
                if !known.contains(&value.syncPolicy.0) {
                    return Err(INVALID);
                }
                kept.policy = value.syncPolicy;
            }
            A::CU_LAUNCH_ATTRIBUTE_PRIORITY => stream.set_priority(clamp(value.priority)),
            A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP => {
                let map = value.memSyncDomainMap;
                if (map.default_, map.remote) != (0, 0) {
                    return Err(INVALID);
                }
                kept.domains = map;
            }
            A::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN => {
                let most = CUlaunchMemSyncDomain::CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
                if value.memSyncDomain.0 > most.0 {
                    return Err(INVALID);
                }
                kept.domain = value.memSyncDomain;
            }
            _ => return Err(INVALID),
        }
    }
    Ok(())
}

/// A priority outside of the range is moved into it.
pub(in crate::device::api) fn clamp(priority: c_int) -> c_int {
    priority.clamp(GREATEST_PRIORITY, LEAST_PRIORITY)
}

/// Copies the priority too, as an H200 does.
fn copy(call: &Call<'_>, to: CUstream, from: CUstream) -> Reply {
    let (context, to) = call.stream(to)?;
    let (owner, from) = call.stream(from)?;
    if context.handle != owner.handle {
        return Err(INVALID);
    }
    let attributes = *lock(&from.attributes);
    *lock(&to.attributes) = attributes;
    to.set_priority(from.priority());
    Ok(())
}

functions! {
    Initialized {
        cuStreamGetAttribute, cuStreamGetAttribute_ptsz: (stream: CUstream,
            attribute: CUstreamAttrID, value: *mut CUstreamAttrValue) = get;
        cuStreamSetAttribute, cuStreamSetAttribute_ptsz: (stream: CUstream,
            attribute: CUstreamAttrID, value: *const CUstreamAttrValue) = set;
        cuStreamCopyAttributes, cuStreamCopyAttributes_ptsz: (to: CUstream, from: CUstream)
            = copy;
    }
}
