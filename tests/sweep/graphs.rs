//! Graphs: captured and made node by node, launched, updated, cloned, gone.

use cupola_managers::graph::{
    CaptureConfig, ConditionStart, Graph, GraphBuilder, GraphGroup, Update,
};
use cupola_managers::ops::{self, LaunchAttributes, LaunchConfig};
use cupola_managers::pipeline::{GraphReport, Graphs, Pipeline, PipelineConfig};
use cupola_managers::pool::PoolConfig;
use cupola_managers::{Error, GraphExec, Stream};
use cupola_sys::driver::flags::GraphInstantiateFlags;
use cupola_testing::Stage;
use cupola_testing::sweep::Outcome;

const PTX: &str = "
.version 6.0
.target sm_60
.address_size 64
.visible .entry nothing() {
    ret;
}
";

/// An executable that is dropped when its launches are over, also after an error: else they would be
/// over some time later.
struct Settled<'s> {
    executable: GraphExec,
    stream: &'s Stream,
}

impl Settled<'_> {
    fn launch(&mut self) -> Result<(), Error> {
        self.executable.launch(self.stream)?;
        self.executable.launch(self.stream)?;
        ops::synchronize(self.stream)
    }
}

impl Drop for Settled<'_> {
    fn drop(&mut self) {
        let _ = ops::synchronize(self.stream).or_else(|_| ops::synchronize(self.stream));
    }
}

pub(crate) fn captured(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let stream = context.streams().create(Default::default())?;
    let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    let mut out = pool.zeros::<u32>(64, &stream)?;
    let mut gone = pool.zeros::<u32>(64, &stream)?;
    let pinned = context.buffers().pinned::<u32>(64)?;
    let config = CaptureConfig::default().memory(&pool);
    let (graph, output) = Graph::capture(&context, config, |capture| {
        let main = capture.stream().clone();
        let branch = capture.branch()?;
        let mut scratch = pool.allocate::<u32>(64, &main)?;
        ops::fill(&mut scratch, 5, &main)?;
        ops::fill(&mut gone, 6, &branch)?;
        capture.order(&branch, &main)?;
        ops::copy(&scratch, &mut out, &main)?;
        capture.host(|| (), &main)?;
        capture.download(&out, pinned, &main)
    })?;
    drop(gone);
    let (executable, stream) = (graph.instantiate()?, &stream);
    let mut executable = Settled { executable, stream };
    executable.executable.upload(stream)?;
    executable.launch()?;
    assert_eq!(executable.executable.output(output)?, [5; 64]);
    assert_eq!(out.to_vec(stream)?, [5; 64]);
    drop((graph, executable));
    Ok(ops::synchronize(stream)?)
}

pub(crate) fn built(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let stream = context.streams().create(Default::default())?;
    let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    let nothing = context.modules().load_ptx(PTX)?.function("nothing")?;
    let event = context.events().create(Default::default())?;
    let mut out = pool.zeros::<u32>(64, &stream)?;
    let mut from = pool.zeros::<u32>(64, &stream)?;
    let mut build = |value: u32| -> Result<Graph, Error> {
        let mut inner = GraphBuilder::new(&context)?;
        inner.host(&[], || ())?;
        let mut builder = GraphBuilder::new(&context)?;
        let child = builder.child(&[], &inner.finish())?;
        let filled = builder.fill(&[child], &mut from, value)?;
        // SAFETY: the kernel takes no arguments and touches no memory.
        let kernel =
            unsafe { builder.kernel(&[filled], &nothing, LaunchConfig::linear(1, 1), ()) }?;
        let both = builder.empty(&[filled, kernel])?;
        let copied = builder.copy(&[both], &from, &mut out)?;
        builder.record(&[copied], &event)?;
        Ok(builder.finish())
    };
    let (one, two) = (build(1)?, build(2)?);
    let clone = one.try_clone()?;
    assert_eq!(clone.nodes()?, one.nodes()?);
    let (executable, stream) = (clone.instantiate()?, &stream);
    let mut executable = Settled { executable, stream };
    drop((one, clone));
    executable.launch()?;
    assert_eq!(executable.executable.update(&two)?, Update::Done);
    executable.launch()?;
    ops::synchronize_event(&event)?;
    assert_eq!(out.to_vec(stream)?, [2; 64]);
    drop((two, executable));
    Ok(ops::synchronize(stream)?)
}

pub(crate) fn grouped(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let streams = [(); 2].map(|()| context.streams().create(Default::default()));
    let [one, two] = streams;
    let (one, two) = (one?, two?);
    let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    let mut out = pool.zeros::<u32>(64, &one)?;
    let mut group = GraphGroup::new(&context, CaptureConfig::default().memory(&pool))?;
    let mut capture = |value: u32| {
        group.capture(|capture| {
            let mut scratch = pool.allocate::<u32>(64, capture.stream())?;
            ops::fill(&mut scratch, value, capture.stream())?;
            ops::copy(&scratch, &mut out, capture.stream())
        })
    };
    let (first, second) = (capture(1)?.0, capture(2)?.0);
    let settled = |graph: &Graph, stream| {
        let executable = graph.instantiate()?;
        Ok::<_, Error>(Settled { executable, stream })
    };
    let (mut first, mut second) = (settled(&first, &one)?, settled(&second, &two)?);
    first.executable.launch(&one)?;
    second.launch()?;
    assert_eq!(out.to_vec(&two)?, [2; 64]);
    first.launch()?;
    assert_eq!(out.to_vec(&one)?, [1; 64]);
    drop((first, second));
    ops::synchronize(&two)?;
    Ok(ops::synchronize(&one)?)
}

