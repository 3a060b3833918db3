//! What becomes of executions when something fails.

use cupola_kernels::executor::{Executor, ExecutorConfig};
use cupola_managers::module::Function;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::{Context, Error, ExecutionManager};
use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;
use cupola_sys::driver::{CUresult, id};

use super::common::assert_nothing_left;
use super::hold;

const PTX: &str = "
    .version 7.0
    .target sm_60
    .address_size 64
    .visible .entry nothing() { ret; }
    .visible .entry wild() { .reg .u64 %a; mov.u64 %a, 3735879680; st.global.u32 [%a], 1; ret; }
";

struct Bench {
    nothing: Function,
    wild: Function,
    executor: Executor,
    context: Context,
    execution: ExecutionManager,
    faults: FaultTable,
}

impl Bench {
    fn new(streams: usize) -> Self {
        let machine = Machine::builder().worker_threads(2).build();
        let faults = FaultTable::new(machine.driver());
        let execution = ExecutionManager::new(faults.driver()).unwrap();
        let context = execution.devices().get(0).unwrap().primary().unwrap();
        let module = context.modules().load_ptx(PTX).unwrap();
        Self {
            nothing: module.function("nothing").unwrap(),
            wild: module.function("wild").unwrap(),
            executor: Executor::new(&context, ExecutorConfig::streams(streams)).unwrap(),
            context,
            execution,
            faults,
        }
    }
}

const ONE: LaunchConfig = LaunchConfig::linear(1, 1);

// Without it the failure of a kernel could stay unknown, or each execution tell another cause.
#[test]
fn a_kernel_that_fails_fails_its_batch_with_one_cause() {
    let bench = Bench::new(2);
    let gate = bench.executor.execute(hold).unwrap();
    let kernels = [&bench.nothing, &bench.nothing, &bench.wild, &bench.nothing];
    let request = bench.executor.request();
    // Behind the gate, so that all of them are put before one fails.
    let fences = [gate.fence()];
    let batch = request.after(&fences).batch(kernels.map(|kernel| {
        // SAFETY: the kernels take nothing, and what the wild one touches the device refuses.
        move |stream: &_| unsafe { ops::launch(kernel, ONE, (), stream) }
    }));
    assert!(batch.refusal().is_none());
    let timed = request.timed().after(&fences).execute(|_| Ok(())).unwrap();
    drop(gate);
    let error = batch.join().unwrap_err();
    assert!(error.was_put && error.index <= 2, "{error}");
    let Error::Poisoned { first, .. } = timed.wait().unwrap_err() else {
        panic!("the context is lost");
    };
    assert_eq!(error.error.cause(), Some(&*first), "the one cause");
    let status = first.call.status();
    assert_eq!(status, Some(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    assert!(matches!(timed.times(), Err(Error::Poisoned { .. })));
    // Each later execution, put or not.
    for _ in 0..2 {
        let refused = bench.executor.execute(|_| Ok(())).unwrap_err();
        assert_eq!(refused.cause(), Some(&*first));
        let refused = bench.executor.request().timed().execute(|_| Ok(()));
        assert_eq!(refused.unwrap_err().cause(), Some(&*first));
    }
    assert_eq!(bench.executor.trace().unread, 1);
}

// Without it a handle whose context went could hang, or say that its work is done.
#[test]
fn a_context_may_be_shut_down_between_put_and_wait() {
    let bench = Bench::new(1);
    let release = bench.executor.execute(hold).unwrap();
    let timed = bench.executor.request().timed().execute(|_| Ok(3)).unwrap();
    let report = bench.context.streams().shutdown();
    assert!(!report.leased.is_empty(), "the executor has streams");
    drop(release);
    // What was put ends.
    assert_eq!(timed.join().unwrap(), 3);
    // The streams that it has go on; there are no new ones.
    bench.executor.execute(|_| Ok(())).unwrap().wait().unwrap();
    let watch = bench.execution.watch();
    drop(bench);
    assert_nothing_left(&watch);
}

// Without it the refusal of one step of a timed execution could leave events leased, or the next one
// without a stream.
#[test]
fn a_refused_step_is_told_and_the_next_execution_is_as_ever() {
    let bench = Bench::new(1);
    let put = || {
        let request = bench.executor.request().timed();
        // SAFETY: the kernel takes nothing and touches nothing.
        unsafe { request.launch(&bench.nothing, ONE, ()) }?.times()
    };
    put().unwrap();
    let events = bench.context.events().live();
    for function in [
        id::cuEventRecord,
        id::cuLaunchKernel,
        id::cuEventElapsedTime,
    ] {
        for call in 1.. {
            bench.faults.reset();
            bench
                .faults
                .fail(function, call, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
            let done = put();
            if bench.faults.count(function) < call {
                done.unwrap();
                assert!(call > 1, "{function:?} is never called");
                break;
            }
            let status = done.unwrap_err().status();
            assert_eq!(status, Some(CUresult::CUDA_ERROR_OUT_OF_MEMORY));
        }
        bench.faults.reset();
        put().unwrap();
    }
    assert!(put().unwrap().is_some());
    // All events but those of executions that were put and not read went back.
    let unread = bench.executor.trace().unread;
    assert_eq!((bench.context.events().live(), unread), (events, 0));
}
