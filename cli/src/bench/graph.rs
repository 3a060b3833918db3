//! What a graph costs beside the driver's own calls: a launch, an instantiation, an update; and that
//! launches between other work stay right and need no more memory.

use std::ptr;
use std::time::Instant;

use cupola_managers::graph::{CaptureConfig, Graph, GraphBuilder, Update};
use cupola_managers::module::Function;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::{Context, Device, Error, GraphExec, MemoryPool, PoolConfig, Stream};
use cupola_sys::driver::{
    CUDA_KERNEL_NODE_PARAMS, CUgraph, CUgraphExec, CUgraphExecUpdateResult,
    CUgraphExecUpdateResultInfo, CUgraphNode, Driver, DriverError,
};

use super::{Figures, median};

/// A kernel that does nothing.
const PTX: &str = "
    .version 6.0
    .target sm_60
    .address_size 64
    .visible .entry nothing() { ret; }
";

/// Nanoseconds that a launch may take beside the driver's call.
const BESIDE: f64 = 50.0;
/// Microseconds of an update of 100 nodes, and of 8 192.
const UPDATES: [(usize, f64); 2] = [(100, 100.0), (8192, 10_000.0)];

/// Sizes of a measurement.
struct Plan {
    rounds: usize,
    /// Launches between two waits: fewer than a stream's queue holds.
    launches: u32,
    nodes: &'static [usize],
    replays: u32,
}

impl Plan {
    fn new(quick: bool, software: bool) -> Self {
        match (quick, software) {
            (true, _) => Self {
                rounds: 1,
                launches: 4,
                nodes: &[1, 3],
                replays: 20,
            },
            (false, true) => Self {
                rounds: 11,
                launches: 64,
                nodes: &[1, 3, 100],
                replays: 2_000,
            },
            (false, false) => Self {
                // Differences of some tens of nanoseconds, where single rounds differ by hundreds.
                rounds: 1001,
                launches: 64,
                nodes: &[1, 3, 100, 8192],
                replays: 100_000,
            },
        }
    }
}

/// A failure, or a wrong result.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// Of a call.
    #[error(transparent)]
    Failed(#[from] Error),
    /// Of a call of the driver that is compared with.
    #[error("a call of the driver: {0}")]
    Driver(#[from] DriverError),
    /// Something is not as it should be.
    #[error("{0}")]
    Wrong(&'static str),
}

/// Measures graphs on `device`; with `quick` so few launches that the figures mean nothing.
///
/// # Errors
/// What the driver returned, or that a result is wrong.
pub fn run(device: &Device, name: String, quick: bool) -> Result<Figures, GraphError> {
    let plan = Plan::new(quick, name.contains("software"));
    let context = device.primary()?;
    let stream = context.streams().create(Default::default())?;
    let function = context.modules().load_ptx(PTX)?.function("nothing")?;
    let mut figures = Figures::new("graph", name);
    for &nodes in plan.nodes {
        costs(&mut figures, &plan, (&context, &stream), &function, nodes)?;
    }
    replays(&mut figures, &plan, &context, &stream)?;
    Ok(figures)
}

/// Nodes one behind the other.
fn chain(context: &Context, function: &Function, nodes: usize) -> Result<Graph, Error> {
    let mut builder = GraphBuilder::new(context)?;
    let mut last = None;
    for _ in 0..nodes {
        let config = LaunchConfig::linear(1, 1);
        // SAFETY: the kernel takes no arguments and touches no memory.
        last = Some(unsafe { builder.kernel(last.as_slice(), function, config, ()) }?);
    }
    Ok(builder.finish())
}

/// The same by the driver's calls.
struct RawChain<'d> {
    driver: &'d Driver,
    graph: CUgraph,
}

impl<'d> RawChain<'d> {
    fn new(driver: &'d Driver, function: &Function, nodes: usize) -> Result<Self, DriverError> {
        let mut graph = ptr::null_mut();
        // SAFETY: `graph` outlives the call.
        unsafe { driver.cuGraphCreate(&raw mut graph, 0) }?;
        let chain = Self { driver, graph };
        let parameters = CUDA_KERNEL_NODE_PARAMS {
            func: function.as_raw(),
            gridDimX: 1,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 1,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            kernelParams: ptr::null_mut(),
            extra: ptr::null_mut(),
            kern: ptr::null_mut(),
            ctx: ptr::null_mut(),
        };
        let mut last: CUgraphNode = ptr::null_mut();
        for node in 0..nodes {
            let (after, count) = (last, usize::from(node > 0));
            let (last, parameters) = (&raw mut last, &raw const parameters);
            // SAFETY: graph, function and node are alive, and all pointers outlive the call.
            unsafe {
                driver.cuGraphAddKernelNode_v2(last, graph, &raw const after, count, parameters)
            }?;
        }
        Ok(chain)
    }

    fn instantiate(&self) -> Result<RawExec<'d>, DriverError> {
        let (mut raw, driver) = (ptr::null_mut(), self.driver);
        // SAFETY: the graph is alive, and `raw` outlives the call.
        unsafe { driver.cuGraphInstantiateWithFlags(&raw mut raw, self.graph, 0) }?;
        Ok(RawExec { driver, raw })
    }
}

