//! A timeline as a picture.

use std::fmt::Write as _;

use super::chrome::STAGES;
use super::timeline::{Sample, Timeline};

/// Pixels: where rows begin, how wide they are, what is right of them, how high a row is, and from
/// one to the next.
const LEFT: f64 = 90.0;
const WIDTH: f64 = 1000.0;
const RIGHT: f64 = 30.0;
const HEIGHT: f64 = 22.0;
const PITCH: f64 = 28.0;

/// Runs of neighbours that are drawn, the last ones.
const RUNS: usize = 8;

/// Colours that people with any colour vision tell apart (Okabe and Ito), all of which black text is
/// readable on.
const SLOTS: [&str; 6] = [
    "#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#d98049",
];

/// For a light page and a dark one.
const STYLE: &str = "\
text { font: 12px monospace; fill: #222222; } .item { font-size: 10px; fill: #000000; }\n\
.page { fill: #ffffff; } .row { fill: #f0f0f0; } .tick { stroke: #888888; stroke-width: 0.5; }\n\
.box { stroke: #ffffff; stroke-width: 0.5; }\n\
@media (prefers-color-scheme: dark) {\n\
text { fill: #dddddd; } .item { fill: #000000; }\n\
.page { fill: #1b1b1b; } .row { fill: #2c2c2c; } .box { stroke: #1b1b1b; }\n\
}\n";

impl Timeline {
    /// The items as one SVG document, which needs no other file: time from left to right, a row for
    /// each stage, an item in the colour of its slot, and its times in a tooltip. Of a sample it shows
    /// the last eight runs of neighbours, each with an axis of its own.
    #[must_use]
    pub fn svg(&self) -> String {
        let runs = self.runs();
        let left_out = runs.len().saturating_sub(RUNS);
        let mut pen = Pen {
            out: String::new(),
            y: 24.0,
        };
        let (items, count) = (self.samples().count(), runs.len());
        let what = match count {
            1 => "run",
            _ => "runs",
        };
        pen.text(
            10.0,
            &format!("pipeline: {items} items in {count} {what} of neighbours"),
        );
        if left_out > 0 {
            pen.y += 16.0;
            pen.text(10.0, &format!("the first {left_out} runs are left out"));
        }
        pen.legend(self);
        for run in &runs[left_out..] {
            pen.run(run);
        }
        let (width, height) = (LEFT + WIDTH + RIGHT, pen.y + 20.0);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height:.0}\" \
             width=\"{width}\" height=\"{height:.0}\">\n<style>{STYLE}</style>\n\
             <rect class=\"page\" width=\"{width}\" height=\"{height:.0}\"/>\n{}</svg>\n",
            pen.out
        )
    }
}

struct Pen {
    out: String,
    /// The baseline of the last line.
    y: f64,
}

impl Pen {
    fn text(&mut self, x: f64, text: &str) {
        let _ = writeln!(
            self.out,
            "<text x=\"{x:.1}\" y=\"{:.1}\">{text}</text>",
            self.y
        );
    }

    fn legend(&mut self, timeline: &Timeline) {
        self.y += 22.0;
        let slots = timeline
            .samples()
            .map(|sample| sample.slot + 1)
            .max()
            .unwrap_or(0);
        for (slot, fill) in SLOTS.into_iter().enumerate().take(slots) {
            let x = 10.0 + 90.0 * slot as f64;
            let y = self.y - 11.0;
            let _ = writeln!(
                self.out,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"14\" height=\"14\" fill=\"{fill}\"/>"
            );
            // Colours come again.
            let others = match slots - slot > SLOTS.len() {
                true => "...",
                false => "",
            };
            self.text(x + 20.0, &format!("slot {slot}{others}"));
        }
    }

