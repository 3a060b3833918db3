//! What a launch costs beside the driver's call: no allocation, and no call but the question which
//! context is current.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use cupola_managers::ops::{self, In, InOut, Kernel, LaunchConfig};
use cupola_sys::driver::id;

use super::Bench;

/// Counts the allocations of each thread.
struct Counting;

std::thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does it all.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's conditions are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's conditions are the same.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The fewest allocations of a call, of many.
fn fewest(mut call: impl FnMut()) -> u64 {
    let each = |_| {
        let before = ALLOCATIONS.get();
        call();
        ALLOCATIONS.get() - before
    };
    (0..100).map(each).min().unwrap_or(u64::MAX)
}

const PTX: &str = "
.visible .entry nothing(.param .u64 n, .param .f32 a, .param .u32 b, .param .u64 x, .param .u64 y) { ret; }
";

// Without it a launch could allocate, or ask the driver for something each time.
#[test]
fn a_launch_allocates_nothing_and_makes_two_calls() {
    let bench = Bench::new();
    let function = bench.function(PTX, "nothing");
    type Nothing = (u64, f32, u32, In<f32>, InOut<f32>);
    // SAFETY: the parameters are these.
    let kernel = unsafe { Kernel::<Nothing>::new(function.clone()) }.unwrap();
    let (pool, stream) = (bench.base.pool(8 << 20), &bench.stream);
    let x = pool.zeros::<f32>(8, stream).unwrap();
    let mut y = pool.zeros::<f32>(8, stream).unwrap();
    let (grid, driver, raw) = (
        LaunchConfig::linear(1, 1),
        bench.base.context.driver(),
        stream.as_raw(),
    );
    let (mut n, mut a, mut b) = (1_u64, 2.0_f32, 3_u32);
    let (mut from, mut to) = (x.as_raw(), y.as_raw());
    let by_hand = fewest(|| {
        let mut pointers = [
            (&raw mut n).cast(),
            (&raw mut a).cast(),
            (&raw mut b).cast(),
            (&raw mut from).cast(),
            (&raw mut to).cast(),
        ];
        // SAFETY: the pointers lead to values of the kernel's parameters; it touches nothing.
        unsafe {
            let (pointers, none) = (pointers.as_mut_ptr(), std::ptr::null_mut());
            driver.cuLaunchKernel(function.as_raw(), 1, 1, 1, 1, 1, 1, 0, raw, pointers, none)
        }
        .unwrap();
    });
    // SAFETY: here and below: the kernel touches nothing.
    let typed = fewest(|| unsafe { kernel.launch(grid, (1, 2.0, 3, &x, &mut y), stream) }.unwrap());
    let tuple = fewest(|| {
        // SAFETY: as above.
        unsafe { ops::launch(&function, grid, (1_u64, 2.0_f32, 3_u32, &x, &mut y), stream) }
            .unwrap();
    });
    assert_eq!((typed, tuple), (by_hand, by_hand));

    ops::synchronize(stream).unwrap();
    bench.base.faults.reset();
    // SAFETY: as above.
    unsafe { kernel.launch(grid, (1, 2.0, 3, &x, &mut y), stream) }.unwrap();
    let calls: Vec<_> = bench.base.faults.counts().into_iter().collect();
    assert_eq!(calls, [(id::cuLaunchKernel, 1)]);
    bench.finish((kernel, function, x, y, pool));
}
