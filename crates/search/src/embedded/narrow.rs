//! A filter as the text engine and the vectors each understand it.

use std::ops::Bound;

use tantivy::{
    Term,
    collector::{Count, DocSetCollector},
    query::{AllQuery, BooleanQuery, ExistsQuery, Occur, Query, RangeQuery, TermQuery, TermSetQuery},
    schema::IndexRecordOption,
};

use query::{FeatureRange, words::words};

use super::{
    super::{Filter, IndexError, vectors::Bits},
    schema::{DURATION, EXPLICIT, Fields, INSTRUMENTAL, LANGUAGE, YEAR},
    snapshot::Snapshot,
};

pub(super) struct Narrowed {
    pub(super) query: Box<dyn Query>,
    pub(super) slots: Bits,
    /// Tracks that nothing but missing data keeps out.
    pub(super) undecided: usize,
}

/// One condition, and the field that must have a value to decide it.
struct Condition {
    query: Box<dyn Query>,
    needs: Option<&'static str>,
}

/// `None` when the filter lets everything through.
pub(super) fn narrow(fields: &Fields, snapshot: &Snapshot, filter: &Filter) -> Result<Option<Narrowed>, IndexError> {
    let conditions = conditions(fields, filter);
    let denied = denials(fields, filter);
    if conditions.is_empty() && denied.is_empty() {
        return Ok(None);
    }
    let strict = all_of(conditions.iter().map(|condition| condition.query.box_clone()), &denied);
    let mut slots = Bits::none(snapshot.note.n_slots);
    let found = snapshot.searcher.search(&strict, &DocSetCollector)?;
    for address in &found {
        snapshot.slots(*address).for_each(|slot| slots.insert(slot));
    }
    let undecided = if filter.needs_data() {
        let lenient = all_of(conditions.iter().map(Condition::or_unknown), &denied);
        snapshot.searcher.search(&lenient, &Count)?.saturating_sub(found.len())
    } else {
        0
    };
    Ok(Some(Narrowed { query: Box::new(strict), slots, undecided }))
}

fn all_of(conditions: impl Iterator<Item = Box<dyn Query>>, denied: &[Box<dyn Query>]) -> BooleanQuery {
    let everything: Box<dyn Query> = Box::new(AllQuery);
    let must = conditions.chain([everything]).map(|query| (Occur::Must, query));
    BooleanQuery::new(must.chain(denied.iter().map(|query| (Occur::MustNot, query.box_clone()))).collect())
}

impl Condition {
    fn or_unknown(&self) -> Box<dyn Query> {
        let Some(field) = self.needs else { return self.query.box_clone() };
        let known: Box<dyn Query> = Box::new(ExistsQuery::new(field.to_owned(), false));
        let everything: Box<dyn Query> = Box::new(AllQuery);
        let unknown: Box<dyn Query> =
            Box::new(BooleanQuery::new(vec![(Occur::Must, everything), (Occur::MustNot, known)]));
        Box::new(BooleanQuery::union(vec![self.query.box_clone(), unknown]))
    }
}

fn conditions(fields: &Fields, filter: &Filter) -> Vec<Condition> {
    let mut all: Vec<Condition> = filter.features.iter().map(|range| feature(fields, range)).collect();
    let mut add = |query: Box<dyn Query>, needs| all.push(Condition { query, needs });
    if let Some(isrcs) = &filter.isrcs {
        add(Box::new(TermSetQuery::new(isrcs.iter().map(|isrc| fields.isrc_term(isrc)))), None);
    }
    let texts = [(fields.artist, &filter.artist), (fields.title, &filter.title), (fields.album, &filter.album)];
    for (field, text) in texts {
        for word in words(text.as_deref().unwrap_or_default()) {
            add(plain(Term::from_field_text(field, &word.term)), None);
        }
    }
    if let Some(years) = filter.years {
        let end = |year: Option<i32>, none: i64| {
            Bound::Included(Term::from_field_i64(fields.year, year.map_or(none, i64::from)))
        };
        add(Box::new(RangeQuery::new(end(years.from, i64::MIN), end(years.to, i64::MAX))), Some(YEAR));
    }
    if let Some(seconds) = filter.duration {
        add(between(fields.duration, seconds.min, seconds.max), Some(DURATION));
    }
    if let Some(language) = &filter.language {
        add(plain(Term::from_field_text(fields.language, language)), Some(LANGUAGE));
    }
    if !filter.languages_denied.is_empty() {
        add(Box::new(ExistsQuery::new(LANGUAGE.to_owned(), false)), Some(LANGUAGE));
    }
    for (is, field, name) in
        [(filter.instrumental, fields.instrumental, INSTRUMENTAL), (filter.explicit, fields.explicit, EXPLICIT)]
    {
        if let Some(is) = is {
            add(plain(Term::from_field_bool(field, is)), Some(name));
        }
    }
    all
}

/// What a track must not be.
fn denials(fields: &Fields, filter: &Filter) -> Vec<Box<dyn Query>> {
    let mut denied: Vec<Box<dyn Query>> = Vec::new();
    if !filter.not_isrcs.is_empty() {
        denied.push(Box::new(TermSetQuery::new(filter.not_isrcs.iter().map(|isrc| fields.isrc_term(isrc)))));
    }
    let languages = filter.languages_denied.iter();
    denied.extend(languages.map(|code| plain(Term::from_field_text(fields.language, code))));
    for terms in filter.denied_terms() {
        let all = terms.iter().map(|term| plain(Term::from_field_text(fields.meaning, term)));
        denied.push(Box::new(BooleanQuery::intersection(all.collect())));
    }
    denied
}

fn feature(fields: &Fields, range: &FeatureRange) -> Condition {
    let query = between(fields.feature(range.feature), range.min, range.max);
    Condition { query, needs: Some(range.feature.name()) }
}

fn between(field: tantivy::schema::Field, min: Option<f64>, max: Option<f64>) -> Box<dyn Query> {
    let end = |value: Option<f64>, none: f64| Bound::Included(Term::from_field_f64(field, value.unwrap_or(none)));
    Box::new(RangeQuery::new(end(min, f64::MIN), end(max, f64::MAX)))
}

fn plain(term: Term) -> Box<dyn Query> {
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
}
