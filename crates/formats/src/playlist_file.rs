//! Writes playlist files: M3U8, XSPF, JSPF or CSV.

use quick_xml::{Writer, events::BytesText};
use serde_json::json;

use super::formula::formula_guarded;
use music::{Isrc, TrackId};

/// The content of a playlist file.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaylistContents {
    pub title: String,
    pub tracks: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// `None` if the track has no code.
    pub isrc: Option<Isrc>,
    /// Our id of the recording.
    pub id: TrackId,
    pub title: String,
    pub artist: String,
    pub album: Option<String>,
    /// Seconds.
    pub duration: Option<f64>,
    pub tidal_id: Option<String>,
    /// Path or URL of the audio, for players.
    pub location: Option<String>,
    /// Why this track is in the playlist.
    pub note: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    M3u8,
    Xspf,
    Jspf,
    Csv,
}

impl Format {
    pub const ALL: [Self; 4] = [Self::M3u8, Self::Xspf, Self::Jspf, Self::Csv];

    /// By the name in a URL: `?format=m3u8`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.extension().eq_ignore_ascii_case(name))
    }

    pub fn extension(self) -> &'static str {
        match self {
            Self::M3u8 => "m3u8",
            Self::Xspf => "xspf",
            Self::Jspf => "jspf",
            Self::Csv => "csv",
        }
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Self::M3u8 => "audio/x-mpegurl; charset=utf-8",
            Self::Xspf => "application/xspf+xml",
            Self::Jspf => "application/jspf+json",
            Self::Csv => "text/csv; charset=utf-8",
        }
    }

    pub fn write(self, playlist: &PlaylistContents) -> String {
        match self {
            Self::M3u8 => m3u8(playlist),
            Self::Xspf => xspf(playlist),
            Self::Jspf => jspf(playlist),
            Self::Csv => csv(playlist),
        }
    }
}

impl Entry {
    /// Where a player finds the track: its audio, or else its page at Tidal.
    fn location(&self) -> Option<String> {
        self.location.clone().or_else(|| self.tidal_id.as_deref().map(tidal_page))
    }

    /// The identity of the track, independent of its location.
    fn identifier(&self) -> String {
        match &self.isrc {
            Some(isrc) => format!("urn:isrc:{isrc}"),
            None => format!("urn:uuid:{}", self.id),
        }
    }

    fn duration_ms(&self) -> Option<u64> {
        // A negative or very large length becomes 0 or the largest number, without a panic.
        self.duration.map(|seconds| (seconds * 1000.0).round() as u64)
    }
}

fn tidal_page(id: &str) -> String {
    let mut page = url::Url::parse("https://tidal.com/browse/track/").expect("a constant URL is valid");
    page.path_segments_mut().expect("an https URL has a path").pop_if_empty().push(id);
    page.into()
}

fn m3u8(playlist: &PlaylistContents) -> String {
    let mut file = format!("#EXTM3U\n#PLAYLIST:{}\n", one_line(&playlist.title));
    for entry in &playlist.tracks {
        let seconds = entry.duration.map_or(-1, |seconds| seconds.round() as i64);
        file += &format!("#EXTINF:{seconds},{} - {}\n", one_line(&entry.artist), one_line(&entry.title));
        if let Some(album) = &entry.album {
            file += &format!("#EXTALB:{}\n", one_line(album));
        }
        match entry.location() {
            Some(location) => file += &format!("{}\n", one_line(&location)),
            // Players skip an entry that they cannot open; importers, including ours, read the code.
            None => file += &format!("# No audio is known here for this recording.\n{}\n", entry.identifier()),
        }
    }
    file
}

fn xspf(playlist: &PlaylistContents) -> String {
    let mut file = Writer::new_with_indent(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_vec(), b' ', 2);
    let root = file.create_element("playlist").with_attributes([("version", "1"), ("xmlns", "http://xspf.org/ns/0/")]);
    let written = root.write_inner_content(|file| {
        element(file, "title", &playlist.title)?;
        file.create_element("trackList")
            .write_inner_content(|file| playlist.tracks.iter().try_for_each(|entry| xspf_track(file, entry)))?;
        Ok(())
    });
    written.expect("writing to memory does not fail");
    let mut file = String::from_utf8(file.into_inner()).expect("made of strings");
    file.push('\n');
    file
}

