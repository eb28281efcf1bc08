//! One collection: its points, filters and scores.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use qdrant_client::qdrant::{
    Condition, CreateCollection, Filter, NamedVectorsOutput, PointId, PointStruct, PointsSelector, QueryPoints, Range,
    RetrievedPoint, ScoredPoint, ScrollPoints, Value, VectorOutput, VectorsOutput, WithPayloadSelector,
    condition::ConditionOneOf, r#match::MatchValue, point_id::PointIdOptions, points_selector::PointsSelectorOneOf,
    query::Variant as QueryVariant, value::Kind, vector::Vector, vector_input::Variant as Wanted, vector_output,
    vectors::VectorsOptions, vectors_config::Config, vectors_output, with_payload_selector::SelectorOptions,
};
use tonic::Status;

pub(super) struct Collection {
    pub(super) made: CreateCollection,
    pub(super) fields: BTreeSet<String>,
    /// Number of written points by the `kind` in their payload.
    pub(super) n_written: HashMap<String, usize>,
    points: BTreeMap<String, Point>,
}

struct Point {
    payload: HashMap<String, Value>,
    dense: Vec<f32>,
    words: HashMap<u32, f32>,
}

type Scores<'a> = Vec<(f32, &'a str, &'a Point)>;

impl Collection {
    pub(super) fn new(made: CreateCollection) -> Self {
        Self { made, fields: BTreeSet::new(), n_written: HashMap::new(), points: BTreeMap::new() }
    }

    pub(super) fn resize(&mut self, size: u64) {
        let config = self.made.vectors_config.as_mut().and_then(|config| config.config.as_mut());
        if let Some(Config::ParamsMap(by_name)) = config {
            by_name.map.values_mut().for_each(|params| params.size = size);
        }
    }

    fn size(&self) -> usize {
        match self.made.vectors_config.as_ref().and_then(|config| config.config.as_ref()) {
            Some(Config::ParamsMap(by_name)) => by_name.map.get("dense").map_or(0, |params| params.size as usize),
            _ => 0,
        }
    }

    /// Checks the length and normalises: with cosine distance the server stores and compares unit vectors.
    fn unit(&self, mut vector: Vec<f32>) -> Result<Vec<f32>, Status> {
        let (size, got) = (self.size(), vector.len());
        if size != got {
            let said = format!("Wrong input: Vector dimension error: expected dim: {size}, got {got}");
            return Err(Status::invalid_argument(said));
        }
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length > 0.0 {
            vector.iter_mut().for_each(|x| *x /= length);
        }
        Ok(vector)
    }

    pub(super) fn upsert(&mut self, point: PointStruct) -> Result<(), Status> {
        let id = uuid_of(point.id.as_ref()).ok_or_else(|| Status::invalid_argument("Unable to parse UUID"))?;
        let Some(VectorsOptions::Vectors(vectors)) = point.vectors.and_then(|vectors| vectors.vectors_options) else {
            return Err(Status::invalid_argument("Wrong input: Not existing vector name error: "));
        };
        let mut stored = Point { payload: point.payload, dense: Vec::new(), words: HashMap::new() };
        for (name, vector) in vectors.vectors {
            match (name.as_str(), vector.vector) {
                ("dense", Some(Vector::Dense(dense))) => stored.dense = self.unit(dense.data)?,
                ("words", Some(Vector::Sparse(sparse))) => {
                    stored.words = sparse.indices.into_iter().zip(sparse.values).collect();
                }
                _ => return Err(unknown_vector(&name)),
            }
        }
        *self.n_written.entry(stored.kind().to_owned()).or_default() += 1;
        self.points.insert(id, stored);
        Ok(())
    }

    pub(super) fn delete(&mut self, points: PointsSelector) -> Result<(), Status> {
        match points.points_selector_one_of {
            Some(PointsSelectorOneOf::Filter(filter)) => {
                self.points.retain(|_, point| !point.matches(Some(&filter)));
                Ok(())
            }
            _ => Err(Status::unimplemented("points are deleted by filter here")),
        }
    }

    pub(super) fn n_points(&self, kind: &str) -> usize {
        self.points.values().filter(|point| point.kind() == kind).count()
    }

    pub(super) fn count(&self, filter: Option<&Filter>) -> u64 {
        self.matching(filter).count() as u64
    }

    fn matching(&self, filter: Option<&Filter>) -> impl Iterator<Item = (&String, &Point)> {
        self.points.iter().filter(move |(_, point)| point.matches(filter))
    }

    pub(super) fn get(&self, ids: &[PointId], payload: Option<&WithPayloadSelector>) -> Vec<RetrievedPoint> {
        let found = ids.iter().filter_map(|id| self.points.get_key_value(&uuid_of(Some(id))?));
        found.map(|(id, point)| point.retrieved(id, payload, false)).collect()
    }

    pub(super) fn scroll(&self, asked: &ScrollPoints) -> Vec<RetrievedPoint> {
        let page = self.matching(asked.filter.as_ref()).take(asked.limit.unwrap_or(10) as usize);
        page.map(|(id, point)| point.retrieved(id, asked.with_payload.as_ref(), true)).collect()
    }

