//! Playlist files: a playlist as M3U8, XSPF, JSPF or CSV, ready to save.

use std::fmt::Write;

use serde_json::json;

use music::{Isrc, TrackId};

/// What a playlist file can tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Playlist {
    pub title: String,
    pub tracks: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Absent where the track has none.
    pub isrc: Option<Isrc>,
    /// Our own id of the recording.
    pub id: TrackId,
    pub title: String,
    pub artist: String,
    pub album: Option<String>,
    /// Seconds.
    pub duration: Option<f64>,
    pub tidal_id: Option<String>,
    /// Why this track is here.
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

    /// By its name in a URL: `?format=m3u8`.
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

    pub fn write(self, playlist: &Playlist) -> String {
        match self {
            Self::M3u8 => m3u8(playlist),
            Self::Xspf => xspf(playlist),
            Self::Jspf => jspf(playlist),
            Self::Csv => csv(playlist),
        }
    }
}

impl Entry {
    /// Where a player finds the track: its page at Tidal, or else only what it is.
    fn location(&self) -> String {
        match &self.tidal_id {
            Some(id) => tidal_page(id),
            None => self.identifier(),
        }
    }

    /// What it is, wherever it may be.
    fn identifier(&self) -> String {
        match &self.isrc {
            Some(isrc) => format!("urn:isrc:{isrc}"),
            None => format!("urn:uuid:{}", self.id),
        }
    }

    fn duration_ms(&self) -> Option<u64> {
        // A negative or absurd length becomes 0 or the largest number, never a panic.
        self.duration.map(|seconds| (seconds * 1000.0).round() as u64)
    }
}

fn tidal_page(id: &str) -> String {
    let mut page = url::Url::parse("https://tidal.com/browse/track/").expect("a constant address is well formed");
    page.path_segments_mut().expect("an https address has a path").pop_if_empty().push(id);
    page.into()
}

fn m3u8(playlist: &Playlist) -> String {
    let mut file = format!("#EXTM3U\n#PLAYLIST:{}\n", one_line(&playlist.title));
    for entry in &playlist.tracks {
        let seconds = entry.duration.map_or(-1, |seconds| seconds.round() as i64);
        file += &format!("#EXTINF:{seconds},{} - {}\n", one_line(&entry.artist), one_line(&entry.title));
        if let Some(album) = &entry.album {
            file += &format!("#EXTALB:{}\n", one_line(album));
        }
        file += &format!("{}\n", entry.location());
    }
    file
}

fn xspf(playlist: &Playlist) -> String {
    let mut file = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    file += "<playlist version=\"1\" xmlns=\"http://xspf.org/ns/0/\">\n";
    element(&mut file, "  ", "title", &playlist.title);
    file += "  <trackList>\n";
    for entry in &playlist.tracks {
        file += "    <track>\n";
        // The order of the elements is the order of the XSPF schema.
        if let Some(id) = &entry.tidal_id {
            element(&mut file, "      ", "location", &tidal_page(id));
        }
        element(&mut file, "      ", "identifier", &entry.identifier());
        element(&mut file, "      ", "title", &entry.title);
        element(&mut file, "      ", "creator", &entry.artist);
        if let Some(note) = &entry.note {
            element(&mut file, "      ", "annotation", note);
        }
        if let Some(album) = &entry.album {
            element(&mut file, "      ", "album", album);
        }
        if let Some(ms) = entry.duration_ms() {
            element(&mut file, "      ", "duration", &ms.to_string());
        }
        file += "    </track>\n";
    }
    file += "  </trackList>\n</playlist>\n";
    file
}

fn jspf(playlist: &Playlist) -> String {
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
                ("location", entry.tidal_id.as_deref().map(|id| json!([tidal_page(id)]))),
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

fn csv(playlist: &Playlist) -> String {
    let mut file = String::from("Title,Artist,Album,ISRC,Duration (s),Tidal ID,Note\r\n");
    for entry in &playlist.tracks {
        let cells = [
            cell(&entry.title),
            cell(&entry.artist),
            cell(entry.album.as_deref().unwrap_or_default()),
            cell(entry.isrc.as_ref().map_or("", Isrc::as_str)),
            entry.duration.map(|seconds| seconds.round().to_string()).unwrap_or_default(),
            cell(entry.tidal_id.as_deref().unwrap_or_default()),
            cell(entry.note.as_deref().unwrap_or_default()),
        ];
        writeln!(file, "{}\r", cells.join(",")).expect("writing to a string cannot fail");
    }
    file
}

/// M3U8 is a format of lines: a line break inside a title would start a track that is not there.
fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn element(file: &mut String, indent: &str, name: &str, text: &str) {
    writeln!(file, "{indent}<{name}>{}</{name}>", xml(text)).expect("writing to a string cannot fail");
}

fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\t' | '\n' => escaped.push(c),
            // XML 1.0 has no way to write these, not even escaped.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => escaped.push(c),
        }
    }
    escaped
}

/// One CSV cell. A text that a spreadsheet would run as a formula gets an apostrophe in front, which spreadsheets
/// hide and other readers show; quotes alone do not stop them.
fn cell(text: &str) -> String {
    let starts_formula =
        text.trim_start_matches(' ').starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    let text = if starts_formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r', ';', '\t']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn playlist() -> Playlist {
        let entry = |code: &str, title: &str, artist: &str| Entry {
            isrc: Some(code.parse().unwrap()),
            id: TrackId::of_isrc(&code.parse().unwrap()),
            title: title.into(),
            artist: artist.into(),
            album: None,
            duration: None,
            tidal_id: None,
            note: None,
        };
        Playlist {
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
            urn:isrc:XTDBL2600002
        "#]]
        .assert_eq(&Format::M3u8.write(&playlist()));
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
    fn csv_is_quoted_and_runs_nothing() {
        assert_eq!(
            Format::Csv.write(&playlist()),
            "Title,Artist,Album,ISRC,Duration (s),Tidal ID,Note\r\n\
             \"Paper, Lanterns\",Ivy Marlow,Low Tide,XTDBL2600001,221,75413016,\"Opens \"\"quietly\"\", then\nbuilds\"\r\n\
             \"'=HYPERLINK(\"\"x\"\")\",\"Björn\u{0}Åle\r\n#EXTINF:1,Fake\",,XTDBL2600002,,,\r\n"
        );
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "＝1"] {
            assert!(cell(formula).trim_start_matches('"').starts_with('\''), "{formula}");
        }
        assert_eq!(cell("A-ha = fine"), "A-ha = fine");
    }

    #[test]
    fn a_format_is_found_by_its_name() {
        for format in Format::ALL {
            assert_eq!(Format::named(format.extension()), Some(format));
        }
        assert_eq!(Format::named("docx"), None);
    }
}
