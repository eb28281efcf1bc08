//! Playlists: edits by users and agents, and their undo.

use std::fs;

use engine::script::{calls, says};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Person, TestApp, World, mp3};

const CODES: [&str; 5] = ["XSGUE2600001", "XSGUE2600002", "XSGUE2600003", "XSGUE2600004", "XSGUE2600005"];

/// A server with a library of five tracks.
struct Stage(TestApp);

impl Stage {
    async fn new() -> Self {
        let app = TestApp::start(World::new().await, [], &[]).await;
        let rows: String = CODES.iter().map(|code| format!("Song {},The Band,{code}\n", &code[10..])).collect();
        let (status, report) = app.import("library.csv", format!("Title,Artist,ISRC\n{rows}").into()).await;
        assert_eq!((status, &report["added"]), (201, &json!(5)), "{report}");
        Self(app)
    }

    async fn send(&self, method: Method, path: &str, body: Value) -> (u16, Value) {
        self.0.answer(method, path, Some(body)).await
    }

    /// Creates a playlist of these codes. Returns its path and the response.
    async fn playlist(&self, title: &str, codes: &[&str]) -> (String, Value) {
        let (status, made) =
            self.send(Method::POST, "/api/playlists", json!({"title": title, "trackIds": codes})).await;
        assert_eq!(status, 201, "{made}");
        (format!("/api/playlists/{}", made["id"].as_str().unwrap()), made)
    }

    async fn undo(&self, changed: &Value) -> (u16, Value) {
        let id = changed["undoId"].as_str().unwrap_or_else(|| panic!("no undoId in {changed}"));
        self.0.answer(Method::POST, &format!("/api/undo/{id}"), None).await
    }

    async fn codes(&self, path: &str) -> Vec<String> {
        codes(&self.0.get(path).await)
    }

    async fn tool(&self, name: &str, input: Value) -> (u16, Value) {
        self.send(Method::POST, &format!("/api/tools/{name}"), input).await
    }
}

