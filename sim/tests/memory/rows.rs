//! 2-D and 3-D copies and sets of the software device, against a naive model.

use cupola_sys::driver::*;
use quickcheck::{Arbitrary, Gen};

use crate::support::{Code, Gate, TestBench, code};

const INVALID: Code = CUresult::CUDA_ERROR_INVALID_VALUE;
const DEVICE: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_DEVICE;
const HOST: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_HOST;
const UNIFIED: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_UNIFIED;
const ARRAY: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_ARRAY;

/// Bytes in each memory of the model.
const LEN: usize = 600;

fn block() -> CUDA_MEMCPY3D {
    // SAFETY: integers, null pointers, and an enumeration that is a number.
    unsafe { std::mem::zeroed() }
}

/// Where a copy begins and how its memory is laid out; `memory` counts in the model.
#[derive(Clone, Copy, Debug)]
struct Corner {
    memory: usize,
    kind: CUmemorytype,
    at: [usize; 3],
    pitch: usize,
    height: usize,
}

#[derive(Clone, Copy, Debug)]
struct Case {
    to: Corner,
    from: Corner,
    extent: [usize; 3],
    /// Which of the functions.
    function: u8,
}

/// Two device allocations, managed, page-locked and pageable memory.
const MEMORIES: usize = 5;
const PAGEABLE: usize = 4;

impl Arbitrary for Corner {
    fn arbitrary(g: &mut Gen) -> Self {
        let small = |g: &mut Gen, below: usize| usize::from(u8::arbitrary(g)) % below;
        let memory = small(g, MEMORIES);
        let kind = match memory {
            0 | 1 => [DEVICE, UNIFIED, HOST],
            PAGEABLE => [HOST, UNIFIED, HOST],
            _ => [DEVICE, HOST, UNIFIED],
        };
        Self {
            memory,
            kind: kind[small(g, 3)],
            at: [small(g, 9), small(g, 5), small(g, 4)],
            // Sometimes not given, sometimes too small.
            pitch: [0, small(g, 30), 20 + small(g, 20)][small(g, 3)],
            height: [0, small(g, 9), 9][small(g, 3)],
        }
    }
}

impl Arbitrary for Case {
    fn arbitrary(g: &mut Gen) -> Self {
        let small = |g: &mut Gen, below: usize| usize::from(u8::arbitrary(g)) % below;
        let to = Corner::arbitrary(g);
        let from = Corner::arbitrary(g);
        Self {
            to,
            from,
            extent: [small(g, 16), small(g, 5), small(g, 4)],
            function: u8::arbitrary(g) % 6,
        }
    }
}

/// Where byte `x` of row `y` of slice `z` of the box is; `None` if the layout is refused.
fn place(corner: &Corner, extent: [usize; 3], [x, y, z]: [usize; 3]) -> Option<usize> {
    let row = corner.at[0] + extent[0];
    let rows = corner.at[1] + extent[1];
    let (pitch, height) = (corner.pitch, corner.height);
    if (pitch != 0 && pitch < row) || (height != 0 && height < rows) {
        return None;
    }
    let pitch = if pitch == 0 { row } else { pitch };
    let height = if height == 0 { rows } else { height };
    Some(((corner.at[2] + z) * height + corner.at[1] + y) * pitch + corner.at[0] + x)
}

/// Every row of the box: where it begins at both ends. `None` if the copy is refused.
fn rows(case: &Case) -> Option<Vec<(usize, usize)>> {
    let [_, height, depth] = case.extent;
    let mut rows = Vec::new();
    for z in 0..depth {
        for y in 0..height {
            let to = place(&case.to, case.extent, [0, y, z])?;
            let from = place(&case.from, case.extent, [0, y, z])?;
            rows.push((to, from));
        }
    }
    Some(rows)
}

/// The bench with its memories, and what the model says they hold.
struct World {
    bench: TestBench,
    stream: CUstream,
    addresses: [u64; MEMORIES],
    pinned: Option<&'static mut [u8]>,
    model: Vec<Vec<u8>>,
}

