//! Tokens of a real Better Auth server, before and after it rotates its keys. The test needs `npm ci` in
//! `tests/better-auth`. `make test` runs that and sets `SEGUE_TEST_BETTER_AUTH`. Without the variable, the test is
//! skipped where Better Auth is not installed.

use std::{path::PathBuf, process::Stdio};

use reqwest::{Method, header};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

use super::issuer::status;
use crate::support::{TestApp, World};

struct BetterAuth {
    /// The process ends when its standard input closes, which happens when this test ends.
    _process: Child,
    url: String,
    client: reqwest::Client,
}

impl BetterAuth {
    async fn start(algorithm: &str) -> Option<Self> {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/better-auth");
        if !folder.join("node_modules").exists() {
            let is_required = std::env::var_os("SEGUE_TEST_BETTER_AUTH").is_some();
            assert!(!is_required, "run npm ci in tests/better-auth");
            eprintln!("skipped: tests/better-auth is not installed");
            return None;
        }
        let mut command = Command::new("node");
        command.current_dir(folder).args(["server.mjs", algorithm]).stdin(Stdio::piped()).stdout(Stdio::piped());
        // Node makes inherited pipes non-blocking, which would truncate the output of the other tests.
        command.stderr(Stdio::null());
        let mut process = command.kill_on_drop(true).spawn().expect("node starts");
        let mut lines = BufReader::new(process.stdout.take().expect("stdout is piped")).lines();
        let url = lines.next_line().await.expect("a line").expect("its address");
        Some(Self { _process: process, url, client: reqwest::Client::new() })
    }

    async fn sign_up(&self, name: &str) -> (String, String) {
        let form = json!({"email": format!("{name}@example.com"), "password": "correct horse", "name": name});
        let request = self.client.post(format!("{}/api/auth/sign-up/email", self.url)).header("origin", &self.url);
        let response = request.json(&form).send().await.unwrap();
        let cookies = response.headers().get_all(header::SET_COOKIE).iter();
        let cookies: Vec<_> = cookies.filter_map(|cookie| cookie.to_str().ok()?.split(';').next()).collect();
        let cookies = cookies.join("; ");
        let body: Value = response.json().await.unwrap();
        (body["user"]["id"].as_str().expect("a user").to_owned(), cookies)
    }

    async fn token(&self, cookies: &str) -> String {
        let request = self.client.get(format!("{}/api/auth/token", self.url)).header("cookie", cookies);
        let body: Value = request.send().await.unwrap().json().await.unwrap();
        body["token"].as_str().expect("a token").to_owned()
    }

    async fn rotate(&self) {
        self.client.post(format!("{}/rotate", self.url)).send().await.unwrap().error_for_status().unwrap();
    }

    async fn trusting_app(&self) -> TestApp {
        let jwks = format!("{}/api/auth/jwks", self.url);
        let settings = [
            ("SEGUE_AUTH", "jwt"),
            ("SEGUE_JWKS_URL", jwks.as_str()),
            ("SEGUE_JWT_ISSUER", self.url.as_str()),
            ("SEGUE_JWT_AUDIENCE", self.url.as_str()),
        ];
        TestApp::start(World::new().await, [], &settings).await
    }
}

fn kid(token: &str) -> String {
    jsonwebtoken::decode_header(token).unwrap().kid.unwrap()
}

#[tokio::test]
async fn tokens_of_a_real_better_auth_server_work_before_and_after_rotation() {
    for algorithm in ["EdDSA", "ES256", "RS256"] {
        let Some(issuer) = BetterAuth::start(algorithm).await else { return };
        let app = issuer.trusting_app().await;
        let (ann, anns_cookies) = issuer.sign_up("Ann").await;
        let (bob, bobs_cookies) = issuer.sign_up("Bob").await;
        let before = issuer.token(&anns_cookies).await;
        let me = app.with_token(&before).get("/api/me").await;
        assert_eq!(me, json!({"id": ann, "name": "Ann", "mode": "jwt"}));
        let task = app.with_token(&before).add_task("Ann's own").await;

        issuer.rotate().await;
        let after = issuer.token(&bobs_cookies).await;
        assert_ne!(kid(&before), kid(&after), "Better Auth signs with a new key");
        assert_eq!(app.with_token(&after).get("/api/me").await["id"], bob.as_str());
        assert_eq!(status(&app, &before).await, 200, "the old key is still published");
        let foreign = app.with_token(&after).answer(Method::DELETE, &format!("/api/tasks/{task}"), None).await;
        assert_eq!(foreign.0, 404);
        println!(
            "Better Auth {algorithm}: key {} before and {} after rotation, both accepted",
            kid(&before),
            kid(&after)
        );

        let session = anns_cookies.split_once('=').unwrap().1.split(';').next().unwrap().to_owned();
        assert_eq!(status(&app, &session).await, 401, "a session cookie is not a JWT");
    }
}
