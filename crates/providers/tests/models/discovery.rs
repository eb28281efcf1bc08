//! Which servers are found on this machine, and which requests they receive.

use doubles::model::{Family, ModelDouble};
use providers::{FoundServer, Http, discover, list_models};

use crate::{
    families::start,
    provider::{Answer, HTTP, Provider, Then},
};

#[tokio::test]
async fn local_servers_are_found_with_their_models_by_requests_about_themselves_only() {
    let http = HTTP.with(Http::clone);
    let families = [
        (Family::Ollama, providers::Family::Ollama, vec!["m"]),
        (Family::LlamaCpp, providers::Family::LlamaCpp, vec!["m"]),
        // The loaded model is first; embedding models are left out.
        (Family::LmStudio, providers::Family::LmStudio, vec!["m", "other-7b"]),
        (Family::Vllm, providers::Family::Vllm, vec!["m"]),
        (Family::OpenAi, providers::Family::OpenAi, vec!["m"]),
    ];
    let mut running = Vec::new();
    for (family, ..) in &families {
        let double = ModelDouble::new(*family, "m");
        running.push((start(&double).await, double));
    }
    let ports: Vec<u16> = running.iter().map(|(running, _)| running.addr.port()).collect();
    let found = discover(&http, &ports, None).await;
    let expected = families.iter().zip(&ports).map(|((_, family, models), port)| FoundServer {
        family: *family,
        base_url: format!("http://127.0.0.1:{port}/v1"),
        models: models.iter().map(|name| (*name).to_owned()).collect(),
    });
    assert_eq!(found, expected.collect::<Vec<_>>());
    for (_, double) in &running {
        assert!(double.asked().is_empty(), "no request for a reply");
        let about_itself = ["/props", "/api/tags", "/api/v0/models", "/v1/models"];
        assert!(double.paths().iter().all(|path| about_itself.contains(&path.as_str())), "{:?}", double.paths());
    }

    let double = &running[0].1;
    let n_before = double.paths().len();
    assert_eq!(discover(&http, &ports[..1], Some(ports[0])).await, [], "the own port");
    assert_eq!(double.paths().len(), n_before, "is never asked");

    let base = found[2].base_url.clone();
    assert_eq!(list_models(&http, &base, None).await.expect("a good address"), ["m", "other-7b"]);
}

#[tokio::test]
async fn other_servers_and_silent_ports_are_not_found() {
    let http = HTTP.with(Http::clone);
    let page = Answer::new("200 OK", &["content-type: text/html"], "<p>Welcome</p>");
    let web = Provider::start(vec![page; 8]).await;
    let json = Answer::new("200 OK", &["content-type: application/json"], r#"{"status": "ok", "data": {}}"#);
    let other = Provider::start(vec![json; 8]).await;
    let silent = Provider::start(vec![Answer::stream("").then(Then::Hang); 8]).await;
    let port = |provider: &Provider| provider.url.rsplit(':').next().expect("a port").parse::<u16>().expect("a number");
    let ports = [port(&web), port(&other), port(&silent), 1];
    let started = std::time::Instant::now();
    assert_eq!(discover(&http, &ports, None).await, []);
    assert!(started.elapsed() < std::time::Duration::from_secs(2), "{:?}", started.elapsed());
}
