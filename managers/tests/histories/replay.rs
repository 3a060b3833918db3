//! Any history of a pool on the software device: live blocks never overlap, keep what is written
//! to them whatever still runs, and never take more than the limit. The fuzz target `pool`
//! includes this module.

use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use cupola_managers::buffer::Buffer;
use cupola_managers::pool::{Arenas, Backing, MemoryPool, PoolConfig, RawBlock, Source};
use cupola_managers::stream::{Stream, StreamConfig};
use cupola_managers::{Context, Error, ExecutionManager, Live, ops};
use cupola_sim::Machine;

const PAGE: u64 = 2 << 20;
const STREAMS: usize = 3;
/// Blocks that are alive at a time.
const MOST: usize = 200;

struct World {
    pool: MemoryPool,
    streams: Vec<Stream>,
    /// What holds up a stream's work until it is dropped.
    gates: [Option<Sender<()>>; STREAMS],
    blocks: Vec<(RawBlock, usize)>,
    buffers: Vec<(Buffer<u32>, u32, usize)>,
    /// Nothing beyond this may be mapped: the limit, or what was alive when it was lowered.
    most: u64,
    tag: u32,
    context: Context,
}

fn new_stream(context: &Context) -> Stream {
    context.streams().create(StreamConfig::default()).unwrap()
}

/// The history that `steps` make on a pool of `kind`, with a limit of some `pages`.
pub(crate) fn replay(kind: u8, pages: u8, steps: impl IntoIterator<Item = [u8; 4]>) {
    let machine = Machine::builder().worker_threads(STREAMS + 1).build();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let watch = execution.watch();
    let context = execution.devices().get(0).unwrap().primary().unwrap();
    // No arena is made for less than 32 pages.
    let (scale, arenas) = match kind % 8 {
        4 | 5 => (8, Arenas::Always),
        _ => (1, Arenas::default()),
    };
    let most = u64::from(pages % 32 + 2) * scale * PAGE;
    let config = PoolConfig {
        wait: Duration::ZERO,
        arenas,
        source: if kind % 4 == 3 {
            Source::Chunks
        } else {
            Source::Best
        },
        ..PoolConfig::limit(most)
    };
    let mut world = World {
        pool: context.memory_pool(config).unwrap(),
        streams: (0..STREAMS).map(|_| new_stream(&context)).collect(),
        context: context.clone(),
        gates: [const { None }; STREAMS],
        blocks: Vec::new(),
        buffers: Vec::new(),
        most,
        tag: 0,
    };
    for step in steps {
        world.apply(step);
        world.check();
    }
    world.finish();
    drop((context, execution));
    assert_eq!(watch.live(), Live::default());
}

