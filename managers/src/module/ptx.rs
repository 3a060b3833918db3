//! What can be told of kernels by the text of their PTX.

use std::str::CharIndices;

/// The instruction that waits until the kernels before this one have ended, and their writes are seen.
const WAIT: &str = "griddepcontrol.wait";

/// The kernels of a PTX text whose own bodies wait for the kernel before them. One that waits in a
/// function that it calls is not among them.
pub(super) fn waiting_kernels(ptx: &str) -> Box<[Box<str>]> {
    if !ptx.contains(WAIT) {
        return Box::default();
    }
    let mut waiting: Vec<Box<str>> = Vec::new();
    let (mut depth, mut entry, mut is_name_next) = (0_usize, None, false);
    for word in Words::of(ptx) {
        match word {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    entry = None;
                }
            }
            // A declaration without a body.
            ";" if depth == 0 => entry = None,
            ".entry" if depth == 0 => is_name_next = true,
            name if is_name_next => (entry, is_name_next) = (Some(name), false),
            WAIT if depth > 0 => {
                if let Some(name) = entry.take() {
                    waiting.push(name.into());
                }
            }
            _ => {}
        }
    }
    waiting.into_boxed_slice()
}

/// The words of a PTX text, without comments and strings: names, directives and instructions, and each
/// other sign by itself.
struct Words<'t> {
    text: &'t str,
    signs: std::iter::Peekable<CharIndices<'t>>,
}

impl<'t> Words<'t> {
    fn of(text: &'t str) -> Self {
        Self {
            text,
            signs: text.char_indices().peekable(),
        }
    }

    /// Skips what is left until `is_end` holds for a sign and the one before it.
    fn skip(&mut self, is_end: impl Fn(char, char) -> bool) {
        let mut before = ' ';
        for (_, sign) in self.signs.by_ref() {
            if is_end(before, sign) {
                return;
            }
            before = sign;
        }
    }
}

fn is_of_a_word(sign: char) -> bool {
    sign.is_alphanumeric() || matches!(sign, '.' | '_' | '$' | '%')
}

impl<'t> Iterator for Words<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        loop {
            let (start, sign) = self.signs.next()?;
            let next = self.signs.peek().map(|(_, next)| *next);
            match (sign, next) {
                ('/', Some('/')) => self.skip(|_, sign| sign == '\n'),
                ('/', Some('*')) => {
                    self.signs.next();
                    self.skip(|before, sign| before == '*' && sign == '/');
                }
                ('"', _) => self.skip(|_, sign| sign == '"'),
                (sign, _) if sign.is_whitespace() => {}
                (sign, _) if is_of_a_word(sign) => {
                    while self
                        .signs
                        .next_if(|(_, sign)| is_of_a_word(*sign))
                        .is_some()
                    {}
                    let end = self.signs.peek().map_or(self.text.len(), |(end, _)| *end);
                    return self.text.get(start..end);
                }
                _ => return self.text.get(start..start + sign.len_utf8()),
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn names(ptx: &str) -> Vec<String> {
        waiting_kernels(ptx)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    // Without it a kernel that does not wait could be started before its inputs are written: the
    // instruction of another kernel, of a function, or in a comment or a string would pass for its own.
    #[test]
    fn only_kernels_that_wait_themselves_are_found() {
        let ptx = r#"
            .version 7.8
            .visible .entry declared(.param .u64 p);
            .func helper() { griddepcontrol.wait; ret; }
            .visible .entry waits(.param .u64 p)
            .maxntid 32, 1, 1
            { .reg .b32 %r; { griddepcontrol.wait; } ret; }
            .entry comments() { // griddepcontrol.wait;
                /* griddepcontrol.wait; */ .pragma "griddepcontrol.wait;"; ret; }
            .entry launches() { griddepcontrol.launch_dependents; ret; }
            .entry calls() { call helper; ret; }
            .visible .entry $too_(){@%p griddepcontrol.wait;griddepcontrol.wait;ret;}
        "#;
        assert_eq!(names(ptx), ["waits", "$too_"]);
    }

    // Without it text that is no PTX could end the program that loads it.
    #[test]
    fn any_text_is_read() {
        #[expect(clippy::needless_pass_by_value, reason = "quickcheck hands out values")]
        fn property(pieces: Vec<u8>) -> bool {
            const PIECES: [&str; 14] = [
                ".entry",
                " ",
                "name",
                "{",
                "}",
                ";",
                "/",
                "*",
                "\"",
                "\n",
                "griddepcontrol.wait",
                "(",
                "\u{e4}",
                ".",
            ];
            let text: String = pieces
                .iter()
                .map(|piece| PIECES[usize::from(*piece) % PIECES.len()])
                .collect();
            names(&text).iter().all(|name| text.contains(name.as_str()))
        }
        quickcheck::QuickCheck::new()
            .tests(5000)
            .quickcheck(property as fn(Vec<u8>) -> bool);
        assert!(names(".entry griddepcontrol.wait").is_empty());
    }
}
