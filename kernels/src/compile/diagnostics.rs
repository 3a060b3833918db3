//! [`Diagnostic`]: one message of a compiler's log.
//!
//! The log is text for people. What is read out of it is what each message begins with; the rest
//! is kept as it is, and a line that is not understood is lost from no message: the whole log is
//! always there too.

use std::fmt;

/// How bad a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It belongs to the message before it, or informs.
    Note,
    /// It informs.
    Remark,
    /// The code is suspicious.
    Warning,
    /// The code is wrong.
    Error,
    /// The code is so wrong that the compiler stopped there.
    Fatal,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Remark => "remark",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Fatal => "fatal error",
        })
    }
}

/// One message of a compiler's log.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// The file as the compiler names it; none for messages about options, and those of the
    /// assembler.
    pub file: Option<String>,
    /// The line in the file, or in the PTX for messages of the assembler; from 1.
    pub line: Option<u32>,
    /// The column of the mark below the source line, from 1.
    pub column: Option<u32>,
    /// How bad it is.
    pub severity: Severity,
    /// The number by which [`CompileOption::Diagnostic`](super::CompileOption::Diagnostic) knows it.
    pub number: Option<u32>,
    /// The message.
    pub message: String,
    /// The lines below it: the source line with its mark, and how the compiler came there.
    pub context: String,
}

