//! Both stores, with values that need dropping.

use core::sync::atomic::{AtomicU64, Ordering};

use cupola_core::{
    ChunkArray, FixedSlots, Grown, Handle, HandleError, Held, InCell, InPlace, InsertError,
    Layout, Lease, Release, SlotPool, Slots, Tag, Vacancy, tag,
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
static POOL: SlotPool<Value, Source, tag::Event, 4> = SlotPool::new(&CHUNKS);

/// What a pool of values without a heap borrows its chunks from.
type Source = &'static ChunkArray<InCell<Value>, 4>;
static CHUNKS: ChunkArray<InCell<Value>, 4> = ChunkArray::new();

fn put<L: Layout<Cell = InCell<Value>>, G: Tag>(
    store: &Slots<L, G>,
    number: u64,
) -> Result<Handle<G>, InsertError<Value>> {
    let vacancy: Vacancy<'_, InCell<Value>, G> = match store.vacancy() {
        Ok(vacancy) => vacancy,
        Err(_) => return store.insert_near(number as usize, Value(number)),
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
    sum + length(format_args!("{store:?} {held:?} {CHUNKS:?}")) as u64
}

fn end<L: Layout<Cell = InCell<Value>>, G: Tag>(store: &Slots<L, G>) -> u64 {
    store.close();
    let mut sum = store.live() as u64 + store.capacity() as u64;
    let held = store.drain(|handle, value| sum += handle.to_bits() + value.0);
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
    let grown: Slots<Grown<InCell<Value>, Source, 1>> = SlotPool::new(&CHUNKS);
    live(&fixed, number) + live(&grown, number) + end(&FIXED) + end(&POOL)
}
