use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use super::*;
use crate::commands::exit::Exit;

fn text(destination: &Destination, text: &str) {
    destination
        .write(|to| to.write_all(text.as_bytes()))
        .unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let found = fs::read_dir(folder).unwrap();
    let names = found.map(|one| one.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// Without it what was there before could be gone when the work fails, or be half of each.
#[test]
fn a_file_is_left_alone_until_the_new_one_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    fs::write(&path, "old and long").unwrap();
    let destination = Destination::new(&path).unwrap();
    let cut = destination.write(|to| {
        to.write_all(&[b'n'; 100_000])?;
        Err(io::ErrorKind::StorageFull.into())
    });
    assert_eq!(cut.unwrap_err().exit, Exit::File);
    assert_eq!(fs::read_to_string(&path).unwrap(), "old and long");
    text(&destination, "new");
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(names(folder.path()), ["a"]);
}

/// Without it asking could leave empty files, or what cannot be written be found out too late.
#[test]
fn asking_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let fresh = Destination::new(&folder.join("fresh")).unwrap();
    let beside = fresh.beside("failure.svg").unwrap().unwrap();
    assert!(names(folder).is_empty());
    assert_eq!(beside.path(), folder.join("fresh.failure.svg"));
    fs::write(folder.join("file"), "").unwrap();
    for wrong in ["nowhere/a", "nowhere/", "file/a", "."] {
        let path = folder.join(wrong);
        let failure = Destination::new(&path).err().unwrap();
        assert_eq!(failure.exit, Exit::File);
        let said = failure.to_string();
        let named = said.contains(&*path.to_string_lossy());
        assert!(named && !said.contains(".cupola-"), "{said}");
    }
    assert!(Destination::new(Path::new("")).is_err());
    assert_eq!(names(folder), ["file"]);
}

/// Without it a file could be for its owner alone, or change what others may do with it.
#[test]
fn permissions_are_those_of_any_file() {
    let folder = tempfile::tempdir().unwrap();
    let (any, ours) = (folder.path().join("any"), folder.path().join("ours"));
    fs::write(&any, "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    text(&Destination::new(&ours).unwrap(), "new");
    assert_eq!(mode(&ours), mode(&any));
    fs::set_permissions(&ours, Permissions::from_mode(0o640)).unwrap();
    text(&Destination::new(&ours).unwrap(), "newer");
    assert_eq!(mode(&ours), 0o640);
}

/// Without it a link could become a file of its own, and what it leads to stay as it was.
#[test]
fn links_stay_links() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("there")).unwrap();
    for (link, file) in [("old", "there/old"), ("dangling", "there/new")] {
        symlink(file, folder.join(link)).unwrap();
    }
    fs::write(folder.join("there/old"), "old").unwrap();
    for (link, file) in [("old", "there/old"), ("dangling", "there/new")] {
        text(&Destination::new(&folder.join(link)).unwrap(), "new");
        assert!(folder.join(link).is_symlink());
        assert_eq!(fs::read_to_string(folder.join(file)).unwrap(), "new");
    }

    // Two names of one file stay that.
    let (one, two) = (folder.join("one"), folder.join("two"));
    fs::write(&one, "old and long").unwrap();
    fs::hard_link(&one, &two).unwrap();
    text(&Destination::new(&one).unwrap(), "new");
    assert_eq!(fs::read_to_string(&two).unwrap(), "new");
    let inode = |path: &Path| fs::metadata(path).unwrap().ino();
    assert_eq!(inode(&one), inode(&two));
}

/// Without it a device could be replaced by a file, or what it says be taken for success.
#[test]
fn devices_are_written_to() {
    if !Path::new("/dev/full").exists() {
        return eprintln!("SKIPPED: there is no /dev/full");
    }
    let full = Destination::new(Path::new("/dev/full")).unwrap();
    assert!(full.beside("failure.svg").unwrap().is_none());
    let failure = full.write(|to| to.write_all(b"new")).unwrap_err();
    assert_eq!(failure.exit, Exit::File);
    assert!(failure.to_string().contains("/dev/full"), "{failure}");
    text(&Destination::new(Path::new("/dev/null")).unwrap(), "new");
    assert!(!Path::new("/dev/null").is_file());
}
