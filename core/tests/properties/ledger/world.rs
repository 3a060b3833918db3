//! Processes that are played: each is a script and the step of an operation that it has come to. One step is
//! one access to the shared words, so that any order of steps is an order that processors could have, but for
//! what weak orderings allow: that is loom's.

use cupola_core::ledger::{Operation, Outcome, Owner, UNIT, Words};

use super::memory::{Memory, ROWS, WORDS};

/// What a process does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Act {
    Join,
    /// Has so many units charged from then on, if they fit.
    Charge(u64),
    /// Gives the row back, if nothing is charged.
    Leave,
    /// Takes back the row of a process that has ended, if there is one.
    Reclaim,
    SetLimit(u64),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    acts: Vec<Act>,
    /// The act that is under way.
    at: usize,
    running: Option<Operation>,
    row: Option<usize>,
    /// Units that it knows to have.
    units: u64,
    is_dead: bool,
}

/// All that there is at an instant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct World {
    memory: Vec<u64>,
    processes: Vec<Process>,
    /// The limit in units.
    limit: u64,
}

/// The process of this index.
fn owner(index: usize) -> Owner {
    Owner::new(index as u32 + 1, 7).unwrap()
}

impl World {
    pub(crate) fn new(memory: &Memory, limit: u64, scripts: &[&[Act]]) -> Self {
        memory.write(&[0; WORDS]);
        memory.words().set_limit(limit * UNIT);
        let process = |acts: &&[Act]| Process {
            acts: acts.to_vec(),
            at: 0,
            running: None,
            row: None,
            units: 0,
            is_dead: false,
        };
        Self {
            memory: memory.read(),
            processes: scripts.iter().map(process).collect(),
            limit,
        }
    }

    pub(crate) fn may_step(&self, index: usize) -> bool {
        let process = &self.processes[index];
        !process.is_dead && process.at < process.acts.len()
    }

    pub(crate) fn kill(&self, index: usize) -> Self {
        let mut world = self.clone();
        world.processes[index].is_dead = true;
        world
    }

    /// The world after one step of a process.
    pub(crate) fn step(&self, memory: &Memory, index: usize) -> Self {
        memory.write(&self.memory);
        let mut world = self.clone();
        let before = memory.words().used();
        world.advance(memory.words(), index);
        let used = memory.words().used();
        let is_granted = used <= before || used <= world.limit * UNIT;
        assert!(is_granted, "never beyond the limit");
        world.memory = memory.read();
        world
    }

    fn advance(&mut self, words: &Words, index: usize) {
        let act = self.processes[index].acts[self.processes[index].at];
        if let Some(mut operation) = self.processes[index].running.take() {
            match operation.step(words) {
                None => self.processes[index].running = Some(operation),
                Some(outcome) => {
                    self.finish(words, index, act, outcome);
                    self.processes[index].at += 1;
                }
            }
            return;
        }
        let dead = |owner: Owner| self.processes[owner.pid() as usize - 1].is_dead;
        let process = &self.processes[index];
        let operation = match act {
            Act::Join => {
                self.processes[index].row = words.join(owner(index));
                None
            }
            Act::Charge(units) => process.row.map(|row| Operation::charge(row, units * UNIT)),
            Act::Leave => {
                if let Some(row) = process.row.filter(|_| process.units == 0) {
                    words.leave(row, owner(index));
                    self.processes[index].row = None;
                }
                None
            }
            Act::Reclaim => (0..ROWS).find_map(|row| {
                let of_dead = words.owner(row).filter(|owner| dead(*owner))?;
                Some(Operation::reclaim(row, of_dead))
            }),
            Act::SetLimit(units) => {
                // Its accesses at once: the models have them apart.
                words.set_limit(units * UNIT);
                self.limit = units;
                None
            }
        };
        match operation {
            Some(operation) => self.processes[index].running = Some(operation),
            None => self.processes[index].at += 1,
        }
    }

    fn finish(&mut self, words: &Words, index: usize, act: Act, outcome: Outcome) {
        let process = &mut self.processes[index];
        match (act, outcome) {
            (Act::Charge(units), Outcome::Done { before }) => {
                assert_eq!(before, process.units * UNIT, "what it had");
                process.units = units;
            }
            (Act::Charge(units), Outcome::Refused { used, limit }) => {
                assert_eq!(
                    (used, limit),
                    (words.used(), words.limit()),
                    "of this instant"
                );
                assert!(
                    used - process.units * UNIT + units * UNIT > limit,
                    "it fits"
                );
            }
            (Act::Reclaim, Outcome::Done { .. } | Outcome::Gone) => {}
            _ => panic!("{act:?} came to {outcome:?}"),
        }
    }

    /// What must be so at each instant.
    pub(crate) fn check(&self, memory: &Memory) {
        memory.write(&self.memory);
        let words = memory.words();
        let mut sum = 0;
        for row in 0..ROWS {
            if let Some(member) = words.member(row).expect("no row is damaged") {
                sum += member.bytes;
                let process = &self.processes[member.owner.pid() as usize - 1];
                if !process.is_dead && process.running.is_none() {
                    assert_eq!(member.bytes, process.units * UNIT, "what {row} has");
                }
            }
        }
        assert_eq!(words.used(), sum, "the total is the sum of its rows");
        // Whatever the others have come to, each goes on by itself.
        for index in 0..self.processes.len() {
            let mut alone = self.clone();
            memory.write(&self.memory);
            let mut steps = 0;
            while alone.may_step(index) {
                alone.advance(words, index);
                steps += 1;
                assert!(steps < 200, "process {index} waits for another");
            }
        }
    }

    /// What must be so when all have ended or been killed: nothing of the dead stays, and the rest is what
    /// the living know to have.
    pub(crate) fn check_end(&self, memory: &Memory) {
        memory.write(&self.memory);
        let words = memory.words();
        for row in 0..ROWS {
            if let Some(owner) = words.owner(row)
                && self.processes[owner.pid() as usize - 1].is_dead
            {
                let outcome = Operation::reclaim(row, owner).run(words);
                assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
                assert_eq!(words.owner(row), None);
            }
        }
        let living = self.processes.iter().filter(|process| !process.is_dead);
        let units: u64 = living.map(|process| process.units).sum();
        assert_eq!(words.used(), units * UNIT);
    }

    pub(crate) fn len(&self) -> usize {
        self.processes.len()
    }
}
