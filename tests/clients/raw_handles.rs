//! cudarc and this crate on the same objects, by raw handles, both ways: contexts, streams and
//! memory.

use std::sync::Arc;

use cudarc::driver::{CudaContext, DevicePtr as _, DevicePtrMut as _};
use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut};
use cupola_managers::{ContextKind, Device, ExecutionManager, PoolConfig, ops};
use cupola_sys::driver::Driver;

use crate::library;

type Outcome = Result<(), Box<dyn std::error::Error>>;

// Without it a program could not give what one of the two crates has to the other, or would get
// other contents, or one of them would end what is the other's.
// The client is a process of its own: the loader reads its path when a program starts.
#[test]
fn handles_go_both_ways() {
    let folder = library::folder();
    let report = folder.path().join("report");
    let program = std::env::current_exe().expect("this program's path");
    let output = library::command(program, &folder)
        .args(["--ignored", "--exact", "raw_handles::client", "--nocapture"])
        .env("CUPOLA_SIM_REPORT", &report)
        .env("CUPOLA_SIM_STRICT", "default")
        .output()
        .expect("the client starts");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(
        text.contains("the client is done"),
        "it did not run: {text}"
    );
    let report = std::fs::read_to_string(report).expect("a report");
    assert_eq!(report, "", "the device has something to say");
}

#[test]
#[ignore = "a process that `handles_go_both_ways` starts, or a GPU machine by hand"]
fn client() {
    let execution = ExecutionManager::new(Driver::load().expect("the library")).expect("a driver");
    let watch = execution.watch();
    let device = execution.devices().get(0).expect("a device");
    let theirs = CudaContext::new(0).expect("cudarc's context");
    ours_to_cudarc(&device, &theirs).expect("ours to cudarc");
    cudarcs_to_us(&device, &theirs).expect("cudarc's to us");
    a_context_of_cudarcs_own(&device).expect("a context");
    drop((device, execution));
    assert!(watch.live().is_empty(), "{:?}", watch.live());
    // What was lent is whole.
    theirs.synchronize().expect("cudarc's context");
    println!("the client is done");
}

/// A stream and a buffer of this crate.
fn ours_to_cudarc(device: &Device, theirs: &Arc<CudaContext>) -> Outcome {
    // Both take the primary context, so it is one.
    let context = device.primary()?;
    assert_eq!(context.as_raw().cast(), theirs.cu_ctx());
    let stream = context.streams().create(Default::default())?;
    let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    let buffer = pool.upload(&[1u32, 2, 3, 4], &stream)?;

    // SAFETY: of this context; the stream is kept until `lent` is gone.
    let lent = unsafe { theirs.wrap_borrowed_stream(stream.as_raw().cast()) };
    // SAFETY: four elements, which stay until `memory` has been taken back below.
    let mut memory = unsafe { lent.upgrade_device_ptr::<u32>(buffer.as_raw(), 4) };
    assert_eq!(lent.clone_dtoh(&memory)?, [1, 2, 3, 4]);
    lent.memcpy_htod(&[5, 6, 7, 8], &mut memory)?;
    // cudarc must not free what the pool has.
    assert_eq!(memory.leak(), buffer.as_raw());
    // The work is on the buffer's own stream, so it is in order.
    assert_eq!(buffer.to_vec(&stream)?, [5, 6, 7, 8]);
    Ok(())
}

/// A stream and memory of cudarc's.
fn cudarcs_to_us(device: &Device, theirs: &Arc<CudaContext>) -> Outcome {
    let context = device.primary()?;
    let their_stream = theirs.new_stream()?;
    let mut memory = their_stream.clone_htod(&[1u32, 2, 3, 4])?;
    {
        // SAFETY: of this context; kept by `their_stream` until all that used it is gone.
        let stream = unsafe {
            context
                .streams()
                .borrow_raw(their_stream.cu_stream().cast())
        }?;
        let (address, _read) = memory.device_ptr(&their_stream);
        // SAFETY: four elements, allocated until the copy has been waited for.
        let view = unsafe { DeviceSlice::<u32>::from_raw(address, 4) };
        assert_eq!(view.to_vec(&stream)?, [1, 2, 3, 4]);
    }
    {
        // SAFETY: as above.
        let stream = unsafe {
            context
                .streams()
                .borrow_raw(their_stream.cu_stream().cast())
        }?;
        let (address, _written) = memory.device_ptr_mut(&their_stream);
        // SAFETY: four elements; cudarc frees them behind the work that is on its stream.
        let view = unsafe { DeviceSliceMut::<u32>::from_raw(address, 4) };
        ops::fill(view, 9, &stream)?;
    }
    assert_eq!(their_stream.clone_dtoh(&memory)?, [9; 4]);
    Ok(())
}

/// A context that cudarc has created, with a pool of this crate's in it.
fn a_context_of_cudarcs_own(device: &Device) -> Outcome {
    let own = CudaContext::new_non_primary(0, 0)?;
    let raw = own.cu_ctx().cast();
    let weak = Arc::downgrade(&own);
    // SAFETY: live as long as the token, which is cudarc's own count.
    let context = unsafe { device.contexts().borrow(raw, own) }?;
    assert_eq!(context.kind(), ContextKind::Borrowed);
    let stream = context.streams().create(Default::default())?;
    let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    assert_eq!(pool.upload(&[7u32; 8], &stream)?.to_vec(&stream)?, [7; 8]);
    drop((pool, stream));
    device.contexts().release(context.handle())?;
    assert!(weak.upgrade().is_some(), "a lease of it is left");
    drop(context);
    assert!(
        weak.upgrade().is_none(),
        "it ends with the last thing in it"
    );
    Ok(())
}
