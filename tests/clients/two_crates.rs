//! Two safe crates in one process that know nothing of each other: cudarc and this one, on one
//! driver library, two devices, primary contexts and created ones, on threads that do
//! anything at random. Each sets the thread's current context, and ends contexts that are still
//! current on other threads.

use cupola_random::Random;
use std::sync::{Arc, Mutex};

use cudarc::driver::{CudaContext, CudaEvent, CudaSlice, CudaStream};
use cupola_managers::context::Waiting;
use cupola_managers::{
    Buffer, Context, Device, Event, ExecutionManager, MemoryPool, PoolConfig, Stream, ops,
};
use cupola_sys::driver::Driver;

use crate::library;

/// What all threads do together.
const OPERATIONS: u64 = 1_000_000;
const THREADS: u64 = 4;
const DEVICES: usize = 2;
/// Elements of a buffer.
const LEN: usize = 64;
/// Created contexts of each crate that there are at a time.
const CREATED: usize = 6;

// Without it each crate could be sound by itself and both together not: an operation of one in a
// context of the other, memory that ends with another crate's context, a destroyed context
// made current, a healthy one taken for lost.
// The client is a process of its own: the loader reads its path when a program starts.
#[test]
fn two_safe_crates_do_not_meet() {
    let folder = library::folder();
    let report = folder.path().join("report");
    let program = std::env::current_exe().expect("this program's path");
    let output = library::command(program, &folder)
        .args(["--ignored", "--exact", "two_crates::client", "--nocapture"])
        .env("CUPOLA_SIM_REPORT", &report)
        .env("CUPOLA_SIM_STRICT", "default")
        .env("CUPOLA_SIM_DEVICES", DEVICES.to_string())
        .output()
        .expect("the client starts");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let done = format!("{OPERATIONS} operations");
    assert!(text.contains(&done), "it did not run: {text}");
    let report = std::fs::read_to_string(report).expect("a report");
    assert_eq!(report, "", "the device has something to say");
}

#[test]
#[ignore = "a process that `two_safe_crates_do_not_meet` starts"]
fn client() {
    let driver = Driver::load().expect("the library");
    let execution = ExecutionManager::new(driver).expect("a driver");
    let watch = execution.watch();
    let shared = Shared::new(&execution);
    let counts: Vec<u64> = std::thread::scope(|scope| {
        let shared = &shared;
        let worker = |seed| move || Worker::new(shared, seed).run(OPERATIONS / THREADS);
        let workers: Vec<_> = (1..=THREADS)
            .map(|seed| scope.spawn(worker(seed)))
            .collect();
        let done = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
        done.map(|count| count.expect("no panic")).collect()
    });
    for context in &shared.contexts {
        assert_eq!(context.poison(), None);
    }
    drop((shared, execution));
    assert!(watch.live().is_empty(), "{:?}", watch.live());
    println!("{} operations", counts.iter().sum::<u64>());
}

/// What all threads have.
struct Shared {
    devices: Vec<Device>,
    contexts: Vec<Context>,
    pools: Vec<MemoryPool>,
    /// Created contexts, which any thread uses and ends.
    ours: Mutex<Vec<Context>>,
    theirs: Mutex<Vec<Arc<CudaContext>>>,
}

impl Shared {
    fn new(execution: &ExecutionManager) -> Self {
        let ordinals = 0..DEVICES as u32;
        let devices: Vec<_> = ordinals
            .map(|ordinal| execution.devices().get(ordinal).expect("a device"))
            .collect();
        let contexts: Vec<_> = devices
            .iter()
            .map(|device| device.primary().expect("its primary context"))
            .collect();
        let pool = |context: &Context| context.memory_pool(PoolConfig::limit(64 << 20));
        Self {
            pools: contexts
                .iter()
                .map(|context| pool(context).expect("a pool"))
                .collect(),
            devices,
            contexts,
            ours: Mutex::default(),
            theirs: Mutex::default(),
        }
    }
}

/// What a thread has of this crate's on one device.
struct Ours {
    stream: Stream,
    event: Event,
    buffer: Buffer<u32>,
}

/// What a thread has of cudarc's on one device.
struct Theirs {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    event: CudaEvent,
    slice: CudaSlice<u32>,
}

struct Worker<'s> {
    shared: &'s Shared,
    ours: Vec<Ours>,
    theirs: Vec<Theirs>,
    random: Random,
}

impl<'s> Worker<'s> {
    fn new(shared: &'s Shared, seed: u64) -> Self {
        let ours = |device: usize| {
            let context = &shared.contexts[device];
            let stream = context.streams().acquire(Default::default()).expect("one");
            Ours {
                event: context.events().acquire(Default::default()).expect("one"),
                buffer: shared.pools[device]
                    .allocate(LEN, &stream)
                    .expect("a buffer"),
                stream,
            }
        };
        let theirs = |device| {
            let context = CudaContext::new(device).expect("a context");
            let stream = context.new_stream().expect("a stream");
            Theirs {
                event: stream.record_event(None).expect("an event"),
                slice: stream.alloc_zeros(LEN).expect("memory"),
                stream,
                context,
            }
        };
        Self {
            shared,
            ours: (0..DEVICES).map(ours).collect(),
            theirs: (0..DEVICES).map(theirs).collect(),
            random: Random::new(seed),
        }
    }

