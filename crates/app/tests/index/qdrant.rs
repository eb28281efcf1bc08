//! Qdrant: the contract on a double, the same on a real server (feature `real-qdrant`, at `QDRANT_URL`), and every way it can fail.

use std::{sync::Arc, time::Duration};

use app::{
    embed::{Embedder, StaticTable},
    index::{IndexError, QdrantIndex, QdrantSettings, SearchPlan, TrackIndex},
};

use crate::{
    qdrant_double::{Double, Mood},
    support::{shelf, upserts},
};

struct Fresh {
    index: QdrantIndex,
}

async fn connect(settings: QdrantSettings) -> Result<QdrantIndex, IndexError> {
    let embedder: Arc<dyn Embedder> = Arc::new(StaticTable::built_in().unwrap());
    QdrantIndex::connect(http(), settings, embedder).await
}

/// Plain HTTP only: no roots to load, no system to ask.
fn http() -> reqwest::Client {
    static PROVIDER: std::sync::Once = std::sync::Once::new();
    PROVIDER.call_once(|| {
        rustls::crypto::ring::default_provider().install_default().ok();
    });
    reqwest::Client::builder().no_proxy().build().unwrap()
}

fn settings(double: &Double) -> QdrantSettings {
    QdrantSettings { timeout: Duration::from_millis(500), ..QdrantSettings::new(&double.url, None) }
}

async fn on_the_double(_: &str) -> Fresh {
    let double = Double::start().await;
    let settings = QdrantSettings { timeout: Duration::from_secs(20), ..settings(&double) };
    Fresh { index: connect(settings).await.unwrap() }
}

mod contract_on_the_double {
    crate::contract::contract_of!(super::on_the_double);
}

/// A collection of its own for each promise and run.
#[cfg(feature = "real-qdrant")]
async fn on_the_real_server(promise: &str) -> Fresh {
    use std::time::{SystemTime, UNIX_EPOCH};
    let url = std::env::var("QDRANT_URL").expect("QDRANT_URL says where the real server is");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let prefix = format!("segue-test-{promise}-{now}");
    let key = std::env::var("QDRANT_API_KEY").ok();
    let settings = QdrantSettings { prefix, timeout: Duration::from_secs(20), ..QdrantSettings::new(url, key) };
    Fresh { index: connect(settings).await.unwrap() }
}

#[cfg(feature = "real-qdrant")]
mod contract_on_the_real_server {
    crate::contract::contract_of!(super::on_the_real_server);
}

async fn failure(index: &QdrantIndex) -> IndexError {
    index.search(&SearchPlan::new("boats", 3)).await.expect_err("an outage is never an empty result")
}

#[tokio::test]
async fn every_outage_is_an_error_that_says_what_it_is() {
    let double = Double::start().await;
    let index = connect(settings(&double)).await.unwrap();
    index.apply(&upserts(&shelf(), 1)).await.unwrap();
    double.set_mood(Mood::Silent);
    assert!(matches!(failure(&index).await, IndexError::Slow(_)));
    double.set_mood(Mood::Overloaded);
    assert!(matches!(failure(&index).await, IndexError::Away(_)));
    double.set_mood(Mood::Locked);
    assert!(matches!(failure(&index).await, IndexError::WrongSchema(said) if said.contains("QDRANT_API_KEY")));
    double.set_mood(Mood::Stranger);
    assert!(matches!(failure(&index).await, IndexError::WrongSchema(said) if said.contains("not Qdrant")));
    double.set_mood(Mood::Well);
    assert_eq!(index.search(&SearchPlan::new("boats", 3)).await.unwrap().len(), 3, "it is back");
    double.spoil(None);
    assert!(matches!(failure(&index).await, IndexError::WrongSchema(said) if said.contains("collection")));
}

#[tokio::test]
async fn nobody_at_the_address_is_away() {
    let nobody = QdrantSettings::new("http://127.0.0.1:9", None);
    assert!(matches!(connect(nobody).await, Err(IndexError::Away(_))));
}

#[tokio::test]
async fn a_collection_of_another_shape_is_refused_at_the_start() {
    let double = Double::start().await;
    connect(settings(&double)).await.unwrap();
    connect(settings(&double)).await.expect("our own collection is found again");
    double.spoil(Some(8));
    assert!(matches!(connect(settings(&double)).await, Err(IndexError::WrongSchema(_))));
}
