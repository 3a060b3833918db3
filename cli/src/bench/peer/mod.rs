//! Copies between two devices: ours against the driver's call, without access and with it.

mod handles;
mod memory;

use std::time::Instant;

use cupola_managers::peer::PeerError;
use cupola_managers::{Context, Error, ExecutionManager, PeerAccess, Stream, ops};
use cupola_sys::driver::DriverError;

use super::Figures;
use handles::Handles;
use memory::{PoolMemory, RawMemory};

/// The part of the raw rate that copies are to reach.
const KEPT: f64 = 0.95;

/// A failure.
#[derive(Debug, thiserror::Error)]
pub enum PeerBenchError {
    /// Of a call.
    #[error(transparent)]
    Failed(#[from] Error),
    /// Of a call of the driver by hand.
    #[error("a call of the driver: {0}")]
    Driver(#[from] DriverError),
}

/// Sizes of a measurement.
struct Plan {
    /// Bytes of a copy.
    sizes: &'static [usize],
    rounds: usize,
    /// About so many bytes are copied in a round.
    bytes: usize,
}

impl Plan {
    fn new(quick: bool, software: bool) -> Self {
        match (quick, software) {
            (true, _) => Self {
                sizes: &[64 << 10],
                rounds: 1,
                bytes: 64 << 10,
            },
            (false, true) => Self {
                sizes: &[64 << 10, 1 << 20, 16 << 20],
                rounds: 5,
                bytes: 64 << 20,
            },
            (false, false) => Self {
                sizes: &[64 << 10, 1 << 20, 16 << 20, 256 << 20, 1 << 30],
                rounds: 11,
                bytes: 1 << 30,
            },
        }
    }

    fn largest(&self) -> usize {
        self.sizes.iter().copied().max().unwrap_or(0)
    }

    /// Rounds of copies of this size. Those of small ones are short, and what disturbs the machine is not.
    fn rounds(&self, bytes: usize) -> usize {
        match bytes < 1 << 20 && self.rounds > 1 {
            true => 9 * self.rounds,
            false => self.rounds,
        }
    }

    /// Copies of this size in a round.
    fn copies(&self, bytes: usize) -> usize {
        (self.bytes / bytes).clamp(1, 256)
    }
}

/// Measures copies between the first two devices; with `quick` so few that the figures mean nothing.
/// With one device there are no rows, and a note.
///
/// # Errors
/// What the driver returned; what the check of the first use has found.
pub fn run(
    execution: &ExecutionManager,
    name: String,
    quick: bool,
) -> Result<Figures, PeerBenchError> {
    let plan = Plan::new(quick, name.contains("software"));
    let mut figures = Figures::new("peer", name);
    let devices = execution.devices();
    if devices.count() < 2 {
        let note = "one device: copies between devices need two";
        figures.notes.push(note.into());
        return Ok(figures);
    }
    for line in devices.peers()?.to_string().lines() {
        figures.notes.push(line.into());
    }
    let contexts = [devices.get(0)?.primary()?, devices.get(1)?.primary()?];
    let [here, there] = &contexts;
    let mut sides = [Side::new(here, &plan)?, Side::new(there, &plan)?];
    ways(&mut figures, &mut sides, &plan, "through the host")?;
    match access(here, there) {
        Ok(_access) => {
            sides[0].pool.pool.open_to(there)?;
            sides[1].pool.pool.open_to(here)?;
            ways(&mut figures, &mut sides, &plan, "direct")?;
            let bytes = plan.largest();
            for handles in Handles::ALL {
                handles.measure(&mut figures, &mut sides, bytes, plan.rounds)?;
            }
        }
        Err(Error::Peer(error)) if matches!(*error, PeerError::NoLink { .. }) => {
            figures.notes.push(format!("no access: {error}"));
        }
        Err(error) => return Err(error.into()),
    }
    Ok(figures)
}

/// Access both ways, for memory of the driver's own.
fn access(here: &Context, there: &Context) -> Result<[PeerAccess; 2], Error> {
    Ok([here.peer_access(there)?, there.peer_access(here)?])
}

/// One device, and its memory.
struct Side {
    context: Context,
    stream: Stream,
    /// Of a pool that may have half of the device.
    pool: PoolMemory,
    driver: RawMemory,
}

impl Side {
    fn new(context: &Context, plan: &Plan) -> Result<Self, PeerBenchError> {
        let bytes = plan.largest();
        let stream = context.streams().create(Default::default())?;
        let half = context.memory_info()?.total / 2;
        Ok(Self {
            pool: PoolMemory::new(context, bytes, half, &stream)?,
            driver: RawMemory::allocate(context, bytes)?,
            context: context.clone(),
            stream,
        })
    }
}

/// Where copies go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// From the first device to the second, on the first one's stream.
    There,
    /// From the second device to the first, on the second one's stream.
    Back,
    /// Both at once.
    Both,
}

impl Way {
    const ALL: [Self; 3] = [Self::There, Self::Back, Self::Both];

