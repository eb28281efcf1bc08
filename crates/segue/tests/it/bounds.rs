//! Resource bounds of one request, one user and one address: memory, descriptors, connections and time.

use std::{
    net::SocketAddr,
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use engine::{UserId, script::says};
use reqwest::Method;
use segue::server::ConnectionLimits;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::support::{TestApp, claims, signed};

async fn tight(app: &TestApp, limits: ConnectionLimits) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = segue::router::router(app.app.clone());
    tokio::spawn(async move { segue::server::serve(listener, router, limits, std::future::pending()).await.unwrap() });
    address
}

async fn raw(address: SocketAddr, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

async fn status_of(stream: &mut TcpStream) -> String {
    let mut bytes = [0; 12];
    stream.read_exact(&mut bytes).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn address_of(app: &TestApp) -> SocketAddr {
    app.url.strip_prefix("http://").unwrap().parse().unwrap()
}

/// A body of 64 KiB pieces that counts how many were read.
trait Taken {
    fn inspect_taken(self, counter: Arc<AtomicUsize>) -> futures::stream::BoxStream<'static, std::io::Result<Vec<u8>>>;
}

impl<S: futures::Stream<Item = usize> + Send + 'static> Taken for S {
    fn inspect_taken(self, counter: Arc<AtomicUsize>) -> futures::stream::BoxStream<'static, std::io::Result<Vec<u8>>> {
        use futures::StreamExt;
        self.map(move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
            Ok(vec![b'x'; 64 << 10])
        })
        .boxed()
    }
}

#[tokio::test]
async fn a_form_whose_first_part_never_starts_is_rejected_before_it_fills_the_memory() {
    let app = TestApp::scripted([]).await;
    let headers = ["\r\n--b\r\nx-header: ", ""];
    for beginning in headers {
        use futures::StreamExt;
        let n_taken = Arc::new(AtomicUsize::new(0));
        let first = futures::stream::iter([Ok(beginning.as_bytes().to_vec())]);
        let body = first.chain(futures::stream::iter(0..2048).inspect_taken(n_taken.clone()));
        let sent = reqwest::Client::new()
            .post(format!("{}/api/library/import", app.url))
            .header("content-type", "multipart/form-data; boundary=b")
            .body(reqwest::Body::wrap_stream(body))
            .send()
            .await;
        // The server may close the connection before the client has read the response.
        if let Ok(response) = sent {
            assert_eq!(response.status(), 400);
        }
        let n_taken = n_taken.load(Ordering::Relaxed);
        assert!(n_taken < 512, "{n_taken} pieces of 64 KiB of 2048 were taken");
    }
    assert_eq!(app.get("/api/tasks").await, json!({"tasks": []}));
}

#[tokio::test]
async fn a_form_with_too_many_parts_is_rejected() {
    let app = TestApp::scripted([]).await;
    let form = |n_parts: usize| {
        let part = |n| format!("--b\r\ncontent-disposition: form-data; name=file; filename={n}.txt\r\n\r\n\r\n");
        (0..n_parts).map(part).collect::<String>() + "--b--\r\n"
    };
    let send = async |body: String| {
        let request = reqwest::Client::new().post(format!("{}/api/library/import", app.url));
        let request = request.header("content-type", "multipart/form-data; boundary=b").body(body);
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(send(form(101)).await, 413);
    assert_ne!(send(form(100)).await, 413);
}

#[tokio::test]
async fn a_body_that_never_arrives_is_cut_at_its_deadline() {
    let app = TestApp::shared([], &[]).await;
    let limits = ConnectionLimits { body_time: Duration::from_millis(200), ..ConnectionLimits::new(16) };
    let address = tight(&app, limits).await;
    let token = signed(&claims("ann"));
    for head in ["POST /api/auth/sign-in", &format!("POST /api/tasks HTTP/1.1\r\nauthorization: Bearer {token}")] {
        let head = if head.contains("HTTP") { head.to_owned() } else { format!("{head} HTTP/1.1") };
        let request =
            format!("{head}\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{{");
        let mut stream = raw(address, &request).await;
        assert_eq!(status_of(&mut stream).await, "HTTP/1.1 408", "{head}");
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).await.unwrap();
        assert!(String::from_utf8_lossy(&rest).contains("TIMEOUT"), "the connection is closed after the answer");
    }
}

