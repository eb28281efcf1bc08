//! `include`: which related resources a request asks for, and which requests Tidal rejects.

use std::collections::BTreeMap;

const MAX_DEPTH: usize = 3;
/// Tidal limits the number of distinct resources in a tree. It does not document whether a resource that is reached
/// on two paths counts once. This double counts every path, which is stricter, so a request that passes here also
/// passes there.
const MAX_PATHS: usize = 10;

/// A tree of relationship names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Includes(pub(crate) BTreeMap<String, Includes>);

impl Includes {
    /// Parses paths such as `tracks.albums.coverArt` against the documented relationships of `root`.
    pub(crate) fn read(root: &str, paths: &[String]) -> Result<Self, String> {
        let mut tree = Self::default();
        for path in paths {
            let names: Vec<&str> = path.split('.').map(|name| name.rsplit(':').next().unwrap_or(name)).collect();
            if names.len() > MAX_DEPTH {
                return Err(format!("include path '{path}' is deeper than {MAX_DEPTH} levels"));
            }
            let mut kinds = vec![root];
            let mut node = &mut tree;
            for name in names {
                kinds = kinds.iter().flat_map(|kind| targets(kind, name)).copied().collect();
                if kinds.is_empty() {
                    return Err(format!("include path '{path}' cannot be resolved at '{name}'"));
                }
                node = node.0.entry(name.to_owned()).or_default();
            }
        }
        if tree.n_paths() > MAX_PATHS {
            return Err(format!("include names more than {MAX_PATHS} resources"));
        }
        Ok(tree)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn n_paths(&self) -> usize {
        self.0.values().map(|below| 1 + below.n_paths()).sum()
    }
}

/// The types of a relationship; empty if the type does not document it.
fn targets(kind: &str, relationship: &str) -> &'static [&'static str] {
    match (kind, relationship) {
        ("searchResults", "topHits") => &["tracks", "albums", "artists", "videos", "playlists"],
        ("searchResults", "playlists") | ("tracks" | "artists", "radio") => &["playlists"],
        ("searchResults" | "artists", "tracks") | ("tracks", "similarTracks") => &["tracks"],
        ("searchResults" | "artists" | "tracks" | "videos", "albums") | ("albums", "similarAlbums") => &["albums"],
        ("searchResults" | "tracks" | "albums" | "videos", "artists") | ("artists", "similarArtists") => &["artists"],
        ("searchResults" | "artists", "videos") => &["videos"],
        ("albums", "coverArt") | ("artists", "profileArt") | ("videos", "thumbnailArt") => &["artworks"],
        ("albums", "items") => &["tracks", "videos"],
        ("albums" | "tracks" | "videos", "providers") => &["providers"],
        _ => &[],
    }
}
