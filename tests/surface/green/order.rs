//! What waits for what, and where kernels run.

use super::*;

/// Without it, work of a green context could wait for other work of its device, or a
/// program could take the device for idle while a green context works.
#[test]
fn a_green_context_waits_for_itself_alone() {
    let raw = Raw::open();
    let d = &raw.driver;
    let (green, context) = raw.small_green();
    let memory = raw.upload(&[0; 64]);
    let (mut blocking, stream) = (null_mut(), raw.stream_of(green));
    // SAFETY: the place outlives the call.
    unsafe { d.cuStreamCreate(&raw mut blocking, 0) }.unwrap();
    let event = raw.event_here();
    {
        let gate = Gate::new(&raw);
        gate.hold(blocking);
        raw.set_current(context);
        assert_eq!(raw.fill(memory, null_mut()), OK);
        // SAFETY: no pointers.
        unsafe { d.cuCtxSynchronize() }.expect("the green context's work alone");
        assert_eq!(raw.query(null_mut()), OK);
        // SAFETY: live handles.
        unsafe {
            d.cuGreenCtxRecordEvent(green, event).unwrap();
            d.cuEventSynchronize(event).expect("the green context's");
        }
        raw.set_current(raw.context);
        assert_eq!(raw.query(null_mut()), NOT_READY);
    }
    {
        let gate = Gate::new(&raw);
        gate.hold(stream);
        // SAFETY: live handles.
        unsafe {
            d.cuGreenCtxRecordEvent(green, event).unwrap();
            assert_eq!(code(d.cuEventQuery(event)), NOT_READY);
            raw.set_current(context);
            // The record waits, and no stream with it.
            assert_eq!(raw.query(null_mut()), OK);
            gate.open();
            d.cuEventSynchronize(event).unwrap();
        }
        assert_eq!(raw.query(stream), OK);
    }
    raw.destroy(stream);
    raw.destroy(blocking);
    raw.destroy_green(green);
    // SAFETY: a live handle.
    unsafe { d.cuEventDestroy_v2(event) }.unwrap();
    raw.free(memory);
}

/// Without it, the primary context's default stream could run ahead of its parts' blocking
/// streams, or those ahead of their own default stream.
#[test]
fn blocking_streams_are_seen_from_around() {
    let raw = Raw::open();
    let d = &raw.driver;
    let (green, context) = raw.small_green();
    let memory = raw.upload(&[0; 64]);
    let (mut inner, mut outer) = (null_mut(), null_mut());
    raw.set_current(context);
    // SAFETY: the places outlive the calls.
    unsafe { d.cuStreamCreate(&raw mut inner, 0) }.unwrap();
    raw.set_current(raw.context);
    // SAFETY: as above.
    unsafe { d.cuStreamCreate(&raw mut outer, 0) }.unwrap();
    {
        let gate = Gate::new(&raw);
        gate.hold(inner);
        assert_eq!(raw.fill(memory, null_mut()), OK);
        assert_eq!(raw.query(null_mut()), NOT_READY);
        raw.set_current(context);
        assert_eq!(raw.fill(memory, null_mut()), OK);
        assert_eq!(raw.query(null_mut()), NOT_READY);
    }
    {
        let gate = Gate::new(&raw);
        raw.set_current(context);
        gate.hold(null_mut());
        assert_eq!(raw.fill(memory, inner), OK);
        assert_eq!(raw.query(inner), NOT_READY);
        raw.set_current(raw.context);
        assert_eq!(raw.fill(memory, outer), OK);
        assert_eq!(raw.query(outer), NOT_READY);
    }
    raw.destroy(inner);
    raw.destroy(outer);
    raw.destroy_green(green);
    raw.free(memory);
}

