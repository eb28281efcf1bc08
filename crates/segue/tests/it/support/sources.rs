//! Test doubles for the four sources that need no key, all with the same data.

use doubles::{
    Running, deezer::DeezerDouble, lrclib::LrclibDouble, musicbrainz::MusicBrainzDouble, reccobeats::ReccoBeatsDouble,
    serve, world::World as Music,
};

pub(crate) struct Sources {
    pub(crate) lrclib: LrclibDouble,
    pub(crate) reccobeats: ReccoBeatsDouble,
    pub(crate) musicbrainz: MusicBrainzDouble,
    pub(crate) deezer: DeezerDouble,
    settings: Vec<(&'static str, String)>,
    _running: Vec<Running>,
}

impl Sources {
    pub(crate) async fn start(music: &Music) -> Self {
        let (lrclib, reccobeats) = (LrclibDouble::new(music.clone()), ReccoBeatsDouble::new(music.clone()));
        let (musicbrainz, deezer) = (MusicBrainzDouble::generous(music.clone()), DeezerDouble::generous(music.clone()));
        let routers = [
            ("LRCLIB_URL", lrclib.router()),
            ("RECCOBEATS_URL", reccobeats.router()),
            ("MUSICBRAINZ_URL", musicbrainz.router()),
            ("DEEZER_URL", deezer.router()),
        ];
        let (mut settings, mut running) = (vec![], vec![]);
        for (name, router) in routers {
            let server = serve(router).await.expect("a port");
            settings.push((name, format!("http://{}", server.addr)));
            running.push(server);
        }
        Self { lrclib, reccobeats, musicbrainz, deezer, settings, _running: running }
    }

    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        self.settings.clone()
    }

    /// The same, for a server in this process.
    pub(crate) fn borrowed(&self) -> Vec<(&'static str, &str)> {
        self.settings.iter().map(|(name, url)| (*name, url.as_str())).collect()
    }
}
