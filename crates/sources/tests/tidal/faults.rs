//! How the client handles failures of Tidal.

use std::time::Duration;

use doubles::{
    fiction, serve,
    tidal::{Fault, Limits, TidalDouble},
};
use futures::future::join_all;
use sources::tidal::{Tidal, TidalConfig, TidalError};

use crate::{Stage, config};

fn kind(error: &TidalError) -> &'static str {
    match error {
        TidalError::NotConfigured => "not configured",
        TidalError::Unavailable(_) => "unavailable",
        TidalError::Refused(_) => "refused",
        TidalError::NotFound(_) => "not found",
        TidalError::Broken(_) => "broken",
    }
}

fn too_many(retry_after: Option<&str>, empty_body: bool) -> Fault {
    Fault::TooMany { retry_after: retry_after.map(str::to_owned), empty_body }
}

#[tokio::test]
async fn a_lasting_fault_is_an_error_of_the_right_kind() {
    // Fault, kind of error, number of calls: the client does not flood the service.
    let cases = [
        (Fault::Status { code: 400 }, "refused", 1),
        (Fault::Unauthorized, "refused", 2),
        (Fault::Status { code: 403 }, "refused", 1),
        (Fault::Status { code: 404 }, "not found", 1),
        (Fault::Status { code: 500 }, "broken", 1),
        (Fault::Status { code: 503 }, "unavailable", 1),
        (Fault::Status { code: 504 }, "unavailable", 1),
        (Fault::Status { code: 302 }, "broken", 1),
        (Fault::Garbage, "broken", 1),
        (Fault::EmptyBody, "broken", 1),
        (too_many(Some("30"), false), "unavailable", 1),
        (too_many(Some("0"), true), "unavailable", 3),
    ];
    for (fault, expected, n_calls) in cases {
        let stage = Stage::new().await;
        stage.double.always(Some(fault.clone()));
        let error = stage.tidal.album("2001").await.unwrap_err();
        assert_eq!((kind(&error), stage.double.requests().len()), (expected, n_calls), "{fault:?}: {error}");
    }
}

#[tokio::test]
async fn a_silent_service_is_an_error_at_the_deadline() {
    for fault in [Fault::Silence, Fault::HalfABody] {
        let stage = Stage::new().await;
        stage.double.always(Some(fault.clone()));
        let error = stage.tidal.within(Duration::from_millis(200)).album("2001").await.unwrap_err();
        assert_eq!(error, TidalError::Unavailable("no answer in time".into()), "{fault:?}");
    }
}

#[tokio::test]
async fn a_short_fault_is_retried_and_the_caller_gets_the_result() {
    let cases = [
        (vec![Fault::Unauthorized], 2),
        (vec![too_many(Some("0"), true)], 2),
        // Without `Retry-After` the wait follows from the headers; here it is almost zero.
        (vec![too_many(None, true), too_many(None, false)], 3),
        (vec![too_many(None, true), Fault::Unauthorized], 3),
    ];
    for (faults, n_calls) in cases {
        let stage = Stage::new().await;
        stage.double.plan(faults.iter().cloned().map(Some));
        stage.tidal.album("2001").await.unwrap_or_else(|error| panic!("{faults:?}: {error}"));
        assert_eq!(stage.double.requests().len(), n_calls, "{faults:?}");
    }
}

#[tokio::test]
async fn no_request_is_sent_before_retry_after() {
    let stage = Stage::new().await;
    stage.double.plan([Some(too_many(Some("60"), false))]);
    for _ in 0..3 {
        let error = stage.tidal.album("2001").await.unwrap_err();
        assert_eq!(kind(&error), "unavailable");
    }
    assert_eq!(stage.double.requests().len(), 1);
}

#[tokio::test]
async fn a_429_without_retry_after_does_not_stop_other_calls() {
    let stage = Stage::with(TidalDouble::new(fiction::world(), Limits::MEASURED), "US").await;
    stage.double.plan([Some(too_many(None, true))]);
    let error = stage.tidal.album("2001").await.unwrap_err();
    assert_eq!(kind(&error), "unavailable", "five seconds do not fit a search: {error}");
    stage.tidal.album("2001").await.expect("the next try may go out at once");
}

#[tokio::test]
async fn calls_made_together_share_one_token() {
    let stage = Stage::new().await;
    let ids = ["2001", "2002", "2003", "2004", "2006", "2007"];
    let albums = join_all(ids.map(|id| stage.tidal.album(id))).await;
    assert!(albums.iter().all(Result::is_ok));
    assert_eq!(stage.double.n_tokens(), 1);
}

#[tokio::test]
async fn a_revoked_token_is_replaced_once_for_all_callers() {
    let stage = Stage::new().await;
    stage.tidal.album("2001").await.unwrap();
    stage.double.revoke_tokens();
    let ids = ["2002", "2003", "2004", "2006", "2007"];
    let albums = join_all(ids.map(|id| stage.tidal.album(id))).await;
    assert!(albums.iter().all(Result::is_ok));
    assert_eq!(stage.double.n_tokens(), 2);
}

#[tokio::test]
async fn a_second_401_is_final() {
    let double = TidalDouble::with_token_life(fiction::world(), Limits::GENEROUS, Duration::ZERO);
    let stage = Stage::with(double, "US").await;
    assert_eq!(kind(&stage.tidal.album("2001").await.unwrap_err()), "refused");
    assert_eq!((stage.double.n_tokens(), stage.double.requests().len()), (2, 2));
}

#[tokio::test]
async fn a_wrong_secret_is_reported() {
    let stage = Stage::new().await;
    let tidal = Tidal::new(&config(&stage.running, "wrong", "US")).unwrap();
    let error = tidal.album("2001").await.unwrap_err();
    assert_eq!(kind(&error), "refused");
    assert!(error.to_string().contains("invalid_client"), "{error}");
    assert!(stage.double.requests().is_empty());
}

#[tokio::test]
async fn without_credentials_every_request_is_not_configured() {
    let tidal = Tidal::new(&TidalConfig::default()).unwrap();
    assert!(!tidal.is_configured());
    assert_eq!(tidal.album("2001").await, Err(TidalError::NotConfigured));
    assert_eq!(tidal.search_tracks("x", 5).await, Err(TidalError::NotConfigured));
    let codes = ["XTDBL2600001".parse().unwrap()];
    assert_eq!(tidal.tracks_by_isrc(&codes).await, Err(TidalError::NotConfigured));
}

#[tokio::test]
async fn an_unreachable_service_is_unavailable() {
    let running = serve(TidalDouble::new(fiction::world(), Limits::GENEROUS).router()).await.unwrap();
    let tidal = Tidal::new(&config(&running, "demo-secret", "US")).unwrap();
    drop(running);
    let error = tidal.album("2001").await.unwrap_err();
    assert_eq!(kind(&error), "unavailable", "{error}");
    assert!(!error.to_string().contains("oauth2"), "addresses stay out of errors: {error}");
}
