//! What the user liked or refused earlier in a conversation. Who liked a track often wants more by its artist.

use std::collections::BTreeMap;

/// How often each artist was liked and refused.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Taste {
    /// By name in lower case: the number of liked tracks without that of refused ones.
    artists: BTreeMap<String, i32>,
}

impl Taste {
    /// From the artists of liked and of refused tracks.
    pub fn of<'a>(liked: impl IntoIterator<Item = &'a str>, refused: impl IntoIterator<Item = &'a str>) -> Self {
        let mut taste = Self::default();
        liked.into_iter().for_each(|artist| taste.count(artist, 1));
        refused.into_iter().for_each(|artist| taste.count(artist, -1));
        taste
    }

    fn count(&mut self, artist: &str, by: i32) {
        names(artist).for_each(|name| *self.artists.entry(name).or_default() += by);
    }

    /// 1 for an artist that was liked more often than refused, -1 for one that was refused more often, otherwise 0. Of several artists of
    /// one track, the sum decides.
    pub(crate) fn about(&self, artist: &str) -> f32 {
        if self.artists.is_empty() {
            return 0.0;
        }
        let sum: i32 = names(artist).filter_map(|name| self.artists.get(&name)).sum();
        sum.signum() as f32
    }
}

/// The artists of a track: "Kirk Franklin, Maverick City".
fn names(artist: &str) -> impl Iterator<Item = String> {
    artist.split(',').map(|name| name.trim().to_lowercase()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_artist_is_liked_or_refused_by_the_majority_of_opinions() {
        let taste = Taste::of(["Björk", "Wren Holloway, Nobody"], ["Nobody", "nobody", "The Tide"]);
        assert_eq!((taste.about("björk"), taste.about("BJÖRK, Someone")), (1.0, 1.0));
        assert_eq!((taste.about("Nobody"), taste.about("the tide"), taste.about("Someone")), (-1.0, -1.0, 0.0));
        assert_eq!(taste.about("Wren Holloway, The Tide"), 0.0, "one of each");
        assert_eq!(Taste::default().about("Björk"), 0.0);
    }
}
