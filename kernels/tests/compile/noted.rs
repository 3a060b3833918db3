//! What a process notes of its compiler: the next one answers from the cache without loading it, and never
//! takes another compiler for it.
//!
//! Each case is a process of its own, as one that has loaded NVRTC keeps it.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cupola_kernels::CachedCompiler;
use cupola_kernels::cache::{CacheConfig, Condition, DiskStore, EntryKind};
use cupola_kernels::compile::{CompileRequest, Target};
use cupola_managers::backend::BackendKind;

use super::compiler;

const CASE: &str = "CUPOLA_TEST_NOTED";
const CACHE: &str = "CUPOLA_TEST_NOTED_CACHE";

/// An installation of NVRTC of links to the real one, each of which can be replaced.
struct Installation {
    folder: tempfile::TempDir,
    library: PathBuf,
    builtins: PathBuf,
}

impl Installation {
    fn new() -> Option<Self> {
        let compiler = compiler()?;
        let nvrtc = compiler.nvrtc().unwrap().library();
        let (library, builtins) = (nvrtc.path()?, nvrtc.builtins()?);
        wait_until_settled(&[&library, &builtins]);
        let folder = tempfile::tempdir().unwrap();
        let made = Self {
            folder,
            library,
            builtins,
        };
        fs::create_dir_all(made.libraries()).unwrap();
        made.link(&made.library, "libnvrtc.so.12");
        made.link(&made.builtins, "");
        Some(made)
    }

    fn libraries(&self) -> PathBuf {
        self.folder.path().join("nvidia/cu13/lib")
    }

    /// Leads a name, that of the file if it is empty, to this file.
    fn link(&self, to: &Path, name: &str) {
        let name = match name {
            "" => to.file_name().unwrap(),
            name => name.as_ref(),
        };
        let link = self.libraries().join(name);
        let _ = fs::remove_file(&link);
        symlink(to, link).unwrap();
    }

    /// The same as another file, with a byte more that no loader looks at.
    fn other(&self, file: &Path) -> PathBuf {
        let copy = self.folder.path().join(file.file_name().unwrap());
        let mut bytes = fs::read(file).unwrap();
        bytes.push(0);
        fs::write(&copy, bytes).unwrap();
        copy
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    /// What a process says to a case.
    fn run(&self, case: &str) -> String {
        let done = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "noted::child", "--ignored", "--nocapture"])
            .env(CASE, case)
            .env(CACHE, self.cache())
            .env("CUPOLA_WHEELS", self.folder.path())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&done.stdout);
        let said = text.lines().find_map(|line| line.strip_prefix("said "));
        said.unwrap_or_else(|| panic!("{case}: {done:?}"))
            .to_owned()
    }
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

/// Whether this process has loaded NVRTC.
fn is_loaded() -> bool {
    fs::read_to_string("/proc/self/maps")
        .unwrap()
        .contains("libnvrtc.so")
}

fn source(number: u32) -> CompileRequest {
    let text = format!("extern \"C\" __global__ void k(int* x) {{ *x = {number}; }}");
    CompileRequest::new("k.cu", text, Target::Cubin("sm_90".parse().unwrap()))
}

#[test]
#[ignore = "a process of the tests of this file"]
fn child() {
    let mut config = CacheConfig::default();
    config.folder = std::env::var_os(CACHE).map(PathBuf::from);
    let compiler = CachedCompiler::for_backend(BackendKind::Real, config).unwrap();
    let fetch = |number| compiler.compile(&source(number)).unwrap().source;
    let case = std::env::var(CASE).unwrap();
    if let Some(library) = case.strip_prefix("replaced after: ") {
        // What this process knows by a note is replaced before it compiles with it.
        assert!(!is_loaded());
        let link = Path::new(&std::env::var_os("CUPOLA_WHEELS").unwrap())
            .join("nvidia/cu13/lib/libnvrtc.so.12");
        fs::remove_file(&link).unwrap();
        symlink(library, &link).unwrap();
        let before = compiler.key(&source(2));
        let sources = [(); 3].map(|()| fetch(2));
        assert_ne!(compiler.key(&source(2)), before);
        println!("\nsaid {sources:?}");
        return;
    }
    let architecture = "sm_90"
        .parse::<cupola_kernels::compile::TargetArchitecture>()
        .unwrap();
    let driver = cupola_sys::Version::new(99, 0);
    let target = compiler.target_for(architecture.architecture(), driver);
    assert_eq!(target.unwrap(), Target::Cubin("sm_90a".parse().unwrap()));
    let source = fetch(case.parse().unwrap());
    let loaded = match is_loaded() {
        true => "loaded",
        false => "not loaded",
    };
    println!("\nsaid {source:?}, {loaded}");
}

