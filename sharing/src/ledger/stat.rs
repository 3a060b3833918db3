//! The line that the kernel writes about a process (`/proc/PID/stat`). The file uses nothing else of this crate,
//! so that the fuzz target can include it.

/// What tells a process from a later one of the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) pid: u32,
    /// Ticks from the start of the system to that of the process.
    pub(crate) start: u64,
}

impl Stat {
    /// `None` when this is no such line. The name of the program is in it, in parentheses, and may have
    /// blanks and parentheses itself.
    pub(crate) fn parse(line: &[u8]) -> Option<Self> {
        let open = line.iter().position(|&byte| byte == b'(')?;
        let close = line.iter().rposition(|&byte| byte == b')')?;
        let pid = str::from_utf8(&line[..open]).ok()?.trim().parse().ok()?;
        let rest = str::from_utf8(line.get(close + 1..)?).ok()?;
        // The field behind the name is the third, and the start the twenty-second.
        let start = rest.split_ascii_whitespace().nth(19)?.parse().ok()?;
        Some(Self { pid, start })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Without it a program could choose a name by which another process is taken for ended.
    #[test]
    fn names_of_programs_do_not_matter() {
        for name in ["cat", "a b", "x) R 1 2 3", "((", ") S 0 0 0 0"] {
            let line = format!(
                "714 ({name}) S 700 714 700 34816 714 4194304 103 0 0 0 0 0 0 0 20 0 1 0 98765 2 3\n"
            );
            let (pid, start) = (714, 98765);
            assert_eq!(
                Stat::parse(line.as_bytes()),
                Some(Stat { pid, start }),
                "{name}"
            );
        }
        for line in [
            "",
            "1",
            "1 (a) S",
            "(a)",
            "x (a) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 5",
        ] {
            assert_eq!(Stat::parse(line.as_bytes()), None, "{line}");
        }
    }
}
