//! Values that a stream writes to memory, or waits for.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use cupola_sys::driver::{
    CUstreamBatchMemOpParams, CUstreamBatchMemOpParams_union_CUstreamMemOpWaitValueParams_st,
    CUstreamBatchMemOpParams_union_CUstreamMemOpWriteValueParams_st, CUstreamBatchMemOpType,
    CUstreamWaitValue_flags,
};

use crate::device::contexts::health::{Fault, Health};
use crate::device::machine::Device;
use crate::device::memory::{Access, AccessRequest, Accessor, Place};

/// How long a wait sleeps between two looks at most. The host and kernels write memory
/// without a notice, so it has to look; it starts with short pauses.
const PAUSE: Duration = Duration::from_millis(1);

/// Size of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) enum Width {
    /// 4 bytes.
    Word,
    /// 8 bytes.
    Double,
}

impl Width {
    pub(in crate::device) fn bytes(self) -> u64 {
        match self {
            Self::Word => 4,
            Self::Double => 8,
        }
    }
}

/// A place in memory, aligned to its size. It is looked up when it is accessed.
#[derive(Clone, Copy, Debug)]
pub(in crate::device) struct Value {
    pub(in crate::device) address: u64,
    pub(in crate::device) width: Width,
}

/// When a wait ends, by the value in memory `m` and the wait's own `v`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) enum Compare {
    /// `m - v >= 0`, as signed numbers that wrap.
    AtLeast,
    /// `m == v`.
    Equal,
    /// `m & v != 0`.
    And,
    /// `!(m | v) != 0`.
    Nor,
}

impl Compare {
    fn holds(self, width: Width, memory: u64, value: u64) -> bool {
        match (self, width) {
            (Self::AtLeast, Width::Word) => (memory as u32).wrapping_sub(value as u32) as i32 >= 0,
            (Self::AtLeast, Width::Double) => memory.wrapping_sub(value) as i64 >= 0,
            (Self::Equal, _) => memory == value,
            (Self::And, _) => memory & value != 0,
            (Self::Nor, Width::Word) => !((memory | value) as u32) != 0,
            (Self::Nor, Width::Double) => !(memory | value) != 0,
        }
    }
}

/// One of the things that a stream does in order.
#[derive(Clone, Copy, Debug)]
pub(in crate::device) enum Step {
    Write {
        to: Value,
        value: u64,
    },
    Wait {
        on: Value,
        value: u64,
        compare: Compare,
    },
}

impl Step {
    /// Whether it takes no time.
    pub(in crate::device) fn is_write(&self) -> bool {
        matches!(self, Self::Write { .. })
    }

    /// What a program gives to have it in a batch.
    pub(in crate::device) fn params(&self) -> CUstreamBatchMemOpParams {
        use CUstreamBatchMemOpType as T;
        use CUstreamWaitValue_flags as F;
        let mut params = CUstreamBatchMemOpParams::default();
        match *self {
            Self::Write { to, value } => {
                let mut write = CUstreamBatchMemOpParams_union_CUstreamMemOpWriteValueParams_st {
                    operation: match to.width {
                        Width::Word => T::CU_STREAM_MEM_OP_WRITE_VALUE_32,
                        Width::Double => T::CU_STREAM_MEM_OP_WRITE_VALUE_64,
                    },
                    address: to.address,
                    ..Default::default()
                };
                write.__bindgen_anon_1.value64 = value;
                params.writeValue = write;
            }
            Self::Wait { on, value, compare } => {
                let flags = match compare {
                    Compare::AtLeast => F::CU_STREAM_WAIT_VALUE_GEQ,
                    Compare::Equal => F::CU_STREAM_WAIT_VALUE_EQ,
                    Compare::And => F::CU_STREAM_WAIT_VALUE_AND,
                    Compare::Nor => F::CU_STREAM_WAIT_VALUE_NOR,
                };
                let mut wait = CUstreamBatchMemOpParams_union_CUstreamMemOpWaitValueParams_st {
                    operation: match on.width {
                        Width::Word => T::CU_STREAM_MEM_OP_WAIT_VALUE_32,
                        Width::Double => T::CU_STREAM_MEM_OP_WAIT_VALUE_64,
                    },
                    address: on.address,
                    flags: flags.0,
                    ..Default::default()
                };
                wait.__bindgen_anon_1.value64 = value;
                params.waitValue = wait;
            }
        }
        params
    }

    /// Does it. A wait ends without its value when the context faults or ends.
    pub(in crate::device) fn run(self, device: &Device, health: &Health) -> Result<(), Fault> {
        let mut pause = Duration::from_micros(10);
        while !self.try_now(device, health)? && health.halted().is_none() {
            std::thread::sleep(pause);
            pause = (pause * 2).min(PAUSE);
        }
        Ok(())
    }

