//! Copies of memory that is one for the program, and many handles for the driver: what a pool near its limit
//! has, as it maps page by page, beside what one with room has. How fast such memory is copied is the driver's
//! and the device's; a pool near its limit is to keep what they give for memory in pages.

use super::memory::{PoolMemory, RawMemory};
use super::{Figures, KEPT, PeerBenchError, Side, Way, by_the_driver, by_the_managers, rate, size};

/// What a pool near its limit has beside its two arrays.
const ROOM: u64 = 64 << 20;

/// What the copied memory is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handles {
    /// One handle of `cuMemCreate`.
    One,
    /// Handles of `cuMemCreate` of so many bytes each, or of a page if that is more.
    Of(u64),
    /// A pool whose limit is little more than the two arrays.
    TightPool,
}

impl Handles {
    const PAGES: Self = Self::Of(0);
    pub(super) const ALL: [Self; 5] = [
        Self::One,
        Self::Of(32 << 20),
        Self::Of(8 << 20),
        Self::PAGES,
        Self::TightPool,
    ];

    fn name(self) -> String {
        match self {
            Self::One => "cuMemcpyPeerAsync, one handle".into(),
            Self::PAGES => "cuMemcpyPeerAsync, a handle for each page".into(),
            Self::Of(bytes) => format!("cuMemcpyPeerAsync, handles of {}", size(bytes as usize)),
            Self::TightPool => "copy_between, a pool near its limit".into(),
        }
    }

    /// Copies this memory and the driver's own by turns, directly, each way.
    pub(super) fn measure(
        self,
        figures: &mut Figures,
        sides: &mut [Side; 2],
        bytes: usize,
        rounds: usize,
    ) -> Result<(), PeerBenchError> {
        if let Self::Of(handle) = self
            && handle >= bytes as u64
        {
            return Ok(());
        }
        let mut others = self.memory(sides, bytes)?;
        // What the pool is held against, in the same rounds.
        let mut pages = match self {
            Self::TightPool => Some(Self::PAGES.memory(sides, bytes)?),
            Self::One | Self::Of(_) => None,
        };
        for way in Way::ALL {
            let (mut raw, mut those, mut in_pages) = (Vec::new(), Vec::new(), Vec::new());
            for round in 0..=rounds {
                let by_hand = rate(sides, way, bytes, 1, by_the_driver)?;
                if let Some(pages) = &mut pages {
                    pages.exchange(sides);
                    let measured = rate(sides, way, bytes, 1, by_the_driver);
                    pages.exchange(sides);
                    let measured = measured?;
                    if round > 0 {
                        in_pages.push(measured);
                    }
                }
                others.exchange(sides);
                let measured = match self {
                    Self::TightPool => rate(sides, way, bytes, 1, by_the_managers),
                    Self::One | Self::Of(_) => rate(sides, way, bytes, 1, by_the_driver),
                };
                others.exchange(sides);
                let measured = measured?;
                if round > 0 {
                    raw.push(by_hand);
                    those.push(measured);
                }
            }
            let what = format!("{}, {}, direct", way.name(), size(bytes));
            let name = self.name();
            let driver = format!("{what}: cuMemcpyPeerAsync, beside {name}");
            let row = format!("{what}: {name}");
            figures.push(&driver, "GB/s", &raw, None);
            figures.push(&row, "GB/s", &those, Some(&driver));
            if self == Self::TightPool {
                let beside = format!("{what}: {}, beside {name}", Self::PAGES.name());
                figures.push(&beside, "GB/s", &in_pages, Some(&driver));
                figures.want_least(&row, KEPT, &beside);
            }
        }
        Ok(())
    }

    /// Memory of both devices, open to each other.
    fn memory(self, sides: &[Side; 2], bytes: usize) -> Result<Others, PeerBenchError> {
        let [first, second] = sides;
        let raw = |handle| {
            let raw = |own: &Side, peer: &Side| {
                let memory = RawMemory::map(&own.context, bytes, handle)?;
                memory.open_to(&peer.context)?;
                Ok::<_, PeerBenchError>(memory)
            };
            let memory = [raw(first, second)?, raw(second, first)?];
            Ok(Others::Raw(Box::new(memory)))
        };
        match self {
            Self::One => raw(u64::MAX),
            Self::Of(bytes) => raw(bytes),
            Self::TightPool => {
                let pool = |own: &Side, peer: &Side| {
                    let limit = 2 * bytes as u64 + ROOM;
                    let memory = PoolMemory::new(&own.context, bytes, limit, &own.stream)?;
                    memory.pool.open_to(&peer.context)?;
                    Ok::<_, PeerBenchError>(memory)
                };
                Ok(Others::Pool(Box::new([
                    pool(first, second)?,
                    pool(second, first)?,
                ])))
            }
        }
    }
}

/// Memory that takes the place of the devices' usual one.
enum Others {
    Raw(Box<[RawMemory; 2]>),
    Pool(Box<[PoolMemory; 2]>),
}

impl Others {
    /// Puts it in the place of the usual one, and that in its own.
    fn exchange(&mut self, sides: &mut [Side; 2]) {
        match self {
            Self::Raw(memory) => {
                for (memory, side) in memory.iter_mut().zip(sides) {
                    std::mem::swap(memory, &mut side.driver);
                }
            }
            Self::Pool(memory) => {
                for (memory, side) in memory.iter_mut().zip(sides) {
                    std::mem::swap(memory, &mut side.pool);
                }
            }
        }
    }
}
