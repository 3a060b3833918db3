//! Where reservations are put.

use crate::device::memory::mapped::PAGE;
use crate::device::memory::mapped::table::Table;
use crate::device::memory::space::{FIRST_VIRTUAL, PER_DEVICE};

const END: u64 = FIRST_VIRTUAL + PER_DEVICE;

impl Table {
    /// Addresses for `len` bytes: the wanted ones if they are free, else others, with a
    /// gap before the next reservation so that an access beyond the end is noticed.
    /// Addresses are given in circles, so freed ones are not given again soon.
    pub(super) fn place(&mut self, len: u64, align: u64, wanted: u64) -> Option<u64> {
        if wanted >= FIRST_VIRTUAL && wanted.is_multiple_of(align) && self.is_free(wanted, len) {
            return Some(wanted);
        }
        let mut at = self.cursor.max(FIRST_VIRTUAL);
        let mut wrapped = false;
        loop {
            at = at.checked_next_multiple_of(align)?;
            let end = at.checked_add(len)?.checked_add(PAGE)?;
            if end > END {
                if wrapped {
                    return None;
                }
                wrapped = true;
                at = FIRST_VIRTUAL;
                continue;
            }
            // The last reservation that begins before the end of the wanted range.
            let before = self.reserved.range(..end).next_back();
            match before.map(|(_, reserved)| reserved.reservation.end() + PAGE) {
                Some(after) if after > at => at = after,
                _ => break,
            }
        }
        self.cursor = at + len + PAGE;
        Some(at)
    }

    fn is_free(&self, start: u64, len: u64) -> bool {
        let Some(end) = start.checked_add(len).filter(|end| *end <= END) else {
            return false;
        };
        let before = self.reserved.range(..end).next_back();
        before.is_none_or(|(_, reserved)| reserved.reservation.end() <= start)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::device::memory::mapped::Virtual;
    use cupola_sys::driver::CUresult;

    /// Without it, two reservations could have the same addresses, or a program that asks
    /// for a place would never get it.
    #[test]
    fn wanted_places_are_given_once() {
        let space = Virtual::default();
        let first = space.reserve(4 * PAGE, 0, 0).unwrap();
        let next = first + 4 * PAGE;
        assert_eq!(space.reserve(PAGE, 0, next), Ok(next));
        let other = space.reserve(PAGE, 0, next).unwrap();
        assert!(other > next + PAGE, "there is a gap");
        assert_ne!(space.reserve(PAGE, 0, 1 << 30), Ok(1 << 30));
        let large = space.reserve(PAGE, 1 << 30, next + 16 * PAGE).unwrap();
        assert_eq!(large % (1 << 30), 0);
        space.unreserve(next, PAGE).unwrap();
        assert_eq!(space.reserve(PAGE, 0, next), Ok(next));
    }

    /// Without it, a full address space would be an endless search.
    #[test]
    fn there_is_an_end() {
        let space = Virtual::default();
        let memory = Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        assert_eq!(space.reserve(PER_DEVICE, 0, 0), memory);
        assert_eq!(space.reserve(1 << 60, 0, 0), memory);
        let quarter = PER_DEVICE / 4 - PAGE;
        let all: Vec<_> = (0..4).map(|_| space.reserve(quarter, 0, 0)).collect();
        // The host may have less than the device.
        if let [Ok(first), Ok(_), Ok(_), Ok(last)] = all[..] {
            assert_eq!(space.reserve(quarter, 0, 0), memory);
            space.unreserve(first, quarter).unwrap();
            assert_eq!(space.reserve(quarter, 0, 0), Ok(first));
            space.unreserve(last, quarter).unwrap();
        }
    }
}
