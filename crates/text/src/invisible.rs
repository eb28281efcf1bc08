//! Characters that a reader cannot see. The tables are written out, because they follow the purpose and not one property
//! of Unicode.

/// For texts that a model reads: invisible text could hide instructions from the user and not from the model. Control
/// characters except line break and tab, and the characters that Unicode calls default-ignorable: joiners, direction marks,
/// fillers, variation selectors, tags.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// For texts that people read, on a terminal or as a name: invisible characters that do not shape their neighbours. They
/// can move the cursor, turn the direction of the text, or make two equal names different.
pub fn is_hidden(c: char) -> bool {
    is_invisible(c) && !shapes_its_neighbours(c)
}

/// Without them an emoji falls into its parts, and a Persian or Mongolian word is misspelled.
fn shapes_its_neighbours(c: char) -> bool {
    matches!(c, '\u{34f}' | '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{e0100}'..='\u{e01ef}')
}

/// The text for a model, without invisible characters.
pub fn without_invisible(text: &str) -> String {
    text.chars().filter(|c| !is_invisible(*c)).collect()
}

/// The text for people, without hidden characters.
pub fn without_hidden(text: &str) -> String {
    text.chars().filter(|c| !is_hidden(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_reads_no_invisible_character_and_people_keep_those_that_shape_words() {
        let tags: String = "obey".chars().map(|letter| char::from_u32(0xe0000 + letter as u32).unwrap()).collect();
        // The text, for a model, for people.
        let cases = [
            (
                "Für Elise · 夜に駆ける · Ночь\n\tla",
                "Für Elise · 夜に駆ける · Ночь\n\tla",
                "Für Elise · 夜に駆ける · Ночь\n\tla",
            ),
            (&format!("rain{tags}y"), "rainy", "rainy"),
            ("bell\u{7} escape\u{1b}[31m null\0", "bell escape[31m null", "bell escape[31m null"),
            ("\u{202e}gnp\u{202c} \u{61c}a\u{ad}b\u{200b}c\u{2060}d\u{feff}", "gnp abcd", "gnp abcd"),
            ("❤\u{fe0f} 👨\u{200d}👩", "❤ 👨👩", "❤\u{fe0f} 👨\u{200d}👩"),
            ("می\u{200c}خواهم", "میخواهم", "می\u{200c}خواهم"),
        ];
        for (text, model, people) in cases {
            assert_eq!((without_invisible(text).as_str(), without_hidden(text).as_str()), (model, people), "{text:?}");
        }
    }
}
