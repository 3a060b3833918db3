//! Reductions that run at the same time, that follow each other, and in graphs: what of one is left in
//! scratch memory, or is there of another, changes no bit.

use cupola_kernels::ops::ReduceScratch;
use cupola_kernels::reference;
use cupola_managers::Error;
use cupola_managers::graph::{CaptureConfig, Graph};
use cupola_managers::ops;
use cupola_managers::runtime::RuntimeContext;
use cupola_random::Random;
use cupola_sim::fault::FaultTable;
use cupola_sys::driver::{CUresult, id};

use super::{Bench, software, target};

/// Numbers of many sizes, so that every order of additions gives other bits.
fn numbers(random: &mut Random, n: usize) -> Vec<f32> {
    let one = |_| {
        let bits = random.next_u64();
        bits as i32 as f32 * f32::powi(2.0, (bits >> 58) as i32 - 40)
    };
    (0..n).map(one).collect()
}

/// Kernels of each PTX in the default order, and in some in which chance decides which slice of which block runs
/// next.
fn benches() -> Vec<Bench> {
    let mut benches = Bench::of_each_ptx();
    if !target::is_gpu() {
        let seeds = [((6, 0), 1), ((7, 0), 2), ((9, 0), 3), ((9, 0), 4)];
        benches.extend(seeds.map(|(capability, seed)| {
            Bench::over(software(capability).seed(seed).build().driver())
        }));
    }
    benches
}

// Without it reductions on several streams could count each other's blocks, or one that follows another
// begin with what that has left.
#[test]
fn reductions_on_several_streams_do_not_meet() {
    const STREAMS: usize = 4;
    const ROUNDS: usize = 6;
    for (seed, bench) in benches().into_iter().enumerate() {
        let random = &mut Random::new(seed as u64);
        let (kernels, pool) = (&bench.kernels, &bench.pool);
        let mut lanes = Vec::new();
        for _ in 0..STREAMS {
            let stream = bench.context.streams().create(Default::default()).unwrap();
            let scratch = ReduceScratch::new(pool, &stream).unwrap();
            let n = 4097 + random.index(40_000);
            let input = numbers(random, n);
            let on_input = pool.upload(&input, &stream).unwrap();
            let results = pool.zeros::<f32>(ROUNDS, &stream).unwrap();
            let indices = pool.zeros::<u64>(ROUNDS, &stream).unwrap();
            lanes.push((stream, scratch, input, on_input, results, indices));
        }
        for round in 0..ROUNDS {
            for (stream, scratch, _, input, results, indices) in &mut lanes {
                // Of other types and lengths in turns.
                let part = input.slice(..input.len() - 7 * round).unwrap();
                let result = results.slice_mut(round..=round).unwrap();
                kernels.reduce_sum(part, scratch, result, stream).unwrap();
                let index = indices.slice_mut(round..=round).unwrap();
                kernels
                    .reduce_arg_max(part, scratch, index, stream)
                    .unwrap();
            }
        }
        for (stream, _, input, _, results, indices) in &lanes {
            let parts = (0..ROUNDS).map(|round| &input[..input.len() - 7 * round]);
            let sums: Vec<u32> = (parts.clone())
                .map(|part| reference::reduce_sum_f32(part).to_bits())
                .collect();
            let found: Vec<u32> = (results.to_vec(stream).unwrap())
                .into_iter()
                .map(f32::to_bits)
                .collect();
            assert_eq!(found, sums);
            // The first of the largest.
            let largest = parts.map(|part| {
                let most = part.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                part.iter().position(|&x| x == most).unwrap() as u64
            });
            let found = indices.to_vec(stream).unwrap();
            assert_eq!(found, largest.collect::<Vec<_>>());
        }
    }
}

// Without it one scratch memory on two streams could be used by both at once.
#[test]
fn scratch_memory_goes_from_stream_to_stream() {
    for (seed, bench) in benches().into_iter().enumerate() {
        let random = &mut Random::new(seed as u64);
        let input = numbers(random, 30_000);
        let on_input = bench.pool.upload(&input, &bench.stream).unwrap();
        ops::synchronize(&bench.stream).unwrap();
        let mut scratch = ReduceScratch::new(&bench.pool, &bench.stream).unwrap();
        let others: [_; 3] =
            std::array::from_fn(|_| bench.context.streams().create(Default::default()).unwrap());
        let mut totals = others
            .each_ref()
            .map(|stream| bench.pool.zeros::<f32>(1, stream).unwrap());
        for _ in 0..5 {
            for (stream, total) in others.iter().zip(&mut totals) {
                let (input, scratch) = (&on_input, &mut scratch);
                (bench.kernels.reduce_sum(input, scratch, total, stream)).unwrap();
            }
        }
        let right = reference::reduce_sum_f32(&input).to_bits();
        for (stream, total) in others.iter().zip(&totals) {
            assert_eq!(total.to_vec(stream).unwrap()[0].to_bits(), right);
        }
    }
}

