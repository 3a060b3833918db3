//! Tests of the command line's `build.rs`, which has no test program of its own.

#[path = "../../cli/build.rs"]
#[allow(dead_code, reason = "only the search for the commit is tested")]
mod build;

use std::fs;
use std::path::{Path, PathBuf};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// A folder of the build with these files.
fn checkout(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = crate::tasks::target().join("commit-tests").join(name);
    let _ = fs::remove_dir_all(&folder);
    for (file, text) in files {
        let file = folder.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    folder
}

/// The commit, and what is watched, each of which must be there.
fn read(checkout: &Path) -> (Option<String>, Vec<PathBuf>) {
    let mut watched = Vec::new();
    let commit = build::commit(checkout, &mut |path| watched.push(path.to_owned()));
    for path in &watched {
        assert!(path.exists(), "cargo would build again each time: {path:?}");
    }
    (commit, watched)
}

/// Without it the package would be built again by every command once `git gc` has packed the
/// branch, or keep the name of an old commit.
#[test]
fn only_what_is_there_is_watched() {
    let packed = format!("# pack-refs with: peeled\n{COMMIT} refs/heads/main\n");
    let head = (".git/HEAD", "ref: refs/heads/main\n");
    let short = Some(COMMIT[..12].to_owned());

    let loose = checkout("loose", &[head, (".git/refs/heads/main", COMMIT)]);
    let (commit, watched) = read(&loose);
    assert_eq!(commit, short);
    assert!(watched.contains(&loose.join(".git/refs/heads/main")));

    let gone = checkout(
        "packed",
        &[
            head,
            (".git/packed-refs", &packed),
            (".git/refs/heads/x", ""),
        ],
    );
    let (commit, watched) = read(&gone);
    assert_eq!(commit, short);
    // Where the next commit makes a file.
    assert!(watched.contains(&gone.join(".git/refs/heads")));

    let detached = checkout("detached", &[(".git/HEAD", COMMIT)]);
    assert_eq!(read(&detached).0, short);

    let tree = checkout(
        "worktree",
        &[
            ("tree/.git", "gitdir: ../main/.git/worktrees/tree\n"),
            ("main/.git/worktrees/tree/HEAD", "ref: refs/heads/side\n"),
            ("main/.git/worktrees/tree/commondir", "../..\n"),
            ("main/.git/refs/heads/side", COMMIT),
        ],
    );
    assert_eq!(read(&tree.join("tree")).0, short);

    let none = checkout("none", &[("README", "")]);
    assert_eq!(read(&none), (None, Vec::new()));
}
