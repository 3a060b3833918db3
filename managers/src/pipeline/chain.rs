//! `PipelineBuilder` and `KernelChain`: kernels one after the other, with typed memory between them.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeInclusive;

use super::Pipeline;
use super::config::PipelineConfig;
use super::downloads::CopyThreads;
use super::graphs::Graphs;
use super::item::{Progress, Step};
use super::telemetry::Sampling;
use crate::buffer::{Buffer, DeviceCopy, DeviceSlice};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops;
use crate::pool::MemoryPool;
use crate::stream::Stream;

/// A chain of kernels between an upload and a download, each of which reads what the one before it
/// has written.
///
/// ```
/// use cupola_managers::pipeline::PipelineBuilder;
/// use cupola_managers::{Error, ExecutionManager, PoolConfig, ops};
///
/// # let driver = cupola_sim::Machine::builder().build().driver();
/// # let context = ExecutionManager::new(driver)?.devices().get(0)?.primary()?;
/// # let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
/// let (mut pipeline, mut chain) = PipelineBuilder::upload::<u32>(100)
///     // In place of kernels.
///     .kernel::<u32>(100, |step| ops::copy(step.input, step.output, step.stream).map(|()| 100))
///     .kernel::<u8>(400, |step| {
///         ops::copy(step.input.cast::<u8>()?, step.output, step.stream).map(|()| 400)
///     })
///     .depth(4)
///     .build(&context, &pool)?;
/// let mut left = 10;
/// pipeline.run(
///     |slot| {
///         slot.fill(0x0101_0101);
///         left -= 1;
///         Ok::<_, Error>((left >= 0).then_some(100))
///     },
///     |step| chain.put(step),
///     |item| {
///         assert_eq!(item.output, [1; 400]);
///         Ok(())
///     },
/// )?;
/// # Ok::<_, Error>(())
/// ```
#[derive(Debug)]
#[must_use = "`build` makes the pipeline"]
pub struct PipelineBuilder<I, O, C> {
    config: PipelineConfig,
    chain: C,
    items: PhantomData<fn(I) -> O>,
}

/// An upload without kernels yet.
#[derive(Debug)]
pub struct Upload(());

impl PipelineBuilder<(), (), Upload> {
    /// Begins with the upload of items of up to `len` elements.
    pub fn upload<I: DeviceCopy>(len: usize) -> PipelineBuilder<I, I, Upload> {
        PipelineBuilder {
            config: PipelineConfig::new(len, len),
            chain: Upload(()),
            items: PhantomData,
        }
    }
}

impl<I: DeviceCopy, O: DeviceCopy, C: Chain<I, O>> PipelineBuilder<I, O, C> {
    /// Adds a kernel, or whatever `put` puts on [`Step::stream`]. It reads [`Step::input`], which is
    /// what the kernel before it has written, and writes up to `len` elements; `put` returns how many.
    ///
    /// The memory between two kernels is there once, whatever the depth: all items go through it one
    /// after the other.
    pub fn kernel<P: DeviceCopy>(
        self,
        len: usize,
        put: impl FnMut(Step<'_, O, P>) -> Result<usize>,
    ) -> PipelineBuilder<I, P, impl Chain<I, P>> {
        self.link(len, put, Repeats::Unknown)
    }

    /// Adds a kernel as [`kernel`](Self::kernel) does, which does the same for every input of the same
    /// length: the same launches with the same arguments, none of which depends on [`Step::index`] or
    /// anything that changes, and as many elements written. A chain of only such kernels is captured
    /// once an item comes as long as an earlier one, and from then on launched as a graph, without a
    /// call of `put`: [`Graphs`] has the conditions, and [`Pipeline::graph_report`] tells of it.
    ///
    /// ```
    /// use cupola_managers::pipeline::PipelineBuilder;
    /// use cupola_managers::{Error, ExecutionManager, PoolConfig, ops};
    ///
    /// # let driver = cupola_sim::Machine::builder().build().driver();
    /// # let context = ExecutionManager::new(driver)?.devices().get(0)?.primary()?;
    /// # let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    /// let (mut pipeline, mut chain) = PipelineBuilder::upload::<u32>(100)
    ///     // In place of a kernel.
    ///     .repeating::<u32>(100, |step| {
    ///         let len = step.input.len();
    ///         ops::copy(step.input, step.output.slice(..len)?, step.stream).map(|()| len)
    ///     })
    ///     .build(&context, &pool)?;
    /// let mut left = 20;
    /// pipeline.run(
    ///     |slot| {
    ///         slot.fill(left);
    ///         left -= 1;
    ///         Ok::<_, Error>((left > 0).then_some(100))
    ///     },
    ///     |step| chain.put(step),
    ///     |item| Ok(assert_eq!(item.output.len(), 100)),
    /// )?;
    /// // Each of the three slots has seen one item before.
    /// assert_eq!(pipeline.graph_report().launched, 15);
    /// # Ok::<_, Error>(())
    /// ```
    pub fn repeating<P: DeviceCopy>(
        self,
        len: usize,
        put: impl FnMut(Step<'_, O, P>) -> Result<usize>,
    ) -> PipelineBuilder<I, P, impl Chain<I, P>> {
        self.link(len, put, Repeats::Always)
    }

    fn link<P: DeviceCopy, F>(
        self,
        len: usize,
        put: F,
        repeats: Repeats,
    ) -> PipelineBuilder<I, P, impl Chain<I, P>>
    where
        F: FnMut(Step<'_, O, P>) -> Result<usize>,
    {
        PipelineBuilder {
            config: PipelineConfig {
                output_len: len,
                ..self.config
            },
            chain: Link {
                before: self.chain,
                put,
                repeats,
                len,
                written: None,
                input: PhantomData,
            },
            items: PhantomData,
        }
    }

    /// The pipeline, and its kernels for [`Pipeline::run`] and the other ways to use it. Without a
    /// kernel the output is the input.
    ///
    /// # Errors
    /// As [`Pipeline::new`].
    #[track_caller]
    #[allow(
        clippy::type_complexity,
        reason = "a pair, of a pipeline and its kernels"
    )]
    pub fn build(
        self,
        context: &Context,
        pool: &MemoryPool,
    ) -> Result<(Pipeline<I, O>, KernelChain<I, O, C>)> {
        let pipeline = Pipeline::new(context, pool, self.config)?;
        let mut chain = self.chain;
        chain.allocate(pool, &pipeline.engine.streams().compute)?;
        let items = PhantomData;
        Ok((pipeline, KernelChain { chain, items }))
    }
}

impl<I, O, C> PipelineBuilder<I, O, C> {
    /// Has so many items in flight; 3 by default.
    pub fn depth(self, depth: usize) -> Self {
        let config = self.config.depth(depth);
        Self { config, ..self }
    }

