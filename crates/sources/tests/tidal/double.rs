//! The double behaves like the real service: which requests it rejects, what it adds, what it leaves out.

use doubles::{
    Running, fiction, serve,
    tidal::{Limits, TidalDouble},
};
use reqwest::{Client, Response};
use serde_json::{Value, json};

struct Caller {
    http: Client,
    token: String,
    running: Running,
}

impl Caller {
    /// With the real limits, but the bucket does not fill up while a slow machine runs the test.
    async fn new() -> Self {
        let limits = Limits { per_second: 0.001, ..Limits::MEASURED };
        let running = serve(TidalDouble::new(fiction::world(), limits).router()).await.unwrap();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut caller = Self { http: Client::new(), token: String::new(), running };
        let form = [("grant_type", "client_credentials"), ("client_id", "demo"), ("client_secret", "demo-secret")];
        caller.token = caller.token_for(&form, None).await["access_token"].as_str().unwrap().to_owned();
        caller
    }

    async fn token_for(&self, form: &[(&str, &str)], basic: Option<(&str, &str)>) -> Value {
        let mut request = self.http.post(format!("http://{}/v1/oauth2/token", self.running.addr)).form(form);
        if let Some((id, secret)) = basic {
            request = request.basic_auth(id, Some(secret));
        }
        request.send().await.unwrap().json().await.unwrap()
    }

    async fn get(&self, path: &str) -> Response {
        let url = format!("http://{}/v2{path}", self.running.addr);
        self.http.get(url).bearer_auth(&self.token).send().await.unwrap()
    }
}

#[tokio::test]
async fn requests_are_validated_like_tidal_does() {
    let many = (0..21).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let long = "x".repeat(257);
    let cases = [
        ("/searchResults/hey%20jude", 400, "INVALID_RESOURCE_ID"),
        ("/searchResults?query=low", 400, "MISSING_REQUIRED_PARAMETER"),
        (&format!("/searchResults?filter[query]={long}"), 400, "INVALID_REQUEST"),
        ("/searchResults?filter[query]=low", 200, ""),
        ("/searchResults?filter%5Bquery%5D=low&include=tracks", 200, ""),
        ("/searchResults?filter[query]=low&include=tracks.lovers", 400, "INVALID_REQUEST"),
        ("/searchResults?filter[query]=low&include=tracks.albums.artists.albums", 400, "INVALID_REQUEST"),
        ("/searchResults?filter[query]=low&filter[mood]=blue", 400, "INVALID_REQUEST"),
        ("/albums/2001?sort=title", 400, "INVALID_REQUEST"),
        ("/albums/2005?countryCode=US", 404, "NOT_FOUND"),
        ("/albums/2005?countryCode=NO", 200, ""),
        ("/albums/2001/relationships/items?page[cursor]=zzz", 400, "INVALID_REQUEST"),
        (&format!("/tracks?filter[id]={many}"), 400, "INVALID_REQUEST"),
        ("/tracks", 400, "MISSING_REQUIRED_PARAMETER"),
        ("/tracks?filter[isrc]=XTDBL2600011,XTDBL2600012", 200, ""),
        ("/tracks?filter[isrc]=XTDBL2600011&filter[isrc]=XTDBL2600012", 200, ""),
        ("/albums?filter[barcodeId]=00005000002001", 200, ""),
        ("/lyrics/1", 404, "NOT_FOUND"),
    ];
    for (path, status, code) in cases {
        let response = Caller::new().await.get(path).await;
        assert_eq!(response.status().as_u16(), status, "{path}");
        assert!(response.headers().contains_key("x-ratelimit-remaining"), "{path}");
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["errors"][0]["code"].as_str().unwrap_or_default(), code, "{path}");
    }
}

