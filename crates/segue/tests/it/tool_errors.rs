//! Failed and partial tool calls: the status of a direct call, and the notes in its output.

use doubles::{
    Running, fiction, serve,
    tidal::{CLIENT_ID, CLIENT_SECRET, Fault, Limits, TidalDouble},
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{TestApp, World};

struct Stage {
    app: TestApp,
    tidal: TidalDouble,
    _running: Running,
}

impl Stage {
    async fn new() -> Self {
        Self::with(&[]).await
    }

    async fn with(settings: &[(&'static str, &str)]) -> Self {
        let tidal = TidalDouble::new(fiction::world(), Limits::GENEROUS);
        let running = serve(tidal.router()).await.unwrap();
        let (api, auth) = (format!("http://{}/v2", running.addr), format!("http://{}/v1", running.addr));
        let catalogue = [
            ("TIDAL_CLIENT_ID", CLIENT_ID),
            ("TIDAL_CLIENT_SECRET", CLIENT_SECRET),
            ("TIDAL_API_URL", api.as_str()),
            ("TIDAL_AUTH_URL", auth.as_str()),
        ];
        Self {
            app: TestApp::start(World::new().await, [], &[&catalogue, settings].concat()).await,
            tidal,
            _running: running,
        }
    }

    async fn tool(&self, name: &str, input: Value) -> (u16, Value) {
        self.app.answer(Method::POST, &format!("/api/tools/{name}"), Some(input)).await
    }
}

#[tokio::test]
async fn the_status_of_a_failed_call_tells_who_can_act_on_it() {
    let stage = Stage::new().await;
    let unknown = uuid::Uuid::new_v4().to_string();
    let album = json!({"albumId": "404404"});
    let search = json!({"query": "Ivy Marlow", "searchType": "tracks"});
    let cases = [
        ("add_task", json!({"title": ""}), None, 400, "VALIDATION_ERROR", false),
        ("complete_task", json!({"task_id": unknown}), None, 404, "NOT_FOUND", false),
        ("delete_task", json!({"task_id": "7"}), None, 404, "NOT_FOUND", false),
        ("albumTracks", album.clone(), None, 404, "NOT_FOUND", false),
        ("tidalSearch", search.clone(), Some(403), 502, "TOOL_UNAVAILABLE", false),
        ("tidalSearch", search.clone(), Some(503), 503, "TOOL_UNAVAILABLE", true),
    ];
    for (tool, input, fault, status, code, retryable) in cases {
        stage.tidal.always(fault.map(|code| Fault::Status { code }));
        let (got, answer) = stage.tool(tool, input).await;
        assert_eq!((got, &answer["error"]["code"]), (status, &json!(code)), "{tool} {fault:?}: {answer}");
        assert_eq!((&answer["retryable"], &answer["wasRetried"]), (&json!(retryable), &json!(retryable)), "{answer}");
    }
    let away = stage.app.post("/api/tools/tidalSearch", search).await;
    assert_eq!((away.status().as_u16(), away.headers()["retry-after"].to_str().unwrap()), (503, "5"));
}

#[tokio::test]
async fn an_incomplete_tidal_search_says_so() {
    let stage = Stage::new().await;
    stage.tidal.plan([None, Some(Fault::Status { code: 503 })]);
    let search = json!({"query": "small hour", "searchType": "tracks", "limit": 60});
    let (status, found) = stage.tool("tidalSearch", search.clone()).await;
    assert_eq!((status, &found["isIncomplete"]), (200, &json!(true)), "{found}");
    assert_eq!(found["summary"], "Found 20 tracks for 'small hour'; Tidal had more, but did not deliver it in time");
    let (_, whole) = stage.tool("tidalSearch", search).await;
    assert_eq!((&whole["summary"], whole.get("isIncomplete")), (&json!("Found 60 tracks for 'small hour'"), None));
}

#[tokio::test]
async fn a_query_that_is_too_long_for_tidal_is_cut_and_the_summary_says_so() {
    let stage = Stage::new().await;
    let query = "salt rope ".repeat(40).trim_end().to_owned();
    let (status, found) = stage.tool("tidalSearch", json!({"query": query, "searchType": "both"})).await;
    assert_eq!(status, 200, "{found}");
    let searched_for = found["searchedFor"].as_str().unwrap();
    assert_eq!(searched_for, query[..254].trim_end());
    let summary = found["summary"].as_str().unwrap();
    assert!(summary.ends_with("; Tidal was asked for the first 254 characters only"), "{summary}");
    let (_, short) = stage.tool("tidalSearch", json!({"query": " marlow ", "searchType": "tracks"})).await;
    assert_eq!(short.get("searchedFor"), None);
    let too_long = json!({"query": "x".repeat(501), "searchType": "tracks"});
    assert_eq!(stage.tool("tidalSearch", too_long).await.0, 400);
}

#[tokio::test]
async fn a_search_without_results_succeeds_and_says_so() {
    let stage = Stage::new().await;
    for (kind, summary) in [
        ("tracks", "No tracks found for 'qxzvwqpl'"),
        ("albums", "No albums found for 'qxzvwqpl'"),
        ("both", "No albums or tracks found for 'qxzvwqpl'"),
    ] {
        let (status, found) = stage.tool("tidalSearch", json!({"query": "qxzvwqpl", "searchType": kind})).await;
        assert_eq!((status, &found["summary"]), (200, &json!(summary)));
        assert_eq!(found["totalFound"], json!({"tracks": 0, "albums": 0}));
    }
    let (status, found) = stage.tool("semanticSearch", json!({"query": "qxzvwqpl"})).await;
    assert_eq!((status, &found["summary"]), (200, &json!("No tracks found matching 'qxzvwqpl'")));
    assert_eq!((&found["tracks"], &found["totalFound"]), (&json!([]), &json!(0)));
    let (status, batch) = stage.tool("batchMetadata", json!({"isrcs": ["XSGUE2699998", "XSGUE2699999"]})).await;
    assert_eq!((status, &batch["tracks"], &batch["found"]), (200, &json!([]), &json!([])));
    assert_eq!(batch["notFound"], json!(["XSGUE2699998", "XSGUE2699999"]));
    let (status, wrong) = stage.tool("tidalSearch", json!({"query": "x", "searchType": "artists"})).await;
    assert_eq!((status, &wrong["error"]["code"]), (400, &json!("VALIDATION_ERROR")), "searchType is one of three");
}

#[tokio::test]
async fn the_summary_of_an_album_has_its_number_of_tracks() {
    let stage = Stage::new().await;
    let (_, found) = stage.tool("tidalSearch", json!({"query": "Ivy Marlow", "searchType": "albums"})).await;
    let album = &found["albums"][0];
    for field in ["id", "title", "artist", "trackCount", "inLibrary"] {
        assert!(!album[field].is_null(), "{field}: {album}");
    }
    let (status, opened) = stage.tool("albumTracks", json!({"albumId": album["id"]})).await;
    let n_tracks = opened["tracks"].as_array().unwrap().len();
    assert_eq!((status, &opened["albumTitle"], &opened["albumId"]), (200, &album["title"], &album["id"]));
    assert_eq!(opened["summary"], format!("{} has {n_tracks} tracks", album["title"].as_str().unwrap()));
    let artwork = opened["tracks"][0]["artworkUrl"].as_str().or(found["albums"][0]["artworkUrl"].as_str());
    assert!(artwork.is_some(), "the album has a cover: {opened}");
}

#[tokio::test]
async fn an_index_that_does_not_answer_is_reported_after_one_retry() {
    let app = TestApp::start(World::new().await, [], &[("QDRANT_URL", "http://127.0.0.1:9")]).await;
    let message = "Vector search service is temporarily unavailable";
    for (method, path, body) in [
        (Method::POST, "/api/tools/semanticSearch", Some(json!({"query": "rain"}))),
        (Method::GET, "/api/search?q=rain", None),
    ] {
        let (status, answer) = app.answer(method, path, body).await;
        assert_eq!((status, &answer["error"]["message"]), (503, &json!(message)), "{answer}");
        assert_eq!(
            (&answer["error"]["code"], &answer["retryable"], &answer["wasRetried"]),
            (&json!("TOOL_UNAVAILABLE"), &json!(false), &json!(true))
        );
    }
}

#[tokio::test]
async fn an_update_requires_a_title_or_a_description() {
    let app = TestApp::scripted([]).await;
    let (_, task) = app.answer(Method::POST, "/api/tasks", Some(json!({"title": "strings"}))).await;
    let id = &task["id"];
    let update = async |input: Value| app.answer(Method::POST, "/api/tools/update_task", Some(input)).await;
    let (status, refused) = update(json!({"task_id": id})).await;
    let message = "Give a new title, a new description, or both";
    assert_eq!((status, &refused["error"]["message"]), (400, &json!(message)));
    let (status, changed) = update(json!({"task_id": id, "title": "ropes", "description": "two of them"})).await;
    assert_eq!((status, &changed["title"], &changed["description"]), (200, &json!("ropes"), &json!("two of them")));
    assert_eq!(changed["summary"], "Updated 'ropes'");
}

#[tokio::test]
async fn a_flag_that_cannot_be_determined_is_an_error() {
    let stage = Stage::with(&[("QDRANT_URL", "http://127.0.0.1:9")]).await;
    // Tracks of this user may be indexed, so the index must be asked. Other tracks are not indexed for this user.
    let file = "Title,Artist,ISRC\nHarbour Lights,Ivy Marlow,XTDBL2600001\n";
    let added = stage.app.import("own.csv", file.into()).await;
    assert_eq!(added.0, 201, "{added:?}");
    let (status, answer) = stage.tool("tidalSearch", json!({"query": "Ivy Marlow", "searchType": "tracks"})).await;
    assert_eq!((status, &answer["error"]["code"]), (503, &json!("TOOL_UNAVAILABLE")), "{answer}");
    assert_eq!(answer.get("tracks"), None);
}
