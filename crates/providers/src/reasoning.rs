//! Reasoning: separates a model's thinking and template tokens from the answer.
//!
//! Pure and incremental. Text is passed on at once; only a possible start of a tag waits for the next piece.

/// Opening and closing tags of thinking, as reasoning models write them into their text.
const THINKING: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<|channel|>analysis<|message|>", "<|end|>"),
];
/// Chat template tokens that mark the end of the reply.
const END_TOKENS: &[&str] = &[
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|end|>",
    "<|return|>",
    "<end_of_turn>",
];
/// Tokens that open a message; the role follows them.
const ROLE_TOKENS: &[&str] = &["<|im_start|>", "<|start_header_id|>", "<start_of_turn>", "<|start|>"];
/// Tokens that are removed.
const EMPTY_TOKENS: &[&str] = &["<|end_header_id|>", "<|channel|>final<|message|>", "<|begin_of_text|>"];
/// Also valid HTML, so it is a token only at the end of a reply.
const CLOSING_S: &str = "</s>";

#[derive(Debug, PartialEq)]
pub(crate) enum Piece {
    Answer(String),
    Thought(String),
}

#[derive(Debug, Default)]
pub(crate) struct Reasoning {
    state: State,
    /// Text that is not yet decided.
    held: String,
    has_answered: bool,
    /// The last character that was passed on.
    last: Option<char>,
    n_backticks: u32,
    in_fence: bool,
    /// Set when a closing tag came without an opening tag: this model's template opens the thinking in the prompt.
    began_unseen: bool,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Answer,
    /// Whitespace after a tag; it is removed.
    Gap,
    Thinking {
        close: &'static str,
    },
    /// Possibly thinking: it is, if `close` follows.
    Waiting {
        open: &'static str,
        close: &'static str,
    },
    /// The role name after a token that opens a message.
    Role,
    /// The model continues with a user message that it invented; it is dropped.
    Over,
}

impl Reasoning {
    /// For a model whose template opens the thinking in the prompt, so that the reply contains only the closing tag.
    pub(crate) fn begun_in_the_prompt() -> Self {
        Self { state: State::Waiting { open: "", close: "</think>" }, ..Self::default() }
    }

    /// Whether the next reply of this model starts with thinking that has no opening tag.
    pub(crate) fn began_unseen(&self) -> bool {
        self.began_unseen
    }

    pub(crate) fn push(&mut self, text: &str, out: &mut Vec<Piece>) {
        let mut rest = std::mem::take(&mut self.held) + text;
        while !rest.is_empty() {
            let n_bytes = match self.state {
                State::Answer | State::Gap => self.read_answer(&rest, out),
                State::Thinking { close } => self.read_thought(&rest, close, out),
                State::Waiting { open, close } => self.wait(&rest, open, close, out),
                State::Role => self.skip_role(&rest),
                State::Over => Some(rest.len()),
            };
            let Some(n_bytes) = n_bytes else { break };
            rest.drain(..n_bytes);
        }
        self.held = rest;
    }

    /// The reply has ended: the rest is passed on as what it looks like.
    pub(crate) fn finish(&mut self, out: &mut Vec<Piece>) {
        let held = std::mem::take(&mut self.held);
        match self.state {
            State::Answer if held == CLOSING_S => {}
            State::Answer => self.answer(&held, out),
            State::Gap | State::Role | State::Over => {}
            State::Thinking { .. } => out.extend((!held.is_empty()).then_some(Piece::Thought(held))),
            State::Waiting { open, .. } => {
                self.began_unseen = false;
                self.state = State::Answer;
                self.answer(&format!("{open}{held}"), out);
            }
        }
    }

