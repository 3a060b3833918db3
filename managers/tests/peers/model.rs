//! Random grants, copies, launches and drops beside a naive account of bytes and grants.

use cupola_managers::ops::LaunchConfig;
use cupola_managers::peer::PeerError;
use cupola_managers::{Buffer, Error, Function, PeerAccess, ops};
use cupola_sys::driver::id;
use quickcheck::{Arbitrary, Gen, QuickCheck};

use super::{Side, TestBench, finish, machine, open_unchecked};

const DEVICES: usize = 3;
const LEN: usize = 64;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Of the first device, or of that it is to: by their numbers.
    Grant(usize, usize),
    /// Of the grants that are there, whichever the number falls on.
    Revoke(usize),
    Open(usize, usize),
    Close(usize, usize),
    Allocate(usize),
    Drop(usize),
    /// From one buffer to another, on a stream of either side.
    Copy(usize, usize, bool),
    /// The device's kernel changes a buffer, of whichever device.
    Bump(usize, usize),
}

impl Arbitrary for Step {
    fn arbitrary(g: &mut Gen) -> Self {
        let [a, b] = [usize::arbitrary(g), usize::arbitrary(g)];
        match u8::arbitrary(g) % 18 {
            0..2 => Self::Grant(a, b),
            2 => Self::Revoke(a),
            3 => Self::Open(a, b),
            4..6 => Self::Allocate(a),
            6 => Self::Drop(a),
            7..12 => Self::Copy(a, b, bool::arbitrary(g)),
            12..14 => Self::Close(a, b),
            _ => Self::Bump(a, b),
        }
    }
}

/// A buffer of a device, and what it holds.
struct Marked {
    device: usize,
    buffer: Buffer<u32>,
    holds: Vec<u32>,
    /// Devices that have used it when the pool was open to them.
    used_by: Vec<usize>,
}

struct Model<'b> {
    bench: &'b TestBench,
    sides: &'b [Side],
    kernels: Vec<Function>,
    /// No link from the first to the second.
    apart: Option<(usize, usize)>,
    grants: Vec<((usize, usize), PeerAccess)>,
    open: Vec<(usize, usize)>,
    alive: Vec<Marked>,
    /// Enables and disables that should have been made.
    enabled: u64,
    disabled: u64,
    marks: u32,
}

