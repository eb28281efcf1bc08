//! The keys of an issuer: every kind, rotation, withdrawal, and an issuer that does not answer.

use std::sync::atomic::Ordering;

use super::issuer::{Issuer, Pair, good_claims, status};

#[tokio::test]
async fn keys_of_every_supported_kind_are_accepted() {
    let pairs = [Pair::ed25519("ed"), Pair::p256("ec"), Pair::rsa("rsa")];
    let issuer = Issuer::new(&pairs.iter().collect::<Vec<_>>()).await;
    let app = issuer.trusting_app().await;
    for pair in &pairs {
        assert_eq!(status(&app, &pair.sign(&good_claims())).await, 200, "{:?}", pair.algorithm);
    }
    assert_eq!(issuer.n_asked(), 1, "the keys are cached");
}

#[tokio::test]
async fn a_new_key_is_fetched_on_first_use_and_the_old_one_works_while_it_is_published() {
    let (old, new) = (Pair::ed25519("old"), Pair::ed25519("new"));
    let issuer = Issuer::new(&[&old]).await;
    let app = issuer.trusting_app().await;
    assert_eq!(status(&app, &old.sign(&good_claims())).await, 200);
    issuer.publish(&[&old, &new]);
    assert_eq!(status(&app, &new.sign(&good_claims())).await, 200);
    assert_eq!(status(&app, &old.sign(&good_claims())).await, 200);
    assert_eq!(issuer.n_asked(), 2);
    let newer = Pair::ed25519("newer");
    issuer.publish(&[&newer]);
    assert_eq!(status(&app, &newer.sign(&good_claims())).await, 200);
    assert_eq!(status(&app, &old.sign(&good_claims())).await, 401, "withdrawn");
}

#[tokio::test]
async fn unknown_keys_cause_a_few_requests_to_the_issuer_per_minute_at_most() {
    let good = Pair::ed25519("good");
    let issuer = Issuer::new(&[&good]).await;
    let app = issuer.trusting_app().await;
    for n in 0..40 {
        assert_eq!(status(&app, &Pair::ed25519(&format!("made-up-{n}")).sign(&good_claims())).await, 401);
    }
    assert!(issuer.n_asked() <= 5, "asked {} times", issuer.n_asked());
    assert_eq!(status(&app, &good.sign(&good_claims())).await, 200, "good tokens are not affected");
}

#[tokio::test]
async fn known_keys_stay_valid_while_the_issuer_does_not_answer() {
    let pair = Pair::ed25519("a");
    let issuer = Issuer::new(&[&pair]).await;
    let app = issuer.trusting_app().await;
    issuer.is_away.store(true, Ordering::SeqCst);
    let first = app.with_token(&pair.sign(&good_claims())).request(reqwest::Method::GET, "/api/me", None).await;
    assert_eq!(first.status(), 503, "without any key the token cannot be checked");
    assert!(first.headers().contains_key("retry-after"));
    issuer.is_away.store(false, Ordering::SeqCst);
    assert_eq!(status(&app, &pair.sign(&good_claims())).await, 200);
    issuer.is_away.store(true, Ordering::SeqCst);
    assert_eq!(status(&app, &Pair::ed25519("b").sign(&good_claims())).await, 401);
    assert_eq!(status(&app, &pair.sign(&good_claims())).await, 200, "kept");
}
