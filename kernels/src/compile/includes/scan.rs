//! Which headers a text may include, read without a preprocessor.
//!
//! The result must never miss a header, and may have too many. So conditions are not looked at, no
//! comment or string hides a line, and a text with continued lines is read both ways, as it stands
//! and with the lines joined. What cannot be known without a preprocessor is said to be opaque.

use std::collections::BTreeSet;

/// What is included.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operand {
    /// `"name"`.
    Quoted(Vec<u8>),
    /// `<name>`.
    Angled(Vec<u8>),
    /// The text of a macro.
    Macro(Vec<u8>),
    /// It cannot be known: this text.
    Opaque(Vec<u8>),
}

/// A macro, and what it stands for if that is the name of a header.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Definition {
    pub(super) name: Vec<u8>,
    pub(super) header: Option<Operand>,
}

/// All that a text may include, and the macros that may stand for headers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Scan {
    pub(super) operands: BTreeSet<Operand>,
    pub(super) definitions: BTreeSet<Definition>,
}

/// What may stand between two lines that are one.
#[derive(Clone, Copy)]
enum Continued {
    /// A backslash at the very end.
    Strictly,
    /// A backslash, or its trigraph, with blanks behind it: compilers differ.
    Loosely,
}

impl Scan {
    pub(super) fn of(text: &[u8]) -> Self {
        let mut scan = Self::default();
        if text.starts_with(&[0xff, 0xfe]) || text.starts_with(&[0xfe, 0xff]) {
            scan.operands
                .insert(Operand::Opaque(b"(a text in UTF-16)".to_vec()));
            return scan;
        }
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        scan.read(text);
        for how in [Continued::Strictly, Continued::Loosely] {
            if let Some(joined) = join_lines(text, how) {
                scan.read(&joined);
            }
        }
        scan
    }

    fn read(&mut self, text: &[u8]) {
        for line in text.split(|&byte| byte == b'\n' || byte == b'\r') {
            self.read_line(line);
        }
    }

    fn read_line(&mut self, line: &[u8]) {
        let mut defined = None;
        for at in 0..line.len() {
            let Some(rest) = hash(&line[at..]) else {
                continue;
            };
            // A directive is the first thing of its line but for blanks and comments.
            let before = line[..at].trim_ascii_end();
            if !before.iter().all(|&byte| is_blank(byte)) && !before.ends_with(b"*/") {
                continue;
            }
            let Some(rest) = skip_blanks(rest) else {
                // The directive's name is on a later line, behind a comment.
                self.operands.insert(Operand::Opaque(line.to_vec()));
                continue;
            };
            let (word, rest) = identifier(rest);
            match word {
                b"include" | b"include_next" | b"import" | b"embed" => {
                    self.operands.extend(included(rest));
                }
                b"define" => defined = self.define(rest),
                _ => {}
            }
        }
        self.read_queries(line, defined.as_deref());
    }

    /// A macro's definition; gives its name.
    fn define(&mut self, rest: &[u8]) -> Option<Vec<u8>> {
        let (name, value) = identifier(skip_blanks(rest)?);
        let header = match included(value) {
            Some(header @ (Operand::Quoted(_) | Operand::Angled(_))) => Some(header),
            _ => None,
        };
        self.definitions.insert(Definition {
            name: name.to_vec(),
            header,
        });
        Some(name.to_vec())
    }

    /// `__has_include(...)`, and macros whose names say that they stand for it.
    fn read_queries(&mut self, line: &[u8], defined: Option<&[u8]>) {
        const QUERIES: [&[u8]; 2] = [b"has_include", b"has_embed"];
        let asks = |at: usize| QUERIES.iter().any(|query| starts_with(&line[at..], query));
        for at in (0..line.len()).filter(|&at| asks(at)) {
            let (_, rest) = identifier(&line[at..]);
            let argument = match skip_blanks(rest) {
                Some([b'(', argument @ ..]) => skip_blanks(argument),
                Some(_) => continue,
                None => None,
            };
            let argument = argument.unwrap_or_default();
            if let Some(header) = literal(argument) {
                self.operands.insert(header);
                continue;
            }
            let (name, _) = identifier(argument);
            match defined {
                // It is asked where the macro is used, under a name that is looked for too.
                Some(name) if (0..name.len()).any(|at| starts_with(&name[at..], QUERIES[0])) => {}
                None if !name.is_empty() => {
                    self.operands.insert(Operand::Macro(name.to_vec()));
                }
                _ => {
                    self.operands.insert(Operand::Opaque(line.to_vec()));
                }
            }
        }
    }
}

