//! Two tracks of a user have the same sound: are they one, and which of them stays?

use music::identity::RecordingName;
use store::LibraryTrack;

/// The track that goes and the track that stays. None: what is known about the two says that they are two recordings.
pub(super) fn merged<'a>(a: &'a LibraryTrack, b: &'a LibraryTrack) -> Option<(&'a LibraryTrack, &'a LibraryTrack)> {
    if a.is_sample || b.is_sample || has_other_code(a, b) || is_other_version(a, b) {
        return None;
    }
    if rank(a) <= rank(b) { Some((b, a)) } else { Some((a, b)) }
}

fn has_other_code(a: &LibraryTrack, b: &LibraryTrack) -> bool {
    matches!((code(a), code(b)), (Some(a), Some(b)) if a != b)
}

fn code(track: &LibraryTrack) -> Option<&str> {
    track.isrc.as_deref().filter(|isrc| !isrc.is_empty())
}

/// A remaster and its original differ too little to be heard. Where both have the same title, the version in it tells.
fn is_other_version(a: &LibraryTrack, b: &LibraryTrack) -> bool {
    let name = |track: &LibraryTrack| RecordingName::new(&track.title, None, &track.artist);
    let (a, b) = (name(a), name(b));
    a.title() == b.title() && a.version() != b.version()
}

/// The smallest stays: what a catalogue knows, then what has names, then what came first.
fn rank(track: &LibraryTrack) -> impl Ord {
    let is_unnamed = track.artist.trim().is_empty();
    (code(track).is_none(), is_unnamed, track.album.trim().is_empty(), track.added_at, track.track_id.clone())
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;

    fn track(title: &str, artist: &str, isrc: &str, added_at: i64) -> LibraryTrack {
        LibraryTrack {
            track_id: format!("{title} {added_at}"),
            isrc: (!isrc.is_empty()).then(|| isrc.to_owned()),
            tidal_id: None,
            title: title.into(),
            artist: artist.into(),
            album: String::new(),
            duration: None,
            genre: None,
            year: None,
            track_number: None,
            is_sample: false,
            n_plays: 0,
            first_played_at: None,
            last_played_at: None,
            location: None,
            match_quality: "unmatched".into(),
            added_at: DateTime::from_timestamp(added_at, 0).unwrap(),
        }
    }

    fn stays<'a>(a: &'a LibraryTrack, b: &'a LibraryTrack) -> Option<&'a str> {
        let stays = merged(a, b).map(|(_, stays)| stays.track_id.as_str());
        assert_eq!(stays, merged(b, a).map(|(_, stays)| stays.track_id.as_str()), "in either order");
        stays
    }

    #[test]
    fn the_better_known_track_stays() {
        let (unnamed, named) = (track("track 01", "", "", 1), track("Low Tide", "Ivy Marlow", "", 2));
        let coded = track("Low Tide", "I. Marlow", "QZXYZ1900004", 3);
        assert_eq!(stays(&unnamed, &named), Some("Low Tide 2"));
        assert_eq!(stays(&named, &coded), Some("Low Tide 3"));
        assert_eq!(stays(&named, &track("Low Tied", "Ivy Marlow", "", 9)), Some("Low Tide 2"), "the first one");
    }

    #[test]
    fn codes_and_versions_tell_recordings_apart_that_sound_the_same() {
        let coded = track("Low Tide", "Ivy Marlow", "QZXYZ1900004", 1);
        assert_eq!(stays(&coded, &track("Low Tide", "Ivy Marlow", "QZXYZ1900005", 2)), None);
        assert_eq!(stays(&coded, &track("Low Tide (2011 Remaster)", "Ivy Marlow", "", 2)), None);
        assert_eq!(stays(&coded, &track("Low Tide - Live", "Ivy Marlow", "", 2)), None);
        let sample = LibraryTrack { is_sample: true, ..track("Low Tide", "Ivy Marlow", "", 2) };
        assert_eq!(stays(&coded, &sample), None);
    }
}