impl Model<'_> {
    fn pick(&self, number: usize) -> Option<usize> {
        let len = self.alive.len();
        (len > 0).then(|| number % len)
    }

    fn holders(&self, pair: (usize, usize)) -> usize {
        self.grants.iter().filter(|(held, _)| *held == pair).count()
    }

    /// All work so far comes before all that follows, on every stream.
    fn join(&self) {
        for side in self.sides {
            ops::synchronize(&side.stream).unwrap();
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Grant(device, peer) => self.grant((device % DEVICES, peer % DEVICES)),
            Step::Revoke(number) => {
                let len = self.grants.len();
                if len > 0 {
                    let (pair, access) = self.grants.swap_remove(number % len);
                    self.disabled += u64::from(self.holders(pair) == 0);
                    access.end().unwrap();
                }
            }
            Step::Open(device, peer) => self.open_to((device % DEVICES, peer % DEVICES)),
            Step::Close(device, peer) => self.close_to((device % DEVICES, peer % DEVICES)),
            Step::Allocate(device) => self.allocate(device % DEVICES),
            Step::Drop(number) => {
                if let Some(at) = self.pick(number) {
                    self.join();
                    let marked = self.alive.swap_remove(at);
                    let stream = &self.sides[marked.device].stream;
                    assert_eq!(marked.buffer.to_vec(stream).unwrap(), marked.holds);
                }
            }
            Step::Copy(from, to, of_source) => self.copy(from, to, of_source),
            Step::Bump(device, number) => self.bump(device % DEVICES, number),
        }
        let count = |symbol| self.bench.faults.count(symbol);
        assert_eq!(count(id::cuCtxEnablePeerAccess), self.enabled);
        assert_eq!(count(id::cuCtxDisablePeerAccess), self.disabled);
    }

    fn grant(&mut self, pair: (usize, usize)) {
        let (own, peer) = (&self.sides[pair.0], &self.sides[pair.1]);
        let granted = own.context.peer_access(&peer.context);
        let refusal = match pair {
            (device, peer) if device == peer => Some(PeerError::SameDevice {
                device: device as u32,
            }),
            pair if self.apart == Some(pair) => Some(PeerError::NoLink {
                device: pair.0 as u32,
                peer: pair.1 as u32,
            }),
            _ => None,
        };
        match (granted, refusal) {
            (Ok(access), None) => {
                self.enabled += u64::from(self.holders(pair) == 0);
                self.grants.push((pair, access));
            }
            (Err(Error::Peer(error)), Some(refusal)) => assert_eq!(*error, refusal),
            (granted, refusal) => panic!("{granted:?}, expected {refusal:?}"),
        }
    }

    /// The pool of the peer to the device.
    fn open_to(&mut self, pair: (usize, usize)) {
        let (own, peer) = (&self.sides[pair.0], &self.sides[pair.1]);
        let opened = peer.pool.open_to(&own.context);
        match opened {
            Ok(()) => {
                assert_ne!(self.apart, Some(pair));
                self.open.push(pair);
            }
            Err(error) => assert!(
                matches!(error, Error::Peer(_)) && self.apart == Some(pair),
                "{error}"
            ),
        }
    }

    fn close_to(&mut self, pair: (usize, usize)) {
        // What is over is known to be: buffers alone keep it open.
        self.join();
        let (own, peer) = (&self.sides[pair.0], &self.sides[pair.1]);
        let users = self.alive.iter().filter(|marked| {
            marked.device == pair.1 && marked.used_by.contains(&pair.0) && pair.0 != pair.1
        });
        let buffers = users.count();
        match peer.pool.close_to(&own.context) {
            Ok(()) => {
                assert!(pair.0 != pair.1 && buffers == 0);
                self.open.retain(|open| *open != pair);
            }
            Err(Error::Invalid { .. }) => assert_eq!(pair.0, pair.1),
            Err(Error::Peer(error)) => {
                let (device, peer) = (pair.0 as u32, pair.1 as u32);
                let in_use = PeerError::InUse {
                    device,
                    peer,
                    buffers,
                    freed: 0,
                };
                assert_eq!(*error, in_use);
                assert!(buffers > 0);
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn allocate(&mut self, device: usize) {
        self.marks += 1;
        let holds = vec![self.marks; LEN];
        let side = &self.sides[device];
        let buffer = side.pool.upload(&holds, &side.stream).unwrap();
        self.alive.push(Marked {
            device,
            buffer,
            holds,
            used_by: Vec::new(),
        });
    }

    fn copy(&mut self, from: usize, to: usize, of_source: bool) {
        let (Some(from), Some(to)) = (self.pick(from), self.pick(to)) else {
            return;
        };
        if from == to {
            return;
        }
        // The program's part: one use after the other.
        self.join();
        let holds = self.alive[from].holds.clone();
        let device = match of_source {
            true => self.alive[from].device,
            false => self.alive[to].device,
        };
        for at in [from, to] {
            let marked = &mut self.alive[at];
            if self.open.contains(&(device, marked.device)) {
                marked.used_by.push(device);
            }
        }
        let stream = &self.sides[device].stream;
        let mut target = self.alive.swap_remove(to);
        let from = if from == self.alive.len() { to } else { from };
        let source = &self.alive[from].buffer;
        ops::copy_between(source, &mut target.buffer, stream).unwrap();
        target.holds = holds;
        let last = self.alive.len();
        self.alive.push(target);
        self.alive.swap(to, last);
    }

    fn bump(&mut self, device: usize, number: usize) {
        let Some(at) = self.pick(number) else {
            return;
        };
        self.join();
        let marked = &mut self.alive[at];
        let may = marked.device == device || self.open.contains(&(device, marked.device));
        let (kernel, stream) = (&self.kernels[device], &self.sides[device].stream);
        let config = LaunchConfig::linear(1, 1);
        // SAFETY: the kernel changes the first element.
        let launched = unsafe { ops::launch(kernel, config, (&mut marked.buffer,), stream) };
        match launched {
            Ok(()) => {
                assert!(may);
                marked.holds[0] += 1;
                if marked.device != device {
                    marked.used_by.push(device);
                }
            }
            Err(error) => assert!(
                !may && matches!(error, Error::WrongContext { .. }),
                "{error}"
            ),
        }
    }
}

// Without it grants could be miscounted, a copy leave bytes of another one, or memory be used again
// while another device uses it, in an order that no other test has.
#[test]
fn random_orders_agree_with_a_naive_account() {
    fn property(steps: Vec<Step>, apart: Option<(usize, usize)>) -> bool {
        let apart = apart.map(|(device, peer)| (device % DEVICES, peer % DEVICES));
        let machine = match apart {
            Some((device, peer)) => machine(DEVICES).without_peer_access(device, peer),
            None => machine(DEVICES),
        };
        let (bench, sides) = open_unchecked(machine);
        let mut model = Model {
            bench: &bench,
            sides: &sides,
            kernels: sides.iter().map(|side| side.kernel("bump")).collect(),
            apart: apart.filter(|(device, peer)| device != peer),
            grants: Vec::new(),
            open: Vec::new(),
            alive: Vec::new(),
            enabled: 0,
            disabled: 0,
            marks: 0,
        };
        for step in steps {
            model.step(step);
        }
        model.join();
        for marked in &model.alive {
            let stream = &sides[marked.device].stream;
            assert_eq!(marked.buffer.to_vec(stream).unwrap(), marked.holds);
        }
        drop(model);
        finish(bench, sides);
        true
    }
    QuickCheck::new()
        .tests(60)
        .quickcheck(property as fn(Vec<Step>, Option<(usize, usize)>) -> bool);
}
