use std::{
    net::SocketAddr,
    sync::atomic::{AtomicUsize, Ordering},
};

use axum::{Router, extract::Path, http::header, response::IntoResponse, routing::get};

use super::*;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nand the rest";

/// An image host on this machine, and the number of requests it received.
async fn host() -> (SocketAddr, Arc<AtomicUsize>) {
    let n_asked = Arc::new(AtomicUsize::new(0));
    let counter = n_asked.clone();
    let answer = move |Path(name): Path<String>| {
        counter.fetch_add(1, Ordering::SeqCst);
        async move {
            let to = |place: &str| (StatusCode::FOUND, [(header::LOCATION, place.to_owned())]).into_response();
            match name.as_str() {
                "cover.png" => ([(header::CONTENT_TYPE, "text/html")], PNG).into_response(),
                "page" => ([(header::CONTENT_TYPE, "image/png")], "<script>alert(1)</script>").into_response(),
                "drawing" => ([(header::CONTENT_TYPE, "image/svg+xml")], "<svg onload='x()'/>").into_response(),
                "huge" => [PNG, &vec![0; MAX_BYTES][..]].concat().into_response(),
                "moved" => to("/cover.png"),
                "to-elsewhere" => to("http://elsewhere.test/cover.png"),
                "to-metadata" => to("http://169.254.169.254/latest"),
                "to-this-machine" => to("http://127.0.0.1/cover.png"),
                "round" => to("/round"),
                _ => StatusCode::NOT_FOUND.into_response(),
            }
        }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, Router::new().route("/{name}", get(answer))).await.unwrap() });
    (address, n_asked)
}

fn artwork(reach: Reach, address: SocketAddr) -> Artwork {
    let mut resolver = Resolver::new(reach);
    resolver.names = vec![("art.test", address), ("elsewhere.test", address)];
    Artwork::with(Rules { hosts: vec!["art.test".into()], schemes: &["http"] }, resolver)
}

#[tokio::test]
async fn only_images_of_allowed_hosts_are_returned() {
    let (address, _) = host().await;
    let artwork = artwork(Reach::Anywhere, address);
    let url = |path: &str| format!("http://art.test:{}/{path}", address.port());
    let cases = [
        (url("cover.png"), 200),
        (url("moved"), 200),
        (url("page"), 502),
        (url("drawing"), 502),
        (url("huge"), 502),
        (url("nothing"), 404),
        (url("to-elsewhere"), 502),
        (url("to-metadata"), 502),
        (url("to-this-machine"), 502),
        (url("round"), 502),
        (format!("http://elsewhere.test:{}/cover.png", address.port()), 400),
        (format!("http://{address}/cover.png"), 400),
        (format!("http://user:pass@art.test:{}/cover.png", address.port()), 400),
        ("http://art.test.evil.example/cover.png".into(), 400),
        ("ftp://art.test/cover.png".into(), 400),
        ("file:///etc/passwd".into(), 400),
        ("cover.png".into(), 400),
        (String::new(), 400),
    ];
    for (url, expected) in cases {
        let status = artwork.get(&url).await.map_or_else(|refusal| refusal.status.as_u16(), |_| 200);
        assert_eq!(status, expected, "{url}");
    }
}

#[tokio::test]
async fn a_name_that_resolves_to_a_private_network_is_rejected() {
    let (address, n_asked) = host().await;
    let artwork = artwork(Reach::PublicOnly, address);
    let refused = artwork.get(&format!("http://art.test:{}/cover.png", address.port())).await.err();
    assert_eq!(refused.map(|refusal| refusal.code), Some("NO_PICTURE"));
    assert_eq!(n_asked.load(Ordering::SeqCst), 0, "no connection was made");
}

#[tokio::test]
async fn an_image_is_fetched_once_and_typed_by_its_bytes() {
    let (address, n_asked) = host().await;
    let artwork = artwork(Reach::Anywhere, address);
    let url = format!("http://art.test:{}/cover.png", address.port());
    for _ in 0..3 {
        let picture = artwork.get(&url).await.unwrap();
        assert_eq!((picture.media_type, &picture.bytes[..]), ("image/png", PNG));
    }
    assert_eq!(n_asked.load(Ordering::SeqCst), 1);
}
