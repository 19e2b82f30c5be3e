//! Profiles of a session: folded text, and the flame graph that is drawn from it.
//!
//! The folded form is that of the flame graph tools: a path with `;` between its frames, a
//! space, and a number of samples. In the graph each frame is as wide as the samples that
//! it and what it called have; callers stand below, and neighbours are in order of names,
//! so that left to right says nothing of time. The graph is of our own programs and the
//! kernel's threads; the folded text is of everybody.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use stiction_core::{PhaseKind, Session};

const WIDTH: f64 = 1200.0;
const MARGIN: f64 = 10.0;
const ROW: f64 = 17.0;
/// Rows above the graph for its title.
const HEAD: f64 = 48.0;
/// Frames narrower than this are not drawn.
const NARROWEST: f64 = 0.3;
/// Width of a letter of the font, generously.
const LETTER: f64 = 7.0;

/// The paths of all measured phases of a session with their samples, in order of paths;
/// `None` where it has no profile.
#[must_use]
pub fn folded(session: &Session) -> Option<String> {
    let profiles = Profiles::of(session)?;
    let lines = profiles.paths.iter();
    Some(
        lines
            .map(|(path, (samples, _))| format!("{path} {samples}\n"))
            .collect(),
    )
}

/// The flame graph of all measured phases of a session, as SVG; `None` where it has no
/// profile.
#[must_use]
pub fn flame_graph(session: &Session) -> Option<String> {
    let profiles = Profiles::of(session)?;
    let mut root = Frame::default();
    let mut left_out = 0;
    for (path, (samples, is_drawn)) in &profiles.paths {
        match is_drawn {
            true => root.add(path.split(';'), *samples),
            false => left_out += samples,
        }
    }
    let depth = root.depth();
    let bottom = HEAD + depth as f64 * ROW;
    let mut svg = head(bottom + MARGIN);
    let title = format!(
        "Session {}: {} samples at {} Hz of our programs and the kernel's; {left_out} of others",
        session.header.id.tail(),
        root.samples,
        profiles.hz
    );
    let _ = writeln!(
        svg,
        "<text class=\"title\" x=\"{}\" y=\"24\">{}</text>",
        WIDTH / 2.0,
        escaped(&title)
    );
    let place = Place {
        x: MARGIN,
        y: bottom - ROW,
        per_sample: (WIDTH - 2.0 * MARGIN) / root.samples.max(1) as f64,
        all: root.samples,
    };
    draw(&mut svg, "all", &root, &place);
    svg.push_str("</svg>\n");
    Some(svg)
}

/// The paths of all measured phases, added up.
struct Profiles {
    /// Samples, and whether they are to be drawn.
    paths: BTreeMap<String, (u64, bool)>,
    hz: u32,
}

impl Profiles {
    fn of(session: &Session) -> Option<Self> {
        let mut found: Option<Self> = None;
        let phases = session.trials.iter().flat_map(|trial| &trial.phases);
        for phase in phases.filter(|phase| phase.kind == PhaseKind::Measure) {
            let Some(profile) = &phase.witnesses.profile else {
                continue;
            };
            let all = found.get_or_insert_with(|| Self {
                paths: BTreeMap::new(),
                hz: profile.hz,
            });
            for one in &profile.stacks {
                let program = one.stack.split(';').next().unwrap_or("");
                let mut drawn = profile.own_programs.iter().chain(&profile.kernel_programs);
                let path = all.paths.entry(one.stack.clone()).or_default();
                path.0 += one.samples;
                path.1 |= drawn.any(|name| name == program);
            }
        }
        found
    }
}

/// A frame with all that it called.
#[derive(Debug, Default)]
struct Frame<'a> {
    samples: u64,
    called: BTreeMap<&'a str, Frame<'a>>,
}

impl<'a> Frame<'a> {
    fn add(&mut self, path: impl Iterator<Item = &'a str>, samples: u64) {
        let mut frame = self;
        frame.samples += samples;
        for name in path {
            frame = frame.called.entry(name).or_default();
            frame.samples += samples;
        }
    }

    /// Frames on top of each other, itself included.
    fn depth(&self) -> usize {
        1 + self.called.values().map(Self::depth).max().unwrap_or(0)
    }
}

/// Where a frame is drawn, and in what scale.
struct Place {
    x: f64,
    y: f64,
    per_sample: f64,
    all: u64,
}

