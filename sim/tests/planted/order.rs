//! Stream-ordered memory outside of its order, and things of another context.

use cupola_sim::FindingKind as Kind;
use cupola_sys::driver::CUresult;

use crate::client::{expect, expect_kernel, expect_memory, found, found_with, load};

// 23. Without it, work that does not come after the allocation of its memory would pass:
// here the memory is there at once.
#[test]
fn memory_is_used_in_a_stream_that_does_not_wait_for_its_allocation() {
    let finding = found(|client, bug| {
        let (first, second) = (client.stream(), client.stream());
        let at = client.alloc_async(64, first);
        if !bug {
            client.order(first, second);
        }
        client.fill(at, 64, second);
        client.wait(second);
        client.free_async(at, first);
        client.wait(first);
        client.destroy(first);
        client.destroy(second);
    });
    expect(&finding, Kind::UnorderedUse, "cuMemsetD8Async");
    expect_memory(&finding, 64, "cuMemAllocAsync", None);
}

// 24. Without it, work queued after a free, in a stream that does not wait for it, would
// be found only when it comes too late.
#[test]
fn memory_is_used_in_another_stream_after_its_free() {
    let finding = found(|client, bug| {
        let (first, second) = (client.stream(), client.stream());
        let at = client.alloc_async(256, first);
        client.order(first, second);
        if bug {
            client.free_async(at, first);
        }
        client.launch("fill", 64, second, &[at, 4]);
        client.wait(second);
        if !bug {
            client.free_async(at, first);
        }
        client.wait(first);
        client.destroy(first);
        client.destroy(second);
    });
    expect(&finding, Kind::UseAfterFree, "cuLaunchKernel");
    let memory = finding.allocation.as_ref().unwrap();
    assert_eq!(
        (memory.size, memory.allocated.function),
        (256, "cuMemAllocAsync")
    );
}

// 25. Without it, a function of one context in a stream of another would be a bare invalid
// handle.
#[test]
fn a_function_is_launched_in_a_stream_of_another_context() {
    let finding = found(|client, bug| {
        let function = client.function("meet");
        let mut other = std::ptr::null_mut();
        // SAFETY: the place outlives the calls.
        unsafe { client.driver.cuCtxCreate_v2(&raw mut other, 0, 0) }.unwrap();
        let stream = client.stream();
        let foreign = load(&client.driver);
        let own = {
            let mut own = std::ptr::null_mut();
            // SAFETY: the place and the text outlive the call.
            unsafe {
                client
                    .driver
                    .cuModuleGetFunction(&raw mut own, foreign, c"meet".as_ptr())
                    .unwrap();
            }
            own
        };
        let launched = client.launch_function(if bug { function } else { own }, 32, stream, &[1]);
        assert_eq!(launched.is_err(), bug);
        client.wait(stream);
        client.destroy(stream);
        // SAFETY: no pointers.
        unsafe {
            client.driver.cuModuleUnload(foreign).unwrap();
            client.driver.cuCtxDestroy_v2(other).unwrap();
            client.driver.cuCtxSetCurrent(client.context).unwrap();
        }
    });
    expect(&finding, Kind::ForeignContext, "cuLaunchKernel");
}

// 26. Without it, an event of another context would be a bare invalid handle.
#[test]
fn an_event_is_recorded_in_a_stream_of_another_context() {
    let finding = found(|client, bug| {
        let event = client.event();
        let mut other = std::ptr::null_mut();
        // SAFETY: the places outlive the calls.
        unsafe {
            let driver = &client.driver;
            driver.cuCtxCreate_v2(&raw mut other, 0, 0).unwrap();
            let stream = client.stream();
            let own = client.event();
            let recorded = driver.cuEventRecord(if bug { event } else { own }, stream);
            assert_eq!(recorded.is_err(), bug);
            driver.cuEventDestroy_v2(own).unwrap();
            client.destroy(stream);
            driver.cuCtxDestroy_v2(other).unwrap();
            driver.cuCtxSetCurrent(client.context).unwrap();
            driver.cuEventDestroy_v2(event).unwrap();
        }
    });
    expect(&finding, Kind::ForeignContext, "cuEventRecord");
}

