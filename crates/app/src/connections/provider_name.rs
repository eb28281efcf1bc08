//! A provider in requests, answers and stored connections: its name, and what the settings page shows of it.

use std::borrow::Cow;

use providers::{PROVIDERS, Provider};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::config::one_of;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderName(pub(super) &'static Provider);

impl Serialize for ProviderName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name)
    }
}

impl<'de> Deserialize<'de> for ProviderName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let unknown = || {
            let known = one_of(PROVIDERS.iter().map(|provider| format!("`{}`", provider.name)));
            D::Error::custom(format!("unknown variant `{name}`, expected {known}"))
        };
        Provider::named(&name).map(Self).ok_or_else(unknown)
    }
}

impl JsonSchema for ProviderName {
    fn schema_name() -> Cow<'static, str> {
        "Provider".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<_> = PROVIDERS.iter().map(|provider| provider.name).collect();
        json_schema!({"type": "string", "enum": names})
    }
}

/// A provider that can be connected on the settings page.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderLine {
    pub name: ProviderName,
    /// The name for users.
    pub title: &'static str,
    /// The server that is used if no other is named.
    pub url: &'static str,
}

/// The providers, in the order in which the page lists them.
pub fn providers() -> Vec<ProviderLine> {
    let line = |provider: &'static Provider| ProviderLine {
        name: ProviderName(provider),
        title: provider.title,
        url: provider.base_url.default,
    };
    PROVIDERS.iter().map(line).collect()
}
