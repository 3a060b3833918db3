//! Memory that an operation has failed to write, in a context that survives the error.

use cupola_managers::buffer::{DeviceSlice, PinnedBuffer};
use cupola_managers::ops::Rectangle;
use cupola_managers::pipeline::{Pipeline, PipelineBuilder, PipelineConfig};
use cupola_managers::{CaptureConfig, Graph};
use cupola_sys::SymbolId;

use super::*;

const REFUSED: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

/// Two buffers of eight ones, and pinned memory of as many.
struct Memory {
    bench: Bench,
    from: Buffer<u32>,
    to: Buffer<u32>,
    pinned: PinnedBuffer<u32>,
}

impl Memory {
    fn new() -> Self {
        let bench = Bench::new();
        let pool = bench
            .context
            .memory_pool(PoolConfig::limit(8 << 20))
            .unwrap();
        let ones = || pool.upload(&[1u32; 8], &bench.stream).unwrap();
        Self {
            from: ones(),
            to: ones(),
            pinned: bench.context.buffers().pinned(8).unwrap(),
            bench,
        }
    }

    fn stream(&self) -> Stream {
        self.bench.stream.clone()
    }

    /// The next call of this function fails, and no other.
    fn fail(&self, function: SymbolId) {
        self.bench.table.reset();
        self.bench.table.fail(function, 1, REFUSED);
    }

    /// Launches `good`, which writes a 7 to the first element.
    #[track_caller]
    fn seven(&mut self) -> Result<()> {
        let (stream, grid) = (self.stream(), LaunchConfig::linear(1, 1));
        // SAFETY: the kernel writes the first word of the buffer.
        unsafe { ops::launch(&self.bench.good, grid, (&mut self.to,), &stream) }
    }
}

/// The call and the code that a read was refused for.
#[track_caller]
fn cause<T: std::fmt::Debug>(read: Result<T>) -> (&'static str, u32) {
    let error = read.expect_err("the memory was not written");
    assert!(matches!(error, Error::Tainted { .. }), "{error}");
    assert!(!error.is_retryable() && !error.is_sticky());
    let call = error.call().unwrap();
    assert!(
        error.to_string().contains(call.symbol().as_str()),
        "{error}"
    );
    assert!(error.to_string().contains("taints.rs"), "{error}");
    (call.symbol().as_str(), call.status().unwrap().0)
}

type Operation = fn(&mut Memory) -> Result<()>;

/// All that writes a whole buffer, with the call that does.
const WRITES: [(SymbolId, Operation); 8] = [
    (id::cuMemsetD8Async, |m| {
        ops::set_bytes(&mut m.to, 2, &m.bench.stream)
    }),
    (id::cuMemsetD32Async, |m| {
        ops::fill(&mut m.to, 3, &m.bench.stream)
    }),
    (id::cuMemcpyDtoDAsync_v2, |m| {
        ops::copy(&m.from, &mut m.to, &m.bench.stream)
    }),
    (id::cuMemcpyHtoDAsync_v2, |m| {
        ops::write(&mut m.to, &[4; 8], &m.bench.stream)
    }),
    (id::cuMemcpyHtoDAsync_v2, |m| {
        ops::copy_to_device(&m.pinned, &mut m.to, &m.bench.stream)
    }),
    (id::cuMemcpy2DAsync_v2, |m| {
        let rows = Rectangle::new(2, 2).to_pitch(4);
        ops::copy_2d(&m.from, &mut m.to, rows, &m.bench.stream)
    }),
    (id::cuMemcpy2DAsync_v2, |m| {
        let rows = Rectangle::new(2, 2).to_pitch(4);
        ops::copy_to_device_2d(&m.pinned, &mut m.to, rows, &m.bench.stream)
    }),
    (id::cuLaunchKernel, Memory::seven),
];

