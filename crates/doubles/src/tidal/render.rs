//! The world as JSON:API documents of Tidal, with pages, relative links and an incomplete `included`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::include::Includes;
use crate::world::{Album, Found, Id, Piece, World};

const PAGE: usize = 20;

/// One request's view of the world.
pub(crate) struct View<'a> {
    pub(crate) world: &'a World,
    pub(crate) country: &'a str,
}

/// A resource identifier.
#[derive(Clone, Debug)]
pub(crate) struct Ref {
    pub(crate) kind: &'static str,
    pub(crate) id: String,
    meta: Option<Value>,
}

impl Ref {
    pub(crate) fn new(kind: &'static str, id: impl ToString) -> Self {
        Self { kind, id: id.to_string(), meta: None }
    }

    fn json(&self) -> Value {
        let mut json = json!({"id": self.id, "type": self.kind});
        if let Some(meta) = &self.meta {
            json["meta"] = meta.clone();
        }
        json
    }
}

impl View<'_> {
    /// `GET /albums/1`, or the one search result in its array.
    pub(crate) fn single(&self, it: &Ref, includes: &Includes, self_link: &str) -> Option<Value> {
        let data = self.resource(it, includes)?;
        let included = self.included(it, includes);
        Some(json!({"data": data, "included": included, "links": {"self": self_link}}))
    }

    /// A page of a collection, with a `next` link that keeps every parameter.
    pub(crate) fn collection(&self, all: &[Ref], from: usize, includes: &Includes, link: &str) -> Value {
        let page: Vec<_> = all.iter().skip(from).take(PAGE).collect();
        let data: Vec<_> = page.iter().filter_map(|it| self.resource(it, includes)).collect();
        let included: Vec<_> = page.iter().flat_map(|it| self.included(it, includes)).collect();
        json!({"data": data, "included": included, "links": links(link, from, all.len())})
    }

    /// `GET /albums/1/relationships/items`: identifiers as data, the resources themselves only in `included`.
    pub(crate) fn relationship(
        &self,
        it: &Ref,
        name: &str,
        from: usize,
        includes: &Includes,
        link: &str,
    ) -> Option<Value> {
        let all = self.related(it, name)?;
        let page: Vec<_> = all.iter().skip(from).take(PAGE).cloned().collect();
        let data: Vec<_> = page.iter().map(Ref::json).collect();
        let mut gathered = Gathered::default();
        if let Some(below) = includes.0.get(name) {
            self.gather(&mut gathered, name, &page, below);
        }
        Some(json!({"data": data, "included": gathered.shuffled(), "links": links(link, from, all.len())}))
    }

    fn resource(&self, it: &Ref, includes: &Includes) -> Option<Value> {
        let mut resource = json!({"id": it.id, "type": it.kind, "attributes": self.attributes(it)?});
        // Contains only what `include` names: other relationships are absent, not empty.
        if !includes.is_empty() {
            let relationships: Map<_, _> = includes
                .0
                .keys()
                .filter_map(|name| Some((name.clone(), self.embedded_relationship(it, name)?)))
                .collect();
            resource["relationships"] = Value::Object(relationships);
        }
        Some(resource)
    }

    /// The first page. Its `next` link lacks `include`.
    fn embedded_relationship(&self, it: &Ref, name: &str) -> Option<Value> {
        let all = self.related(it, name)?;
        let data: Vec<_> = all.iter().take(PAGE).map(Ref::json).collect();
        let link = format!("/{}/{}/relationships/{name}?countryCode={}", it.kind, it.id, self.country);
        Some(json!({"data": data, "links": links(&link, 0, all.len())}))
    }

    fn included(&self, it: &Ref, includes: &Includes) -> Vec<Value> {
        let mut gathered = Gathered::default();
        for (name, below) in &includes.0 {
            let page: Vec<_> = self.related(it, name).unwrap_or_default().into_iter().take(PAGE).collect();
            self.gather(&mut gathered, name, &page, below);
        }
        gathered.shuffled()
    }

    /// A resource that is reached on two paths is included twice, each time with the relationships of that path.
    fn gather(&self, gathered: &mut Gathered, path: &str, refs: &[Ref], includes: &Includes) {
        for it in refs {
            if self.is_withheld(it) || !gathered.seen.insert((path.to_owned(), it.kind, it.id.clone())) {
                continue;
            }
            gathered.resources.extend(self.resource(it, includes));
            for (name, below) in &includes.0 {
                let page: Vec<_> = self.related(it, name).unwrap_or_default().into_iter().take(PAGE).collect();
                self.gather(gathered, &format!("{path}.{name}"), &page, below);
            }
        }
    }

    fn is_withheld(&self, it: &Ref) -> bool {
        let Ok(id) = it.id.parse::<Id>() else { return false };
        match it.kind {
            "artists" => self.world.artists.get(&id).is_some_and(|artist| artist.withheld),
            "tracks" => self.world.pieces.get(&id).is_some_and(|piece| piece.withheld),
            _ => false,
        }
    }

    fn related(&self, it: &Ref, name: &str) -> Option<Vec<Ref>> {
        if it.kind == "searchResults" {
            let found = self.world.search(&query_of(&it.id)?, self.country);
            return Some(search_refs(&found, name));
        }
        let id = it.id.parse().ok();
        let album = id.and_then(|id| self.world.album(id, self.country));
        let piece = id.and_then(|id| self.world.piece(id, self.country));
        let artists = |ids: &[Id]| ids.iter().map(|id| Ref::new("artists", id)).collect();
        Some(match (it.kind, name) {
            ("albums", "artists") => artists(&album?.artists),
            ("albums", "coverArt") => vec![Ref::new("artworks", format!("art-{}", it.id))],
            ("albums", "items") => self.items(album?),
            ("tracks" | "videos", "artists") => artists(&piece?.artists),
            ("tracks" | "videos", "albums") => vec![Ref::new("albums", piece?.album)],
            // Documented, but empty in this world.
            _ => vec![],
        })
    }

    fn items(&self, album: &Album) -> Vec<Ref> {
        let items = self.world.items(album, self.country).into_iter();
        items
            .map(|item| {
                let is_video = self.world.pieces[&item.piece].is_video;
                let kind = if is_video { "videos" } else { "tracks" };
                let meta = json!({"volumeNumber": item.volume, "trackNumber": item.number});
                Ref { meta: Some(meta), ..Ref::new(kind, item.piece) }
            })
            .collect()
    }

    fn attributes(&self, it: &Ref) -> Option<Value> {
        let id = it.id.parse().ok();
        match it.kind {
            "searchResults" => Some(json!({
                "query": query_of(&it.id)?, "trackingId": "5896e37d-0000-4000-8000-000000000000",
            })),
            "artists" => {
                let artist = self.world.artists.get(&id?)?;
                Some(json!({"name": artist.name, "popularity": 0.61, "externalLinks": [], "shoeSize": 44}))
            }
            "albums" => Some(album_attributes(self.world.album(id?, self.country)?)),
            "tracks" | "videos" => Some(piece_attributes(self.world.piece(id?, self.country)?)),
            "artworks" => Some(artwork_attributes(&it.id)),
            _ => None,
        }
    }
}

