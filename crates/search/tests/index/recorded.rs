//! Recorded exchanges with a real server (1.18.3). The double and the server at `QDRANT_URL` must give the same responses.

use qdrant_client::{
    Payload, Qdrant, QdrantError,
    qdrant::{
        Condition, CountPointsBuilder, CreateCollectionBuilder, CreateFieldIndexCollectionBuilder, DeletePointsBuilder,
        Distance, FieldType, Filter, GetPointsBuilder, Modifier, NamedVectors, PointId, PointStruct, Query,
        QueryBatchPointsBuilder, QueryPoints, QueryPointsBuilder, Range, ScrollPointsBuilder,
        SparseVectorParamsBuilder, SparseVectorsConfigBuilder, UpsertPointsBuilder, Vector, VectorInput,
        VectorParamsBuilder, VectorsConfigBuilder, point_id::PointIdOptions, value::Kind, vectors_config::Config,
        with_payload_selector::SelectorOptions,
    },
};
use serde_json::{Value, json};
use tonic::Code;

use crate::qdrant::{double, server};

const RECORD: &str = include_str!("qdrant-1.18.3-exchanges.json");

/// Exchanges about features that Segue does not use, or that a typed client cannot send.
const NOT_ASKED: [&str; 9] = [
    "server version",
    "upsert with a bad id",
    "hybrid: prefetch both, rrf default",
    "hybrid: rrf with k and weights",
    "hybrid: dbsf",
    "hybrid with a filter",
    "set payload",
    "aliases",
    "broken json",
];

#[tokio::test]
async fn the_double_gives_the_recorded_responses() {
    let double = double().await;
    replay(&double.url, None).await;
}

#[tokio::test]
#[ignore = "needs QDRANT_URL"]
async fn the_server_gives_the_recorded_responses() {
    replay(&server(), std::env::var("QDRANT_API_KEY").ok()).await;
}

async fn replay(url: &str, api_key: Option<String>) {
    let qdrant = Qdrant::from_url(url).api_key(api_key).skip_compatibility_check().build().unwrap();
    // A unique name, because other programs may use the server.
    let name = format!("segue-test-{}", uuid::Uuid::now_v7());
    let record = RECORD.replace("/tracks", &format!("/{name}")).replace("`tracks`", &format!("`{name}`"));
    let record: Vec<Value> = serde_json::from_str(&record).unwrap();
    for exchange in record.iter().filter(|exchange| !NOT_ASKED.contains(&text(&exchange["name"]))) {
        let status = exchange["status"].as_u64().unwrap();
        match ask(&qdrant, exchange).await {
            Ok(told) => {
                assert_eq!(status, 200, "{exchange}");
                assert_alike(&told, &exchange["response"]["result"], exchange);
            }
            Err(QdrantError::ResponseError { status: told }) => {
                let expected = [(400, Code::InvalidArgument), (404, Code::NotFound), (409, Code::AlreadyExists)];
                assert!(expected.contains(&(status, told.code())), "{told} but {exchange}");
                // The server adds the location of the error to the message of its engine.
                let recorded = text(&exchange["response"]["status"]["error"]);
                assert!(recorded.starts_with(told.message()), "{told} but {exchange}");
            }
            Err(other) => panic!("{other} at {exchange}"),
        }
    }
    // The last exchange may have deleted it. Remaining collections make the server slow to start.
    qdrant.delete_collection(&name).await.ok();
}

/// Compares the values except the last digits of scores and the fields that only one of the two interfaces has.
fn assert_alike(told: &Value, recorded: &Value, exchange: &Value) {
    match (told, recorded) {
        (Value::Array(told), Value::Array(recorded)) => {
            assert_eq!(told.len(), recorded.len(), "{exchange}");
            told.iter().zip(recorded).for_each(|(told, recorded)| assert_alike(told, recorded, exchange));
        }
        (Value::Object(told), _) => told.iter().for_each(|(key, told)| assert_alike(told, &recorded[key], exchange)),
        (Value::Number(told), Value::Number(recorded)) => {
            let difference = told.as_f64().unwrap() - recorded.as_f64().unwrap();
            assert!(difference.abs() < 1e-5, "{told} instead of {recorded} in {exchange}");
        }
        _ => assert_eq!(told, recorded, "{exchange}"),
    }
}

/// Sends a recorded request with the client, and returns the response in the format of the record.
async fn ask(qdrant: &Qdrant, exchange: &Value) -> Result<Value, QdrantError> {
    let (method, body) = (text(&exchange["method"]), &exchange["body"]);
    let path = text(&exchange["path"]).trim_start_matches("/collections/").split('?').next().unwrap();
    let (name, rest) = path.split_once('/').unwrap_or((path, ""));
    match (method, rest) {
        ("GET", "") => described(qdrant, name).await,
        ("PUT", "") => Ok(json!(qdrant.create_collection(creation(name, body)).await?.result)),
        ("DELETE", "") => Ok(json!(qdrant.delete_collection(name).await?.result)),
        ("PUT", "index") => {
            let kind = if body["field_schema"] == "keyword" { FieldType::Keyword } else { FieldType::Float };
            let index = CreateFieldIndexCollectionBuilder::new(name, text(&body["field_name"]), kind).wait(true);
            qdrant.create_field_index(index).await.map(|_| json!({}))
        }
        ("PUT", "points") => {
            let points = list(&body["points"]).map(point).collect::<Vec<_>>();
            qdrant.upsert_points(UpsertPointsBuilder::new(name, points).wait(true)).await.map(|_| json!({}))
        }
        ("POST", "points") => {
            let ids = list(&body["ids"]).map(|id| text(id).into()).collect::<Vec<PointId>>();
            let found = qdrant.get_points(GetPointsBuilder::new(name, ids).with_payload(true)).await?.result;
            Ok(found.into_iter().map(|point| told(point.id, point.payload)).collect())
        }
        ("POST", "points/scroll") => {
            let page = ScrollPointsBuilder::new(name)
                .filter(filter(&body["filter"]))
                .limit(body["limit"].as_u64().unwrap() as u32)
                .with_payload(fields(body));
            let found = qdrant.scroll(page).await?.result;
            Ok(json!({"points": found.into_iter().map(|point| told(point.id, point.payload)).collect::<Value>()}))
        }
        ("POST", "points/count") => {
            let count = qdrant.count(CountPointsBuilder::new(name).exact(true)).await?;
            Ok(json!({"count": count.result.unwrap().count}))
        }
        ("POST", "points/delete") => {
            let delete = DeletePointsBuilder::new(name).points(filter(&body["filter"])).wait(true);
            qdrant.delete_points(delete).await.map(|_| json!({}))
        }
        ("POST", "points/query") => Ok(searched(qdrant, name, std::slice::from_ref(body)).await?.swap_remove(0)),
        ("POST", "points/query/batch") => {
            Ok(searched(qdrant, name, body["searches"].as_array().unwrap()).await?.into())
        }
        other => panic!("no {other:?} here"),
    }
}

