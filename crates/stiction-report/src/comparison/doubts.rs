//! What speaks against the numbers that are compared, each kind of doubt once.

use stiction_analysis::compare::Comparison;
use stiction_core::Caveat;

use crate::outcome::title;
use crate::page::{Page, Role, Span};

/// More phases than this are counted instead of named.
const NAMED: usize = 3;

/// Phases that share a kind of doubt.
struct Shared<'a> {
    /// Of the first of them.
    caveat: &'a Caveat,
    /// `A sequential read`
    phases: Vec<String>,
}

/// Each kind of doubt with the phases that have it, in order of appearance.
pub(super) fn write_doubts(page: &mut Page, comparisons: &[Comparison]) {
    let mut kinds: Vec<Shared<'_>> = Vec::new();
    let is_only = comparisons.len() == 1;
    for doubt in comparisons.iter().flat_map(|one| &one.doubts) {
        let side = match (is_only, doubt.in_a) {
            (true, true) => "A ",
            (true, false) => "B ",
            (false, _) => "",
        };
        let phase = format!("{side}{}", title(&doubt.phase));
        let same = |shared: &&mut Shared<'_>| shared.caveat.code == doubt.caveat.code;
        match kinds.iter_mut().find(same) {
            Some(shared) if shared.phases.contains(&phase) => {}
            Some(shared) => shared.phases.push(phase),
            None => kinds.push(Shared {
                caveat: &doubt.caveat,
                phases: vec![phase],
            }),
        }
    }
    if kinds.is_empty() {
        return;
    }
    page.blank();
    page.line(Span::new(Role::Strong, "Doubts"));
    for Shared { caveat, phases } in kinds {
        let which = match phases.len() {
            count if count > NAMED => format!("{count} phases"),
            _ => phases.join(", "),
        };
        let text = format!("{which} ({}): {}", caveat.code, caveat.detail);
        page.paragraph("- ", Span::new(Role::Doubt, text));
    }
}
