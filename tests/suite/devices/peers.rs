//! Two devices and more: what the driver says of each pair is tried, and bytes are compared.
//!
//! With one device nothing is tried, and a line on standard error says so.

use cupola_managers::ops::{self, Cuboid, LaunchConfig, Rectangle};
use cupola_managers::peer::PeerError;
use cupola_managers::{Buffer, Context, Error, Function, MemoryPool, PoolConfig, Stream};
use cupola_random::Random;
use cupola_sys::driver::CUresult;

use crate::child;
use crate::common::{Bench, noise};

/// One device of a bench.
pub(super) struct Side {
    ordinal: u32,
    pub(super) pool: MemoryPool,
    pub(super) stream: Stream,
    pub(super) context: Context,
}

impl Side {
    fn new(bench: &Bench, ordinal: u32) -> Self {
        let device = bench.execution.devices().get(ordinal).unwrap();
        let context = device.primary().unwrap();
        Self {
            ordinal,
            pool: context.memory_pool(PoolConfig::limit(1 << 30)).unwrap(),
            stream: context.streams().create(Default::default()).unwrap(),
            context,
        }
    }

    fn upload(&self, bytes: &[u8]) -> Buffer<u8> {
        let buffer = self.pool.upload(bytes, &self.stream).unwrap();
        ops::synchronize(&self.stream).unwrap();
        buffer
    }

    /// The kernel that adds the words of one array to those of another one.
    pub(super) fn add_words(&self) -> Function {
        let module = self.context.modules().load_ptx(PTX).unwrap();
        module.function("add_words").unwrap()
    }
}

/// All devices of a bench.
pub(super) fn sides(bench: &Bench) -> Vec<Side> {
    let count = bench.execution.devices().count();
    (0..count)
        .map(|ordinal| Side::new(bench, ordinal))
        .collect()
}

/// The ordered pairs of different devices.
fn pairs(sides: &[Side]) -> impl Iterator<Item = (&Side, &Side)> {
    let pairs = sides
        .iter()
        .flat_map(|own| sides.iter().map(move |peer| (own, peer)));
    pairs.filter(|(own, peer)| own.ordinal != peer.ordinal)
}

/// Runs a test on all devices, where there are two at least.
fn with_devices(test: impl FnOnce(&Bench, &[Side])) {
    let Some(bench) = Bench::with_devices(2) else {
        return;
    };
    let sides = sides(&bench);
    test(&bench, &sides);
    drop(sides);
    bench.finish();
}

// Without it the matrix could say what is not so: of each pair its access is asked for, which makes the
// first-use check where it is given.
#[test]
fn each_claim_of_the_matrix_is_tried() {
    with_devices(|bench, sides| {
        let matrix = bench.execution.devices().peers().unwrap();
        println!("{matrix}");
        for (own, peer) in pairs(sides) {
            let link = matrix.link(own.ordinal, peer.ordinal).unwrap();
            println!("{link:?}");
            match own.context.peer_access(&peer.context) {
                Ok(access) => {
                    assert!(link.access);
                    let again = own.context.peer_access(&peer.context).unwrap();
                    access.end().unwrap();
                    again.end().unwrap();
                }
                Err(Error::Peer(error)) => {
                    let (device, peer) = (own.ordinal, peer.ordinal);
                    assert_eq!(*error, PeerError::NoLink { device, peer });
                    assert!(!link.access);
                }
                Err(error) => panic!("{error}"),
            }
        }
    });
}

