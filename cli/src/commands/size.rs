//! Numbers of bytes as people write them: every option that takes one reads it here.

use cupola::primitives::{Budget, parse_bytes};

/// A number of bytes with an optional unit, see [`parse_bytes`].
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    parse_bytes(text).map_err(|error| format!("{text:?}: {error}"))
}

/// As [`bytes`], and at least one.
pub(crate) fn some_bytes(text: &str) -> Result<u64, String> {
    match bytes(text)? {
        0 => Err("at least one byte is needed".into()),
        some => Ok(some),
    }
}

/// As [`bytes`], and no more than a pool can count.
pub(crate) fn limit(text: &str) -> Result<u64, String> {
    match bytes(text)? {
        over if over > Budget::MAX_LIMIT => {
            Err("a pool has less than 256 TiB: a larger limit is none".into())
        }
        limit => Ok(limit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it a step of nothing or a limit that no pool keeps could be taken for another one.
    #[test]
    fn sizes_that_mean_nothing_are_refused() {
        assert!(some_bytes("0").is_err() && some_bytes("0Gi").is_err());
        assert_eq!(some_bytes("1"), Ok(1));
        assert_eq!(limit("0"), Ok(0));
        assert_eq!(limit("281474976710655"), Ok(Budget::MAX_LIMIT));
        assert!(limit("256Ti").unwrap_err().contains("256 TiB"));
    }
}
