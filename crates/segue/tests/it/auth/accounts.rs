//! Built-in accounts, through the API and the terminal commands.

use std::time::{Duration, Instant};

use app::services::accounts::{AccountName, Accounts, CheckedName, KeyKind, NewKey};
use chrono::TimeDelta;
use futures::TryStreamExt;
use reqwest::{Method, Response, header};
use segue::auth::{keys::RandomKey, passwords};
use serde_json::{Value, json};

use crate::support::{Process, TestApp, World, command, command_with_input};

const PASSWORD: &str = "correct horse battery";

async fn accounts_app() -> TestApp {
    let app = TestApp::start(World::new().await, [], &[("SEGUE_AUTH", "accounts")]).await;
    add(app.app.accounts(), "Ann").await;
    app
}

async fn add(accounts: &Accounts, name: &str) {
    let name = CheckedName::of(AccountName::new(name)).unwrap();
    accounts.add(&name, &passwords::hash(PASSWORD).unwrap()).await.unwrap();
}

/// A browser: it keeps one cookie and sends the origin of its page.
struct Browser<'a> {
    app: &'a TestApp,
    origin: String,
    cookie: Option<String>,
}

impl<'a> Browser<'a> {
    fn on_our_page(app: &'a TestApp) -> Self {
        Self { app, origin: app.url.clone(), cookie: None }
    }

    async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Response {
        let client = reqwest::Client::new();
        let mut request = client.request(method, format!("{}{path}", self.app.url)).header("origin", &self.origin);
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", format!("theme=dark; {cookie}"));
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        request.send().await.unwrap()
    }

    async fn post(&mut self, path: &str, body: Value) -> Response {
        let response = self.send(Method::POST, path, Some(body)).await;
        if let Some(cookie) = response.headers().get(header::SET_COOKIE) {
            self.cookie = cookie.to_str().unwrap().split(';').next().map(str::to_owned);
        }
        response
    }

    async fn sign_in(&mut self, name: &str, password: &str) -> Response {
        self.post("/api/auth/sign-in", json!({"name": name, "password": password})).await
    }

    async fn is_signed_in(&self) -> bool {
        self.send(Method::GET, "/api/me", None).await.status() == 200
    }
}

#[tokio::test]
async fn sign_in_sets_a_cookie_that_scripts_cannot_read_and_sign_out_revokes_it() {
    let app = accounts_app().await;
    let mut ann = Browser::on_our_page(&app);
    assert!(!ann.is_signed_in().await);
    let response = ann.sign_in(" ann".trim(), PASSWORD).await;
    assert_eq!(response.status(), 200);
    let cookie = response.headers()[header::SET_COOKIE].to_str().unwrap().to_owned();
    for part in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=2592000"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "there is no TLS on loopback: {cookie}");
    let signed_in: Value = response.json().await.unwrap();
    assert_eq!((signed_in["name"].as_str(), signed_in["mode"].as_str()), (Some("Ann"), Some("accounts")));
    assert!(ann.is_signed_in().await);
    let old = ann.cookie.clone();
    assert_eq!(ann.post("/api/auth/sign-out", json!({})).await.status(), 204);
    ann.cookie = old;
    assert!(!ann.is_signed_in().await, "the server has deleted the session too");
}

#[tokio::test]
async fn the_cookie_is_secure_on_other_addresses_than_loopback() {
    let app = accounts_app().await;
    let request = reqwest::Client::new().post(format!("{}/api/auth/sign-in", app.url)).header("host", "segue.example");
    let response = request.json(&json!({"name": "ann", "password": PASSWORD})).send().await.unwrap();
    assert!(response.headers()[header::SET_COOKIE].to_str().unwrap().ends_with("; Secure"));
}

#[tokio::test]
async fn an_unknown_name_and_a_wrong_password_get_the_same_answer_in_the_same_time() {
    let app = accounts_app().await;
    let mut answers = Vec::new();
    let mut times: Vec<[Duration; 2]> = Vec::new();
    for n in 0..4 {
        let mut pair = [Duration::ZERO; 2];
        for (which, name) in ["ann", "nobody"].into_iter().enumerate() {
            let started = Instant::now();
            let response = Browser::on_our_page(&app).sign_in(name, &format!("wrong password {n}")).await;
            pair[which] = started.elapsed();
            answers.push((response.status().as_u16(), response.text().await.unwrap()));
        }
        times.push(pair);
    }
    assert_eq!(answers[0].0, 401);
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    let fastest = |which: usize| times.iter().map(|pair| pair[which]).min().unwrap();
    let (known, unknown) = (fastest(0).as_secs_f64(), fastest(1).as_secs_f64());
    // An answer without a password hash would take a fiftieth of the time. A busy machine changes the time by a factor
    // of three at most.
    assert!(unknown > known * 0.2 && known > unknown * 0.2, "known {known:.3} s, unknown {unknown:.3} s");
}

