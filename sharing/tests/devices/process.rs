//! `Process`: a machine with two devices, and what one process has there.

use std::time::Duration;

use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut};
use cupola_managers::interop::ExternalBuffer;
use cupola_managers::peer::PeerCheck;
use cupola_managers::pool::{DeviceLimit, PoolConfig};
use cupola_managers::vmm::{Access, AddressRange, PhysicalMemory, VirtualMemory};
use cupola_managers::{
    Buffer, Context, ContextsConfig, ExecutionConfig, ExecutionManager, MemoryPool, Stream, ops,
};
use cupola_sim::Machine;
use cupola_sys::driver::{CUmemAccess_flags as Flags, CUmemLocation, CUmemLocationType};

pub(super) const PAGE: u64 = 2 << 20;
pub(super) const LIMIT: u64 = 8 * PAGE;
/// Bytes of a piece that are looked at.
pub(super) const LEN: usize = 64;
/// Where they are.
const AT: u64 = PAGE / 2;

/// What a piece holds.
pub(super) type Bytes = [u8; LEN];

/// Memory that a process has an address of.
pub(super) enum Hold {
    Range(AddressRange),
    External(ExternalBuffer),
}

pub(super) struct Piece {
    pub(super) hold: Hold,
    /// Whose memory it is, by number.
    pub(super) allocation: usize,
    /// The device that it is mapped by.
    pub(super) device: usize,
    /// The device that has the memory.
    pub(super) home: usize,
    pub(super) bytes: u64,
    pub(super) is_charged: bool,
    pub(super) is_import: bool,
    /// What each device may do.
    pub(super) access: [Option<Access>; 2],
}

impl Piece {
    /// The address of the bytes that are looked at.
    pub(super) fn address(&self) -> u64 {
        AT + match &self.hold {
            Hold::Range(range) => range.address(),
            Hold::External(buffer) => buffer.address(),
        }
    }

    pub(super) fn memory(&self) -> Option<&PhysicalMemory> {
        match &self.hold {
            Hold::Range(range) => range.pieces().next().map(|(_, memory)| memory),
            Hold::External(_) => None,
        }
    }

    pub(super) fn may_read(&self, device: usize) -> bool {
        self.access[device].is_some()
    }

    pub(super) fn may_write(&self, device: usize) -> bool {
        self.access[device] == Some(Access::ReadWrite)
    }

    /// The bytes that are looked at, for work that the test waits for.
    pub(super) fn view(&self) -> DeviceSlice<'_, u8> {
        // SAFETY: a page at least is mapped, as long as this value lives.
        unsafe { DeviceSlice::from_raw(self.address(), LEN) }
    }

    pub(super) fn view_mut(&self) -> DeviceSliceMut<'_, u8> {
        // SAFETY: a page at least is mapped, as long as this value lives, and each use is waited for.
        unsafe { DeviceSliceMut::from_raw(self.address(), LEN) }
    }
}

/// A page of a pool.
pub(super) struct Marked {
    pub(super) buffer: Buffer<u8>,
    pub(super) device: usize,
    pub(super) holds: Bytes,
    /// Whether the other device has used it since the pool was open to it.
    pub(super) is_used_by_peer: bool,
}

/// What a process has of one device.
pub(super) struct Side {
    pub(super) context: Context,
    pub(super) stream: Stream,
    pub(super) memory: VirtualMemory,
    pub(super) pool: MemoryPool,
    /// Whether the pool is open to the other device.
    pub(super) is_open: bool,
    /// Bytes that the device had free before.
    free: u64,
}

impl Side {
    fn new(execution: &ExecutionManager, ordinal: u32) -> Self {
        let context = execution.devices().get(ordinal).unwrap().primary().unwrap();
        let limit = DeviceLimit::new(LIMIT);
        let config = PoolConfig::limit(LIMIT).within(&limit).wait(Duration::ZERO);
        Self {
            stream: context.streams().create(Default::default()).unwrap(),
            memory: context.virtual_memory(&limit).unwrap(),
            pool: context.memory_pool(config).unwrap(),
            is_open: false,
            free: context.memory_info().unwrap().free,
            context,
        }
    }
}

pub(super) struct Process {
    pub(super) pieces: Vec<Piece>,
    pub(super) buffers: Vec<Marked>,
    pub(super) sides: Vec<Side>,
    execution: ExecutionManager,
    machine: Machine,
}

