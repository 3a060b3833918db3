//! Launches that ask nothing before the driver's call: they ask again once an answer may be another one.

use cupola_managers::buffer::DeviceSliceMut;
use cupola_managers::ops::{self, InOut, Kernel, KernelArg, LaunchConfig};
use cupola_managers::stream::StreamHandle;
use cupola_managers::{Blame, Buffer, Error, Result, Stream};
use cupola_sys::driver::{CUresult, id};

use super::Bench;

const PTX: &str = "
.visible .entry store(.param .u64 to) {
    .reg .b64 %l1; ld.param.u64 %l1, [to]; st.global.u32 [%l1], 7; ret;
}
";

/// An address at which there is no memory.
const NOWHERE: u64 = 0x10;

const ONE: LaunchConfig = LaunchConfig::linear(1, 1);

struct Stores {
    bench: Bench,
    kernel: Kernel<(InOut<u32>,)>,
    buffer: Buffer<u32>,
}

impl Stores {
    /// The stream's launches ask nothing any more.
    fn new() -> Self {
        let bench = Bench::new();
        let function = bench.function(PTX, "store");
        // SAFETY: the kernel has this parameter.
        let kernel = unsafe { Kernel::new(function) }.unwrap();
        let pool = bench.base.pool(8 << 20);
        let buffer = pool.zeros(8, &bench.stream).unwrap();
        let stores = Self {
            bench,
            kernel,
            buffer,
        };
        for _ in 0..3 {
            stores.launch().unwrap();
        }
        stores
    }

    #[track_caller]
    fn launch_at(&self, address: u64, stream: &Stream) -> Result<()> {
        // SAFETY: the address is the buffer's; or of no memory on purpose, which the software device answers with an error.
        unsafe {
            let to = DeviceSliceMut::<u32>::from_raw(address, 8);
            self.kernel.launch(ONE, (to,), stream)
        }
    }

    #[track_caller]
    fn launch(&self) -> Result<()> {
        self.launch_at(self.buffer.as_raw(), &self.bench.stream)
    }
}

// Without it a launch could go unchecked in checked mode, because one before it was not to be checked.
#[test]
fn checked_mode_concerns_the_next_launch() {
    let stores = Stores::new();
    let (context, faults) = (&stores.bench.base.context, &stores.bench.base.faults);
    let waits = || faults.count(id::cuStreamSynchronize);
    for by_another_thread in [false, true] {
        match by_another_thread {
            false => context.set_checked(true),
            true => std::thread::scope(|scope| {
                scope.spawn(|| context.set_checked(true));
            }),
        }
        let before = waits();
        stores.launch().unwrap();
        stores.launch().unwrap();
        assert_eq!(waits(), before + 2);
        context.set_checked(false);
        stores.launch().unwrap();
        assert_eq!(waits(), before + 2);
    }
}

// Without it an address could go unchecked, because that of a launch before was not to be checked.
#[test]
fn checks_of_addresses_concern_the_next_launch() {
    let stores = Stores::new();
    let (context, stream) = (&stores.bench.base.context, &stores.bench.stream);
    context.set_pointer_checks(true);
    let asked = || stores.bench.base.faults.count(id::cuPointerGetAttribute);
    let before = asked();
    stores.launch().unwrap();
    let once = asked() - before;
    assert!(once > 0, "the pool is from before the checks");
    stores.launch().unwrap();
    assert_eq!(asked() - before, 2 * once);
    // What the question is refused with is the launch's error.
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    stores
        .bench
        .base
        .faults
        .fail(id::cuPointerGetAttribute, asked() + 1, code);
    let error = stores.launch().unwrap_err();
    let line = line!() - 1;
    assert_eq!(error.status(), Some(code));
    assert_eq!(error.location().unwrap().line(), line);
    for _ in 0..2 {
        let refused = stores.launch_at(NOWHERE, stream).unwrap_err();
        assert!(matches!(refused, Error::Pointer { .. }), "{refused}");
    }
    context.set_pointer_checks(false);
    stores.launch().unwrap();
}

// Without it a launch could be suspected that is not to be remembered.
#[test]
fn tracking_concerns_the_next_launch() {
    let stores = Stores::new();
    let (context, stream) = (&stores.bench.base.context, &stores.bench.stream);
    ops::synchronize(stream).unwrap();
    context.set_tracking(false);
    stores.launch_at(NOWHERE, stream).unwrap();
    let error = ops::synchronize(stream).unwrap_err();
    assert_eq!(error.cause().unwrap().blame, None, "{error}");
}

// Without it a launch could be put on a stream of a context that is lost, as those before it were while it was
// not.
#[test]
fn a_loss_concerns_the_next_launch() {
    let stores = Stores::new();
    let (base, stream) = (&stores.bench.base, &stores.bench.stream);
    let other = base.stream();
    for _ in 0..2 {
        stores.launch_at(stores.buffer.as_raw(), &other).unwrap();
    }
    stores.launch_at(NOWHERE, stream).unwrap();
    let line = line!() - 1;
    let error = ops::synchronize(stream).unwrap_err();
    let Some(Blame::OneOf(list)) = error.cause().unwrap().blame.as_deref() else {
        panic!("{error}");
    };
    let newest = &list[0].site;
    assert_eq!(newest.location.line(), line, "{error}");
    assert_eq!(newest.stream, Some(stream.handle()), "{error}");
    base.faults.reset();
    for stream in [stream, &other] {
        let refused = stores
            .launch_at(stores.buffer.as_raw(), stream)
            .unwrap_err();
        assert!(matches!(refused, Error::Poisoned { .. }), "{refused}");
    }
    assert_eq!(base.faults.count(id::cuLaunchKernel), 0);
}

