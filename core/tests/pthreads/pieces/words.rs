//! Words that are looked at without a lease, put in and taken out through caches.

use std::sync::atomic::{AtomicU64, Ordering};

use cupola_core::{Handle, Hot, Late, Policy, Release, Reuse, With, WordPool, tag};

use super::boxes::Boxes;
use super::{Plain, ROUNDS, THREADS, together};

/// Would race if a word could be seen before what was done for it, or if a slot were in
/// two caches.
pub(crate) fn words_of_caches() {
    pass::<Hot>();
    pass::<Late>();
}

fn pass<R: Reuse>()
where
    With<R>: Policy,
{
    let store = WordPool::<u64, Boxes, tag::Slot, 64, With<R>>::new(Boxes::new(6));
    // Each word is the place of a note that is written before the word is put in.
    let notes: Vec<_> = (0..THREADS * ROUNDS).map(|_| Plain::default()).collect();
    let shown = [const { AtomicU64::new(0) }; THREADS];
    together(THREADS, &|thread| {
        let mut cache = store.cache(thread);
        for round in 0..ROUNDS {
            let word = thread * ROUNDS + round;
            notes[word].write(word as u64 + 1);
            if let Ok(handle) = cache.insert(word as u64) {
                shown[thread].store(handle.to_bits(), Ordering::Relaxed);
            }
            let other = &shown[(thread + round) % THREADS];
            let Some(handle) = Handle::from_bits(other.load(Ordering::Relaxed)) else {
                continue;
            };
            if let Ok(word) = store.peek(handle) {
                assert_eq!(notes[word as usize].read(), word + 1);
            }
            let released = match round % 2 {
                0 => cache.release(handle),
                _ => store.release(handle),
            };
            if let Ok(Release::Now(word)) = released {
                assert_eq!(notes[word as usize].read(), word + 1);
            }
            if round % 64 == 0 {
                cache.flush();
            }
        }
    });
    store.close();
    assert!(store.drain(|_, _| ()).is_empty());
}