impl Process {
    /// A process on devices of which the one named has no access to the other one's memory.
    pub(super) fn new(apart: Option<usize>) -> Self {
        let machine = Machine::builder().devices(2).worker_threads(1);
        let machine = match apart {
            Some(device) => machine.without_peer_access(device, 1 - device),
            None => machine,
        };
        let machine = machine.build();
        let config = ExecutionConfig {
            contexts: ContextsConfig {
                peers: PeerCheck::Never,
                ..ContextsConfig::default()
            },
            ..ExecutionConfig::default()
        };
        let execution = ExecutionManager::with_config(machine.driver(), config).unwrap();
        let sides = [0, 1].map(|ordinal| Side::new(&execution, ordinal));
        Self {
            pieces: Vec::new(),
            buffers: Vec::new(),
            sides: sides.into(),
            execution,
            machine,
        }
    }

    /// Bytes that the limit of a device has to count for pieces.
    pub(super) fn charged(&self, device: usize) -> u64 {
        let charged = |piece: &&Piece| piece.is_charged && piece.device == device;
        self.pieces
            .iter()
            .filter(charged)
            .map(|piece| piece.bytes)
            .sum()
    }

    /// Bytes of the buffers of a device's pool.
    pub(super) fn allocated(&self, device: usize) -> u64 {
        let buffers = self.buffers.iter();
        PAGE * buffers.filter(|buffer| buffer.device == device).count() as u64
    }

    /// Waits for all work.
    pub(super) fn wait(&self) {
        for side in &self.sides {
            ops::synchronize(&side.stream).unwrap();
        }
    }

    /// Holds everything against what it is to be; the bytes of each allocation by its number.
    pub(super) fn check(&self, contents: &[Bytes]) {
        let mut all = 0;
        for (device, side) in self.sides.iter().enumerate() {
            let mapped = side.pool.mapped();
            assert!(mapped >= self.allocated(device));
            assert_eq!(side.memory.limit().used(), self.charged(device) + mapped);
            let ranges = self.pieces.iter().filter(|piece| piece.memory().is_some());
            let own = ranges.filter(|piece| piece.device == device);
            let bytes = own.clone().map(|piece| piece.bytes).sum::<u64>();
            assert_eq!(side.memory.bytes(), bytes);
            let made = own.filter(|piece| !piece.is_import);
            let made = made.map(|piece| piece.bytes).sum::<u64>() + mapped;
            assert_eq!(side.free - side.context.memory_info().unwrap().free, made);
            all += bytes + mapped;
        }
        assert_eq!(self.machine.usage().physical_bytes, all);
        for piece in &self.pieces {
            for (device, side) in self.sides.iter().enumerate() {
                self.check_access(piece, device);
                if piece.may_read(device) {
                    let found = piece.view().to_vec(&side.stream).unwrap();
                    assert_eq!(found, contents[piece.allocation], "by device {device}");
                }
            }
        }
        for marked in &self.buffers {
            let found = marked.buffer.slice(..LEN).unwrap();
            let found = found.to_vec(&self.sides[marked.device].stream).unwrap();
            assert_eq!(found, marked.holds);
        }
    }

    /// What the driver says that a device may do with a piece.
    fn check_access(&self, piece: &Piece, device: usize) {
        let Hold::Range(range) = &piece.hold else {
            return;
        };
        let mut location = CUmemLocation {
            type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
            ..CUmemLocation::default()
        };
        location.__bindgen_anon_1.id = i32::try_from(device).unwrap();
        let mut flags = 0;
        // SAFETY: both places outlive the call.
        let asked = unsafe {
            let driver = self.execution.driver();
            driver.cuMemGetAccess(&raw mut flags, &raw const location, range.address())
        };
        asked.unwrap();
        let expected = match piece.access[device] {
            None => Flags::CU_MEM_ACCESS_FLAGS_PROT_NONE,
            Some(Access::Read) => Flags::CU_MEM_ACCESS_FLAGS_PROT_READ,
            Some(Access::ReadWrite) => Flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        assert_eq!(flags, u64::from(expected.0), "device {device}");
    }

    /// Ends with all that it has: nothing is left on its machine.
    pub(super) fn end(self) {
        let watch = self.execution.watch();
        drop((self.pieces, self.buffers, self.sides, self.execution));
        assert!(watch.live().is_empty(), "{:?}", watch.live());
        assert_eq!(self.machine.leaks(), None);
        let findings = self.machine.findings();
        assert!(findings.is_empty(), "{findings:?}");
    }
}
