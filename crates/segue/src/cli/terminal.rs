//! The output of commands: the result on stdout, as text or JSON. Control sequences are removed, because they could move
//! the cursor, change the window title or hide text.

use std::io::Write;

use serde_json::Value;

/// The result of a command, for a person and for a program.
pub(super) struct CommandOutput {
    pub(super) text: String,
    pub(super) json: Value,
}

impl CommandOutput {
    pub(super) fn print(&self, as_json: bool) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        if as_json {
            serde_json::to_writer_pretty(&mut out, &self.json)?;
            writeln!(out)?;
        } else {
            writeln!(out, "{}", shown(&self.text))?;
        }
        Ok(())
    }
}

/// `text` without characters that act on the terminal.
pub(super) fn shown(text: &str) -> String {
    text::without_hidden(text)
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn a_text_cannot_act_on_the_terminal() {
        let cases = [
            ("Für Elise · 夜に駆ける\n\t❤\u{fe0f} 👨\u{200d}👩", "Für Elise · 夜に駆ける\n\t❤\u{fe0f} 👨\u{200d}👩"),
            ("\x1b]0;title\x07red\x1b[31m", "]0;titlered[31m"),
            ("over\rwritten\x08", "overwritten"),
            ("\u{9b}2Jgone", "2Jgone"),
            ("\u{202e}gnp.exe", "gnp.exe"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }
}
