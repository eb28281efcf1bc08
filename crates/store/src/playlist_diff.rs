//! The changes of a playlist edit, and the undo of an edit on the current playlist. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{ItemId, PlaylistContent, PlaylistTrack, StoreError};

/// Only the changed parts, so that an edit of a long list stores no copy of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlaylistDiff {
    /// Before and after.
    title: Option<(String, String)>,
    description: Option<(String, String)>,
    added: Vec<ItemId>,
    /// With their old positions.
    removed: Vec<(usize, PlaylistTrack)>,
    /// The order of the tracks that stayed, before and after, if it changed.
    order: Option<(Vec<ItemId>, Vec<ItemId>)>,
}

impl PlaylistDiff {
    pub(crate) fn between(before: &PlaylistContent, after: &PlaylistContent) -> Self {
        let (old, new) = (ids(&before.tracks), ids(&after.tracks));
        let (had, has): (BTreeSet<_>, BTreeSet<_>) = (old.iter().collect(), new.iter().collect());
        let stayed_before: Vec<ItemId> = old.iter().filter(|id| has.contains(id)).copied().collect();
        let stayed_after: Vec<ItemId> = new.iter().filter(|id| had.contains(id)).copied().collect();
        let gone = before.tracks.iter().enumerate().filter(|(_, item)| !has.contains(&item.item_id));
        Self {
            title: changed(&before.title, &after.title),
            description: changed(&before.description, &after.description),
            added: new.iter().filter(|id| !had.contains(id)).copied().collect(),
            removed: gone.map(|(at, item)| (at, item.clone())).collect(),
            order: (stayed_before != stayed_after).then_some((stayed_before, stayed_after)),
        }
    }

    /// How many tracks it names.
    pub(crate) fn n_items(&self) -> usize {
        self.added.len()
            + self.removed.len()
            + self.order.as_ref().map_or(0, |(before, after)| before.len() + after.len())
    }

    /// Whether the edit changes no track and no order.
    pub(crate) fn keeps_tracks(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.order.is_none()
    }

    /// The playlist without this edit. Later edits are kept; an edit that contradicts this one is an error.
    pub(crate) fn take_back(&self, mut now: PlaylistContent) -> Result<PlaylistContent, StoreError> {
        if *self == Self::default() {
            return Err(StoreError::Conflict("This changed nothing, so there is nothing to take back."));
        }
        restore(&mut now.title, self.title.as_ref(), "The playlist was renamed again since.")?;
        restore(&mut now.description, self.description.as_ref(), "The description was changed again since.")?;
        let (n_before, added): (_, BTreeSet<&ItemId>) = (now.tracks.len(), self.added.iter().collect());
        now.tracks.retain(|item| !added.contains(&item.item_id));
        if !self.added.is_empty() && now.tracks.len() == n_before {
            return Err(StoreError::Conflict("What was added is no longer on the playlist."));
        }
        if let Some((before, after)) = &self.order {
            reorder(&mut now.tracks, before, after)?;
        }
        now.tracks = put_back(now.tracks, &self.removed);
        Ok(now)
    }
}

fn ids(tracks: &[PlaylistTrack]) -> Vec<ItemId> {
    tracks.iter().map(|item| item.item_id).collect()
}

fn changed(before: &str, after: &str) -> Option<(String, String)> {
    (before != after).then(|| (before.to_owned(), after.to_owned()))
}

fn restore(now: &mut String, changed: Option<&(String, String)>, why_not: &'static str) -> Result<(), StoreError> {
    let Some((before, after)) = changed else { return Ok(()) };
    if now != after {
        return Err(StoreError::Conflict(why_not));
    }
    before.clone_into(now);
    Ok(())
}

/// The items with removed ones at their old positions, which ascend. One pass: an insertion moves everything after it.
fn put_back(tracks: Vec<PlaylistTrack>, removed: &[(usize, PlaylistTrack)]) -> Vec<PlaylistTrack> {
    let mut present: BTreeSet<ItemId> = tracks.iter().map(|item| item.item_id).collect();
    let mut all = Vec::with_capacity(tracks.len() + removed.len());
    let mut tracks = tracks.into_iter();
    for (at, item) in removed.iter().filter(|(_, item)| present.insert(item.item_id)) {
        let n_before = at.saturating_sub(all.len());
        all.extend(tracks.by_ref().take(n_before));
        all.push(item.clone());
    }
    all.extend(tracks);
    all
}

