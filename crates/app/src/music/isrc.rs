//! ISRC: the code of a recording, accepted as people write it and kept in one form.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Twelve characters, upper case, no separators: `USRC12345678`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Isrc(String);

/// Why a text is not an ISRC, for the person who typed it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotAnIsrc(pub String);

impl Isrc {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Isrc {
    type Err = NotAnIsrc;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let code: String = text.chars().filter(|c| !matches!(c, '-' | ' ')).collect::<String>().to_ascii_uppercase();
        if code.len() != 12 || !code.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return Err(NotAnIsrc("an ISRC has 12 letters and digits".into()));
        }
        Ok(Self(code))
    }
}

impl TryFrom<String> for Isrc {
    type Error = NotAnIsrc;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Isrc> for String {
    fn from(isrc: Isrc) -> Self {
        isrc.0
    }
}

impl fmt::Display for Isrc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
