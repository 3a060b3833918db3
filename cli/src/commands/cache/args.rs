//! The arguments of `cupola cache`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::commands::json::JsonArgs;

#[derive(Subcommand, Debug)]
pub(crate) enum CacheCommand {
    /// Name every entry, the least recently used first
    List(FolderArgs),
    /// Say how much there is
    Stats(FolderArgs),
    /// Remove every entry; programs that run keep what they have loaded
    Clear(FolderArgs),
    /// Read every entry as a program that loads it does, and change nothing; exit code 1 if one is
    /// damaged
    Verify(VerifyArgs),
}

impl CacheCommand {
    pub(crate) fn folder(&self) -> &FolderArgs {
        match self {
            Self::List(args) | Self::Stats(args) | Self::Clear(args) => args,
            Self::Verify(args) => &args.folder,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) folder: FolderArgs,

    /// Compile what each entry was made of once more, and compare all bytes; exit code 1 if one differs
    #[arg(long)]
    pub(crate) recompile: bool,
}

#[derive(Args, Debug)]
pub(crate) struct FolderArgs {
    #[command(flatten)]
    pub(crate) json: JsonArgs,

    /// The folder; CUPOLA_CACHE_DIR or else cupola/kernels in the user's cache if not given
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}
