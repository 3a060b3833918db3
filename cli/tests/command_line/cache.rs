//! The compiled kernels on disk, as a user looks at them.

use std::fmt;
use std::path::Path;

use cupola_kernels::CachedCompiler;
use cupola_kernels::cache::{Cache, CacheConfig, Digest, Entry, Failure, Fault, Key, Manifest};

use cupola_kernels::compile::{CompileRequest, Compiler, ImageKind, Target};

use super::cli::{cupola, json, output};

#[derive(Debug)]
struct Never;

impl fmt::Display for Never {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl std::error::Error for Never {}

impl Failure for Never {
    fn fault(&self) -> Fault<'_> {
        Fault::Machine
    }
}

/// Keeps the entries of three kernels, as a program does.
fn fill(folder: &Path) -> [Key; 3] {
    let mut config = CacheConfig::default();
    config.folder = Some(folder.into());
    let cache = Cache::<Never>::new(config);
    [0_u8, 1, 2].map(|of| {
        let key = Key::from_digest(Digest::of(&[of]));
        let entry = Entry {
            kind: ImageKind::Ptx.into(),
            payload: vec![of; 1000],
            names: Vec::new(),
            log: String::new(),
            manifest: Manifest::new(),
            recipe: None,
        };
        cache.get_or_compile(&key, || Ok(entry)).unwrap();
        key
    })
}

/// Without it a user could not see what fills the disk, empty it, or find what a disk got wrong.
#[test]
fn entries_are_listed_checked_and_cleared() {
    let all = tempfile::tempdir().unwrap();
    let folder = all.path().join("kernels");
    let run = |words: &[&str]| {
        let mut command = cupola(&[&["cache"], words].concat());
        output(command.env("CUPOLA_CACHE_DIR", &folder))
    };
    let document = |words: &[&str]| {
        let (code, stdout, stderr) = run(&[words, &["--json", "-"]].concat());
        (code, json(&stdout), stderr)
    };
    // Not there yet: nothing is made.
    for command in ["list", "stats", "clear", "verify"] {
        let (code, stdout, stderr) = run(&[command]);
        assert_eq!(code, Some(0), "{command}: {stderr}");
        assert!(stdout.contains("0 entries"), "{stdout}");
    }
    assert!(!folder.exists());
    let named = folder.display().to_string();
    let (code, _, stderr) = run(&["list", "--folder", &named]);
    assert_eq!(code, Some(5), "{stderr}");
    assert!(stderr.contains(&named), "{stderr}");

    let keys = fill(&folder);
    let (_, stdout, _) = run(&["list"]);
    assert!(
        keys.iter().all(|key| stdout.contains(&key.to_string())),
        "{stdout}"
    );
    assert!(
        stdout.contains(&format!("3 entries in {named}")),
        "{stdout}"
    );
    let (_, list, _) = document(&["list"]);
    assert_eq!(list["entries"].as_array().unwrap().len(), 3);
    let (_, stats, _) = document(&["stats"]);
    assert_eq!(
        (&stats["entries"], &stats["default_limit"]),
        (&3.into(), &(1 << 30).into())
    );
    assert!(stats["bytes"].as_u64() > Some(3000));
    let (code, verified, _) = document(&["verify"]);
    assert_eq!((code, &verified["right"]), (Some(0), &3.into()));

    std::fs::write(folder.join(format!("{}.entry", keys[1])), "damaged").unwrap();
    let (code, verified, _) = document(&["verify"]);
    assert_eq!((code, &verified["right"]), (Some(1), &2.into()));
    assert_eq!(verified["problems"][0]["key"], keys[1].to_string());
    let (_, stdout, _) = run(&["verify"]);
    assert!(
        stdout.contains("1 damaged") && stdout.contains("WRONG"),
        "{stdout}"
    );

    let (code, cleared, _) = document(&["clear"]);
    assert_eq!((code, &cleared["removed"]), (Some(0), &3.into()));
    let (_, stats, _) = document(&["stats"]);
    assert_eq!(stats["entries"], 0);
}

