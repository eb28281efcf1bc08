//! Qdrant: the contract on a double and on the server at `QDRANT_URL` (`tools/with-qdrant` starts one), and every kind of
//! failure.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use axum::Router;
use doubles::qdrant::{QdrantDouble, QdrantFault};
use search::{
    IndexError, QdrantIndex, QdrantSettings, SearchPlan, TrackIndex, catch_up,
    embed::{Embedder, StaticTable},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::support::{Better, Truth, small_library, takes_over, track, upserts};

struct Fresh {
    index: QdrantIndex,
    _double: Option<QdrantDouble>,
}

impl Fresh {
    /// Deletes the collection: many collections make a server slow to start.
    async fn done(self) {
        self.index.discard().await.unwrap();
    }
}

pub(crate) async fn double() -> QdrantDouble {
    QdrantDouble::start().await.unwrap()
}

pub(crate) fn server() -> String {
    std::env::var("QDRANT_URL").expect("QDRANT_URL is set")
}

fn table() -> Arc<dyn Embedder> {
    Arc::new(StaticTable::built_in().unwrap())
}

async fn connect(settings: QdrantSettings) -> Result<QdrantIndex, IndexError> {
    QdrantIndex::connect(settings, table()).await
}

pub(crate) fn settings(double: &QdrantDouble) -> QdrantSettings {
    QdrantSettings { timeout: Duration::from_millis(500), ..QdrantSettings::new(&double.url, None) }
}

pub(crate) fn patient(settings: QdrantSettings) -> QdrantSettings {
    QdrantSettings { timeout: Duration::from_secs(20), ..settings }
}

async fn on_the_double(_: &str) -> Fresh {
    let double = double().await;
    Fresh { index: connect(patient(settings(&double))).await.unwrap(), _double: Some(double) }
}

#[tokio::test]
async fn other_languages_are_understood() {
    let double = double().await;
    let index = QdrantIndex::connect(patient(settings(&double)), crate::words::bridged()).await.unwrap();
    crate::words::other_languages_are_understood(&index).await;
}

mod contract_on_the_double {
    crate::contract::contract_of!(super::on_the_double);
}

/// A collection of its own for each promise and run.
pub(crate) fn on_the_server(promise: &str) -> QdrantSettings {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let prefix = format!("segue-test-{promise}-{now}");
    patient(QdrantSettings { prefix, ..QdrantSettings::new(server(), std::env::var("QDRANT_API_KEY").ok()) })
}

async fn fresh_on_the_server(promise: &str) -> Fresh {
    Fresh { index: connect(on_the_server(promise)).await.unwrap(), _double: None }
}

mod contract_on_the_server {
    crate::contract::contract_of!(
        #[ignore = "needs QDRANT_URL"]
        super::fresh_on_the_server
    );
}

/// The collection of a new embedder beside the old collection, on one server.
async fn replaces(settings: QdrantSettings) {
    let truth = Truth { changes: upserts(&small_library(), 1).into() };
    let better: Arc<dyn Embedder> = Arc::new(Better(StaticTable::built_in().unwrap()));
    assert!(QdrantIndex::find(settings.clone(), table()).await.unwrap().is_none());
    catch_up(&connect(settings.clone()).await.unwrap(), &truth).await.unwrap();
    let before = QdrantIndex::find(settings.clone(), table()).await.unwrap().expect("the collection exists");
    let wanted = QdrantIndex::connect(settings, better).await.unwrap();
    takes_over(Arc::new(before), Arc::new(wanted), &truth).await;
}

#[tokio::test]
async fn the_index_of_a_new_embedder_is_filled_beside_the_old_one_and_then_replaces_it() {
    let double = double().await;
    replaces(patient(settings(&double))).await;
}

#[tokio::test]
#[ignore = "needs QDRANT_URL"]
async fn the_index_of_a_new_embedder_replaces_the_old_one_on_the_server() {
    let settings = on_the_server("replaces");
    replaces(settings.clone()).await;
    for embedder in [table(), Arc::new(Better(StaticTable::built_in().unwrap()))] {
        QdrantIndex::new(settings.clone(), embedder).unwrap().discard().await.unwrap();
    }
}

/// Another process fills the collection after this one has searched it. The usual similarity is then estimated again.
#[tokio::test]
async fn scores_do_not_depend_on_the_process_that_filled_the_collection() {
    let double = double().await;
    let (searching, filling) =
        (connect(patient(settings(&double))).await.unwrap(), connect(patient(settings(&double))).await.unwrap());
    filling.apply(&upserts(&small_library()[..1], 1)).await.unwrap();
    searching.info().await.unwrap();
    searching.search(&SearchPlan::new("folding boats", 3)).await.unwrap();
    let more: Vec<_> = (100..200)
        .map(|n| track(n, &format!("Boat {n}"), "Counter", "Paper boats, folded by hand on a river."))
        .collect();
    filling.apply(&upserts(&[small_library(), more].concat(), 2)).await.unwrap();
    searching.info().await.unwrap();
    let fresh = connect(patient(settings(&double))).await.unwrap();
    let plan = SearchPlan::new("children at the river", 10);
    assert_eq!(searching.search(&plan).await.unwrap(), fresh.search(&plan).await.unwrap());
}

async fn failure(index: &QdrantIndex) -> IndexError {
    index.search(&SearchPlan::new("boats", 3)).await.expect_err("an outage is never an empty result")
}

#[tokio::test]
async fn every_outage_is_an_error_that_names_its_cause() {
    let double = double().await;
    let index = connect(settings(&double)).await.unwrap();
    index.apply(&upserts(&small_library(), 1)).await.unwrap();
    double.set_fault(Some(QdrantFault::Silent));
    assert!(matches!(failure(&index).await, IndexError::Slow(_)));
    double.set_fault(Some(QdrantFault::Overloaded));
    assert!(matches!(failure(&index).await, IndexError::Away(_)));
    double.set_fault(Some(QdrantFault::KeyRejected));
    assert!(matches!(failure(&index).await, IndexError::WrongSchema(said) if said.contains("QDRANT_API_KEY")));
    double.set_fault(Some(QdrantFault::OtherProtocol));
    assert!(matches!(failure(&index).await, IndexError::WrongSchema(said) if said.contains("not Qdrant")));
    double.set_fault(None);
    assert_eq!(index.search(&SearchPlan::new("boats", 3)).await.unwrap().len(), 3, "searches work after the faults");
    double.empty();
    assert!(matches!(failure(&index).await, IndexError::WrongSchema(said) if said.contains("collection")));
}

/// The first connection is accepted and stays silent, as one to a host that has lost its power. Later ones reach Qdrant.
#[tokio::test]
async fn a_connection_without_answers_is_replaced() {
    let double = double().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let qdrant = double.url.trim_start_matches("http://").to_owned();
    tokio::spawn(async move {
        let _silent = listener.accept().await.unwrap();
        while let Ok((mut near, _)) = listener.accept().await {
            let mut far = TcpStream::connect(&qdrant).await.unwrap();
            tokio::spawn(async move { tokio::io::copy_bidirectional(&mut near, &mut far).await });
        }
    });
    let index = QdrantIndex::new(QdrantSettings { url, ..settings(&double) }, table()).unwrap();
    assert!(matches!(index.prepare().await, Err(IndexError::Slow(_))));
    // The client uses several connections in turn.
    for _ in 0..6 {
        index.info().await.unwrap();
    }
}

/// The REST interface, a web page or a proxy at the URL gets an error that names the problem.
#[tokio::test]
async fn a_server_without_grpc_is_reported_as_not_qdrant() {
    let page = doubles::serve(Router::new().fallback(async || "hello")).await.unwrap();
    let http_1 = server_that_answers(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
    for address in [page.addr, http_1] {
        let error = connect(QdrantSettings::new(format!("http://{address}"), None)).await.err().unwrap();
        assert!(matches!(&error, IndexError::WrongSchema(said) if said.contains("6334")), "{error}");
    }
}

async fn server_that_answers(bytes: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            stream.read_exact(&mut [0; 24]).await.ok();
            stream.write_all(bytes).await.ok();
            // Reads the rest of the request, because a reset would discard the response.
            stream.shutdown().await.ok();
            while stream.read(&mut [0; 1024]).await.is_ok_and(|n| n > 0) {}
        }
    });
    address
}

