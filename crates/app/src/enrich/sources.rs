//! The external sources of track data, with the URLs of the settings and the rate limit of each.

use std::{net::IpAddr, sync::Arc};

use anyhow::Context;
use reqwest::Url;

use crate::config::SourceUrls;
use http_client::service::Rate;
use sources::{
    deezer::{self, Deezer},
    lrclib::{self, Lrclib},
    musicbrainz::{self, MusicBrainz},
    reccobeats::{self, ReccoBeats},
};

/// One client per source for the whole process, so that all its requests share one rate limit.
#[derive(Clone)]
pub(crate) struct Sources {
    pub(crate) lrclib: Option<Arc<Lrclib>>,
    pub(crate) reccobeats: Option<Arc<ReccoBeats>>,
    pub(crate) musicbrainz: Option<Arc<MusicBrainz>>,
    pub(crate) deezer: Option<Arc<Deezer>>,
}

impl Sources {
    pub(crate) fn new(urls: &SourceUrls) -> anyhow::Result<Self> {
        Ok(Self {
            lrclib: client(&urls.lrclib, lrclib::RATE, Lrclib::new).context("LRCLIB_URL")?,
            reccobeats: client(&urls.reccobeats, reccobeats::RATE, ReccoBeats::new).context("RECCOBEATS_URL")?,
            musicbrainz: client(&urls.musicbrainz, musicbrainz::RATE, MusicBrainz::new).context("MUSICBRAINZ_URL")?,
            deezer: client(&urls.deezer, deezer::RATE, Deezer::new).context("DEEZER_URL")?,
        })
    }
}

fn client<C>(
    url: &Option<String>,
    published: Rate,
    new: fn(&str, Rate) -> anyhow::Result<C>,
) -> anyhow::Result<Option<Arc<C>>> {
    let Some(url) = url else { return Ok(None) };
    // A service on this machine belongs to the operator and needs no rate limit.
    let rate = if is_on_this_machine(url) { Rate::UNLIMITED } else { published };
    Ok(Some(Arc::new(new(url, rate)?)))
}

fn is_on_this_machine(url: &str) -> bool {
    let Ok(url) = url.parse::<Url>() else { return false };
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::is_on_this_machine;

    #[test]
    fn only_a_loopback_address_has_no_rate_limit() {
        for near in ["http://127.0.0.1:9102/lrclib", "http://[::1]:9102", "http://localhost/x"] {
            assert!(is_on_this_machine(near), "{near}");
        }
        for far in ["https://lrclib.net", "http://127.0.0.1.example.org", "http://10.0.0.1", "localhost"] {
            assert!(!is_on_this_machine(far), "{far}");
        }
    }
}