/// All that reads a whole buffer.
const READS: [fn(&mut Memory) -> Result<()>; 6] = [
    |m| m.to.to_vec(&m.bench.stream).map(drop),
    |m| ops::read(&m.to, &mut [0; 8], &m.bench.stream),
    |m| ops::copy_to_host(&m.to, &mut m.pinned, &m.bench.stream),
    |m| ops::copy(&m.to, &mut m.from, &m.bench.stream),
    |m| {
        let pinned = m.bench.context.buffers().pinned(8)?;
        ops::download(&m.to, pinned, &m.bench.stream).map(drop)
    },
    |m| {
        let grid = LaunchConfig::linear(1, 1);
        // SAFETY: the kernel writes the first word, which this test does not look at after.
        unsafe { ops::launch(&m.bench.good, grid, (&m.to,), &m.bench.stream) }
    },
];

// Without it a download behind an operation that failed would say Ok, with what the memory held
// before.
#[test]
fn what_was_not_written_cannot_be_read() {
    for (call, write) in WRITES {
        let mut m = Memory::new();
        m.fail(call);
        let failed = write(&mut m).unwrap_err();
        assert_eq!(failed.status(), Some(REFUSED), "{failed}");
        let expected = (call_name(call), REFUSED.0);
        for read in READS {
            assert_eq!(cause(read(&mut m)), expected);
        }
        assert_eq!(cause(m.to.taint()), expected);
        // What was to be made of it is no result either.
        assert_eq!(cause(m.from.taint()), expected);
        assert_eq!(cause(m.pinned.as_slice()), expected);
        assert_eq!(cause(m.pinned.as_mut_slice()), expected);
        // The same again, which is taken this time.
        m.pinned.clear_taint();
        m.from.clear_taint();
        write(&mut m).unwrap();
        m.to.to_vec(&m.bench.stream).unwrap();
    }
}

fn call_name(function: SymbolId) -> &'static str {
    cupola_sys::driver::SYMBOLS[usize::from(function.0)].as_str()
}

// Without it memory would be unreadable for ever, or a part of it pass for the whole.
#[test]
fn a_taint_ends_when_all_elements_were_written() {
    for (call, write) in WRITES {
        let mut m = Memory::new();
        let stream = m.stream();
        m.fail(call);
        write(&mut m).unwrap_err();
        ops::fill(m.to.slice_mut(..5).unwrap(), 6, &stream).unwrap();
        let part = |m: &Memory, start, end| m.to.slice(start..end).unwrap().to_vec(&stream);
        if call == id::cuLaunchKernel || call == id::cuMemsetD8Async {
            assert_eq!(part(&m, 0, 5), Ok(vec![6; 5]));
        }
        cause(part(&m, 4, 6));
        ops::fill(m.to.slice_mut(5..).unwrap(), 6, &stream).unwrap();
        assert_eq!(m.to.to_vec(&stream), Ok(vec![6; 8]));
        // Or because the program says so.
        m.fail(call);
        write(&mut m).unwrap_err();
        m.to.clear_taint();
        assert_eq!(m.to.to_vec(&stream), Ok(vec![6; 8]));
    }
}

// Without it the kernel that adds to what another one has failed to write would make a result of it.
#[test]
fn a_launch_ends_no_other_launchs_taint() {
    let mut m = Memory::new();
    let (stream, grid) = (m.stream(), LaunchConfig::linear(1, 1));
    m.fail(id::cuLaunchKernel);
    m.seven().unwrap_err();
    // SAFETY: the kernel writes the first word of the buffer.
    unsafe { ops::launch(&m.bench.bad, grid, (&mut m.to,), &stream) }.unwrap();
    let two = LaunchConfig::linear(2, 1);
    // SAFETY: as above.
    unsafe { ops::launch(&m.bench.good, two, (&mut m.to,), &stream) }.unwrap();
    assert_eq!(cause(m.to.to_vec(&stream)).0, "cuLaunchKernel");
    m.seven().unwrap();
    assert_eq!(m.to.to_vec(&stream).unwrap()[0], 7);
}

