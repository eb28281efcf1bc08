//! `YourLibrary.json` of a data export of Spotify: saved tracks and saved albums.

use crate::{
    beginning::Beginning,
    format::{Entries, Format, Source},
    json::{self, Element, Names, Step},
    track::Entry,
};

pub(super) struct SpotifyLibrary;

impl Format for SpotifyLibrary {
    fn id(&self) -> &'static str {
        "spotifyLibrary"
    }

    fn name(&self) -> &'static str {
        "Spotify library"
    }

    fn recognise(&self, beginning: &Beginning) -> bool {
        beginning.has_members(&["tracks"])
    }

    fn entries(&self, source: Source) -> Entries {
        json::entries(source, &[Step::Keys(&["tracks", ALBUMS]), Step::Each], "", entry)
    }
}

const ALBUMS: &str = "albums";

const TRACK: Names = Names { title: "/track", artist: "/artist", album: "/album", link: "/uri" };
const ALBUM: Names = Names { title: "/album", artist: "/artist", album: "", link: "" };

fn entry(element: &Element) -> Entry {
    if element.key == ALBUMS {
        let mut album = element.track(&ALBUM);
        album.make_album();
        return album.finish();
    }
    element.track(&TRACK).finish()
}