// Without it a copy could lose bytes, at an odd address or beyond a size, on a way that depends on
// whether there is access.
#[test]
fn copies_between_devices_keep_every_byte() {
    with_devices(|_, sides| {
        let opened = [false, true];
        for (open, (own, peer)) in opened
            .into_iter()
            .flat_map(|open| pairs(sides).map(move |pair| (open, pair)))
        {
            if open && peer.pool.open_to(&own.context).is_err() {
                continue;
            }
            for (number, len) in [1, 4093, 65_537, (8 << 20) + 3].into_iter().enumerate() {
                let bytes = noise(number as u64, len + 2);
                let from = own.upload(&bytes);
                let mut to = peer.upload(&vec![0; len + 3]);
                let stream = match number % 2 {
                    0 => &own.stream,
                    _ => &peer.stream,
                };
                let part = to.slice_mut(2..len + 2).unwrap();
                ops::copy_between(from.slice(1..=len).unwrap(), part, stream).unwrap();
                ops::order(stream, &peer.stream).unwrap();
                let seen = to.to_vec(&peer.stream).unwrap();
                assert!(seen[2..len + 2] == bytes[1..=len], "{len} bytes");
                assert_eq!((&seen[..2], seen[len + 2]), (&[0, 0][..], 0));
                // The other way, out of the peer's memory.
                let mut back = own.upload(&vec![0; len]);
                let part = to.slice(2..len + 2).unwrap();
                ops::copy_between(part, &mut back, stream).unwrap();
                ops::order(stream, &own.stream).unwrap();
                let seen = back.to_vec(&own.stream).unwrap();
                assert!(seen == bytes[1..=len], "{len} bytes back");
            }
        }
    });
}

/// Elements on each side of a copy of slices.
const BOX: usize = 1 << 20;

/// A random shape.
fn shape(random: &mut Random, number: u64) -> Cuboid {
    let mut below = |most: u64| random.below(most) as usize;
    let (width, height, depth) = match number % 3 {
        0 => (1 + below(3000), 1 + below(100), 1),
        1 => (1 + below(60), 1 + below(60), 1 + below(60)),
        _ => (1, 1 + below(100), 1 + below(100)),
    };
    Cuboid::new(width, height, depth)
        .from_pitch(width + below(40))
        .from_rows(height + below(5))
        .to_pitch(width + below(40))
        .to_rows(height + below(5))
}

/// What a copy of the shape makes of `to`.
fn copied(from: &[u8], to: &[u8], cuboid: Cuboid) -> Vec<u8> {
    let mut to = to.to_vec();
    for z in 0..cuboid.depth {
        for y in 0..cuboid.height {
            let from_at = (z * cuboid.from_rows + y) * cuboid.from_pitch;
            let to_at = (z * cuboid.to_rows + y) * cuboid.to_pitch;
            to[to_at..to_at + cuboid.width].copy_from_slice(&from[from_at..from_at + cuboid.width]);
        }
    }
    to
}

// Without it the driver's copies of rows and slices between devices could be told a pitch of the wrong
// side, need access that there is not, or write between the rows: each is compared with a naive copy.
#[test]
fn rows_and_slices_between_devices_go_where_they_belong() {
    with_devices(|_, sides| {
        let mut random = Random::new(7);
        for (open, (own, peer)) in [false, true]
            .into_iter()
            .flat_map(|open| pairs(sides).map(move |pair| (open, pair)))
        {
            if open && peer.pool.open_to(&own.context).is_err() {
                continue;
            }
            let (read, write) = (noise(1, BOX), noise(2, BOX));
            let from = own.upload(&read);
            for number in 0..12 {
                let cuboid = shape(&mut random, number);
                let mut to = peer.upload(&write);
                let stream = match number % 2 {
                    0 => &own.stream,
                    _ => &peer.stream,
                };
                if cuboid.depth == 1 {
                    let rows = Rectangle::new(cuboid.width, cuboid.height)
                        .from_pitch(cuboid.from_pitch)
                        .to_pitch(cuboid.to_pitch);
                    ops::copy_between_2d(&from, &mut to, rows, stream).unwrap();
                } else {
                    ops::copy_between_3d(&from, &mut to, cuboid, stream).unwrap();
                }
                ops::order(stream, &peer.stream).unwrap();
                let seen = to.to_vec(&peer.stream).unwrap();
                let expected = copied(&read, &write, cuboid);
                assert!(seen == expected, "{cuboid:?}, open: {open}");
            }
        }
    });
}

