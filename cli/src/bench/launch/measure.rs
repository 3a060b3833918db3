//! All forms of a launch in this process, by turns.

use std::ffi::c_void;
use std::{mem, ptr};

use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut};
use cupola_managers::module::Function;
use cupola_managers::ops::{self, In, InOut, Kernel, LaunchArgs, LaunchConfig};
use cupola_managers::{Buffer, Context, Device, Error, PoolConfig, Stream};
use cupola_sys::driver::{CUfunction, CUresult, CUstream, DriverError, id, pfn};

use super::form::Form;
use super::{ADDRESSES, AGAIN, CHECKED, LaunchError, RAW, Samples, TYPED};
use crate::trace::SplitMix;

/// A kernel that does nothing with five arguments.
pub(super) const PTX: &str = "
    .version 6.0
    .target sm_60
    .address_size 64
    .visible .entry nothing(.param .u64 n, .param .f32 a, .param .u32 b, .param .u64 x, .param .u64 y) {
        ret;
    }
";

type Nothing = (u64, f32, u32, In<f32>, InOut<f32>);

const SHAPE: LaunchConfig = LaunchConfig::linear(1, 32);

/// What the launches of this crate use.
struct Bench {
    context: Context,
    stream: Stream,
    function: Function,
    x: Buffer<f32>,
    y: Buffer<f32>,
}

impl Bench {
    fn new(device: &Device) -> Result<Self, Error> {
        let context = device.primary()?;
        let stream = context.streams().create(Default::default())?;
        let pool = context.memory_pool(PoolConfig::limit(64 << 20))?;
        Ok(Self {
            function: context.modules().load_ptx(PTX)?.function("nothing")?,
            x: pool.zeros(1024, &stream)?,
            y: pool.zeros(1024, &stream)?,
            stream,
            context,
        })
    }
}

/// The address of the driver's own call. Kernels of the software device are launched by a method alone.
fn driver_call(
    bench: &Bench,
    is_software: bool,
) -> Result<Option<pfn::cuLaunchKernel>, LaunchError> {
    if is_software {
        return Ok(None);
    }
    let address = bench.context.driver().address(id::cuLaunchKernel)?;
    // SAFETY: that function's address.
    Ok(Some(unsafe {
        mem::transmute::<*const c_void, pfn::cuLaunchKernel>(address)
    }))
}

/// The driver's own call.
fn by_hand(
    bench: &Bench,
    call: Option<pfn::cuLaunchKernel>,
    function: CUfunction,
    stream: CUstream,
    launch: u32,
) -> Result<(), LaunchError> {
    let (mut n, mut a, mut b) = (u64::from(launch), 2.0_f32, 3_u32);
    let (mut x, mut y) = (bench.x.as_raw(), bench.y.as_raw());
    let mut pointers = [
        (&raw mut n).cast(),
        (&raw mut a).cast(),
        (&raw mut b).cast(),
        (&raw mut x).cast(),
        (&raw mut y).cast(),
    ];
    let (pointers, none) = (pointers.as_mut_ptr(), ptr::null_mut());
    let Some(call) = call else {
        let driver = bench.context.driver();
        // SAFETY: as below.
        unsafe { driver.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, pointers, none) }?;
        return Ok(());
    };
    // SAFETY: function and stream are alive, the pointers lead to values of the kernel's parameters,
    // and it touches nothing.
    match unsafe { call(function, 1, 1, 1, 32, 1, 1, 0, stream, pointers, none) } {
        CUresult::CUDA_SUCCESS => Ok(()),
        code => Err(refused(code)),
    }
}

#[cold]
fn refused(code: CUresult) -> LaunchError {
    let symbol = id::cuLaunchKernel;
    LaunchError::Driver(DriverError::Failed { symbol, code })
}

/// Buffers of a pool whose blocks are noted by address, of which a launch is given two.
struct Noted {
    buffers: Vec<Buffer<f32>>,
}

impl Noted {
    fn new(bench: &Bench) -> Result<Self, Error> {
        bench.context.set_pointer_checks(true);
        let pool = bench.context.memory_pool(PoolConfig::limit(64 << 20));
        bench.context.set_pointer_checks(false);
        let pool = pool?;
        let buffers = (0..1000).map(|_| pool.zeros(1024, &bench.stream));
        Ok(Self {
            buffers: buffers.collect::<Result<_, Error>>()?,
        })
    }
}

