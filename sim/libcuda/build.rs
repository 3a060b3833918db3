//! Gives the library the name that programs look for.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
        // It is carried inside of the command line too: what only backtraces read is a third
        // so large.
        println!("cargo:rustc-cdylib-link-arg=-Wl,--compress-debug-sections=zlib");
        // Its threads and its exit handler run code of it: it must not be unloaded.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