// Without it memory could have its next user while a copy on another device still reads or writes it:
// the copies go both ways at once, and nothing waits on the host in between.
#[test]
fn memory_is_not_used_again_while_another_device_uses_it() {
    const LEN: usize = 3 << 20;
    with_devices(|_, sides| {
        let (here, there) = (&sides[0], &sides[1]);
        for (own, peer) in [(here, there), (there, here)] {
            let mut found = Vec::new();
            for round in 0..24u8 {
                let mut from = own.pool.allocate::<u8>(LEN, &own.stream).unwrap();
                ops::set_bytes(&mut from, round, &own.stream).unwrap();
                let mut to = peer.pool.allocate::<u8>(LEN, &peer.stream).unwrap();
                let stream = match round % 2 {
                    0 => &own.stream,
                    _ => &peer.stream,
                };
                ops::order(&own.stream, stream).unwrap();
                ops::copy_between(&from, &mut to, stream).unwrap();
                // Its memory is the next round's, which writes other bytes.
                drop(from);
                ops::order(stream, &peer.stream).unwrap();
                let mut back = peer.context.buffers().pinned::<u8>(LEN).unwrap();
                ops::copy_to_host(&to, &mut back, &peer.stream).unwrap();
                found.push((round, back));
            }
            for (round, back) in found {
                let bytes = back.as_slice().unwrap();
                assert!(bytes.iter().all(|&byte| byte == round), "round {round}");
            }
        }
    });
}

/// Adds the words of one array to those of another, a thread for each.
const PTX: &str = "
.version 7.0
.target sm_60
.address_size 64
.visible .entry add_words(.param .u64 to, .param .u64 from) {
    .reg .b64 %a<5>; .reg .b32 %r<6>;
    ld.param.u64 %a0, [to];
    ld.param.u64 %a1, [from];
    mov.u32 %r0, %ctaid.x;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r3, %r0, %r1, %r2;
    mul.wide.u32 %a2, %r3, 4;
    add.u64 %a3, %a0, %a2;
    add.u64 %a4, %a1, %a2;
    ld.global.u32 %r4, [%a3];
    ld.global.u32 %r5, [%a4];
    add.u32 %r4, %r4, %r5;
    st.global.u32 [%a3], %r4;
    ret;
}";

// Without it a kernel could fault in memory of a pool that is open to its device, which the pool had
// before or got later, or read what is not there.
#[test]
fn kernels_use_memory_of_open_pools() {
    const LEN: usize = 1 << 20;
    with_devices(|bench, sides| {
        let matrix = bench.execution.devices().peers().unwrap();
        for (own, peer) in pairs(sides) {
            let pool = peer
                .context
                .memory_pool(PoolConfig::limit(1 << 30))
                .unwrap();
            let before = pool.upload(&vec![3u32; LEN], &peer.stream).unwrap();
            match pool.open_to(&own.context) {
                Ok(()) => assert!(matrix.can_access(own.ordinal, peer.ordinal)),
                Err(error) => {
                    assert!(matches!(error, Error::Peer(_)), "{error}");
                    assert!(!matrix.can_access(own.ordinal, peer.ordinal));
                    continue;
                }
            }
            // Pages that the pool maps from now on.
            let mut after = pool.upload(&vec![4u32; 16 * LEN], &peer.stream).unwrap();
            let mut ours = own.pool.upload(&vec![1u32; LEN], &own.stream).unwrap();
            let add = own.add_words();
            ops::order(&peer.stream, &own.stream).unwrap();
            let config = LaunchConfig::linear((LEN / 256) as u32, 256);
            let last = after.slice_mut(15 * LEN..).unwrap();
            // SAFETY: a word of each array for each thread.
            unsafe {
                ops::launch(&add, config, (&mut ours, &before), &own.stream).unwrap();
                ops::launch(&add, config, (last, &ours), &own.stream).unwrap();
            }
            assert_eq!(ours.to_vec(&own.stream).unwrap(), vec![4; LEN]);
            ops::order(&own.stream, &peer.stream).unwrap();
            let seen = after.to_vec(&peer.stream).unwrap();
            assert!(seen[..15 * LEN].iter().all(|&word| word == 4));
            assert!(seen[15 * LEN..].iter().all(|&word| word == 8));
        }
    });
}

