//! How to run both sides of a change again.

use stiction_analysis::history::{Around, Course, Rerun, Setting};

use super::words::{session_words, state_words, what};
use crate::page::{Page, Role, Span, Style};

/// A change, and how both sides of it can be had again.
#[derive(Clone, Debug)]
pub struct Confirmation<'a> {
    /// The series.
    pub course: &'a Course,
    /// The two sides.
    pub around: &'a Around,
    /// What it takes.
    pub rerun: &'a Rerun,
    /// The command of the side before, without `stiction`, ready for a shell.
    pub before: String,
    /// That of the side after.
    pub after: String,
}

impl Confirmation<'_> {
    /// The commands to give, each on one line.
    #[must_use]
    pub fn commands(&self) -> Vec<String> {
        let id = self.course.series.key.id();
        let label = |side: &str| format!("confirm-{id}-{side}");
        match self.rerun {
            Rerun::Here(settings) => vec![blocks(&self.before, &self.after, settings)],
            Rerun::Elsewhere(_) => vec![
                format!("stiction {} --label {}", self.before, label("before")),
                format!("stiction {} --label {}", self.after, label("after")),
                format!("stiction compare {} {}", label("before"), label("after")),
            ],
            Rerun::Unknown => vec![format!("stiction {}", self.after)],
        }
    }
}

/// Both sides in blocks, each with its settings.
fn blocks(before: &str, after: &str, settings: &[Setting]) -> String {
    let set = |value: fn(&Setting) -> &str| {
        let each = settings
            .iter()
            .map(|one| format!("echo {} > {}", value(one), one.path));
        each.collect::<Vec<_>>().join("; ")
    };
    let mut words = vec!["stiction ab".to_owned()];
    if !settings.is_empty() {
        words.push(format!("--a-prepare {}", quoted(&set(|one| &one.before))));
        words.push(format!("--b-prepare {}", quoted(&set(|one| &one.after))));
        // What was set for A is not left behind.
        words.push(format!("--a-conclude {}", quoted(&set(|one| &one.after))));
    }
    // What they have in common goes behind the benchmark's name, and the rest to its side.
    let common = before.split(' ').zip(after.split(' '));
    let common = common.take_while(|(a, b)| a == b).count();
    let rest = |command: &str| {
        let rest: Vec<&str> = command.split(' ').skip(common).collect();
        rest.join(" ")
    };
    let (own_a, own_b) = (rest(before), rest(after));
    if !own_a.is_empty() || !own_b.is_empty() {
        words.push(format!("--a {} --b {}", quoted(&own_a), quoted(&own_b)));
    }
    words.extend(before.split(' ').take(common).map(str::to_owned));
    words.join(" ")
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The change, what differs, and the commands that settle it.
#[must_use]
pub fn history_confirmation(confirmation: &Confirmation<'_>, style: Style) -> String {
    let Confirmation { course, around, .. } = confirmation;
    let mut page = Page::new(style);
    let title = format!("{}  {}", course.series.key.id(), what(&course.series.key));
    page.line(Span::new(Role::Strong, title));
    page.line(format!("  {}", state_words(course)));
    let before = session_words(&around.before, around.label_before.as_deref());
    let after = session_words(&around.after, around.label_after.as_deref());
    page.paragraph("  before: ", before);
    page.paragraph("  after:  ", after);
    page.blank();
    let commands = confirmation.commands();
    match confirmation.rerun {
        Rerun::Here(settings) => {
            for one in settings {
                let told = format!("{}: {} -> {}", one.key, one.before, one.after);
                page.paragraph("  ", told);
            }
            page.paragraph(
                "",
                "Both sides can be had on this machine as it runs, next to each other in \
                 blocks, which is the stronger evidence:",
            );
        }
        Rerun::Elsewhere(differs) => {
            for one in differs {
                page.paragraph("  ", format!("{}: {} -> {}", one.key, one.a, one.b));
            }
            page.paragraph(
                "",
                "That is not set on a running machine. Start the one and the other in turn \
                 (A B, B A, A B), six times each or more, run the first command in each start \
                 of the side before and the second in each of the side after, then compare:",
            );
        }
        Rerun::Unknown => page.paragraph(
            "",
            "Nothing that was observed of the machine differs between the two, so there are no \
             two sides to run. Another point of the series says whether the level stays:",
        ),
    }
    // Whole, however long: they are to be copied.
    let mut text = page.finish();
    for command in commands {
        text.push_str("  ");
        text.push_str(&crate::text::ascii(&command));
        text.push('\n');
    }
    text
}
