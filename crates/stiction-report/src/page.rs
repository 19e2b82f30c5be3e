//! A report as it grows: lines, paragraphs and tables within the columns of a page.

use stiction_core::Subject;

use crate::text::{WIDTH, ascii, fit, wrap};

/// How emphasis is shown. The words say everything; colour only repeats it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Not at all: for files, mails and pipes.
    #[default]
    Plain,
    /// With ANSI escape sequences, for a terminal.
    Ansi,
}

/// What a piece of text is to the reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    #[default]
    Text,
    /// A title, a head, the answer.
    Strong,
    Good,
    Bad,
    /// Something to doubt.
    Doubt,
    /// What most readers skip.
    Faint,
}

impl Role {
    /// The role of a subject word.
    pub(crate) fn of(subject: Subject) -> Self {
        match subject {
            Subject::Disk => Self::Good,
            Subject::Cache | Subject::Limiter | Subject::Cpu | Subject::Unknown => Self::Doubt,
        }
    }

    /// ANSI "select graphic rendition" (ECMA-48, 8.3.117), empty for plain text.
    fn codes(self) -> &'static str {
        match self {
            Self::Text => "",
            Self::Strong => "1",
            Self::Good => "32",
            Self::Bad => "1;31",
            Self::Doubt => "33",
            Self::Faint => "2",
        }
    }
}

/// Where a column's texts stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// One column of a [`Table`].
pub(crate) struct Column {
    head: String,
    align: Align,
    /// Columns of text at most; longer cells lose their middle.
    widest: usize,
}

impl Column {
    pub(crate) fn left(head: impl Into<String>, widest: usize) -> Self {
        Self {
            head: head.into(),
            align: Align::Left,
            widest,
        }
    }

    pub(crate) fn right(head: impl Into<String>, widest: usize) -> Self {
        Self {
            head: head.into(),
            align: Align::Right,
            widest,
        }
    }
}

/// A text and its role.
#[derive(Clone, Debug, Default)]
pub(crate) struct Span {
    text: String,
    role: Role,
}

impl Span {
    pub(crate) fn new(role: Role, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            role,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Bytes of its text; columns where it is ASCII.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }
}

impl<T: Into<String>> From<T> for Span {
    fn from(text: T) -> Self {
        Self::new(Role::Text, text)
    }
}

/// Rows under column heads. Columns without any text are left out.
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Row>,
}

enum Row {
    Cells(Vec<Span>),
    /// A line of its own, which no column takes its width from.
    Note(Span),
}

impl Table {
    pub(crate) fn new(columns: Vec<Column>) -> Self {
        Self {
            columns,
            rows: Vec::new(),
        }
    }

    /// Adds a row; cells beyond the columns are dropped, missing ones are empty.
    pub(crate) fn row(&mut self, cells: Vec<Span>) {
        self.rows.push(Row::Cells(cells));
    }

    /// Adds a line across all columns.
    pub(crate) fn note(&mut self, span: impl Into<Span>) {
        self.rows.push(Row::Note(span.into()));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether the column of that head is there, because a row has text in it.
    pub(crate) fn shows(&self, head: &str) -> bool {
        let mut columns = self.columns.iter().zip(self.widths());
        columns.any(|(column, width)| column.head == head && width.is_some())
    }

    /// Width of each column that has text, `None` for those without.
    fn widths(&self) -> Vec<Option<usize>> {
        let cell_width = |row: &Row, index: usize| match row {
            Row::Cells(cells) => cells.get(index).map_or(0, |cell| cell.text.chars().count()),
            Row::Note(_) => 0,
        };
        self.columns
            .iter()
            .enumerate()
            .map(|(index, column)| {
                let widest = self.rows.iter().map(|row| cell_width(row, index)).max();
                let widest = widest.filter(|&width| width > 0)?;
                Some(widest.max(column.head.len()).min(column.widest))
            })
            .collect()
    }
}

/// A report under construction.
pub(crate) struct Page {
    style: Style,
    /// Columns that no line exceeds.
    width: usize,
    text: String,
}

impl Page {
    pub(crate) fn new(style: Style) -> Self {
        Self::of_width(style, WIDTH)
    }

    /// A page whose lines have at most `width` columns.
    pub(crate) fn of_width(style: Style, width: usize) -> Self {
        Self {
            style,
            width,
            text: String::new(),
        }
    }

    /// The report; it ends with a line's end.
    pub(crate) fn finish(self) -> String {
        self.text
    }

    /// Columns that no line exceeds.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Lines so far.
    pub(crate) fn lines(&self) -> usize {
        self.text.matches('\n').count()
    }

    pub(crate) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// One line, cut where the page ends.
    pub(crate) fn line(&mut self, span: impl Into<Span>) {
        self.spans([span.into()]);
    }