#[derive(Default)]
struct Gathered {
    seen: BTreeSet<(String, &'static str, String)>,
    resources: Vec<Value>,
}

impl Gathered {
    /// In reverse order, and the last resource twice: `included` guarantees neither order nor uniqueness.
    fn shuffled(mut self) -> Vec<Value> {
        self.resources.reverse();
        self.resources.extend(self.resources.first().cloned());
        self.resources
    }
}

fn search_refs(found: &Found, name: &str) -> Vec<Ref> {
    let refs = |kind, ids: &[Id]| ids.iter().map(|id| Ref::new(kind, id)).collect();
    match name {
        "tracks" => refs("tracks", &found.tracks),
        "albums" => refs("albums", &found.albums),
        "artists" => refs("artists", &found.artists),
        "videos" => refs("videos", &found.videos),
        _ => vec![],
    }
}

/// Zero-padded to fourteen digits.
pub(crate) fn barcode(album: &Album) -> String {
    format!("{:014}", 5_000_000_000 + album.id)
}

/// Some albums use old formats: `type` instead of `albumType`, a plain string as copyright.
fn album_attributes(album: &Album) -> Value {
    let is_old = album.id.is_multiple_of(2);
    let seconds = album.items.len() as u32 * 200;
    let mut attributes = json!({
        "title": album.title, "barcodeId": barcode(album),
        "numberOfItems": album.items.len(), "numberOfVolumes": album.items.iter().map(|item| item.volume).max(),
        "duration": iso_duration(seconds), "explicit": false, "popularity": 0.4271,
        "releaseDate": album.release_date, "mediaTags": ["LOSSLESS", "SPATIAL_9D"],
        "externalLinks": [{"href": format!("https://tidal.com/browse/album/{}", album.id), "meta": {"type": "TIDAL_SHARING"}}],
    });
    attributes[if is_old { "type" } else { "albumType" }] = album.kind.into();
    attributes["copyright"] = if is_old { json!("(P) Nobody") } else { json!({"text": "(P) Nobody"}) };
    attributes
}

/// `key` and `keyScale` are required by the specification and absent in practice; `version` is null if there is none.
fn piece_attributes(piece: &Piece) -> Value {
    let copyright = if piece.id.is_multiple_of(2) { json!("(P) Nobody") } else { json!({"text": "(P) Nobody"}) };
    json!({
        "title": piece.title, "version": piece.version, "isrc": piece.isrc, "duration": iso_duration(piece.seconds),
        "explicit": piece.explicit, "popularity": piece.popularity, "mediaTags": ["LOSSLESS"],
        "accessType": "MOONLIT", "availability": ["STREAM", "HUM"], "copyright": copyright, "spotlighted": false,
        "createdAt": "2021-03-04T05:06:07Z",
        "externalLinks": [{"href": format!("https://tidal.com/browse/track/{}", piece.id), "meta": {"type": "TIDAL_SHARING"}}],
    })
}

fn artwork_attributes(id: &str) -> Value {
    let file = |size: u32| {
        let href = format!("https://resources.tidal.com/images/{id}/{size}x{size}.jpg");
        json!({"href": href, "meta": {"width": size, "height": size}})
    };
    let files: Vec<_> = [80, 1280, 1080, 750, 640, 320, 160].into_iter().map(file).collect();
    json!({"mediaType": "IMAGE", "files": files})
}

fn iso_duration(seconds: u32) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let part = |n: u32, unit| if n == 0 { String::new() } else { format!("{n}{unit}") };
    format!("PT{}{}{}", part(hours, 'H'), part(minutes, 'M'), part(seconds, 'S'))
}

/// Relative to the base URL, without its `/v2`.
fn links(link: &str, from: usize, n_all: usize) -> Value {
    let mut links = json!({"self": link});
    if from + PAGE < n_all {
        let cursor = cursor(from + PAGE);
        let joint = if link.contains('?') { '&' } else { '?' };
        links["next"] = format!("{link}{joint}page%5Bcursor%5D={cursor}").into();
        links["meta"] = json!({"nextCursor": cursor});
    }
    links
}

/// An opaque cursor.
fn cursor(offset: usize) -> String {
    format!("3n{:x}", offset * 7919 + 13)
}

pub(crate) fn offset(cursor: &str) -> Option<usize> {
    let n = usize::from_str_radix(cursor.strip_prefix("3n")?, 16).ok()?.checked_sub(13)?;
    n.is_multiple_of(7919).then_some(n / 7919)
}

/// The id of a search result is opaque. Here it is the query in hexadecimal, so that the double stores nothing.
pub(crate) fn search_id(query: &str) -> String {
    query.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn query_of(id: &str) -> Option<String> {
    let bytes = id.as_bytes().chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok());
    String::from_utf8(bytes.collect::<Option<_>>()?).ok()
}
