//! Scope: which documents a search may return. A document carries the marks of its readers; a scope names marks.
//!
//! The marks are indexed like any other field, so the embedded engine and Qdrant apply a scope before they rank. A
//! document that is out of scope never counts towards a limit.

/// On a document: this user may read it.
pub fn reader(user: &str) -> String {
    format!("u:{user}")
}

/// On a public document: this user has a private document that replaces it.
pub fn shadowed(user: &str) -> String {
    format!("x:{user}")
}

/// On a public document: every user may read it, if users share their catalogued tracks.
pub const PUBLIC: &str = "public";
/// On a document of the sample library.
pub const SAMPLE: &str = "sample";

/// Which documents a search may return.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// For measurements and maintenance; never for a caller.
    #[default]
    Everything,
    /// Documents with at least one mark of `any` and without the mark `none`.
    Marked { any: Vec<String>, none: String },
}

impl Scope {
    /// What one user may see: their own documents, the sample library unless they removed it, and with `shared` the
    /// tracks of other users that a catalogue confirmed.
    pub fn of(user: &str, with_sample: bool, shared: bool) -> Self {
        let mut any = vec![reader(user)];
        if with_sample {
            any.push(SAMPLE.into());
        }
        if shared {
            any.push(PUBLIC.into());
        }
        Self::Marked { any, none: shadowed(user) }
    }
}