    /// One line of several pieces, cut where the page ends.
    pub(crate) fn spans(&mut self, spans: impl IntoIterator<Item = Span>) {
        let mut room = self.width;
        let mut line = String::new();
        for span in spans {
            let text = fit(&span.text, room);
            room -= text.len();
            line.push_str(&self.styled(span.role, &text));
        }
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// One line with `left` at its beginning and `right` at its end.
    pub(crate) fn edges(&mut self, left: impl Into<Span>, right: impl Into<Span>) {
        let (mut left, right) = (left.into(), right.into());
        let right = Span::new(right.role, fit(&right.text, self.width / 2));
        left.text = fit(&left.text, self.width - right.text.len() - 1);
        let gap = self.width - left.text.len() - right.text.len();
        self.spans([left, " ".repeat(gap).into(), right]);
    }

    /// Text in as many lines as it takes, the first after `first`, the others
    /// under its end.
    pub(crate) fn paragraph(&mut self, first: &str, span: impl Into<Span>) {
        self.paragraph_after(&first.into(), span);
    }

    /// The same with a role for what stands before the first line.
    pub(crate) fn paragraph_after(&mut self, first: &Span, span: impl Into<Span>) {
        let span = span.into();
        let mut before = Span::new(first.role, fit(&first.text, self.width / 2));
        let indent = before.text.len();
        for line in wrap(&span.text, self.width - indent) {
            self.spans([before, Span::new(span.role, line)]);
            before = " ".repeat(indent).into();
        }
    }

    /// The table, indented by `indent` columns.
    pub(crate) fn table(&mut self, indent: usize, table: &Table) {
        let widths = table.widths();
        let heads: Vec<Span> = table
            .columns
            .iter()
            .map(|column| Span::new(Role::Faint, column.head.as_str()))
            .collect();
        if table.columns.iter().any(|column| !column.head.is_empty()) {
            self.row(indent, &table.columns, &widths, &heads);
        }
        for row in &table.rows {
            match row {
                Row::Cells(cells) => self.row(indent, &table.columns, &widths, cells),
                Row::Note(span) => self.spans([" ".repeat(indent).into(), span.clone()]),
            }
        }
    }

    fn row(&mut self, indent: usize, columns: &[Column], widths: &[Option<usize>], row: &[Span]) {
        let mut spans = vec![Span::from(" ".repeat(indent))];
        let empty = Span::default();
        for (index, (column, width)) in columns.iter().zip(widths).enumerate() {
            let Some(width) = *width else { continue };
            let cell = row.get(index).unwrap_or(&empty);
            let text = fit(&cell.text, width);
            let pad = " ".repeat(width - text.len());
            if spans.len() > 1 {
                spans.push(" ".into());
            }
            match column.align {
                Align::Left => spans.extend([Span::new(cell.role, text), pad.into()]),
                Align::Right => spans.extend([pad.into(), Span::new(cell.role, text)]),
            }
        }
        self.spans(spans);
    }

    fn styled(&self, role: Role, text: &str) -> String {
        let text = ascii(text);
        match (self.style, role.codes()) {
            (Style::Ansi, codes) if !codes.is_empty() && !text.trim().is_empty() => {
                format!("\u{1b}[{codes}m{text}\u{1b}[0m")
            }
            _ => text.into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_adds_sequences_and_takes_nothing_away() {
        let write = |style| {
            let mut page = Page::new(style);
            page.edges(Span::new(Role::Strong, "left"), "right");
            let mut table = Table::new(vec![Column::left("what", 6), Column::right("rate", 9)]);
            table.row(vec![Span::new(Role::Good, "disk"), "1 MiB/s".into()]);
            page.table(2, &table);
            page.finish()
        };
        let plain = write(Style::Plain);
        let ansi = write(Style::Ansi);
        assert!(ansi.contains("\u{1b}[32mdisk\u{1b}[0m"));
        let mut bare = ansi;
        for codes in ["0", "1", "2", "32"] {
            bare = bare.replace(&format!("\u{1b}[{codes}m"), "");
        }
        assert_eq!(bare, plain);
        assert_eq!(
            plain,
            format!(
                "left{}right\n  what    rate\n  disk 1 MiB/s\n",
                " ".repeat(71)
            )
        );
    }

    #[test]
    fn columns_without_text_are_left_out_and_long_cells_lose_their_middle() {
        let mut table = Table::new(vec![
            Column::left("name", 9),
            Column::right("none", 9),
            Column::right("n", 3),
        ]);
        table.row(vec!["abcdefghijkl".into(), "".into(), "12".into()]);
        table.row(vec!["x".into()]);
        let mut page = Page::new(Style::Plain);
        page.table(0, &table);
        assert_eq!(page.finish(), "name       n\nabcd..jkl 12\nx\n");
    }

    #[test]
    fn paragraphs_hang_under_their_beginning() {
        let mut page = Page::new(Style::Plain);
        page.paragraph("  - ", "word ".repeat(20).trim_end());
        let text = page.finish();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("  - word") && lines[1].starts_with("    word"));
        assert!(lines.iter().all(|line| line.len() <= WIDTH));
    }
}