impl Drop for RawChain<'_> {
    fn drop(&mut self) {
        // SAFETY: it is used no more.
        let _ = unsafe { self.driver.cuGraphDestroy(self.graph) };
    }
}

struct RawExec<'d> {
    driver: &'d Driver,
    raw: CUgraphExec,
}

impl Drop for RawExec<'_> {
    fn drop(&mut self) {
        // SAFETY: its launches are over.
        let _ = unsafe { self.driver.cuGraphExecDestroy(self.raw) };
    }
}

/// Nanoseconds of the call in the middle of so many of `work`: what holds the thread up concerns few
/// calls, and changes the mean of all.
fn each(calls: u32, mut work: impl FnMut() -> Result<(), GraphError>) -> Result<f64, GraphError> {
    let mut times = Vec::with_capacity(calls as usize);
    for _ in 0..calls {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed().as_secs_f64() * 1e9);
    }
    Ok(median(&times))
}

fn costs(
    figures: &mut Figures,
    plan: &Plan,
    (context, stream): (&Context, &Stream),
    function: &Function,
    nodes: usize,
) -> Result<(), GraphError> {
    let driver = context.driver();
    let (graph, raw_graph) = (
        chain(context, function, nodes)?,
        RawChain::new(driver, function, nodes)?,
    );
    let mut executable = graph.instantiate()?;
    let raw = raw_graph.instantiate()?;
    let [mut launch, mut raw_launch, mut beside] = [const { Vec::new() }; 3];
    let [mut make, mut raw_make] = [const { Vec::new() }; 2];
    let [mut update, mut raw_update] = [const { Vec::new() }; 2];
    let launches = if nodes > 1000 { 4 } else { plan.launches };
    let rounds = if nodes > 1000 {
        plan.rounds / 100 + 1
    } else {
        plan.rounds
    };
    for round in 0..=rounds {
        let by_hand = || {
            let stream = stream.as_raw();
            each(launches, || {
                // SAFETY: both are alive, and what the graph uses is kept.
                Ok(unsafe { driver.cuGraphLaunch(raw.raw, stream) }?)
            })
        };
        // By turns: which is first may matter.
        let first = if round % 2 == 0 {
            Some(by_hand()?)
        } else {
            None
        };
        ops::synchronize(stream)?;
        let ours = each(launches, || Ok(executable.launch(stream)?))?;
        ops::synchronize(stream)?;
        let by_hand = match first {
            Some(time) => time,
            None => by_hand()?,
        };
        ops::synchronize(stream)?;
        let start = Instant::now();
        drop(graph.instantiate()?);
        let made = start.elapsed();
        let start = Instant::now();
        drop(raw_graph.instantiate()?);
        let raw_made = start.elapsed();
        let start = Instant::now();
        if executable.update(&graph)? != Update::Done {
            return Err(GraphError::Wrong("a graph was not updated to itself"));
        }
        let updated = start.elapsed();
        let start = Instant::now();
        let mut info = CUgraphExecUpdateResultInfo {
            result: CUgraphExecUpdateResult::CU_GRAPH_EXEC_UPDATE_SUCCESS,
            errorNode: ptr::null_mut(),
            errorFromNode: ptr::null_mut(),
        };
        // SAFETY: both are alive, and `info` outlives the call.
        unsafe { driver.cuGraphExecUpdate_v2(raw.raw, raw_graph.graph, &raw mut info) }?;
        let raw_updated = start.elapsed();
        // The first round warms up.
        if round > 0 {
            launch.push(ours);
            raw_launch.push(by_hand);
            beside.push(ours - by_hand);
            let micros = |time: std::time::Duration| time.as_secs_f64() * 1e6;
            make.push(micros(made));
            raw_make.push(micros(raw_made));
            update.push(micros(updated));
            raw_update.push(micros(raw_updated));
        }
    }
    let row = |what: &str, who: &str| format!("{what}, {nodes} nodes: {who}");
    let mut pair = |what: &str, unit, ours: &[f64], theirs: &[f64], want: Option<f64>| {
        let against = row(what, "the driver");
        figures.push(&against, unit, theirs, None);
        let ours = figures.push(&row(what, "cupola"), unit, ours, Some(&against));
        if let Some(most) = want {
            ours.want(most);
        }
    };
    pair("a launch", "ns", &launch, &raw_launch, None);
    pair(
        "an instantiation, and its end",
        "us",
        &make,
        &raw_make,
        None,
    );
    let most = UPDATES.iter().find(|(of, _)| *of == nodes);
    let most = most.map(|(_, most)| *most);
    pair("an update", "us", &update, &raw_update, most);
    let beside = figures.push(
        &row("a launch beside the driver's", "cupola"),
        "ns",
        &beside,
        None,
    );
    // Launches of many nodes take as much more or less by chance.
    if nodes <= 100 {
        beside.want(BESIDE);
    }
    Ok(())
}

