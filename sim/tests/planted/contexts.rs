//! Contexts that must not be current.

use std::ptr::{null_mut, without_provenance_mut};

use cupola_sim::FindingKind as Kind;
use cupola_sys::driver::*;

use crate::client::{Client, expect, found};

fn create(driver: &Driver) -> CUcontext {
    let (mut context, mut popped) = (null_mut(), null_mut());
    // SAFETY: the places outlive the calls.
    unsafe {
        driver.cuCtxCreate_v2(&raw mut context, 0, 0).unwrap();
        driver.cuCtxPopCurrent_v2(&raw mut popped).unwrap();
    }
    context
}

/// Half of the multiprocessors, or so.
fn green(driver: &Driver) -> (CUgreenCtx, CUcontext) {
    let kind = CUdevResourceType::CU_DEV_RESOURCE_TYPE_SM;
    let (mut whole, mut part) = (CUdevResource::default(), CUdevResource::default());
    let (mut descriptor, mut green, mut context) = (null_mut(), null_mut(), null_mut());
    let mut count = 1;
    // SAFETY: the places outlive the calls, and there is one place for a group.
    unsafe {
        driver
            .cuDeviceGetDevResource(0, &raw mut whole, kind)
            .unwrap();
        let rest = null_mut();
        driver
            .cuDevSmResourceSplitByCount(
                &raw mut part,
                &raw mut count,
                &raw const whole,
                rest,
                0,
                4,
            )
            .unwrap();
        driver
            .cuDevResourceGenerateDesc(&raw mut descriptor, &raw mut part, 1)
            .unwrap();
        driver
            .cuGreenCtxCreate(&raw mut green, descriptor, 0, 1)
            .unwrap();
        driver.cuCtxFromGreenCtx(&raw mut context, green).unwrap();
    }
    (green, context)
}

fn set(client: &Client, context: CUcontext) -> Result<(), DriverError> {
    // SAFETY: a context of this driver, or the bug.
    unsafe { client.driver.cuCtxSetCurrent(context) }
}

// 49. Without it a program that restores a context which another thread has destroyed would run
// here, and crash on some driver.
#[test]
fn a_destroyed_context_is_made_current() {
    let finding = found(|client, bug| {
        let driver = &client.driver;
        let before = create(driver);
        set(client, before).unwrap();
        std::thread::scope(|scope| {
            let before = before.addr();
            let end = move || {
                // SAFETY: a live context, and nothing is in it.
                unsafe { driver.cuCtxDestroy_v2(without_provenance_mut(before)) }.unwrap();
            };
            scope.spawn(end).join().unwrap();
        });
        let mut found = null_mut();
        // SAFETY: the place outlives the call.
        unsafe { driver.cuCtxGetCurrent(&raw mut found) }.unwrap();
        assert_eq!(found, before, "the driver still says so");
        set(client, client.context).unwrap();
        if bug {
            assert!(set(client, found).is_err());
        }
    });
    expect(&finding, Kind::DestroyedContext, "cuCtxSetCurrent");
    assert_eq!(finding.other.unwrap().function, "cuCtxDestroy_v2");
}

// 50. Without it the same by a push, of a green context.
#[test]
fn a_destroyed_green_context_is_pushed() {
    let finding = found(|client, bug| {
        let driver = &client.driver;
        let (green, context) = green(driver);
        let mut popped = null_mut();
        // SAFETY: the place outlives the calls; what is destroyed is named by the bug alone.
        unsafe {
            if !bug {
                driver.cuCtxPushCurrent_v2(context).unwrap();
                driver.cuCtxPopCurrent_v2(&raw mut popped).unwrap();
            }
            driver.cuGreenCtxDestroy(green).unwrap();
            if bug {
                assert!(driver.cuCtxPushCurrent_v2(context).is_err());
            }
        }
    });
    expect(&finding, Kind::DestroyedContext, "cuCtxPushCurrent_v2");
    assert_eq!(finding.other.unwrap().function, "cuGreenCtxDestroy");
}

// 51. Without it two threads could work in one green context, which NVIDIA forbids and this
// device does not mind. The driver forbids it also when one works after the other.
#[test]
fn a_green_context_is_current_on_two_threads() {
    for end_of_the_thread in [false, true] {
        let finding = found(|client, bug| {
            let driver = &client.driver;
            let (green, context) = green(driver);
            set(client, context).unwrap();
            if !bug {
                set(client, client.context).unwrap();
            }
            std::thread::scope(|scope| {
                let at = context.addr();
                let other = move || {
                    // SAFETY: a live context.
                    unsafe { driver.cuCtxSetCurrent(without_provenance_mut(at)) }.unwrap();
                    if !end_of_the_thread {
                        // SAFETY: no context is always allowed.
                        unsafe { driver.cuCtxSetCurrent(null_mut()) }.unwrap();
                    }
                };
                scope.spawn(other).join().unwrap();
            });
            // The other thread has taken it off, or has ended.
            set(client, client.context).unwrap();
            set(client, context).unwrap();
            set(client, client.context).unwrap();
            // SAFETY: a live green context that is current nowhere.
            unsafe { driver.cuGreenCtxDestroy(green) }.unwrap();
        });
        expect(&finding, Kind::SharedGreenContext, "cuCtxSetCurrent");
        assert_eq!(finding.other.unwrap().function, "cuGreenCtxCreate");
    }
}
