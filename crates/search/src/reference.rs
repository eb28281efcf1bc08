//! What a match and an explanation are, read from the texts of a track for every query. It is slow and short; the words
//! that are read once must give the same results.

use std::{collections::HashSet, fs, path::Path};

use music::Track;
use query::{
    stop::content_words,
    words::{Word, has_form, words},
};

use super::{
    Filter, Why, document,
    embed::Votes,
    fuse::dot,
    judge::{Judge, Match},
    read_track::ReadTrack,
    signals::Signals,
    why::{Asked, table, vector_of},
};

/// The query as its distinct content terms with their weights and forms, and all its terms.
struct Query {
    terms: Vec<(String, f32)>,
    forms: Vec<String>,
    all_terms: Vec<String>,
}

fn terms_of(text: &str) -> Vec<String> {
    words(text).into_iter().map(|word| word.term).collect()
}

fn words_among(text: &str, terms: &[(String, f32)]) -> Vec<Word> {
    let is_wanted = |word: &Word| terms.iter().any(|(term, _)| *term == word.term);
    words(text).into_iter().filter(is_wanted).collect()
}

impl Query {
    fn new(text: &str) -> Self {
        let mut seen = HashSet::new();
        let content = content_words(text).into_iter().filter(|content| seen.insert(content.word.term.clone()));
        let (terms, forms) = content.map(|content| ((content.word.term, content.weight), content.form)).unzip();
        Self { terms, forms, all_terms: terms_of(text) }
    }

    fn is_name(&self, track: &Track) -> bool {
        let names = [&track.title, &track.artist, &track.album];
        !self.all_terms.is_empty() && names.into_iter().any(|name| terms_of(name) == self.all_terms)
    }

    fn compare(&self, track: &Track, is_off_topic: bool) -> Match {
        let is_name = self.is_name(track);
        if self.terms.is_empty() {
            let coverage = f32::from(u8::from(is_name));
            return Match { coverage, is_phrase: is_name, is_quoted: is_name, is_name, ..Match::default() };
        }
        let (meaning, lyrics) = (document::meaning(track), track.lyrics.clone().unwrap_or_default());
        let labels = [document::names(track), track.tags.join(" "), track.genres.join(" ")].join(" ");
        let (told, sung) = (words_among(&meaning, &self.terms), words_among(&lyrics, &self.terms));
        let (labels, place) = (words_among(&labels, &self.terms), best_place(&sung));
        let has = |words: &[Word], term: &str| words.iter().any(|word| word.term == term);
        let share = |term: &str| match term {
            _ if has(&labels, term) => 1.0,
            _ if has(&told, term) => 0.85,
            _ if place.len() > 1 && place.contains(term) => 0.75,
            _ if has(&sung, term) => 0.25,
            _ => 0.0,
        };
        let in_text = |words: &[Word], text: &str, term: &str| -> Vec<String> {
            words.iter().filter(|word| word.term == term).map(|word| text[word.start..word.end].to_owned()).collect()
        };
        let form = |term: &str, form: &str| {
            let said = [in_text(&told, &meaning, term), in_text(&sung, &lyrics, term)].concat();
            if said.is_empty() || said.iter().any(|said| has_form(said, form)) { 1.0 } else { 0.8 }
        };
        let full: f32 = self.terms.iter().map(|(_, weight)| weight).sum();
        let asked = self.terms.iter().zip(&self.forms);
        let found: f32 = asked.map(|((term, weight), said)| weight * form(term, said) * share(term)).sum();
        let n_pairs = [self.pairs(&meaning, &told), self.pairs(&lyrics, &sung)].concat();
        let n_pairs = n_pairs.into_iter().collect::<HashSet<usize>>().len();
        let is_phrase = match self.terms.as_slice() {
            [(only, _)] => track.tags.iter().chain(&track.genres).any(|tag| terms_of(tag) == [only.clone()]),
            _ => self.is_in_order(&meaning, &told) || self.is_in_order(&lyrics, &sung),
        };
        let n = self.all_terms.len();
        let is_line = || n >= 4 && terms_of(&lyrics).windows(n).any(|line| line == self.all_terms);
        let is_quoted = is_off_topic && (is_name || is_line());
        let is_phrase = is_name || is_phrase;
        // The signals have tests of their own.
        Match { coverage: found / full.max(0.4), is_phrase, is_quoted, is_name, n_pairs, signals: Signals::default() }
    }