// Without it a launch could be remembered under a name that its stream had in another life.
#[test]
fn a_launch_is_of_the_life_of_its_stream() {
    let stores = Stores::new();
    let base = &stores.bench.base;
    let mut handles = Vec::new();
    for _ in 0..3 {
        let stream = base.stream();
        stores.launch_at(stores.buffer.as_raw(), &stream).unwrap();
        handles.push(stream.handle());
        ops::synchronize(&stream).unwrap();
    }
    let place = |handle: StreamHandle| (handle.manager(), handle.index());
    assert_eq!(place(handles[0]), place(handles[2]));
    assert_ne!(handles[0].generation(), handles[2].generation());
    let stream = base.stream();
    stores.launch_at(NOWHERE, &stream).unwrap();
    let error = ops::synchronize(&stream).unwrap_err();
    let Some(Blame::OneOf(list)) = error.cause().unwrap().blame.as_deref() else {
        panic!("{error}");
    };
    assert_eq!(list[0].site.stream, Some(stream.handle()), "{error}");
}

// Without it a launch could be remembered under the name of another stream: that of the place where its stream was
// before the names there were used up.
#[cfg(feature = "test-utils")]
#[test]
fn a_launch_is_of_the_place_of_its_stream() {
    use cupola_managers::testing::TestConfig;

    let base = super::TestBench::on(super::hopper());
    let lives = TestConfig::new().lives(2);
    base.context.streams().configure_for_test(lives).unwrap();
    let stream = base.stream();
    let (first, raw) = (stream.handle(), stream.as_raw());
    let bench = Bench { base, stream };
    let function = bench.function(PTX, "store");
    // SAFETY: the kernel has this parameter.
    let kernel = unsafe { Kernel::<(InOut<u32>,)>::new(function) }.unwrap();
    let launch = |stream: &Stream| {
        // SAFETY: an address of no memory on purpose, which the software device answers with an error.
        unsafe {
            let to = DeviceSliceMut::<u32>::from_raw(NOWHERE, 8);
            kernel.launch(ONE, (to,), stream)
        }
    };
    let nothing = "\n.visible .entry nothing() { ret; }\n";
    let nothing = bench.function(nothing, "nothing");
    // SAFETY: the kernel has no parameters.
    let well = |stream: &Stream| unsafe { ops::launch(&nothing, ONE, (), stream) };
    let Bench { base, mut stream } = bench;
    while stream.handle().index() == first.index() {
        well(&stream).unwrap();
        drop(stream);
        stream = base.stream();
    }
    assert_eq!(stream.as_raw(), raw);
    for _ in 0..2 {
        well(&stream).unwrap();
    }
    ops::synchronize(&stream).unwrap();
    launch(&stream).unwrap();
    let error = ops::synchronize(&stream).unwrap_err();
    let Some(Blame::OneOf(list)) = error.cause().unwrap().blame.as_deref() else {
        panic!("{error}");
    };
    assert_eq!(list[0].site.stream, Some(stream.handle()), "{error}");
}

/// An argument of a type of the program's own, whose code does something.
struct Meddling<F>(F);

impl<F: Fn()> KernelArg for Meddling<F> {
    type Value = u64;

    fn value(&self) -> u64 {
        (self.0)();
        0
    }
}

// Without it a launch could go unchecked that an argument of the program's own has put under checked mode.
#[test]
fn an_argument_may_change_what_a_launch_asks() {
    let stores = Stores::new();
    let (base, stream) = (&stores.bench.base, &stores.bench.stream);
    let ptx = "\n.visible .entry takes(.param .u64 n) { ret; }\n";
    let function = stores.bench.function(ptx, "takes");
    let takes = |change: &dyn Fn()| {
        // SAFETY: the kernel has this parameter, and touches nothing.
        unsafe { ops::launch(&function, ONE, (Meddling(change),), stream) }
    };
    let calls = std::cell::Cell::new(0);
    for launches in 1..4 {
        takes(&|| calls.set(calls.get() + 1)).unwrap();
        assert_eq!(calls.get(), launches, "a value is asked for once");
    }
    let waits = || base.faults.count(id::cuStreamSynchronize);
    let before = waits();
    takes(&|| base.context.set_checked(true)).unwrap();
    assert_eq!(waits(), before + 1);
}

// Without it a launch that the driver refuses could pass for one that it took, or the error name another line.
#[test]
fn a_refused_launch_is_an_error_of_its_line() {
    let stores = Stores::new();
    let faults = &stores.bench.base.faults;
    let fail = |code| {
        let next = faults.count(id::cuLaunchKernel) + 1;
        faults.fail(id::cuLaunchKernel, next, code);
    };
    let code = CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    fail(code);
    let refused = stores.launch().unwrap_err();
    let line = line!() - 1;
    assert_eq!(refused.status(), Some(code));
    let location = refused.location().unwrap();
    assert_eq!((location.file(), location.line()), (file!(), line));
    stores.launch().unwrap();
    let before = faults.count(id::cuLaunchKernel);
    // Refused because none is current, as drivers before 580 may: once more with its own.
    let driver = stores.bench.base.context.driver();
    // SAFETY: no context is current then, which is that of this crate's next call all the same.
    unsafe { driver.cuCtxSetCurrent(std::ptr::null_mut()) }.unwrap();
    fail(CUresult::CUDA_ERROR_INVALID_CONTEXT);
    stores.launch().unwrap();
    assert_eq!(faults.count(id::cuLaunchKernel), before + 2);
    ops::synchronize(&stores.bench.stream).unwrap();
}
