//! Fills and copies.

use std::any::type_name;

use cupola_random::Random;

use super::values::{Value, values};
use super::{Bench, shapes};

fn fills<T: Value>(bench: &Bench, seed: u64) {
    let random = &mut Random::new(seed);
    for shape in shapes(random) {
        let value = values::<T>(random, 1)[0];
        let mut output = bench.zeroed::<T>(shape.n, shape.leads[0]);
        let kernels = &bench.kernels;
        kernels
            .fill(output.view_mut(), value, &bench.stream)
            .unwrap();
        let what = format!("fill of {} {shape:?}", type_name::<T>());
        output.expect(bench, &vec![value; shape.n], &what);
    }
}

fn copies<T: Value>(bench: &Bench, seed: u64) {
    let random = &mut Random::new(seed);
    for shape in shapes(random) {
        let input = values::<T>(random, shape.n);
        let on_input = bench.upload(&input, shape.leads[0]);
        let mut output = bench.zeroed::<T>(shape.n, shape.leads[1]);
        let kernels = &bench.kernels;
        kernels
            .copy(on_input.view(), output.view_mut(), &bench.stream)
            .unwrap();
        let what = format!("copy of {} {shape:?}", type_name::<T>());
        output.expect(bench, &input, &what);
    }
}

// Without it a fill could be shifted where a view begins between two units of 16 bytes, or write beside it.
#[test]
fn a_fill_writes_each_element_and_nothing_else() {
    let bench = Bench::new();
    fills::<u8>(&bench, 1);
    fills::<i16>(&bench, 2);
    fills::<f32>(&bench, 3);
    fills::<u64>(&bench, 4);
    // 16 bytes, aligned to 4.
    let value = [1_u32, 2, 3, 4];
    let mut buffer = bench.pool.zeros::<u32>(4 * 5001, &bench.stream).unwrap();
    let view = buffer.slice_mut(1..4 * 5000 + 1).unwrap();
    let view = view.cast::<[u32; 4]>().unwrap();
    bench.kernels.fill(view, value, &bench.stream).unwrap();
    let found = buffer.to_vec(&bench.stream).unwrap();
    assert_eq!(found[0], 0);
    let (elements, rest) = found[1..].as_chunks::<4>();
    assert!(elements.iter().all(|element| *element == value));
    assert_eq!(rest, [0, 0, 0]);
}

// Without it a copy between views that are aligned differently could be shifted, or leave its edges out.
#[test]
fn a_copy_copies_each_byte_and_nothing_else() {
    let bench = Bench::new();
    copies::<u8>(&bench, 11);
    copies::<u16>(&bench, 12);
    copies::<u32>(&bench, 13);
    copies::<i64>(&bench, 14);
}

// Without it a program could wait at its start for the compilation of kernels that it never calls, or at
// every call.
#[test]
fn a_file_is_loaded_with_the_first_call_that_needs_it() {
    let bench = Bench::new();
    let (kernels, stream) = (&bench.kernels, &bench.stream);
    let mut buffer = bench.zeroed::<u32>(10, 0);
    let live = || bench.context.modules().live();
    let before = live();
    kernels.fill(buffer.view_mut(), 1, stream).unwrap();
    assert_eq!(live(), before + 1);
    kernels.fill(buffer.view_mut(), 2, stream).unwrap();
    let clone = kernels.clone();
    let other = bench.zeroed::<u32>(10, 0);
    clone.copy(other.view(), buffer.view_mut(), stream).unwrap();
    assert_eq!(live(), before + 1, "both are of one file");
    clone.add_assign(buffer.view_mut(), 1, stream).unwrap();
    kernels.mul_assign(buffer.view_mut(), 7, stream).unwrap();
    assert_eq!(live(), before + 2, "clones share what they have loaded");
    buffer.expect(&bench, &[7; 10], "after all of them");
}
