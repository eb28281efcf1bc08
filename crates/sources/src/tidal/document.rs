//! A Tidal document. Parsing is lenient: only `id` and `type` are required, and an unexpected value affects only its
//! own field.

use std::collections::HashMap;

use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::Value;

/// The part of a response that is kept and cached.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Document {
    #[serde(default, deserialize_with = "one_or_many")]
    pub(super) data: Vec<Resource>,
    #[serde(default, deserialize_with = "readable_ones")]
    included: Vec<Resource>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) links: Links,
}

/// A resource, or a resource identifier, which has only `id`, `type` and `meta`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Resource {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) attributes: Attributes,
    #[serde(default, deserialize_with = "readable_values")]
    pub(super) relationships: HashMap<String, Relationship>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) meta: Meta,
}

/// The attributes that we use, of every type. A value that is missing, null, redacted or of another type is `None`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Attributes {
    #[serde(deserialize_with = "or_default")]
    pub(super) title: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) version: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) name: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) isrc: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) duration: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) explicit: Option<bool>,
    #[serde(deserialize_with = "or_default")]
    pub(super) popularity: Option<f64>,
    #[serde(deserialize_with = "or_default")]
    pub(super) number_of_items: Option<u32>,
    #[serde(deserialize_with = "or_default")]
    pub(super) release_date: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) barcode_id: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) album_type: Option<String>,
    /// The name of `albumType` before February 2026.
    #[serde(rename = "type", deserialize_with = "or_default")]
    pub(super) old_album_type: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub(super) media_type: Option<String>,
    #[serde(deserialize_with = "readable_ones")]
    pub(super) files: Vec<File>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct File {
    pub(super) href: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) meta: FileMeta,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FileMeta {
    #[serde(deserialize_with = "or_default")]
    pub(super) width: Option<u32>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Relationship {
    #[serde(deserialize_with = "one_or_many")]
    pub(super) data: Vec<Resource>,
    #[serde(deserialize_with = "or_default")]
    pub(super) links: Links,
}

/// The position of a track on its album.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Meta {
    #[serde(deserialize_with = "or_default")]
    pub(super) volume_number: Option<u32>,
    #[serde(deserialize_with = "or_default")]
    pub(super) track_number: Option<u32>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Links {
    #[serde(deserialize_with = "or_default")]
    pub(super) next: Option<String>,
}

impl Document {
    pub(super) fn read(body: &[u8]) -> Result<Self, serde_json::Error> {
        let value: Value = serde_json::from_slice(body)?;
        // Everything else may be missing, but a response with neither of them is not a Tidal document.
        if value.get("data").is_none() && value.get("links").is_none() {
            return Err(serde::de::Error::custom("neither data nor links"));
        }
        serde_json::from_value(value)
    }
}

/// Every resource of one or several documents, by type and id.
#[derive(Default)]
pub(super) struct Included<'a>(HashMap<&'a str, HashMap<&'a str, Vec<&'a Resource>>>);

impl<'a> Included<'a> {
    pub(super) fn of(documents: impl IntoIterator<Item = &'a Document>) -> Self {
        let mut included = Self::default();
        for document in documents {
            for resource in document.included.iter().chain(&document.data) {
                included.0.entry(&resource.kind).or_default().entry(&resource.id).or_default().push(resource);
            }
        }
        included
    }

    /// The attributes of a resource, from any of its copies: `included` may lack what `data` refers to.
    pub(super) fn attributes(&self, identifier: &Resource) -> Option<&'a Attributes> {
        self.copies(identifier).iter().map(|copy| &copy.attributes).find(|attributes| attributes.are_present())
    }

    /// The related resources. A resource that was reached on two paths occurs twice, and each copy has only the
    /// relationships of its path.
    pub(super) fn related(&self, identifier: &Resource, name: &str) -> &'a [Resource] {
        let found = self.copies(identifier).iter().find_map(|copy| copy.relationships.get(name));
        found.map_or(&[], |relationship| &relationship.data)
    }

    fn copies(&self, identifier: &Resource) -> &[&'a Resource] {
        let of_kind = self.0.get(identifier.kind.as_str());
        of_kind.and_then(|by_id| by_id.get(identifier.id.as_str())).map_or(&[], Vec::as_slice)
    }
}

