//! Random operations of an exporter and two importers, against a model that counts bytes and knows what each
//! piece holds.
#![cfg(target_os = "linux")]

use std::os::unix::net::UnixStream;

use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut};
use cupola_managers::pool::DeviceLimit;
use cupola_managers::vmm::{Access, AddressRange, ImportCharge, VirtualMemory};
use cupola_managers::{Error, ExecutionManager, Stream, ops};
use cupola_random::Random;
use cupola_sharing::{SharingError, receive, send};
use cupola_sim::Machine;

const PAGE: u64 = 2 << 20;
const LIMIT: u64 = 12 * PAGE;

/// A mapped piece, and which allocation it is of.
struct Piece {
    range: AddressRange,
    allocation: usize,
    charged: bool,
    is_import: bool,
}

/// One of the processes: they share no limit.
struct Side {
    memory: VirtualMemory,
    pieces: Vec<Piece>,
}

impl Side {
    fn new(execution: &ExecutionManager) -> Self {
        let context = execution.devices().get(0).unwrap().primary().unwrap();
        let memory = context.virtual_memory(&DeviceLimit::new(LIMIT)).unwrap();
        Self {
            memory,
            pieces: Vec::new(),
        }
    }

    fn used(&self) -> u64 {
        let charged = self.pieces.iter().filter(|piece| piece.charged);
        charged.map(|piece| piece.range.bytes()).sum()
    }

    fn check(&self, what: &str) {
        let bytes: u64 = self.pieces.iter().map(|piece| piece.range.bytes()).sum();
        let has = (self.memory.limit().used(), self.memory.bytes());
        assert_eq!(has, (self.used(), bytes), "{what}");
    }

    /// Maps what came, or sees that it was refused for the limit and only for it.
    fn take(&mut self, came: Came, allocation: usize, bytes: u64, charged: bool, what: &str) {
        let is_over = charged && self.used() + bytes > LIMIT;
        match came.memory {
            Ok(memory) => {
                assert!(!is_over, "{what}: beyond the limit");
                assert_eq!(memory.bytes(), bytes, "{what}");
                let mut range = self.memory.reserve(bytes).unwrap();
                range.map(0, memory).unwrap();
                range.set_access(0..bytes, Access::ReadWrite).unwrap();
                self.pieces.push(Piece {
                    range,
                    allocation,
                    charged,
                    is_import: came.is_import,
                });
            }
            Err(SharingError::Cuda(Error::OverLimit(_))) => assert!(is_over, "{what}: refused"),
            Err(other) => panic!("{what}: {other}"),
        }
    }
}

struct Came {
    memory: Result<cupola_managers::vmm::PhysicalMemory, SharingError>,
    is_import: bool,
}

fn write(range: &AddressRange, value: u8, stream: &Stream) {
    // SAFETY: 4 KiB of mapped memory, which the test uses alone.
    let slice = unsafe { DeviceSliceMut::<u8>::from_raw(range.address() + PAGE / 2, 4096) };
    ops::fill(slice, value, stream).unwrap();
    ops::synchronize(stream).unwrap();
}

fn read(range: &AddressRange, stream: &Stream) -> Vec<u8> {
    // SAFETY: as above.
    let slice = unsafe { DeviceSlice::<u8>::from_raw(range.address() + PAGE / 2, 4096) };
    slice.to_vec(stream).unwrap()
}

fn any_life(seed: u64) {
    let machine = Machine::builder().worker_threads(1).build();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let context = execution.devices().get(0).unwrap().primary().unwrap();
    let stream = context.streams().create(Default::default()).unwrap();
    let mut random = Random::new(seed);
    let mut sides = [0; 3].map(|_| Side::new(&execution));
    // By allocation: what it holds.
    let mut contents: Vec<u8> = Vec::new();
    for step in 0..60 {
        let what = format!("seed {seed}, step {step}");
        let at = random.index(sides.len());
        let piece = random.index(sides[at].pieces.len().max(1));
        match random.below(5) {
            0 => {
                let bytes = PAGE * (1 + random.below(4));
                let memory = sides[at].memory.create_exportable(bytes);
                let memory = memory.map_err(SharingError::from);
                let is_import = false;
                sides[at].take(
                    Came { memory, is_import },
                    contents.len(),
                    bytes,
                    true,
                    &what,
                );
                contents.push(0);
            }
            1 | 2 if piece < sides[at].pieces.len() => {
                let to = random.index(sides.len());
                let (ours, theirs) = UnixStream::pair().unwrap();
                let piece = &sides[at].pieces[piece];
                let (allocation, bytes) = (piece.allocation, piece.range.bytes());
                let (_, memory) = piece.range.pieces().next().unwrap();
                let sent = send(&ours, memory);
                assert_eq!(sent.is_err(), piece.is_import, "{what}");
                if sent.is_err() {
                    continue;
                }
                if random.one_in(3) {
                    // It is on its way, and its creator drops it.
                    sides[at]
                        .pieces
                        .retain(|piece| piece.allocation != allocation);
                }
                let (charge, charged) = match random.below(2) {
                    0 => (ImportCharge::ThisLimit, true),
                    _ => (ImportCharge::OtherLimit, false),
                };
                let memory = receive(&theirs, &sides[to].memory, charge);
                let is_import = true;
                sides[to].take(
                    Came { memory, is_import },
                    allocation,
                    bytes,
                    charged,
                    &what,
                );
            }
            3 if piece < sides[at].pieces.len() => {
                drop(sides[at].pieces.swap_remove(piece));
            }
            _ if piece < sides[at].pieces.len() => {
                let piece = &sides[at].pieces[piece];
                let value = random.below(256) as u8;
                write(&piece.range, value, &stream);
                contents[piece.allocation] = value;
            }
            _ => {}
        }
        for side in &sides {
            side.check(&what);
            for piece in &side.pieces {
                let value = contents[piece.allocation];
                assert_eq!(read(&piece.range, &stream), [value; 4096], "{what}");
            }
        }
    }
    drop((sides, stream, context, execution));
    assert_eq!(machine.leaks(), None, "seed {seed}");
}

// Without it a charge could be lost or kept, or a piece show another's bytes, in an order of calls that no
// other test has.
#[test]
fn any_order_of_calls_keeps_charges_and_contents() {
    for seed in 0..60 {
        any_life(seed);
    }
}
