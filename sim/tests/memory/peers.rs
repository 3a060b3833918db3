//! Several devices: who may access whose memory.

use cupola_sim::{DeviceConfig, Machine, MachineBuilder};
use cupola_sys::driver::*;

use crate::support::vmm::{PAGE, READ_WRITE, Vmm};
use crate::support::{Code, TestBench, code};

const INVALID: Code = CUresult::CUDA_ERROR_INVALID_VALUE;
const ILLEGAL: Code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;

/// Adds one to the number at an address.
const BUMP: &str = "
.version 7.0
.target sm_60
.address_size 64
.visible .entry bump(.param .u64 at) {
    .reg .u64 %a; .reg .u32 %v;
    ld.param.u64 %a, [at];
    ld.global.u32 %v, [%a];
    add.u32 %v, %v, 1;
    st.global.u32 [%a], %v;
    ret;
}";

/// A context on each of two devices; the first one's is current.
struct Pair {
    bench: TestBench,
    other: CUcontext,
}

impl Pair {
    fn new(builder: MachineBuilder) -> Self {
        let bench = TestBench::with(builder);
        let mut other = std::ptr::null_mut();
        // SAFETY: the place outlives the call.
        unsafe { bench.driver.cuCtxCreate_v2(&raw mut other, 0, 1) }.unwrap();
        bench.attach();
        Self { bench, other }
    }

    /// Memory of the second device that holds the number.
    fn theirs(&self, number: u32) -> CUdeviceptr {
        // SAFETY: the context lives.
        unsafe { self.bench.driver.cuCtxSetCurrent(self.other) }.unwrap();
        let address = self.bench.alloc(4);
        self.bench.upload(address, &number.to_le_bytes());
        self.bench.attach();
        address
    }

    /// Runs the kernel in the first context.
    fn bump(&self, at: CUdeviceptr) -> Code {
        let module = self.bench.load(BUMP);
        let function = self.bench.function(module, c"bump");
        let none = std::ptr::null_mut();
        let launched = self.bench.launch(function, 1, 1, none, &[at]);
        assert_eq!(launched, CUresult::CUDA_SUCCESS);
        // SAFETY: no pointers.
        let code = code(unsafe { self.bench.driver.cuCtxSynchronize() });
        if code == CUresult::CUDA_SUCCESS {
            self.bench.unload(module);
        }
        code
    }

    fn finish(self) {
        // SAFETY: the context lives.
        unsafe { self.bench.driver.cuCtxDestroy_v2(self.other) }.unwrap();
        self.bench.finish();
    }
}

/// Without it, a program that forgets to enable peer access would work here and fail on a
/// GPU, or one that enables it would fail here.
#[test]
fn kernels_need_peer_access() {
    let pair = Pair::new(Machine::builder().devices(2));
    let (d, theirs) = (&pair.bench.driver, pair.theirs(41));
    // SAFETY: the context lives.
    unsafe { d.cuCtxEnablePeerAccess(pair.other, 0) }.unwrap();
    assert_eq!(pair.bump(theirs), CUresult::CUDA_SUCCESS);
    assert_eq!(pair.bench.download(theirs, 4), 42u32.to_le_bytes());
    // SAFETY: the context lives.
    unsafe { d.cuCtxDisablePeerAccess(pair.other) }.unwrap();
    assert_eq!(pair.bump(theirs), ILLEGAL);
}

/// Without it, a memset could write where a kernel must not.
#[test]
fn memsets_need_peer_access() {
    let pair = Pair::new(Machine::builder().devices(2));
    let (d, theirs) = (&pair.bench.driver, pair.theirs(0));
    // SAFETY: device memory is checked.
    unsafe {
        d.cuCtxEnablePeerAccess(pair.other, 0).unwrap();
        d.cuMemsetD8_v2(theirs, 1, 4).unwrap();
        d.cuCtxSynchronize().unwrap();
        d.cuCtxDisablePeerAccess(pair.other).unwrap();
        d.cuMemsetD8_v2(theirs, 2, 4).unwrap();
        assert_eq!(code(d.cuCtxSynchronize()), ILLEGAL);
        d.cuCtxSetCurrent(pair.other).unwrap();
    }
    assert_eq!(pair.bench.download(theirs, 4), [1; 4]);
    let messages = pair.bench.machine.messages();
    assert!(
        messages
            .iter()
            .any(|text| text.contains("memory of device 1")),
        "{messages:?}"
    );
}