impl World {
    fn new() -> Self {
        let bench = TestBench::new();
        let (a, b) = (bench.alloc(LEN), bench.alloc(LEN));
        let mut managed = 0;
        // SAFETY: the place outlives the call.
        unsafe { bench.driver.cuMemAllocManaged(&raw mut managed, LEN, 1) }.unwrap();
        let pinned = bench.pinned(LEN);
        let pinned_at = pinned.as_mut_ptr().expose_provenance() as u64;
        let pageable = Box::into_raw(vec![0u8; LEN].into_boxed_slice());
        let pageable = pageable.cast::<u8>().expose_provenance() as u64;
        let world = Self {
            stream: bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING),
            bench,
            addresses: [a, b, managed, pinned_at, pageable],
            pinned: Some(pinned),
            model: (0..MEMORIES)
                .map(|memory| (0..LEN).map(|i| (i * 3 + memory * 50) as u8).collect())
                .collect(),
        };
        for (address, bytes) in world.addresses.iter().zip(&world.model) {
            // SAFETY: each memory has as many bytes as the model.
            unsafe {
                let from = bytes.as_ptr().expose_provenance() as u64;
                world.bench.driver.cuMemcpy(*address, from, LEN).unwrap();
            }
        }
        world
    }

    /// What the memories hold, through plain copies.
    fn contents(&self) -> Vec<Vec<u8>> {
        let read = |address: &u64| {
            let mut bytes = vec![0u8; LEN];
            // SAFETY: both have `LEN` bytes.
            unsafe {
                let to = bytes.as_mut_ptr().expose_provenance() as u64;
                self.bench.driver.cuMemcpy(to, *address, LEN).unwrap();
            }
            bytes
        };
        self.addresses.iter().map(read).collect()
    }

    fn structure(&self, case: &Case) -> CUDA_MEMCPY3D {
        let mut copy = block();
        let (to, from) = (&case.to, &case.from);
        let (to_at, from_at) = (self.addresses[to.memory], self.addresses[from.memory]);
        (copy.dstMemoryType, copy.srcMemoryType) = (to.kind, from.kind);
        match to.kind {
            HOST => copy.dstHost = std::ptr::with_exposed_provenance_mut(to_at as usize),
            _ => copy.dstDevice = to_at,
        }
        match from.kind {
            HOST => copy.srcHost = std::ptr::with_exposed_provenance(from_at as usize),
            _ => copy.srcDevice = from_at,
        }
        (copy.dstXInBytes, copy.dstY, copy.dstZ) = (to.at[0], to.at[1], to.at[2]);
        (copy.srcXInBytes, copy.srcY, copy.srcZ) = (from.at[0], from.at[1], from.at[2]);
        (copy.dstPitch, copy.dstHeight) = (to.pitch, to.height);
        (copy.srcPitch, copy.srcHeight) = (from.pitch, from.height);
        (copy.WidthInBytes, copy.Height, copy.Depth) = case.extent.into();
        copy
    }

    /// Does the copy on the device.
    ///
    /// # Safety
    /// The boxes of pageable memory, and of page-locked memory named as the host's, lie
    /// within it.
    unsafe fn run(&self, case: &Case) -> Code {
        let d = &self.bench.driver;
        let copy = self.structure(case);
        // SAFETY: integers, null pointers, and an enumeration that is a number.
        let mut across: CUDA_MEMCPY3D_PEER = unsafe { std::mem::zeroed() };
        macro_rules! take { ($($field:ident)*) => { $(across.$field = copy.$field;)* } }
        take!(srcXInBytes srcY srcZ srcMemoryType srcHost srcDevice srcPitch srcHeight
            dstXInBytes dstY dstZ dstMemoryType dstHost dstDevice dstPitch dstHeight
            WidthInBytes Height Depth);
        (across.dstContext, across.srcContext) = (self.bench.context, self.bench.context);
        let plane = CUDA_MEMCPY2D {
            srcXInBytes: copy.srcXInBytes,
            srcY: copy.srcY,
            srcMemoryType: copy.srcMemoryType,
            srcHost: copy.srcHost,
            srcDevice: copy.srcDevice,
            srcArray: std::ptr::null_mut(),
            srcPitch: copy.srcPitch,
            dstXInBytes: copy.dstXInBytes,
            dstY: copy.dstY,
            dstMemoryType: copy.dstMemoryType,
            dstHost: copy.dstHost,
            dstDevice: copy.dstDevice,
            dstArray: std::ptr::null_mut(),
            dstPitch: copy.dstPitch,
            WidthInBytes: copy.WidthInBytes,
            Height: copy.Height,
        };
        // SAFETY: the caller's promise; device memory is checked.
        let result = unsafe {
            match case.function {
                0 => d.cuMemcpy3D_v2(&raw const copy),
                1 => d.cuMemcpy3DAsync_v2(&raw const copy, self.stream),
                2 => d.cuMemcpy3DPeer(&raw const across),
                3 => d.cuMemcpy3DPeerAsync(&raw const across, self.stream),
                4 => d.cuMemcpy2D_v2(&raw const plane),
                _ => d.cuMemcpy2DAsync_v2(&raw const plane, self.stream),
            }
        };
        // SAFETY: a live handle.
        unsafe { d.cuStreamSynchronize(self.stream) }.unwrap();
        // The default stream may go on with copies within the device.
        self.bench.synchronize();
        code(result)
    }

    /// Whether the device did what the model does.
    fn agrees(&mut self, mut case: Case) -> bool {
        if case.function > 3 {
            // Two dimensions.
            case.extent[2] = 1;
            for corner in [&mut case.to, &mut case.from] {
                (corner.at[2], corner.height) = (0, 0);
            }
        }
        let empty = case.extent.contains(&0);
        let rows = if empty { Some(Vec::new()) } else { rows(&case) };
        let width = case.extent[0];
        let inside = |at: usize| at + width <= LEN;
        let expected =
            rows.filter(|rows| rows.iter().all(|(to, from)| inside(*to) && inside(*from)));
        if expected.is_none() && !(checked(&case.to) && checked(&case.from)) {
            // The device could not see that the box leaves memory of the host.
            return true;
        }
        for (to, from) in expected.iter().flatten() {
            let row: Vec<u8> = (0..width)
                .map(|x| self.model[case.from.memory][from + x])
                .collect();
            for (x, byte) in row.into_iter().enumerate() {
                self.model[case.to.memory][to + x] = byte;
            }
        }
        // SAFETY: the box lies within its memory, or the device checks it.
        let got = unsafe { self.run(&case) };
        let right = if expected.is_some() {
            CUresult::CUDA_SUCCESS
        } else {
            INVALID
        };
        got == right && self.contents() == self.model
    }

    fn finish(mut self) {
        self.bench.free(self.addresses[0]);
        self.bench.free(self.addresses[1]);
        self.bench.free(self.addresses[2]);
        if let Some(pinned) = self.pinned.take() {
            self.bench.unpin(pinned);
        }
        let pageable =
            std::ptr::with_exposed_provenance_mut::<u8>(self.addresses[PAGEABLE] as usize);
        // SAFETY: made in `new` from a box of as many bytes, and nothing uses it now.
        drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(pageable, LEN)) });
        // SAFETY: a live handle.
        unsafe { self.bench.driver.cuStreamDestroy_v2(self.stream) }.unwrap();
        self.bench.finish();
    }
}