fn head(height: f64) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\">\n\
         <style>\n\
         text {{ font: 12px monospace; fill: #000; }}\n\
         .title {{ font-size: 16px; text-anchor: middle; }}\n\
         rect {{ stroke: #fff; stroke-width: 0.5; }}\n\
         g:hover rect {{ stroke: #000; }}\n\
         </style>\n\
         <rect x=\"0\" y=\"0\" width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n"
    )
}

fn draw(svg: &mut String, name: &str, frame: &Frame<'_>, place: &Place) {
    let width = frame.samples as f64 * place.per_sample;
    if width < NARROWEST {
        return;
    }
    let share = 100.0 * frame.samples as f64 / place.all.max(1) as f64;
    let Place { x, y, .. } = *place;
    let _ = write!(
        svg,
        "<g><title>{}: {} samples, {share:.2} %</title>\
         <rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{}\"/>",
        escaped(name),
        frame.samples,
        ROW - 1.0,
        colour(name)
    );
    let letters = ((width - 6.0) / LETTER).max(0.0) as usize;
    if let Some(text) = fitted(name, letters) {
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            x + 3.0,
            y + 12.0,
            escaped(&text)
        );
    }
    svg.push_str("</g>\n");
    let mut at = Place {
        y: y - ROW,
        ..*place
    };
    for (name, called) in &frame.called {
        draw(svg, name, called, &at);
        at.x += called.samples as f64 * place.per_sample;
    }
}

/// As much of a name as has room; nothing where that would say nothing.
fn fitted(name: &str, letters: usize) -> Option<String> {
    const FEWEST: usize = 3;
    if name.chars().count() <= letters {
        return Some(name.to_owned());
    }
    (letters > FEWEST).then(|| {
        let mut text: String = name.chars().take(letters - 2).collect();
        text.push_str("..");
        text
    })
}

/// The same for the same name in every graph: user code is blue, the rest from yellow to
/// red.
fn colour(name: &str) -> String {
    match name {
        "[user]" => return "#8fb3e8".to_owned(),
        "all" => return "#d9d9d9".to_owned(),
        _ => {}
    }
    let hash = name.bytes().fold(0x811c_9dc5u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    let (red, green, blue) = (
        225 + hash % 30,
        110 + (hash >> 8) % 110,
        50 + (hash >> 16) % 50,
    );
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // XML 1.0 has no other control characters.
            letter if letter.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree<'a>(paths: &[(&'a str, u64)]) -> Frame<'a> {
        let mut root = Frame::default();
        for (path, samples) in paths {
            root.add(path.split(';'), *samples);
        }
        root
    }

    #[test]
    fn a_frame_has_its_own_samples_and_those_of_what_it_called() {
        let root = tree(&[("a;read;copy", 3), ("a;read", 2), ("b;write", 5)]);
        assert_eq!((root.samples, root.depth()), (10, 4));
        let read = &root.called["a"].called["read"];
        assert_eq!((read.samples, read.called["copy"].samples), (5, 3));
    }

    /// Half of the samples are half of 1180, from the left margin or the middle.
    #[test]
    fn widths_are_shares() {
        let root = tree(&[("a", 5), ("b", 5)]);
        let mut svg = String::new();
        let place = Place {
            x: MARGIN,
            y: 100.0,
            per_sample: (WIDTH - 2.0 * MARGIN) / 10.0,
            all: 10,
        };
        draw(&mut svg, "all", &root, &place);
        let rects: Vec<&str> = svg.lines().collect();
        assert!(rects[0].contains("x=\"10.0\" y=\"100.0\" width=\"1180.0\""));
        assert!(rects[1].contains("x=\"10.0\" y=\"83.0\" width=\"590.0\""));
        assert!(rects[2].contains("x=\"600.0\" y=\"83.0\" width=\"590.0\""));
        assert!(rects[1].contains("<title>a: 5 samples, 50.00 %</title>"));
    }

    #[test]
    fn names_are_cut_to_their_room_and_escaped() {
        assert_eq!(fitted("vfs_read", 8), Some("vfs_read".to_owned()));
        assert_eq!(fitted("vfs_read", 7), Some("vfs_r..".to_owned()));
        assert_eq!(fitted("vfs_read", 3), None);
        assert_eq!(escaped("<a&b>\u{1}"), "&lt;a&amp;b&gt; ");
    }
}
