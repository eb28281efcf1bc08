//! The catalogue behind all doubles: fictional artists, albums and recordings.

use std::collections::BTreeMap;

/// Ids are numbers here and text in the responses. Tracks and videos share one sequence, as at Tidal.
pub type Id = u64;

#[derive(Clone, Debug, Default)]
pub struct World {
    pub artists: BTreeMap<Id, Artist>,
    pub albums: BTreeMap<Id, Album>,
    pub pieces: BTreeMap<Id, Piece>,
}

#[derive(Clone, Debug)]
pub struct Artist {
    pub id: Id,
    pub name: String,
    /// Referenced by other resources, but never included with them.
    pub withheld: bool,
}

#[derive(Clone, Debug)]
pub struct Album {
    pub id: Id,
    pub title: String,
    pub artists: Vec<Id>,
    pub kind: &'static str,
    pub release_date: String,
    pub absent_in: Vec<&'static str>,
    pub items: Vec<Item>,
}

/// A position on an album.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    pub piece: Id,
    pub volume: u32,
    pub number: u32,
}

/// A track or a video.
#[derive(Clone, Debug)]
pub struct Piece {
    pub id: Id,
    pub is_video: bool,
    pub isrc: String,
    pub title: String,
    pub version: Option<String>,
    pub artists: Vec<Id>,
    pub album: Id,
    pub seconds: u32,
    pub explicit: bool,
    pub popularity: f64,
    pub absent_in: Vec<&'static str>,
    /// Referenced by other resources, but never included with them.
    pub withheld: bool,
}

impl World {
    pub fn album(&self, id: Id, country: &str) -> Option<&Album> {
        self.albums.get(&id).filter(|album| !album.absent_in.contains(&country))
    }

    pub fn piece(&self, id: Id, country: &str) -> Option<&Piece> {
        let piece = self.pieces.get(&id)?;
        let is_there = !piece.absent_in.contains(&country) && self.album(piece.album, country).is_some();
        is_there.then_some(piece)
    }

    /// The items of an album that are available in a country; numbers keep their gaps.
    pub fn items(&self, album: &Album, country: &str) -> Vec<Item> {
        album.items.iter().filter(|item| self.piece(item.piece, country).is_some()).copied().collect()
    }

    pub fn tracks(&self, country: &str) -> impl Iterator<Item = &Piece> {
        self.pieces.values().filter(move |piece| !piece.is_video && self.piece(piece.id, country).is_some())
    }

    /// Pieces and albums with every word of `query` in their names, most popular first.
    pub fn search(&self, query: &str, country: &str) -> Found {
        let query = query.to_lowercase();
        let words: Vec<&str> = query.split_whitespace().collect();
        let matches = |names: &str| !words.is_empty() && words.iter().all(|word| names.to_lowercase().contains(word));
        let mut pieces: Vec<&Piece> = self
            .pieces
            .values()
            .filter(|piece| self.piece(piece.id, country).is_some() && matches(&self.names_of(piece)))
            .collect();
        pieces.sort_by(|a, b| b.popularity.total_cmp(&a.popularity).then(a.id.cmp(&b.id)));
        let (videos, tracks): (Vec<_>, Vec<_>) = pieces.into_iter().partition(|piece| piece.is_video);
        let albums = self.albums.values().filter(|album| {
            self.album(album.id, country).is_some()
                && matches(&format!("{} {}", album.title, self.artist_names(&album.artists)))
        });
        let artists = self.artists.values().filter(|artist| matches(&artist.name));
        Found {
            tracks: tracks.iter().map(|piece| piece.id).collect(),
            videos: videos.iter().map(|piece| piece.id).collect(),
            albums: albums.map(|album| album.id).collect(),
            artists: artists.map(|artist| artist.id).collect(),
        }
    }

    fn names_of(&self, piece: &Piece) -> String {
        let album = self.albums.get(&piece.album).map_or("", |album| album.title.as_str());
        format!("{} {} {album}", piece.title, self.artist_names(&piece.artists))
    }

    fn artist_names(&self, ids: &[Id]) -> String {
        ids.iter()
            .filter_map(|id| self.artists.get(id))
            .map(|artist| artist.name.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    }
}

pub struct Found {
    pub tracks: Vec<Id>,
    pub videos: Vec<Id>,
    pub albums: Vec<Id>,
    pub artists: Vec<Id>,
}
