//! Tidal's error responses.

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

use super::JSON_API;

#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) detail: String,
    pub(crate) parameter: Option<String>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: &str) -> Self {
        Self { status, code, detail: detail.into(), parameter: None }
    }

    pub(crate) fn parameter(name: &str, detail: &str) -> Self {
        Self { parameter: Some(name.into()), ..Self::new(StatusCode::BAD_REQUEST, "INVALID_REQUEST", detail) }
    }

    pub(crate) fn no_filter(name: &str) -> Self {
        Self { code: "MISSING_REQUIRED_PARAMETER", ..Self::parameter(name, "At least one filter is required") }
    }

    pub(crate) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "NOT_FOUND", "Resource not found")
    }
}

impl IntoResponse for Refusal {
    /// As in the real service, errors of the gateway itself have no `status` but a `meta.category`.
    fn into_response(self) -> Response {
        let error = match &self.parameter {
            Some(parameter) => json!({
                "id": "0f1e2d3c", "status": self.status.as_str(), "code": self.code, "detail": self.detail,
                "source": {"parameter": parameter},
            }),
            None => json!({"code": self.code, "detail": self.detail, "meta": {"category": "REQUEST_ERROR"}}),
        };
        (self.status, [(header::CONTENT_TYPE, JSON_API)], json!({"errors": [error]}).to_string()).into_response()
    }
}
