//! What a machine is made of.

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::time::Duration;

use cupola_sys::{SymbolId, Version};

use crate::device::machine::messages::Output;
use crate::device::machine::profile::Profile;
use crate::device::strict::{Finding, Sink, Strict};

/// One device of a machine.
#[derive(Clone, Debug)]
pub struct DeviceConfig {
    pub(in crate::device) name: String,
    /// Among all devices of the machine, also those that are hidden; if none are, the ordinal.
    pub(in crate::device) number: Option<usize>,
    pub(in crate::device) memory: u64,
    pub(in crate::device) capability: (u32, u32),
    pub(in crate::device) multiprocessors: u32,
    pub(in crate::device) copy_engines: u32,
    pub(in crate::device) clock_khz: u32,
    pub(in crate::device) large_alignment: u64,
    pub(in crate::device) integrated: bool,
    pub(in crate::device) kernel_time_limit: Option<Duration>,
    pub(in crate::device) pace: Pace,
    /// The machine's, unless told.
    profile: Option<Profile>,
    told: Told,
}

/// What the program has said of a device: a profile does not change it.
#[derive(Clone, Copy, Debug, Default)]
struct Told {
    name: bool,
    memory: bool,
    multiprocessors: bool,
    copy_engines: bool,
}

impl Default for DeviceConfig {
    fn default() -> Self {
        Self {
            name: "cupola software device".into(),
            number: None,
            memory: 16 << 30,
            capability: (8, 0),
            multiprocessors: 8,
            copy_engines: 2,
            clock_khz: 1_000_000,
            large_alignment: 2 << 20,
            integrated: false,
            kernel_time_limit: None,
            pace: Pace::default(),
            profile: None,
            told: Told::default(),
        }
    }
}

