//! What compilers made, kept in memory and on disk: a program's second start compiles nothing.
//!
//! ```text
//!   CompileInputs ── SHA-256 ──> Key
//!                                 │
//!   Cache::get_or_compile ─> memory ─> private folder ─> shared folder ─> the compiler
//!                             (LRU)     (LRU, locked)     (never written)    (once a key)
//! ```
//!
//! - [`CompileInputs`] is everything that a compile depends on; leaving a part out does not compile.
//! - [`Manifest`]: the files that a compile read, or would have read had they been there. A hit whose
//!   manifest does not hold is a miss.
//! - [`Entry`]: what a compile made. On disk it is one file with a checksum, so no part of one entry
//!   can ever stand beside a part of another.
//! - [`DiskStore`]: the private folder. Whatever fails there is counted and told
//!   ([`Cache::stats`], `tracing`), and costs a compile, never a start.
//! - [`LoadPolicy`]: loads nothing but what is listed by its SHA-256.
//!
//! The compiler is a closure here: the cache knows none. `docs/design/kernels.md` has the order of
//! what is written, and what a kill at each point leaves.

mod config;
mod digest;
pub(crate) mod disk;
mod entry;
mod error;
mod flight;
pub(crate) mod format;
mod identity;
mod key;
mod lookup;
mod manifest;
mod memory;
mod policy;
mod recipe;
mod stats;
#[cfg(all(test, not(loom)))]
mod tests;

pub use config::{CacheConfig, FOLDER_VARIABLE, SharedLayer, default_folder};
pub use digest::{Digest, NotADigest};
pub use disk::{Condition, DiskStore, Listed, Refusal, Usage};
pub use entry::{Entry, EntryKind};
pub use error::{CacheError, Failure, Fault, RejectedTwice};
pub use format::FormatError;
pub use identity::FileIdentity;
pub use key::{CompileInputs, Header, Key, KeyBuilder, Variable};
pub use lookup::{Cache, Fetched, Source};
pub(crate) use manifest::Stamp;
pub use manifest::{Dependency, Manifest};
pub use policy::LoadPolicy;
pub use recipe::Recipe;
pub use stats::CacheStats;
