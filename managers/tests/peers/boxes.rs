//! Copies of rows and slices, within a context and between contexts, beside a naive copy.

use cupola_managers::ops::{self, Cuboid, Rectangle};
use cupola_managers::{CaptureConfig, Error, Graph};
use cupola_sys::driver::{CUresult, id};
use quickcheck::{Arbitrary, Gen, QuickCheck};

use super::{Side, finish, hold, machine, open_unchecked};

/// Elements of the memory on each side.
const LEN: usize = 500;

#[derive(Clone, Copy, Debug)]
struct Case {
    /// On which devices the sides are, and whose stream copies.
    from: usize,
    to: usize,
    of_source: bool,
    /// Where the copy begins on each side.
    first: [usize; 2],
    cuboid: Cuboid,
}

impl Arbitrary for Case {
    fn arbitrary(g: &mut Gen) -> Self {
        let small = |g: &mut Gen, below: usize| usize::from(u8::arbitrary(g)) % below;
        let (width, height, depth) = (small(g, 9), small(g, 6), small(g, 5));
        // Often nothing between the rows or slices, and sometimes too little for them.
        let apart = |g: &mut Gen, least: usize| match small(g, 8) {
            0 => small(g, 12),
            1..4 => least,
            _ => least + small(g, 4),
        };
        let cuboid = Cuboid {
            width,
            height,
            depth,
            from_pitch: apart(g, width),
            from_rows: apart(g, height),
            to_pitch: apart(g, width),
            to_rows: apart(g, height),
        };
        Self {
            from: small(g, 2),
            to: small(g, 2),
            of_source: bool::arbitrary(g),
            first: [small(g, 40), small(g, 40)],
            cuboid,
        }
    }
}

impl Case {
    /// Pairs of elements; `None` if rows or slices overlap, or leave the memory.
    fn elements(&self) -> Option<Vec<(usize, usize)>> {
        let Cuboid {
            width,
            height,
            depth,
            ..
        } = self.cuboid;
        let sides = [
            (self.cuboid.from_pitch, self.cuboid.from_rows),
            (self.cuboid.to_pitch, self.cuboid.to_rows),
        ];
        let overlap = |&(pitch, rows): &(usize, usize)| {
            ((height > 1 || depth > 1) && pitch < width) || (depth > 1 && rows < height)
        };
        if sides.iter().any(overlap) {
            return None;
        }
        let mut elements = Vec::new();
        for z in 0..depth {
            for y in 0..height {
                let [from, to] = [0, 1].map(|side| {
                    let (pitch, rows) = sides[side];
                    self.first[side] + (z * rows + y) * pitch
                });
                if from + width > LEN || to + width > LEN {
                    return None;
                }
                elements.extend((0..width).map(|x| (from + x, to + x)));
            }
        }
        Some(elements)
    }

    /// The copy, by the call that the shape and the sides allow: the least one.
    fn run(&self, sides: &[Side]) -> Result<Vec<u16>, Error> {
        let (source, target) = (&sides[self.from], &sides[self.to]);
        let (read, write) = (numbers(1), numbers(2));
        let from = source.pool.upload(&read, &source.stream)?;
        let mut to = target.pool.upload(&write, &target.stream)?;
        let stream = match self.of_source {
            true => &source.stream,
            false => &target.stream,
        };
        ops::order(&source.stream, stream)?;
        ops::order(&target.stream, stream)?;
        let part = from.slice(self.first[0]..)?;
        let into = to.slice_mut(self.first[1]..)?;
        let Cuboid {
            width,
            height,
            depth,
            ..
        } = self.cuboid;
        let rows = Rectangle::new(width, height)
            .from_pitch(self.cuboid.from_pitch)
            .to_pitch(self.cuboid.to_pitch);
        match (self.from == self.to, depth) {
            (true, 1) => ops::copy_2d(part, into, rows, stream),
            (true, _) => ops::copy_3d(part, into, self.cuboid, stream),
            (false, 1) => ops::copy_between_2d(part, into, rows, stream),
            (false, _) => ops::copy_between_3d(part, into, self.cuboid, stream),
        }?;
        ops::order(stream, &target.stream)?;
        to.to_vec(&target.stream)
    }
}