impl World {
    fn apply(&mut self, [kind, a, b, c]: [u8; 4]) {
        let which = usize::from(c) % STREAMS;
        let stream = self.streams[which].clone();
        match kind % 17 {
            0..5 if self.blocks.len() < MOST => {
                let bytes = u64::from(a) << (b % 16);
                let align = 1 << (c / 4 % 22);
                let taken = self.pool.allocate_raw(bytes, align, &stream);
                if let Some(block) = fits(taken) {
                    assert!(block.bytes() >= bytes && block.address().is_multiple_of(align));
                    self.blocks.push((block, which));
                }
            }
            5..8 if self.buffers.len() < MOST => {
                let len = usize::from(a) << (b % 12);
                let made = self.pool.allocate::<u32>(len, &stream);
                if let Some(mut buffer) = fits(made) {
                    self.tag += 1;
                    ops::fill(&mut buffer, self.tag, &stream).unwrap();
                    self.buffers.push((buffer, self.tag, which));
                }
            }
            8 | 9 if !self.blocks.is_empty() => {
                let at = usize::from(a) % self.blocks.len();
                let (block, home) = self.blocks.swap_remove(at);
                free(block, &self.streams[home]);
            }
            10 if !self.buffers.is_empty() => {
                let at = usize::from(a) % self.buffers.len();
                drop(self.buffers.swap_remove(at));
            }
            11 if !self.buffers.is_empty() => {
                let at = usize::from(a) % self.buffers.len();
                self.gates = [const { None }; STREAMS];
                self.look(at);
            }
            // Giving a chunk back waits for all work (`cuMemFree`): for what this thread holds up.
            12 if self.gates[which].is_none() && self.pool.backing() == Backing::Pages => {
                let (gate, open) = channel();
                ops::host_function(&stream, move || {
                    let _ = open.recv();
                })
                .unwrap();
                self.gates[which] = Some(gate);
            }
            13 => {
                self.gates[which] = None;
                if b % 2 == 0 {
                    // The stream may wait for what another has freed.
                    self.gates = [const { None }; STREAMS];
                    ops::synchronize(&stream).unwrap();
                }
            }
            14 => {
                self.pool.trim().unwrap();
            }
            15 => {
                let limit = u64::from(a % 34) * PAGE;
                self.pool.set_limit(limit).unwrap();
                self.most = limit.max(self.pool.mapped());
            }
            // What runs on it goes on, and so does what its buffers put there.
            16 => {
                let gone = std::mem::replace(&mut self.streams[which], new_stream(&self.context));
                // Its buffers are looked at on the new one.
                ops::order(&gone, &self.streams[which]).unwrap();
                for at in (0..self.blocks.len()).rev() {
                    if self.blocks[at].1 == which {
                        free(self.blocks.swap_remove(at).0, &gone);
                    }
                }
                self.context.streams().release(gone.handle()).unwrap();
                drop((gone, stream));
                self.context.streams().trim(0).unwrap();
            }
            _ => {
                // What another thread frees and keeps comes back when it ends.
                let blocks = self.blocks.split_off(self.blocks.len() / 2);
                let streams = &self.streams;
                std::thread::scope(|scope| {
                    scope.spawn(move || {
                        for (block, home) in blocks {
                            free(block, &streams[home]);
                        }
                    });
                });
            }
        }
    }

    /// What a buffer holds.
    fn look(&self, at: usize) {
        let (buffer, tag, home) = &self.buffers[at];
        let mut words = vec![0; buffer.len()];
        ops::read(buffer, &mut words, &self.streams[*home]).unwrap();
        assert!(words.iter().all(|word| word == tag), "another owner wrote");
    }

    fn check(&mut self) {
        let mapped = self.pool.mapped();
        assert!(mapped <= self.most, "{mapped} of {}", self.most);
        self.most = self.pool.limit().max(self.most.min(mapped));
        let blocks = self
            .blocks
            .iter()
            .map(|(block, _)| (block.address(), block.bytes()));
        let buffers = self
            .buffers
            .iter()
            .map(|(buffer, ..)| (buffer.as_raw(), buffer.len() as u64 * 4));
        let mut alive: Vec<_> = blocks
            .chain(buffers)
            .filter(|&(_, bytes)| bytes > 0)
            .collect();
        alive.sort_unstable();
        let apart = |pair: &[(u64, u64)]| pair[0].0 + pair[0].1 <= pair[1].0;
        assert!(alive.windows(2).all(apart), "blocks overlap");
        let bytes: u64 = alive.iter().map(|(_, bytes)| bytes).sum();
        assert!(bytes <= mapped);
    }

    fn finish(mut self) {
        self.gates = [const { None }; STREAMS];
        for at in 0..self.buffers.len() {
            self.look(at);
        }
        let usage = self.pool.usage().unwrap();
        assert_eq!(
            usage.blocks as usize,
            self.blocks.len() + self.buffers.len()
        );
        self.buffers.clear();
        for (block, home) in self.blocks.drain(..) {
            free(block, &self.streams[home]);
        }
        assert_eq!(self.pool.usage().unwrap().live, 0);
        self.pool.trim().unwrap();
    }
}

fn free(block: RawBlock, stream: &Stream) {
    // SAFETY: nothing has used the block but what is on its own stream.
    unsafe { block.free(stream) }.unwrap();
}

/// What was allocated, unless the limit had no room for it.
fn fits<T>(taken: Result<T, Error>) -> Option<T> {
    match taken {
        Ok(taken) => Some(taken),
        Err(Error::OverLimit(_)) => None,
        Err(other) => panic!("{other}"),
    }
}
