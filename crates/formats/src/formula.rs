//! Cells that a spreadsheet would run as a formula: written as text, and read as they were.

use std::borrow::Cow;

/// Spreadsheets run what begins with one of these; the wide forms are typed in East Asian text.
const STARTS_FORMULA: &[char] = &['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// A text for one cell. An apostrophe in front makes it text: spreadsheets hide it, and import takes it off again.
/// Quotes alone do not stop a spreadsheet.
pub fn formula_guarded(text: &str) -> Cow<'_, str> {
    if text.trim_start_matches(' ').starts_with(STARTS_FORMULA) { format!("'{text}").into() } else { text.into() }
}

/// A cell that was guarded by us or by another careful exporter, as it was before.
pub(crate) fn without_formula_guard(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if rest.trim_start_matches(' ').starts_with(STARTS_FORMULA) => rest,
        _ => cell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_text_in_a_spreadsheet_and_comes_back_unchanged() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\r=1", "＝1", "＋1", "－1", "＠A1"] {
            let guarded = formula_guarded(formula);
            assert!(guarded.starts_with('\''), "{formula:?}");
            assert_eq!(without_formula_guard(&guarded), formula);
        }
        assert_eq!(formula_guarded("A-ha = fine"), "A-ha = fine");
        assert_eq!(without_formula_guard("'Round Midnight"), "'Round Midnight");
    }
}
