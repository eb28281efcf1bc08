//! Limits the open requests of one user, or of one address without a user, so that unread responses do not
//! accumulate.

use std::{
    collections::HashMap,
    hash::Hash,
    num::NonZeroUsize,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};

use crate::error::ApiError;

/// A large response is passed to the connection in pieces of this size. The next piece is taken when the client has
/// read the previous one.
const PIECE_BYTES: usize = 16 * 1024;

type Counts<K> = Mutex<HashMap<K, usize>>;

/// Open requests by `K`.
pub(crate) struct OpenRequests<K> {
    counts: Arc<Counts<K>>,
    /// `None`: no limit besides the number of connections.
    most: Option<NonZeroUsize>,
}

impl<K> Clone for OpenRequests<K> {
    fn clone(&self) -> Self {
        Self { counts: self.counts.clone(), most: self.most }
    }
}

/// One open request of a key. Dropping it frees the place.
pub(crate) struct Place<K: Hash + Eq> {
    counts: Arc<Counts<K>>,
    key: K,
}

impl<K: Hash + Eq + Clone> OpenRequests<K> {
    pub(crate) fn up_to(most: Option<NonZeroUsize>) -> Self {
        Self { counts: Arc::default(), most }
    }

    pub(crate) fn try_enter(&self, key: &K) -> Option<Place<K>> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let n_open = counts.get(key).copied().unwrap_or_default();
        if self.most.is_some_and(|most| n_open >= most.get()) {
            return None;
        }
        counts.insert(key.clone(), n_open + 1);
        Some(Place { counts: self.counts.clone(), key: key.clone() })
    }

    pub(crate) fn enter(&self, key: &K) -> Result<Place<K>, ApiError> {
        let too_many = || ApiError::rate_limited("Too many open requests. Please close some windows.", 5);
        self.try_enter(key).ok_or_else(too_many)
    }
}

impl<K: Hash + Eq> Place<K> {
    pub(crate) fn key(&self) -> &K {
        &self.key
    }
}

impl<K: Hash + Eq + Send + Unpin + 'static> Place<K> {
    /// A response keeps its place until the connection has taken its last piece.
    pub(crate) fn held_by(self, response: Response) -> Response {
        response.map(|body| Body::new(Held { body, left: Bytes::new(), _place: self }))
    }
}

impl<K: Hash + Eq> Drop for Place<K> {
    fn drop(&mut self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(n_open) = counts.get_mut(&self.key) {
            *n_open -= 1;
            if *n_open == 0 {
                counts.remove(&self.key);
            }
        }
    }
}

/// A body in small pieces, with the place that it holds.
struct Held<K: Hash + Eq> {
    body: Body,
    /// The part of the body that is not yet passed on.
    left: Bytes,
    _place: Place<K>,
}

impl<K: Hash + Eq + Unpin> hyper::body::Body for Held<K> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.left.is_empty() {
            match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => self.left = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                other => return other,
            }
        }
        let n_bytes = self.left.len().min(PIECE_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.left.split_to(n_bytes)))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let inner = self.body.size_hint();
        let n_left = self.left.len() as u64;
        let mut hint = SizeHint::new();
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + n_left);
        }
        hint.set_lower(inner.lower() + n_left);
        hint
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use hyper::body::Body as _;

    use super::*;

    #[tokio::test]
    async fn a_response_holds_its_place_until_it_is_read_and_keeps_its_length() {
        let open = OpenRequests::up_to(NonZeroUsize::new(1));
        let text = "x".repeat(3 * PIECE_BYTES + 1);
        let mut response = open.enter(&1).unwrap().held_by(Response::new(Body::from(text.clone())));
        assert_eq!(response.body().size_hint().exact(), Some(text.len() as u64));
        let first = response.body_mut().frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(first.len(), PIECE_BYTES);
        assert!(open.enter(&1).is_err(), "most of it is not read yet");
        assert!(open.enter(&2).is_ok(), "another key has its own places");
        let rest = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(first.len() + rest.len(), text.len());
        assert!(open.enter(&1).is_ok());
    }
}
