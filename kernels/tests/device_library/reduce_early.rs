//! Reductions that start before the kernel before them has ended, and which of the two PTX texts is loaded.

use cupola_kernels::ops::{KernelFamily, ReduceScratch};
use cupola_kernels::reference;
use cupola_managers::Error;
use cupola_managers::graph::{CaptureConfig, Graph};
use cupola_random::Random;
use cupola_sim::fault::FaultTable;
use cupola_sys::Version;
use cupola_sys::driver::{CUresult, id};

use super::{Bench, software, target};

/// The launches of a sum on a stream, and of one that is captured: those that start early, and others.
fn launches(faults: &FaultTable, bench: &Bench) -> [[u64; 2]; 2] {
    let (kernels, stream) = (&bench.kernels, &bench.stream);
    let mut scratch = ReduceScratch::new(&bench.pool, stream).unwrap();
    let numbers: Vec<f32> = (0..20_000_i16).map(|n| f32::from(n) * 0.1).collect();
    let input = bench.pool.upload(&numbers, stream).unwrap();
    let mut total = bench.pool.zeros::<f32>(1, stream).unwrap();
    kernels.preload([KernelFamily::Sum]).unwrap();
    let right = [reference::reduce_sum_f32(&numbers)];
    let counted = || {
        let (early, others) = (id::cuLaunchKernelEx, id::cuLaunchKernel);
        [early, others].map(|call| faults.count(call))
    };

    faults.reset();
    kernels
        .reduce_sum(&input, &mut scratch, &mut total, stream)
        .unwrap();
    let called = counted();
    assert_eq!(total.to_vec(stream).unwrap(), right);

    faults.reset();
    let (graph, ()) = Graph::capture(&bench.context, CaptureConfig::default(), |capture| {
        let stream = capture.stream().clone();
        for _ in 0..2 {
            kernels.reduce_sum(&input, &mut scratch, &mut total, &stream)?;
        }
        Ok::<_, Error>(())
    })
    .unwrap();
    let captured = counted();
    // This question is refused where edges have data.
    assert_eq!(graph.nodes().unwrap(), 2);
    graph.instantiate().unwrap().launch(stream).unwrap();
    assert_eq!(total.to_vec(stream).unwrap(), right);
    [called, captured]
}

// Without it a kernel that does not wait could be launched early, or one that waits never be: no result would
// show it on the software device. A captured launch that starts early makes a graph whose edges some drivers
// refuse to tell.
#[test]
fn those_that_wait_start_early_but_in_a_capture() {
    let faults = FaultTable::new(target::driver());
    let bench = Bench::over(faults.driver());
    let early = bench.starts_early();
    let found = launches(&faults, &bench);
    if target::is_gpu() {
        let called = if early { [1, 0] } else { [0, 1] };
        assert_eq!(found, [called, [0, 2]]);
        return;
    }
    for (capability, called) in [
        ((6, 0), [0, 1]),
        ((8, 9), [0, 1]),
        ((9, 0), [1, 0]),
        ((12, 0), [1, 0]),
    ] {
        let faults = FaultTable::new(software(capability).build().driver());
        let bench = Bench::over(faults.driver());
        assert_eq!(
            launches(&faults, &bench),
            [called, [0, 2]],
            "{capability:?}"
        );
    }
}

// Without it a driver that does not know the newer PTX would have no reductions, or call what it does not have.
#[test]
fn a_driver_that_refuses_the_newer_ptx_gets_the_older() {
    for (version, loads, called) in [
        (Version::new(11, 7), 2, [0, 1]),
        (Version::new(11, 8), 1, [1, 0]),
    ] {
        let machine = software((9, 0)).driver_version(version).build();
        let faults = FaultTable::new(machine.driver());
        let bench = Bench::over(faults.driver());
        faults.reset();
        bench.kernels.preload([KernelFamily::Sum]).unwrap();
        assert_eq!(faults.count(id::cuModuleLoadDataEx), loads, "{version}");
        assert_eq!(launches(&faults, &bench)[0], called, "{version}");
    }
}

