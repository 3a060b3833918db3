//! `cupola cache`: the compiled kernels that this user's programs keep on disk.

pub(crate) mod args;
mod recompile;
mod report;

use std::path::PathBuf;

use cupola::kernels::cache::{
    CacheConfig, Condition, DiskStore, FOLDER_VARIABLE, Refusal, default_folder,
};

use super::exit::{Exit, Failure};
use args::{CacheCommand, FolderArgs};
use recompile::Recompiler;
use report::{Listing, Removed, Statistics, Verdict};

pub(super) fn run(command: &CacheCommand) -> Result<Exit, Failure> {
    let args = command.folder();
    let to = args.json.report()?;
    to.claim();
    let (folder, store) = open(args)?;
    let store = store.as_ref();
    match command {
        CacheCommand::List(_) => {
            let entries = store.map_or(Ok(Vec::new()), DiskStore::list)?;
            let report = Listing::new(&folder, entries);
            let said = to.say(&report.text());
            to.write(&report)?;
            said?;
        }
        CacheCommand::Stats(_) => {
            let usage = store.map_or(Ok(Default::default()), DiskStore::usage)?;
            let report = Statistics::new(&folder, &usage, CacheConfig::default().disk_limit);
            let said = to.say(&report.text());
            to.write(&report)?;
            said?;
        }
        CacheCommand::Clear(_) => {
            let removed = store.map_or(Ok(0), DiskStore::clear)?;
            let report = Removed::new(&folder, removed);
            let said = to.say(&report.text());
            to.write(&report)?;
            said?;
        }
        CacheCommand::Verify(args) => {
            let mut report = Verdict::new(&folder);
            let mut again = args.recompile.then(Recompiler::default);
            if let Some(store) = store {
                for listed in store.list()? {
                    match store.check(&listed.key) {
                        Condition::Right { entry } => {
                            report.right += 1;
                            if let Some(again) = &mut again {
                                let outcome = again.compare(&listed.key, &entry);
                                report.recompiled(&listed.key, outcome);
                            }
                        }
                        Condition::Stale => report.stale += 1,
                        Condition::Corrupt(error) => report.damaged(&listed.key, &error),
                        Condition::Refused(refusal) => report.damaged(&listed.key, &refusal),
                        // Another program made room.
                        _ => {}
                    }
                }
            }
            let said = to.say(&report.text());
            to.write(&report)?;
            said?;
            if report.is_wrong() {
                return Ok(Exit::Wrong);
            }
        }
    }
    Ok(Exit::Done)
}

/// The folder, which is not made. One that is not there has no entries, unless it was named.
fn open(args: &FolderArgs) -> Result<(PathBuf, Option<DiskStore>), Failure> {
    let folder = args.folder.clone().or_else(default_folder).ok_or_else(|| {
        let problem =
            format!("no folder: set {FOLDER_VARIABLE}, XDG_CACHE_HOME or HOME to an absolute path");
        Failure::new(Exit::File, problem)
    })?;
    match DiskStore::open(&folder) {
        Ok(store) => Ok((folder, Some(store))),
        Err(refusal) if refusal.is_absence() && args.folder.is_none() => Ok((folder, None)),
        Err(refusal) => Err(refusal.into()),
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::new(Exit::File, refusal.to_string())
    }
}
