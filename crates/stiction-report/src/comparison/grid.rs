//! Rows of figures under heads, where nothing is cut: a name that the figures leave no
//! room for has a line of its own, and figures that do not fit go on in the next.

use crate::page::{Page, Role, Span};
use crate::text::{ascii, fit};

/// Columns that a figure may take. Only what nobody can measure is longer.
const WIDEST_CELL: usize = 30;
/// Columns that a head may be wider than what stands under it.
const WIDEST_HEAD: usize = 14;
/// Columns before what goes on in a line of its own.
const INDENT: usize = 4;

/// The head of a column of figures.
#[derive(Clone, Debug)]
pub(super) struct Head {
    text: String,
    /// What stands for a text that is too long; what it stands for is told above.
    letter: Option<&'static str>,
}

impl Head {
    /// A word of ours.
    pub(super) fn of(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            letter: None,
        }
    }

    /// Somebody's name, with the letter that may stand for it.
    pub(super) fn named(name: &str, letter: &'static str) -> Self {
        Self {
            text: ascii(name).into_owned(),
            letter: Some(letter),
        }
    }
}

/// One row.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// What stands before the name.
    pub(super) mark: &'static str,
    /// Of the mark, and of the figure that the grid emphasises.
    pub(super) role: Role,
    pub(super) name: String,
    pub(super) cells: Vec<String>,
    /// What stands beneath it.
    pub(super) notes: Vec<String>,
}

/// Rows under heads.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    /// The head of the names.
    pub(super) name_head: String,
    pub(super) heads: Vec<Head>,
    /// The column whose figures have the row's role.
    pub(super) emphasised: usize,
    /// Whether a line of dashes stands under the heads.
    pub(super) ruled: bool,
    pub(super) lines: Vec<Line>,
}

/// The widths that a grid comes to.
struct Widths {
    mark: usize,
    name: usize,
    /// 0 for a column without figures, which is left out.
    cells: Vec<usize>,
    gap: usize,
}

impl Grid {
    /// Writes the grid; nothing where it has no rows.
    pub(super) fn write(mut self, page: &mut Page) {
        if self.lines.is_empty() {
            return;
        }
        for line in &mut self.lines {
            line.name = ascii(&line.name).into_owned();
            for cell in &mut line.cells {
                *cell = fit(cell, WIDEST_CELL);
            }
        }
        let under: Vec<usize> = (0..self.heads.len())
            .map(|column| self.under(column))
            .collect();
        for (head, under) in self.heads.iter_mut().zip(&under) {
            if let Some(letter) = head.letter
                && *under > 0
                && head.text.len() > (*under).max(WIDEST_HEAD)
            {
                page.paragraph(&format!("  {letter} is "), head.text.as_str());
                head.text = letter.to_owned();
            }
        }
        let widths = self.widths(page.width(), &under);
        self.write_heads(page, &widths);
        for line in &self.lines {
            self.write_line(page, line, &widths);
        }
    }

    /// The widest figure of a column.
    fn under(&self, column: usize) -> usize {
        let cells = self.lines.iter().filter_map(|line| line.cells.get(column));
        cells.map(String::len).max().unwrap_or(0)
    }

    fn widths(&self, page: usize, under: &[usize]) -> Widths {
        let cells: Vec<usize> = self
            .heads
            .iter()
            .zip(under)
            .map(|(head, &under)| {
                if under == 0 {
                    0
                } else {
                    under.max(head.text.len())
                }
            })
            .collect();
        let columns = cells.iter().filter(|width| **width > 0).count();
        let marked = self.lines.iter().any(|line| !line.mark.is_empty());
        let mark = if marked { 2 } else { 0 };
        let names = self.lines.iter().map(|line| line.name.len());
        let name = names.max().unwrap_or(0).max(self.name_head.len());
        let figures: usize = cells.iter().sum();
        let total = |gap: usize| mark + figures + gap * columns;
        let gap = if total(2) + name <= page { 2 } else { 1 };
        Widths {
            mark,
            name: name.min(page.saturating_sub(total(gap))),
            cells,
            gap,
        }
    }

    fn write_heads(&self, page: &mut Page, widths: &Widths) {
        let heads: Vec<&str> = self.heads.iter().map(|head| head.text.as_str()).collect();
        let name = fit(&self.name_head, widths.name);
        self.figures(page, widths, (Span::default(), &name), &heads, |_| {
            Role::Faint
        });
        if self.ruled {
            let dashes: Vec<String> = widths
                .cells
                .iter()
                .map(|width| "-".repeat(*width))
                .collect();
            let dashes: Vec<&str> = dashes.iter().map(String::as_str).collect();
            let name = "-".repeat(widths.name);
            self.figures(page, widths, (Span::default(), &name), &dashes, |_| {
                Role::Faint
            });
        }
    }

    fn write_line(&self, page: &mut Page, line: &Line, widths: &Widths) {
        let mut mark = Span::new(line.role, line.mark);
        let mut name = line.name.as_str();
        if name.len() > widths.name {
            let before = Span::new(line.role, format!("{:1$}", line.mark, widths.mark));
            page.paragraph_after(&before, name);
            (mark, name) = (Span::default(), "");
        }
        let cells: Vec<&str> = line.cells.iter().map(String::as_str).collect();
        let role = |column| {
            if column == self.emphasised {
                line.role
            } else {
                Role::Text
            }
        };
        self.figures(page, widths, (mark, name), &cells, role);
        for note in &line.notes {
            page.paragraph("    ", Span::new(Role::Faint, note.as_str()));
        }
    }

    /// One line of texts in their columns; what does not fit goes on in the next.
    fn figures(
        &self,
        page: &mut Page,
        widths: &Widths,
        (mark, name): (Span, &str),
        cells: &[&str],
        role: impl Fn(usize) -> Role,
    ) {
        let pad = widths.mark - mark.len();
        let mut spans = vec![mark, " ".repeat(pad).into()];
        spans.push(format!("{name:0$}", widths.name).into());
        let mut used = widths.mark + widths.name;
        for (column, width) in widths
            .cells
            .iter()
            .enumerate()
            .filter(|(_, width)| **width > 0)
        {
            if used + widths.gap + width > page.width() {
                page.spans(std::mem::take(&mut spans));
                spans.push(" ".repeat(INDENT).into());
                used = INDENT;
            }
            let cell = cells.get(column).copied().unwrap_or_default();
            let pad = widths.gap + width - cell.len();
            spans.push(" ".repeat(pad).into());
            spans.push(Span::new(role(column), cell));
            used += widths.gap + width;
        }
        page.spans(spans);
    }
}