/// A device that may access memory of the one with this ordinal, and that one.
pub(super) fn linked<'s>(
    bench: &Bench,
    sides: &'s [Side],
    ordinal: u32,
) -> Option<(&'s Side, &'s Side)> {
    let matrix = bench.execution.devices().peers().unwrap();
    let mut pairs = pairs(sides).filter(|(_, peer)| peer.ordinal == ordinal);
    let pair = pairs.find(|(own, peer)| matrix.can_access(own.ordinal, peer.ordinal));
    if pair.is_none() {
        eprintln!("SKIPPED: no device may access memory of device {ordinal}");
    }
    pair
}

/// Adds the words of an array to those of another one, both of whichever device, on this side's.
pub(super) fn launch_add(
    add: &Function,
    own: &Side,
    to: u64,
    from: u64,
    len: usize,
) -> Result<(), Error> {
    let config = LaunchConfig::linear((len / 256) as u32, 256);
    // SAFETY: the callers have as many words at both addresses, until the stream has come so far; or mean
    // the fault.
    unsafe { ops::launch(add, config, (to, from), &own.stream) }
}

// Without it the driver could keep a pool closed that is opened again, or refuse copies that need no
// access once it was taken away.
#[test]
fn pools_are_closed_and_opened_again() {
    const LEN: usize = 1 << 20;
    with_devices(|bench, sides| {
        let Some((own, peer)) = linked(bench, sides, 0) else {
            return;
        };
        for round in 0..4 {
            let mut theirs = peer.pool.upload(&vec![3u32; LEN], &peer.stream).unwrap();
            peer.pool.open_to(&own.context).unwrap();
            ops::order(&peer.stream, &own.stream).unwrap();
            ops::fill(&mut theirs, round, &own.stream).unwrap();
            match peer.pool.close_to(&own.context) {
                Err(Error::Peer(error)) => {
                    assert!(matches!(*error, PeerError::InUse { buffers: 1, .. }));
                }
                other => panic!("{other:?}"),
            }
            ops::order(&own.stream, &peer.stream).unwrap();
            assert_eq!(theirs.to_vec(&peer.stream).unwrap(), vec![round; LEN]);
            drop(theirs);
            ops::synchronize(&peer.stream).unwrap();
            peer.pool.close_to(&own.context).unwrap();
            let theirs = peer.pool.upload(&vec![round; LEN], &peer.stream).unwrap();
            assert!(theirs.used_on(&own.stream).is_err());
            let mut ours = own.pool.zeros::<u32>(LEN, &own.stream).unwrap();
            ops::order(&peer.stream, &own.stream).unwrap();
            ops::copy_between(&theirs, &mut ours, &own.stream).unwrap();
            assert_eq!(ours.to_vec(&own.stream).unwrap(), vec![round; LEN]);
        }
    });
}

// Without it a pool could be closed in name alone: its pages are out of the other device's reach, and the
// fault is that device's.
#[test]
fn pages_of_a_closed_pool_are_out_of_reach() {
    child::passes("devices::peers::child_uses_a_closed_pool");
}

#[test]
#[ignore = "a process of pages_of_a_closed_pool_are_out_of_reach"]
fn child_uses_a_closed_pool() {
    const LEN: usize = 256;
    let Some(bench) = Bench::with_devices(2) else {
        return;
    };
    let sides = sides(&bench);
    let Some((own, peer)) = linked(&bench, &sides, 0) else {
        return;
    };
    let theirs = peer.pool.upload(&[1u32; LEN], &peer.stream).unwrap();
    ops::synchronize(&peer.stream).unwrap();
    let at = theirs.as_raw();
    peer.pool.open_to(&own.context).unwrap();
    let add = own.add_words();
    launch_add(&add, own, at, at, LEN).unwrap();
    ops::synchronize(&own.stream).unwrap();
    assert_eq!(theirs.to_vec(&peer.stream).unwrap(), [2; LEN]);
    peer.pool.close_to(&own.context).unwrap();
    let launched = launch_add(&add, own, at, at, LEN);
    let faulted = launched.and_then(|()| ops::synchronize(&own.stream));
    let faulted = faulted.unwrap_err();
    println!("{faulted}");
    assert_eq!(faulted.status(), Some(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    drop((theirs, add, sides, bench));
}