#[tokio::test]
async fn one_address_cannot_take_all_connections() {
    let app = TestApp::scripted([]).await;
    let limits = ConnectionLimits { per_address: NonZeroUsize::new(2), ..ConnectionLimits::new(16) };
    let address = tight(&app, limits.clone()).await;
    let request = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let (mut first, mut second) = (raw(address, request).await, raw(address, request).await);
    assert_eq!(status_of(&mut first).await, "HTTP/1.1 200");
    assert_eq!(status_of(&mut second).await, "HTTP/1.1 200");
    let mut third = TcpStream::connect(address).await.unwrap();
    assert_eq!(third.read(&mut [0]).await.unwrap_or(0), 0, "it is closed at once");
    drop(first);
    loop {
        let mut again = TcpStream::connect(address).await.unwrap();
        if again.write_all(request.as_bytes()).await.is_ok() && again.read_exact(&mut [0; 12]).await.is_ok() {
            break;
        }
    }
    let trusting = ConnectionLimits { trusted_proxies: "127.0.0.1".parse().unwrap(), ..limits };
    let address = tight(&app, trusting).await;
    let mut all = Vec::new();
    for _ in 0..4 {
        all.push(raw(address, request).await);
        assert_eq!(
            status_of(all.last_mut().unwrap()).await,
            "HTTP/1.1 200",
            "a proxy has the connections of many clients"
        );
    }
}

#[tokio::test]
async fn an_unread_response_counts_as_open() {
    let text = format!("{} ", "x".repeat(1000)).repeat(24_000);
    let app = TestApp::shared([says(text.trim_end())], &[("SEGUE_OPEN_REQUESTS", "4")]).await;
    let ann = app.person("ann");
    let frames = ann.say("tell me everything").await;
    let conversation = frames[0]["conversationId"].as_str().unwrap();
    let token = signed(&claims("ann"));
    let request = format!(
        "GET /api/conversations/{conversation} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n"
    );
    let mut unread = Vec::new();
    let refused = loop {
        let mut stream = raw(address_of(&app), &request).await;
        match status_of(&mut stream).await.as_str() {
            "HTTP/1.1 200" => unread.push(stream),
            other => break other.to_owned(),
        }
        assert!(unread.len() < 30, "the number of open responses is not limited");
    };
    assert_eq!((refused.as_str(), unread.len()), ("HTTP/1.1 429", 4));
    assert_eq!(app.person("bob").answer(Method::GET, "/api/me", None).await.0, 200);
}

#[tokio::test]
async fn a_user_may_have_two_imports_and_another_user_does_not_wait() {
    let app = TestApp::shared([], &[]).await;
    let token = signed(&claims("ann"));
    let request = format!(
        "POST /api/library/import?name=a.txt HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
         content-length: 100\r\nexpect: 100-continue\r\n\r\n"
    );
    let mut uploads = Vec::new();
    for _ in 0..2 {
        let mut upload = raw(address_of(&app), &request).await;
        // Sent when the server begins to read the body.
        assert_eq!(status_of(&mut upload).await, "HTTP/1.1 100");
        uploads.push(upload);
    }
    let mut third = raw(address_of(&app), &request).await;
    assert_eq!(status_of(&mut third).await, "HTTP/1.1 429");
    let url = format!("{}/api/library/import?name=a.csv", app.url);
    let body = "title,artist\nRain,Ann\n";
    let bob = reqwest::Client::new().post(url).bearer_auth(signed(&claims("bob"))).body(body).send().await.unwrap();
    assert_eq!(bob.status(), 201);
}

