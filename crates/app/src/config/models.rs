//! Which model and which embedder answer, and which keys they get.

use super::{ConfigError, Secret, problem, values::Values};
use crate::models;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelChoice {
    Offline,
    /// None: the vendor's current model.
    Anthropic(Option<String>),
    OpenAi(Option<String>),
}

/// A remote embedder.
#[derive(Clone, Debug)]
pub struct Embeddings {
    pub url: String,
    pub model: String,
    pub key: Option<Secret>,
}

/// Whether a key for one address may be sent to the other.
fn is_same_origin(one: &str, other: &str) -> bool {
    match (one.parse::<reqwest::Url>(), other.parse::<reqwest::Url>()) {
        (Ok(one), Ok(other)) => one.origin() == other.origin(),
        _ => false,
    }
}

impl Values<'_> {
    pub(super) fn model(&self) -> Result<ModelChoice, ConfigError> {
        let Some(choice) = self.text("SEGUE_MODEL") else {
            return Ok(if self.text("ANTHROPIC_API_KEY").is_some() {
                ModelChoice::Anthropic(None)
            } else if self.text("OPENAI_API_KEY").or_else(|| self.text("OPENAI_BASE_URL")).is_some() {
                ModelChoice::OpenAi(None)
            } else {
                ModelChoice::Offline
            });
        };
        models::parse_choice(&choice).map_err(|why| problem("SEGUE_MODEL", why))
    }

    pub(super) fn is_model_set(&self) -> bool {
        let names = ["SEGUE_MODEL", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"];
        names.iter().any(|name| self.text(name).is_some())
    }

    pub(super) fn small_model(&self) -> Result<Option<ModelChoice>, ConfigError> {
        let Some(choice) = self.text("SEGUE_SMALL_MODEL") else { return Ok(None) };
        match models::parse_choice(&choice) {
            Ok(ModelChoice::Offline) => Err(problem("SEGUE_SMALL_MODEL", "the offline model cannot describe music")),
            Ok(ModelChoice::OpenAi(None) | ModelChoice::Anthropic(None)) => {
                Err(problem("SEGUE_SMALL_MODEL", format!("'{choice}' names no model")))
            }
            Ok(choice) => Ok(Some(choice)),
            Err(why) => Err(problem("SEGUE_SMALL_MODEL", why)),
        }
    }

    pub(super) fn model_ports(&self) -> Result<Vec<u16>, ConfigError> {
        let ports = self.list("SEGUE_MODEL_PORTS").into_iter().filter(|port| port != "off");
        let wrong = |port: &str| problem("SEGUE_MODEL_PORTS", format!("'{port}' is not a port or off"));
        ports.map(|port| port.parse().map_err(|_| wrong(&port))).collect()
    }

    pub(super) fn embeddings(&self) -> Option<Embeddings> {
        let url = self.text("SEGUE_EMBEDDINGS_URL")?;
        let model = self.text("SEGUE_EMBEDDINGS_MODEL").unwrap_or_default();
        let of_openai =
            || self.secret("OPENAI_API_KEY").filter(|_| is_same_origin(&url, &self.or_default("OPENAI_BASE_URL")));
        let key = self.secret("SEGUE_EMBEDDINGS_API_KEY").or_else(of_openai);
        Some(Embeddings { url, model, key })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn the_model_is_picked_from_the_keys_that_are_there() {
        use ModelChoice::{Anthropic, Offline, OpenAi};
        let cases: [(&[(&str, &str)], ModelChoice); 6] = [
            (&[], Offline),
            (&[("OPENAI_API_KEY", "k")], OpenAi(None)),
            (&[("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1")], OpenAi(None)),
            (&[("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")], Anthropic(None)),
            (&[("ANTHROPIC_API_KEY", "k"), ("SEGUE_MODEL", "offline")], Offline),
            (&[("OPENAI_API_KEY", "k"), ("SEGUE_MODEL", "openai:small")], OpenAi(Some("small".into()))),
        ];
        for (settings, expected) in cases {
            let lookup =
                |name: &str| settings.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into());
            assert_eq!(Config::from_lookup(lookup).expect("the settings are right").model, expected, "{settings:?}");
        }
    }

    #[test]
    fn a_key_goes_only_to_the_service_it_belongs_to() {
        let key_for = |settings: &[(&str, &str)]| {
            let lookup =
                |name: &str| settings.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into());
            let config = Config::from_lookup(lookup).expect("the settings are right");
            config.embeddings.and_then(|embeddings| embeddings.key).map(|key| key.expose().to_owned())
        };
        let openai = ("OPENAI_API_KEY", "sk-openai");
        let elsewhere = ("SEGUE_EMBEDDINGS_URL", "http://tei.example:8080");
        assert_eq!(key_for(&[openai, elsewhere]), None);
        assert_eq!(key_for(&[openai, ("SEGUE_EMBEDDINGS_URL", "http://api.openai.com/v1")]), None, "another scheme");
        assert_eq!(key_for(&[openai, ("SEGUE_EMBEDDINGS_URL", "https://api.openai.com/v1")]), Some("sk-openai".into()));
        assert_eq!(key_for(&[openai, elsewhere, ("SEGUE_EMBEDDINGS_API_KEY", "own")]), Some("own".into()));
        let local = [openai, ("OPENAI_BASE_URL", "http://ollama:1/v1"), ("SEGUE_EMBEDDINGS_URL", "http://ollama:1")];
        assert_eq!(key_for(&local), Some("sk-openai".into()));
    }
}