    fn pairs(&self, text: &str, found: &[Word]) -> Vec<usize> {
        let place = |word: &Word| self.terms.iter().position(|(term, _)| *term == word.term).unwrap();
        let near = found.windows(2).filter(|pair| is_near(text, pair)).map(|pair| [place(&pair[0]), place(&pair[1])]);
        near.filter(|[a, b]| a.abs_diff(*b) == 1).map(|[a, b]| a.min(b)).collect()
    }

    fn is_in_order(&self, text: &str, found: &[Word]) -> bool {
        found.windows(self.terms.len()).any(|run| {
            run.iter().map(|word| &word.term).eq(self.terms.iter().map(|(term, _)| term))
                && run.windows(2).all(|pair| is_near(text, pair))
        })
    }

    /// The words, tags and line of an explanation.
    fn why(&self, text: &str, track: &Track) -> Why {
        let lyrics = track.lyrics.clone().unwrap_or_default();
        let is_strong = |(_, weight): &&(String, f32)| *weight >= 1.0;
        let strong: Vec<(String, f32)> = match self.terms.iter().filter(is_strong).cloned().collect::<Vec<_>>() {
            strong if strong.is_empty() => self.terms.clone(),
            strong => strong,
        };
        let (told, sung) = (words_among(&document::meaning(track), &strong), words_among(&lyrics, &strong));
        let is_shared = |term: &str| told.iter().chain(&sung).any(|word| word.term == term);
        let mut seen = HashSet::new();
        let content = content_words(text).into_iter().map(|content| content.word);
        let shared = content.filter(|word| is_shared(&word.term) && seen.insert(word.term.clone()));
        let is_asked = |term: &String| self.terms.iter().any(|(asked, _)| asked == term);
        let is_named = |tag: &&String| !terms_of(tag).is_empty() && terms_of(tag).iter().all(is_asked);
        let words: Vec<String> = shared.map(|word| text[word.start..word.end].to_lowercase()).collect();
        let is_by_words = 2 * words.len() > strong.len();
        let tags = track.tags.iter().filter(is_named).cloned().collect();
        let mut why = Why { lyric: best_line(&lyrics, &strong), words, tags, ..Why::default() };
        if !is_by_words {
            why.close_to = closest_sentence(text, track, if why == Why::default() { 0.1 } else { 0.25 });
        }
        why
    }
}

fn is_near(text: &str, pair: &[Word]) -> bool {
    pair[1].start < pair[0].end || text[pair[0].end..pair[1].start].trim().chars().count() <= 6
}

fn best_place(sung: &[Word]) -> HashSet<&str> {
    let mut best = HashSet::new();
    for (at, first) in sung.iter().enumerate() {
        let near = sung[at..].iter().take_while(|word| word.end <= first.start + 90);
        let terms: HashSet<&str> = near.map(|word| word.term.as_str()).collect();
        if terms.len() > best.len() {
            best = terms;
        }
    }
    best
}

fn best_line(lyrics: &str, terms: &[(String, f32)]) -> Option<String> {
    let shared = |line: &str| words_among(line, terms).into_iter().map(|word| word.term).collect::<HashSet<_>>().len();
    let lines = lyrics.lines().map(|line| (shared(line), line));
    let (n_shared, line) = lines.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    (n_shared > 0).then(|| line.trim().to_string())
}

