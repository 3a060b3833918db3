//! Deliberate mistakes, which `cargo xtask mutants` demands that tests find. Each crate that has some has
//! the same few lines: none should export a macro for it.

/// Whether the mistake of this name is made: never, but in a build with `--cfg mutants`, where
/// the variable `CUPOLA_MUTANT` names the one that is.
#[cfg(not(mutants))]
macro_rules! mutant {
    ($name:literal) => {
        // Never so here: the branch is not built.
        cfg!(mutants)
    };
}

#[cfg(mutants)]
macro_rules! mutant {
    ($name:literal) => {
        $crate::mutant::is($name)
    };
}

/// Whether this process was asked for the mistake.
#[cfg(mutants)]
pub(crate) fn is(name: &str) -> bool {
    static ASKED: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    let asked = ASKED.get_or_init(|| std::env::var("CUPOLA_MUTANT").ok());
    asked.as_deref() == Some(name)
}
