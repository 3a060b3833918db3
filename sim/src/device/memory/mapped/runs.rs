//! Which addresses are mapped, and who may access them how: as few ranges as say it.

use std::collections::BTreeMap;

use crate::device::memory::mapped::permissions::Permissions;

/// A range of addresses with the same permissions everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) permissions: Permissions,
}

/// Ranges that do not overlap; two that touch have different permissions. A buffer of many
/// physical pages is one run, so that finding it costs the same as finding one page.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// End and permissions by start.
    runs: BTreeMap<u64, (u64, Permissions)>,
}

impl Runs {
    fn before(&self, address: u64) -> Option<Run> {
        let (&start, &(end, permissions)) = self.runs.range(..=address).next_back()?;
        Some(Run {
            start,
            end,
            permissions,
        })
    }

    /// The run that `address` is in.
    pub(super) fn at(&self, address: u64) -> Option<Run> {
        self.before(address).filter(|run| address < run.end)
    }

    /// What is common to all of `start..end`: as far as the first and the last run go,
    /// and the permissions that hold everywhere. `None` if there is a gap.
    pub(super) fn across(&self, start: u64, end: u64) -> Option<Run> {
        let mut whole = self.at(start)?;
        while whole.end < end {
            let next = self.at(whole.end)?;
            whole.end = next.end;
            whole.permissions = whole.permissions.and(next.permissions);
        }
        Some(whole)
    }

    /// Takes `start..end` out.
    pub(super) fn clear(&mut self, start: u64, end: u64) {
        if let Some(run) = self.before(start)
            && run.start < start
            && start < run.end
        {
            self.runs.insert(run.start, (start, run.permissions));
            self.runs.insert(start, (run.end, run.permissions));
        }
        while let Some((&first, &(last, permissions))) = self.runs.range(start..end).next() {
            self.runs.remove(&first);
            if last > end {
                self.runs.insert(end, (last, permissions));
            }
        }
    }

    /// Says what holds for `start..end`, whatever did before.
    pub(super) fn set(&mut self, start: u64, end: u64, permissions: Permissions) {
        self.clear(start, end);
        let mut whole = (start, end);
        if let Some(run) = start.checked_sub(1).and_then(|before| self.at(before))
            && run.permissions == permissions
        {
            self.runs.remove(&run.start);
            whole.0 = run.start;
        }
        if let Some(run) = self.at(end)
            && run.permissions == permissions
        {
            self.runs.remove(&run.start);
            whole.1 = run.end;
        }
        self.runs.insert(whole.0, (whole.1, permissions));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::memory::access::Access;

    const END: usize = 32;

    fn permissions(number: u8) -> Permissions {
        let access = [Access::None, Access::Read, Access::Write][usize::from(number % 3)];
        Permissions::default().with(usize::from(number / 3) % 2, access)
    }

    quickcheck::quickcheck! {
        /// Without it, access could be granted where it was not, or a range that is one
        /// buffer could be found in pieces.
        fn runs_are_what_each_address_was_told(steps: Vec<(u8, u8, Option<u8>)>) -> bool {
            let mut runs = Runs::default();
            let mut naive = [None; END];
            for (start, len, number) in steps {
                let start = usize::from(start) % END;
                let end = (start + 1 + usize::from(len) % 8).min(END);
                let value = number.map(permissions);
                naive[start..end].fill(value);
                match value {
                    Some(permissions) => runs.set(start as u64, end as u64, permissions),
                    None => runs.clear(start as u64, end as u64),
                }
            }
            let each = (0..END).all(|at| {
                let run = runs.at(at as u64);
                run.map(|run| run.permissions) == naive[at]
                    && run.is_none_or(|run| {
                        let same = |i: usize| naive[i] == naive[at];
                        let (start, end) = (run.start as usize, run.end as usize);
                        (start..end).all(same)
                            && (start == 0 || !same(start - 1))
                            && (end == END || !same(end))
                    })
            });
            let pairs = (0..END).all(|start| (start + 1..=END).all(|end| {
                let all: Option<Vec<Permissions>> = naive[start..end].iter().copied().collect();
                let all = all.map(|all| all.into_iter().reduce(Permissions::and).unwrap());
                let found = runs.across(start as u64, end as u64);
                found.map(|run| run.permissions) == all
                    && found.is_none_or(|run| run.start <= start as u64 && run.end >= end as u64)
            }));
            each && pairs
        }
    }
}
