//! HTTP requests to other MCP servers. No answer is read without a limit: `rmcp` limits one event of a stream, but reads a JSON
//! body whole.

use std::{collections::HashMap, sync::Arc};

use futures::{StreamExt, stream::BoxStream};
use http_client::{read_at_most, read_start};
use reqwest::{
    Client, Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE},
};
use rmcp::{
    model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage},
    transport::streamable_http_client::{
        AuthRequiredError, InsufficientScopeError, SseError, StreamableHttpClient, StreamableHttpError,
        StreamableHttpPostResponse,
    },
};
use sse_stream::{Sse, SseStream};

/// A result has at most 1 MiB, and the same text once more as structured data. A list of tools is shorter.
pub(super) const MAX_BODY_BYTES: usize = 4 << 20;
const MAX_ERROR_BYTES: usize = 16 << 10;
const SESSION: &str = "mcp-session-id";

type Failed = StreamableHttpError<reqwest::Error>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

#[derive(Clone)]
pub(super) struct BoundedClient(pub(super) Client);

impl StreamableHttpClient for BoundedClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let request = self.0.post(uri.as_ref()).header(ACCEPT, "text/event-stream, application/json");
        let request = token.iter().fold(request, |request, token| request.bearer_auth(token));
        let request = session.iter().fold(request, |request, session| request.header(SESSION, session.as_ref()));
        let request = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
        let response = request.json(&message).send().await?;
        answered(response, &message, session.is_some()).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failed> {
        self.0.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Events, Failed> {
        let client = &self.0;
        client.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, MAX_BODY_BYTES).await
    }
}

/// Reads the answer to a message.
async fn answered(
    response: Response,
    message: &ClientJsonRpcMessage,
    has_session: bool,
) -> Result<StreamableHttpPostResponse, Failed> {
    let status = response.status();
    if let Some(error) = challenge(&response) {
        return Err(error);
    }
    if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if status == StatusCode::NOT_FOUND && has_session {
        return Err(StreamableHttpError::SessionExpired);
    }
    if !status.is_success() {
        return refused(response, message, has_session).await;
    }
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let (session, kind) = (header(SESSION), header(CONTENT_TYPE.as_str()).unwrap_or_default());
    if kind.starts_with("text/event-stream") {
        return Ok(StreamableHttpPostResponse::Sse(events(response), session));
    }
    let body = read_at_most(response, MAX_BODY_BYTES).await?.ok_or_else(too_long)?;
    match serde_json::from_slice(&body) {
        Ok(answer) => Ok(StreamableHttpPostResponse::Json(answer, session)),
        // Only a request waits for an answer. Some servers answer a notification with any text.
        Err(_) if !matches!(message, ClientJsonRpcMessage::Request(_)) => Ok(StreamableHttpPostResponse::Accepted),
        Err(_) if !kind.starts_with("application/json") => Err(StreamableHttpError::UnexpectedContentType(Some(kind))),
        Err(error) => Err(error.into()),
    }
}

/// The server asks for another token.
fn challenge(response: &Response) -> Option<Failed> {
    let text = response.headers().get(WWW_AUTHENTICATE)?.to_str().ok()?.to_owned();
    match response.status() {
        StatusCode::UNAUTHORIZED => Some(StreamableHttpError::AuthRequired(AuthRequiredError::new(text))),
        StatusCode::FORBIDDEN => Some(StreamableHttpError::InsufficientScope(InsufficientScopeError::new(text, None))),
        _ => None,
    }
}

/// An error status. Its body may be the error of a JSON-RPC request.
async fn refused(
    response: Response,
    message: &ClientJsonRpcMessage,
    has_session: bool,
) -> Result<StreamableHttpPostResponse, Failed> {
    let status = response.status();
    let body = read_start(response, MAX_ERROR_BYTES).await;
    let error = match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
        Ok(ServerJsonRpcMessage::Error(error)) => Some(error),
        _ => None,
    };
    let is_about_token = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    match (error, message) {
        // A server that does not know this request of newer clients refuses it, with an id of its own. The client goes on with
        // the older handshake when it gets an error with its id.
        (error, ClientJsonRpcMessage::Request(request))
            if matches!(request.request, ClientRequest::DiscoverRequest(_))
                && status.is_client_error()
                && !is_about_token
                && !has_session =>
        {
            let error = error.map_or_else(|| ErrorData::invalid_request(status.to_string(), None), |error| error.error);
            let error = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            Ok(StreamableHttpPostResponse::Json(error, None))
        }
        (Some(error), _) if !is_about_token => {
            Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), None))
        }
        _ => Err(StreamableHttpError::UnexpectedServerResponse(format!("HTTP {status}").into())),
    }
}

