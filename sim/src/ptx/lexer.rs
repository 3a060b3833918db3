//! Bytes to tokens, on demand. Tokens are slices of the source; nothing is
//! allocated. A byte that starts no token becomes [`Tok::Bad`], which no rule
//! of the grammar accepts, so errors need only one exit: the parser's.

/// A token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Tok<'a> {
    Ident(&'a str),
    /// A dot token, without its dot, with any `::` parts.
    Dot(&'a str),
    /// Integer bits.
    Int(u64),
    F32(u32),
    F64(u64),
    Str(&'a str),
    /// One punctuation byte.
    P(u8),
    Shl,
    Shr,
    Le,
    Ge,
    EqEq,
    Ne,
    AndAnd,
    OrOr,
    Bad,
    Eof,
}

/// Token stream with one token of lookahead in [`Lexer::tok`].
#[derive(Debug, Clone)]
pub(crate) struct Lexer<'a> {
    pub(crate) text: &'a str,
    pos: usize,
    /// Current token.
    pub(crate) tok: Tok<'a>,
    /// Its first byte.
    pub(crate) start: usize,
    /// Line of its first byte, from 1.
    pub(crate) line: u32,
    pos_line: u32,
}

fn word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'$'
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut lexer = Lexer {
            text,
            pos: 0,
            tok: Tok::Eof,
            start: 0,
            line: 1,
            pos_line: 1,
        };
        lexer.advance();
        lexer
    }

    /// End of the current token.
    pub(crate) fn end(&self) -> usize {
        self.pos
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or("")
    }

    fn skip_space(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(&b) = bytes.get(self.pos) {
            match b {
                b'\n' => {
                    self.pos_line = self.pos_line.saturating_add(1);
                    self.pos += 1;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.pos += 1,
                b'/' if self.byte(self.pos + 1) == b'/' => self.skip_line(),
                b'/' if self.byte(self.pos + 1) == b'*' => {
                    let rest = bytes.get(self.pos + 2..).unwrap_or(&[]);
                    // Without an end it is no comment, and `/` begins no token of the grammar.
                    let Some(len) = rest.windows(2).position(|w| w == b"*/") else {
                        break;
                    };
                    let stop = self.pos + len + 4;
                    self.count_lines(stop);
                    self.pos = stop;
                }
                // A C preprocessor line marker.
                b'#' => self.skip_line(),
                _ => break,
            }
        }
    }

    fn count_lines(&mut self, stop: usize) {
        let skipped = self.text.as_bytes().get(self.pos..stop).unwrap_or(&[]);
        let lines = skipped.iter().filter(|&&b| b == b'\n').count();
        self.pos_line = self
            .pos_line
            .saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
    }

    /// Moves to the next line break.
    pub(crate) fn skip_line(&mut self) {
        while self.pos < self.text.len() && self.byte(self.pos) != b'\n' {
            self.pos += 1;
        }
    }

    /// With `{` as current token: moves to the token after its partner, without
    /// looking at what lies between. Used for debug sections.
    pub(crate) fn skip_braces(&mut self) {
        let bytes = self.text.as_bytes();
        let mut depth = 1u32;
        let mut at = self.pos;
        let mut quoted = false;
        while let Some(&b) = bytes.get(at) {
            at += 1;
            match b {
                b'"' => quoted = !quoted,
                b'\n' => quoted = false,
                b'{' if !quoted => depth += 1,
                b'}' if !quoted => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                _ => {}
            }
        }
        self.count_lines(at);
        self.pos = at;
        self.advance();
    }

    /// The first byte after the current token and any blanks, or 0.
    pub(crate) fn peek_byte(&self) -> u8 {
        let bytes = self.text.as_bytes().get(self.pos..).unwrap_or(&[]);
        bytes
            .iter()
            .copied()
            .find(|b| !b.is_ascii_whitespace())
            .unwrap_or(0)
    }

    /// Moves to the next token.
    pub(crate) fn advance(&mut self) {
        self.skip_space();
        self.start = self.pos;
        self.line = self.pos_line;
        let first = self.byte(self.pos);
        self.tok = match first {
            0 if self.pos >= self.text.len() => Tok::Eof,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => self.ident(),
            // Alone it is the operator of remainders.
            b'%' if word(self.byte(self.pos + 1)) => self.ident(),
            b'.' => self.dot(),
            b'0'..=b'9' => self.number(),
            b'"' => self.string(),
            _ => self.punct(first),
        };
    }

    fn word_end(&self, mut at: usize) -> usize {
        while word(self.byte(at)) {
            at += 1;
        }
        at
    }

    fn ident(&mut self) -> Tok<'a> {
        self.pos = self.word_end(self.pos + 1);
        Tok::Ident(self.slice(self.start, self.pos))
    }

    fn dot(&mut self) -> Tok<'a> {
        let mut end = self.word_end(self.pos + 1);
        if end == self.pos + 1 {
            self.pos = end;
            return Tok::Bad;
        }
        while self.byte(end) == b':' && self.byte(end + 1) == b':' && word(self.byte(end + 2)) {
            end = self.word_end(end + 2);
        }
        self.pos = end;
        Tok::Dot(self.slice(self.start + 1, end))
    }

    fn string(&mut self) -> Tok<'a> {
        let mut at = self.pos + 1;
        while at < self.text.len() && !matches!(self.byte(at), b'"' | b'\n') {
            at += if self.byte(at) == b'\\' { 2 } else { 1 };
        }
        if self.byte(at) != b'"' {
            self.pos = at.min(self.text.len());
            return Tok::Bad;
        }
        self.pos = at + 1;
        match self.text.get(self.start + 1..at) {
            Some(s) => Tok::Str(s),
            None => Tok::Bad,
        }
    }

    fn number(&mut self) -> Tok<'a> {
        let start = self.pos;
        let end = self.word_end(start);
        let text = self.slice(start, end);
        self.pos = end;

        if self.byte(start) == b'0' && end > start + 1 {
            let digits = self.slice(start + 2, end);
            let digits_u = digits.trim_end_matches('U');
            match self.byte(start + 1) {
                b'f' | b'F' if digits.len() == 8 => {
                    return hex(digits).map_or(Tok::Bad, |v| Tok::F32(v as u32));
                }
                b'd' | b'D' if digits.len() == 16 => {
                    return hex(digits).map_or(Tok::Bad, Tok::F64);
                }
                b'x' | b'X' => return hex(digits_u).map_or(Tok::Bad, Tok::Int),
                b'b' | b'B' => {
                    return u64::from_str_radix(digits_u, 2).map_or(Tok::Bad, Tok::Int);
                }
                _ => {}
            }
        }
        let fraction = self.byte(end) == b'.' && self.fraction(end + 1);
        let digits_only = text.bytes().all(|b| b.is_ascii_digit());
        if fraction && digits_only {
            self.pos = self.word_end(end + 1);
        }
        let exponent = text.starts_with(|c: char| c.is_ascii_digit())
            && self.slice(start, self.pos).ends_with(['e', 'E'])
            && matches!(self.byte(self.pos), b'+' | b'-');
        if exponent {
            self.pos = self.word_end(self.pos + 1);
        }
        let text = self.slice(start, self.pos);
        let int = text.trim_end_matches('U');
        if int.bytes().all(|b| b.is_ascii_digit()) {
            let radix = if int.len() > 1 && int.starts_with('0') {
                8
            } else {
                10
            };
            return u64::from_str_radix(int, radix).map_or(Tok::Bad, Tok::Int);
        }
        // Rust also reads "inf" and "nan", but those do not start with a digit.
        text.parse::<f64>()
            .map_or(Tok::Bad, |v| Tok::F64(v.to_bits()))
    }

    /// Whether what follows a number's dot belongs to it: digits, an exponent, or nothing.
    /// Otherwise the dot begins a token, as in `4.b8`.
    fn fraction(&self, at: usize) -> bool {
        let exponent = match self.byte(at + 1) {
            b'+' | b'-' => self.byte(at + 2),
            digit => digit,
        };
        match self.byte(at) {
            b'0'..=b'9' => true,
            b'e' | b'E' => exponent.is_ascii_digit(),
            next => !word(next) && next != b'.',
        }
    }

    fn punct(&mut self, first: u8) -> Tok<'a> {
        let (tok, len) = match (first, self.byte(self.pos + 1)) {
            (b'<', b'<') => (Tok::Shl, 2),
            (b'>', b'>') => (Tok::Shr, 2),
            (b'<', b'=') => (Tok::Le, 2),
            (b'>', b'=') => (Tok::Ge, 2),
            (b'=', b'=') => (Tok::EqEq, 2),
            (b'!', b'=') => (Tok::Ne, 2),
            (b'&', b'&') => (Tok::AndAnd, 2),
            (b'|', b'|') => (Tok::OrOr, 2),
            (0x21..=0x7e, _) => (Tok::P(first), 1),
            _ => (
                Tok::Bad,
                self.text
                    .get(self.pos..)
                    .unwrap_or("")
                    .chars()
                    .next()
                    .map_or(1, char::len_utf8),
            ),
        };
        self.pos += len;
        tok
    }
}

fn hex(digits: &str) -> Option<u64> {
    // from_str_radix would accept a leading sign.
    if digits.starts_with(['+', '-']) {
        return None;
    }
    u64::from_str_radix(digits, 16).ok()
}
