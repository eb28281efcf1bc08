//! Cover pictures of a user's files: only their owner can read them, and only images are served.

use std::fs;

use reqwest::{Method, header};
use serde_json::json;
use tempfile::TempDir;

use crate::support::{TestApp, mp3, mp3_with_picture};

const PNG: &[u8] = b"\x89PNG\x0d\x0a\x1a\x0anot much of a picture";
const MISSING: &str = "01890000-0000-7000-8000-000000000000";

/// Ann has a folder with four tracks: a picture in the file, a picture beside it, no picture, and a file that is no image.
struct Pictures {
    dir: TempDir,
    app: TestApp,
}

impl Pictures {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let app = TestApp::shared([], &[("SEGUE_OPERATORS", "ann, bob")]).await;
        let at = |path: &str| dir.path().join(path);
        for folder in ["Beside", "Bare", "False"] {
            fs::create_dir(at(folder)).unwrap();
        }
        let tags = |title: &'static str| [("TIT2", title), ("TPE1", "The Local Band"), ("TALB", title)];
        fs::write(at("in.mp3"), mp3_with_picture(&tags("Within"), PNG, 1)).unwrap();
        fs::write(at("Beside/1.mp3"), mp3(&tags("Beside"), "", 2)).unwrap();
        fs::write(at("Beside/cover.jpg"), b"\xff\xd8\xff a picture too").unwrap();
        fs::write(at("Bare/1.mp3"), mp3(&tags("Bare"), "", 3)).unwrap();
        fs::write(at("False/1.mp3"), mp3(&tags("False"), "", 4)).unwrap();
        fs::write(at("False/cover.png"), "<svg onload='alert(1)'/>").unwrap();
        let ann = app.person("ann");
        let body = json!({"kind": "folder", "path": dir.path()});
        let (_, source) = ann.answer(Method::POST, "/api/library/sources", Some(body)).await;
        ann.answer(Method::POST, &format!("/api/library/sources/{}/sync", source["id"].as_str().unwrap()), None).await;
        app.app.catch_up().await.unwrap();
        Self { dir, app }
    }

    /// The artwork URL of a track, if it has one, and the id of the track.
    async fn url_of(&self, title: &str) -> (Option<String>, String) {
        let tracks = self.app.person("ann").get(&format!("/api/library/tracks?q={title}")).await["tracks"].clone();
        assert_eq!(tracks[0]["title"], title, "{tracks}");
        (tracks[0]["artworkUrl"].as_str().map(str::to_owned), tracks[0]["trackId"].as_str().unwrap().to_owned())
    }
}

#[tokio::test]
async fn a_picture_in_a_file_or_beside_it_is_shown_only_to_its_owner() {
    let pictures = Pictures::new().await;
    let (ann, bob) = (pictures.app.person("ann"), pictures.app.person("bob"));
    for (title, media_type, begin) in
        [("Within", "image/png", &PNG[..8]), ("Beside", "image/jpeg", &b"\xff\xd8\xff"[..])]
    {
        let (url, id) = pictures.url_of(title).await;
        let url = url.unwrap_or_else(|| panic!("{title} has a picture"));
        assert_eq!(url, format!("/api/tracks/{id}/artwork"));
        let shown = ann.request(Method::GET, &url, None).await;
        assert_eq!(shown.status(), 200, "{title}");
        let header = |name: header::HeaderName| shown.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header(header::CONTENT_TYPE), media_type);
        assert_eq!(header(header::X_CONTENT_TYPE_OPTIONS), "nosniff");
        assert!(header(header::CACHE_CONTROL).starts_with("private"), "a shared cache must not store it");
        let etag = header(header::ETAG);
        assert!(shown.bytes().await.unwrap().starts_with(begin));
        assert_eq!(ann.request_with(Method::GET, &url, header::IF_NONE_MATCH, &etag).await.status(), 304);
        let other_users = bob.answer(Method::GET, &url, None).await;
        let missing = bob.answer(Method::GET, &url.replace(&id, MISSING), None).await;
        assert_eq!(other_users, missing, "another user's track answers like a missing one");
        assert_eq!(other_users.0, 404);
    }
    let found = ann.get("/api/search?q=within").await;
    assert!(found["tracks"][0]["artworkUrl"].as_str().unwrap().starts_with("/api/tracks/"), "{found}");
    let albums = ann.get("/api/library/albums?q=beside").await;
    assert!(albums["albums"][0]["artworkUrl"].as_str().unwrap().ends_with("/artwork"), "{albums}");
}

#[tokio::test]
async fn only_images_inside_the_folder_are_served() {
    let pictures = Pictures::new().await;
    let ann = pictures.app.person("ann");
    assert_eq!(pictures.url_of("Bare").await.0, None);
    let (url, _) = pictures.url_of("False").await;
    assert_eq!(ann.answer(Method::GET, &url.unwrap(), None).await.0, 404, "a file that is not an image is not served");

    // A symbolic link in place of a picture is not followed.
    let secret = tempfile::NamedTempFile::new().unwrap();
    fs::write(secret.path(), PNG).unwrap();
    let cover = pictures.dir.path().join("Beside/cover.jpg");
    fs::remove_file(&cover).unwrap();
    std::os::unix::fs::symlink(secret.path(), &cover).unwrap();
    let (url, _) = pictures.url_of("Beside").await;
    assert_eq!(ann.answer(Method::GET, &url.unwrap(), None).await.0, 404);
}