// Without it an error of a step before the operation, or of the wait behind it, would be forgotten.
#[test]
fn any_call_of_an_operation_counts() {
    let mut m = Memory::new();
    let other = m
        .bench
        .context
        .streams()
        .create(Default::default())
        .unwrap();
    // Of memory that was used before, which another stream waits for.
    let pool = m
        .bench
        .context
        .memory_pool(PoolConfig::limit(8 << 20))
        .unwrap();
    drop(pool.zeros::<u32>(8, &m.bench.stream).unwrap());
    m.to = pool.allocate(8, &m.bench.stream).unwrap();
    m.fail(id::cuStreamWaitEvent);
    ops::zero(&mut m.to, &other).unwrap_err();
    assert_eq!(cause(m.to.taint()).0, "cuStreamWaitEvent");
    drop(pool.zeros::<u32>(8, &m.bench.stream).unwrap());
    m.to = pool.allocate(8, &m.bench.stream).unwrap();
    m.fail(id::cuStreamWaitEvent);
    let (grid, stream) = (LaunchConfig::linear(1, 1), &other);
    // The buffer that waits is the first argument, and both are outputs.
    let two = m.bench.good.module().function("two").unwrap();
    let arguments = (&mut m.to, &mut m.from);
    // SAFETY: it is not launched.
    unsafe { ops::launch(&two, grid, arguments, stream) }.unwrap_err();
    assert_eq!(cause(m.to.taint()).0, "cuStreamWaitEvent");
    assert_eq!(cause(m.from.taint()).0, "cuStreamWaitEvent");
    let mut m = Memory::new();
    m.bench.context.set_checked(true);
    m.fail(id::cuStreamSynchronize);
    let error = ops::zero(&mut m.to, &m.bench.stream).unwrap_err();
    assert!(matches!(error, Error::Unverified { .. }), "{error}");
    assert_eq!(cause(m.to.taint()).0, "cuStreamSynchronize");
}

// Without it a call that this crate refuses, and which changes nothing, would cost the contents.
#[test]
fn what_this_crate_refuses_taints_nothing() {
    let mut m = Memory::new();
    let stream = m.stream();
    let before = m.to.to_vec(&stream).unwrap();
    ops::write(&mut m.to, &[0; 7], &stream).unwrap_err();
    let none = LaunchConfig::linear(0, 1);
    // SAFETY: it is not launched.
    unsafe { ops::launch(&m.bench.good, none, (&mut m.to,), &stream) }.unwrap_err();
    // SAFETY: as above; of two arguments the kernel has one.
    unsafe {
        ops::launch(
            &m.bench.good,
            LaunchConfig::linear(1, 1),
            (&mut m.to, 1u32),
            &stream,
        )
    }
    .unwrap_err();
    assert_eq!(m.to.to_vec(&stream), Ok(before));
    // Memory that is used again is another buffer's.
    m.fail(id::cuMemsetD8Async);
    ops::zero(&mut m.to, &stream).unwrap_err();
    let pool = m
        .bench
        .context
        .memory_pool(PoolConfig::limit(8 << 20))
        .unwrap();
    let mut again = pool.allocate::<u32>(8, &stream).unwrap();
    ops::zero(&mut again, &stream).unwrap();
    let address = again.as_raw();
    m.fail(id::cuMemsetD8Async);
    ops::zero(&mut again, &stream).unwrap_err();
    drop(again);
    let again = pool.allocate::<u32>(8, &stream).unwrap();
    assert_eq!(again.as_raw(), address, "it is used again");
    assert_eq!(again.taint(), Ok(()));
    // SAFETY: the buffer is there until the read is done.
    let theirs = unsafe { DeviceSlice::<u32>::from_raw(address, 8) };
    assert_eq!(
        theirs.taint(),
        Ok(()),
        "memory of other code is not followed"
    );
}