#[tokio::test]
async fn a_page_of_another_site_cannot_use_the_cookie() {
    let app = accounts_app().await;
    let mut ann = Browser::on_our_page(&app);
    ann.sign_in("ann", PASSWORD).await;
    for origin in ["https://evil.example", "null", "http://127.0.0.1:1"] {
        let other_site = Browser { app: &app, origin: origin.into(), cookie: ann.cookie.clone() };
        let response = other_site.send(Method::POST, "/api/tasks", Some(json!({"title": "planted"}))).await;
        assert_eq!(response.status(), 403, "{origin}");
        let mut other_site = Browser { app: &app, origin: origin.into(), cookie: None };
        assert_eq!(other_site.sign_in("ann", PASSWORD).await.status(), 403, "a page of {origin} cannot sign a user in");
    }
    let tasks: Value = ann.send(Method::GET, "/api/tasks", None).await.json().await.unwrap();
    assert_eq!(tasks, json!({"tasks": []}));
    assert_eq!(ann.send(Method::POST, "/api/tasks", Some(json!({"title": "mine"}))).await.status(), 201);
}

#[tokio::test]
async fn an_invitation_creates_one_account_once() {
    let app = accounts_app().await;
    let key = RandomKey::new("invite_").unwrap();
    app.app.accounts().invite(&key.hash, TimeDelta::days(1)).await.unwrap();
    let old = RandomKey::new("invite_").unwrap();
    app.app.accounts().invite(&old.hash, TimeDelta::days(-1)).await.unwrap();
    let form = |invitation: &str, name: &str, password: &str| json!({"invitation": invitation, "name": name, "password": password});
    let cases = [
        (form("invite_made-up", "Bob", PASSWORD), 400),
        (form(&old.text, "Bob", PASSWORD), 400),
        (form(&key.text, "Bob", "short"), 400),
        (form(&key.text, "", PASSWORD), 400),
        (form(&key.text, "B\u{200b}ob", PASSWORD), 400),
        (form(&key.text, "ANN", PASSWORD), 409),
        (form(&key.text, "Bob", PASSWORD), 201),
        (form(&key.text, "Carol", PASSWORD), 400),
    ];
    for (form, expected) in cases {
        let mut browser = Browser::on_our_page(&app);
        assert_eq!(browser.post("/api/auth/sign-up", form.clone()).await.status(), expected, "{form}");
        assert_eq!(browser.is_signed_in().await, expected == 201, "{form}");
    }
    assert_eq!(Browser::on_our_page(&app).sign_in("bob", PASSWORD).await.status(), 200);
}

#[tokio::test]
async fn a_new_password_and_signing_out_everywhere_end_every_session_and_token() {
    let app = accounts_app().await;
    let token = token_of(&app, "ann").await;
    let (mut here, mut there) = (Browser::on_our_page(&app), Browser::on_our_page(&app));
    here.sign_in("ann", PASSWORD).await;
    there.sign_in("ann", PASSWORD).await;
    let me = async || app.with_token(&token).answer(Method::GET, "/api/me", None).await.0;
    assert_eq!(me().await, 200);
    let wrong = here.post("/api/auth/password", json!({"current": "not it", "next": "a new password"})).await;
    assert_eq!(wrong.status(), 400);
    let changed = here.post("/api/auth/password", json!({"current": PASSWORD, "next": "a new password"})).await;
    assert_eq!(changed.status(), 204);
    assert!(here.is_signed_in().await && !there.is_signed_in().await);
    assert_eq!(me().await, 401);
    assert_eq!(there.sign_in("ann", PASSWORD).await.status(), 401);
    there.sign_in("ann", "a new password").await;
    assert_eq!(here.post("/api/auth/sign-out-everywhere", json!({})).await.status(), 204);
    assert!(!here.is_signed_in().await && !there.is_signed_in().await);
}

async fn token_of(app: &TestApp, name: &str) -> String {
    let key = RandomKey::new("segue_").unwrap();
    let account = app.app.accounts().named(name).await.unwrap();
    let new = NewKey { hash: key.hash, kind: KeyKind::Token, lasts: None };
    app.app.accounts().add_key(account.id, &new).await.unwrap();
    key.text
}

#[tokio::test]
async fn a_session_is_not_accepted_as_a_token_nor_a_token_as_a_session() {
    let app = accounts_app().await;
    let token = token_of(&app, "ann").await;
    let mut ann = Browser::on_our_page(&app);
    ann.sign_in("ann", PASSWORD).await;
    let session = ann.cookie.clone().unwrap().split_once('=').unwrap().1.to_owned();
    assert_eq!(app.with_token(&session).answer(Method::GET, "/api/me", None).await.0, 401);
    ann.cookie = Some(format!("segue_session={token}"));
    assert!(!ann.is_signed_in().await);
    assert_eq!(app.with_token(&token).answer(Method::POST, "/api/tasks", Some(json!({"title": "x"}))).await.0, 201);
}

#[tokio::test]
async fn password_guesses_are_rate_limited() {
    let app = accounts_app().await;
    for _ in 0..10 {
        assert_eq!(Browser::on_our_page(&app).sign_in("ann", "wrong password").await.status(), 401);
    }
    let response = Browser::on_our_page(&app).sign_in("Ann", PASSWORD).await;
    assert_eq!(response.status(), 429, "the right password must wait too");
    let seconds: u64 = response.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=900).contains(&seconds));
}

