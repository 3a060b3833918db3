//! The process: its driver, and a pool for each device that has been asked for memory.
//!
//! All of it is there until the process ends, and no exit handler touches it: the driver may be gone by
//! then, and the system takes the memory back.

use std::sync::{Mutex, OnceLock};

use cupola_managers::ExecutionManager;
use cupola_sys::driver::Driver;

use crate::device_pool::{DevicePool, Wanted};
use crate::error::Failure;
use crate::sync::lock;

struct Process {
    execution: ExecutionManager,
    devices: Box<[Place]>,
}

#[derive(Default)]
struct Place {
    pool: OnceLock<DevicePool>,
    /// Locked while the pool is made.
    wanted: Mutex<Wanted>,
}

static PROCESS: OnceLock<Process> = OnceLock::new();

/// Loads the driver at the first call. One that fails is tried again at the next.
fn process() -> Result<&'static Process, Failure> {
    static STARTING: Mutex<()> = Mutex::new(());
    if let Some(process) = PROCESS.get() {
        return Ok(process);
    }
    let _starting = lock(&STARTING);
    if let Some(process) = PROCESS.get() {
        return Ok(process);
    }
    let execution = ExecutionManager::new(Driver::load()?)?;
    let places = (0..execution.devices().count()).map(|_| Place::default());
    let devices = places.collect();
    Ok(PROCESS.get_or_init(|| Process { execution, devices }))
}

/// Loads the driver.
pub(crate) fn start() -> Result<(), Failure> {
    process().map(drop)
}

fn place(device: i32) -> Result<(&'static Process, u32, &'static Place), Failure> {
    let process = process()?;
    let ordinal = u32::try_from(device).ok();
    let place = ordinal.and_then(|at| Some((at, process.devices.get(at as usize)?)));
    let count = process.devices.len() as u32;
    let (ordinal, place) = place.ok_or(Failure::NoDevice { device, count })?;
    Ok((process, ordinal, place))
}

/// The pool of a device, in its primary context: made at the first call.
pub(crate) fn device_pool(device: i32) -> Result<&'static DevicePool, Failure> {
    let (process, ordinal, place) = place(device)?;
    if let Some(pool) = place.pool.get() {
        // Before any lock: another thread of the parent may have held it.
        pool.not_forked()?;
        return Ok(pool);
    }
    // Refuses a fork, as above.
    let device = process.execution.devices().get(ordinal)?;
    let wanted = lock(&place.wanted);
    if let Some(pool) = place.pool.get() {
        return Ok(pool);
    }
    let pool = DevicePool::new(&device, *wanted)?;
    Ok(place.pool.get_or_init(|| pool))
}

/// Refuses the child of a fork: before a lock of this library is taken, which another thread of the parent
/// may have held.
pub(crate) fn not_forked() -> Result<(), Failure> {
    match device_pools().next() {
        Some(pool) => pool.not_forked(),
        None => Ok(()),
    }
}

/// The pools that there are.
pub(crate) fn device_pools() -> impl Iterator<Item = &'static DevicePool> {
    let places = PROCESS.get().map(|process| &process.devices);
    places
        .into_iter()
        .flatten()
        .filter_map(|place| place.pool.get())
}

/// Says how a device's pool is to be made.
pub(crate) fn configure(device: i32, wanted: Wanted) -> Result<(), Failure> {
    let (process, ordinal, place) = place(device)?;
    process.execution.devices().get(ordinal)?;
    let mut kept = lock(&place.wanted);
    if place.pool.get().is_some() {
        return Err(Failure::Configured(ordinal));
    }
    *kept = wanted;
    Ok(())
}
