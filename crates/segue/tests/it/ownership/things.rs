//! What Ann has, for the routes and tools that Bob tries, and what Bob sees.

use doubles::{
    Running, fiction, serve,
    tidal::{CLIENT_ID, CLIENT_SECRET, Limits, TidalDouble},
};
use engine::{UserId, script::says};
use reqwest::{Method, Response};
use serde_json::{Value, json};

use super::CANARY;
use crate::support::{Person, TestApp};

/// Ids to put into paths and bodies.
#[derive(Clone)]
pub(crate) struct Things {
    pub(crate) user_id: String,
    pub(crate) conversation_id: String,
    pub(crate) turn_id: String,
    pub(crate) message_id: String,
    pub(crate) task_id: String,
    pub(crate) trash_id: String,
    pub(crate) isrc: String,
    pub(crate) album_id: String,
    pub(crate) playlist_id: String,
    pub(crate) item_id: String,
    pub(crate) undo_id: String,
    pub(crate) entry_id: String,
    pub(crate) consent_id: String,
}

/// A server with a test catalogue. Each row has its own users, so that what Bob adds to his library in one row is not
/// taken for Ann's in the next.
pub(super) async fn shared_app() -> (TestApp, Running) {
    shared_app_with(&[]).await
}

/// The same, with further settings.
pub(crate) async fn shared_app_with(more: &[(&'static str, &str)]) -> (TestApp, Running) {
    let tidal = serve(TidalDouble::new(fiction::world(), Limits::GENEROUS).router()).await.unwrap();
    let (api, auth) = (format!("http://{}/v2", tidal.addr), format!("http://{}/v1", tidal.addr));
    let settings = [
        ("TIDAL_CLIENT_ID", CLIENT_ID),
        ("TIDAL_CLIENT_SECRET", CLIENT_SECRET),
        ("TIDAL_API_URL", api.as_str()),
        ("TIDAL_AUTH_URL", auth.as_str()),
    ];
    let app = TestApp::shared([], &[&settings, more].concat()).await;
    app.app.start_ingestion().await.unwrap();
    app.app.library().load_sample(&app::Operator::of_this_machine(), &UserId::new("someone")).await.unwrap();
    app.app.catch_up().await.unwrap();
    (app, tidal)
}

pub(crate) async fn things_of(app: &TestApp, person: &Person<'_>) -> Things {
    app.model.play([says(CANARY)]);
    let frames = person.say(CANARY).await;
    let made = async |path: &str, body: Value| {
        let (status, made) = person.answer(Method::POST, path, Some(body)).await;
        assert!(status < 300, "{path}: {status} {made}");
        made
    };
    let isrc = "XSGUE2600001";
    made("/api/library/tracks", json!({"isrc": isrc})).await;
    let tracks = json!([{"isrc": isrc, "reasoning": CANARY}]);
    let saved = made("/api/tools/suggestPlaylist", json!({"title": CANARY, "tracks": tracks})).await;
    let found = made("/api/tools/tidalSearch", json!({"query": "a", "searchType": "albums"})).await;
    let album = &found["albums"][0]["id"];
    made("/api/library/albums", json!({"albumId": album})).await;
    let imported = made("/api/library/import", playlist(CANARY)).await;
    let text = |value: &Value| value.as_str().expect("an id").to_owned();
    let deleted = person.add_task(CANARY).await;
    assert_eq!(person.answer(Method::DELETE, &format!("/api/tasks/{deleted}"), None).await.0, 204);
    Things {
        user_id: "ann".into(),
        conversation_id: text(&frames[0]["conversationId"]),
        turn_id: text(&frames[0]["turnId"]),
        message_id: text(&frames[0]["messageId"]),
        task_id: person.add_task(CANARY).await,
        trash_id: deleted,
        isrc: isrc.into(),
        album_id: text(album),
        playlist_id: text(&saved["id"]),
        item_id: text(&saved["tracks"][0]["itemId"]),
        undo_id: text(&saved["undoId"]),
        entry_id: text(&imported["unmatched"][0]["id"]),
        consent_id: uuid::Uuid::now_v7().to_string(),
    }
}

/// A consent question to this user, as a row: this server has no MCP server whose tools ask for consent.
pub(crate) async fn ask_consent(app: &TestApp, things: &Things) {
    let (id, conversation) = (app.world.id(&things.consent_id), app.world.id(&things.conversation_id));
    let user = &things.user_id;
    let sql = format!(
        "INSERT INTO consents (id, conversation_id, message_id, call_id, user_id, tool_name, input, created_at)
         SELECT {id}, conversation_id, id, {id}, '{user}', '{CANARY}', '{{}}', created_at
         FROM messages WHERE conversation_id = {conversation} LIMIT 1"
    );
    app.world.execute(&sql).await;
}

/// A playlist as a file, with one track that no catalogue knows.
pub(super) fn playlist(title: &str) -> Value {
    json!({"playlist": {"title": "Unknown", "track": [{"title": title, "creator": title}]}})
}

/// Everything a caller can see of a response, except the date.
#[derive(Debug, PartialEq)]
pub(super) struct Seen {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Seen {
    pub(crate) async fn of(response: Response) -> Self {
        let headers = response.headers().iter().filter(|(name, _)| *name != "date");
        let mut headers: Vec<_> =
            headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
        headers.sort();
        Self { status: response.status().as_u16(), headers, body: response.text().await.unwrap() }
    }
}
