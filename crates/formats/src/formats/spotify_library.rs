//! `YourLibrary.json` of a data export of Spotify: saved tracks and saved albums.

use crate::{
    format::{Format, Holds},
    json::{self, Element, Names, Step},
    track::Entry,
};

pub(super) const FORMAT: Format = Format {
    id: "spotifyLibrary",
    name: "Spotify library",
    holds: Holds::Tracks,
    recognise: |beginning| beginning.has_members(&["tracks"]),
    entries: |source| json::entries(source, &[Step::Keys(&["tracks", ALBUMS]), Step::Each], "", entry),
};

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
