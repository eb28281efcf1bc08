//! Track ids, and the two ways in which a caller refers to a recording.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Isrc, identity::RecordingName};

/// The id of a recording. ISRC, MusicBrainz id, file and server id are attributes of a recording and never its key.
///
/// The id of the first recording with an ISRC is computed from the code, so that every node, every user and the SQL
/// migration get the same id without coordination. A recording without a code belongs to one owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct TrackId(pub Uuid);

/// The id of one document about a recording in the index: the public one, or one made from a user's own file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DocumentId(pub Uuid);

impl DocumentId {
    /// The document that all users with the recording share.
    pub fn public(track: TrackId) -> Self {
        Self(track.0)
    }

    /// A document made from one user's file or export.
    pub fn private() -> Self {
        Self(Uuid::now_v7())
    }
}

impl fmt::Display for DocumentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for DocumentId {
    type Err = uuid::Error;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// The twelve bytes of the code, stored in the bits of a UUID that are not its version and variant.
const CODE_BYTES: usize = 12;

impl TrackId {
    /// The id of the recording with this code. Migration 0008 computes the same in SQL.
    pub fn of_isrc(isrc: &Isrc) -> Self {
        Self(with_code(isrc, [0; 3]))
    }

    /// The code from which this id was computed, if it is the first recording with the code.
    pub fn isrc(self) -> Option<Isrc> {
        let mut nibbles: Vec<u8> = self.0.as_bytes().iter().flat_map(|byte| [byte >> 4, byte & 15]).collect();
        let (variant, version) = (nibbles.remove(16), nibbles.remove(12));
        let bytes: Vec<u8> = nibbles.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        let (code, tail) = bytes.split_at(CODE_BYTES);
        let is_code = (version, variant) == (8, 8) && tail.iter().all(|byte| *byte == 0);
        std::str::from_utf8(code).ok().filter(|_| is_code)?.parse().ok()
    }

    /// The id of a recording that the Tidal catalogue lists without a code.
    pub fn of_tidal(id: &str) -> Self {
        Self(Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("tidal\n{id}").as_bytes()))
    }

    /// The id of a further recording with the same code: the movements of one work may share a code.
    pub fn of_shared_isrc(isrc: &Isrc, name: &RecordingName) -> Self {
        let hash = Uuid::new_v5(&Uuid::NAMESPACE_OID, name.to_string().as_bytes());
        let [a, b, c, ..] = *hash.as_bytes();
        // Three zeros mark the first recording.
        Self(with_code(isrc, [a | 1, b, c]))
    }

    /// The id of a recording that is only known from its owner's file or export.
    pub fn of_owner(owner: &str, says: &str) -> Self {
        Self(Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("recording\n{owner}\n{says}").as_bytes()))
    }
}

fn with_code(isrc: &Isrc, tail: [u8; 3]) -> Uuid {
    let mut nibbles = Vec::with_capacity(2 * CODE_BYTES + 6);
    for byte in isrc.as_str().bytes().take(CODE_BYTES).chain(tail) {
        nibbles.extend([byte >> 4, byte & 15]);
    }
    // 8-4-4-4-12 digits; the first digit of the third group is the version, of the fourth group the variant.
    nibbles.insert(12, 8);
    nibbles.insert(16, 8);
    let mut bytes = [0; 16];
    for (byte, pair) in bytes.iter_mut().zip(nibbles.chunks(2)) {
        *byte = pair[0] << 4 | pair[1];
    }
    Uuid::from_bytes(bytes)
}

impl fmt::Display for TrackId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for TrackId {
    type Err = uuid::Error;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// How a caller refers to a recording: by its ISRC or by its `trackId`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum TrackRef {
    Isrc(Isrc),
    Id(TrackId),
}

impl FromStr for TrackRef {
    type Err = crate::isrc::NotAnIsrc;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim().parse() {
            Ok(id) => Ok(Self::Id(id)),
            Err(_) => text.parse().map(Self::Isrc),
        }
    }
}

impl TryFrom<String> for TrackRef {
    type Error = crate::isrc::NotAnIsrc;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<TrackRef> for String {
    fn from(named: TrackRef) -> Self {
        named.to_string()
    }
}

impl From<Isrc> for TrackRef {
    fn from(isrc: Isrc) -> Self {
        Self::Isrc(isrc)
    }
}

impl fmt::Display for TrackRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Isrc(isrc) => isrc.fmt(f),
            Self::Id(id) => id.fmt(f),
        }
    }
}

impl JsonSchema for TrackRef {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TrackRef".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "description": "An ISRC or a trackId."})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_between_codes_and_between_movements_with_one_code() {
        let isrc: Isrc = "XSGUE2600001".parse().unwrap();
        let id = TrackId::of_isrc(&isrc);
        assert_eq!(id.to_string(), "58534755-4532-8363-8030-303031000000");
        assert_eq!((id.0.get_version_num(), id.0.get_variant()), (8, uuid::Variant::RFC4122));
        assert_eq!(id.isrc(), Some(isrc.clone()));
        assert_eq!(TrackId::of_owner("ann", "memo").isrc(), None);
        assert_ne!(id, TrackId::of_isrc(&"XSGUE2600002".parse().unwrap()));
        let movement = |title| TrackId::of_shared_isrc(&isrc, &RecordingName::new(title, None, "Ensemble"));
        assert_ne!(movement("I. Allegro"), id);
        assert_ne!(movement("I. Allegro"), movement("II. Adagio"));
        assert_eq!(movement("I. Allegro"), movement("I. Allegro"));
    }

    #[test]
    fn a_caller_refers_to_a_recording_by_code_or_id() {
        let isrc: Isrc = "XSGUE2600001".parse().unwrap();
        assert_eq!("xs-gue-26-00001".parse(), Ok(TrackRef::Isrc(isrc.clone())));
        let id = TrackId::of_isrc(&isrc);
        assert_eq!(id.to_string().parse(), Ok(TrackRef::Id(id)));
        assert!("nonsense".parse::<TrackRef>().is_err());
    }
}
