//! Reads the part of Python's pickle format (protocols 2 to 5) that plain data takes: no
//! classes, no calls. <https://github.com/python/cpython/blob/main/Lib/pickletools.py> has
//! the opcodes.
//!
//! A library for pickles would build a tree here. A hostile file of a few bytes can refer to
//! one list so often that its tree is larger than any memory, or nest so deep that dropping
//! it overflows the stack; a [`Document`] does neither.

use std::collections::HashMap;
use std::io::{BufRead, Read as _};

use super::super::TraceError;
use super::super::build::Memory;
use super::document::{Document, Value};

/// Reads one pickle to its end.
pub(super) fn read(source: impl BufRead, memory: Memory) -> Result<(Document, Value), TraceError> {
    let mut machine = Machine {
        source,
        offset: 0,
        document: Document::new(memory),
        stack: Vec::new(),
        highest: 0,
        marks: Vec::new(),
        memo: HashMap::new(),
    };
    loop {
        let start = machine.offset;
        match machine.step() {
            Ok(None) => {}
            Ok(Some(root)) => return Ok((machine.document, root)),
            Err(Stop::Error(error)) => return Err(error),
            Err(Stop::Here(problem)) => {
                return Err(TraceError::Pickle {
                    offset: start,
                    problem,
                });
            }
        }
    }
}

enum Stop {
    Here(String),
    Error(TraceError),
}

impl From<TraceError> for Stop {
    fn from(error: TraceError) -> Self {
        Self::Error(error)
    }
}

impl From<&str> for Stop {
    fn from(problem: &str) -> Self {
        Self::Here(problem.into())
    }
}

struct Machine<R> {
    source: R,
    offset: u64,
    document: Document,
    stack: Vec<Value>,
    /// The most that the stack ever held, which memory was taken for.
    highest: usize,
    marks: Vec<usize>,
    memo: HashMap<u32, Value>,
}

impl<R: BufRead> Machine<R> {
    /// Runs one instruction; the root at the last.
    fn step(&mut self) -> Result<Option<Value>, Stop> {
        let [opcode] = self.bytes()?;
        match opcode {
            0x80 => {
                let [version] = self.bytes()?;
                if !(2..=5).contains(&version) {
                    return Err("the protocol is not one of 2 to 5".into());
                }
            }
            // A frame's length: a hint for readers.
            0x95 => self.bytes::<8>().map(drop)?,
            b'.' => return self.pop().map(Some),
            b'(' => {
                self.document.memory.take(2 * size_of::<usize>())?;
                self.marks.push(self.stack.len());
            }
            b'0' => drop(self.pop()?),
            b'1' => drop(self.marked()?),
            0x94 => self.put(self.memo.len() as u32)?,
            b'q' => {
                let [index] = self.bytes()?;
                self.put(index.into())?;
            }
            b'r' => {
                let index = u32::from_le_bytes(self.bytes()?);
                self.put(index)?;
            }
            b'h' => {
                let [index] = self.bytes()?;
                self.get(index.into())?;
            }
            b'j' => {
                let index = u32::from_le_bytes(self.bytes()?);
                self.get(index)?;
            }
            b'N' => self.push(Value::None)?,
            0x88 => self.push(Value::Bool(true))?,
            0x89 => self.push(Value::Bool(false))?,
            b'J' => {
                let value = i32::from_le_bytes(self.bytes()?);
                self.push(Value::Integer(value.into()))?;
            }
            b'K' => {
                let [value] = self.bytes()?;
                self.push(Value::Integer(value.into()))?;
            }
            b'M' => {
                let value = u16::from_le_bytes(self.bytes()?);
                self.push(Value::Integer(value.into()))?;
            }
            0x8a => self.long()?,
            b'G' => {
                let value = f64::from_be_bytes(self.bytes()?);
                self.push(Value::Float(value))?;
            }
            0x8c => {
                let [len] = self.bytes()?;
                self.text(len.into())?;
            }
            b'X' => {
                let len = u32::from_le_bytes(self.bytes()?);
                self.text(len.into())?;
            }
            0x8d => {
                let len = u64::from_le_bytes(self.bytes()?);
                self.text(len)?;
            }
            _ => self.container(opcode)?,
        }
        Ok(None)
    }