/// A catalogue that takes requests and never answers, and how many it has.
async fn silent_catalogue() -> (String, tokio::sync::watch::Receiver<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (count, asked) = tokio::sync::watch::channel(0);
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            open.push(stream);
            count.send_replace(open.len());
        }
    });
    (url, asked)
}

#[tokio::test]
async fn an_import_keeps_its_place_when_its_client_disconnects() {
    let (url, mut asked) = silent_catalogue().await;
    let app = TestApp::shared([], &[("DEEZER_URL", &url)]).await;
    let (token, table) = (signed(&claims("ann")), "Title,Artist\nRain,Ivy Marlow\n");
    let head = format!(
        "POST /api/library/import?name=a.csv HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
         content-length: {}\r\n",
        table.len()
    );
    let running = raw(address_of(&app), &format!("{head}\r\n{table}")).await;
    asked.wait_for(|n| *n > 0).await.unwrap();
    let expects = format!("{head}expect: 100-continue\r\n\r\n");
    let mut uploading = raw(address_of(&app), &expects).await;
    assert_eq!(status_of(&mut uploading).await, "HTTP/1.1 100", "the second place");
    drop(running);
    for _ in 0..50 {
        assert_eq!(app.person("bob").answer(Method::GET, "/api/tasks", None).await.0, 200);
    }
    let mut third = raw(address_of(&app), &expects).await;
    assert_eq!(status_of(&mut third).await, "HTTP/1.1 429");
}

#[tokio::test]
async fn two_running_imports_of_one_user_do_not_delay_another_users_import() {
    let (url, mut asked) = silent_catalogue().await;
    let app = TestApp::shared([], &[("DEEZER_URL", &url)]).await;
    let send = |user: &str, n_files: usize| {
        let part = |n: usize| {
            format!(
                "--b\r\ncontent-disposition: form-data; name=file; filename={user}{n}.csv\r\n\r\nTitle,Artist\nRain {n},{user}\n\r\n"
            )
        };
        let form = (0..n_files).map(part).collect::<String>() + "--b--\r\n";
        let request = reqwest::Client::new().post(format!("{}/api/library/import", app.url)).body(form);
        let request = request.header("content-type", "multipart/form-data; boundary=b");
        tokio::spawn(request.bearer_auth(signed(&claims(user))).send())
    };
    let of_ann = [send("ann", 6), send("ann", 6)];
    asked.wait_for(|n| *n > 0).await.unwrap();
    let began = std::time::Instant::now();
    assert_eq!(send("bob", 1).await.unwrap().unwrap().status(), 201);
    // The catalogue is asked for ten seconds; ann's twelve files were asked for two minutes.
    assert!(began.elapsed() < Duration::from_secs(20), "bob waited for ann: {:?}", began.elapsed());
    for import in of_ann {
        assert_eq!(import.await.unwrap().unwrap().status(), 201);
    }
    assert!(began.elapsed() < Duration::from_secs(40), "each file was waited for: {:?}", began.elapsed());
}

#[tokio::test]
async fn a_direct_call_keeps_its_place_when_its_client_disconnects() {
    let (url, mut asked) = silent_catalogue().await;
    let tidal =
        [("TIDAL_CLIENT_ID", "x"), ("TIDAL_CLIENT_SECRET", "y"), ("TIDAL_AUTH_URL", &url), ("TIDAL_API_URL", &url)];
    let app = TestApp::shared([], &tidal).await;
    let (ann, bob) = (UserId::new("ann"), UserId::new("bob"));
    let mut calls: Vec<_> = (0..8)
        .map(|n| {
            Box::pin(app.app.call_tool(
                &ann,
                "tidalSearch",
                json!({"query": format!("rain {n}"), "searchType": "tracks"}),
            ))
        })
        .collect();
    for call in &mut calls {
        assert!(futures::poll!(call).is_pending());
    }
    asked.wait_for(|n| *n > 0).await.unwrap();
    // The clients leave.
    drop(calls);
    let mut ninth = std::pin::pin!(app.app.call_tool(&ann, "list_tasks", json!({})));
    for _ in 0..5 {
        assert!(futures::poll!(&mut ninth).is_pending(), "it waits for the calls that go on");
        app.app.call_tool(&bob, "list_tasks", json!({})).await.unwrap();
    }
}

