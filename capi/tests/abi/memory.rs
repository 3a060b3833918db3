//! Memory comes and goes, within limits, and what is wrong is told.

use std::ffi::c_void;
use std::ptr;
use std::thread;
use std::time::Duration;

use cupola_capi::{
    CupolaStatus, cupola_allocate, cupola_configure, cupola_cupy_free, cupola_cupy_malloc,
    cupola_free, cupola_mem_info, cupola_set_limit, cupola_torch_alloc, cupola_torch_base_alloc,
    cupola_torch_free, cupola_torch_init, cupola_torch_memory_fraction, cupola_torch_reset,
    cupola_torch_segment_alloc, cupola_torch_segment_free,
};

use crate::framework::{allocate_on, alone, errors, free_on, last_error, trim_all, usage};

const MIB: usize = 1 << 20;

// Without it a stream could be given memory that another one still uses, or wait for its own frees.
#[test]
fn memory_is_used_again_in_the_order_of_its_stream() {
    alone(
        "memory::memory_is_used_again_in_the_order_of_its_stream",
        &[],
        |framework| {
            let (one, two) = (framework.stream(), framework.stream());
            for bytes in [100, 300_000, 3 * MIB] {
                let held = framework.hold(one);
                let block = allocate_on(bytes, one);
                assert_eq!(block.addr() % 256, 0);
                framework.fill(block, 1, bytes / 4, one);
                assert_eq!(free_on(block, one), CupolaStatus::CupolaOk);
                let other = allocate_on(bytes, two);
                assert_ne!(other, block, "{bytes}: its work may still run");
                let again = allocate_on(bytes, one);
                assert_eq!(again, block, "{bytes}: the stream's own order is enough");
                framework.fill(again, 2, bytes / 4, one);
                framework.fill(other, 3, bytes / 4, two);
                drop(held);
                assert_eq!(framework.read(again, bytes / 4, one), vec![2; bytes / 4]);
                assert_eq!(framework.read(other, bytes / 4, two), vec![3; bytes / 4]);
                assert_eq!(free_on(again, one), CupolaStatus::CupolaOk);
                assert_eq!(free_on(other, two), CupolaStatus::CupolaOk);
            }
            let usage = usage();
            let waits = (usage.device_waits, usage.host_waits);
            assert_eq!((usage.live, waits, usage.errors), (0, (0, 0), 0));
        },
    );
}

// Without it a second free could take a block from its next user, or a strange pointer end the process.
#[test]
fn a_pointer_that_is_no_blocks_is_refused_and_told() {
    alone(
        "memory::a_pointer_that_is_no_blocks_is_refused_and_told",
        &[],
        |framework| {
            let stream = framework.stream();
            let block = allocate_on(1000, stream);
            let inner = block.wrapping_byte_add(256);
            assert_eq!(free_on(block, stream), CupolaStatus::CupolaOk);
            let next = allocate_on(2000, stream);
            for wrong in [block, inner, ptr::without_provenance_mut(64)] {
                let text = format!("no live block begins at {:#x}", wrong.addr());
                assert_eq!(free_on(wrong, stream), CupolaStatus::CupolaUnknownPointer);
                assert!(last_error().contains(&text), "{}", last_error());
                assert_eq!(cupola_free(wrong), CupolaStatus::CupolaUnknownPointer);
            }
            // PyTorch's free has no place for an error, and is on a thread of its own.
            let address = inner.addr();
            thread::scope(|scope| {
                scope.spawn(move || {
                    let inner = ptr::without_provenance_mut(address);
                    // SAFETY: the stream is alive.
                    unsafe { cupola_torch_free(inner, 1000, 0, stream.void()) };
                    cupola_torch_segment_free(inner, 1000, 0, ptr::null_mut());
                    cupola_cupy_free(ptr::null_mut(), inner, 0);
                });
            });
            assert_eq!(usage().errors, 9);
            let text = format!("no live block begins at {:#x}", inner.addr());
            assert_eq!(errors().matches(&text).count(), 5, "{}", errors());
            // Nothing happened to the block that is there.
            assert_eq!(usage().live, 2000);
            framework.fill(next, 7, 500, stream);
            assert_eq!(framework.read(next, 500, stream), [7; 500]);
            assert_eq!(free_on(next, stream), CupolaStatus::CupolaOk);
            // Null is no block, as for `free`.
            assert_eq!(free_on(ptr::null_mut(), stream), CupolaStatus::CupolaOk);
            assert_eq!(cupola_free(ptr::null_mut()), CupolaStatus::CupolaOk);
            assert_eq!(usage().errors, 9);
        },
    );
}

// Without it a refusal could be an abort, leave no word, or spoil what comes after it.
#[test]
fn a_request_that_does_not_fit_is_null_with_a_text() {
    let printed = alone(
        "memory::a_request_that_does_not_fit_is_null_with_a_text",
        &[("CUPOLA_LIMIT", "64MiB")],
        |framework| {
            let stream = framework.stream();
            let block = allocate_on(60 * MIB, stream);
            assert_eq!(usage().limit, 64 << 20);
            let void = stream.void();
            // SAFETY: the stream is alive.
            let requests: [fn(*mut c_void) -> *mut c_void; 4] = [
                |void| unsafe { cupola_torch_alloc(5 * MIB, 0, void) },
                |_| cupola_torch_segment_alloc(5 * MIB, 0, ptr::null_mut()),
                |_| cupola_cupy_malloc(ptr::null_mut(), 5 * MIB, 0),
                |_| cupola_allocate(0, usize::MAX),
            ];
            for (count, request) in (1..).zip(requests) {
                assert!(request(void).is_null());
                assert!(last_error().contains("limit"), "{}", last_error());
                assert_eq!((usage().refused, usage().errors), (count, count));
            }
            assert_eq!(free_on(block, stream), CupolaStatus::CupolaOk);
            let block = allocate_on(63 * MIB, stream);
            assert_eq!(free_on(block, stream), CupolaStatus::CupolaOk);
            // Of nothing there is nothing, and that is no error.
            assert!(cupola_allocate(0, 0).is_null());
            assert_eq!(usage().errors, 4);
            // There is one device, and it is not this one.
            assert!(cupola_allocate(99, 1).is_null());
            assert!(last_error().contains("no device 99"), "{}", last_error());
            assert!(cupola_allocate(-1, 1).is_null());
        },
    );
    // PyTorch goes on with the null pointer.
    let printed = printed.unwrap_or_else(|| "an allocation of 5242880 bytes failed".into());
    let said = printed.matches("an allocation of 5242880 bytes failed");
    assert_eq!(said.count(), 1, "{printed}");
}

