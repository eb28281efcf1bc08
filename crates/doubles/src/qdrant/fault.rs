//! The faults of the Qdrant double, and those of a script in the terms of gRPC.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use axum::{
    body::Body,
    extract::State as Shared,
    http::{Request as HttpRequest, header::CONTENT_TYPE},
    middleware::Next,
    response::{IntoResponse, Response as HttpResponse},
};
use tonic::{Code, Status};

use super::State;
use crate::fault::{Fault, Planned};

/// A fault of the server.
#[derive(Clone, Copy, PartialEq)]
pub enum QdrantFault {
    /// Accepts requests and never answers.
    Silent,
    /// Answers every request with "Unavailable".
    Overloaded,
    /// The disk is full: reads succeed, writes fail.
    DiskFull,
    /// Every write takes one second.
    SlowWrites,
    /// Every API key is rejected.
    KeyRejected,
    /// An HTTP server that is not Qdrant.
    OtherProtocol,
}

pub(super) async fn with_fault(
    Shared(state): Shared<Arc<State>>,
    request: HttpRequest<Body>,
    next: Next,
) -> HttpResponse {
    let fault = *state.fault.lock().unwrap_or_else(PoisonError::into_inner);
    match fault {
        Some(QdrantFault::Silent) => std::future::pending().await,
        Some(QdrantFault::Overloaded) => Status::unavailable("busy").into_http(),
        Some(QdrantFault::DiskFull) if request.uri().path().ends_with("/Upsert") => {
            Status::internal("Service internal error: No space left on device").into_http()
        }
        Some(QdrantFault::SlowWrites) if request.uri().path().ends_with("/Upsert") => {
            tokio::time::sleep(Duration::from_secs(1)).await;
            next.run(request).await
        }
        Some(QdrantFault::KeyRejected) => Status::unauthenticated("Invalid API key or JWT").into_http(),
        Some(QdrantFault::OtherProtocol) => {
            ([(CONTENT_TYPE, "application/json")], r#"{"hello": "world"}"#).into_response()
        }
        None | Some(QdrantFault::DiskFull | QdrantFault::SlowWrites) => {
            let planned = state.plan().next(request.uri().path());
            match play(planned).await {
                Some(faulty) => faulty,
                None => next.run(request).await,
            }
        }
    }
}

/// The faults of a script: a status of HTTP becomes the code of gRPC with the same meaning.
async fn play(planned: Planned) -> Option<HttpResponse> {
    for fault in planned {
        let faulty = match fault {
            Fault::Status { code } | Fault::Later { code, .. } => Some(refused(code)),
            Fault::TooMany { .. } => Some(refused(429)),
            other => other.play().await,
        };
        if faulty.is_some() {
            return faulty;
        }
    }
    None
}

fn refused(status: u16) -> HttpResponse {
    let code = match status {
        400 => Code::InvalidArgument,
        401 => Code::Unauthenticated,
        403 => Code::PermissionDenied,
        404 => Code::NotFound,
        429 => Code::ResourceExhausted,
        502..=504 => Code::Unavailable,
        _ => Code::Internal,
    };
    Status::new(code, format!("the script answers with status {status}")).into_http()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_status_of_a_script_becomes_a_code_of_grpc() {
        for (status, code) in [(401, Code::Unauthenticated), (429, Code::ResourceExhausted), (503, Code::Unavailable)] {
            let response = play(vec![Fault::Slow { ms: 1 }, Fault::Status { code: status }]).await.unwrap();
            assert_eq!(response.status(), 200, "gRPC sends its code in a header");
            assert_eq!(response.headers()["grpc-status"], (code as i32).to_string().as_str());
        }
        assert!(play(vec![]).await.is_none());
    }
}
