//! Changes the order and the tracks of a playlist. Pure.

use std::collections::{BTreeMap, VecDeque};

use crate::Error;
use music::{Track, TrackRef};
use store::{ItemId, PlaylistTrack};

/// The positions of a list by the names of its tracks. A name is found without a look at every track, because a list has
/// thousands of them and a request has thousands of names.
pub(super) struct Positions(BTreeMap<TrackRef, VecDeque<usize>>);

impl Positions {
    pub(super) fn of(tracks: &[PlaylistTrack]) -> Self {
        let mut positions: BTreeMap<TrackRef, VecDeque<usize>> = BTreeMap::new();
        for (at, item) in tracks.iter().enumerate() {
            positions.entry(TrackRef::Id(item.track.id)).or_default().push_back(at);
            if let Some(isrc) = &item.track.isrc {
                positions.entry(TrackRef::Isrc(isrc.clone())).or_default().push_back(at);
            }
        }
        Self(positions)
    }

    pub(super) fn first(&self, name: &TrackRef) -> Option<usize> {
        self.0.get(name)?.front().copied()
    }
}

/// The items of `names`, in that order. A track that is already on the list keeps its item id and its reason; if a
/// recording is on it twice, the first item is used first. Any other track must be known.
pub(super) fn arranged(
    old: &[PlaylistTrack],
    names: &[TrackRef],
    known: &BTreeMap<TrackRef, Track>,
) -> Result<Vec<PlaylistTrack>, Error> {
    let all = Positions::of(old);
    let (mut left, mut is_used) = (Positions::of(old), vec![false; old.len()]);
    let items = names.iter().map(|name| {
        // An item that another name of its track has used is still in the list of this name.
        let queue = left.0.get_mut(name);
        let unused = queue.and_then(|queue| std::iter::from_fn(|| queue.pop_front()).find(|at| !is_used[*at]));
        if let Some(at) = unused {
            is_used[at] = true;
            return Ok(old[at].clone());
        }
        let earlier = || all.first(name).map(|at| &old[at].track);
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

    #[test]
    fn two_names_of_one_track_are_two_items() {
        let [a, b] = ["XSGUE2600001", "XSGUE2600002"].map(track);
        let old = [new_item(&a), new_item(&b)];
        let names: Vec<TrackRef> = vec!["XSGUE2600001".parse().unwrap(), TrackRef::Id(a.id), TrackRef::Id(b.id)];
        let new = arranged(&old, &names, &BTreeMap::new()).unwrap();
        assert_eq!((new[0].item_id, new[2].item_id), (old[0].item_id, old[1].item_id));
        assert!(new[1].track == old[0].track && new[1].item_id != old[0].item_id, "it is on the list twice now");
    }

    #[test]
    fn a_long_list_is_arranged_without_comparing_each_name_with_each_track() {
        const N: usize = 20_000;
        let old: Vec<_> = (0..N).map(|n| new_item(&track(&format!("XSG{n:0>9}")))).collect();
        let names: Vec<TrackRef> = old.iter().rev().map(|item| TrackRef::Id(item.track.id)).collect();
        let began = std::time::Instant::now();
        let new = arranged(&old, &names, &BTreeMap::new()).unwrap();
        assert!(new.iter().eq(old.iter().rev()));
        // Removing each from the list of those that are left takes minutes.
        assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
    }
}
