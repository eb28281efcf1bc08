//! Errors of Tidal, and the messages that tools return for them.

use engine::ToolError;
use reqwest::StatusCode;
use serde_json::Value;
use tracing::warn;

/// The variants say who can fix the error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TidalError {
    /// No credentials are configured. The operator can fix it.
    #[error("Tidal is not configured: TIDAL_CLIENT_ID and TIDAL_CLIENT_SECRET are not set")]
    NotConfigured,
    /// Temporary: network error, timeout, 429, 503, 504.
    #[error("Tidal is not available: {0}")]
    Unavailable(String),
    /// Tidal rejected the credentials or the request. The operator or the developers can fix it.
    #[error("Tidal refused: {0}")]
    Refused(String),
    /// There is no such resource, or not in this country.
    #[error("not found at Tidal: {0}")]
    NotFound(String),
    /// The response cannot be parsed. An immediate retry gets the same response.
    #[error("Tidal sent a response that cannot be parsed: {0}")]
    Broken(String),
}

const UNAVAILABLE: &str = "Tidal service is temporarily unavailable. Try searching your indexed collection instead.";
const NOT_CONFIGURED: &str = "The Tidal catalogue is not configured on this server (TIDAL_CLIENT_ID is not set). \
                              Try searching your indexed collection instead.";

impl TidalError {
    pub(super) fn from_transport(error: reqwest::Error) -> Self {
        // The URL may contain text that a user typed, so it is not logged.
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
                warn!(reason, "Tidal sent a response that cannot be parsed: {reason}");
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

/// The first error of an error document, in the format of the catalogue or of the token service.
fn detail(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let error = &body["errors"][0];
    let parts = [&error["code"], &error["detail"], &body["error"], &body["error_description"]];
    let parts: Vec<&str> = parts.into_iter().filter_map(Value::as_str).collect();
    let text: String = parts.join(", ").chars().filter(|c| !c.is_control()).take(200).collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_classified_by_who_can_fix_it() {
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
            (500, b"", "Tidal sent a response that cannot be parsed: 500 Internal Server Error"),
            (302, b"", "Tidal sent a response that cannot be parsed: 302 Found"),
        ];
        for (status, body, expected) in cases {
            let error = TidalError::from_status(StatusCode::from_u16(status).unwrap(), body);
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn a_tool_returns_the_messages_of_the_contract() {
        let unavailable = ToolError::from(TidalError::Unavailable("503".into()));
        let sentence = "Tidal service is temporarily unavailable. Try searching your indexed collection instead.";
        assert_eq!(unavailable.to_string(), sentence);
        assert!(matches!(unavailable, ToolError::Unavailable { retryable: true, .. }));
        assert!(matches!(TidalError::Broken("x".into()).into(), ToolError::Refused(text) if text == UNAVAILABLE));
        assert!(matches!(TidalError::NotFound("album 7".into()).into(), ToolError::NotFound(_)));
        assert!(matches!(TidalError::NotConfigured.into(), ToolError::NotConfigured(_)));
        assert!(matches!(TidalError::Refused("x".into()).into(), ToolError::Refused(_)));
    }
}
