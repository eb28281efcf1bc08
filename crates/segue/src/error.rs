//! Errors: one JSON format for every endpoint, and the only place that chooses HTTP statuses.

use aide::OperationOutput;
use app::TidalError;
use app::import::ImportError;
use app::{Error, OutOfRange, import::ImportFailure};
use axum::{
    Json,
    extract::rejection::{JsonRejection, PathRejection, QueryRejection},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use engine::{Cause, Effect, Failure};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tracing::error;

use crate::input_error::{input_error, with_subject};

#[derive(Debug)]
pub struct ApiError {
    pub status: StatusCode,
    pub code: &'static str,
    pub message: String,
    pub details: Vec<Detail>,
    pub retry_after_seconds: Option<u64>,
}

/// The problem with one field.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Detail {
    pub field: String,
    pub message: String,
}

/// The body of every error response.
#[derive(Serialize, JsonSchema)]
pub struct ErrorBody {
    error: ErrorContent,
}

#[derive(Serialize, JsonSchema)]
struct ErrorContent {
    code: &'static str,
    message: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    details: Vec<Detail>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), details: Vec::new(), retry_after_seconds: None }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "VALIDATION_ERROR", message)
    }

    /// The problem follows the name of the field ("must be …"), or is a sentence of its own.
    pub(crate) fn invalid_field(field: &str, problem: impl Into<String>) -> Self {
        let problem = problem.into();
        let message = with_subject(field, &problem);
        Self { details: vec![Detail { field: field.to_owned(), message: problem }], ..Self::invalid(message) }
    }

    pub(crate) fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", message)
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "FORBIDDEN", message)
    }

    pub(crate) fn rate_limited(message: impl Into<String>, retry_after_seconds: u64) -> Self {
        let retry_after_seconds = Some(retry_after_seconds);
        Self { retry_after_seconds, ..Self::new(StatusCode::TOO_MANY_REQUESTS, "RATE_LIMITED", message) }
    }

    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD_TOO_LARGE", message)
    }

    pub(crate) fn body_too_slow() -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "TIMEOUT", "The request body did not arrive in time.")
    }

    /// The log gets the cause.
    fn database(cause: &dyn std::fmt::Display) -> Self {
        error!("The database failed: {cause}");
        let message = "Something went wrong while reading or saving. Please try again.";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "DATABASE_ERROR", message)
    }

    /// A service that we depend on does not answer.
    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        let retry_after_seconds = Some(5);
        Self { retry_after_seconds, ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE", message) }
    }

    /// An internal error; the log contains the cause.
    pub(crate) fn internal() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_ERROR", "Something went wrong.")
    }

    /// The same for a resource that does not exist and one that belongs to another user.
    pub(crate) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "NOT_FOUND", "There is nothing here.")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        self.into_response_with(Value::Null)
    }
}

