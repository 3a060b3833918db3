//! Makes a trace of a snapshot's events.

use std::collections::{HashMap, HashSet};

use super::super::build::{Builder, Refusal};
use super::super::{ReadOptions, Trace, TraceError};
use super::document::{Document, Value};

/// Frames that are looked at for a call site.
const FRAMES: usize = 64;

/// The trace of one device's events.
pub(super) fn trace(
    document: &Document,
    root: Value,
    options: &ReadOptions,
) -> Result<Trace, TraceError> {
    let devices = document.field(root, "device_traces");
    let devices = devices.and_then(|value| document.items(value));
    let devices = devices.ok_or_else(|| wrong("device_traces", "it is missing or no list"))?;
    let mut events = Vec::with_capacity(devices.len());
    for (index, &device) in devices.iter().enumerate() {
        let list = document.items(device);
        let problem = || {
            wrong(
                &format!("device_traces[{index}]"),
                "it is no list of events",
            )
        };
        events.push(list.ok_or_else(problem)?);
    }
    let chosen = options.device.or_else(|| {
        let found = events.iter().position(|events| !events.is_empty());
        found.or((!events.is_empty()).then_some(0))
    });
    let Some(chosen) = chosen else {
        return Ok(Trace::default());
    };
    let own = *events.get(chosen).ok_or_else(|| {
        wrong(
            &format!("device_traces[{chosen}]"),
            "there is no such device",
        )
    })?;

    let mut import = Import {
        document,
        builder: Builder::new(document.memory),
        freeing: HashSet::new(),
        sites: HashMap::new(),
    };
    for (index, &event) in own.iter().enumerate() {
        import
            .event(event)
            .map_err(|(field, refusal)| match refusal {
                Refusal::Error(error) => error,
                Refusal::Here(problem) => {
                    wrong(&format!("device_traces[{chosen}][{index}]{field}"), problem)
                }
            })?;
    }
    import.survivors(root, chosen)?;
    let all: usize = events.iter().map(|events| events.len()).sum();
    import.builder.ignored().other_devices = (all - own.len()) as u64;
    Ok(import.builder.finish())
}

fn wrong(field: &str, problem: &'static str) -> TraceError {
    TraceError::Field {
        field: field.into(),
        problem,
    }
}

struct Import<'d> {
    document: &'d Document,
    builder: Builder<u64>,
    /// Blocks whose free was asked for and is not complete: their memory is in use still, and
    /// their program has done with them.
    freeing: HashSet<u64>,
    /// Call sites of lists of frames that were seen: recordings share them.
    sites: HashMap<u32, u32>,
}

