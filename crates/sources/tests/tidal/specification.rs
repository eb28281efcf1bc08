//! The double's responses against the schemas in Tidal's published specification.

use doubles::{
    fiction, serve,
    tidal::{Limits, TidalDouble},
};
use serde_json::Value;

/// The response schema of each request: types, enum values and required fields, without descriptions.
const SPECIFICATION: &str = include_str!("specification.json");

#[tokio::test]
async fn the_double_follows_the_specification_except_where_real_responses_violate_it() {
    let specification: Value = serde_json::from_str(SPECIFICATION).unwrap();
    let requests = [
        (
            "/searchResults",
            "/searchResults?filter[query]=marlow&include=tracks.artists,tracks.albums.coverArt,albums.artists,albums.coverArt",
        ),
        ("/searchResults", "/searchResults?filter[query]=nothing&include=tracks"),
        (
            "/searchResults/{id}/relationships/tracks",
            "/searchResults/6d61726c6f77/relationships/tracks?include=tracks.artists",
        ),
        (
            "/searchResults/{id}/relationships/albums",
            "/searchResults/6d61726c6f77/relationships/albums?include=albums.coverArt",
        ),
        ("/albums", "/albums?filter[id]=2001,2002&include=artists"),
        ("/albums/{id}", "/albums/2004?include=artists,coverArt,items.artists"),
        ("/albums/{id}/relationships/items", "/albums/2002/relationships/items?include=items.artists"),
        ("/tracks", "/tracks?filter[isrc]=XTDBL2600001&include=artists,albums.coverArt"),
        ("/tracks/{id}", "/tracks/75000017"),
    ];
    let running = serve(TidalDouble::new(fiction::world(), Limits::GENEROUS).router()).await.unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::new();
    let form = [("grant_type", "client_credentials"), ("client_id", "demo"), ("client_secret", "demo-secret")];
    let granted = http.post(format!("http://{}/v1/oauth2/token", running.addr)).form(&form).send().await.unwrap();
    let granted: Value = granted.json().await.unwrap();
    let token = granted["access_token"].as_str().unwrap();

    let mut deviations = vec![];
    for (path, request) in requests {
        let response =
            http.get(format!("http://{}/v2{request}", running.addr)).bearer_auth(token).send().await.unwrap();
        let answer: Value = response.json().await.unwrap();
        let schema = specification["paths"].get(path).unwrap_or_else(|| panic!("{path} is not in the specification"));
        Check { specification: &specification, deviations: &mut deviations }.check(&answer, schema, "");
    }
    deviations.sort();
    deviations.dedup();
    // Every recorded response of the real service has these deviations too, and it may add enum values at any time.
    let known = [
        "albums/albumType: missing",
        "albums/albumType: unknown word MIXTAPE",
        "albums/copyright: not an object",
        "tracks/accessType: unknown word MOONLIT",
        "tracks/availability: unknown word HUM",
        "tracks/copyright: not an object",
        "tracks/key: missing",
        "tracks/keyScale: missing",
        "tracks/version: not a string",
        "videos/availability: unknown word HUM",
        "videos/version: not a string",
    ];
    assert_eq!(deviations, known);
}

/// The subset of JSON Schema that the specification uses. Resources are validated by their `type`, like its
/// discriminator defines.
struct Check<'a> {
    specification: &'a Value,
    /// `type/attribute: what is wrong`
    deviations: &'a mut Vec<String>,
}

impl Check<'_> {
    fn check(&mut self, value: &Value, schema: &Value, place: &str) {
        let schema = self.resolve(value, schema);
        let right_type = match schema["type"].as_str() {
            Some("object") => value.is_object(),
            Some("array") => value.is_array(),
            Some("string") => value.is_string(),
            Some("boolean") => value.is_boolean(),
            Some("integer") => value.is_i64() || value.is_u64(),
            Some("number") => value.is_number(),
            Some(other) => panic!("the specification has a type '{other}' that this check does not know"),
            None => true,
        };
        if !right_type {
            let article = if schema["type"] == "string" { "a" } else { "an" };
            self.note(place, &format!("not {article} {}", schema["type"].as_str().unwrap_or_default()));
            return;
        }
        if let (Some(words), Some(word)) = (schema["enum"].as_array(), value.as_str())
            && !words.iter().any(|known| known == word)
        {
            self.note(place, &format!("unknown word {word}"));
        }
        for element in value.as_array().into_iter().flatten() {
            self.check(element, &schema["items"], place);
        }
        let kind = value["type"].as_str().filter(|_| value.get("attributes").is_some());
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if value.get(name).is_none() {
                self.note(&format!("{place}/{name}"), "missing");
            }
        }
        for (name, value) in value.as_object().into_iter().flatten() {
            let inner = match kind {
                Some(kind) if name == "attributes" => kind.to_owned(),
                _ => format!("{place}/{name}"),
            };
            if let Some(schema) = schema["properties"].get(name) {
                self.check(value, schema, &inner);
            }
        }
    }

    fn resolve(&self, value: &Value, schema: &Value) -> Value {
        if let Some(reference) = schema["$ref"].as_str() {
            let target = self.specification.pointer(&reference[1..]).unwrap_or_else(|| panic!("no {reference}"));
            return self.resolve(value, target);
        }
        let mapping = &schema["discriminator"]["mapping"];
        match value["type"].as_str().and_then(|kind| mapping[kind].as_str()) {
            Some(reference) => self.specification.pointer(&reference[1..]).expect("a mapping leads somewhere").clone(),
            None if mapping.is_object() => panic!("{value} is of no type in {mapping}"),
            None => schema.clone(),
        }
    }

    fn note(&mut self, place: &str, what: &str) {
        self.deviations.push(format!("{place}: {what}"));
    }
}