// Without it each process would load the compiler, for 30 to 110 ms, before its first hit.
#[test]
fn a_second_process_loads_no_compiler_for_a_hit() {
    let Some(installation) = Installation::new() else {
        return;
    };
    assert_eq!(installation.run("1"), "Compiled, loaded");
    assert_eq!(installation.run("1"), "Disk, not loaded");
    // It does for what is not kept.
    assert_eq!(installation.run("2"), "Compiled, loaded");
    assert_eq!(installation.run("2"), "Disk, not loaded");
}

// Without it what another compiler made, or the same with other built-in headers, could be given out for what
// this one makes: the wrong code that no message tells of.
#[test]
fn a_compiler_that_was_replaced_is_noticed() {
    let Some(installation) = Installation::new() else {
        return;
    };
    assert_eq!(installation.run("1"), "Compiled, loaded");
    let other = installation.other(&installation.builtins);
    installation.link(&other, "");
    assert_eq!(installation.run("1"), "Compiled, loaded");
    // It is too new to be known by its times.
    assert_eq!(installation.run("1"), "Disk, loaded");
    installation.link(&installation.builtins, "");
    assert_eq!(installation.run("1"), "Disk, not loaded");
    let other = installation.other(&installation.library);
    installation.link(&other, "libnvrtc.so.12");
    assert_eq!(installation.run("1"), "Compiled, loaded");
    assert_eq!(installation.run("1"), "Disk, loaded");
    installation.link(&installation.library, "libnvrtc.so.12");
    assert_eq!(installation.run("1"), "Disk, not loaded");
    // One that is found before it; by its files it is the same.
    installation.link(&installation.library, "libnvrtc.so.13");
    assert_eq!(installation.run("1"), "Disk, loaded");
    assert_eq!(installation.run("1"), "Disk, not loaded");
}

// Without it a process that waits long before its first compile could keep what a newer compiler makes as the
// result of the older one.
#[test]
fn a_compiler_that_is_replaced_before_it_is_loaded_compiles_under_its_own_key() {
    let Some(installation) = Installation::new() else {
        return;
    };
    assert_eq!(installation.run("1"), "Compiled, loaded");
    let other = installation.other(&installation.library);
    let said = installation.run(&format!("replaced after: {}", other.display()));
    assert_eq!(said, "[Compiled, Compiled, Memory]");
    installation.link(&installation.library, "libnvrtc.so.12");
    assert_eq!(installation.run("2"), "Compiled, loaded");
}

// Without it a note that is damaged could stop a start, or stay for ever.
#[test]
fn a_torn_note_is_none() {
    let Some(installation) = Installation::new() else {
        return;
    };
    assert_eq!(installation.run("1"), "Compiled, loaded");
    let store = DiskStore::open(&installation.cache()).unwrap();
    let is_note = |key: &_| match store.check(key) {
        Condition::Right { entry } => entry.kind == EntryKind::Compiler,
        _ => false,
    };
    let mut keys = store.list().unwrap().into_iter().map(|listed| listed.key);
    let note = keys.find(is_note).expect("a note");
    let file = installation.cache().join(format!("{note}.entry"));
    let whole = fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() - 40] ^= 1;
    for torn in [&whole[..whole.len() / 2], &[], &flipped] {
        fs::write(&file, torn).unwrap();
        assert_eq!(installation.run("1"), "Disk, loaded");
        assert_eq!(fs::read(&file).unwrap(), whole, "it is noted once more");
        assert_eq!(installation.run("1"), "Disk, not loaded");
    }
}
