//! A program from bytes: streams, events, plain and stream-ordered memory, copies, sets,
//! kernels, host functions, and calls that must be refused.
//!
//! The programs have no races: before a stream uses a buffer it waits, on the device, for
//! the streams that used it before. So what a buffer holds when the host looks is what the
//! calls say in their order, however the streams were scheduled.

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::sync::Mutex;

use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::driver::*;

/// Device memory of the machine.
const MEMORY: u64 = 1 << 20;
/// Largest buffer.
const LARGEST: usize = 8192;
/// Most of everything.
const MOST: usize = 6;

const PTX: &std::ffi::CStr = c"
.version 7.0
.target sm_60
.address_size 64
.visible .entry mix(.param .u64 to, .param .u64 from, .param .u32 n, .param .u32 factor)
{
	.reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<5>;
	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
	mad.lo.u32 %r1, %r1, %r2, %r3;
	ld.param.u32 %r2, [n]; setp.ge.u32 %p, %r1, %r2; @%p ret;
	ld.param.u64 %d1, [from]; ld.param.u64 %d2, [to]; ld.param.u32 %r3, [factor];
	mul.wide.u32 %d3, %r1, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
	ld.global.u32 %r4, [%d1]; mad.lo.u32 %r4, %r4, %r3, %r1; st.global.u32 [%d2], %r4;
	ret;
}
";

struct Entropy<'a>(&'a [u8]);

impl Entropy<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    fn below(&mut self, end: usize) -> usize {
        (usize::from(self.byte()) << 8 | usize::from(self.byte())) % end.max(1)
    }
}

struct Buffer {
    address: CUdeviceptr,
    /// What it holds when everything is done.
    bytes: Vec<u8>,
    pooled: bool,
    /// Positions of the streams with work on it that the host has not waited for.
    users: BTreeSet<usize>,
}

/// The program and the model, which take every step together.
struct World<'a> {
    from: Entropy<'a>,
    machine: Machine,
    driver: Driver,
    function: CUfunction,
    /// The first is the legacy default stream.
    streams: Vec<CUstream>,
    buffers: Vec<Buffer>,
    /// What was freed and destroyed: to be refused.
    freed: Vec<CUdeviceptr>,
    destroyed: Vec<CUstream>,
    /// What host functions wrote, and what they should have written.
    called: Box<Mutex<Vec<usize>>>,
    expected: Vec<usize>,
    /// The host's memory that asynchronous copies read, kept until the end.
    kept: Vec<Vec<u8>>,
}

fn code(called: Result<(), DriverError>) -> CUresult {
    let error = called.err();
    error.map_or(CUresult::CUDA_SUCCESS, |error| {
        error.status().expect("a code")
    })
}

/// Runs the program that the bytes say; panics where the machine differs from the model.
pub(crate) fn run(bytes: &[u8]) {
    let mut from = Entropy(bytes);
    let config = DeviceConfig::new().memory(MEMORY);
    let machine = Machine::builder()
        .device(config)
        .worker_threads(1 + from.below(2))
        .build();
    let driver = machine.driver();
    let (mut context, mut module, mut function) = (
        std::ptr::null_mut(),
        std::ptr::null_mut(),
        std::ptr::null_mut(),
    );
    // SAFETY: the places and the image outlive the calls.
    unsafe {
        driver.cuInit(0).unwrap();
        driver
            .cuDevicePrimaryCtxRetain(&raw mut context, 0)
            .unwrap();
        driver.cuCtxSetCurrent(context).unwrap();
        driver
            .cuModuleLoadData(&raw mut module, PTX.as_ptr().cast())
            .unwrap();
        driver
            .cuModuleGetFunction(&raw mut function, module, c"mix".as_ptr())
            .unwrap();
    }
    let mut world = World {
        from,
        machine,
        driver,
        function,
        streams: vec![std::ptr::null_mut()],
        buffers: Vec::new(),
        freed: Vec::new(),
        destroyed: Vec::new(),
        called: Box::default(),
        expected: Vec::new(),
        kept: Vec::new(),
    };
    while !world.from.0.is_empty() {
        world.step();
    }
    world.finish();
}