    fn run(mut self, operations: u64) -> u64 {
        for _ in 0..operations {
            let device = self.random.index(DEVICES);
            match self.random.below(1000) {
                0..500 => self.ours(device),
                500..990 => self.theirs(device),
                _ => self.created(device),
            }
        }
        operations
    }

    /// An operation of this crate.
    fn ours(&mut self, device: usize) {
        let pick = self.random.below(100);
        let context = &self.shared.contexts[device];
        let Ours {
            stream,
            event,
            buffer,
        } = &mut self.ours[device];
        let done = match pick {
            0..15 => ops::fill(buffer, 7, stream),
            15..35 => ops::record(event, stream),
            35..55 => ops::query(stream).map(drop),
            55..75 => context.memory_info().map(drop),
            75..80 => context.make_current(),
            80..90 => context.enter().map(|_guard| {
                // Whatever the other crate does within it.
                let other = &self.theirs[1 - device].context;
                other.mem_get_info().expect("cudarc");
            }),
            90..93 => self.shared.pools[device]
                .allocate::<u32>(LEN, stream)
                .map(drop),
            93..95 => ops::write(buffer, &[3; LEN], stream),
            95..97 => ops::read(&*buffer, &mut [0; LEN], stream),
            97 => context.streams().acquire(Default::default()).map(drop),
            _ => pinned(context, buffer, stream),
        };
        done.expect("cupola");
    }

    /// An operation of cudarc.
    fn theirs(&mut self, device: usize) {
        let pick = self.random.below(100);
        let Theirs {
            context,
            stream,
            event,
            slice,
        } = &mut self.theirs[device];
        let done = match pick {
            0..30 => context.bind_to_thread(),
            30..50 => context.mem_get_info().map(drop),
            50..65 => event.record(stream),
            65..80 => event.try_is_complete().map(drop),
            80..92 => stream.memset_zeros(slice),
            92..95 => stream.clone_htod(&[5u32; LEN]).map(drop),
            95..97 => stream.clone_dtoh(slice).map(drop),
            97 => CudaContext::new(device).map(drop),
            _ => stream.synchronize(),
        };
        done.expect("cudarc");
    }

    /// A guard over a context that other threads end meanwhile, perhaps.
    fn guard(&self, device: usize) {
        let guard = self.shared.contexts[device].enter().expect("cupola");
        for _ in 0..50 {
            std::thread::yield_now();
        }
        drop(guard);
    }

    /// A created context begins, is used, or ends, on whatever thread.
    fn created(&mut self, device: usize) {
        let (pick, place) = (self.random.below(8), self.random.index(CREATED));
        let shared = self.shared;
        let mut ours = shared.ours.lock().expect("no panic");
        let mut theirs = shared.theirs.lock().expect("no panic");
        match pick {
            0 if ours.len() < CREATED => {
                let contexts = shared.devices[device].contexts();
                ours.push(contexts.create(Waiting::Auto).expect("cupola"));
            }
            1 if theirs.len() < CREATED => {
                theirs.push(CudaContext::new_non_primary(device, 0).expect("cudarc"));
            }
            2 if place < ours.len() => {
                let ended = ours.swap_remove(place);
                drop((ours, theirs));
                let contexts = shared.devices[ended.ordinal() as usize].contexts();
                contexts.release(ended.handle()).expect("cupola");
                // Another thread may be using it, and ends it then.
                drop(ended);
            }
            3 if place < theirs.len() => {
                let ended = theirs.swap_remove(place);
                drop((ours, theirs));
                drop(ended);
            }
            4 | 5 if place < ours.len() => {
                let context = ours[place].clone();
                drop((ours, theirs));
                let event = context.events().acquire(Default::default());
                let event = event.expect("cupola");
                assert!(ops::query_event(&event).expect("cupola"));
                context.memory_info().expect("cupola");
                assert_eq!(context.poison(), None);
                drop((event, context));
                self.guard(device);
            }
            _ if place < theirs.len() => {
                let context = Arc::clone(&theirs[place]);
                drop((ours, theirs));
                context.new_event(None).expect("cudarc");
                context.synchronize().expect("cudarc");
                drop(context);
                self.guard(device);
            }
            _ => {}
        }
    }
}

/// Pinned memory that ends here, in whatever context is current.
fn pinned(context: &Context, buffer: &Buffer<u32>, stream: &Stream) -> cupola_managers::Result<()> {
    let mut pinned = context.buffers().pinned::<u32>(LEN)?;
    ops::copy_to_host(buffer, &mut pinned, stream)?;
    pinned.as_slice().map(drop)
}
