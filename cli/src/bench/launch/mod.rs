//! What a launch costs beside the driver's own call, in all forms that this crate has, and in cudarc's.

mod allocations;
#[cfg(feature = "peers")]
mod peer;

use std::ffi::c_void;
use std::time::Instant;
use std::{mem, ptr};

use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut};
use cupola_managers::module::Function;
use cupola_managers::ops::{self, In, InOut, Kernel, LaunchArgs, LaunchConfig};
use cupola_managers::{Buffer, Context, Device, Error, PoolConfig, Stream};
use cupola_sys::driver::{CUfunction, CUresult, CUstream, DriverError, id, pfn};

use super::{Figures, median};
use crate::trace::SplitMix;

/// A kernel that does nothing with five arguments.
const PTX: &str = "
    .version 6.0
    .target sm_60
    .address_size 64
    .visible .entry nothing(.param .u64 n, .param .f32 a, .param .u32 b, .param .u64 x, .param .u64 y) {
        ret;
    }
";

type Nothing = (u64, f32, u32, In<f32>, InOut<f32>);

const SHAPE: LaunchConfig = LaunchConfig::linear(1, 32);

/// Nanoseconds that a launch may take beside the driver's call.
const BESIDE: f64 = 30.0;

/// Nanoseconds that the check of an address may take.
const CHECK: f64 = 50.0;

/// The row that the others are compared with.
const RAW: &str = "cuLaunchKernel";
/// The same once more: how far two rows may differ though they measure the same.
const AGAIN: &str = "cuLaunchKernel, once more";
const TYPED: &str = "a kernel with a signature";
/// Two of the arguments are addresses of other code.
const ADDRESSES: &str = "a kernel with a signature, of addresses";
const CHECKED: &str = "a kernel with a signature, of addresses that are checked";

/// A failure.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// Of a call.
    #[error(transparent)]
    Failed(#[from] Error),
    /// Of a call of the driver that is compared with.
    #[error("a call of the driver: {0}")]
    Driver(#[from] DriverError),
    /// Of another library.
    #[error("{0}: {1}")]
    Peer(&'static str, String),
}

/// One form of a launch, which is made again and again.
struct Form<'m> {
    name: &'static str,
    launch: Box<dyn FnMut(u32) -> Result<(), LaunchError> + 'm>,
    settle: Box<dyn Fn() -> Result<(), LaunchError> + 'm>,
    /// Nanoseconds of the launch in the middle, of each round.
    times: Vec<f64>,
    /// Allocations of the host in a round with the fewest.
    allocations: u64,
}

impl<'m> Form<'m> {
    /// `launch` makes one launch, the how manyth of its round it is told, and `settle` waits for a round.
    fn new(
        name: &'static str,
        launch: impl FnMut(u32) -> Result<(), LaunchError> + 'm,
        settle: impl Fn() -> Result<(), LaunchError> + 'm,
    ) -> Self {
        Self {
            name,
            launch: Box::new(launch),
            settle: Box::new(settle),
            times: Vec::new(),
            allocations: u64::MAX,
        }
    }

    fn round(&mut self, launches: u32) -> Result<(), LaunchError> {
        let mut each = Vec::with_capacity(launches as usize);
        let before = allocations::of_this_thread();
        for launch in 0..launches {
            let start = Instant::now();
            (self.launch)(launch)?;
            each.push(start.elapsed().as_secs_f64() * 1e9);
        }
        self.allocations = self.allocations.min(allocations::of_this_thread() - before);
        // What holds the thread up concerns few launches, and changes the mean of all.
        self.times.push(median(&each));
        (self.settle)()
    }
}

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

/// Measures launches on `device`; with `quick` so few that the figures mean nothing.
///
/// # Errors
/// What the driver, or another library, returned.
pub fn run(device: &Device, name: String, quick: bool) -> Result<Figures, LaunchError> {
    let is_software = name.contains("software");
    let (rounds, launches) = match (quick, is_software) {
        (true, _) => (1, 4),
        (false, true) => (101, 64),
        // Differences of some tens of nanoseconds, where single rounds differ by hundreds: many rounds,
        // and short ones, so that two that are compared are soon after each other.
        (false, false) => (8001, 16),
    };
    let mut figures = Figures::new("launch", name);
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
    peer::add(device, &mut forms, &mut figures.notes)?;
    #[cfg(not(feature = "peers"))]
    figures
        .notes
        .push("without cudarc's rows: build with --features peers".into());
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
    add_rows(&mut figures, &forms);
    Ok(figures)
}

fn add_rows(figures: &mut Figures, forms: &[Form<'_>]) {
    for form in forms {
        let against = (form.name != RAW).then_some(RAW);
        figures.push(form.name, "ns", &form.times, against);
    }
    let Some((raw, others)) = forms.split_first() else {
        return;
    };
    for form in others {
        let pairs = form.times.iter().zip(&raw.times);
        let beside: Vec<f64> = pairs.map(|(time, raw)| time - raw).collect();
        let row = figures.push(
            &format!("{}: more than the driver's call", form.name),
            "ns",
            &beside,
            None,
        );
        if form.name == TYPED {
            row.want(BESIDE);
        }
    }
    let form = |name| forms.iter().find(|form| form.name == name);
    if let (Some(unchecked), Some(checked)) = (form(ADDRESSES), form(CHECKED)) {
        let pairs = checked.times.iter().zip(&unchecked.times);
        let each: Vec<f64> = pairs
            .map(|(with, without)| (with - without) / 2.0)
            .collect();
        let name = "the check of an address among 1000 blocks";
        figures.push(name, "ns", &each, None).want(CHECK);
    }
    for form in others {
        // The software device allocates within the call.
        let more = form.allocations as f64 - raw.allocations as f64;
        let name = format!("{}: allocations beside the driver's", form.name);
        let row = figures.push(&name, "allocations", &[more], None);
        if form.name == TYPED {
            row.want(0.0);
        }
    }
    let peers: Vec<&str> = others.iter().map(|form| form.name).collect();
    let peers: Vec<&str> = peers
        .into_iter()
        .filter(|name| name.starts_with("cudarc"))
        .collect();
    figures.want(TYPED, 1.0, &peers);
}
