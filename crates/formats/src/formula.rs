//! Cells that a spreadsheet would execute as a formula: written as text, and restored when they are read.

use std::borrow::Cow;

/// Spreadsheets execute text that starts with one of these. The wide forms occur in East Asian text.
const STARTS_FORMULA: &[char] = &['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// The text for one cell. A leading apostrophe makes it text: spreadsheets hide it, and the import removes it. Quotes
/// alone do not stop a spreadsheet.
pub fn formula_guarded(text: &str) -> Cow<'_, str> {
    if text.trim_start_matches(' ').starts_with(STARTS_FORMULA) { format!("'{text}").into() } else { text.into() }
}

/// The original text of a cell that we or another exporter guarded.
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
    fn a_formula_is_written_as_text_and_read_back_unchanged() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\r=1", "＝1", "＋1", "－1", "＠A1"] {
            let guarded = formula_guarded(formula);
            assert!(guarded.starts_with('\''), "{formula:?}");
            assert_eq!(without_formula_guard(&guarded), formula);
        }
        assert_eq!(formula_guarded("A-ha = fine"), "A-ha = fine");
        assert_eq!(without_formula_guard("'Round Midnight"), "'Round Midnight");
    }
}
