//! A snapshot to be written, with the names and types that PyTorch's memory viewer expects.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::{Serialize, Serializer};

use super::Encoding;

/// Everything that one file holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Snapshot {
    /// The memory that the pool holds from the driver, at the end.
    pub segments: Vec<Segment>,
    /// The events of each device, oldest first.
    pub device_traces: Vec<Vec<Event>>,
    /// Anything about the configuration that a reader may want.
    pub allocator_settings: BTreeMap<String, Setting>,
    /// Marks in time that are no events of the allocator.
    pub external_annotations: Vec<Annotation>,
}

/// A value of a setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Setting {
    /// A flag.
    Flag(bool),
    /// A number; sizes in bytes.
    #[serde(serialize_with = "number")]
    Number(u64),
    /// Anything else.
    Text(String),
}

/// Whether PyTorch would have put a segment into its pool of small blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentKind {
    /// Blocks of more than a megabyte.
    Large,
    /// Smaller ones.
    Small,
}

/// A contiguous range of mapped memory. [`Segment::new`] makes one that adds up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Segment {
    /// The device's index in [`Snapshot::device_traces`]; the viewer shows one at a time.
    pub device: u32,
    /// Where it begins.
    #[serde(serialize_with = "number")]
    pub address: u64,
    /// Bytes, all of them in `blocks`.
    #[serde(serialize_with = "number")]
    pub total_size: u64,
    /// The stream that its blocks are for.
    #[serde(serialize_with = "number")]
    pub stream: u64,
    /// Which of PyTorch's pools it would be in.
    #[serde(rename = "segment_type")]
    pub kind: SegmentKind,
    /// Bytes in blocks that are alive.
    #[serde(serialize_with = "number")]
    pub allocated_size: u64,
    /// The same and those in blocks whose free is not complete.
    #[serde(serialize_with = "number")]
    pub active_size: u64,
    /// What was asked for in those blocks.
    #[serde(serialize_with = "number")]
    pub requested_size: u64,
    /// The private pool that it belongs to; (0, 0) for none.
    #[serde(rename = "segment_pool_id")]
    pub pool: (u32, u32),
    /// Whether pages are mapped into it and out of it.
    pub is_expandable: bool,
    /// Who made it.
    pub frames: Vec<Frame>,
    /// What is in it, by address, without gaps: the viewer adds the sizes up.
    pub blocks: Vec<Block>,
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum BlockState {
    /// Handed out.
    #[serde(rename = "active_allocated")]
    Live,
    /// Freed, and not yet free: work that uses it may still run. (Documents of PyTorch call
    /// it `active_awaiting_free`; its code and its viewer do not.)
    #[serde(rename = "active_pending_free")]
    Pending,
    /// Free.
    #[serde(rename = "inactive")]
    Free,
}

/// A block of a segment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Block {
    /// Where it begins.
    #[serde(serialize_with = "number")]
    pub address: u64,
    /// Bytes that it takes.
    #[serde(serialize_with = "number")]
    pub size: u64,
    /// Bytes that were asked for, at most `size`.
    #[serde(serialize_with = "number")]
    pub requested_size: u64,
    /// What it is.
    pub state: BlockState,
    /// Who allocated it, innermost first.
    pub frames: Vec<Frame>,
}

/// A place in code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Frame {
    /// The source file.
    pub filename: String,
    /// The function, or a tag.
    pub name: String,
    /// The line, from 1.
    pub line: u32,
}

/// What an event did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// A block was handed out.
    Alloc,
    /// A block was given back.
    FreeRequested,
    /// A block that was given back may be handed out again.
    FreeCompleted,
    /// A segment was taken from the driver.
    SegmentAlloc,
    /// A segment was given back to the driver.
    SegmentFree,
    /// Pages were mapped into an expandable segment.
    SegmentMap,
    /// Pages were unmapped from an expandable segment.
    SegmentUnmap,
    /// A request failed; `addr` is what the device had left.
    Oom,
    /// A snapshot was taken.
    Snapshot,
}

/// Something that happened, once.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What happened.
    pub action: Action,
    /// The block or segment; for [`Action::Oom`] the bytes that the device had left.
    pub addr: u64,
    /// Bytes.
    pub size: u64,
    /// The stream.
    pub stream: u64,
    /// Microseconds since 1970.
    pub time_us: u64,
    /// Who asked, innermost first.
    pub frames: Vec<Frame>,
}

