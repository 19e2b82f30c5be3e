//! One file, with its code, comments and strings told apart.

/// A file's text, and views of it in which everything else is blanked.
pub(super) struct Source {
    /// Relative to the workspace's root.
    pub(super) path: String,
    pub(super) text: String,
    /// The text without comments and without what stands inside quotes.
    code: String,
    /// The comments alone.
    comments: String,
    /// The line, counted from 1, at which the tests of the file begin.
    tests_from: usize,
}

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Self {
        let (code, comments) = if is_rust(path) {
            split(text)
        } else {
            (String::new(), String::new())
        };
        let tests_from = if is_test_file(path) {
            1
        } else {
            first_test_line(&code)
        };
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            code,
            comments,
            tests_from,
        }
    }

    pub(super) fn is_rust(&self) -> bool {
        is_rust(&self.path)
    }

    /// Lines of code with their numbers: no comments, nothing inside quotes.
    pub(super) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        numbered(&self.code)
    }

    /// Lines of code that are not part of a test.
    pub(super) fn product_code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code().take_while(|(line, _)| *line < self.tests_from)
    }

    /// Lines of code that are part of a test.
    pub(super) fn test_code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code().skip_while(|(line, _)| *line < self.tests_from)
    }

    /// What the comments say, with line numbers.
    pub(super) fn comments(&self) -> impl Iterator<Item = (usize, &str)> {
        numbered(&self.comments)
    }

    /// Every line as it stands, with its number.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        numbered(&self.text)
    }
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
}

fn is_rust(path: &str) -> bool {
    path.ends_with(".rs")
}

/// Files that are tests as a whole.
fn is_test_file(path: &str) -> bool {
    is_rust(path) && (path.contains("/tests/") || path.ends_with("/tests.rs"))
}

/// Where an inline `#[cfg(test)] mod name {` begins; by custom it ends its file.
fn first_test_line(code: &str) -> usize {
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    lines
        .windows(2)
        .position(|pair| {
            pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{')
        })
        .map_or(usize::MAX, |index| index + 1)
}

/// What a character of a Rust file belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    Quoted,
}

/// The code and the comments of a Rust file, each the length of the whole: what
/// belongs to the other, or stands inside quotes, is blank.
fn split(text: &str) -> (String, String) {
    let chars: Vec<char> = text.chars().collect();
    let kinds = classify(&chars);
    let view = |kind: Kind| -> String {
        chars
            .iter()
            .zip(&kinds)
            .map(|(&c, &k)| if k == kind || c == '\n' { c } else { ' ' })
            .collect()
    };
    (view(Kind::Code), view(Kind::Comment))
}

fn classify(chars: &[char]) -> Vec<Kind> {
    let mut kinds = Vec::with_capacity(chars.len());
    while kinds.len() < chars.len() {
        let at = kinds.len();
        let (kind, length) = next_piece(chars, at);
        let end = (at + length).min(chars.len());
        kinds.resize(end, kind);
    }
    kinds
}

/// The kind and length of the piece that starts at `at`.
fn next_piece(chars: &[char], at: usize) -> (Kind, usize) {
    let rest = &chars[at..];
    match rest {
        ['/', '/', ..] => (Kind::Comment, length_to(rest, '\n')),
        ['/', '*', ..] => (Kind::Comment, block_comment(rest)),
        ['"', ..] => (Kind::Quoted, string(rest)),
        ['\'', '\\', tail @ ..] => {
            // The escaped character itself may be a quote.
            let closing = tail.iter().skip(1).position(|&c| c == '\'');
            (Kind::Quoted, closing.map_or(rest.len(), |i| i + 4))
        }
        ['\'', _, '\'', ..] => (Kind::Quoted, 3),
        ['r', ..] if !continues_a_word(chars, at) => match raw_string(&rest[1..]) {
            Some(length) => (Kind::Quoted, length + 1),
            None => (Kind::Code, 1),
        },
        _ => (Kind::Code, 1),
    }
}

/// Whether the character before `at` makes an `r` there part of a longer name. In
/// `br"..."` and `cr"..."` it does not.
fn continues_a_word(chars: &[char], at: usize) -> bool {
    let word = |index: usize| chars[index].is_alphanumeric() || chars[index] == '_';
    match at {
        0 => false,
        _ if matches!(chars[at - 1], 'b' | 'c') => at >= 2 && word(at - 2),
        _ => word(at - 1),
    }
}

fn length_to(chars: &[char], end: char) -> usize {
    chars.iter().position(|&c| c == end).unwrap_or(chars.len())
}

fn block_comment(chars: &[char]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < chars.len() {
        match &chars[at..] {
            ['/', '*', ..] => {
                depth += 1;
                at += 2;
            }
            ['*', '/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    chars.len()
}

fn string(chars: &[char]) -> usize {
    let mut at = 1;
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

/// The length of `#*"..."#*`, or nothing if that is not what follows an `r`.
fn raw_string(chars: &[char]) -> Option<usize> {
    let hashes = chars.iter().take_while(|&&c| c == '#').count();
    if chars.get(hashes) != Some(&'"') {
        return None;
    }
    let closes = |at: usize| {
        chars[at] == '"'
            && chars[at + 1..].len() >= hashes
            && chars[at + 1..at + 1 + hashes].iter().all(|&c| c == '#')
    };
    let end = (hashes + 1..chars.len()).find(|&at| closes(at));
    Some(end.map_or(chars.len(), |at| at + 1 + hashes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        split(text).0
    }

    #[test]
    fn comments_are_not_code() {
        let (code, comments) = split("a; // unsafe\nb; /* x /* y */ z */ c;\n");
        assert_eq!(code, "a;          \nb;                   c;\n");
        assert_eq!(comments, "   // unsafe\n   /* x /* y */ z */   \n");
    }

    #[test]
    fn what_stands_in_quotes_is_not_code() {
        assert_eq!(code(r#"f("// no \" unsafe") ;"#), "f(                 ) ;");
        assert_eq!(
            code(r##"f(r#"a "quoted" b"#, x)"##),
            "f(                 , x)"
        );
        assert_eq!(code("f(br\"unsafe\")"), "f(b         )");
        assert_eq!(code("let attr\"x\""), "let attr   ");
    }

    #[test]
    fn characters_are_told_from_lifetimes() {
        assert_eq!(code("x == '\"' && y"), "x ==     && y");
        assert_eq!(code(r"x == '\'' && y"), "x ==      && y");
        assert_eq!(code(r"x == '\u{1f}' && y"), "x ==          && y");
        assert_eq!(code("fn f<'a>(x: &'a str)"), "fn f<'a>(x: &'a str)");
    }

    #[test]
    fn the_tests_of_a_file_begin_at_their_module() {
        let text = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n";
        let source = Source::new("crates/x/src/a.rs", text);
        let product: Vec<usize> = source.product_code().map(|(line, _)| line).collect();
        let tests: Vec<usize> = source.test_code().map(|(line, _)| line).collect();
        assert_eq!(product, [1, 2]);
        assert_eq!(tests, [3, 4, 5, 6]);

        let whole = Source::new("crates/x/tests/a.rs", text);
        assert_eq!(whole.product_code().count(), 0);
        let apart = Source::new(
            "crates/x/src/lib.rs",
            "#[cfg(test)]\nmod tests;\nfn a() {}\n",
        );
        assert_eq!(apart.test_code().count(), 0);
    }
}
