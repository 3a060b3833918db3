//! `Installation`: NVIDIA's libraries as links to the real ones, each of which can be replaced, with the cache of
//! the processes that use them.
//!
//! Each process is the test `noted::child` of the same program, as one that has loaded a library keeps it.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cupola_kernels::cache::{CacheConfig, Condition, DiskStore, EntryKind};

const CASE: &str = "CUPOLA_TEST_NOTED";
const CACHE: &str = "CUPOLA_TEST_NOTED_CACHE";
const WHEELS: &str = "CUPOLA_WHEELS";
const LIBRARIES: &str = "nvidia/cu13/lib";

pub(crate) struct Installation {
    folder: tempfile::TempDir,
}

impl Installation {
    /// An empty one, when these files are old enough to be known by their times.
    pub(crate) fn of(files: &[&Path]) -> Self {
        wait_until_settled(files);
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(LIBRARIES)).unwrap();
        Self { folder }
    }

    /// Leads a name, that of the file if it is empty, to this file.
    pub(crate) fn link(&self, to: &Path, name: &str) {
        let name = match name {
            "" => to.file_name().unwrap(),
            name => name.as_ref(),
        };
        link(to, &self.folder.path().join(LIBRARIES).join(name));
    }

    /// Takes what has this name away.
    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.folder.path().join(LIBRARIES).join(name)).unwrap();
    }

    /// The same as another file, with a byte more that no loader looks at.
    pub(crate) fn other(&self, file: &Path) -> PathBuf {
        let copy = self.folder.path().join(file.file_name().unwrap());
        let mut bytes = fs::read(file).unwrap();
        bytes.push(0);
        fs::write(&copy, bytes).unwrap();
        copy
    }

    /// What a process says to a case.
    pub(crate) fn run(&self, case: &str) -> String {
        let done = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "noted::child", "--ignored", "--nocapture"])
            .env(CASE, case)
            .env(CACHE, self.cache())
            .env(WHEELS, self.folder.path())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&done.stdout);
        let said = text.lines().find_map(|line| line.strip_prefix("said "));
        said.unwrap_or_else(|| panic!("{case}: {done:?}"))
            .to_owned()
    }

    /// Damages the note that is there in each of several ways, and checks that a process answers the case from
    /// the cache all the same, and notes once more.
    pub(crate) fn tear_note(&self, kind: EntryKind, case: &str) {
        let store = DiskStore::open(&self.cache()).unwrap();
        let is_note = |key: &_| match store.check(key) {
            Condition::Right { entry } => entry.kind == kind,
            _ => false,
        };
        let mut keys = store.list().unwrap().into_iter().map(|listed| listed.key);
        let note = keys.find(is_note).expect("a note");
        let file = self.cache().join(format!("{note}.entry"));
        let whole = fs::read(&file).unwrap();
        let mut flipped = whole.clone();
        flipped[whole.len() - 40] ^= 1;
        for torn in [&whole[..whole.len() / 2], &[], &flipped] {
            fs::write(&file, torn).unwrap();
            assert_eq!(self.run(case), "Disk, loaded");
            assert_eq!(fs::read(&file).unwrap(), whole, "it is noted once more");
            assert_eq!(self.run(case), "Disk, not loaded");
        }
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }
}

/// What a process of an installation is told.
pub(crate) struct Child {
    pub(crate) case: String,
    pub(crate) config: CacheConfig,
    library: &'static str,
}

impl Child {
    /// This process, which uses the library of this name.
    pub(crate) fn of(library: &'static str) -> Self {
        let mut config = CacheConfig::default();
        config.folder = std::env::var_os(CACHE).map(PathBuf::from);
        Self {
            case: std::env::var(CASE).unwrap(),
            config,
            library,
        }
    }

    /// Whether it has loaded the library.
    pub(crate) fn is_loaded(&self) -> bool {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        maps.contains(self.library)
    }

    /// The same in words.
    pub(crate) fn loaded(&self) -> &'static str {
        match self.is_loaded() {
            true => "loaded",
            false => "not loaded",
        }
    }

    /// Where the installation has what has this name.
    pub(crate) fn place(name: &str) -> PathBuf {
        let wheels = PathBuf::from(std::env::var_os(WHEELS).unwrap());
        wheels.join(LIBRARIES).join(name)
    }
}

/// Leads a place to a file.
pub(crate) fn link(to: &Path, place: &Path) {
    let _ = fs::remove_file(place);
    symlink(to, place).unwrap();
}

/// Waits until the files are old enough to be known by their times.
fn wait_until_settled(files: &[&Path]) {
    let is_settled = |file: &&Path| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        fs::metadata(file).unwrap().ctime() + 61 < now.as_secs().cast_signed()
    };
    while !files.iter().all(is_settled) {
        std::thread::sleep(Duration::from_secs(1));
    }
}