impl DeviceConfig {
    /// 16 GiB, compute capability 8.0, 8 multiprocessors, 2 copy engines, no delays.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The name that `cuDeviceGetName` gives. It should say that this is no GPU.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        self.name = name.into();
        self.told.name = true;
        self
    }

    /// Bytes of device memory. The host commits pages as they are first touched.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self.told.memory = true;
        self
    }

    /// The compute capability, `major.minor`.
    #[must_use]
    pub fn compute_capability(mut self, major: u32, minor: u32) -> Self {
        self.capability = (major, minor);
        self
    }

    /// The number of multiprocessors that the device says it has; at least 1.
    #[must_use]
    pub fn multiprocessors(mut self, count: u32) -> Self {
        self.multiprocessors = count.max(1);
        self.told.multiprocessors = true;
        self
    }

    /// How many copies between host and device run at once: with 1 both directions share
    /// one engine, with more each direction has its own half. At least 1.
    #[must_use]
    pub fn copy_engines(mut self, count: u32) -> Self {
        self.copy_engines = count.max(1);
        self.told.copy_engines = true;
        self
    }

    /// The clock rate that the device says it has, in kilohertz.
    #[must_use]
    pub fn clock_khz(mut self, clock: u32) -> Self {
        self.clock_khz = clock;
        self
    }

    /// Where `cuMemAlloc` places more than 1 MiB: at multiples of this power of two, 2 MiB
    /// unless told, as an H100 does. With 512 such memory is packed like all other, and
    /// programs are found out that count on more than the 256 bytes that CUDA promises.
    #[must_use]
    pub fn large_alignment(mut self, bytes: u64) -> Self {
        let power = bytes.checked_next_power_of_two().unwrap_or(1 << 30);
        self.large_alignment = power.clamp(512, 1 << 30);
        self
    }

    /// What kind of device it is; the [machine's](MachineBuilder::profile) unless told. The
    /// profile gives the name, the memory, the multiprocessors and the copy engines that this
    /// configuration does not say.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Whether the device says that its memory is the host's
    /// (`CU_DEVICE_ATTRIBUTE_INTEGRATED`). Nothing else is different, other than with
    /// [`Profile::Integrated`].
    #[must_use]
    pub fn integrated(mut self, integrated: bool) -> Self {
        self.integrated = integrated;
        self
    }

    /// Ends every kernel that runs longer, with `CUDA_ERROR_LAUNCH_TIMEOUT`, as the watchdog
    /// of a GPU with a display does: by the host's clock, or in virtual time if the order is
    /// seeded or timed. There is no limit unless told.
    #[must_use]
    pub fn kernel_time_limit(mut self, limit: Duration) -> Self {
        self.kernel_time_limit = Some(limit);
        self
    }

    /// Time that every kernel launch takes at least.
    #[must_use]
    pub fn launch_delay(mut self, delay: Duration) -> Self {
        self.pace.launch = delay;
        self
    }

    /// Time that every copy, memset, kernel and function of `cuLaunchHostFunc` takes before it
    /// starts; records, waits and the like take none.
    #[must_use]
    pub fn operation_delay(mut self, delay: Duration) -> Self {
        self.pace.operation = delay;
        self
    }

    /// Bytes per second of copies from host to device: a copy holds its engine that long.
    #[must_use]
    pub fn upload_bandwidth(mut self, bytes_per_second: u64) -> Self {
        self.pace.upload = Some(bytes_per_second.max(1));
        self
    }

    /// Bytes per second of copies from device to host: a copy holds its engine that long.
    #[must_use]
    pub fn download_bandwidth(mut self, bytes_per_second: u64) -> Self {
        self.pace.download = Some(bytes_per_second.max(1));
        self
    }

    /// Time that every copy over the bus takes before its first byte; the copy holds its engine
    /// meanwhile.
    #[must_use]
    pub fn copy_latency(mut self, latency: Duration) -> Self {
        self.pace.copy = latency;
        self
    }

    /// What part of both bandwidths copies in both directions reach together, from 0.001 to 1,
    /// in virtual time only: an H200 moves 55.4 GB/s each way and 101.5 GB/s both ways at once,
    /// which is 0.916. 1 unless told.
    #[must_use]
    pub fn duplex(mut self, part: f64) -> Self {
        let part = (part * f64::from(WHOLE)).round();
        // A conversion of floats saturates, and no number is 0.
        self.pace.duplex = (part as u32).clamp(WHOLE / 1000, WHOLE);
        self
    }

    /// Bytes per second of memsets and of copies that do not cross the bus, in virtual time
    /// only. They take no time unless told.
    #[must_use]
    pub fn memory_bandwidth(mut self, bytes_per_second: u64) -> Self {
        self.pace.memory = Some(bytes_per_second.max(1));
        self
    }

    /// Adds up to `most` to the start of every operation that [`Self::operation_delay`]
    /// delays. How much is a function of the
    /// seed, the stream's position of creation and the operation's position in the stream.
    #[must_use]
    pub fn jitter(mut self, most: Duration, seed: u64) -> Self {
        self.pace.jitter = most;
        self.pace.seed = seed;
        self
    }
}

impl DeviceConfig {
    /// What kind of device it is, once the machine is built.
    pub(in crate::device) fn kind(&self) -> Profile {
        self.profile.unwrap_or_default()
    }

    /// Takes over what a profile says and the program did not.
    pub(in crate::device) fn settle(mut self, of_machine: Profile) -> Self {
        let profile = self.profile.unwrap_or(of_machine);
        let (of_multiprocessors, of_memory) = profile.parts();
        if !self.told.memory {
            self.memory /= of_memory;
        }
        if !self.told.multiprocessors {
            self.multiprocessors = (self.multiprocessors / of_multiprocessors).max(1);
        }
        if !self.told.copy_engines {
            self.copy_engines = profile.copy_engines();
        }
        if profile == Profile::Mig && !self.told.name {
            // As a driver names an instance: a slice of the GPU, and its memory.
            let memory = format!(" MIG 1g.{}gb", self.memory >> 30);
            self.name.push_str(&memory);
        }
        self.integrated |= profile.is_integrated();
        self.profile = Some(profile);
        self
    }
}

/// What parts of a bandwidth are told of.
pub(in crate::device) const WHOLE: u32 = 1_000_000;

/// The delays of a device.
#[derive(Clone, Debug)]
pub(in crate::device) struct Pace {
    pub(in crate::device) launch: Duration,
    pub(in crate::device) operation: Duration,
    pub(in crate::device) upload: Option<u64>,
    pub(in crate::device) download: Option<u64>,
    /// Within the device; in virtual time only.
    pub(in crate::device) memory: Option<u64>,
    /// Before the first byte of a copy over the bus.
    pub(in crate::device) copy: Duration,
    /// What part of its bandwidth a direction has while the other one is used too, of [`WHOLE`];
    /// in virtual time only.
    pub(in crate::device) duplex: u32,
    jitter: Duration,
    seed: u64,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            launch: Duration::ZERO,
            operation: Duration::ZERO,
            upload: None,
            download: None,
            memory: None,
            copy: Duration::ZERO,
            duplex: WHOLE,
            jitter: Duration::ZERO,
            seed: 0,
        }
    }
}

