//! The tasks that run other commands: tests, loom, fuzzing, CI.
use anyhow::Result;
pub(crate) fn test() -> Result<()> { anyhow::bail!("wired next") }
pub(crate) fn ci() -> Result<()> { anyhow::bail!("wired next") }
pub(crate) fn loom() -> Result<()> { anyhow::bail!("wired next") }
pub(crate) fn fuzz(_seconds: u64) -> Result<()> { anyhow::bail!("wired next") }