/// The order of the elements is the order of the XSPF schema.
fn xspf_track(file: &mut Writer<Vec<u8>>, entry: &Entry) -> std::io::Result<()> {
    let code = entry.identifier();
    let elements = [
        ("location", entry.location()),
        ("identifier", Some(code)),
        ("title", Some(entry.title.clone())),
        ("creator", Some(entry.artist.clone())),
        ("annotation", entry.note.clone()),
        ("album", entry.album.clone()),
        ("duration", entry.duration_ms().map(|ms| ms.to_string())),
    ];
    let track = file.create_element("track").write_inner_content(|file| {
        elements.iter().try_for_each(|(name, text)| text.as_ref().map_or(Ok(()), |text| element(file, name, text)))
    });
    track.map(|_| ())
}

fn element(file: &mut Writer<Vec<u8>>, name: &str, text: &str) -> std::io::Result<()> {
    // XML 1.0 does not allow these characters, not even escaped.
    let is_allowed = |c: &char| (!c.is_control() || matches!(c, '\t' | '\n')) && !matches!(c, '\u{fffe}' | '\u{ffff}');
    let text: String = text.chars().filter(is_allowed).collect();
    file.create_element(name).write_text_content(BytesText::new(&text)).map(|_| ())
}

fn jspf(playlist: &PlaylistContents) -> String {
    let tracks: Vec<_> = playlist
        .tracks
        .iter()
        .map(|entry| {
            let mut track = json!({
                "identifier": [entry.identifier()],
                "title": entry.title,
                "creator": entry.artist,
            });
            let optional = [
                ("location", entry.location().map(|location| json!([location]))),
                ("annotation", entry.note.as_ref().map(|note| json!(note))),
                ("album", entry.album.as_ref().map(|album| json!(album))),
                ("duration", entry.duration_ms().map(|ms| json!(ms))),
            ];
            for (key, value) in optional {
                if let Some(value) = value {
                    track[key] = value;
                }
            }
            track
        })
        .collect();
    format!("{:#}\n", json!({"playlist": {"title": playlist.title, "track": tracks}}))
}

fn csv(playlist: &PlaylistContents) -> String {
    let mut table = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(vec![]);
    let rows = playlist.tracks.iter().map(|entry| {
        let text = |text: Option<&str>| formula_guarded(text.unwrap_or_default()).into_owned();
        [
            text(Some(&entry.title)),
            text(Some(&entry.artist)),
            text(entry.album.as_deref()),
            text(entry.isrc.as_ref().map(Isrc::as_str)),
            entry.duration.map(|seconds| seconds.round().to_string()).unwrap_or_default(),
            text(entry.tidal_id.as_deref()),
            text(entry.note.as_deref()),
        ]
    });
    let heading = ["Title", "Artist", "Album", "ISRC", "Duration (s)", "Tidal ID", "Note"].map(str::to_owned);
    for row in std::iter::once(heading).chain(rows) {
        table.write_record(row).expect("writing to memory does not fail, and all rows are as long");
    }
    let bytes = table.into_inner().expect("writing to memory does not fail");
    String::from_utf8(bytes).expect("made of strings")
}

