//! Copies that a future owns, awaited and dropped early.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context as Task, Poll, Wake, Waker};
use std::thread::{self, Thread};

use cupola_managers::Live;
use cupola_sim::Order;

use super::*;

/// What the future gives back in the end.
fn finished<F: Future + Unpin>(mut future: F) -> F::Output {
    loop {
        let asked = Pin::new(&mut future).poll(&mut Task::from_waker(Waker::noop()));
        match asked {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::yield_now(),
        }
    }
}

/// The same for a task that sleeps meanwhile, and asks nothing.
fn sleeping<F: Future + Unpin>(mut future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match Pin::new(&mut future).poll(&mut Task::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park_timeout(Duration::from_secs(20)),
        }
    }
}

/// Waits until the manager has this alive, whichever thread gives back the rest.
#[track_caller]
fn becomes(bench: &TestBench, is: impl Fn(&Live) -> bool) {
    let mut looks = 0..20_000;
    while !is(&bench.execution.live()) {
        assert!(looks.next().is_some(), "{:?}", bench.execution.live());
        thread::sleep(Duration::from_millis(1));
    }
}

// Without it a future would give back memory that the device still writes or reads, or none.
#[test]
fn a_transfer_gives_its_memory_back_when_it_is_done() {
    let bench = TestBench::new();
    let (stream, pool) = (bench.stream(), bench.pool(8 << 20));
    let mut pinned = bench.context.buffers().pinned::<u32>(100).unwrap();
    pinned.as_mut_slice().unwrap().fill(6);
    let mut device = pool.allocate::<u32>(100, &stream).unwrap();
    let held = hold(&stream);
    let mut up = ops::upload(pinned, &mut device, &stream).unwrap();
    let asked = Pin::new(&mut up).poll(&mut Task::from_waker(Waker::noop()));
    assert!(asked.is_pending());
    drop(held);
    let mut pinned = finished(&mut up).unwrap();
    assert!(matches!(finished(&mut up), Err(Error::Invalid { .. })));
    pinned.as_mut_slice().unwrap().fill(0);
    let down = ops::download(&device, pinned, &stream).unwrap();
    // Freed behind the copy.
    drop(device);
    let pinned = finished(down).unwrap();
    assert_eq!(pinned.as_slice().unwrap(), [6; 100]);
    let other = pool.allocate::<u32>(99, &stream).unwrap();
    let refused = ops::download(&other, pinned, &stream).map(drop);
    assert!(matches!(refused, Err(Error::Invalid { .. })));
    drop((up, other, pool, stream));
    bench.finish();
}

// Without it a task that is cancelled would wait for the device, or free memory under a copy.
#[test]
fn a_transfer_that_is_dropped_early_keeps_its_memory_and_waits_for_nothing() {
    let bench = TestBench::new();
    let (stream, pool) = (bench.stream(), bench.pool(8 << 20));
    let mut device = pool.allocate::<u32>(100, &stream).unwrap();
    let held = hold(&stream);
    let pinned = [(); 3].map(|()| bench.context.buffers().pinned::<u32>(100).unwrap());
    let [first, second, third] = pinned;
    let mut polled = ops::download(&device, first, &stream).unwrap();
    let asked = Pin::new(&mut polled).poll(&mut Task::from_waker(Waker::noop()));
    assert!(asked.is_pending());
    drop(polled);
    drop(ops::download(&device, second, &stream).unwrap());
    drop(ops::upload(third, &mut device, &stream).unwrap());
    assert_eq!(bench.execution.live().pinned, 3);
    assert_eq!(bench.faults.count(id::cuMemFreeHost), 0);
    drop(held);
    becomes(&bench, |live| live.pinned == 0);
    assert_eq!(bench.faults.count(id::cuMemFreeHost), 3);
    drop((device, pool, stream));
    bench.finish();
}

// Without it the futures of a lost context would keep its memory for ever.
#[test]
fn the_memory_of_futures_in_a_lost_context_ends_with_it() {
    let bench = TestBench::new();
    let device = bench.execution.devices().get(0).unwrap();
    let context = device.contexts().create(Default::default()).unwrap();
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let memory = pool.allocate::<u32>(100, &stream).unwrap();
    let held = hold(&stream);
    let transfers = [(); 3].map(|()| {
        let pinned = context.buffers().pinned::<u32>(100).unwrap();
        ops::download(&memory, pinned, &stream).unwrap()
    });
    let [first, second, dropped] = transfers;
    drop(dropped);
    let lost = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    for wait in [
        id::cuEventQuery,
        id::cuEventSynchronize,
        id::cuStreamSynchronize,
    ] {
        bench.faults.fail_from(wait, 1, lost);
    }
    let told = [first, second].map(|transfer| finished(transfer).unwrap_err());
    let poison = context.poison().unwrap();
    assert_eq!(told, [poison.clone(), poison]);
    becomes(&bench, |live| (live.pinned, live.buried) == (0, 3));
    bench.faults.reset();
    drop((held, memory, pool, stream, context));
    becomes(&bench, |live| (live.buried, live.abandoned) == (0, 0));
}

// Without it a wait on a machine whose streams run when the program waits or asks, and not by
// themselves, would last for ever: a flag is a load.
#[test]
fn futures_end_in_every_order_of_the_machine() {
    let seeds = (0..8).map(|seed| Machine::builder().seed(seed));
    for machine in seeds.chain([Machine::builder().order(Order::Timed)]) {
        let bench = TestBench::on(machine);
        let (stream, other) = (bench.stream(), bench.stream());
        let pool = bench.pool(8 << 20);
        let event = bench.context.events().create(Default::default()).unwrap();
        let mut device = pool.allocate::<u32>(1000, &stream).unwrap();
        let pinned = bench.context.buffers().pinned::<u32>(1000).unwrap();
        ops::fill(&mut device, 6, &stream).unwrap();
        ops::record(&event, &stream).unwrap();
        ops::wait(&other, &event).unwrap();
        let down = ops::download(&device, pinned, &stream).unwrap();
        let mut futures = [(&other).into_future(), (&event).into_future()];
        for future in &mut futures {
            assert_eq!(finished(future), Ok(()));
        }
        let pinned = sleeping(down).unwrap();
        assert_eq!(pinned.as_slice().unwrap(), [6; 1000]);
        drop((futures, pinned, device, event, pool, stream, other));
        bench.finish();
    }
}
