//! What CUDA C++ has built in and clang alone has not: read before every source.

use sha2::{Digest as _, Sha256};

/// The files, in the order in which they are read.
pub(super) const FILES: [(&str, &str); 3] = [
    (
        "language.cuh",
        include_str!("../../../device/builtins/language.cuh"),
    ),
    (
        "intrinsics.cuh",
        include_str!("../../../device/builtins/intrinsics.cuh"),
    ),
    (
        "math.cuh",
        include_str!("../../../device/builtins/math.cuh"),
    ),
];

/// A digest of all of them, in hexadecimal.
pub(super) fn digest() -> String {
    let mut hasher = Sha256::new();
    for (_, text) in FILES {
        hasher.update(text);
    }
    format!("{:x}", hasher.finalize())
}
