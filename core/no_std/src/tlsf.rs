//! A heap of offsets, with nodes in place and hooks that have a say.

use cupola_core::Tlsf;
use cupola_core::tlsf::{
    AllocateError, Block, Blocks, Damage, Entry, FreeBlock, HeapUsage, Hooks, Node, Piece,
    Place, RangeError, SplitError, Stale,
};

use crate::{length, message};

/// Merges what the same stream freed.
struct Streams;

impl Hooks for Streams {
    type Data = u32;
    /// What the stream that asks may not have.
    type Request = Option<u32>;

    const CANDIDATES: usize = 4;

    fn may_merge(&self, left: &Piece<u32>, right: &Piece<u32>) -> bool {
        left.data == right.data
    }

    fn rank(&self, request: Option<u32>, offset: u64, size: u64, data: &u32) -> Option<u64> {
        (Some(*data) != request).then_some(offset ^ size)
    }

    fn scanning(&self) {}
}

type Heap = Tlsf<[Node<u32>; 16], Streams, 256>;

fn use_heap(heap: &mut Heap, size: u64) -> Result<u64, AllocateError> {
    let one: Block = heap.allocate(size, 512, 1)?;
    let two = heap.allocate_at(1 << 19, size, 2, None)?;
    let mut sum = one.offset() + two.size() + u64::from(heap.spare_nodes());
    let place: Place<u32> = heap.look(size, 256, Some(9))?;
    let three = heap.take(place, place.data, Some(9))?;
    sum += three.offset() + u64::from(heap.free(three, 1).is_ok());
    let (left, right) = match heap.split(two, 256) {
        Ok(parts) => parts,
        Err(SplitError::Stale | SplitError::Misfit | SplitError::NoNodes) => (two, two),
    };
    let two = left;
    sum += u64::from(heap.remove(right).is_ok());
    let (four, was) = heap.allocate_below(size, 256, 1, Some(9), place.rank)?;
    sum += u64::from(was) + u64::from(heap.free(four, 1).is_ok());
    let freed: Result<FreeBlock, Stale> = heap.free(one, 3).and(heap.free(two, 3));
    sum += freed.map_or_else(
        |stale| message(&stale) as u64,
        |free| {
            let piece: Option<Piece<u32>> = heap.piece(free);
            heap.update_free(|_| 4);
            length(format_args!("{free:?} {piece:?}")) as u64
        },
    );
    Ok(sum)
}

/// Uses a heap with hooks.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_tlsf(size: u64) -> u64 {
    let mut heap = Heap::new([Node::new(0); 16], Streams);
    let added: Result<FreeBlock, RangeError> = heap.add_range(0, 1 << 20, 0);
    let mut sum = added.map_or_else(|refusal| message(&refusal) as u64, |_| 0);
    sum += use_heap(&mut heap, size).unwrap_or_else(|refusal| message(&refusal) as u64);
    let blocks: Blocks<'_, u32> = heap.blocks();
    for entry in blocks.rev() {
        sum += match entry {
            Entry::Used(block, data) => block.offset() + u64::from(data),
            Entry::Free(_, piece) => piece.size,
        };
    }
    let whole: Result<(), Damage> = heap.check();
    sum += whole.map_or_else(|damage| message(&damage) as u64, |()| 0);
    sum += u64::from(heap.coalesce_all());
    sum += u64::from(heap.coalesce_by(|_, left, right| left.size < right.size));
    let usage: HeapUsage = heap.usage();
    sum + length(format_args!("{usage:?}")) as u64
}

/// Uses a heap without hooks.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_plain_tlsf(size: u64, align: u64) -> u64 {
    let mut heap = Tlsf::<[Node; 8]>::new([Node::new(()); 8], ());
    let added = heap.add_range(0, 1 << 30, ()).is_ok();
    let block = heap.allocate(size, align, ());
    let freed = block.map(|block| heap.free(block, ()).is_ok());
    length(format_args!("{block:?} {freed:?} {added}")) as u64 + heap.usage().largest_free
}
