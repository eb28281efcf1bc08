//! Quirks: how servers differ, and how each difference is handled.
//!
//! | difference | rule | where |
//! |---|---|---|
//! | the response to a stream request is one JSON body | read as one complete reply | `answer.rs` |
//! | `message` in place of `delta`, content as a list of parts | read the same way | `openai/reader.rs` |
//! | no `[DONE]`, or no `finish_reason` | either one ends the reply | `openai/reader.rs` |
//! | neither of them | a failure ("cut"), unless the probe found that this server marks no end | `openai/reader.rs` |
//! | no usage | estimated from the characters sent and received | `engine` |
//! | calls written as text, thinking in the text | read as calls and as reasoning | `text_calls.rs`, `reasoning.rs` |
//! | several system messages, parallel calls | not used: one system message, no `parallel_tool_calls` | `openai.rs` |
//! | `stream_options`, streams, `tool_choice`, tools or the system role refused | retried without it | [`REFUSALS`] |
//! | no tools at all | tools described in the prompt, calls as text | `prompted_tools.rs` |
//! | an empty reply | one retry, then `EmptyReply` | `answer.rs` |
//! | an error inside the stream | treated like the same error as a status; retried before the first text | `failure.rs` |
//! | a prompt over the context, in eight spellings | `ContextOverflow`, with the limit if it is named | [`OVERFLOWS`] |
//!
//! What was learned is kept per endpoint and model until the process ends.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::failure::Failure;

/// The form of a request that this server accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Form {
    pub(crate) without_stream_options: bool,
    pub(crate) without_stream: bool,
    pub(crate) without_tool_choice: bool,
    /// The instructions are part of the first user message.
    pub(crate) system_in_user: bool,
    /// Tools are described in the instructions; calls and results are text.
    pub(crate) tools_as_text: bool,
    /// The stream is to say how much of the prompt is read. Only for servers that are known to do so.
    pub(crate) with_progress: bool,
}

/// An error that another form of the same request avoids.
struct Refusal {
    statuses: &'static [u16],
    /// The error text contains one of these, in lower case.
    says: &'static [&'static str],
    set: fn(&mut Form) -> &mut bool,
}

/// Tried in this order. A rule whose form is already in use is skipped.
const REFUSALS: &[Refusal] = &[
    Refusal {
        statuses: &[400, 422],
        says: &["stream_options", "stream options"],
        set: |form| &mut form.without_stream_options,
    },
    Refusal {
        statuses: &[400, 404, 405, 422, 501],
        says: &["streaming is not supported", "does not support streaming", "stream is not supported", "stream=true"],
        set: |form| &mut form.without_stream,
    },
    Refusal {
        statuses: &[400, 422, 500],
        says: &[
            "tool_choice is not supported",
            "tool_choice=none",
            "tool_choice: none",
            "unsupported value: 'tool_choice'",
        ],
        set: |form| &mut form.without_tool_choice,
    },
    Refusal {
        // Ollama, llama.cpp without --jinja, vLLM without a parser, OpenRouter, templates without tools.
        statuses: &[400, 404, 422, 500, 501],
        says: &[
            "does not support tools",
            "tools param requires --jinja",
            "--enable-auto-tool-choice",
            "support tool use",
            "tool use is not supported",
            "tools is not supported",
            "tools are not supported",
            "does not support function calling",
            "function calling is not supported",
            "unsupported param: tools",
        ],
        set: |form| &mut form.tools_as_text,
    },
    Refusal {
        statuses: &[400, 422, 500],
        says: &[
            "system role not supported",
            "system role is not supported",
            "only user and assistant roles",
            "roles must alternate",
        ],
        set: |form| &mut form.system_in_user,
    },
    Refusal {
        statuses: &[400, 422, 500],
        says: &["only user and assistant roles", "roles must alternate", "unexpected role 'tool'", "role 'tool'"],
        set: |form| &mut form.tools_as_text,
    },
];

/// The form to use after this error; `None` if no other form helps.
pub(crate) fn adapted(form: Form, failure: &Failure) -> Option<Form> {
    let status = failure.status?;
    let said = failure.said.to_lowercase();
    REFUSALS.iter().find_map(|refusal| {
        let mut next = form;
        let is_in_use = std::mem::replace((refusal.set)(&mut next), true);
        let is_it = refusal.statuses.contains(&status) && refusal.says.iter().any(|words| said.contains(words));
        (is_it && !is_in_use).then_some(next)
    })
}

/// A server's message that the prompt is longer than the context, and the text before the limit in it.
struct Overflow {
    says: &'static str,
    limit_after: &'static str,
}

const OVERFLOWS: &[Overflow] = &[
    // OpenAI, vLLM, SGLang: "This model's maximum context length is 4096 tokens. However, …"
    Overflow { says: "maximum context length", limit_after: "maximum context length is " },
    // OpenAI's newer models: "Your input exceeds the context window of this model."
    Overflow { says: "exceeds the context window", limit_after: "" },
    // llama.cpp: "request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it"
    Overflow { says: "exceeds the available context size", limit_after: "available context size (" },
    // llama.cpp, when the answer runs into the end: "Context size has been exceeded."
    Overflow { says: "context size has been exceeded", limit_after: "" },
    // LM Studio: "… the model is loaded with context length of only 4096 tokens, which is not enough."
    Overflow { says: "loaded with context length of only", limit_after: "context length of only " },
    // LM Studio 0.3.30 and newer: "… greater than the context length (n_keep: 10247 >= n_ctx: 4096)."
    Overflow { says: "greater than the context length", limit_after: "n_ctx: " },
    // Ollama: "input length exceeds the context length"; its cloud: "prompt is too long".
    Overflow { says: "exceeds the context length", limit_after: "" },
    Overflow { says: "exceeds maximum context", limit_after: "" },
    // llama-cpp-python: "Requested tokens (2285) exceed context window of 2048"
    Overflow { says: "exceed context window", limit_after: "exceed context window of " },
    // Anthropic: "prompt is too long: 205000 tokens > 200000 maximum", "… exceed context limit: 190000 + 16384 > 200000"
    Overflow { says: "prompt is too long", limit_after: "tokens > " },
    Overflow { says: "exceed context limit", limit_after: " > " },
    // vLLM before 0.15, if no tokens are left for the answer: "max_tokens must be at least 1, got -186."
    Overflow { says: "max_tokens must be at least 1, got -", limit_after: "" },
];

