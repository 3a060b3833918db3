//! Items by an iterator.

use crate::buffer::DeviceCopy;
use crate::error::{Error, ItemError};
use crate::pipeline::Pipeline;
use crate::pipeline::faces::flow::Flow;
use crate::pipeline::item::{Item, Step};

impl<I: DeviceCopy, O: DeviceCopy> Pipeline<I, O> {
    /// An iterator over the outputs of these inputs, in order. It takes inputs as long as slots are
    /// free, and then waits for the oldest item.
    ///
    /// For each input `fill` writes it to a pinned slot and returns how many elements that are; `step`
    /// is as for [`run`](Self::run); `take` makes of an item that has arrived what the iterator
    /// returns. All three run on the thread that asks for the next output.
    ///
    /// The iterator ends after its first error, an [`ItemError`] of the same stages as for
    /// [`run`](Self::run). When it ends or is dropped the items in flight are waited for and
    /// dropped, and the pipeline can be used again.
    ///
    /// ```
    /// use cupola_managers::pipeline::{Pipeline, PipelineConfig};
    /// use cupola_managers::{Error, ExecutionManager, PoolConfig, ops};
    ///
    /// # let driver = cupola_sim::Machine::builder().build().driver();
    /// # let context = ExecutionManager::new(driver)?.devices().get(0)?.primary()?;
    /// # let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    /// let mut pipeline: Pipeline<u32, u32> =
    ///     Pipeline::new(&context, &pool, PipelineConfig::new(1, 1))?;
    /// let squares = pipeline.iter(
    ///     1..=10_u32,
    ///     |input, slot| {
    ///         slot[0] = input * input;
    ///         Ok::<_, Error>(1)
    ///     },
    ///     // In place of a kernel.
    ///     |step| ops::copy(step.input, step.output, step.stream).map(|()| 1),
    ///     |item| Ok(item.output[0]),
    /// );
    /// assert_eq!(squares.sum::<Result<u32, _>>()?, 385);
    /// # Ok::<_, Error>(())
    /// ```
    pub fn iter<X, R, E: From<Error>>(
        &mut self,
        inputs: impl IntoIterator<Item = X>,
        fill: impl FnMut(X, &mut [I]) -> Result<usize, E>,
        step: impl FnMut(Step<'_, I, O>) -> Result<usize, E>,
        take: impl FnMut(Item<'_, O>) -> Result<R, E>,
    ) -> impl Iterator<Item = Result<R, ItemError<E>>> {
        Items {
            flow: Flow::new(&mut self.engine, fill, step, take),
            inputs: inputs.into_iter().fuse(),
            has_begun: false,
        }
    }
}

struct Items<'p, I: DeviceCopy, O: DeviceCopy, N, F, S, T> {
    flow: Flow<'p, I, O, F, S, T>,
    inputs: N,
    has_begun: bool,
}

impl<I, O, N, F, S, T> Items<'_, I, O, N, F, S, T>
where
    I: DeviceCopy,
    O: DeviceCopy,
    N: Iterator,
{
    #[track_caller]
    fn advance<R, E: From<Error>>(&mut self) -> Result<Option<R>, ItemError<E>>
    where
        F: FnMut(N::Item, &mut [I]) -> Result<usize, E>,
        S: FnMut(Step<'_, I, O>) -> Result<usize, E>,
        T: FnMut(Item<'_, O>) -> Result<R, E>,
    {
        if !self.has_begun {
            self.flow.begin()?;
            self.has_begun = true;
        }
        while self.flow.engine().has_room()
            && let Some(input) = self.inputs.next()
        {
            self.flow.put(input)?;
        }
        self.flow.take()
    }
}

impl<I, O, N, F, S, T, R, E> Iterator for Items<'_, I, O, N, F, S, T>
where
    I: DeviceCopy,
    O: DeviceCopy,
    N: Iterator,
    E: From<Error>,
    F: FnMut(N::Item, &mut [I]) -> Result<usize, E>,
    S: FnMut(Step<'_, I, O>) -> Result<usize, E>,
    T: FnMut(Item<'_, O>) -> Result<R, E>,
{
    type Item = Result<R, ItemError<E>>;

    #[track_caller]
    fn next(&mut self) -> Option<Self::Item> {
        if self.flow.is_over() {
            return None;
        }
        let next = self.advance().transpose();
        if !matches!(next, Some(Ok(_))) {
            self.flow.end();
        }
        next
    }
}
