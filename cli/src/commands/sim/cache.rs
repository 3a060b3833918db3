//! A file that this program makes for others and finds again: one for each content, so that a
//! program which is killed leaves no new copy behind each time.

use std::env;
use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The file of this name with these bytes in the user's cache; it is made if it is not there.
/// `None` where it cannot be made, or could be another user's, or of no use to a loader: the
/// caller goes without. `own` is something that this process has just made.
pub(super) fn file(name: &str, bytes: &[u8], own: &Path) -> Option<PathBuf> {
    kept(&base()?.join("cupola"), name, bytes, own)
}

/// Where programs of this user keep what they can make again. A relative path is to be ignored:
/// <https://specifications.freedesktop.org/basedir-spec/latest/>.
fn base() -> Option<PathBuf> {
    let folder = |name: &str| env::var_os(name).map(PathBuf::from);
    let named = folder("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let home = || folder("HOME").filter(|path| path.is_absolute());
    named.or_else(|| Some(home()?.join(".cache")))
}

fn kept(folder: &Path, name: &str, bytes: &[u8], own: &Path) -> Option<PathBuf> {
    let user = fs::metadata(own).ok()?.uid();
    // Another user who can write here could put another library in the place of this one.
    let is_private = |found: &Metadata| found.uid() == user && found.mode() & 0o022 == 0;
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder).ok()?;
    // Not a link: its target could be anywhere.
    let found = fs::symlink_metadata(folder).ok()?;
    let folder = &folder.canonicalize().ok()?;
    let stays = folder
        .ancestors()
        .skip(1)
        .all(|above| stays_in(above, user));
    if !found.is_dir() || !is_private(&found) || !stays || is_without_programs(folder) {
        return None;
    }
    let path = folder.join(format!("{:08x}-{name}", crc32fast::hash(bytes)));
    let is_there = fs::symlink_metadata(&path)
        .is_ok_and(|found| found.is_file() && is_private(&found) && found.len() == bytes.len() as u64)
        // The name is no proof.
        && fs::read(&path).is_ok_and(|found| found == bytes);
    if !is_there {
        let mut new = tempfile::Builder::new().tempfile_in(folder).ok()?;
        new.write_all(bytes).ok()?;
        let readable = Permissions::from_mode(0o400);
        new.as_file().set_permissions(readable).ok()?;
        // Whole or not at all, and a program that has the old one open keeps it.
        new.persist(&path).ok()?;
    }
    Some(path)
}

/// Whether what the user has in a folder is taken away or renamed by no other user but the system's.
fn stays_in(folder: &Path, user: u32) -> bool {
    const STICKY: u32 = 0o1000;
    fs::symlink_metadata(folder).is_ok_and(|found| {
        let is_own = found.uid() == user || found.uid() == 0;
        is_own && (found.mode() & 0o022 == 0 || found.mode() & STICKY != 0)
    })
}

/// Whether nothing in the folder may be executed, which a loader does with a library.
#[cfg(target_os = "linux")]
fn is_without_programs(folder: &Path) -> bool {
    let disk = rustix::fs::statvfs(folder);
    disk.is_ok_and(|disk| disk.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC))
}

#[cfg(not(target_os = "linux"))]
fn is_without_programs(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it each run would leave a copy, or another user's file be loaded as the library.
    #[test]
    fn a_file_is_made_once_and_found_again_unless_it_is_another() {
        let all = tempfile::tempdir().unwrap();
        let folder = all.path().join("cache/cupola");
        let file = |bytes: &[u8]| kept(&folder, "x.so", bytes, all.path());
        let number = |path: &Path| fs::metadata(path).unwrap().ino();
        let first = file(b"one").unwrap();
        assert_eq!(fs::read(&first).unwrap(), b"one");
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        let made = number(&first);
        assert_eq!(file(b"one"), Some(first.clone()));
        assert_eq!(number(&first), made, "it is not made again");
        assert_ne!(file(b"two"), Some(first.clone()));

        // Cut short, of other bytes, writable by others, and a link to the right bytes.
        let right = all.path().join("right");
        fs::write(&right, "one").unwrap();
        for spoil in [
            &(|| fs::write(&first, "on").unwrap()) as &dyn Fn(),
            &|| fs::write(&first, "two").unwrap(),
            &|| fs::set_permissions(&first, Permissions::from_mode(0o666)).unwrap(),
            &|| {
                fs::remove_file(&first).unwrap();
                std::os::unix::fs::symlink(&right, &first).unwrap();
            },
        ] {
            fs::set_permissions(&first, Permissions::from_mode(0o600)).unwrap();
            spoil();
            let found = fs::symlink_metadata(file(b"one").unwrap()).unwrap();
            assert_eq!(found.mode(), 0o10_0400, "made anew");
            assert_eq!(fs::read(&first).unwrap(), b"one");
        }

        // A folder that others can write to, and one that is elsewhere.
        fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        assert_eq!(file(b"one"), None);
        fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
        let link = all.path().join("link");
        std::os::unix::fs::symlink(&folder, &link).unwrap();
        assert_eq!(kept(&link, "x.so", b"one", all.path()), None);
        assert_eq!(kept(&first, "x.so", b"one", all.path()), None);
        // In a folder in which others could put another in its place.
        let above = folder.parent().unwrap();
        fs::set_permissions(above, Permissions::from_mode(0o777)).unwrap();
        assert_eq!(file(b"one"), None);
        fs::set_permissions(above, Permissions::from_mode(0o1777)).unwrap();
        assert!(file(b"one").is_some());
        // Of another user than the caller, as far as there is one: everything in `/proc/1` is.
        let other = Path::new("/proc/1");
        let foreign =
            fs::metadata(other).is_ok_and(|of| of.uid() != fs::metadata(&all).unwrap().uid());
        if foreign {
            assert_eq!(kept(&folder, "x.so", b"one", other), None);
        }
    }
}
