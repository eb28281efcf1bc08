//! Where music and data about it come from: folders, and catalogues.

use super::{ConfigError, problem, values::Values};
use sources::tidal::{TidalConfig, TidalCredentials};

/// A watched folder of audio files, and the user whose library it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MusicDir {
    /// An account's name; none where there is one user.
    pub user: Option<String>,
    pub path: String,
}

impl MusicDir {
    fn parse(text: &str) -> Self {
        match text.split_once('=') {
            Some((user, path)) if !user.contains('/') => {
                Self { user: Some(user.trim().to_owned()), path: path.trim().to_owned() }
            }
            _ => Self { user: None, path: text.to_owned() },
        }
    }
}

/// The URLs of the sources of track data; `None` for a disabled one.
#[derive(Clone, Debug, Default)]
pub struct SourceUrls {
    pub lrclib: Option<String>,
    pub reccobeats: Option<String>,
    pub musicbrainz: Option<String>,
    pub deezer: Option<String>,
}

impl Values<'_> {
    pub(super) fn music_dirs(&self) -> Vec<MusicDir> {
        let text = self.text("SEGUE_MUSIC_DIR").unwrap_or_default();
        let parts = text.split(';').map(str::trim).filter(|part| !part.is_empty());
        parts.map(MusicDir::parse).collect()
    }

    pub(super) fn sources(&self) -> SourceUrls {
        let source = |name: &str| Some(self.or_default(name)).filter(|url| url != "off");
        SourceUrls {
            lrclib: source("LRCLIB_URL"),
            reccobeats: source("RECCOBEATS_URL"),
            musicbrainz: source("MUSICBRAINZ_URL"),
            deezer: source("DEEZER_URL"),
        }
    }

    pub(super) fn tidal(&self) -> Result<TidalConfig, ConfigError> {
        let credentials = match (self.text("TIDAL_CLIENT_ID"), self.text("TIDAL_CLIENT_SECRET")) {
            (Some(client_id), Some(client_secret)) => Some(TidalCredentials { client_id, client_secret }),
            (None, None) => None,
            (Some(_), None) => return Err(problem("TIDAL_CLIENT_SECRET", "is missing beside TIDAL_CLIENT_ID")),
            (None, Some(_)) => return Err(problem("TIDAL_CLIENT_ID", "is missing beside TIDAL_CLIENT_SECRET")),
        };
        Ok(TidalConfig {
            credentials,
            api_url: self.or_default("TIDAL_API_URL").trim_end_matches('/').to_owned(),
            auth_url: self.or_default("TIDAL_AUTH_URL").trim_end_matches('/').to_owned(),
            country: self.or_default("TIDAL_COUNTRY"),
        })
    }
}
