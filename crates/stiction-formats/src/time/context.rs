//! What stands above times: the command that was timed, or a label.

use crate::harvest::Harvest;
use crate::page::Page;

/// Longest text that is taken for a command.
const COMMAND_LENGTH_MAX: usize = 400;
/// Lines of a loop at most.
const LOOP_LINES_MAX: usize = 12;

/// What is known of times from the lines above them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Context {
    /// The command that was timed.
    pub(super) command: Option<String>,
    /// A line with a colon at its end just above.
    pub(super) label: Option<String>,
    /// What the command makes doubtful.
    pub(super) note: Option<String>,
}

impl Context {
    /// Reads what stands above line `index`, and claims it.
    pub(super) fn above(page: &mut Page, harvest: &mut Harvest, index: usize) -> Self {
        let Some(last) = last_text_above(page, index) else {
            return Self::default();
        };
        if let Some((first, text)) = shell_loop(page, last) {
            (first..=last).for_each(|line| page.claim(line));
            let note = parallel_jobs(&text).map(|jobs| {
                let note = format!(
                    "{jobs} jobs ran at once; the text does not say whether the CPU time is \
                     that of one or of all"
                );
                harvest.say(format!("line {}: {note}", page.number(first)));
                note
            });
            return Self {
                command: Some(text),
                label: None,
                note,
            };
        }
        if let Some((command, remark)) = timed_command(page.text(last)) {
            page.claim(last);
            if let Some(remark) = remark {
                harvest.state("remark", remark);
            }
            return Self {
                command: Some(command),
                ..Self::default()
            };
        }
        let label = (last + 1 == index)
            .then(|| label(page.text(last)))
            .flatten();
        if label.is_some() {
            page.claim_label(last);
        }
        Self {
            label,
            ..Self::default()
        }
    }
}

/// The open line with text nearest above, with at most two blank lines between.
fn last_text_above(page: &Page, index: usize) -> Option<usize> {
    let nearest = (index.saturating_sub(3)..index).rev();
    let mut texts = nearest.filter(|&line| !page.is_blank(line));
    texts.next().filter(|&line| page.may_be_label(line))
}

/// A shell loop whose last line is `last`: where it begins, and its text.
fn shell_loop(page: &Page, last: usize) -> Option<(usize, String)> {
    if page.words(last).last() != Some(&"done") {
        return None;
    }
    let first = (last.saturating_sub(LOOP_LINES_MAX)..=last)
        .rev()
        .take_while(|&line| page.is_open(line) && !page.is_blank(line))
        .find(|&line| matches!(page.words(line).first(), Some(&("for" | "while"))))?;
    let words: Vec<&str> = (first..=last).flat_map(|line| page.words(line)).collect();
    let text = words.join(" ");
    (text.len() <= COMMAND_LENGTH_MAX).then_some((first, text))
}

/// How many jobs a loop `for i in a b c do ... & done` starts at once.
fn parallel_jobs(text: &str) -> Option<usize> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let from = words.iter().position(|word| *word == "in")? + 1;
    let to = words.iter().position(|word| matches!(*word, "do" | ";"))?;
    (to > from + 1 && words[to..].contains(&"&")).then(|| to - from)
}

/// The command of `time testo (remark)` or `$ time testo`, and the remark.
fn timed_command(text: &str) -> Option<(String, Option<String>)> {
    let text = text.trim();
    let after_prompt = text
        .strip_prefix("$ ")
        .or_else(|| text.strip_prefix("# "))
        .or_else(|| text.strip_prefix("% "));
    let text = after_prompt.unwrap_or(text);
    let command = text
        .strip_prefix("time ")
        .or_else(|| text.strip_prefix("/usr/bin/time "))
        .or(after_prompt)?;
    let (command, remark) = match command.strip_suffix(')').and_then(|c| c.split_once(" (")) {
        Some((command, remark)) => (command, Some(remark.to_owned())),
        None => (command, None),
    };
    let command = command.trim();
    let fits = !command.is_empty() && command.len() <= COMMAND_LENGTH_MAX;
    fits.then(|| (command.to_owned(), remark))
}

/// A few words and a colon.
fn label(text: &str) -> Option<String> {
    let label = text.trim().strip_suffix(':')?.trim();
    let words = label.split_whitespace().count();
    (1..=6).contains(&words).then(|| label.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn above(text: &str) -> (Context, usize) {
        let mut page = Page::new(text);
        let mut harvest = Harvest::new(&page);
        let index = page.len();
        let context = Context::above(&mut page, &mut harvest, index);
        (context, page.lines_read())
    }

    #[test]
    fn commands_labels_and_loops_are_told_apart() {
        let (context, lines) = above("time testo (mv tree)\n");
        assert_eq!(context.command.as_deref(), Some("testo"));
        assert_eq!(lines, 1);
        let (context, _) = above("$ make -j 4");
        assert_eq!(context.command.as_deref(), Some("make -j 4"));
        let (context, _) = above("with 4 KiB blocks:");
        assert_eq!(context.label.as_deref(), Some("with 4 KiB blocks"));
        assert_eq!(above("some sentence.\n\n"), (Context::default(), 0));
    }

    #[test]
    fn jobs_started_at_once_are_noted() {
        let (context, lines) = above("for i in a b c\ndo\n\tx -f /mnt/$i/foo &\ndone\n\n");
        assert_eq!(
            context.command.as_deref(),
            Some("for i in a b c do x -f /mnt/$i/foo & done")
        );
        assert!(context.note.unwrap().starts_with("3 jobs"));
        assert_eq!(lines, 4);
        let (context, _) = above("for i in a b c; do x; done");
        assert_eq!(context.note, None);
    }
}
