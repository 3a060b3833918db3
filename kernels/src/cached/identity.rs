//! `Identity`: which compiler or linker it is, as keys have it.

use super::tool::Tool;
use crate::cache::FileIdentity;

/// Which tool it is, as keys have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// The tool with its version.
    pub(super) name: String,
    /// What its files are; none where they cannot be read.
    pub(super) files: Vec<FileIdentity>,
}

impl Identity {
    /// That of a tool, whose files are as they are now.
    pub(super) fn of(tool: &impl Tool) -> Self {
        let name = tool.name();
        let files = tool.files();
        let files: std::io::Result<Vec<_>> =
            files.iter().map(|file| FileIdentity::of(file)).collect();
        let files = files.unwrap_or_else(|error| {
            tracing::warn!(%name, %error, "its files cannot be read: nothing that it makes is kept on disk");
            Vec::new()
        });
        Self { name, files }
    }

    /// Whether another version of the tool would be told from this one.
    pub(super) fn is_known(&self) -> bool {
        !self.files.is_empty()
    }
}
