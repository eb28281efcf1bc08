//! An in-memory Qdrant: the part of its gRPC interface that Segue uses, with the messages of the official client.

mod collection;
mod fault;

use std::{
    collections::BTreeMap,
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Router,
    body::Body,
    http::Request as HttpRequest,
    middleware::from_fn_with_state,
    routing::{MethodRouter, post},
};
use qdrant_client::qdrant::{
    BatchResult, CollectionConfig, CollectionInfo, CollectionOperationResponse, CollectionParams, CountPoints,
    CountResponse, CountResult, CreateCollection, CreateFieldIndexCollection, DeleteCollection, DeletePoints,
    GetCollectionInfoRequest, GetCollectionInfoResponse, GetPoints, GetResponse, PayloadSchemaInfo,
    PointsOperationResponse, QueryBatchPoints, QueryBatchResponse, ScrollPoints, ScrollResponse, UpsertPoints,
};
use tokio::task::JoinHandle;
use tonic::{
    Code, Request, Response, Status,
    transport::{Server, server::TcpIncoming},
};
use tonic_prost::ProstCodec;

pub use self::fault::QdrantFault;
use self::{collection::Collection, fault::with_fault};
use crate::{fault::Plan, script::Script};

/// A server on a free loopback port. It stops when its last clone is dropped.
#[derive(Clone)]
pub struct QdrantDouble {
    pub url: String,
    state: Arc<State>,
    _server: Arc<Serving>,
}

struct Serving(JoinHandle<()>);

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.abort();
    }
}

struct State {
    collections: Mutex<BTreeMap<String, Collection>>,
    fault: Mutex<Option<QdrantFault>>,
    plan: Mutex<Plan>,
}

