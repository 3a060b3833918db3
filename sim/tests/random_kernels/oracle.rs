//! What a random kernel must write: every thread interpreted by itself, statement by
//! statement. Statements in which threads meet are at the outermost level, so all threads
//! finish one statement before any begins the next.

use crate::generate::{Function, Instruction, Kernel, LOCAL, RECORD, REGISTERS, Source, Statement};
use crate::ops::Class;

#[derive(Clone)]
struct Thread {
    r: [u32; REGISTERS],
    d: [u64; REGISTERS],
    f: [u32; REGISTERS],
    p: [bool; REGISTERS],
    local: [u32; LOCAL],
}

impl Thread {
    fn initial(id: u32) -> Self {
        let r: [u32; REGISTERS] = std::array::from_fn(|at| {
            let at = at as u32;
            id.wrapping_mul(2 * at + 1).wrapping_add(at * 1000)
        });
        Self {
            r,
            d: r.map(|r| u64::from(r) * 0x9e37_79b9),
            f: r.map(|r| (r as f32).to_bits()),
            p: r.map(|r| r & 1 != 0),
            local: std::array::from_fn(|at| at as u32),
        }
    }

    fn get(&self, class: Class, at: usize) -> u64 {
        match class {
            Class::R => u64::from(self.r[at]),
            Class::D => self.d[at],
            Class::F => u64::from(self.f[at]),
            Class::P => u64::from(self.p[at]),
        }
    }

    fn set(&mut self, class: Class, at: usize, value: u64) {
        match class {
            Class::R => self.r[at] = value as u32,
            Class::D => self.d[at] = value,
            Class::F => self.f[at] = value as u32,
            Class::P => self.p[at] = value != 0,
        }
    }

    fn instruction(&mut self, one: &Instruction) {
        if let Some((predicate, negated)) = one.guard
            && self.p[predicate] == negated
        {
            return;
        }
        let mut operands = [0; 3];
        for ((operand, source), class) in operands.iter_mut().zip(&one.sources).zip(one.op.sources)
        {
            *operand = match source {
                Source::Register(at) => self.get(*class, *at),
                Source::Value(bits) => *bits,
            };
        }
        self.set(one.op.result, one.result, (one.op.compute)(operands));
    }

    fn statements(&mut self, statements: &[Statement], functions: &[Function], sum: &mut u32) {
        for statement in statements {
            self.statement(statement, functions, sum);
        }
    }

    fn statement(&mut self, statement: &Statement, functions: &[Function], sum: &mut u32) {
        match statement {
            Statement::Op(one) => self.instruction(one),
            Statement::If {
                predicate,
                negated,
                then,
                other,
            } => {
                let way = if self.p[*predicate] != *negated {
                    then
                } else {
                    other
                };
                self.statements(way, functions, sum);
            }
            Statement::Loop { count, body, until } => {
                for _ in 0..self.r[*count] & 7 {
                    self.statements(body, functions, sum);
                    if until.is_some_and(|until| self.p[until]) {
                        break;
                    }
                }
            }
            Statement::Call {
                function,
                result,
                arguments: [a, b],
            } => {
                let mut callee = Self::initial(0);
                callee.r = std::array::from_fn(|at| at as u32);
                (callee.r[0], callee.r[1]) = (self.r[*a], self.r[*b]);
                functions[*function]
                    .iter()
                    .for_each(|one| callee.instruction(one));
                self.r[*result] = callee.r[0];
            }
            Statement::Store { index, value } => {
                self.local[self.r[*index] as usize % LOCAL] = self.r[*value];
            }
            Statement::Load { index, result } => {
                self.r[*result] = self.local[self.r[*index] as usize % LOCAL];
            }
            Statement::Add { value } => *sum = sum.wrapping_add(self.r[*value]),
            Statement::Exchange { .. } | Statement::Shuffle { .. } | Statement::Ballot { .. } => {
                unreachable!("threads meet at the outermost level only")
            }
        }
    }

    fn record(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(RECORD);
        for k in 0..REGISTERS {
            bytes.extend(self.d[k].to_le_bytes());
        }
        for k in 0..REGISTERS {
            bytes.extend(self.r[k].to_le_bytes());
            let f = f32::from_bits(self.f[k]);
            let f = if f.is_nan() { 0x7fff_ffff } else { self.f[k] };
            bytes.extend(f.to_le_bytes());
            bytes.extend(u32::from(self.p[k]).to_le_bytes());
        }
        for word in self.local {
            bytes.extend(word.to_le_bytes());
        }
        bytes
    }
}

/// All threads' records, and the word that all threads add to.
pub(crate) fn expected(kernel: &Kernel) -> (Vec<u8>, u32) {
    let (mut records, mut sum) = (Vec::new(), 0);
    for block in 0..kernel.blocks {
        let ids = block * kernel.threads..(block + 1) * kernel.threads;
        let mut threads: Vec<_> = ids.map(Thread::initial).collect();
        for statement in &kernel.body {
            together(statement, &mut threads, &kernel.functions, &mut sum);
        }
        records.extend(threads.iter().flat_map(Thread::record));
    }
    (records, sum)
}

fn together(statement: &Statement, threads: &mut [Thread], functions: &[Function], sum: &mut u32) {
    let count = threads.len();
    match statement {
        Statement::Exchange {
            value,
            result,
            distance,
        } => {
            let put: Vec<_> = threads.iter().map(|thread| thread.r[*value]).collect();
            for (at, thread) in threads.iter_mut().enumerate() {
                thread.r[*result] = put[(at + *distance as usize) % count];
            }
        }
        Statement::Shuffle {
            value,
            result,
            mask,
        } => {
            let put: Vec<_> = threads.iter().map(|thread| thread.r[*value]).collect();
            for (at, thread) in threads.iter_mut().enumerate() {
                let from = at / 32 * 32 + ((at % 32) ^ *mask as usize);
                thread.r[*result] = put.get(from).copied().unwrap_or(put[at]);
            }
        }
        Statement::Ballot { predicate, result } => {
            let votes: Vec<_> = threads.iter().map(|thread| thread.p[*predicate]).collect();
            for (at, thread) in threads.iter_mut().enumerate() {
                let warp = votes.chunks(32).nth(at / 32).unwrap_or(&[]);
                let bits = warp.iter().enumerate();
                thread.r[*result] =
                    bits.fold(0, |all, (lane, vote)| all | u32::from(*vote) << lane);
            }
        }
        _ => {
            for thread in threads {
                thread.statement(statement, functions, sum);
            }
        }
    }
}