/// Whether the device knows the bounds of this end.
fn checked(corner: &Corner) -> bool {
    corner.memory < 2 || corner.kind == DEVICE
}

/// Without it, any box could be copied a byte beside where it belongs, a refused copy could
/// write a part, or rows of one memory that overlap could be copied in another order.
#[test]
fn boxes_go_where_a_naive_copy_puts_them() {
    fn agree(cases: Vec<Case>) -> bool {
        let mut world = World::new();
        let same = cases.into_iter().all(|case| world.agrees(case));
        world.finish();
        same
    }
    quickcheck::QuickCheck::new()
        .tests(300)
        .quickcheck(agree as fn(_) -> bool);
}

/// A way to spoil a copy.
type Change = fn(&mut CUDA_MEMCPY3D);

/// Without it, an argument that means nothing could be taken for one that does, or a number
/// that runs over could reach other memory.
#[test]
fn bad_boxes_are_refused() {
    let bench = TestBench::new();
    let (d, a) = (&bench.driver, bench.alloc(64));
    bench.upload(a, &[7; 64]);
    let host = [1u8; 64];
    let good = || {
        let mut copy = block();
        (copy.srcMemoryType, copy.dstMemoryType) = (HOST, DEVICE);
        (copy.srcHost, copy.srcPitch, copy.srcHeight) = (host.as_ptr().cast(), 4, 4);
        (copy.dstDevice, copy.dstPitch, copy.dstHeight) = (a, 4, 4);
        (copy.WidthInBytes, copy.Height, copy.Depth) = (4, 2, 2);
        copy
    };
    let changes: [(Change, Code); 16] = [
        (|copy| copy.srcHost = std::ptr::null(), INVALID),
        (|copy| copy.dstDevice = 0, INVALID),
        (|copy| copy.dstDevice += 64, INVALID),
        (|copy| copy.dstDevice += 41, INVALID),
        (|copy| copy.dstZ = 3, INVALID),
        (|copy| copy.dstZ = usize::MAX, INVALID),
        (|copy| copy.dstY = usize::MAX, INVALID),
        (|copy| copy.dstXInBytes = usize::MAX, INVALID),
        (|copy| copy.WidthInBytes = usize::MAX, INVALID),
        (|copy| copy.Depth = usize::MAX, INVALID),
        (|copy| copy.dstPitch = 1 << 31, INVALID),
        (
            |copy| (copy.dstPitch, copy.dstHeight) = (1 << 30, usize::MAX),
            INVALID,
        ),
        (|copy| copy.srcMemoryType = CUmemorytype(0), INVALID),
        (|copy| copy.dstLOD = 1, INVALID),
        (
            |copy| copy.srcMemoryType = ARRAY,
            CUresult::CUDA_ERROR_NOT_SUPPORTED,
        ),
        (
            |copy| copy.dstMemoryType = ARRAY,
            CUresult::CUDA_ERROR_NOT_SUPPORTED,
        ),
    ];
    for (index, (change, expected)) in changes.iter().enumerate() {
        let mut copy = good();
        change(&mut copy);
        // SAFETY: refused before anything is copied.
        let result = unsafe { d.cuMemcpy3D_v2(&raw const copy) };
        assert_eq!(code(result), *expected, "change {index}");
        // SAFETY: as above.
        let result = unsafe { d.cuMemcpy3DAsync_v2(&raw const copy, std::ptr::null_mut()) };
        assert_eq!(code(result), *expected, "change {index}");
    }
    // SAFETY: null is refused.
    assert_eq!(code(unsafe { d.cuMemcpy2D_v2(std::ptr::null()) }), INVALID);
    assert_eq!(bench.download(a, 64), [7; 64]);
    let messages = bench.machine.messages();
    assert!(
        messages.iter().any(|text| text.contains("arrays")),
        "{messages:?}"
    );
    bench.free(a);
    bench.finish();
}

