//! From the launch of a kernel until the host knows that it is done: in `cuStreamSynchronize`, and by futures
//! that a thread blocks on, in each form by turns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use cupola::managers::ops;

use crate::driver::Driver;
use crate::failure::Failure;
use crate::figures::{Figures, median};
use crate::nvidia::Nvidia;
use crate::ours::Ours;

/// Microseconds that the kernels take: shorter than what cupola and cuda-async ask the driver themselves for,
/// as long, and longer.
const LENGTHS: [f64; 3] = [2.0, 20.0, 100.0];

const ROUNDS: usize = 2001;

/// One form of a wait.
struct Form<'m> {
    name: &'static str,
    work: Box<dyn Fn(u64) -> Result<(), Failure> + 'm>,
    /// Microseconds of each round.
    times: Vec<f64>,
}

impl<'m> Form<'m> {
    /// `work` launches a kernel of so many cycles, and waits for it.
    fn new(name: &'static str, work: impl Fn(u64) -> Result<(), Failure> + 'm) -> Self {
        Self {
            name,
            work: Box::new(work),
            times: Vec::new(),
        }
    }

    fn round(&mut self, cycles: u64) -> Result<(), Failure> {
        let start = Instant::now();
        (self.work)(cycles)?;
        self.times.push(start.elapsed().as_secs_f64() * 1e6);
        Ok(())
    }
}

/// Adds the rows of waits; with `quick` of so few that they mean nothing.
pub fn measure(
    driver: &Driver,
    ours: &Ours,
    nvidia: &Nvidia,
    quick: bool,
    figures: &mut Figures,
) -> Result<(), Failure> {
    let rounds = if quick { 3 } else { ROUNDS };
    let (function, stream) = (ours.spin_function.as_raw(), ours.stream.as_raw());
    let by_hand = |mut cycles: u64| {
        let mut parameters = [(&raw mut cycles).cast()];
        // SAFETY: function and stream are alive and of the primary context, which is current, the pointer
        // leads to a value of the kernel's parameter, and it touches nothing.
        unsafe {
            driver.launch(function, stream, &mut parameters)?;
            driver.synchronize(stream)
        }
    };
    let each = cycles_in_a_microsecond(by_hand, quick)?;
    figures.note(format!("a multiprocessor's clock: {each:.0} MHz"));
    for length in LENGTHS {
        let mut forms = [
            Form::new("cuStreamSynchronize", by_hand),
            Form::new("cupola, a stream awaited", |cycles| {
                ours.spin(cycles)?;
                Ok(pollster::block_on(async { (&ours.stream).await })?)
            }),
            Form::new("cupola, an event awaited", |cycles| {
                ours.spin(cycles)?;
                ops::record(&ours.event, &ours.stream)?;
                Ok(pollster::block_on(async { (&ours.event).await })?)
            }),
            Form::new("cupola, told by its thread", |cycles| told(ours, cycles)),
            Form::new("cuda-async, awaited", |cycles| nvidia.spin_awaited(cycles)),
            Form::new("cuda-async, sync_on", |cycles| nvidia.spin_waited(cycles)),
        ];
        let cycles = (length * each) as u64;
        let count = forms.len();
        for round in 0..=rounds {
            for turn in 0..count {
                forms[(turn + round) % count].round(cycles)?;
            }
        }
        add_rows(figures, length, &mut forms);
    }
    Ok(())
}

fn add_rows(figures: &mut Figures, length: f64, forms: &mut [Form<'_>]) {
    // The first round warms up.
    for form in &mut *forms {
        form.times.remove(0);
    }
    for form in &*forms {
        figures.push(format!("{length} us, {}", form.name), "us", &form.times);
    }
    let Some((raw, others)) = forms.split_first() else {
        return;
    };
    for form in others {
        let pairs = form.times.iter().zip(&raw.times);
        let later: Vec<f64> = pairs.map(|(time, raw)| time - raw).collect();
        let name = format!("{length} us, {}: later than the driver's call", form.name);
        figures.push(name, "us", &later);
    }
}

/// Launches a kernel and sleeps until cupola's thread tells that it is done, without a question of this one.
fn told(ours: &Ours, cycles: u64) -> Result<(), Failure> {
    ours.spin(cycles)?;
    let told = Arc::new(AtomicBool::new(false));
    let (tells, sleeper) = (Arc::clone(&told), thread::current());
    let ticket = ours.stream.ticket()?;
    let _watch = ticket.on_done(move |_| {
        tells.store(true, Ordering::Release);
        sleeper.unpark();
    });
    while !told.load(Ordering::Acquire) {
        thread::park();
    }
    Ok(ticket.wait()?)
}

/// How many cycles the clock of a multiprocessor goes on in a microsecond, when it has work.
fn cycles_in_a_microsecond(
    work: impl Fn(u64) -> Result<(), Failure>,
    quick: bool,
) -> Result<f64, Failure> {
    let (rounds, cycles) = if quick { (3, 10_000) } else { (201, 1_000_000) };
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        for (cycles, times) in [(0, &mut without), (cycles, &mut with)] {
            let start = Instant::now();
            work(cycles)?;
            times.push(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    // A device that is as fast with the work as without it would be asked for kernels without an end.
    let more = (median(&with) - median(&without)).max(1.0);
    Ok(cycles as f64 / more)
}
