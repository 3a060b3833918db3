use std::time::Duration;

use super::*;

/// A file that was written long ago.
fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(1_000_000))
        .unwrap();
}

fn recorded(paths: &[&Path]) -> Manifest {
    let mut manifest = Manifest::new();
    for path in paths {
        manifest.read(path).unwrap();
    }
    manifest
}

/// Without it a changed header would be compiled into nothing: the old binary would be loaded.
#[test]
fn a_changed_file_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.h");
    write(&path, "one");
    let manifest = recorded(&[&path]);
    assert!(manifest.holds());
    write(&path, "two");
    assert!(!manifest.holds());
    write(&path, "one");
    assert!(manifest.holds(), "by its digest: the stamp is another");
    fs::remove_file(&path).unwrap();
    assert!(!manifest.holds());
    fs::create_dir(&path).unwrap();
    assert!(!manifest.holds());
}

/// Without it a header that appears in an earlier folder of the search would not be seen.
#[test]
fn a_file_that_appears_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("none/a.h");
    let path = folder.path().join("a.h");
    let manifest = recorded(&[&path, &inner]);
    assert!(manifest.holds() && manifest.files().iter().all(|file| !file.is_present()));
    fs::create_dir(folder.path().join("none")).unwrap();
    assert!(manifest.holds());
    fs::write(&inner, "").unwrap();
    assert!(!manifest.holds());
}

/// Without it a file that is written twice within a tick of the clock would pass for the first.
#[test]
fn what_was_just_written_is_known_by_its_contents() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.h");
    // As often as it takes to write twice in a tick.
    for text in 0..200_u32 {
        fs::write(&path, format!("{text:8}")).unwrap();
        let manifest = recorded(&[&path]);
        fs::write(&path, format!("{:8}", text + 1)).unwrap();
        assert!(!manifest.holds(), "{text}");
    }
}

/// Without it a hit would read every header again, or a named pipe would stop it for ever.
#[test]
fn a_settled_file_is_not_read_again_and_a_pipe_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.h");
    write(&path, "one");
    let contents = read(&path).unwrap();
    // Whatever the digest is: the stamp is enough.
    let state = |stamp| State::Present {
        digest: Digest::of(b"other"),
        stamp,
    };
    assert!(Dependency::new(path.clone(), state(Some(contents.stamp))).holds());
    assert!(!Dependency::new(path.clone(), state(None)).holds());
    assert!(
        !contents.stamp.is_settled(),
        "its inode was changed just now"
    );
    let aged = Stamp {
        changed: contents.stamp.modified,
        ..contents.stamp
    };
    assert!(aged.is_settled());
    let pipe = folder.path().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    assert!(Manifest::new().read(&pipe).is_err());
}

/// Without it a compiler's library that was replaced, by one of the same size and time even, would pass for
/// the one that it was.
#[test]
fn a_file_that_is_known_by_its_stamp_is_seen_to_be_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("library");
    let time = SystemTime::now() - Duration::from_secs(1_000_000);
    let write_at = |path: &Path, text: &str| {
        fs::write(path, text).unwrap();
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(time).unwrap();
    };
    write_at(&path, "one");
    let known = || {
        let stamp = Stamp::at(&path).unwrap();
        Dependency::new(path.clone(), State::Stamped(stamp))
    };
    let one = known();
    assert!(one.holds());
    // Some file systems tell the time a few milliseconds late.
    std::thread::sleep(Duration::from_millis(50));
    write_at(&path, "two");
    assert!(!one.holds(), "the time of its change tells");
    let two = known();
    write_at(&folder.path().join("other"), "six");
    fs::rename(folder.path().join("other"), &path).unwrap();
    assert!(!two.holds());
    fs::remove_file(&path).unwrap();
    assert!(!two.holds() && !one.holds());
}

/// Without it a library that is written once more within a tick of the clock could pass for the first.
#[test]
fn a_new_file_is_not_known_by_its_stamp() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("library");
    write(&path, "old by its time, and made just now");
    let mut manifest = Manifest::new();
    assert!(manifest.stamp(&path).unwrap());
    assert!(!manifest.holds());
    let mut manifest = Manifest::new();
    assert!(!manifest.stamp(&folder.path().join("none")).unwrap());
    assert!(manifest.holds());
    fs::write(folder.path().join("none"), "").unwrap();
    assert!(!manifest.holds());
}