impl Pace {
    /// How long the operation waits before it starts.
    pub(in crate::device) fn before(&self, stream: u64, operation: u64) -> Duration {
        if self.jitter.is_zero() {
            return self.operation;
        }
        let random = mix(self.seed ^ mix(stream ^ mix(operation)));
        // A fraction in [0, 1) with 53 random bits.
        let fraction = (random >> 11) as f64 / (1u64 << 53) as f64;
        let jitter = Duration::try_from_secs_f64(self.jitter.as_secs_f64() * fraction);
        self.operation
            .saturating_add(jitter.unwrap_or(Duration::MAX))
    }
}

/// The finaliser of splitmix64: every bit of the result depends on every bit of `x`.
pub(in crate::device) fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Who decides what a machine's streams and kernels do next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// The host: each stream has a thread of its own, kernels have several, delays are
    /// slept, and event times are the host's clock.
    #[default]
    Threads,
    /// Chance, from this seed: any operation that may come next, and any slice of any
    /// resident block of a running kernel, so that programs which forget to wait are found
    /// out. The same seed and the same calls give the same order. Streams of higher
    /// priority are chosen more often.
    Seeded(u64),
    /// The device's model of time: what comes first in virtual time, as the bandwidths,
    /// clocks and delays of the [`DeviceConfig`] say.
    Timed,
}

/// Describes a machine; made by [`Machine::builder`](crate::device::Machine::builder).
#[derive(Clone, Debug)]
pub struct MachineBuilder {
    pub(in crate::device) output: Output,
    pub(in crate::device) devices: Vec<DeviceConfig>,
    pub(in crate::device) profile: Profile,
    /// The value of `CUDA_VISIBLE_DEVICES`, if there is one.
    pub(in crate::device) visible: Option<String>,
    pub(in crate::device) version: Version,
    pub(in crate::device) workers: usize,
    pub(in crate::device) without: Vec<SymbolId>,
    pub(in crate::device) exports: Option<Exports>,
    pub(in crate::device) hides_unsupported: bool,
    pub(in crate::device) launch_blocking: bool,
    pub(in crate::device) strict: Strict,
    pub(in crate::device) sink: Option<Sink>,
    pub(in crate::device) order: Order,
    pub(in crate::device) apart: BTreeSet<(usize, usize)>,
    pub(in crate::device) corrupt: BTreeSet<(usize, usize)>,
}

/// Gives the address at which a library exports a function.
pub(in crate::device) type Exports = fn(SymbolId) -> *const c_void;

impl Default for MachineBuilder {
    fn default() -> Self {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            devices: vec![DeviceConfig::default()],
            profile: Profile::default(),
            visible: None,
            version: Version::new(13, 0),
            workers,
            output: Output::default(),
            without: Vec::new(),
            exports: None,
            hides_unsupported: false,
            launch_blocking: false,
            strict: Strict::default(),
            sink: None,
            order: Order::default(),
            apart: BTreeSet::new(),
            corrupt: BTreeSet::new(),
        }
    }
}

impl MachineBuilder {
    /// Gives the machine `count` devices with the default configuration. Zero is a machine
    /// without a device, where `cuInit` returns `CUDA_ERROR_NO_DEVICE`.
    #[must_use]
    pub fn devices(mut self, count: usize) -> Self {
        self.devices = vec![DeviceConfig::default(); count];
        self
    }

    /// Replaces the machine's devices by this one.
    #[must_use]
    pub fn device(mut self, device: DeviceConfig) -> Self {
        self.devices = vec![device];
        self
    }

    /// Adds another device.
    #[must_use]
    pub fn add_device(mut self, device: DeviceConfig) -> Self {
        self.devices.push(device);
        self
    }

