//! Where pinned memory comes from on each kind of device, and what becomes of refusals.

use cupola_managers::host::{PinnedBacking, PinnedPoolConfig};
use cupola_managers::{Error, ops};
use cupola_sim::Profile;
use cupola_sys::driver::{CUresult, id};

use super::{PROFILES, bench, bench_of};

const REFUSED: CUresult = CUresult::CUDA_ERROR_NOT_SUPPORTED;

fn expected(profile: Profile) -> PinnedBacking {
    match profile {
        Profile::Confidential => PinnedBacking::Allocated {
            refused: Some(REFUSED),
        },
        Profile::Integrated => PinnedBacking::Allocated {
            refused: Some(CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED),
        },
        _ => PinnedBacking::Registered,
    }
}

// Without it a pool would work on discrete devices only, or not say why it is slow elsewhere; a
// device that refuses would be asked again and again.
#[test]
fn memory_is_had_on_every_profile() {
    for profile in PROFILES {
        let bench = bench_of(profile);
        let context = &bench.base.context;
        assert_eq!(context.pinned_backing(), Ok(expected(profile)));
        let host = context
            .pinned_pool(PinnedPoolConfig::limit(64 << 20))
            .unwrap();
        let mut numbers = host.allocate::<u32>(1 << 20).unwrap();
        assert_eq!(host.backing(), Ok(expected(profile)));
        for (at, number) in numbers.as_mut_slice().unwrap().iter_mut().enumerate() {
            *number = at as u32;
        }
        let mut there = bench.pool.allocate(1 << 20, &bench.stream).unwrap();
        ops::copy_to_device(&numbers, &mut there, &bench.stream).unwrap();
        let mut back = host.zeros::<u32>(1 << 20).unwrap();
        ops::copy_to_host(&there, &mut back, &bench.stream).unwrap();
        assert_eq!(back.as_slice(), numbers.as_slice(), "{profile:?}");
        let usage = bench.base.machine.usage();
        let registered = expected(profile) == PinnedBacking::Registered;
        let regions = (usage.registrations, usage.host_allocations);
        assert_eq!(regions, if registered { (1, 0) } else { (0, 1) });
        assert_eq!(bench.base.execution.live().pinned_regions, 1);
        let tried = bench.base.faults.count(id::cuMemHostRegister_v2);
        assert_eq!(
            tried,
            if registered { 2 } else { 1 },
            "the probe, and the region"
        );
        drop((numbers, back, there, host));
        bench.finish();
    }
}

// Without it `cupola doctor` could not say how the device gets the memory.
#[test]
fn the_way_is_told_in_words() {
    let text = |profile| expected(profile).to_string();
    assert!(text(Profile::Discrete).contains("registered"));
    let text = text(Profile::Confidential);
    assert!(
        text.contains("cuMemHostAlloc") && text.contains("NOT_SUPPORTED"),
        "{text}"
    );
}

// Without it a device that gives managed memory only would have no pool, or one without concurrent
// access would be given memory that the host must not touch.
#[test]
fn an_integrated_device_that_refuses_both_gives_managed_memory() {
    let bench = bench_of(Profile::Integrated);
    let context = &bench.base.context;
    bench.base.faults.fail_from(id::cuMemHostAlloc, 1, REFUSED);
    let managed = PinnedBacking::Managed { refused: REFUSED };
    assert_eq!(context.pinned_backing(), Ok(managed));
    let host = context
        .pinned_pool(PinnedPoolConfig::limit(1 << 20))
        .unwrap();
    let mut sevens = host.zeros::<u8>(1000).unwrap();
    sevens.as_mut_slice().unwrap().fill(7);
    let mut there = bench.pool.allocate(1000, &bench.stream).unwrap();
    ops::copy_to_device(&sevens, &mut there, &bench.stream).unwrap();
    assert_eq!(there.to_vec(&bench.stream).unwrap(), [7; 1000]);
    drop((sevens, there, host));
    bench.finish();
    // A device with memory of its own: the refusal is the caller's.
    let bench = bench_of(Profile::Confidential);
    bench.base.faults.fail_from(id::cuMemHostAlloc, 1, REFUSED);
    let refused = bench.base.context.pinned_backing().unwrap_err();
    assert_eq!(refused.status(), Some(REFUSED));
    bench.finish();
}

// Without it a device that is out of memory for a moment would be taken for one that registers
// nothing, or a region that was not made would stay charged.
#[test]
fn another_failure_is_the_callers() {
    let bench = bench();
    let context = &bench.base.context;
    let host = context
        .pinned_pool(PinnedPoolConfig::limit(4 << 20))
        .unwrap();
    let code = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    bench.base.faults.reset();
    bench.base.faults.fail(id::cuMemHostRegister_v2, 1, code);
    let refused = host.allocate::<u8>(100).unwrap_err();
    assert_eq!(refused.status(), Some(code));
    assert_eq!(host.usage().unwrap().locked, 0);
    assert_eq!(host.backing(), Ok(PinnedBacking::Registered));
    drop(host.allocate::<u8>(100).unwrap());
    assert_eq!(host.usage().unwrap().locked, 4 << 20);
    // A later refusal is the device's all the same.
    host.trim().unwrap();
    let next = bench.base.faults.count(id::cuMemHostRegister_v2) + 1;
    bench
        .base
        .faults
        .fail(id::cuMemHostRegister_v2, next, REFUSED);
    drop(host.allocate::<u8>(100).unwrap());
    let refused = Some(REFUSED);
    assert_eq!(host.backing(), Ok(PinnedBacking::Allocated { refused }));
    assert_eq!(bench.base.machine.usage().registrations, 0);
    drop(host);
    bench.finish();
}

// Without it memory that the host reads a hundred times slower could be had by chance.
#[test]
fn write_combined_memory_is_had_by_name_only() {
    let bench = bench();
    let context = &bench.base.context;
    let flags = |config: PinnedPoolConfig| {
        let host = context.pinned_pool(config).unwrap();
        let bytes = host.allocate::<u8>(100).unwrap();
        let mut flags = 0;
        let _current = context.enter().unwrap();
        // SAFETY: the place outlives the call.
        let asked = unsafe {
            context
                .driver()
                .cuMemHostGetFlags(&raw mut flags, bytes.as_ptr().cast())
        };
        asked.unwrap();
        flags
    };
    let config = PinnedPoolConfig::limit(1 << 20);
    assert_eq!(flags(config) & 4, 0);
    assert_eq!(flags(config.write_combined()) & 4, 4);
    bench.finish();
}

// Without it a pool of a manager that was shut down would go on.
#[test]
fn a_manager_that_was_shut_down_gives_none() {
    let bench = bench();
    let context = &bench.base.context;
    let host = context
        .pinned_pool(PinnedPoolConfig::limit(1 << 20))
        .unwrap();
    let _nothing_leased = context.buffers().shutdown();
    let refused = host.allocate::<u8>(1).map(drop);
    assert_eq!(
        refused,
        Err(Error::ShutDown {
            kind: "PinnedBuffer"
        })
    );
    context.buffers().configure(Default::default()).unwrap();
    drop(host.allocate::<u8>(1).unwrap());
    drop(host);
    bench.finish();
}