    fn name(self) -> &'static str {
        match self {
            Self::There => "0 to 1",
            Self::Back => "1 to 0",
            Self::Both => "both ways",
        }
    }

    /// The devices that copies are from.
    fn sources(self) -> &'static [usize] {
        match self {
            Self::There => &[0],
            Self::Back => &[1],
            Self::Both => &[0, 1],
        }
    }
}

/// All ways and sizes, ours and the driver's in turns.
fn ways(
    figures: &mut Figures,
    sides: &mut [Side; 2],
    plan: &Plan,
    how: &str,
) -> Result<(), PeerBenchError> {
    for way in Way::ALL {
        for &bytes in plan.sizes {
            let copies = plan.copies(bytes);
            let (mut raw, mut ours) = (Vec::new(), Vec::new());
            // One more, which warms up.
            for round in 0..=plan.rounds(bytes) {
                let by_hand = rate(sides, way, bytes, copies, by_the_driver)?;
                let by_us = rate(sides, way, bytes, copies, by_the_managers)?;
                if round > 0 {
                    raw.push(by_hand);
                    ours.push(by_us);
                }
            }
            let what = format!("{}, {}, {how}", way.name(), size(bytes));
            let driver = format!("{what}: cuMemcpyPeerAsync");
            let managers = format!("{what}: copy_between");
            figures.push(&driver, "GB/s", &raw, None);
            figures.push(&managers, "GB/s", &ours, Some(&driver));
            figures.want_least(&managers, KEPT, &driver);
        }
    }
    Ok(())
}

fn size(bytes: usize) -> String {
    match bytes >> 20 {
        0 => format!("{} KiB", bytes >> 10),
        mebibytes => format!("{mebibytes} MiB"),
    }
}

/// Puts a copy of so many bytes from one device to the other.
type Put = fn(&mut [Side; 2], usize, usize) -> Result<(), PeerBenchError>;

/// GB/s of copies that are waited for at the end.
fn rate(
    sides: &mut [Side; 2],
    way: Way,
    bytes: usize,
    copies: usize,
    put: Put,
) -> Result<f64, PeerBenchError> {
    for side in &*sides {
        ops::synchronize(&side.stream)?;
    }
    let start = Instant::now();
    for _ in 0..copies {
        for &source in way.sources() {
            put(sides, source, bytes)?;
        }
    }
    for side in &*sides {
        ops::synchronize(&side.stream)?;
    }
    let all = (bytes * copies * way.sources().len()) as f64;
    Ok(all / start.elapsed().as_secs_f64() / 1e9)
}

/// Both sides, that of the copy's source first.
fn from_and_to(sides: &mut [Side; 2], source: usize) -> (&mut Side, &mut Side) {
    let [first, second] = sides;
    match source {
        0 => (first, second),
        _ => (second, first),
    }
}

fn by_the_managers(
    sides: &mut [Side; 2],
    source: usize,
    bytes: usize,
) -> Result<(), PeerBenchError> {
    let (from, to) = from_and_to(sides, source);
    let part = from.pool.from.slice(..bytes)?;
    ops::copy_between(part, to.pool.to.slice_mut(..bytes)?, &from.stream)?;
    Ok(())
}

fn by_the_driver(sides: &mut [Side; 2], source: usize, bytes: usize) -> Result<(), PeerBenchError> {
    let (from, to) = from_and_to(sides, source);
    // SAFETY: memory of `bytes` bytes at least on both sides, which is kept until the streams were
    // waited for.
    unsafe {
        from.context.driver().cuMemcpyPeerAsync(
            to.driver.to,
            to.context.as_raw(),
            from.driver.from,
            from.context.as_raw(),
            bytes,
            from.stream.as_raw(),
        )
    }?;
    Ok(())
}
