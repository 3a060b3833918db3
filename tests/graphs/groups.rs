//! Graphs of a group share their memory, and so run one after the other.

use cupola_managers::graph::{CaptureConfig, Graph, GraphBuilder, GraphGroup};
use cupola_managers::{Buffer, Error, GraphExec, Stream, ops};
use cupola_random::Random;

use crate::common::{Bench, eventually};
use crate::with_memory;

const GRAPHS: usize = 60;
const STAGES: usize = 4;
/// Elements that a stage hands out.
const PART: usize = 1000;

/// The sizes of a graph's scratch buffers, in elements.
fn sizes(graph: usize) -> [usize; STAGES] {
    [1, 2, 3, 4].map(|stage| PART + (graph * 7919 + stage * 104_729) % (stage << 18))
}

fn value(graph: usize, stage: usize) -> u32 {
    (graph * 100 + stage) as u32
}

/// Fills a buffer for each stage, and copies the end of each; all but the first are there at the same
/// time.
fn work(
    bench: &Bench,
    graph: usize,
    out: &mut Buffer<u32>,
    stream: &Stream,
    scratch: Option<&mut Buffer<u32>>,
) -> Result<(), Error> {
    let [first, rest @ ..] = sizes(graph);
    let mut stage_of = |buffer: &mut Buffer<u32>, len: usize, stage: usize| {
        ops::fill(buffer.slice_mut(..len)?, value(graph, stage), stream)?;
        let part = stage * PART..(stage + 1) * PART;
        ops::copy(buffer.slice(len - PART..len)?, out.slice_mut(part)?, stream)
    };
    if let Some(scratch) = scratch {
        return (0..STAGES).try_for_each(|stage| stage_of(scratch, sizes(graph)[stage], stage));
    }
    let mut alone = bench.pool.allocate::<u32>(first, stream)?;
    stage_of(&mut alone, first, 0)?;
    drop(alone);
    let mut all = Vec::new();
    for (stage, len) in (1..).zip(rest) {
        let mut buffer = bench.pool.allocate::<u32>(len, stream)?;
        stage_of(&mut buffer, len, stage)?;
        all.push(buffer);
    }
    Ok(())
}

/// Launches all executables in a random order on random streams, with allocations and work of their own
/// in between. How many parts of results are wrong.
fn wrong(
    bench: &Bench,
    executables: &mut [GraphExec],
    outs: &mut [Buffer<u32>],
    random: &mut Random,
) -> usize {
    let streams: Vec<_> = (0..4).map(|_| bench.another_stream()).collect();
    let mut order: Vec<_> = (0..executables.len()).collect();
    for place in (1..order.len()).rev() {
        order.swap(place, random.below(place as u64 + 1) as usize);
    }
    for out in &mut *outs {
        ops::fill(out, u32::MAX, &bench.stream).unwrap();
    }
    ops::synchronize(&bench.stream).unwrap();
    let mut noise = Vec::new();
    for graph in order {
        let stream = &streams[random.below(streams.len() as u64) as usize];
        executables[graph].launch(stream).unwrap();
        let (len, beside) = (1 + random.below(1 << 18) as usize, bench.another_stream());
        let mut eager = bench.pool.allocate::<u32>(len, &beside).unwrap();
        ops::fill(&mut eager, graph as u32, &beside).unwrap();
        if random.below(3) == 0 {
            noise.push((graph, eager, beside));
        }
    }
    for (graph, eager, beside) in noise {
        let intact = eager.to_vec(&beside).unwrap();
        assert!(intact.iter().all(|value| *value == graph as u32));
    }
    for stream in &streams {
        ops::synchronize(stream).unwrap();
    }
    let mut wrong = 0;
    for (graph, out) in outs.iter().enumerate() {
        let result = out.to_vec(&bench.stream).unwrap();
        for (stage, part) in result.chunks(PART).enumerate() {
            wrong += usize::from(part.iter().any(|it| *it != value(graph, stage)));
        }
    }
    wrong
}

fn outs(bench: &Bench) -> Vec<Buffer<u32>> {
    let out = || bench.pool.zeros::<u32>(STAGES * PART, &bench.stream);
    (0..GRAPHS).map(|_| out().unwrap()).collect()
}

