//! Tidal's token service: client credentials, in the body or as HTTP Basic.

use axum::{
    Form, Json,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::json;

use super::{TidalDouble, asked::Pairs};

/// The only client of this double.
pub const CLIENT_ID: &str = "demo";
pub const CLIENT_SECRET: &str = "demo-secret";
/// Id and secret, in base64.
const BASIC: &str = "Basic ZGVtbzpkZW1vLXNlY3JldA==";

pub(super) async fn token(double: State<TidalDouble>, headers: HeaderMap, Form(form): Form<Pairs>) -> Response {
    let field = |name: &str| form.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    if field("grant_type") != Some("client_credentials") {
        return refused(StatusCode::BAD_REQUEST, "unsupported_grant_type", 1001);
    }
    let in_body = field("client_id") == Some(CLIENT_ID) && field("client_secret") == Some(CLIENT_SECRET);
    let as_basic = headers.get(header::AUTHORIZATION).is_some_and(|value| value == BASIC);
    if !in_body && !as_basic {
        return refused(StatusCode::UNAUTHORIZED, "invalid_client", 6001);
    }
    let (access_token, expires_in) = double.gate().issue_token();
    let granted = json!({
        "access_token": access_token, "token_type": "Bearer", "expires_in": expires_in, "scope": "",
    });
    Json(granted).into_response()
}

fn refused(status: StatusCode, error: &str, sub_status: u32) -> Response {
    let body = json!({
        "error": error, "error_description": "Client is unknown or its request is",
        "status": status.as_u16(), "sub_status": sub_status,
    });
    (status, Json(body)).into_response()
}
