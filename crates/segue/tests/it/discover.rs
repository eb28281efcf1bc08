//! Discover over HTTP: the collection, the catalogue, and the flags `inLibrary` and `isIndexed`.

use doubles::{
    Running, fiction, serve,
    tidal::{CLIENT_ID, CLIENT_SECRET, Fault, Limits, TidalDouble},
};
use engine::{
    Block, UserId,
    script::{calls, says},
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{TestApp, World, story};

/// A server with the sample library, and a test catalogue.
struct Stage {
    app: TestApp,
    tidal: TidalDouble,
    _running: Running,
}

impl Stage {
    async fn new() -> Self {
        let tidal = TidalDouble::new(fiction::world(), Limits::GENEROUS);
        let running = serve(tidal.router()).await.unwrap();
        let (api, auth) = (format!("http://{}/v2", running.addr), format!("http://{}/v1", running.addr));
        let settings = [
            ("TIDAL_CLIENT_ID", CLIENT_ID),
            ("TIDAL_CLIENT_SECRET", CLIENT_SECRET),
            ("TIDAL_API_URL", api.as_str()),
            ("TIDAL_AUTH_URL", auth.as_str()),
        ];
        let app = TestApp::start(World::new().await, [], &settings).await;
        load_sample(&app).await;
        Self { app, tidal, _running: running }
    }

    async fn tool(&self, name: &str, input: Value) -> (u16, Value) {
        self.app.answer(Method::POST, &format!("/api/tools/{name}"), Some(input)).await
    }
}

async fn load_sample(app: &TestApp) {
    app.app.library().load_sample(&app::Operator::of_this_machine(), &UserId::new("local")).await.unwrap();
    app.app.catch_up().await.unwrap();
}

fn codes(tracks: &Value) -> Vec<&str> {
    tracks.as_array().unwrap().iter().map(|track| track["isrc"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_mood_finds_tracks_with_score_flags_and_reasons() {
    let stage = Stage::new().await;
    let (status, found) = stage.tool("semanticSearch", json!({"query": "rainy night drive", "limit": 10})).await;
    assert_eq!(status, 200, "{found}");
    let tracks = found["tracks"].as_array().unwrap();
    assert!((3..=10).contains(&tracks.len()));
    assert!(found["totalFound"].as_u64().unwrap() >= tracks.len() as u64, "all that match");
    assert_eq!(found["summary"], format!("Found {} tracks matching 'rainy night drive'", tracks.len()));
    let scores: Vec<f64> = tracks.iter().map(|track| track["score"].as_f64().unwrap()).collect();
    assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)) && scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    let owned = codes(&stage.app.get("/api/library/tracks?limit=200").await["tracks"]).join(" ");
    for track in tracks {
        assert_eq!(track["isIndexed"], true);
        assert_eq!(track["inLibrary"], owned.contains(track["isrc"].as_str().unwrap()), "{track}");
        assert!(track["interpretation"].is_string() && track["audioFeatures"].is_object(), "the output is complete");
        assert!(track["why"].is_object());
    }
    let (_, nothing) = stage.tool("semanticSearch", json!({"query": "qxzv wqpl zzkj"})).await;
    assert_eq!(nothing["tracks"], json!([]));
}

#[tokio::test]
async fn a_search_without_results_is_reworded_by_the_model() {
    let settings = [("SEGUE_MODEL", "anthropic:some"), ("ANTHROPIC_API_KEY", "k")];
    let app =
        TestApp::start(World::new().await, [says("1. rainy night drive\n2. neon streets in the rain")], &settings)
            .await;
    load_sample(&app).await;
    let search = async |query: &str| {
        let (status, found) =
            app.answer(Method::POST, "/api/tools/semanticSearch", Some(json!({"query": query, "limit": 5}))).await;
        assert_eq!(status, 200, "{found}");
        found
    };
    let found = search("qxzv wqpl zzkj").await;
    let best = found["tracks"][0]["score"].as_f64().unwrap();
    assert!(best >= 0.25, "{best}");
    assert_eq!(app.model.asked().len(), 1);
    search("rainy night drive").await;
    assert_eq!(search("qxzv wqpl zzkj").await["tracks"], found["tracks"]);
    assert_eq!(app.model.asked().len(), 1, "the model is asked once, only for a search without results");
}

#[tokio::test]
async fn invalid_inputs_are_rejected_with_the_messages_of_the_contract() {
    let stage = Stage::new().await;
    let too_many: Vec<String> = (0..101).map(|n| format!("XSGUE26{n:05}")).collect();
    let cases = [
        ("semanticSearch", json!({"query": "  "}), "Query cannot be empty"),
        ("semanticSearch", json!({"query": "x".repeat(2001)}), "Query must be at most 2000 characters"),
        ("semanticSearch", json!({"query": "x", "limit": 51}), "limit must be between 1 and 50"),
        ("tidalSearch", json!({"query": "", "searchType": "both"}), "Query cannot be empty"),
        ("tidalSearch", json!({"query": "x", "searchType": "tracks", "limit": 101}), "limit must be between 1 and 100"),
        ("batchMetadata", json!({"isrcs": []}), "At least one ISRC required"),
        (
            "batchMetadata",
            json!({"isrcs": too_many}),
            "Request exceeds maximum of 100 ISRCs. Please split into multiple requests.",
        ),
        ("suggestPlaylist", json!({"title": "x", "tracks": []}), "A playlist has 1 to 50 tracks"),
    ];
    for (tool, input, message) in cases {
        let (status, answer) = stage.tool(tool, input).await;
        assert_eq!((status, answer["error"]["message"].as_str()), (400, Some(message)), "{tool}");
        assert_eq!((&answer["retryable"], &answer["wasRetried"]), (&json!(false), &json!(false)));
    }
}

#[tokio::test]
async fn a_batch_lists_found_missing_and_invalid_codes() {
    let stage = Stage::new().await;
    let asked = ["xs-gue-26-00001", "XSGUE2600002", "XSGUE2699999", "not a code"];
    let (status, answer) = stage.tool("batchMetadata", json!({"isrcs": asked})).await;
    assert_eq!(status, 200);
    assert_eq!(answer["found"], json!(["xs-gue-26-00001", "XSGUE2600002"]));
    assert_eq!(answer["notFound"], json!(["XSGUE2699999", "not a code"]));
    assert_eq!(answer["invalid"][0]["isrc"], "not a code");
    assert_eq!(codes(&answer["tracks"]), ["XSGUE2600001", "XSGUE2600002"]);
    assert_eq!(answer["summary"], "Retrieved metadata for 2 of 4 requested tracks");
}

#[tokio::test]
async fn a_catalogue_search_has_current_flags() {
    let stage = Stage::new().await;
    let search = json!({"query": "Ivy Marlow", "searchType": "both", "limit": 5});
    let (status, before) = stage.tool("tidalSearch", search.clone()).await;
    assert_eq!(status, 200, "{before}");
    let totals = (before["totalFound"]["albums"].as_u64().unwrap(), before["totalFound"]["tracks"].as_u64().unwrap());
    let plural = |n: u64, thing: &str| if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") };
    let summary = format!("Found {} and {} for 'Ivy Marlow'", plural(totals.0, "album"), plural(totals.1, "track"));
    assert_eq!(before["summary"], summary);
    let first = before["tracks"][0].clone();
    assert_eq!((&first["inLibrary"], &first["isIndexed"]), (&json!(false), &json!(false)));
    assert!(first["tidalId"].is_string());

    let (status, _) = stage.app.answer(Method::POST, "/api/library/tracks", Some(json!({"isrc": first["isrc"]}))).await;
    assert_eq!(status, 201);
    let album = before["albums"][0]["id"].clone();
    let (status, _) = stage.app.answer(Method::POST, "/api/library/albums", Some(json!({"albumId": album}))).await;
    assert_eq!(status, 201);
    let (_, after) = stage.tool("tidalSearch", search).await;
    assert_eq!(after["tracks"][0]["inLibrary"], true);
    assert_eq!(after["albums"][0]["inLibrary"], true);

    let (status, tracks) = stage.tool("albumTracks", json!({"albumId": album})).await;
    assert_eq!(status, 200);
    assert!(
        tracks["tracks"].as_array().unwrap().iter().all(|track| track["inLibrary"] == true),
        "tracks of a saved album"
    );
    let removed = format!("/api/library/albums/{}", album.as_str().unwrap());
    assert_eq!(stage.app.answer(Method::DELETE, &removed, None).await.0, 204);
    let (_, without) = stage.tool("albumTracks", json!({"albumId": album})).await;
    assert!(without["tracks"].as_array().unwrap().iter().any(|track| track["inLibrary"] == false));
}

#[tokio::test]
async fn without_credentials_the_catalogue_tools_answer_not_configured() {
    let app = TestApp::scripted([]).await;
    let search = json!({"query": "Ivy Marlow", "searchType": "tracks"});
    let (status, answer) = app.answer(Method::POST, "/api/tools/tidalSearch", Some(search)).await;
    assert_eq!(
        (status, &answer["error"]["code"], &answer["retryable"]),
        (409, &json!("NOT_CONFIGURED"), &json!(false))
    );
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("not configured") && message.contains("indexed collection"), "{message}");
}

#[tokio::test]
async fn an_outage_of_the_catalogue_is_retried_once_and_the_agent_falls_back() {
    let stage = Stage::new().await;
    stage.tidal.always(Some(Fault::Status { code: 503 }));
    stage.app.model.play([
        says("Let me look.").calls("tidalSearch", json!({"query": "Ivy Marlow", "searchType": "tracks"})),
        says("Tidal is away; searching your collection.")
            .calls("semanticSearch", json!({"query": "harbour", "limit": 1})),
        says("Found one."),
    ]);
    let frames = stage.app.chat(json!({"message": "Ivy Marlow?"})).await;
    let story = story(&frames);
    let error = "fails \"Tidal service is temporarily unavailable. Try searching your indexed collection instead.\" \
                 retryable=true wasRetried=true";
    assert!(story.contains(error), "{story}");
    assert!(story.contains("gets Found 1 track matching 'harbour' [1]"), "{story}");
}

#[tokio::test]
async fn a_playlist_contains_only_existing_tracks_and_can_be_exported() {
    let stage = Stage::new().await;
    let (_, found) =
        stage.tool("tidalSearch", json!({"query": "Paper Lanterns", "searchType": "tracks", "limit": 1})).await;
    let new = found["tracks"][0]["isrc"].as_str().unwrap();
    let tracks = json!([
        {"isrc": "XSGUE2600001", "reasoning": "to begin, \"softly\""},
        {"isrc": new, "reasoning": "something new"},
        {"isrc": "XSGUE2699999", "reasoning": "invented"},
        {"isrc": "no code at all", "reasoning": "invented"},
    ]);
    let (status, playlist) = stage.tool("suggestPlaylist", json!({"title": "Slow = Sunday", "tracks": tracks})).await;
    assert_eq!(status, 200, "{playlist}");
    assert_eq!(codes(&playlist["tracks"]), ["XSGUE2600001", new]);
    assert_eq!(playlist["unknown"], json!(["XSGUE2699999", "no code at all"]));
    assert_eq!(playlist["tracks"][1]["isIndexed"], false);

    let list = stage.app.get("/api/playlists").await;
    assert_eq!(
        (&list["playlists"][0]["title"], &list["playlists"][0]["trackCount"]),
        (&json!("Slow = Sunday"), &json!(2))
    );
    let path = format!("/api/playlists/{}", playlist["id"].as_str().unwrap());
    let open = stage.app.get(&path).await;
    assert_eq!(open["tracks"][0]["reasoning"], "to begin, \"softly\"");
    for (format, beginning) in [("m3u8", "#EXTM3U"), ("xspf", "<?xml"), ("jspf", "{"), ("csv", "")] {
        let (status, file) = stage.app.answer(Method::GET, &format!("{path}?format={format}"), None).await;
        let text = file.as_str().map_or_else(|| file.to_string(), str::to_owned);
        assert!(status == 200 && text.starts_with(beginning) && text.contains("XSGUE2600001"), "{format}: {text}");
    }
    assert_eq!(stage.app.answer(Method::GET, &format!("{path}?format=pls"), None).await.0, 400);
    assert_eq!(stage.app.answer(Method::DELETE, &path, None).await.0, 204);
    assert_eq!(stage.app.answer(Method::GET, &path, None).await.0, 404);
}

#[tokio::test]
async fn a_model_reads_compact_results_and_gets_full_lyrics_only_on_request() {
    let stage = Stage::new().await;
    stage.app.model.play([calls("semanticSearch", json!({"query": "winter", "limit": 20})), says("Here.")]);
    let frames = stage.app.chat(json!({"message": "winter songs"})).await;
    let full = frames.iter().find(|frame| frame["type"] == "tool_call_end").unwrap()["output"].to_string();
    let asked = stage.app.model.asked();
    let last = asked.last().unwrap().messages.last().unwrap();
    let read = last.content.iter().find_map(|block| match block {
        Block::ToolResult { content, .. } => Some(content.as_str().map_or_else(|| content.to_string(), str::to_owned)),
        _ => None,
    });
    let read = read.unwrap();
    assert!(read.len() * 10 <= full.len() * 3, "{} of {} characters", read.len(), full.len());
    assert!(read.contains("shortDescription") && !read.contains("lyrics"));
}

/// The tracks that a search within a conversation finds.
async fn found_in(stage: &Stage, conversation: &mut Value, query: &str, limit: u32) -> Vec<Value> {
    stage.app.model.play([calls("semanticSearch", json!({"query": query, "limit": limit})), says("Here.")]);
    let mut message = json!({"message": "music"});
    if !conversation.is_null() {
        message["conversationId"] = conversation.clone();
    }
    let frames = stage.app.chat(message).await;
    *conversation = frames[0]["conversationId"].clone();
    let ended = frames.iter().find(|frame| frame["type"] == "tool_call_end").unwrap();
    ended["output"]["tracks"].as_array().unwrap().clone()
}

#[tokio::test]
async fn tracks_of_an_artist_that_was_liked_in_the_conversation_come_earlier() {
    let stage = Stage::new().await;
    let mut conversation = Value::Null;
    let before = found_in(&stage, &mut conversation, "rainy night", 20).await;
    let artist = before.last().unwrap()["artist"].as_str().unwrap().to_owned();
    let liked = found_in(&stage, &mut conversation, &artist, 1).await;
    assert_eq!(liked[0]["artist"].as_str(), Some(artist.as_str()));
    let again = found_in(&stage, &mut conversation, "rainy night", 20).await;
    assert_eq!(again, before, "what was only shown was not liked");
    let stored = stage.app.get(&format!("/api/conversations/{}", conversation.as_str().unwrap())).await;
    let answer = stored["messages"][3]["id"].as_str().unwrap();
    let item = format!("{answer}.0");
    let opinion = json!({"thread_id": conversation, "item_ids": [item], "kind": "positive"});
    let request = json!({"type": "items.feedback", "params": opinion});
    let (status, body) = stage.app.answer(Method::POST, "/chatkit", Some(request)).await;
    assert_eq!(status, 200, "{body}");
    let place = |tracks: &[Value]| tracks.iter().position(|track| track["artist"] == artist.as_str()).unwrap();
    let after = found_in(&stage, &mut conversation, "rainy night", 20).await;
    assert!(place(&after) < place(&before), "{} {}", place(&after), place(&before));
    let told = after[place(&after)]["rankedBy"].to_string();
    assert!(told.contains("artist liked before"), "{told}");
}

#[tokio::test]
async fn the_library_is_listed_sorted_and_searched_and_reloading_the_sample_changes_nothing() {
    let stage = Stage::new().await;
    let all = stage.app.get("/api/library/tracks?limit=200&sort=title").await;
    let n_owned = all["total"].as_u64().unwrap();
    assert_eq!(all["tracks"].as_array().unwrap().len() as u64, n_owned);
    let titles: Vec<_> =
        all["tracks"].as_array().unwrap().iter().map(|t| t["title"].as_str().unwrap().to_lowercase()).collect();
    assert!(stage.app.app.database_kind() == "postgres" || titles.is_sorted(), "PostgreSQL sorts by its collation");
    let page = stage.app.get("/api/library/tracks?limit=7&sort=artist").await;
    assert_eq!((page["tracks"].as_array().unwrap().len(), &page["next"]), (7, &json!(7)));

    let isrc = all["tracks"][0]["isrc"].as_str().unwrap();
    let title = all["tracks"][0]["title"].as_str().unwrap();
    let found = stage
        .app
        .get(&format!("/api/library/tracks?q={}", title.replace(' ', "%20").replace('#', "%23").replace('&', "%26")))
        .await;
    assert!(codes(&found["tracks"]).contains(&isrc));
    let path = format!("/api/library/tracks/{isrc}");
    assert_eq!(stage.app.answer(Method::DELETE, &path, None).await.0, 204);
    load_sample(&stage.app).await;
    assert_eq!(stage.app.get("/api/library/tracks").await["total"], n_owned - 1, "a removed track stays removed");
    let details = stage.app.get(&path).await;
    assert_eq!((&details["inLibrary"], &details["isIndexed"]), (&json!(false), &json!(true)));
    assert_eq!(stage.app.answer(Method::POST, &format!("{path}/restore"), None).await.0, 200);
    assert_eq!(stage.app.get("/api/library/tracks").await["total"], n_owned);
    let unknown = stage.app.answer(Method::POST, "/api/library/tracks", Some(json!({"isrc": "ZZZZZ9999999"}))).await;
    assert_eq!(unknown.0, 404);
}

#[tokio::test]
async fn an_album_is_opened_without_reading_the_others() {
    let stage = Stage::new().await;
    let (_, found) = stage.tool("tidalSearch", json!({"query": "Ivy Marlow", "searchType": "albums"})).await;
    let ids: Vec<_> =
        found["albums"].as_array().unwrap().iter().take(2).map(|album| album["id"].as_str().unwrap()).collect();
    let [one, other] = ids[..] else { panic!("two albums are found: {found}") };
    for id in [one, other] {
        let (status, _) = stage.app.answer(Method::POST, "/api/library/albums", Some(json!({"albumId": id}))).await;
        assert_eq!(status, 201);
    }
    stage.app.world.execute(&format!("UPDATE library_albums SET album = '{{}}' WHERE album_id = '{other}'")).await;
    let album = stage.app.get(&format!("/api/library/albums/{one}")).await;
    assert_eq!(album["id"], one);
    assert!(!album["tracks"].as_array().unwrap().is_empty());
    assert_eq!(stage.app.answer(Method::GET, "/api/library/albums/none", None).await.0, 404);
}

#[tokio::test]
async fn albums_are_paged_and_a_saved_one_hides_the_same_album_of_tracks_on_every_page() {
    let stage = Stage::new().await;
    let (_, found) = stage.tool("tidalSearch", json!({"query": "Ivy Marlow", "searchType": "albums"})).await;
    let saved = &found["albums"].as_array().unwrap()[..2];
    let mut lines = String::from("Title,Artist,Album\n");
    for (n, name) in [&Value::Null, &saved[0], &Value::Null, &saved[1], &Value::Null].into_iter().enumerate() {
        let (title, artist) = (name["title"].as_str().unwrap_or("Own"), name["artist"].as_str().unwrap_or("Band"));
        lines += &format!("Song {n},{artist},{title}{}\n", if name.is_null() { n.to_string() } else { String::new() });
    }
    let (status, report) = stage.app.import("albums.csv", lines.into_bytes()).await;
    assert_eq!(status, 201, "{report}");
    for album in saved {
        let (status, _) =
            stage.app.answer(Method::POST, "/api/library/albums", Some(json!({"albumId": album["id"]}))).await;
        assert_eq!(status, 201);
    }
    let whole = stage.app.get("/api/library/albums").await["albums"].as_array().unwrap().clone();
    for album in saved {
        assert_eq!(whole.iter().filter(|listed| listed["title"] == album["title"]).count(), 1, "{whole:?}");
    }
    for limit in 1..=whole.len() {
        let mut listed = vec![];
        let mut next = Some(json!(0));
        while let Some(cursor) = next.take() {
            let page = stage.app.get(&format!("/api/library/albums?limit={limit}&cursor={cursor}")).await;
            assert!(page["albums"].as_array().unwrap().len() <= limit, "{page}");
            listed.extend(page["albums"].as_array().unwrap().clone());
            next = page.get("next").cloned();
        }
        assert_eq!(listed, whole, "in pages of {limit}");
    }
}

#[tokio::test]
async fn a_removed_album_is_in_the_trash_until_it_is_restored_or_erased() {
    let stage = Stage::new().await;
    let (_, found) = stage.tool("tidalSearch", json!({"query": "Ivy Marlow", "searchType": "albums"})).await;
    let albums = &found["albums"].as_array().unwrap()[..2];
    let ids: Vec<_> = albums.iter().map(|album| album["id"].as_str().unwrap()).collect();
    let call = async |method: Method, path: String| stage.app.answer(method, &path, None).await.0;
    for id in &ids {
        let (status, _) = stage.app.answer(Method::POST, "/api/library/albums", Some(json!({"albumId": id}))).await;
        assert_eq!(status, 201);
        assert_eq!(call(Method::DELETE, format!("/api/library/albums/{id}")).await, 204);
    }
    // Removed at the same moment as a task, in pages of one: each is listed once.
    let (_, task) = stage.app.answer(Method::POST, "/api/tasks", Some(json!({"title": "sweep"}))).await;
    let task = task["id"].as_str().unwrap();
    assert_eq!(call(Method::DELETE, format!("/api/tasks/{task}")).await, 204);
    let same = "(SELECT deleted_at FROM tasks WHERE deleted_at IS NOT NULL)";
    stage.app.world.execute(&format!("UPDATE library_albums SET removed_at = {same}")).await;
    let (mut listed, mut next) = (vec![], String::new());
    loop {
        let page = stage.app.get(&format!("/api/trash?limit=1{next}")).await;
        listed.extend(page["items"].as_array().unwrap().clone());
        let Some(cursor) = page["next"].as_str() else { break };
        next = format!("&cursor={cursor}");
    }
    let kinds: Vec<_> = listed.iter().map(|item| item["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "album").count(), 2, "{listed:?}");
    let album_ids = listed.iter().filter_map(|item| item["albumId"].as_str());
    let mut seen: Vec<_> = album_ids.collect();
    seen.sort_unstable();
    let mut removed = ids.clone();
    removed.sort_unstable();
    assert_eq!(seen, removed);
    let in_trash = |album: &str| listed.iter().find(|item| item["albumId"] == album).unwrap()["id"].as_str().unwrap();
    let [first, second] = [in_trash(ids[0]), in_trash(ids[1])];
    assert!(listed.len() == 3 && listed.iter().any(|item| item["detail"] == "Ivy Marlow"), "{listed:?}");

    assert_eq!(call(Method::POST, format!("/api/library/albums/{}/restore", ids[0])).await, 204);
    assert_eq!(call(Method::GET, format!("/api/library/albums/{}", ids[0])).await, 200);
    assert_eq!(call(Method::DELETE, format!("/api/trash/{first}")).await, 404, "it is not in the trash");
    assert_eq!(call(Method::DELETE, format!("/api/trash/{second}")).await, 204);
    assert_eq!(call(Method::POST, format!("/api/library/albums/{}/restore", ids[1])).await, 404);
    let items = stage.app.get("/api/trash").await["items"].as_array().unwrap().len();
    assert_eq!(items, 1, "the task");
}
