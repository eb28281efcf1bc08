//! What expires or becomes due goes by the database's clock: a node whose own clock is wrong changes nothing.
//!
//! `advance_clock` moves the database's time as this process knows it; the clock of the process stays as it is. So each
//! test fails where a query takes the time from the process.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use chrono::TimeDelta;
use engine::UserId;
use music::{Track, TrackId};
use serde_json::{Value, json};
use store::{Ending, KeyKind, LEASE, NewImport, NewKey, NewLibraryTrack, NewOpenEntry, Resolution, Step, Store};
use uuid::Uuid;

use crate::subject::{on_every_database, user};

fn lease() -> TimeDelta {
    TimeDelta::from_std(LEASE).unwrap()
}

fn track(id: TrackId) -> Track {
    Track::with_id(id, "Harbour Lights".into(), "The Weathermen".into(), "Low Tide".into())
}

/// A track whose lyrics are to be looked up, and an entry that no catalogue has confirmed.
async fn import(store: &Store, owner: &UserId) {
    let recording = TrackId::of_owner(owner.as_str(), "Harbour Lights");
    let (playlists, none) = (BTreeMap::new(), BTreeSet::new());
    let entry =
        NewOpenEntry { id: Uuid::now_v7(), recording, entry: json!({"line": 1}), found: json!({}), playlists: &none };
    let new = NewImport {
        file: "a.csv",
        kind: "csv",
        tracks: &[NewLibraryTrack { is_own: true, public: None, ..NewLibraryTrack::catalogued(track(recording)) }],
        playlists: &playlists,
        open: vec![entry],
        moves: &[],
        settled: &[],
        is_sync: false,
    };
    store.keep_import(owner, &new, &json!({})).await.unwrap();
}

async fn n_steps(store: &Store, node: &str) -> usize {
    store.claim_steps(Step::Lyrics, node, 10).await.unwrap().len()
}

async fn n_entries(store: &Store, node: &str) -> usize {
    store.claim_entries::<Value>(node, 10).await.unwrap().len()
}

#[tokio::test]
async fn leases_of_enrichment_and_of_open_entries_end_by_the_databases_clock() {
    on_every_database(async |store| {
        import(store, &user("ann")).await;
        assert_eq!((n_steps(store, "dead").await, n_entries(store, "dead").await), (1, 1));
        store.advance_clock(lease() - TimeDelta::seconds(5));
        assert_eq!(store.release_steps(None).await.unwrap(), 0, "both are still leased");
        assert_eq!((n_steps(store, "other").await, n_entries(store, "other").await), (0, 0));
        store.advance_clock(TimeDelta::seconds(10));
        assert_eq!(store.release_steps(None).await.unwrap(), 2, "both leases have run out");
        assert_eq!((n_steps(store, "other").await, n_entries(store, "other").await), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn a_lease_that_was_given_by_a_database_whose_clock_is_ahead_is_kept() {
    on_every_database(async |store| {
        // The database is an hour ahead of this process.
        store.advance_clock(TimeDelta::hours(1));
        import(store, &user("ann")).await;
        assert_eq!((n_steps(store, "living").await, n_entries(store, "living").await), (1, 1));
        assert_eq!(store.release_steps(None).await.unwrap(), 0);
    })
    .await;
}

#[tokio::test]
async fn what_is_to_be_tried_again_is_due_by_the_databases_clock() {
    on_every_database(async |store| {
        let ann = user("ann");
        import(store, &ann).await;
        let step = store.claim_steps(Step::Lyrics, "n1", 10).await.unwrap().remove(0);
        let later = Ending::Later { wait: Duration::from_secs(60), counts: true, error: "busy".into() };
        store.settle_steps(Step::Lyrics, "n1", vec![(step.id, later)]).await.unwrap();
        let entry = store.claim_entries::<Value>("n1", 10).await.unwrap().remove(0);
        let open = Resolution::Open { found: json!({}), after: TimeDelta::seconds(60) };
        store.resolve_entry(&ann, entry.id, &open).await.unwrap();
        store.advance_clock(TimeDelta::seconds(50));
        assert_eq!((n_steps(store, "n1").await, n_entries(store, "n1").await), (0, 0), "not yet");
        store.advance_clock(TimeDelta::seconds(20));
        assert_eq!((n_steps(store, "n1").await, n_entries(store, "n1").await), (1, 1), "now");
    })
    .await;
}

#[tokio::test]
async fn an_answer_of_a_catalogue_is_good_for_its_time_by_the_databases_clock() {
    on_every_database(async |store| {
        let day = TimeDelta::days(1);
        let known = async || store.catalogue_answer::<Value>("deezer", "q", day, day).await.unwrap();
        store.remember_answer("deezer", "q", &[json!({"id": 1})]).await.unwrap();
        store.advance_clock(TimeDelta::hours(23));
        assert!(known().await.is_some());
        store.advance_clock(TimeDelta::hours(2));
        assert!(known().await.is_none());
    })
    .await;
}

#[tokio::test]
async fn sign_ins_and_invitations_end_by_the_databases_clock() {
    on_every_database(async |store| {
        // The database is an hour ahead of this node.
        store.advance_clock(TimeDelta::hours(1));
        let account = store.add_account("Ann", "no password has this hash").await.unwrap();
        let key = NewKey { hash: [1; 32], kind: KeyKind::Session, lasts: Some(TimeDelta::minutes(30)) };
        store.add_key(account.id, &key).await.unwrap();
        store.add_invitation(&[2; 32], TimeDelta::minutes(30)).await.unwrap();
        let is_valid = async || store.key_holder(&[1; 32], KeyKind::Session).await.unwrap();
        let remains = is_valid().await.expect("the session is valid").remains.unwrap();
        assert!(remains > TimeDelta::minutes(29) && remains <= TimeDelta::minutes(30), "{remains}");
        store.forget_expired_keys().await.unwrap();
        assert!(store.is_invited(&[2; 32]).await.unwrap());
        store.advance_clock(TimeDelta::minutes(31));
        assert!(is_valid().await.is_none());
        assert!(!store.is_invited(&[2; 32]).await.unwrap());
        store.extend_key(&[1; 32], TimeDelta::minutes(5)).await.unwrap();
        assert!(is_valid().await.is_some(), "from now on");
    })
    .await;
}
