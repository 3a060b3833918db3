//! What every client program does.

use std::ffi::c_void;

use cupola_managers::buffer::Buffer;
use cupola_managers::module::Module;
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::pool::{RawBlock, Source};
use cupola_managers::{Context, MemoryPool, PoolConfig, Stream};
use cupola_sim::{Machine, Order, Strict};
use cupola_sys::driver::Driver;
use cupola_testing::{Finding, FindingKind, TestBench};

const KERNELS: &str = include_str!("kernels.ptx");

/// A program: a context, a pool, and two streams that nothing orders.
pub(crate) struct Client {
    pub(crate) pool: MemoryPool,
    pub(crate) stream: Stream,
    pub(crate) other: Stream,
    pub(crate) context: Context,
    /// Loaded once: an unload waits.
    module: Module,
}

impl Client {
    /// Launches a kernel of so many threads with words for parameters, which nothing looks at.
    pub(crate) fn launch(&self, kernel: &str, threads: u32, words: &[u64], stream: &Stream) {
        self.launch_blocks(kernel, (1, threads), words, stream);
    }

    /// The same of so many blocks of so many threads.
    pub(crate) fn launch_blocks(
        &self,
        kernel: &str,
        (blocks, threads): (u32, u32),
        words: &[u64],
        stream: &Stream,
    ) {
        let function = self.module.function(kernel).unwrap();
        let mut words = words.to_vec();
        let mut pointers: Vec<*mut c_void> = words
            .iter_mut()
            .map(|word| std::ptr::from_mut(word).cast())
            .collect();
        let sizes = vec![8; pointers.len()];
        let config = LaunchConfig::linear(blocks, threads);
        // SAFETY: the pointers lead to the words. What the kernels do with these is the bug, and
        // the software device's to survive.
        unsafe { ops::launch_raw(&function, config, &sizes, &mut pointers, stream) }.unwrap();
    }

    /// The driver, with the context current.
    pub(crate) fn driver(&self) -> Driver {
        self.context.make_current().unwrap();
        self.context.driver().clone()
    }

    /// So many words that are written.
    #[track_caller]
    pub(crate) fn words(&self, len: usize) -> Buffer<u32> {
        let mut words = self.pool.allocate(len, &self.stream).unwrap();
        ops::zero(&mut words, &self.stream).unwrap();
        words
    }

    /// Two blocks of 1024 words, the second where the first ends.
    #[track_caller]
    pub(crate) fn neighbours(&self) -> (Buffer<u32>, Buffer<u32>) {
        let mut blocks = Vec::new();
        for _ in 0..8 {
            blocks.push(self.words(1024));
        }
        Self::side_by_side(blocks)
    }

    /// The same of words that are not written.
    #[track_caller]
    pub(crate) fn new_neighbours(&self) -> (Buffer<u32>, Buffer<u32>) {
        let mut blocks = Vec::new();
        for _ in 0..8 {
            blocks.push(self.pool.allocate(1024, &self.stream).unwrap());
        }
        Self::side_by_side(blocks)
    }

    fn side_by_side(mut blocks: Vec<Buffer<u32>>) -> (Buffer<u32>, Buffer<u32>) {
        blocks.sort_by_key(Buffer::as_raw);
        let side_by_side = |pair: &[Buffer<u32>]| pair[0].as_raw() + 4096 == pair[1].as_raw();
        let at = blocks.windows(2).position(side_by_side);
        let mut pair = blocks.drain(at.expect("two without a gap")..).take(2);
        (pair.next().unwrap(), pair.next().unwrap())
    }

    /// A raw block of 4096 bytes.
    #[track_caller]
    pub(crate) fn raw(&self) -> RawBlock {
        self.pool.allocate_raw(4096, 256, &self.stream).unwrap()
    }

    /// Waits for both streams.
    pub(crate) fn wait(&self) {
        ops::synchronize(&self.stream).unwrap();
        ops::synchronize(&self.other).unwrap();
    }

    /// As `wait`, and nothing of it comes to the ears of who checks: it has looked by then.
    pub(crate) fn end(self) {
        self.wait();
    }
}

/// Runs the program without its bug, which must find nothing, and with it, which must find one
/// thing, the same in all: with each source of memory, and in each order of execution.
pub(crate) fn found(program: impl Fn(&Client, bool)) -> Finding {
    let mut found: Option<Finding> = None;
    for source in [Source::Best, Source::Chunks] {
        for order in [Order::Threads, Order::Seeded(7), Order::Timed] {
            let with = |findings: &[Finding]| {
                let texts: Vec<_> = findings.iter().map(ToString::to_string).collect();
                format!("{source:?}, {order:?}: {texts:#?}")
            };
            let findings = run(&program, false, source, bench(order));
            assert!(findings.is_empty(), "{}", with(&findings));
            let findings = run(&program, true, source, bench(order));
            let [finding] = &findings[..] else {
                panic!("{}", with(&findings));
            };
            let kind = found.get_or_insert_with(|| finding.clone()).kind;
            assert_eq!(finding.kind, kind, "{}", with(&findings));
        }
    }
    found.unwrap()
}

/// What is found in the program when this alone is looked for.
pub(crate) fn found_by(
    strict: Strict,
    program: impl Fn(&Client, bool),
    bug: bool,
) -> Vec<FindingKind> {
    let machine = Machine::builder().strict(strict);
    let bench = TestBench::builder().machine(machine).open().unwrap();
    let findings = run(&program, bug, Source::Best, bench);
    findings.iter().map(|finding| finding.kind).collect()
}

fn bench(order: Order) -> TestBench {
    let strict = Strict::default() | Strict::UNINITIALISED | Strict::STREAM_RACES;
    let machine = || Machine::builder().order(order).strict(strict);
    match order {
        Order::Threads => TestBench::new(),
        _ => TestBench::builder().machine(machine()).open(),
    }
    .unwrap()
}

fn run(
    program: impl Fn(&Client, bool),
    bug: bool,
    source: Source,
    bench: TestBench,
) -> Vec<Finding> {
    let context = bench.context().unwrap();
    let config = PoolConfig {
        source,
        ..PoolConfig::limit(64 << 20)
    };
    let client = Client {
        pool: context.memory_pool(config).unwrap(),
        stream: bench.stream().unwrap(),
        other: bench.stream().unwrap(),
        module: context.modules().load_ptx(KERNELS).unwrap(),
        context,
    };
    // It stays loaded as long as there is a lease of it.
    let release = client.context.modules().release(client.module.handle());
    assert!(release.is_ok());
    program(&client, bug);
    client.end();
    match bench.finish() {
        Ok(()) => Vec::new(),
        Err(remains) => remains.findings,
    }
}

/// The finding is of that kind and about the block that a line with this text allocated, in the
/// file whose text it is.
#[track_caller]
pub(crate) fn expect(finding: &Finding, kind: FindingKind, file: &str, text: &str) {
    assert_eq!(finding.kind, kind, "{finding}");
    let block = finding.allocation.as_ref().expect("a block");
    let source = block.allocated.source.as_deref().expect("a line");
    let line = source.rsplit(':').next().and_then(|line| line.parse().ok());
    let line: usize = line.expect("a number");
    let found = file.lines().nth(line - 1).unwrap_or_default();
    assert!(found.contains(text), "{finding}: {found}");
}

/// The kernel's line is the one with this text.
#[track_caller]
pub(crate) fn expect_line(finding: &Finding, text: &str) {
    let kernel = finding.kernel.as_ref().expect("a kernel");
    let line = KERNELS.lines().nth(kernel.line as usize - 1);
    assert!(line.is_some_and(|line| line.contains(text)), "{finding}");
}
