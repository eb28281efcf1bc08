//! Draws the events of a turn in the terminal: the answer on stdout, everything else on stderr.

use std::io::{IsTerminal, Write};

use engine::{Event, Kind, StopReason};

use super::terminal::shown;
use crate::protocols::native;

/// Where events are printed.
pub(super) enum Screen {
    /// One JSON object per event.
    Json,
    Plain(Drawing),
}

impl Screen {
    pub(super) fn new(as_json: bool) -> Self {
        if as_json { Self::Json } else { Self::Plain(Drawing::new(std::io::stderr().is_terminal())) }
    }

    pub(super) fn show(&mut self, event: &Event) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        match self {
            Screen::Json => {
                if let Some(frame) = native::encode(event) {
                    writeln!(out, "{}", serde_json::to_string(&frame)?)?;
                }
            }
            Screen::Plain(drawing) => drawing.draw(&mut out, &mut std::io::stderr().lock(), &event.kind)?,
        }
        Ok(out.flush()?)
    }
}

/// The state of a terminal, or of a file.
pub(super) struct Drawing {
    is_terminal: bool,
    unfinished: Unfinished,
}

/// What the last line of stderr is. Another event finishes it first.
#[derive(Clone, Copy, PartialEq)]
enum Unfinished {
    Nothing,
    /// How much of the prompt is read: the line is replaced.
    Reading,
    /// A line of reasoning without its end.
    Reasoning,
}

const DIM: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";
const ERASE_LINE: &str = "\r\x1b[K";

impl Drawing {
    fn new(is_terminal: bool) -> Self {
        Self { is_terminal, unfinished: Unfinished::Nothing }
    }

    fn draw(&mut self, out: &mut impl Write, err: &mut impl Write, kind: &Kind) -> std::io::Result<()> {
        let (dim, red, green, plain) =
            if self.is_terminal { (DIM, "\x1b[31m", "\x1b[32m", PLAIN) } else { ("", "", "", "") };
        match kind {
            Kind::Reading { n_read, n_total } => return self.read(err, *n_read, *n_total),
            Kind::Reasoned { text } => return self.reason(err, text),
            _ => self.finish(err)?,
        }
        match kind {
            Kind::TextDelta { text, .. } => out.write_all(shown(text).as_bytes()),
            Kind::TextDone { .. } => out.write_all(b"\n"),
            Kind::ToolStarted { title, input, .. } => {
                writeln!(err, "{dim}· {} {}{plain}", shown(title), shown(&input.to_string()))
            }
            Kind::ToolDone { done, .. } => {
                writeln!(err, "{green}✓{plain} {dim}{} ({} ms){plain}", shown(&done.summary), done.duration_ms)
            }
            Kind::ToolFailed { failure, .. } => writeln!(err, "{red}✗ {}{plain}", shown(&failure.error)),
            Kind::Ended { stop: StopReason::Complete, .. } => Ok(()),
            Kind::Ended { stop: StopReason::Stopped, .. } => writeln!(err, "{dim}(stopped){plain}"),
            Kind::Ended { stop: StopReason::MaxSteps, .. } => writeln!(err, "{dim}(step limit reached){plain}"),
            Kind::Failed { message, .. } => writeln!(err, "{red}{}{plain}", shown(message)),
            Kind::Started { .. }
            | Kind::StepStarted { .. }
            | Kind::TextStarted { .. }
            | Kind::Reasoned { .. }
            | Kind::Reading { .. }
            | Kind::Replied { .. }
            | Kind::TakenOver { .. }
            | Kind::StepDone { .. } => Ok(()),
        }
    }

    /// "Reading… 25 %", in place of the line before. In a file it would be one line per event, so it is left out.
    fn read(&mut self, err: &mut impl Write, n_read: u32, n_total: u32) -> std::io::Result<()> {
        if !self.is_terminal {
            return Ok(());
        }
        if self.unfinished == Unfinished::Reasoning {
            self.finish(err)?;
        }
        self.unfinished = Unfinished::Reading;
        let percent = u64::from(n_read) * 100 / u64::from(n_total).max(1);
        write!(err, "{ERASE_LINE}{DIM}Reading… {percent} %{PLAIN}")?;
        err.flush()
    }

    /// Dim, for a reader who watches. A script that reads stderr gets tools and failures only.
    fn reason(&mut self, err: &mut impl Write, text: &str) -> std::io::Result<()> {
        if !self.is_terminal {
            return Ok(());
        }
        if self.unfinished == Unfinished::Reading {
            self.finish(err)?;
        }
        write!(err, "{DIM}{}{PLAIN}", shown(text))?;
        self.unfinished = if text.ends_with('\n') { Unfinished::Nothing } else { Unfinished::Reasoning };
        err.flush()
    }

    fn finish(&mut self, err: &mut impl Write) -> std::io::Result<()> {
        match std::mem::replace(&mut self.unfinished, Unfinished::Nothing) {
            Unfinished::Nothing => Ok(()),
            Unfinished::Reading => err.write_all(ERASE_LINE.as_bytes()),
            Unfinished::Reasoning => err.write_all(b"\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(is_terminal: bool, kinds: &[Kind]) -> (String, String) {
        let (mut drawing, mut out, mut err) = (Drawing::new(is_terminal), Vec::new(), Vec::new());
        for kind in kinds {
            drawing.draw(&mut out, &mut err, kind).expect("memory can be written");
        }
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (text(out), text(err).replace(DIM, "<").replace(PLAIN, ">").replace(ERASE_LINE, "|"))
    }

    #[test]
    fn reading_and_reasoning_are_shown_on_a_terminal_only_and_never_in_the_answer() {
        let reasoned = |text: &str| Kind::Reasoned { text: text.into() };
        let kinds = [
            Kind::Reading { n_read: 256, n_total: 1024 },
            Kind::Reading { n_read: 1024, n_total: 1024 },
            reasoned("The user wants rain.\n"),
            reasoned("So \x1b[2JI look."),
            Kind::TextStarted { block: 0 },
            Kind::TextDelta { block: 0, text: "Here.".into() },
            Kind::TextDone { block: 0, text: "Here.".into() },
        ];
        let (out, err) = drawn(true, &kinds);
        assert_eq!(out, "Here.\n");
        assert_eq!(err, "|<Reading… 25 %>|<Reading… 100 %>|<The user wants rain.\n><So [2JI look.>\n");
        assert_eq!(drawn(false, &kinds), ("Here.\n".into(), String::new()), "nothing of it in a file");
    }

    #[test]
    fn an_unfinished_line_is_finished_before_anything_else() {
        let stopped = Kind::Ended {
            usage: engine::Usage::default(),
            stop: StopReason::Stopped,
            notices: Vec::new(),
            cost_usd: None,
        };
        let (read, thought) = (Kind::Reading { n_read: 0, n_total: 0 }, Kind::Reasoned { text: "Hm".into() });
        let (_, err) = drawn(true, &[read.clone(), stopped.clone()]);
        assert_eq!(err, "|<Reading… 0 %>|<(stopped)>\n");
        let (_, err) = drawn(true, &[thought, read, stopped]);
        assert_eq!(err, "<Hm>\n|<Reading… 0 %>|<(stopped)>\n");
    }
}