impl ApiError {
    /// The same with further fields beside `error`.
    pub(crate) fn into_response_with(self, more: Value) -> Response {
        let content = ErrorContent { code: self.code, message: self.message, details: self.details };
        let mut body = serde_json::to_value(ErrorBody { error: content }).unwrap_or_default();
        if let (Value::Object(body), Value::Object(more)) = (&mut body, more) {
            body.extend(more);
        }
        let mut response = (self.status, Json(body)).into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after_seconds {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl OperationOutput for ApiError {
    type Inner = ErrorBody;

    fn operation_response(
        cx: &mut aide::generate::GenContext,
        operation: &mut aide::openapi::Operation,
    ) -> Option<aide::openapi::Response> {
        Json::<ErrorBody>::operation_response(cx, operation)
    }

    fn inferred_responses(
        cx: &mut aide::generate::GenContext,
        operation: &mut aide::openapi::Operation,
    ) -> Vec<(Option<aide::openapi::StatusCode>, aide::openapi::Response)> {
        Self::operation_response(cx, operation).map(|response| (None, response)).into_iter().collect()
    }
}

impl From<OutOfRange> for ApiError {
    fn from(error: OutOfRange) -> Self {
        Self::invalid_field(error.field, error.rule())
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        match error {
            Error::NotFound => Self::not_found(),
            Error::Conflict(why) => Self::new(StatusCode::CONFLICT, "CONFLICT", why),
            Error::TurnRunning(why) => Self::new(StatusCode::CONFLICT, "TURN_RUNNING", why),
            Error::Invalid { field, problem } => Self::invalid_field(field, problem),
            Error::WrongLength(error) => Self::invalid_field(error.field, error.rule()),
            Error::OutOfRange(error) => error.into(),
            Error::Incomplete(what) => Self::invalid(what),
            Error::Limited(limited) => Self::rate_limited(limited.message, limited.retry_after_seconds),
            Error::Closing => Self {
                retry_after_seconds: Some(5),
                ..Self::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "SHUTTING_DOWN",
                    "The server is restarting. Please try again.",
                )
            },
            Error::Gone => Self::new(StatusCode::GONE, "GONE", error.to_string()),
            Error::UnknownTrack(_) => Self::new(StatusCode::NOT_FOUND, "NOT_FOUND", error.to_string()),
            Error::Catalogue(error) => error.into(),
            Error::Index(cause) => {
                error!("The index failed: {cause}");
                Self::new(StatusCode::BAD_GATEWAY, "UNAVAILABLE", cause.message())
            }
            Error::Database(cause) => Self::database(&cause),
            Error::Journal(_) => Self::database(&error),
        }
    }
}

impl From<TidalError> for ApiError {
    fn from(error: TidalError) -> Self {
        match error {
            TidalError::NotFound(_) => Self::new(StatusCode::NOT_FOUND, "NOT_FOUND", error.to_string()),
            TidalError::NotConfigured => Self::new(StatusCode::CONFLICT, "NOT_CONFIGURED", error.to_string()),
            cause => {
                error!("The catalogue failed: {cause}");
                let message = "Tidal service is temporarily unavailable.";
                Self::new(StatusCode::BAD_GATEWAY, "UNAVAILABLE", message)
            }
        }
    }
}

impl From<ImportFailure> for ApiError {
    fn from(error: ImportFailure) -> Self {
        match error {
            ImportFailure::Service(error) => error.into(),
            ImportFailure::File(ImportError::Unreadable(cause)) => {
                error!("An upload could not be read: {cause}");
                Self::internal()
            }
            ImportFailure::File(cause) => Self::invalid_field("file", cause.to_string()),
            ImportFailure::Bug(cause) => {
                error!("An import failed: {cause}");
                Self::internal()
            }
        }
    }
}

impl From<JsonRejection> for ApiError {
    fn from(rejection: JsonRejection) -> Self {
        if matches!(rejection, JsonRejection::JsonDataError(_)) {
            return input_error(&rejection.body_text());
        }
        let (status, code) = match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => (StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD_TOO_LARGE"),
            StatusCode::UNSUPPORTED_MEDIA_TYPE => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE"),
            _ => (StatusCode::BAD_REQUEST, "VALIDATION_ERROR"),
        };
        Self::new(status, code, rejection.body_text())
    }
}

impl From<QueryRejection> for ApiError {
    fn from(rejection: QueryRejection) -> Self {
        input_error(&rejection.body_text())
    }
}

impl From<PathRejection> for ApiError {
    /// An id that cannot be parsed is treated as an id that does not exist.
    fn from(_: PathRejection) -> Self {
        Self::not_found()
    }
}

impl ApiError {
    /// A tool call without a turn that failed. What may have changed something is never 503, which proxies repeat.
    pub(crate) fn of_call(failure: &Failure, effect: Effect) -> Self {
        let message = failure.error.as_str();
        match failure.cause {
            Cause::BadInput => Self::invalid(message),
            Cause::NotFound => Self::new(StatusCode::NOT_FOUND, "NOT_FOUND", message),
            Cause::NotConfigured => Self::new(StatusCode::CONFLICT, "NOT_CONFIGURED", message),
            Cause::NeedsConsent => Self::new(StatusCode::FORBIDDEN, "CONSENT_REQUIRED", message),
            Cause::Bug => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_ERROR", message),
            Cause::Unavailable if effect == Effect::Reads => {
                Self { code: "TOOL_UNAVAILABLE", ..Self::unavailable(message) }
            }
            Cause::Unavailable | Cause::Refused | Cause::Unknown => {
                Self::new(StatusCode::BAD_GATEWAY, "TOOL_UNAVAILABLE", message)
            }
        }
    }

    /// The error of a failed turn, for protocols that answer after its end. It is never 503, because proxies retry
    /// 503 and tools may already have acted.
    pub(crate) fn of_turn(code: engine::FailureCode, message: &str) -> Self {
        use engine::FailureCode as Code;
        let (status, code) = match code {
            Code::AiServiceUnavailable => (StatusCode::BAD_GATEWAY, "AI_SERVICE_UNAVAILABLE"),
            Code::DatabaseError => (StatusCode::INTERNAL_SERVER_ERROR, "DATABASE_ERROR"),
            Code::ValidationError => (StatusCode::BAD_REQUEST, "VALIDATION_ERROR"),
            Code::RateLimited => (StatusCode::TOO_MANY_REQUESTS, "RATE_LIMITED"),
            Code::Timeout => (StatusCode::GATEWAY_TIMEOUT, "TIMEOUT"),
            Code::Interrupted => (StatusCode::BAD_GATEWAY, "INTERRUPTED"),
            Code::InternalError => (StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_ERROR"),
        };
        Self::new(status, code, message)
    }
}