/// Without it, the codes of a program's mistakes would be made up.
#[test]
fn peer_access_is_enabled_once_and_one_way() {
    use CUresult as R;
    let builder = Machine::builder().devices(3).without_peer_access(0, 2);
    let pair = Pair::new(builder);
    let (d, null) = (&pair.bench.driver, std::ptr::null_mut());
    let mut third = std::ptr::null_mut();
    let can = |device, peer| {
        let mut answer = -1;
        // SAFETY: the place outlives the call.
        unsafe { d.cuDeviceCanAccessPeer(&raw mut answer, device, peer) }.unwrap();
        answer
    };
    let link = |attribute, from, to| {
        let mut answer = -1;
        // SAFETY: the place outlives the call.
        let result = unsafe { d.cuDeviceGetP2PAttribute(&raw mut answer, attribute, from, to) };
        (code(result), answer)
    };
    assert_eq!(
        (can(0, 1), can(1, 0), can(0, 2), can(2, 0), can(1, 1)),
        (1, 1, 0, 1, 0)
    );
    let access = CUdevice_P2PAttribute::CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED;
    assert_eq!(link(access, 0, 1), (R::CUDA_SUCCESS, 1));
    assert_eq!(link(access, 0, 2), (R::CUDA_SUCCESS, 0));
    assert_eq!(link(access, 1, 1).0, R::CUDA_ERROR_INVALID_DEVICE);
    assert_eq!(link(access, 0, 3).0, R::CUDA_ERROR_INVALID_DEVICE);
    assert_eq!(link(CUdevice_P2PAttribute(99), 0, 1).0, INVALID);
    // SAFETY: contexts are looked up; the place outlives the call.
    unsafe {
        d.cuCtxCreate_v2(&raw mut third, 0, 2).unwrap();
        pair.bench.attach();
        let own = pair.bench.context;
        let enable = |context, flags| code(d.cuCtxEnablePeerAccess(context, flags));
        let disable = |context| code(d.cuCtxDisablePeerAccess(context));
        assert_eq!(enable(null, 0), R::CUDA_ERROR_INVALID_CONTEXT);
        assert_eq!(enable(own, 0), R::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
        assert_eq!(enable(pair.other, 1), INVALID);
        assert_eq!(enable(third, 0), R::CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
        assert_eq!(disable(pair.other), R::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
        assert_eq!(enable(pair.other, 0), R::CUDA_SUCCESS);
        assert_eq!(
            enable(pair.other, 0),
            R::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
        );
        d.cuCtxSetCurrent(pair.other).unwrap();
        assert_eq!(disable(own), R::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
        pair.bench.attach();
        assert_eq!(disable(pair.other), R::CUDA_SUCCESS);
        d.cuCtxDestroy_v2(third).unwrap();
        assert_eq!(enable(third, 0), R::CUDA_ERROR_INVALID_CONTEXT);
    }
    pair.finish();
}

/// Without it, a primary context that is made anew would inherit the access that its
/// predecessor had given.
#[test]
fn access_ends_with_the_peer() {
    let bench = TestBench::with(Machine::builder().devices(2));
    let (d, mut other) = (&bench.driver, std::ptr::null_mut());
    // SAFETY: the places outlive the calls.
    unsafe {
        for _ in 0..2 {
            d.cuDevicePrimaryCtxRetain(&raw mut other, 1).unwrap();
            d.cuCtxEnablePeerAccess(other, 0).unwrap();
            d.cuDevicePrimaryCtxRelease_v2(1).unwrap();
        }
    }
    bench.finish();
}

/// Without it, devices of another generation could be peers, which no driver allows.
#[test]
fn peers_have_the_same_major_capability() {
    let builder = Machine::builder().device(DeviceConfig::new().compute_capability(8, 0));
    let builder = builder.add_device(DeviceConfig::new().compute_capability(9, 0));
    let pair = Pair::new(builder.add_device(DeviceConfig::new().compute_capability(8, 6)));
    let can = |device, peer| {
        let mut answer = -1;
        // SAFETY: the place outlives the call.
        unsafe {
            pair.bench
                .driver
                .cuDeviceCanAccessPeer(&raw mut answer, device, peer)
        }
        .unwrap();
        answer
    };
    assert_eq!((can(0, 1), can(0, 2)), (0, 1));
    pair.finish();
}

/// Without it, copies between devices that are no peers would fail, which drivers stage
/// through the host.
#[test]
fn copies_between_devices_need_no_peer_access() {
    let builder = Machine::builder().devices(2);
    let pair = Pair::new(builder.without_peer_access(0, 1).without_peer_access(1, 0));
    let (d, ours, theirs) = (&pair.bench.driver, pair.bench.alloc(4), pair.theirs(7));
    let own = pair.bench.context;
    let null = std::ptr::null_mut();
    // SAFETY: device memory is checked.
    unsafe {
        d.cuMemcpyDtoD_v2(ours, theirs, 4).unwrap();
        assert_eq!(pair.bench.download(ours, 4), 7u32.to_le_bytes());
        pair.bench.upload(ours, &8u32.to_le_bytes());
        d.cuMemcpyPeer(theirs, pair.other, ours, own, 4).unwrap();
        assert_eq!(pair.bench.download(theirs, 4), 8u32.to_le_bytes());
        pair.bench.upload(theirs, &9u32.to_le_bytes());
        d.cuMemcpyPeerAsync(ours, own, theirs, pair.other, 4, null)
            .unwrap();
        assert_eq!(pair.bench.download(ours, 4), 9u32.to_le_bytes());
        let gone = d.cuMemcpyPeer(ours, own, theirs, std::ptr::null_mut(), 4);
        assert_eq!(code(gone), CUresult::CUDA_ERROR_INVALID_CONTEXT);
        let beyond = d.cuMemcpyPeer(ours, own, theirs, pair.other, 5);
        assert_eq!(code(beyond), INVALID);
        d.cuMemcpyPeer(ours, own, theirs, pair.other, 0).unwrap();
    }
    pair.bench.free(ours);
    pair.bench.free(theirs);
    pair.finish();
}

fn describe(device: CUdevice, flags: CUmemAccess_flags) -> CUmemAccessDesc {
    // SAFETY: integers and a union of integers.
    let mut access: CUmemAccessDesc = unsafe { std::mem::zeroed() };
    access.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.__bindgen_anon_1.id = device;
    access.flags = flags;
    access
}

/// Without it, the access that a program gives to a pool would be told and not kept.
#[test]
fn pools_say_who_may_access_them() {
    use CUmemAccess_flags as F;
    let (none, read, write) = (
        F::CU_MEM_ACCESS_FLAGS_PROT_NONE,
        F::CU_MEM_ACCESS_FLAGS_PROT_READ,
        F::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    );
    let builder = Machine::builder().devices(3).without_peer_access(2, 1);
    let pair = Pair::new(builder);
    let (d, null) = (&pair.bench.driver, std::ptr::null_mut());
    let (mut pool, mut theirs) = (std::ptr::null_mut(), 0);
    let ours = pair.bench.alloc(4);
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuDeviceGetDefaultMemPool(&raw mut pool, 1).unwrap();
        d.cuMemAllocFromPoolAsync(&raw mut theirs, 4, pool, null)
            .unwrap();
    }
    let set = |device, flags| {
        let access = describe(device, flags);
        // SAFETY: one description.
        code(unsafe { d.cuMemPoolSetAccess(pool, &raw const access, 1) })
    };
    let get = |device| {
        let (mut location, mut flags) = (describe(device, none).location, none);
        // SAFETY: the places outlive the call.
        unsafe { d.cuMemPoolGetAccess(&raw mut flags, pool, &raw mut location) }.unwrap();
        flags
    };
    assert_eq!((get(0), get(1)), (none, write));
    assert_eq!(set(1, none), INVALID);
    assert_eq!(set(2, write), CUresult::CUDA_ERROR_NOT_SUPPORTED);
    assert_eq!(set(0, F(2)), INVALID);
    assert_eq!(set(0, write), CUresult::CUDA_SUCCESS);
    assert_eq!((get(0), get(2)), (write, none));
    pair.bench.upload(theirs, &1u32.to_le_bytes());
    assert_eq!(pair.bump(theirs), CUresult::CUDA_SUCCESS);
    assert_eq!(pair.bench.download(theirs, 4), 2u32.to_le_bytes());
    assert_eq!(set(0, read), CUresult::CUDA_SUCCESS);
    assert_eq!(get(0), read);
    // SAFETY: device memory is checked.
    unsafe { d.cuMemcpyDtoD_v2(ours, theirs, 4) }.unwrap();
    assert_eq!(pair.bench.download(ours, 4), 2u32.to_le_bytes());
    assert_eq!(set(0, none), CUresult::CUDA_SUCCESS);
    // SAFETY: both contexts were named: each reaches its own memory.
    unsafe {
        d.cuMemcpyPeer(ours, pair.bench.context, theirs, pair.other, 4)
            .unwrap();
        d.cuMemcpyDtoD_v2(ours, theirs, 4).unwrap();
        assert_eq!(code(d.cuCtxSynchronize()), ILLEGAL);
    }
}

/// Without it, a broken link could not be played, and a program that looks for one could not be seen
/// to find it; or another pair, another way or a small copy would be broken too.
#[test]
fn a_corrupt_link_loses_bytes_of_copies_one_way() {
    const BYTES: usize = (128 << 10) + 100;
    let pair = Pair::new(Machine::builder().devices(2).corrupt_link(0, 1));
    let (d, own) = (&pair.bench.driver, pair.bench.context);
    let ours = pair.bench.alloc(BYTES);
    // SAFETY: the context lives.
    unsafe { d.cuCtxSetCurrent(pair.other) }.unwrap();
    let theirs = pair.bench.alloc(BYTES);
    pair.bench.attach();
    let mut lost: Vec<u8> = vec![1; BYTES];
    for end in [64 << 10, 128 << 10] {
        lost[end - 64..end].fill(2);
    }
    // SAFETY: device memory is checked.
    unsafe {
        d.cuMemsetD8_v2(ours, 1, BYTES).unwrap();
        d.cuCtxEnablePeerAccess(pair.other, 0).unwrap();
        d.cuMemsetD8_v2(theirs, 2, BYTES).unwrap();
        assert_eq!(pair.bench.download(theirs, BYTES), [2; BYTES]);
        d.cuMemcpyPeer(theirs, pair.other, ours, own, BYTES)
            .unwrap();
        assert_eq!(pair.bench.download(theirs, BYTES), lost);
        d.cuMemsetD8_v2(theirs, 2, BYTES).unwrap();
        d.cuMemcpyDtoD_v2(theirs, ours, BYTES).unwrap();
        assert_eq!(pair.bench.download(theirs, BYTES), lost);
        d.cuMemcpyDtoD_v2(theirs, ours, 64).unwrap();
        d.cuMemcpyPeer(ours, own, theirs, pair.other, BYTES)
            .unwrap();
        assert_eq!(pair.bench.download(ours, BYTES), lost, "the way back");
    }
    pair.bench.free(ours);
    pair.bench.free(theirs);
    pair.finish();
}

/// Without it, a device could be given memory that it has no link to, behind a piece that it may have.
#[test]
fn access_to_a_range_needs_a_link_to_each_of_its_pieces() {
    let pair = Pair::new(Machine::builder().devices(3).without_peer_access(2, 1));
    let vmm = Vmm(&pair.bench.driver);
    let base = vmm.reserve(2 * PAGE);
    let handles = [0, 1].map(|device| {
        let handle = vmm.create_as(&Vmm::properties(device), PAGE).unwrap();
        vmm.map(base + device as u64 * PAGE as u64, PAGE, handle);
        handle
    });
    vmm.access_of(2, base, PAGE, READ_WRITE);
    let refused = vmm.try_access(2, base, 2 * PAGE, READ_WRITE);
    assert_eq!(refused, CUresult::CUDA_ERROR_NOT_SUPPORTED);
    vmm.access_of(0, base, 2 * PAGE, READ_WRITE);
    vmm.drop_buffer(base, &handles);
    pair.finish();
}

/// Without it, a copy could be refused that names the context for which the memory is mapped, because
/// the memory is on another device, or granted to one that has no access.
#[test]
fn copies_reach_each_end_from_the_context_that_they_name() {
    let pair = Pair::new(Machine::builder().devices(2));
    let (d, own, null) = (&pair.bench.driver, pair.bench.context, std::ptr::null_mut());
    let (vmm, ours) = (Vmm(d), pair.bench.alloc(4));
    let (base, handle) = (vmm.reserve(PAGE), vmm.create(PAGE));
    vmm.map(base, PAGE, handle);
    vmm.access_of(1, base, PAGE, READ_WRITE);
    pair.bench.upload(ours, &7u32.to_le_bytes());
    let rows = |from: CUcontext| CUDA_MEMCPY3D_PEER {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: base,
        srcContext: from,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: ours,
        dstContext: own,
        WidthInBytes: 4,
        Height: 1,
        Depth: 1,
        ..CUDA_MEMCPY3D_PEER::default()
    };
    // SAFETY: device memory is checked.
    unsafe {
        d.cuMemcpyPeer(base, pair.other, ours, own, 4).unwrap();
        pair.bench.upload(ours, &8u32.to_le_bytes());
        d.cuMemcpyPeerAsync(ours, own, base, pair.other, 4, null)
            .unwrap();
        assert_eq!(pair.bench.download(ours, 4), 7u32.to_le_bytes());
        pair.bench.upload(ours, &8u32.to_le_bytes());
        let named = rows(pair.other);
        d.cuMemcpy3DPeerAsync(&raw const named, null).unwrap();
        assert_eq!(pair.bench.download(ours, 4), 7u32.to_le_bytes());
        // Device 0 has the memory, and was given no access to it.
        let named = rows(own);
        d.cuMemcpy3DPeerAsync(&raw const named, null).unwrap();
        assert_eq!(code(d.cuCtxSynchronize()), ILLEGAL);
    }
    vmm.drop_buffer(base, &[handle]);
}
