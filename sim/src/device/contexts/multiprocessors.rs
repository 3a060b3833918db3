//! Sets of a device's multiprocessors, and how a `CUdevResource` carries one.

use cupola_sys::driver::{
    CUdevResource, CUdevResource_st__bindgen_ty_1, CUdevResourceType, CUdevSmResource, CUresult,
};

use crate::device::calls::args::Reply;

/// Most ranges of numbers that a resource has room for.
const MOST_RANGES: usize = 8;

/// Some of a device's multiprocessors: ranges of their numbers, ascending, none next to
/// another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::device) struct Multiprocessors(Vec<(u32, u32)>);

impl Multiprocessors {
    /// The first `count` of a device.
    pub(in crate::device) fn first(count: u32) -> Self {
        Self::of(vec![(0, count)])
    }

    /// `ranges` are first numbers and lengths.
    fn of(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.retain(|(_, len)| *len > 0);
        ranges.sort_unstable();
        let mut joined: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
        for (first, len) in ranges {
            let end = first.saturating_add(len);
            match joined.last_mut() {
                Some((start, known)) if *start + *known >= first => {
                    *known = end.max(*start + *known) - *start;
                }
                _ => joined.push((first, end - first)),
            }
        }
        Self(joined)
    }

    pub(in crate::device) fn count(&self) -> u32 {
        self.0.iter().map(|(_, len)| len).sum()
    }

    /// One more than the largest number; 0 if there are none.
    pub(in crate::device) fn end(&self) -> u32 {
        self.0
            .last()
            .map_or(0, |&(first, len)| first.saturating_add(len))
    }

    pub(in crate::device) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.0.iter().flat_map(|&(first, len)| first..first + len)
    }

    /// Takes the `count` with the smallest numbers away, or all there are.
    pub(in crate::device) fn take(&mut self, count: u32) -> Self {
        let (mut taken, mut rest, mut wanted) = (Vec::new(), Vec::new(), count);
        for &(first, len) in &self.0 {
            let here = len.min(wanted);
            wanted -= here;
            taken.push((first, here));
            rest.push((first + here, len - here));
        }
        *self = Self::of(rest);
        Self::of(taken)
    }

    /// Those of either.
    pub(in crate::device) fn join(self, other: Self) -> Self {
        Self::of([self.0, other.0].concat())
    }
}

/// How a device's multiprocessors can be divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) struct Grain {
    /// Fewest of a group.
    pub(in crate::device) least: u32,
    /// What a group is a multiple of.
    pub(in crate::device) step: u32,
}

impl Grain {
    /// Of a compute capability, as documented for `cuDevSmResourceSplitByCount`.
    pub(in crate::device) fn of((major, _): (u32, u32)) -> Self {
        let (least, step) = match major {
            ..=6 => (1, 1),
            7 => (2, 2),
            8 => (4, 2),
            _ => (8, 8),
        };
        Self { least, step }
    }

    /// Without regard for multiprocessors that are scheduled together.
    pub(in crate::device) fn finest(self) -> Self {
        Self {
            least: self.least.min(2),
            step: self.step.min(2),
        }
    }

    /// The size of the groups of at least `count` out of `all`.
    pub(in crate::device) fn size(self, count: u32, all: u32) -> u32 {
        let count = count.max(self.least);
        count
            .checked_next_multiple_of(self.step)
            .map_or(all, |size| size.min(all))
    }
}

/// What a `CUdevResource` of multiprocessors says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::device) struct Resource {
    pub(in crate::device) device: u32,
    /// The split that made it; `None` if it was asked for.
    pub(in crate::device) split: Option<u64>,
    pub(in crate::device) multiprocessors: Multiprocessors,
}