    /// How many bytes were read; `None` if more text is needed first.
    fn read_answer(&mut self, rest: &str, out: &mut Vec<Piece>) -> Option<usize> {
        if matches!(self.state, State::Gap) || !self.has_answered {
            let n_blank = rest.len() - rest.trim_start().len();
            if n_blank == rest.len() {
                // Before the first word, blanks may belong to a tag that follows.
                return matches!(self.state, State::Gap).then_some(n_blank);
            }
            if n_blank > 0 && (matches!(self.state, State::Gap) || self.tag_at(rest.trim_start()).is_some()) {
                return Some(n_blank);
            }
            self.state = State::Answer;
        }
        let start = rest.find('<').unwrap_or(rest.len());
        if start > 0 {
            self.answer(&rest[..start], out);
            return Some(start);
        }
        match self.tag_at(rest) {
            Some(Tag::Unfinished) => None,
            Some(Tag::Read { n_bytes, then }) => {
                self.state = then;
                Some(n_bytes)
            }
            None => {
                self.answer("<", out);
                Some(1)
            }
        }
    }

    /// The tag at the start of `rest`, which begins with `<`.
    fn tag_at(&mut self, rest: &str) -> Option<Tag> {
        // Text about a token contains it in quotes; such a token is not removed.
        if self.in_fence || matches!(self.last, Some('`' | '"' | '\'')) {
            return None;
        }
        if CLOSING_S.starts_with(rest.trim_end()) {
            return Some(Tag::Unfinished);
        }
        let mut tags: Vec<(&str, State)> = Vec::new();
        if !self.has_answered || self.last == Some('\n') {
            tags.extend(THINKING.iter().map(|(open, close)| {
                let state = if self.has_answered { State::Waiting { open, close } } else { State::Thinking { close } };
                (*open, state)
            }));
        }
        tags.extend(THINKING.iter().filter(|(_, close)| *close != "<|end|>").map(|(_, close)| (*close, State::Gap)));
        tags.extend(END_TOKENS.iter().chain(EMPTY_TOKENS).map(|token| (*token, State::Gap)));
        let after_role = if self.has_answered { State::Over } else { State::Role };
        let opens = ROLE_TOKENS.iter().find(|token| rest.starts_with(**token) || token.starts_with(rest));
        tags.extend(opens.map(|token| (*token, after_role)));
        let is_unfinished = tags.iter().any(|(tag, _)| tag.len() > rest.len() && tag.starts_with(rest));
        let (tag, then) = match tags.into_iter().find(|(tag, _)| rest.starts_with(tag)) {
            Some(found) => found,
            None => return is_unfinished.then_some(Tag::Unfinished),
        };
        self.began_unseen |= THINKING.iter().any(|(_, close)| *close == tag && tag.starts_with("</"));
        Some(Tag::Read { n_bytes: tag.len(), then })
    }

    fn read_thought(&mut self, rest: &str, close: &str, out: &mut Vec<Piece>) -> Option<usize> {
        if let Some(end) = rest.find(close) {
            out.extend((end > 0).then(|| Piece::Thought(rest[..end].to_owned())));
            self.state = State::Gap;
            return Some(end + close.len());
        }
        let n_sure = rest.len() - unfinished_suffix(rest, close);
        out.extend((n_sure > 0).then(|| Piece::Thought(rest[..n_sure].to_owned())));
        (n_sure > 0).then_some(n_sure)
    }

    fn wait(&mut self, rest: &str, open: &str, close: &str, out: &mut Vec<Piece>) -> Option<usize> {
        let end = rest.find(close)?;
        let thought = rest[..end].strip_prefix("<think>").unwrap_or(&rest[..end]);
        self.began_unseen |= open.is_empty();
        out.extend((!thought.is_empty()).then(|| Piece::Thought(thought.to_owned())));
        self.state = State::Gap;
        Some(end + close.len())
    }

    fn skip_role(&mut self, rest: &str) -> Option<usize> {
        let is_name = |sign: char| sign.is_ascii_alphabetic();
        let n_bytes = rest.find(|sign| !is_name(sign))?;
        self.state = State::Gap;
        Some(n_bytes)
    }

    fn answer(&mut self, text: &str, out: &mut Vec<Piece>) {
        if text.is_empty() {
            return;
        }
        self.has_answered = true;
        for sign in text.chars() {
            self.n_backticks = if sign == '`' { self.n_backticks + 1 } else { 0 };
            self.in_fence ^= self.n_backticks == 3;
            self.last = Some(sign);
        }
        match out.last_mut() {
            Some(Piece::Answer(before)) => before.push_str(text),
            _ => out.push(Piece::Answer(text.to_owned())),
        }
    }
}

