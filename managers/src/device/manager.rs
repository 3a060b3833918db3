//! `DeviceManager`: one payload a device, in slots in place, made when first asked for.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use cupola_core::tag;
use cupola_sys::driver::{CUdevice, Driver};

use super::{Device, DeviceHandle, DeviceInner, DevicesConfig};
use crate::context::{ClosedContext, ContextManager, ContextsConfig, End};
use crate::driver::Ledger;
use crate::error::{Cause, Error, Result, Site};
use crate::lists;
use crate::peer::{PeerLink, PeerMatrix};
use crate::registry::{Fixed, Registry, part};
use crate::shutdown_report::{LeasedObject, ShutdownReport};
use crate::stats::{ManagerStats, State};
use crate::sync::capacity::Permit;

/// More devices than any one driver shows.
const DEVICES: usize = 256;

/// The devices of one driver.
///
/// Every device has a handle from the start, and nothing else: the state of a device is made when
/// it is first asked for, by one of the threads that ask.
pub struct DeviceManager {
    driver: Driver,
    /// Devices that the driver shows.
    shown: u32,
    ledger: Arc<Ledger>,
    devices: Registry<DeviceInner, tag::Device, Fixed<DeviceInner, DEVICES>>,
    /// How many of them are used: as many as `setup` has handles of, unless it is shut down.
    count: AtomicU32,
    /// Never locked across a driver call.
    setup: Mutex<Setup>,
}

struct Setup {
    /// The handle of each device that is used, by ordinal; none after a shutdown.
    handles: Vec<DeviceHandle>,
    /// The contexts of each device that was made, under its handle: as long as the device is there,
    /// and after it as long as a context is, or an object in one.
    made: Vec<(DeviceHandle, Arc<ContextManager>)>,
    /// How contexts of devices that are made from now on are set up.
    contexts: ContextsConfig,
    /// How they are set up for a test, if for one.
    #[cfg(feature = "test-utils")]
    test: Option<crate::testing::TestConfig>,
}

impl Setup {
    /// Forgets the contexts of devices that are gone, if they are.
    fn prune(&mut self) {
        lists::retain(&mut self.made, |(_, contexts)| {
            Arc::strong_count(contexts) > 1 || !contexts.is_empty()
        });
    }
}

/// The contexts of a device between the two phases of its shutdown.
struct ClosedDevice {
    handle: DeviceHandle,
    /// Unless it is gone.
    device: Option<Arc<DeviceInner>>,
    contexts: Arc<ContextManager>,
    closed: Vec<ClosedContext>,
}

impl DeviceManager {
    pub(crate) fn new(
        driver: Driver,
        ledger: Arc<Ledger>,
        (config, contexts): (DevicesConfig, ContextsConfig),
        site: Site,
    ) -> Result<Self> {
        let mut count = 0;
        // SAFETY: `count` outlives the call, and `cuInit` has succeeded.
        unsafe { driver.cuDeviceGetCount(&raw mut count) }
            .map_err(|call| Error::of_cause(Cause::new(call, site)))?;
        let manager = Self {
            driver,
            // A driver with more devices than slots shows as many as there are slots.
            shown: u32::try_from(count).unwrap_or(0).min(DEVICES as u32),
            ledger,
            devices: Registry::fixed(),
            count: AtomicU32::new(0),
            setup: Mutex::new(Setup {
                handles: Vec::new(),
                made: Vec::new(),
                contexts,
                #[cfg(feature = "test-utils")]
                test: None,
            }),
        };
        manager.configure(config)?;
        Ok(manager)
    }

