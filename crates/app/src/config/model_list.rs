//! The models of `SEGUE_MODELS`: `name=provider:model`, optionally with prices.

use engine::Usage;
use providers::{PROVIDERS, Provider};

use super::ModelChoice;

/// One entry of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedModel {
    pub name: String,
    pub choice: ModelChoice,
    pub price: Option<Price>,
}

/// In US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    pub input: f64,
    pub output: f64,
}

impl Price {
    #[allow(clippy::cast_precision_loss, reason = "fewer tokens than 2^52")]
    pub fn of(self, usage: &Usage) -> f64 {
        (usage.input_tokens as f64 * self.input + usage.output_tokens as f64 * self.output) / 1e6
    }
}

/// Parses `provider:model`, or returns the problem.
pub(crate) fn parse_choice(text: &str) -> Result<ModelChoice, String> {
    let (provider, model) = text.split_once(':').unwrap_or((text, ""));
    let model = Some(model.to_owned()).filter(|model| !model.is_empty());
    if provider == "offline" {
        return Ok(ModelChoice::Offline);
    }
    match Provider::named(provider) {
        Some(provider) => Ok(ModelChoice::Of { provider, model }),
        None => {
            let known = PROVIDERS.iter().map(|provider| format!("{}:<model>", provider.name));
            Err(format!("'{text}' is not {}", one_of(std::iter::once("offline".to_owned()).chain(known))))
        }
    }
}

/// "a, b or c".
pub(crate) fn one_of(names: impl IntoIterator<Item = impl Into<String>>) -> String {
    let mut names: Vec<String> = names.into_iter().map(Into::into).collect();
    match names.pop() {
        Some(last) if !names.is_empty() => format!("{} or {last}", names.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// "ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENAI_BASE_URL": what to set for a model.
pub fn settings_for_a_model() -> String {
    one_of(PROVIDERS.iter().flat_map(Provider::selecting))
}

/// `fast=openai:small-1 @0.2/0.8, deep=anthropic:large-2`.
pub(crate) fn parse_list(text: &str) -> Result<Vec<NamedModel>, String> {
    let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    let models = entries.map(parse_entry).collect::<Result<Vec<_>, _>>()?;
    for (at, model) in models.iter().enumerate() {
        if models[..at].iter().any(|other| other.name == model.name) {
            return Err(format!("'{}' is in the list twice", model.name));
        }
    }
    Ok(models)
}

fn parse_entry(entry: &str) -> Result<NamedModel, String> {
    let (name, model) = entry.split_once('=').ok_or_else(|| format!("'{entry}' is not name=provider:model"))?;
    let name = name.trim();
    if name.is_empty() || name.chars().count() > 60 {
        return Err(format!("the name in '{entry}' must have 1 to 60 characters"));
    }
    let (model, price) = match model.rsplit_once(" @") {
        Some((model, price)) => (model.trim(), Some(parse_price(price.trim())?)),
        None => (model.trim(), None),
    };
    let choice = parse_choice(model)?;
    if choice.is_unnamed() {
        return Err(format!("'{entry}' names no model"));
    }
    Ok(NamedModel { name: name.to_owned(), choice, price })
}

fn parse_price(text: &str) -> Result<Price, String> {
    let wrong = || format!("the price '{text}' is not <input>/<output> in dollars per million tokens");
    let (input, output) = text.split_once('/').ok_or_else(wrong)?;
    let number = |part: &str| part.trim().parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0).ok_or_else(wrong);
    Ok(Price { input: number(input)?, output: number(output)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_models_with_and_without_prices_and_errors_name_the_problem() {
        let list = parse_list("fast=openai:qwen2.5:7b @0.5/2, deep=anthropic:large").expect("a list");
        assert_eq!(list[0].choice, parse_choice("openai:qwen2.5:7b").expect("a choice"));
        assert_eq!(
            parse_choice("cloud:x"),
            Err("'cloud:x' is not offline, anthropic:<model> or openai:<model>".to_owned())
        );
        assert_eq!(list[0].price, Some(Price { input: 0.5, output: 2.0 }));
        assert_eq!((list[1].name.as_str(), list[1].price), ("deep", None));
        let usage = Usage { input_tokens: 2_000_000, output_tokens: 500_000, ..Usage::default() };
        assert!((list[0].price.expect("a price").of(&usage) - 2.0).abs() < 1e-9);
        for wrong in
            ["fast", "=openai:x", "a=openai", "a=cloud:x", "a=openai:x @1", "a=openai:x @-1/2", "a=openai:x,a=openai:y"]
        {
            assert!(parse_list(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_list("").expect("no list"), Vec::new());
    }
}
