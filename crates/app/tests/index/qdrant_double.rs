//! A Qdrant in memory: as much of its REST interface as we use, answering as the real server does.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Arc, Mutex},
};

use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// What the server does wrong, if anything.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Mood {
    Well,
    /// Takes requests and never answers.
    Silent,
    /// 503 to everything.
    Overloaded,
    /// 401 to everything.
    Locked,
    /// Speaks HTTP, but is somebody else.
    Stranger,
}

#[derive(Clone)]
pub(crate) struct Double {
    pub(crate) url: String,
    collections: Arc<Mutex<BTreeMap<String, Collection>>>,
    mood: Arc<Mutex<Mood>>,
}

#[derive(Default)]
struct Collection {
    config: Value,
    points: BTreeMap<String, Value>,
}

type Answer = (u16, Value);

impl Double {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let double = Self { url, collections: Arc::default(), mood: Arc::new(Mutex::new(Mood::Well)) };
        let serving = double.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serving.clone().serve(stream));
            }
        });
        double
    }

    pub(crate) fn set_mood(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    /// Replaces every collection's dense vectors by some of another length, or drops all collections.
    pub(crate) fn spoil(&self, size: Option<u64>) {
        let mut collections = self.collections.lock().unwrap();
        match size {
            None => collections.clear(),
            Some(size) => collections.values_mut().for_each(|one| one.config["vectors"]["dense"]["size"] = json!(size)),
        }
    }

    async fn serve(self, mut stream: TcpStream) {
        let Some((method, path, body)) = read_request(&mut stream).await else { return };
        let mood = *self.mood.lock().unwrap();
        let (status, answer) = match mood {
            Mood::Well => self.answer(&method, &path, &body),
            Mood::Silent => std::future::pending().await,
            Mood::Overloaded => (503, json!("busy")),
            Mood::Locked => (401, json!("Must provide an API key or an Authorization bearer token")),
            Mood::Stranger => (200, json!({"hello": "world"})),
        };
        let text = answer.to_string();
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            text.len()
        );
        stream.write_all(format!("{head}{text}").as_bytes()).await.ok();
    }

    fn answer(&self, method: &str, path: &str, body: &Value) -> Answer {
        let path = path.split('?').next().unwrap();
        let parts: Vec<&str> = path.trim_start_matches("/collections/").splitn(2, '/').collect();
        let (name, rest) = (parts[0], parts.get(1).copied().unwrap_or_default());
        let mut collections = self.collections.lock().unwrap();
        if (method, rest) == ("PUT", "") {
            if collections.contains_key(name) {
                return wrong(409, format!("Wrong input: Collection `{name}` already exists!"));
            }
            collections.insert(name.into(), Collection { config: body.clone(), ..Collection::default() });
            return ok(json!(true));
        }
        if (method, rest) == ("DELETE", "") {
            return ok(json!(collections.remove(name).is_some()));
        }
        let Some(collection) = collections.get_mut(name) else {
            return wrong(404, format!("Not found: Collection `{name}` doesn't exist!"));
        };
        match (method, rest) {
            ("GET", "") => ok(json!({"status": "green", "config": {"params": collection.config}})),
            ("PUT", "index") => ok(json!({"status": "completed"})),
            ("PUT", "points") => collection.upsert(body),
            ("POST", "points") => ok(collection.retrieve(body)),
            ("POST", "points/delete") => ok(collection.delete(&body["filter"])),
            ("POST", "points/count") => {
                ok(json!({"count": collection.points.values().filter(|point| matches(point, &body["filter"])).count()}))
            }
            ("POST", "points/scroll") => ok(collection.scroll(body)),
            ("POST", "points/query/batch") => {
                let searches = body["searches"].as_array().unwrap();
                match searches.iter().map(|search| collection.query(search)).collect::<Result<Vec<Value>, String>>() {
                    Ok(answers) => ok(json!(answers)),
                    Err(error) => wrong(400, error),
                }
            }
            _ => wrong(404, format!("no {method} {path}")),
        }
    }
}

impl Collection {
    fn upsert(&mut self, body: &Value) -> Answer {
        let size = self.config["vectors"]["dense"]["size"].as_u64().unwrap() as usize;
        for point in body["points"].as_array().unwrap() {
            let dense = point["vector"]["dense"].as_array().unwrap();
            if dense.len() != size {
                let said = format!("Wrong input: Vector dimension error: expected dim: {size}, got {}", dense.len());
                return wrong(400, said);
            }
            let id = point["id"].as_str().unwrap();
            if uuid::Uuid::parse_str(id).is_err() {
                return wrong(400, format!("Format error in JSON body: value {id} is not a valid point ID"));
            }
            self.points.insert(id.into(), point.clone());
        }
        ok(json!({"status": "completed"}))
    }

    fn retrieve(&self, body: &Value) -> Value {
        let ids = body["ids"].as_array().unwrap().iter().filter_map(|id| self.points.get(id.as_str().unwrap()));
        ids.map(|point| json!({"id": point["id"], "payload": chosen(point, &body["with_payload"])})).collect()
    }

    fn delete(&mut self, filter: &Value) -> Value {
        self.points.retain(|_, point| !matches(point, filter));
        json!({"status": "completed"})
    }