    /// Has so many items in flight at first, and as many more as
    /// [`PipelineConfig::adaptive`] says.
    pub fn adaptive(self, depth: RangeInclusive<usize>) -> Self {
        let config = self.config.adaptive(depth);
        Self { config, ..self }
    }

    /// Has at most so many inputs and outputs on the device.
    pub fn split(self, input: usize, output: usize) -> Self {
        let config = self.config.split(input, output);
        Self { config, ..self }
    }

    /// Launches these steps as graphs; by default a chain whose kernels [repeat](Self::repeating).
    pub fn graphs(self, graphs: Graphs) -> Self {
        let config = self.config.graphs(graphs);
        Self { config, ..self }
    }

    /// Has a kernel make the copies of up to `bytes` bytes in these graphs, see
    /// [`PipelineConfig::kernel_copies`].
    pub fn kernel_copies(self, bytes: usize) -> Self {
        let config = self.config.kernel_copies(bytes);
        Self { config, ..self }
    }

    /// Has a thread of its own put the downloads, or not.
    pub fn copy_threads(self, copy_threads: CopyThreads) -> Self {
        let config = self.config.copy_threads(copy_threads);
        Self { config, ..self }
    }

    /// Takes the device times of all items.
    pub fn measured(self) -> Self {
        self.sampling(Sampling::All)
    }

    /// Takes the device times of these items.
    pub fn sampling(self, sampling: Sampling) -> Self {
        let config = self.config.sampling(sampling);
        Self { config, ..self }
    }
}

/// The kernels of a [`PipelineBuilder`], with the memory between them.
pub struct KernelChain<I, O, C> {
    chain: C,
    items: PhantomData<fn(I) -> O>,
}

impl<I: DeviceCopy, O: DeviceCopy, C: Chain<I, O>> KernelChain<I, O, C> {
    /// Puts all kernels on the stream of an item's step, and returns how many elements the last one
    /// writes.
    ///
    /// # Errors
    /// The first error of a kernel; [`Error::Invalid`] when one writes more than there is room for.
    /// [`ItemStage::Kernel`](crate::ItemStage::Kernel) has the position of the kernel.
    #[track_caller]
    pub fn put(&mut self, step: Step<'_, I, O>) -> Result<usize> {
        step.progress.repeats = self.chain.repeats() == Repeats::Always;
        self.chain.put(step)
    }
}

impl<I, O, C> fmt::Debug for KernelChain<I, O, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelChain").finish_non_exhaustive()
    }
}

/// Kernels from an input of `I` to an output of `O`; there are no others than those of a
/// [`PipelineBuilder`].
pub trait Chain<I: DeviceCopy, O: DeviceCopy>: sealed::Sealed {
    /// Memory for what is written before the last kernel.
    #[doc(hidden)]
    #[track_caller]
    fn allocate(&mut self, pool: &MemoryPool, stream: &Stream) -> Result<()>;

