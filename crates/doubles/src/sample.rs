//! The sample library as part of the world, so that a demo catalogue contains the user's tracks.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::Context;
use serde::Deserialize;

use crate::world::{Album, Artist, Id, Item, Piece, World};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    isrc: String,
    title: String,
    artist: String,
    album: String,
    track_number: u32,
    duration: f64,
    release_date: String,
}

/// Adds every track of the `.jsonl` files in `folder`. Ids follow from the order of the files and their lines.
pub fn add_to(world: &mut World, folder: &Path) -> anyhow::Result<usize> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .with_context(|| format!("no sample library at {}", folder.display()))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let mut adding = Adding { world, artists: BTreeMap::new(), albums: BTreeMap::new(), n_tracks: 0 };
    for file in files {
        let text = fs::read_to_string(&file)?;
        for (n, line) in text.lines().enumerate() {
            let line = serde_json::from_str(line).with_context(|| format!("{} line {}", file.display(), n + 1))?;
            adding.track(line);
        }
    }
    Ok(adding.n_tracks)
}

struct Adding<'a> {
    world: &'a mut World,
    artists: BTreeMap<String, Id>,
    albums: BTreeMap<(Id, String), Id>,
    n_tracks: usize,
}

impl Adding<'_> {
    fn track(&mut self, line: Line) {
        let artist = self.artist(&line.artist);
        let album = self.album(artist, &line.album, line.release_date);
        let id = 90_000_000 + self.n_tracks as Id;
        self.n_tracks += 1;
        let items = &mut self.world.albums.get_mut(&album).expect("made above").items;
        items.push(Item { piece: id, volume: 1, number: line.track_number });
        let piece = Piece {
            id,
            is_video: false,
            isrc: line.isrc,
            title: line.title,
            version: None,
            artists: vec![artist],
            album,
            seconds: line.duration.round() as u32,
            explicit: false,
            popularity: 0.5,
            absent_in: vec![],
            withheld: false,
        };
        self.world.pieces.insert(id, piece);
    }

    fn artist(&mut self, name: &str) -> Id {
        let next = 9_000_000 + self.artists.len() as Id;
        let id = *self.artists.entry(name.to_owned()).or_insert(next);
        self.world.artists.entry(id).or_insert(Artist { id, name: name.to_owned(), withheld: false });
        id
    }

    fn album(&mut self, artist: Id, title: &str, release_date: String) -> Id {
        let next = 9_500_000 + self.albums.len() as Id;
        let id = *self.albums.entry((artist, title.to_owned())).or_insert(next);
        self.world.albums.entry(id).or_insert(Album {
            id,
            title: title.to_owned(),
            artists: vec![artist],
            kind: "ALBUM",
            release_date,
            absent_in: vec![],
            items: vec![],
        });
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_all_files_become_one_catalogue() {
        let line = |isrc: &str, album: &str, n: u32| {
            serde_json::json!({
                "isrc": isrc, "title": format!("Song {n}"), "artist": "Ann", "album": album, "trackNumber": n,
                "duration": 200, "releaseDate": "2019-05-03", "lyrics": null, "inLibrary": true,
            })
            .to_string()
        };
        let folder = tempfile::tempdir().unwrap();
        let first = [line("XSGUE2600001", "One", 1), line("XSGUE2600002", "One", 2)].join("\n");
        fs::write(folder.path().join("a.jsonl"), first).unwrap();
        fs::write(folder.path().join("b.jsonl"), line("XSGUE2600003", "Two", 1)).unwrap();
        fs::write(folder.path().join("notes.txt"), "not a track").unwrap();

        let mut world = World::default();
        assert_eq!(add_to(&mut world, folder.path()).unwrap(), 3);
        assert_eq!((world.artists.len(), world.albums.len(), world.pieces.len()), (1, 2, 3));
        assert_eq!(world.search("ann one", "US").tracks.len(), 2);

        fs::write(folder.path().join("c.jsonl"), "{}").unwrap();
        let error = add_to(&mut World::default(), folder.path()).unwrap_err().to_string();
        assert!(error.ends_with("c.jsonl line 1"), "{error}");
    }
}