// Without it sixty graphs would need the sum of what each needs, or would write over each other's memory,
// or over that of work outside; or the memory would stay when the last of them is gone.
#[test]
fn graphs_of_a_group_need_the_largest_peak_and_disturb_no_other() {
    let bench = Bench::open();
    let mut random = Random::new(17);
    let mut outs = outs(&bench);
    let before = bench.pool.mapped();
    // Alone, the largest one needs this.
    let largest = (0..GRAPHS).max_by_key(|graph| sizes(*graph)[1..].iter().sum::<usize>());
    let largest = largest.unwrap();
    let (alone, ()) = Graph::capture(&bench.context, with_memory(&bench), |capture| {
        work(&bench, largest, &mut outs[largest], capture.stream(), None)
    })
    .unwrap();
    let most = bench.pool.mapped() - before;
    drop(alone);
    bench.pool.trim().unwrap();
    let before = bench.pool.mapped();

    let mut group = GraphGroup::new(&bench.context, with_memory(&bench)).unwrap();
    let mut sum = 0;
    let mut executables: Vec<_> = (0..GRAPHS)
        .map(|graph| {
            let (captured, ()) = group
                .capture(|capture| work(&bench, graph, &mut outs[graph], capture.stream(), None))
                .unwrap();
            sum += sizes(graph)[1..].iter().sum::<usize>() * size_of::<u32>();
            captured.instantiate().unwrap()
        })
        .collect();
    let together = bench.pool.mapped() - before;
    assert_eq!(group.mapped().unwrap(), together);
    println!("the largest {most}, all {together}, their sum {sum}");
    assert!(together <= most + (2 << 20), "{together} of {most}");
    assert!(sum as u64 > 10 * together, "the test says nothing");
    for _ in 0..5 {
        assert_eq!(wrong(&bench, &mut executables, &mut outs, &mut random), 0);
    }
    drop(executables);
    eventually("the memory goes", || group.mapped().unwrap() == 0);
    // The next graph of the group begins anew.
    let (graph, ()) = group
        .capture(|capture| work(&bench, 5, &mut outs[5], capture.stream(), None))
        .unwrap();
    assert!(group.mapped().unwrap() > 0);
    bench.finish_after((graph, group, outs));
}

// Without it the test above could pass although no launch waits for another: these graphs share a buffer
// and are in no group, which strict mode finds.
#[cfg(feature = "sim")]
#[test]
fn graphs_that_share_memory_without_a_group_disturb_each_other() {
    let bench = Bench::open();
    let Some(machine) = bench.machine.clone() else {
        return;
    };
    let mut random = Random::new(17);
    let mut outs = outs(&bench);
    let mut scratch = bench.pool.zeros::<u32>(2 << 20, &bench.stream).unwrap();
    let mut executables: Vec<_> = (0..GRAPHS)
        .map(|graph| {
            let config = CaptureConfig::default();
            let (captured, ()) = Graph::capture(&bench.context, config, |capture| {
                let stream = capture.stream();
                work(&bench, graph, &mut outs[graph], stream, Some(&mut scratch))
            })
            .unwrap();
            captured.instantiate().unwrap()
        })
        .collect();
    // Whether a result is wrong is a matter of luck.
    let _luck = wrong(&bench, &mut executables, &mut outs, &mut random);
    let findings = machine.findings();
    let races = findings.iter().map(ToString::to_string);
    assert!(races.filter(|race| race.starts_with("stream-race")).count() > 10);
}

