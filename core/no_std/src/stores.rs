//! Both stores, with values that need dropping.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use cupola_core::{
    Chunk, ChunkSource, FixedSlots, Grown, Handle, HandleError, Held, InCell, InPlace,
    InsertError, Layout, Lease, Payload, Release, SlotPool, Slots, Tag, Vacancy, ValueOf, tag,
};

use crate::{length, message};

/// Values that have been destroyed.
static ENDED: AtomicU64 = AtomicU64::new(0);

/// A value that needs dropping.
struct Value(u64);

impl Drop for Value {
    fn drop(&mut self) {
        ENDED.fetch_add(self.0, Ordering::Relaxed);
    }
}

static FIXED: FixedSlots<Value, 100, tag::Stream> = FixedSlots::new();
static POOL: SlotPool<Value, Source, tag::Event, 4> = SlotPool::new(Source);

static CHUNK: Chunk<InCell<Value>> = Chunk::new();
static LENT: AtomicBool = AtomicBool::new(false);

/// Lends the one chunk there is, once: a source without a heap.
struct Source;

// SAFETY: a chunk of a `static` stays where it is and is valid for ever. `LENT` is never cleared,
// so the chunk is lent once, as it was made, and nothing else here uses it.
unsafe impl ChunkSource<InCell<Value>> for Source {
    fn lend(&self) -> Option<NonNull<Chunk<InCell<Value>>>> {
        (!LENT.swap(true, Ordering::Relaxed)).then(|| NonNull::from(&CHUNK))
    }

    unsafe fn take_back(&self, _: NonNull<Chunk<InCell<Value>>>) {}
}

/// Has nothing to lend.
struct Nothing;

// SAFETY: it lends nothing.
unsafe impl<C: Payload> ChunkSource<C> for Nothing {
    fn lend(&self) -> Option<NonNull<Chunk<C>>> {
        None
    }

    unsafe fn take_back(&self, _: NonNull<Chunk<C>>) {}
}

fn put<L: Layout<Cell = InCell<Value>>, G: Tag>(
    store: &Slots<L, G>,
    number: u64,
) -> Result<Handle<G>, InsertError<Value>> {
    let vacancy: Vacancy<'_, InCell<Value>, G> = match store.vacancy() {
        Ok(vacancy) => vacancy,
        Err(_) => return store.insert(Value(number)),
    };
    let text = length(format_args!("{vacancy:?} {:?}", vacancy.handle()));
    vacancy.fill(Value(number + text as u64))
}

/// Everything that a store can do; the sum keeps it all alive.
fn live<L: Layout<Cell = InCell<Value>>, G: Tag>(store: &Slots<L, G>, number: u64) -> u64 {
    let handle = match put(store, number) {
        Ok(handle) => handle,
        Err(refusal) => {
            return message(&refusal) as u64 + refusal.into_value().0;
        }
    };
    let mut sum = store.iter().map(Handle::to_bits).sum::<u64>();
    let lease: Result<Lease<'_, Value, G>, HandleError> = store.get(handle);
    match (store.release(handle), lease) {
        (Ok(Release::Now(value)), _) => sum += value.0,
        (Ok(released @ (Release::Deferred | Release::Empty)), Ok(lease)) => {
            sum += length(format_args!("{released:?} {lease:?} {:?}", lease.handle())) as u64;
            sum += lease.0;
            sum += lease.release().map_or(0, |value| value.0);
        }
        (Ok(_), Err(refusal)) | (Err(refusal), _) => sum += message(&refusal) as u64,
    }
    while let Some((handle, value)) = store.reap() {
        sum += handle.to_bits() + value.0;
    }
    let held: Held = store.held();
    sum + length(format_args!("{store:?} {held:?} {CHUNK:?}")) as u64
}

fn end<L: Layout<Cell = InCell<Value>>, G: Tag>(store: &Slots<L, G>) -> u64 {
    store.close();
    let mut sum = store.live() as u64 + store.capacity() as u64;
    let held = store.drain(|handle, value: ValueOf<L>| sum += handle.to_bits() + value.0);
    sum + held.leases + u64::from(store.is_closed() && held.is_empty())
}

/// Uses both stores as statics.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_stores(number: u64) -> u64 {
    live(&FIXED, number) + live(&POOL, number) + ENDED.load(Ordering::Relaxed)
}

/// Closes both stores, and drops two of their kind.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_end_stores(number: u64) -> u64 {
    let fixed: Slots<InPlace<InCell<Value>, 3>> = FixedSlots::new();
    let grown: Slots<Grown<InCell<Value>, Nothing, 1>> = SlotPool::new(Nothing);
    live(&fixed, number) + live(&grown, number) + end(&FIXED) + end(&POOL)
}
