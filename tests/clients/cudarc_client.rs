//! cudarc, a published release as it is: streams, events, stream-ordered memory, pinned and
//! managed memory, kernels made by LLVM.

use std::sync::Arc;

use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{
    CudaContext, CudaFunction, CudaStream, DriverError, LaunchConfig, PushKernelArg as _,
};
use cudarc::nvrtc::Ptx;

use crate::library;

// Without it cudarc could fail to load the library, or see other results than on a GPU.
// The client is a process of its own: the loader reads its path when a program starts.
#[test]
fn cudarc_runs_unmodified() {
    let folder = library::folder();
    let report = folder.path().join("report");
    let program = std::env::current_exe().expect("this program's path");
    let output = library::command(program, &folder)
        .args([
            "--ignored",
            "--exact",
            "cudarc_client::client",
            "--nocapture",
        ])
        .env("CUPOLA_SIM_REPORT", &report)
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
#[ignore = "a process that `cudarc_runs_unmodified` starts, or a GPU machine by hand"]
fn client() {
    let context = CudaContext::new(0).expect("a context");
    println!("{}", context.name().expect("a name"));
    streams_and_events(&context).expect("streams and events");
    pinned(&context).expect("pinned memory");
    managed(&context).expect("managed memory");
    threads(&context).expect("threads");
    context.synchronize().expect("no fault");
    println!("the client is done");
}

/// The saxpy kernel of this project, made by LLVM.
fn saxpy(context: &Arc<CudaContext>) -> Result<CudaFunction, DriverError> {
    let ptx = cupola_kernels::Embedded::with_entry("cupola_saxpy").expect("embedded");
    context
        .load_module(Ptx::from_src(ptx.ptx()))?
        .load_function("cupola_saxpy")
}

fn launch(
    stream: &Arc<CudaStream>,
    function: &CudaFunction,
    a: f32,
    x: &cudarc::driver::CudaSlice<f32>,
    y: &mut cudarc::driver::CudaSlice<f32>,
) -> Result<(), DriverError> {
    let n = x.len() as u64;
    let mut arguments = stream.launch_builder(function);
    arguments.arg(&n).arg(&a).arg(x).arg(y);
    // SAFETY: the kernel reads n elements of x and y and writes those of y.
    unsafe { arguments.launch(LaunchConfig::for_num_elems(x.len() as u32)) }.map(drop)
}

fn streams_and_events(context: &Arc<CudaContext>) -> Result<(), DriverError> {
    let function = saxpy(context)?;
    let (first, second) = (context.new_stream()?, context.new_stream()?);
    let n = 100_000;
    let host: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let timing = Some(CUevent_flags::CU_EVENT_DEFAULT);
    let start = first.record_event(timing)?;
    let x = first.clone_htod(&host)?;
    let mut y = first.alloc_zeros::<f32>(n)?;
    launch(&first, &function, 2.0, &x, &mut y)?;
    let uploaded = first.record_event(None)?;
    second.wait(&uploaded)?;
    launch(&second, &function, 0.5, &x, &mut y)?;
    let end = second.record_event(timing)?;
    first.join(&second)?;
    let mut copy = first.clone_dtod(&y)?;
    first.memset_zeros(&mut y.slice_mut(..n / 2))?;
    let (sum, half) = (first.clone_dtoh(&copy)?, first.clone_dtoh(&y)?);
    assert!(start.elapsed_ms(&end)? >= 0.0);
    assert!(end.is_complete());
    for i in 0..n {
        let want = 2.0f32.mul_add(host[i], 0.0);
        let want = 0.5f32.mul_add(host[i], want);
        assert_eq!(sum[i], want, "element {i}");
        assert_eq!(half[i], if i < n / 2 { 0.0 } else { want });
    }
    first.memcpy_htod(&host[..10], &mut copy.slice_mut(5..15))?;
    assert_eq!(first.clone_dtoh(&copy.slice(5..15))?, &host[..10]);
    Ok(())
}

fn pinned(context: &Arc<CudaContext>) -> Result<(), DriverError> {
    let stream = context.new_stream()?;
    // SAFETY: every element is written before it is read.
    let mut source = unsafe { context.alloc_pinned::<u32>(4096) }?;
    // SAFETY: as above, by the copy.
    let mut back = unsafe { context.alloc_pinned::<u32>(4096) }?;
    for (i, value) in source.as_mut_slice()?.iter_mut().enumerate() {
        *value = i as u32 * 3;
    }
    let device = stream.clone_htod(&source)?;
    stream.memcpy_dtoh(&device, &mut back)?;
    assert_eq!(back.as_slice()?, source.as_slice()?);
    Ok(())
}

fn managed(context: &Arc<CudaContext>) -> Result<(), DriverError> {
    let function = saxpy(context)?;
    let stream = context.default_stream();
    let n = 1000u64;
    // SAFETY: every element is written before it is read.
    let (mut x, mut y) = unsafe {
        (
            context.alloc_unified::<f32>(n as usize, true)?,
            context.alloc_unified::<f32>(n as usize, true)?,
        )
    };
    x.as_mut_slice()?.fill(4.0);
    y.as_mut_slice()?.fill(1.0);
    let a = 2.5f32;
    let mut arguments = stream.launch_builder(&function);
    arguments.arg(&n).arg(&a).arg(&x).arg(&mut y);
    // SAFETY: the kernel reads n elements of x and y and writes those of y.
    unsafe { arguments.launch(LaunchConfig::for_num_elems(n as u32)) }?;
    stream.synchronize()?;
    assert!(y.as_slice()?.iter().all(|value| *value == 11.0));
    Ok(())
}

fn threads(context: &Arc<CudaContext>) -> Result<(), DriverError> {
    let function = saxpy(context)?;
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|worker| {
                let (context, function) = (Arc::clone(context), function.clone());
                scope.spawn(move || {
                    context.bind_to_thread()?;
                    let stream = context.new_stream()?;
                    let x = stream.clone_htod(&vec![worker as f32; 5000])?;
                    let mut y = stream.alloc_zeros::<f32>(5000)?;
                    for _ in 0..10 {
                        launch(&stream, &function, 1.0, &x, &mut y)?;
                    }
                    let back = stream.clone_dtoh(&y)?;
                    assert!(back.iter().all(|value| *value == 10.0 * worker as f32));
                    Ok(())
                })
            })
            .collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().expect("no panic"))
    })
}