/// Which field, as it is appended to the event's place, and what is wrong with it.
type Wrong = (&'static str, Refusal);

impl Import<'_> {
    fn event(&mut self, event: Value) -> Result<(), Wrong> {
        let document = self.document;
        let action = document.field(event, "action");
        let Some(action) = action.and_then(|value| document.str(value)) else {
            return Err((".action", "it is missing or no text".into()));
        };
        match action {
            "alloc" => {
                let (address, size, stream) = self.block(event)?;
                let fault = |refusal| ("", refusal);
                // Its memory was given out again: the free is complete.
                self.freeing.remove(&address);
                self.builder
                    .allocate(address, size, stream)
                    .map_err(fault)?;
                let site = self.site(event).map_err(|error| fault(error.into()))?;
                self.builder.site(site);
            }
            "free_requested" | "free_completed" => {
                let (address, size, stream) = self.block(event)?;
                let requested = action == "free_requested";
                if !requested && self.freeing.remove(&address) {
                    return Ok(());
                }
                if requested {
                    let kept = self.builder.take(2 * size_of::<u64>());
                    kept.map_err(|error| ("", error.into()))?;
                    self.freeing.insert(address);
                }
                if !self.builder.free(&address, Some(stream)) {
                    self.older(size);
                    return Ok(());
                }
            }
            "oom" => {
                self.builder.ignored().failures += 1;
                return Ok(());
            }
            // Segments are the recorder's own affair.
            _ => return Ok(()),
        }
        let time = document
            .field(event, "time_us")
            .and_then(Document::unsigned);
        if let Some(time) = time {
            self.builder.at(time.saturating_mul(1000));
        }
        Ok(())
    }

    /// Address, size and stream.
    fn block(&self, event: Value) -> Result<(u64, u64, u64), Wrong> {
        let number = |key| {
            let value = self.document.field(event, key);
            value.and_then(Document::unsigned)
        };
        let problem = || Refusal::Here("it is missing or no number of 64 bits");
        Ok((
            number("addr").ok_or_else(|| (".addr", problem()))?,
            number("size").ok_or_else(|| (".size", problem()))?,
            number("stream").ok_or_else(|| (".stream", problem()))?,
        ))
    }

    /// Counts a block from before the recording.
    fn older(&mut self, bytes: u64) {
        let ignored = self.builder.ignored();
        ignored.older_blocks += 1;
        ignored.older_bytes = ignored.older_bytes.saturating_add(bytes);
    }

    /// The call site of an event: the innermost frame of Python, else the innermost one.
    fn site(&mut self, event: Value) -> Result<u32, TraceError> {
        let document = self.document;
        let Some(Value::List(index)) = document.field(event, "frames") else {
            return self.builder.name(String::new());
        };
        if let Some(&known) = self.sites.get(&index) {
            return Ok(known);
        }
        let frames = document.items(Value::List(index)).unwrap_or_default();
        let text = |frame, key| {
            let value = document.field(frame, key);
            value.and_then(|value| document.str(value)).unwrap_or("")
        };
        let frames = &frames[..frames.len().min(FRAMES)];
        let python = |frame: &&Value| text(**frame, "filename").ends_with(".py");
        let site = match frames.iter().find(python).or(frames.first()) {
            None => String::new(),
            Some(&frame) => {
                let line = document.field(frame, "line").and_then(Document::unsigned);
                let file = text(frame, "filename");
                format!("{file}:{} {}", line.unwrap_or(0), text(frame, "name"))
            }
        };
        self.builder.take(32)?;
        let name = self.builder.name(site)?;
        self.sites.insert(index, name);
        Ok(name)
    }

    /// Counts the blocks that lived through the whole recording: alive in the device's
    /// segments at the end, and never allocated by an event.
    fn survivors(&mut self, root: Value, device: usize) -> Result<(), TraceError> {
        let document = self.document;
        let segments = document.field(root, "segments");
        let segments = segments.and_then(|value| document.items(value));
        // Each block is written once; a list that is referred to again and again is not from
        // a recording, and could be as long as one likes.
        let mut most = document.len();
        for (index, &segment) in segments.unwrap_or_default().iter().enumerate() {
            let number = |value, key| document.field(value, key).and_then(Document::unsigned);
            if number(segment, "device").unwrap_or(device as u64) != device as u64 {
                continue;
            }
            let blocks = document.field(segment, "blocks");
            let blocks = blocks
                .and_then(|value| document.items(value))
                .unwrap_or_default();
            let place = || format!("segments[{index}]");
            most = most
                .checked_sub(blocks.len())
                .ok_or_else(|| wrong(&place(), "its blocks are those of other segments as well"))?;
            let mut address = number(segment, "address");
            for &block in blocks {
                let size =
                    number(block, "size").ok_or_else(|| wrong(&place(), "a block has no size"))?;
                let own = number(block, "address").or(address);
                let state = document.field(block, "state");
                let state = state.and_then(|value| document.str(value));
                let active = state == Some("active_allocated");
                if active && own.is_some_and(|own| !self.builder.is_live(&own)) {
                    self.older(number(block, "requested_size").unwrap_or(size));
                }
                // Older recordings give no addresses: blocks follow each other.
                address = own.and_then(|own| own.checked_add(size));
            }
        }
        Ok(())
    }
}
