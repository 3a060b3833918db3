//! Heaps over offsets: how long a block takes, and how high the addresses go.

use std::collections::BTreeMap;
use std::sync::Mutex;

use cupola_core::Tlsf;
use cupola_core::tlsf::{Block, Node};

use super::bars::{HEAP, TLSF};
use super::ours::lock;
use super::{Error, Figures, Options};
use crate::bench::rounds::Case;
use crate::bench::traces::{self, Problem};
use crate::trace::{Operation, Trace};

/// What sizes are rounded up to.
pub(super) const GRANULE: u64 = 256;

/// The most blocks, used and free, that a heap has.
pub(super) const BLOCKS: usize = 1 << 17;

/// Granules of every heap: more than anything needs.
pub(super) const GRANULES: u32 = u32::MAX - 1;

/// Blocks that are live while pairs are measured.
const LIVE: usize = 10_000;

/// Sizes and places that were drawn before; they are gone through again and again.
const DRAWN: usize = 1 << 16;

/// Pairs between two looks at the clock.
const BATCH: usize = 1024;

/// A heap of [`GRANULES`] granules.
pub(super) trait Heap: Send + 'static {
    type Block: Copy + Send;

    fn new() -> Self;

    /// A block of at least `size` bytes, above 0.
    fn allocate(&mut self, size: u64) -> Option<Self::Block>;

    fn free(&mut self, block: Self::Block) -> bool;

    /// Its first byte.
    fn offset(block: Self::Block) -> u64;

    /// No block is allocated.
    fn is_empty(&self) -> bool;
}

impl Heap for Tlsf<Vec<Node<()>>, (), GRANULE> {
    type Block = Block;

    fn new() -> Self {
        let mut heap = Self::new(vec![Node::new(()); BLOCKS], ());
        // Without a range it has room for nothing, and the first block fails.
        let _ = heap.add_range(0, u64::from(GRANULES) * GRANULE, ());
        heap
    }

    fn allocate(&mut self, size: u64) -> Option<Block> {
        Self::allocate(self, size, 1, ()).ok()
    }

    fn free(&mut self, block: Block) -> bool {
        Self::free(self, block, ()).is_ok()
    }

    fn offset(block: Block) -> u64 {
        block.offset()
    }

    fn is_empty(&self) -> bool {
        self.usage().used_bytes == 0
    }
}

/// Makes a size of a random number.
type Draw = fn(u64) -> u64;

/// How sizes are drawn.
const SIZES: [(&str, Draw); 3] = [
    ("1 B to 64 KiB", |random| 1 + random % (1 << 16)),
    ("256 B to 32 MiB, each power of two alike", |random| {
        let power = random % 17;
        (GRANULE << power) + (random >> 8) % (GRANULE << power)
    }),
    ("256 B to 1 MiB in steps of 256", |random| {
        GRANULE * (1 + random % 4096)
    }),
];

/// The rows of one heap after those of the others.
pub(super) struct Heaps<'t> {
    traces: &'t [(String, Trace)],
    pub(super) cases: Vec<Case>,
    /// Row, value in MiB.
    pub(super) peaks: Vec<(String, f64)>,
}

/// Adds the rows of how high the addresses go, and returns those that take time.
pub(super) fn cases(figures: &mut Figures, options: &Options) -> Result<Vec<Case>, Error> {
    let refused = |problem| match problem {
        Problem::Unread(name, error) => Error::Trace(name, error),
        Problem::Alike(name) => Error::SameName(name),
    };
    let mut traces = vec![traces::bundled().map_err(refused)?];
    traces.extend(traces::read(&options.traces, true).map_err(refused)?);
    figures.notes.extend(traces::lacks(&traces));
    let mut heaps = Heaps {
        traces: &traces,
        cases: vec![],
        peaks: vec![],
    };
    heaps.add::<Tlsf<Vec<Node<()>>, (), GRANULE>>(TLSF)?;
    #[cfg(feature = "peers")]
    super::peers::heaps(&mut heaps)?;
    for (name, mebibytes) in heaps.peaks {
        if options.wants(&name) {
            figures.push(&name, "MiB", &[mebibytes], None);
        }
    }
    Ok(heaps.cases)
}

