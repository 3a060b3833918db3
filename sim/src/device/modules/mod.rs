//! Code: images, modules, libraries and links.

pub(super) mod attributes;
mod fat;
pub(super) mod image;
pub(super) mod library;
pub(super) mod link;
pub(super) mod module;
