//! Draws.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Block, Picture, Region, State, rows, size};

/// Pixels: where rows begin, how wide and how high they are, and from one to the next.
const LEFT: f64 = 170.0;
const WIDTH: f64 = 1024.0;
const HEIGHT: f64 = 18.0;
const PITCH: f64 = 24.0;
const LINE: f64 = 18.0;

/// Narrower than this, a block is drawn with its neighbours.
const NARROW: f64 = 0.5;

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
    for region in &picture.regions {
        pen.region(region, row);
    }
    let (width, height) = (LEFT + WIDTH + 20.0, pen.y + PITCH);
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

/// A run of blocks that is drawn as one.
struct Run<'b> {
    from: f64,
    to: f64,
    first: &'b Block,
    blocks: usize,
    bytes: u64,
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
            self.rect(
                (x - LEFT, x - LEFT + 14.0),
                (self.y - 11.0, 12.0),
                &format!("fill=\"{fill}\" stroke=\"#888888\" stroke-width=\"0.5\"/>\n"),
            );
            self.text(x + 19.0, 11, &words);
            x += 34.0 + LETTER * 1.05 * words.len() as f64;
        }
    }

    fn region(&mut self, region: &Region, row: u64) {
        self.y += 1.5 * PITCH;
        let words = format!(
            "{} at {:#x}, {} reserved",
            region.name,
            region.base,
            size(region.bytes)
        );
        self.text(10.0, 12, &words);
        let mapped = rows::merged(&region.mapped);
        let mut blocks: Vec<&Block> = region.blocks.iter().collect();
        blocks.sort_by_key(|block| (block.range.start, block.range.end));
        // The longest block says how far before a row one may begin that reaches into it.
        let longest = blocks.iter().map(|block| len(block)).max().unwrap_or(0);
        let all = region.bytes.div_ceil(row);
        let mut next = 0;
        for rows in rows::drawn(region, row) {
            self.gap(rows.start - next, row);
            for number in rows.clone() {
                let start = region.base.saturating_add(number.saturating_mul(row));
                self.row(start, row, &mapped, &blocks, longest);
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

    fn row(
        &mut self,
        start: u64,
        bytes: u64,
        mapped: &[std::ops::Range<u64>],
        blocks: &[&Block],
        longest: u64,
    ) {
        let end = start.saturating_add(bytes);
        let x = |address: u64| {
            let inside = address.clamp(start, end) - start;
            inside as f64 / bytes as f64 * WIDTH
        };
        self.y += PITCH;
        self.text(10.0, 10, &format!("{start:#x}"));
        let top = self.y - HEIGHT + 5.0;
        self.rect((0.0, WIDTH), (top, HEIGHT), "fill=\"url(#unmapped)\"/>\n");
        let first = mapped.partition_point(|range| range.end <= start);
        for range in mapped[first..].iter().take_while(|range| range.start < end) {
            let span = (x(range.start), x(range.end));
            self.rect(span, (top, HEIGHT), "fill=\"#eeeeee\"/>\n");
        }
        let reach = start.saturating_sub(longest);
        let first = blocks.partition_point(|block| block.range.start < reach);
        let mut run: Option<Run<'_>> = None;
        for &block in blocks[first..]
            .iter()
            .take_while(|block| block.range.start < end)
        {
            if block.range.end <= start || len(block) == 0 {
                continue;
            }
            let (from, to) = (x(block.range.start), x(block.range.end));
            match &mut run {
                Some(run)
                    if run.first.state == block.state
                        && to - from < NARROW
                        && from - run.to < NARROW
                        && (run.blocks > 1 || run.to - run.from < NARROW) =>
                {
                    run.to = run.to.max(to);
                    run.blocks += 1;
                    run.bytes = run.bytes.saturating_add(len(block));
                }
                _ => {
                    self.run(run.take(), top);
                    run = Some(Run {
                        from,
                        to,
                        first: block,
                        blocks: 1,
                        bytes: len(block),
                    });
                }
            }
        }
        self.run(run, top);
    }

    fn run(&mut self, run: Option<Run<'_>>, top: f64) {
        let Some(run) = run else {
            return;
        };
        let Block {
            range,
            state,
            stream,
            label,
        } = run.first;
        let span = (run.from, run.to);
        let wide = run.to - run.from >= 2.0;
        let stroke = match wide {
            true => " stroke=\"#ffffff\" stroke-width=\"0.5\"",
            false => "",
        };
        self.rect(
            span,
            (top, HEIGHT),
            &format!("fill=\"{}\"{stroke}><title>", colour(*state)),
        );
        let what = match run.blocks {
            1 => format!("{} at {:#x}", size(len(run.first)), range.start),
            count => format!(
                "{count} blocks, {} from {:#x} on",
                size(run.bytes),
                range.start
            ),
        };
        let whose = stream.map_or_else(
            || "no stream".to_owned(),
            |stream| format!("stream {stream}"),
        );
        let words = format!("{what}: {}, {whose} {label}", state.word());
        let _ = writeln!(self.out, "{}</title></rect>", escaped(words.trim_end()));
        if let Some(stream) = stream {
            let fill = format!("fill=\"{}\"/>\n", stream_colour(*stream));
            self.rect(span, (top + HEIGHT - 2.0, 2.0), &fill);
        }
        if !label.is_empty() && label.chars().count() as f64 * LETTER < run.to - run.from {
            let y = std::mem::replace(&mut self.y, top + 12.0);
            self.text(LEFT + run.from + 3.0, 10, label);
            self.y = y;
        }
    }
}

fn len(block: &Block) -> u64 {
    block.range.end.saturating_sub(block.range.start)
}

fn stream_colour(stream: u64) -> &'static str {
    STREAMS[(stream % STREAMS.len() as u64) as usize]
}