    /// Takes the link away over which the device with ordinal `device` would access the
    /// memory of the device with ordinal `peer`; the way back stays. Unless told, all
    /// devices of the same major compute capability can access each other's memory, once a
    /// program enables it.
    #[must_use]
    pub fn without_peer_access(mut self, device: usize, peer: usize) -> Self {
        self.apart.insert((device, peer));
        self
    }

    /// Breaks the link over which bytes go from the device with ordinal `from` to that with ordinal
    /// `to`, as bridges and IOMMUs do that drop the traffic of devices: copies return success, and of
    /// each whole 64 KiB of a row the last 64 bytes are not written. Kernels and memsets that use the
    /// memory of the other device do so rightly.
    #[must_use]
    pub fn corrupt_link(mut self, from: usize, to: usize) -> Self {
        self.corrupt.insert((from, to));
        self
    }

    /// The driver version that the machine plays, 13.0 by default; 10.0 at least.
    /// Functions that CUDA introduced later are missing.
    #[must_use]
    pub fn driver_version(mut self, version: Version) -> Self {
        self.version = version.max(Version::new(10, 0));
        self
    }

    /// Where the output of device-side `printf` goes, in whole calls; to standard output
    /// unless told. It is called while kernels run and must not call the driver.
    #[must_use]
    pub fn kernel_output(mut self, sink: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        self.output = Output::new(sink);
        self
    }

    /// Takes a function away: the machine is of a driver that lacks it. Every driver has
    /// `cuDriverGetVersion`, which stays.
    #[must_use]
    pub fn without(mut self, function: SymbolId) -> Self {
        if function != cupola_sys::driver::id::cuDriverGetVersion {
            self.without.push(function);
        }
        self
    }

    /// Makes `cuGetProcAddress` give these addresses, for a library whose exported
    /// functions lead to this machine.
    #[doc(hidden)]
    #[must_use]
    pub fn exports(mut self, exports: fn(SymbolId) -> *const c_void) -> Self {
        self.exports = Some(exports);
        self
    }

    /// Makes `cuGetProcAddress` find what is built alone. Unless told, the one of a library finds
    /// all that a driver of the machine's version has; what is not built returns
    /// `CUDA_ERROR_NOT_SUPPORTED` when it is called.
    #[must_use]
    pub fn hide_unsupported(mut self, hide: bool) -> Self {
        self.hides_unsupported = hide;
        self
    }

    /// What kind of devices the machine has, but for those that
    /// [say it themselves](DeviceConfig::profile); [`Profile::Discrete`] unless told.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// Leaves of the machine's devices those that the driver shows with this value of
    /// `CUDA_VISIBLE_DEVICES`, in its order: ordinals, or beginnings of UUIDs after `GPU-`
    /// (`MIG-` for instances), up to the first that is none. A device keeps its UUID and its
    /// bus, and if one is named twice `cuInit` returns `CUDA_ERROR_INVALID_DEVICE`.
    #[must_use]
    pub fn visible_devices(mut self, list: &str) -> Self {
        self.visible = Some(list.into());
        self
    }

    /// Makes every launch wait for its kernel, as `CUDA_LAUNCH_BLOCKING=1` does: the call
    /// returns the kernel's own fault.
    #[must_use]
    pub fn launch_blocking(mut self, blocking: bool) -> Self {
        self.launch_blocking = blocking;
        self
    }

    /// Who decides what runs next; [`Order::Threads`] unless told. The other orders start no
    /// threads, except for functions that a program has a stream call: driver calls do the
    /// work. Time is virtual in both, also for kernels' clocks, and delays are not slept.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Replays the order of this seed: [`Order::Seeded`].
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        self.order(Order::Seeded(seed))
    }

    /// Host threads that execute a kernel's blocks; at least 1. The default is one for
    /// each processor.
    #[must_use]
    pub fn worker_threads(mut self, count: usize) -> Self {
        self.workers = count.max(1);
        self
    }

    /// What the machine looks for; [`Strict::CHEAP`] unless told.
    #[must_use]
    pub fn strict(mut self, options: Strict) -> Self {
        self.strict = options;
        self
    }

    /// Is told of every finding when it is made, also of those that are made when the
    /// machine goes away. Called by the thread that found it, maybe by several at a time,
    /// and must not call the driver.
    #[must_use]
    pub fn on_finding(mut self, sink: impl Fn(&Finding) + Send + Sync + 'static) -> Self {
        self.sink = Some(Sink::new(sink));
        self
    }
}
