//! Host functions, and callbacks of the loss of a context.

use super::*;

// Without it a function that the driver still calls could be freed before that.
#[test]
fn a_host_function_is_dropped_only_if_the_driver_did_not_take_it() {
    let (table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let shared = Arc::new(());
    let put = |code| {
        table.reset();
        table.fail(id::cuLaunchHostFunc, 1, code);
        let captured = Arc::clone(&shared);
        let error = ops::host_function(&stream, move || drop(captured)).unwrap_err();
        (Arc::strong_count(&shared), error.is_retryable())
    };
    assert_eq!(put(CUresult::CUDA_ERROR_INVALID_VALUE), (1, false));
    assert_eq!(put(CUresult::CUDA_ERROR_OUT_OF_MEMORY), (1, true));
    assert_eq!(put(UNKNOWN), (2, false));
    // It may be called: trying again could have it called twice.
    assert_eq!(put(CUresult::CUDA_ERROR_NOT_READY), (3, false));
}

// Without it a function's end would never be heard of by who waits for it, just when something
// went wrong; or it would be called after it was dropped.
#[test]
fn a_host_function_of_a_lost_context_is_dropped() {
    let (table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let hold = hold(&stream);
    let (done, wait) = channel::<()>();
    let called = Arc::new(AtomicBool::new(false));
    ops::host_function(&stream, {
        let called = Arc::clone(&called);
        move || {
            called.store(true, Ordering::SeqCst);
            let _ = done.send(());
        }
    })
    .unwrap();
    let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    table.fail(id::cuStreamQuery, 1, code);
    assert_eq!(ops::query(&stream).unwrap_err().status(), Some(code));
    // It is still behind the one that is held up, and its sender is gone.
    let gone = Err(RecvTimeoutError::Disconnected);
    assert_eq!(wait.recv_timeout(Duration::from_secs(20)), gone);
    drop(hold);
    // Nor is one kept that comes too late.
    let (done, wait) = channel::<()>();
    let late = ops::host_function(&stream, move || drop(done));
    assert!(matches!(late, Err(Error::Poisoned { .. })));
    assert_eq!(wait.recv_timeout(Duration::from_secs(20)), gone);
    assert!(!called.load(Ordering::SeqCst));
}

// Without it one subscriber would be heard in the place of another, or none that comes late.
#[test]
fn all_subscribers_are_told_of_a_loss_once() {
    let (table, _machine, _execution, context) = open();
    let stream = context.streams().create(Default::default()).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let watch = |number| {
        let told = Arc::clone(&told);
        context.on_loss(move |error| told.lock().unwrap().push((number, error.clone())))
    };
    let panics = context.on_loss(|_| panic!("in a subscriber"));
    let (one, gone, two) = (watch(1), watch(0), watch(2));
    drop(gone);
    let code = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
    table.fail_from(id::cuStreamQuery, 1, code);
    for _ in 0..2 {
        ops::query(&stream).unwrap_err();
    }
    let late = watch(3);
    let lost = context.poison().unwrap();
    let expected = [1, 2, 3].map(|number| (number, lost.clone()));
    assert_eq!(*told.lock().unwrap(), expected);
    drop((one, two, late, panics));
}
