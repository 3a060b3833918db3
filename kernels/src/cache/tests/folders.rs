//! Folders and files that are not this user's alone, or that cannot be written.

use std::fs::{self, Permissions};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::Path;
use std::sync::Arc;

use super::super::{DiskStore, Refusal, SharedLayer};
use super::*;
use crate::cache::disk::file_system::{Attributes, FileSystem, System};

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Gives a file away, which only root may: else `false`.
fn give_away(path: &Path) -> bool {
    chown(path, Some(12_345), None).is_ok()
}

/// The cache works in memory, says why, and leaves the folder as it is.
fn is_refused(folder: &Path, says: fn(&Refusal) -> bool) {
    let config = CacheConfig {
        memory_limit: 1 << 20,
        ..on_disk(folder)
    };
    let cache = Cache::new(config);
    let refusal = cache.refusal().expect("the folder is refused");
    assert!(says(refusal), "{refusal}");
    assert!(fetch(&cache, 1) && !fetch(&cache, 1));
    assert!(cache.folder().is_none());
    assert!(DiskStore::open(folder).is_err());
}

/// Without it another user could put code into this user's programs.
#[test]
fn a_folder_that_others_can_change_is_refused() {
    let all = tempfile::tempdir().unwrap();
    let folder = all.path().join("cache");
    assert!(fetch(&open(&folder), 1));
    assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    for open in [0o777, 0o770, 0o1777, 0o702] {
        mode(&folder, open);
        is_refused(&folder, |it| matches!(it, Refusal::Writable { .. }));
    }
    mode(&folder, 0o755);
    assert!(!fetch(&open(&folder), 1), "others may read");
    let link = all.path().join("link");
    symlink(&folder, &link).unwrap();
    is_refused(&link, |it| matches!(it, Refusal::Link { .. }));
    let file = all.path().join("file");
    fs::write(&file, "").unwrap();
    is_refused(&file, |it| {
        matches!(it, Refusal::WrongType { .. } | Refusal::Failed { .. })
    });
    is_refused(&file.join("below"), |it| {
        matches!(it, Refusal::Failed { .. })
    });
    if give_away(&folder) {
        is_refused(&folder, |it| {
            matches!(it, Refusal::ForeignOwner { owner: 12_345, .. })
        });
    }
}

/// A system on which everything belongs to another user.
#[derive(Debug)]
struct Foreign;

impl FileSystem for Foreign {
    fn attributes(&self, file: BorrowedFd<'_>) -> rustix::io::Result<Attributes> {
        let found = System.attributes(file)?;
        let owner = found.owner.wrapping_add(1);
        Ok(Attributes { owner, ..found })
    }
}

/// As the test above, where this one may give nothing away.
#[test]
fn another_users_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let config = CacheConfig {
        memory_limit: 1 << 20,
        ..on_disk(folder.path())
    };
    let cache = Cache::with(config, &(Arc::new(Foreign) as Arc<dyn FileSystem>));
    assert!(matches!(
        cache.refusal(),
        Some(Refusal::ForeignOwner { .. })
    ));
    assert!(fetch(&cache, 1) && !fetch(&cache, 1));
    assert_eq!((cache.stats().refused, cache.stats().stored), (1, 0));
}

/// Without it a file that another user put under an entry's name would be loaded, or a named pipe
/// would stop a start for ever.
#[test]
fn an_entry_that_others_can_change_is_refused_and_replaced() {
    let all = tempfile::tempdir().unwrap();
    let folder = all.path().join("cache");
    assert!(fetch(&open(&folder), 1));
    let file = folder.join(format!("{}.entry", key(1)));
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    let right = all.path().join("right");
    fs::copy(&file, &right).unwrap();
    let spoils: [&dyn Fn(); 5] = [
        &|| {
            fs::remove_file(&file).unwrap();
            symlink(&right, &file).unwrap();
        },
        &|| mode(&file, 0o666),
        &|| mode(&file, 0o620),
        &|| {
            fs::remove_file(&file).unwrap();
            let (pipe, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
            rustix::fs::mknodat(rustix::fs::CWD, &file, pipe, mode, 0).unwrap();
        },
        &|| {
            give_away(&file);
        },
    ];
    for (number, spoil) in spoils.iter().enumerate() {
        spoil();
        let is_own =
            fs::symlink_metadata(&file).unwrap().uid() == fs::metadata(&right).unwrap().uid();
        if number == 4 && is_own {
            continue;
        }
        let cache = open(&folder);
        assert!(fetch(&cache, 1), "{number}");
        assert!(cache.stats().refused >= 1, "{number}: {:?}", cache.stats());
        assert!(!fetch(&open(&folder), 1), "{number}: it was replaced");
    }
    assert_eq!(
        fs::read(&right).unwrap(),
        fs::read(&file).unwrap(),
        "what a link named is as it was"
    );
}

/// Without it an image of a foreign owner would be trusted, or root's would not.
#[test]
fn the_shared_folder_is_of_root_or_of_whom_it_is_said() {
    let shared = tempfile::tempdir().unwrap();
    fetch(&open(shared.path()), 1);
    let look = |owner| {
        let layer = SharedLayer {
            folder: shared.path().into(),
            owner,
        };
        let config = CacheConfig {
            folder: None,
            shared: Some(layer),
            ..CacheConfig::default()
        };
        !fetch(&Cache::new(config), 1)
    };
    assert!(look(None));
    let file = shared.path().join(format!("{}.entry", key(1)));
    mode(&file, 0o646);
    assert!(!look(None));
    mode(&file, 0o644);
    if give_away(&file) {
        assert!(!look(None) && look(Some(12_345)));
        give_away(shared.path());
        assert!(!look(None) && look(Some(12_345)) && !look(Some(12_346)));
    }
}

/// Without it a program in a container or with a full home could not start. Of root nothing is
/// refused: there the faults of `faults.rs` stand in.
#[test]
fn a_folder_that_cannot_be_written_costs_a_compile() {
    let all = tempfile::tempdir().unwrap();
    let folder = all.path().join("cache");
    assert!(fetch(&open(&folder), 1));
    mode(&folder, 0o500);
    let cache = open(&folder);
    assert!(!fetch(&cache, 1));
    assert!(fetch(&cache, 2));
    mode(&folder, 0o700);
    // Removed while it is open.
    let cache = open(&folder);
    fs::remove_dir_all(&folder).unwrap();
    assert!(fetch(&cache, 1) && fetch(&cache, 1));
    assert!(cache.stats().io_failures > 0);
}
