//! What an execution costs in calls of the driver and in memory of the host.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeMap;

use cupola_kernels::executor::{Executor, ExecutorConfig};
use cupola_managers::module::Function;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::{Context, ExecutionManager};
use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;
use cupola_sys::SymbolId;
use cupola_sys::driver::{CUresult, id};

/// Counts what each thread asks of the system's allocator.
struct Counting;

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: all that it promises the system's allocator does; counting changes no memory of a caller's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends has nothing more to count.
        let _ = ASKED.try_with(|asked| asked.set(asked.get() + 1));
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract, and `alloc` had the block from there.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const ONE: LaunchConfig = LaunchConfig::linear(1, 1);

fn open() -> (Function, Context, FaultTable) {
    let table = FaultTable::new(Machine::builder().build().driver());
    let execution = ExecutionManager::new(table.driver()).unwrap();
    let context = execution.devices().get(0).unwrap().primary().unwrap();
    let ptx = ".version 7.0 .target sm_60 .address_size 64 .visible .entry nothing() { ret; }";
    let module = context.modules().load_ptx(ptx).unwrap();
    (module.function("nothing").unwrap(), context, table)
}

/// The calls that `work` makes.
fn calls(table: &FaultTable, work: impl FnOnce()) -> BTreeMap<SymbolId, u64> {
    table.reset();
    work();
    table.counts()
}

// Without it an execution could ask, record or synchronise behind its caller's back.
#[test]
fn an_untimed_execution_makes_the_calls_of_its_launch() {
    let (nothing, context, table) = open();
    let executor = Executor::new(&context, ExecutorConfig::streams(2)).unwrap();
    let stream = context.streams().create(Default::default()).unwrap();
    // SAFETY: the kernel takes nothing and touches nothing.
    let launch = || unsafe { ops::launch(&nothing, ONE, (), &stream) }.unwrap();
    // SAFETY: the same.
    let execute = || drop(unsafe { executor.launch(&nothing, ONE, ()) }.unwrap());
    (0..10).for_each(|_| execute());
    let plain = calls(&table, || (0..100).for_each(|_| launch()));
    let executed = calls(&table, || (0..100).for_each(|_| execute()));
    assert_eq!(executed, plain);
    assert_eq!(executed[&id::cuLaunchKernel], 100);
    // Timed it makes four events more, and asks whether it is captured for the last.
    let timed = || {
        // SAFETY: the same.
        let put = unsafe { executor.request().timed().launch(&nothing, ONE, ()) };
        put.unwrap().wait().unwrap();
    };
    (0..10).for_each(|_| timed());
    let timed = calls(&table, || (0..100).for_each(|_| timed()));
    assert_eq!(timed[&id::cuEventRecord], 400);
    assert_eq!(timed.get(&id::cuEventElapsedTime), None, "until it is read");
    assert_eq!(timed.get(&id::cuStreamSynchronize), None);
}

// Without it executions could take memory of the host, which stalls or grows a program that runs for days.
#[test]
fn an_untimed_execution_allocates_nothing() {
    let (nothing, context, table) = open();
    let executor = Executor::new(&context, ExecutorConfig::streams(3)).unwrap();
    let asked_by = |executions: u32| {
        let before = ASKED.get();
        for execution in 0..executions {
            // SAFETY: the kernel takes nothing and touches nothing.
            let put = unsafe { executor.launch(&nothing, ONE, ()) }.unwrap();
            if execution % 5 == 0 {
                put.wait().unwrap();
            }
        }
        ASKED.get() - before
    };
    asked_by(1000);
    // The software device has memory of its own for each operation: so nothing gets that far.
    for function in [
        id::cuLaunchKernel,
        id::cuEventRecord,
        id::cuEventSynchronize,
        id::cuEventQuery,
        id::cuStreamIsCapturing,
    ] {
        table.fail_from(function, 1, CUresult::CUDA_SUCCESS);
    }
    asked_by(1000);
    let (few, many) = (asked_by(10), asked_by(1010));
    assert_eq!((few, many), (0, 0));
}
