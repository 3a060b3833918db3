//! The project's own pool on the library: it tells the library of its blocks, across the boundary
//! that any allocator has to it.

use cupola_managers::buffer::Buffer;
use cupola_managers::module::Module;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::{ExecutionManager, MemoryPool, PoolConfig, Stream};
use cupola_sys::driver::Driver;

use crate::library;

/// What the program below does wrong, and what the report says of it.
const BUGS: [(&str, &str, &str); 6] = [
    ("none", "", ""),
    (
        "overrun",
        "out-of-bounds: kernel fill",
        "0 bytes past the end",
    ),
    (
        "neighbour",
        "out-of-bounds: kernel fill",
        "in the block of 4096 bytes",
    ),
    (
        "dropped",
        "use-after-free: kernel fill",
        "freed by region_unregister",
    ),
    ("order", "unordered-use: ", "cuLaunchKernel"),
    ("race", "stream-race: ", "neither comes after the other"),
];

const BUG: &str = "CUPOLA_TEST_BUG";

// Without it programs under `cupola sim run` that use the pool would be checked by its pages alone.
#[test]
fn bugs_on_the_pool_are_found_through_the_library() {
    for (bug, kind, words) in BUGS {
        let folder = library::folder();
        let report = folder.path().join("report");
        let this = std::env::current_exe().expect("this program's path");
        let output = library::command(this, &folder)
            .args(["--ignored", "--exact", "--nocapture", "pool::program"])
            .env("CUPOLA_CUDA_LIBRARY", folder.path().join("libcuda.so.1"))
            .env("CUPOLA_SIM_REPORT", &report)
            .env(BUG, bug)
            .output()
            .expect("the program starts");
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && text.contains("1 passed"),
            "{bug}: {text}"
        );
        let report = std::fs::read_to_string(report).expect("a report");
        let lines: Vec<_> = report.lines().collect();
        if bug == "none" {
            assert_eq!(report, "", "the device has something to say");
            continue;
        }
        assert_eq!(lines.len(), 1, "{bug}: {report}");
        let line = lines[0];
        let site = "allocated at tests/clients/pool.rs:";
        let has = |what: &str| assert!(line.contains(what), "{bug}: {line} without {what}");
        [kind, words, site].into_iter().for_each(has);
    }
}

const FILL: &str = "
.version 7.0
.target sm_60
.address_size 64
.visible .entry fill(.param .u64 out)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    st.global.u32 [%rd2], %r1;
    ret;
}
";

fn fill(module: &Module, threads: u32, mut address: u64, stream: &Stream) {
    let function = module.function("fill").expect("the kernel");
    let config = LaunchConfig::linear(1, threads);
    let argument = std::ptr::from_mut(&mut address).cast();
    // SAFETY: the pointer leads to the one argument; what the kernel does with it is the bug.
    unsafe { ops::launch_raw(&function, config, &[8], &mut [argument], stream) }.expect("a launch");
}

fn words(pool: &MemoryPool, len: usize, stream: &Stream) -> Buffer<u32> {
    pool.allocate(len, stream).expect("a buffer")
}

#[test]
#[ignore = "a process that a test starts"]
fn program() {
    let bug = std::env::var(BUG).expect("a bug");
    let driver = Driver::load().expect("the library");
    let execution = ExecutionManager::new(driver).expect("cuInit");
    let device = execution.devices().get(0).expect("a device");
    let context = device.primary().expect("its context");
    let stream = || {
        context
            .streams()
            .acquire(Default::default())
            .expect("a stream")
    };
    let (one, other) = (stream(), stream());
    let module = context.modules().load_ptx(FILL).expect("the kernel");
    context.modules().release(module.handle()).expect("a lease");
    let pool = context
        .memory_pool(PoolConfig::limit(64 << 20))
        .expect("a pool");
    match &*bug {
        "overrun" => fill(&module, 1001, words(&pool, 1000, &one).as_raw(), &one),
        "neighbour" => {
            let mut blocks: Vec<_> = (0..8).map(|_| words(&pool, 1024, &one)).collect();
            blocks.sort_by_key(Buffer::as_raw);
            let side_by_side = |pair: &[Buffer<u32>]| pair[0].as_raw() + 4096 == pair[1].as_raw();
            let at = blocks.windows(2).position(side_by_side);
            let first = &blocks[at.expect("two without a gap")];
            // From its second word on.
            fill(&module, 1024, first.as_raw() + 4, &one);
        }
        "dropped" => {
            let address = words(&pool, 64, &one).as_raw();
            fill(&module, 64, address, &one);
        }
        "order" => {
            let block = words(&pool, 64, &one);
            fill(&module, 64, block.as_raw(), &other);
            ops::synchronize(&other).expect("the kernel");
        }
        "race" => {
            let mut block = words(&pool, 64, &one);
            ops::fill(&mut block, 1, &one).expect("a fill");
            ops::fill(&mut block, 2, &other).expect("a fill");
        }
        _ => {
            let mut block = words(&pool, 64, &one);
            fill(&module, 64, block.as_raw(), &one);
            ops::order(&one, &other).expect("an order");
            ops::fill(&mut block, 2, &other).expect("a fill");
        }
    }
    ops::synchronize(&one).expect("all work");
    ops::synchronize(&other).expect("all work");
}
