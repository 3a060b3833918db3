//! Buffers that a second stream uses.

use super::*;

// Without it a use on another stream could begin before the memory is there.
#[test]
fn the_first_use_elsewhere_waits_for_the_allocation() {
    let (table, _machine, _execution, context) = open();
    let (home, other) = (
        context.streams().create(Default::default()).unwrap(),
        context.streams().create(Default::default()).unwrap(),
    );
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    // What the second one gets the first one's work may still use.
    drop(pool.allocate::<u32>(100, &home).unwrap());
    let mut buffer = pool.allocate::<u32>(100, &home).unwrap();
    table.fail(id::cuStreamWaitEvent, 1, UNKNOWN);
    assert_eq!(
        ops::fill(&mut buffer, 1, &other).unwrap_err().status(),
        Some(UNKNOWN)
    );
    assert_eq!(table.count(id::cuMemsetD32Async), 0, "not without the wait");
    ops::fill(&mut buffer, 1, &other).unwrap();
    let waits = table.count(id::cuStreamWaitEvent);
    assert_eq!(waits, 2);
    buffer.free().unwrap();
    assert_eq!(
        table.count(id::cuStreamWaitEvent),
        waits,
        "no stream waits for the free"
    );
}

// Without it memory could be freed while another stream may use it, or freed twice.
#[test]
fn memory_is_freed_behind_its_uses_or_not_at_all() {
    let (table, _machine, execution, context) = open();
    let (home, other) = (
        context.streams().create(Default::default()).unwrap(),
        context.streams().create(Default::default()).unwrap(),
    );
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    // While one is open streams are made to wait for each other.
    let graph = pool
        .graph_memory(&context.streams().create(Default::default()).unwrap())
        .unwrap();
    let buffer = pool.allocate::<u32>(100, &home).unwrap();
    buffer.used_on(&other).unwrap();
    table.reset();
    table.fail(id::cuStreamWaitEvent, 1, UNKNOWN);
    let refused = buffer.free().unwrap_err();
    assert_eq!(refused.error().status(), Some(UNKNOWN));
    let buffer = refused.into_inner();
    assert_eq!(pool.usage().unwrap().live, 400, "not without the wait");
    buffer.free().unwrap();
    let live = execution.live();
    assert_eq!((live.buffers, live.abandoned), (0, 0));
    assert_eq!(pool.usage().unwrap().live, 0);

    // Dropped where neither an event nor the host can wait for the other stream.
    let buffer = pool.allocate::<u32>(100, &home).unwrap();
    let address = buffer.as_raw();
    buffer.used_on(&other).unwrap();
    table.reset();
    table.fail_from(id::cuStreamWaitEvent, 1, UNKNOWN);
    table.fail_from(id::cuStreamSynchronize, 1, UNKNOWN);
    drop(buffer);
    table.reset();
    drop(graph);
    let live = execution.live();
    assert_eq!((live.buffers, live.abandoned), (0, 1));
    pool.trim().unwrap();
    assert_eq!(pool.mapped(), pool.page(), "still charged");
    let next = pool.allocate::<u32>(100, &home).unwrap();
    assert_ne!(next.as_raw(), address, "no request gets it");
}
