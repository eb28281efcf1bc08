//! Changes the order and the tracks of a playlist. Pure.

use std::collections::BTreeMap;

use crate::Error;
use music::{Track, TrackRef};
use store::{ItemId, PlaylistTrack};

/// Whether a name refers to this track.
pub(super) fn is_named(track: &Track, name: &TrackRef) -> bool {
    match name {
        TrackRef::Id(id) => track.id == *id,
        TrackRef::Isrc(isrc) => track.isrc.as_ref() == Some(isrc),
    }
}

/// The items of `names`, in that order. A track that is already on the list keeps its item id and its reason; if a
/// recording is on it twice, the first item is used first. Any other track must be known.
pub(super) fn arranged(
    old: &[PlaylistTrack],
    names: &[TrackRef],
    known: &BTreeMap<TrackRef, Track>,
) -> Result<Vec<PlaylistTrack>, Error> {
    let mut left: Vec<&PlaylistTrack> = old.iter().collect();
    let items = names.iter().map(|name| {
        if let Some(at) = left.iter().position(|item| is_named(&item.track, name)) {
            return Ok(left.remove(at).clone());
        }
        let earlier = || old.iter().find(|item| is_named(&item.track, name)).map(|item| &item.track);
        let track = known.get(name).or_else(earlier);
        // The track was on the list when the names were looked up.
        let track = track.ok_or(Error::Conflict("The playlist was changed meanwhile. Read it again."))?;
        Ok(new_item(track))
    });
    items.collect()
}

pub(super) fn new_item(track: &Track) -> PlaylistTrack {
    // A playlist stores only what it shows. Lyrics and audio features are stored with the track.
    let track = Track { lyrics: None, audio_features: None, provenance: Default::default(), ..track.clone() };
    PlaylistTrack { item_id: ItemId::new(), track, reasoning: String::new() }
}

/// Moves one item to a position, counted from 0.
pub(super) fn moved(mut tracks: Vec<PlaylistTrack>, item: ItemId, to: usize) -> Option<Vec<PlaylistTrack>> {
    let from = tracks.iter().position(|other| other.item_id == item)?;
    let item = tracks.remove(from);
    tracks.insert(to.min(tracks.len()), item);
    Some(tracks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(code: &str) -> Track {
        let isrc: music::Isrc = code.parse().unwrap();
        let named = Track::with_id(music::TrackId::of_isrc(&isrc), code.into(), "a".into(), String::new());
        Track { isrc: Some(isrc), ..named }
    }

    #[test]
    fn an_item_keeps_its_id_even_if_its_recording_is_on_the_list_twice() {
        let [a, b] = ["XSGUE2600001", "XSGUE2600002"].map(track);
        let old = [new_item(&a), new_item(&b), new_item(&a)];
        let names: Vec<TrackRef> = [&a, &a, &b].map(|track| TrackRef::Id(track.id)).into();
        let ids = |items: &[PlaylistTrack]| items.iter().map(|item| item.item_id).collect::<Vec<_>>();
        let new = arranged(&old, &names, &BTreeMap::new()).unwrap();
        assert_eq!(ids(&new), [old[0].item_id, old[2].item_id, old[1].item_id]);
        let by_code: Vec<TrackRef> = vec!["XSGUE2600002".parse().unwrap()];
        assert_eq!(ids(&arranged(&old, &by_code, &BTreeMap::new()).unwrap()), [old[1].item_id]);
    }
}