// Without it, a program whose threads tell each other what a host function learned would
// be reported.
#[test]
fn a_host_function_says_that_what_came_before_is_over() {
    unsafe extern "C" fn tell(data: *mut std::ffi::c_void) {
        // SAFETY: the boxed sender below, once.
        let tell = unsafe { Box::from_raw(data.cast::<std::sync::mpsc::Sender<()>>()) };
        tell.send(()).unwrap();
    }
    let machine = cupola_sim::Machine::builder().build();
    let driver = machine.driver();
    let (mut context, mut at) = (std::ptr::null_mut(), 0);
    let (told, hear) = std::sync::mpsc::channel::<()>();
    // SAFETY: the places outlive the calls, and the function takes the box.
    unsafe {
        driver.cuInit(0).unwrap();
        driver.cuCtxCreate_v2(&raw mut context, 0, 0).unwrap();
        driver.cuMemAlloc_v2(&raw mut at, 64).unwrap();
        driver.cuMemsetD8_v2(at, 0, 64).unwrap();
        let data = Box::into_raw(Box::new(told)).cast();
        let stream = std::ptr::null_mut();
        driver.cuLaunchHostFunc(stream, Some(tell), data).unwrap();
        hear.recv().unwrap();
        driver.cuMemFree_v2(at).unwrap();
        driver.cuCtxDestroy_v2(context).unwrap();
    }
    assert_eq!(machine.findings(), []);
}

// Without it, strict mode could change what a program sees: an error would become another,
// or a success.
#[test]
fn findings_change_no_result() {
    let results = |strict| {
        let machine = cupola_sim::Machine::builder().strict(strict).build();
        let driver = machine.driver();
        let (mut context, mut at) = (std::ptr::null_mut(), 0);
        let codes = std::cell::RefCell::new(Vec::new());
        let note = |result: Result<(), cupola_sys::driver::DriverError>| {
            codes.borrow_mut().push(match result {
                Ok(()) => CUresult::CUDA_SUCCESS,
                Err(cupola_sys::CallError::Failed { code, .. }) => code,
                Err(missing) => panic!("{missing}"),
            });
        };
        // SAFETY: the places outlive the calls; no host memory is given.
        unsafe {
            note(driver.cuInit(0));
            note(driver.cuCtxCreate_v2(&raw mut context, 0, 0));
            note(driver.cuMemAlloc_v2(&raw mut at, 64));
            note(driver.cuMemFree_v2(at + 8));
            note(driver.cuMemsetD8_v2(at, 0, 65));
            note(driver.cuMemFree_v2(at));
            note(driver.cuMemFree_v2(at));
            let null = std::ptr::null_mut();
            note(driver.cuMemAllocAsync(&raw mut at, 64, null));
            note(driver.cuMemFreeAsync(at, null));
            note(driver.cuMemsetD8_v2(at, 0, 64));
            note(driver.cuCtxSynchronize());
            note(driver.cuCtxDestroy_v2(context));
        }
        let found = machine.findings().len();
        (codes.into_inner(), found)
    };
    let (lenient, none) = results(cupola_sim::Strict::empty());
    let (strict, some) = results(cupola_sim::Strict::CHEAP);
    assert_eq!((lenient, none), (strict, 0));
    assert_eq!(some, 4);
}

// 41. Without it, memory of another device would be a bare illegal address. The kernel may fault
// before the program waits, which is then refused: the free after it is no second mistake.
#[test]
fn a_kernel_uses_memory_of_another_device() {
    let two = cupola_sim::Machine::builder().devices(2);
    let finding = found_with(two, |client, bug| {
        let driver = &client.driver;
        let (mut other, mut at) = (std::ptr::null_mut(), 0);
        // SAFETY: the places outlive the calls.
        unsafe {
            driver.cuCtxCreate_v2(&raw mut other, 0, 1).unwrap();
            driver.cuMemAlloc_v2(&raw mut at, 256).unwrap();
            driver.cuCtxSetCurrent(client.context).unwrap();
            if !bug {
                driver.cuCtxEnablePeerAccess(other, 0).unwrap();
            }
        }
        client.launch("fill", 64, std::ptr::null_mut(), &[at, 4]);
        let null = std::ptr::null_mut();
        // SAFETY: no pointers.
        while unsafe { driver.cuStreamQuery(null) }
            .is_err_and(|error| error.status() == Some(CUresult::CUDA_ERROR_NOT_READY))
        {
            std::thread::yield_now();
        }
        client.wait(null);
        // SAFETY: no pointers.
        unsafe {
            driver.cuCtxSetCurrent(other).unwrap();
            driver.cuMemFree_v2(at).unwrap();
            driver.cuCtxDestroy_v2(other).unwrap();
            driver.cuCtxSetCurrent(client.context).unwrap();
        }
    });
    expect(&finding, Kind::ForeignContext, "cuLaunchKernel");
    expect_kernel(&finding, "fill", "fill's store", 0);
    expect_memory(&finding, 256, "cuMemAlloc_v2", None);
}