#[tokio::test]
async fn relationships_are_included_only_on_request() {
    let caller = Caller::new().await;
    let plain: Value = caller.get("/albums/2001").await.json().await.unwrap();
    assert_eq!(plain["data"]["relationships"], Value::Null);
    let with_items: Value = caller.get("/albums/2002?include=items").await.json().await.unwrap();
    let relationships = with_items["data"]["relationships"].as_object().unwrap();
    assert_eq!(relationships.keys().collect::<Vec<_>>(), ["items"]);
    let items = &relationships["items"];
    assert_eq!(items["data"].as_array().unwrap().len(), 20);
    let next = items["links"]["next"].as_str().unwrap();
    assert!(next.starts_with("/albums/2002/relationships/items?") && !next.contains("include"), "{next}");
    assert!(next.contains(items["links"]["meta"]["nextCursor"].as_str().unwrap()), "{next}");
}

#[tokio::test]
async fn included_is_out_of_order_with_repeats_and_omissions() {
    let caller = Caller::new().await;
    let document: Value = caller.get("/albums/2006?include=artists,items.artists").await.json().await.unwrap();
    let ids = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|it| format!("{}/{}", it["type"], it["id"]).replace('"', "")).collect()
    };
    let (listed, included) = (ids(&document["data"]["relationships"]["items"]["data"]), ids(&document["included"]));
    assert!(!included.contains(&listed[2]), "{included:?} lacks the withheld track");
    assert!(!included.contains(&"artists/1003".to_owned()), "{included:?} lacks the withheld artist");
    let place = |id: &String| included.iter().position(|it| it == id);
    assert!(place(&listed[1]) < place(&listed[0]), "{included:?}");
    assert!(included.iter().any(|id| included.iter().filter(|it| *it == id).count() > 1), "{included:?}");
}

#[tokio::test]
async fn two_quick_calls_are_answered_and_the_third_is_not() {
    let caller = Caller::new().await;
    let mut got = vec![];
    for _ in 0..3 {
        let response = caller.get("/albums/2001").await;
        let remaining = response.headers()["x-ratelimit-remaining"].to_str().unwrap().to_owned();
        assert!(!response.headers().contains_key("retry-after"));
        got.push((response.status().as_u16(), remaining));
    }
    assert_eq!(got, [(200, "5".into()), (200, "0".into()), (429, "0".into())]);
}

#[tokio::test]
async fn tokens_are_issued_for_both_forms_of_the_right_secret() {
    let caller = Caller::new().await;
    let grant = ("grant_type", "client_credentials");
    let granted = caller.token_for(&[grant], Some(("demo", "demo-secret"))).await;
    assert_eq!((&granted["token_type"], &granted["expires_in"]), (&json!("Bearer"), &json!(14400)));
    let refused = caller.token_for(&[grant, ("client_id", "demo"), ("client_secret", "x")], None).await;
    assert_eq!((&refused["error"], &refused["status"]), (&json!("invalid_client"), &json!(401)));
    let forged = Caller { token: "stolen".into(), ..caller };
    assert_eq!(forged.get("/albums/2001").await.status(), 401);
}

#[tokio::test]
async fn large_responses_are_compressed_on_request() {
    let caller = Caller::new().await;
    let http = Client::builder().no_gzip().build().unwrap();
    let url = format!("http://{}/v2/albums/2001?include=items", caller.running.addr);
    let request = http.get(url).bearer_auth(&caller.token).header("accept-encoding", "gzip");
    assert_eq!(request.send().await.unwrap().headers()["content-encoding"], "gzip");
}

#[tokio::test]
async fn faults_are_switched_by_the_admin_routes() {
    let caller = Caller::new().await;
    let switch = format!("http://{}/_double/faults", caller.running.addr);
    let plan = json!({"fault": {"status": 429}, "retryAfter": "7", "times": 1});
    assert_eq!(caller.http.post(&switch).json(&plan).send().await.unwrap().status(), 204);
    let refused = caller.get("/albums/2001").await;
    assert_eq!((refused.status().as_u16(), &refused.headers()["retry-after"]), (429, &"7".parse().unwrap()));
    assert_eq!(caller.get("/albums/2001").await.status(), 200);
    let plan = json!({"fault": {"status": 503}});
    caller.http.post(&switch).json(&plan).send().await.unwrap();
    assert_eq!(caller.get("/albums/2001").await.status(), 503);
    caller.http.delete(&switch).send().await.unwrap();
    assert_eq!(caller.get("/albums/2001").await.status(), 200);
}
