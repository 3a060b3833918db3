//! Random sequences of virtual memory management calls, next to a model that keeps for
//! each page which physical page is there and who may access it.

use cupola_sys::driver::*;
use quickcheck::{Arbitrary, Gen, QuickCheck};

use crate::support::vmm::{NONE, PAGE, READ, READ_WRITE, Vmm};
use crate::support::{Code, TestBench, code};

const OK: Code = CUresult::CUDA_SUCCESS;
const INVALID: Code = CUresult::CUDA_ERROR_INVALID_VALUE;
const UNSUPPORTED: Code = CUresult::CUDA_ERROR_NOT_SUPPORTED;

/// Pages of the reservation.
const PAGES: usize = 8;
/// Bytes that are written and compared at a time, around the end of a page.
const SPAN: usize = 64;

/// What the model knows of a physical allocation: what each of its pages holds.
#[derive(Clone, Debug)]
struct Physical {
    handle: u64,
    /// The first and the last `SPAN` bytes of each page.
    pages: Vec<[[u8; SPAN]; 2]>,
    released: bool,
}

#[derive(Clone, Copy, Debug)]
struct Mapped {
    physical: usize,
    /// Which page of it.
    page: usize,
    access: CUmemAccess_flags,
}

#[derive(Clone, Debug)]
enum Step {
    Create(u8),
    Release(u8),
    Map {
        at: u8,
        physical: u8,
    },
    Unmap {
        at: u8,
        len: u8,
    },
    Access {
        at: u8,
        len: u8,
        flags: u8,
    },
    /// Over the end of a page into the next.
    Write {
        at: u8,
        value: u8,
    },
    Set {
        at: u8,
        value: u8,
    },
    Read {
        at: u8,
    },
    Copy {
        to: u8,
        from: u8,
    },
}

impl Arbitrary for Step {
    fn arbitrary(g: &mut Gen) -> Self {
        let mut byte = || u8::arbitrary(g);
        let (at, other) = (byte() % PAGES as u8, byte());
        match byte() % 16 {
            0 => Self::Create(1 + other % 3),
            1 => Self::Release(other),
            2..=4 => Self::Map {
                at,
                physical: other,
            },
            5 => Self::Unmap { at, len: other % 5 },
            6..=8 => Self::Access {
                at,
                len: other % 5,
                flags: byte() % 4,
            },
            9..=10 => Self::Write { at, value: other },
            11 => Self::Set { at, value: other },
            12..=13 => Self::Read { at },
            _ => Self::Copy {
                to: at,
                from: other % PAGES as u8,
            },
        }
    }
}

struct World<'a> {
    bench: &'a TestBench,
    vmm: Vmm<'a>,
    base: u64,
    physical: Vec<Physical>,
    pages: [Option<Mapped>; PAGES],
    /// Pages at which a mapping begins.
    starts: [bool; PAGES + 1],
}

