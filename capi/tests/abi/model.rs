//! Random operations beside a list of what is alive.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Mutex;
use std::thread;

use cupola_capi::{CupolaStatus, cupola_allocate, cupola_free};
use cupola_random::Random;
use quickcheck::{Gen, QuickCheck};

use crate::framework::{
    Framework, RawStream, allocate_on, alone, errors, free_on, last_error, trim_all, usage, use_on,
};

/// A block as its user knows it.
struct Known {
    block: usize,
    words: usize,
    stream: RawStream,
    word: u32,
}

/// Which bytes are whose: no two blocks may have one in common.
#[derive(Default)]
struct Owners(BTreeMap<usize, usize>);

impl Owners {
    fn add(&mut self, block: usize, bytes: usize) {
        let before = self.0.range(..=block).next_back();
        assert!(
            before.is_none_or(|(at, len)| at + len <= block),
            "{block:#x}"
        );
        let after = self.0.range(block..).next();
        assert!(
            after.is_none_or(|(at, _)| block + bytes <= *at),
            "{block:#x}"
        );
        self.0.insert(block, bytes);
    }

    fn remove(&mut self, block: usize) {
        assert!(self.0.remove(&block).is_some(), "{block:#x}");
    }
}

fn pointer(block: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(block)
}

/// Takes a block and marks it with a word of its own.
fn take(
    framework: &Framework,
    owners: &Mutex<Owners>,
    (bytes, stream, word): (usize, RawStream, u32),
    for_any: bool,
) -> Known {
    let block = match for_any {
        true => cupola_allocate(0, bytes),
        false => allocate_on(bytes, stream),
    };
    assert!(!block.is_null(), "{}", last_error());
    owners.lock().unwrap().add(block.addr(), bytes);
    let words = bytes / 4;
    framework.fill(block, word, words, stream);
    Known {
        block: block.addr(),
        words,
        stream,
        word,
    }
}

/// Looks at its words, and gives it back.
fn give(framework: &Framework, owners: &Mutex<Owners>, known: &Known, to: Option<RawStream>) {
    let block = pointer(known.block);
    let found = framework.read(block, known.words, known.stream);
    assert!(
        found.iter().all(|word| *word == known.word),
        "{:#x}",
        known.block
    );
    owners.lock().unwrap().remove(known.block);
    let freed = match to {
        Some(stream) => free_on(block, stream),
        None => cupola_free(block),
    };
    assert_eq!(freed, CupolaStatus::CupolaOk, "{}", last_error());
}

// Without it two threads could be given one block, a block lose what was written to it, or one stay behind.
#[test]
fn threads_and_streams_keep_apart() {
    alone(
        "model::threads_and_streams_keep_apart",
        &[("CUPOLA_LIMIT", "256MiB")],
        |framework| {
            let streams = [(); 3].map(|()| framework.stream());
            let owners = Mutex::new(Owners::default());
            let work = |seed: u64| {
                framework.use_here();
                let mut random = Random::new(seed);
                let mut mine: Vec<Known> = Vec::new();
                for step in 0..400_u32 {
                    let stream = streams[random.index(streams.len())];
                    if mine.len() < 20 && random.one_in(2) {
                        let bytes = match random.below(4) {
                            0 => 1 + random.index(1 << 20),
                            _ => 1 + random.index(20_000),
                        };
                        let word = (seed as u32) << 16 | step;
                        let what = (bytes, stream, word);
                        mine.push(take(framework, &owners, what, random.one_in(5)));
                    } else if !mine.is_empty() {
                        let known = mine.swap_remove(random.index(mine.len()));
                        if random.one_in(4) {
                            let used = use_on(pointer(known.block), stream);
                            assert_eq!(used, CupolaStatus::CupolaOk);
                        }
                        let to = (!random.one_in(4)).then_some(known.stream);
                        give(framework, &owners, &known, to);
                    }
                }
                for known in &mine {
                    give(framework, &owners, known, Some(known.stream));
                }
            };
            thread::scope(|scope| {
                for seed in 1..5 {
                    let work = &work;
                    scope.spawn(move || work(seed));
                }
            });
            for stream in streams {
                framework.synchronize(stream);
            }
            trim_all();
            assert_eq!(usage().errors, 0, "{}", errors());
        },
    );
}

// Without it some order of operations could lose a block, count one twice, or refuse what is there.
#[test]
fn any_order_of_operations_agrees_with_a_list() {
    alone(
        "model::any_order_of_operations_agrees_with_a_list",
        &[("CUPOLA_LIMIT", "64MiB")],
        |framework| {
            let streams = [(); 2].map(|()| framework.stream());
            thread_local! {
                static FRAMEWORK: RefCell<Option<(*const Framework, [RawStream; 2])>> =
                    const { RefCell::new(None) };
            }
            FRAMEWORK.set(Some((std::ptr::from_ref(framework), streams)));
            fn property(steps: Vec<(u8, u8, u16)>) -> bool {
                let (framework, streams) = FRAMEWORK.with_borrow(|known| known.unwrap());
                // SAFETY: the framework outlives the test, on whose thread this is.
                let framework = unsafe { &*framework };
                let owners = Mutex::new(Owners::default());
                let mut alive: Vec<Known> = Vec::new();
                let mut gone = Vec::new();
                for (what, which, size) in steps {
                    let stream = streams[usize::from(which) % 2];
                    let at = usize::from(which) % alive.len().max(1);
                    match what % 8 {
                        0..=3 => {
                            let bytes = 1 + usize::from(size) * 4;
                            let new = (bytes, stream, u32::from(size));
                            alive.push(take(framework, &owners, new, what % 8 == 0));
                        }
                        4 | 5 if !alive.is_empty() => {
                            let known = alive.swap_remove(at);
                            let to = (what % 8 == 4).then_some(stream);
                            give(framework, &owners, &known, to);
                            gone.push(known.block);
                        }
                        6 if !alive.is_empty() => {
                            let used = use_on(pointer(alive[at].block), stream);
                            assert_eq!(used, CupolaStatus::CupolaOk);
                        }
                        // A second free, unless the address is another block's by now.
                        7 => {
                            let is_free =
                                |block: &&usize| alive.iter().all(|it| it.block != **block);
                            if let Some(&block) = gone.iter().rev().find(is_free) {
                                let freed = free_on(pointer(block), stream);
                                assert_eq!(freed, CupolaStatus::CupolaUnknownPointer);
                            }
                        }
                        _ => {}
                    }
                    let bytes: usize = owners.lock().unwrap().0.values().sum();
                    let usage = usage();
                    assert_eq!(usage.live - usage.returned, bytes as u64, "{usage:?}");
                }
                for known in &alive {
                    give(framework, &owners, known, None);
                }
                trim_all();
                true
            }
            QuickCheck::new()
                .rng(Gen::new(60))
                .tests(40)
                .quickcheck(property as fn(Vec<(u8, u8, u16)>) -> bool);
        },
    );
}