/// M3U8 is line-based: a line break inside a title would start another entry.
fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn playlist() -> PlaylistContents {
        let entry = |code: &str, title: &str, artist: &str| Entry {
            isrc: Some(code.parse().unwrap()),
            id: TrackId::of_isrc(&code.parse().unwrap()),
            title: title.into(),
            artist: artist.into(),
            album: None,
            duration: None,
            tidal_id: None,
            location: None,
            note: None,
        };
        PlaylistContents {
            title: "Rain & <Wind>\nlate".into(),
            tracks: vec![
                Entry {
                    album: Some("Low Tide".into()),
                    duration: Some(221.4),
                    tidal_id: Some("75413016".into()),
                    note: Some("Opens \"quietly\", then\nbuilds".into()),
                    ..entry("XTDBL2600001", "Paper, Lanterns", "Ivy Marlow")
                },
                entry("XTDBL2600002", "=HYPERLINK(\"x\")", "Björn\u{0}Åle\r\n#EXTINF:1,Fake"),
            ],
        }
    }

    #[test]
    fn m3u8_keeps_one_line_per_track() {
        expect![[r#"
            #EXTM3U
            #PLAYLIST:Rain & <Wind> late
            #EXTINF:221,Ivy Marlow - Paper, Lanterns
            #EXTALB:Low Tide
            https://tidal.com/browse/track/75413016
            #EXTINF:-1,Björn Åle #EXTINF:1,Fake - =HYPERLINK("x")
            # No audio is known here for this recording.
            urn:isrc:XTDBL2600002
        "#]]
        .assert_eq(&Format::M3u8.write(&playlist()));
    }

    #[test]
    fn m3u8_contains_the_audio_location_if_it_is_known() {
        let mut playlist = playlist();
        playlist.tracks[0].location = Some("/music/Ivy Marlow/Low Tide/01.flac".into());
        playlist.tracks[1].location = Some("https://music.example/a\n#EXTINF".into());
        let written = Format::M3u8.write(&playlist);
        assert!(written.contains("\n/music/Ivy Marlow/Low Tide/01.flac\n"), "{written}");
        assert!(written.ends_with("\nhttps://music.example/a #EXTINF\n"), "{written}");
    }

    #[test]
    fn xspf_escapes_and_follows_the_schema_order() {
        expect![[r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <playlist version="1" xmlns="http://xspf.org/ns/0/">
              <title>Rain &amp; &lt;Wind&gt;
            late</title>
              <trackList>
                <track>
                  <location>https://tidal.com/browse/track/75413016</location>
                  <identifier>urn:isrc:XTDBL2600001</identifier>
                  <title>Paper, Lanterns</title>
                  <creator>Ivy Marlow</creator>
                  <annotation>Opens &quot;quietly&quot;, then
            builds</annotation>
                  <album>Low Tide</album>
                  <duration>221400</duration>
                </track>
                <track>
                  <identifier>urn:isrc:XTDBL2600002</identifier>
                  <title>=HYPERLINK(&quot;x&quot;)</title>
                  <creator>BjörnÅle
            #EXTINF:1,Fake</creator>
                </track>
              </trackList>
            </playlist>
        "#]]
        .assert_eq(&Format::Xspf.write(&playlist()));
    }

    #[test]
    fn jspf_is_json_with_identifiers_in_arrays() {
        let written: serde_json::Value = serde_json::from_str(&Format::Jspf.write(&playlist())).unwrap();
        assert_eq!(
            written,
            json!({"playlist": {"title": "Rain & <Wind>\nlate", "track": [
                {"identifier": ["urn:isrc:XTDBL2600001"], "location": ["https://tidal.com/browse/track/75413016"],
                 "title": "Paper, Lanterns", "creator": "Ivy Marlow", "album": "Low Tide", "duration": 221400,
                 "annotation": "Opens \"quietly\", then\nbuilds"},
                {"identifier": ["urn:isrc:XTDBL2600002"], "title": "=HYPERLINK(\"x\")",
                 "creator": "Björn\u{0}Åle\r\n#EXTINF:1,Fake"},
            ]}})
        );
    }

    #[test]
    fn csv_is_quoted_and_formulas_are_guarded() {
        assert_eq!(
            Format::Csv.write(&playlist()),
            "Title,Artist,Album,ISRC,Duration (s),Tidal ID,Note\r\n\
             \"Paper, Lanterns\",Ivy Marlow,Low Tide,XTDBL2600001,221,75413016,\"Opens \"\"quietly\"\", then\nbuilds\"\r\n\
             \"'=HYPERLINK(\"\"x\"\")\",\"Björn\u{0}Åle\r\n#EXTINF:1,Fake\",,XTDBL2600002,,,\r\n"
        );
    }

    #[test]
    fn a_format_is_found_by_its_name() {
        for format in Format::ALL {
            assert_eq!(Format::named(format.extension()), Some(format));
        }
        assert_eq!(Format::named("docx"), None);
    }
}