impl Diagnostic {
    /// The messages of a log, in order.
    #[must_use]
    pub fn parse_log(log: &str) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        let mut open = false;
        for line in log.lines() {
            if is_summary(line) {
                open = false;
            } else if let Some(diagnostic) = parse_head(line) {
                found.push(diagnostic);
                open = true;
            } else if open && let Some(last) = found.last_mut() {
                last.add_context(line);
            }
        }
        for diagnostic in &mut found {
            let end = diagnostic.context.trim_end().len();
            diagnostic.context.truncate(end);
        }
        found
    }

    fn add_context(&mut self, line: &str) {
        let marks = line.trim_start_matches(' ');
        // The source line and the mark are both two columns to the right.
        if marks.trim_end() == "^" && self.column.is_none() && !self.context.is_empty() {
            let column = (line.len() - marks.len()).checked_sub(1);
            self.column = column.and_then(|column| u32::try_from(column).ok());
        }
        self.context.push_str(line);
        self.context.push('\n');
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
        }
        for place in [self.line, self.column].into_iter().flatten() {
            write!(f, "{place}:")?;
        }
        if self.file.is_some() || self.line.is_some() {
            f.write_str(" ")?;
        }
        write!(f, "{}", self.severity)?;
        if let Some(number) = self.number {
            write!(f, " #{number}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// The words that a message may begin with. The longer of two comes first.
const SEVERITIES: &[(&str, Severity)] = &[
    ("catastrophic error", Severity::Fatal),
    ("internal error", Severity::Fatal),
    ("fatal error", Severity::Fatal),
    ("fatal", Severity::Fatal),
    ("error", Severity::Error),
    ("warning", Severity::Warning),
    ("remark", Severity::Remark),
    ("note", Severity::Note),
    ("info", Severity::Note),
];

/// What stands before messages that are about no place in a source.
const SOURCELESS: &[&str] = &["nvrtc: ", "nvlink ", "nvJitLink ", "At end of source: "];

/// The beginning of a message.
fn parse_head(line: &str) -> Option<Diagnostic> {
    in_source(line)
        .or_else(|| in_clang(line))
        .or_else(|| in_ptx(line))
        .or_else(|| without_place(line))
}

/// `FILE(LINE): error #20-D: MESSAGE`. A file may have brackets in its name.
fn in_source(line: &str) -> Option<Diagnostic> {
    line.match_indices("): ").find_map(|(close, found)| {
        let (severity, number, message) = severity(&line[close + found.len()..])?;
        let (file, place) = line[..close].rsplit_once('(')?;
        let (row, column) = match place.split_once(',') {
            Some((row, column)) => (row, Some(column.parse().ok()?)),
            None => (place, None),
        };
        let mut diagnostic = new(severity, number, message);
        diagnostic.file = Some(file)
            .filter(|file| !file.is_empty())
            .map(str::to_owned);
        diagnostic.line = Some(row.parse().ok()?);
        diagnostic.column = column;
        Some(diagnostic)
    })
}

/// `FILE:LINE:COLUMN: error: MESSAGE`, of clang. A file may have colons in its name.
fn in_clang(line: &str) -> Option<Diagnostic> {
    line.match_indices(": ").find_map(|(end, found)| {
        let (severity, number, message) = severity(&line[end + found.len()..])?;
        let (place, last) = line[..end].rsplit_once(':')?;
        let last = last.parse().ok()?;
        let before = place.rsplit_once(':');
        let before = before.and_then(|(file, row)| Some((file, row.parse().ok()?)));
        let (file, row, column) = match before {
            Some((file, row)) => (file, row, Some(last)),
            None => (place, last, None),
        };
        let mut diagnostic = new(severity, number, message);
        diagnostic.file = Some(file.to_owned()).filter(|file| !file.is_empty());
        diagnostic.line = Some(row);
        diagnostic.column = column;
        Some(diagnostic)
    })
}

/// `ptxas application ptx input, line 27; error   : MESSAGE`.
fn in_ptx(line: &str) -> Option<Diagnostic> {
    let rest = line.strip_prefix("ptxas ")?;
    let Some((_, place)) = rest.split_once(", line ") else {
        let (severity, number, message) = severity(rest)?;
        return Some(new(severity, number, message));
    };
    let (row, rest) = place.split_once(';')?;
    let (severity, number, message) = severity(rest.trim_start())?;
    let mut diagnostic = new(severity, number, message);
    diagnostic.line = Some(row.parse().ok()?);
    Some(diagnostic)
}

/// `nvrtc: error: MESSAGE`, `Warning #20282-D: MESSAGE`, `Command-line error: MESSAGE`.
fn without_place(line: &str) -> Option<Diagnostic> {
    let rest = SOURCELESS
        .iter()
        .find_map(|prefix| line.strip_prefix(prefix))
        .or_else(|| line.strip_prefix("Command-line "))
        .or_else(|| after_program(line))
        .unwrap_or(line);
    let (severity, number, message) = severity(rest)?;
    Some(new(severity, number, message))
}

/// What clang says about its arguments stands behind its name: `clang-14: error: MESSAGE`.
fn after_program(line: &str) -> Option<&str> {
    let (program, rest) = line.split_once(": ")?;
    program.starts_with("clang").then_some(rest)
}

fn new(severity: Severity, number: Option<u32>, message: &str) -> Diagnostic {
    Diagnostic {
        file: None,
        line: None,
        column: None,
        severity,
        number,
        message: message.to_owned(),
        context: String::new(),
    }
}

/// `error #20-D: MESSAGE`: how bad, its number, and what.
fn severity(text: &str) -> Option<(Severity, Option<u32>, &str)> {
    let (severity, rest) = SEVERITIES.iter().find_map(|(word, severity)| {
        let (start, rest) = text.split_at_checked(word.len())?;
        start
            .eq_ignore_ascii_case(word)
            .then_some((*severity, rest))
    })?;
    let rest = rest.trim_start_matches(' ');
    let (number, rest) = match rest.strip_prefix('#') {
        None => (None, rest),
        Some(rest) => {
            let end = rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len());
            let (digits, rest) = rest.split_at(end);
            let rest = rest.strip_prefix("-D").unwrap_or(rest);
            (Some(digits.parse().ok()?), rest)
        }
    };
    Some((severity, number, rest.strip_prefix(':')?.trim()))
}

/// The lines about all messages.
fn is_summary(line: &str) -> bool {
    line.contains("detected in the compilation of \"")
        || line == "Compilation terminated."
        || is_summary_of_clang(line)
        // Which is no remark about the code.
        || line.starts_with("Remark: The warnings can be suppressed")
}

/// `1 warning and 2 errors generated when compiling for sm_80.`
fn is_summary_of_clang(line: &str) -> bool {
    line.starts_with(|first: char| first.is_ascii_digit())
        && (line.ends_with(" generated.") || line.contains(" generated when compiling for "))
}

#[cfg(test)]
mod tests {
    use quickcheck::quickcheck;

    use super::*;

    fn only(log: &str) -> Diagnostic {
        let mut all = Diagnostic::parse_log(log);
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    // Without it an editor could be sent to the wrong place.
    #[test]
    fn a_message_has_its_place_and_the_lines_below() {
        let found = only(concat!(
            "a b(3).cu(12): warning #177-D: variable \"x\" was declared (twice): never\n",
            "    int x;\n",
            "        ^\n",
            "          detected during instantiation of \"f\" at line 6\n",
            "\n",
            "Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n",
            "\n",
            "1 error detected in the compilation of \"k.cu\".\n",
        ));
        assert_eq!(found.file.as_deref(), Some("a b(3).cu"));
        assert_eq!((found.line, found.column), (Some(12), Some(7)));
        assert_eq!(
            (found.severity, found.number),
            (Severity::Warning, Some(177))
        );
        assert_eq!(found.message, "variable \"x\" was declared (twice): never");
        assert!(found.context.ends_with("at line 6"), "{}", found.context);
        let text = found.to_string();
        assert!(
            text.starts_with("a b(3).cu:12:7: warning #177: var"),
            "{text}"
        );
    }

    // Without it what the assembler, the options or a header say could be lost.
    #[test]
    fn every_part_of_the_compiler_is_understood() {
        for (line, severity, place) in [
            (
                "nvrtc: error: unrecognized option --x found",
                Severity::Error,
                None,
            ),
            (
                "ptxas fatal   : Unknown option '-bogus'",
                Severity::Fatal,
                None,
            ),
            (
                "ptxas application ptx input, line 27; error   : Not a name: 'b'",
                Severity::Error,
                Some(27),
            ),
            (
                "At end of source: error: expected a \";\"",
                Severity::Error,
                None,
            ),
            (
                "Command-line error: invalid macro definition: 3",
                Severity::Error,
                None,
            ),
            (
                "Warning #20282-D: incompatible header",
                Severity::Warning,
                None,
            ),
            (
                "clang-14: error: unknown argument: '--bogus'",
                Severity::Error,
                None,
            ),
            (
                "a:b.cu:7:3: fatal error: 'none.h' file not found",
                Severity::Fatal,
                Some(7),
            ),
            (
                "C:\\k.cu(1): catastrophic error: cannot open \"own.h\"",
                Severity::Fatal,
                Some(1),
            ),
        ] {
            let found = only(line);
            assert_eq!((found.severity, found.line), (severity, place), "{line}");
            assert!(!found.message.is_empty(), "{line}");
        }
    }

    // Without it what clang says could lose its place, or its last line pass for one of the source.
    #[test]
    fn messages_of_clang_have_their_places() {
        let log = concat!(
            "In file included from k.cu:1:\n",
            "a.h:3:14: error: use of undeclared identifier 'x'\n",
            "  int y = f(x);\n",
            "            ^\n",
            "k.cu:9:1: note: expanded here\n",
            "1 warning and 1 error generated when compiling for sm_80.\n",
        );
        let found = Diagnostic::parse_log(log);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0].file.as_deref(), Some("a.h"));
        assert_eq!((found[0].line, found[0].column), (Some(3), Some(14)));
        assert_eq!(found[0].message, "use of undeclared identifier 'x'");
        assert!(found[0].context.ends_with('^'), "{}", found[0].context);
        assert_eq!(
            (found[1].severity, found[1].line),
            (Severity::Note, Some(9))
        );
        assert_eq!(found[1].context, "");
    }

    // Without it a log of another form could panic, or a line of it be taken for two.
    #[test]
    fn any_text_is_read() {
        #[expect(clippy::needless_pass_by_value, reason = "quickcheck gives values")]
        fn holds(pieces: Vec<u8>) -> bool {
            const WORDS: &[&str] = &[
                "k.cu",
                "(",
                "12",
                "): ",
                "error",
                " #",
                "-D",
                ": ",
                "\n",
                "^",
                "  ",
                "ptxas ",
                ", line ",
                ";",
                "nvrtc: ",
                "\u{e9}",
                "99999999999",
            ];
            let log: String = pieces
                .iter()
                .map(|piece| WORDS[usize::from(*piece) % WORDS.len()])
                .collect();
            Diagnostic::parse_log(&log).len() <= log.lines().count()
        }
        quickcheck(holds as fn(Vec<u8>) -> bool);
    }
}
