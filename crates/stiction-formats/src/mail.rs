//! What mail does to a table, undone: quoted-printable, quote marks, line ends.
//!
//! Lines that a mail program broke are put together again by the readers, who
//! know how a whole row looks; here only breaks that mark themselves are undone.

/// A line as its author wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Where it stands in the file, from 1; its first line when it was broken.
    pub(crate) number: usize,
    /// Without quote marks, line end and blanks at the end.
    pub(crate) text: String,
}

/// The lines of `text` without what mail added to them.
pub(crate) fn undo(text: &str) -> Vec<Line> {
    let raw: Vec<&str> = text
        .split('\n')
        .map(|line| line.trim_end_matches('\r'))
        .collect();
    let body = body_start(&raw);
    let encoded = is_quoted_printable(&raw[body..]);
    let mut lines: Vec<Line> = Vec::new();
    let mut continues = false;
    for (index, raw) in raw.iter().enumerate() {
        let soft = encoded && index >= body && raw.ends_with('=');
        let part = if encoded && index >= body {
            decode_escapes(raw.strip_suffix('=').unwrap_or(raw))
        } else {
            (*raw).to_owned()
        };
        match lines.last_mut() {
            Some(line) if continues => line.text.push_str(&part),
            _ => lines.push(Line {
                number: index + 1,
                text: part,
            }),
        }
        continues = soft;
    }
    for line in &mut lines {
        line.text = without_quotes(&line.text).trim_end().to_owned();
    }
    lines
}

/// The line after a mail's header: 0 where the text is no mail.
fn body_start(raw: &[&str]) -> usize {
    let is_mail = raw
        .first()
        .is_some_and(|line| line.starts_with("From ") || is_header(line));
    if !is_mail {
        return 0;
    }
    raw.iter()
        .position(|line| line.trim().is_empty())
        .unwrap_or(0)
}

/// Whether a line is one of a mail's header: `Subject: ...`.
pub(crate) fn is_header(line: &str) -> bool {
    const NAMES: &[&str] = &[
        "bcc",
        "cc",
        "date",
        "from",
        "in-reply-to",
        "list-id",
        "message-id",
        "mime-version",
        "received",
        "references",
        "reply-to",
        "return-path",
        "sender",
        "subject",
        "to",
        "user-agent",
    ];
    let Some((name, _)) = line.split_once(": ") else {
        return false;
    };
    let name = name.to_ascii_lowercase();
    NAMES.contains(&name.as_str()) || name.starts_with("content-") || name.starts_with("x-")
}

/// Whether lines are quoted-printable (RFC 2045, 6.7): every `=` begins an escape
/// or ends its line, and at least one breaks a line softly or stands for itself.
/// A text with a line of `=====` is not.
fn is_quoted_printable(raw: &[&str]) -> bool {
    let mut escapes = false;
    for line in raw {
        for (at, _) in line.match_indices('=') {
            let rest = &line.as_bytes()[at + 1..];
            match rest {
                [] => escapes |= at > 0,
                [high, low, ..] if is_hex(*high) && is_hex(*low) => {
                    escapes |= (*high, *low) == (b'3', b'D');
                }
                _ => return false,
            }
        }
    }
    escapes
}

/// A hexadecimal digit as quoted-printable writes them: capitals only.
fn is_hex(byte: u8) -> bool {
    byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte)
}

/// `=3D` as `=`. Bytes beyond ASCII become UTF-8 where they are, else Latin-1.
fn decode_escapes(line: &str) -> String {
    let mut bytes = Vec::with_capacity(line.len());
    let mut rest = line.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = match after {
            [high, low, behind @ ..] if first == b'=' && is_hex(*high) && is_hex(*low) => {
                bytes.push(hex_value(*high) << 4 | hex_value(*low));
                behind
            }
            _ => {
                bytes.push(first);
                after
            }
        };
    }
    crate::decode::decode(&bytes).into_owned()
}

fn hex_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => digit - b'A' + 10,
    }
}

/// Strips `>`, `> >`, `>>` and `AB> `. The head words `>2s` and `>10s` stay.
fn without_quotes(line: &str) -> &str {
    let mut rest = line;
    loop {
        let start = rest.trim_start();
        let initials = start
            .bytes()
            .take(3)
            .take_while(u8::is_ascii_uppercase)
            .count();
        let Some(behind) = start[initials..].strip_prefix('>') else {
            return rest;
        };
        if is_head_word(behind) {
            return rest;
        }
        rest = behind.strip_prefix(' ').unwrap_or(behind);
    }
}

/// Whether what stands behind a `>` makes it the head word `>2s` or `>10s`.
fn is_head_word(behind: &str) -> bool {
    let digits = behind.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && behind[digits..].starts_with('s')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        undo(text).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn quotes_are_stripped_from_the_lines_that_have_them() {
        let text = "he wrote:\n> a  1\r\n> > b  2\n>>c 3\nAB> d 4\n  > e\n>\nf > g";
        assert_eq!(
            texts(text),
            ["he wrote:", "a  1", "b  2", "c 3", "d 4", "e", "", "f > g"]
        );
    }

    #[test]
    fn head_words_are_not_quotes() {
        assert_eq!(texts(">2s     >10s  Eff"), [">2s     >10s  Eff"]);
        assert_eq!(texts("> >2s     >10s"), [">2s     >10s"]);
    }

    #[test]
    fn soft_breaks_are_joined_and_escapes_read() {
        let text = "Rate =3D MB/sec\n2.5.59   3.42  17.3=\n6%  83.976=20\nna=C3=AFve =EF\nend";
        let lines = undo(text);
        assert_eq!(lines[0].text, "Rate = MB/sec");
        assert_eq!(lines[1].text, "2.5.59   3.42  17.36%  83.976");
        assert_eq!((lines[1].number, lines[2].number), (2, 4));
        assert_eq!(lines[3].text, "end");
    }

    #[test]
    fn a_mail_header_does_not_hide_the_encoding_of_its_body() {
        let text = "Subject: x\nContent-Type: text/plain; charset=utf-8\n\n1.5=\n9 =3D a\n";
        assert_eq!(texts(text)[3], "1.59 = a");
    }

    #[test]
    fn rules_and_options_are_not_escapes() {
        for text in [
            "Unit information\n================\nRate =\nx",
            "--numruns=5 --block=4096 a=3D\nb",
        ] {
            assert_eq!(texts(text).join("\n"), text);
        }
    }

    #[test]
    fn bytes_beyond_utf_8_become_latin_1() {
        assert_eq!(texts("caf=E9 =3D 1"), ["caf\u{e9} = 1"]);
    }
}