fn closest_sentence(query: &str, track: &Track, from: f32) -> Option<String> {
    let (table, text) = (table()?, track.interpretation.as_deref().or(track.short_description.as_deref())?);
    let sentences = text.split_inclusive(['.', '!', '?', ';']).map(str::trim).filter(|sentence| sentence.len() > 12);
    let query = vector_of(query);
    let rated = sentences.map(|sentence| (dot(&query, &table.vector(sentence)), sentence));
    let (closeness, sentence) = rated.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (closeness >= from).then(|| sentence.to_owned())
}

fn sample() -> Vec<Track> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../app/assets/sample");
    let files = ["a.jsonl", "b.jsonl", "c.jsonl"].map(|file| fs::read_to_string(folder.join(file)).unwrap());
    files.iter().flat_map(|file| file.lines()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Themes, errands, questions, names and lines of the tracks, other scripts, and queries of function words.
fn queries(tracks: &[Track]) -> Vec<String> {
    let typed = [
        "leaving home on the first boat",
        "rain",
        "lullaby",
        "first snow",
        "The The",
        "what is the capital of the sea",
        "renew my passport before the holidays",
        "Lieder über das Meer und die Liebe",
        "夜の海",
        "песни о доме",
        "",
        "&&&",
    ];
    let of_track = |track: &Track| {
        let line = track.lyrics.as_deref().and_then(|lyrics| lyrics.lines().nth(2)).unwrap_or_default().to_owned();
        // A line that is also a question is judged as a quotation.
        let asked =
            format!("how to {}", track.lyrics.as_deref().unwrap_or_default().lines().next().unwrap_or_default());
        let description = track.short_description.clone().unwrap_or_default();
        [track.title.clone(), track.artist.clone(), track.tags.join(" "), line, asked, description]
    };
    let of_tracks = tracks.iter().step_by(47).flat_map(of_track);
    typed.into_iter().map(String::from).chain(of_tracks).collect()
}

#[test]
fn words_that_are_read_once_give_the_same_matches_and_explanations_as_the_texts() {
    let mut tracks = sample();
    let queries = queries(&tracks);
    // Beside the tracks of the queries, every fifth one.
    tracks =
        tracks.into_iter().enumerate().filter(|(n, _)| n % 5 == 0 || n % 47 == 0).map(|(_, track)| track).collect();
    tracks[0].lyrics = Some("how to renew my passport before the holidays\nLa la".into());
    tracks[1].title = "The The".into();
    tracks[2].lyrics = Some("夜の海を見ていた 夜の海".into());
    tracks[4].lyrics = Some("the first winters snow".into());
    (tracks[3].tags, tracks[3].genres) = (vec![], vec!["Lullaby".into()]);
    let (mut n_phrases, mut n_quoted, mut n_lines, mut n_close) = (0, 0, 0, 0);
    let read: Vec<ReadTrack> = tracks.into_iter().map(ReadTrack::of).collect();
    for text in &queries {
        let (judge, query) = (Judge::new(text, false, Votes::default()), Query::new(text));
        let asked = Asked::new(std::slice::from_ref(text), vec![], &Filter::default());
        for read in &read {
            let found = Match { signals: Signals::default(), ..judge.compare(read, true) };
            let expected = query.compare(&read.track, judge.is_off_topic);
            assert_eq!(found, expected, "'{text}' in {}", read.track.title);
            let why = asked.why(read);
            assert_eq!(why, query.why(text, &read.track), "'{text}' in {}", read.track.title);
            n_phrases += usize::from(found.is_phrase);
            n_quoted += usize::from(found.is_quoted);
            n_lines += usize::from(why.lyric.is_some());
            n_close += usize::from(why.close_to.is_some());
        }
    }
    let counts = [n_phrases, n_quoted, n_lines, n_close];
    assert!(n_phrases > 20 && n_quoted > 0 && n_lines > 100 && n_close > 100, "{counts:?}");
}
