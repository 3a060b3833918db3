//! What all readers share: numbering blocks, streams and threads, and the account of what is
//! alive.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::io::{BufRead, Read as _};

use super::{Operation, ReadOptions, Trace, TraceError};

/// Why a reader stops.
#[derive(Debug)]
pub(super) enum Refusal {
    /// What it is looking at is wrong; the caller that knows where that is says so.
    Here(&'static str),
    /// A whole error.
    Error(TraceError),
}

impl From<&'static str> for Refusal {
    fn from(problem: &'static str) -> Self {
        Self::Here(problem)
    }
}

impl From<TraceError> for Refusal {
    fn from(error: TraceError) -> Self {
        Self::Error(error)
    }
}

/// Longer than any line of a text format; a line is read into memory at once.
const LINE: u64 = 4096;

/// How much memory reading has taken, against the most that it may.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    left: u64,
    limit: u64,
}

impl Memory {
    pub(super) fn new(options: &ReadOptions) -> Self {
        Self {
            left: options.memory,
            limit: options.memory,
        }
    }

    /// Whether there is room for `bytes` more for a moment.
    pub(super) fn room(self, bytes: usize) -> Result<(), TraceError> {
        let mut after = self;
        after.take(bytes)
    }

    /// Takes `bytes` more.
    pub(super) fn take(&mut self, bytes: usize) -> Result<(), TraceError> {
        self.left = (self.left.checked_sub(bytes as u64))
            .ok_or(TraceError::TooLarge { limit: self.limit })?;
        Ok(())
    }
}

/// A trace in the making. `Address` is what the source calls a block while it is alive.
#[derive(Debug)]
pub(super) struct Builder<Address> {
    trace: Trace,
    memory: Memory,
    live: HashMap<Address, (usize, u64, u32)>,
    live_bytes: u64,
    streams: HashMap<u64, u32>,
    threads: HashMap<u64, u32>,
    first_time: Option<u64>,
    names: HashMap<String, u32>,
}

/// What one operation takes in a trace, at most: itself, time and thread. A list that doubles
/// has room for twice as many at most, and while it grows the old one is there as well.
const OPERATION: usize = 3 * (size_of::<Operation>() + size_of::<u64>() + size_of::<u32>());

/// An entry of a table, at most: a table that has grown has 16 places for 7 entries, each with a
/// byte besides, and while it grows the old one, half as large, is there as well.
const fn entry(bytes: usize) -> usize {
    (bytes + 1) * 24_usize.div_ceil(7)
}

/// A number for a name.
const NUMBER: usize = entry(size_of::<(u64, u32)>());

impl<Address> Builder<Address> {
    /// What a block takes: its entry among the live ones, and its site.
    const BLOCK: usize = entry(size_of::<(Address, (usize, u64, u32))>()) + 3 * size_of::<u32>();
}

impl<Address: Eq + Hash> Builder<Address> {
    pub(super) fn new(memory: Memory) -> Self {
        Self {
            trace: Trace::default(),
            memory,
            live: HashMap::new(),
            live_bytes: 0,
            streams: HashMap::new(),
            threads: HashMap::new(),
            first_time: None,
            names: HashMap::new(),
        }
    }

    /// Block `address` is allocated on `stream`, by whatever name the source has for it.
    pub(super) fn allocate(
        &mut self,
        address: Address,
        bytes: u64,
        stream: u64,
    ) -> Result<(), Refusal> {
        let block = self.trace.blocks;
        let live = self.live_bytes.checked_add(bytes);
        let live = live.ok_or("the live bytes exceed 64 bits")?;
        self.memory.take(OPERATION + Self::BLOCK)?;
        let stream = number(&mut self.memory, &mut self.streams, stream)?;
        if self.live.insert(address, (block, bytes, stream)).is_some() {
            return Err("the block is already allocated".into());
        }
        self.live_bytes = live;
        self.trace.peak = self.trace.peak.max(live);
        self.trace.blocks += 1;
        self.trace.operations.push(Operation::Allocate {
            block,
            bytes,
            stream,
        });
        Ok(())
    }

    /// Block `address` is freed, on its own stream if `stream` is `None`. False if no such
    /// block is alive.
    pub(super) fn free(
        &mut self,
        address: &Address,
        stream: Option<u64>,
    ) -> Result<bool, TraceError> {
        let Some((block, bytes, own)) = self.live.remove(address) else {
            return Ok(false);
        };
        self.memory.take(OPERATION)?;
        self.live_bytes -= bytes;
        let stream = match stream {
            Some(stream) => number(&mut self.memory, &mut self.streams, stream)?,
            None => own,
        };
        self.trace
            .operations
            .push(Operation::Free { block, stream });
        Ok(true)
    }

    /// Whether block `address` is alive.
    pub(super) fn is_live(&self, address: &Address) -> bool {
        self.live.contains_key(address)
    }

    /// The last operation happened at `time` nanoseconds by the source's clock.
    pub(super) fn at(&mut self, time: u64) {
        let first = *self.first_time.get_or_insert(time);
        // Sources sort by order and not by time: threads race for the log.
        let last = self.trace.times.last().copied().unwrap_or(0);
        let time = time.saturating_sub(first).max(last);
        self.trace.times.push(time);
    }

