//! What most files of the API use: routing, extractors, the caller, errors.

pub(super) use std::sync::Arc;

pub(super) use aide::axum::routing::{delete_with, get_with, patch_with, post_with, put_with};
pub(super) use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
pub(super) use schemars::JsonSchema;
pub(super) use serde::{Deserialize, Serialize};
pub(super) use uuid::Uuid;

pub(super) use crate::{
    auth::Caller,
    error::ApiError,
    extract::{Json, Path, Query},
    router::{AppState, Routes},
};

/// The state of the server, which all handlers share.
pub(super) type Shared = State<Arc<AppState>>;

pub(super) type Result<T, E = ApiError> = std::result::Result<T, E>;

/// Returns 403 unless the caller is an operator. `rule` says what only operators may do.
pub(super) fn operator(state: &AppState, caller: &Caller, rule: &'static str) -> Result<app::Operator> {
    caller.operator(&state.app.config).ok_or_else(|| ApiError::forbidden(rule))
}