/// What stands behind `include`; `None` if nothing does.
pub(super) fn included(rest: &[u8]) -> Option<Operand> {
    let Some(rest) = skip_blanks(rest) else {
        return Some(Operand::Opaque(rest.to_vec()));
    };
    if rest.is_empty() || rest.starts_with(b"//") {
        return None;
    }
    if let Some(header) = literal(rest) {
        return Some(header);
    }
    let (name, behind) = identifier(rest);
    let alone = skip_blanks(behind).is_some_and(|end| end.is_empty() || end.starts_with(b"//"));
    Some(if !name.is_empty() && alone {
        Operand::Macro(name.to_vec())
    } else {
        Operand::Opaque(rest.to_vec())
    })
}

/// `"name"` or `<name>` at the start.
fn literal(text: &[u8]) -> Option<Operand> {
    let (close, make): (u8, fn(Vec<u8>) -> Operand) = match text.first()? {
        b'"' => (b'"', Operand::Quoted),
        b'<' => (b'>', Operand::Angled),
        _ => return None,
    };
    let name = &text[1..];
    let end = name.iter().position(|&byte| byte == close)?;
    Some(make(name[..end].to_vec()))
}

/// What follows the mark of a directive, in any of its spellings.
fn hash(text: &[u8]) -> Option<&[u8]> {
    [&b"#"[..], b"%:", b"??="]
        .iter()
        .find_map(|mark| text.strip_prefix(*mark))
}

fn is_blank(byte: u8) -> bool {
    byte <= b' '
}

/// Behind blanks and comments; `None` inside of a comment that goes on in the next line.
fn skip_blanks(mut text: &[u8]) -> Option<&[u8]> {
    loop {
        while let [first, rest @ ..] = text
            && is_blank(*first)
        {
            text = rest;
        }
        let Some(comment) = text.strip_prefix(b"/*") else {
            return Some(text);
        };
        let end = comment.windows(2).position(|pair| pair == b"*/")?;
        text = &comment[end + 2..];
    }
}

/// The identifier at the start, which may be empty, and what follows.
fn identifier(text: &[u8]) -> (&[u8], &[u8]) {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let end = text.iter().position(|byte| !is_part(byte));
    text.split_at(end.unwrap_or(text.len()))
}

fn starts_with(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(word))
}

/// The text with continued lines joined; `None` if no line is continued.
fn join_lines(text: &[u8], how: Continued) -> Option<Vec<u8>> {
    let mut joined = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&byte| byte == b'\\' || byte == b'?') {
        let (before, mark) = rest.split_at(at);
        joined.extend_from_slice(before);
        let length = match end_of_line(mark, how) {
            Some(length) => length,
            None => {
                joined.push(mark[0]);
                1
            }
        };
        rest = &mark[length..];
    }
    joined.extend_from_slice(rest);
    (joined.len() != text.len()).then_some(joined)
}

