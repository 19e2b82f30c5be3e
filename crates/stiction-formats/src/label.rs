//! What figures are figures of: kernels, filesystems, and titles above tables.

use crate::command::Command;
use crate::page::Page;

/// Filesystems that stand behind a name or in a title.
const FILESYSTEMS: &[&str] = &[
    "bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "nfs", "nilfs2", "reiser4",
    "reiserfs", "tmpfs", "vfat", "xfs", "zfs",
];

/// Longest text that is taken for a title.
const TITLE_LENGTH_MAX: usize = 72;

/// The filesystem that `word` names, in small letters.
pub(crate) fn filesystem(word: &str) -> Option<String> {
    let word = word.to_ascii_lowercase();
    FILESYSTEMS.contains(&word.as_str()).then_some(word)
}

/// Splits `2.4.20-pre7(EXT2)` into the name and the filesystem.
pub(crate) fn split_filesystem(name: &str) -> (&str, Option<String>) {
    let split = name
        .strip_suffix(')')
        .and_then(|name| name.rsplit_once('('))
        .and_then(|(before, inside)| Some((before.trim_end(), filesystem(inside)?)));
    match split {
        Some((before, found)) if !before.is_empty() => (before, Some(found)),
        _ => (name, None),
    }
}

/// Whether a name is that of a kernel: three numbers with points between, or two
/// and `-rc`, after an optional `linux-`.
pub(crate) fn looks_like_kernel(name: &str) -> bool {
    let name = name.trim();
    let release = name
        .strip_prefix("linux-")
        .or_else(|| name.strip_prefix("Linux "))
        .unwrap_or(name);
    let (numbers, rest) = leading_numbers(release);
    numbers >= 3 || (numbers == 2 && rest.starts_with("-rc"))
}

/// How many numbers with points between begin `text`, and what follows them.
fn leading_numbers(text: &str) -> (usize, &str) {
    let mut rest = text;
    let mut numbers = 0;
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return (numbers, rest);
        }
        numbers += 1;
        rest = &rest[digits..];
        match rest.strip_prefix('.') {
            Some(after) if after.starts_with(|c: char| c.is_ascii_digit()) => rest = after,
            _ => return (numbers, rest),
        }
    }
}

/// Whether a line is nothing but a rule.
pub(crate) fn is_rule(text: &str) -> bool {
    let text = text.trim();
    text.len() >= 3 && text.bytes().all(|byte| b"-=~_*#".contains(&byte))
}

/// The nearest title above each line of a page.
pub(crate) struct Titles(Vec<Option<usize>>);

impl Titles {
    /// The titles among the lines that nobody else has claimed: a kernel's name on a
    /// line of its own, an underlined line or a heading.
    pub(crate) fn of(page: &Page) -> Self {
        let mut nearest = None;
        let above = (0..page.len()).map(|index| {
            let above = nearest;
            if title(page, index).is_some() {
                nearest = Some(index);
            }
            above
        });
        Self(above.collect())
    }

    /// The title above line `index`. Claims its line.
    pub(crate) fn claim_above(&self, page: &mut Page, index: usize) -> Option<String> {
        let found = self.0.get(index).copied().flatten()?;
        let text = title(page, found)?.to_owned();
        page.claim_label(found);
        Some(text)
    }
}

/// The title that line `index` is, if it is one.
fn title(page: &Page, index: usize) -> Option<&str> {
    let line = page.text(index).trim();
    if !page.may_be_label(index) || line.is_empty() || line.len() > TITLE_LENGTH_MAX {
        return None;
    }
    if Command::parse(index, line).is_some() {
        return None;
    }
    if let Some(heading) = line.strip_prefix('#') {
        let heading = heading.trim_start_matches('#');
        return heading
            .starts_with(' ')
            .then(|| heading.trim())
            .filter(|heading| !heading.is_empty());
    }
    let text = line.trim_end_matches(':').trim_end();
    let is_kernel = !text.contains(char::is_whitespace) && looks_like_kernel(text);
    let is_underlined = !is_rule(line) && is_rule(page.text(index + 1));
    ((is_kernel || is_underlined) && text.contains(char::is_alphanumeric)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_told_from_figures_and_words() {
        for name in [
            "2.4.20aa1",
            "2.5.59-mm2",
            "linux-2.6.0-test9",
            "2.5.7.virgin",
            "6.1-rc3",
            "2.5.25+some stuff",
        ] {
            assert!(looks_like_kernel(name), "{name}");
        }
        for name in ["58.87", "foo", "32.39%", "", "1.", "v2.5", "3:20.94"] {
            assert!(!looks_like_kernel(name), "{name}");
        }
    }

    #[test]
    fn filesystems_in_parentheses_are_split_off() {
        assert_eq!(
            split_filesystem("2.4.20-pre7(EXT2)"),
            ("2.4.20-pre7", Some("ext2".to_owned()))
        );
        assert_eq!(split_filesystem("2.4.20(smp)"), ("2.4.20(smp)", None));
        assert_eq!(split_filesystem("(ext2)"), ("(ext2)", None));
    }

    #[test]
    fn the_nearest_title_above_names_the_figures() {
        let text = "2.5.7.aa\n\nsome prose\nfigures\n\nplain ZFS\n=====\nfigures\n## LUKS\nfigures";
        let mut page = Page::new(text);
        let titles = Titles::of(&page);
        for (index, above) in [
            (3, Some("2.5.7.aa")),
            (4, Some("2.5.7.aa")),
            (7, Some("plain ZFS")),
            (9, Some("LUKS")),
            (0, None),
        ] {
            assert_eq!(titles.claim_above(&mut page, index).as_deref(), above);
        }
        assert_eq!(page.lines_read(), 3);
    }

    #[test]
    fn a_prompt_is_no_heading() {
        let page = Page::new("# tiotest -t 8\nfigures");
        assert_eq!(Titles::of(&page).0, [None, None]);
    }
}