/// Without it, sets of rows could run over, leave their allocation, or write values to
/// addresses that no hardware takes.
#[test]
fn bad_sets_are_refused() {
    let bench = TestBench::new();
    let (d, a) = (&bench.driver, bench.alloc(64));
    bench.upload(a, &[7; 64]);
    // SAFETY: device memory is checked.
    unsafe {
        for (pitch, width, height) in [
            (8, 9, 2),
            (8, 8, 9),
            (0, 1, 2),
            (8, 1, usize::MAX),
            (usize::MAX, 8, 2),
            (64, 65, 1),
        ] {
            let result = d.cuMemsetD2D8_v2(a, pitch, 1, width, height);
            assert_eq!(code(result), INVALID, "{pitch} {width} {height}");
        }
        assert_eq!(code(d.cuMemsetD2D16_v2(a + 1, 8, 1, 1, 1)), INVALID);
        assert_eq!(code(d.cuMemsetD2D16_v2(a, 9, 1, 1, 2)), INVALID);
        assert_eq!(code(d.cuMemsetD2D32_v2(a, 10, 1, 1, 2)), INVALID);
        assert_eq!(
            code(d.cuMemsetD2D32_v2(a, 8, 1, usize::MAX / 2, 1)),
            INVALID
        );
        // The pitch of a single row means nothing; no rows are no error.
        d.cuMemsetD2D8_v2(a, 0, 7, 64, 1).unwrap();
        d.cuMemsetD2D8_v2(a, 8, 1, 0, 5).unwrap();
        d.cuMemsetD2D8_v2(a, 8, 1, 5, 0).unwrap();
    }
    assert_eq!(bench.download(a, 64), [7; 64]);
    bench.free(a);
    bench.finish();
}

/// Without it, a copy whose rows lie in several allocations would be refused, or one with a
/// row between them would be let through.
#[test]
fn each_row_is_checked_by_itself() {
    let bench = TestBench::new();
    let (a, b) = (bench.alloc(64), bench.alloc(64));
    bench.upload(a, &[1; 64]);
    bench.upload(b, &[2; 64]);
    let mut back = [0u8; 128];
    let mut copy = block();
    (copy.srcMemoryType, copy.dstMemoryType) = (DEVICE, HOST);
    (copy.srcDevice, copy.srcPitch) = (a, (b - a) as usize);
    copy.dstHost = back.as_mut_ptr().cast();
    (copy.WidthInBytes, copy.Height, copy.Depth) = (64, 2, 1);
    // SAFETY: the host's memory has two rows.
    unsafe { bench.driver.cuMemcpy3D_v2(&raw const copy) }.unwrap();
    assert_eq!((&back[..64], &back[64..]), (&[1; 64][..], &[2; 64][..]));
    bench.free(b);
    back.fill(9);
    // SAFETY: as above.
    let result = unsafe { bench.driver.cuMemcpy3D_v2(&raw const copy) };
    assert_eq!((code(result), back), (INVALID, [9; 128]));
    bench.free(a);
    bench.finish();
}

