//! How many requests one user may have open: streams that no one reads must not pile up.

use std::{
    collections::HashMap,
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{body::Body, http::header, response::Response};
use engine::UserId;
use http_body_util::BodyExt;

use crate::error::ApiError;

type Counts = Mutex<HashMap<UserId, usize>>;

#[derive(Clone)]
pub(crate) struct OpenRequests {
    counts: Arc<Counts>,
    /// None: as many as there are connections.
    most: Option<NonZeroUsize>,
}

/// A place among a user's open requests, free again when dropped.
pub(crate) struct Place {
    counts: Arc<Counts>,
    user: UserId,
}

impl OpenRequests {
    pub(crate) fn up_to(most: Option<NonZeroUsize>) -> Self {
        Self { counts: Arc::default(), most }
    }

    pub(crate) fn enter(&self, user: &UserId) -> Result<Place, ApiError> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let n_open = counts.entry(user.clone()).or_default();
        if self.most.is_some_and(|most| *n_open >= most.get()) {
            return Err(ApiError::rate_limited("Too many open requests. Please close some windows.", 5));
        }
        *n_open += 1;
        Ok(Place { counts: self.counts.clone(), user: user.clone() })
    }
}

impl Place {
    /// A stream keeps its place until its last byte; everything else is written already.
    pub(crate) fn held_by(self, response: Response) -> Response {
        let kind = response.headers().get(header::CONTENT_TYPE);
        if kind.is_none_or(|kind| !kind.as_bytes().starts_with(b"text/event-stream")) {
            return response;
        }
        response.map(|body| {
            Body::new(body.map_frame(move |frame| {
                let _held = &self;
                frame
            }))
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(n_open) = counts.get_mut(&self.user) {
            *n_open -= 1;
            if *n_open == 0 {
                counts.remove(&self.user);
            }
        }
    }
}