/// Without it, work that a green context was told to hold back could start early in some of
/// its streams.
#[test]
fn all_later_work_waits_for_an_event() {
    let raw = Raw::open();
    let d = &raw.driver;
    let (green, context) = raw.small_green();
    let memory = raw.upload(&[0; 64]);
    let (mut plain, stream, idle) = (null_mut(), raw.stream_of(green), raw.stream_of(green));
    // SAFETY: the place outlives the call.
    unsafe { d.cuStreamCreate(&raw mut plain, 1) }.unwrap();
    let (event, never) = (raw.event_here(), raw.event_here());
    let later;
    {
        let gate = Gate::new(&raw);
        gate.hold(plain);
        // SAFETY: live handles.
        unsafe {
            d.cuEventRecord(event, plain).unwrap();
            d.cuGreenCtxWaitEvent(green, event).unwrap();
            // One that was never recorded holds nothing back.
            d.cuGreenCtxWaitEvent(green, never).unwrap();
        }
        later = raw.stream_of(green);
        for stream in [stream, later] {
            assert_eq!(raw.fill(memory, stream), OK);
            assert_eq!(raw.query(stream), NOT_READY);
        }
        assert_eq!(raw.query(idle), OK, "it has no work that could wait");
        raw.set_current(context);
        assert_eq!(raw.fill(memory, null_mut()), OK);
        assert_eq!(raw.query(null_mut()), NOT_READY);
        gate.open();
        // SAFETY: no pointers.
        unsafe { d.cuCtxSynchronize() }.unwrap();
        assert_eq!(raw.query(later), OK);
    }
    // SAFETY: live handles, null ones, and one of another context.
    unsafe {
        assert_eq!(code(d.cuGreenCtxRecordEvent(green, null_mut())), NO_HANDLE);
        assert_eq!(code(d.cuGreenCtxWaitEvent(green, null_mut())), NO_HANDLE);
        assert_eq!(code(d.cuGreenCtxRecordEvent(null_mut(), event)), NO_CONTEXT);
        assert_eq!(code(d.cuGreenCtxWaitEvent(null_mut(), event)), NO_CONTEXT);
        let mut other = null_mut();
        d.cuCtxCreate_v2(&raw mut other, 0, raw.device).unwrap();
        let foreign = raw.event_here();
        assert_eq!(code(d.cuGreenCtxRecordEvent(green, foreign)), NO_HANDLE);
        d.cuGreenCtxWaitEvent(green, foreign).unwrap();
        d.cuEventDestroy_v2(foreign).unwrap();
        d.cuCtxDestroy_v2(other).unwrap();
        raw.set_current(raw.context);
        for stream in [stream, idle, later, plain] {
            raw.destroy(stream);
        }
        raw.destroy_green(green);
        d.cuEventDestroy_v2(event).unwrap();
        d.cuEventDestroy_v2(never).unwrap();
    }
    raw.free(memory);
}

