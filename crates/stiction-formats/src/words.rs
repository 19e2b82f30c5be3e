//! A line of words as a shell reads it, without what only a shell can do.

use std::iter::Peekable;
use std::str::Chars;

/// Why a line is not a list of words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WordsError {
    /// A quote is opened and not closed, or a backslash ends the line.
    #[error("`{line}`: {what} is not closed")]
    Open {
        /// The line.
        line: String,
        /// What is open: `a quote`.
        what: &'static str,
    },
    /// A character has a meaning to a shell, and there is none.
    #[error("`{line}`: only a shell understands `{character}`; quote it, or ask for a shell")]
    ForShell {
        /// The line.
        line: String,
        /// The character.
        character: char,
    },
}

/// Characters that are more than themselves to a shell (POSIX Shell Command Language,
/// 2.2), where they are not quoted.
const SHELL: &str = "|&;<>()$`*?[~#\n";

/// Splits `line` at blanks. Quotes and backslashes keep blanks, as in a shell; what else
/// a shell would do something about is refused rather than taken for itself.
///
/// # Errors
/// When a quote is open, or a character is for a shell.
pub fn split(line: &str) -> Result<Vec<String>, WordsError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => word
                .get_or_insert_default()
                .push_str(&until_single(&mut rest, line)?),
            '"' => word
                .get_or_insert_default()
                .push_str(&until_double(&mut rest, line)?),
            '\\' => word
                .get_or_insert_default()
                .push(rest.next().ok_or_else(|| open(line, "a backslash"))?),
            // In the middle of a word these two are themselves.
            '#' | '~' if word.is_some() => word.get_or_insert_default().push(character),
            _ if SHELL.contains(character) => return Err(for_shell(line, character)),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    Ok(words)
}

fn until_single(rest: &mut Peekable<Chars<'_>>, line: &str) -> Result<String, WordsError> {
    let mut text = String::new();
    loop {
        match rest.next() {
            Some('\'') => return Ok(text),
            Some(character) => text.push(character),
            None => return Err(open(line, "a quote")),
        }
    }
}

fn until_double(rest: &mut Peekable<Chars<'_>>, line: &str) -> Result<String, WordsError> {
    let mut text = String::new();
    loop {
        match rest.next() {
            Some('"') => return Ok(text),
            Some('\\') => match rest.peek() {
                Some('"' | '\\' | '$' | '`') => text.extend(rest.next()),
                _ => text.push('\\'),
            },
            Some(character @ ('$' | '`')) => return Err(for_shell(line, character)),
            Some(character) => text.push(character),
            None => return Err(open(line, "a quote")),
        }
    }
}

fn open(line: &str, what: &'static str) -> WordsError {
    WordsError::Open {
        line: line.to_owned(),
        what,
    }
}

fn for_shell(line: &str, character: char) -> WordsError {
    WordsError::ForShell {
        line: line.to_owned(),
        character,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `printf '<%s>' LINE` shows them in a shell.
    #[test]
    fn words_are_those_of_a_shell() {
        for (line, words) in [
            ("", &[][..]),
            ("  a\tb  ", &["a", "b"]),
            ("a 'b c' d", &["a", "b c", "d"]),
            (r#"--x="b c"d"#, &["--x=b cd"]),
            (r"a\ b \'c", &["a b", "'c"]),
            (r#""a\"b\\c\d""#, &[r#"a"b\c\d"#]),
            ("'' \"\"", &["", ""]),
            ("'$HOME|*' a#b c~", &["$HOME|*", "a#b", "c~"]),
            (r"\$5 \*", &["$5", "*"]),
        ] {
            assert_eq!(split(line).unwrap(), words, "{line}");
        }
    }

    #[test]
    fn what_only_a_shell_does_is_refused() {
        for (line, character) in [
            ("a | b", '|'),
            ("a > b", '>'),
            ("a; b", ';'),
            ("ls *.txt", '*'),
            ("echo $HOME", '$'),
            ("echo \"$HOME\"", '$'),
            ("cd ~", '~'),
            ("a # b", '#'),
            ("a & b", '&'),
        ] {
            assert_eq!(split(line), Err(for_shell(line, character)), "{line}");
        }
        for line in ["'a", "\"a", "a\\"] {
            assert!(
                matches!(split(line), Err(WordsError::Open { .. })),
                "{line}"
            );
        }
    }
}
