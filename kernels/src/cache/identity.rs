//! `FileIdentity`: which file a compiler's library is, without reading all of it.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};

/// How much is read at each end of a file.
const END: u64 = 64 << 10;

/// A file that was written so lately may change once more within one tick of its file system's
/// clock, and keep its time.
const LATELY: Duration = Duration::from_secs(60);

/// Says which file a large one is: its size, when it was written, and a SHA-256 of both ends; of a
/// file that was written within the last minute one of all of it.
///
/// NVRTC's library has 141 MB: hashing all of it at each start would take longer than a compile.
/// Neither inode nor folder take part, so that machines with one image have one identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileIdentity(Vec<u8>);

impl FileIdentity {
    /// That of a file as it is now.
    ///
    /// # Errors
    /// The file cannot be read: then nothing that was compiled with it should be kept.
    pub fn of(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let found = file.metadata()?;
        let size = found.len();
        let mut hash = Sha256::new();
        let is_new = match found.modified()?.checked_add(LATELY) {
            Some(aged) => aged > SystemTime::now(),
            None => true,
        };
        if is_new || size <= 2 * END {
            io::copy(&mut file, &mut hash)?;
        } else {
            io::copy(&mut (&mut file).take(END), &mut hash)?;
            file.seek(SeekFrom::Start(size - END))?;
            io::copy(&mut file.take(END), &mut hash)?;
        }
        let mut bytes = size.to_le_bytes().to_vec();
        bytes.extend(found.mtime().to_le_bytes());
        bytes.extend(found.mtime_nsec().to_le_bytes());
        bytes.extend(hash.finalize());
        Ok(Self(bytes))
    }

    /// One that was kept, as [`bytes`](Self::bytes) gave it.
    pub(crate) const fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// What a key is made of.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it what one build of a compiler made could be loaded for another.
    #[test]
    fn another_file_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library");
        let mut bytes = vec![7; 300 << 10];
        let old = SystemTime::now() - Duration::from_secs(1_000_000);
        let write = |bytes: &[u8], time: SystemTime| {
            std::fs::write(&path, bytes).unwrap();
            File::options()
                .write(true)
                .open(&path)
                .unwrap()
                .set_modified(time)
                .unwrap();
            FileIdentity::of(&path).unwrap()
        };
        let first = write(&bytes, old);
        assert_eq!(first, write(&bytes, old), "the inode may be another");
        assert_ne!(first, write(&bytes, old + Duration::from_nanos(1000)));
        assert_ne!(first, write(&bytes[1..], old));
        bytes[5] = 8;
        assert_ne!(first, write(&bytes, old));
        bytes[5] = 7;
        bytes[(300 << 10) - 1] = 8;
        assert_ne!(first, write(&bytes, old));
        // Twice within a tick, in the middle.
        let now = SystemTime::now();
        let first = write(&bytes, now);
        bytes[150 << 10] = 8;
        assert_ne!(first, write(&bytes, now));
        assert!(FileIdentity::of(&folder.path().join("none")).is_err());
    }
}