    fn setup(&self) -> MutexGuard<'_, Setup> {
        self.setup.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of devices that are used; ordinals are below it.
    #[doc(alias = "cuDeviceGetCount")]
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count.load(Ordering::Relaxed)
    }

    /// The handle of the device with this ordinal, which need not be alive yet.
    ///
    /// # Errors
    /// [`Error::Invalid`] when there is no such device; [`Error::ShutDown`];
    /// [`Error::Forked`].
    pub fn handle(&self, ordinal: u32) -> Result<DeviceHandle> {
        self.not_forked()?;
        let setup = self.setup();
        let used = self.count();
        if ordinal >= used {
            let shown = self.shown;
            let problem = format!(
                "there is no device {ordinal}, {used} are used and the driver shows {shown}"
            );
            return Err(Error::invalid("device ordinal", problem));
        }
        let handle = setup.handles.get(ordinal as usize).copied();
        handle.ok_or(Error::ShutDown { kind: "Device" })
    }

    /// Handles of all devices, alive or not, by ordinal; none after a shutdown, and in a fork.
    #[must_use]
    pub fn handles(&self) -> Vec<DeviceHandle> {
        if self.not_forked().is_err() {
            return Vec::new();
        }
        self.setup().handles.clone()
    }

    /// The device with this ordinal, made alive if it is not.
    ///
    /// # Errors
    /// [`Error::Invalid`] when there is no such device; [`Error::ShutDown`];
    /// [`Error::Forked`]; what the driver returned.
    #[doc(alias = "cuDeviceGet")]
    #[track_caller]
    pub fn get(&self, ordinal: u32) -> Result<Device> {
        self.get_at(ordinal, Site::here())
    }

    fn get_at(&self, ordinal: u32, site: Site) -> Result<Device> {
        loop {
            match self.ensure_alive_at(self.handle(ordinal)?, site) {
                // Released meanwhile: it has another handle now.
                Err(Error::StaleHandle { .. }) if self.state() == State::Ready => {}
                outcome => return outcome,
            }
        }
    }

    /// The device that `handle` names, made alive if it is not (`cuDeviceGet`). One of
    /// several threads that ask at once makes it; the others sleep, and get its result.
    ///
    /// # Errors
    /// [`Error::StaleHandle`], [`Error::ShutDown`], [`Error::Forked`]; what the driver
    /// returned: the next call tries again.
    #[doc(alias = "cuDeviceGet")]
    #[track_caller]
    pub fn ensure_alive(&self, handle: DeviceHandle) -> Result<Device> {
        self.ensure_alive_at(handle, Site::here())
    }

    /// Refuses a fork, first of all: the thread that makes a device alive, or holds a lock, may not
    /// be in the child.
    fn not_forked(&self) -> Result<()> {
        if self.ledger.is_forked() {
            return Err(Error::Forked);
        }
        Ok(())
    }

    fn ensure_alive_at(&self, handle: DeviceHandle, site: Site) -> Result<Device> {
        self.not_forked()?;
        let place = {
            let setup = self.setup();
            setup.handles.iter().position(|known| *known == handle)
        };
        let make = |permit| {
            // A handle that is not stale has an ordinal; a stale one is refused before this.
            let ordinal = place.and_then(|place| u32::try_from(place).ok());
            let ordinal = ordinal.ok_or_else(|| Error::stale("Device", handle.to_bits()))?;
            self.make((handle, permit), ordinal, site)
        };
        self.devices.ensure_alive(handle, make).map(Device)
    }

    fn make(
        &self,
        (handle, permit): (DeviceHandle, Permit),
        ordinal: u32,
        site: Site,
    ) -> Result<DeviceInner> {
        let site = Site {
            device: Some(ordinal),
            ..site
        };
        let mut raw: CUdevice = 0;
        let index = i32::try_from(ordinal).unwrap_or(i32::MAX);
        // SAFETY: `raw` outlives the call.
        unsafe { self.driver.cuDeviceGet(&raw mut raw, index) }
            .map_err(|call| Error::of_cause(Cause::new(call, site)))?;
        Ok(DeviceInner {
            handle,
            ordinal,
            raw,
            contexts: self.make_contexts(handle, (raw, ordinal))?,
            driver: self.driver.clone(),
            info: OnceLock::new(),
            _permit: permit,
        })
    }

    /// The manager of the contexts of a device that is just being made. A thread that configures or
    /// ends contexts from now on finds it, whether or not the device is alive by then.
    fn make_contexts(
        &self,
        handle: DeviceHandle,
        device: (CUdevice, u32),
    ) -> Result<Arc<ContextManager>> {
        let (driver, ledger) = (self.driver.clone(), Arc::clone(&self.ledger));
        let mut setup = self.setup();
        let contexts = ContextManager::new(driver, device, ledger, setup.contexts);
        #[cfg(feature = "test-utils")]
        if let Some(test) = setup.test {
            contexts.configure_for_test(test)?;
        }
        let contexts = Arc::new(contexts);
        setup.prune();
        setup.made.push((handle, Arc::clone(&contexts)));
        Ok(contexts)
    }

    /// The device that `handle` names, if it is alive.
    ///
    /// # Errors
    /// [`Error::NotAlive`] when no call has asked for it yet; [`Error::StaleHandle`] when it was
    /// released or is another manager's.
    pub fn lease(&self, handle: DeviceHandle) -> Result<Device> {
        self.devices.lease(handle).map(Device)
    }

    /// Whether the device is alive: made, and not released since.
    #[must_use]
    pub fn is_alive(&self, handle: DeviceHandle) -> bool {
        self.devices.is_alive(handle)
    }

    /// Gives up the state of the device: its handle and those of its contexts are stale from now
    /// on, and the device has a new handle, under which it starts anew. Leases stay good, of the
    /// device and of its contexts, and an object goes with its last one. But a released [`Device`]
    /// makes no more contexts ([`Error::ShutDown`]), unless these are
    /// [configured](ContextManager::configure) again: [`get`](Self::get) gives one that does.
    ///
    /// # Errors
    /// [`Error::StaleHandle`]; [`Error::NotAlive`] while another thread makes it alive;
    /// [`Error::Forked`].
    pub fn release(&self, handle: DeviceHandle) -> Result<()> {
        self.not_forked()?;
        let (released, contexts) = {
            let mut setup = self.setup();
            let released = self.devices.take(handle)?;
            // Also of a device that another thread has made alive just now, and has all of.
            let made = setup.made.iter().find(|(known, _)| *known == handle);
            let contexts = made.map(|(_, contexts)| Arc::clone(contexts));
            if let Some(place) = setup.handles.iter().position(|known| *known == handle) {
                setup.handles[place] = self.devices.reserve()?;
            }
            (released, contexts)
        };
        if let Some(contexts) = contexts {
            contexts.release_all();
        }
        drop(released);
        Ok(())
    }

    /// All devices, in the order of their ordinals, each made alive. Errors are those of
    /// [`get`](Self::get), and name the line that called this.
    #[track_caller]
    pub fn iter(&self) -> impl Iterator<Item = Result<Device>> + '_ {
        let site = Site::here();
        (0..self.count()).map(move |ordinal| self.get_at(ordinal, site))
    }

    /// What the driver says of the links between all pairs of devices. It makes no device alive.
    ///
    /// # Errors
    /// [`Error::Forked`]; what the driver returned.
    #[doc(alias = "cuDeviceCanAccessPeer")]
    #[doc(alias = "cuDeviceGetP2PAttribute")]
    #[track_caller]
    pub fn peers(&self) -> Result<PeerMatrix> {
        self.not_forked()?;
        let site = Site::here();
        let count = self.count();
        let mut devices = Vec::new();
        for ordinal in 0..count {
            let mut raw: CUdevice = 0;
            let index = i32::try_from(ordinal).unwrap_or(i32::MAX);
            // SAFETY: `raw` outlives the call.
            unsafe { self.driver.cuDeviceGet(&raw mut raw, index) }
                .map_err(|call| Error::at(call, Some(ordinal), site))?;
            devices.push((ordinal, raw));
        }
        let mut links = Vec::new();
        for &device in &devices {
            for &peer in devices.iter().filter(|&&peer| peer != device) {
                let link = PeerLink::read(&self.driver, device, peer);
                links.push(link.map_err(|call| Error::at(call, Some(device.0), site))?);
            }
        }
        Ok(PeerMatrix::new(count, links))
    }

    /// Figures so far: of the devices that were made alive.
    #[must_use]
    pub fn stats(&self) -> ManagerStats {
        ManagerStats {
            capacity: self.count() as usize,
            ..self.devices.stats()
        }
    }

    /// Whether devices can be had.
    #[must_use]
    pub fn state(&self) -> State {
        State::of(self.devices.is_shut())
    }

    /// Sets the manager up, after a [`shutdown`](Self::shutdown) again. Devices that are no
    /// longer used are [released](Self::release).
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the field; [`Error::Forked`].
    pub fn configure(&self, config: DevicesConfig) -> Result<()> {
        self.not_forked()?;
        let count = self.check(config)?;
        let surplus = {
            let mut setup = self.setup();
            self.devices.open(DEVICES);
            while setup.handles.len() < count as usize {
                setup.handles.push(self.devices.reserve()?);
            }
            self.count.store(count, Ordering::Relaxed);
            setup.handles.split_off(count as usize)
        };
        for &handle in &surplus {
            // Stale if it was released meanwhile.
            let _ = self.release(handle);
        }
        Ok(())
    }

    /// How many devices this asks for; refuses more than the driver has.
    pub(crate) fn check(&self, config: DevicesConfig) -> Result<u32> {
        let count = config.capacity.unwrap_or(self.shown);
        if config.capacity == Some(0) || count > self.shown {
            let shown = self.shown;
            let problem = format!("{count} is not from 1 to {shown}, as many as the driver shows");
            return Err(Error::invalid("devices.capacity", problem));
        }
        Ok(count)
    }

    /// How contexts are set up, of devices that are alive and of those to come.
    pub(crate) fn configure_contexts(&self, config: ContextsConfig) -> Result<()> {
        self.not_forked()?;
        let mut setup = self.setup();
        setup.contexts = config;
        // Contexts of released devices stay as they are.
        for (_, contexts) in setup
            .made
            .iter()
            .filter(|(handle, _)| setup.handles.contains(handle))
        {
            contexts.configure(config)?;
        }
        Ok(())
    }

    /// How this manager is set up, and how contexts are.
    pub(crate) fn config(&self) -> (DevicesConfig, ContextsConfig) {
        let setup = self.setup();
        let capacity = Some(self.count());
        (DevicesConfig { capacity }, setup.contexts)
    }

    /// For contexts of devices to come; refused when one was made alive already.
    #[cfg(feature = "test-utils")]
    pub(crate) fn configure_for_test(&self, config: crate::testing::TestConfig) -> Result<()> {
        let config = config.check()?;
        let mut setup = self.setup();
        if self.devices.stats().created > 0 {
            return Err(crate::testing::TestConfig::too_late("Device"));
        }
        setup.test = Some(config);
        Ok(())
    }

    #[cfg(feature = "test-utils")]
    pub(crate) fn is_configured_for_test(&self) -> bool {
        self.setup().test.is_some()
    }

    /// Shuts down every device, its contexts and the objects in them, in two phases: first all
    /// levels refuse and every handle is stale, then every object without a lease is destroyed,
    /// from the bottom up. Nothing is handed out until [`configure`](Self::configure).
    #[track_caller]
    pub fn shutdown(&self) -> ShutdownReport {
        if let Err(forked) = self.not_forked() {
            return ShutdownReport::refused(forked);
        }
        let mut report = ShutdownReport::default();
        let closed = self.close(&mut report);
        self.drain(closed, &mut report);
        report
    }

    /// First phase of a shutdown.
    #[track_caller]
    fn close(&self, report: &mut ShutdownReport) -> Vec<ClosedDevice> {
        let (mut devices, made) = {
            let mut setup = self.setup();
            setup.handles.clear();
            let devices = self.devices.shut();
            setup.prune();
            (devices, setup.made.clone())
        };
        let mut closed = Vec::new();
        // No closure, which would not know this function's caller.
        for (handle, contexts) in made {
            let device = devices.iter().position(|(known, _)| *known == handle);
            closed.push(ClosedDevice {
                handle,
                device: device.map(|place| devices.swap_remove(place).1),
                closed: contexts.close(report),
                contexts,
            });
        }
        closed
    }

    /// Second phase.
    #[track_caller]
    fn drain(&self, closed: Vec<ClosedDevice>, report: &mut ShutdownReport) {
        let mut end = End::default();
        let mut devices = Vec::new();
        for closed in closed {
            closed.contexts.drain(closed.closed, &mut end, report);
            devices.push((closed.handle, closed.device, closed.contexts));
        }
        let managers: Vec<_> = devices.iter().map(|(_, _, contexts)| &**contexts).collect();
        end.of_all(&managers, report);
        for (handle, device, _) in devices {
            let Some(device) = device else {
                continue;
            };
            let ordinal = device.ordinal;
            if let Err(leases) = part(device) {
                report.leased.push(LeasedObject {
                    device: Some(ordinal),
                    ..LeasedObject::new::<tag::Device>(handle, leases)
                });
            }
        }
        self.setup().prune();
    }
}

impl fmt::Debug for DeviceManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceManager")
            .field("count", &self.count())
            .finish_non_exhaustive()
    }
}
