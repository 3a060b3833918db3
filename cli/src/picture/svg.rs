//! Draws.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::runs::{Drawn, Run, Scale, len};
use super::{Picture, State, rows, size};

/// Pixels: where rows begin, how wide they are, what is right of them, how high they are, and
/// from one to the next.
const LEFT: f64 = 170.0;
const WIDTH: f64 = 1024.0;
const RIGHT: f64 = 20.0;
const HEIGHT: f64 = 18.0;
const PITCH: f64 = 24.0;
const LINE: f64 = 18.0;

/// Roughly, of a letter of the labels.
const LETTER: f64 = 6.5;

/// Colours that people with any colour vision tell apart (Okabe and Ito).
const STREAMS: [&str; 8] = [
    "#000000", "#d55e00", "#0072b2", "#cc79a7", "#009e73", "#f0e442", "#56b4e9", "#e69f00",
];

fn colour(state: State) -> &'static str {
    match state {
        State::Live => "#7fb3d5",
        State::Pending => "#f5b041",
        State::Cached => "#a9dfbf",
    }
}

/// Text that cannot end what it stands in, nor be refused by a reader of XML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // XML 1.0 has no way to write these.
            '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {
                out.push('\u{fffd}');
            }
            letter => out.push(letter),
        }
    }
    out
}

pub(super) fn document(picture: &Picture) -> String {
    let mut pen = Pen {
        out: String::new(),
        y: 26.0,
    };
    pen.text(10.0, 16, &picture.title);
    let sums = picture.sums();
    let mut line = format!("mapped {}", size(sums.mapped));
    for (index, state) in State::ALL.into_iter().enumerate() {
        let (count, bytes) = (sums.blocks[index], size(sums.states[index]));
        let _ = write!(line, "; {} {bytes} in {count} blocks", state.word());
    }
    let row = rows::bytes(picture);
    let _ = write!(line, "; {} a row", size(row));
    pen.y += 4.0;
    for note in std::iter::once(&line).chain(&picture.notes) {
        pen.y += LINE;
        pen.text(10.0, 12, note);
    }
    pen.legend(picture);
    let regions = picture.regions.iter();
    let regions: Vec<_> = regions.map(|region| Drawn::new(region, row)).collect();
    let scale = Scale::new(&regions, row, WIDTH);
    for region in &regions {
        pen.region(region, scale);
    }
    let (width, height) = (LEFT + WIDTH + RIGHT, pen.y + PITCH);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height:.0}\" \
         width=\"{width}\" height=\"{height:.0}\" font-family=\"monospace\">\n\
         <defs><pattern id=\"unmapped\" width=\"6\" height=\"6\" \
         patternUnits=\"userSpaceOnUse\"><path d=\"M0 6L6 0\" stroke=\"#cccccc\"/></pattern></defs>\n\
         <rect width=\"{width}\" height=\"{height:.0}\" fill=\"#ffffff\"/>\n{}</svg>\n",
        pen.out
    )
}

struct Pen {
    out: String,
    /// The baseline of the last line.
    y: f64,
}

impl Pen {
    fn text(&mut self, x: f64, points: u32, text: &str) {
        let _ = writeln!(
            self.out,
            "<text x=\"{x}\" y=\"{:.0}\" font-size=\"{points}\">{}</text>",
            self.y,
            escaped(text)
        );
    }

    fn rect(&mut self, (from, to): (f64, f64), (y, height): (f64, f64), more: &str) {
        let width = (to - from).max(0.05);
        let _ = write!(
            self.out,
            "<rect x=\"{:.2}\" y=\"{y:.0}\" width=\"{width:.2}\" height=\"{height:.0}\" {more}",
            LEFT + from
        );
    }

    fn legend(&mut self, picture: &Picture) {
        self.y += PITCH;
        let blocks = picture.regions.iter().flat_map(|region| &region.blocks);
        let streams: BTreeSet<u64> = blocks.filter_map(|block| block.stream).collect();
        let mut entries = vec![
            ("url(#unmapped)", "not mapped".to_owned()),
            ("#eeeeee", "mapped, free".to_owned()),
        ];
        let states = State::ALL.into_iter();
        entries.extend(states.map(|state| (colour(state), state.word().to_owned())));
        let shown = streams.iter().take(STREAMS.len());
        entries.extend(shown.map(|stream| (stream_colour(*stream), format!("stream {stream}"))));
        if streams.len() > STREAMS.len() {
            let more = streams.len() - STREAMS.len();
            entries.push((
                "#ffffff",
                format!("and {more} streams more, in the same colours"),
            ));
        }
        let mut x = 10.0;
        for (fill, words) in entries {
            let width = 19.0 + LETTER * 1.05 * words.len() as f64;
            if x > 10.0 && x + width > LEFT + WIDTH + RIGHT {
                x = 10.0;
                self.y += LINE;
            }
            self.rect(
                (x - LEFT, x - LEFT + 14.0),
                (self.y - 11.0, 12.0),
                &format!("fill=\"{fill}\" stroke=\"#888888\" stroke-width=\"0.5\"/>\n"),
            );
            self.text(x + 19.0, 11, &words);
            x += width + 15.0;
        }
    }

