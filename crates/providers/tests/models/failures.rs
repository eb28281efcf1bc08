//! How provider failures are handled: who can fix them, which are retried, and that secrets never appear in errors.

use std::time::Duration;

use engine::Delta;
use futures::StreamExt;
use providers::{AnthropicModel, Http, OpenAiModel, SetupError};
use tokio::net::TcpSocket;

use crate::provider::{Answer, KEY, Provider, Then, VENDORS, hello, line, transcript};

fn refusal(status: &str, headers: &[&str], kind: &str) -> Answer {
    Answer::new(status, headers, format!(r#"{{"error":{{"type":"{kind}","message":"No."}}}}"#))
}

#[tokio::test]
async fn a_status_decides_the_error_and_whether_it_is_retried() {
    let html = Answer::new("200 OK", &["content-type: text/html"], "<p>Welcome</p>");
    let bad_gateway = Answer::new("502 Bad Gateway", &[], "<h1>Bad\nGateway</h1>");
    let now = ["retry-after: 0"];
    let cases = [
        (refusal("400 Bad Request", &[], "invalid_request_error"), r#"Refused("400 No.")"#, 1),
        (
            refusal("401 Unauthorized", &[], "authentication_error"),
            r#"Unauthorized("401 the API key was not accepted")"#,
            1,
        ),
        (
            refusal("403 Forbidden", &[], "permission_error"),
            r#"Unauthorized("403 the API key lacks this permission")"#,
            1,
        ),
        (refusal("404 Not Found", &[], "not_found_error"), r#"NoSuchModel("404 No.")"#, 1),
        (refusal("307 Temporary Redirect", &["location: /elsewhere"], ""), r#"Refused("307 No.")"#, 1),
        (refusal("429 Too Many Requests", &now, "rate_limit_error"), r#"RateLimited("429 No.")"#, 3),
        (refusal("429 Too Many Requests", &[], "rate_limit_error"), r#"RateLimited("429 No.")"#, 3),
        (refusal("429 Too Many Requests", &["retry-after: 60"], "rate_limit_error"), r#"RateLimited("429 No.")"#, 1),
        (refusal("429 Too Many Requests", &now, "insufficient_quota"), r#"Refused("429 No.")"#, 1),
        (refusal("500 Internal Server Error", &[], "api_error"), r#"Unavailable("500 No.")"#, 1),
        (bad_gateway, r#"Unavailable("502 <h1>Bad Gateway</h1>")"#, 3),
        (
            refusal("503 Service Unavailable", &["retry-after: Sun, 06 Nov 1994 08:49:37 GMT"], "x"),
            r#"Unavailable("503 No.")"#,
            3,
        ),
        (refusal("504 Gateway Timeout", &now, "timeout_error"), r#"Unavailable("504 No.")"#, 3),
        (refusal("529 Overloaded", &now, "overloaded_error"), r#"Unavailable("529 No.")"#, 3),
        (html, r#"NotAModelServer("it answered with text/html instead of a stream; check the base URL")"#, 1),
    ];
    for vendor in VENDORS {
        for (answer, expected, n_requests) in &cases {
            let provider = Provider::start(vec![answer.clone(); 4]).await;
            assert_eq!(transcript(&*vendor.model(&provider.url), &hello()).await, *expected, "{vendor:?}");
            assert_eq!(provider.received().len(), *n_requests, "{vendor:?}: {expected}");
        }
    }
}

#[tokio::test]
async fn a_provider_that_recovers_gets_the_same_request_again_and_the_reply_is_complete() {
    for vendor in VENDORS {
        let text = Answer::stream(vendor.recorded("text"));
        let overloaded = match vendor {
            crate::provider::Vendor::Anthropic => r#"{"type":"error","error":{"type":"overloaded_error"}}"#,
            crate::provider::Vendor::OpenAi => r#"{"error":{"type":"server_error","message":"busy"}}"#,
        };
        let beginnings = [
            refusal("429 Too Many Requests", &["retry-after: 0"], "rate_limit_error"),
            refusal("529 Overloaded", &[], "overloaded_error"),
            Answer::stream(format!("data: {overloaded}\n\n")),
            Answer::stream(""),
            Answer::stream("").then(Then::Break),
        ];
        for beginning in beginnings {
            let provider = Provider::start([beginning.clone(), beginning, text.clone()]).await;
            let transcript = transcript(&*vendor.model(&provider.url), &hello()).await;
            assert!(
                transcript.starts_with(r#"text "Hello""#) && transcript.contains("end in 25"),
                "{vendor:?}: {transcript}"
            );
            let bodies: Vec<_> = provider.received().into_iter().map(|received| received.body).collect();
            assert!(bodies.len() == 3 && bodies.iter().all(|body| *body == bodies[0]), "{vendor:?}");
        }
    }
}

#[tokio::test]
async fn a_request_is_not_retried_after_the_first_text() {
    for vendor in VENDORS {
        let provider =
            Provider::start(["error_midway", "text"].map(|case| Answer::stream(vendor.recorded(case)))).await;
        let transcript = transcript(&*vendor.model(&provider.url), &hello()).await;
        assert_eq!(transcript, "text \"Let me\"\nUnavailable(\"Overloaded\")", "{vendor:?}");
        assert_eq!(provider.received().len(), 1, "{vendor:?}");
    }
}

#[tokio::test]
async fn a_provider_that_cannot_be_reached_is_unavailable() {
    for vendor in VENDORS {
        let breaks = Provider::start([]).await;
        let broken = transcript(&*vendor.model(&breaks.url), &hello()).await;
        assert!(broken.starts_with("Unavailable("), "{vendor:?}: {broken}");
        assert_eq!(breaks.received().len(), 3, "{vendor:?}");

        // Bound but not listening: the port stays reserved, and connections to it are refused.
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(([127, 0, 0, 1], 0).into()).expect("a port");
        let port = socket.local_addr().expect("an address");
        let refused = transcript(&*vendor.model(&format!("http://ann:secret@{port}/v1?token=secret")), &hello()).await;
        assert!(refused.starts_with("Unavailable(") && refused.contains("refused"), "{vendor:?}: {refused}");
        assert!(!refused.contains("secret"), "{vendor:?}: {refused}");
    }
}

#[tokio::test]
async fn a_frame_without_end_is_a_failure() {
    for vendor in VENDORS {
        let endless = Answer::stream(vec![b'x'; 3 << 20]).in_pieces(1 << 16).then(Then::Hang);
        let provider = Provider::start([endless]).await;
        let transcript = transcript(&*vendor.model(&provider.url), &hello()).await;
        assert_eq!(transcript, r#"Unavailable("it sent a frame of more than 1 MiB")"#, "{vendor:?}");
    }
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    for vendor in VENDORS {
        let mut speaking = Provider::start([Answer::stream(vendor.recorded("cut")).then(Then::Hang)]).await;
        let mut deltas = vendor.model(&speaking.url).reply(&hello());
        let said = loop {
            if let Some(said) = line(&deltas.next().await.expect("a delta")) {
                break said;
            }
        };
        assert_eq!(said, r#"text "Let me""#, "{vendor:?}");
        drop(deltas);
        speaking.seen_closed().await;

        let mut silent = Provider::start([Answer::stream("").then(Then::Hang)]).await;
        let mut deltas = vendor.model(&silent.url).reply(&hello());
        tokio::select! {
            delta = deltas.next() => panic!("{vendor:?} said {delta:?}"),
            () = silent.seen_asked() => drop(deltas),
        }
        silent.seen_closed().await;
    }
}

#[tokio::test]
async fn a_ping_is_a_sign_of_life() {
    for vendor in VENDORS {
        let provider = Provider::start([Answer::stream(": ping\n\n").then(Then::Hang)]).await;
        let first = vendor.model(&provider.url).reply(&hello()).next().await;
        assert_eq!(first.expect("a sign").expect("no failure"), Delta::Text(String::new()), "{vendor:?}");
    }
}

#[tokio::test]
async fn one_reply_after_the_other_shares_a_connection() {
    for vendor in VENDORS {
        let provider = Provider::start(vec![Answer::stream(vendor.recorded("text")); 5]).await;
        let model = vendor.model(&provider.url);
        for _ in 0..5 {
            // Like a turn: it drops the stream as soon as the reply has ended.
            let mut deltas = model.reply(&hello());
            while !matches!(deltas.next().await, Some(Ok(Delta::End { .. }))) {}
        }
        assert_eq!(provider.n_connections(), 1, "{vendor:?}");
    }
}

#[tokio::test]
async fn a_server_that_keeps_the_connection_open_after_the_end_does_not_delay_it() {
    for vendor in VENDORS {
        let provider = Provider::start([Answer::stream(vendor.recorded("text")).then(Then::Hang)]).await;
        let (model, prompt) = (vendor.model(&provider.url), hello());
        let transcript =
            tokio::time::timeout(Duration::from_secs(5), transcript(&*model, &prompt)).await.expect("it ends");
        assert!(transcript.ends_with("end in 25 out 12 cache 0+0"), "{vendor:?}: {transcript}");
    }
}

#[tokio::test]
async fn the_key_is_in_no_error_and_no_debug_text() {
    for vendor in VENDORS {
        // In the second case the key is at the position where a long message is cut.
        let padding = "x".repeat(250);
        let repeats = format!(r#"{{"error":{{"type":"x","message":"I got {KEY}.{padding}{KEY}"}}}}"#);
        for status in ["400 Bad Request", "401 Unauthorized", "429 Too Many Requests", "500 Oh"] {
            let provider = Provider::start(vec![Answer::new(status, &[], repeats.clone()); 3]).await;
            let transcript = transcript(&*vendor.model(&provider.url), &hello()).await;
            assert!(!transcript.contains(&KEY[..8]) && transcript.len() < 400, "{vendor:?}: {transcript}");
        }
    }
    let http = Http::new().expect("a client");
    let base = "http://ann:hidden@127.0.0.1:1";
    let anthropic = AnthropicModel::new(http.clone(), base, KEY, "m").expect("good settings");
    let openai = OpenAiModel::new(http, base, Some(KEY), "m").expect("good settings");
    let shown = format!("{anthropic:?} {openai:?}");
    assert!(!shown.contains(KEY) && !shown.contains("hidden"), "{shown}");
}

#[test]
fn invalid_settings_are_rejected_at_start() {
    let http = Http::new().expect("a client");
    for base in ["", "localhost:11434", "ftp://example.com", "/v1", "http://"] {
        let anthropic = AnthropicModel::new(http.clone(), base, KEY, "m");
        assert!(matches!(anthropic, Err(SetupError::BadUrl("anthropic"))), "{base:?}");
        let openai = OpenAiModel::new(http.clone(), base, None, "m");
        assert!(matches!(openai, Err(SetupError::BadUrl("openai"))), "{base:?}");
    }
    let bad_key = AnthropicModel::new(http, "https://api.anthropic.com", "two\nlines", "m");
    assert!(matches!(bad_key, Err(SetupError::BadKey("anthropic"))));
}
