//! Streams: their manager, and their timelines.

mod flags;
mod manager;
mod timeline;