fn codes(playlist: &Value) -> Vec<String> {
    let tracks = playlist["tracks"].as_array().unwrap_or_else(|| panic!("no tracks in {playlist}"));
    tracks.iter().map(|track| track["isrc"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_playlist_is_made_described_filled_arranged_copied_and_emptied_by_hand() {
    let stage = Stage::new().await;
    let (path, made) = stage.playlist("  Night drive ", &CODES[..2]).await;
    assert_eq!(
        (&made["title"], &made["description"], &made["revision"]),
        (&json!("Night drive"), &json!(""), &json!(1))
    );
    let (_, named) = stage.send(Method::PATCH, &path, json!({"title": "Day", "description": "Windows down"})).await;
    assert_eq!((&named["title"], &named["description"]), (&json!("Day"), &json!("Windows down")));
    let (status, cleared) = stage.send(Method::PATCH, &path, json!({"description": null})).await;
    assert_eq!((status, &cleared["title"], &cleared["description"]), (200, &json!("Day"), &json!("")));

    let tracks = format!("{path}/tracks");
    let (_, more) = stage.send(Method::POST, &tracks, json!({"trackIds": [CODES[2], CODES[3]], "at": 1})).await;
    assert_eq!(codes(&more), [CODES[0], CODES[2], CODES[3], CODES[1]]);
    let item = format!("{tracks}/{}", more["tracks"][1]["itemId"].as_str().unwrap());
    let (status, fewer) = stage.0.answer(Method::DELETE, &item, None).await;
    assert_eq!((status, codes(&fewer)), (200, vec![CODES[0].into(), CODES[3].into(), CODES[1].into()]));
    assert_eq!(stage.0.answer(Method::DELETE, &item, None).await.0, 404, "it is gone");

    let items =
        |list: &Value| list["tracks"].as_array().unwrap().iter().map(|t| t["itemId"].clone()).collect::<Vec<_>>();
    let order = json!({"trackIds": [CODES[1], CODES[4], CODES[0]]});
    let (status, arranged) = stage.send(Method::PUT, &tracks, order).await;
    assert_eq!((status, codes(&arranged)), (200, vec![CODES[1].into(), CODES[4].into(), CODES[0].into()]));
    assert_eq!(items(&arranged)[0], items(&fewer)[2], "a track that stays keeps its item id");

    let (status, copy) = stage.0.answer(Method::POST, &format!("{path}/duplicate"), None).await;
    assert_eq!((status, &copy["title"], codes(&copy)), (201, &json!("Day (copy)"), codes(&arranged)));
    assert!(items(&copy).iter().all(|id| !items(&arranged).contains(id)), "the copy has new item ids");
    let (_, emptied) = stage.send(Method::PUT, &tracks, json!({"trackIds": []})).await;
    assert_eq!(codes(&emptied), Vec::<String>::new());
    assert_eq!(stage.0.get(&path).await["tracks"], json!([]), "an empty playlist stays");
}

#[tokio::test]
async fn an_invalid_request_gets_the_reason_and_changes_nothing() {
    let stage = Stage::new().await;
    let (path, _) = stage.playlist("Kept", &CODES[..2]).await;
    // `isIndexed` of the tracks does not change any more.
    stage.0.app.catch_up().await.unwrap();
    let before = stage.0.get(&path).await;
    let tracks = format!("{path}/tracks");
    let unknown = "XSGUE2699999";
    let table = [
        (Method::POST, &tracks, json!({"trackIds": [CODES[2], unknown, "nonsense"]}), 400, "nonsense"),
        (Method::POST, &tracks, json!({"trackIds": [CODES[2], unknown]}), 400, unknown),
        (Method::PUT, &tracks, json!({"trackIds": [CODES[1], unknown]}), 400, unknown),
        (Method::POST, &tracks, json!({"trackIds": []}), 400, "at least one track"),
        (Method::PUT, &tracks, json!({"trackIds": [CODES[1]], "revision": 7}), 409, "changed meanwhile"),
        (Method::PATCH, &path, json!({"title": " "}), 400, "1 to 200"),
        (Method::PATCH, &path, json!({"title": "x".repeat(201)}), 400, "1 to 200"),
        (Method::PATCH, &path, json!({"description": "x".repeat(2001)}), 400, "2000"),
        (Method::PATCH, &path, json!({}), 400, "a title, a description"),
        (Method::PATCH, &path, json!({"tracks": []}), 400, "unknown field"),
    ];
    for (method, path, body, expected, says) in table {
        let (status, refused) = stage.send(method, path, body.clone()).await;
        assert_eq!(status, expected, "{body}: {refused}");
        assert!(refused["error"].to_string().contains(says), "{body}: {refused}");
    }
    let new = json!({"title": "New", "trackIds": [CODES[0], unknown]});
    let (status, refused) = stage.send(Method::POST, "/api/playlists", new).await;
    assert!(status == 400 && refused.to_string().contains(unknown), "{refused}");
    assert_eq!(stage.0.get(&path).await, before);
    assert_eq!(stage.0.get("/api/playlists").await["playlists"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn concurrent_edits_of_one_playlist_are_all_applied() {
    let stage = Stage::new().await;
    let (path, made) = stage.playlist("Ours", &CODES[..1]).await;
    let tracks = format!("{path}/tracks");
    let add = async |n: usize| stage.send(Method::POST, &tracks, json!({"trackIds": [CODES[n % 5]]})).await.0;
    let rename = async || stage.send(Method::PATCH, &path, json!({"description": "together"})).await.0;
    let (added, renamed) = futures::join!(futures::future::join_all((0..12).map(add)), rename());
    assert!(added.into_iter().chain([renamed]).all(|status| status == 200));
    let after = stage.0.get(&path).await;
    assert_eq!((codes(&after).len(), &after["description"]), (13, &json!("together")));
    assert_eq!(after["revision"], 14, "one revision for each edit");
    // An order that is based on an older revision is rejected, because it would drop the added tracks.
    let old = json!({"trackIds": [CODES[0]], "revision": made["revision"]});
    assert_eq!(stage.send(Method::PUT, &tracks, old).await.0, 409);
    assert_eq!(codes(&stage.0.get(&path).await).len(), 13);
}

#[tokio::test]
async fn playlists_are_listed_in_pages_newest_first() {
    let stage = Stage::new().await;
    for n in 0..5 {
        stage.playlist(&format!("List {n}"), &CODES[..n]).await;
    }
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = stage.0.get(&format!("/api/playlists?limit=2{cursor}")).await;
        for line in page["playlists"].as_array().unwrap() {
            seen.push((line["title"].as_str().unwrap().to_owned(), line["trackCount"].as_u64().unwrap()));
        }
        let Some(next) = page["next"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    let expected: Vec<_> = (0..5).rev().map(|n| (format!("List {n}"), n)).collect();
    assert_eq!(seen, expected);
    for limit in [0, 201] {
        assert_eq!(stage.0.answer(Method::GET, &format!("/api/playlists?limit={limit}"), None).await.0, 400);
    }
}

#[tokio::test]
async fn each_edit_can_be_undone_once_unless_a_later_edit_contradicts_it() {
    let stage = Stage::new().await;
    let (path, made) = stage.playlist("First", &CODES[..3]).await;
    let tracks = format!("{path}/tracks");
    let (_, renamed) = stage.send(Method::PATCH, &path, json!({"title": "Second"})).await;
    let (_, added) = stage.send(Method::POST, &tracks, json!({"trackIds": [CODES[3]]})).await;
    let item = added["tracks"][0]["itemId"].as_str().unwrap();
    let (_, removed) = stage.0.answer(Method::DELETE, &format!("{tracks}/{item}"), None).await;
    let (_, moved) = stage.send(Method::PUT, &tracks, json!({"trackIds": [CODES[3], CODES[2], CODES[1]]})).await;

    // The edits are undone in another order. Each undo reverts only its own edit.
    assert_eq!(stage.undo(&added).await.0, 200);
    assert_eq!(stage.codes(&path).await, [CODES[2], CODES[1]]);
    let (status, again) = stage.undo(&added).await;
    assert!(status == 409 && again.to_string().contains("already taken back"), "{again}");
    assert_eq!(stage.undo(&moved).await.0, 200);
    assert_eq!(stage.undo(&removed).await.0, 200);
    assert_eq!(stage.codes(&path).await, CODES[..3]);
    let (status, undone) = stage.undo(&renamed).await;
    assert_eq!((status, &undone["playlistId"]), (200, &made["id"]));
    assert_eq!(stage.0.get(&path).await["title"], "First");

    let (_, renamed) = stage.send(Method::PATCH, &path, json!({"title": "Third"})).await;
    stage.send(Method::PATCH, &path, json!({"title": "Fourth"})).await;
    let (status, refused) = stage.undo(&renamed).await;
    assert!(status == 409 && refused.to_string().contains("renamed again"), "{refused}");
    assert_eq!(stage.0.get(&path).await["title"], "Fourth", "the later title stays");
    assert_eq!(stage.undo(&made).await.0, 409, "a playlist with later edits is not deleted");
    let (other, made) = stage.playlist("Other", &[]).await;
    assert_eq!(stage.undo(&made).await.0, 200);
    assert_eq!(stage.0.answer(Method::GET, &other, None).await.0, 404);
    stage.0.answer(Method::DELETE, &path, None).await;
    let (status, refused) = stage.undo(&renamed).await;
    assert!(status == 409 && refused.to_string().contains("deleted"), "{refused}");
}

#[tokio::test]
async fn the_effect_of_a_tool_is_undone_by_the_id_in_its_output() {
    let stage = Stage::new().await;
    let titles = async || {
        let tasks = stage.0.get("/api/tasks").await;
        let line = |task: &Value| {
            format!("{}{}", task["title"].as_str().unwrap(), if task["completed"] == true { " ✓" } else { "" })
        };
        tasks["tasks"].as_array().unwrap().iter().map(line).collect::<Vec<_>>()
    };
    let (_, added) = stage.tool("add_task", json!({"title": "milk"})).await;
    let id = json!({"task_id": added["id"]});
    let (_, updated) = stage.tool("update_task", json!({"task_id": added["id"], "title": "oat milk"})).await;
    let (_, completed) = stage.tool("complete_task", id.clone()).await;
    assert_eq!(stage.undo(&added).await.0, 409, "the task was changed since");
    let (_, deleted) = stage.tool("delete_task", id.clone()).await;
    assert_eq!((titles().await, stage.undo(&completed).await.0), (vec![], 409));
    assert_eq!((stage.undo(&deleted).await.0, titles().await), (200, vec!["oat milk ✓".into()]));
    assert_eq!((stage.undo(&completed).await.0, titles().await), (200, vec!["oat milk".into()]));
    assert_eq!((stage.undo(&updated).await.0, titles().await), (200, vec!["milk".into()]));
    let (_, twice) = stage.tool("update_task", json!({"task_id": added["id"], "title": "milk"})).await;
    assert_eq!(stage.undo(&twice).await.0, 409, "nothing was changed");
    assert_eq!((stage.undo(&added).await.0, titles().await), (200, vec![]));

    let chosen = json!([{"isrc": CODES[0], "reasoning": "r"}]);
    let (_, saved) = stage.tool("suggestPlaylist", json!({"title": "Rain", "tracks": chosen})).await;
    assert_eq!(stage.undo(&saved).await.0, 200);
    assert_eq!(stage.0.get("/api/playlists").await["playlists"], json!([]));
}

#[tokio::test]
async fn of_concurrent_undo_requests_only_one_succeeds() {
    let stage = Stage::new().await;
    let (path, _) = stage.playlist("Ours", &CODES[..2]).await;
    let (_, added) = stage.send(Method::POST, &format!("{path}/tracks"), json!({"trackIds": [CODES[2]]})).await;
    let answers = futures::future::join_all((0..6).map(|_| stage.undo(&added))).await;
    let n_done = answers.iter().filter(|(status, _)| *status == 200).count();
    assert!(n_done == 1 && answers.iter().all(|(status, _)| matches!(status, 200 | 409)), "{answers:?}");
    assert_eq!(stage.codes(&path).await, CODES[..2]);
}

#[tokio::test]
async fn the_tools_find_playlists_by_title_and_tracks_by_position_and_reject_ambiguous_names() {
    let stage = Stage::new().await;
    let (path, made) = stage.playlist("Été en ville", &CODES[..3]).await;
    stage.playlist("Twice", &[]).await;
    stage.playlist("Twice", &[]).await;
    let (_, listed) = stage.tool("list_playlists", json!({})).await;
    assert_eq!((&listed["summary"], listed["playlists"].as_array().unwrap().len()), (&json!("3 playlists"), 3));
    let (_, one) = stage.tool("list_playlists", json!({"playlist": "ete en ville"})).await;
    assert_eq!(
        (codes(&one), &one["summary"]),
        (CODES[..3].iter().map(ToString::to_string).collect(), &json!("'Été en ville' has 3 tracks"))
    );

    let edit = async |input: Value| stage.tool("edit_playlist", input).await;
    let third = one["tracks"][2]["title"].as_str().unwrap();
    let (status, moved) =
        edit(json!({"playlist": "été en ville", "action": "move", "tracks": [third], "position": 1})).await;
    assert_eq!((status, stage.codes(&path).await), (200, [2, 0, 1].map(|n| CODES[n].to_owned()).into()), "{moved}");
    let (_, added) = edit(json!({"playlist": made["id"], "action": "add", "tracks": [CODES[4]], "position": 2})).await;
    assert_eq!(added["changed"][0]["position"], 2);
    let (_, removed) = edit(json!({"playlist": made["id"], "action": "remove", "tracks": ["1", "4"]})).await;
    assert_eq!(
        (stage.codes(&path).await, &removed["trackCount"]),
        ([4, 0].map(|n| CODES[n].to_owned()).into(), &json!(2))
    );
    let (_, renamed) = edit(json!({"playlist": made["id"], "action": "rename", "title": "City"})).await;
    assert_eq!(renamed["summary"], "Renamed 'Été en ville' to 'City'");
    for changed in [&renamed, &removed, &added, &moved] {
        assert_eq!(stage.undo(changed).await.0, 200, "{changed}");
    }
    assert_eq!(
        (stage.codes(&path).await, &stage.0.get(&path).await["title"]),
        (CODES[..3].iter().map(ToString::to_string).collect(), &json!("Été en ville"))
    );

    let before = stage.0.get(&path).await;
    let table = [
        (json!({"playlist": "Twice", "action": "add", "tracks": [CODES[0]]}), "2 playlists have this title"),
        (json!({"playlist": "Ete", "action": "add", "tracks": [CODES[0]]}), "no such playlist"),
        (json!({"playlist": made["id"], "action": "add", "tracks": ["XSGUE2699999"]}), "XSGUE2699999"),
        (json!({"playlist": made["id"], "action": "remove", "tracks": ["9"]}), "no position 9"),
        (json!({"playlist": made["id"], "action": "remove", "tracks": ["Not There"]}), "is not on the playlist"),
        (json!({"playlist": made["id"], "action": "move", "tracks": ["1"]}), "the position it moves to"),
        (json!({"playlist": made["id"], "action": "move", "tracks": ["1"], "position": 0}), "counts from 1"),
        (json!({"playlist": made["id"], "action": "rename"}), "needs the new title"),
        (json!({"playlist": made["id"], "action": "shuffle"}), "shuffle"),
    ];
    for (input, says) in table {
        let (status, refused) = edit(input.clone()).await;
        assert!(status == 400 && refused["error"]["message"].to_string().contains(says), "{input}: {refused}");
    }
    assert_eq!(stage.0.get(&path).await, before);
}

#[tokio::test]
async fn an_agent_edits_a_playlist_by_its_handle_and_the_user_undoes_it() {
    let stage = Stage::new().await;
    let (path, _) = stage.playlist("Night", &CODES[..2]).await;
    stage.0.model.play([calls("list_playlists", json!({})), says("One.")]);
    stage.0.chat(json!({"message": "my playlists"})).await;
    let prompt = stage.0.model.asked().pop().unwrap();
    let read = format!("{:?}", prompt.messages.last().unwrap());
    let at =
        read.find("\\\"id\\\":\\\"p").or_else(|| read.find("\"p")).unwrap_or_else(|| panic!("no handle in {read}"));
    let handle: String = read[at..].chars().skip_while(|c| *c != 'p').take(6).collect();
    let add = json!({"playlist": handle, "action": "add", "tracks": [CODES[2]]});
    stage.0.model.play([calls("edit_playlist", add), says("It is on your playlist now.")]);
    let frames = stage.0.chat(json!({"message": "add it"})).await;
    let done = frames.iter().find(|frame| frame["type"] == "tool_call_end").unwrap_or_else(|| panic!("{frames:?}"));
    assert_eq!(done["output"]["undoId"], done["toolCallId"], "the id of the call");
    assert_eq!(stage.codes(&path).await.len(), 3);
    assert_eq!(stage.undo(&done["output"]).await.0, 200);
    assert_eq!(stage.codes(&path).await.len(), 2);
}

#[tokio::test]
async fn a_second_import_replaces_an_imported_playlist_only_if_it_was_not_edited() {
    let stage = Stage::new().await;
    let file = |codes: &[&str]| {
        let tracks: Vec<_> = codes
            .iter()
            .map(|code| json!({"title": code, "creator": "x", "identifier": [format!("isrc:{code}")]}))
            .collect();
        json!({"playlist": {"title": "From a file", "track": tracks}})
    };
    let import = async |codes: &[&str]| stage.send(Method::POST, "/api/library/import", file(codes)).await.0;
    assert_eq!(import(&CODES[..2]).await, 201);
    let list = stage.0.get("/api/playlists").await;
    let path = format!("/api/playlists/{}", list["playlists"][0]["id"].as_str().unwrap());
    import(&CODES[..3]).await;
    assert_eq!(stage.codes(&path).await.len(), 3, "an unedited playlist follows its file");
    stage.send(Method::PUT, &format!("{path}/tracks"), json!({"trackIds": [CODES[1], CODES[0]]})).await;
    import(&CODES[..4]).await;
    assert_eq!(stage.codes(&path).await, [CODES[1], CODES[0]], "edited, it stays");
}

#[tokio::test]
async fn an_exported_playlist_contains_the_paths_of_the_users_files() {
    let (app, dir) = (TestApp::scripted([]).await, tempfile::tempdir().unwrap());
    let file = dir.path().join("Low Tide.mp3");
    fs::write(&file, mp3(&[("TIT2", "Low Tide"), ("TPE1", "The Local Band")], "Boats", 1)).unwrap();
    let body = json!({"kind": "folder", "path": dir.path()});
    let (_, source) = app.answer(Method::POST, "/api/library/sources", Some(body)).await;
    app.answer(Method::POST, &format!("/api/library/sources/{}/sync", source["id"].as_str().unwrap()), None).await;
    let library = app.get("/api/library/tracks").await;
    let ids = json!([library["tracks"][0]["trackId"]]);
    let (status, made) =
        app.answer(Method::POST, "/api/playlists", Some(json!({"title": "Here", "trackIds": ids}))).await;
    assert_eq!((status, &made["tracks"][0]["hasFile"]), (201, &json!(true)), "{made}");
    let path = format!("/api/playlists/{}?format=m3u8", made["id"].as_str().unwrap());
    let (_, written) = app.answer(Method::GET, &path, None).await;
    let path = file.canonicalize().unwrap();
    assert!(written.as_str().unwrap().lines().any(|line| line == path.to_str().unwrap()), "{written}");
}

#[tokio::test]
async fn only_the_owner_can_undo_a_change() {
    let app = TestApp::shared([], &[]).await;
    let (ann, bob) = (app.person("ann"), app.person("bob"));
    let make = async |person: &Person<'_>| {
        person.answer(Method::POST, "/api/playlists", Some(json!({"title": "Mine"}))).await.1
    };
    let made = make(&ann).await;
    let undo = format!("/api/undo/{}", made["undoId"].as_str().unwrap());
    assert_eq!(bob.answer(Method::POST, &undo, None).await.0, 404);
    let playlist = format!("/api/playlists/{}", made["id"].as_str().unwrap());
    assert_eq!(ann.answer(Method::GET, &playlist, None).await.0, 200, "the playlist still exists");
    assert_eq!(ann.answer(Method::POST, &undo, None).await.0, 200);
}

#[tokio::test]
async fn a_playlist_has_at_most_ten_thousand_tracks_however_it_is_made() {
    let stage = Stage::new().await;
    let file = "#EXTM3U\n#PLAYLIST:Long\n".to_owned() + &"#EXTINF:200,The Band - Song 01\n/m/1.mp3\n".repeat(10_002);
    let (status, report) = stage.0.import("long.m3u8", file.into()).await;
    assert_eq!(status, 201, "{report}");
    let left_out = &report["files"][0]["leftOut"];
    let why = "not on their playlist, which is at its limit of 10,000 tracks or 4 MB of names";
    assert_eq!(left_out[why], 2, "{left_out}");
    let lists = stage.0.get("/api/playlists").await;
    assert_eq!(lists["playlists"][0]["trackCount"], 10_000, "{lists}");
    let long = format!("/api/playlists/{}", lists["playlists"][0]["id"].as_str().unwrap());
    let (status, refused) = stage.send(Method::POST, &format!("{long}/tracks"), json!({"trackIds": [CODES[0]]})).await;
    assert!(status == 400 && refused.to_string().contains("at most 10000 tracks"), "{refused}");
    let too_many = vec![CODES[0]; 10_001];
    let (status, refused) =
        stage.send(Method::POST, "/api/playlists", json!({"title": "x", "trackIds": too_many})).await;
    assert!(status == 400 && refused.to_string().contains("at most 10000 tracks"), "{refused}");
    let (status, listed) = stage.tool("list_playlists", json!({"playlist": "Long"})).await;
    assert_eq!((status, listed["tracks"].as_array().unwrap().len()), (200, 500), "a result is not megabytes long");
    assert_eq!(listed["summary"], "'Long' has 10000 tracks; the first 500 are listed");
    let names: Vec<String> = (1..=200).map(|n| n.to_string()).collect();
    let (status, removed) =
        stage.tool("edit_playlist", json!({"playlist": "Long", "action": "remove", "tracks": names})).await;
    assert_eq!((status, removed["changed"].as_array().unwrap().len()), (200, 100), "{}", removed["summary"]);
    assert_eq!((&removed["summary"], &removed["trackCount"]), (&json!("Removed 200 tracks from 'Long'"), &json!(9800)));
    let names: Vec<String> = (0..1001).map(|n| n.to_string()).collect();
    let (status, refused) =
        stage.tool("edit_playlist", json!({"playlist": "Long", "action": "remove", "tracks": names})).await;
    assert!(status == 400 && refused.to_string().contains("at most 1000 tracks"), "{refused}");
}