    /// Instructions that make or fill lists, tuples and dictionaries.
    fn container(&mut self, opcode: u8) -> Result<(), Stop> {
        match opcode {
            b']' | b')' => self.make(self.stack.len(), Value::List),
            b'}' => self.make(self.stack.len(), Value::Dict),
            b'l' | b't' => {
                let mark = self.mark()?;
                self.make(mark, Value::List)
            }
            b'd' => {
                let mark = self.mark()?;
                self.make(mark, Value::Dict)
            }
            0x85..=0x87 => {
                let count = usize::from(opcode - 0x84);
                let start = self.stack.len().checked_sub(count);
                let start = start.ok_or("the stack is empty")?;
                self.make(start, Value::List)
            }
            b'a' => self.fill(self.stack.len().wrapping_sub(1), false),
            b's' => self.fill(self.stack.len().wrapping_sub(2), true),
            b'e' => {
                let mark = self.mark()?;
                self.fill(mark, false)
            }
            b'u' => {
                let mark = self.mark()?;
                self.fill(mark, true)
            }
            _ => Err(Stop::Here(format!(
                "opcode {opcode:#04x} is not one of plain data"
            ))),
        }
    }

    /// A container of everything on the stack from `start` on.
    fn make(&mut self, start: usize, kind: fn(u32) -> Value) -> Result<(), Stop> {
        let values = self.above(start)?.to_vec();
        if kind(0) == Value::Dict(0) && values.len() % 2 == 1 {
            return Err("a dictionary's key has no value".into());
        }
        self.stack.truncate(start);
        let index = self.document.list(values)?;
        self.push(kind(index))
    }

    /// Moves everything on the stack from `start` on into the container below.
    fn fill(&mut self, start: usize, dict: bool) -> Result<(), Stop> {
        let values = self.above(start)?;
        if dict && values.len() % 2 == 1 {
            return Err("a dictionary's key has no value".into());
        }
        let below = start.checked_sub(1).and_then(|index| self.stack.get(index));
        let index = match (below, dict) {
            (Some(&Value::List(index)), false) | (Some(&Value::Dict(index)), true) => Some(index),
            _ => None,
        };
        let index = index.ok_or("there is no container to put values into")?;
        let values = self.stack.drain(start..);
        self.document.extend(index, values)?;
        Ok(())
    }

    fn above(&self, start: usize) -> Result<&[Value], Stop> {
        Ok(self.stack.get(start..).ok_or("the stack is empty")?)
    }

    fn mark(&mut self) -> Result<usize, Stop> {
        Ok(self.marks.pop().ok_or("there is no mark on the stack")?)
    }

    /// Drops everything down to the mark.
    fn marked(&mut self) -> Result<(), Stop> {
        let mark = self.mark()?;
        self.stack.truncate(mark);
        Ok(())
    }

    fn push(&mut self, value: Value) -> Result<(), Stop> {
        self.stack.push(value);
        if self.stack.len() > self.highest {
            self.highest = self.stack.len();
            self.document.memory.take(2 * size_of::<Value>())?;
        }
        Ok(())
    }

    fn pop(&mut self) -> Result<Value, Stop> {
        Ok(self.stack.pop().ok_or("the stack is empty")?)
    }

    fn put(&mut self, index: u32) -> Result<(), Stop> {
        let value = *self.stack.last().ok_or("the stack is empty")?;
        self.document.memory.take(64)?;
        self.memo.insert(index, value);
        Ok(())
    }

    fn get(&mut self, index: u32) -> Result<(), Stop> {
        let value = self.memo.get(&index).copied();
        self.push(value.ok_or("a value is used that was never memoized")?)
    }

    /// An integer of any length; one that fits no 64 bits is no figure of a snapshot.
    fn long(&mut self) -> Result<(), Stop> {
        let [len] = self.bytes()?;
        let mut little = [0_u8; 255];
        let bytes = &mut little[..usize::from(len)];
        self.fill_bytes(bytes)?;
        let negative = bytes.last().is_some_and(|byte| *byte >= 0x80);
        let sign = if negative { 0xff } else { 0 };
        let mut wide = [sign; 16];
        let (low, high) = bytes.split_at(bytes.len().min(16));
        wide[..low.len()].copy_from_slice(low);
        let value = i128::from_le_bytes(wide);
        let fits = high.iter().all(|byte| *byte == sign);
        self.push(match (i64::try_from(value), u64::try_from(value)) {
            (Ok(value), _) if fits => Value::Integer(value),
            (_, Ok(value)) if fits => Value::Unsigned(value),
            _ => return Err("the integer does not fit 64 bits".into()),
        })
    }