impl World<'_> {
    fn address(&self, page: usize) -> u64 {
        self.base + (page * PAGE) as u64
    }

    /// The pages from `at`, if they are within and at least one.
    fn range(at: u8, len: u8) -> Option<std::ops::Range<usize>> {
        let (at, len) = (usize::from(at), usize::from(len));
        (len > 0 && at + len <= PAGES).then_some(at..at + len)
    }

    /// Whether both ends of a range are between mappings, or where nothing is mapped.
    fn is_whole(&self, range: &std::ops::Range<usize>) -> bool {
        let between =
            |page: usize| page == PAGES || self.pages[page].is_none() || self.starts[page];
        between(range.start) && between(range.end)
    }

    /// The place in the model of byte `offset` counted from the end of page `at`.
    fn slot(&mut self, at: usize, side: usize) -> Option<(&mut [u8; SPAN], CUmemAccess_flags)> {
        let mapped = (*self.pages.get(at)?)?;
        let page = &mut self.physical[mapped.physical].pages[mapped.page];
        Some((&mut page[side], mapped.access))
    }

    /// Whether the last bytes of page `at` and the first of the next may be accessed so.
    fn may(&mut self, at: usize, wanted: CUmemAccess_flags) -> bool {
        [(at, 1), (at + 1, 0)].into_iter().all(|(page, side)| {
            let slot = self.slot(page, side);
            slot.is_some_and(|(_, access)| access.0 & wanted.0 == wanted.0)
        })
    }

    /// The 2 * `SPAN` bytes around the end of page `at`.
    fn bytes(&mut self, at: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (page, side) in [(at, 1), (at + 1, 0)] {
            bytes.extend(self.slot(page, side).map_or([0; SPAN], |(slot, _)| *slot));
        }
        bytes
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        for ((page, side), part) in [(at, 1), (at + 1, 0)].into_iter().zip(bytes.chunks(SPAN)) {
            if let Some((slot, _)) = self.slot(page, side) {
                slot.copy_from_slice(part);
            }
        }
    }

    fn around(&self, at: usize) -> u64 {
        self.address(at + 1) - SPAN as u64
    }

    /// Makes a step on both sides; false if they disagree.
    fn step(&mut self, step: &Step) -> bool {
        let d = &self.bench.driver;
        match *step {
            Step::Create(pages) => {
                let handle = self.vmm.create(usize::from(pages) * PAGE);
                self.physical.push(Physical {
                    handle,
                    pages: vec![[[0; SPAN]; 2]; usize::from(pages)],
                    released: false,
                });
                true
            }
            Step::Release(index) => {
                let Some(index) = usize::from(index).checked_rem(self.physical.len()) else {
                    return true;
                };
                let physical = &mut self.physical[index];
                let expected = if physical.released { INVALID } else { OK };
                physical.released = true;
                self.vmm.try_release(physical.handle) == expected
            }
            Step::Map { at, physical } => self.map(usize::from(at), physical),
            Step::Unmap { at, len } => {
                let Some(range) = Self::range(at, len) else {
                    return self
                        .vmm
                        .try_unmap(self.address(usize::from(at)), usize::from(len) * PAGE)
                        == INVALID;
                };
                let expected = if self.is_whole(&range) { OK } else { INVALID };
                let len = range.len() * PAGE;
                let same = self.vmm.try_unmap(self.address(range.start), len) == expected;
                if expected == OK {
                    self.pages[range.clone()].fill(None);
                    self.starts[range].fill(false);
                }
                same
            }
            Step::Access { at, len, flags } => {
                let flags = [NONE, READ, READ_WRITE, CUmemAccess_flags(2)][usize::from(flags)];
                let range = Self::range(at, len).filter(|range| {
                    let full = self.pages[range.clone()].iter().all(Option::is_some);
                    flags.0 != 2 && full && self.is_whole(range)
                });
                let expected = if range.is_some() { OK } else { INVALID };
                for page in range.into_iter().flatten() {
                    if let Some(mapped) = &mut self.pages[page] {
                        mapped.access = flags;
                    }
                }
                let (at, len) = (self.address(usize::from(at)), usize::from(len) * PAGE);
                self.vmm.try_access(0, at, len, flags) == expected
            }
            Step::Write { at, value } => {
                let at = usize::from(at);
                let bytes: Vec<u8> = (0..2 * SPAN).map(|i| value.wrapping_add(i as u8)).collect();
                let expected = if self.may(at, READ_WRITE) {
                    OK
                } else {
                    INVALID
                };
                // SAFETY: the bytes outlive the call.
                let called = unsafe {
                    d.cuMemcpyHtoD_v2(self.around(at), bytes.as_ptr().cast(), bytes.len())
                };
                if expected == OK {
                    self.put(at, &bytes);
                }
                code(called) == expected
            }
            Step::Set { at, value } => {
                let at = usize::from(at);
                let expected = if self.may(at, READ_WRITE) {
                    OK
                } else {
                    INVALID
                };
                // SAFETY: device memory is checked.
                let called = unsafe { d.cuMemsetD8_v2(self.around(at), value, 2 * SPAN) };
                // It is done before the next step changes what it may access.
                self.bench.synchronize();
                if expected == OK {
                    self.put(at, &[value; 2 * SPAN]);
                }
                code(called) == expected
            }
            Step::Read { at } => self.read(usize::from(at)),
            Step::Copy { to, from } => {
                let (to, from) = (usize::from(to), usize::from(from));
                let good = self.may(to, READ_WRITE) && self.may(from, READ);
                // SAFETY: device memory is checked.
                let called =
                    unsafe { d.cuMemcpyDtoD_v2(self.around(to), self.around(from), 2 * SPAN) };
                self.bench.synchronize();
                if !good {
                    return code(called) == INVALID;
                }
                // Where both ends are the same physical bytes, the copy changes nothing.
                let bytes = self.bytes(from);
                self.put(to, &bytes);
                code(called) == OK
            }
        }
    }

    fn map(&mut self, at: usize, physical: u8) -> bool {
        let Some(index) = usize::from(physical).checked_rem(self.physical.len()) else {
            return true;
        };
        let physical = &self.physical[index];
        let pages = physical.pages.len();
        let free = at + pages <= PAGES && self.pages[at..at + pages].iter().all(Option::is_none);
        let expected = if free && !physical.released {
            OK
        } else {
            INVALID
        };
        let address = self.address(at);
        let same = self.vmm.try_map(address, pages * PAGE, physical.handle) == expected;
        // A part of an allocation is nothing that can be mapped.
        let part = self
            .vmm
            .try_map(address, (pages + 1) * PAGE, physical.handle);
        let refused = if physical.released {
            INVALID
        } else {
            UNSUPPORTED
        };
        if expected == OK {
            self.starts[at] = true;
            for page in 0..pages {
                self.pages[at + page] = Some(Mapped {
                    physical: index,
                    page,
                    access: NONE,
                });
            }
        }
        same && part == refused
    }

    fn read(&mut self, at: usize) -> bool {
        let expected = if self.may(at, READ) { OK } else { INVALID };
        let mut found = vec![0u8; 2 * SPAN];
        // SAFETY: the bytes outlive the call.
        let called = unsafe {
            let to = found.as_mut_ptr().cast();
            self.bench
                .driver
                .cuMemcpyDtoH_v2(to, self.around(at), 2 * SPAN)
        };
        code(called) == expected && (expected != OK || found == self.bytes(at))
    }

    /// Everything that can be read has what the model says.
    fn all_agree(&mut self) -> bool {
        (0..PAGES).all(|at| {
            let access = self.pages[at].map(|mapped| mapped.access);
            let told = access.is_none_or(|access| self.vmm.get(0, self.address(at)) == access);
            told && self.read(at)
        })
    }

    /// Gives everything back.
    fn end(self) -> bool {
        let all = PAGES * PAGE;
        let unmapped = self.vmm.try_unmap(self.base, all) == OK;
        for physical in self.physical.iter().filter(|physical| !physical.released) {
            self.vmm.release(physical.handle);
        }
        self.vmm.unreserve(self.base, all);
        unmapped
    }
}

#[allow(clippy::needless_pass_by_value, reason = "quickcheck gives it so")]
fn agrees(steps: Vec<Step>) -> bool {
    let bench = TestBench::new();
    let vmm = Vmm(&bench.driver);
    let base = vmm.reserve(PAGES * PAGE);
    let mut world = World {
        bench: &bench,
        vmm,
        base,
        physical: Vec::new(),
        pages: [None; PAGES],
        starts: [false; PAGES + 1],
    };
    for step in &steps {
        if !world.step(step) {
            eprintln!("the device and the model disagree at {step:?}");
            return false;
        }
    }
    let agreed = world.all_agree() && world.end();
    bench.finish();
    agreed
}

/// Without it, a page could show the wrong physical page, lose its bytes, or be accessed
/// against what was set, after a sequence of calls that no other test makes.
#[test]
fn random_calls_do_what_a_naive_model_does() {
    QuickCheck::new()
        .tests(300)
        .quickcheck(agrees as fn(Vec<Step>) -> bool);
}