/// Without it a folder that another user may write to would be taken for this user's.
#[test]
fn a_folder_that_is_not_private_is_an_error_that_says_so() {
    use std::os::unix::fs::PermissionsExt as _;
    let all = tempfile::tempdir().unwrap();
    let folder = all.path().display().to_string();
    std::fs::set_permissions(all.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let (code, _, stderr) = output(&mut cupola(&["cache", "stats", "--folder", &folder]));
    assert_eq!(code, Some(5), "{stderr}");
    assert!(
        stderr.contains(&folder) && stderr.contains("chmod go-w"),
        "{stderr}"
    );
}

/// Without it a compiler that makes other code than it did, or an entry that holds other code than its
/// request, would not be found.
#[test]
fn entries_are_compiled_again_and_compared() {
    let compiler = match Compiler::find_clang() {
        Ok(compiler) => compiler,
        Err(error) => {
            let strict = std::env::var_os("CUPOLA_STRICT").is_some_and(|value| value == "1");
            assert!(!strict, "{error}");
            eprintln!("SKIPPED: {error}");
            return;
        }
    };
    let all = tempfile::tempdir().unwrap();
    let folder = all.path().join("kernels");
    let mut config = CacheConfig::default();
    config.folder = Some(folder.clone());
    let compiler = CachedCompiler::new(compiler, config);
    let request = |number: u32| {
        let target = Target::Ptx("sm_80".parse().unwrap());
        let source = "#include \"n.h\"\ntemplate<class T> __global__ void k(T* x) { *x = N; }";
        CompileRequest::new("k.cu", source, target)
            .header("n.h", format!("#define N {number}"))
            .name_expression("k<int>")
    };
    let [right, wrong] = [1, 2].map(|number| {
        let request = request(number);
        let entry = compiler.compile(&request).unwrap().entry;
        (compiler.key(&request), entry)
    });
    let run = |words: &[&str]| {
        let words = [&["cache", "verify"], words].concat();
        output(cupola(&words).env("CUPOLA_CACHE_DIR", &folder))
    };
    let (code, stdout, stderr) = run(&["--recompile"]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert!(stdout.contains("2 the same, 0 differ, 0 not"), "{stdout}");
    // Whole, with a checksum that is right, and of other code.
    let mut entry = (*wrong.1).clone();
    *entry.payload.last_mut().unwrap() ^= 1;
    let file = |key: &Key| folder.join(format!("{key}.entry"));
    std::fs::write(file(&wrong.0), entry.encode(&wrong.0)).unwrap();
    // Of a compiler that is not here.
    let mut entry = (*right.1).clone();
    entry.recipe.as_mut().unwrap().compiler = "clang version 1.0.0".into();
    std::fs::write(file(&right.0), entry.encode(&right.0)).unwrap();
    assert_eq!(run(&[]).0, Some(0));
    let (code, stdout, _) = run(&["--recompile"]);
    assert_eq!(code, Some(1), "{stdout}");
    let last = entry.payload.len() - 1;
    assert!(stdout.contains(&format!("from byte {last} on")), "{stdout}");
    assert!(stdout.contains("made by clang version 1.0.0"), "{stdout}");
    // Named from where the command is, which is not where the entries were made.
    let mut command = cupola(&["cache", "verify", "--recompile", "--json", "report"]);
    command.current_dir(all.path());
    let (code, _, _) = output(command.env("CUPOLA_CACHE_DIR", &folder));
    let report = json(&std::fs::read_to_string(all.path().join("report")).unwrap());
    assert_eq!((code, &report["right"]), (Some(1), &2.into()));
    let differing = report["recompiled"]["differing"].as_array().unwrap();
    assert_eq!(differing[0]["key"], wrong.0.to_string());
    assert_eq!(
        report["recompiled"]["not_compared"][0]["key"],
        right.0.to_string()
    );
}
