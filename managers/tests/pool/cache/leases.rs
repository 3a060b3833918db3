//! A stream lives as long as a user or a buffer has a lease of it, whatever threads have in stock.

use std::sync::Arc;
use std::sync::mpsc::channel;

use cupola_managers::Buffer;
use quickcheck::quickcheck;

use crate::*;

/// More than a thread needs before it has leases in stock, and grows that twice.
const MANY: usize = 100;

fn allocate(pool: &MemoryPool, stream: &Stream) -> Buffer<u8> {
    pool.allocate(1 << 10, stream).unwrap()
}

/// Has this thread take leases of the stream in stock.
fn stock_up(pool: &MemoryPool, stream: &Stream) {
    for _ in 0..MANY {
        drop(allocate(pool, stream));
    }
    let several: Vec<_> = (0..MANY).map(|_| allocate(pool, stream)).collect();
    drop(several);
}

// Without it a thread that has used a stream's buffers would keep the stream as long as it runs.
#[test]
fn a_stream_ends_with_its_last_user_beside_the_stock_of_another_thread() {
    on_both(|bench| {
        let (pool, stream) = (bench.pool(32 << 20), bench.stream());
        let (streams, handle) = (bench.context.streams(), stream.handle());
        let (done, is_done) = channel();
        let (end, ended) = channel::<()>();
        let other = std::thread::spawn({
            let (pool, stream) = (pool.clone(), stream.clone());
            move || {
                stock_up(&pool, &stream);
                drop(stream);
                done.send(()).unwrap();
                let _ = ended.recv();
            }
        });
        is_done.recv().unwrap();
        stock_up(&pool, &stream);
        assert!(streams.is_alive(handle));
        drop(stream);
        assert!(!streams.is_alive(handle), "a stock keeps it");
        assert_eq!(streams.live(), 0);
        // The other thread's cache serves the next life.
        let again = bench.stream();
        stock_up(&pool, &again);
        drop(again);
        assert_eq!(streams.live(), 0);
        drop(end);
        other.join().unwrap();
        drop(pool);
        bench.finish();
    });
}

// Without it a buffer could lose its stream, or one that is freed by another thread keep it.
#[test]
fn buffers_keep_their_stream_on_whatever_thread_they_end() {
    on_both(|bench| {
        let (pool, stream) = (bench.pool(32 << 20), bench.stream());
        let streams = bench.context.streams();
        stock_up(&pool, &stream);
        let mut buffers: Vec<_> = (0..MANY).map(|_| allocate(&pool, &stream)).collect();
        let handle = stream.handle();
        drop(stream);
        assert!(streams.is_alive(handle));
        // A stock that begins with a buffer's own lease.
        let last = buffers.pop().unwrap();
        let more: Vec<_> = (0..MANY).map(|_| allocate(&pool, last.stream())).collect();
        std::thread::scope(|scope| scope.spawn(|| drop(buffers)).join()).unwrap();
        drop(more);
        assert!(streams.is_alive(handle));
        assert_eq!(last.stream().handle(), handle);
        drop(last);
        assert_eq!(streams.live(), 0);
        drop(pool);
        bench.finish();
    });
}

// Without it a shutdown would list leases that no caller has, and a release that was the last use
// leave the stream to the thread that has it in stock.
#[test]
fn leases_in_stock_are_no_callers() {
    on_both(|bench| {
        let pool = bench.pool(32 << 20);
        let streams = bench.context.streams();
        let held = streams.create_held(Default::default()).unwrap();
        let handle = held.handle();
        stock_up(&pool, &held);
        drop(held);
        assert!(streams.is_alive(handle));
        streams.release(handle).unwrap();
        assert_eq!(streams.live(), 0);

        let stream = bench.stream();
        stock_up(&pool, &stream);
        let buffer = allocate(&pool, &stream);
        let report = streams.shutdown();
        let leases: Vec<_> = report.leased.iter().map(|leased| leased.leases).collect();
        assert_eq!(leases, [2], "{report}");
        drop((buffer, stream));
        assert_eq!(streams.live(), 0);
        drop(pool);
        bench.finish();
    });
}

// Without it the end of a pool or of a thread could lose the leases that were in stock.
#[test]
fn pools_and_threads_that_end_give_their_stock_back() {
    on_both(|bench| {
        let stream = bench.stream();
        let streams = bench.context.streams();
        for _ in 0..3 {
            let pool = bench.pool(32 << 20);
            std::thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| stock_up(&pool, &stream));
                }
            });
            stock_up(&pool, &stream);
        }
        drop(stream);
        assert_eq!(streams.live(), 0);
        bench.finish();
    });
}

// Without it threads that take stocks back and begin them at once could end a stream under a
// buffer, or keep it for ever.
#[test]
fn many_threads_begin_stocks_while_users_go() {
    on_both(|bench| {
        let pool = bench.pool(64 << 20);
        for _ in 0..50 {
            let pool = &pool;
            let stream = Arc::new(bench.stream());
            std::thread::scope(|scope| {
                let threads = [(); 4].map(|()| {
                    let stream = Arc::clone(&stream);
                    scope.spawn(move || {
                        let mine = Stream::clone(&stream);
                        drop(stream);
                        let kept = allocate(pool, &mine);
                        for _ in 0..20 {
                            drop(allocate(pool, &mine));
                        }
                        drop(mine);
                        for _ in 0..20 {
                            drop(allocate(pool, kept.stream()));
                        }
                    })
                });
                drop(stream);
                // A scope does not wait for what a thread does as it ends: a cache that is given
                // back just then has leases that no other thread can ask for.
                for thread in threads {
                    thread.join().unwrap();
                }
            });
            assert_eq!(bench.context.streams().live(), 0);
        }
        drop(pool);
        bench.finish();
    });
}

// Without it some order of users and buffers that come and go could keep a stream that has none, or
// end one that has.
#[test]
fn a_stream_is_alive_as_long_as_it_has_a_user_or_a_buffer() {
    fn property(steps: Vec<(u8, bool, u8)>) -> bool {
        let bench = bench_on(Backing::Pages);
        let pool = bench.pool(64 << 20);
        let streams = bench.context.streams();
        // What keeps each of two streams.
        let mut kept: [(Vec<Stream>, Vec<Buffer<u8>>); 2] = Default::default();
        for (what, which, count) in steps {
            let (users, buffers) = &mut kept[usize::from(which)];
            let count = usize::from(count % 40);
            let known = || {
                users
                    .first()
                    .or_else(|| buffers.first().map(Buffer::stream))
            };
            match what % 5 {
                0 => {
                    let user = known().cloned().unwrap_or_else(|| bench.stream());
                    users.push(user);
                }
                1 => drop(users.pop()),
                2 => {
                    let from = known().cloned();
                    let more = from
                        .iter()
                        .flat_map(|from| std::iter::repeat_n(from, count));
                    buffers.extend(more.map(|from| allocate(&pool, from)));
                }
                3 => {
                    let more = known()
                        .into_iter()
                        .flat_map(|from| std::iter::repeat_n(from, count));
                    more.for_each(|from| drop(allocate(&pool, from)));
                }
                _ => buffers.truncate(buffers.len().saturating_sub(count)),
            }
            let is_kept = |(users, buffers): &&(Vec<Stream>, Vec<Buffer<u8>>)| {
                !(users.is_empty() && buffers.is_empty())
            };
            if streams.live() != kept.iter().filter(is_kept).count() {
                return false;
            }
        }
        drop((kept, pool));
        bench.finish();
        true
    }
    quickcheck(property as fn(Vec<(u8, bool, u8)>) -> bool);
}