impl Resource {
    /// What the program gets. The set itself is in the bytes that a program leaves alone.
    ///
    /// # Errors
    /// The set has more gaps than there is room for.
    pub(in crate::device) fn encode(&self, machine: u64, grain: Grain) -> Reply<CUdevResource> {
        let ranges = &self.multiprocessors.0;
        if ranges.len() > MOST_RANGES {
            return Err(CUresult::CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
        }
        let mut resource = CUdevResource {
            type_: CUdevResourceType::CU_DEV_RESOURCE_TYPE_SM,
            ..CUdevResource::default()
        };
        let mut words = vec![machine as u32, (machine >> 32) as u32];
        let split = self.split.unwrap_or(0);
        words.extend([split as u32, (split >> 32) as u32, self.device]);
        words.push(ranges.len() as u32);
        words.extend(ranges.iter().flat_map(|&(first, len)| [first, len]));
        let places = resource._internal_padding.chunks_exact_mut(4);
        for (place, word) in places.zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        // What a split gives has no grain of its own: seen on an H200.
        let (least, step) = match self.split {
            Some(_) => (0, 0),
            None => (grain.least, grain.step),
        };
        resource.__bindgen_anon_1 = CUdevResource_st__bindgen_ty_1 {
            sm: CUdevSmResource {
                smCount: self.multiprocessors.count(),
                minSmPartitionSize: least,
                smCoscheduledAlignment: step,
                ..CUdevSmResource::default()
            },
        };
        Ok(resource)
    }

    /// What a program has given.
    ///
    /// # Errors
    /// It is of another type; or it is not what this machine gave.
    pub(in crate::device) fn decode(resource: &CUdevResource, machine: u64) -> Reply<Self> {
        if resource.type_ != CUdevResourceType::CU_DEV_RESOURCE_TYPE_SM {
            return Err(CUresult::CUDA_ERROR_INVALID_RESOURCE_TYPE);
        }
        const FOREIGN: CUresult = CUresult::CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
        let word = |index: usize| {
            let bytes = resource._internal_padding.get(index * 4..index * 4 + 4);
            bytes.and_then(|bytes| Some(u32::from_le_bytes(bytes.try_into().ok()?)))
        };
        let word = |index| word(index).ok_or(FOREIGN);
        let double = |index| Ok(u64::from(word(index)?) | u64::from(word(index + 1)?) << 32);
        let ranges = word(5)? as usize;
        if double(0)? != machine || ranges > MOST_RANGES {
            return Err(FOREIGN);
        }
        let range = |index: usize| Ok((word(6 + index * 2)?, word(7 + index * 2)?));
        let ranges = (0..ranges).map(range).collect::<Reply<Vec<_>>>()?;
        let multiprocessors = Multiprocessors::of(ranges);
        // SAFETY: every field of the union is made of integers, so any bytes are a value.
        let told = unsafe { resource.__bindgen_anon_1.sm.smCount };
        if told != multiprocessors.count() {
            return Err(FOREIGN);
        }
        Ok(Self {
            device: word(4)?,
            split: Some(double(2)?).filter(|split| *split != 0),
            multiprocessors,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it, two groups of a split could share a multiprocessor, or lose one.
    #[test]
    fn taking_and_joining_keep_every_multiprocessor_once() {
        let mut rest = Multiprocessors::first(20);
        let (a, b, c) = (rest.take(8), rest.take(4), rest.take(4));
        assert_eq!(rest.numbers().collect::<Vec<_>>(), [16, 17, 18, 19]);
        let mut apart = a.clone().join(c.clone());
        assert_eq!((apart.count(), apart.0.len()), (12, 2));
        // Across the gap.
        let first = apart.take(10);
        assert_eq!(first.0, [(0, 8), (12, 2)]);
        assert_eq!(apart.numbers().collect::<Vec<_>>(), [14, 15]);
        assert_eq!(a.clone().join(a.clone()), a);
        let all = a.join(c).join(b).join(rest);
        assert_eq!(all, Multiprocessors::first(20));
        assert_eq!(all.clone().take(99), all);
    }

    /// Without it, a group could be smaller than a driver makes it, or larger than there is.
    #[test]
    fn sizes_are_those_of_the_architecture() {
        let hopper = Grain::of((9, 0));
        // Seen on an H200, which has 132.
        let seen = [
            (0, 8),
            (8, 8),
            (9, 16),
            (17, 24),
            (100, 104),
            (131, 132),
            (132, 132),
        ];
        for (count, size) in seen {
            assert_eq!(hopper.size(count, 132), size, "{count}");
        }
        for (count, size) in [(0, 2), (3, 4), (17, 18), (100, 100)] {
            assert_eq!(hopper.finest().size(count, 132), size, "{count}");
        }
        for (major, least, step) in [(6, 1, 1), (7, 2, 2), (8, 4, 2), (10, 8, 8)] {
            assert_eq!(Grain::of((major, 0)), Grain { least, step });
        }
    }

    /// Without it, a resource could come back with other multiprocessors than it had, or a
    /// forged one could pass.
    #[test]
    fn a_resource_carries_its_set() {
        let mut all = Multiprocessors::first(64);
        let parts: Vec<_> = (0..16).map(|_| all.take(4)).collect();
        let every = |step: usize| {
            let parts = parts.iter().step_by(step).cloned();
            parts.reduce(Multiprocessors::join).unwrap()
        };
        let grain = Grain::of((9, 0));
        let resource = Resource {
            device: 3,
            split: Some(7 << 40),
            multiprocessors: every(2),
        };
        let mut coded = resource.encode(5 << 33, grain).unwrap();
        assert_eq!(Resource::decode(&coded, 5 << 33), Ok(resource.clone()));
        let bad = CUresult::CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
        assert_eq!(Resource::decode(&coded, 6 << 33), Err(bad));
        coded.__bindgen_anon_1 = CUdevResource_st__bindgen_ty_1 {
            sm: CUdevSmResource::default(),
        };
        assert_eq!(Resource::decode(&coded, 5 << 33), Err(bad));
        let lone = parts[0].clone().join(Multiprocessors(
            (1..=MOST_RANGES as u32).map(|at| (at * 10, 1)).collect(),
        ));
        let crowded = Resource {
            multiprocessors: lone,
            ..resource
        };
        assert_eq!(crowded.encode(0, grain).err(), Some(bad));
    }
}