    /// The last operation was `thread`'s.
    pub(super) fn by(&mut self, thread: u64) -> Result<(), TraceError> {
        let thread = number(&mut self.memory, &mut self.threads, thread)?;
        self.trace.threads.push(thread);
        Ok(())
    }

    /// Takes memory for what a reader keeps besides.
    pub(super) fn take(&mut self, bytes: usize) -> Result<(), TraceError> {
        self.memory.take(bytes)
    }

    /// The number of a call site's name.
    pub(super) fn name(&mut self, name: String) -> Result<u32, TraceError> {
        if let Some(&known) = self.names.get(&name) {
            return Ok(known);
        }
        // Itself, and again among those that are known.
        self.memory.take(2 * name.len() + 256)?;
        let new = self.trace.names.len() as u32;
        self.trace.names.push(name.clone());
        self.names.insert(name, new);
        Ok(new)
    }

    /// The last block was allocated at site `name`.
    pub(super) fn site(&mut self, name: u32) {
        self.trace.sites.push(name);
    }

    /// The trace's account of what it cannot hold.
    pub(super) fn ignored(&mut self) -> &mut super::Ignored {
        &mut self.trace.ignored
    }

    pub(super) fn finish(mut self) -> Trace {
        let trace = &mut self.trace;
        // Times, threads and sites of a part would belong to other operations or blocks.
        if trace.times.len() != trace.operations.len() {
            trace.times.clear();
        }
        if trace.threads.len() != trace.operations.len() {
            trace.threads.clear();
        }
        if trace.sites.len() != trace.blocks {
            trace.sites.clear();
            trace.names.clear();
        }
        trace.streams = self.streams.len() as u32;
        self.trace
    }
}

/// Numbers in order of first use. A source has fewer than 2^32 streams or threads, because it
/// has to name each.
fn number(
    memory: &mut Memory,
    known: &mut HashMap<u64, u32>,
    name: u64,
) -> Result<u32, TraceError> {
    let new = known.len() as u32;
    Ok(match known.entry(name) {
        Entry::Occupied(known) => *known.get(),
        Entry::Vacant(vacant) => {
            memory.take(NUMBER)?;
            *vacant.insert(new)
        }
    })
}

/// Calls `each` with every line and its number from 1; says which line it refused. As many bytes
/// are read as reading may take: a line that is kept takes more than it is long, and blank ones
/// without end come out of a small archive.
pub(super) fn lines(
    mut source: impl BufRead,
    options: &ReadOptions,
    mut each: impl FnMut(usize, &str) -> Result<(), Refusal>,
) -> Result<(), TraceError> {
    let mut buffer = Vec::new();
    let mut memory = Memory::new(options);
    for line in 1.. {
        memory.take(buffer.len())?;
        buffer.clear();
        if source.by_ref().take(LINE).read_until(b'\n', &mut buffer)? == 0 {
            break;
        }
        let problem = if buffer.len() as u64 == LINE && !buffer.ends_with(b"\n") {
            "the line is too long"
        } else {
            match std::str::from_utf8(&buffer).map(|text| each(line, text.trim_end())) {
                Ok(Ok(())) => continue,
                Ok(Err(Refusal::Error(error))) => return Err(error),
                Ok(Err(Refusal::Here(problem))) => problem,
                Err(_) => "the line is not UTF-8",
            }
        };
        let text = String::from_utf8_lossy(&buffer);
        return Err(TraceError::Line {
            line,
            problem,
            text: text.trim_end().chars().take(120).collect(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it a trace could take more memory than the options allow: frees were not counted,
    /// and no list or table while it grows.
    #[test]
    fn what_a_trace_takes_was_counted() {
        const SMALLEST: u64 = 2048;
        fn list<T>(list: &Vec<T>) -> usize {
            list.capacity() * size_of::<T>()
        }
        fn table<K, V>(table: &HashMap<K, V>) -> usize {
            // Seven of eight places may be filled.
            (table.capacity() * 8).div_ceil(7) * (size_of::<(K, V)>() + 1)
        }
        let limit = ReadOptions::default().memory;
        let mut builder: Builder<u64> = Builder::new(Memory::new(&ReadOptions::default()));
        for block in 0..5000 {
            builder.allocate(block, 1, block % 700).unwrap();
            builder.site(0);
            builder.at(block);
            builder.by(block % 300).unwrap();
            if block % 3 == 2 {
                assert!(builder.free(&(block - 1), None).unwrap());
                builder.at(block);
                builder.by(0).unwrap();
            }
            let trace = &builder.trace;
            let lists = list(&trace.operations) + list(&trace.times);
            let lists = lists + list(&trace.threads) + list(&trace.sites);
            let tables = table(&builder.streams) + table(&builder.threads) + table(&builder.live);
            // Each has been copied into the place where it is now from one half as large.
            let held = (lists + tables) * 3 / 2;
            let taken = limit - builder.memory.left;
            assert!(held as u64 <= taken + SMALLEST, "{held} of {taken}");
        }
    }
}
