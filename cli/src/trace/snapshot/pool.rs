//! A snapshot of a pool of ours.

use std::collections::HashMap;
use std::time::UNIX_EPOCH;

use cupola_managers::pool::history::{Action as Did, Event as Done};
use cupola_managers::pool::layout::{BlockState as Is, RunState};
use cupola_managers::pool::{Layout, Recording};

use super::{Action, Block, BlockState, Event, Frame, Segment, Setting, Snapshot};

impl Snapshot {
    /// What a pool did, and what it has after that: `layout` is to be taken when `recording`
    /// ends, with nothing done in between.
    ///
    /// Each stretch of mapped pages is a segment. A free is complete at once, as it is for its
    /// own stream; blocks of no bytes are left out. A block that was given up is pending for
    /// ever. `frames` says who did something; where it
    /// says nothing, the line of the recording is taken.
    #[must_use]
    pub fn of_pool(
        recording: &Recording,
        layout: &Layout,
        mut frames: impl FnMut(&Done) -> Option<Vec<Frame>>,
    ) -> Self {
        let origin = recording.origin.map_or(0, |origin| {
            let since = origin.duration_since(UNIX_EPOCH).unwrap_or_default();
            since.as_micros() as u64
        });
        let mut events = Vec::with_capacity(recording.events.len());
        // Who allocated what is alive, or was given up.
        let mut makers: HashMap<u64, Vec<Frame>> = HashMap::new();
        // How much of that they had asked for.
        let mut given_up: HashMap<u64, u64> = HashMap::new();
        for done in &recording.events {
            let frames = frames(done).unwrap_or_else(|| line(done));
            let actions: &[Action] = match done.action {
                // Of no bytes, and so of no address.
                Did::Allocate | Did::Free | Did::Abandon if done.address == 0 => &[],
                Did::Allocate => {
                    makers.insert(done.address, frames.clone());
                    &[Action::Alloc]
                }
                Did::Free => {
                    makers.remove(&done.address);
                    &[Action::FreeRequested, Action::FreeCompleted]
                }
                Did::Abandon => {
                    given_up.insert(done.address, done.bytes);
                    &[Action::FreeRequested]
                }
                Did::Refuse => &[Action::Oom],
                Did::Map => &[Action::SegmentMap],
                Did::Unmap => &[Action::SegmentUnmap],
                _ => &[],
            };
            events.extend(actions.iter().map(|&action| Event {
                action,
                addr: match done.action {
                    Did::Refuse => done.device_free,
                    _ => done.address,
                },
                size: done.bytes,
                stream: done.stream,
                time_us: origin + done.nanoseconds / 1000,
                frames: frames.clone(),
            }));
        }
        let settings = [
            ("page", layout.page),
            ("limit", layout.limit),
            ("mapped", layout.mapped),
            ("dropped_events", recording.dropped),
        ];
        let settings = settings.map(|(name, value)| (name.to_owned(), Setting::Number(value)));
        Self {
            segments: segments(layout, &makers, &given_up),
            device_traces: vec![events],
            allocator_settings: settings.into(),
            external_annotations: Vec::new(),
        }
    }
}

/// The line that asked, under the block's name.
fn line(done: &Done) -> Vec<Frame> {
    let Some(site) = done.site else {
        return Vec::new();
    };
    vec![Frame {
        filename: site.file().to_owned(),
        name: done.name.unwrap_or_default().to_owned(),
        line: site.line(),
    }]
}

fn segments(
    layout: &Layout,
    makers: &HashMap<u64, Vec<Frame>>,
    given_up: &HashMap<u64, u64>,
) -> Vec<Segment> {
    let taken = layout.blocks.iter().filter(|block| block.bytes > 0);
    let mut taken = taken
        .filter_map(|block| match block.state {
            Is::Live => Some((block, BlockState::Live, block.requested)),
            Is::Abandoned => {
                let requested = given_up.get(&block.address).copied().unwrap_or_default();
                Some((block, BlockState::Pending, requested))
            }
            _ => None,
        })
        .peekable();
    let mut runs: Vec<_> = layout
        .regions
        .iter()
        .flat_map(|region| &region.runs)
        .filter(|run| run.state != RunState::Bare)
        .collect();
    runs.sort_by_key(|run| run.address);
    let segments = runs.into_iter().filter_map(|run| {
        let mut blocks = Vec::new();
        let inside = |address| address < run.address + run.bytes;
        while let Some((block, state, requested_size)) =
            taken.next_if(|(block, ..)| inside(block.address))
        {
            blocks.push(Block {
                address: block.address,
                size: block.bytes,
                requested_size,
                state,
                frames: makers.get(&block.address).cloned().unwrap_or_default(),
            });
        }
        Segment::new(run.address, run.bytes, 0, blocks)
    });
    segments.collect()
}

#[cfg(all(test, feature = "sim"))]
mod tests;
