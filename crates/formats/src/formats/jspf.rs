//! JSPF, the JSON form of XSPF: <https://www.xspf.org/jspf>.

use serde_json::Value;

use crate::{
    format::{Format, Holds},
    json::{self, Element, Names, Step, number, text},
    spelling::{milliseconds, moment},
    track::Entry,
};

pub(super) const FORMAT: Format = Format {
    id: "jspf",
    name: "JSPF playlist",
    holds: Holds::Playlist,
    recognise: |beginning| beginning.has_members(&["playlist"]),
    entries: |source| {
        json::entries(source, &[Step::Keys(&["playlist"]), Step::Keys(&["track"]), Step::Each], "title", entry)
    },
};

const NAMES: Names = Names { title: "/title", artist: "/creator", album: "/album", link: "" };

fn entry(element: &Element) -> Entry {
    let value = &element.value;
    let mut track = element.track(&NAMES);
    track.duration = number(value, "/duration").and_then(|ms| milliseconds(&ms.to_string()));
    track.track_number = number(value, "/trackNum").map(|number| number as u32);
    // Both were texts in old versions and are lists in new ones.
    for member in ["/location", "/identifier"] {
        let one = text(value, member).into_iter();
        let many = value.pointer(member).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        one.chain(many).for_each(|link| track.set_link(link));
    }
    let extension = "/extension/https:~1~1musicbrainz.org~1doc~1jspf#track/added_at";
    track.added_at = text(value, extension).and_then(moment);
    track.finish()
}
