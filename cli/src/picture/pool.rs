//! A picture of a pool from its layout.

use cupola_managers::pool::Layout;
use cupola_managers::pool::layout::{Block as Piece, BlockState, RunState};

use super::{Block, Picture, Region, State};

impl Picture {
    /// What `layout` has: pages with memory, and what is in them. What is free for all streams is
    /// left as it is. `describe` gives each block its stream and label.
    #[must_use]
    pub fn of_pool(
        layout: &Layout,
        mut describe: impl FnMut(&Piece) -> (Option<u64>, String),
    ) -> Self {
        let mut blocks: Vec<Block> = Vec::with_capacity(layout.blocks.len());
        for piece in &layout.blocks {
            let state = match piece.state {
                BlockState::Live => State::Live,
                BlockState::Pending | BlockState::Held | BlockState::Abandoned => State::Pending,
                BlockState::Cached | BlockState::Slot => State::Cached,
                _ => continue,
            };
            let (stream, label) = describe(piece);
            blocks.push(Block {
                range: piece.address..piece.address + piece.bytes,
                state,
                stream,
                label,
            });
        }
        let regions = layout.regions.iter().enumerate().map(|(number, region)| {
            let addresses = region.base..region.base.saturating_add(region.bytes);
            let backed = region.runs.iter().filter(|run| run.state != RunState::Bare);
            let inside = blocks
                .iter()
                .filter(|block| addresses.contains(&block.range.start));
            Region {
                name: format!("reserved range {}", number + 1),
                base: region.base,
                bytes: region.bytes,
                mapped: backed
                    .map(|run| run.address..run.address + run.bytes)
                    .collect(),
                blocks: inside.cloned().collect(),
            }
        });
        Self {
            regions: regions.collect(),
            ..Self::default()
        }
    }
}