#[tokio::test]
async fn an_address_with_the_wrong_scheme_is_reported_with_the_right_one() {
    let double = double().await;
    let secure = double.url.replace("http://", "https://");
    let error = connect(QdrantSettings::new(secure, None)).await.err().unwrap().to_string();
    assert!(error.contains("write http:// in QDRANT_URL") && !error.contains("Error("), "{error}");
    let with_tls = server_that_answers(b"\x15\x03\x03\x00\x02\x02\x46").await;
    let error = connect(QdrantSettings::new(format!("http://{with_tls}"), None)).await.err().unwrap().to_string();
    assert!(error.contains("write https:// in QDRANT_URL"), "{error}");
}

#[tokio::test]
async fn ten_nodes_that_start_together_create_one_collection() {
    let double = double().await;
    let starting = (0..10).map(|_| connect(patient(settings(&double))));
    futures::future::try_join_all(starting).await.unwrap();
    assert_eq!(double.collections().len(), 1);
}

#[tokio::test]
async fn a_write_may_take_longer_than_a_search() {
    let double = double().await;
    let index = connect(settings(&double)).await.unwrap();
    double.set_fault(Some(QdrantFault::SlowWrites));
    index.apply(&upserts(&small_library(), 1)).await.unwrap();
    assert_eq!(index.info().await.unwrap().n_tracks, 8);
}

#[tokio::test]
async fn an_address_without_a_server_is_an_outage() {
    let no_server = QdrantSettings::new("http://127.0.0.1:9", None);
    assert!(matches!(connect(no_server).await, Err(IndexError::Away(_))));
}

#[tokio::test]
async fn a_collection_with_another_vector_size_is_refused_at_start() {
    let double = double().await;
    connect(settings(&double)).await.unwrap();
    connect(settings(&double)).await.expect("our own collection is found again");
    double.resize_vectors(8);
    assert!(matches!(connect(settings(&double)).await, Err(IndexError::WrongSchema(_))));
}