    /// A run of neighbours, with its axis.
    fn run(&mut self, run: &[Sample]) {
        let [Some(first), Some(last)] = [run.first(), run.last()] else {
            return;
        };
        let (mut start, mut end) = (f64::INFINITY, f64::NEG_INFINITY);
        for (from, to) in run.iter().flat_map(|sample| sample.times.stages()) {
            (start, end) = (start.min(from), end.max(to));
        }
        // Also of times that no device tells.
        let length = match end - start {
            length if length.is_finite() && length > 0.0 => length,
            _ => 1.0,
        };
        let axis = Axis { start, length };
        let unit = Unit::of(length);
        self.y += 34.0;
        self.text(
            10.0,
            &format!(
                "items {} to {}, from {:.3} ms on",
                first.index, last.index, start
            ),
        );
        for (stage, name) in STAGES.into_iter().enumerate() {
            self.y += PITCH;
            let top = self.y - 15.0;
            let _ = writeln!(
                self.out,
                "<rect class=\"row\" x=\"{LEFT}\" y=\"{top:.1}\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>"
            );
            self.text(10.0, name);
            for sample in run {
                self.item(sample, name, sample.times.stages()[stage], axis, unit);
            }
        }
        self.axis(axis, unit);
    }

    fn item(
        &mut self,
        sample: &Sample,
        name: &str,
        (from, to): (f64, f64),
        axis: Axis,
        unit: Unit,
    ) {
        let (x, end) = (axis.x(from), axis.x(to));
        // So that it can be seen.
        let width = (end - x).max(0.05);
        let (top, fill) = (self.y - 15.0, SLOTS[sample.slot % SLOTS.len()]);
        let &Sample { index, slot, .. } = sample;
        let [at, long] = [from - axis.start, to - from].map(|ms| ms * unit.in_a_millisecond);
        let _ = writeln!(
            self.out,
            "<rect class=\"box\" x=\"{x:.2}\" y=\"{top:.1}\" width=\"{width:.2}\" height=\"{HEIGHT}\" fill=\"{fill}\">\
             <title>item {index}, slot {slot}: {name} at {at:.3} {word}, {long:.3} {word}</title></rect>",
            word = unit.word,
        );
        let label = index.to_string();
        if label.len() as f64 * 6.5 + 4.0 < width {
            let _ = writeln!(
                self.out,
                "<text class=\"item\" x=\"{:.1}\" y=\"{:.1}\">{label}</text>",
                x + 3.0,
                self.y
            );
        }
    }

    /// Ticks at round times, with their unit.
    fn axis(&mut self, axis: Axis, unit: Unit) {
        let length = axis.length * unit.in_a_millisecond;
        let step = round_step(length / 8.0);
        let top = self.y + 7.0;
        self.y += 24.0;
        for tick in 0..=16 {
            let at = f64::from(tick) * step;
            if at > length {
                break;
            }
            let x = LEFT + WIDTH * at / length;
            let _ = writeln!(self.out, "<path class=\"tick\" d=\"M{x:.2} {top:.1}v5\"/>");
            let digits = usize::from(step < 1.0) + usize::from(step < 0.1);
            let unit = match tick {
                0 => format!(" {}", unit.word),
                _ => String::new(),
            };
            self.text(x - 3.0, &format!("{at:.digits$}{unit}"));
        }
    }
}

/// What the width of a row stands for, in milliseconds.
#[derive(Clone, Copy)]
struct Axis {
    start: f64,
    length: f64,
}

impl Axis {
    fn x(self, at: f64) -> f64 {
        let share = (at - self.start) / self.length;
        match share.is_finite() {
            true => LEFT + WIDTH * share.clamp(0.0, 1.0),
            false => LEFT,
        }
    }
}

#[derive(Clone, Copy)]
struct Unit {
    word: &'static str,
    in_a_millisecond: f64,
}

impl Unit {
    /// The unit in which so many milliseconds are a readable number.
    fn of(milliseconds: f64) -> Self {
        let (word, in_a_millisecond) = match milliseconds {
            short if short < 1.0 => ("us", 1e3),
            long if long >= 1e4 => ("s", 1e-3),
            _ => ("ms", 1.0),
        };
        Self {
            word,
            in_a_millisecond,
        }
    }
}

/// The smallest of 1, 2, 5, 10, 20 and so on, and of their tenths and hundredths, that is not below.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|part| part * power);
    let found = steps.into_iter().find(|step| *step >= least * (1.0 - 1e-9));
    found.unwrap_or(least)
}
