//! Memory that goes to another library as a tensor, and comes back as one of its, on any device.

use cupola_managers::interop::dlpack::{ManagedTensor, TensorMemory};
use cupola_managers::interop::{ArrayInterface, ExportedTensor, ForeignTensor, StreamNumber};
use cupola_managers::{Context, Error, Stream, ops};

use crate::common::Bench;

const LEN: usize = 1 << 20;

fn lease(context: &Context, number: Option<i128>) -> Stream {
    // SAFETY: default streams are always there, and the others here outlive the leases.
    let leased = unsafe { StreamNumber::from_dlpack(number).unwrap().lease(context) };
    leased.unwrap().unwrap()
}

fn take(raw: impl Into<ManagedTensor>, context: &Context) -> ForeignTensor {
    // SAFETY: exported just now, and ready for the streams that it is viewed for.
    unsafe { ForeignTensor::from_raw(raw, context) }.unwrap()
}

// Without it a real driver could find the memory at another address than the tensor says, or the consumer's stream not wait
// for what writes it.
#[test]
fn tensors_of_device_memory_are_ready_on_the_consumers_stream() {
    let bench = Bench::open();
    let (context, stream) = (&bench.context, &bench.stream);
    let theirs = context.streams().create(Default::default()).unwrap();
    let number = theirs.as_raw().addr() as i128;
    for number in [None, Some(1), Some(2), Some(number)] {
        let consumer = lease(context, number);
        let mut numbers = bench.pool.zeros::<u32>(LEN, stream).unwrap();
        for value in 0..50 {
            ops::fill(&mut numbers, value, stream).unwrap();
        }
        let shown = ArrayInterface::of(&numbers, &[LEN as u64], &theirs).unwrap();
        // SAFETY: the stream is alive.
        unsafe { shown.order(context, &consumer) }.unwrap();
        let shape = [4, LEN as u64 / 4];
        let exported = ExportedTensor::of_buffer(numbers, &shape, Some(&consumer)).unwrap();
        let tensor = take(exported.into_versioned(), context);
        // SAFETY: the copy is on the stream.
        let found = unsafe { tensor.view::<u32>(&consumer) }.unwrap();
        let found = found.to_vec(&consumer).unwrap();
        assert!(found.iter().all(|&value| value == 49), "{number:?}");
    }
    drop(theirs);
    bench.finish();
}

// Without it a real driver could have pinned or managed memory elsewhere than the tensor says.
#[test]
fn tensors_of_host_memory_are_where_the_device_finds_them() {
    let bench = Bench::open();
    let (context, stream) = (&bench.context, &bench.stream);
    let mut pinned = context.buffers().pinned::<u32>(LEN).unwrap();
    pinned.as_mut_slice().unwrap().fill(3);
    let exported = ExportedTensor::of_pinned(pinned, &[LEN as u64]).unwrap();
    let mut tensor = take(exported.into_unversioned().unwrap(), context);
    assert_eq!(tensor.memory(), TensorMemory::PinnedHost);
    // SAFETY: the fill is on the stream, and nothing else uses the memory.
    let view = unsafe { tensor.view_mut::<u32>(stream) }.unwrap();
    ops::fill(view.slice(LEN / 2..).unwrap(), 4, stream).unwrap();
    // SAFETY: nothing else uses the memory.
    let found = unsafe { tensor.host_view::<u32>() }.unwrap();
    assert!(found[..LEN / 2].iter().all(|&value| value == 3));
    assert!(found[LEN / 2..].iter().all(|&value| value == 4));
    drop(tensor);

    let mut managed = match context.managed::<u32>(LEN) {
        Ok(managed) => managed,
        Err(Error::Host(refused)) => {
            println!("no managed memory: {refused}");
            bench.finish();
            return;
        }
        Err(other) => panic!("{other}"),
    };
    // SAFETY: the fill is on the stream.
    let view = unsafe { managed.device_mut(stream) }.unwrap();
    ops::fill(view, 5, stream).unwrap();
    let consumer = lease(context, Some(2));
    let exported = ExportedTensor::of_managed(managed, &[LEN as u64], Some(&consumer)).unwrap();
    let tensor = take(exported.into_versioned(), context);
    // SAFETY: the copy is on the stream.
    let found = unsafe { tensor.view::<u32>(&consumer) }.unwrap();
    let found = found.to_vec(&consumer).unwrap();
    assert!(found.iter().all(|&value| value == 5));
    drop((tensor, consumer));
    bench.finish();
}