/// Restores the old order of these items. Items that were added later keep their positions.
fn reorder(tracks: &mut [PlaylistTrack], before: &[ItemId], after: &[ItemId]) -> Result<(), StoreError> {
    let present: BTreeSet<ItemId> = tracks.iter().map(|item| item.item_id).collect();
    let of_then: BTreeSet<&ItemId> = after.iter().collect();
    let places: Vec<usize> = (0..tracks.len()).filter(|place| of_then.contains(&tracks[*place].item_id)).collect();
    let current = places.iter().map(|place| tracks[*place].item_id);
    if !current.eq(after.iter().filter(|id| present.contains(id)).copied()) {
        return Err(StoreError::Conflict("The order was changed again since."));
    }
    let items: BTreeMap<ItemId, PlaylistTrack> = tracks.iter().map(|item| (item.item_id, item.clone())).collect();
    let wanted = before.iter().filter_map(|id| items.get(id));
    for (place, item) in places.into_iter().zip(wanted) {
        tracks[place] = item.clone();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use music::{Track, TrackId};

    use super::*;

    /// A list whose items are letters: "abc".
    fn list(letters: &str) -> PlaylistContent {
        let items = letters.bytes().map(|letter| {
            let id = uuid::Uuid::from_bytes([letter; 16]);
            let track = Track::with_id(TrackId::of_tidal(&letter.to_string()), "t".into(), "a".into(), String::new());
            PlaylistTrack { item_id: ItemId(id), track, reasoning: String::new() }
        });
        PlaylistContent { title: "T".into(), description: String::new(), tracks: items.collect() }
    }

    fn letters(content: &PlaylistContent) -> String {
        content.tracks.iter().map(|item| char::from(item.item_id.0.as_bytes()[0])).collect()
    }

    fn taken_back(before: &str, after: &str, now: &str) -> Result<String, String> {
        let diff = PlaylistDiff::between(&list(before), &list(after));
        diff.take_back(list(now)).map(|content| letters(&content)).map_err(|error| error.to_string())
    }

    #[test]
    fn an_edit_without_later_edits_is_undone_exactly() {
        let edits = ["abcd", "dcba", "ab", "", "abxcd", "xdyb", "bcda", "xyz"];
        for before in edits {
            for after in edits.into_iter().filter(|after| *after != before) {
                assert_eq!(taken_back(before, after, after).as_deref(), Ok(before), "{before} to {after}");
            }
        }
    }

    #[test]
    fn an_undo_keeps_later_edits_or_fails() {
        let table = [
            ("added, then another one", "ab", "abc", "abcd", Ok("abd")),
            ("added, then moved", "ab", "abc", "cab", Ok("ab")),
            ("removed, then another one added", "abc", "ac", "acd", Ok("abcd")),
            ("removed, then the list got shorter", "abc", "ab", "a", Ok("ac")),
            ("moved, then one added", "abc", "cab", "cxab", Ok("axbc")),
            ("moved, then one removed", "abc", "cab", "cb", Ok("bc")),
            ("added, then removed", "ab", "abc", "ab", Err("What was added is no longer on the playlist.")),
            ("moved, then moved again", "abc", "cab", "bca", Err("The order was changed again since.")),
        ];
        for (name, before, after, now, expected) in table {
            assert_eq!(taken_back(before, after, now), expected.map(str::to_owned).map_err(str::to_owned), "{name}");
        }
    }

    #[test]
    fn an_undo_of_a_long_playlist_takes_one_pass() {
        const N: u128 = 20_000;
        let long = |ids: &mut dyn Iterator<Item = u128>| {
            let track = Track::with_id(TrackId::of_tidal("1"), "t".into(), "a".into(), String::new());
            let item = |id| PlaylistTrack {
                item_id: ItemId(uuid::Uuid::from_u128(id)),
                track: track.clone(),
                reasoning: String::new(),
            };
            PlaylistContent { tracks: ids.map(item).collect(), ..list("") }
        };
        let before = long(&mut (0..2 * N));
        let after = long(&mut (0..N).rev().map(|n| 2 * n).chain(3 * N..4 * N));
        let began = std::time::Instant::now();
        let back = PlaylistDiff::between(&before, &after).take_back(after).unwrap();
        assert!(back == before);
        // Comparing each with each takes minutes.
        assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
    }

    #[test]
    fn an_undo_does_not_change_a_title_that_was_changed_again() {
        let named = |title: &str| PlaylistContent { title: title.into(), ..list("a") };
        let diff = PlaylistDiff::between(&named("One"), &named("Two"));
        assert_eq!(diff.take_back(named("Two")).unwrap().title, "One");
        assert!(diff.take_back(named("Three")).is_err());
        let nothing = PlaylistDiff::between(&named("One"), &named("One"));
        assert!(nothing.take_back(named("One")).is_err());
    }
}