/// Without it, kernels of a green context could run on multiprocessors of another, or be
/// counted for the whole device.
#[test]
fn kernels_run_on_their_own_multiprocessors() {
    let raw = Raw::open();
    let d = &raw.driver;
    let whole = raw.resource();
    let all = sm(&whole).smCount;
    let parts = raw.split(&whole, 2, 0, 0).groups;
    let greens: Vec<_> = parts.iter().map(|part| raw.green(part)).collect();
    raw.set_current(greens[0].1);
    let (mut module, mut function) = (null_mut(), null_mut());
    // SAFETY: the image ends with a zero and, as the places, outlives the calls.
    unsafe {
        d.cuModuleLoadData(&raw mut module, COUNT.as_ptr().cast())
            .unwrap();
        d.cuModuleGetFunction(&raw mut function, module, c"k".as_ptr())
            .unwrap();
    }
    let words = 1 + all as usize;
    let blocks = 64 * all;
    let run = |stream: CUstream| {
        let mut at = raw.upload(&vec![0; words * 4]);
        let mut arguments = [(&raw mut at).cast()];
        let (first, none) = (arguments.as_mut_ptr(), null_mut());
        // SAFETY: the kernel's one parameter is an address with a word for each
        // multiprocessor, which lives until the stream was waited for.
        unsafe {
            d.cuLaunchKernel(function, blocks, 1, 1, 32, 1, 1, 0, stream, first, none)
                .expect("a launch");
        }
        raw.synchronize(stream);
        let bytes = raw.download(at, words * 4);
        raw.free(at);
        let told: Vec<_> = bytes
            .chunks(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        assert_eq!(told[0], all, "%nsmid is the device's");
        assert_eq!(told[1..].iter().sum::<u32>(), blocks * 32);
        let used = (0..all).filter(|at| told[1 + *at as usize] > 0);
        used.collect::<BTreeSet<u32>>()
    };
    let mut seen: Vec<BTreeSet<u32>> = Vec::new();
    for ((green, context), part) in greens.iter().zip(&parts) {
        let stream = raw.stream_of(*green);
        let most = sm(part).smCount;
        raw.set_current(*context);
        let mut used = run(stream);
        used.extend(run(null_mut()));
        // The stream decides, not what is current.
        raw.set_current(raw.context);
        used.extend(run(stream));
        assert!(used.len() <= most as usize, "{used:?} of {most}");
        assert!(seen.iter().all(|other| other.is_disjoint(&used)));
        seen.push(used);
        let (mut each, mut grid, mut block) = (0, 0, 0);
        let f = function;
        // SAFETY: the places outlive the calls; a refused kernel does not run.
        unsafe {
            d.cuOccupancyMaxActiveBlocksPerMultiprocessor(&raw mut each, f, 32, 0)
                .unwrap();
            let least = each.cast_unsigned() * most;
            let mut at = 0_u64;
            let mut arguments = [(&raw mut at).cast()];
            let first = arguments.as_mut_ptr();
            let more = least + 1;
            let large = d.cuLaunchCooperativeKernel(f, more, 1, 1, 32, 1, 1, 0, stream, first);
            let refused = CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
            assert_eq!(code(large), refused);
            raw.set_current(*context);
            let (grid_at, block_at) = (&raw mut grid, &raw mut block);
            d.cuOccupancyMaxPotentialBlockSize(grid_at, block_at, f, None, 0, 0)
                .unwrap();
            assert_eq!(grid.cast_unsigned() % most, 0);
            raw.set_current(raw.context);
        }
        raw.destroy(stream);
    }
    raw.set_current(raw.context);
    // SAFETY: nothing runs.
    unsafe { d.cuModuleUnload(module) }.unwrap();
    for (green, _) in greens {
        raw.destroy_green(green);
    }
}

/// Without it, a thread could go on in a green context that is gone, or a stream of it.
#[test]
fn a_destroyed_green_context_is_gone() {
    let raw = Raw::open();
    let d = &raw.driver;
    let (green, context) = raw.small_green();
    let stream = raw.stream_of(green);
    raw.set_current(context);
    let (mut now, mut address) = (null_mut(), 0);
    let memory = raw.upload(&[0; 64]);
    raw.destroy_green(green);
    // SAFETY: the places outlive the calls; the handles are what is asked about.
    unsafe {
        // What is current stays what it was, and works no more.
        d.cuCtxGetCurrent(&raw mut now).unwrap();
        assert_eq!(now, context);
        assert_eq!(code(d.cuCtxSynchronize()), GONE[0]);
        assert_eq!(code(d.cuMemAlloc_v2(&raw mut address, 8)), GONE[0]);
        raw.set_current(raw.context);
        assert!(GONE.contains(&raw.query(stream)));
        assert!(GONE.contains(&raw.fill(memory, stream)));
        let mut device = 0;
        let asked = d.cuStreamGetDevice(stream, &raw mut device);
        if let Err(CallError::Failed { code, .. }) = asked {
            assert!(GONE.contains(&code), "{code:?}");
        }
        // An error up to CUDA 13.0; the handle is gone all the same.
        let destroyed = code(d.cuStreamDestroy_v2(stream));
        assert!([OK, GONE[0]].contains(&destroyed), "{destroyed:?}");
    }
    raw.free(memory);
}