    fn region(&mut self, drawn: &Drawn<'_>, scale: Scale) {
        let region = drawn.region;
        self.y += 1.5 * PITCH;
        let words = format!(
            "{} at {:#x}, {} reserved",
            region.name,
            region.base,
            size(region.bytes)
        );
        self.text(10.0, 12, &words);
        let row = scale.row;
        let all = region.bytes.div_ceil(row);
        let mut next = 0;
        let mut begins = drawn.begins(row);
        for rows in &drawn.rows {
            self.gap(rows.start - next, row);
            for start in begins.by_ref().take((rows.end - rows.start) as usize) {
                self.row(start, drawn, scale);
            }
            next = rows.end;
        }
        self.gap(all.saturating_sub(next), row);
    }

    /// Says how much is left out.
    fn gap(&mut self, rows: u64, row: u64) {
        if rows > 0 {
            self.y += PITCH;
            let words = format!("... {} not mapped", size(rows.saturating_mul(row)));
            self.text(LEFT, 10, &words);
        }
    }

    fn row(&mut self, start: u64, drawn: &Drawn<'_>, scale: Scale) {
        let end = start.saturating_add(scale.row);
        self.y += PITCH;
        self.text(10.0, 10, &format!("{start:#x}"));
        let top = self.y - HEIGHT + 5.0;
        self.rect((0.0, WIDTH), (top, HEIGHT), "fill=\"url(#unmapped)\"/>\n");
        let mapped = &drawn.mapped;
        let first = mapped.partition_point(|range| range.end <= start);
        for range in mapped[first..].iter().take_while(|range| range.start < end) {
            let span = (scale.x(start, range.start), scale.x(start, range.end));
            self.rect(span, (top, HEIGHT), "fill=\"#eeeeee\"/>\n");
        }
        drawn.runs(start, scale, |run| self.run(&run, top));
    }

    fn run(&mut self, run: &Run<'_>, top: f64) {
        let span = (run.from, run.to);
        let wide = run.to - run.from >= 2.0;
        let stroke = match wide {
            true => " stroke=\"#ffffff\" stroke-width=\"0.5\"",
            false => "",
        };
        self.rect(
            span,
            (top, HEIGHT),
            &format!("fill=\"{}\"{stroke}><title>", colour(run.state())),
        );
        let stream = run.first.stream.filter(|_| run.one_stream);
        let label = match run.one_label {
            true => &*run.first.label,
            false => "",
        };
        let words = format!("{}, {} {label}", what(run), whose(run));
        let _ = writeln!(self.out, "{}</title></rect>", escaped(words.trim_end()));
        if let Some(stream) = stream {
            let fill = format!("fill=\"{}\"/>\n", stream_colour(stream));
            self.rect(span, (top + HEIGHT - 2.0, 2.0), &fill);
        }
        if !label.is_empty() && label.chars().count() as f64 * LETTER < run.to - run.from {
            let y = std::mem::replace(&mut self.y, top + 12.0);
            self.text(LEFT + run.from + 3.0, 10, label);
            self.y = y;
        }
    }
}

/// The blocks of a run, where they begin, and what they are.
fn what(run: &Run<'_>) -> String {
    let from = run.first.range.start;
    let blocks = run.count();
    if blocks == 1 {
        let word = run.first.state.word();
        return format!("{} at {from:#x}: {word}", size(len(run.first)));
    }
    let bytes = run
        .bytes
        .iter()
        .fold(0_u64, |sum, one| sum.saturating_add(*one));
    let mut text = format!("{blocks} blocks, {} from {from:#x} on:", size(bytes));
    let states = State::ALL.into_iter().zip(run.blocks).zip(run.bytes);
    for ((state, count), bytes) in states.filter(|((_, count), _)| *count > 0) {
        let _ = match count == blocks {
            true => write!(text, " {}", state.word()),
            false => write!(text, " {count} {} ({}),", state.word(), size(bytes)),
        };
    }
    text.trim_end_matches(',').to_owned()
}

fn whose(run: &Run<'_>) -> String {
    match run.first.stream {
        _ if !run.one_stream => "several streams".into(),
        Some(stream) => format!("stream {stream}"),
        None => "no stream".into(),
    }
}

fn stream_colour(stream: u64) -> &'static str {
    STREAMS[(stream % STREAMS.len() as u64) as usize]
}
