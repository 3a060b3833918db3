//! Streams: their manager, and their timelines.

mod manager;
mod timeline;