#[tokio::test]
async fn eight_requests_of_a_user_are_worked_on_at_once_and_another_user_does_not_wait() {
    let app = TestApp::shared([], &[]).await;
    let (token, body) = (signed(&claims("ann")), r#"{"title": "Rain"}"#);
    let request = format!(
        "POST /api/tasks HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nexpect: 100-continue\r\n\r\n",
        body.len()
    );
    let mut working = Vec::new();
    for _ in 0..8 {
        let mut stream = raw(address_of(&app), &request).await;
        // Sent when the handler begins to read the body.
        assert_eq!(status_of(&mut stream).await, "HTTP/1.1 100");
        working.push(stream);
    }
    let mut ninth = raw(address_of(&app), &request).await;
    let bob = app.person("bob");
    for _ in 0..50 {
        assert_eq!(bob.answer(Method::GET, "/api/tasks", None).await.0, 200, "another user does not wait");
    }
    let early = ninth.try_read(&mut [0; 12]);
    assert!(early.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock), "{early:?}");
    working[0].write_all(body.as_bytes()).await.unwrap();
    assert_eq!(status_of(&mut ninth).await, "HTTP/1.1 100", "it is served when another has ended");
}

#[tokio::test]
async fn a_user_over_the_request_rate_is_limited_and_other_users_are_not() {
    let app = TestApp::shared([], &[("SEGUE_REQUESTS_PER_SECOND", "1")]).await;
    let ann = app.person("ann");
    let all = futures::future::join_all((0..100).map(|_| ann.answer(Method::GET, "/api/me", None))).await;
    let n_served = all.iter().filter(|(status, _)| *status == 200).count();
    assert!((6..50).contains(&n_served), "{n_served}");
    assert!(all.iter().all(|(status, _)| matches!(status, 200 | 429)));
    assert_eq!(app.person("bob").answer(Method::GET, "/api/me", None).await.0, 200);
}

#[tokio::test]
async fn local_mode_rejects_proxies_and_other_host_names_on_every_route() {
    let app = TestApp::scripted([]).await;
    let client = reqwest::Client::new();
    let paths = [
        "/api/tasks",
        "/api/export",
        "/api/about",
        "/metrics",
        "/openapi.json",
        "/docs",
        "/healthz",
        "/mcp",
        "/",
        "/x",
    ];
    let rejected = [
        ("host", "rebound.example"),
        ("origin", "https://evil.example"),
        ("sec-fetch-site", "cross-site"),
        ("x-forwarded-for", "203.0.113.9"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "segue.example"),
        ("x-real-ip", "203.0.113.9"),
        ("forwarded", "for=203.0.113.9"),
        ("via", "1.1 nginx"),
    ];
    for path in paths {
        for (name, value) in rejected {
            let response = client.get(format!("{}{path}", app.url)).header(name, value).send().await.unwrap();
            assert_eq!(response.status(), 403, "{path} {name}: {value}");
        }
        // What nginx sends by default.
        let forwarded = format!("GET {path} HTTP/1.0\r\nhost: {}\r\nconnection: close\r\n\r\n", address_of(&app));
        let status = status_of(&mut raw(address_of(&app), &forwarded).await).await;
        assert!(status.ends_with(" 403"), "{path} {status}");
        let own =
            client.get(format!("{}{path}", app.url)).header("sec-fetch-site", "same-origin").send().await.unwrap();
        assert_ne!(own.status(), 403, "{path}");
    }
    let link = client.get(&app.url).header("sec-fetch-site", "cross-site").header("sec-fetch-mode", "navigate");
    assert_ne!(link.send().await.unwrap().status(), 403, "a link may open the page");
    let data = client.get(format!("{}/api/export", app.url)).header("sec-fetch-site", "cross-site");
    assert_eq!(data.header("sec-fetch-mode", "navigate").send().await.unwrap().status(), 403, "but not read data");
}
