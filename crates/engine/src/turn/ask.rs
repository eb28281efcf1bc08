//! One reply of the model: what it is sent, what it streams, and what it used.

use std::sync::Arc;

use futures::StreamExt;
use serde_json::Value;
use tokio::time::{Instant, timeout};

use super::Run;
use crate::{
    AskedCall, Block, Delta, Kind, Message, ModelError, Prompt, Usage, budget, halt::Halt, prompt, reply::Reply,
    untrusted,
};

impl Run<'_, '_> {
    /// The reply of one step, to the part of the prompt that fits the model's context. If the server still refuses the
    /// prompt as too long, it is trimmed and sent once more. A halt leaves the text block open.
    pub(super) async fn ask(&mut self, step: u32, is_open: bool) -> Result<(), Halt> {
        self.halted()?;
        self.turn.prompt.may_call_tools = step < self.turn.limits.max_steps;
        if !is_open {
            self.record(Kind::StepStarted { step, model: self.turn.model.id().to_owned() });
        }
        self.write_answer_so_far();
        let window = self.turn.model.window();
        let mut trimmed = budget::for_window(&self.turn.prompt, window);
        let (mut reply, mut halt) = self.ask_with(trimmed.as_ref()).await;
        if let (Some(Halt::Model(ModelError::ContextOverflow { limit, .. })), 0) = (&halt, reply.n_chars) {
            let sent = trimmed.as_ref().unwrap_or(&self.turn.prompt);
            trimmed = budget::after_overflow(sent, window, *limit);
            if trimmed.is_some() {
                (reply, halt) = self.ask_with(trimmed.as_ref()).await;
            }
        }
        if let (Some(Halt::Model(ModelError::EmptyReply)), true) = (&halt, self.turn.prompt.cut_text().is_some()) {
            // The reply was already complete.
            halt = None;
        }
        let usage = self.usage_of(&reply, halt.as_ref());
        if let Some(halt) = halt {
            self.cut_usage = Some(usage);
            return Err(halt);
        }
        // A call that will not run is not part of the answer.
        let calls = if self.turn.prompt.may_call_tools { reply.calls } else { Vec::new() };
        let calls = calls.into_iter().map(|call| self.prepare(call)).collect();
        self.close_text();
        self.record(Kind::Replied { step, usage, calls });
        Ok(())
    }

    /// Closes a text block that an earlier node streamed, if this node added nothing to it.
    pub(super) fn close_text(&mut self) {
        if let Some((block, text)) = self.progress.open_text() {
            self.record(Kind::TextDone { block, text });
        }
    }

    /// One reply, possibly incomplete, to the whole prompt or a trimmed one.
    async fn ask_with(&mut self, trimmed: Option<&Prompt>) -> (Reply, Option<Halt>) {
        let mut reply = Reply::after(&self.progress);
        let prompt = trimmed.unwrap_or(&self.turn.prompt);
        if self.turn.model.window().is_some() {
            self.n_sent_chars = budget::prompt_chars(prompt);
        }
        let mut deltas = self.turn.model.reply(prompt);
        let mut silence = self.turn.limits.first_delta;
        while reply.usage.is_none() {
            let left = silence.min(self.deadline.saturating_duration_since(Instant::now()));
            let next = tokio::select! {
                biased;
                () = self.turn.cancel.cancelled() => return (reply, Some(Halt::Stopped)),
                next = timeout(left, deltas.next()) => next,
            };
            // A server that reports how far it is may need as long for its next batch as for the first.
            if !matches!(next, Ok(Some(Ok(Delta::Reading { .. })))) {
                silence = self.turn.limits.silence;
            }
            match next {
                Err(_) => return (reply, Some(Halt::TimedOut)),
                Ok(Some(Ok(delta))) => self.take(&mut reply, delta),
                Ok(Some(Err(error))) => return (reply, Some(Halt::Model(error))),
                Ok(None) => return (reply, Some(Halt::Model(ModelError::Unavailable("its stream was cut".into())))),
            }
        }
        (reply, None)
    }

    fn take(&mut self, reply: &mut Reply, delta: Delta) {
        let (progress, emit) = (&mut self.progress, &mut self.emit);
        reply.push(delta, &mut |kind| {
            progress.apply(&kind);
            emit(kind);
        });
    }

    /// Repairs the tool name and the input of a call, so that the same call is shown, stored and run.
    fn prepare(&mut self, asked: AskedCall) -> AskedCall {
        let input = Arc::unwrap_or_clone(asked.input);
        let prepared = self.turn.toolbox.prepare(&asked.name, input);
        self.notes.insert(asked.call, prepared.notes);
        AskedCall { call: asked.call, name: prepared.name, input: Arc::new(prepared.input) }
    }

    /// The usage of a reply. For a reply that was stopped, cut or timed out, it is the usage reported so far, or an
    /// estimate. A server that refused the request or was not reachable has used nothing.
    fn usage_of(&self, reply: &Reply, halt: Option<&Halt>) -> Usage {
        let said = reply.usage.unwrap_or(reply.usage_so_far);
        let Some(window) = self.turn.model.window() else { return said };
        let was_read = match halt {
            None | Some(Halt::Stopped | Halt::TimedOut | Halt::Journal(_) | Halt::Model(ModelError::TimedOut)) => true,
            Some(Halt::Model(_)) => reply.n_chars > 0,
        };
        if !was_read {
            return said;
        }
        let estimated = budget::estimated_usage(self.n_sent_chars, reply.n_chars, window.chars_per_token);
        let is_whole = reply.usage.is_some() && said != Usage::default();
        Usage {
            input_tokens: if said.input_tokens > 0 { said.input_tokens } else { estimated.input_tokens },
            output_tokens: if is_whole { said.output_tokens } else { said.output_tokens.max(estimated.output_tokens) },
            ..said
        }
    }

    /// Appends the answer so far to the prompt. If the answer ends with text, a reply was cut off, and the model is
    /// asked to continue it.
    fn write_answer_so_far(&mut self) {
        let messages = &mut self.turn.prompt.messages;
        messages.truncate(self.n_before);
        let answer = self.progress.content();
        let mut content = self.turn.toolbox.answer_for_model(&answer);
        for block in &mut content {
            if let Block::ToolResult { tool_use_id, content, .. } = block {
                let notes = self.notes.get(tool_use_id).map(Vec::as_slice).unwrap_or_default();
                add_notes(content, notes);
            }
        }
        if let Some((n_blocks, question)) = &self.question {
            // The model does not read reasoning.
            let is_read = |block: &&Block| !matches!(block, Block::Reasoning { .. });
            let rest = content.split_off(answer[..*n_blocks].iter().filter(is_read).count());
            messages.extend([Message::assistant(content), question.clone()]);
            content = rest;
        }
        let cut_text = match content.last() {
            Some(Block::Text { text }) => Some(text.clone()),
            _ => None,
        };
        messages.push(Message::assistant(content));
        messages.extend(cut_text.map(|text| prompt::go_on_after(&text)));
    }
}

/// Appends the notes after the result, so that the data mark stays at the start.
fn add_notes(result: &mut Arc<Value>, notes: &[String]) {
    if let Value::String(text) = &**result
        && !notes.is_empty()
    {
        *result = Arc::new(format!("{text}\n{}", untrusted::clean(&notes.join("\n"))).into());
    }
}
