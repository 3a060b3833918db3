//! Copies of memory that is one for the program, and many handles for the driver: what a pool near its limit
//! has, as it maps page by page, beside what one with room has.

use super::memory::{PoolMemory, RawMemory};
use super::{Figures, KEPT, PeerBenchError, Side, Way, by_the_driver, by_the_managers, rate, size};

/// What a pool near its limit has beside its two arrays.
const ROOM: u64 = 64 << 20;

/// What the copied memory is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handles {
    /// One handle of `cuMemCreate`.
    One,
    /// Handles of `cuMemCreate` of a page each.
    Pages,
    /// A pool whose limit is little more than the two arrays.
    TightPool,
}

impl Handles {
    pub(super) const ALL: [Self; 3] = [Self::One, Self::Pages, Self::TightPool];

    fn name(self) -> &'static str {
        match self {
            Self::One => "cuMemcpyPeerAsync, one handle",
            Self::Pages => "cuMemcpyPeerAsync, a handle for each page",
            Self::TightPool => "copy_between, a pool near its limit",
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
        let mut others = self.memory(sides, bytes)?;
        for way in Way::ALL {
            let (mut raw, mut those) = (Vec::new(), Vec::new());
            for round in 0..=rounds {
                let by_hand = rate(sides, way, bytes, 1, by_the_driver)?;
                others.exchange(sides);
                let measured = match self {
                    Self::TightPool => rate(sides, way, bytes, 1, by_the_managers),
                    Self::One | Self::Pages => rate(sides, way, bytes, 1, by_the_driver),
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
                figures.want_least(&row, KEPT, &driver);
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
            Self::Pages => raw(0),
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
