//! The pool that grows: lending, looking and closing at the same time.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use cupola_core::{Chunk, ChunkSource, Handle, HandleError, InsertError, Payload, SlotPool, tag};
use loom::sync::Arc;
use loom::sync::atomic::AtomicU64;
use loom::thread;

use super::{Ended, Value, model};

/// Boxed chunks, counted.
struct Boxes(std::sync::Arc<AtomicUsize>);

// SAFETY: a boxed chunk stays where it is, and `into_raw` leaves it to the pool alone.
unsafe impl<C: Payload> ChunkSource<C> for Boxes {
    fn lend(&self) -> Option<NonNull<Chunk<C>>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        NonNull::new(Box::into_raw(Box::new(Chunk::new())))
    }

    unsafe fn take_back(&self, chunk: NonNull<Chunk<C>>) {
        self.0.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: it comes from `lend`, so from `Box::into_raw`, and comes back once.
        drop(unsafe { Box::from_raw(chunk.as_ptr()) });
    }
}

type Pool<const CHUNKS: usize> = SlotPool<Value, Boxes, tag::Slot, CHUNKS>;

/// A pool, and the number of chunks that are lent to it.
fn pool<const CHUNKS: usize>() -> (Arc<Pool<CHUNKS>>, std::sync::Arc<AtomicUsize>) {
    let lent = std::sync::Arc::new(AtomicUsize::new(0));
    (Arc::new(Pool::new(Boxes(lent.clone()))), lent)
}

/// Would break if a chunk were published relaxed: its slots would be seen before they are
/// initialised. The chunk is made by the thread that inserts, and the handle is passed
/// without any ordering of its own.
#[test]
fn a_chunk_is_seen_initialised() {
    model(&["not yet", "chunk not seen", "leased"], |seen| {
        let ended = Ended::default();
        let (pool, _) = pool::<1>();
        let passed = Arc::new(AtomicU64::new(0));
        let other = {
            let (pool, passed, ended) = (Arc::clone(&pool), Arc::clone(&passed), ended.clone());
            thread::spawn(move || {
                let handle = pool.insert(Value::new(1, &ended)).unwrap();
                passed.store(handle.to_bits(), Ordering::Relaxed);
            })
        };
        match Handle::from_bits(passed.load(Ordering::Relaxed)).map(|handle| pool.get(handle)) {
            None => seen.note("not yet"),
            Some(Ok(lease)) => {
                assert_eq!(lease.read(), 1);
                seen.note("leased");
            }
            Some(Err(refusal)) => {
                assert_eq!(refusal, HandleError::Stale);
                seen.note("chunk not seen");
            }
        }
        assert!(pool.live() <= 1);
        other.join().unwrap();
        assert_eq!(pool.live(), 1);
    });
}

/// Would break if the loser of the race to grow reported `Full`, or kept its chunk.
#[test]
fn two_that_grow_share_one_chunk() {
    model(&["mine first", "mine second"], |seen| {
        let ended = Ended::default();
        let (pool, lent) = pool::<1>();
        let put = {
            let (pool, ended) = (Arc::clone(&pool), ended.clone());
            move |number| {
                let handle = pool.insert(Value::new(number, &ended)).unwrap();
                assert_eq!(pool.get(handle).unwrap().read(), number);
                handle.index()
            }
        };
        let other = thread::spawn({
            let put = put.clone();
            move || put(1)
        });
        let mine = put(2);
        assert_eq!(other.join().unwrap() + mine, 1);
        seen.note(if mine == 0 {
            "mine first"
        } else {
            "mine second"
        });
        drop(put);
        assert_eq!(lent.load(Ordering::Relaxed), 1);
        assert!(matches!(
            pool.insert(Value::new(3, &ended)),
            Err(InsertError::Full(_))
        ));
        drop(pool);
        assert_eq!(lent.load(Ordering::Relaxed), 0);
    });
}

/// Would break if growth went past what is needed, or stopped short of it.
#[test]
fn three_that_need_two_chunks_get_two() {
    model(&["mine first", "mine second"], |seen| {
        let ended = Ended::default();
        let (pool, lent) = pool::<3>();
        pool.insert(Value::new(1, &ended)).unwrap();
        let other = {
            let (pool, ended) = (Arc::clone(&pool), ended.clone());
            thread::spawn(move || pool.insert(Value::new(2, &ended)).unwrap().index())
        };
        let mine = pool.insert(Value::new(3, &ended)).unwrap().index();
        assert_eq!(other.join().unwrap() + mine, 3);
        seen.note(if mine == 1 {
            "mine first"
        } else {
            "mine second"
        });
        assert_eq!(lent.load(Ordering::Relaxed), 2);
        assert_eq!(pool.live(), 3);
    });
}

/// Would break if a chunk could be added behind the back of `close`.
#[test]
fn a_closed_pool_grows_no_more() {
    grow_against_close(0);
}

/// Would break if a thread that meets the end of the table did not see that the pool is closed: it
/// would look for ever, or call the pool full.
#[test]
fn an_insert_into_a_closed_full_pool_is_told_that_it_is_closed() {
    grow_against_close(2);
}

/// Inserts into a pool with `before` values, while it is closed and drained.
fn grow_against_close(before: usize) {
    model(&["stored", "refused"], move |seen| {
        let ended = Ended::default();
        let (pool, lent) = pool::<2>();
        for _ in 0..before {
            pool.insert(Value::new(0, &ended)).unwrap();
        }
        let other = {
            let (pool, ended) = (Arc::clone(&pool), ended.clone());
            thread::spawn(move || match pool.insert(Value::new(1, &ended)) {
                Ok(_) => 1,
                Err(refusal) => {
                    assert!(matches!(refusal, InsertError::Closed(_)));
                    0
                }
            })
        };
        pool.close();
        pool.drain(|_, value| value.end());
        let drained = ended.count() - before;
        assert_eq!(drained, other.join().unwrap());
        seen.note(if drained == 1 { "stored" } else { "refused" });
        assert!(matches!(
            pool.insert(Value::new(2, &ended)),
            Err(InsertError::Closed(_))
        ));
        drop(pool);
        assert_eq!(lent.load(Ordering::Relaxed), 0);
    });
}

/// Would break if a thread could not go on while the one that added a chunk is kept from
/// saying how many there are now.
#[test]
fn a_new_chunk_can_be_used_before_its_thread_has_counted_it() {
    model(&["mine first", "mine second"], |seen| {
        let ended = Ended::default();
        let (pool, lent) = pool::<2>();
        // The first chunk is full.
        for number in 0..2 {
            pool.insert(Value::new(number, &ended)).unwrap();
        }
        let put = {
            let (pool, ended) = (Arc::clone(&pool), ended.clone());
            move |number| {
                let handle = pool.insert(Value::new(number, &ended)).unwrap();
                assert_eq!(pool.get(handle).unwrap().read(), number);
                handle.index()
            }
        };
        let other = thread::spawn({
            let put = put.clone();
            move || put(2)
        });
        let mine = put(3);
        assert_eq!(mine + other.join().unwrap(), 2 + 3);
        assert_eq!(lent.load(Ordering::Relaxed), 2);
        seen.note(if mine == 2 {
            "mine first"
        } else {
            "mine second"
        });
    });
}