    fn scroll(&self, body: &Value) -> Value {
        let limit = body["limit"].as_u64().unwrap() as usize;
        let found = self.points.values().filter(|point| matches(point, &body["filter"])).take(limit);
        let points: Vec<Value> = found.map(|point| json!({"id": point["id"], "vector": point["vector"]})).collect();
        json!({"points": points, "next_page_offset": null})
    }

    fn query(&self, search: &Value) -> Result<Value, String> {
        let scored = match search["using"].as_str().unwrap() {
            "dense" => self.dense_scores(&search["query"])?,
            "words" => self.sparse_scores(&search["query"]),
            other => return Err(format!("Wrong input: Not existing vector name error: {other}")),
        };
        let mut found: Vec<(f64, &Value)> =
            scored.into_iter().filter(|(_, point)| matches(point, &search["filter"])).collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.truncate(search["limit"].as_u64().unwrap() as usize);
        let told = |(score, point): (f64, &Value)| json!({"id": point["id"], "version": 1, "score": score, "payload": chosen(point, &search["with_payload"])});
        Ok(json!({"points": found.into_iter().map(told).collect::<Vec<_>>()}))
    }

    fn dense_scores(&self, query: &Value) -> Result<Vec<(f64, &Value)>, String> {
        let query = numbers(query);
        let length = |vector: &[f64]| vector.iter().map(|x| x * x).sum::<f64>().sqrt().max(1e-12);
        let score = |point| {
            let vector = numbers(&self.points[point]["vector"]["dense"]);
            if vector.len() != query.len() {
                return Err("Wrong input: Vector dimension error".to_string());
            }
            let product: f64 = vector.iter().zip(&query).map(|(x, y)| x * y).sum();
            Ok((product / length(&vector) / length(&query), &self.points[point]))
        };
        self.points.keys().map(score).collect()
    }

    /// With the `idf` modifier; only points that share a word are found.
    fn sparse_scores(&self, query: &Value) -> Vec<(f64, &Value)> {
        let query = sparse(query);
        let words = |point: &Value| sparse(&point["vector"]["words"]);
        let n = self.points.values().filter(|point| point["vector"]["words"].is_object()).count() as f64;
        let rarity = |word: &u64| {
            let n_with = self.points.values().filter(|point| words(point).contains_key(word)).count() as f64;
            (1.0 + (n - n_with + 0.5) / (n_with + 0.5)).ln()
        };
        let rarity: HashMap<u64, f64> = query.keys().map(|word| (*word, rarity(word))).collect();
        let score = |point| {
            let words = words(point);
            let shared: BTreeSet<&u64> = query.keys().filter(|word| words.contains_key(word)).collect();
            let sum = shared.iter().map(|word| query[word] * words[word] * rarity[word]).sum();
            (!shared.is_empty()).then_some((sum, point))
        };
        self.points.values().filter_map(score).collect()
    }
}

fn matches(point: &Value, filter: &Value) -> bool {
    let any_of = |value: &Value, wanted: &Value| match value {
        Value::Array(values) => values.contains(wanted),
        value => value == wanted,
    };
    filter["must"].as_array().into_iter().flatten().all(|condition| {
        let value = &point["payload"][condition["key"].as_str().unwrap()];
        if let Some(wanted) = condition["match"].get("value") {
            return any_of(value, wanted);
        }
        if let Some(wanted) = condition["match"].get("any") {
            return wanted.as_array().unwrap().iter().any(|wanted| any_of(value, wanted));
        }
        let end = |name: &str, other: f64| condition["range"].get(name).and_then(Value::as_f64).unwrap_or(other);
        value.as_f64().is_some_and(|value| value >= end("gte", f64::MIN) && value <= end("lte", f64::MAX))
    })
}

fn chosen(point: &Value, with_payload: &Value) -> Value {
    let payload = point["payload"].as_object().unwrap();
    match with_payload {
        Value::Array(fields) => {
            let kept = payload.iter().filter(|(field, _)| fields.contains(&json!(field)));
            Value::Object(kept.map(|(field, value)| (field.clone(), value.clone())).collect::<Map<_, _>>())
        }
        Value::Bool(true) => json!(payload),
        _ => Value::Null,
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn sparse(value: &Value) -> HashMap<u64, f64> {
    let indices = value["indices"].as_array().into_iter().flatten().map(|index| index.as_u64().unwrap());
    let values = value["values"].as_array().into_iter().flatten().map(|x| x.as_f64().unwrap());
    indices.zip(values).collect()
}

fn ok(result: Value) -> Answer {
    (200, json!({"result": result, "status": "ok", "time": 0.0001}))
}

fn wrong(status: u16, said: String) -> Answer {
    (status, json!({"status": {"error": said}, "time": 0.0001}))
}

async fn read_request(stream: &mut TcpStream) -> Option<(String, String, Value)> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok()).unwrap_or(0);
    while bytes.len() < head_end + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let first_line = String::from_utf8_lossy(&bytes[..head_end]).lines().next()?.to_string();
    let mut words = first_line.split(' ').map(String::from);
    let body = serde_json::from_slice(&bytes[head_end..]).unwrap_or(Value::Null);
    Some((words.next()?, words.next()?, body))
}