/// Elements of the buffers of [`replays`].
const LEN: usize = 4096;

/// Launches a graph again and again while its stream allocates, frees and does other work, and looks at
/// the results and at the memory.
fn replays(
    figures: &mut Figures,
    plan: &Plan,
    context: &Context,
    stream: &Stream,
) -> Result<(), GraphError> {
    let pool = context.memory_pool(PoolConfig::limit(256 << 20))?;
    let pinned = context.buffers().pinned::<u32>(LEN)?;
    let (graph, output) =
        Graph::capture(context, CaptureConfig::default().memory(&pool), |capture| {
            let on = capture.stream().clone();
            let mut sum = pool.allocate::<u32>(LEN, &on)?;
            for value in 0..4 {
                let mut scratch = pool.allocate::<u32>(LEN, &on)?;
                ops::fill(&mut scratch, value, &on)?;
                ops::copy(&scratch, &mut sum, &on)?;
            }
            capture.download(&sum, pinned, &on)
        })?;
    let mut executable = graph.instantiate()?;
    let round = |executable: &mut GraphExec, value: u32| -> Result<(), GraphError> {
        executable.launch(stream)?;
        between(&pool, stream, value)?;
        if value.is_multiple_of(64) && executable.output(output)?.iter().any(|it| *it != 3) {
            return Err(GraphError::Wrong("a launch left another result"));
        }
        Ok(())
    };
    for value in 0..plan.replays.min(1_000) {
        round(&mut executable, value)?;
    }
    ops::synchronize(stream)?;
    let before = pool.mapped();
    let start = Instant::now();
    for value in 0..plan.replays {
        round(&mut executable, value)?;
    }
    ops::synchronize(stream)?;
    let time = start.elapsed().as_secs_f64() * 1e6 / f64::from(plan.replays);
    let what = format!("{} launches between other work", plan.replays);
    figures.push(&format!("{what}: each"), "us", &[time], None);
    let more = pool.mapped() as f64 - before as f64;
    figures
        .push(
            &format!("{what}: more mapped after them"),
            "bytes",
            &[more],
            None,
        )
        .want(0.0);
    Ok(())
}

/// Other work of the stream: memory that is allocated, used, looked at now and then, and freed.
fn between(pool: &MemoryPool, stream: &Stream, value: u32) -> Result<(), GraphError> {
    let mut buffer = pool.allocate::<u32>(LEN, stream)?;
    ops::fill(&mut buffer, value, stream)?;
    if value.is_multiple_of(64) && buffer.to_vec(stream)?.iter().any(|it| *it != value) {
        return Err(GraphError::Wrong("other work has another result"));
    }
    Ok(())
}
