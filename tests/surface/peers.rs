//! Several devices.

use cupola_sys::driver::*;

use crate::copies::code;
use crate::raw::Raw;

// Without it copies between devices could lose bytes, or enabling access twice pass.
#[test]
fn two_devices_exchange_bytes() {
    let Some(raw) = Raw::with_devices(2) else {
        eprintln!("skipped: there is one device");
        return;
    };
    let d = &raw.driver;
    let (mut other, mut there) = (std::ptr::null_mut(), 0);
    let mut can = 0;
    // SAFETY: places outlive the calls, and both allocations have 100 bytes.
    unsafe {
        d.cuDevicePrimaryCtxRetain(&raw mut other, 1).unwrap();
        d.cuCtxSetCurrent(other).unwrap();
        d.cuMemAlloc_v2(&raw mut there, 100).unwrap();
        d.cuCtxSetCurrent(raw.context).unwrap();
        let here = raw.upload(&[3; 100]);
        d.cuMemcpyPeer(there, other, here, raw.context, 100)
            .unwrap();
        assert_eq!(raw.download(there, 100), [3; 100]);
        d.cuDeviceCanAccessPeer(&raw mut can, raw.device, 1)
            .unwrap();
        let own = code(d.cuCtxEnablePeerAccess(raw.context, 0));
        // A device is not its own peer (driver 580).
        assert_eq!(own, CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
        let early = code(d.cuCtxDisablePeerAccess(other));
        assert_eq!(early, CUresult::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
        if can == 1 {
            d.cuCtxEnablePeerAccess(other, 0).unwrap();
            let again = code(d.cuCtxEnablePeerAccess(other, 0));
            assert_eq!(again, CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
            d.cuMemsetD8_v2(there, 4, 100).unwrap();
            d.cuCtxSynchronize().unwrap();
            assert_eq!(raw.download(there, 100), [4; 100]);
            d.cuCtxDisablePeerAccess(other).unwrap();
        } else {
            let refused = code(d.cuCtxEnablePeerAccess(other, 0));
            assert_eq!(refused, CUresult::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
        }
        raw.free(here);
        raw.free(there);
        d.cuDevicePrimaryCtxRelease_v2(1).unwrap();
    }
}

// Without it a device could be its own peer, and programs that ask all pairs would try.
#[test]
fn a_device_is_not_its_own_peer() {
    let raw = Raw::open();
    let mut can = -1;
    // SAFETY: the place outlives the calls.
    unsafe {
        let d = &raw.driver;
        d.cuDeviceCanAccessPeer(&raw mut can, raw.device, raw.device)
            .unwrap();
        assert_eq!(can, 0);
        let access = CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED;
        let link = d.cuDeviceGetP2PAttribute(&raw mut can, access, raw.device, raw.device);
        assert_eq!(code(link), CUresult::CUDA_ERROR_INVALID_DEVICE);
    }
}
