//! A provider as data: its names, its settings and how a model of it is made. `PROVIDERS` in `lib.rs` lists all of them.

use std::{fmt, sync::Arc};

use super::{Http, PROVIDERS, Probed, SetupError};

/// A setting of a provider: the name of the variable, its default and its line in the reference.
#[derive(Clone, Copy)]
pub struct Variable {
    pub name: &'static str,
    pub default: &'static str,
    pub help: &'static str,
}

/// What differs between providers. No other place of Segue names one.
#[derive(Clone, Copy)]
pub struct Provider {
    /// In `SEGUE_MODEL=<name>:<model>`, in `SEGUE_MODELS` and in stored connections, so it never changes.
    pub name: &'static str,
    /// The name for users.
    pub title: &'static str,
    pub key: Variable,
    /// Its default is the vendor's own server.
    pub base_url: Variable,
    /// The vendor's model, if no setting names one.
    pub default_model: &'static str,
    /// Whether other servers have the same API. They need no key, and they list their models as OpenAI does: the base URL
    /// alone selects such a server, and the server names the model.
    pub has_other_servers: bool,
    pub connect: Connect,
}

/// Makes the model with this name. It sends no request.
pub type Connect =
    fn(http: Http, base_url: &str, key: Option<&str>, model: &str) -> Result<Arc<dyn Probed>, SetupError>;

impl Provider {
    pub fn named(name: &str) -> Option<&'static Self> {
        PROVIDERS.iter().find(|provider| provider.name == name)
    }

    /// The settings that select this provider, if `SEGUE_MODEL` does not name one.
    pub fn selecting(&self) -> impl Iterator<Item = &'static str> + use<> {
        let base_url = self.has_other_servers.then_some(self.base_url.name);
        [self.key.name].into_iter().chain(base_url)
    }

    /// Whether a server at this address requires a key.
    pub fn needs_key(&self, base_url: &str) -> bool {
        !self.has_other_servers || base_url == self.base_url.default
    }
}

impl PartialEq for Provider {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Provider {}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, path::Path};

    use super::*;

    #[test]
    fn every_provider_has_names_of_its_own_and_recorded_replies() {
        let mut names = HashSet::new();
        for provider in PROVIDERS {
            let own = [provider.name, provider.title, provider.key.name, provider.base_url.name];
            assert!(own.iter().all(|name| !name.is_empty() && names.insert(*name)), "{provider:?}: {own:?}");
            assert_eq!(provider.key.default, "", "{provider:?}: a key has no default");
            let Provider { default_model, base_url, .. } = provider;
            let model = (provider.connect)(Http::new().unwrap(), base_url.default, Some("key"), default_model).unwrap();
            assert_eq!(model.id(), format!("{}:{default_model}", provider.name));
            for reply in ["text.sse", "one_call.sse", "noise.sse"] {
                let recorded =
                    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models").join(provider.name).join(reply);
                assert!(recorded.exists(), "{} is missing", recorded.display());
            }
        }
    }
}