impl Resource {
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        (&self.kind, &self.id) == (&other.kind, &other.id)
    }
}

impl Attributes {
    fn are_present(&self) -> bool {
        self.title.is_some() || self.name.is_some() || self.isrc.is_some() || !self.files.is_empty()
    }
}

/// Null and values of another type become the default.
fn or_default<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(value: D) -> Result<T, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(value)?).unwrap_or_default())
}

/// Elements that cannot be parsed are left out.
fn readable_ones<'de, D: Deserializer<'de>, T: DeserializeOwned>(value: D) -> Result<Vec<T>, D::Error> {
    let Value::Array(elements) = Value::deserialize(value)? else { return Ok(vec![]) };
    Ok(elements.into_iter().filter_map(|element| serde_json::from_value(element).ok()).collect())
}

/// Values that cannot be parsed are left out.
fn readable_values<'de, D: Deserializer<'de>, T: DeserializeOwned>(value: D) -> Result<HashMap<String, T>, D::Error> {
    let Value::Object(entries) = Value::deserialize(value)? else { return Ok(HashMap::new()) };
    Ok(entries.into_iter().filter_map(|(key, value)| Some((key, serde_json::from_value(value).ok()?))).collect())
}

/// `data` is one resource, a list of resources, or null.
fn one_or_many<'de, D: Deserializer<'de>>(value: D) -> Result<Vec<Resource>, D::Error> {
    match Value::deserialize(value)? {
        Value::Null => Ok(vec![]),
        list @ Value::Array(_) => readable_ones(list).map_err(serde::de::Error::custom),
        one => Ok(vec![serde_json::from_value(one).map_err(serde::de::Error::custom)?]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(document: &Value) -> Document {
        Document::read(document.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn only_id_and_type_are_required() {
        let document = read(&json!({
            "data": {"id": "1", "type": "albums", "attributes": {"title": 7, "explicit": "yes", "version": null,
                "duration": "PT3M", "copyright": "text", "files": [{"href": "x"}, {"nothing": 1}, 3]},
                "relationships": {"coverArt": {"data": null}, "items": {"data": {"id": "2", "type": "tracks"}}, "odd": 1}},
            "included": [{"id": "2"}, {"type": "tracks"}, 5, {"id": "2", "type": "tracks", "attributes": null}],
            "links": null,
        }));
        let album = &document.data[0];
        assert_eq!((&album.attributes.title, album.attributes.explicit), (&None, None));
        assert_eq!(album.attributes.duration.as_deref(), Some("PT3M"));
        assert_eq!(album.attributes.files.len(), 1);
        assert_eq!(album.relationships["items"].data[0].id, "2");
        assert_eq!(document.included.len(), 1);
    }

    #[test]
    fn copies_of_a_resource_complete_each_other() {
        let document = read(&json!({"data": [], "included": [
            {"id": "1", "type": "albums", "relationships": {"coverArt": {"data": [{"id": "a", "type": "artworks"}]}}},
            {"id": "1", "type": "albums", "attributes": {"title": "Low Tide"},
             "relationships": {"artists": {"data": [{"id": "b", "type": "artists"}]}}},
            {"id": "1", "type": "tracks", "attributes": {"title": "Another"}},
        ]}));
        let included = Included::of([&document]);
        let album: Resource = serde_json::from_value(json!({"id": "1", "type": "albums"})).unwrap();
        assert_eq!(included.attributes(&album).unwrap().title.as_deref(), Some("Low Tide"));
        assert_eq!(included.related(&album, "coverArt")[0].id, "a");
        assert_eq!(included.related(&album, "artists")[0].id, "b");
        assert!(included.related(&album, "items").is_empty());
    }

    #[test]
    fn other_json_is_an_error() {
        for text in ["", "<!doctype html>", "[]", "{}", "null", r#"{"data": 5}"#, r#"{"data": {"id": "1"}}"#] {
            assert!(Document::read(text.as_bytes()).is_err(), "{text}");
        }
        assert!(Document::read(br#"{"links": {"self": "/albums/1/relationships/items"}}"#).is_ok());
    }
}
