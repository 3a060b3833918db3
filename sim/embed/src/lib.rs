//! The software device's library as bytes of the program that was built with it.
//!
//! `cargo install` installs programs and no libraries. The library is an artifact of a dependency
//! (`cupola-libcuda`, a `cdylib`), which cargo has linked before it compiles a program: it is in
//! `deps`, and only a macro can look whether it is: `cargo check`, which links nothing, must not
//! fail for it, as `include_bytes!` would.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro::{Literal, TokenStream};

/// `Some(&[u8])` of the library, or `None` where the build has none at the place where cargo puts
/// it.
#[proc_macro]
pub fn library(_: TokenStream) -> TokenStream {
    let found = env::var_os("OUT_DIR").and_then(|out| find(Path::new(&out)));
    let text = found.and_then(|path| {
        let path = Literal::string(path.to_str()?);
        Some(format!(
            "::core::option::Option::Some(include_bytes!({path}))"
        ))
    });
    let text = text.unwrap_or_else(|| "::core::option::Option::None".into());
    // Both are expressions.
    text.parse().unwrap_or_default()
}

/// The library of the build whose script wrote to `out`: `PROFILE/build/PACKAGE/out`.
fn find(out: &Path) -> Option<PathBuf> {
    let deps = out.ancestors().nth(3)?.join("deps");
    // Of a dependency in the workspace; the name of any other one ends with a hash.
    let own = deps.join("libcupola_libcuda.so");
    if own.is_file() {
        return Some(own);
    }
    let files = fs::read_dir(deps).ok()?.filter_map(Result::ok);
    let named = files.filter(|file| {
        let name = file.file_name();
        let name = name.to_string_lossy();
        name.starts_with("libcupola_libcuda-") && name.ends_with(".so")
    });
    // Those of earlier builds are older.
    let dated = named.filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file)));
    dated
        .max_by_key(|(time, _)| *time)
        .map(|(_, file)| file.path())
}
