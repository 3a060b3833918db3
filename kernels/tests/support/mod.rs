//! Runs embedded kernels on the software device's engine, without a driver around it.
//!
//! Buffers have exactly the length that they are given, at any alignment: a kernel that
//! reads one byte beyond faults.

use std::cell::UnsafeCell;

use cupola_kernels::Embedded;
use cupola_kernels::arguments::Arguments;
use cupola_kernels::geometry::Geometry;
use cupola_sim::exec::{
    GlobalMemory, LaunchConfig, LaunchOptions, MemRange, Placement, Program, VarSpace, launch,
};
use cupola_sim::ptx::Module;

/// Device memory: buffers far apart from each other.
#[derive(Default)]
pub(crate) struct Memory {
    buffers: Vec<Buffer>,
}

struct Buffer {
    address: u64,
    len: usize,
    /// How far the buffer begins behind the storage's beginning.
    lead: usize,
    storage: Box<[UnsafeCell<u128>]>,
}

impl Buffer {
    /// The host address of the first byte, aligned as the device address is.
    fn host(&self) -> *mut u8 {
        // SAFETY: the storage has `lead + len` bytes or more.
        unsafe {
            UnsafeCell::raw_get(self.storage.as_ptr())
                .cast::<u8>()
                .add(self.lead)
        }
    }
}

// SAFETY: the storage is only touched through raw pointers: by the engine with atomics, and
// by `read` and `write`, which need that no launch runs; `run` takes `&mut self`.
unsafe impl Sync for Memory {}

// SAFETY: a range is the whole of a buffer, which lives and stays where it is as long as
// `self`; `host` and `base` both begin `lead` bytes behind a multiple of 16.
unsafe impl GlobalMemory for Memory {
    fn lookup(&self, addr: u64) -> Option<MemRange> {
        self.buffers.iter().find_map(|buffer| {
            let offset = addr.checked_sub(buffer.address)?;
            (offset < buffer.len as u64).then(|| MemRange {
                base: buffer.address,
                len: buffer.len as u64,
                host: buffer.host(),
                writable: true,
            })
        })
    }
}

impl Placement for Memory {
    fn place(&mut self, _: &str, _: VarSpace, size: u64, align: u64) -> Option<u64> {
        // A buffer without a lead is 256-byte aligned.
        if align > 256 {
            return None;
        }
        Some(self.allocate(size.try_into().ok()?, 0))
    }

    fn fill(&mut self, address: u64, bytes: &[u8]) {
        self.write(address, bytes);
    }
}

impl Memory {
    /// A zeroed buffer whose address is `lead` bytes behind a multiple of 256.
    pub(crate) fn allocate(&mut self, len: usize, lead: usize) -> u64 {
        let address = ((self.buffers.len() as u64 + 1) << 32) + lead as u64;
        let words = (lead + len).div_ceil(16);
        self.buffers.push(Buffer {
            address,
            len,
            lead,
            storage: (0..words).map(|_| UnsafeCell::new(0)).collect(),
        });
        address
    }

    /// A buffer with these bytes.
    pub(crate) fn upload(&mut self, bytes: &[u8], lead: usize) -> u64 {
        let address = self.allocate(bytes.len(), lead);
        self.write(address, bytes);
        address
    }

    fn write(&mut self, address: u64, bytes: &[u8]) {
        if let Some(buffer) = self.buffers.iter().find(|buffer| buffer.address == address) {
            assert!(bytes.len() <= buffer.len, "the buffer is too short");
            // SAFETY: the buffer is as long as was just checked, nothing else runs while
            // `self` is borrowed mutably, and `bytes` is not in it.
            unsafe {
                buffer
                    .host()
                    .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            }
        }
    }

    /// The bytes of the buffer at `address`.
    pub(crate) fn read(&mut self, address: u64) -> Vec<u8> {
        let buffer = self.buffers.iter().find(|buffer| buffer.address == address);
        let buffer = buffer.expect("a buffer begins at this address");
        let mut bytes = vec![0; buffer.len];
        // SAFETY: the buffer has that many bytes, and nothing else runs while `self` is
        // borrowed mutably.
        unsafe {
            buffer
                .host()
                .copy_to_nonoverlapping(bytes.as_mut_ptr(), buffer.len);
        }
        bytes
    }

    /// Launches the embedded kernel that `arguments` belong to and waits for it.
    pub(crate) fn run<A: Arguments>(&mut self, geometry: Geometry, mut arguments: A) {
        let entry = A::ENTRY.to_str().expect("entry names are ASCII");
        let file = Embedded::with_entry(entry).expect("the kernel is embedded");
        let module = Module::parse(file.ptx()).expect("the PTX parses");
        let program = Program::load(&module, self).expect("the module loads");
        let kernel = program.kernel(entry).expect("the kernel can run");
        assert_eq!(kernel.params.len(), A::SIZES.len());

        let mut parameters = vec![0; kernel.param_bytes as usize];
        let mut pointers = arguments.pointers();
        for ((pointer, &size), place) in pointers.as_mut().iter().zip(A::SIZES).zip(&kernel.params)
        {
            assert_eq!(place.size as usize, size);
            // SAFETY: the pointer is to an argument of that size in `arguments`.
            let bytes = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), size) };
            parameters[place.offset as usize..][..size].copy_from_slice(bytes);
        }
        let config = LaunchConfig {
            grid: [geometry.blocks, 1, 1],
            block: [geometry.threads, 1, 1],
            dynamic_shared: geometry.shared_bytes,
        };
        launch(&kernel, config, &parameters, self, LaunchOptions::default())
            .unwrap_or_else(|error| panic!("{entry} over {geometry:?}: {error}"));
    }
}