/// The events of an answer. They end with an error when they are too long in all.
fn events(response: Response) -> Events {
    let mut n_bytes = 0;
    let bytes = response.bytes_stream().map(move |piece| {
        let piece = piece.map_err(std::io::Error::other)?;
        n_bytes += piece.len();
        if n_bytes > MAX_BODY_BYTES { Err(std::io::Error::other(too_long())) } else { Ok(piece) }
    });
    SseStream::from_bytes_stream(bytes).boxed()
}

fn too_long() -> Failed {
    let text = format!("the answer has more than {} MiB", MAX_BODY_BYTES >> 20);
    StreamableHttpError::UnexpectedServerResponse(text.into())
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ClientNotification, InitializedNotification, PingRequest, RequestId};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;

    /// Asks a server that answers with this status, this type and this body, and then never ends the body.
    async fn answer(status: &str, kind: &str, body: String) -> Result<StreamableHttpPostResponse, Failed> {
        let request = ClientRequest::PingRequest(PingRequest::default());
        answer_to(ClientJsonRpcMessage::request(request, RequestId::Number(1)), status, kind, body).await
    }

    async fn answer_to(
        message: ClientJsonRpcMessage,
        status: &str,
        kind: &str,
        body: String,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n");
        tokio::spawn(async move {
            let (mut connection, _) = listener.accept().await.unwrap();
            let _request = connection.read(&mut [0; 4096]).await.unwrap();
            connection.write_all(head.as_bytes()).await.unwrap();
            // The client closes the connection when it has read enough.
            let _ = connection.write_all(body.as_bytes()).await;
        });
        let client = BoundedClient(http_client::client_builder().build().unwrap());
        client.post_message(url.into(), message, None, None, HashMap::new()).await
    }

    #[tokio::test]
    async fn a_json_answer_and_a_stream_are_read_up_to_the_limit() {
        let pong = r#"{"jsonrpc": "2.0", "id": 1, "result": {}}"#;
        let short = answer("200 OK", "application/json", pong.to_owned()).await.unwrap();
        assert!(matches!(short, StreamableHttpPostResponse::Json(..)), "{short:?}");
        let long = answer("200 OK", "application/json", format!("{}{pong}", " ".repeat(MAX_BODY_BYTES))).await;
        assert!(long.unwrap_err().to_string().contains("more than 4 MiB"));
        let event = format!("data: {pong}\n\n");
        for (body, n_read) in [(event.clone(), 1), (format!("{event}: {}", "x".repeat(MAX_BODY_BYTES)), 0)] {
            let StreamableHttpPostResponse::Sse(events, _) = answer("200 OK", "text/event-stream", body).await.unwrap()
            else {
                panic!("a stream")
            };
            let events: Vec<_> = events.collect().await;
            assert!(events.len() == 1 || events.last().unwrap().is_err(), "{events:?}");
            assert_eq!(events.iter().all(Result::is_ok), n_read == 1, "{n_read}");
        }
    }

    #[tokio::test]
    async fn errors_and_answers_to_notifications_are_read_as_before() {
        let error = r#"{"jsonrpc": "2.0", "id": 1, "error": {"code": -32600, "message": "no"}}"#;
        let refused = answer("400 Bad Request", "application/json", error.to_owned()).await.unwrap();
        assert!(
            matches!(&refused, StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), _) if error.error.message == "no"),
            "{refused:?}"
        );
        assert!(answer("500 Internal Server Error", "text/plain", "x".repeat(MAX_BODY_BYTES)).await.is_err());
        let done = ClientNotification::InitializedNotification(InitializedNotification::default());
        let accepted = answer_to(ClientJsonRpcMessage::notification(done), "200 OK", "text/plain", "ok".into()).await;
        assert!(matches!(accepted.unwrap(), StreamableHttpPostResponse::Accepted));
    }
}