async fn described(qdrant: &Qdrant, name: &str) -> Result<Value, QdrantError> {
    let params = qdrant.collection_info(name).await?.result.unwrap().config.unwrap().params.unwrap();
    let Some(Config::ParamsMap(dense)) = params.vectors_config.unwrap().config else { panic!("no named vectors") };
    let words = &params.sparse_vectors_config.unwrap().map["words"];
    assert_eq!(words.modifier, Some(Modifier::Idf.into()));
    let dense = json!({"size": dense.map["dense"].size, "distance": dense.map["dense"].distance().as_str_name()});
    Ok(json!({"config": {"params": {"vectors": {"dense": dense}}}}))
}

async fn searched(qdrant: &Qdrant, name: &str, searches: &[Value]) -> Result<Vec<Value>, QdrantError> {
    let searches = searches.iter().map(|search| query(name, search)).collect::<Vec<_>>();
    let answers = qdrant.query_batch(QueryBatchPointsBuilder::new(name, searches)).await?.result;
    let points = answers.into_iter().map(|answer| {
        let scored = answer.result.into_iter().map(|point| {
            let mut told = told(point.id, point.payload);
            told["score"] = json!(point.score);
            told
        });
        json!({"points": scored.collect::<Value>()})
    });
    Ok(points.collect())
}

fn query(name: &str, search: &Value) -> QueryPoints {
    let input = match &search["query"] {
        Value::Array(_) => VectorInput::new_dense(numbers(&search["query"])),
        words => VectorInput::new_sparse(indices(words), numbers(&words["values"])),
    };
    let query = QueryPointsBuilder::new(name)
        .query(Query::new_nearest(input))
        .using(text(&search["using"]))
        .limit(search["limit"].as_u64().unwrap());
    if search["with_payload"].is_array() { query.with_payload(fields(search)).build() } else { query.build() }
}

fn creation(name: &str, body: &Value) -> CreateCollectionBuilder {
    let (mut dense, mut words) = (VectorsConfigBuilder::default(), SparseVectorsConfigBuilder::default());
    let size = body["vectors"]["dense"]["size"].as_u64().unwrap();
    dense.add_named_vector_params("dense", VectorParamsBuilder::new(size, Distance::Cosine));
    words.add_named_vector_params("words", SparseVectorParamsBuilder::default().modifier(Modifier::Idf));
    CreateCollectionBuilder::new(name).vectors_config(dense).sparse_vectors_config(words)
}

fn point(point: &Value) -> PointStruct {
    let mut vectors = NamedVectors::default().add_vector("dense", numbers(&point["vector"]["dense"]));
    if let Some(words) = point["vector"].get("words") {
        vectors = vectors.add_vector("words", Vector::new_sparse(indices(words), numbers(&words["values"])));
    }
    PointStruct::new(text(&point["id"]), vectors, Payload::try_from(point["payload"].clone()).unwrap())
}

fn filter(filter: &Value) -> Filter {
    Filter::must(list(&filter["must"]).map(|condition| {
        let key = text(&condition["key"]);
        match &condition["match"] {
            Value::Null => Condition::range(key, Range { gte: condition["range"]["gte"].as_f64(), ..Range::default() }),
            wanted if wanted["any"].is_array() => {
                Condition::matches(key, list(&wanted["any"]).map(|word| text(word).to_owned()).collect::<Vec<_>>())
            }
            wanted => Condition::matches(key, text(&wanted["value"]).to_owned()),
        }
    }))
}

fn fields(body: &Value) -> SelectorOptions {
    SelectorOptions::Include(list(&body["with_payload"]).map(|field| text(field).to_owned()).collect::<Vec<_>>().into())
}

fn told(id: Option<PointId>, payload: std::collections::HashMap<String, qdrant_client::qdrant::Value>) -> Value {
    let Some(PointIdOptions::Uuid(id)) = id.and_then(|id| id.point_id_options) else { panic!("no id") };
    let payload = payload.into_iter().filter(|(_, value)| !matches!(value.kind, Some(Kind::NullValue(_))));
    json!({"id": id, "payload": payload.map(|(key, value)| (key, value.into_json())).collect::<serde_json::Map<_, _>>()})
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().unwrap().iter()
}

fn numbers(value: &Value) -> Vec<f32> {
    list(value).map(|number| number.as_f64().unwrap() as f32).collect()
}

fn indices(words: &Value) -> Vec<u32> {
    list(&words["indices"]).map(|index| index.as_u64().unwrap() as u32).collect()
}