fn numbers(seed: u16) -> Vec<u16> {
    (0..LEN as u16).map(|at| seed * 1000 + at).collect()
}

// Without it an element could go beside its place, on one of the ways, a gap be written, a shape that
// leaves its memory reach the driver, or one that lies in it be refused.
#[test]
fn elements_go_where_a_naive_copy_puts_them() {
    fn property(cases: Vec<Case>) -> bool {
        let (bench, sides) = open_unchecked(machine(2));
        for case in cases {
            match (case.run(&sides), case.elements()) {
                (Ok(seen), Some(elements)) => {
                    let (read, mut expected) = (numbers(1), numbers(2));
                    for (from, to) in elements {
                        expected[to] = read[from];
                    }
                    assert_eq!(seen, expected, "{case:?}");
                }
                (Err(Error::Invalid { .. }), None) => {}
                (seen, elements) => panic!("{case:?}: {seen:?}, {elements:?}"),
            }
        }
        finish(bench, sides);
        true
    }
    QuickCheck::new()
        .tests(60)
        .quickcheck(property as fn(Vec<Case>) -> bool);
}

// Without it a shape could be told by more calls than one, by a call that needs access, or by one for
// slices where rows are enough.
#[test]
fn the_call_is_the_least_one() {
    let (bench, sides) = open_unchecked(machine(2).without_peer_access(0, 1));
    let (here, there) = (&sides[0], &sides[1]);
    let from = here.upload(&[7; 100]);
    let (mut near, mut far) = (here.upload(&[0; 100]), there.upload(&[0; 100]));
    let mut expected = [0; 5];
    let mut see = |changes: [u64; 5]| {
        for (sum, change) in expected.iter_mut().zip(changes) {
            *sum += change;
        }
        let seen = [
            id::cuMemcpyDtoDAsync_v2,
            id::cuMemcpy2DAsync_v2,
            id::cuMemcpy3DAsync_v2,
            id::cuMemcpyPeerAsync,
            id::cuMemcpy3DPeerAsync,
        ]
        .map(|symbol| bench.faults.count(symbol));
        assert_eq!(seen, expected);
    };
    let solid = Cuboid::new(3, 4, 2);
    for (cuboid, within, between) in [
        (solid, [1, 0, 0, 0, 0], [0, 0, 0, 1, 0]),
        (solid.to_pitch(5), [0, 1, 0, 0, 0], [0, 0, 0, 0, 1]),
        (solid.from_rows(5), [0, 1, 0, 0, 0], [0, 0, 0, 0, 1]),
        (
            solid.from_pitch(4).from_rows(5),
            [0, 0, 1, 0, 0],
            [0, 0, 0, 0, 1],
        ),
        (Cuboid::new(0, 4, 2), [0; 5], [0; 5]),
    ] {
        ops::copy_3d(&from, &mut near, cuboid, &here.stream).unwrap();
        see(within);
        ops::copy_between_3d(&from, &mut far, cuboid, &here.stream).unwrap();
        see(between);
        // Both sides are of one context, though the call is for two.
        ops::copy_between_3d(&from, &mut near, cuboid, &here.stream).unwrap();
        see(within);
    }
    drop((from, near, far));
    finish(bench, sides);
}

// Without it memory could have its next user while rows of it are still on their way to another device.
#[test]
fn both_sides_are_kept_until_the_rows_are_there() {
    let (bench, sides) = open_unchecked(machine(2));
    let (source, target) = (&sides[0], &sides[1]);
    let rows = Cuboid::new(3, 4, 5).from_pitch(5).from_rows(6).to_rows(5);
    let from = source.upload(&[7; 200]);
    let mut to = target.upload(&[0; 200]);
    let from_at = from.as_raw();
    let held = hold(&target.stream);
    ops::copy_between_3d(&from, &mut to, rows, &target.stream).unwrap();
    drop(from);
    let other = source.context.streams().create(Default::default()).unwrap();
    let apart = source.pool.allocate::<u32>(200, &other).unwrap();
    assert_ne!(apart.as_raw(), from_at, "it is read");
    let mut next = source.pool.allocate::<u32>(200, &source.stream).unwrap();
    assert_eq!(next.as_raw(), from_at);
    ops::fill(&mut next, 9, &source.stream).unwrap();
    drop(held);
    let seen = to.to_vec(&target.stream).unwrap();
    assert_eq!(seen.iter().filter(|&&word| word == 7).count(), 3 * 4 * 5);
    assert_eq!(seen.iter().filter(|&&word| word == 0).count(), 200 - 60);
    drop((next, apart, other, to));
    finish(bench, sides);
}

