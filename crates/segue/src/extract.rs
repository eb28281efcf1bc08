//! axum's extractors with our error format: `Json`, `Query` and `Path` report a bad request like every other error.
//! All three reject the character NUL: real text does not contain it, and PostgreSQL cannot store it.

use aide::{OperationInput, OperationOutput, generate::GenContext, openapi};
use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Request, rejection::JsonRejection},
    http::request::Parts,
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use crate::error::ApiError;

/// A JSON body, of a request or of a response.
pub(crate) struct Json<T>(pub(crate) T);

/// The query string.
pub(crate) struct Query<T>(pub(crate) T);

/// The parameters in the path.
pub(crate) struct Path<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let (head, body) = request.into_parts();
        let request = Request::from_parts(head.clone(), body);
        let bytes = Bytes::from_request(request, state).await.map_err(JsonRejection::from)?;
        if spells_nul(&bytes) {
            return Err(no_nul());
        }
        // serde would accept an array as the fields of an object in their order.
        if bytes.trim_ascii_start().starts_with(b"[") {
            return Err(ApiError::invalid("The body must be a JSON object."));
        }
        let request = Request::from_parts(head, axum::body::Body::from(bytes));
        let axum::Json(value) = axum::Json::from_request(request, state).await?;
        Ok(Self(value))
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        axum::Json(self.0).into_response()
    }
}

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        if parts.uri.query().is_some_and(|query| query.contains("%00")) {
            return Err(no_nul());
        }
        let axum::extract::Query(value) = axum::extract::Query::from_request_parts(parts, state).await?;
        Ok(Self(value))
    }
}

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        if parts.uri.path().contains("%00") {
            return Err(ApiError::not_found());
        }
        let axum::extract::Path(value) = axum::extract::Path::from_request_parts(parts, state).await?;
        Ok(Self(value))
    }
}

/// Whether a JSON text contains an escaped NUL: `\u0000` after an even number of backslashes.
fn spells_nul(json: &[u8]) -> bool {
    let mut places = json.windows(6).enumerate().filter(|(_, bytes)| bytes == br"\u0000");
    places.any(|(at, _)| json[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0)
}

fn no_nul() -> ApiError {
    ApiError::invalid("The character NUL is not allowed.")
}

impl<T: JsonSchema> OperationInput for Json<T> {
    fn operation_input(cx: &mut GenContext, operation: &mut openapi::Operation) {
        axum::Json::<T>::operation_input(cx, operation);
    }
}

impl<T: JsonSchema> OperationOutput for Json<T> {
    type Inner = T;

    fn operation_response(cx: &mut GenContext, operation: &mut openapi::Operation) -> Option<openapi::Response> {
        axum::Json::<T>::operation_response(cx, operation)
    }

    fn inferred_responses(
        cx: &mut GenContext,
        operation: &mut openapi::Operation,
    ) -> Vec<(Option<openapi::StatusCode>, openapi::Response)> {
        axum::Json::<T>::inferred_responses(cx, operation)
    }
}

impl<T: JsonSchema> OperationInput for Query<T> {
    fn operation_input(cx: &mut GenContext, operation: &mut openapi::Operation) {
        axum::extract::Query::<T>::operation_input(cx, operation);
    }
}

impl<T: JsonSchema> OperationInput for Path<T> {
    fn operation_input(cx: &mut GenContext, operation: &mut openapi::Operation) {
        axum::extract::Path::<T>::operation_input(cx, operation);
    }
}

#[cfg(test)]
mod tests {
    use super::spells_nul;

    #[test]
    fn only_the_character_itself_is_found() {
        let cases = [
            (r#"{"title": "a\u0000b"}"#, true),
            (r#""\u0000""#, true),
            (r#""\\\u0000""#, true),
            (r#""\\u0000""#, false),
            (r#""\u00001""#, true),
            (r#""\u0001""#, false),
            (r#""u0000""#, false),
            ("", false),
        ];
        for (json, expected) in cases {
            let parsed: Option<String> = serde_json::from_str(json).ok();
            assert!(parsed.is_none_or(|text| text.contains('\0') == expected), "the table is wrong: {json}");
            assert_eq!(spells_nul(json.as_bytes()), expected, "{json}");
        }
    }
}
