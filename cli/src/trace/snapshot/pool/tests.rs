use cupola_managers::{ExecutionManager, PoolConfig};
use cupola_sim::{Machine, fault::FaultTable};
use cupola_sys::driver::{CUresult, id};

use super::super::Encoding;
use super::*;

/// Without it the viewer could say that the device was full where a limit was.
#[test]
fn a_refusal_says_what_the_device_had_free() {
    let driver = Machine::builder().build().driver();
    let execution = ExecutionManager::new(driver).unwrap();
    let context = execution.devices().get(0).unwrap().primary().unwrap();
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    pool.record(100).unwrap();
    assert!(pool.allocate::<u8>(9 << 20, &stream).is_err());
    let free = context.memory_info().unwrap().free;
    let recording = pool.take_recording().unwrap();
    let snapshot = Snapshot::of_pool(&recording, &pool.layout().unwrap(), |_| None);
    let mut written = Vec::new();
    snapshot.write(&mut written, Encoding::Json).unwrap();
    let written: serde_json::Value = serde_json::from_slice(&written).unwrap();
    let refusal = &written["device_traces"][0][0];
    assert_eq!(
        (&refusal["action"], &refusal["size"]),
        (&"oom".into(), &(9 << 20).into())
    );
    assert!(free > 9 << 20);
    assert_eq!(refusal["device_free"], free);
}

/// Without it a block that its owner could not free could be in the events alone: the viewer,
/// which goes backwards, would not know where it was.
#[test]
fn a_block_that_was_given_up_is_pending() {
    let table = FaultTable::new(Machine::builder().worker_threads(1).build().driver());
    let execution = ExecutionManager::new(table.driver()).unwrap();
    let context = execution.devices().get(0).unwrap().primary().unwrap();
    let streams = [(); 3].map(|()| context.streams().create(Default::default()).unwrap());
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    pool.record(100).unwrap();
    let buffer = pool.allocate::<u8>(1000, &streams[0]).unwrap();
    // Else no stream has to wait for another at the free.
    let graph = pool.graph_memory(&streams[2]).unwrap();
    let address = buffer.as_raw();
    buffer.used_on(&streams[1]).unwrap();
    table.reset();
    table.fail_from(id::cuStreamWaitEvent, 1, CUresult::CUDA_ERROR_UNKNOWN);
    table.fail_from(id::cuStreamSynchronize, 1, CUresult::CUDA_ERROR_UNKNOWN);
    drop(buffer);
    table.reset();
    drop(graph);
    let recording = pool.take_recording().unwrap();
    let snapshot = Snapshot::of_pool(&recording, &pool.layout().unwrap(), |_| None);
    let blocks = snapshot.segments.iter().flat_map(|segment| &segment.blocks);
    let taken: Vec<_> = blocks.filter(|it| it.state != BlockState::Free).collect();
    assert_eq!(taken.len(), 1);
    assert_eq!(
        (taken[0].address, taken[0].size, taken[0].requested_size),
        (address, 1024, 1000)
    );
    assert_eq!(taken[0].state, BlockState::Pending);
    let of_block = snapshot.device_traces[0].iter();
    let of_block = of_block.filter(|event| event.addr == address && event.size == 1000);
    let actions: Vec<_> = of_block.map(|event| event.action).collect();
    assert_eq!(actions, [Action::Alloc, Action::FreeRequested]);
}