// Without it memory of `cupola_free` could be handed out while work on some stream still uses it.
#[test]
fn what_comes_back_without_a_stream_is_free_after_all_work() {
    alone(
        "memory::what_comes_back_without_a_stream_is_free_after_all_work",
        &[("CUPOLA_LIMIT", "64MiB")],
        |framework| {
            let (one, two) = (framework.stream(), framework.stream());
            let block = cupola_allocate(0, MIB);
            let held = framework.hold(two);
            for stream in [one, two] {
                framework.fill(block, 1, MIB / 4, stream);
                framework.synchronize(one);
            }
            assert_eq!(cupola_free(block), CupolaStatus::CupolaOk);
            assert_eq!(cupola_free(block), CupolaStatus::CupolaUnknownPointer);
            assert_eq!((usage().live, usage().returned), (1 << 20, 1 << 20));
            // There is room beside it.
            let next = cupola_allocate(0, MIB);
            assert_ne!(next, block);
            assert_eq!(cupola_free(next), CupolaStatus::CupolaOk);
            let release = thread::spawn(move || {
                thread::sleep(Duration::from_millis(50));
                drop(held);
            });
            // There is none but where it was: the request waits for all work.
            let all = cupola_allocate(0, 64 * MIB);
            assert!(!all.is_null(), "{}", last_error());
            release.join().unwrap();
            assert_eq!((usage().live, usage().returned), (64 << 20, 0));
            assert_eq!(cupola_free(all), CupolaStatus::CupolaOk);
            trim_all();
            // Many small ones come back by themselves.
            for _ in 0..1000 {
                let small = cupola_allocate(0, 256);
                assert!(!small.is_null(), "{}", last_error());
                assert_eq!(cupola_free(small), CupolaStatus::CupolaOk);
                assert!(usage().returned < 64 * 256, "{}", usage().returned);
            }
        },
    );
}

// Without it a limit could be read and not kept, or a part of the device be another one's.
#[test]
fn limits_are_set_before_and_after_the_first_allocation() {
    alone(
        "memory::limits_are_set_before_and_after_the_first_allocation",
        &[("CUPOLA_LIMIT", "lots")],
        |framework| {
            cupola_torch_init(1);
            assert!(cupola_allocate(0, 1).is_null());
            assert!(
                last_error().contains("CUPOLA_LIMIT is \"lots\""),
                "{}",
                last_error()
            );
            let status = cupola_configure(0, 32 << 20, 0);
            assert_eq!(status, CupolaStatus::CupolaOk);
            let stream = framework.stream();
            let block = allocate_on(20 * MIB, stream);
            assert_eq!(usage().limit, 32 << 20);
            assert_eq!(
                cupola_configure(0, 64 << 20, -1),
                CupolaStatus::CupolaInvalid
            );
            assert!(
                last_error().contains("cupola_set_limit"),
                "{}",
                last_error()
            );
            assert!(cupola_allocate(0, 20 * MIB).is_null());
            assert_eq!(cupola_set_limit(0, 64 << 20), CupolaStatus::CupolaOk);
            let more = cupola_allocate(0, 20 * MIB);
            assert!(!more.is_null(), "{}", last_error());
            let (mut free, mut total) = (0, 0);
            // SAFETY: the places can be written.
            let status = unsafe { cupola_mem_info(0, &raw mut free, &raw mut total) };
            assert_eq!(status, CupolaStatus::CupolaOk);
            assert_eq!(free, 24 * MIB);
            cupola_torch_memory_fraction(0.5, 0);
            assert_eq!(usage().limit, total as u64 / 2);
            let errors = usage().errors;
            cupola_torch_memory_fraction(1.5, 0);
            cupola_torch_memory_fraction(f64::NAN, 0);
            assert_eq!(
                (usage().errors, usage().limit),
                (errors + 2, total as u64 / 2)
            );
            // What PyTorch asks of an address.
            let mut bytes = 0;
            // SAFETY: the place can be written.
            let base = unsafe { cupola_torch_base_alloc(block, &raw mut bytes) };
            assert_eq!((base, bytes), (block, 20 * MIB));
            // SAFETY: as above.
            let none =
                unsafe { cupola_torch_base_alloc(block.wrapping_byte_add(1), &raw mut bytes) };
            assert!(none.is_null());
            assert_eq!(free_on(block, stream), CupolaStatus::CupolaOk);
            assert_eq!(cupola_free(more), CupolaStatus::CupolaOk);
            framework.synchronize(stream);
            let mapped = usage().mapped;
            cupola_torch_reset();
            assert!(usage().mapped < mapped);
            trim_all();
        },
    );
}