    /// And for what the last one writes, which is not the output.
    #[doc(hidden)]
    #[track_caller]
    fn allocate_all(&mut self, pool: &MemoryPool, stream: &Stream) -> Result<()>;

    /// Whether the kernels do the same again for an input of the same length.
    #[doc(hidden)]
    fn repeats(&self) -> Repeats;

    /// Puts the kernels on the stream, of which the last writes the step's output.
    #[doc(hidden)]
    #[track_caller]
    fn put(&mut self, step: Step<'_, I, O>) -> Result<usize>;

    /// Puts the kernels on the stream. What the last writes is in memory of the chain.
    #[doc(hidden)]
    #[track_caller]
    fn pass<'a>(
        &'a mut self,
        start: Start<'a, I>,
        progress: &mut Progress,
    ) -> Result<DeviceSlice<'a, O>>;
}

mod sealed {
    pub trait Sealed {}
}

/// A step without its output.
#[derive(Debug)]
#[doc(hidden)]
pub struct Start<'a, I: DeviceCopy> {
    index: u64,
    stream: &'a Stream,
    input: DeviceSlice<'a, I>,
}

/// Whether a kernel does the same for every input of the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Repeats {
    /// It says so.
    Always,
    /// It does not.
    Unknown,
}

impl sealed::Sealed for Upload {}

impl<I: DeviceCopy> Chain<I, I> for Upload {
    fn allocate(&mut self, _: &MemoryPool, _: &Stream) -> Result<()> {
        Ok(())
    }

    fn allocate_all(&mut self, _: &MemoryPool, _: &Stream) -> Result<()> {
        Ok(())
    }

    fn repeats(&self) -> Repeats {
        Repeats::Always
    }

    #[track_caller]
    fn put(&mut self, step: Step<'_, I, I>) -> Result<usize> {
        let len = step.input.len();
        ops::copy(step.input, step.output.slice(..len)?, step.stream)?;
        Ok(len)
    }

    fn pass<'a>(&'a mut self, start: Start<'a, I>, _: &mut Progress) -> Result<DeviceSlice<'a, I>> {
        Ok(start.input)
    }
}

/// A kernel behind a chain.
struct Link<C, M, P: DeviceCopy, F> {
    before: C,
    put: F,
    repeats: Repeats,
    /// Elements that it writes at most.
    len: usize,
    /// Where it writes them, if another kernel comes behind it.
    written: Option<Buffer<P>>,
    input: PhantomData<fn(M)>,
}

impl<C, M, P: DeviceCopy, F> sealed::Sealed for Link<C, M, P, F> {}

impl<I, M, P, C, F> Chain<I, P> for Link<C, M, P, F>
where
    I: DeviceCopy,
    M: DeviceCopy,
    P: DeviceCopy,
    C: Chain<I, M>,
    F: FnMut(Step<'_, M, P>) -> Result<usize>,
{
    #[track_caller]
    fn allocate(&mut self, pool: &MemoryPool, stream: &Stream) -> Result<()> {
        self.before.allocate_all(pool, stream)
    }

    #[track_caller]
    fn allocate_all(&mut self, pool: &MemoryPool, stream: &Stream) -> Result<()> {
        self.allocate(pool, stream)?;
        self.written = Some(pool.allocate(self.len, stream)?);
        Ok(())
    }

    fn repeats(&self) -> Repeats {
        match self.repeats {
            Repeats::Always => self.before.repeats(),
            Repeats::Unknown => Repeats::Unknown,
        }
    }

    #[track_caller]
    fn put(&mut self, step: Step<'_, I, P>) -> Result<usize> {
        let Step {
            index,
            stream,
            input,
            output,
            progress,
        } = step;
        let start = Start {
            index,
            stream,
            input,
        };
        let input = self.before.pass(start, progress)?;
        (self.put)(Step {
            index,
            stream,
            input,
            output,
            progress,
        })
    }

    #[track_caller]
    fn pass<'a>(
        &'a mut self,
        start: Start<'a, I>,
        progress: &mut Progress,
    ) -> Result<DeviceSlice<'a, P>> {
        let (index, stream) = (start.index, start.stream);
        let input = self.before.pass(start, progress)?;
        let written = self.written.as_mut();
        let written = written.ok_or_else(|| Error::invalid("kernel chain", "is not built"))?;
        // An item before this one may have failed to write it.
        written.clear_taint();
        let len = (self.put)(Step {
            index,
            stream,
            input,
            output: written.view_mut(),
            progress: &mut *progress,
        })?;
        let written = written.slice(..len)?;
        progress.kernel += 1;
        Ok(written)
    }
}