    fn text(&mut self, len: u64) -> Result<(), Stop> {
        // Taken before it is there: the buffer grows with what is read.
        self.document
            .memory
            .take(usize::try_from(len).unwrap_or(usize::MAX))?;
        let mut bytes = Vec::new();
        let read = (&mut self.source).take(len).read_to_end(&mut bytes);
        let read = read.map_err(TraceError::Read)? as u64;
        self.offset += read;
        if read < len {
            return Err("it ends within a text".into());
        }
        // Python writes a lone surrogate as three bytes that are not UTF-8.
        let text = String::from_utf8_lossy(&bytes);
        let value = self.document.text(&text)?;
        self.push(value)
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Stop> {
        let mut bytes = [0; N];
        self.fill_bytes(&mut bytes)?;
        Ok(bytes)
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Stop> {
        match self.source.read_exact(bytes) {
            Ok(()) => {
                self.offset += bytes.len() as u64;
                Ok(())
            }
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                Err("it ends early".into())
            }
            Err(error) => Err(TraceError::Read(error).into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::ReadOptions;
    use super::*;

    fn load(bytes: &[u8]) -> Result<(Document, Value), TraceError> {
        read(bytes, Memory::new(&ReadOptions::default()))
    }

    /// Without it a number could come out as another: Python writes the same one in several
    /// ways.
    #[test]
    fn numbers_of_all_widths_are_read() {
        for (bytes, value) in [
            (&b"K\xff."[..], Value::Integer(255)),
            (b"M\xff\xff.", Value::Integer(65_535)),
            (b"J\xff\xff\xff\xff.", Value::Integer(-1)),
            (b"\x8a\x00.", Value::Integer(0)),
            (b"\x8a\x01\x80.", Value::Integer(-128)),
            (b"\x8a\x06\0\0\0\0\0\x7f.", Value::Integer(0x7f00_0000_0000)),
            (
                b"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00.",
                Value::Unsigned(u64::MAX),
            ),
            (b"G\x3f\xf8\0\0\0\0\0\0.", Value::Float(1.5)),
            (b"\x80\x05N.", Value::None),
        ] {
            assert_eq!(load(bytes).unwrap().1, value, "{bytes:?}");
        }
        for bytes in [
            &b"\x8a\x09\0\0\0\0\0\0\0\0\x01."[..],
            b"\x8a\x0a\0\0\0\0\0\0\0\0\0\xff.",
            b"\x8a\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01.",
        ] {
            assert!(matches!(load(bytes), Err(TraceError::Pickle { .. })));
        }
    }

    /// Without it a file could call code's names, or be read past its mistakes.
    #[test]
    fn what_is_not_plain_data_is_refused_where_it_stands() {
        for (bytes, offset, words) in [
            (
                &b"\x80\x04cos\nsystem\n."[..],
                2,
                "0x63 is not one of plain data",
            ),
            (b"\x80\x04NR.", 3, "0x52"),
            (b"\x80\x01N.", 0, "protocol"),
            (b"N", 1, "ends early"),
            (b"X\x04\0\0\0ab", 0, "within a text"),
            (b".", 0, "stack is empty"),
            (b"a.", 0, "stack is empty"),
            (b"Na.", 1, "no container"),
            (b"]NNs.", 3, "no container"),
            (b"}(Nu.", 3, "no value"),
            (b"(Nd.", 2, "no value"),
            (b"e.", 0, "no mark"),
            (b"\x85.", 0, "stack is empty"),
            (b"h\x00.", 0, "never memoized"),
        ] {
            match load(bytes) {
                Err(TraceError::Pickle {
                    offset: at,
                    problem,
                }) => {
                    assert_eq!(at, offset, "{bytes:?}: {problem}");
                    assert!(problem.contains(words), "{bytes:?}: {problem}");
                }
                other => panic!("{bytes:?}: {other:?}"),
            }
        }
    }

    /// Without it a file of a hundred bytes could take all memory, or one that nests deep the
    /// whole process.
    #[test]
    fn references_and_nesting_take_memory_in_proportion() {
        // A list of two of the list before, sixty times over.
        let mut bomb = b"]q\x00".to_vec();
        for _ in 0..60 {
            bomb.extend(b"h\x00h\x00\x86q\x00");
        }
        bomb.push(b'.');
        assert!(load(&bomb).is_ok());
        let mut deep = b"N".to_vec();
        deep.resize(1 << 20, 0x85);
        deep.push(b'.');
        assert!(load(&deep).is_ok());
        let options = ReadOptions {
            memory: 1 << 16,
            ..ReadOptions::default()
        };
        let claims = [
            b"\x8d\xff\xff\xff\xff\xff\xff\xff\x7f".to_vec(),
            deep,
            vec![b'('; 1 << 16],
        ];
        for bytes in claims {
            let refused = read(&bytes[..], Memory::new(&options));
            assert!(matches!(refused, Err(TraceError::TooLarge { .. })));
        }
    }
}
