//! Stores of words, and the slots that a caller keeps at hand.

use core::ptr::NonNull;

use cupola_core::{
    Bits, Chunk, ChunkSource, FixedWords, Handle, Hot, InWord, Layout, Payload, Policy, Reuse,
    SlotCache, Slots, Tag, ValueOf, With, WordPool, tag,
};

use crate::{length, message};

/// The address of an object of a driver's.
#[derive(Clone, Copy)]
struct Address(u64);

impl Bits for Address {
    fn to_bits(self) -> u64 {
        self.0
    }

    fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
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

static WORDS: FixedWords<Address, 130, tag::Function> = FixedWords::new();
static POOL: WordPool<u32, Nothing, tag::Module> = WordPool::new(Nothing);

fn pass<L, G, R>(store: &Slots<L, G, With<R>>, value: ValueOf<L>) -> u64
where
    L: Layout,
    G: Tag,
    R: Reuse,
    With<R>: Policy,
{
    let mut cache: SlotCache<'_, L, G, With<R>> = store.cache(3);
    let handle = match cache.insert(value) {
        Ok(handle) => handle,
        Err(refusal) => return message(&refusal) as u64,
    };
    let released = cache
        .release(handle)
        .map(|released| released.now().is_some());
    let text = length(format_args!("{cache:?} {released:?}"));
    cache.flush();
    (text + cache.len()) as u64 + u64::from(cache.is_empty())
}

fn look<L, G, W>(store: &Slots<L, G>, handle: Result<Handle<G>, impl Sized>) -> u64
where
    L: Layout<Cell = InWord<W>>,
    G: Tag,
    W: Bits,
{
    let word = handle
        .ok()
        .map(|handle| store.peek(handle).map(Bits::to_bits));
    word.map_or(0, |word| {
        word.unwrap_or_else(|refusal| message(&refusal) as u64)
    })
}

/// Uses stores of words, with and without a cache.
#[unsafe(no_mangle)]
pub extern "C" fn cupola_words(number: u64) -> u64 {
    let words = look(&WORDS, WORDS.insert(Address(number)));
    let pool = look(&POOL, POOL.insert(7));
    words + pool + pass::<_, _, Hot>(&WORDS, Address(number)) + pass::<_, _, Hot>(&POOL, 8)
}