    pub(super) fn query(&self, asked: &QueryPoints) -> Result<Vec<ScoredPoint>, Status> {
        let wanted = match asked.query.as_ref().and_then(|query| query.variant.as_ref()) {
            Some(QueryVariant::Nearest(input)) => input.variant.as_ref(),
            _ => None,
        };
        let filter = asked.filter.as_ref();
        let mut found = match (asked.using(), wanted) {
            ("dense", Some(Wanted::Dense(vector))) => self.near(&self.unit(vector.data.clone())?, filter),
            ("words", Some(Wanted::Sparse(words))) => {
                self.sharing(&words.indices.iter().copied().zip(words.values.iter().copied()).collect(), filter)
            }
            (name, _) => return Err(unknown_vector(name)),
        };
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.truncate(asked.limit.unwrap_or(10) as usize);
        let scored = |(score, id, point): (f32, &str, &Point)| ScoredPoint {
            id: Some(id.into()),
            score,
            payload: chosen(&point.payload, asked.with_payload.as_ref()),
            ..ScoredPoint::default()
        };
        Ok(found.into_iter().map(scored).collect())
    }

    fn near(&self, vector: &[f32], filter: Option<&Filter>) -> Scores<'_> {
        let similarity = |point: &Point| point.dense.iter().zip(vector).map(|(x, y)| x * y).sum();
        self.matching(filter).map(|(id, point)| (similarity(point), id.as_str(), point)).collect()
    }

    /// With the `idf` modifier: only points that share a word are found.
    fn sharing(&self, wanted: &HashMap<u32, f32>, filter: Option<&Filter>) -> Scores<'_> {
        let with_words = || self.points.values().filter(|point| !point.words.is_empty());
        let n = with_words().count() as f32;
        let rarity = |word: &u32| {
            let n_with = with_words().filter(|point| point.words.contains_key(word)).count() as f32;
            (1.0 + (n - n_with + 0.5) / (n_with + 0.5)).ln()
        };
        let weights: HashMap<u32, f32> = wanted.iter().map(|(word, count)| (*word, count * rarity(word))).collect();
        let score = |point: &Point| {
            let shared = weights.iter().filter_map(|(word, weight)| Some(weight * point.words.get(word)?));
            shared.reduce(|a, b| a + b)
        };
        self.matching(filter).filter_map(|(id, point)| Some((score(point)?, id.as_str(), point))).collect()
    }
}

impl Point {
    fn kind(&self) -> &str {
        self.payload.get("kind").and_then(|kind| kind.as_str()).map_or("", String::as_str)
    }

    fn matches(&self, filter: Option<&Filter>) -> bool {
        filter.is_none_or(|filter| {
            filter.must.iter().all(|condition| self.meets(condition))
                && (filter.should.is_empty() || filter.should.iter().any(|condition| self.meets(condition)))
                && !filter.must_not.iter().any(|condition| self.meets(condition))
        })
    }

    fn meets(&self, condition: &Condition) -> bool {
        let field = match &condition.condition_one_of {
            Some(ConditionOneOf::Field(field)) => field,
            Some(ConditionOneOf::Filter(filter)) => return self.matches(Some(filter)),
            Some(ConditionOneOf::IsEmpty(empty)) => return !self.payload.contains_key(&empty.key),
            _ => return false,
        };
        let values = self.payload.get(&field.key).map(|value| match &value.kind {
            Some(Kind::ListValue(list)) => list.values.as_slice(),
            _ => std::slice::from_ref(value),
        });
        let is_wanted = |value: &Value| match field.r#match.as_ref().and_then(|wanted| wanted.match_value.as_ref()) {
            Some(MatchValue::Keyword(word)) => value.as_str() == Some(word),
            Some(MatchValue::Keywords(words)) => value.as_str().is_some_and(|value| words.strings.contains(value)),
            Some(MatchValue::Integer(number)) => value.as_integer() == Some(*number),
            Some(MatchValue::Boolean(is)) => value.as_bool() == Some(*is),
            _ => field.range.is_some_and(|range| number(value).is_some_and(|value| is_within(&range, value))),
        };
        values.is_some_and(|values| values.iter().any(is_wanted))
    }

    fn retrieved(&self, id: &str, payload: Option<&WithPayloadSelector>, with_vectors: bool) -> RetrievedPoint {
        RetrievedPoint {
            id: Some(id.into()),
            payload: chosen(&self.payload, payload),
            vectors: with_vectors.then(|| self.vectors()),
            ..RetrievedPoint::default()
        }
    }

    fn vectors(&self) -> VectorsOutput {
        let dense = vector_output::Vector::Dense(self.dense.clone().into());
        let dense = VectorOutput { vector: Some(dense), ..VectorOutput::default() };
        let vectors = NamedVectorsOutput { vectors: HashMap::from([("dense".to_owned(), dense)]) };
        VectorsOutput { vectors_options: Some(vectors_output::VectorsOptions::Vectors(vectors)) }
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_double().or_else(|| value.as_integer().map(|whole| whole as f64))
}

fn is_within(range: &Range, value: f64) -> bool {
    range.gte.is_none_or(|end| value >= end)
        && range.lte.is_none_or(|end| value <= end)
        && range.gt.is_none_or(|end| value > end)
        && range.lt.is_none_or(|end| value < end)
}

fn chosen(payload: &HashMap<String, Value>, selector: Option<&WithPayloadSelector>) -> HashMap<String, Value> {
    match selector.and_then(|selector| selector.selector_options.as_ref()) {
        Some(SelectorOptions::Enable(true)) => payload.clone(),
        Some(SelectorOptions::Include(include)) => {
            let kept = payload.iter().filter(|(field, _)| include.fields.contains(field));
            kept.map(|(field, value)| (field.clone(), value.clone())).collect()
        }
        _ => HashMap::new(),
    }
}

fn uuid_of(id: Option<&PointId>) -> Option<String> {
    match id?.point_id_options.as_ref()? {
        PointIdOptions::Uuid(uuid) if uuid.len() == 36 => Some(uuid.clone()),
        _ => None,
    }
}

fn unknown_vector(name: &str) -> Status {
    Status::invalid_argument(format!("Wrong input: Not existing vector name error: {name}"))
}
