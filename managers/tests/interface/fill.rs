//! Fills with elements of any type.

use cupola_managers::{DeviceCopy, Error, ops};
use cupola_sys::driver::{CUresult, id};

use super::{PoolBench, bench};

fn filled<T: DeviceCopy>(bench: &PoolBench, value: T) -> Vec<T> {
    let mut buffer = bench.pool.allocate::<T>(33, &bench.stream).unwrap();
    ops::fill(&mut buffer, value, &bench.stream).unwrap();
    buffer.to_vec(&bench.stream).unwrap()
}

// Without it a fill could write fewer elements than there are, more, or other bytes.
#[test]
fn elements_of_every_size_are_filled_with() {
    let bench = bench();
    assert_eq!(filled(&bench, 0xa5u8), [0xa5; 33]);
    assert_eq!(filled(&bench, -300i16), [-300; 33]);
    assert_eq!(filled(&bench, 1.5f32), [1.5; 33]);
    assert_eq!(filled(&bench, true), [true; 33]);
    assert_eq!(filled(&bench, 0.0f64), [0.0; 33]);
    assert_eq!(filled(&bench, u64::MAX), [u64::MAX; 33]);
    assert_eq!(filled(&bench, [7u16; 3]), [[7; 3]; 33]);
    assert_eq!(filled(&bench, [1.0f32; 4]), [[1.0; 4]; 33]);
    assert_eq!(filled(&bench, [9u8; 3]), [[9; 3]; 33]);
    assert_eq!(filled(&bench, [0u32; 0]).len(), 33);
    // Parts: what is beside them stays.
    let mut bytes = bench.pool.zeros::<u8>(8, &bench.stream).unwrap();
    let odd = bytes.slice_mut(1..7).unwrap();
    ops::fill(odd.cast::<[u8; 2]>().unwrap(), [5, 5], &bench.stream).unwrap();
    let back = bytes.to_vec(&bench.stream).unwrap();
    assert_eq!(back, [0, 5, 5, 5, 5, 5, 5, 0]);
    drop(bytes);
    bench.finish();
}

// Without it a value that no device can fill with could be written in part, or the refusal could
// come after work was put on the stream.
#[test]
fn what_does_not_repeat_is_refused_before_anything_is_done() {
    let bench = bench();
    let mut floats = bench.pool.zeros::<f64>(4, &bench.stream).unwrap();
    let other = bench.base.stream();
    let refused = ops::fill(&mut floats, 0.1, &other).unwrap_err();
    assert!(matches!(refused, Error::Invalid { .. }));
    let text = refused.to_string();
    assert!(
        text.contains("value") && text.contains("f64") && text.contains("1, 2 or 4"),
        "{text}"
    );
    assert_eq!(bench.base.faults.count(id::cuMemsetD32Async), 0);
    assert_eq!(floats.to_vec(&bench.stream).unwrap(), [0.0; 4]);
    // Of nothing any value will do.
    ops::fill(floats.slice_mut(..0).unwrap(), 0.1, &bench.stream).unwrap();
    // Two bytes that differ, at an odd address.
    let mut bytes = bench.pool.zeros::<u8>(8, &bench.stream).unwrap();
    let odd = bytes.slice_mut(1..7).unwrap().cast::<[u8; 2]>().unwrap();
    assert!(ops::fill(odd, [5, 6], &bench.stream).is_err());
    drop((floats, bytes, other));
    bench.finish();
}

// Without it the error of one of the three calls could be lost.
#[test]
fn each_fill_reports_its_error() {
    let bench = bench();
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    let mut bytes = bench.pool.zeros::<u32>(64, &bench.stream).unwrap();
    let stream = &bench.stream;
    for (call, size) in [
        (id::cuMemsetD8Async, 1),
        (id::cuMemsetD16Async, 2),
        (id::cuMemsetD32Async, 4),
    ] {
        bench.base.faults.reset();
        bench.base.faults.fail(call, 1, code);
        let view = bytes.view_mut();
        let refused = match size {
            1 => ops::fill(view.cast::<u8>().unwrap(), 3, stream),
            2 => ops::fill(view.cast::<u16>().unwrap(), 3, stream),
            _ => ops::fill(view, 3, stream),
        };
        assert_eq!(refused.unwrap_err().status(), Some(code), "{size} bytes");
    }
    drop(bytes);
    bench.finish();
}