/// The length of a continuation with the end of its line, at the start of the text.
fn end_of_line(text: &[u8], how: Continued) -> Option<usize> {
    let mark = match how {
        _ if text.starts_with(b"\\") => 1,
        Continued::Loosely if text.starts_with(b"??/") => 3,
        _ => return None,
    };
    let blanks = match how {
        Continued::Strictly => 0,
        Continued::Loosely => text[mark..]
            .iter()
            .take_while(|&&byte| byte == b' ' || byte == b'\t')
            .count(),
    };
    let end = mark + blanks;
    match &text[end..] {
        [b'\r', b'\n', ..] => Some(end + 2),
        [b'\n' | b'\r', ..] => Some(end + 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let text_of = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
        Scan::of(text.as_bytes())
            .operands
            .iter()
            .map(|operand| match operand {
                Operand::Quoted(name) => format!("\"{}\"", text_of(name)),
                Operand::Angled(name) => format!("<{}>", text_of(name)),
                Operand::Macro(name) => text_of(name),
                Operand::Opaque(_) => "?".to_owned(),
            })
            .collect()
    }

    // Without it a spelling that the compiler takes could be missed, and with it the header in
    // whatever stands for the compile's inputs.
    #[test]
    fn every_spelling_is_found() {
        for text in [
            "#include <a.h>",
            "  #  include<a.h> // why",
            "%:include <a.h>",
            "??=include <a.h>",
            "\u{feff}#include <a.h>",
            "/* x */ # /* y */ include /* z */ <a.h>",
            "/* x\n */ #include <a.h>",
            "#inc\\\nlude <a.h>",
            "#inc\\ \t\r\nlude <a.h>",
            "#inc??/\nlude <a.h>",
            "// no comment \\ \n#include <a.h>",
            "\"/*\"\n#include <a.h>",
            "don't /* stop\n#include <a.h>",
            "#if 0\n#include <a.h>\n#endif",
            "x\r#include <a.h>",
            "#include_next <a.h>",
            "#if __has_include(<a.h>)",
            "#if defined(__has_include) && __has_include ( <a.h> )",
            "#define HAS_INCLUDE(X) __has_include(X)\n#if HAS_INCLUDE(<a.h>)",
            "#embed <a.h>",
        ] {
            assert_eq!(names(text), ["<a.h>"], "{text}");
        }
        assert_eq!(names("#include \"b/a.h\""), ["\"b/a.h\""]);
        assert_eq!(names("#include A_H // why"), ["A_H"]);
        assert_eq!(names("#if __has_include(A_H)"), ["A_H"]);
    }

    // Without it an include that cannot be known could pass for none.
    #[test]
    fn what_cannot_be_known_is_said() {
        for text in [
            "#include NAME(a)",
            "#include /*\n*/ <a.h>",
            "# /*\n*/ include <a.h>",
            "#include <a.h",
            "#define ASK(X) __has_include(X)",
        ] {
            assert_eq!(names(text), ["?"], "{text}");
        }
        assert_eq!(Scan::of(b"\xff\xfe#\0").operands.len(), 1);
    }

    // Without it some text before an include could hide it.
    #[test]
    fn no_text_before_hides_an_include() {
        #[expect(clippy::needless_pass_by_value, reason = "quickcheck gives values")]
        fn holds(pieces: Vec<u8>) -> bool {
            const WORDS: &[&str] = &[
                "\"",
                "'",
                "/*",
                "*/",
                "//",
                "\\",
                "\\\n",
                "\n",
                "R\"x(",
                ")x\"",
                "#if 0",
                "#",
                "%:",
                "include",
                "<b.h>",
                "define A",
                "??/",
                "\r",
                "\0",
                " ",
                "\u{e9}",
                "__has_include(",
            ];
            let before: String = pieces
                .iter()
                .map(|piece| WORDS[usize::from(*piece) % WORDS.len()])
                .collect();
            names(&format!("{before}\n#include <a.h>")).contains(&"<a.h>".to_owned())
        }
        quickcheck::quickcheck(holds as fn(Vec<u8>) -> bool);
    }

    // Without it code that includes nothing could seem to.
    #[test]
    fn other_lines_are_no_includes() {
        for text in [
            "int include; // #include <a.h>",
            "#ifdef __has_include",
            "#define include",
            "a = b % c; d ? e : f;",
            "#pragma once",
        ] {
            assert_eq!(names(text), [""; 0], "{text}");
        }
    }

    // Without it a macro for a header could be taken for something else.
    #[test]
    fn macros_for_headers_are_known() {
        let scan =
            Scan::of(b"#define A <a.h>\n#define B \"b.h\" // b\n#define C D\n#define E(x) <e.h>");
        let found: Vec<_> = scan
            .definitions
            .iter()
            .map(|one| (one.name[0], one.header.is_some()))
            .collect();
        assert_eq!(
            found,
            [(b'A', true), (b'B', true), (b'C', false), (b'E', false)]
        );
    }
}