// Without it work outside of the group could read or write memory that a launch uses at that moment.
#[test]
fn memory_of_a_group_is_for_its_graphs_alone() {
    let bench = Bench::open();
    let mut out = bench.pool.zeros::<u32>(1000, &bench.stream).unwrap();
    let mut group = GraphGroup::new(&bench.context, with_memory(&bench)).unwrap();
    let (first, mut between) = group
        .capture(|capture| {
            let mut between = bench.pool.allocate::<u32>(1000, capture.stream())?;
            ops::fill(&mut between, 41, capture.stream())?;
            Ok::<_, Error>(between)
        })
        .unwrap();
    let refused = |done: Result<(), Error>| {
        assert!(matches!(done, Err(Error::Invalid { .. })), "{done:?}");
    };
    let own = between.stream().clone();
    refused(ops::fill(&mut between, 1, &bench.stream));
    refused(ops::fill(&mut between, 1, &own));
    refused(between.to_vec(&bench.stream).map(drop));
    refused(ops::copy(&out, &mut between, &own));
    drop(own);
    let config = CaptureConfig::default();
    let other = Graph::capture(&bench.context, config, |capture| {
        ops::fill(&mut between, 1, capture.stream())
    });
    refused(other.map(drop));
    let mut builder = GraphBuilder::new(&bench.context).unwrap();
    refused(builder.fill(&[], &mut between, 1).map(drop));
    // A graph of the group may use it, and gets what an earlier one has left.
    let (second, ()) = group
        .capture(|capture| {
            let branch = capture.branch()?;
            let mut more = bench.pool.allocate::<u32>(1000, capture.stream())?;
            assert_ne!(more.as_raw(), between.as_raw());
            ops::fill(&mut more, 7, capture.stream())?;
            ops::copy(&between, &mut out, &branch)
        })
        .unwrap();
    let [mut first, mut second] = [first, second].map(|graph| graph.instantiate().unwrap());
    for _ in 0..10 {
        first.launch(&bench.another_stream()).unwrap();
        second.launch(&bench.stream).unwrap();
        assert_eq!(out.to_vec(&bench.stream).unwrap(), [41; 1000]);
    }
    // Where it is dropped, the next capture may have it.
    let address = between.as_raw();
    drop(between);
    let (third, ()) = group
        .capture(|capture| {
            let again = bench.pool.allocate::<u32>(1000, capture.stream())?;
            assert_eq!(again.as_raw(), address);
            Ok::<_, Error>(())
        })
        .unwrap();
    bench.finish_after((first, second, third, builder, group, out));
}

// Without it a block that a branch has used could be used again in its capture before that use, or never.
#[test]
fn what_a_branch_has_used_is_free_after_the_capture() {
    let bench = Bench::open();
    let mut out = bench.pool.zeros::<u32>(1000, &bench.stream).unwrap();
    let mut group = GraphGroup::new(&bench.context, with_memory(&bench)).unwrap();
    let mut graphs = Vec::new();
    let mut addresses = Vec::new();
    for _ in 0..3 {
        let (graph, address) = group
            .capture(|capture| {
                let mut scratch = bench.pool.allocate::<u32>(1000, capture.stream())?;
                let branch = capture.branch()?;
                ops::fill(&mut scratch, 5, &branch)?;
                ops::copy(&scratch, &mut out, &branch)?;
                let address = scratch.as_raw();
                drop(scratch);
                let other = bench.pool.allocate::<u32>(1000, capture.stream())?;
                assert_ne!(other.as_raw(), address);
                Ok::<_, Error>(address)
            })
            .unwrap();
        graphs.push(graph);
        addresses.push(address);
    }
    assert!(group.mapped().unwrap() <= 2 << 20);
    addresses.dedup();
    assert!(addresses.len() < 3, "no capture got it again");
    bench.finish_after((graphs, group, out));
}

// Without it an executable could launch work of two groups, in the order of one.
#[test]
fn a_graph_is_in_one_group() {
    let bench = Bench::open();
    let mut out = bench.pool.zeros::<u32>(10, &bench.stream).unwrap();
    let refused = GraphGroup::new(&bench.context, CaptureConfig::default());
    assert!(matches!(
        refused,
        Err(Error::Invalid {
            field: "memory",
            ..
        })
    ));
    let mut captured = || {
        let mut group = GraphGroup::new(&bench.context, with_memory(&bench)).unwrap();
        let work = group.capture(|capture| ops::fill(&mut out, 1, capture.stream()));
        work.unwrap().0
    };
    let (one, two) = (captured(), captured());
    let foreign = |done: Result<(), Error>| {
        assert!(
            matches!(done, Err(Error::Invalid { field: "graph", .. })),
            "{done:?}"
        );
    };
    let mut executable = one.instantiate().unwrap();
    foreign(executable.update(&two).map(drop));
    let mut builder = GraphBuilder::new(&bench.context).unwrap();
    builder.child(&[], &one).unwrap();
    foreign(builder.child(&[], &two).map(drop));
    let both = builder.finish();
    foreign(two.instantiate().unwrap().update(&both).map(drop));
    executable.launch(&bench.stream).unwrap();
    bench.finish_after((one, two, both, executable, out));
}
