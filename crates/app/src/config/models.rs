//! Which model and which embedder answer, and which keys they get.

use providers::{PROVIDERS, Provider};

use super::{ConfigError, Endpoint, Secret, parse_choice, problem, values::Values};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelChoice {
    Offline,
    /// Without a name: the vendor's current model, or the one that its server names.
    Of {
        provider: &'static Provider,
        model: Option<String>,
    },
}

impl ModelChoice {
    /// Whether it has a provider and no model.
    pub(crate) fn is_unnamed(&self) -> bool {
        matches!(self, Self::Of { model: None, .. })
    }
}

/// The server and the key of each provider, in the order of `PROVIDERS`.
#[derive(Clone, Debug)]
pub struct ProviderEndpoints(Vec<Endpoint>);

impl ProviderEndpoints {
    pub(crate) fn of(&self, provider: &Provider) -> &Endpoint {
        &self.0[place_of(provider)]
    }

    pub(crate) fn set(&mut self, provider: &Provider, endpoint: Endpoint) {
        self.0[place_of(provider)] = endpoint;
    }

    pub fn iter(&self) -> impl Iterator<Item = &Endpoint> {
        self.0.iter()
    }
}

fn place_of(provider: &Provider) -> usize {
    PROVIDERS.iter().position(|known| known == provider).expect("every provider is in the list")
}

/// The settings that choose a model: without one of them, the operator may choose.
pub(crate) fn model_settings() -> Vec<&'static str> {
    ["SEGUE_MODEL"].into_iter().chain(PROVIDERS.iter().flat_map(Provider::selecting)).collect()
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
            let is_set = |provider: &&Provider| provider.selecting().any(|name| self.text(name).is_some());
            let selected = PROVIDERS.iter().find(is_set);
            return Ok(selected.map_or(ModelChoice::Offline, |provider| ModelChoice::Of { provider, model: None }));
        };
        parse_choice(&choice).map_err(|why| problem("SEGUE_MODEL", why))
    }

    pub(super) fn is_model_set(&self) -> bool {
        model_settings().iter().any(|name| self.text(name).is_some())
    }

    pub(super) fn providers(&self) -> ProviderEndpoints {
        let endpoints = PROVIDERS.iter().map(|provider| self.endpoint(provider.base_url.name, provider.key.name));
        ProviderEndpoints(endpoints.collect())
    }

    pub(super) fn small_model(&self) -> Result<Option<ModelChoice>, ConfigError> {
        let Some(choice) = self.text("SEGUE_SMALL_MODEL") else { return Ok(None) };
        match parse_choice(&choice) {
            Ok(ModelChoice::Offline) => Err(problem("SEGUE_SMALL_MODEL", "the offline model cannot describe music")),
            Ok(parsed) if parsed.is_unnamed() => {
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
        let cases: [(&[(&str, &str)], &str); 7] = [
            (&[], "offline"),
            (&[("OPENAI_API_KEY", "k")], "openai"),
            (&[("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1")], "openai"),
            (&[("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")], "offline"),
            (&[("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")], "anthropic"),
            (&[("ANTHROPIC_API_KEY", "k"), ("SEGUE_MODEL", "offline")], "offline"),
            (&[("OPENAI_API_KEY", "k"), ("SEGUE_MODEL", "openai:small")], "openai:small"),
        ];
        for (settings, expected) in cases {
            let expected = parse_choice(expected).expect("a choice");
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
