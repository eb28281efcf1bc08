//! The words of a track, split, folded and stemmed once. A search compares a query with a hundred tracks, and reading
//! their texts for each query took most of its time.

mod stored;

use std::collections::BTreeSet;

use music::Track;
use query::words::{Word, words};

use super::document;

/// Each word is the number of its term among the distinct terms of the track.
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(crate) struct TrackWords {
    terms: Terms,
    meaning: Box<[Place]>,
    lyrics: Box<[Place]>,
    /// The terms of names, tags and genres, in ascending order.
    labels: Box<[u32]>,
    /// Title, artist and album.
    names: [Box<[u32]>; 3],
    /// Each tag, then each genre.
    tags: Box<[Box<[u32]>]>,
}

#[derive(Clone, Copy)]
#[cfg_attr(test, derive(Debug, PartialEq))]
struct Place {
    term: u32,
    start: u32,
    end: u32,
}

impl TrackWords {
    pub(crate) fn of(track: &Track) -> Self {
        let labels = [document::names(track), track.tags.join(" "), track.genres.join(" ")].join(" ");
        let labels = words(&labels);
        let meaning = words(&document::meaning(track));
        let lyrics = words(track.lyrics.as_deref().unwrap_or_default());
        let names = [&track.title, &track.artist, &track.album].map(|name| words(name));
        let tags: Vec<Vec<Word>> = track.tags.iter().chain(&track.genres).map(|tag| words(tag)).collect();
        let all = [&labels, &meaning, &lyrics].into_iter().chain(&names).chain(&tags).flatten();
        let terms = Terms::of(all.map(|word| word.term.as_str()));
        let numbers =
            |words: &Vec<Word>| words.iter().filter_map(|word| terms.find(&word.term)).collect::<Box<[u32]>>();
        let places = |words: &[Word]| words.iter().filter_map(|word| terms.place(word)).collect::<Box<[Place]>>();
        let labels = numbers(&labels).iter().copied().collect::<BTreeSet<u32>>().into_iter().collect();
        let (meaning, lyrics) = (places(&meaning), places(&lyrics));
        let (names, tags) = (names.each_ref().map(numbers), tags.iter().map(numbers).collect());
        Self { terms, meaning, lyrics, labels, names, tags }
    }

    /// Memory, for the limit of a cache.
    pub(crate) fn n_bytes(&self) -> usize {
        let n_places = self.meaning.len() + self.lyrics.len();
        let n_numbers = self.labels.len() + self.names.iter().chain(&self.tags).map(|name| name.len()).sum::<usize>();
        n_places * size_of::<Place>() + n_numbers * size_of::<u32>() + self.terms.n_bytes()
    }

    /// The terms of a query, which has each term once, that the track has.
    pub(crate) fn shared<'t>(&self, query: impl IntoIterator<Item = &'t str>) -> SharedTerms<'_> {
        let numbers: Vec<Option<u32>> = query.into_iter().map(|term| self.terms.find(term)).collect();
        let mut positions = vec![None; self.terms.spans.len()];
        for (position, number) in numbers.iter().enumerate() {
            if let Some(number) = number {
                positions[*number as usize] = Some(position);
            }
        }
        SharedTerms { words: self, numbers, positions }
    }

    /// Whether title, artist or album consists of exactly these terms.
    pub(crate) fn is_name(&self, terms: &[String]) -> bool {
        self.numbers(terms).is_some_and(|wanted| self.names.iter().any(|name| **name == *wanted))
    }

    /// Whether these terms are two names of the track, such as artist and title, with at most one word between them ("by").
    pub(crate) fn is_two_names(&self, terms: &[String]) -> bool {
        let is_split = |at: usize| {
            let (first, rest) = terms.split_at(at);
            let is_second = |second: &[String]| !second.is_empty() && second != first && self.is_name(second);
            self.is_name(first)
                && (is_second(rest) || BETWEEN_NAMES.contains(&rest[0].as_str()) && is_second(&rest[1..]))
        };
        (1..terms.len()).any(is_split)
    }

    /// Whether the lyrics have these terms one after another.
    pub(crate) fn is_sung(&self, terms: &[String]) -> bool {
        let is_line = |wanted: Vec<u32>| {
            let mut lines = self.lyrics.windows(wanted.len());
            lines.any(|line| line.iter().map(|place| place.term).eq(wanted.iter().copied()))
        };
        !terms.is_empty() && self.numbers(terms).is_some_and(is_line)
    }

    fn numbers(&self, terms: &[String]) -> Option<Vec<u32>> {
        terms.iter().map(|term| self.terms.find(term)).collect()
    }
}

