//! Text that any terminal, mail or log can show: ASCII, one line, of known width.

use std::borrow::Cow;

/// Columns that no line of a report exceeds. The classic tiobench tables, whose
/// layout is given, are wider.
pub const WIDTH: usize = 80;

/// `1 job`, `2 jobs`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// `text` with everything replaced that is not a printable ASCII character: names
/// come from directories and from other people's files, and may hold control
/// sequences.
pub(crate) fn ascii(text: &str) -> Cow<'_, str> {
    let printable = |c: char| c == ' ' || c.is_ascii_graphic();
    if text.chars().all(printable) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| match c {
        '\t' | '\n' | '\r' => ' ',
        c if printable(c) => c,
        _ => '?',
    };
    Cow::Owned(text.chars().map(shown).collect())
}

/// `text` as HTML and XML take it, in elements and in attributes between double quotes.
pub(crate) fn markup(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// `text` in at most `width` columns; what does not fit is marked by two dots in
/// the middle, since names differ at their ends.
pub(crate) fn fit(text: &str, width: usize) -> String {
    let text = ascii(text);
    let length = text.len();
    if length <= width {
        return text.into_owned();
    }
    if width < 5 {
        return text[..width].to_owned();
    }
    let kept = width - 2;
    let tail = kept / 2;
    let head = kept - tail;
    format!("{}..{}", &text[..head], &text[length - tail..])
}

/// `text` in lines of at most `width` columns, broken at blanks; longer words are
/// broken where they must be.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    for word in ascii(text).split(' ').filter(|word| !word.is_empty()) {
        let mut rest = word;
        loop {
            let line = lines.last_mut().expect("never empty");
            let gap = usize::from(!line.is_empty());
            if line.len() + gap + rest.len() <= width {
                if gap == 1 {
                    line.push(' ');
                }
                line.push_str(rest);
                break;
            }
            if line.is_empty() {
                let (head, tail) = rest.split_at(width);
                line.push_str(head);
                rest = tail;
            }
            lines.push(String::new());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_as_a_question_mark() {
        assert_eq!(ascii("a\u{1b}[31mb\u{e9}\u{202e}"), "a?[31mb??");
        assert_eq!(ascii("two\nlines\tof"), "two lines of");
        assert!(matches!(ascii("plain ~text"), Cow::Borrowed(_)));
    }

    #[test]
    fn names_are_not_markup() {
        assert_eq!(
            markup("<a href=\"x\">&"),
            "&lt;a href=&quot;x&quot;&gt;&amp;"
        );
    }

    #[test]
    fn names_keep_both_ends() {
        assert_eq!(fit("/srv/a-long-name/data", 21), "/srv/a-long-name/data");
        assert_eq!(fit("/srv/a-long-name/data", 12), "/srv/../data");
        assert_eq!(fit("abcdef", 3), "abc");
    }

    #[test]
    fn lines_break_at_blanks_and_words_only_when_they_must() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a abcdefgh", 4), ["a", "abcd", "efgh"]);
        assert_eq!(wrap("", 4), [""]);
    }

    proptest! {
        #[test]
        fn no_line_is_too_long_and_no_word_is_lost(text in "\\PC{0,200}", width in 1usize..90) {
            let lines = wrap(&text, width);
            prop_assert!(lines.iter().all(|line| line.len() <= width && line.is_ascii()));
            let squeeze = |text: &str| text.replace(' ', "");
            prop_assert_eq!(squeeze(&lines.concat()), squeeze(&ascii(&text)));
            prop_assert!(fit(&text, width).len() <= width);
        }
    }
}
