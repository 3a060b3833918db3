//! Copies of rectangles.

use cupola_managers::ops::{self, Rectangle};
use cupola_managers::{Context, Error};
use cupola_sys::driver::{CUresult, id};

use super::bench;

const ROWS: usize = 5;

/// What a copy of rows makes of `to`.
fn expected(from: &[u16], to: &[u16], rectangle: Rectangle) -> Vec<u16> {
    let mut to = to.to_vec();
    for row in 0..rectangle.height {
        for column in 0..rectangle.width {
            to[row * rectangle.to_pitch + column] = from[row * rectangle.from_pitch + column];
        }
    }
    to
}

fn pinned(context: &Context, with: &[u16]) -> cupola_managers::PinnedBuffer<u16> {
    let mut pinned = context.buffers().pinned::<u16>(with.len()).unwrap();
    pinned.as_mut_slice().unwrap().copy_from_slice(with);
    pinned
}

// Without it a copy of rows could take a pitch of the wrong side, count it in bytes, or write what
// lies between the rows, on one of the five ways.
#[test]
fn rows_arrive_and_what_is_between_them_stays() {
    let bench = bench();
    let (pool, stream) = (&bench.pool, &bench.stream);
    for rectangle in [
        Rectangle::new(3, ROWS).from_pitch(8).to_pitch(5),
        Rectangle::new(4, ROWS).to_pitch(7),
        Rectangle::new(4, ROWS),
        Rectangle::new(6, 1).from_pitch(0),
        Rectangle::new(0, ROWS),
        Rectangle::new(9, 0),
    ] {
        let from: Vec<u16> = (100..140).collect();
        let to: Vec<u16> = (0..40).collect();
        let expected = expected(&from, &to, rectangle);
        let source = pool.upload(&from, stream).unwrap();

        let mut there = pool.upload(&to, stream).unwrap();
        ops::copy_2d(&source, &mut there, rectangle, stream).unwrap();
        assert_eq!(there.to_vec(stream).unwrap(), expected, "{rectangle:?}");

        let mut there = pool.upload(&to, stream).unwrap();
        ops::write_2d(&mut there, &from, rectangle, stream).unwrap();
        assert_eq!(there.to_vec(stream).unwrap(), expected, "{rectangle:?}");

        let mut here = to.clone();
        ops::read_2d(&source, &mut here, rectangle, stream).unwrap();
        assert_eq!(here, expected, "{rectangle:?}");

        let mut there = pool.upload(&to, stream).unwrap();
        let host = pinned(&bench.base.context, &from);
        ops::copy_to_device_2d(&host, &mut there, rectangle, stream).unwrap();
        assert_eq!(there.to_vec(stream).unwrap(), expected, "{rectangle:?}");

        let mut host = pinned(&bench.base.context, &to);
        ops::copy_to_host_2d(&source, &mut host, rectangle, stream).unwrap();
        assert_eq!(host.as_slice().unwrap(), expected, "{rectangle:?}");
    }
    // Rows on both sides, or none apart: as few calls as can be.
    assert_eq!(bench.base.faults.count(id::cuMemcpy2DAsync_v2), 2 * 5);
    bench.finish();
}

// Without it rows could reach outside of their memory, also by numbers that overflow.
#[test]
fn rows_outside_of_the_memory_are_refused() {
    let bench = bench();
    let stream = &bench.stream;
    let from = bench.pool.zeros::<u32>(20, stream).unwrap();
    let mut to = bench.pool.zeros::<u32>(20, stream).unwrap();
    let most = usize::MAX;
    for rectangle in [
        Rectangle::new(4, 6),
        Rectangle::new(4, 4).from_pitch(3),
        Rectangle::new(4, 4).to_pitch(6),
        Rectangle::new(1, most).from_pitch(most).to_pitch(most),
        Rectangle::new(most, 2).from_pitch(most).to_pitch(most),
        Rectangle::new(most, 1),
        Rectangle::new(2, most / 2 + 2),
    ] {
        let refused = ops::copy_2d(&from, &mut to, rectangle, stream);
        assert!(
            matches!(refused, Err(Error::Invalid { .. })),
            "{rectangle:?}"
        );
    }
    // The last row ends with the memory, though a whole pitch would not fit.
    let rectangle = Rectangle::new(2, 4).from_pitch(6).to_pitch(6);
    ops::copy_2d(&from, &mut to, rectangle, stream).unwrap();
    drop((from, to));
    bench.finish();
}

// Without it the error of the call could be lost, pinned memory stay locked, or a capture be broken.
#[test]
fn a_copy_of_rows_that_fails_is_told() {
    let bench = bench();
    let stream = &bench.stream;
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    let from = bench.pool.upload(&[1u16; 20], stream).unwrap();
    let mut host = pinned(&bench.base.context, &[0; 20]);
    let rectangle = Rectangle::new(2, 3).from_pitch(5).to_pitch(4);
    for times in 0..2 {
        bench.base.faults.fail(id::cuMemcpy2DAsync_v2, 1, code);
        let refused = match times {
            0 => ops::copy_to_host_2d(&from, &mut host, rectangle, stream),
            _ => ops::read_2d(&from, &mut [0; 20], rectangle, stream),
        };
        assert_eq!(refused.unwrap_err().status(), Some(code));
        bench.base.faults.reset();
    }
    ops::copy_to_host_2d(&from, &mut host, rectangle, stream).unwrap();
    assert_eq!(host.as_slice().unwrap()[..6], [1, 1, 0, 0, 1, 1]);
    drop((from, host));
    bench.finish();
}
