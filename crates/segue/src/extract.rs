//! What handlers take: JSON bodies, queries and paths whose refusals have the form of every other error.

use aide::{OperationInput, generate::GenContext, openapi::Operation};
use axum::extract::{FromRequest, FromRequestParts};
use schemars::JsonSchema;

use crate::error::ApiError;

/// A JSON body.
#[derive(FromRequest)]
#[from_request(via(axum::Json), rejection(ApiError))]
pub(crate) struct Body<T>(pub(crate) T);

/// The query string.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(ApiError))]
pub(crate) struct Params<T>(pub(crate) T);

/// What the path names.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(ApiError))]
pub(crate) struct Named<T>(pub(crate) T);

impl<T: JsonSchema> OperationInput for Body<T> {
    fn operation_input(cx: &mut GenContext, operation: &mut Operation) {
        axum::Json::<T>::operation_input(cx, operation);
    }
}

impl<T: JsonSchema> OperationInput for Params<T> {
    fn operation_input(cx: &mut GenContext, operation: &mut Operation) {
        axum::extract::Query::<T>::operation_input(cx, operation);
    }
}

impl<T: JsonSchema> OperationInput for Named<T> {
    fn operation_input(cx: &mut GenContext, operation: &mut Operation) {
        axum::extract::Path::<T>::operation_input(cx, operation);
    }
}
