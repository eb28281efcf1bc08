//! Converts a filter to the forms that the text engine and the vector search need.

use std::{ops::Bound, sync::Arc};

use tantivy::{
    Term,
    collector::{Count, DocSetCollector},
    query::{AllQuery, BooleanQuery, ExistsQuery, Occur, Query, RangeQuery, TermQuery, TermSetQuery},
    schema::IndexRecordOption,
};

use query::{FeatureRange, words::words};

use super::{
    super::{Filter, IndexError, Scope, SearchPlan, vectors::Bits},
    schema::{DURATION, EXPLICIT, Fields, INSTRUMENTAL, LANGUAGE, YEAR},
    snapshot::Snapshot,
};

pub(super) struct Narrowed {
    pub(super) query: Box<dyn Query>,
    pub(super) slots: Arc<Bits>,
    /// The number of tracks that are excluded only because data is missing.
    pub(super) undecided: usize,
}

/// One condition, and the field that must have a value to evaluate it.
struct Condition {
    query: Box<dyn Query>,
    needs: Option<&'static str>,
}

/// `None` if the filter excludes nothing.
pub(super) fn narrow(fields: &Fields, snapshot: &Snapshot, plan: &SearchPlan) -> Result<Option<Narrowed>, IndexError> {
    let filter = &plan.filter;
    let mut conditions = conditions(fields, filter);
    let mut denied = denials(fields, filter);
    let is_filtered = !conditions.is_empty() || !denied.is_empty();
    if let Scope::Marked { any, none } = &plan.scope {
        conditions.push(Condition { query: readers(fields, any), needs: None });
        denied.push(plain(fields.reader_term(none)));
    } else if !is_filtered {
        return Ok(None);
    }
    if !is_filtered {
        return within(snapshot, &plan.scope, all_of(conditions.into_iter().map(|part| part.query), &denied)).map(Some);
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
    Ok(Some(Narrowed { query: Box::new(strict), slots: Arc::new(slots), undecided }))
}

/// Documents that one of these readers may see. They are few: a `TermSetQuery` would build an automaton for every search, which took a
/// third of it.
fn readers(fields: &Fields, any: &[String]) -> Box<dyn Query> {
    Box::new(BooleanQuery::union(any.iter().map(|mark| plain(fields.reader_term(mark))).collect()))
}

/// How many documents are in a scope.
pub(super) fn count(fields: &Fields, snapshot: &Snapshot, scope: &Scope) -> Result<u64, IndexError> {
    let Scope::Marked { any, none } = scope else { return Ok(snapshot.searcher.num_docs()) };
    let query = all_of([readers(fields, any)].into_iter(), &[plain(fields.reader_term(none))]);
    Ok(snapshot.searcher.search(&query, &Count)? as u64)
}

/// For a scope without other conditions: its slots are cached per commit, because every search of a user has the same
/// scope.
fn within(snapshot: &Snapshot, scope: &Scope, query: BooleanQuery) -> Result<Narrowed, IndexError> {
    let slots = snapshot.in_scope(scope, || {
        let mut slots = Bits::none(snapshot.note.n_slots);
        for address in snapshot.searcher.search(&query, &DocSetCollector)? {
            snapshot.slots(address).for_each(|slot| slots.insert(slot));
        }
        Ok(slots)
    })?;
    Ok(Narrowed { query: Box::new(query), slots, undecided: 0 })
}

fn all_of(conditions: impl Iterator<Item = Box<dyn Query>>, denied: &[Box<dyn Query>]) -> BooleanQuery {
    let mut must: Vec<Box<dyn Query>> = conditions.collect();
    if must.is_empty() {
        must.push(Box::new(AllQuery));
    }
    let must = must.into_iter().map(|query| (Occur::Must, query));
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
    if let Some(tracks) = &filter.tracks {
        add(Box::new(TermSetQuery::new(tracks.iter().map(|id| fields.track_term(id)))), None);
    }
    if let Some(mark) = &filter.mark {
        add(plain(fields.reader_term(mark)), None);
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

/// Conditions that a track must not fulfil.
fn denials(fields: &Fields, filter: &Filter) -> Vec<Box<dyn Query>> {
    let mut denied: Vec<Box<dyn Query>> = Vec::new();
    if !filter.not_tracks.is_empty() {
        denied.push(Box::new(TermSetQuery::new(filter.not_tracks.iter().map(|id| fields.track_term(id)))));
    }
    denied.extend(filter.not_mark.iter().map(|mark| plain(fields.reader_term(mark))));
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
