//! One value of a setting, read as a text, a number, a list or an address.

use std::{collections::BTreeSet, str::FromStr};

use super::{ConfigError, SETTINGS, Secret, problem};

#[derive(Clone, Debug)]
pub struct Endpoint {
    pub url: String,
    pub key: Option<Secret>,
}

pub(super) fn web_url(name: &'static str, text: &str) -> Result<reqwest::Url, ConfigError> {
    let url: reqwest::Url = text.parse().map_err(|error| problem(name, error))?;
    if !matches!(url.scheme(), "https" | "http") {
        return Err(problem(name, "must begin with https:// (or http:// inside a private network)"));
    }
    Ok(url)
}

/// Reads settings by name.
pub(super) struct Values<'a> {
    pub(super) lookup: &'a dyn Fn(&str) -> Option<String>,
}

impl Values<'_> {
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let value = (self.lookup)(name).map(|value| value.trim().to_owned());
        value.filter(|value| !value.is_empty())
    }

    pub(super) fn or_default(&self, name: &str) -> String {
        let default = SETTINGS.iter().find(|setting| setting.name == name).map_or("", |setting| setting.default);
        self.text(name).unwrap_or_else(|| default.to_owned())
    }

    pub(super) fn parsed<T: FromStr<Err: std::fmt::Display>>(&self, name: &str) -> Result<T, ConfigError> {
        let value = self.or_default(name);
        value.parse().map_err(|error| problem(name, format!("'{value}' cannot be used: {error}")))
    }

    pub(super) fn is_on(&self, name: &str) -> Result<bool, ConfigError> {
        match self.or_default(name).as_str() {
            "on" => Ok(true),
            "off" => Ok(false),
            other => Err(problem(name, format!("'{other}' is not on or off"))),
        }
    }

    pub(super) fn secret(&self, name: &str) -> Option<Secret> {
        self.text(name).map(Secret::new)
    }

    pub(super) fn endpoint(&self, url: &str, key: &str) -> Endpoint {
        Endpoint { url: self.or_default(url).trim_end_matches('/').to_owned(), key: self.secret(key) }
    }

    /// As they are written: ids of other issuers are case-sensitive.
    pub(super) fn names(&self, name: &str) -> Vec<String> {
        let value = self.or_default(name);
        value.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
    }

    pub(super) fn list(&self, name: &str) -> Vec<String> {
        let value = self.or_default(name);
        value.split(',').map(|part| part.trim().to_ascii_lowercase()).filter(|part| !part.is_empty()).collect()
    }

    pub(super) fn set(&self) -> BTreeSet<&'static str> {
        SETTINGS.iter().map(|setting| setting.name).filter(|name| self.text(name).is_some()).collect()
    }
}