/// Without it, a copy that faults could have written a part of its destination, and later
/// work could go on in a context that is lost.
#[test]
fn a_copy_that_faults_writes_nothing() {
    const ILLEGAL: Code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    let bench = TestBench::new();
    let d = &bench.driver;
    let stream = bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING);
    let (to, gate) = (bench.pinned(256), Gate::new());
    let (mut a, mut b) = (0, 0);
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuMemAllocAsync(&raw mut a, 64, stream).unwrap();
        d.cuMemAllocAsync(&raw mut b, 64, stream).unwrap();
    }
    gate.block(&bench, stream);
    let mut copy = block();
    (copy.srcMemoryType, copy.dstMemoryType) = (DEVICE, HOST);
    (copy.srcDevice, copy.srcPitch) = (a, (b - a) as usize);
    copy.dstHost = to.as_mut_ptr().cast();
    (copy.WidthInBytes, copy.Height, copy.Depth) = (64, 2, 1);
    // SAFETY: the memory of the host is page-locked and stays.
    unsafe {
        d.cuMemFreeAsync(b, stream).unwrap();
        d.cuMemcpy3DAsync_v2(&raw const copy, stream).unwrap();
        gate.open();
        assert_eq!(code(d.cuStreamSynchronize(stream)), ILLEGAL);
        assert_eq!(code(d.cuMemcpy3D_v2(&raw const copy)), ILLEGAL);
    }
    assert!(to.iter().all(|byte| *byte == 0));
    let messages = bench.machine.messages();
    assert!(
        messages
            .iter()
            .any(|text| text.contains("copy from device memory")),
        "{messages:?}"
    );
}

/// Without it, pageable rows could be read after the call has returned, when they are gone.
#[test]
fn pageable_rows_are_taken_at_the_call() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let stream = bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING);
    let (a, gate) = (bench.alloc(64), Gate::new());
    gate.block(&bench, stream);
    let mut host = [3u8; 128];
    let mut copy = block();
    (copy.srcMemoryType, copy.dstMemoryType) = (HOST, DEVICE);
    (copy.srcHost, copy.srcPitch) = (host.as_ptr().cast(), 16);
    copy.dstDevice = a;
    (copy.WidthInBytes, copy.Height, copy.Depth) = (8, 8, 1);
    // SAFETY: 8 rows of 8 bytes lie within both.
    unsafe { d.cuMemcpy3DAsync_v2(&raw const copy, stream) }.unwrap();
    host.fill(4);
    gate.open();
    // SAFETY: a live handle.
    unsafe { d.cuStreamSynchronize(stream) }.unwrap();
    assert_eq!(bench.download(a, 64), [3; 64]);
    // SAFETY: a live handle.
    unsafe { d.cuStreamDestroy_v2(stream) }.unwrap();
    bench.free(a);
    bench.finish();
}

/// Without it, the host could read memory that a memset is still writing.
#[test]
fn sets_of_memory_that_the_host_sees_are_done_when_they_return() {
    let config = cupola_sim::DeviceConfig::new();
    let config = config.operation_delay(std::time::Duration::from_millis(30));
    let bench = TestBench::with(cupola_sim::Machine::builder().device(config));
    let d = &bench.driver;
    let pinned = bench.pinned(64);
    let mut managed = 0;
    // SAFETY: the place outlives the call, and both memories have 64 bytes.
    unsafe {
        d.cuMemAllocManaged(&raw mut managed, 64, 1).unwrap();
        let at = pinned.as_mut_ptr().expose_provenance() as u64;
        d.cuMemsetD8_v2(at, 5, 64).unwrap();
        assert_eq!(pinned[63], 5);
        d.cuMemsetD2D8_v2(managed, 8, 6, 8, 8).unwrap();
        let byte = std::ptr::with_exposed_provenance::<u8>(managed as usize + 63);
        assert_eq!(byte.read_volatile(), 6);
    }
    bench.unpin(pinned);
    bench.free(managed);
    bench.finish();
}
