//! What a launch takes the host: 64 of a kernel that does nothing between two waits, in each form by turns.

use std::time::Instant;

use cupola::managers::ops;

use crate::driver::Driver;
use crate::failure::Failure;
use crate::figures::{Figures, median};
use crate::nvidia::{Keeping, Nvidia};
use crate::ours::{Ours, SHAPE};

const LAUNCHES: u32 = 64;

/// Differences are of some tens of nanoseconds, where single rounds differ by hundreds.
const ROUNDS: usize = 1001;

/// One form of a launch.
struct Form<'m> {
    name: &'static str,
    launch: Box<dyn FnMut(u64) -> Result<(), Failure> + 'm>,
    settle: Box<dyn Fn() -> Result<(), Failure> + 'm>,
    /// Nanoseconds of the launch in the middle, of each round.
    times: Vec<f64>,
}

impl<'m> Form<'m> {
    /// `launch` makes one launch, the how manyth of its round it is told, and `settle` waits for a round.
    fn new(
        name: &'static str,
        launch: impl FnMut(u64) -> Result<(), Failure> + 'm,
        settle: impl Fn() -> Result<(), Failure> + 'm,
    ) -> Self {
        Self {
            name,
            launch: Box::new(launch),
            settle: Box::new(settle),
            times: Vec::new(),
        }
    }

    fn round(&mut self) -> Result<(), Failure> {
        let mut each = [0.0; LAUNCHES as usize];
        for (n, time) in (0..).zip(&mut each) {
            let start = Instant::now();
            (self.launch)(n)?;
            *time = start.elapsed().as_secs_f64() * 1e9;
        }
        // What holds the thread up concerns few launches, and changes the mean of all.
        self.times.push(median(&each));
        (self.settle)()
    }
}

/// Adds the rows of launches; with `quick` of so few that they mean nothing.
pub fn measure(
    driver: &Driver,
    ours: &Ours,
    nvidia: &Nvidia,
    quick: bool,
    figures: &mut Figures,
) -> Result<(), Failure> {
    let rounds = if quick { 3 } else { ROUNDS };
    let mut output = ours.output()?;
    let raw = ours.output()?;
    let (function, stream) = (ours.nothing_function.as_raw(), ours.stream.as_raw());
    let settle = || Ok(ops::synchronize(&ours.stream)?);
    let theirs = || Ok(nvidia.stream.synchronize()?);
    let mut forms = [
        Form::new(
            "cuLaunchKernel",
            |n| {
                let (mut n, mut a, mut b) = (n, 2.0_f32, 3_u32);
                let (mut x, mut y) = (ours.x.as_raw(), raw.as_raw());
                let mut parameters = [
                    (&raw mut n).cast(),
                    (&raw mut a).cast(),
                    (&raw mut b).cast(),
                    (&raw mut x).cast(),
                    (&raw mut y).cast(),
                ];
                // SAFETY: function and stream are alive and of the primary context, which is current,
                // the pointers lead to values of the kernel's parameters, and it touches nothing.
                unsafe { driver.launch(function, stream, &mut parameters) }
            },
            settle,
        ),
        Form::new(
            "cupola, Kernel::launch",
            |n| {
                let arguments = (n, 2.0, 3, &ours.x, &mut output);
                // SAFETY: the kernel touches nothing.
                unsafe { ours.nothing.launch(SHAPE, arguments, &ours.stream) }?;
                Ok(())
            },
            settle,
        ),
        Form::new("cuda-core, launch_kernel", |n| nvidia.launch(n), theirs),
        Form::new(
            "cuda-core, launch_kernel_on_stream",
            |n| nvidia.launch_on_stream(n),
            theirs,
        ),
        Form::new(
            "cuda-async, AsyncKernelLaunch of addresses",
            |n| nvidia.launch_operation(n, Keeping::Nothing),
            theirs,
        ),
        Form::new(
            "cuda-async, AsyncKernelLaunch that keeps its buffers",
            |n| nvidia.launch_operation(n, Keeping::Launch),
            theirs,
        ),
    ];
    let count = forms.len();
    for round in 0..=rounds {
        for turn in 0..count {
            // By turns: which comes first, and after which, may matter.
            forms[(turn + round) % count].round()?;
        }
    }
    // The first round warms up.
    for form in &mut forms {
        form.times.remove(0);
    }
    for form in &forms {
        figures.push(form.name, "ns", &form.times);
    }
    let [raw, others @ ..] = &forms;
    for form in others {
        let pairs = form.times.iter().zip(&raw.times);
        let beside: Vec<f64> = pairs.map(|(time, raw)| time - raw).collect();
        let name = format!("{}: more than the driver's call", form.name);
        figures.push(name, "ns", &beside);
    }
    Ok(())
}