// Without it the oldest PTX could be left out, which every driver takes, or be loaded for a failure that has nothing to
// do with versions.
#[test]
fn only_a_refusal_of_the_version_goes_down_the_texts() {
    const TOO_NEW: CUresult = CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    const OTHER: CUresult = CUresult::CUDA_ERROR_INVALID_IMAGE;
    let loads_with = |refusals: u64, code| {
        let faults = FaultTable::new(software((9, 0)).build().driver());
        let bench = Bench::over(faults.driver());
        faults.reset();
        for k in 1..=refusals {
            faults.fail(id::cuModuleLoadDataEx, k, code);
        }
        let loaded = bench.kernels.preload([KernelFamily::Sum]);
        let loads = faults.count(id::cuModuleLoadDataEx);
        let is_right = loaded.is_ok() && launches(&faults, &bench)[0] == [0, 1];
        (loads, loaded.map_err(|error| error.status()), is_right)
    };
    let (loads, loaded, is_right) = loads_with(2, TOO_NEW);
    assert_eq!((loads, loaded, is_right), (3, Ok(()), true));
    let (loads, loaded, _) = loads_with(3, TOO_NEW);
    assert_eq!((loads, loaded), (3, Err(Some(TOO_NEW))));
    let (loads, loaded, _) = loads_with(1, OTHER);
    assert_eq!((loads, loaded), (1, Err(Some(OTHER))));
}

// Without it a reduction could begin with what a kernel before it has not written yet, use scratch memory that the
// one before it still counts in, or write a result that the kernel before it still reads.
#[test]
fn each_of_a_chain_sees_what_those_before_it_wrote() {
    const ROUNDS: usize = 20;
    for bench in Bench::of_each_ptx() {
        let random = &mut Random::new(8);
        let (kernels, stream) = (&bench.kernels, &bench.stream);
        let mut scratch = ReduceScratch::new(&bench.pool, stream).unwrap();
        let n = if target::is_gpu() { 4 << 20 } else { 30_000 };
        let numbers: Vec<u64> = (0..n).map(|_| random.next_u64()).collect();
        let mut values = bench.pool.upload(&numbers, stream).unwrap();
        let mut sum = bench.pool.zeros::<u64>(1, stream).unwrap();
        let mut least = bench.pool.zeros::<u64>(ROUNDS, stream).unwrap();
        let mut place = bench.pool.zeros::<u64>(ROUNDS, stream).unwrap();
        for round in 0..ROUNDS {
            // The sum becomes an element of what the next ones reduce, and each of them that of one round later.
            kernels
                .reduce_sum(&values, &mut scratch, &mut sum, stream)
                .unwrap();
            let element = values.slice_mut(round..=round).unwrap();
            kernels.copy(&sum, element, stream).unwrap();
            let result = least.slice_mut(round..=round).unwrap();
            kernels
                .reduce_min(&values, &mut scratch, result, stream)
                .unwrap();
            let result = place.slice_mut(round..=round).unwrap();
            kernels
                .reduce_arg_max(&values, &mut scratch, result, stream)
                .unwrap();
            // Memory that a reduction reads and that is used again at once.
            let early = bench.pool.upload(&numbers[..5000], stream).unwrap();
            kernels
                .reduce_sum(&early, &mut scratch, &mut sum, stream)
                .unwrap();
        }
        let mut now = numbers;
        let (mut least_of, mut place_of) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            now[round] = now.iter().fold(0, |sum: u64, &x| sum.wrapping_add(x));
            least_of.push(now.iter().copied().min().unwrap());
            let largest = now.iter().copied().max().unwrap();
            place_of.push(now.iter().position(|&x| x == largest).unwrap() as u64);
        }
        assert_eq!(least.to_vec(stream).unwrap(), least_of);
        assert_eq!(place.to_vec(stream).unwrap(), place_of);
    }
}
