//! Password guesses: every attempt counts, for every spelling of the name, from every address, on every node.

use reqwest::StatusCode;
use segue::auth::passwords;
use serde_json::json;

use app::services::accounts::{AccountName, CheckedName};

use crate::support::{TestApp, World};

const PASSWORD: &str = "correct horse battery";

async fn with_ann(settings: &[(&'static str, &str)]) -> TestApp {
    let settings = [&[("SEGUE_AUTH", "accounts")], settings].concat();
    let app = TestApp::start(World::new().await, [], &settings).await;
    let hash = passwords::hash(PASSWORD).unwrap();
    app.app.accounts().add(&CheckedName::of(AccountName::new("Ann")).unwrap(), &hash).await.unwrap();
    app
}

/// One attempt, through a proxy that sends a client address, or without a proxy.
async fn attempt(app: &TestApp, name: &str, password: &str, from: Option<&str>) -> StatusCode {
    let mut request = reqwest::Client::new().post(format!("{}/api/auth/sign-in", app.url));
    if let Some(address) = from {
        request = request.header("x-forwarded-for", address);
    }
    request.json(&json!({"name": name, "password": password})).send().await.unwrap().status()
}

#[tokio::test]
async fn attempts_with_other_spellings_of_a_name_count_for_the_same_name() {
    let app = with_ann(&[]).await;
    for name in ["ann", "ANN", "ａnn", "𝐚nn", "ªnn", "aｎn", "anｎ", "𝓪nn", "ⓐnn", "Ann"] {
        assert_eq!(attempt(&app, name, "wrong password", None).await, 401, "{name}");
    }
    for name in ["ann", "𝔞nn"] {
        assert_eq!(attempt(&app, name, PASSWORD, None).await, 429, "{name}");
    }
}

#[tokio::test]
async fn a_client_cannot_choose_the_address_that_its_attempts_count_for() {
    let app = with_ann(&[]).await;
    for n in 0..10 {
        let claimed = format!("203.0.113.{n}");
        assert_eq!(attempt(&app, "ann", "wrong password", Some(&claimed)).await, 401, "{claimed}");
    }
    assert_eq!(attempt(&app, "ann", PASSWORD, Some("198.51.100.7")).await, 429);
}

#[tokio::test]
async fn a_trusted_proxy_sends_the_client_address_and_an_ipv6_network_counts_as_one_address() {
    let app = with_ann(&[("SEGUE_TRUSTED_PROXIES", "127.0.0.1")]).await;
    for n in 0..10 {
        let address = format!("2001:db8::{n}");
        assert_eq!(attempt(&app, "ann", "wrong password", Some(&address)).await, 401, "{address}");
    }
    assert_eq!(attempt(&app, "ann", PASSWORD, Some("2001:db8::ffff")).await, 429, "the same /64");
    assert_eq!(
        attempt(&app, "ann", PASSWORD, Some("2001:db8:0:1::1")).await,
        200,
        "Ann can sign in from another network"
    );
}

#[tokio::test]
async fn attempts_are_counted_before_the_password_is_hashed() {
    let app = with_ann(&[]).await;
    let burst = (0..40).map(|_| attempt(&app, "ann", "wrong password", None));
    let statuses = futures::future::join_all(burst).await;
    let n_guesses = statuses.iter().filter(|status| **status == 401).count();
    assert!(n_guesses <= 10, "{statuses:?}");
    assert!(statuses.iter().all(|status| matches!(status.as_u16(), 401 | 429 | 503)), "{statuses:?}");
}

#[tokio::test]
async fn attempts_count_on_all_nodes_and_a_successful_sign_in_is_not_counted() {
    let one = with_ann(&[]).await;
    let other = TestApp::start(one.world.clone(), [], &[("SEGUE_AUTH", "accounts")]).await;
    for app in [&one, &other] {
        for _ in 0..4 {
            assert_eq!(attempt(app, "ann", "wrong password", None).await, 401);
        }
    }
    assert_eq!(attempt(&one, "ann", PASSWORD, None).await, 200);
    for n in 0..10 {
        let app = if n % 2 == 0 { &one } else { &other };
        assert_eq!(attempt(app, "ann", "wrong password", None).await, 401, "{n}: the count begins again");
    }
    for app in [&one, &other] {
        assert_eq!(attempt(app, "ann", PASSWORD, None).await, 429);
    }
}
