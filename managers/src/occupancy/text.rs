//! Occupancies in words.

use core::fmt;

use super::curve::{GridOccupancy, Occupancy, OccupancyCurve};
use super::model::Limit;

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warps => "warps",
            Self::Blocks => "the number of blocks",
            Self::Registers => "registers",
            Self::SharedMemory => "shared memory",
            Self::BlockSize => "the block size, which the kernel cannot have",
            Self::Driver => "the driver",
            Self::Grid => "the grid, which is smaller than one wave",
        })
    }
}

/// "registers and shared memory".
fn listed(f: &mut fmt::Formatter<'_>, limits: impl Iterator<Item = Limit>) -> fmt::Result {
    for (index, limit) in limits.enumerate() {
        if index > 0 {
            f.write_str(" and ")?;
        }
        write!(f, "{limit}")?;
    }
    Ok(())
}

impl Occupancy {
    fn percent(&self) -> f64 {
        100.0 * self.fraction()
    }

    /// Where the driver's answer is not what was counted, both.
    fn fmt_difference(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.active_blocks(), self.counted_blocks()) {
            (told, counted) if told == counted => Ok(()),
            (told, counted) => write!(
                f,
                ": it says {told} blocks, and the device's figures give {counted}"
            ),
        }
    }
}

impl fmt::Display for Occupancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} threads a block: {} blocks on a multiprocessor, {} of {} warps ({:.0} %), limited by ",
            self.threads(),
            self.active_blocks(),
            self.active_warps(),
            self.max_warps(),
            self.percent()
        )?;
        listed(f, self.limits())?;
        self.fmt_difference(f)
    }
}

impl fmt::Display for GridOccupancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let occupancy = self.occupancy();
        match self.waves() {
            Some(waves) if self.is_smaller_than_a_wave() => write!(
                f,
                "{} blocks of {} threads: the grid is smaller than one wave ({waves:.2}), which is {} \
                 blocks",
                self.blocks(),
                occupancy.threads(),
                occupancy.wave()
            ),
            Some(waves) => write!(f, "{} blocks, {waves:.2} waves; {occupancy}", self.blocks()),
            None => write!(f, "{} blocks; {occupancy}", self.blocks()),
        }
    }
}

impl fmt::Display for OccupancyCurve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "threads  blocks  warps          limited by")?;
        for point in self.points() {
            write!(
                f,
                "\n{:7}  {:6}  {:3} of {:3} {:3.0} %  ",
                point.threads(),
                point.active_blocks(),
                point.active_warps(),
                point.max_warps(),
                point.percent()
            )?;
            listed(f, point.limits())?;
            point.fmt_difference(f)?;
        }
        Ok(())
    }
}
