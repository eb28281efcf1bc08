//! What can go wrong with Tidal, and what a tool says about it.

use engine::ToolError;
use reqwest::StatusCode;
use serde_json::Value;
use tracing::warn;

/// The variants say who can do something about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TidalError {
    /// The operator can: there are no credentials.
    #[error("Tidal is not configured: TIDAL_CLIENT_ID and TIDAL_CLIENT_SECRET are not set")]
    NotConfigured,
    /// Time can: network, timeout, 429, 503, 504.
    #[error("Tidal is not available: {0}")]
    Unavailable(String),
    /// The operator or we can: the credentials or the request are not accepted.
    #[error("Tidal refused: {0}")]
    Refused(String),
    /// The caller can: there is no such thing, or not in this country.
    #[error("not found at Tidal: {0}")]
    NotFound(String),
    /// Nobody here can: an answer that is no answer. Asking again at once gives the same.
    #[error("Tidal answered in a way that cannot be read: {0}")]
    Broken(String),
}

const UNAVAILABLE: &str = "Tidal service is temporarily unavailable. Try searching your indexed collection instead.";
const NOT_CONFIGURED: &str = "The Tidal catalogue is not configured on this server (TIDAL_CLIENT_ID is not set). \
                              Try searching your indexed collection instead.";

impl TidalError {
    pub(super) fn from_transport(error: reqwest::Error) -> Self {
        // The address may hold what the listener typed; logs have no use for it.
        let error = error.without_url();
        if error.is_decode() {
            Self::Broken(http_client::root_cause(&error))
        } else {
            Self::Unavailable(http_client::root_cause(&error))
        }
    }

    pub(super) fn from_status(status: StatusCode, body: &[u8]) -> Self {
        let reason = format!("{status}{}", detail(body).map(|detail| format!(": {detail}")).unwrap_or_default());
        match status.as_u16() {
            404 => Self::NotFound(reason),
            429 | 503 | 504 => Self::Unavailable(reason),
            400..500 => Self::Refused(reason),
            _ => Self::Broken(reason),
        }
    }
}

impl From<TidalError> for ToolError {
    fn from(error: TidalError) -> Self {
        match error {
            TidalError::NotConfigured => Self::NotConfigured(NOT_CONFIGURED.into()),
            TidalError::Unavailable(reason) => {
                warn!(reason, "Tidal is not available: {reason}");
                Self::Unavailable { message: UNAVAILABLE.into(), retryable: true }
            }
            TidalError::Broken(reason) => {
                warn!(reason, "Tidal cannot be read: {reason}");
                Self::Refused(UNAVAILABLE.into())
            }
            TidalError::Refused(reason) => {
                warn!(reason, "Tidal refused: {reason}");
                Self::Refused(format!(
                    "Tidal refused the request ({reason}). Try searching your indexed collection instead."
                ))
            }
            TidalError::NotFound(what) => {
                Self::NotFound(format!("Tidal does not have {what}. Ids come from tidalSearch; search first."))
            }
        }
    }
}

/// The first error of an error document, in either of the two shapes: the catalogue's or the token service's.
fn detail(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let error = &body["errors"][0];
    let told = [&error["code"], &error["detail"], &body["error"], &body["error_description"]];
    let told: Vec<&str> = told.into_iter().filter_map(Value::as_str).collect();
    let text: String = told.join(", ").chars().filter(|c| !c.is_control()).take(200).collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_says_who_can_help() {
        let body = br#"{"errors":[{"code":"INVALID_RESOURCE_ID","detail":"bad\nid","meta":{}}]}"#;
        let cases: [(u16, &[u8], &str); 9] = [
            (400, body, "Tidal refused: 400 Bad Request: INVALID_RESOURCE_ID, badid"),
            (
                401,
                br#"{"error":"invalid_client","sub_status":6001}"#,
                "Tidal refused: 401 Unauthorized: invalid_client",
            ),
            (403, b"", "Tidal refused: 403 Forbidden"),
            (404, b"<html>", "not found at Tidal: 404 Not Found"),
            (429, b"", "Tidal is not available: 429 Too Many Requests"),
            (503, b"[]", "Tidal is not available: 503 Service Unavailable"),
            (504, b"", "Tidal is not available: 504 Gateway Timeout"),
            (500, b"", "Tidal answered in a way that cannot be read: 500 Internal Server Error"),
            (302, b"", "Tidal answered in a way that cannot be read: 302 Found"),
        ];
        for (status, body, expected) in cases {
            let error = TidalError::from_status(StatusCode::from_u16(status).unwrap(), body);
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn a_tool_says_it_in_the_words_of_the_contract() {
        let unavailable = ToolError::from(TidalError::Unavailable("503".into()));
        assert_eq!(unavailable.to_string(), UNAVAILABLE);
        assert!(matches!(unavailable, ToolError::Unavailable { retryable: true, .. }));
        assert!(matches!(TidalError::Broken("x".into()).into(), ToolError::Refused(text) if text == UNAVAILABLE));
        assert!(matches!(TidalError::NotFound("album 7".into()).into(), ToolError::NotFound(_)));
        assert!(matches!(TidalError::NotConfigured.into(), ToolError::NotConfigured(_)));
        assert!(matches!(TidalError::Refused("x".into()).into(), ToolError::Refused(_)));
    }
}