impl QdrantDouble {
    pub async fn start() -> std::io::Result<Self> {
        Self::start_at(SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    #[allow(clippy::unused_async, reason = "it needs a runtime")]
    pub async fn start_at(address: SocketAddr) -> std::io::Result<Self> {
        let incoming = TcpIncoming::bind(address)?;
        let url = format!("http://{}", incoming.local_addr()?);
        let state = Arc::new(State { collections: Mutex::default(), fault: Mutex::default(), plan: Mutex::default() });
        let routes = tonic::service::Routes::from(router(&state));
        let server = tokio::spawn(async move {
            Server::builder().add_routes(routes).serve_with_incoming(incoming).await.ok();
        });
        Ok(Self { url, state, _server: Arc::new(Serving(server)) })
    }

    /// Sets the fault of every request from now on; `None` removes it.
    pub fn set_fault(&self, fault: Option<QdrantFault>) {
        *self.state.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }

    /// Plans the faults of a script for the next calls, whose paths are those of gRPC: `/qdrant.Points/Upsert`.
    pub fn play_script(&self, script: Script) {
        self.state.plan().play_script(script);
    }

    /// Replaces the dense vectors of every collection by vectors of another length.
    pub fn resize_vectors(&self, size: u64) {
        self.state.collections().values_mut().for_each(|collection| collection.resize(size));
    }

    /// Drops all collections.
    pub fn empty(&self) {
        self.state.collections().clear();
    }

    /// How many writes of points of this kind there were.
    pub fn n_written(&self, kind: &str) -> usize {
        self.state.collections().values().filter_map(|collection| collection.n_written.get(kind)).sum()
    }

    /// How many points of this kind there are.
    pub fn n_points(&self, kind: &str) -> usize {
        self.state.collections().values().map(|collection| collection.n_points(kind)).sum()
    }

    pub fn collections(&self) -> Vec<String> {
        self.state.collections().keys().cloned().collect()
    }
}

fn router(state: &Arc<State>) -> Router {
    let collections = Router::new()
        .route("/Get", unary(state, State::describe))
        .route("/Create", unary(state, State::create))
        .route("/Delete", unary(state, State::drop_collection));
    let points = Router::new()
        .route("/CreateFieldIndex", unary(state, State::index_field))
        .route("/Upsert", unary(state, State::upsert))
        .route("/Delete", unary(state, State::delete))
        .route("/Get", unary(state, State::get))
        .route("/Count", unary(state, State::count))
        .route("/Scroll", unary(state, State::scroll))
        .route("/QueryBatch", unary(state, State::query_batch));
    Router::new()
        .nest("/qdrant.Collections", collections)
        .nest("/qdrant.Points", points)
        .layer(from_fn_with_state(state.clone(), with_fault))
}

/// One call of the protocol, answered by a function.
fn unary<Req, Res>(state: &Arc<State>, answer: fn(&State, Req) -> Result<Res, Status>) -> MethodRouter
where
    Req: prost::Message + Default + 'static,
    Res: prost::Message + Default + 'static,
{
    let state = state.clone();
    post(move |request: HttpRequest<Body>| async move {
        let service = tower::service_fn(move |request: Request<Req>| {
            let result = answer(&state, request.into_inner()).map(Response::new);
            async { result }
        });
        let mut grpc = tonic::server::Grpc::new(ProstCodec::<Res, Req>::default());
        Ok::<_, Infallible>(grpc.unary(service, request).await)
    })
}

type Answer<T> = Result<T, Status>;

impl State {
    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn collections(&self) -> MutexGuard<'_, BTreeMap<String, Collection>> {
        self.collections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, name: &str, f: impl FnOnce(&mut Collection) -> Answer<T>) -> Answer<T> {
        match self.collections().get_mut(name) {
            Some(collection) => f(collection),
            None => Err(Status::not_found(format!("Not found: Collection `{name}` doesn't exist!"))),
        }
    }

    fn create(&self, asked: CreateCollection) -> Answer<CollectionOperationResponse> {
        let name = asked.collection_name.clone();
        let mut collections = self.collections();
        if collections.contains_key(&name) {
            let said = format!("Wrong input: Collection `{name}` already exists!");
            return Err(Status::new(Code::AlreadyExists, said));
        }
        collections.insert(name, Collection::new(asked));
        Ok(CollectionOperationResponse { result: true, time: 0.0 })
    }

    fn drop_collection(&self, asked: DeleteCollection) -> Answer<CollectionOperationResponse> {
        let result = self.collections().remove(&asked.collection_name).is_some();
        Ok(CollectionOperationResponse { result, time: 0.0 })
    }

    fn describe(&self, asked: GetCollectionInfoRequest) -> Answer<GetCollectionInfoResponse> {
        self.with(&asked.collection_name, |collection| {
            let params = CollectionParams {
                vectors_config: collection.made.vectors_config.clone(),
                sparse_vectors_config: collection.made.sparse_vectors_config.clone(),
                ..CollectionParams::default()
            };
            let config = CollectionConfig { params: Some(params), ..CollectionConfig::default() };
            let fields = collection.fields.iter().map(|field| (field.clone(), PayloadSchemaInfo::default()));
            let info =
                CollectionInfo { config: Some(config), payload_schema: fields.collect(), ..CollectionInfo::default() };
            Ok(GetCollectionInfoResponse { result: Some(info), time: 0.0 })
        })
    }

    fn index_field(&self, asked: CreateFieldIndexCollection) -> Answer<PointsOperationResponse> {
        self.with(&asked.collection_name, |collection| {
            collection.fields.insert(asked.field_name);
            Ok(PointsOperationResponse::default())
        })
    }

    fn upsert(&self, asked: UpsertPoints) -> Answer<PointsOperationResponse> {
        self.with(&asked.collection_name, |collection| {
            asked.points.into_iter().try_for_each(|point| collection.upsert(point))?;
            Ok(PointsOperationResponse::default())
        })
    }

    fn delete(&self, asked: DeletePoints) -> Answer<PointsOperationResponse> {
        self.with(&asked.collection_name, |collection| {
            collection.delete(asked.points.unwrap_or_default())?;
            Ok(PointsOperationResponse::default())
        })
    }

    fn get(&self, asked: GetPoints) -> Answer<GetResponse> {
        self.with(&asked.collection_name, |collection| {
            let result = collection.get(&asked.ids, asked.with_payload.as_ref());
            Ok(GetResponse { result, ..GetResponse::default() })
        })
    }

    fn count(&self, asked: CountPoints) -> Answer<CountResponse> {
        self.with(&asked.collection_name, |collection| {
            let count = collection.count(asked.filter.as_ref());
            Ok(CountResponse { result: Some(CountResult { count }), ..CountResponse::default() })
        })
    }

    fn scroll(&self, asked: ScrollPoints) -> Answer<ScrollResponse> {
        self.with(&asked.collection_name, |collection| {
            Ok(ScrollResponse { result: collection.scroll(&asked), ..ScrollResponse::default() })
        })
    }

    fn query_batch(&self, asked: QueryBatchPoints) -> Answer<QueryBatchResponse> {
        self.with(&asked.collection_name, |collection| {
            let answers = asked.query_points.iter().map(|query| {
                let result = collection.query(query)?;
                Ok(BatchResult { result })
            });
            Ok(QueryBatchResponse { result: answers.collect::<Answer<_>>()?, ..QueryBatchResponse::default() })
        })
    }
}