/// Items of a pipeline, of which all but the first in each slot are launched as graphs, unless a call
/// fails that a graph is made by.
pub(crate) fn steps(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    let config = PipelineConfig::new(64, 64).depth(2).split(2, 1);
    let config = config.graphs(Graphs::Steps);
    let mut pipeline = Pipeline::<u32, u32>::new(&context, &pool, config)?;
    let (mut filled, mut seen) = (0, 0);
    pipeline.run::<Error>(
        |input| {
            input.fill(filled);
            filled += 1;
            Ok((filled <= 7).then_some(64))
        },
        |step| ops::copy(step.input, step.output, step.stream).map(|()| 64),
        |item| {
            assert_eq!(item.output, [seen; 64]);
            seen += 1;
            Ok(())
        },
    )?;
    assert_eq!(seen, 7, "success, but not of every item");
    let GraphReport {
        launched, direct, ..
    } = *pipeline.graph_report();
    assert_eq!(launched + direct, 7);
    Ok(())
}

pub(crate) fn changed(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let stream = context.streams().create(Default::default())?;
    let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    let nothing = context.modules().load_ptx(PTX)?.function("nothing")?;
    let [first, second] = [(); 2].map(|()| context.events().create(Default::default()));
    let (first, second) = (first?, second?);
    let mut from = pool.zeros::<u32>(64, &stream)?;
    let mut out = pool.zeros::<u32>(64, &stream)?;
    let config = LaunchConfig::linear(1, 1);
    let attributes = LaunchAttributes::new().cooperative().priority(0);
    let mut builder = GraphBuilder::new(&context)?;
    let filled = builder.fill(&[], &mut from, 1_u32)?;
    // SAFETY: here and below: the kernel takes no arguments and touches no memory.
    let kernel = unsafe { builder.kernel_with(&[filled], &nothing, config, attributes, ()) }?;
    let copied = builder.copy(&[kernel], &from, &mut out)?;
    let called = builder.host(&[copied], || ())?;
    let recorded = builder.record(&[called], &first)?;
    let (executable, stream) = (builder.finish().instantiate()?, &stream);
    let mut executable = Settled { executable, stream };
    let mut more = pool.zeros::<u32>(64, stream)?;
    let changes = &mut executable.executable;
    changes.set_fill(filled, &mut more, 2)?;
    // SAFETY: as above.
    unsafe { changes.set_kernel(kernel, &nothing, config, ()) }?;
    changes.set_copy(copied, &more, &mut out)?;
    changes.set_host(called, || ())?;
    changes.set_event(recorded, &second)?;
    changes.set_enabled(kernel, false)?;
    assert!(!changes.is_enabled(kernel)?);
    drop(more);
    executable.launch()?;
    ops::synchronize_event(&second)?;
    assert_eq!(out.to_vec(stream)?, [2; 64]);
    let (graph, node) = Graph::capture(&context, CaptureConfig::default(), |capture| {
        let stream = capture.stream().clone();
        // SAFETY: as above.
        unsafe { ops::launch_with(&nothing, config, attributes, (), &stream) }?;
        capture.last_node(&stream)
    })?;
    assert!(node.is_some());
    let flags = GraphInstantiateFlags::empty();
    let captured = graph.instantiate_measured(flags, stream)?;
    assert_eq!(context.graph_usage()?.measured, 1);
    Settled {
        executable: captured,
        stream,
    }
    .launch()?;
    drop((graph, executable));
    Ok(ops::synchronize(stream)?)
}

pub(crate) fn conditional(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let stream = context.streams().create(Default::default())?;
    let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    let mut out = pool.zeros::<u32>(64, &stream)?;
    let mut builder = GraphBuilder::new(&context)?;
    let condition = builder.condition(ConditionStart::Value(1))?;
    builder.when_else(
        &[],
        condition,
        |body| {
            let inner = body.condition(ConditionStart::Value(2))?;
            body.switch(&[], inner, 3, |case, body| {
                body.fill(&[], &mut out, case)?;
                Ok::<_, Error>(())
            })?;
            Ok(())
        },
        |otherwise| {
            let never = otherwise.condition(ConditionStart::Value(0))?;
            otherwise.repeat_while(&[], never, |_| Ok::<_, Error>(()))?;
            Ok::<_, Error>(())
        },
    )?;
    let (executable, stream) = (builder.finish().instantiate()?, &stream);
    let mut executable = Settled { executable, stream };
    executable.launch()?;
    assert_eq!(out.to_vec(stream)?, [2; 64]);
    drop(executable);
    Ok(ops::synchronize(stream)?)
}