/// Launches with two addresses of other code, which are looked for in the form that is [`CHECKED`].
fn by_address<'m>(
    bench: &'m Bench,
    kernel: &'m Kernel<Nothing>,
    noted: &Noted,
    name: &'static str,
) -> Form<'m> {
    let addresses = [300, 700].map(|place| noted.buffers[place].as_raw());
    let launch = move |n| {
        if n == 0 {
            bench.context.set_pointer_checks(name == CHECKED);
        }
        let [x, y] = addresses;
        // SAFETY: the elements of buffers that outlive all launches, which touch nothing.
        unsafe {
            let x = DeviceSlice::from_raw(x, 1024);
            let y = DeviceSliceMut::from_raw(y, 1024);
            kernel.launch(SHAPE, (u64::from(n), 2.0, 3, x, y), &bench.stream)
        }?;
        Ok(())
    };
    let settle = || {
        bench.context.set_pointer_checks(false);
        Ok(ops::synchronize(&bench.stream)?)
    };
    Form::new(name, launch, settle)
}

/// Measures launches on `device` in this process.
///
/// # Errors
/// What the driver, or another library, returned.
pub(super) fn measure(
    device: &Device,
    is_software: bool,
    quick: bool,
) -> Result<Samples, LaunchError> {
    let (rounds, launches) = match (quick, is_software) {
        (true, _) => (1, 4),
        (false, true) => (101, 64),
        // Differences of some tens of nanoseconds, where single rounds differ by hundreds: many rounds,
        // and short ones, so that two that are compared are soon after each other.
        (false, false) => (8001, 16),
    };
    let mut notes = Vec::new();
    let bench = Bench::new(device)?;
    let (function, stream) = (bench.function.as_raw(), bench.stream.as_raw());
    let call = driver_call(&bench, is_software)?;
    // SAFETY: the parameters of `nothing` are these.
    let kernel = unsafe { Kernel::<Nothing>::new(bench.function.clone()) }?;
    // Written by no launch, but lent as if it were.
    let pool = bench.context.memory_pool(PoolConfig::limit(64 << 20))?;
    let outputs = || pool.zeros::<f32>(1024, &bench.stream);
    let (mut typed, mut tuple, mut listed) = (outputs()?, outputs()?, outputs()?);
    let noted = Noted::new(&bench)?;
    let settle = || Ok(ops::synchronize(&bench.stream)?);
    let mut forms = vec![
        Form::new(RAW, |n| by_hand(&bench, call, function, stream, n), settle),
        Form::new(
            AGAIN,
            |n| by_hand(&bench, call, function, stream, n),
            settle,
        ),
        Form::new(
            TYPED,
            |n| {
                let arguments = (u64::from(n), 2.0, 3, &bench.x, &mut typed);
                // SAFETY: the kernel touches nothing.
                unsafe { kernel.launch(SHAPE, arguments, &bench.stream) }?;
                Ok(())
            },
            settle,
        ),
        Form::new(
            "a tuple of arguments",
            |n| {
                let arguments = (u64::from(n), 2.0_f32, 3_u32, &bench.x, &mut tuple);
                // SAFETY: the kernel touches nothing.
                unsafe { ops::launch(&bench.function, SHAPE, arguments, &bench.stream) }?;
                Ok(())
            },
            settle,
        ),
        Form::new(
            "a list of arguments",
            |n| {
                let mut arguments = LaunchArgs::new();
                arguments.push(u64::from(n))?;
                arguments.push(2.0_f32)?;
                arguments.push(3_u32)?;
                arguments.push_for(&bench.x, &bench.stream)?;
                arguments.push_for(&mut listed, &bench.stream)?;
                // SAFETY: the kernel touches nothing.
                unsafe { ops::launch(&bench.function, SHAPE, &arguments, &bench.stream) }?;
                Ok(())
            },
            settle,
        ),
        by_address(&bench, &kernel, &noted, ADDRESSES),
        by_address(&bench, &kernel, &noted, CHECKED),
    ];
    #[cfg(feature = "peers")]
    super::peer::add(device, &mut forms, &mut notes)?;
    #[cfg(not(feature = "peers"))]
    notes.push("without cudarc's rows: build with --features peers".into());
    let mut order: Vec<usize> = (0..forms.len()).collect();
    let mut random = SplitMix(13);
    for _ in 0..=rounds {
        // By turns, each after each other one as often: what a form leaves in the processor's caches is not the
        // same.
        for place in (1..order.len()).rev() {
            order.swap(place, random.below(place as u64 + 1) as usize);
        }
        for &form in &order {
            forms[form].round(launches)?;
        }
    }
    // The first round warms up.
    for form in &mut forms {
        form.times.remove(0);
    }
    Ok(Samples::of(&forms, notes))
}