#[tokio::test]
async fn an_expired_session_is_rejected_and_removing_an_account_deletes_everything_it_owns() {
    let app = accounts_app().await;
    let accounts = app.app.accounts();
    let account = accounts.named("ann").await.unwrap();
    let key = RandomKey::new("").unwrap();
    let lasts = Some(TimeDelta::seconds(-1));
    accounts.add_key(account.id, &NewKey { hash: key.hash, kind: KeyKind::Session, lasts }).await.unwrap();
    let mut ann = Browser::on_our_page(&app);
    ann.cookie = Some(format!("segue_session={}", key.text));
    assert!(!ann.is_signed_in().await);
    ann.sign_in("ann", PASSWORD).await;
    ann.send(Method::POST, "/api/tasks", Some(json!({"title": "mine"}))).await;
    accounts.remove(&account).await.unwrap();
    assert!(!ann.is_signed_in().await);
    let left: String = app.app.export(&account.owner()).try_collect().await.unwrap();
    let left: Value = serde_json::from_str(&left).unwrap();
    assert_eq!((&left["tasks"], &left["conversations"]), (&json!([]), &json!([])));
}

#[tokio::test]
async fn a_used_session_renews_its_cookie_and_cookies_of_0_1_stay_valid() {
    let app = accounts_app().await;
    let accounts = app.app.accounts();
    let account = accounts.named("ann").await.unwrap();
    let key = RandomKey::new("").unwrap();
    let lasts = Some(TimeDelta::days(3));
    accounts.add_key(account.id, &NewKey { hash: key.hash, kind: KeyKind::Session, lasts }).await.unwrap();
    let ask = async |host: &str, cookie: &str| {
        let request = reqwest::Client::new().get(format!("{}/api/me", app.url));
        let response = request.header("host", host).header("cookie", cookie).send().await.unwrap();
        assert_eq!(response.status(), 200, "{cookie}");
        response.headers().get(header::SET_COOKIE).map(|cookie| cookie.to_str().unwrap().to_owned())
    };
    let renewed = ask("segue.example", &format!("segue_session={}", key.text)).await.expect("a renewed cookie");
    let expected =
        format!("__Host-segue_session={}; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure", key.text);
    assert_eq!(renewed, expected);
    assert_eq!(
        ask("segue.example", &format!("__Host-segue_session={}", key.text)).await,
        None,
        "a new cookie is not renewed"
    );
    let other = format!("segue_session=of-someone-else; __Host-segue_session={}", key.text);
    ask("segue.example", &other).await;
}

#[tokio::test]
async fn signing_out_ends_every_session_a_browser_sends() {
    let app = accounts_app().await;
    let accounts = app.app.accounts();
    let account = accounts.named("ann").await.unwrap();
    let (old, new) = (RandomKey::new("").unwrap(), RandomKey::new("").unwrap());
    for key in [&old, &new] {
        let lasts = Some(TimeDelta::days(30));
        accounts.add_key(account.id, &NewKey { hash: key.hash, kind: KeyKind::Session, lasts }).await.unwrap();
    }
    let mut ann = Browser::on_our_page(&app);
    ann.cookie = Some(format!("segue_session={}; __Host-segue_session={}", old.text, new.text));
    let response = ann.send(Method::POST, "/api/auth/sign-out", None).await;
    assert_eq!(response.status(), 204);
    assert_eq!(response.headers().get_all(header::SET_COOKIE).iter().count(), 2);
    for key in [old, new] {
        ann.cookie = Some(format!("segue_session={}", key.text));
        assert!(!ann.is_signed_in().await);
    }
}

#[tokio::test]
async fn an_account_that_was_added_as_an_operator_may_change_the_settings() {
    let world = World::new().await;
    let settings = [("SEGUE_AUTH", "accounts".to_owned())];
    for args in [["user", "add", "Ann", "--operator"].as_slice(), &["user", "add", "Bob"]] {
        let (code, _, error) = command_with_input(&world, &settings, args, &format!("{PASSWORD}\n")).await;
        assert_eq!(code, 0, "{error}");
    }
    let (_, listed, _) = command(&world, &settings, &["user", "list"]).await;
    assert!(listed.contains("Ann  (operator)") && listed.trim_end().ends_with("Bob"), "{listed}");

    let server = Process::start(&world, &settings).await;
    for (name, expected) in [("Ann", 200), ("Bob", 403)] {
        let (_, token, _) = command(&world, &settings, &["token", name]).await;
        let request =
            reqwest::Client::new().get(format!("{}/api/settings/connections", server.url)).bearer_auth(token.trim());
        assert_eq!(request.send().await.unwrap().status(), expected, "{name}");
    }
}

#[tokio::test]
async fn a_name_that_is_not_allowed_is_named_once_in_the_error_of_the_command() {
    let world = World::new().await;
    let settings = [("SEGUE_AUTH", "accounts".to_owned())];
    let (code, _, error) = command_with_input(&world, &settings, &["user", "add", ""], "").await;
    assert_eq!((code, error.matches("name").count()), (1, 1), "{error}");
}