enum Tag {
    /// More text is needed to decide.
    Unfinished,
    Read {
        n_bytes: usize,
        then: State,
    },
}

/// How many bytes at the end of `text` may be the start of `tag`.
fn unfinished_suffix(text: &str, tag: &str) -> usize {
    (1..tag.len()).rev().find(|n| text.ends_with(&tag[..*n])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `answer|thought`, independent of the size of the pieces.
    fn read(mut reasoning: Reasoning, text: &str, n_chars: usize) -> String {
        let mut out = Vec::new();
        let signs: Vec<char> = text.chars().collect();
        for piece in signs.chunks(n_chars) {
            reasoning.push(&piece.iter().collect::<String>(), &mut out);
        }
        reasoning.finish(&mut out);
        let (mut answer, mut thought) = (String::new(), String::new());
        for piece in out {
            match piece {
                Piece::Answer(text) => answer.push_str(&text),
                Piece::Thought(text) => thought.push_str(&text),
            }
        }
        format!("{answer}|{thought}")
    }

    #[test]
    fn thinking_and_template_tokens_are_not_the_answer() {
        let cases = [
            ("Hello", "Hello|"),
            ("<think>Hm.</think>\n\nHello", "Hello|Hm."),
            ("\n<think>\nHm.\n</think>\nHello", "Hello|\nHm.\n"),
            ("<thinking>a < b</thinking>Hello", "Hello|a < b"),
            ("<think></think>Hello", "Hello|"),
            ("<think>never ends", "|never ends"),
            ("One.\n<think>Hm.</think>\nTwo.", "One.\nTwo.|Hm."),
            ("One.\n<think> is a tag of some models.", "One.\n<think> is a tag of some models.|"),
            ("Models write `<think>` first.", "Models write `<think>` first.|"),
            ("```\n<think>\n```\nx", "```\n<think>\n```\nx|"),
            ("Hello<|im_end|>", "Hello|"),
            ("Hello<|im_end|>\n<|im_start|>user\nAnd now?", "Hello|"),
            ("<|im_start|>assistant\nHello<|eot_id|>", "Hello|"),
            ("The token `<|im_end|>` ends it.", "The token `<|im_end|>` ends it.|"),
            ("Hello</s>", "Hello|"),
            ("<s>old</s> new", "<s>old</s> new|"),
            ("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hello", "Hello|Hm."),
            ("1 < 2 and <b>bold</b>", "1 < 2 and <b>bold</b>|"),
            ("  Hello", "  Hello|"),
            ("ends with <", "ends with <|"),
        ];
        for (text, expected) in cases {
            for n_chars in [1, 3, 1_000] {
                assert_eq!(read(Reasoning::default(), text, n_chars), expected, "{text:?} in pieces of {n_chars}");
            }
        }
    }

    #[test]
    fn thinking_that_begins_in_the_prompt_is_recognised_from_the_second_reply_on() {
        let mut first = Reasoning::default();
        let mut out = Vec::new();
        first.push("Hm.</think>Hello", &mut out);
        assert!(first.began_unseen());
        assert_eq!(read(Reasoning::begun_in_the_prompt(), "Hm.</think>\nHello", 2), "Hello|Hm.");
        assert_eq!(read(Reasoning::begun_in_the_prompt(), "<think>Hm.</think>\nHello", 2), "Hello|Hm.");
        assert_eq!(read(Reasoning::begun_in_the_prompt(), "Hello", 2), "Hello|");
    }

    #[test]
    fn only_a_possible_start_of_a_tag_is_held_back() {
        let (mut reasoning, mut out) = (Reasoning::default(), Vec::new());
        reasoning.push("Hello <", &mut out);
        assert_eq!(out, [Piece::Answer("Hello ".into())]);
        reasoning.push("b>", &mut out);
        assert_eq!(out, [Piece::Answer("Hello <b>".into())]);
    }
}
