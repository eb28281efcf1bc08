//! A provider on the loopback that plays prepared answers and records the requests.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use engine::{Delta, Message, Model, ModelError, Prompt, Usage};
use futures::StreamExt;
use providers::{AnthropicModel, Http, OpenAiModel};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};

pub(crate) const KEY: &str = "sk-test-0123456789";

thread_local! {
    /// One per test, because creating a client reads all certificates of the machine.
    pub(crate) static HTTP: Http = Http::new().expect("a client").with_pause(std::time::Duration::ZERO);
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Vendor {
    Anthropic,
    OpenAi,
}

pub(crate) const VENDORS: [Vendor; 2] = [Vendor::Anthropic, Vendor::OpenAi];

impl Vendor {
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Vendor::Anthropic => "anthropic",
            Vendor::OpenAi => "openai",
        }
    }

    /// A recorded stream of this vendor.
    pub(crate) fn recorded(self, case: &str) -> Vec<u8> {
        let path = format!("{}/tests/models/{}/{case}.sse", env!("CARGO_MANIFEST_DIR"), self.folder());
        std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(crate) fn model(self, base_url: &str) -> Box<dyn Model> {
        let http = HTTP.with(Http::clone);
        match self {
            Vendor::Anthropic => Box::new(AnthropicModel::new(http, base_url, KEY, "m").expect("a good address")),
            Vendor::OpenAi => Box::new(OpenAiModel::new(http, base_url, Some(KEY), "m").expect("a good address")),
        }
    }
}

/// One prepared answer.
#[derive(Clone)]
pub(crate) struct Answer {
    head: String,
    chunks: Vec<Vec<u8>>,
    then: Then,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Then {
    Finish,
    /// The connection breaks.
    Break,
    /// Sends nothing more and keeps the connection open.
    Hang,
}

impl Answer {
    pub(crate) fn stream(body: impl Into<Vec<u8>>) -> Self {
        Self::new("200 OK", &["content-type: text/event-stream; charset=utf-8"], body)
    }

    pub(crate) fn new(status: &str, headers: &[&str], body: impl Into<Vec<u8>>) -> Self {
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let head = format!("HTTP/1.1 {status}\r\n{headers}transfer-encoding: chunked\r\n\r\n");
        Self { head, chunks: vec![body.into()], then: Then::Finish }
    }

    /// Sends the body in pieces of `n` bytes.
    pub(crate) fn in_pieces(mut self, n: usize) -> Self {
        self.chunks = self.chunks.concat().chunks(n).map(<[u8]>::to_vec).collect();
        self
    }

    pub(crate) fn then(mut self, then: Then) -> Self {
        self.then = then;
        self
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

pub(crate) struct Provider {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<Received>>>,
    n_connections: Arc<Mutex<usize>>,
    asked: mpsc::UnboundedReceiver<()>,
    closed: mpsc::UnboundedReceiver<()>,
}

/// State shared by the connections of one provider.
#[derive(Clone)]
struct Shared {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    received: Arc<Mutex<Vec<Received>>>,
    tell_asked: mpsc::UnboundedSender<()>,
    tell_closed: mpsc::UnboundedSender<()>,
}

impl Provider {
    pub(crate) async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (tell_asked, asked) = mpsc::unbounded_channel();
        let (tell_closed, closed) = mpsc::unbounded_channel();
        let answers = Arc::new(Mutex::new(answers.into_iter().collect()));
        let shared = Shared { answers, received: Arc::default(), tell_asked, tell_closed };
        let provider = Self { url, received: shared.received.clone(), n_connections: Arc::default(), asked, closed };
        let n_connections = provider.n_connections.clone();
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                *n_connections.lock().expect("no panic") += 1;
                tokio::spawn(serve(connection, shared.clone()));
            }
        });
        provider
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().expect("no panic").clone()
    }

    pub(crate) fn n_connections(&self) -> usize {
        *self.n_connections.lock().expect("no panic")
    }

    pub(crate) async fn seen_asked(&mut self) {
        self.asked.recv().await.expect("the provider runs");
    }

    /// Waits until the client has closed a connection whose answer was left hanging.
    pub(crate) async fn seen_closed(&mut self) {
        self.closed.recv().await.expect("the provider runs");
    }
}

async fn serve(mut connection: TcpStream, shared: Shared) {
    connection.set_nodelay(true).expect("a socket");
    while let Some(request) = read_request(&mut connection).await {
        shared.received.lock().expect("no panic").push(request);
        // Fails if the test has ended or does not receive; both are fine.
        let _ = shared.tell_asked.send(());
        let answer = shared.answers.lock().expect("no panic").pop_front();
        // Without a prepared answer the connection is closed.
        let Some(answer) = answer else { return };
        if write_answer(&mut connection, &answer).await.is_err() || answer.then == Then::Break {
            return;
        }
        if answer.then == Then::Hang {
            // An end and a reset both mean that the client has closed the connection.
            let _ = connection.read_to_end(&mut Vec::new()).await;
            let _ = shared.tell_closed.send(());
            return;
        }
    }
}

async fn write_answer(connection: &mut TcpStream, answer: &Answer) -> std::io::Result<()> {
    connection.write_all(answer.head.as_bytes()).await?;
    for chunk in answer.chunks.iter().filter(|chunk| !chunk.is_empty()) {
        let framed = [format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat();
        connection.write_all(&framed).await?;
    }
    if answer.then == Then::Finish {
        connection.write_all(b"0\r\n\r\n").await?;
    }
    Ok(())
}

async fn read_request(connection: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).expect("a text head").to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.expect("a length").parse().expect("a number");
            if bytes.len() >= end + 4 + length {
                return Some(Received { head, body: bytes[end + 4..end + 4 + length].to_vec() });
            }
        }
        if connection.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

pub(crate) fn hello() -> Prompt {
    Prompt {
        system: "Be kind.".into(),
        tools: Vec::new().into(),
        messages: vec![Message::user("Hello")],
        may_call_tools: true,
    }
}

/// The deltas of a reply, one line each. Empty texts and thinking are left out.
pub(crate) async fn transcript(model: &dyn Model, prompt: &Prompt) -> String {
    let deltas: Vec<_> = model.reply(prompt).collect().await;
    deltas.iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

pub(crate) fn line(delta: &Result<Delta, ModelError>) -> Option<String> {
    Some(match delta {
        Ok(Delta::Text(text)) if text.is_empty() => return None,
        Ok(Delta::Text(text)) => format!("text {text:?}"),
        Ok(Delta::Reasoning(_) | Delta::Reading { .. } | Delta::Progress { .. }) => return None,
        Ok(Delta::ToolCall { name, input }) => format!("call {name} {input}"),
        Ok(Delta::End { usage: Usage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } }) => {
            format!("end in {input_tokens} out {output_tokens} cache {cache_read_tokens}+{cache_write_tokens}")
        }
        Err(error) => format!("{error:?}"),
    })
}