    /// Writes, or looks once; whether it is done. Each look finds the memory again: the
    /// program may free it, and a wait that may never end must not keep it.
    pub(super) fn try_now(self, device: &Device, health: &Health) -> Result<bool, Fault> {
        if let Self::Write { to, value } = self {
            to.access(device, Accessor::new(device, health), Some(value))?;
        }
        self.look(device, health)
    }

    /// Whether it would end now, with the value or with a fault. The scheduler asks again and
    /// again, under its lock, so nothing is reported.
    pub(in crate::device) fn is_due(&self, device: &Device, health: &Health) -> bool {
        let Self::Wait { on, value, compare } = *self else {
            return true;
        };
        let accessor = Accessor::new(device, health);
        let (address, len) = (on.address, on.width.bytes());
        let place = device.space.find_whole(address, len);
        let Some(place) = place.filter(|place| accessor.access(place) >= Access::Read) else {
            return true;
        };
        compare.holds(on.width, on.touch(&place, None), value)
    }

    /// Whether it is done.
    fn look(&self, device: &Device, health: &Health) -> Result<bool, Fault> {
        let Self::Wait { on, value, compare } = *self else {
            return Ok(true);
        };
        let memory = on.access(device, Accessor::new(device, health), None)?;
        Ok(compare.holds(on.width, memory, value))
    }
}

impl Value {
    /// Writes the value, or reads it; gives what is there then.
    fn access(
        self,
        device: &Device,
        accessor: Accessor<'_>,
        write: Option<u64>,
    ) -> Result<u64, Fault> {
        let (what, access) = match write {
            Some(_) => ("stream write", Access::Write),
            None => ("stream wait", Access::Read),
        };
        let request = AccessRequest {
            what,
            access,
            accessor: Some(accessor),
            copies: false,
        };
        let (address, len) = (self.address, self.width.bytes());
        let place = device.space.resolve(address, len, what)?;
        if !request.may(&place) {
            return Err(device.space.refused(&place, address, len, request));
        }
        if write.is_some()
            && let Place::Device(block) = &place
        {
            block.wrote(address, len);
        }
        Ok(self.touch(&place, write))
    }

    /// Writes or reads the value in a place that holds it.
    fn touch(self, place: &Place, write: Option<u64>) -> u64 {
        let host = place.host(self.address);
        // Everything that the stream did before is visible to who sees a written value, and
        // what was written before a value is visible to who waited for it.
        match self.width {
            Width::Word => {
                // SAFETY: the place holds the four bytes and keeps them while the caller keeps
                // it. The address is a multiple of 4, and the host's is
                // congruent to it modulo 16. All accesses to device memory go through raw
                // pointers.
                let word = unsafe { AtomicU32::from_ptr(host.cast()) };
                if let Some(value) = write {
                    word.store(value as u32, Ordering::Release);
                }
                u64::from(word.load(Ordering::Acquire))
            }
            Width::Double => {
                // SAFETY: as above, with eight bytes.
                let double = unsafe { AtomicU64::from_ptr(host.cast()) };
                if let Some(value) = write {
                    double.store(value, Ordering::Release);
                }
                double.load(Ordering::Acquire)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it, a wait could end too early or never where values wrap around.
    #[test]
    fn comparisons_are_the_documented_ones() {
        use Compare::*;
        let (word, double) = (Width::Word, Width::Double);
        let cases = [
            (AtLeast, word, 5, 5, true),
            (AtLeast, word, 4, 5, false),
            (AtLeast, word, 0, u64::from(u32::MAX), true),
            (AtLeast, word, 1 << 31, 0, false),
            (AtLeast, double, 1 << 31, 0, true),
            (AtLeast, double, 2, u64::MAX, true),
            (AtLeast, double, 1 << 63, 0, false),
            (Equal, word, 7, 7, true),
            (Equal, double, 7, 8, false),
            (And, word, 6, 2, true),
            (And, word, 6, 9, false),
            (And, double, 1 << 40, 1 << 40, true),
            (Nor, word, 0xffff_0000, 0xffff, false),
            (Nor, word, 0xffff_0000, 0xfffe, true),
            (Nor, double, 0xffff_0000, 0xffff, true),
            (Nor, double, u64::MAX, 0, false),
        ];
        for (compare, width, memory, value, holds) in cases {
            let found = compare.holds(width, memory, value);
            assert_eq!(found, holds, "{compare:?} {width:?} {memory:#x} {value:#x}");
        }
    }
}