impl World<'_> {
    fn step(&mut self) {
        match self.from.below(22) {
            0 | 1 => self.create_stream(),
            2 => self.destroy_stream(),
            3..=5 => self.allocate(),
            6 => self.free(),
            7..=9 => self.write(),
            10 | 11 => self.copy(),
            12 | 13 => self.set(),
            14 | 15 => self.launch(),
            16 => self.host_function(),
            17 | 18 => self.look(),
            19 => self.synchronize(),
            _ => self.refused(),
        }
    }

    fn pick(&mut self, count: usize) -> Option<usize> {
        (count > 0).then(|| self.from.below(count))
    }

    /// A range of a buffer.
    fn range(&mut self, buffer: usize) -> (usize, usize) {
        let len = self.buffers[buffer].bytes.len();
        let start = self.from.below(len + 1);
        (start, self.from.below(len - start + 1))
    }

    fn create_stream(&mut self) {
        if self.streams.len() > MOST {
            return;
        }
        let mut stream = std::ptr::null_mut();
        let flags = self.from.below(2) as u32;
        // SAFETY: the place outlives the call.
        unsafe { self.driver.cuStreamCreate(&raw mut stream, flags) }.unwrap();
        self.streams.push(stream);
    }

    /// Destroys the last stream; its work goes on.
    fn destroy_stream(&mut self) {
        if self.streams.len() < 2 {
            return;
        }
        let position = self.streams.len() - 1;
        // The host waits first: a destroyed stream cannot be waited for.
        self.wait_for(position);
        let stream = self.streams.remove(position);
        // SAFETY: the stream exists.
        unsafe { self.driver.cuStreamDestroy_v2(stream) }.unwrap();
        self.destroyed.push(stream);
    }

    fn wait_for(&mut self, stream: usize) {
        // SAFETY: the stream exists.
        unsafe { self.driver.cuStreamSynchronize(self.streams[stream]) }.unwrap();
        for buffer in &mut self.buffers {
            buffer.users.remove(&stream);
        }
    }

    /// Makes a stream wait, on the device, for all that was done with a buffer.
    fn claim(&mut self, buffer: usize, stream: usize) {
        let users: Vec<_> = self.buffers[buffer].users.iter().copied().collect();
        for user in users.into_iter().filter(|user| *user != stream) {
            let mut event = std::ptr::null_mut();
            // SAFETY: the place outlives the call; streams and event exist.
            unsafe {
                self.driver.cuEventCreate(&raw mut event, 2).unwrap();
                self.driver
                    .cuEventRecord(event, self.streams[user])
                    .unwrap();
                self.driver
                    .cuStreamWaitEvent(self.streams[stream], event, 0)
                    .unwrap();
                self.driver.cuEventDestroy_v2(event).unwrap();
            }
        }
        self.buffers[buffer].users.insert(stream);
    }

    fn live(&self) -> u64 {
        let sizes = self.buffers.iter().map(|buffer| buffer.bytes.len() as u64);
        sizes.map(|size| size.next_multiple_of(512)).sum()
    }

    fn allocate(&mut self) {
        if self.buffers.len() > MOST {
            return;
        }
        let size = 1 + self.from.below(LARGEST);
        let pooled = self.from.below(2) == 1;
        let stream = self.from.below(self.streams.len());
        let mut address = 0;
        // SAFETY: the place outlives the call; the stream exists.
        let got = code(unsafe {
            if pooled {
                self.driver
                    .cuMemAllocAsync(&raw mut address, size, self.streams[stream])
            } else {
                self.driver.cuMemAlloc_v2(&raw mut address, size)
            }
        });
        if got == CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            assert!(
                self.live() + size as u64 > MEMORY / 2,
                "refused with memory free"
            );
            return;
        }
        assert_eq!(got, CUresult::CUDA_SUCCESS);
        assert!(
            !self.buffers.iter().any(|other| {
                address < other.address + other.bytes.len() as u64
                    && other.address < address + size as u64
            }),
            "two buffers overlap"
        );
        // New memory holds anything.
        let value = self.from.byte();
        // SAFETY: the memory has `size` bytes and exists in this stream.
        unsafe {
            self.driver
                .cuMemsetD8Async(address, value, size, self.streams[stream])
        }
        .unwrap();
        self.freed.retain(|old| *old != address);
        self.buffers.push(Buffer {
            address,
            bytes: vec![value; size],
            pooled,
            users: [stream].into(),
        });
    }

    fn free(&mut self) {
        let Some(buffer) = self.pick(self.buffers.len()) else {
            return;
        };
        let stream = self.from.below(self.streams.len());
        if self.buffers[buffer].pooled {
            self.claim(buffer, stream);
            let gone = self.buffers.remove(buffer);
            // SAFETY: the buffer exists, and this stream comes after all its users.
            unsafe {
                self.driver
                    .cuMemFreeAsync(gone.address, self.streams[stream])
            }
            .unwrap();
        } else {
            let users: Vec<_> = self.buffers[buffer].users.iter().copied().collect();
            users.into_iter().for_each(|user| self.wait_for(user));
            let gone = self.buffers.remove(buffer);
            // SAFETY: the buffer exists, and all its users are done.
            unsafe { self.driver.cuMemFree_v2(gone.address) }.unwrap();
            self.freed.push(gone.address);
        }
    }

    fn write(&mut self) {
        let Some(buffer) = self.pick(self.buffers.len()) else {
            return;
        };
        let (start, len) = self.range(buffer);
        let stream = self.from.below(self.streams.len());
        let seed = self.from.byte();
        let bytes: Vec<u8> = (0..len)
            .map(|at| seed.wrapping_mul(31).wrapping_add(at as u8))
            .collect();
        self.claim(buffer, stream);
        let to = self.buffers[buffer].address + start as u64;
        // SAFETY: both ranges have `len` bytes; the host's is kept until the end.
        unsafe {
            let from = bytes.as_ptr().cast();
            self.driver
                .cuMemcpyHtoDAsync_v2(to, from, len, self.streams[stream])
                .unwrap();
        }
        self.buffers[buffer].bytes[start..start + len].copy_from_slice(&bytes);
        self.kept.push(bytes);
    }

    fn copy(&mut self) {
        let (Some(from), Some(to)) = (self.pick(self.buffers.len()), self.pick(self.buffers.len()))
        else {
            return;
        };
        if from == to {
            return;
        }
        let (from_start, from_len) = self.range(from);
        let (to_start, to_len) = self.range(to);
        let len = from_len.min(to_len);
        let stream = self.from.below(self.streams.len());
        self.claim(from, stream);
        self.claim(to, stream);
        let source = self.buffers[from].address + from_start as u64;
        let target = self.buffers[to].address + to_start as u64;
        // SAFETY: both ranges have `len` bytes.
        unsafe {
            self.driver
                .cuMemcpyDtoDAsync_v2(target, source, len, self.streams[stream])
        }
        .unwrap();
        let bytes = self.buffers[from].bytes[from_start..from_start + len].to_vec();
        self.buffers[to].bytes[to_start..to_start + len].copy_from_slice(&bytes);
    }

    fn set(&mut self) {
        let Some(buffer) = self.pick(self.buffers.len()) else {
            return;
        };
        let (start, len) = self.range(buffer);
        let (stream, value) = (self.from.below(self.streams.len()), self.from.byte());
        self.claim(buffer, stream);
        let to = self.buffers[buffer].address + start as u64;
        let stream = self.streams[stream];
        if self.from.below(2) == 1 && start % 4 == 0 {
            let word = u32::from(value).wrapping_mul(0x0103_0507);
            // SAFETY: the range has `len / 4` words.
            unsafe { self.driver.cuMemsetD32Async(to, word, len / 4, stream) }.unwrap();
            for piece in self.buffers[buffer].bytes[start..start + len / 4 * 4].chunks_mut(4) {
                piece.copy_from_slice(&word.to_le_bytes());
            }
        } else {
            // SAFETY: the range has `len` bytes.
            unsafe { self.driver.cuMemsetD8Async(to, value, len, stream) }.unwrap();
            self.buffers[buffer].bytes[start..start + len].fill(value);
        }
    }

    fn launch(&mut self) {
        let (Some(from), Some(to)) = (self.pick(self.buffers.len()), self.pick(self.buffers.len()))
        else {
            return;
        };
        let stream = self.from.below(self.streams.len());
        self.claim(from, stream);
        self.claim(to, stream);
        let words = self.buffers[from]
            .bytes
            .len()
            .min(self.buffers[to].bytes.len())
            / 4;
        let (mut n, mut factor) = (words as u32, u32::from(self.from.byte()));
        let (mut source, mut target) = (self.buffers[from].address, self.buffers[to].address);
        let mut arguments: [*mut c_void; 4] = [
            (&raw mut target).cast(),
            (&raw mut source).cast(),
            (&raw mut n).cast(),
            (&raw mut factor).cast(),
        ];
        let (blocks, threads) = (n.div_ceil(64).max(1), 64);
        // SAFETY: the arguments are the kernel's, and both buffers have `words` words.
        unsafe {
            let stream = self.streams[stream];
            let arguments = arguments.as_mut_ptr();
            let extra = std::ptr::null_mut();
            self.driver
                .cuLaunchKernel(
                    self.function,
                    blocks,
                    1,
                    1,
                    threads,
                    1,
                    1,
                    0,
                    stream,
                    arguments,
                    extra,
                )
                .unwrap();
        }
        let source = self.buffers[from].bytes.clone();
        let words = source
            .chunks_exact(4)
            .zip(self.buffers[to].bytes.chunks_exact_mut(4));
        for (at, (from, to)) in words.enumerate() {
            let word = u32::from_le_bytes(from.try_into().unwrap());
            let word = word.wrapping_mul(factor).wrapping_add(at as u32);
            to.copy_from_slice(&word.to_le_bytes());
        }
    }

    fn host_function(&mut self) {
        unsafe extern "C" fn note(data: *mut c_void) {
            // SAFETY: `data` is a box of this pair; the list outlives the stream's work.
            let (list, number) =
                unsafe { *Box::from_raw(data.cast::<(*const Mutex<Vec<usize>>, usize)>()) };
            // SAFETY: as above.
            unsafe { &*list }.lock().unwrap().push(number);
        }
        let stream = self.from.below(self.streams.len());
        let number = self.expected.len();
        self.expected.push(number);
        let data = Box::new((&raw const *self.called, number));
        // SAFETY: the function takes the box, and is called once: no stream of these
        // programs faults.
        unsafe {
            let data = Box::into_raw(data).cast();
            self.driver
                .cuLaunchHostFunc(self.streams[stream], Some(note), data)
                .unwrap();
        }
    }

    /// Compares a buffer with the model.
    fn look(&mut self) {
        let Some(buffer) = self.pick(self.buffers.len()) else {
            return;
        };
        let (start, len) = self.range(buffer);
        let stream = self.from.below(self.streams.len());
        self.claim(buffer, stream);
        let mut bytes = vec![0; len];
        let from = self.buffers[buffer].address + start as u64;
        // SAFETY: both ranges have `len` bytes; the stream is waited for before they go.
        unsafe {
            let to = bytes.as_mut_ptr().cast();
            self.driver
                .cuMemcpyDtoHAsync_v2(to, from, len, self.streams[stream])
                .unwrap();
        }
        self.wait_for(stream);
        assert_eq!(bytes, self.buffers[buffer].bytes[start..start + len]);
    }

    fn synchronize(&mut self) {
        // SAFETY: a context is current.
        unsafe { self.driver.cuCtxSynchronize() }.unwrap();
        for buffer in &mut self.buffers {
            buffer.users.clear();
        }
        for stream in &self.streams {
            // SAFETY: the stream exists.
            let ready = code(unsafe { self.driver.cuStreamQuery(*stream) });
            assert_eq!(
                ready,
                CUresult::CUDA_SUCCESS,
                "busy after a synchronisation"
            );
        }
    }

    /// Calls that must fail and change nothing.
    fn refused(&mut self) {
        let invalid = CUresult::CUDA_ERROR_INVALID_VALUE;
        let (which, stream) = (self.from.below(5), self.from.below(self.streams.len()));
        let (mut place, stream) = (0u64, self.streams[stream]);
        // SAFETY: wrong handles and addresses are looked up, not followed; places outlive
        // the calls.
        unsafe {
            match (
                which,
                self.freed.last(),
                self.destroyed.last(),
                self.buffers.last(),
            ) {
                (0, Some(freed), ..) => {
                    assert_eq!(
                        code(self.driver.cuMemFree_v2(*freed)),
                        invalid,
                        "a double free"
                    );
                }
                (1, Some(freed), ..) => {
                    let set = self.driver.cuMemsetD8Async(*freed, 1, 1, stream);
                    assert_eq!(code(set), invalid, "a set of freed memory");
                }
                (2, _, Some(destroyed), _) => {
                    let query = code(self.driver.cuStreamQuery(*destroyed));
                    assert_eq!(
                        query,
                        CUresult::CUDA_ERROR_INVALID_HANDLE,
                        "a destroyed stream"
                    );
                }
                (3, .., Some(buffer)) => {
                    let len = buffer.bytes.len();
                    let set = self
                        .driver
                        .cuMemsetD8Async(buffer.address, 1, len + 1, stream);
                    assert_eq!(code(set), invalid, "a set past the end");
                }
                _ => {
                    let too_much = MEMORY as usize + 1;
                    let got = code(self.driver.cuMemAlloc_v2(&raw mut place, too_much));
                    assert_eq!(got, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
                }
            }
        }
    }

    fn finish(mut self) {
        self.synchronize();
        for buffer in std::mem::take(&mut self.buffers) {
            let mut bytes = vec![0; buffer.bytes.len()];
            // SAFETY: both ranges have the buffer's bytes; nothing uses it any more.
            unsafe {
                let to = bytes.as_mut_ptr().cast();
                self.driver
                    .cuMemcpyDtoH_v2(to, buffer.address, bytes.len())
                    .unwrap();
                self.driver.cuMemFree_v2(buffer.address).unwrap();
            }
            assert_eq!(bytes, buffer.bytes);
        }
        for stream in self.streams.drain(1..) {
            // SAFETY: the stream exists.
            unsafe { self.driver.cuStreamDestroy_v2(stream) }.unwrap();
        }
        let mut called = self.called.lock().unwrap().clone();
        called.sort_unstable();
        assert_eq!(called, self.expected, "host functions");
        // SAFETY: retained in `run`.
        unsafe { self.driver.cuDevicePrimaryCtxRelease_v2(0) }.unwrap();
        assert_eq!(self.machine.leaks(), None);
        assert_eq!(self.machine.messages(), Vec::<String>::new());
    }
}