// Without it numbers that overflow could pass for a shape within the memory.
#[test]
fn slices_outside_of_the_memory_are_refused() {
    let (bench, sides) = open_unchecked(machine(2));
    let (source, target) = (&sides[0], &sides[1]);
    let (from, mut to) = (source.upload(&[1; 60]), target.upload(&[2; 60]));
    let most = usize::MAX;
    for cuboid in [
        Cuboid::new(3, 4, 6),
        Cuboid::new(3, 4, 2).from_rows(3),
        Cuboid::new(3, 4, 2).to_pitch(2),
        Cuboid::new(3, 1, 2).to_pitch(2).to_rows(9),
        Cuboid::new(3, 4, 2).from_pitch(most),
        Cuboid::new(1, 1, 3).from_pitch(most / 2).from_rows(4),
        Cuboid::new(1, 2, most).to_pitch(4).to_rows(most / 4 + 1),
        Cuboid::new(most, most, most),
        Cuboid::new(0, 2, 2).from_pitch(31).to_rows(32).to_pitch(1),
    ] {
        let refused = ops::copy_between_3d(&from, &mut to, cuboid, &source.stream);
        assert!(matches!(refused, Err(Error::Invalid { .. })), "{cuboid:?}");
    }
    // The last row ends with the memory, though no whole slice more would fit.
    let cuboid = Cuboid::new(2, 2, 2).from_pitch(10).from_rows(3);
    let last = from.slice(18..).unwrap();
    ops::copy_between_3d(last, &mut to, cuboid, &source.stream).unwrap();
    let beyond = from.slice(19..).unwrap();
    let refused = ops::copy_between_3d(beyond, &mut to, cuboid, &source.stream);
    assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    drop((from, to));
    finish(bench, sides);
}

// Without it a capture would be broken by a copy that a graph cannot have, or refuse one that it can; and
// the error of the driver could be lost.
#[test]
fn graphs_have_slices_of_one_context_and_errors_are_told() {
    let (bench, sides) = open_unchecked(machine(2));
    let (source, target) = (&sides[0], &sides[1]);
    let (from, mut to) = (source.upload(&[1; 60]), target.upload(&[2; 60]));
    let mut near = source.upload(&[3; 60]);
    let cuboid = Cuboid::new(2, 2, 2).from_pitch(3).from_rows(3);
    let context = &source.context;
    let (graph, refused) = Graph::capture(context, CaptureConfig::default(), |capture| {
        ops::copy_3d(&from, &mut near, cuboid, capture.stream())?;
        let refused = ops::copy_between_3d(&from, &mut to, cuboid, capture.stream());
        Ok::<_, Error>(refused.unwrap_err())
    })
    .unwrap();
    let Error::Capturing { operation } = refused else {
        panic!("{refused}");
    };
    assert_eq!(operation, "copy_between_3d");
    drop(graph);
    bench.faults.reset();
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    bench.faults.fail(id::cuMemcpy3DPeerAsync, 1, code);
    let refused = ops::copy_between_3d(&from, &mut to, cuboid, &source.stream).unwrap_err();
    assert_eq!(refused.status(), Some(code));
    // What was to be written is marked, until it is.
    assert!(to.to_vec(&target.stream).is_err());
    ops::copy_between_3d(&from, &mut to, cuboid, &source.stream).unwrap();
    ops::order(&source.stream, &target.stream).unwrap();
    assert_eq!(
        to.to_vec(&target.stream).unwrap()[..9],
        [1, 1, 1, 1, 1, 1, 1, 1, 2]
    );
    drop((from, to, near));
    finish(bench, sides);
}
