//! The offline model: a small rule-based planner that needs no key and no network.
//!
//! It has no state: it reads the whole conversation for every reply, so two servers give the same answer. Each reply is one
//! step: text, and the next tool calls.

mod discover;
mod language;
mod say;
mod scene;
mod tasks;

pub use self::tasks::{LONGEST_DESCRIPTION, LONGEST_TITLE};

use std::sync::LazyLock;

use engine::{Delta, Message, Model, ModelError, Prompt, Usage};
use futures::{StreamExt, stream::BoxStream};
use serde_json::Value;

use self::{
    language::{Language, MAX_WORDS, Talk, text::words, words::Lang},
    say::Phrase,
    scene::Scene,
};

/// Read when the first message is answered, so that a server with another model does not wait for it.
static LANGUAGE: LazyLock<Language> = LazyLock::new(Language::new);

#[derive(Clone, Default)]
pub struct OfflineModel;

impl OfflineModel {
    pub const ID: &str = "offline";
}

impl Model for OfflineModel {
    fn id(&self) -> &str {
        Self::ID
    }

    fn reply(&self, prompt: &Prompt) -> BoxStream<'static, Result<Delta, ModelError>> {
        // A reply that was cut off is computed again, without the part that was already streamed.
        let (whole, seen) = prompt.before_cut().map_or_else(|| (prompt.clone(), ""), |(whole, seen)| (whole, seen));
        let scene = Scene::of(&whole);
        let voice = Voice::new(&LANGUAGE, &scene);
        let step = next_step(&voice, &scene).after(seen);
        let usage = Usage {
            input_tokens: prompt.messages.iter().map(tokens).sum(),
            output_tokens: step.tokens(),
            ..Usage::default()
        };
        futures::stream::iter(step.deltas(usage).map(Ok)).boxed()
    }
}

/// The next step: text first, then calls. Without calls the turn ends.
#[derive(Default)]
struct Step {
    text: String,
    calls: Vec<(&'static str, Value)>,
}

impl Step {
    fn says(text: String) -> Self {
        Self { text, calls: Vec::new() }
    }

    fn calls(text: String, name: &'static str, input: Value) -> Self {
        Self { text, calls: vec![(name, input)] }
    }

    fn deltas(self, usage: Usage) -> impl Iterator<Item = Delta> + Send {
        let words: Vec<_> = self.text.split_inclusive(' ').map(|word| Delta::Text(word.to_owned())).collect();
        let calls = self.calls.into_iter();
        let calls = calls.map(|(name, input)| Delta::ToolCall { name: name.to_owned(), input: input.to_string() });
        words.into_iter().chain(calls).chain([Delta::End { usage }])
    }

    /// The rest of the text. If the text has changed since its start was streamed, it continues after their common prefix.
    fn after(mut self, seen: &str) -> Self {
        let is_same = |(a, b): &(char, char)| a == b;
        let n_same: usize = self.text.chars().zip(seen.chars()).take_while(is_same).map(|(a, _)| a.len_utf8()).sum();
        self.text.drain(..n_same);
        self
    }

    fn tokens(&self) -> u64 {
        let n_bytes = self.calls.iter().map(|(name, input)| name.len() + input.to_string().len()).sum::<usize>();
        estimate(n_bytes + self.text.len())
    }
}

/// The language of the answer, with the data of all languages.
struct Voice<'a> {
    language: &'a Language,
    lang: Lang,
}

impl<'a> Voice<'a> {
    /// The language of this message, or of the last message with a recognised language.
    fn new(language: &'a Language, scene: &Scene) -> Self {
        let lang = scene.backwards().find_map(|exchange| language.lang(&exchange.message));
        Self { language, lang: lang.unwrap_or(Lang::En) }
    }

    fn say(&self, phrase: Phrase, gaps: &[&str]) -> String {
        self.language.phrases.say(self.lang, phrase, gaps)
    }

    fn talk(&self, talk: Talk, help: Phrase) -> String {
        match talk {
            Talk::Greet => format!("{} {}", self.say(Phrase::Hello, &[]), self.say(help, &[])),
            Talk::Thanks => self.say(Phrase::Welcome, &[]),
            Talk::Bye => self.say(Phrase::Bye, &[]),
            Talk::Help => format!("{}\n\n{}", self.say(help, &[]), self.say(Phrase::WhoAmI, &[])),
            Talk::Who => self.say(Phrase::WhoAmI, &[]),
            Talk::Offtopic | Talk::Errand => format!("{}\n\n{}", self.say(Phrase::Offtopic, &[]), self.say(help, &[])),
            // A yes or no without a question.
            Talk::Yes | Talk::No => self.say(help, &[]),
        }
    }
}

fn next_step(voice: &Voice, scene: &Scene) -> Step {
    if words(&scene.now.message).len() > MAX_WORDS {
        return Step::says(voice.say(Phrase::TooLong, &[]));
    }
    let step = match (scene.has("add_task"), scene.has("semanticSearch")) {
        (true, true) if tasks::is_for_tasks(voice.language, scene) => tasks::next_step(voice, scene),
        (true, false) => tasks::next_step(voice, scene),
        (_, true) => discover::next_step(voice, scene),
        (false, false) => Step::says(voice.say(Phrase::NoTools, &[])),
    };
    let step = only_offered(voice, scene, step);
    if !step.calls.is_empty() && !scene.may_call_tools {
        return Step::says(voice.say(Phrase::OutOfSteps, &[]));
    }
    step
}

/// Removes the calls of tools that this conversation does not have.
fn only_offered(voice: &Voice, scene: &Scene, mut step: Step) -> Step {
    let n_calls = step.calls.len();
    step.calls.retain(|(name, _)| scene.has(name));
    if n_calls > 0 && step.calls.is_empty() { Step::says(voice.say(Phrase::NoTools, &[])) } else { step }
}

fn tokens(message: &Message) -> u64 {
    estimate(message.content.iter().map(|block| serde_json::to_string(block).map_or(0, |text| text.len())).sum())
}

/// Estimates four bytes per token.
fn estimate(n_bytes: usize) -> u64 {
    u64::try_from(n_bytes.div_ceil(4)).unwrap_or(u64::MAX)
}