// Without it a reduction could be more than one launch, or the counter of its blocks not be zero again when a
// graph runs once more.
#[test]
fn a_graph_of_a_reduction_has_one_node_and_can_be_launched_again() {
    for bench in Bench::of_each_ptx() {
        let stream = &bench.stream;
        let random = &mut Random::new(5);
        let mut input = numbers(random, 50_000);
        let mut on_input = bench.pool.upload(&input, stream).unwrap();
        let mut scratch = ReduceScratch::new(&bench.pool, stream).unwrap();
        let mut total = bench.pool.zeros::<f32>(1, stream).unwrap();
        // A capture begins after the kernel is loaded.
        (bench.kernels)
            .reduce_sum(&on_input, &mut scratch, &mut total, stream)
            .unwrap();
        let config = CaptureConfig::default();
        let (graph, ()) = Graph::capture(&bench.context, config, |capture| {
            let stream = capture.stream().clone();
            (bench.kernels).reduce_sum(&on_input, &mut scratch, &mut total, &stream)?;
            Ok::<_, Error>(())
        })
        .unwrap();
        assert_eq!(graph.nodes().unwrap(), 1);
        let mut executable = graph.instantiate().unwrap();
        for round in 0..5 {
            input[round] += 1.0e20;
            ops::write(&mut on_input, &input, stream).unwrap();
            executable.launch(stream).unwrap();
            let right = reference::reduce_sum_f32(&input).to_bits();
            assert_eq!(total.to_vec(stream).unwrap()[0].to_bits(), right, "{round}");
            // And by a call in between, with the graph's own scratch memory.
            (bench.kernels)
                .reduce_sum(&on_input, &mut scratch, &mut total, stream)
                .unwrap();
            assert_eq!(total.to_vec(stream).unwrap()[0].to_bits(), right, "{round}");
        }
    }
}

// Without it a length could need a second launch, or the scratch memory be filled before each.
#[test]
fn a_reduction_is_one_launch_at_any_length() {
    let table = FaultTable::new(target::driver());
    let bench = Bench::over(table.driver());
    let launch = match bench.starts_early() {
        true => id::cuLaunchKernelEx,
        false => id::cuLaunchKernel,
    };
    let (kernels, pool, stream) = (&bench.kernels, &bench.pool, &bench.stream);
    let mut scratch = ReduceScratch::new(pool, stream).unwrap();
    let mut result = pool.zeros::<f32>(1, stream).unwrap();
    let mut index = pool.zeros::<u64>(1, stream).unwrap();
    let largest = 1 << if target::is_gpu() { 28 } else { 18 };
    for n in [0, 1, 256, 4096, 4097, 100_000, largest] {
        let input = pool.zeros::<f32>(n, stream).unwrap();
        let (input, scratch, stream) = (input.view(), &mut scratch, stream);
        table.reset();
        kernels
            .reduce_sum(input, scratch, &mut result, stream)
            .unwrap();
        kernels
            .reduce_min(input, scratch, &mut result, stream)
            .unwrap();
        kernels
            .reduce_max(input, scratch, &mut result, stream)
            .unwrap();
        kernels
            .reduce_arg_min(input, scratch, &mut index, stream)
            .unwrap();
        kernels
            .reduce_arg_max(input, scratch, &mut index, stream)
            .unwrap();
        let calls: Vec<_> = table.counts().into_iter().collect();
        let right = [(launch, 5)];
        // The first calls load the kernels. Those for newer devices start early.
        assert!(n == 0 || calls == right, "{n} elements: {calls:?}");
    }
    // With scratch memory of its own a sum fills that, where there are blocks that need it.
    let runtime = RuntimeContext::builder(&bench.context)
        .pool_limit(8 << 20)
        .build()
        .unwrap();
    let _entered = runtime.enter();
    for (n, fills) in [(4096, 0), (4097, 1)] {
        let input = pool.zeros::<f32>(n, stream).unwrap();
        ops::synchronize(stream).unwrap();
        table.reset();
        kernels.sum(&input, &mut result).unwrap();
        assert_eq!(table.count(launch), 1, "{n} elements");
        assert_eq!(table.count(id::cuMemsetD8Async), fills, "{n} elements");
    }
}

// Without it a launch that was refused could leave scratch memory that no reduction is right with.
#[test]
fn a_refused_launch_leaves_scratch_memory_as_it_was() {
    let drivers = match target::is_gpu() {
        true => vec![target::driver()],
        false => [(6, 0), (9, 0)]
            .map(|capability| software(capability).build().driver())
            .into(),
    };
    for table in drivers.into_iter().map(FaultTable::new) {
        let bench = Bench::over(table.driver());
        let input = numbers(&mut Random::new(3), 20_000);
        let on_input = bench.pool.upload(&input, &bench.stream).unwrap();
        let mut scratch = ReduceScratch::new(&bench.pool, &bench.stream).unwrap();
        let mut total = bench.pool.zeros::<f32>(1, &bench.stream).unwrap();
        let mut sum = || {
            bench
                .kernels
                .reduce_sum(&on_input, &mut scratch, &mut total, &bench.stream)
        };
        sum().unwrap();
        table.reset();
        let launch = match bench.starts_early() {
            true => id::cuLaunchKernelEx,
            false => id::cuLaunchKernel,
        };
        table.fail(launch, 1, CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
        assert!(sum().is_err());
        sum().unwrap();
        let right = reference::reduce_sum_f32(&input).to_bits();
        assert_eq!(total.to_vec(&bench.stream).unwrap()[0].to_bits(), right);
    }
}