// Without it the error of the loss would be hidden by one that the context survived.
#[test]
fn a_lost_context_says_that_it_is_lost() {
    let mut m = Memory::new();
    m.fail(id::cuMemsetD8Async);
    ops::zero(&mut m.to, &m.bench.stream).unwrap_err();
    m.bench.table.reset();
    m.bench.bad().unwrap();
    ops::synchronize(&m.bench.stream).unwrap_err();
    let error = ops::zero(&mut m.from, &m.bench.stream).unwrap_err();
    assert!(matches!(error, Error::Poisoned { .. }), "{error}");
    assert_eq!(m.from.taint(), Ok(()), "the loss is told by every call");
}

// Without it work that a graph does later would count as done, or a graph could not be made of memory
// that it writes itself.
#[test]
fn a_capture_neither_ends_a_taint_nor_looks_at_one() {
    let mut m = Memory::new();
    m.fail(id::cuMemsetD8Async);
    ops::zero(&mut m.to, &m.bench.stream).unwrap_err();
    let (from, to) = (&mut m.from, &mut m.to);
    let graph = Graph::capture(&m.bench.context, CaptureConfig::default(), |capture| {
        ops::fill(&mut *to, 9, capture.stream())?;
        ops::copy(&*to, from, capture.stream())
    })
    .unwrap();
    cause(m.to.to_vec(&m.bench.stream));
    m.to.clear_taint();
    drop(graph);
    assert_eq!(m.to.to_vec(&m.bench.stream), Ok(vec![1; 8]));
}

// Without it an item whose step kept an error to itself would arrive with the output of an item
// before it, or the items behind it would be refused too.
#[test]
fn a_pipeline_gives_out_no_item_that_was_not_written() {
    let bench = Bench::new();
    let pool = bench
        .context
        .memory_pool(PoolConfig::limit(8 << 20))
        .unwrap();
    let config = PipelineConfig::new(8, 8).depth(2);
    let mut pipeline = Pipeline::<u32, u32>::new(&bench.context, &pool, config).unwrap();
    for number in 0..6u32 {
        if number == 3 {
            bench.table.reset();
            bench.table.fail(id::cuMemcpyDtoDAsync_v2, 1, REFUSED);
        }
        let mut input = pipeline.try_input().unwrap();
        input.fill(number);
        let submitted = input.submit(8, |step| {
            // The error is lost here.
            let _ = ops::copy(step.input, step.output, step.stream);
            Ok::<_, Error>(8)
        });
        match number {
            3 => {
                let error: Error = submitted.unwrap_err().into();
                assert_eq!(cause_of_item(&error), ("cuMemcpyDtoDAsync_v2", REFUSED.0));
            }
            _ => {
                submitted.unwrap();
                assert_eq!(pipeline.output().unwrap().unwrap().output, [number; 8]);
            }
        }
    }
    // The memory between two kernels is every item's.
    let copies = |step: cupola_managers::pipeline::Step<'_, u32, u32>| {
        ops::copy(step.input, step.output, step.stream).map(|()| 8)
    };
    let builder = PipelineBuilder::upload::<u32>(8)
        .kernel(8, copies)
        .kernel(8, copies);
    let (mut pipeline, mut chain) = builder.build(&bench.context, &pool).unwrap();
    for number in 0..6u32 {
        if number == 3 {
            bench.table.reset();
            bench.table.fail(id::cuMemcpyDtoDAsync_v2, 1, REFUSED);
        }
        let mut input = pipeline.try_input().unwrap();
        input.fill(number);
        let submitted = input.submit(8, |step| chain.put(step));
        assert_eq!(submitted.is_err(), number == 3);
        if number != 3 {
            assert_eq!(pipeline.output().unwrap().unwrap().output, [number; 8]);
        }
    }
}

fn cause_of_item(error: &Error) -> (&'static str, u32) {
    let call = error.call().unwrap();
    (call.symbol().as_str(), call.status().unwrap().0)
}