/// A mark in time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Annotation {
    /// `START` or `END`.
    pub stage: String,
    /// What it is about.
    pub name: String,
    /// The device.
    pub device: u32,
    /// Microseconds since 1970.
    #[serde(serialize_with = "number")]
    pub time_us: u64,
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let mut event = serializer.serialize_struct("Event", 6)?;
        event.serialize_field("action", &self.action)?;
        let addr = match self.action {
            Action::Oom => "device_free",
            _ => "addr",
        };
        event.serialize_field(addr, &Number(self.addr))?;
        event.serialize_field("size", &Number(self.size))?;
        event.serialize_field("stream", &Number(self.stream))?;
        event.serialize_field("time_us", &Number(self.time_us))?;
        event.serialize_field("frames", &self.frames)?;
        event.end()
    }
}

struct Number(u64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        number(&self.0, serializer)
    }
}

/// As a signed number: a pickle has numbers of 2^63 and more in nine bytes, of which the viewer
/// makes a type that it does not add to others. They are written as 2^63 - 1: the sizes of
/// requests that nothing could serve, all of them, so that no sum or address is wrong for it.
#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn number<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i64(i64::try_from(*value).unwrap_or(i64::MAX))
}

impl Segment {
    /// `bytes` bytes from `address` on with `blocks` in them and free blocks between. `None`
    /// if a block overlaps another one or is not inside.
    #[must_use]
    pub fn new(address: u64, bytes: u64, stream: u64, mut blocks: Vec<Block>) -> Option<Self> {
        blocks.sort_by_key(|block| block.address);
        let mut all = Vec::with_capacity(2 * blocks.len() + 1);
        let mut end = address;
        let limit = address.checked_add(bytes)?;
        let gap = |from: u64, to: u64| {
            (from < to).then(|| Block {
                address: from,
                size: to - from,
                requested_size: 0,
                state: BlockState::Free,
                frames: Vec::new(),
            })
        };
        for block in blocks {
            if block.address < end || block.requested_size > block.size {
                return None;
            }
            all.extend(gap(end, block.address));
            end = block.address.checked_add(block.size)?;
            all.push(block);
        }
        if end > limit {
            return None;
        }
        all.extend(gap(end, limit));
        let sum = |states: &[BlockState], size: fn(&Block) -> u64| {
            let blocks = all.iter().filter(|block| states.contains(&block.state));
            blocks.map(size).sum()
        };
        let active = [BlockState::Live, BlockState::Pending];
        Some(Self {
            device: 0,
            address,
            total_size: bytes,
            stream,
            kind: SegmentKind::Large,
            allocated_size: sum(&active[..1], |block| block.size),
            active_size: sum(&active, |block| block.size),
            requested_size: sum(&active, |block| block.requested_size),
            pool: (0, 0),
            is_expandable: true,
            frames: Vec::new(),
            blocks: all,
        })
    }
}

impl Snapshot {
    /// Writes it down.
    ///
    /// # Errors
    /// What `to` returns.
    pub fn write(&self, mut to: impl Write, encoding: Encoding) -> io::Result<()> {
        match encoding {
            Encoding::Pickle => {
                let options = serde_pickle::SerOptions::new();
                match serde_pickle::to_writer(&mut to, self, options) {
                    Err(serde_pickle::Error::Io(error)) => return Err(error),
                    other => other.map_err(io::Error::other)?,
                }
            }
            Encoding::Json => serde_json::to_writer(&mut to, self)?,
        }
        to.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it the viewer could stop at a request that is larger than its numbers.
    #[test]
    fn no_number_takes_more_than_eight_bytes() {
        let refused = |size| Event {
            action: Action::Oom,
            addr: 4096,
            size,
            stream: 0,
            time_us: 0,
            frames: Vec::new(),
        };
        let most = i64::MAX as u64;
        let snapshot = Snapshot {
            device_traces: vec![[most, most + 1, u64::MAX].map(refused).into()],
            allocator_settings: [("limit".into(), Setting::Number(u64::MAX))].into(),
            ..Snapshot::default()
        };
        let mut pickle = Vec::new();
        snapshot.write(&mut pickle, Encoding::Pickle).unwrap();
        // Larger ones would be of another type.
        let value = serde_pickle::value_from_slice(&pickle, Default::default()).unwrap();
        let found = format!("{value}");
        assert_eq!(found.matches(&i64::MAX.to_string()).count(), 4, "{found}");
        let mut text = Vec::new();
        snapshot.write(&mut text, Encoding::Json).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&text).unwrap();
        for event in value["device_traces"][0].as_array().unwrap() {
            assert_eq!(event["size"].as_i64(), Some(i64::MAX), "{event}");
        }
    }
}
