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
        lists: HashMap::new(),
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
    lists: HashMap<u32, u32>,
    /// Names of the call sites that were seen. A name is built once: it can be as long as the
    /// file, and every event have it.
    sites: HashMap<Site, u32>,
}

/// File, line and function of a call site; texts by their place in the document.
type Site = (Option<u32>, u64, Option<u32>);

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
                let freed = self.builder.free(&address, Some(stream));
                if !freed.map_err(|error| ("", error.into()))? {
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
        if let Some(&known) = self.lists.get(&index) {
            return Ok(known);
        }
        let name = self.innermost(index)?;
        self.builder.take(4 * size_of::<(u32, u32)>())?;
        self.lists.insert(index, name);
        Ok(name)
    }

    /// The call site in the list of frames at `index`.
    fn innermost(&mut self, index: u32) -> Result<u32, TraceError> {
        let document = self.document;
        let frames = document.items(Value::List(index)).unwrap_or_default();
        let text = |frame, key| match document.field(frame, key) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        };
        let str = |text: Option<u32>| {
            let text = text.and_then(|text| document.str(Value::Text(text)));
            text.unwrap_or("")
        };
        let frames = &frames[..frames.len().min(FRAMES)];
        let python = |frame: &&Value| str(text(**frame, "filename")).ends_with(".py");
        let Some(&frame) = frames.iter().find(python).or(frames.first()) else {
            return self.builder.name(String::new());
        };
        let line = document.field(frame, "line").and_then(Document::unsigned);
        let (file, line) = (text(frame, "filename"), line.unwrap_or(0));
        let site = (file, line, text(frame, "name"));
        if let Some(&known) = self.sites.get(&site) {
            return Ok(known);
        }
        let name = format!("{}:{line} {}", str(file), str(site.2));
        self.builder.take(4 * size_of::<(Site, u32)>())?;
        let name = self.builder.name(name)?;
        self.sites.insert(site, name);
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

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// Without it a file of a few megabytes could take hours: a name as long as the file was put
    /// together and looked up again for every event.
    #[test]
    fn a_long_name_is_built_once() {
        const EVENTS: usize = 20_000;
        let mut bytes = b"\x80\x04}(\x8c\x0ddevice_traces](](".to_vec();
        let text = |bytes: &mut Vec<u8>, text: &[u8]| {
            bytes.push(b'X');
            bytes.extend((text.len() as u32).to_le_bytes());
            bytes.extend(text);
        };
        for event in 0..EVENTS {
            bytes.extend(b"}(\x8c\x06action\x8c\x05alloc\x8c\x04addrJ");
            bytes.extend((event as u32).to_le_bytes());
            bytes.extend(b"\x8c\x04sizeK\x01\x8c\x06streamK\x00\x8c\x06frames]");
            // Each has a list of its own, of the one frame.
            if event == 0 {
                bytes.extend(b"}(\x8c\x04lineK\x07\x8c\x04nameX\x01\x00\x00\x00f\x8c\x08filename");
                text(&mut bytes, &vec![b'x'; 1 << 20]);
                bytes.extend(b"uq\x00");
            } else {
                bytes.extend(b"h\x00");
            }
            bytes.extend(b"au");
        }
        bytes.extend(b"eeu.");
        let start = Instant::now();
        let trace = Trace::read(&bytes[..]).unwrap();
        assert_eq!(trace.blocks(), EVENTS);
        let site = trace.site(EVENTS - 1).unwrap();
        assert!(site.ends_with("x:7 f") && site.len() == (1 << 20) + 4);
        // 20 GB would have to be written, and hashed.
        assert!(
            start.elapsed() < Duration::from_secs(5),
            "{:?}",
            start.elapsed()
        );
    }
}