impl Heaps<'_> {
    /// Measures a heap.
    pub(super) fn add<H: Heap>(&mut self, name: &str) -> Result<(), Error> {
        for (sizes, draw) in SIZES {
            let row = format!("{HEAP}: {name}, free + allocate, {sizes}");
            self.cases.push(pairs::<H>(row, draw));
        }
        for (trace, operations) in self.traces {
            let row = format!("{HEAP}: {name}, highest address, trace {trace}");
            let peak = highest::<H>(operations).ok_or_else(|| Error::Wrong(row.clone()))?;
            self.peaks.push((row, peak as f64 / f64::from(1 << 20)));
            let row = format!("{HEAP}: {name}, an operation, trace {trace}");
            self.cases.push(replayed::<H>(row, operations.clone()));
        }
        Ok(())
    }
}

/// One of 10 000 live blocks is freed, and another one allocated in its place.
fn pairs<H: Heap>(name: String, draw: Draw) -> Case {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        // Marsaglia's xorshift.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let drawn: Vec<_> = (0..DRAWN)
        .map(|_| (draw(next()), (next() % LIVE as u64) as usize))
        .collect();
    let mut heap = H::new();
    let blocks: Option<Vec<_>> = (0..LIVE).map(|_| heap.allocate(draw(next()))).collect();
    let state = Mutex::new((heap, blocks, 0_usize));
    Case::new(name, 1, move |turn| {
        let mut state = lock(&state);
        let (heap, blocks, from) = &mut *state;
        let blocks = blocks.as_mut()?;
        let mut wrong = false;
        let lap = turn.measure(|| {
            for (size, at) in &drawn[*from..*from + BATCH] {
                wrong |= !heap.free(blocks[*at]);
                match heap.allocate(*size) {
                    Some(block) => blocks[*at] = block,
                    None => wrong = true,
                }
            }
            *from = (*from + BATCH) % DRAWN;
            BATCH as u64
        });
        (!wrong).then_some(lap)
    })
}

/// A trace from beginning to end, and then what it has not freed.
fn replayed<H: Heap>(name: String, trace: Trace) -> Case {
    let heap = Mutex::new((H::new(), vec![None; trace.blocks()]));
    Case::new(name, 1, move |turn| {
        let mut state = lock(&heap);
        let (heap, blocks) = &mut *state;
        let mut wrong = false;
        let lap = turn.measure(|| {
            let mut operations = trace.operations().len() as u64;
            for operation in trace.operations() {
                match *operation {
                    Operation::Allocate { block, bytes, .. } => {
                        blocks[block] = heap.allocate(bytes.max(1));
                        wrong |= blocks[block].is_none();
                    }
                    Operation::Free { block, .. } => {
                        wrong |= !blocks[block].take().is_some_and(|block| heap.free(block));
                    }
                }
            }
            for block in blocks.iter_mut().filter_map(Option::take) {
                wrong |= !heap.free(block);
                operations += 1;
            }
            operations
        });
        (!wrong && heap.is_empty()).then_some(lap)
    })
}

/// The end of the highest block that there was while a trace was replayed. `None` when a
/// block does not fit, or is where another one is.
fn highest<H: Heap>(trace: &Trace) -> Option<u64> {
    let mut heap = H::new();
    let mut blocks = vec![None; trace.blocks()];
    let mut live = BTreeMap::new();
    let mut highest = 0;
    for operation in trace.operations() {
        match *operation {
            Operation::Allocate { block, bytes, .. } => {
                let bytes = bytes.max(1);
                let made = heap.allocate(bytes)?;
                let (begin, end) = (H::offset(made), H::offset(made) + bytes);
                let below = live.range(..end).next_back();
                if below.is_some_and(|(_, &end)| end > begin) || live.insert(begin, end).is_some() {
                    return None;
                }
                highest = highest.max(end.next_multiple_of(GRANULE));
                blocks[block] = Some(made);
            }
            Operation::Free { block, .. } => {
                let block = blocks[block].take()?;
                live.remove(&H::offset(block))?;
                heap.free(block).then_some(())?;
            }
        }
    }
    Some(highest)
}