/// `Some` if this text says that the prompt was too long. The inner value is the limit, if the text contains it.
pub(crate) fn overflow(kind: &str, code: &str, said: &str) -> Option<Option<u32>> {
    let is_coded = [kind, code].iter().any(|word| {
        matches!(*word, "exceed_context_size_error" | "context_length_exceeded" | "context_window_exceeded")
    });
    let lower = said.to_lowercase();
    let known = OVERFLOWS.iter().find(|overflow| lower.contains(overflow.says));
    let limit = known.filter(|overflow| !overflow.limit_after.is_empty()).and_then(|overflow| {
        let (_, after) = lower.split_once(overflow.limit_after)?;
        let digits: String = after.chars().filter(|sign| *sign != ',').take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    });
    (is_coded || known.is_some()).then_some(limit)
}

/// What is known about one model at one endpoint.
#[derive(Debug, Default)]
pub(crate) struct Learned(Mutex<Facts>);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) form: Form,
    /// The chat template opens the thinking in the prompt, so the reply has no opening tag.
    pub(crate) thinks_unseen: bool,
    /// Its streams end without an end mark. Set by the probe, which knows that its reply is complete.
    pub(crate) ends_unmarked: bool,
    pub(crate) context_tokens: Option<u32>,
    pub(crate) chars_per_token: f64,
    pub(crate) wrote_calls_as_text: bool,
    pub(crate) called_natively: bool,
    pub(crate) reasons: bool,
    pub(crate) answered_whole: bool,
}

impl Default for Facts {
    fn default() -> Self {
        Self {
            form: Form::default(),
            thinks_unseen: false,
            ends_unmarked: false,
            context_tokens: None,
            // Between prose (4) and the JSON of results (2 to 3). Measured values replace it.
            chars_per_token: 3.0,
            wrote_calls_as_text: false,
            called_natively: false,
            reasons: false,
            answered_whole: false,
        }
    }
}

impl Learned {
    pub(crate) fn facts(&self) -> Facts {
        *self.lock()
    }

    pub(crate) fn update(&self, change: impl FnOnce(&mut Facts)) {
        change(&mut self.lock());
    }

    /// Moves the ratio towards a measured reply. Small prompts are ignored, because the chat template dominates their
    /// size.
    pub(crate) fn measured(&self, n_chars: usize, n_tokens: u64) {
        if n_chars < 200 || n_tokens < 50 {
            return;
        }
        #[allow(clippy::cast_precision_loss, reason = "a ratio")]
        let ratio = (n_chars as f64 / n_tokens as f64).clamp(0.5, 8.0);
        let mut facts = self.lock();
        facts.chars_per_token = facts.chars_per_token.mul_add(0.5, ratio * 0.5);
    }

    fn lock(&self) -> MutexGuard<'_, Facts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overflow_is_recognised_in_every_known_error_text() {
        let cases = [
            ("This model's maximum context length is 4096 tokens. However, you requested 6616 tokens", Some(4096)),
            ("This model's maximum context length is 128,000 tokens.", Some(128_000)),
            ("Your input exceeds the context window of this model. Please adjust your input and try again.", None),
            ("request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it", Some(4096)),
            ("the request exceeds the available context size. try increasing the context size", None),
            ("Context size has been exceeded.", None),
            (
                "Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with \
                 context length of only 7866 tokens, which is not enough.",
                Some(7866),
            ),
            (
                "The number of tokens to keep from the initial prompt is greater than the context length \
                 (n_keep: 10247 >= n_ctx: 4096).",
                Some(4096),
            ),
            ("input length exceeds the context length", None),
            ("Requested tokens (2285) exceed context window of 2048", Some(2048)),
            ("prompt is too long: 205000 tokens > 200000 maximum", Some(200_000)),
            ("input length and `max_tokens` exceed context limit: 190000 + 16384 > 200000, decrease", Some(200_000)),
            ("max_tokens must be at least 1, got -186.", None),
        ];
        for (said, limit) in cases {
            assert_eq!(overflow("", "", said), Some(limit), "{said}");
        }
        assert_eq!(overflow("exceed_context_size_error", "", "x"), Some(None));
        assert_eq!(overflow("", "context_length_exceeded", "x"), Some(None));
        for other in ["No.", "model runner has stopped", "Overloaded", "max_tokens must be at most 4096"] {
            assert_eq!(overflow("", "", other), None, "{other}");
        }
    }

    #[test]
    fn the_ratio_moves_towards_what_was_measured() {
        let learned = Learned::default();
        for _ in 0..8 {
            learned.measured(19_000, 10_000);
        }
        assert!((learned.facts().chars_per_token - 1.9).abs() < 0.05, "{:?}", learned.facts());
        learned.measured(10, 1_000);
        assert!((learned.facts().chars_per_token - 1.9).abs() < 0.05, "a tiny prompt changes nothing");
    }
}