/// In the form of [`query::words::words`].
const BETWEEN_NAMES: [&str; 5] = ["by", "from", "von", "de", "par"];

/// What a query and a track have in common.
pub(crate) struct SharedTerms<'w> {
    words: &'w TrackWords,
    /// For each term of the query, its number in the track.
    numbers: Vec<Option<u32>>,
    /// For each term of the track, its position in the query.
    positions: Vec<Option<usize>>,
}

/// A word of a text that is a term of the query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SharedWord {
    /// The position of the term in the query.
    pub(crate) term: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl SharedTerms<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.numbers.iter().all(Option::is_none)
    }

    /// In names, descriptions and tags, in the order of [`document::meaning`].
    pub(crate) fn in_meaning(&self) -> Vec<SharedWord> {
        self.among(&self.words.meaning)
    }

    pub(crate) fn in_lyrics(&self) -> Vec<SharedWord> {
        self.among(&self.words.lyrics)
    }

    fn among(&self, places: &[Place]) -> Vec<SharedWord> {
        let shared = |place: &Place| {
            let term = self.positions[place.term as usize]?;
            Some(SharedWord { term, start: place.start as usize, end: place.end as usize })
        };
        places.iter().filter_map(shared).collect()
    }

    /// Whether a name, a tag or a genre has this term of the query.
    pub(crate) fn is_label(&self, term: usize) -> bool {
        self.numbers[term].is_some_and(|number| self.words.labels.binary_search(&number).is_ok())
    }

    /// Whether a tag or a genre consists of exactly the terms of the query.
    pub(crate) fn is_tag(&self) -> bool {
        self.words.tags.iter().any(|tag| tag.iter().map(|number| Some(*number)).eq(self.numbers.iter().copied()))
    }

    /// For each tag, then each genre: whether all its words are terms of the query.
    pub(crate) fn named_tags(&self) -> impl Iterator<Item = bool> {
        let is_asked = move |number: &u32| self.positions[*number as usize].is_some();
        self.words.tags.iter().map(move |tag| !tag.is_empty() && tag.iter().all(is_asked))
    }
}

/// Distinct terms in byte order, in one text.
#[cfg_attr(test, derive(Debug, PartialEq))]
struct Terms {
    text: Box<str>,
    spans: Box<[(u32, u32)]>,
}

impl Terms {
    fn of<'t>(terms: impl Iterator<Item = &'t str>) -> Self {
        let (mut text, mut spans) = (String::new(), Vec::new());
        for term in terms.collect::<BTreeSet<&str>>() {
            let start = text.len() as u32;
            text.push_str(term);
            spans.push((start, text.len() as u32));
        }
        Self { text: text.into(), spans: spans.into() }
    }

    fn find(&self, term: &str) -> Option<u32> {
        let of = |span: &(u32, u32)| &self.text[span.0 as usize..span.1 as usize];
        self.spans.binary_search_by(|span| of(span).cmp(term)).ok().map(|at| at as u32)
    }

    fn place(&self, word: &Word) -> Option<Place> {
        Some(Place { term: self.find(&word.term)?, start: word.start as u32, end: word.end as u32 })
    }

    fn n_bytes(&self) -> usize {
        self.text.len() + size_of_val(&*self.spans)
    }
}
